"""How messages come onto a bus: in line where a channel is full, then to all who receive.

A publisher that finds a channel full waits, in order of arrival, until there is room or its time
is up. A message that nobody can take is a dead letter at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.envelopes import RobotMessage
from ..core.errors import BusError, near
from .letters import Delivery, Receipt
from .signals import Signal
from .telling import here, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from .channels import Channel
    from .exchange import Bus
    from .letters import DeadLetter
    from .mailboxes import Draft
    from .receiving import Subscription
    from .telling import Origin

__all__ = ["Entering", "enter", "post_again"]


def enter(
    bus: Bus, channel: str, content: Any, timeout: float | None, draft: Draft | None = None
) -> Entering:
    """Somebody who is about to publish; a draft becomes a message once there is room."""
    seen = _previewed(content)
    origin = here()

    def post() -> Receipt:
        message = content if draft is None else draft.message()
        receipt = Receipt(bus, channel, message, origin)
        if draft is not None:
            draft.taken(receipt)
        _post(bus, receipt, seen)
        return receipt

    return Entering(bus, channel, post, timeout, origin)


def post_again(bus: Bus, letter: DeadLetter) -> Receipt:
    """Publish a dead letter again, for those who have not had it."""
    old, message, origin = letter.receipt, letter.message, here()
    seen = _previewed(message)

    def post() -> Receipt:
        if letter in bus.ledger.dead:  # else somebody else was first
            bus.ledger.dead.remove(letter)
            receipt = old._again = Receipt(bus, letter.channel, message, origin)
            _post(bus, receipt, seen, frozenset(old._kept))
        return old.last

    return Entering(bus, letter.channel, post, None, origin).block()


def _previewed(message: Any) -> Any:
    """What events say of a content. May call a person's code: not under the lock."""
    from ..tools.preview import preview

    return preview(message.content if isinstance(message, RobotMessage) else message).data


def _post(
    bus: Bus,
    receipt: Receipt,
    seen: Any,
    skip: frozenset[Subscription] = frozenset(),
) -> None:
    """Take a message in: into the queues of its receivers, or as a dead letter."""
    channel, message = receipt.channel, receipt.message
    place = bus.channels.get(channel)
    receivers = tuple(r for r in place.receivers if r not in skip) if place is not None else ()
    tell(receipt.origin, "bus.sent", _sent(receipt, [r.name for r in receivers], seen))
    bus.ledger.open(receipt)
    if place is not None and not isinstance(message, place.type):
        what = f"channel {channel!r} takes {place.type.__name__}, not {type(message).__name__}"
        bus.ledger.bury(receipt, "rejected_type", {"type": "InputError", "message": what})
    elif place is None or not receivers:
        known = [n for n, c in bus.channels.items() if c.receivers]
        what = f"nobody receives on channel {channel!r}. {near(channel, known)}"
        bus.ledger.bury(receipt, "no_receiver", {"type": "BusError", "message": what})
    else:
        place.pending += 1
        receipt._waited = len(receivers)
        receipt._kept.update(receivers)
        for receiver in receivers:
            receiver.put(Delivery(receipt, place, receiver))


def _sent(receipt: Receipt, receivers: list[str], seen: Any) -> dict[str, Any]:
    """The data of the event that a message was sent."""
    message = receipt.message
    robots = isinstance(message, RobotMessage)
    return {
        "message_id": receipt.message_id,
        "key": message.key if robots else None,
        "channel": receipt.channel,
        "sender": message.sender if robots else None,
        "in_reply_to": message.in_reply_to if robots else None,
        "receivers": receivers,
        "content": seen,
    }


class Entering:
    """A publisher at the door of a channel, until its message is taken in.

    Parameters
    ----------
    bus : Bus
    channel : str
    post : callable
        Takes the message in; called under the bus's lock once there is room.
    timeout : float or None
        Seconds to wait for room; None for the channel's time.
    origin : Origin
        Who publishes, for the event that there was no room.
    """

    __slots__ = ("_name", "_origin", "_place", "_post", "_turn", "bus", "receipt", "timeout")

    def __init__(
        self,
        bus: Bus,
        channel: str,
        post: Callable[[], Receipt],
        timeout: float | None,
        origin: Origin,
    ) -> None:
        self.bus = bus
        self._name = channel
        self._post = post
        self.timeout = timeout
        self._origin = origin
        self._turn = Signal()
        self._place: Channel | None = None
        self.receipt: Receipt | None = None

    def block(self) -> Receipt:
        """Wait in the calling thread."""
        try:
            if not self._try():
                instead = "await apublish(…) or asend_message(…)"
                self._turn.wait(self._try, self._patience(), "a full channel", instead)
        finally:
            self._step_out()
        return self._taken()

    async def wait(self) -> Receipt:
        """Wait in the calling coroutine."""
        try:
            if not self._try():
                await self._turn.until(self._try, self._patience())
        finally:
            self._step_out()
        return self._taken()

    def _try(self) -> bool:
        """Post the message if it may be posted now."""
        with self.bus.lock:
            if self.receipt is None:
                self.bus.check_open()
                channel = self.bus.channels.get(self._name)
                if channel is not None and not self._admitted(channel):
                    return False
                self.receipt = self._post()
            return True

    def _admitted(self, channel: Channel) -> bool:
        if channel is not self._place:
            self._step_out()  # the channel went and came again
        line = channel.line
        first = line[0] is self._turn if line else True
        if first and channel.pending < channel.max_pending:
            return True
        if self._place is None:
            self._place = channel
            line.append(self._turn)
            full = {"pending": channel.pending, "max_pending": channel.max_pending}
            tell(self._origin, "bus.blocked", {"channel": self._name, **full})
        channel.look_after()
        return first and channel.pending < channel.max_pending

    def _patience(self) -> float:
        if self.timeout is not None:
            return self.timeout
        return self._place.timeout if self._place is not None else 0.0

    def _step_out(self) -> None:
        with self.bus.lock:
            if self._place is not None:
                self._place.line.remove(self._turn)
                self._place.call_next()
                self._place = None

    def _taken(self) -> Receipt:
        if self.receipt is not None:
            return self.receipt
        raise BusError(
            f"channel {self._name!r} is full: {self.bus.pending(self._name)} messages wait for "
            "its receivers, and this one for its turn",
            hint="Send less at once, raise max_pending or timeout, or look why they are slow.",
            retryable=True,
        )
