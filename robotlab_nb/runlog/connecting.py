"""Connections to a log: of this process, from any thread, and errors that say what is wrong.

A forked child makes new ones: those that came along are the parent's.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from .faults import LogError, LogReadOnly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.engine import Connection, Engine

    from .backends import Backend

__all__ = ["PATIENCE_S", "Connected"]

#: seconds that a writer tries to get its turn
PATIENCE_S = 5.0


class Connected:
    """Something with connections to a log.

    Attributes
    ----------
    version : int
        The version of its tables.
    """

    def __init__(self, backend: Backend, patience: float) -> None:
        self._backend = backend
        self._patience = patience
        self._closed = False
        self._fresh()
        try:
            self.version: int = self._named(lambda: backend.prepare(self._engine))
        except BaseException:
            self._engine.dispose()
            raise
        _open.add(self)

    def _fresh(self) -> None:
        """Begin with connections and locks of this process."""
        self._lock = threading.RLock()
        self._engine: Engine = self._backend.engine()

    def _forked(self) -> None:
        # A connection that came along is the parent's: closing it here would disturb it there.
        _inherited.append(self._engine)
        if not self._closed:
            self._fresh()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        self._check_open()
        self._backend.still_there()
        from sqlalchemy.exc import DBAPIError

        from .backends import original_error

        try:
            with self._engine.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise self._backend.fault(original_error(error)) from error

    def _named(self, work: Callable[[], Any]) -> Any:
        """Do something with the database; what goes wrong is one of our errors."""
        from sqlalchemy.exc import DBAPIError

        from .backends import original_error

        backend = self._backend
        until = time.monotonic() + self._patience
        wait, cuts = 0.01, 0
        while True:
            try:
                return work()
            except (DBAPIError, sqlite3.Error) as error:
                own = original_error(error)
                if backend.cut(own) and not cuts:
                    cuts += 1
                elif not backend.busy(own) or time.monotonic() > until:
                    raise backend.fault(own) from error
            except OverflowError as error:
                said = f"the log {backend.place!r} cannot hold a number as large: {error}"
                raise LogError(said, hint="Numbers of events take 64 bits.") from error
            # At random, so that two who wait do not meet again.
            time.sleep(random.uniform(wait / 2, wait))
            wait = min(0.25, wait * 2)

    def _change(self, work: Callable[[Connection], Any]) -> Any:
        """One transaction that writes, again while others are in its way."""
        self._check_open()
        if self._backend.readonly:
            raise LogReadOnly(
                f"the log {self._backend.place!r} was opened to be read",
                hint="Open it without readonly=True.",
            )

        from .upgrading import LAYOUT, upgrade

        def change() -> Any:
            self._backend.still_there()
            connection = self._engine.connect().execution_options(writes=True)
            with connection, connection.begin():
                older = self.version < LAYOUT
                if older:
                    upgrade(connection, self._backend)
                found = work(connection)
            self._backend.still_there()
            if older:
                self.version = LAYOUT
            return found

        with self._lock:
            return self._named(change)

    def _check_open(self) -> None:
        if self._closed:
            raise LogError(f"the log {self._backend.place!r} is closed", hint="Open it again.")

    def close(self) -> None:
        """Let go of all connections."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._engine.dispose()
        _open.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_open: weakref.WeakSet[Connected] = weakref.WeakSet()
#: what a forked process must not close
_inherited: list[Any] = []


def _after_fork() -> None:
    for one in list(_open):
        one._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
