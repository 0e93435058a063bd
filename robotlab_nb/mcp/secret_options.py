"""Which of a server's options are secrets, and filling in those that stand in the environment.

A value such as ``${GITHUB_TOKEN}`` is a reference: it is read when the server is reached, and only
then. Values that were given and look like keys are registered as secrets.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from ..core import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["filled", "references", "register_secrets", "secret_looking", "without_values"]

_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET = re.compile(
    r"token|secret|passw|api[-_]?key|apikey|private[-_]?key|access[-_]?key|credential|auth|cookie"
    r"|bearer|(?:^|[-_])(?:key|pat|pwd|dsn)$",
    re.IGNORECASE,
)
_FLAG = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)


def secret_looking(name: str) -> bool:
    """Whether something of that name usually is to be kept secret.

    Examples
    --------
    >>> [secret_looking(n) for n in ("GITHUB_TOKEN", "X-Api-Key", "KEY", "HOME", "keyboard")]
    [True, True, True, False, False]
    """
    return _SECRET.search(name) is not None


def references(value: Any) -> list[str]:
    """The variables that a text (or the texts in a collection) refers to without a default."""
    if isinstance(value, str):
        return [m[1] for m in _REFERENCE.finditer(value) if m[2] is None]
    if isinstance(value, (list, tuple)):
        return [name for item in value for name in references(item)]
    if hasattr(value, "values"):
        return references(list(value.values()))
    return []


def filled(value: Any) -> Any:
    """A text with what its references stand for; what is not set stays as it is.

    Examples
    --------
    >>> filled("${NOT_SET_ANYWHERE:-a default} and ${NOT_SET_ANYWHERE}")
    'a default and ${NOT_SET_ANYWHERE}'
    """
    if isinstance(value, str):
        return _REFERENCE.sub(_of_environment, value)
    if isinstance(value, (list, tuple)):
        return type(value)(filled(item) for item in value)
    if hasattr(value, "items"):
        return {name: filled(item) for name, item in value.items()}
    return value


def _of_environment(found: re.Match[str]) -> str:
    value = os.environ.get(found[1])
    if value:
        if secret_looking(found[1]):
            secrets.register(value, found[1])
        return value
    return found[0] if found[2] is None else found[2]


def register_secrets(transport: Mapping[str, Any]) -> None:
    """Have the values that look like keys masked wherever text is shown or kept."""
    for name, value in _given(transport):
        if value and not _REFERENCE.search(value):
            secrets.register(value, name)


def _given(transport: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What looks like a secret, by its name."""
    for name, value in (transport.get("env") or {}).items():
        if secret_looking(name):
            yield name, value.strip()
    for name, value in (transport.get("headers") or {}).items():
        if secret_looking(name):
            kind, _, key = value.strip().partition(" ")
            yield name, key.strip() if key and kind.isalpha() else value.strip()
    for option in ("url", "post_url"):
        address = urlsplit(transport.get(option) or "")
        if address.password:
            yield f"{option} password", unquote(address.password)
        for name, value in parse_qsl(address.query):
            if secret_looking(name):
                yield name, value
    yield from _in_arguments(transport.get("args") or ())


def _in_arguments(args: Any) -> Iterator[tuple[str, str]]:
    flag: str | None = None
    for arg in args:
        found = _FLAG.fullmatch(arg)
        if found is None:
            if flag is not None:
                yield flag, arg
            flag = None
        elif found[2] is not None and secret_looking(found[1]):
            yield found[1], found[2]
            flag = None
        else:
            flag = found[1] if secret_looking(found[1]) else None


def without_values(url: str) -> str:
    """An address without what a person signs in with, and without the values of its query.

    Examples
    --------
    >>> without_values("https://me:secret@host/mcp?token=abc")
    'https://host/mcp?token=…'
    """
    address = urlsplit(url)
    host = address.netloc.rpartition("@")[2]
    query = "&".join(f"{name}=…" for name, _ in parse_qsl(address.query, keep_blank_values=True))
    return address._replace(netloc=host, query=query, fragment="").geturl()
