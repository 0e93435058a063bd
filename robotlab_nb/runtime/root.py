"""A root run's record: its events in order, the text that streams, and who is watching."""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.events import Delta, Event
from . import sinks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.events import Scope
    from .watch import Watcher
    from .working import Work

__all__ = ["Root"]


class Root:
    """The events of one root run and of all runs inside it.

    ``emit`` and ``delta`` may be called from any thread: one lock gives the order.
    """

    __slots__ = ("_live", "_watchers", "events", "id", "listeners", "lock", "started")

    def __init__(self, root_id: str) -> None:
        self.id = root_id
        # Reentrant: the garbage collector may close a watcher while an event is being emitted.
        self.lock = threading.RLock()
        self.started = monotonic()
        self.events: list[Event] = []
        #: how many readers want deltas; requests stream only when somebody does
        self.listeners = 0
        self._watchers: tuple[Watcher, ...] = ()
        self._live: dict[tuple[str, int, str], _Text] = {}

    def emit(
        self, run: Work[Any], type_: str, data: Mapping[str, Any], scope: Scope | None = None
    ) -> Event | None:
        """Record an event of a run and hand it on. None when the run was closed before."""
        with self.lock:
            if run.closed:
                return None
            event = Event(
                type_, scope or run.scope, len(self.events), monotonic() - self.started, data
            )
            self.events.append(event)
            run.state.apply(event)
            for watcher in self._watchers:
                watcher.push(event)
            if sinks._sinks:
                sinks.publish(event)
        return event

    def delta(self, run: Work[Any], call_id: str, attempt: int, kind: str, text: str) -> None:
        """Pass on a piece of what streams."""
        with self.lock:
            if run.closed:
                return
            key = (call_id, attempt, kind)
            live = self._live.get(key)
            if live is None:
                live = self._live[key] = _Text(run)
            offset = live.length
            live.pieces.append(text)
            live.length += len(text)
            for watcher in self._watchers:
                if watcher.deltas:
                    watcher.push_delta(run.scope, call_id, attempt, kind, offset, text)

    def void(self, call_id: str, attempt: int) -> None:
        """Forget what an attempt streamed: it failed, or its whole text is in an event now."""
        if self._live:
            with self.lock:
                for key in [k for k in self._live if k[0] == call_id and k[1] == attempt]:
                    del self._live[key]

    def so_far(self) -> list[Delta]:
        """What running calls have streamed up to now, one delta per kind."""
        return [
            Delta(live.run.scope, call, attempt, kind, 0, "".join(live.pieces))
            for (call, attempt, kind), live in self._live.items()
        ]

    def attach(self, watcher: Watcher) -> None:
        """Let a watcher see everything from now on."""
        with self.lock:
            self._watchers = (*self._watchers, watcher)
            self.listeners += watcher.deltas

    def detach(self, watcher: Watcher) -> None:
        """Let a watcher see nothing more."""
        with self.lock:
            if watcher in self._watchers:
                self._watchers = tuple(w for w in self._watchers if w is not watcher)
                self.listeners -= watcher.deltas


class _Text:
    """Pieces of streaming text and how many characters they have."""

    __slots__ = ("length", "pieces", "run")

    def __init__(self, run: Work[Any]) -> None:
        self.run = run
        self.pieces: list[str] = []
        self.length = 0
