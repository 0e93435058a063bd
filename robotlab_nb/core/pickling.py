"""Refusing to pickle what holds a registered secret, and saying where it is.

It looks at what a pickle would hold, functions that are pickled by value included (those of a
notebook's cells, which travel to workers that way). Knows no robot and no tool.
"""

from __future__ import annotations

import functools
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

from . import secrets
from .errors import RactorBoundaryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Guarded", "refuse_secrets"]

#: types that hold nothing
_BARE = (type(None), bool, int, float, complex, range, types.ModuleType, types.BuiltinFunctionType)
#: a value, and where it is
_Place = tuple[Any, str]

_busy = threading.local()


def refuse_secrets(what: str, parts: Mapping[str, Any]) -> None:
    """Raise when a pickle of some parts would hold a registered secret.

    Parameters
    ----------
    what : str
        Whose parts they are, for the message.
    parts : mapping
        The parts by what a person calls them.

    Raises
    ------
    RactorBoundaryError
        Naming the part, the place in it and the secret.

    Examples
    --------
    >>> secrets.register("correct-horse-battery", "VAULT_TOKEN")
    >>> refuse_secrets("robot 'bob'", {"tools": [{"key": "correct-horse-battery"}]})
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.RactorBoundaryError: robot 'bob' is not pickled: tools[0]['key'] holds \
the secret VAULT_TOKEN. Read it from an environment variable where it is used; ...
    """
    # What is inside is looked at from outside; it need not look again.
    if not secrets.any_known or getattr(_busy, "now", False):
        return
    _busy.now = True
    try:
        found = _first(list(parts.items()))
    finally:
        _busy.now = False
    if found is not None:
        place, name = found
        raise RactorBoundaryError(
            f"{what} is not pickled: {place} holds the secret {name}",
            hint="Read it from an environment variable where it is used; a pickle goes anywhere.",
        )


class Guarded:
    """Mixin: an object that is not pickled with a registered secret in it."""

    __slots__ = ()

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if secrets.any_known:
            parts = [p for p in (state if isinstance(state, tuple) else (state,)) if p]
            held = {name: value for part in parts for name, value in part.items()}
            refuse_secrets(f"this {type(self).__name__}", held)
        return state


def _first(parts: list[tuple[str, Any]]) -> tuple[str, str] | None:
    """The first place that holds a secret, and the secret's name."""
    left: list[_Place] = [(value, name) for name, value in reversed(parts)]
    seen: dict[int, Any] = {}
    while left:
        here, place = left.pop()
        if isinstance(here, _BARE):
            continue
        if isinstance(here, (str, bytes, bytearray)):
            text = here if isinstance(here, str) else bytes(here).decode("utf-8", "replace")
            name = secrets.found_in(text)
            if name is not None:
                return place, name
        elif id(here) not in seen:
            seen[id(here)] = here  # kept, so that its id stays its own
            left += reversed(list(_inside(here, place)))
    return None


def _inside(here: Any, place: str) -> Iterator[_Place]:
    if type(here) is dict:
        for key, value in here.items():
            yield key, f"a key of {place}"
            yield value, f"{place}[{key!r:.60}]"
    elif isinstance(here, (list, tuple, set, frozenset)):
        for n, item in enumerate(here):
            yield item, f"{place}[{n}]"
    elif isinstance(here, types.FunctionType):
        if not _by_name(here):
            yield from _of_function(here, place)
    elif isinstance(here, types.MethodType):
        yield here.__func__, place
        yield here.__self__, f"the object of {place}"
    elif isinstance(here, functools.partial):
        yield from ((here.func, place), (here.args, place), (here.keywords, place))
    elif isinstance(here, types.CodeType):
        yield here.co_consts, place
    elif isinstance(here, type):
        if here.__module__ == "__main__":
            yield dict(vars(here)), place
    else:
        yield from _of_object(here, place)


def _of_function(function: types.FunctionType, place: str) -> Iterator[_Place]:
    """What a function takes along when it is pickled by value."""
    code = function.__code__
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    for name, value in (*zip(names, values, strict=True), *(function.__kwdefaults__ or {}).items()):
        yield value, f"{place} (the default of {name!r})"
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield cell.cell_contents, f"{place} ({name!r} from around it)"
        except ValueError:
            pass  # not yet filled
    yield code, f"{place} (its source)"
    for name in code.co_names:
        if name in function.__globals__:
            yield function.__globals__[name], f"{place} (the global {name!r})"
    yield dict(vars(function)), place


def _by_name(function: types.FunctionType) -> bool:
    """Whether a pickle holds nothing of a function but where to import it from."""
    found: Any = sys.modules.get(function.__module__ or "")
    if found is None or function.__module__ == "__main__":
        return False
    for step in function.__qualname__.split("."):
        found = getattr(found, step, None)
    return found is not None


def _of_object(here: Any, place: str) -> Iterator[_Place]:
    """What the object itself says that a pickle holds."""
    try:
        reduced = here.__reduce_ex__(4)
    except Exception:
        return  # pickling it will say so
    if isinstance(reduced, str):
        return
    _, args, state, *more = (*reduced, None, None)[:5]
    yield args, place
    for part in state if isinstance(state, tuple) else (state,):
        if isinstance(part, dict):
            for name, value in part.items():
                yield value, f"{place}.{name}"
        else:
            yield part, place
    for items in more:
        if items is not None:
            yield list(items), place
