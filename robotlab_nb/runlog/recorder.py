"""Writes every event of the process into a log, on a thread of its own.

A run only notes that there is something new; what is written is read from the run's own record.
Whatever happens to the log, no run fails or changes: the log says so itself, once as a warning
and then in its picture.
"""

from __future__ import annotations

import contextlib
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.config import options
from ..runtime import recording, sinks
from .cursors import Cursor, Loose
from .delivery import Delivery
from .waiters import Waiters

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.events import Event
    from ..runtime.root import Root
    from .store import Store
    from .trouble import Trouble

__all__ = ["Recorder"]

#: seconds between two writes, and events after which one is made earlier
EVERY_S = 0.1
EVENTS = 500
#: seconds before the log is opened: loading the database is not to slow the first run down
FIRST_S = 0.5
#: events that may wait before runs are asked to wait for the log
MOST_BEHIND = 10_000
#: seconds before a write that failed is tried again: the first time, and at most
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
#: seconds that a flush, and the end of a log that is not in force any more, take at most
FLUSH_S = 10.0
END_S = 60.0
#: seconds that loading the database may take when the process ends before it was needed
LOAD_S = 8.0


class Recorder:
    """A reader of all events that writes them into one log.

    Parameters
    ----------
    open_store : callable
        Opens the log, creating it if need be. Called on the recorder's thread.
    place : str
        What is shown of where the log is.
    greet : callable, optional
        Called once, in the thread that starts the first run.

    Attributes
    ----------
    content : bool
        Whether texts are written, or only what happened.
    ended : bool
        Whether it does nothing any more.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        place: str,
        *,
        greet: Callable[[], object] | None = None,
    ) -> None:
        self.place = place
        self.content = True
        self.ended = False
        self._greet = greet
        self._delivery = Delivery(open_store, place)
        self._cursors = self._delivery.cursors
        self._loose: dict[str, Loose] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._bell = threading.Event()
        self._waiters = Waiters()
        #: events since the last write; not exact, and need not be
        self._count = 0
        self._idle = False
        self._urgent = False
        #: instant by which it must have ended; None while it goes on
        self._until: float | None = None

    @property
    def trouble(self) -> Trouble:
        """What goes wrong, if anything does."""
        return self._delivery.trouble

    # -- what runs do ----------------------------------------------------------------------

    def follow(self, root: Root) -> None:
        """Read a root from its first event on, whatever of it has happened already."""
        if root.id in self._cursors or recording.is_foreign(root.id):
            return
        self._cursors[root.id] = Cursor(root, content=self.content)
        self._begin()
        if root.last >= 0:
            self._count += 1
            self._bell.set()
        if self._greet is not None:
            greet, self._greet = self._greet, None
            with contextlib.suppress(Exception):
                greet()

    def put(self, event: Event) -> None:
        """Note that there is a new event. Returns at once and never raises."""
        if options.version != recording._seen:
            _look_again()
        if event.scope.root_id not in self._cursors:
            self._unknown(event)
        count = self._count = self._count + 1
        if self._idle or count == EVENTS:
            self._bell.set()
        elif count == MOST_BEHIND and not self.trouble:
            sinks.behind = True

    def _unknown(self, event: Event) -> None:
        """Take an event in whose root is not followed."""
        root_id = event.scope.root_id
        if recording.is_foreign(root_id) or self.ended:
            return
        with self._lock:
            loose = self._loose.get(root_id)
            if loose is None:
                loose = self._loose[root_id] = Loose(root_id)
            loose.add(event)
        self._begin()

    # -- waiting ---------------------------------------------------------------------------

    async def drained(self, root_id: str, seq: int) -> None:
        """Return when the log has a root's events up to a number; at once while it has trouble.

        A log that is far behind has to catch up first, with all roots.
        """
        import asyncio

        cursor = self._cursors.get(root_id)
        wanted = [] if cursor is None or cursor.written >= seq else [(cursor, seq)]
        if sinks.behind:
            wanted = self._wanted()
        if not wanted or self.trouble or self.ended:
            return
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # that loop is closed
                loop.call_soon_threadsafe(done.set)

        waiter = self._waiters.add(wanted, tell)
        self._hurry()
        try:
            await done.wait()
        finally:
            self._waiters.remove(waiter)

    def flush(self, timeout: float | None = None) -> dict[str, int]:
        """Wait until all that has happened so far is in the log.

        Parameters
        ----------
        timeout : float, optional
            Seconds, 10 when left out.

        Returns
        -------
        dict of str to int
            Root -> number of its last event that is in the log for sure: of what goes on, and of
            the last 1,000 that ended.
        """
        self._adopt_loose()
        wanted = self._wanted()
        if wanted and threading.current_thread() is not self._thread:
            done = threading.Event()
            waiter = self._waiters.add(wanted, done.set)
            self._hurry()
            if not self.ended:
                done.wait(FLUSH_S if timeout is None else timeout)
            self._waiters.remove(waiter)
        return self.acknowledged()

    def _wanted(self) -> list[tuple[Cursor, int]]:
        """All that is still to be written."""
        return [(c, c.root.last) for c in list(self._cursors.values()) if c.waiting]

    def acknowledged(self) -> dict[str, int]:
        """Root -> number of its last event that is in the log."""
        found = dict(self._delivery.remembered)
        found.update((k, c.written) for k, c in list(self._cursors.items()) if c.written >= 0)
        return found

    # -- its end ---------------------------------------------------------------------------

    def end(self) -> None:
        """Write what there is and close the log; nothing more is read. Returns at once."""
        self._stop(END_S)

    def close(self, timeout: float = 2.0) -> None:
        """As :meth:`end`, and wait for it; longer while the database is still being loaded."""
        self._stop(timeout)
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        until = monotonic() + LOAD_S
        while not self._delivery.loaded and thread.is_alive() and monotonic() < until:
            thread.join(0.01)
        self._stop(timeout)
        thread.join(timeout)

    def _stop(self, seconds: float) -> None:
        with self._lock:
            self._until = monotonic() + seconds
            if self._thread is None:
                self.ended = True
        self._hurry()

    def go_on(self) -> bool:
        """Come into force again, if it has not ended yet. Returns whether it goes on."""
        with self._lock:
            if not self.ended:
                self._until = None
            return not self.ended

    def forget(self) -> None:
        """In a forked child: do nothing any more. The parent has the thread and the log."""
        self.ended = True
        _inherited.append(self)  # its connections are the parent's: they must not be closed here

    # -- the thread ------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._thread is None and not self.ended:
            with self._lock:
                if self._thread is None:
                    made = threading.Thread(target=self._work, name="robotlab_nb log", daemon=True)
                    self._thread = made
                    made.start()

    def _hurry(self) -> None:
        self._urgent = True
        self._bell.set()

    def _work(self) -> None:
        pause = 0.0
        while True:
            self._wait(pause)
            until = self._until
            try:
                self._write()
                pause = 0.0
            except Exception as error:
                pause = min(LONGEST_PAUSE_S, max(FIRST_PAUSE_S, pause * 2))
                self._failed(error, last=until is not None and monotonic() + pause > until)
            if until is not None and (not pause or monotonic() + pause > until):
                with self._lock:
                    self.ended = self._until is not None  # it may be in force again
                if self.ended:
                    break
        self._delivery.close()
        self._waiters.give_up()

    def _wait(self, pause: float) -> None:
        """Wait for something to do, then for more of it: many small writes cost more than one."""
        bell = self._bell
        if pause:
            if self._until is not None:
                pause = min(pause, max(0.0, self._until - monotonic()))
            if not self._urgent:
                bell.clear()
                bell.wait(pause)
        elif not self._urgent:
            if not self._count:
                self._idle = True
                if not self._count and not self._urgent:
                    bell.wait(self._delivery.next_look())
                self._idle = False
            bell.clear()
            if self._count < EVENTS and not self._urgent:
                bell.wait(EVERY_S if self._delivery.is_open else FIRST_S)
        self._urgent = False
        bell.clear()

    def _write(self) -> None:
        self._adopt_loose()
        self._count = 0
        self._delivery.deliver(content=self.content)
        if sinks.behind and self._count < MOST_BEHIND:
            sinks.behind = False
        self._waiters.tell()

    def _failed(self, error: Exception, *, last: bool) -> None:
        self._delivery.failed(error, last=last)
        sinks.behind = False
        if self.trouble:
            self._waiters.give_up()

    def _adopt_loose(self) -> None:
        """Follow the records of events whose roots are not known."""
        if not self._loose:
            return
        with self._lock:
            found, self._loose = self._loose, {}
        for root_id, loose in found.items():
            cursor = self._cursors.get(root_id)
            events = loose.after(-1)
            if cursor is None or not isinstance(cursor.root, Loose):
                cursor = self._cursors[root_id] = Cursor(loose, content=self.content)
                # Of a run that had ended, the log has all that came before.
                cursor.written = self._delivery.remembered.get(root_id, events[0].seq - 1)
            else:
                for event in events:
                    cursor.root.add(event)


#: recorders of the process that this one was forked from
_inherited: list[Any] = []


def _look_again() -> None:
    # A setting that cannot be meant is told where the next run starts.
    with contextlib.suppress(Exception):
        recording.look()
