"""Reading what a server is from a dict or from keywords, so that nothing is swallowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import ConfigurationError, UnknownKeyword, near
from .server_options import OPTIONS, checked_transport, guessed_type

__all__ = ["described", "keyword_transport"]

#: what a server has besides its transport's options
_OWN = (
    "name", "transport", "timeout", "call_timeout", "description", "type", "labels", "approval",
    "required",
)  # fmt: skip


def described(thing: Any) -> tuple[str, dict[str, Any]]:
    """The name and the keywords that a dict means.

    Parameters
    ----------
    thing : mapping

    Raises
    ------
    ConfigurationError
        When it is none, lacks the name, or has a key that is nearly one of ours.
    """
    if not isinstance(thing, Mapping):
        raise ConfigurationError(
            f"a tool server is a Server or a dict, not {type(thing).__name__}",
            hint='For example rl.mcp.Server("files", command="…").',
        )
    known = {str(k): v for k, v in thing.items()}
    name = known.pop("name", None)
    if name is None:
        raise ConfigurationError("a tool server's dict lacks its name")
    nested = isinstance(known.get("transport"), Mapping)
    options = [*_OWN, *(() if nested else _all_options())]
    if nested:
        stray = [k for k in _all_options() if k in known and k not in _OWN]
        if stray:
            raise ConfigurationError(
                f"server {name!r}: {stray[0]} stands beside the transport",
                hint=f"It belongs into it: 'transport': {{…, {stray[0]!r}: …}}.",
            )
    if not nested and _registered(known):
        return name, known
    for key in [k for k in known if k not in options]:
        told = near(key, options)
        if told.startswith("Did you mean"):
            raise ConfigurationError(f"server {name!r} has no {key!r}", hint=told)
        del known[key]
    return name, known


def _all_options() -> list[str]:
    return list(dict.fromkeys(name for known in OPTIONS.values() for name in known))


def _registered(known: Mapping[str, Any]) -> bool:
    from .transport_registry import factory_of

    kind = known.get("type") or known.get("transport")
    return isinstance(kind, str) and factory_of(kind) is not None


def keyword_transport(
    name: str,
    given: dict[str, Any],
    transport: Mapping[str, Any] | str | None,
    further: Mapping[str, Any],
) -> dict[str, Any]:
    """The transport's options, from a dict or from keywords.

    Parameters
    ----------
    name : str
        The server's.
    given : dict
        What keywords said of the transport.
    transport : mapping or str, optional
        All of it, or its type.
    further : mapping
        The keywords that the constructor does not list.

    Raises
    ------
    ConfigurationError
        Naming the option, and the near one.
    """
    if isinstance(transport, str):  # a flat description: its type, the options beside it
        if given["type"] is not None:
            raise ConfigurationError(f"server {name!r} has both type= and transport=")
        given["type"] = transport
        transport = None
    if transport is not None:
        if not isinstance(transport, Mapping):
            raise ConfigurationError(
                f"server {name!r}: its transport is a dict, not {type(transport).__name__}",
                hint='For example {"type": "stdio", "command": "…"}.',
            )
        beside = [k for k, v in given.items() if v is not None]
        if beside:
            raise ConfigurationError(
                f"server {name!r} has both transport= and {beside[0]}=",
                hint="Put everything into the transport, or nothing.",
            )
        return checked_transport(transport, name)
    kind = given["type"] or guessed_type(given, name)
    if kind in OPTIONS or kind in ("streamable-http", "ws"):
        words = [*_OWN, *_all_options()]
        for word in further:
            if word not in words:
                raise UnknownKeyword(f"Server() has no parameter {word!r}", hint=near(word, words))
    return checked_transport(given, name)
