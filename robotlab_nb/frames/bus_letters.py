"""Messages on the bus as their events tell them, and where the events of a record belong.

Pure readings of events. Nothing here knows of columns, of pandas or of a bus.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .cells import json_text
from .readers import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.events import Event

__all__ = ["Letter", "letters", "place_of"]


class Letter:
    """What became of one message.

    ``failed_by`` has each receiver once, in order; ``error`` is what it died of, else the first
    one of a handler that failed on it.
    """

    def __init__(self, message_id: str, first: Event) -> None:
        self.message_id = message_id
        #: the event that it was sent by, else the first that names it
        self.first = first
        self.channel: object = None
        self.reason: object = None
        self.error: Mapping[str, Any] | None = None
        self.acked_by: list[object] = []
        self.failed_by: list[object] = []
        self.queued_s: float | None = None
        self._dead = False
        self._ended: Event | None = None

    def take(self, event: Event) -> None:
        """Take one of its events in."""
        data: Any = event.data
        self.channel = data.get("channel", self.channel)
        who = data.get("receiver")
        match event.type:
            case "bus.sent":
                self.first = event
            case "bus.delivered":
                self.queued_s = max(self.queued_s or 0.0, data.get("queued_s") or 0.0)
            case "bus.acked":
                self.acked_by.append(who)
                self._end(event)
            case "bus.dead":
                self._dead = True
                self.reason, self.error = data.get("reason"), data.get("error") or self.error
                self._ended = event
        if event.type in _FAILED and who is not None and who not in self.failed_by:
            self.failed_by.append(who)
        if event.type == "bus.handler_failed":
            self.error = self.error or data.get("error")

    def _end(self, event: Event) -> None:
        if not self._dead:
            self._ended = event

    def sent(self, name: str) -> object:
        """One value of what was said when it was sent."""
        return self.first.data.get(name) if self.first.type == "bus.sent" else None

    @property
    def receivers(self) -> object:
        """For whom it was."""
        return self.sent("receivers")

    @property
    def content(self) -> str | None:
        """What it says, as JSON text: ``null`` for None, missing where that is not known."""
        known = self.first.type == "bus.sent" and "content" in self.first.data
        return (json_text(self.first.data["content"]) or "null") if known else None

    @property
    def status(self) -> str | None:
        """``acked, dead`` or ``pending``; None where its sending is not recorded."""
        if self._dead:
            return "dead"
        receivers = self.receivers
        if not isinstance(receivers, (list, tuple)):
            return None
        return "acked" if 0 < len(receivers) == len(self.acked_by) else "pending"

    @property
    def sent_s(self) -> float | None:
        """Seconds from the root's start to its sending."""
        return self.first.elapsed if self.first.type == "bus.sent" else None

    @property
    def duration_s(self) -> float | None:
        """Seconds from its sending to its end; None where they were told on different clocks."""
        end, sent = self._ended, self.sent_s
        if end is None or sent is None or self.status not in ("acked", "dead"):
            return None
        same = end.scope.root_id == self.first.scope.root_id
        return end.elapsed - sent if same else None


_FAILED = frozenset({"bus.nacked", "bus.dead", "bus.handler_failed"})


def letters(events: Iterable[Event]) -> list[Letter]:
    """The messages that events tell of, in the order in which they were first named."""
    found: dict[str, Letter] = {}
    for event in events:
        message_id: Any = event.data.get("message_id")
        if not event.type.startswith("bus.") or message_id is None:
            continue
        if message_id not in found:
            found[message_id] = Letter(message_id, event)
        found[message_id].take(event)
    return list(found.values())


def place_of(event: Event, places: Mapping[str, Place]) -> Place:
    """Where an event belongs: in its run, and in the task of the network that it happened in."""
    scope = event.scope
    known = places.get(scope.run_id)
    if known is None:
        return Place(scope.run_id, scope.root_id, scope.robot, None, None, None, None)
    if scope.kind == "task" and known.within is not None and len(scope.path) > len(known.within):
        return replace(known, task=scope.path[len(known.within)])
    return known
