"""Which addresses of the network a robot may be sent to: public ones, and those a person named.

A model chooses URLs, or a text that it read does. Whatever answers only inside a machine, a house
or a cloud (services without passwords, a cloud's keys) is refused, in all its spellings. Pure:
nothing is looked up or opened here.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from .errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["AddressRefused", "Target", "check_address", "check_url"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: refused besides what `ipaddress` calls not global, which differs between Python's releases
_NETWORKS = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15",
        "240.0.0.0/4", "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7",
        "fe80::/10", "fec0::/10",
        # the way of one cloud to its own machines, in the midst of public addresses
        "168.63.129.16/32",
    )
)  # fmt: skip
#: other spellings of IPv4 addresses, some of which a router or a tunnel turns back
_TUNNELS = {
    "an IPv4-mapped address": ipaddress.ip_network("::ffff:0:0/96"),
    "an IPv4-translated address": ipaddress.ip_network("::ffff:0:0:0/96"),
    "an IPv4-compatible address": ipaddress.ip_network("::/96"),
    "a 6to4 address": ipaddress.ip_network("2002::/16"),
    "a Teredo address": ipaddress.ip_network("2001::/32"),
    "a local NAT64 address": ipaddress.ip_network("64:ff9b:1::/48"),
}
_KINDS = {
    "is_unspecified": "no address at all",
    "is_loopback": "an address of the machine itself",
    "is_link_local": "a link-local address",
    "is_multicast": "a multicast address",
    "is_private": "a private address",
    "is_reserved": "a reserved address",
}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
#: names that mean the machine itself, its network, or the cloud that it runs in
_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa", "lan", "intranet", "corp")
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_BAD = re.compile(r"[\x00-\x20\x7f\\]")


class AddressRefused(ToolError):
    """A URL or an address that a robot may not be sent to."""


class Target(NamedTuple):
    """A URL taken apart, its host in the one spelling that is looked up and connected to.

    Attributes
    ----------
    url : str
        Put together again from the checked parts; no fragment.
    host : str
        A name in ASCII, or an address without brackets.
    port : int
    address : IPv4Address, IPv6Address or None
        When the host is an address.
    allowed : bool
        Whether a person named the host, so that its addresses are not judged.
    """

    url: str
    host: str
    port: int
    address: Address | None
    allowed: bool


def check_url(url: str, allow_hosts: Collection[str] = ()) -> Target:
    """Take a URL apart; refuse what cannot be public by its spelling.

    Parameters
    ----------
    url : str
    allow_hosts : collection of str, optional
        Hosts that a person allows although they are not public: names or addresses.

    Returns
    -------
    Target
        A name in it must still be looked up, and each address given to :func:`check_address`.

    Raises
    ------
    AddressRefused
        For schemes other than http and https, user names in URLs, addresses that are not public
        or oddly written, and names of machines inside.

    Examples
    --------
    >>> check_url("https://example.com/a?b#c").url
    'https://example.com/a?b'
    >>> check_url("http://0x7f.1/")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.addresses.AddressRefused: 'http://0x7f.1/' is refused: its host is a number \
oddly written
    """
    shown = url if isinstance(url, str) else repr(url)
    try:
        if _BAD.search(shown):
            raise _Refused("it has white space, control characters or backslashes in it")
        parts = urlsplit(shown)
        scheme = parts.scheme.lower()
        if scheme not in ("http", "https"):
            raise _Refused("only http and https are fetched")
        if "@" in parts.netloc:
            raise _Refused("it has a user name in it")
        port = parts.port or (443 if scheme == "https" else 80)
        host, address = _host(parts.hostname or "")
        allowed = host in {h.strip("[]").rstrip(".").lower() for h in allow_hosts}
        if not allowed:
            _check_host(host, address)
    except _Refused as why:
        raise _refusal(shown, str(why)) from None
    except ValueError as error:  # urlsplit's, for brackets and ports
        raise _refusal(shown, str(error)) from None
    shown_host = f"[{host}]" if isinstance(address, ipaddress.IPv6Address) else host
    usual = port == (443 if scheme == "https" else 80)
    origin = f"{scheme}://{shown_host}" if usual else f"{scheme}://{shown_host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return Target(f"{origin}{parts.path or '/'}{query}", host, port, address, allowed)


def check_address(target: Target, address: str) -> None:
    """Refuse an address that a target's host has.

    Raises
    ------
    AddressRefused
        When it is not public, unless a person allowed the host.

    Examples
    --------
    >>> check_address(check_url("http://example.com"), "10.0.0.7")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.addresses.AddressRefused: 'http://example.com/' is refused: 10.0.0.7 is a \
private address
    """
    if target.allowed:
        return
    why = _why_not(ipaddress.ip_address(address))
    if why is not None:
        raise _refusal(target.url, f"{address} is {why}")


class _Refused(Exception):
    """Why, in words."""


def _refusal(url: str, why: str) -> AddressRefused:
    return AddressRefused(f"{url[:200]!r} is refused: {why}")


def _host(name: str) -> tuple[str, Address | None]:
    """A host in its one spelling, and the address that it is."""
    if ":" in name:
        if "%" in name:
            raise _Refused("its address belongs to one link")
        found = ipaddress.IPv6Address(name)
        return str(found), found
    try:
        host = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise _Refused("its host is no name") from None
    host = host.removesuffix(".")
    if not _HOST.fullmatch(host):
        raise _Refused("its host is no name")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return host, ipaddress.IPv4Address(host)
        except ValueError:
            raise _Refused("its host is a number oddly written") from None
    return host, None


def _check_host(host: str, address: Address | None) -> None:
    if address is not None:
        why = _why_not(address)
        if why is not None:
            raise _Refused(f"{address} is {why}")
        return
    for name in _NAMES:
        if host == name or host.endswith(f".{name}"):
            raise _Refused(f"{host!r} is a name inside a machine or a network")


def _why_not(address: Address) -> str | None:
    """Why an address is not public; None when it is."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return "an address of one link"
        for kind, network in _TUNNELS.items():
            if address in network and int(address) > 1:
                return kind
        if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
            return "a tunnel's address"
        if address in _NAT64:
            return _why_not(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    for trait, kind in _KINDS.items():
        if getattr(address, trait):
            return kind
    if not address.is_global or any(address in network for network in _NETWORKS):
        return "not a public address"
    return None
