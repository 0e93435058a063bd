"""A channel: what may be published on it, how much may be pending, and who receives it.

How messages come in is :mod:`.posting`'s work, what receivers do with them :mod:`.receiving`'s.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Callable

    from .exchange import Bus
    from .letters import Receipt
    from .receiving import Subscription
    from .signals import Signal

__all__ = ["Channel"]


class Channel(Pictured):
    """A named channel of a bus; you get one from :meth:`Bus.channel`.

    Attributes
    ----------
    name : str
    type : type
        Messages of another class become dead letters.
    max_pending : int
        Most messages that wait to be settled; whoever publishes more has to wait.
    timeout : float
        Seconds that a handler has for acknowledging a message.
    queue_timeout : float
        Seconds that a message waits for its receiver to come to it.
    pending : int
        Messages that are not settled by all receivers.
    """

    __slots__ = (
        "bus", "kept", "line", "max_pending", "name", "pending", "queue_timeout", "receivers",
        "timeout", "type",
    )  # fmt: skip

    def __init__(
        self, bus: Bus, name: str, type_: type, max_pending: int, timeout: float, queue: float
    ) -> None:
        if not isinstance(type_, type):
            raise ConfigurationError(
                f"channel {name!r}: type= takes a class, not {type_!r}",
                hint="RobotMessage, say, or dict.",
            )
        if max_pending < 1 or timeout <= 0 or queue <= 0:
            raise ConfigurationError(
                f"channel {name!r}: max_pending={max_pending}, timeout={timeout}, "
                f"queue_timeout={queue}",
                hint="All three are greater than 0.",
            )
        self.bus = bus
        self.name = name
        self.type = type_
        self.max_pending = max_pending
        self.timeout = timeout
        self.queue_timeout = queue
        self.pending = 0
        #: those who receive, in order of arrival
        self.receivers: tuple[Subscription, ...] = ()
        #: those who wait for room
        self.line: deque[Signal] = deque()
        #: whether it stays when the last receiver leaves
        self.kept = False

    def publish(self, message: Any, *, timeout: float | None = None) -> Receipt:
        """Publish a message; see :meth:`Bus.publish`."""
        return self.bus.publish(self.name, message, timeout=timeout)

    async def apublish(self, message: Any, *, timeout: float | None = None) -> Receipt:
        """Publish a message; see :meth:`Bus.apublish`."""
        return await self.bus.apublish(self.name, message, timeout=timeout)

    def subscribe(self, handler: Callable[..., Any], *, name: str | None = None) -> Subscription:
        """Receive what is published; see :meth:`Bus.subscribe`."""
        return self.bus.subscribe(self.name, handler, name=name)

    def leave(self) -> None:
        """A message is settled by all: there is room for the next."""
        self.pending -= 1
        self.call_next()
        self.bus.stir()

    def call_next(self) -> None:
        """Have the first in line look whether there is room."""
        if self.line:
            self.line[0].ring()

    @property
    def busy(self) -> bool:
        """Whether anything is under way here."""
        return bool(self.pending or self.line) or any(r.busy for r in self.receivers)

    def look_after(self) -> None:
        """Have receivers go on whose loop was lost, and drop what has waited too long."""
        for receiver in self.receivers:
            receiver.look_after()

    def __repr__(self) -> str:
        who = ", ".join(r.name for r in self.receivers) or "nobody"
        return (
            f"<Channel {self.name!r} of {self.type.__name__}: {self.pending} of "
            f"{self.max_pending} pending, {who} receives>"
        )
