"""A root run's record: its events in order, the text that streams, and who is watching."""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ..core import secrets
from ..core.events import Delta, Event
from . import sinks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.events import Scope
    from .working import Work

__all__ = ["Root"]

#: fields that hold nothing but ids and digests of our own making
_OWN = frozenset({"call_id", "child_run_id", "message_ids", "request_key", "tool_call_id"})
#: events that end an attempt whose text stands
_WHOLE = frozenset({"attempt.completed", "model_call.completed"})


class Listener(Protocol):
    """Somebody who sees every event of a root as it happens. Called under the root's lock."""

    deltas: bool

    def push(self, event: Event) -> None:
        """Take an event in."""

    def push_delta(
        self, scope: Scope, call_id: str, attempt: int, kind: str, offset: int, text: str
    ) -> None:
        """Take a piece of what streams in; called only where ``deltas`` is True."""


class Times(Protocol):
    """What says when the events of a root happened, where its clock does not."""

    @property
    def cell(self) -> tuple[str, str] | None:
        """The notebook cell that started the run, and which execution of it."""

    @property
    def found(self) -> object:
        """The times that are known; None where there are none."""

    def told(
        self, type_: str, scope: Scope, data: Mapping[str, Any], elapsed: float
    ) -> tuple[float, Mapping[str, Any]]:
        """The time of an event, and its data, as they are recorded. Called under the lock."""

    def go_live(self, run: Any) -> None:
        """Something happens in a run that the times do not know: from here on they are real."""


class Root:
    """The events of one root run and of all runs inside it.

    ``emit`` and ``delta`` may be called from any thread: one lock gives the order. Registered
    secrets are masked here, before anything is recorded or seen.
    """

    __slots__ = (
        "_holding", "_live", "_watchers", "events", "id", "listeners", "lock", "started", "times",
    )  # fmt: skip

    def __init__(self, root_id: str) -> None:
        self.id = root_id
        # Reentrant: the garbage collector may close a watcher while an event is being emitted.
        self.lock = threading.RLock()
        self.started = monotonic()
        self.events: list[Event] = []
        #: a tape's times in place of the clock's; None without one
        self.times: Times | None = None
        #: how many readers want deltas; requests stream only when somebody does
        self.listeners = 0
        self._watchers: tuple[Listener, ...] = ()
        self._live: dict[tuple[str, int, str], _Text] = {}
        #: whether any text that streams has been searched for secrets, and may be held back
        self._holding = False

    def emit(
        self, run: Work[Any], type_: str, data: Mapping[str, Any], scope: Scope | None = None
    ) -> Event | None:
        """Record an event of a run and hand it on. None when the run was closed before."""
        if secrets.any_known:
            data = secrets.redact_data(data, skip=_OWN)
        with self.lock:
            if run.closed:
                return None
            if self._holding and type_ in _WHOLE:
                self.let_go(data["call_id"])
            elapsed = monotonic() - self.started
            if self.times is not None:
                elapsed, data = self.times.told(type_, scope or run.scope, data, elapsed)
            event = Event(type_, scope or run.scope, len(self.events), elapsed, data)
            self.events.append(event)
            run.state.apply(event)
            for watcher in self._watchers:
                watcher.push(event)
            if sinks._sinks:
                sinks.publish(event)
        return event

    def delta(self, run: Work[Any], call_id: str, attempt: int, kind: str, text: str) -> str:
        """Pass on a piece of what streams, and return what was passed on.

        What may be the start of a secret waits for the next piece, or for :meth:`let_go`.
        """
        with self.lock:
            if run.closed:
                return ""
            key = (call_id, attempt, kind)
            live = self._live.get(key)
            if live is None:
                live = self._live[key] = _Text(run)
            if secrets.any_known:
                text = self._searched(live, text)
            if text:
                self._pass_on(live, key, text)
        return text

    def _pass_on(self, live: _Text, key: tuple[str, int, str], text: str) -> None:
        call_id, attempt, kind = key
        offset = live.length
        live.pieces.append(text)
        live.length += len(text)
        for watcher in self._watchers:
            if watcher.deltas:
                watcher.push_delta(live.run.scope, call_id, attempt, kind, offset, text)

    def _searched(self, live: _Text, text: str) -> str:
        if live.redactor is None:
            live.redactor = secrets.StreamRedactor()
            self._holding = True
        return live.redactor.feed(text)

    def let_go(self, call_id: str) -> str:
        """Pass on what was held back of a call: its attempt is over. Returns the answer's text."""
        said = ""
        with self.lock:
            for key, live in self._live.items():
                rest = live.redactor.end() if key[0] == call_id and live.redactor else ""
                if rest:
                    self._pass_on(live, key, rest)
                    said += rest if key[2] == "text" else ""
        return said

    def void(self, call_id: str, attempt: int) -> None:
        """Forget what an attempt streamed: it failed, or its whole text is in an event now."""
        if self._live:
            with self.lock:
                for key in [k for k in self._live if k[0] == call_id and k[1] == attempt]:
                    del self._live[key]

    @property
    def last(self) -> int:
        """The number of the latest event; -1 before the first."""
        return len(self.events) - 1

    def after(self, seq: int) -> list[Event]:
        """The events with a greater number, in order."""
        return self.events[seq + 1 :]

    def so_far(self) -> list[Delta]:
        """What running calls have streamed up to now, one delta per kind."""
        return [
            Delta(live.run.scope, call, attempt, kind, 0, "".join(live.pieces))
            for (call, attempt, kind), live in self._live.items()
        ]

    def attach(self, watcher: Listener) -> None:
        """Let a watcher see everything from now on."""
        with self.lock:
            self._watchers = (*self._watchers, watcher)
            self.listeners += watcher.deltas

    def detach(self, watcher: Listener) -> None:
        """Let a watcher see nothing more."""
        with self.lock:
            if watcher in self._watchers:
                self._watchers = tuple(w for w in self._watchers if w is not watcher)
                self.listeners -= watcher.deltas


class _Text:
    """Pieces of streaming text, how many characters they have, and what masks secrets in it."""

    __slots__ = ("length", "pieces", "redactor", "run")

    def __init__(self, run: Work[Any]) -> None:
        self.run = run
        self.pieces: list[str] = []
        self.length = 0
        self.redactor: secrets.StreamRedactor | None = None
