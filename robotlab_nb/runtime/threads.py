"""Worker threads for sync work, under one limiter that grows when everybody waits.

Robots may call tools that call robots that call tools: with a fixed number of threads such a
chain starves. The limiter of a loop starts at 40 and gains 20 (up to 1,000) whenever callers
wait and no slot was freed for a quarter of a second. A function that only waits for what others
will write gives its slot back meanwhile.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterator

    import anyio

__all__ = ["Place", "aside", "in_thread", "places", "slot_given_back"]

T = TypeVar("T")

FIRST, STEP, MOST = 40, 20, 1000
PATIENCE_S = 0.25


class _Slots:
    """The limiter of one loop, and the watch over it."""

    __slots__ = ("freed", "lent", "limiter", "loop", "watching")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        import anyio

        self.loop = loop
        self.limiter: anyio.CapacityLimiter = anyio.CapacityLimiter(FIRST)
        self.freed = 0
        #: slots of functions that only wait: as many more may run, up to 1,000
        self.lent = 0
        self.watching = False

    def lend(self, number: int) -> None:
        """Let so many more (or fewer) run. Only on the loop."""
        self.lent += number
        self.limiter.total_tokens += number

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
        most = MOST + self.lent
        if self.freed == freed_then and limiter.total_tokens < most:
            limiter.total_tokens = min(most, limiter.total_tokens + STEP)
        self.watch()


class Place:
    """One function's place in a worker thread, from the wish for a slot to the function's end."""

    __slots__ = ("_left", "_lent", "_slots", "task", "thread")

    def __init__(self, slots: _Slots, task: asyncio.Task[Any] | None) -> None:
        self._slots = slots
        #: the asyncio task that waits for the function
        self.task = task
        #: the thread's identifier, once there is one
        self.thread: int | None = None
        self._lent = False
        self._left = False

    def lend(self, given: bool) -> None:
        """Give the slot back, or take it again. Only on the loop."""
        # Taken again at once, over the number if need be: who waited has its thread already.
        if given and (self._left or self._slots.lent >= MOST):
            return
        if given is not self._lent:
            self._lent = given
            self._slots.lend(1 if given else -1)

    def leave(self) -> None:
        """Nobody waits for the function any more. Only on the loop."""
        self.lend(False)
        self._left = True


_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots] = WeakKeyDictionary()
#: places whose function has not ended, abandoned ones included
places: set[Place] = set()
_here = threading.local()


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
    place = Place(slots, asyncio.current_task())

    def body() -> T:
        places.add(place)  # once more: it may have been given up while the thread took it over
        place.thread = threading.get_ident()
        _here.place = place
        try:
            return function()
        finally:
            _here.place = None
            places.discard(place)

    places.add(place)
    try:
        return await to_thread.run_sync(body, abandon_on_cancel=True, limiter=slots.limiter)
    finally:
        slots.freed += 1
        place.leave()
        if place.thread is None:  # it never got a thread
            places.discard(place)


@contextmanager
def slot_given_back() -> Iterator[None]:
    """Let another function run while the calling worker thread only waits; a no-op elsewhere."""
    place: Place | None = getattr(_here, "place", None)
    if place is None:
        yield
        return
    _tell(place, True)
    try:
        yield
    finally:
        _tell(place, False)


def _tell(place: Place, given: bool) -> None:
    try:
        place._slots.loop.call_soon_threadsafe(place.lend, given)
    except RuntimeError:  # that loop is closed: nobody counts there any more
        pass


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
