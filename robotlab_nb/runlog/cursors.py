"""How far each root's record has been written, and what is next. Knows no database and no thread.

A cursor holds the root until its last event is written: what could not be written yet is nowhere
else, and no second list of it is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .omitting import without_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..core.events import Delta, Event

__all__ = ["Cursor", "Loose", "is_session", "portions"]

#: events after which nothing more is to come, when they are the root's own
_ENDS = frozenset({"run.completed", "run.failed", "run.interrupted"})
#: events of one transaction: others who write to the same log get their turn in between
PORTION = 1_000


def is_session(root_id: str) -> bool:
    """Whether a root is what happened outside any run: its record has gaps, for it is bounded.

    Examples
    --------
    >>> is_session("session-3377a425c91e"), is_session("9c41a0d2b7e5")
    (True, False)
    """
    return root_id.startswith("session-")


class Record(Protocol):
    """What a cursor reads: the record of a root."""

    id: str

    @property
    def last(self) -> int:
        """The number of the latest event; -1 before the first."""

    def after(self, seq: int) -> list[Event]:
        """The events with a greater number, in order."""


class Loose:
    """A record of events whose root is not known: of a run that had ended, of a test."""

    def __init__(self, root_id: str) -> None:
        self.id = root_id
        self._events: list[Event] = []

    def add(self, event: Event) -> None:
        """Take an event in."""
        self._events.append(event)

    @property
    def last(self) -> int:
        """The number of the latest event."""
        return self._events[-1].seq if self._events else -1

    def after(self, seq: int) -> list[Event]:
        """The events with a greater number, in order."""
        return [event for event in self._events if event.seq > seq]

    def forget(self, seq: int) -> None:
        """Let go of the events up to a number."""
        self._events = self.after(seq)


class Cursor:
    """A root, and how far it is written.

    Attributes
    ----------
    written : int
        Number of the last event that the log has; -1 for none.
    content : bool
        Whether texts may be kept.
    lost : int
        Events that were let go of before they could be written.
    """

    __slots__ = ("content", "ended", "lost", "root", "since", "told", "written")

    def __init__(self, root: Any, *, content: bool) -> None:
        self.root = root
        self.content = content
        self.written = -1
        self.ended = False
        self.lost = 0
        #: the last event from before there was a log: a session keeps only the latest of those
        self.since = int(root.last)
        #: characters that the log has of what streams, by call, attempt and kind
        self.told: dict[tuple[str, int, str], int] = {}

    @property
    def waiting(self) -> int:
        """How many events are still to be written."""
        return max(0, int(self.root.last) - self.written)

    @property
    def over(self) -> bool:
        """Whether all is written and nothing more will come."""
        return self.ended and not self.waiting

    @property
    def is_session(self) -> bool:
        """Whether this is what happened outside any run, which never ends."""
        return is_session(self.root.id)

    def has_ended(self) -> bool:
        """Whether the root has recorded its end, written or not."""
        found = self.root.after(self.root.last - 1)
        return bool(found) and _is_end(found[-1])

    def next(self) -> list[Event]:
        """The events that are to be written."""
        found: list[Event] = self.root.after(self.written)
        return found

    def wrote(self, event: Event) -> None:
        """Note that the log has an event, and all before it."""
        self.lost += max(0, event.seq - 1 - max(self.written, self.since))
        self.written = max(self.written, event.seq)
        if _is_end(event):
            self.ended = True
        if event.type.startswith(("model_call.", "attempt.")) and self.told:
            call = event.data.get("call_id")
            self.told = {key: n for key, n in self.told.items() if key[0] != call}

    def again(self) -> None:
        """Write all of it once more: the log that had it is gone."""
        self.written = -1
        self.since = int(self.root.last)
        self.told.clear()

    def streams(self) -> list[Delta]:
        """What running calls have said so far, where that is more than the log has."""
        root = self.root
        if not self.content or not getattr(root, "_live", None):
            return []
        with root.lock:
            found: list[Delta] = root.so_far()
        fresh = []
        for delta in found:
            key = (delta.call_id, delta.attempt, delta.kind)
            if len(delta.text) > self.told.get(key, 0):
                self.told[key] = len(delta.text)
                fresh.append(delta)
        return fresh


def _is_end(event: Event) -> bool:
    return event.type in _ENDS and event.scope.run_id == event.scope.root_id


def portions(
    cursors: Iterable[Cursor], *, content: bool, most: int = PORTION
) -> Iterator[list[tuple[Cursor, Event, Event]]]:
    """What is to be written, in lots: each event's cursor, the event, and what is kept of it."""
    lot: list[tuple[Cursor, Event, Event]] = []
    for cursor in cursors:
        if not cursor.waiting:
            continue
        kept = content and cursor.content
        for event in cursor.next():
            lot.append((cursor, event, event if kept else without_texts(event)))
            if len(lot) >= most:
                yield lot
                lot = []
    if lot:
        yield lot
