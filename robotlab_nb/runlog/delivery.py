"""From the records of runs into a store: what is new, what streams, and what to do when it fails.

Used by one thread at a time. Knows no table and no SQL; :mod:`.store` does.
"""

from __future__ import annotations

import contextlib
import os
import threading
from time import monotonic
from typing import TYPE_CHECKING

from .cursors import Cursor, Loose, portions
from .trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from .records import Writer
    from .store import Store

__all__ = ["Delivery"]

#: seconds between two looks at what streams, and two signs of life
LOOK_S = 1.0
SIGN_S = 5.0
#: events of ended runs that are kept while the log cannot be written
MOST_KEPT = 100_000
#: roots that ended whose last number is remembered
MOST_REMEMBERED = 1_000
#: seconds that a fork waits for a write to end
FORK_S = 5.0

#: held while the database is loaded or written: a child forked meanwhile would have its locks, and
#: nobody to open them
_at_work = threading.Lock()


class Delivery:
    """Carries what cursors point at into a store.

    Parameters
    ----------
    open_store : callable
        Opens the log, creating it if need be.
    place : str
        What is shown of where the log is.

    Attributes
    ----------
    cursors : dict of str to Cursor
        What is read, by root id. Other threads may add to it.
    remembered : dict of str to int
        Root -> number of its last event that is in the log, of roots that ended.
    trouble : Trouble
    """

    def __init__(self, open_store: Callable[[], Store], place: str) -> None:
        self.cursors: dict[str, Cursor] = {}
        self.remembered: dict[str, int] = {}
        self.trouble = Trouble(place)
        #: whether the database's modules are there
        self.loaded = False
        self._open_store = open_store
        self._store: Store | None = None
        self._writer: Writer | None = None
        self._looked = self._signed = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the log was opened."""
        return self._store is not None

    def next_look(self) -> float | None:
        """Seconds until something is to be done without a new event; None for never."""
        if all(cursor.is_session for cursor in list(self.cursors.values())):
            return None
        return max(0.0, self._looked + LOOK_S - monotonic())

    def deliver(self, *, content: bool) -> None:
        """Write all that is new. Raises what the store raises.

        Parameters
        ----------
        content : bool
            Whether texts are written too, of roots that may keep them.
        """
        with _at_work:
            self._deliver(content)

    def _deliver(self, content: bool) -> None:
        from .records import Batch

        store = self._opened()
        now = monotonic()
        cursors = list(self.cursors.values())
        for lot in portions(cursors, content=content):
            store.write(Batch([kept for _, _, kept in lot], writer=self._writer))
            for cursor, event, _ in lot:
                cursor.wrote(event)
            self._signed = now
        if now >= self._looked + LOOK_S:
            self._look(store, cursors, now, content)
        self._tidy(cursors)
        self.trouble.over()

    def _look(self, store: Store, cursors: list[Cursor], now: float, content: bool) -> None:
        """Write what streams, and that this process is alive."""
        from .records import Batch

        self._looked = now
        going_on = [c for c in cursors if not c.is_session and not c.over]
        said = [delta for cursor in going_on for delta in cursor.streams()] if content else []
        if said or (going_on and now >= self._signed + SIGN_S):
            self._signed = now
            try:
                store.write(Batch(partials=said, writer=self._writer))
            except BaseException:
                for cursor in going_on:
                    cursor.told.clear()
                raise

    def _tidy(self, cursors: list[Cursor]) -> None:
        """Let go of what is over."""
        for cursor in cursors:
            self.trouble.lost += cursor.lost
            cursor.lost = 0
            if isinstance(cursor.root, Loose):
                cursor.root.forget(cursor.written)
            if cursor.over:
                root_id = cursor.root.id
                self.cursors.pop(root_id, None)
                self.remembered[root_id] = cursor.written
        while len(self.remembered) > MOST_REMEMBERED:
            del self.remembered[next(iter(self.remembered))]

    def _opened(self) -> Store:
        if self._store is None:
            from . import querying, writing  # noqa: F401  (this is what takes long the first time)
            from .records import Writer

            self.loaded = True
            store = self._open_store()
            if self._writer is None:
                self._writer = Writer.here()
            with contextlib.suppress(Exception):  # others' runs are not worth losing ours
                store.abandon_dead()
            self._store = store
        return self._store

    def failed(self, error: Exception, *, last: bool = False) -> None:
        """Say so, and keep what can be kept until it works again; ``last``: it will not."""
        from .faults import LogGone, LogLocked

        if isinstance(error, LogGone):  # a new one gets all that goes on, from its start
            for cursor in list(self.cursors.values()):
                cursor.again()
        if not isinstance(error, LogLocked):
            self._drop_store()
        self.trouble.happened(error, last=last)
        self._keep_in_bounds()

    def _keep_in_bounds(self) -> None:
        """Let go of runs that ended, when too many events wait."""
        waiting = {c: c.waiting for c in list(self.cursors.values())}
        over = sum(waiting.values()) - MOST_KEPT
        for cursor, count in waiting.items():
            if over <= 0:
                return
            if cursor.has_ended():
                self.cursors.pop(cursor.root.id, None)
                self.trouble.lost += count
                over -= count

    def _drop_store(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            with contextlib.suppress(Exception):
                store.close()

    def close(self) -> None:
        """Leave the log as one whose writer has ended."""
        with _at_work, contextlib.suppress(Exception):
            if self._store is not None and self._writer is not None:
                self._store.leave(self._writer)
        self._drop_store()


def _before_fork() -> None:
    global _held
    _held = _at_work.acquire(timeout=FORK_S)


def _after_fork_in_parent() -> None:
    if _held:
        _at_work.release()


def _after_fork_in_child() -> None:
    global _at_work
    _at_work = threading.Lock()


_held = False

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
