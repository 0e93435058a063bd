"""Reading handlers: which points a class, an object, a function or a mapping has.

A handler is read when it is registered, so that a misspelt point is an error before any run.
Nothing here calls one.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..core.errors import ConfigurationError, near
from .hook_context import Spaces
from .hook_points import POINTS, PREFIXES
from .hook_signatures import check, is_async

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Hook", "Registration", "hook", "read", "registrations"]

F = TypeVar("F")

#: seconds that a handler may take, without what it is around
LIMIT_S = 60.0
#: attribute of a function: the points that it was marked for, and its time
MARK = "__robotlab_hook__"
#: attribute of a class that was given as a handler: the object made of it
MADE = "__robotlab_handler__"
_WAYS = (
    "A handler is an object or class with methods such as before_run(self, context), a function "
    'with such a name or marked @rl.hook("before_run"), or a mapping {"before_run": function}.'
)


class Hook(NamedTuple):
    """A function at a point."""

    point: str
    #: how people know it: ``Guard.before_run``
    name: str
    function: Callable[..., Any]
    is_async: bool
    #: None for no limit
    seconds: float | None
    spaces: Spaces


class Registration:
    """A handler as it is registered: its points and its namespaces.

    Parameters
    ----------
    handler : object
        As it was given.
    name : str
        How people know it.
    namespace : str
        How other handlers know it.
    functions : list of (str, callable)
        Points and what is called there.
    spaces : Spaces
    """

    __slots__ = ("handler", "hooks", "name", "namespace", "spaces")

    def __init__(
        self,
        handler: Any,
        name: str,
        namespace: str,
        functions: list[tuple[str, Callable[..., Any]]],
        spaces: Spaces,
    ) -> None:
        self.handler = handler
        self.name = name
        self.namespace = namespace
        self.spaces = spaces
        self.hooks = tuple(
            Hook(
                point,
                name if name == point else f"{name}.{point}",
                function,
                is_async(function),
                getattr(function, MARK, ((), LIMIT_S))[1],
                spaces,
            )
            for point, function in functions
        )


def hook(*points: str, timeout: float | None = LIMIT_S) -> Callable[[F], F]:
    """Mark a function or a method as a handler for points, whatever its name is.

    Parameters
    ----------
    *points : str
        ``"before_run"``, ``"after_tool_call"`` … Left out: the function's own name.
    timeout : float or None, optional
        Seconds that it may take, without what it is around; None for no limit.

    Returns
    -------
    callable
        A decorator that gives the function back.

    Raises
    ------
    ConfigurationError
        For a point that is not there.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> from robotlab_nb.runtime.hook_handlers import hook
    >>> @hook("before_run", "after_run")
    ... def tell(context):
    ...     print(context.robot.name, "has an answer:", context.response is not None)
    >>> answer = rl.build("poet", model=rl.SimulatedModel(["roses"]), hooks=tell).run("a poem")
    poet has an answer: False
    poet has an answer: True
    """
    for point in points:
        _known(point, "@hook")

    def mark(function: F) -> F:
        inside = getattr(function, "__func__", function)  # of a static or class method
        named = points or (_known(_plain_name(inside), "@hook"),)
        inside.__dict__[MARK] = (named, timeout)
        return function

    return mark


def _known(point: Any, where: str) -> str:
    if point not in POINTS:
        raise ConfigurationError(
            f"{where}: there is no point {point!r:.80}", hint=near(str(point), POINTS, limit=30)
        )
    return str(point)


# -- reading -------------------------------------------------------------------------------


def read(handler: Any, spaces: Spaces | None = None, *, where: str = "hooks") -> Registration:
    """Read a handler.

    Parameters
    ----------
    handler : object, class, function or mapping
        A class whose points are not all static or class methods is made first, without arguments.
    spaces : Spaces, optional
        Its namespaces; left out, those that last as long as the handler itself.
    where : str, optional
        Where it was given, for errors.

    Returns
    -------
    Registration

    Raises
    ------
    ConfigurationError
        When it has no point, a misspelt one, or a function that cannot be called there.
    """
    if isinstance(handler, Mapping):
        functions = [(_known(p, where), f) for p, f in handler.items() if f is not None]
        name = "hooks"
    elif _is_function(handler):
        functions = _of_function(handler, where)
        name = _short(handler)
    else:
        functions = list(_of_object(handler, where))
        name = _short(handler if isinstance(handler, type) else type(handler))
    if not functions:
        raise _pointless(handler, where)
    for point, function in functions:
        check(point, function, f"{where}: {name}")
    namespace = getattr(handler, "namespace", None)
    if not isinstance(namespace, str):
        namespace = "" if isinstance(handler, Mapping) else _snake(name)
    if spaces is None:
        spaces = _spaces_of(handler, where)
    return Registration(handler, name, namespace, functions, spaces)


def _pointless(handler: Any, where: str) -> ConfigurationError:
    """The error for something without a point; a method that was meant to be one is named."""
    named = isinstance(handler, type) or type(handler).__module__ != "builtins"
    told = _short(handler if isinstance(handler, type) else type(handler)) if named else ""
    for name in dir(handler) if named else ():
        meant = near(name, POINTS)
        if not name.startswith("_") and meant.startswith("Did"):
            return ConfigurationError(f"{where}: {told}.{name} is no point", hint=meant)
    return ConfigurationError(f"{where}: {told or repr(handler)[:80]} has no point", hint=_WAYS)


def _is_function(handler: Any) -> bool:
    import functools
    import inspect

    return isinstance(handler, functools.partial) or inspect.isroutine(handler)


def _of_function(function: Any, where: str) -> list[tuple[str, Callable[..., Any]]]:
    marked = getattr(function, MARK, None)
    if marked is not None:
        return [(point, function) for point in marked[0]]
    return [(_known(_plain_name(function), where), function)]


def _of_object(handler: Any, where: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The points of an object or a class, by the names and the marks of its methods."""
    found: list[tuple[str, str]] = []
    bound = True
    for name, given in _attributes(handler).items():
        if name.startswith("__"):
            continue
        inside = given.__func__ if isinstance(given, (staticmethod, classmethod)) else given
        marked = getattr(inside, MARK, None) if isinstance(inside, FunctionType) else None
        if marked is not None:
            found += [(point, name) for point in marked[0]]
        elif not (name.startswith(PREFIXES) and (name in POINTS or callable(inside))):
            continue
        elif inside is not None:
            found.append((_known(name, f"{where}: {_short(handler)}"), name))
        bound = bound and inside is not given
    if isinstance(handler, type) and found and not bound:
        handler = made(handler, where)
    for point, name in found:
        yield point, getattr(handler, name)


def _attributes(handler: Any) -> dict[str, Any]:
    """The attributes of an object or a class as they were written, inherited ones included."""
    cls = handler if isinstance(handler, type) else type(handler)
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[:-1]):
        found.update(vars(base))
    if cls is not handler:
        found.update(getattr(handler, "__dict__", {}))
    return found


def made(cls: type, where: str) -> Any:
    """The object of a class that was given as a handler; made once."""
    with _lock:
        if MADE not in vars(cls):
            try:
                setattr(cls, MADE, cls())
            except Exception as error:
                raise ConfigurationError(
                    f"{where}: {cls.__name__}() cannot be made without arguments ({error})",
                    hint="Make it yourself and give the object.",
                ) from error
        return vars(cls)[MADE]


def _plain_name(thing: Any) -> str:
    import functools

    while isinstance(thing, functools.partial):
        thing = thing.func
    return str(getattr(thing, "__name__", type(thing).__name__))


def _short(thing: Any) -> str:
    """A function's or class's name, with the class it stands in but not the function."""
    named = getattr(thing, "__qualname__", None)
    if not isinstance(named, str):
        return _plain_name(thing)
    return named.rpartition("<locals>.")[2]


def _snake(name: str) -> str:
    last = name.rpartition(".")[2]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last).lower()


# -- handlers given to robots, networks, tasks and runs -------------------------------------

_lock = threading.RLock()
#: id of a handler -> itself, weakly, and its namespaces
_spaces: dict[int, tuple[weakref.ref[Any], Spaces]] = {}


def registrations(given: Any, where: str = "hooks") -> tuple[Registration, ...]:
    """Read what was given as ``hooks=``: one handler, or a list of them.

    A handler's namespaces last as long as the handler itself.

    Parameters
    ----------
    given : handler, list or tuple of handlers, or None
        Registrations pass through.
    where : str, optional
        Where it was given, for errors.

    Returns
    -------
    tuple of Registration

    Raises
    ------
    ConfigurationError
        As :func:`read`.
    """
    if given is None:
        return ()
    handlers = given if isinstance(given, (list, tuple)) else (given,)
    return tuple(h if isinstance(h, Registration) else read(h, where=where) for h in handlers)


def _spaces_of(handler: Any, where: str) -> Spaces:
    anchor = handler
    if isinstance(handler, Mapping):  # a dict cannot be referred to weakly, its functions can
        anchor = next((f for f in handler.values() if f is not None), None)
    key = id(anchor)
    with _lock:
        found = _spaces.get(key)
        if found is not None and found[0]() is anchor:
            return found[1]
        try:
            reference = weakref.ref(anchor, lambda gone: _forget(key, gone))
        except TypeError:
            raise ConfigurationError(
                f"{where}: {handler!r:.80} cannot be referred to weakly",
                hint='Add "__weakref__" to the __slots__ of its class.',
            ) from None
        made = Spaces()
        _spaces[key] = (reference, made)
        return made


def _forget(key: int, gone: weakref.ref[Any]) -> None:
    with _lock:
        found = _spaces.get(key)
        if found is not None and found[0] is gone:
            del _spaces[key]
