"""Handlers of the whole process: added, replaced when a cell is run again, and removed."""

from __future__ import annotations

import threading
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError
from ..core.readings import Pictured
from .hook_context import Spaces
from .hook_handlers import Registration, read
from .notebook import cell_of_caller

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Hooks", "hooks"]

_ADD = "rl.hooks.add"


class _Added(NamedTuple):
    registration: Registration
    #: what was defined (a function, a class), and its name in its module; "" for what has none
    definition: Any
    name: str
    #: the notebook cell that added it and which execution of it, where that is known
    cell: tuple[str, str] | None


class Hooks(Pictured):
    """Handlers that are called around everything that robots and networks do in this process.

    ``rl.hooks`` is the one there is. A handler is an object or a class with methods named after
    points, a function so named (or marked by ``@rl.hook``), or a mapping of points to functions.
    Robots, networks, tasks and runs take handlers too, as ``hooks=``; all levels act: global,
    network, robot, task, run.

    ===================  ======================================================================
    points               around what
    ===================  ======================================================================
    ``…_run``            a run of a robot
    ``…_llm_generation`` each call of a model
    ``…_tool_call``      each call of a tool
    ``…_network_run``    a run of a network
    ``…_task``           a task of a network
    ``…_compaction``     compressing a conversation
    ``…_learn``          keeping something learned
    ===================  ======================================================================

    ``before_…(context)`` are called in order. One that raises forbids what follows: the run fails
    with its error. One that sets the result stands in for the whole. ``around_…(context,
    proceed)``, the first one outermost, calls ``proceed()`` (``await proceed()`` in an ``async
    def``) to go on, once or again after a failure, and may return another result; returning None
    keeps the one there is. ``after_…(context)`` are called in reverse order when all went well,
    ``on_error(context)`` when a run, network run or task failed; ``on_compaction`` before a
    conversation is compressed (it may set the messages), ``on_learn`` after something was
    learned. What those three kinds raise is an event, ``hook.failed``, and breaks nothing.

    ``context`` holds the fields of its family, ``context.local`` what the handler keeps for this
    root run and ``context.state`` what it keeps while it is registered. Sync handlers run in
    worker threads, each for at most 60 s (``@rl.hook(timeout=…)``) besides what it is around.

    Examples
    --------
    >>> from robotlab_nb.runtime.hook_registry import hooks
    >>> import robotlab_nb as rl
    >>> @hooks.add
    ... class Announce:
    ...     def before_run(self, context):
    ...         print(context.robot.name, "is asked")
    >>> hooks
    <hooks: Announce (before_run)>
    >>> answer = rl.build("poet", model=rl.SimulatedModel(["roses"])).run("a poem")
    poet is asked
    >>> hooks.clear()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._added: tuple[_Added, ...] = ()
        #: what is registered, in order
        self.registrations: tuple[Registration, ...] = ()

    def add(self, handler: Any = None, /, **state: Any) -> Any:
        """Register a handler. Also a decorator, bare or with state.

        A handler that is added again, or whose definition was run again (the same name in the
        same module), takes the place of the one before.

        Parameters
        ----------
        handler : object, class, function or mapping
        **state
            What its ``context.state`` starts with.

        Returns
        -------
        object
            The handler.

        Raises
        ------
        ConfigurationError
            When it has no point, or a misspelt one.
        """
        if handler is None:
            return self._adder(state)
        added = _added(handler, state)
        with self._lock:
            kept = list(self._added)
            place = next((n for n, old in enumerate(kept) if _replaces(added, old)), None)
            if place is None:
                kept.append(added)
            else:
                kept[place] = added
            self._set(kept)
        return handler

    def _adder(self, state: dict[str, Any]) -> Callable[[Any], Any]:
        return lambda handler: self.add(handler, **state)

    def remove(self, handler: Any) -> None:
        """Take a handler away.

        Raises
        ------
        ConfigurationError
            When it is not registered.
        """
        with self._lock:
            kept = [a for a in self._added if not _same(a.registration.handler, handler)]
            if len(kept) == len(self._added):
                raise ConfigurationError(
                    f"{handler!r:.80} is not registered", hint=f"Registered: {self!r}"
                )
            self._set(kept)

    def clear(self) -> None:
        """Take all handlers away."""
        with self._lock:
            self._set([])

    def _set(self, added: list[_Added]) -> None:
        self._added = tuple(added)
        self.registrations = tuple(a.registration for a in added)

    def __call__(self, *handlers: Any, **state: Any) -> _For:
        """Register handlers until the ``with`` block ends.

        Parameters
        ----------
        *handlers
        **state
            What the ``context.state`` of each starts with.
        """
        return _For(self, [_added(h, state) for h in handlers])

    def __len__(self) -> int:
        return len(self.registrations)

    def __repr__(self) -> str:
        shown = (f"{r.name} ({', '.join(h.point for h in r.hooks)})" for r in self.registrations)
        return f"<hooks: {', '.join(shown) or 'none'}>"


class _For:
    """Handlers for the time of a ``with`` block."""

    def __init__(self, registry: Hooks, added: list[_Added]) -> None:
        self._registry = registry
        self._mine = added

    def __enter__(self) -> Hooks:
        registry = self._registry
        with registry._lock:
            registry._set([*registry._added, *self._mine])
        return registry

    def __exit__(self, *_: Any) -> None:
        registry = self._registry
        with registry._lock:
            registry._set([a for a in registry._added if not any(a is m for m in self._mine)])


def _added(handler: Any, state: dict[str, Any]) -> _Added:
    registration = read(handler, Spaces(dict(state)), where=_ADD)
    defined = getattr(handler, "__func__", handler)  # of a method
    if not hasattr(defined, "__qualname__"):
        defined = type(handler)
    module, name = getattr(defined, "__module__", None), defined.__qualname__
    anonymous = module in (None, "builtins") or name == "_"
    return _Added(registration, defined, "" if anonymous else f"{module}.{name}", cell_of_caller())


def _same(one: Any, other: Any) -> bool:
    """Whether two handlers are the same; a method is a new object each time it is looked up."""
    return one is other or (isinstance(one, MethodType) and bool(one == other))


def _replaces(new: _Added, old: _Added) -> bool:
    """Whether a handler takes the place of one that is there."""
    if _same(new.registration.handler, old.registration.handler):
        return True
    if new.name != old.name:
        return False
    # A name in a module means one thing: another thing under it is its later definition.
    if new.name and "<" not in new.name and new.definition is not old.definition:
        return True
    # What a cell added is replaced when the cell is run again.
    here, before = new.cell, old.cell
    return bool(here and before and here[0] == before[0] and here[1] != before[1])


#: the process's registry
hooks = Hooks()
