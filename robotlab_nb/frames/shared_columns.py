"""The columns of what robots share: what happened to memories, and the messages on the bus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cells import json_text
from .declaring import ROBOT, ROOT_ID, RUN_ID, TASK, Column
from .readers import error_message, error_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.events import Event
    from .bus_letters import Letter
    from .readers import Place

__all__ = ["BUS", "MEMORY"]


def _said(name: str) -> Callable[[Event, Place], object]:
    """A reader of one value of what an event says."""
    return lambda event, _: event.data.get(name)


def _json(name: str) -> Callable[[Event, Place], str | None]:
    """A reader of one value as JSON text: ``null`` for None, missing where it is not said."""
    return lambda event, _: (json_text(event.data[name]) or "null") if name in event.data else None


def _keys(event: Event) -> list[Any]:
    data: Any = event.data
    return list(data["keys"]) if "keys" in data else [data.get("key")]


def _key(event: Event, _place: Place) -> object:
    keys = _keys(event)
    return keys[0] if len(keys) == 1 else None


MEMORY: tuple[Column[Event], ...] = (
    ROOT_ID,
    Column("seq", "Int64", "Its number in the root run.", lambda e, p: e.seq),
    RUN_ID,
    TASK,
    ROBOT,
    Column("elapsed_s", "Float64", "Seconds since the root started.", lambda e, p: e.elapsed),
    Column("kind", "string",
           "`set`, `deleted`, `cleared`, `waiting`, `got`, `deadlock`, `subscriber_failed`.",
           lambda e, p: e.type.partition(".")[2]),
    Column("key", "string", "The key; missing where it was about several.", _key),
    Column("keys", "string", "All keys that it was about, as JSON text.",
           lambda e, p: json_text(_keys(e))),
    Column("version", "Int64", "The version that was written, or that was deleted.",
           _said("version")),
    Column("value", "string",
           "What was written, as JSON text (a preview of what is large or no JSON); of a list "
           "that grew, what was added.",
           _json("value")),
    Column("appended", "boolean", "Whether it was added to a list.",
           lambda e, p: bool(e.data.get("appended")) if e.type == "memory.set" else None),
    Column("created", "boolean", "Whether the key was not there before.", _said("created")),
    Column("writer", "string", "The robot or task that did it, else `session`.",
           _said("writer")),
    Column("found", "string", "Of a wait that ended: the keys that are there, as JSON text.",
           _json("found")),
    Column("waited_s", "Float64", "Seconds that the wait took.", _said("waited_s")),
    Column("timeout_s", "Float64", "Seconds that it was to take at most.", _said("timeout_s")),
    Column("error_type", "string", "The class of a subscriber's error.",
           lambda e, p: error_type(e.data.get("error"))),  # type: ignore[arg-type]
    Column("error_message", "string", "What that error said.",
           lambda e, p: error_message(e.data.get("error"))),  # type: ignore[arg-type]
)  # fmt: skip

BUS: tuple[Column[Letter], ...] = (
    ROOT_ID,
    RUN_ID,
    TASK,
    Column("message_id", "string", "The message on the bus.", lambda m, p: m.message_id),
    Column("key", "string", "A robot's message: `sender:number`.", lambda m, p: m.sent("key")),
    Column("channel", "string", "The channel that it went to.", lambda m, p: m.channel),
    Column("sender", "string", "Who sent it.", lambda m, p: m.sent("sender")),
    Column("receivers", "string", "For whom it was, as JSON text.",
           lambda m, p: json_text(m.receivers)),
    Column("in_reply_to", "string", "The key of the message that it answers.",
           lambda m, p: m.sent("in_reply_to")),
    Column("content", "string",
           "What it says, as JSON text (a preview of what is large or no JSON).",
           lambda m, p: m.content),
    Column("status", "string",
           "`acked` by all receivers, `dead`, or `pending`; missing where its sending is not "
           "recorded here.",
           lambda m, p: m.status),
    Column("reason", "string",
           "Why it is dead: `nack`, `timeout`, `no_receiver`, `handler_error`, `closed`, "
           "`rejected_type`.",
           lambda m, p: m.reason),
    Column("error_type", "string", "The class of the error that killed it, or of a handler's.",
           lambda m, p: error_type(m.error)),
    Column("error_message", "string", "What that error said.", lambda m, p: error_message(m.error)),
    Column("acked_by", "string", "Receivers that have taken it, as JSON text.",
           lambda m, p: json_text(m.acked_by)),
    Column("failed_by", "string",
           "Receivers that refused it, let its time pass or failed on it, as JSON text.",
           lambda m, p: json_text(m.failed_by)),
    Column("sent_s", "Float64", "Seconds from the root's start to its sending.",
           lambda m, p: m.sent_s),
    Column("queued_s", "Float64", "Seconds in the queue that it waited in longest.",
           lambda m, p: m.queued_s),
    Column("duration_s", "Float64",
           "Seconds from its sending until all had taken it, or it was dead.",
           lambda m, p: m.duration_s),
)  # fmt: skip
