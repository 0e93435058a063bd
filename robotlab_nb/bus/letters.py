"""One message under way: what its sender holds of it, what each receiver gets, what failed.

Everything here is changed under the bus's lock, and each message ends once: acknowledged by all
its receivers, or dead. It knows no queues.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import AwaitTimeout
from ..core.readings import Pictured
from .signals import Signal
from .telling import NOWHERE, tell

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import Self

    from .channels import Channel
    from .exchange import Bus
    from .receiving import Subscription
    from .telling import Origin

__all__ = ["DeadLetter", "Delivery", "Receipt"]


@dataclass(frozen=True, slots=True, eq=False)
class DeadLetter(Pictured):
    """A message that did not reach all it was meant for.

    Parameters
    ----------
    message : object
    channel : str
    message_id : str
    reason : str
        ``nack, timeout, no_receiver, handler_error, rejected_type`` or ``closed``.
    receiver : str or None
        Who did not take it.
    error : mapping or None
        ``type`` and ``message`` of what was wrong.
    """

    message: Any
    channel: str
    message_id: str
    reason: str
    receiver: str | None
    error: Mapping[str, Any] | None
    receipt: Receipt

    def __repr__(self) -> str:
        why = f": {self.error['message']}" if self.error else ""
        return f"<DeadLetter on {self.channel!r}, {self.reason}{why}>"


class Receipt(Pictured):
    """What a sender holds of a message that it published. Await it, or ``wait()`` for its end.

    Attributes
    ----------
    message : object
        What was published.
    message_id : str
        Twelve hexadecimal digits.
    channel : str
    status : str
        ``pending``, ``acked`` by every receiver, or ``dead``.
    reason, error : str, mapping or None
        Why it is dead; see :class:`DeadLetter`.
    failures : list of (str, mapping)
        Receivers whose handlers failed after they had acknowledged it, with their errors.
    """

    __slots__ = (
        "_again", "_bus", "_kept", "_news", "_waited", "channel", "error", "failures",
        "message", "message_id", "origin", "reason", "status",
    )  # fmt: skip

    def __init__(self, bus: Bus, channel: str, message: Any, origin: Origin) -> None:
        self.message = message
        self.channel = channel
        self.message_id = os.urandom(6).hex()
        self.status = "pending"
        self.reason: str | None = None
        self.error: Mapping[str, Any] | None = None
        self.failures: list[tuple[str, Mapping[str, Any]]] = []
        self._bus = bus
        self.origin = origin
        self._news = Signal()
        #: receivers that have taken it or still may, and how many have still to settle it
        self._kept: set[Subscription] = set()
        self._waited = 0
        self._again: Receipt | None = None

    @property
    def settled(self) -> bool:
        """Whether it is known what became of the message."""
        return self.status != "pending"

    @property
    def last(self) -> Receipt:
        """The receipt of its last redelivery, or this one."""
        found = self
        while found._again is not None:
            found = found._again
        return found

    def wait(self, timeout: float | None = None) -> Self:
        """Block until the message is acknowledged or dead.

        Parameters
        ----------
        timeout : float, optional
            Seconds. Without it, the channel's times end the wait.

        Raises
        ------
        AwaitTimeout
            When the time is up; the message goes its way.
        """
        if not self._news.wait(self._look, timeout, "wait()", "await the receipt"):
            raise self._late(timeout)
        return self

    def _look(self) -> bool:
        if not self.settled:
            self._bus.look_after(self.channel)
        return self.settled

    def _late(self, timeout: float | None) -> AwaitTimeout:
        return AwaitTimeout(
            f"message {self.message_id} on {self.channel!r} was not settled within {timeout} s",
            hint="It goes its way; wait again, or look at bus.dead_letters.",
        )

    async def until_settled(self, timeout: float | None = None) -> Self:
        """Wait as :meth:`wait` does, for async code."""
        if not await self._news.until(self._look, timeout):
            raise self._late(timeout)
        return self

    def __await__(self) -> Generator[Any, None, Receipt]:
        return self.until_settled().__await__()

    def end(self, status: str, reason: str | None = None, error: Any = None) -> None:
        """Settle it. Called once, under the bus's lock."""
        self.reason = reason
        self.error = error
        self.status = status
        self.origin = NOWHERE  # a run would live as long as its receipts
        self._news.ring()

    def __repr__(self) -> str:
        why = f", {self.reason}" if self.reason else ""
        said = f": {self.error['message']}" if self.error else ""
        return f"<Receipt on {self.channel!r}: {self.status}{why}{said}>"


class Delivery(Pictured):
    """A message for one receiver: it says whether it has taken it.

    Attributes
    ----------
    message : object
    message_id, channel, receiver : str
    status : str
        ``queued, delivered, acked, nacked, timeout, failed`` or ``closed``.
    """

    __slots__ = (
        "deadline", "expected", "origin", "place", "receipt", "since", "status", "subscription",
    )  # fmt: skip

    def __init__(self, receipt: Receipt, place: Channel, subscription: Subscription) -> None:
        self.receipt = receipt
        self.place = place
        self.subscription = subscription
        self.origin = receipt.origin
        self.status = "queued"
        #: whether it is an answer, which needs no handler
        self.expected = False
        self.since = monotonic()
        self.deadline = self.since + place.queue_timeout

    @property
    def message(self) -> Any:
        """What was sent."""
        return self.receipt.message

    @property
    def message_id(self) -> str:
        """The message's id."""
        return self.receipt.message_id

    @property
    def channel(self) -> str:
        """The channel that it came by."""
        return self.receipt.channel

    @property
    def receiver(self) -> str:
        """Whom it is for."""
        return self.subscription.name

    @property
    def settled(self) -> bool:
        """Whether the receiver, or the clock, has said what becomes of it."""
        return self.status not in ("queued", "delivered")

    def ack(self) -> bool:
        """Say that the message was taken. Any thread may.

        Returns
        -------
        bool
            False when it was settled before: by a nack, or because the time was up.
        """
        return self.settle("acked")

    def nack(self, reason: str = "") -> bool:
        """Say that the message cannot be taken; it becomes a dead letter. Any thread may.

        Parameters
        ----------
        reason : str, optional
            Why, for whoever reads the dead letters.

        Returns
        -------
        bool
            False when it was settled before.
        """
        error = {"type": "Nack", "message": reason} if reason else None
        return self.settle("nacked", "nack", error)

    def begin(self) -> None:
        """Note that the handler gets it now; the clock of the acknowledgement starts."""
        now = monotonic()
        self.status = "delivered"
        self.deadline = now + self.place.timeout
        tell(self.origin, "bus.delivered", {**self._told(), "queued_s": now - self.since})

    def settle(self, status: str, reason: str = "", error: Any = None) -> bool:
        """Settle it, and the message when it was the last one or fails by this."""
        with self.place.bus.lock:
            if self.settled:
                return False
            self.status = status
            receipt = self.receipt
            receipt._waited -= 1
            ledger = self.place.bus.ledger
            if status == "acked":
                tell(self.origin, "bus.acked", self._told())
                if receipt._waited == 0 and not receipt.settled:
                    ledger.acknowledge(receipt)
            else:
                receipt._kept.discard(self.subscription)
                if status == "nacked":
                    said = error["message"] if error else ""
                    tell(self.origin, "bus.nacked", {**self._told(), "reason": said})
                if not receipt.settled:
                    ledger.bury(receipt, reason, error, self.receiver)
            if receipt._waited == 0:
                self.place.leave()
            self.subscription.stir()
        return True

    def _told(self) -> dict[str, Any]:
        return {
            "message_id": self.message_id, "channel": self.channel, "receiver": self.receiver,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<Delivery to {self.receiver!r} on {self.channel!r}: {self.status}>"
