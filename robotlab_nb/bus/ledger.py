"""What became of a bus's messages: receipts by key, and the letters that nobody took.

Everything here happens under the bus's lock. What it keeps is bounded.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

from ..core.envelopes import RobotMessage
from ..core.errors import BusError
from .letters import DeadLetter, Receipt
from .telling import tell

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Ledger"]

#: settled messages that can still be asked about
REMEMBERED = 1_000


class Ledger:
    """The receipts and dead letters of one bus.

    Parameters
    ----------
    most : int
        Dead letters that are kept; the oldest go first.
    """

    __slots__ = ("_most", "_settled", "_under_way", "dead", "dropped")

    def __init__(self, most: int) -> None:
        self._most = most
        self.dead: deque[DeadLetter] = deque()
        #: dead letters that were dropped because there were too many
        self.dropped = 0
        #: receipts of robots' messages by key: those under way, and the last ones settled
        self._under_way: dict[str, Receipt] = {}
        self._settled: OrderedDict[str, Receipt] = OrderedDict()

    def open(self, receipt: Receipt) -> None:
        """A message is under way."""
        if isinstance(receipt.message, RobotMessage):
            self._under_way[receipt.message.key] = receipt

    def bury(
        self,
        receipt: Receipt,
        reason: str,
        error: Mapping[str, Any] | None,
        receiver: str | None = None,
    ) -> None:
        """A message is dead."""
        tell(
            receipt.origin, "bus.dead",
            {
                "message_id": receipt.message_id, "channel": receipt.channel, "reason": reason,
                "receiver": receiver, "error": error,
            },
        )  # fmt: skip
        letter = DeadLetter(
            receipt.message, receipt.channel, receipt.message_id, reason, receiver, error, receipt
        )
        self.dead.append(letter)
        while len(self.dead) > self._most:
            self.dead.popleft()
            self.dropped += 1
        self._end(receipt, "dead", reason, error)

    def acknowledge(self, receipt: Receipt) -> None:
        """A message has been taken by all its receivers."""
        receipt._kept.clear()
        self._end(receipt, "acked")

    def _end(
        self, receipt: Receipt, status: str, reason: str | None = None, error: Any = None
    ) -> None:
        message = receipt.message
        if isinstance(message, RobotMessage) and self._under_way.get(message.key) is receipt:
            del self._under_way[message.key]
            self._settled[message.key] = receipt
            self._settled.move_to_end(message.key)
            if len(self._settled) > REMEMBERED:
                self._settled.popitem(last=False)
        receipt.end(status, reason, error)

    def find(self, key: str) -> Receipt:
        """The receipt of a robot's message.

        Raises
        ------
        BusError
            When no such message was sent, or long ago.
        """
        known = self._under_way.get(key) or self._settled.get(key)
        if known is None:
            raise BusError(
                f"no message {key!r} is known on this bus",
                hint=f"The last {REMEMBERED:,} settled ones are; keep the receipt of others.",
            )
        return known
