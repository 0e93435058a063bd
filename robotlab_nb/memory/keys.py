"""Which keys a memory has: free ones, and the reserved ones with ways of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, RobotLabError, near

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["RESERVED", "KeyNotThere", "checked", "free", "not_there"]

#: reserved key -> how it is changed
RESERVED = {
    "data": 'Write memory.data["name"] = value.',
    "results": "Use append_result() or set_results().",
    "messages": "Use append_message().",
    "session_id": 'Write memory.session_id = "…".',
    "cache": "Answers of models are kept with the setting cache=True, not in a memory.",
}


class KeyNotThere(RobotLabError, KeyError):
    """A memory has no such key."""

    __str__ = RobotLabError.__str__


def checked(key: Any) -> str:
    """A key, if it is one.

    Raises
    ------
    InputError
        When it is no text, empty, or no Unicode (a lone surrogate).
    """
    if not isinstance(key, str) or not key:
        raise InputError(f"a memory's key is a text, not {key!r:.80}")
    try:
        key.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"a memory's key is a text in Unicode, not {key!a:.80}") from None
    return key


def free(key: Any, what: str) -> str:
    """A key that a person may use for anything.

    Parameters
    ----------
    key : str
    what : str
        What is to be done with it, for the error.

    Raises
    ------
    InputError
        When it is reserved, or no key.

    Examples
    --------
    >>> free("results", "set")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.InputError: cannot set 'results': it is a reserved key. Use append_...
    """
    if checked(key) in RESERVED:
        raise InputError(f"cannot {what} {key!r}: it is a reserved key", hint=RESERVED[key])
    return str(key)


def not_there(key: str, known: Iterable[str], title: str) -> KeyNotThere:
    """The error for a key that is missing."""
    return KeyNotThere(f"{title} has no key {key!r}", hint=near(key, list(known)))
