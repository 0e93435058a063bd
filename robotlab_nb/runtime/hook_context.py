"""What a handler is given: the fields of its family, and places to keep things.

Knows no handler's code and calls none.
"""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..core.errors import ConfigurationError, near
from .hook_points import FIELDS, RESULT, WRITABLE
from .working import current_work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .run import Run
    from .working import Work

__all__ = ["HookContext", "Namespace", "Spaces"]


class Namespace(SimpleNamespace):
    """Names that a handler sets and reads as attributes; one that is not set is an error.

    Examples
    --------
    >>> kept = Namespace(calls=0)
    >>> kept.calls += 1
    >>> kept.calls, "limit" in kept
    (1, False)
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{name!r} is not set here. {near(name, vars(self))}")

    def __contains__(self, name: str) -> bool:
        return name in vars(self)

    def __iter__(self) -> Iterator[str]:
        return iter(list(vars(self)))


class Spaces:
    """The namespaces of one registration: one that lasts, and one per root run.

    Parameters
    ----------
    state : mapping, optional
        What the lasting one starts with.
    """

    __slots__ = ("_local", "_lock", "state")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.state = Namespace(**(state or {}))
        self._local: WeakKeyDictionary[Work[Any], Namespace] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def local(self, root: Work[Any]) -> Namespace:
        """The namespace of a root run; it goes when the run goes."""
        with self._lock:
            found = self._local.get(root)
            if found is None:
                found = self._local[root] = Namespace()
            return found


class _Passing:
    """What all handlers of one passage share: the fields, and where it happens."""

    __slots__ = ("assigned", "family", "fields", "named", "outside", "root", "run")

    def __init__(self, family: str, fields: dict[str, Any]) -> None:
        self.family = family
        self.fields: dict[str, Any] = dict.fromkeys(("run", *FIELDS[family]))
        self.fields |= fields
        #: how often a handler has set the result
        self.assigned = 0
        self.run: Run[Any] | None = self.fields["run"]
        self.root: Work[Any] | None = None
        #: namespaces by the handlers' names for them
        self.named: Sequence[tuple[str, Spaces]] = ()
        #: run-scoped namespaces where there is no run
        self.outside: dict[Spaces, Namespace] = {}

    def enter(self, run: Run[Any] | None, named: Sequence[tuple[str, Spaces]]) -> None:
        """Note the run and the handlers that the context is passed to."""
        work: Any = run or self.run or current_work()
        self.fields["run"] = self.run = work
        self.named = named
        while work is not None and work.parent is not None:
            work = work.parent
        self.root = work

    def local(self, spaces: Spaces) -> Namespace:
        if self.root is not None:
            return spaces.local(self.root)
        return self.outside.setdefault(spaces, Namespace())

    @property
    def result(self) -> Any:
        return self.fields[RESULT[self.family]]

    def publish(self, value: Any) -> None:
        """Let the engine's result be seen; no handler has set it."""
        self.fields[RESULT[self.family]] = value


class HookContext:
    """What a handler is told, as attributes; some of them it may set.

    Parameters
    ----------
    family : str
        One of ``FAMILIES``.
    **fields
        What the engine knows: the robot, the tool, the messages …

    Attributes
    ----------
    family : str
    run : Run or None
        The run in which it happens.
    local : Namespace
        The handler's own, for this root run: all families and all runs inside it share it.
    state : Namespace
        The handler's own, for as long as it is registered.

    Examples
    --------
    >>> context = HookContext("tool_call", tool_name="add", tool_args={"a": 1})
    >>> context.tool_name
    'add'
    >>> context.tool_name = "subtract"
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: a tool_call handler cannot set 'tool_name'. It may \
set: tool_result, tool_error. Its own names go to context.local.
    """

    __slots__ = ("_passing", "_spaces")

    _passing: _Passing
    _spaces: Spaces | None

    def __init__(self, family: str, **fields: Any) -> None:
        if family not in FIELDS:
            raise ConfigurationError(
                f"there is no hook family {family!r}", hint=near(family, FIELDS)
            )
        object.__setattr__(self, "_passing", _Passing(family, fields))
        object.__setattr__(self, "_spaces", None)

    def seen_by(self, spaces: Spaces) -> HookContext:
        """The same context as the owner of some namespaces sees it."""
        view = object.__new__(HookContext)
        object.__setattr__(view, "_passing", self._passing)
        object.__setattr__(view, "_spaces", spaces)
        return view

    @property
    def family(self) -> str:
        """What the handler is called around."""
        return self._passing.family

    @property
    def local(self) -> Namespace:
        """The handler's own names for this root run."""
        return self._passing.local(self._own("local"))

    @property
    def state(self) -> Namespace:
        """The handler's own names for as long as it is registered."""
        return self._own("state").state

    def _own(self, what: str) -> Spaces:
        if self._spaces is None:
            raise ConfigurationError(f"context.{what} belongs to a handler; there is none here")
        return self._spaces

    def ext(self, name: str) -> Namespace:
        """Another handler's ``local``.

        Parameters
        ----------
        name : str
            Its ``namespace`` attribute, or its class's (or function's) name in snake case.

        Raises
        ------
        ConfigurationError
            When no handler here has that name.
        """
        for known, spaces in self._passing.named:
            if known == name:
                return self._passing.local(spaces)
        raise ConfigurationError(
            f"no handler here has the namespace {name!r}",
            hint=near(name, [known for known, _ in self._passing.named]),
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self._passing.fields
        if name in fields:
            return fields[name]
        raise AttributeError(f"a {self.family} context has no {name!r}. {near(name, fields)}")

    def __setattr__(self, name: str, value: Any) -> None:
        passing = self._passing
        allowed = WRITABLE[passing.family]
        if name not in allowed:
            raise ConfigurationError(
                f"a {passing.family} handler cannot set {name!r}",
                hint=f"It may set: {', '.join(allowed)}. Its own names go to context.local.",
            )
        passing.fields[name] = value
        if name == RESULT[passing.family]:
            passing.assigned += 1

    def __dir__(self) -> list[str]:
        return sorted({"ext", "family", "local", "state", *self._passing.fields})

    def __repr__(self) -> str:
        shown = ", ".join(k for k, v in self._passing.fields.items() if v is not None)
        return f"<{self.family} context: {shown}>"
