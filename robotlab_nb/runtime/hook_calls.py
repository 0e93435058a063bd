"""Calling one handler: in a thread or on the loop, within its time, ending in a plain error.

A sync function runs in a worker thread, so that it may wait, print, or run a robot. What would
end an event loop leaves as something that does not. Nothing here knows families or order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError
from .stop import StopRun
from .threads import in_thread

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from .hook_context import HookContext
    from .hook_handlers import Hook

__all__ = ["call", "call_around"]

#: seconds that what a handler was around has for tidying up
GRACE_S = 2.0
#: seconds between two looks of a waiting thread at the loop that it waits for
LOOK_S = 1.0


async def call(hook: Hook, context: HookContext) -> None:
    """Call a handler that is before or after something.

    Raises
    ------
    Exception
        What the handler raised, with a note that names it.
    StopRun
        When it raised KeyboardInterrupt.
    """
    import asyncio

    view = context.seen_by(hook.spaces)
    limit = asyncio.timeout(hook.seconds)
    try:
        async with limit:
            await _settled(hook, view)
    except BaseException as error:
        told = _told(error, hook, limit)
        if told is error:
            raise
        raise told from error


async def call_around(
    hook: Hook, context: HookContext, core: Callable[[], Awaitable[Any]]
) -> tuple[Any, Passage]:
    """Call a handler that is around something. Its time does not count what it is around.

    Parameters
    ----------
    hook : Hook
    context : HookContext
    core : callable
        Coroutine function: what it is around.

    Returns
    -------
    tuple of object and Passage
        What it returned, and how it used its ``proceed``.

    Raises
    ------
    Exception, StopRun
        As :func:`call`; what ``core`` raised passes as it is.
    """
    import asyncio

    view = context.seen_by(hook.spaces)
    limit = asyncio.timeout(hook.seconds)
    passage = Passage(hook, core, limit)
    try:
        async with limit:
            try:
                return await _settled(hook, view, passage), passage
            finally:
                await passage.close()
    except BaseException as error:
        told = error if error is passage.error else _told(error, hook, limit)
        if told is error:
            raise
        raise told from error


async def _settled(hook: Hook, view: HookContext, passage: Passage | None = None) -> Any:
    """Call, and await what is to be awaited."""
    if hook.is_async:
        given = (view,) if passage is None else (view, passage.proceed)
        return await hook.function(*given)
    given = (view,) if passage is None else (view, passage.proceed_blocking)

    def body() -> tuple[Any, BaseException | None]:
        try:
            return hook.function(*given), None
        except BaseException as error:
            return None, error

    value, error = await in_thread(body)
    if error is not None:
        raise error if not isinstance(error, (KeyboardInterrupt, SystemExit)) else _Ended(error)
    return await value if hasattr(type(value), "__await__") else value


class _Ended(BaseException):
    """Carries through the loop what would end it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def _told(error: BaseException, hook: Hook, limit: asyncio.Timeout) -> BaseException:
    """What leaves in place of an error: named, and nothing that ends a loop."""
    import asyncio

    if isinstance(error, _Ended):
        error = error.error
    if isinstance(error, (StopRun, KeyboardInterrupt)):
        return error if isinstance(error, StopRun) else StopRun()
    if isinstance(error, GeneratorExit):
        return error
    if isinstance(error, TimeoutError) and limit.expired():
        where = "" if hook.is_async else "; its thread still runs"
        return RobotLabError(
            f"hook {hook.name} took longer than {hook.seconds:g} s{where}",
            hint=f'Give it more time: @rl.hook("{hook.point}", timeout=…).',
        )
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            return error  # the run is stopped
        return RobotLabError(f"hook {hook.name} was cancelled from inside")
    if not isinstance(error, Exception):
        return RobotLabError(f"hook {hook.name} ended with {type(error).__name__}")
    note = f"raised by hook {hook.name}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
    return error


class Passage:
    """What an around handler calls to go on, and what became of it.

    Attributes
    ----------
    asked, completed : int
        How often it was called, and how often it ended well.
    error : BaseException or None
        What it raised last.
    """

    __slots__ = (
        "_closed", "_core", "_hook", "_inside", "_left", "_limit", "_loop", "_tasks", "asked",
        "completed", "error",
    )  # fmt: skip

    def __init__(
        self, hook: Hook, core: Callable[[], Awaitable[Any]], limit: asyncio.Timeout
    ) -> None:
        import asyncio

        self._hook = hook
        self._core = core
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._inside = 0
        self._left: float | None = None
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self.asked = 0
        self.completed = 0
        self.error: BaseException | None = None

    def proceed(self) -> Awaitable[Any]:
        """Go on, and give back what came of it: for async handlers, to be awaited."""
        self.asked += 1
        return self._go()

    def proceed_blocking(self) -> Any:
        """Go on, wait for it in this thread, and give back what came of it."""
        import asyncio
        from concurrent.futures import wait

        self.asked += 1
        if asyncio._get_running_loop() is self._loop:
            raise RobotLabError(
                f"hook {self._hook.name} would block the event loop with proceed()",
                hint="Declare it with `async def` and write `await proceed()`.",
            )
        future = asyncio.run_coroutine_threadsafe(self._go_as_task(), self._loop)
        while not wait((future,), LOOK_S).done:
            if not self._loop.is_running():
                raise RobotLabError(f"hook {self._hook.name}: the engine's loop has ended")
        return future.result()

    async def _go_as_task(self) -> Any:
        import asyncio

        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await self._go()
        finally:
            self._tasks.discard(task)

    async def _go(self) -> Any:
        if self._closed:
            raise RobotLabError(f"hook {self._hook.name} called proceed() after it had ended")
        self._pause()
        try:
            value = await self._core()
        except BaseException as error:
            self.error = error
            raise
        finally:
            self._go_on()
        self.completed += 1
        return value

    def _pause(self) -> None:
        self._inside += 1
        when = self._limit.when()
        if self._inside == 1 and when is not None:
            self._left = when - self._loop.time()
            self._limit.reschedule(None)

    def _go_on(self) -> None:
        self._inside -= 1
        if self._inside == 0 and self._left is not None and not self._closed:
            self._limit.reschedule(self._loop.time() + self._left)
            self._left = None

    async def close(self) -> None:
        """End it: what still goes on is cancelled and given a moment."""
        import asyncio

        self._closed = True
        if self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=GRACE_S)
