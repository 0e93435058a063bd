"""GET of a page whose address a model chose: looked up once, judged, and connected to just there.

Between the look-up and the connection nothing is looked up again, so that a name cannot change its
meaning; every redirect is a new address. What the bytes mean is for others.
"""

from __future__ import annotations

import asyncio
import socket
import zlib
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from ..core.addresses import Target, check_address, check_url
from ..core.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Collection

    from aiohttp import ClientResponse

__all__ = ["Fetched", "fetch"]

MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: statuses after which the same request may succeed later
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})


class Fetched(NamedTuple):
    """An answer.

    Attributes
    ----------
    url : str
        Where it came from, after redirects.
    content_type : str
        As sent, in lower case, without parameters.
    charset : str or None
    body : bytes
        Decompressed.
    cut : bool
        Whether there was more than was read.
    """

    url: str
    content_type: str
    charset: str | None
    body: bytes
    cut: bool


async def fetch(
    url: str,
    *,
    allow_hosts: Collection[str] = (),
    most_bytes: int,
    seconds: float,
    use_proxy: bool = False,
) -> Fetched:
    """Get a page.

    Parameters
    ----------
    url : str
    allow_hosts : collection of str, optional
        Hosts that are allowed although they are not public.
    most_bytes : int
        How much of it is read at most, decompressed.
    seconds : float
        For all of it, redirects included.
    use_proxy : bool, optional
        Whether to go through the proxy that the environment names. It then looks names up itself,
        after we did.

    Returns
    -------
    Fetched

    Raises
    ------
    AddressRefused
        When it, or where it leads to, is no public address.
    ToolError
        When there is no such page, or it cannot be had.
    """
    try:
        async with asyncio.timeout(seconds):
            for _ in range(MOST_REDIRECTS + 1):
                found = await _one(url, allow_hosts, most_bytes, use_proxy)
                if isinstance(found, Fetched):
                    return found
                url = found
    except TimeoutError:
        raise ToolError(
            f"{url[:200]!r} did not answer within {seconds:g} s", retryable=True
        ) from None
    raise ToolError(f"{url[:200]!r}: more than {MOST_REDIRECTS} redirects")


async def _one(
    url: str, allow_hosts: Collection[str], most_bytes: int, use_proxy: bool
) -> Fetched | str:
    """One request: its answer, or where it redirects to."""
    import aiohttp

    target = check_url(url, allow_hosts)
    addresses = await _look_up(target)
    proxy = _environment_proxy(target) if use_proxy else None
    connector = aiohttp.TCPConnector(
        resolver=None if proxy else _pinned(target, addresses),
        socket_factory=None if proxy else _only_to(addresses),
        force_close=True,
    )
    try:
        async with (
            aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False,
                headers={"User-Agent": "robotlab_nb", "Accept-Encoding": "gzip"},
            ) as session,
            session.get(target.url, allow_redirects=False, proxy=proxy) as response,
        ):  # fmt: skip
            if response.status in _REDIRECTS and "Location" in response.headers:
                return urljoin(target.url, response.headers["Location"])
            if response.status >= 400:
                raise ToolError(
                    f"{target.url[:200]!r} answered {response.status} {response.reason or ''}",
                    retryable=response.status in _LATER,
                )
            body, cut = await _read(response, most_bytes)
            return Fetched(target.url, response.content_type.lower(), response.charset, body, cut)
    except (aiohttp.ClientError, OSError) as error:
        kind = "not with a valid certificate" if _is_certificate(error) else "no connection"
        raise ToolError(
            f"{target.url[:200]!r}: {kind} ({type(error).__name__})",
            retryable=not _is_certificate(error),
        ) from error


def _environment_proxy(target: Target) -> str | None:
    from urllib.request import getproxies, proxy_bypass

    scheme = target.url.partition(":")[0]
    return None if proxy_bypass(target.host) else getproxies().get(scheme)


def _is_certificate(error: Exception) -> bool:
    import aiohttp

    return isinstance(error, aiohttp.ClientSSLError)


async def _look_up(target: Target) -> list[tuple[int, str]]:
    """The addresses of a target, each of them allowed: families and addresses."""
    if target.address is not None:
        family = socket.AF_INET if target.address.version == 4 else socket.AF_INET6
        return [(family, str(target.address))]
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError:
        raise ToolError(f"there is no host {target.host!r}") from None
    addresses = [(int(family), str(where[0])) for family, _, _, _, where in found]
    for _, address in addresses:
        check_address(target, address)
    return addresses


def _pinned(target: Target, addresses: list[tuple[int, str]]) -> Any:
    """A resolver that knows one name, and only what was judged."""
    from aiohttp.abc import AbstractResolver, ResolveResult

    class Pinned(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            if host != target.host:
                raise OSError(f"{host!r} was not looked up")
            return [
                ResolveResult(
                    hostname=host, host=address, port=port, family=own, proto=0,
                    flags=socket.AI_NUMERICHOST,
                )
                for own, address in addresses
                if family in (socket.AF_UNSPEC, own)
            ]  # fmt: skip

        async def close(self) -> None:
            """Nothing is open."""

    return Pinned()


def _only_to(addresses: list[tuple[int, str]]) -> Any:
    """What makes sockets for the addresses that were judged, and for no other one.

    A host that is an address is not resolved; should a URL be read in another way further down,
    it ends here.
    """
    known = {ip_address(address) for _, address in addresses}

    def make(info: Any) -> socket.socket:
        family, kind, proto, _, where = info
        if ip_address(where[0]) not in known:
            raise OSError(f"{where[0]} was not judged")
        return socket.socket(family, kind, proto)

    return make


async def _read(response: ClientResponse, most: int) -> tuple[bytes, bool]:
    """The start of a body, decompressed piece by piece, so that a small one cannot grow huge."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise ToolError(f"the page is compressed in a way that is not known: {encoding[:40]!r}")
    inflate = zlib.decompressobj(wbits=31) if "gzip" in encoding else None
    body = bytearray()
    async for piece in response.content.iter_chunked(16_384):
        if inflate is None:
            body += piece
        else:
            body += _inflated(inflate, piece, most + 1 - len(body))
        if len(body) > most:
            return bytes(body[:most]), True
    return bytes(body), False


def _inflated(inflate: Any, piece: bytes, most: int) -> bytes:
    try:
        found: bytes = inflate.decompress(piece, most)
    except zlib.error:
        raise ToolError("the page is not compressed in the way it says") from None
    return found
