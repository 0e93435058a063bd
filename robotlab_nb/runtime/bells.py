"""Waking one waiting coroutine, from whatever thread or event loop the news comes.

It knows nothing of what is waited for: lines of calls, budgets and answers under way use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

__all__ = ["Bell"]


class Bell:
    """A bell for one coroutine of the running loop.

    Examples
    --------
    >>> import asyncio, threading
    >>> async def visit():
    ...     bell = Bell()
    ...     threading.Timer(0.01, bell.ring).start()
    ...     return await bell.wait(10), await bell.wait(0)
    >>> asyncio.run(visit())
    (True, False)
    """

    __slots__ = ("_loop", "_rung")

    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._rung: asyncio.Future[None] = self._loop.create_future()

    def ring(self) -> bool:
        """Wake the coroutine, now or when it comes to wait.

        Returns
        -------
        bool
            False when its loop is closed: nobody will hear it.
        """
        try:
            self._loop.call_soon_threadsafe(self._settle)
        except RuntimeError:
            return False
        return True

    def _settle(self) -> None:
        if not self._rung.done():
            self._rung.set_result(None)

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for one ring, at most so many seconds. Returns whether it rang."""
        import asyncio

        if not self._rung.done():
            await asyncio.wait((self._rung,), timeout=seconds)
        rang = self._rung.done()
        if rang:
            self._rung = self._loop.create_future()
        return rang
