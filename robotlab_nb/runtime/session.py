"""The process's session: the root of what happens outside any run, a memory written in a cell, say.

Its record begins with the process's first such event and holds the last 10,000. It is no run:
nothing waits for it, and nothing ends it.
"""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core import secrets
from ..core.events import SCHEMA_VERSION, Event, Scope
from ..core.readings import ShownList
from . import recording, sinks
from .root import Root
from .strand import current_strand
from .working import current_work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .working import Work

__all__ = ["emit_here", "session_emit", "session_events"]

#: events that are kept, the first one included, which holds the start
MOST_EVENTS = 10_000
#: how many are let go of at a time
_STEP = 1_000

_lock = threading.Lock()
_session: Session | None = None


class Session(Root):
    """The one root of kind ``session``: bounded, without a state, never closed."""

    __slots__ = ("scope", "seq")

    def __init__(self) -> None:
        super().__init__(f"session-{os.urandom(6).hex()}")
        self.scope = Scope(self.id, self.id, None, 0, "session", (), None)
        self.seq = 0
        from datetime import UTC, datetime

        started = {
            "schema_version": SCHEMA_VERSION,
            "started_at": datetime.now(UTC).isoformat(),
            "name": "session",
        }
        recording.begin(self)
        self.tell("run.started", started)

    @property
    def last(self) -> int:
        """The number of the latest event."""
        return self.seq - 1

    def after(self, seq: int) -> list[Event]:
        """The events with a greater number that are still kept, in order."""
        with self.lock:
            rest = self.events[max(1, len(self.events) - (self.seq - 1 - seq)) :]
            return [*self.events[:1], *rest] if seq < 0 else rest

    def tell(self, type_: str, data: Mapping[str, Any]) -> Event:
        """Record an event and hand it on."""
        if secrets.any_known:
            data = secrets.redact_data(data)
        with self.lock:
            event = Event(type_, self.scope, self.seq, monotonic() - self.started, data)
            self.seq += 1
            self.events.append(event)
            if len(self.events) >= MOST_EVENTS + _STEP:
                del self.events[1 : len(self.events) - MOST_EVENTS + 1]
            for watcher in self._watchers:
                watcher.push(event)
            if sinks._sinks:
                sinks.publish(event)
        return event


def session() -> Session:
    """The process's session, begun if need be."""
    global _session
    found = _session
    if found is not None:
        return found
    with _lock:
        if _session is None:
            _session = Session()
        return _session


def session_emit(type_: str, data: Mapping[str, Any]) -> Event:
    """Record an event that belongs to no run."""
    recording.look()
    return session().tell(type_, data)


def emit_here(type_: str, data: Mapping[str, Any]) -> Event:
    """Record an event where the calling code happens: in its task, its run, or the session.

    What a run's code does after the run has ended belongs to the session.
    """
    work = current_work()
    if work is not None:
        event = work.emit(type_, data, _task_scope(work))
        if event is not None:
            return event
    return session_emit(type_, data)


def _task_scope(work: Work[Any]) -> Scope | None:
    """The scope of the network's task in which the calling code happens, or None."""
    strand = current_strand(work)
    if strand is None:
        return None
    here = work.scope
    path = (*here.path, *strand.path)
    return Scope(here.run_id, here.root_id, here.parent_id, here.depth, "task", path, here.robot)


def session_events() -> list[Event]:
    """List what happened outside any run: memories written and messages sent in cells.

    Returns
    -------
    list of Event
        In order; the first holds the UTC start, and of the rest the last 10,000 are kept.

    Examples
    --------
    >>> event = session_emit("memory.deleted", {"key": "draft", "version": 3, "writer": "session"})
    >>> event in session_events(), session_events()[0].type
    (True, 'run.started')
    """
    found = _session
    if found is None:
        return ShownList()
    with found.lock:
        if len(found.events) <= MOST_EVENTS:
            return ShownList(found.events)
        return ShownList([found.events[0], *found.events[1 - MOST_EVENTS :]])


def _after_fork() -> None:
    # The child begins a record of its own; a lock that somebody held does not come along.
    global _lock, _session
    _lock = threading.Lock()
    _session = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
