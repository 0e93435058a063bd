"""Waiting for a session's work in sync code and on a person's own loop; both hear Stop."""

from __future__ import annotations

import asyncio
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.errors import ConfigurationError
from ..runtime.loop import runs_here
from ..runtime.waiting import BEAT_S, Heartbeat, shorten

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from .session import Session

__all__ = ["waited", "waited_async"]

T = TypeVar("T")


def waited(session: Session, work: Coroutine[Any, Any, T]) -> T:
    """Block the calling thread until the work on the session's loop is done.

    Raises
    ------
    ConfigurationError
        On that loop's own thread, which would wait for itself.
    KeyboardInterrupt
        Stop was pressed; the work was cancelled.
    """
    running = asyncio._get_running_loop()
    home = session._home(running)
    if running is not None and running is home:
        work.close()
        raise ConfigurationError(
            "this would block the event loop on which tool servers are talked to",
            hint="Await the method's twin that begins with `a`: `await client.acall_tool(…)`.",
        )
    pending = asyncio.run_coroutine_threadsafe(work, home)
    try:
        while not wait([pending], BEAT_S).done:
            pass
        return pending.result()
    except KeyboardInterrupt as stop:
        pending.cancel()
        shorten(stop)
        raise


async def waited_async(work: Coroutine[Any, Any, T]) -> T:
    """Await the work; a notebook's loop is kept awake, so that Stop is heard at once."""
    if runs_here():
        return await work
    with Heartbeat(asyncio.get_running_loop()):
        return await work
