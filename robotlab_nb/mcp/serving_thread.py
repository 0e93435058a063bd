"""The thread of one served address: a loop of its own, so that nothing that runs holds it up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
from typing import TYPE_CHECKING, Any

from ..core.mcp_errors import MCPError
from ..runtime.notebook import apart

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.lowlevel.server import Server

__all__ = ["ServingThread", "quiet_loggers", "standard_streams"]

#: seconds that an address has to begin, and to end
START_S, STOP_S = 30.0, 3.0


class ServingThread:
    """Runs a coroutine function until it is told to leave.

    Parameters
    ----------
    name : str
    main : callable
        Gets a function to call, with what makes it leave, once it is ready.
    ended : callable
        Called at the end, with the error that ended it or None.
    """

    def __init__(
        self,
        name: str,
        main: Callable[[Callable[[Callable[[], None]], None]], Awaitable[None]],
        ended: Callable[[BaseException | None], None],
    ) -> None:
        self._main = main
        self._ended = ended
        self._ready = threading.Event()
        self._leave: Callable[[], None] | None = None
        self._error: BaseException | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name=f"robotlab_nb {name}", daemon=True)

    def start(self) -> None:
        """Start, and wait until it is ready.

        Raises
        ------
        MCPError
            When it could not begin.
        """
        self._thread.start()
        if not self._ready.wait(START_S) or self._leave is None:
            why = self._error or "it did not begin in time"
            raise MCPError(f"{self._thread.name} could not begin: {why}") from self._error

    def _run(self) -> None:
        apart()
        try:
            asyncio.run(self._work())
        except BaseException as error:  # a thread of ours shows no traceback; its owner tells
            self._error = error
        finally:
            self._ready.set()
            self._ended(self._error)

    async def _work(self) -> None:
        self.loop = asyncio.get_running_loop()
        task = asyncio.current_task()

        def ready(leave: Callable[[], None]) -> None:
            self._leave = leave
            self._ready.set()

        try:
            await self._main(ready)
        except asyncio.CancelledError:
            if task is not None and task.cancelling():
                task.uncancel()

    def call(self, act: Callable[[], None]) -> None:
        """Have something done on its loop."""
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):  # it is closed
                self.loop.call_soon_threadsafe(act)

    def stop(self) -> None:
        """Make it leave, and wait a moment for that."""
        if self._leave is not None:
            self.call(self._leave)
        self.wait(STOP_S)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for its end, not in the thread itself. Returns whether it has ended."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
        return not self._thread.is_alive()


async def standard_streams(server: Server[Any], ready: Callable[[Any], None]) -> None:
    """Serve on standard input and output until the input ends. Whatever is printed goes to stderr.

    Parameters
    ----------
    server : Server
    ready : callable
        As :class:`ServingThread` gives it.
    """
    from mcp.server.stdio import stdio_server

    task = asyncio.current_task()
    assert task is not None
    async with stdio_server() as (inbox, outbox):
        with contextlib.redirect_stdout(sys.stderr):
            ready(task.cancel)
            await server.run(inbox, outbox, server.create_initialization_options())


def quiet_loggers() -> None:
    """Keep what others log of requests off the screen of whoever has set up no logging."""
    for name in ("mcp", "sse_starlette", "uvicorn"):
        logger = logging.getLogger(name)
        if not any(isinstance(each, logging.NullHandler) for each in logger.handlers):
            logger.addHandler(logging.NullHandler())
