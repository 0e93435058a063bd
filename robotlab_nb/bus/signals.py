"""Waiting for news in a thread or in a coroutine: one way for both.

Whoever waits says what it waits for; whoever brings news rings. It knows no messages.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError
from ..runtime.bells import Bell
from ..runtime.loop import runs_here
from ..runtime.threads import slot_given_back

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BEAT_S", "Signal"]

#: seconds between two looks of somebody who waits: Stop and deadlines are noticed in between
BEAT_S = 0.1


class Signal:
    """Wakes all who wait for something, threads and coroutines of any loop.

    Examples
    --------
    >>> import threading
    >>> there, signal = [], Signal()
    >>> def bring():
    ...     there.append("news")
    ...     signal.ring()
    >>> threading.Timer(0.01, bring).start()
    >>> signal.wait(lambda: bool(there), 10, "wait()")
    True
    """

    __slots__ = ("_lock", "_rings")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rings: tuple[Callable[[], object], ...] = ()

    def ring(self) -> None:
        """Have everybody who waits look again."""
        for ring in self._rings:
            ring()

    def _add(self, ring: Callable[[], object]) -> None:
        with self._lock:
            self._rings = (*self._rings, ring)

    def _remove(self, ring: Callable[[], object]) -> None:
        with self._lock:
            self._rings = tuple(r for r in self._rings if r != ring)

    def wait(
        self, ready: Callable[[], bool], timeout: float | None, what: str, instead: str = "await it"
    ) -> bool:
        """Block the calling thread until ``ready()``. Returns False when the time was up first.

        Parameters
        ----------
        ready : callable
            Asked at once, at each ring, and ten times a second.
        timeout : float or None
            Seconds.
        what, instead : str
            What waits, and what to do where it cannot, for the error.

        Raises
        ------
        ConfigurationError
            On the event loop that does the work, unless it is ready at once.
        """
        if ready():
            return True
        if runs_here():
            raise ConfigurationError(
                f"{what} cannot wait on the event loop that does the work",
                hint=f"In async code, {instead}.",
            )
        news = threading.Event()
        end = None if timeout is None else monotonic() + timeout
        self._add(news.set)
        try:
            with slot_given_back():
                while not ready():
                    left = BEAT_S if end is None else min(BEAT_S, end - monotonic())
                    if left <= 0:
                        return False
                    if news.wait(left):
                        news.clear()
        finally:
            self._remove(news.set)
        return True

    async def until(self, ready: Callable[[], bool], timeout: float | None) -> bool:
        """Wait as :meth:`wait` does, for async code on any loop."""
        if ready():
            return True
        bell = Bell()
        end = None if timeout is None else monotonic() + timeout
        self._add(bell.ring)
        try:
            while not ready():
                left = BEAT_S if end is None else min(BEAT_S, end - monotonic())
                if left <= 0:
                    return False
                await bell.wait(left)
        finally:
            self._remove(bell.ring)
        return True
