"""A run: one piece of work of a robot or a network, from start to result.

Whoever starts it may wait, watch, leave and come back; the work itself is a coroutine that emits
events through the run. A run ends in exactly one of ``completed``, ``failed`` or ``interrupted``.
"""

from __future__ import annotations

import contextvars
import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..core.errors import AwaitTimeout, ConfigurationError, RobotLabError, RunInterrupted
from ..core.events import SCHEMA_VERSION, Scope
from ..core.readings import Pictured
from ..core.state import RunState
from . import loop as _loop
from .root import Root
from .stop import StopRun
from .watch import Watcher

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Generator, Mapping

    from ..core.events import Event

__all__ = ["Run", "current_run"]

T = TypeVar("T")

#: runs inside runs inside runs: past this depth it is a mistake
MAX_DEPTH = 16

_current: contextvars.ContextVar[Run[Any] | None] = contextvars.ContextVar(
    "robotlab_nb_run", default=None
)


def current_run() -> Run[Any] | None:
    """The run in which the calling code (a tool, say) happens, or None."""
    return _current.get()


def describe_error(error: BaseException) -> dict[str, Any]:
    """An error as JSON for events: type, message, hint, retryable, and what a ModelError adds."""
    out: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, RobotLabError):
        out["message"] = error.message
        if error.hint:
            out["hint"] = error.hint
        out["retryable"] = error.retryable
        for name in ("status", "kind", "retry_after"):
            value = getattr(error, name, None)
            if value is not None:
                out[name] = value
    return out


class Run(Pictured, Generic[T]):
    """A run of a robot or a network.

    You get one from ``start()``; ``run``, ``arun`` and ``stream`` make one for you.

    Attributes
    ----------
    id : str
        Twelve hexadecimal digits.
    scope : Scope
    state : RunState
        What the events so far say: messages, calls, usage, status.
    values : dict
        Live objects (DataFrames, images) that tools returned, by tool-call id.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> run = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).start("a poem")
    >>> str(run.result())
    'roses are red'
    >>> run.status, run.events[-1].type
    ('completed', 'run.completed')
    """

    __slots__ = (
        "__weakref__",
        "_callbacks",
        "_cancelled",
        "_children",
        "_context",
        "_error",
        "_family",
        "_finish",
        "_keep_failed",
        "_loop",
        "_reason",
        "_result",
        "_stuck",
        "_task",
        "_work",
        "caller_loop",
        "closed",
        "done",
        "id",
        "name",
        "on_abandon",
        "parent",
        "root",
        "scope",
        "state",
        "values",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        work: Callable[[Run[T]], Awaitable[None]],
        finish: Callable[[Run[T]], T],
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
        self.parent = parent
        if parent is None or parent.done:
            self.parent = parent = None
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
            path = (*parent.scope.path, label or name)
            self.scope = Scope(self.id, self.root.id, parent.id, depth, kind, path, robot)
        family = None if parent is None else parent.state._family
        self.state: RunState = RunState(self.scope, family)
        self.values: dict[str, Any] = {}
        #: once closed, late events of the run are dropped
        self.closed = False
        self.caller_loop: asyncio.AbstractEventLoop | None = None
        #: what must still be recorded when the run is abandoned (its unanswered tool calls)
        self.on_abandon: Callable[[], None] | None = None
        #: whether a failed run has a result all the same
        self._keep_failed = keep_failed
        self._work = work
        self._finish = finish
        self._family = {self.id}
        self._children: list[Run[Any]] = []
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

    # -- what the work uses ---------------------------------------------------------------

    def emit(self, type_: str, data: Mapping[str, Any], scope: Scope | None = None) -> Event | None:
        """Record an event of this run (of one of its tasks, with that task's scope)."""
        return self.root.emit(self, type_, data, scope)

    def started(self, data: dict[str, Any]) -> None:
        """Record the run's first event. A root's holds the UTC start and the schema's version."""
        if self.parent is None:
            from datetime import UTC, datetime

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

    def _adopt(self, child: Run[Any]) -> None:
        with self.root.lock:
            self._children.append(child)
            above: Run[Any] | None = self
            while above is not None:
                above._family.add(child.id)
                above = above.parent

    # -- starting --------------------------------------------------------------------------

    def begin(self) -> Run[T]:
        """Send the work to the loop where it is to run. Returns at once."""
        import asyncio

        running = asyncio._get_running_loop()
        self.caller_loop = running
        self._register()
        self._context = contextvars.copy_context()
        if running is not None and _loop.runs_here():
            self._spawn(running)
            return self
        if _loop.current_mode():
            raise ConfigurationError(
                "no event loop is running here, and the engine is set to use the caller's",
                hint='Call it from async code, or set rl.engine(loop="own").',
            )
        engine = _loop.engine_loop()
        self._loop = engine.loop
        engine.loop.call_soon_threadsafe(self._spawn, engine.loop)
        return self

    async def perform(self) -> T:
        """Do the work in the calling task, as a part of the run that is going on there."""
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self.caller_loop = self.parent.caller_loop if self.parent is not None else self._loop
        token = _current.set(self)
        try:
            await self._drive()
        finally:
            _current.reset(token)
        return self.outcome()

    def _register(self) -> None:
        if self.parent is None:
            from . import registry
            from .notebook import cell_of_caller

            registry.enter(self, cell_of_caller())

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
        alive = [c for c in self._children if not c.done]
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

    def stop(self) -> None:
        """Cancel the run and wait up to 2 s for it to tidy up, then abandon it."""
        from .waiting import stop_blocking

        if not self.done:
            stop_blocking(self)

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
        import threading

        engine = _loop._engine
        if engine is None or engine.loop is not loop:
            return
        if threading.current_thread() is engine.thread:
            return
        turned = threading.Event()
        engine.loop.call_soon_threadsafe(turned.set)
        if not turned.wait(0.1):
            engine.abandon()

    def when_done(self, callback: Callable[[], object]) -> None:
        """Call something when the run has ended; at once when it has. Any thread may call it."""
        with self.root.lock:
            if not self.done:
                self._callbacks.append(callback)
                return
        callback()

    # -- reading ---------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """``pending, running, waiting, completed, failed`` or ``interrupted``."""
        return self.state.status

    @property
    def robot_name(self) -> str | None:
        """The robot's name, for a robot's run."""
        return self.scope.robot

    @property
    def events(self) -> list[Event]:
        """The events so far, in order, those of runs inside it included."""
        with self.root.lock:
            if self.parent is None:
                return list(self.root.events)
            return [e for e in self.root.events if e.scope.run_id in self._family]

    @property
    def frames(self) -> Any:
        """Tables of the run so far: ``run.frames.tool_calls`` and so on."""
        from ..core.readings import reading

        return reading("frames")(self.state, self.events)

    def outcome(self) -> T:
        """The result of a run that has ended; raises what it failed with."""
        status = self.state.status
        if status == "completed" or (status == "failed" and self._keep_failed):
            if self._result is None:
                self._result = self._finish(self)
            return self._result
        error = self._error
        if error is None:
            error = RunInterrupted(
                f"{self.scope.kind} {self.name!r} was interrupted: {self._reason}",
                hint="Its messages and events so far are in .run.",
            )
            self._error = error
        if isinstance(error, RobotLabError) and error.run is None:
            error.run = self
            error.run_id = self.id
        raise error

    def so_far(self) -> T:
        """The result as far as it goes, whatever the run's status."""
        return self._finish(self)

    def result(self, timeout: float | None = None) -> T:
        """Wait for the run and return its result.

        Parameters
        ----------
        timeout : float, optional
            Seconds; the run goes on when the time is up.

        Raises
        ------
        AwaitTimeout
            When the time is up.
        RobotLabError
            What the run failed with; its ``run`` is this run.
        KeyboardInterrupt
            When Stop was pressed; the run has been stopped.
        """
        from .notebook import status_line
        from .waiting import block

        if not self.done:
            self.check_may_block("result()")
            with status_line(self) as painter:
                if not block(self, timeout, painter=painter):
                    raise AwaitTimeout(
                        f"{self.name!r} did not finish within {timeout} s; it goes on",
                        hint="Call result() again, or cancel().",
                    )
        return self.outcome()

    def check_may_block(self, what: str) -> None:
        """Raise when the calling thread is the one that the run needs."""
        if _loop.runs_here():
            raise ConfigurationError(
                f"{what} cannot wait on the event loop that does the work",
                hint="Use `await arun()` (or `await run`, `async for`) here.",
            )

    async def wait(self) -> T:
        """Wait for the run on the caller's loop. Cancelling the wait stops the run."""
        import asyncio

        from .waiting import wait_async

        task = self._task
        if not self.done:
            if task is not None and self._loop is asyncio.get_running_loop():
                await self._wait_here(task)
            else:
                await wait_async(self)
        return self.outcome()

    async def _wait_here(self, task: asyncio.Task[None]) -> None:
        """Wait for a task of the same loop; a cancelled wait cancels it and waits for its end."""
        import asyncio

        try:
            await task
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here is None or not here.cancelling():
                return  # the run was cancelled, not we
            raise
        here = asyncio.current_task()
        if here is not None and here.cancelling() and self.status == "interrupted":
            raise asyncio.CancelledError

    def __await__(self) -> Generator[Any, None, T]:
        return self.wait().__await__()

    def watch(self, after: int = -1, *, deltas: bool = True) -> Watcher:
        """Read the run while it happens, with ``for`` or ``async for``. Leaving does not cancel.

        Parameters
        ----------
        after : int, optional
            Only events with a greater ``seq``; -1 for all from the start.
        deltas : bool, optional
            Whether pieces of streaming text come too.

        Returns
        -------
        Watcher
            An iterable of events and deltas that ends with the run.
        """
        return Watcher(self, after=after, deltas=deltas)

    def _repr_html_(self) -> str | None:
        with self.root.lock:
            return super()._repr_html_()

    def __repr__(self) -> str:
        with self.root.lock:
            return super().__repr__()


def unwrap(error: Exception) -> Exception:
    """The one error inside groups of one; a person should not meet the group."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
