"""What events say of the things that robots share: memories, messages, tool servers.

Part of :mod:`robotlab_nb.core.event_data`, which lists all types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from .event_data_servers import SERVER_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SHARED_TYPES"]


class MemorySet(TypedDict, total=False):
    """A value was written. ``value`` is a preview; ``created`` when the key was not there."""

    key: str
    value: Any
    #: whether the preview says less than the value
    lossy: bool
    #: whether ``value`` is what was added to a list
    appended: bool
    version: int
    created: bool
    writer: str
    network: str | None


class MemoryDeleted(TypedDict, total=False):
    """A key was deleted; ``version`` is the one that it had."""

    key: str
    version: int
    writer: str


class MemoryCleared(TypedDict, total=False):
    """All keys were deleted at once: these."""

    keys: Sequence[str]
    writer: str


class MemoryWaiting(TypedDict, total=False):
    """Somebody waits for keys that are not there, so long at most."""

    keys: Sequence[str]
    timeout_s: float


class MemoryGot(TypedDict, total=False):
    """A wait ended; ``found`` says which of its keys are there."""

    keys: Sequence[str]
    waited_s: float
    found: Sequence[str]


class MemoryDeadlock(TypedDict, total=False):
    """A wait is over: nobody was left who could write its keys. ``waiting`` names who waited."""

    keys: Sequence[str]
    waiting: Sequence[str]


class MemorySubscriberFailed(TypedDict, total=False):
    """Who was to be told of changes failed, hangs, or missed some that came too fast."""

    key: str
    subscriber: str
    error: Mapping[str, Any]


class BusSent(TypedDict, total=False):
    """A message was published, for these receivers. ``content`` is a preview; ``key`` a robot's."""

    message_id: str
    key: str | None
    channel: str
    sender: str | None
    in_reply_to: str | None
    receivers: Sequence[str]
    content: Any


class BusDelivered(TypedDict, total=False):
    """A receiver's handler gets a message that has waited in its queue."""

    message_id: str
    channel: str
    receiver: str
    queued_s: float


class BusAcked(TypedDict, total=False):
    """A receiver has taken a message. When all have, it is acknowledged."""

    message_id: str
    channel: str
    receiver: str


class BusNacked(TypedDict, total=False):
    """A receiver refuses a message, and why."""

    message_id: str
    channel: str
    receiver: str
    reason: str


class BusDead(TypedDict, total=False):
    """A message is a dead letter.

    ``reason`` is ``nack, timeout, no_receiver, handler_error, rejected_type`` or ``closed``.
    """

    message_id: str
    channel: str
    reason: str
    receiver: str | None
    error: Mapping[str, Any] | None


class BusHandlerFailed(TypedDict, total=False):
    """A handler failed on a message that it had acknowledged."""

    message_id: str
    channel: str
    receiver: str
    error: Mapping[str, Any]


class BusBlocked(TypedDict, total=False):
    """A publisher waits: the channel is full, or others were there first."""

    channel: str
    pending: int
    max_pending: int


#: event type -> what its data says
SHARED_TYPES: dict[str, type] = {
    "memory.set": MemorySet,
    "memory.deleted": MemoryDeleted,
    "memory.cleared": MemoryCleared,
    "memory.waiting": MemoryWaiting,
    "memory.got": MemoryGot,
    "memory.deadlock": MemoryDeadlock,
    "memory.subscriber_failed": MemorySubscriberFailed,
    "bus.sent": BusSent,
    "bus.delivered": BusDelivered,
    "bus.acked": BusAcked,
    "bus.nacked": BusNacked,
    "bus.dead": BusDead,
    "bus.handler_failed": BusHandlerFailed,
    "bus.blocked": BusBlocked,
    **SERVER_TYPES,
}
