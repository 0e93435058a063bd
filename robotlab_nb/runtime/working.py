"""The working half of a run: its events, its task on a loop, its children, how it ends.

:class:`~robotlab_nb.runtime.run.Run` adds what a person does with one: waiting, watching, reading.
"""

from __future__ import annotations

import contextvars
import os
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..core.errors import ConfigurationError, describe_error, unwrap
from ..core.events import SCHEMA_VERSION, Scope
from ..core.state import RunState
from . import loop as _loop
from . import sinks
from .registry import leave_loop
from .root import Root
from .stop import StopRun
from .strand import current_strand
from .surroundings import Surroundings

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Self

    from ..core.events import Event
    from .desk import Desk

__all__ = ["Work", "current_work"]

T = TypeVar("T")

#: runs inside runs inside runs: past this depth it is a mistake
MAX_DEPTH = 16

_current: contextvars.ContextVar[Work[Any] | None] = contextvars.ContextVar(
    "robotlab_nb_run", default=None
)


def current_work() -> Work[Any] | None:
    """The run in which the calling code happens, or None."""
    return _current.get()


async def _done(run: Any) -> None:
    """The work of a run that has ended."""


def enter_work(work: Work[Any]) -> contextvars.Token[Work[Any] | None]:
    """Make a run the one in which the calling code happens."""
    return _current.set(work)


def leave_work(token: contextvars.Token[Work[Any] | None]) -> None:
    """Undo :func:`enter_work`."""
    _current.reset(token)


class Work(Surroundings, Generic[T]):
    """A run as the engine sees it.

    Parameters
    ----------
    name : str
    kind : str
        ``robot`` or ``network``.
    work : callable
        A coroutine function that does the work and emits events through the run.
    finish : callable
        Makes the result of what the events say.
    robot : str, optional
        The robot's name.
    label : str, optional
        The last part of the path, in place of the name; ``""`` for no part of its own.
    detached : bool, optional
        Whether it is a root even inside another run.
    keep_failed : bool, optional
        Whether a failed run has a result all the same.
    """

    __slots__ = (
        "__weakref__",
        "_attending",
        "_callbacks",
        "_cancelled",
        "_children",
        "_context",
        "_error",
        "_family",
        "_finish",
        "_first",
        "_keep_failed",
        "_loop",
        "_reason",
        "_result",
        "_stuck",
        "_task",
        "_work",
        "caller_loop",
        "closed",
        "desk",
        "done",
        "id",
        "name",
        "on_abandon",
        "parent",
        "partial",
        "root",
        "scope",
        "state",
        "values",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        work: Callable[[Any], Awaitable[None]],
        finish: Callable[[Any], T],
        *,
        robot: str | None = None,
        label: str | None = None,
        detached: bool = False,
        keep_failed: bool = False,
    ) -> None:
        parent = None if detached else _current.get()
        self.done: bool = False
        self.id = os.urandom(6).hex()
        self.name = name
        if parent is not None and parent.done:
            parent = None
        strand = None if parent is None else current_strand(parent)
        self._place(parent, strand, kind, label, robot)
        self.state: RunState = RunState(self.scope, None if parent is None else parent.state)
        self.values: dict[str, Any] = {}
        #: once closed, late events of the run are dropped
        self.closed = False
        self.caller_loop: asyncio.AbstractEventLoop | None = None
        self._inherit(parent, strand)
        #: of a root: the questions that wait for a person; None before the first one
        self.desk: Desk | None = None
        #: called when a question of the run is put, and when the run can only wait
        self._attending: tuple[Callable[[], object], ...] = ()
        #: reads what an answer of a prescribed shape says so far; None where none is prescribed
        self.partial: Callable[[str], Any] | None = None
        #: what must still be recorded when the run is abandoned (its unanswered tool calls)
        self.on_abandon: Callable[[], None] | None = None
        #: whether a failed run has a result all the same
        self._keep_failed = keep_failed
        self._work = work
        self._finish = finish
        self._family = {self.id}
        #: no event of the run stands before this one
        self._first = len(self.root.events)
        #: runs started by this one that go on
        self._children: list[Work[Any]] = []
        self._callbacks: list[Callable[[], object]] = []
        self._cancelled = False
        self._reason = "stopped"
        self._stuck: list[str] = []
        self._error: BaseException | None = None
        self._result: T | None = None
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context: contextvars.Context | None = None
        if parent is not None:
            parent._adopt(self)

    def _place(
        self, parent: Any, strand: Any, kind: str, label: str | None, robot: str | None
    ) -> None:
        """Say where the run is: a root of its own, or inside another run."""
        name = self.name
        self.parent = parent
        if parent is None:
            self.root: Root = Root(self.id)
            self.scope = Scope(self.id, self.id, None, 0, kind, (label or name,), robot)
        else:
            depth = parent.scope.depth + 1
            if depth > MAX_DEPTH:
                raise ConfigurationError(
                    f"runs are {depth} deep inside each other: {' > '.join(parent.scope.path)}",
                    hint="A robot calls itself through its tools; end the circle.",
                )
            self.root = parent.root
            path = parent.scope.path if strand is None else (*parent.scope.path, *strand.path)
            if label != "":
                path = (*path, label or name)
            self.scope = Scope(self.id, self.root.id, parent.id, depth, kind, path, robot)

    # -- what the work uses ---------------------------------------------------------------

    def emit(self, type_: str, data: Mapping[str, Any], scope: Scope | None = None) -> Event | None:
        """Record an event of this run (of one of its tasks, with that task's scope)."""
        return self.root.emit(self, type_, data, scope)

    def started(self, data: dict[str, Any]) -> None:
        """Record the run's first event. A root's holds the UTC start and the schema's version."""
        if self.parent is None:
            data["schema_version"] = SCHEMA_VERSION
            data["started_at"] = datetime.now(UTC).isoformat()
        else:
            with self.root.lock:
                self.parent.state.children[self.id] = self.state
        self.emit("run.started", data)

    @property
    def listening(self) -> bool:
        """Whether somebody reads pieces of text as they come."""
        return self.root.listeners > 0

    def stuck(self, what: str) -> None:
        """Note something that could not be stopped (a tool's thread, by the tool's name)."""
        self._stuck.append(what)

    def owns(self, run_id: str) -> bool:
        """Whether a run is this one or inside it."""
        return run_id in self._family

    def _adopt(self, child: Work[Any]) -> None:
        with self.root.lock:
            self._children.append(child)
            above: Work[Any] | None = self
            while above is not None:
                above._family.add(child.id)
                above = above.parent

    # -- starting --------------------------------------------------------------------------

    def begin(self) -> Self:
        """Send the work to the loop where it is to run. Returns at once."""
        import asyncio

        running = asyncio._get_running_loop()
        self.caller_loop = running
        if running is None and _loop.current_mode():
            raise ConfigurationError(
                "no event loop is running here, and the engine is set to use the caller's",
                hint='Call it from async code, or set rl.engine(loop="own").',
            )
        self._register()
        self._context = contextvars.copy_context()
        if running is not None and _loop.runs_here():
            self._spawn(running)
            return self
        engine = _loop.engine_loop()
        self._loop = engine.loop
        engine.loop.call_soon_threadsafe(self._spawn, engine.loop)
        return self

    def _register(self) -> None:
        """Make a root known to the process; the person's half does it."""

    def _spawn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        if not self.done:
            task = self._task = loop.create_task(self._drive(), context=self._context)
            task.add_done_callback(self._never_ran)

    async def _drive(self) -> None:
        """Do the work and settle the run, whatever happens. Never raises but for cancellation."""
        import asyncio

        _current.set(self)
        cancelled: BaseException | None = None
        try:
            if self._cancelled:
                raise asyncio.CancelledError
            if self.caps:
                await self._sit_down()
            if sinks.behind:
                await sinks.durable(self.root)
            await self._work(self)
        except asyncio.CancelledError as error:
            cancelled = error
            await self._end_children()
            self._settle("run.interrupted", {"reason": self._reason}, None)
        except StopRun:
            await self._end_children()
            self._settle("run.interrupted", {"reason": "stopped in a tool"}, KeyboardInterrupt())
        except Exception as error:
            await self._end_children()
            error = unwrap(error)
            self._settle("run.failed", {"error": describe_error(error)}, error)
        else:
            await self._end_children()
            self._settle("run.completed", {"stop_reason": self.state.stop_reason}, None)
        if cancelled is not None and not self._cancelled:
            raise cancelled

    def _never_ran(self, task: asyncio.Task[None]) -> None:
        # A task cancelled before its first step never enters _drive.
        if not self.done:
            self._settle("run.interrupted", {"reason": self._reason}, None)

    async def _end_children(self) -> None:
        """Cancel what this run started and nobody waited for; give it a moment to tidy up."""
        alive = [c for c in tuple(self._children) if not c.done]
        if not alive:
            return
        import asyncio

        for child in alive:
            child.cancel("the run that started it ended")
        tasks = [c._task for c in alive if c._task is not None and c._loop is self._loop]
        if tasks:
            await asyncio.wait(tasks, timeout=2.0)

    def _settle(self, type_: str, data: dict[str, Any], error: BaseException | None) -> None:
        with self.root.lock:
            if self.closed:
                return
            if self._stuck and type_ == "run.interrupted":
                data["stuck"] = sorted(set(self._stuck))
            if not self.state.info and type_ != "run.completed":
                self.started({"name": self.name})
            self._error = error
            self.emit(type_, data)
            self.closed = self.done = True
            callbacks, self._callbacks = self._callbacks, []
            self._task = None
            self._context = None
            # The work knows the run and the run the work: let go, or only the collector frees them.
            self._work = _done
            self.on_abandon = None
            if self.parent is not None:  # which may start thousands
                self.parent._children.remove(self)
        if self.caps:
            self._get_up()
        for callback in callbacks:
            callback()

    # -- ending ----------------------------------------------------------------------------

    def cancel(self, reason: str = "cancelled") -> None:
        """Ask the run to stop. Returns at once; the run then ends as ``interrupted``.

        Parameters
        ----------
        reason : str, optional
            Why; it stands in the ``run.interrupted`` event.
        """
        if self.done or self._cancelled:
            return
        self._cancelled = True
        self._reason = reason
        loop = self._loop
        if loop is None:  # never begun
            self._settle("run.interrupted", {"reason": reason}, None)
            return
        try:
            loop.call_soon_threadsafe(self._cancel_task)
        except RuntimeError:  # that loop is closed: nothing runs any more
            self.abandon()

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def abandon(self) -> None:
        """Close a run that does not stop: name what hangs, answer its open calls, let it go.

        When its loop no longer turns (an async tool blocks it), the next run gets a fresh one.
        """
        for call in list(self.state.tool_calls.values()):
            if call.status == "running":
                self.stuck(call.tool)
        if self._loop is not None:
            self._leave_if_blocked(self._loop)
        for child in list(self._children):
            if not child.done:
                child.abandon()
        if self.on_abandon is not None:
            self.on_abandon()
        self._settle("run.interrupted", {"reason": self._reason, "abandoned": True}, None)

    def _leave_if_blocked(self, loop: asyncio.AbstractEventLoop) -> None:
        engine = _loop._engine
        if engine is None or engine.loop is not loop or engine.abandoned:
            return
        if threading.current_thread() is engine.thread:
            return
        turned = threading.Event()
        engine.loop.call_soon_threadsafe(turned.set)
        if not turned.wait(0.1):
            engine.abandon()
            leave_loop(loop)

    def when_done(self, callback: Callable[[], object]) -> None:
        """Call something when the run has ended; at once when it has. Any thread may call it."""
        with self.root.lock:
            if not self.done:
                self._callbacks.append(callback)
                return
        callback()
