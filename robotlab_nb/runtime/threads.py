"""Worker threads for sync work, under one limiter that grows when everybody waits.

Robots may call tools that call robots that call tools: with a fixed number of threads such a
chain starves. The limiter of a loop starts at 40 and gains 20 (up to 1,000) whenever callers
wait and no slot was freed for a quarter of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

    import anyio

__all__ = ["aside", "in_thread"]

T = TypeVar("T")

FIRST, STEP, MOST = 40, 20, 1000
PATIENCE_S = 0.25


class _Slots:
    """The limiter of one loop, and the watch over it."""

    __slots__ = ("freed", "limiter", "loop", "watching")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        import anyio

        self.loop = loop
        self.limiter: anyio.CapacityLimiter = anyio.CapacityLimiter(FIRST)
        self.freed = 0
        self.watching = False

    def watch(self) -> None:
        """Look again in a moment whether anybody still waits."""
        if not self.watching:
            self.watching = True
            self.loop.call_later(PATIENCE_S, self._look, self.freed)

    def _look(self, freed_then: int) -> None:
        self.watching = False
        limiter = self.limiter
        if limiter.statistics().tasks_waiting == 0:
            return
        if self.freed == freed_then and limiter.total_tokens < MOST:
            limiter.total_tokens = min(MOST, limiter.total_tokens + STEP)
        self.watch()


_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots] = WeakKeyDictionary()


async def in_thread(function: Callable[[], T]) -> T:
    """Run a function in a worker thread and wait for it.

    Context variables go along. When the waiting task is cancelled, the thread is left to end by
    itself: a thread cannot be killed.

    Parameters
    ----------
    function : callable
        Takes nothing. It must not raise KeyboardInterrupt or SystemExit.

    Returns
    -------
    object
        What the function returned.
    """
    import asyncio

    from anyio import to_thread

    loop = asyncio.get_running_loop()
    slots = _slots.get(loop)
    if slots is None:
        slots = _slots[loop] = _Slots(loop)
    if slots.limiter.available_tokens <= 0:
        slots.watch()
    try:
        return await to_thread.run_sync(function, abandon_on_cancel=True, limiter=slots.limiter)
    finally:
        slots.freed += 1


def aside(work: Coroutine[Any, Any, T]) -> T:
    """Do something async for sync code that belongs to no run, and wait for it.

    On the engine's loop, unless the calling thread is that loop's: then on one of its own.
    """
    import asyncio
    import contextvars
    from concurrent.futures import ThreadPoolExecutor

    from . import loop

    if loop.runs_here() or loop.current_mode():
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(context.run, asyncio.run, work).result()
    pending = asyncio.run_coroutine_threadsafe(work, loop.engine_loop().loop)
    try:
        return pending.result()
    except KeyboardInterrupt:
        pending.cancel()
        raise
