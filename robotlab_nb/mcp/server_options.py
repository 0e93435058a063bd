"""What a server's transport may be told, checked when the server is described.

Pure: nothing is opened, no variable is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..core.errors import ConfigurationError, near
from .transport_registry import factory_of, transport_kind

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["checked_transport", "guessed_type", "seconds"]

#: transport -> its options
OPTIONS: dict[str, tuple[str, ...]] = {
    "stdio": ("command", "args", "env", "cwd"),
    "http": ("url", "headers", "timeout", "retry", "session_id"),
    "sse": ("url", "headers", "post_url"),
    "websocket": ("url", "headers", "ping_interval"),
}
_NEEDED = {"stdio": "command", "http": "url", "sse": "url", "websocket": "url"}
_SCHEMES = {"http": ("http", "https"), "sse": ("http", "https"), "websocket": ("ws", "wss")}


def guessed_type(options: Mapping[str, Any], server: str) -> str:
    """The transport that options without a ``type`` mean.

    Raises
    ------
    ConfigurationError
        When neither a command nor an address is among them.

    Examples
    --------
    >>> guessed_type({"command": "npx"}, "a"), guessed_type({"url": "wss://host/mcp"}, "a")
    ('stdio', 'websocket')
    >>> guessed_type({"url": "https://host/mcp"}, "a"), guessed_type({"url": "http://h/sse"}, "a")
    ('http', 'sse')
    """
    if options.get("command") is not None:
        return "stdio"
    url = options.get("url")
    if isinstance(url, str):
        address = urlsplit(url)
        if address.scheme in ("ws", "wss"):
            return "websocket"
        return "sse" if address.path.rstrip("/").endswith("/sse") else "http"
    raise ConfigurationError(
        f"server {server!r} has neither a command nor a url",
        hint="Give command= for a program, url= for an address, or type= with its options.",
    )


def checked_transport(given: Mapping[str, Any], server: str) -> dict[str, Any]:
    """A transport's type and options, each looked at.

    Parameters
    ----------
    given : mapping
        ``type`` and options as a person wrote them. Options that are None count as left out.
    server : str
        For messages.

    Raises
    ------
    ConfigurationError
        For a type that is not there, an option that is missing, unknown or of the wrong kind.

    Examples
    --------
    >>> checked_transport({"type": "stdio", "comand": "npx"}, "files")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: server 'files': stdio has no option 'comand'. \
Did you mean 'command'?
    """
    options = {str(k): v for k, v in given.items() if v is not None}
    kind = options.pop("type", None) or guessed_type(options, server)
    kind = transport_kind(kind, server)
    if factory_of(kind) is not None:
        return {"type": kind, **options}
    for name in options:
        if name not in OPTIONS[kind]:
            others = [k for k, known in OPTIONS.items() if name in known]
            told = f"It belongs to {' and '.join(others)}." if others else near(name, OPTIONS[kind])
            raise ConfigurationError(f"server {server!r}: {kind} has no option {name!r}", hint=told)
    needed = _NEEDED[kind]
    if needed not in options:
        raise ConfigurationError(f"server {server!r}: {kind} needs {needed}")
    out: dict[str, Any] = {"type": kind}
    for name in OPTIONS[kind]:
        if name in options:
            out[name] = _READ[name](options[name], f"server {server!r}: {name}", kind)
    return out


def seconds(value: Any, where: str, *, least: float = 1.0) -> float:
    """A number of seconds; a thousand and more are read as milliseconds.

    Raises
    ------
    ConfigurationError
        When it is no positive number.

    Examples
    --------
    >>> seconds(20, "timeout"), seconds(15_000, "timeout"), seconds(0.2, "timeout")
    (20.0, 15.0, 1.0)
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value < float("inf"):
        raise ConfigurationError(
            f"{where} is a number of seconds above 0, not {value!r:.60}",
            hint="A thousand and more are read as milliseconds.",
        )
    return max(least, float(value) / 1000 if value >= 1000 else float(value))


def _wrong(where: str, wanted: str, value: Any) -> ConfigurationError:
    # Never the value itself: it may be a key in the wrong place.
    return ConfigurationError(f"{where} is {wanted}, not {type(value).__name__}")


def _text(value: Any, where: str, kind: str) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise _wrong(where, "a text", value)
    text = os.fspath(value)
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(f"{where} is empty")
    if "\0" in text:
        raise ConfigurationError(f"{where} holds a NUL character")
    return text


def _command(value: Any, where: str, kind: str) -> str:
    if isinstance(value, (list, tuple)):
        raise ConfigurationError(
            f"{where} is one program, not a list", hint="Its arguments go into args=[…]."
        )
    text = _text(value, where, kind)
    first, _, rest = text.strip().partition(" ")
    # A path may hold spaces; a command line is a mistake, for no shell reads it.
    if rest and not {"/", "\\"} & set(first) and not os.path.exists(text):
        raise ConfigurationError(
            f"{where} is one program, not a command line: {text!r:.80}",
            hint=f"command={first!r}, args={rest.split()!r}",
        )
    return text


def _args(value: Any, where: str, kind: str) -> tuple[str, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, (list, tuple)):
        raise ConfigurationError(
            f"{where} is a list of texts, not {type(value).__name__}",
            hint='For example args=["-y", "server"].',
        )
    out = []
    for n, item in enumerate(value):
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            item = str(item)
        if not isinstance(item, (str, os.PathLike)):
            raise _wrong(f"{where}[{n}]", "a text", item)
        text = os.fspath(item)
        if not isinstance(text, str) or "\0" in text:
            raise _wrong(f"{where}[{n}]", "a text without NUL characters", item)
        out.append(text)
    return tuple(out)


def _env(value: Any, where: str, kind: str) -> dict[str, str]:
    if isinstance(value, (list, tuple)):  # variables of our own environment, by name
        value = {name: f"${{{name}}}" if isinstance(name, str) else name for name in value}
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"{where} is a dict of variables, or a list of their names, not {type(value).__name__}"
        )
    out = {}
    for name, text in value.items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise ConfigurationError(f"{where}: {name!r:.60} is not the name of a variable")
        if text is None:
            text = f"${{{name}}}"
        if isinstance(text, (int, float)) and not isinstance(text, bool):
            text = str(text)
        if not isinstance(text, str) or "\0" in text:
            raise _wrong(f"{where}[{name!r}]", "a text", text)
        out[name] = text
    return out


def _headers(value: Any, where: str, kind: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise _wrong(where, "a dict of texts", value)
    out = {}
    for name, text in value.items():
        if not isinstance(name, str) or not name.strip() or not isinstance(text, str):
            raise _wrong(f"{where}[{name!r:.60}]", "a text", text)
        if any(c in name + text for c in "\r\n\0"):
            raise ConfigurationError(f"{where}[{name!r:.60}] holds a line break")
        out[name] = text
    return out


def _url(value: Any, where: str, kind: str) -> str:
    text = _text(value, where, kind).strip()
    schemes = _SCHEMES[kind]
    try:
        address = urlsplit(text)
        found = address.scheme in schemes and bool(address.hostname)
        _ = address.port
    except ValueError:
        found = False
    if not found and not text.startswith("${"):
        raise ConfigurationError(
            f"{where} is no address that begins with {' or '.join(s + '://' for s in schemes)}",
            hint=f"For example {schemes[0]}://127.0.0.1:8000/mcp.",
        )
    return text


def _seconds(value: Any, where: str, kind: str) -> float:
    return seconds(value, where, least=0.1)


def _retry(value: Any, where: str, kind: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 20:
        raise ConfigurationError(
            f"{where} is a number of further tries, 0 to 20, not {value!r:.40}"
        )
    return value


_READ: dict[str, Callable[[Any, str, str], Any]] = {
    "command": _command,
    "args": _args,
    "env": _env,
    "cwd": _text,
    "url": _url,
    "post_url": _url,
    "headers": _headers,
    "timeout": _seconds,
    "ping_interval": _seconds,
    "retry": _retry,
    "session_id": _text,
}
