"""Who waits until the log has certain events. Knows no log."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .cursors import Cursor

    Waiter = tuple[Sequence[tuple[Cursor, int]], Callable[[], object]]

__all__ = ["Waiters"]


class Waiters:
    """Those who wait, and for which numbers of which roots."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[Waiter] = []

    def add(self, wanted: Sequence[tuple[Cursor, int]], tell: Callable[[], object]) -> Waiter:
        """Have somebody told when all that is wanted is there."""
        waiter = (wanted, tell)
        with self._lock:
            self._all.append(waiter)
        return waiter

    def remove(self, waiter: Waiter) -> None:
        """Let somebody go who waits no longer."""
        with self._lock:
            self._all = [each for each in self._all if each is not waiter]

    def tell(self) -> None:
        """Tell those whose events are all there."""
        for wanted, tell in tuple(self._all):
            if all(cursor.written >= seq for cursor, seq in wanted):
                tell()

    def give_up(self) -> None:
        """Tell everybody: there is nothing to wait for."""
        for _, tell in tuple(self._all):
            tell()
