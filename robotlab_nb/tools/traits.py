"""What can be told of a callable without calling it: its name, its kind, where it comes from."""

from __future__ import annotations

import functools
import inspect
import os
import re
import types
import unicodedata
from typing import Any

from ..core.errors import ConfigurationError

__all__ = [
    "checked_name",
    "clean_name",
    "is_async",
    "lacks_object",
    "own_name",
    "snake",
    "source",
    "underlying",
]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def clean_name(text: str) -> str:
    """Make a tool's name of any text: accents removed, ``_`` for all but ``a-z A-Z 0-9 _ -``.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        1 to 64 characters.

    Raises
    ------
    ConfigurationError
        When nothing is left of it, or it is longer than 64 characters.

    Examples
    --------
    >>> clean_name("größe.messen")
    'gro_e_messen'
    """
    letters = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", "".join(letters))
    if not name.strip("_-") or len(name) > 64:
        raise ConfigurationError(
            f"{text[:80]!r} makes no tool name", hint="Give one of 1 to 64 letters: name=…"
        )
    return name


def checked_name(name: str) -> str:
    """A tool name given by a person, or the error that says what is wrong with it."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r:.80} is no tool name",
            hint="Use 1 to 64 letters, digits, '_' and '-': providers accept no others.",
        )
    return name


def own_name(function: Any) -> str:
    """The name of the tool that a callable makes."""
    inside = function
    while isinstance(inside, functools.partial):
        inside = inside.func
    name = getattr(inside, "__name__", None)
    if name is None:
        return snake(type(inside).__name__)
    if name == "<lambda>":
        raise ConfigurationError(
            "a lambda has no name that a model could call",
            hint='Write a `def`, or tool(name="…")(lambda …).',
        )
    return name if _NAME.fullmatch(name) else clean_name(name)


def snake(name: str) -> str:
    """Snake case of a class name, without a trailing ``Tool``."""
    short = name[:-4] if name.endswith("Tool") and len(name) > 4 else name
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", short)
    return clean_name(split.strip("_").lower())


def underlying(function: Any) -> Any:
    """The plain function inside partials, bound methods, decorators and callable objects."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif _call_of(function) is not None:
            function = _call_of(function)
        else:
            return function


def _call_of(thing: Any) -> types.FunctionType | None:
    """``__call__`` of an object whose class writes one in Python."""
    if isinstance(thing, (types.FunctionType, type)):
        return None
    found = inspect.getattr_static(type(thing), "__call__", None)
    return found if isinstance(found, types.FunctionType) else None


def is_async(function: Any) -> bool:
    """Whether calling it gives something to await or to iterate asynchronously."""
    while isinstance(function, functools.partial):
        function = function.func
    for one in (function, _call_of(function)):
        if inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one):
            return True
    return False


def lacks_object(function: Any) -> bool:
    """Whether a function was defined in a class body and still awaits its ``self``."""
    if not isinstance(function, types.FunctionType) or "." not in function.__qualname__:
        return False
    code = function.__code__
    first = code.co_varnames[0] if code.co_argcount else ""
    inside_class = not function.__qualname__.rpartition(".")[0].endswith("<locals>")
    return inside_class and first in ("self", "cls") and first not in function.__annotations__


def source(function: Any) -> str:
    """Where it was written, for people: ``function in weather.py``."""
    code = getattr(underlying(function), "__code__", None)
    if code is None:
        return f"function in {getattr(function, '__module__', None) or 'builtins'}"
    path: str = code.co_filename
    kind = "method" if isinstance(function, types.MethodType) else "function"
    if path.startswith("<") or "ipykernel_" in path:
        return f"{kind} in a cell" if "ipy" in path else f"{kind} in {path}"
    return f"{kind} in {os.path.basename(path)}"
