"""Whether anything in this process can still act by itself, or all of it only waits.

Who waits for a value that others are to write is stuck when nothing else is left that could write
it. That is looked up, not guessed: every thread of the process and every task and timer of its
event loops must be known to wait. What is not known counts as able to act, so "still" is never
said wrongly; it may be said too seldom. Not seen: callbacks of file descriptors and of signals.
"""

from __future__ import annotations

import functools
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .threads import places

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["is_still", "loop_waits", "task_waits", "thread_waits"]

#: packages whose threads and tasks serve a notebook, a test run or connections by themselves
_SERVING = frozenset({"IPython", "debugpy", "execnet", "ipykernel", "tornado", "zmq"})
_CONNECTING = frozenset({"aiohttp", "litellm"})
#: threads that draw
_PAINTING = ("robotlab_nb.notebook.", "robotlab_nb.widgets.")
#: timers that only look after something
_KEEPING = (
    "aiohttp.", "robotlab_nb.models.", "robotlab_nb.runtime.threads", "robotlab_nb.runtime.waiting",
)  # fmt: skip

#: asyncio tasks that wait, and how often that was said
_tasks: dict[object, int] = {}
#: threads that wait, and what tells whether they still do
_threads: dict[int, tuple[Callable[[], bool], ...]] = {}
#: event loops besides the engine's in which somebody waits, by their threads
_loops: dict[int, asyncio.AbstractEventLoop] = {}


@contextmanager
def task_waits() -> Iterator[None]:
    """``with task_waits(): await …``: the calling task awaits only what is looked at itself."""
    import asyncio

    task = asyncio.current_task()
    _tasks[task] = _tasks.get(task, 0) + 1
    try:
        yield
    finally:
        _tasks[task] -= 1
        if not _tasks[task]:
            del _tasks[task]


@contextmanager
def loop_waits() -> Iterator[None]:
    """As :func:`task_waits`, on a loop that is not the engine's: that is looked at too."""
    import asyncio

    thread = threading.get_ident()
    before = _loops.get(thread)
    _loops[thread] = asyncio.get_running_loop()
    try:
        with task_waits():
            yield
    finally:
        if before is None:
            _loops.pop(thread, None)


@contextmanager
def thread_waits(goes_on: Callable[[], bool]) -> Iterator[None]:
    """``with thread_waits(…):`` the calling thread waits only for what is looked at itself.

    Parameters
    ----------
    goes_on : callable
        False as soon as the thread has what it waits for.
    """
    thread = threading.get_ident()
    before = _threads.get(thread, ())
    _threads[thread] = (*before, goes_on)
    try:
        yield
    finally:
        if before:
            _threads[thread] = before
        else:
            del _threads[thread]


def _waits(thread: int | None) -> bool:
    found = _threads.get(thread or 0)
    return found is not None and all(goes_on() for goes_on in found)


def is_still(loop: asyncio.AbstractEventLoop, until: float) -> bool:
    """Whether nothing acts before a moment, if nothing comes from outside the process.

    Parameters
    ----------
    loop : asyncio.AbstractEventLoop
        The engine's; the caller runs on it, in a callback.
    until : float
        Of the monotonic clock, seconds.

    Returns
    -------
    bool
        False where it cannot be known.
    """
    return _loop_still(loop, until) and _threads_still(until)


def _loop_still(loop: asyncio.AbstractEventLoop, until: float) -> bool:
    import asyncio

    ready, timers = getattr(loop, "_ready", True), getattr(loop, "_scheduled", None)
    if ready or timers is None:
        return False
    waiting = {place.task for place in tuple(places) if _waits(place.thread)}
    return all(
        task in _tasks or task in waiting or _keeps(task) for task in asyncio.all_tasks(loop)
    ) and _timers_still(timers, until)


def _keeps(task: asyncio.Task[Any]) -> bool:
    """Whether a task is the loop's own, keeps connections, or serves a notebook."""
    import asyncio

    inside: Any = task.get_coro()
    if getattr(inside, "cr_code", None) is asyncio.Event.wait.__code__:
        return True
    keeps = False
    while (frame := getattr(inside, "cr_frame", None)) is not None:
        package = _package(frame)
        if package in _CONNECTING or package in _SERVING:
            keeps = True
        elif package not in sys.stdlib_module_names:
            return False
        inside = inside.cr_await
    return keeps


def _timers_still(timers: list[asyncio.TimerHandle], until: float) -> bool:
    return all(
        timer.cancelled() or timer.when() >= until or _module(timer).startswith(_KEEPING)
        for timer in tuple(timers)
    )


def _module(timer: asyncio.TimerHandle) -> str:
    called: Any = timer._callback  # type: ignore[attr-defined]
    while isinstance(called, functools.partial):
        called = called.func
    return str(getattr(getattr(called, "__func__", called), "__module__", None))


def _threads_still(until: float) -> bool:
    here = threading.get_ident()
    known = {thread.ident: thread for thread in threading.enumerate()}
    return all(
        ident == here
        or _waits(ident)
        or _selects(ident, frame, until)
        or _idle(known.get(ident), frame)
        for ident, frame in sys._current_frames().items()
    )


def _selects(ident: int, frame: FrameType, until: float) -> bool:
    """Whether a thread's event loop is at rest, and all that goes on in it waits."""
    loop, above = _loops.get(ident), frame.f_back
    if loop is None or above is None or above.f_code.co_name != "_run_once":
        return False
    return _package(frame) == "selectors" and _loop_still(loop, until)


def _idle(thread: threading.Thread | None, frame: FrameType) -> bool:
    """Whether a thread waits to be given work, or serves a notebook."""
    if frame.f_code.co_name == "_worker" and _package(frame) == "concurrent":
        return True
    kind = type(thread)
    # Clicks on widgets end up in subshells.
    if thread is None or thread is threading.main_thread() or "Subshell" in kind.__name__:
        return False
    serves = kind.__module__.startswith("anyio.")
    above: FrameType | None = frame
    while above is not None:
        name = str(above.f_globals.get("__name__"))
        package = name.partition(".")[0]
        if package in _SERVING or name.startswith(_PAINTING):
            serves = True
        elif package not in sys.stdlib_module_names and package != "anyio":
            return False
        above = above.f_back
    return serves


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]
