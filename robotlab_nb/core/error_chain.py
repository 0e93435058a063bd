"""What stands behind an error, made safe to show: its causes, notes and arguments.

Errors of other people's code say what they like, and those of HTTP clients hold the request, key
and all. A person prints and pastes the whole chain, so registered secrets are masked in each link.
"""

from __future__ import annotations

from typing import Any

from . import secrets
from .errors import RobotLabError

__all__ = ["masked"]

#: what errors of HTTP clients hold; a key is in all of these
_EXCHANGE = ("request", "response", "request_info", "headers")


def masked(error: Exception) -> Exception:
    """The error with registered secrets masked in it and in all that it came from.

    Parameters
    ----------
    error : Exception
        It is changed in place as far as that can be done.

    Returns
    -------
    Exception
        The same object, unless its words cannot be changed: then one that stands for it.

    Examples
    --------
    >>> secrets.register("correct-horse-battery", "VAULT_TOKEN")
    >>> failed = ValueError("no correct-horse-battery here")
    >>> masked(failed) is failed, str(failed)
    (True, 'no [redacted: VAULT_TOKEN] here')
    """
    first = _link(error)
    if not isinstance(first, Exception):  # pragma: no cover  (a stand-in is one, and so was it)
        return error
    left: list[BaseException] = [first]
    seen: set[int] = set()
    while left:
        here = left.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        left += _behind(here)
    return first


def _behind(error: BaseException) -> list[BaseException]:
    """The links right behind an error, safe ones put in the place of those that are not."""
    found: list[BaseException] = []
    ours = isinstance(error, RobotLabError)
    suppressed = error.__suppress_context__
    for name in ("__cause__", "__context__"):
        link = getattr(error, name)
        if link is not None:
            safe = _link(link, behind_ours=ours)
            if safe is not link:
                setattr(error, name, safe)
            found.append(safe)
    # Setting a cause sets this too.
    error.__suppress_context__ = suppressed
    if isinstance(error, BaseExceptionGroup):
        found += [_link(member) for member in error.exceptions]
    return found


def _link(error: BaseException, *, behind_ours: bool = False) -> BaseException:
    """One link without its secrets: itself, or what stands for it."""
    _mask_in_place(error)
    if isinstance(error, RobotLabError):
        return error
    if behind_ours and any(_has(error, name) for name in _EXCHANGE):
        return _stand_in(error)
    if _shows(error):
        return _stand_in(error)
    return error


def _mask_in_place(error: BaseException) -> None:
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            _mask_in_place(member)
    args = secrets.redact_data(error.args)
    if args is not error.args:
        error.args = args
    for name, value in list(vars(error).items()):
        new = secrets.redact_data(value)
        if new is not value:
            try:
                setattr(error, name, new)
            except Exception:
                pass  # a property of its own; whether it shows is seen below


def _has(error: BaseException, name: str) -> bool:
    try:
        return getattr(error, name, None) is not None
    except Exception:
        return False


def _shows(error: BaseException) -> bool:
    """Whether a traceback would print a secret after all."""
    import traceback

    try:
        shown = "".join(traceback.format_exception_only(type(error), error))
        return secrets.found_in(shown + repr(error)) is not None
    except Exception:
        return True


def _stand_in(error: BaseException) -> Exception:
    """An error of the same name that says the same, secrets masked, and holds nothing else.

    Its frames are left out too: their variables are the request.
    """
    kind = type(error)
    try:
        said = secrets.redact(str(error))
    except Exception:
        said = "its message cannot be shown"
    space: dict[str, Any] = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made: Exception = type(kind.__name__, (Exception,), space)(said)
    made.__cause__, made.__context__ = error.__cause__, error.__context__
    made.__suppress_context__ = error.__suppress_context__
    return made
