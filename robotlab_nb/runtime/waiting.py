"""Waiting for a run, on a blocked thread or on another event loop; Stop is heard in both."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from .run import Run

__all__ = ["Heartbeat", "block", "wait_async"]

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


def block(run: Run[Any], timeout: float | None = None, *, painter: Any = None) -> bool:
    """Block the calling thread until a run has ended.

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
        Whether the run has ended; False when the time was up.

    Raises
    ------
    KeyboardInterrupt
        Stop was pressed. The run was cancelled and has settled, or was abandoned after 2 s.
    """
    from time import monotonic

    done = threading.Event()
    try:
        run.when_done(done.set)
        end = None if timeout is None else monotonic() + timeout
        while not done.is_set():
            left = BEAT_S if end is None else min(BEAT_S, end - monotonic())
            if left <= 0:
                return False
            if not done.wait(left) and painter is not None:
                painter.paint()
    except KeyboardInterrupt as stop:
        stop_blocking(run, done)
        shorten(stop)
        raise
    return True


def shorten(stop: BaseException) -> None:
    """Have a notebook show a stop with the person's own lines only: nothing of ours went wrong."""
    from ..core.readings import reading

    stop._render_traceback_ = lambda: reading("traceback")(stop)  # type: ignore[attr-defined]


def stop_blocking(run: Run[Any], done: threading.Event | None = None) -> None:
    """Cancel a run and wait up to 2 s for it to tidy up; a second Stop abandons it at once."""
    if done is None:
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
    """Wait on the running loop until a run has ended that lives on another loop.

    Cancelling the wait stops the run, waits up to 2 s for it, and passes the cancellation on.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not done.done():
            done.set_result(None)

    def wake() -> None:
        import contextlib

        with contextlib.suppress(RuntimeError):  # the waiting loop is gone
            loop.call_soon_threadsafe(settle)

    run.when_done(wake)
    with Heartbeat(loop):
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError as stop:
            shorten(stop)
            run.cancel("stopped")
            try:
                await asyncio.wait_for(asyncio.shield(done), PATIENCE_S)
            except (TimeoutError, asyncio.CancelledError):
                run.abandon()
            raise
