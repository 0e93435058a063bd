"""Waiting for a run, on a blocked thread or on another event loop; Stop is heard in both.

A wait ends when the run does, or when the run can only go on with a person's answer. A blocked
thread puts the run's questions at its prompt where it has one.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

from .desk import asks, attend, leave, waits
from .stillness import loop_waits, thread_waits
from .working import current_work

if TYPE_CHECKING:
    import asyncio

    from .run import Run

__all__ = ["Heartbeat", "block", "gate", "may_wait", "wait_async"]

#: seconds that a stopped run has for tidying up
PATIENCE_S = 2.0
#: seconds between two looks of a blocked thread, and between two beats of a waiting loop
BEAT_S = 0.1


class Heartbeat:
    """Wake an event loop every 100 ms.

    A kernel that interrupts a top-level ``await`` cancels the task but does not wake its loop;
    without a beat, Stop would take effect when the awaited thing ends.
    """

    __slots__ = ("_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    def _beat(self) -> None:
        self._handle = self._loop.call_later(BEAT_S, self._beat)

    def __enter__(self) -> Heartbeat:
        self._beat()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._handle is not None:
            self._handle.cancel()


def may_wait(run: Run[Any]) -> bool:
    """Whether a wait for a run may end with the run still waiting for a person.

    A part of another run stays in it: there the whole waits, not the tool that started the part.
    """
    return run.parent is None or current_work() is None


def block(run: Run[Any], timeout: float | None = None, *, painter: Any = None) -> bool:
    """Block the calling thread until a run has ended, or waits for a person who is not here.

    Parameters
    ----------
    run : Run
    timeout : float, optional
        Seconds.
    painter : object, optional
        Its ``paint()`` is called ten times a second while we wait.

    Returns
    -------
    bool
        Whether the run has ended or waits; False when the time was up.

    Raises
    ------
    KeyboardInterrupt
        Stop was pressed. The run was cancelled and has settled, or was abandoned after 2 s.
    """
    from time import monotonic

    news = threading.Event()
    tried: set[str] = set()
    try:
        run.when_done(news.set)
        end = None if timeout is None else monotonic() + timeout
        attend(run, news.set)
        with thread_waits(lambda: not run.done and end is None):
            while not run.done:
                if asks(run):
                    from .console import ask_here

                    if painter is not None:
                        painter.paint()
                    if ask_here(run, tried):
                        continue
                    if waits(run) and may_wait(run):
                        return True
                left = BEAT_S if end is None else min(BEAT_S, end - monotonic())
                if left <= 0:
                    return False
                if news.wait(left):
                    news.clear()
                elif painter is not None:
                    painter.paint()
    except KeyboardInterrupt as stop:
        stop_blocking(run)
        shorten(stop)
        raise
    finally:
        leave(run, news.set)
    return True


def shorten(stop: BaseException) -> None:
    """Have a notebook show a stop with the person's own lines only: nothing of ours went wrong."""
    from ..core.readings import reading

    stop._render_traceback_ = lambda: reading("traceback")(stop)  # type: ignore[attr-defined]


def stop_blocking(run: Run[Any]) -> None:
    """Cancel a run and wait up to 2 s for it to tidy up; a second Stop abandons it at once."""
    done = threading.Event()
    run.when_done(done.set)
    run.cancel("stopped")
    try:
        settled = done.wait(PATIENCE_S)
    except KeyboardInterrupt:
        settled = False
    if not settled:
        run.abandon()


async def wait_async(run: Run[Any]) -> None:
    """Wait on the running loop until a run of another loop has ended, or waits for a person.

    Cancelling the wait stops the run, waits up to 2 s for it, and passes the cancellation on.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    with gate(run) as opened, Heartbeat(loop):
        try:
            with loop_waits():
                await asyncio.shield(opened)
        except asyncio.CancelledError as stop:
            shorten(stop)
            run.cancel("stopped")
            try:
                await asyncio.wait_for(asyncio.shield(opened), PATIENCE_S)
            except (TimeoutError, asyncio.CancelledError):
                run.abandon()
            raise


class gate:
    """A future of the running loop that is done when a run has ended, or waits for a person.

    Parameters
    ----------
    run : Run
    """

    __slots__ = ("_loop", "_opened", "_run")

    def __init__(self, run: Run[Any]) -> None:
        import asyncio

        self._run = run
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[None] = self._loop.create_future()

    def __enter__(self) -> asyncio.Future[None]:
        run = self._run
        attend(run, self._wake)
        run.when_done(self._wake)
        if run.state.status == "waiting":
            self._open()
        return self._opened

    def __exit__(self, *_: Any) -> None:
        leave(self._run, self._wake)

    def _open(self) -> None:
        run = self._run
        if not self._opened.done() and (run.done or (waits(run) and may_wait(run))):
            self._opened.set_result(None)

    def _wake(self) -> None:
        import asyncio

        if asyncio._get_running_loop() is self._loop:
            self._open()
            return
        with contextlib.suppress(RuntimeError):  # the waiting loop is gone
            self._loop.call_soon_threadsafe(self._open)
