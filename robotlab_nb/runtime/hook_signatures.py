"""Whether a function can be called at a point, and how."""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import Any

from ..core.errors import ConfigurationError

__all__ = ["check", "is_async"]

#: function -> how it was found to be callable: around something or not, as a method or not
_checked: weakref.WeakKeyDictionary[FunctionType, set[tuple[bool, bool]]] = (
    weakref.WeakKeyDictionary()
)


def check(point: str, function: Any, where: str) -> None:
    """Raise when a function cannot be called at a point.

    Parameters
    ----------
    point : str
    function : object
    where : str
        Whose it is and where it was given, for errors.

    Raises
    ------
    ConfigurationError
        The message says how to write it.
    """
    around = point.startswith("around_")
    inside = getattr(function, "__func__", function)
    way = (around, inside is function)
    seen = _checked.setdefault(inside, set()) if type(inside) is FunctionType else set()
    if way not in seen:
        _check_signature(point, function, around, where)
        seen.add(way)


def _check_signature(point: str, function: Any, around: bool, where: str) -> None:
    import inspect

    wanted = f"{point}({'context, proceed' if around else 'context'})"
    if not callable(function):
        raise ConfigurationError(f"{where}: {point} is {function!r:.80}", hint=f"Write {wanted}.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigurationError(
            f"{where}: {point} yields, and nobody would iterate it",
            hint="Write around_…(context, proceed) and call proceed() in the middle.",
        )
    try:
        inspect.signature(function).bind(*[None] * (1 + around))
    except TypeError as error:
        raise ConfigurationError(
            f"{where}: {point} cannot be called ({error})", hint=f"Write {wanted}."
        ) from None
    except ValueError:  # written in C, without a signature
        pass


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine."""
    import inspect

    inside = type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inside)
