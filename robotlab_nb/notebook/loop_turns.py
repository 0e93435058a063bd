"""Painting from the kernel's own event loop, where nothing is shown that another thread sends.

Colab is such a place. The loop takes a turn, ten times a second, while something is open: between
two cells and while a cell awaits. A cell that waits for a run paints by itself.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from contextvars import Context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

__all__ = ["LoopTurns", "needs_own_loop"]


def needs_own_loop() -> bool:
    """Whether this kernel's front end shows only what the kernel's main thread sends.

    Examples
    --------
    >>> needs_own_loop()
    False
    """
    return "google.colab" in sys.modules


class LoopTurns:
    """Turns on the loop that runs a kernel's cells.

    Parameters
    ----------
    turn : callable
        Called in each turn; says whether another one is needed. It must not raise.
    pause : float
        Seconds between two turns.

    Examples
    --------
    >>> import asyncio
    >>> left = [1, 2, 3]
    >>> turns = LoopTurns(lambda: bool(left.pop() - 1), pause=0.001)
    >>> turns.ask(), turns.take_loop()
    (False, False)
    >>> async def cell():
    ...     told = turns.take_loop(), turns.ask()
    ...     await asyncio.sleep(0.1)
    ...     return told
    >>> asyncio.run(cell()), left
    ((True, True), [])
    """

    def __init__(self, turn: Callable[[], bool], pause: float) -> None:
        self._turn = turn
        self._pause = pause
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next: asyncio.TimerHandle | None = None

    def take_loop(self) -> bool:
        """Keep the loop that runs on the main thread now. Returns whether there is one."""
        import asyncio

        if self._loop is not None and self._loop.is_closed():
            self._loop = self._next = None
        if self._loop is None and threading.current_thread() is threading.main_thread():
            with contextlib.suppress(RuntimeError):
                self._loop = asyncio.get_running_loop()
        return self._loop is not None

    def ask(self) -> bool:
        """Have a turn taken soon. Any thread may call it. Returns whether there is a loop."""
        if self._loop is None or self._loop.is_closed():
            return False
        with contextlib.suppress(RuntimeError):  # it was closed just now
            # In a context of its own: what is painted belongs to no cell in particular.
            self._loop.call_soon_threadsafe(self._begin, context=Context())
            return True
        return False

    def _begin(self) -> None:
        if self._next is None:
            self._take()

    def _take(self) -> None:
        self._next = None
        if self._turn() and self._loop is not None:
            self._next = self._loop.call_later(self._pause, self._take)
