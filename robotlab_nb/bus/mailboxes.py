"""A robot's place on a bus: its name there, what it has sent, and the answers that came.

It knows names and handlers, no robots.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.envelopes import RobotMessage
from ..core.errors import AwaitTimeout, BusError
from ..core.readings import Pictured
from .posting import enter

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from .exchange import Bus
    from .letters import Receipt

__all__ = ["Mailbox", "Outbox", "OutboxEntry"]

#: messages that an outbox keeps; the oldest go first
KEPT = 1_000


class OutboxEntry(Pictured):
    """A message that a robot has sent, and what came of it. Await it for its delivery.

    Attributes
    ----------
    message : RobotMessage
    to : str
    replies : list of RobotMessage
        What came in answer, in order.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> cook = rl.build("cook").with_bus()
    >>> _ = cook.respond_to_tasks(lambda message: f"one {message.content}, done")
    >>> guest = rl.build("guest").with_bus(cook.bus)
    >>> order = guest.send_message("cook", "soup")
    >>> order.reply().content, order.status
    ('one soup, done', 'replied')
    """

    __slots__ = ("_receipt", "message", "replies", "to")

    def __init__(self, message: RobotMessage, to: str, receipt: Receipt) -> None:
        self.message = message
        self.to = to
        self.replies: list[RobotMessage] = []
        self._receipt = receipt

    @property
    def key(self) -> str:
        """The message's key, ``sender:id``."""
        return self.message.key

    @property
    def receipt(self) -> Receipt:
        """What the bus says of the message; of its last redelivery, if there was one."""
        return self._receipt.last

    @property
    def status(self) -> str:
        """``sent``, ``replied`` (also after it had been dead), or ``dead``."""
        if self.replies:
            return "replied"
        return "dead" if self.receipt.status == "dead" else "sent"

    @property
    def error(self) -> Mapping[str, Any] | None:
        """Why it is dead, or what the handler that had taken it failed with."""
        receipt = self.receipt
        if receipt.error is not None or not receipt.failures:
            return receipt.error
        return receipt.failures[0][1]

    def wait(self, timeout: float | None = None) -> OutboxEntry:
        """Block until the message is acknowledged or dead; see :meth:`Receipt.wait`."""
        self.receipt.wait(timeout)
        return self

    def __await__(self) -> Generator[Any, None, OutboxEntry]:
        yield from self.receipt.until_settled().__await__()
        return self

    def reply(self, timeout: float | None = 60.0) -> RobotMessage:
        """Block until an answer has come, and return the first one.

        Parameters
        ----------
        timeout : float, optional
            Seconds; None for no limit.

        Raises
        ------
        BusError
            When none can come: the message is dead, or its handler failed.
        AwaitTimeout
            When the time is up.
        """
        self.receipt._news.wait(self._look, timeout, "reply()", "await areply()")
        return self._first(timeout)

    async def areply(self, timeout: float | None = 60.0) -> RobotMessage:
        """Wait for an answer as :meth:`reply` does, for async code."""
        await self.receipt._news.until(self._look, timeout)
        return self._first(timeout)

    def _look(self) -> bool:
        receipt = self.receipt
        receipt._look()
        return bool(self.replies) or receipt.status == "dead" or bool(receipt.failures)

    def _first(self, timeout: float | None) -> RobotMessage:
        if self.replies:
            return self.replies[0]
        receipt, error = self.receipt, self.error
        if error is None and receipt.status != "dead":
            raise AwaitTimeout(
                f"{self.to!r} did not answer message {self.key} within {timeout} s",
                hint="The answer may still come: see .replies.",
            )
        said = f": {error['message']}" if error else ""
        raise BusError(f"no answer to message {self.key} from {self.to!r}{said}")

    def __repr__(self) -> str:
        why = f" ({self.error['message']})" if self.error and not self.replies else ""
        return f"<{self.key} to {self.to!r}: {self.status}{why}>"


class Outbox(Mapping[str, OutboxEntry], Pictured):
    """What a robot has sent, by key ``sender:id``, as it was when it was asked for.

    Parameters
    ----------
    entries : mapping of str to OutboxEntry
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, OutboxEntry]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: str) -> OutboxEntry:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._entries)

    def __repr__(self) -> str:
        return f"<Outbox: {', '.join(map(repr, self._entries.values())) or 'nothing sent'}>"


class Mailbox:
    """A named place on a bus.

    Parameters
    ----------
    bus : Bus
    name : str
    alone : bool, optional
        Whether nobody else may have the name: then a number is added until it is free.
    """

    __slots__ = ("bus", "left", "name", "outbox", "receiver")

    def __init__(self, bus: Bus, name: str, *, alone: bool = False) -> None:
        self.bus = bus
        self.left = False
        self.outbox: OrderedDict[str, OutboxEntry] = OrderedDict()
        with bus.lock:
            self.receiver = bus.add(name, name, None, alone=alone)
            self.receiver.arrived = self._arrived
        self.name = self.receiver.name

    def _arrived(self, message: Any) -> bool:
        """Note an answer; it is known before its handler is called."""
        if not isinstance(message, RobotMessage) or message.in_reply_to is None:
            return False
        entry = self.outbox.get(message.in_reply_to)
        if entry is not None and message not in entry.replies:  # else it was redelivered
            entry.replies.append(message)
            entry.receipt._news.ring()
        return True

    def send(
        self, to: str, content: Any, in_reply_to: str | None, timeout: float | None
    ) -> OutboxEntry:
        """Send a message; a full channel blocks the thread."""
        draft = Draft(self, to, content, in_reply_to)
        enter(self.bus, to, content, timeout, draft).block()
        return draft.entry

    async def asend(
        self, to: str, content: Any, in_reply_to: str | None, timeout: float | None
    ) -> OutboxEntry:
        """Send a message, for async code."""
        draft = Draft(self, to, content, in_reply_to)
        await enter(self.bus, to, content, timeout, draft).wait()
        return draft.entry

    def keep(self, entry: OutboxEntry) -> None:
        """Keep what was sent; the oldest goes when there is too much. Under the bus's lock."""
        self.outbox[entry.key] = entry
        if len(self.outbox) > KEPT:
            self.outbox.popitem(last=False)

    def leave(self) -> None:
        """Receive and send nothing more here."""
        self.left = True
        self.receiver.leave()


class Draft:
    """A message that is about to be sent: it gets its number when the channel takes it in."""

    __slots__ = ("_content", "_in_reply_to", "_mailbox", "_to", "entry")

    entry: OutboxEntry

    def __init__(self, mailbox: Mailbox, to: str, content: Any, in_reply_to: str | None) -> None:
        self._mailbox = mailbox
        self._to = to
        self._content = content
        self._in_reply_to = in_reply_to

    def message(self) -> RobotMessage:
        """The message itself. Under the bus's lock, like :meth:`taken`."""
        name = self._mailbox.name
        number = self._mailbox.bus.number(name)
        return RobotMessage(number, name, self._content, self._in_reply_to)

    def taken(self, receipt: Receipt) -> None:
        """Note what was sent in the outbox: an answer may come at once."""
        self.entry = OutboxEntry(receipt.message, self._to, receipt)
        self._mailbox.keep(self.entry)
