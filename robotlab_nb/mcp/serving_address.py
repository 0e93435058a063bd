"""Where something is served and who may come: what a person may say of it, checked."""

from __future__ import annotations

import os
import secrets as _random
import socket
from typing import Any

from ..core.errors import ConfigurationError, near
from ..core.secrets import SHORTEST, register
from .serving_http import PATHS

__all__ = ["bound_socket", "check_numbers", "checked_kind", "checked_token"]

_WORDS = {"streamable-http": "http", "ws": "websocket"}


def checked_kind(given: Any) -> str:
    """The transport that a word means."""
    kind = _WORDS.get(given, given)
    if kind not in (*PATHS, "stdio"):
        raise ConfigurationError(
            f"there is no transport {given!r:.60}", hint=near(str(given), [*PATHS, "stdio"])
        )
    return str(kind)


def check_numbers(port: Any, max_calls: Any, max_request_bytes: Any) -> None:
    """Raise for a number that is none, or out of bounds."""
    for what, value, low, high in (
        ("port", port, 0, 65_535),
        ("max_calls", max_calls, 1, 10_000),
        ("max_request_bytes", max_request_bytes, 1024, 2**31),
    ):
        if type(value) is not int or not low <= value <= high:
            raise ConfigurationError(
                f"{what}={value!r:.60} is no whole number from {low:,} to {high:,}"
            )


def checked_token(given: Any, name: str) -> str | None:
    """The token that was meant, registered as a secret."""
    if given is None or given is False:
        return None
    if given is True:
        token = _random.token_urlsafe(24)
    elif isinstance(given, str):
        token = os.environ.get(given, given)
    else:
        raise ConfigurationError(f"token= takes a text or True, not {type(given).__name__}")
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigurationError(
            f"a token has at least {SHORTEST} letters and digits",
            hint="token=True makes one; or name an environment variable that is set.",
        )
    register(token, f"token of {name}")
    return token


def bound_socket(host: str, port: int, taken: str | None = None) -> socket.socket:
    """A socket that is bound; ``taken`` says who of ours may hold the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        hint = f"{taken!r} is served there: stop it first." if taken else "port=0 takes a free one."
        raise ConfigurationError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}", hint=hint
        ) from None
    return bound
