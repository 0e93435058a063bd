"""The bus: channels by name, publishing on them, and the letters that nobody took.

One lock holds for everything on a bus. Events are recorded under it, so that their order is the
order of what happened; nothing that a person wrote is called under it. It knows no robots.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..core.envelopes import RobotMessage
from ..core.errors import BusError, InputError
from ..core.readings import Pictured, ShownTuple
from ..runtime.notebook import cell_of_caller
from .channels import Channel
from .handling import Handler
from .ledger import Ledger
from .letters import Receipt
from .posting import enter, post_again
from .receiving import Subscription
from .signals import Signal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from .letters import DeadLetter

__all__ = ["Bus"]

#: seconds that :meth:`Bus.close` waits for what is under way
DRAIN_S = 5.0


class Bus(Pictured):
    """Channels over which robots, functions and cells send each other messages.

    A message is *acknowledged* when every receiver of its channel has acknowledged it. What is
    not (refused, out of time, no receiver, a handler that failed, of the wrong type) becomes a
    dead letter: kept, and redelivered when you say so.

    Parameters
    ----------
    max_pending : int, optional
        Most messages of a channel that wait to be settled; whoever publishes more has to wait.
    timeout : float, optional
        Seconds that a handler has for acknowledging, and a publisher waits for room.
    queue_timeout : float, optional
        Seconds that a message waits for its receiver to come to it.
    max_dead_letters : int, optional
        Dead letters that are kept; the oldest go first, and :attr:`dropped` counts them.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> bus, seen = rl.Bus(), []
    >>> _ = bus.subscribe("orders", seen.append)
    >>> bus.publish("orders", rl.RobotMessage(1, "shop", "two cups")).wait().status
    'acked'
    >>> bus.publish("order", rl.RobotMessage(2, "shop", "a plate")).reason
    'no_receiver'
    """

    def __init__(
        self,
        *,
        max_pending: int = 1000,
        timeout: float = 30.0,
        queue_timeout: float = 600.0,
        max_dead_letters: int = 1000,
    ) -> None:
        self.lock = threading.RLock()
        #: by name
        self.channels: dict[str, Channel] = {}
        self.closed = False
        self._defaults = (max_pending, timeout, queue_timeout)
        self.ledger = Ledger(max_dead_letters)
        #: receivers that have left and are still at a message
        self.leaving: set[Subscription] = set()
        self._numbers: dict[str, int] = {}
        self._quiet = Signal()
        Channel(self, "", RobotMessage, *self._defaults)  # raises where a default has no meaning

    # -- channels --------------------------------------------------------------------------

    def channel(
        self,
        name: str,
        type: type | None = None,
        *,
        max_pending: int | None = None,
        timeout: float | None = None,
        queue_timeout: float | None = None,
    ) -> Channel:
        """The channel of a name, made when it is not there. Robots make theirs by themselves.

        Parameters
        ----------
        name : str
        type : type, optional
            Class of its messages; ``RobotMessage`` when left out.
        max_pending : int, optional
        timeout, queue_timeout : float, optional
            Seconds; as for the bus. Given for a channel that is there, they replace what was.

        Returns
        -------
        Channel

        Raises
        ------
        BusError
            When it is there with another type.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bus = rl.Bus()
        >>> bus.channel("readings", float, max_pending=10)
        <Channel 'readings' of float: 0 of 10 pending, nobody receives>
        >>> bus.publish("readings", "21 degrees").reason
        'rejected_type'
        """
        with self.lock:
            self.check_open()
            found = self.channels.get(name)
            if found is not None and type not in (None, found.type):
                raise BusError(
                    f"channel {name!r} is there already, for {found.type.__name__}",
                    hint="Take another name, or leave type= out.",
                )
            known, of = self._defaults, RobotMessage if type is None else type
            if found is not None:
                known, of = (found.max_pending, found.timeout, found.queue_timeout), found.type
            given = (max_pending, timeout, queue_timeout)
            limits = [k if g is None else g for g, k in zip(given, known, strict=True)]
            made = Channel(self, name, of, *limits)  # type: ignore[arg-type]
            found = self.channels.setdefault(name, made)
            found.max_pending, found.timeout, found.queue_timeout = limits  # type: ignore[assignment]
            found.kept = True
            found.call_next()
            return found

    def subscribe(
        self, channel: str, handler: Callable[..., Any], *, name: str | None = None
    ) -> Subscription:
        """Receive what is published on a channel.

        Every receiver gets every message, in a queue of its own: one at a time and in order. A
        receiver made in a notebook cell is replaced when that cell is run again.

        Parameters
        ----------
        channel : str
        handler : callable
            ``handler(message)``: the message is acknowledged, then handled.
            ``handler(message, delivery)``: it calls ``delivery.ack()`` or ``delivery.nack(why)``
            itself. A sync one runs in a worker thread, an async one on the engine's loop.
        name : str, optional
            Shown in events; the channel's when left out.

        Returns
        -------
        Subscription
            Its ``leave()`` ends it.
        """
        where = f"a receiver of channel {channel!r}"
        return self.add(channel, name or channel, Handler(handler, where))

    def add(
        self, channel: str, name: str, handler: Handler | None, *, alone: bool = False
    ) -> Subscription:
        """Add a receiver; with ``alone``, under the next free name of a channel of its own."""
        cell = cell_of_caller()
        with self.lock:
            self.check_open()
            count = 1
            base = channel
            while alone and channel in self.channels:
                count += 1
                channel = name = f"{base}-{count}"
            made = Channel(self, channel, RobotMessage, *self._defaults)
            place = self.channels.get(channel, made)
            for old in place.receivers:
                if cell and old.cell and old.cell[0] == cell[0] and old.cell[1] != cell[1]:
                    old.leave()
            self.channels[channel] = place
            receiver = Subscription(place, name, handler)
            receiver.cell = cell
            place.receivers = (*place.receivers, receiver)
            return receiver

    def remove(self, receiver: Subscription) -> None:
        """Take a receiver away, and its channel when nobody else needs it. Under the lock."""
        place = receiver.channel
        place.receivers = tuple(r for r in place.receivers if r is not receiver)
        if not place.receivers and not place.kept and self.channels.get(place.name) is place:
            del self.channels[place.name]
            place.call_next()

    def pending(self, channel: str) -> int:
        """Messages of a channel that are not settled by all its receivers."""
        found = self.channels.get(channel)
        return found.pending if found is not None else 0

    # -- publishing ------------------------------------------------------------------------

    def publish(self, channel: str, message: Any, *, timeout: float | None = None) -> Receipt:
        """Publish a message. Returns as soon as the channel has taken it in.

        Parameters
        ----------
        channel : str
        message : object
            Of the channel's type.
        timeout : float, optional
            Seconds to wait where the channel is full; the channel's own when left out.

        Returns
        -------
        Receipt
            ``wait()`` for it, or await it, to know what became of the message. When nobody
            receives, or it is of the wrong type, it is a dead letter at once.

        Raises
        ------
        BusError
            When the bus is closed, or the channel remained full; the message is not taken then.
        """
        return enter(self, channel, message, timeout).block()

    async def apublish(
        self, channel: str, message: Any, *, timeout: float | None = None
    ) -> Receipt:
        """Publish a message as :meth:`publish` does, for async code."""
        return await enter(self, channel, message, timeout).wait()

    def number(self, sender: str) -> int:
        """The next number of a sender's messages. Under the lock."""
        found = self._numbers[sender] = self._numbers.get(sender, 0) + 1
        return found

    def wait(self, message: Any, timeout: float | None = None) -> Receipt:
        """Block until a message is acknowledged or dead.

        Parameters
        ----------
        message : Receipt, OutboxEntry, RobotMessage or str
            What was sent, or its key ``sender:id``.
        timeout : float, optional
            Seconds. Without it, the channel's times end the wait.

        Returns
        -------
        Receipt
            Its ``status`` is ``acked`` or ``dead``. In async code, await it instead.

        Raises
        ------
        AwaitTimeout
            When the time is up.
        BusError
            When no such message was sent on this bus (or long ago).
        """
        return self.receipt(message).wait(timeout)

    def receipt(self, message: Any) -> Receipt:
        """The receipt of a message, by the message or its key."""
        found = getattr(message, "receipt", message)
        if isinstance(found, Receipt):
            return found.last
        with self.lock:
            return self.ledger.find(found.key if isinstance(found, RobotMessage) else found)

    # -- dead letters -----------------------------------------------------------------------

    @property
    def dead_letters(self) -> tuple[DeadLetter, ...]:
        """What did not reach all it was meant for, oldest first."""
        with self.lock:
            return ShownTuple(self.ledger.dead)

    @property
    def dropped(self) -> int:
        """Dead letters that are not kept any more, because there were too many."""
        return self.ledger.dropped

    def redeliver(self, letter: DeadLetter | None = None) -> list[Receipt]:
        """Publish dead letters again, to those who have not had them.

        Parameters
        ----------
        letter : DeadLetter, optional
            One of :attr:`dead_letters`; all of them when left out.

        Returns
        -------
        list of Receipt
            One for each; a letter may die again.

        Raises
        ------
        InputError
            When it is no dead letter of this bus (any more).
        BusError
            When a channel is full. What was not published remains a dead letter.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bus, seen = rl.Bus(), []
        >>> _ = bus.publish("late", rl.RobotMessage(1, "a", "hello"))
        >>> _ = bus.subscribe("late", seen.append)
        >>> bus.redeliver()[0].wait().status, len(bus.dead_letters)
        ('acked', 0)
        """
        with self.lock:
            if letter is not None and letter not in self.ledger.dead:
                raise InputError(
                    f"{letter!r} is no dead letter of this bus",
                    hint="It was redelivered or dropped; see bus.dead_letters.",
                )
            chosen = [letter] if letter is not None else list(self.ledger.dead)
        return [post_again(self, one) for one in chosen]

    # -- ending ----------------------------------------------------------------------------

    def check_open(self) -> None:
        """Raise when the bus is closed."""
        if self.closed:
            raise BusError("the bus is closed", hint="Make a new one and have robots join it.")

    def look_after(self, channel: str) -> None:
        """See to it that a channel's messages go their way; whoever waits calls this."""
        with self.lock:
            found = self.channels.get(channel)
            for receiver in (*self.leaving, *(found.receivers if found is not None else ())):
                receiver.look_after()

    def stir(self) -> None:
        """Somebody may wait for the bus to be quiet."""
        self._quiet.ring()

    def _idle(self) -> bool:
        with self.lock:
            for channel in tuple(self.channels):
                self.look_after(channel)
            return not self.leaving and not any(c.busy for c in self.channels.values())

    def close(self, *, drain: bool = True, timeout: float = DRAIN_S) -> None:
        """Close the bus: what is under way may finish first, what is left becomes dead letters.

        Parameters
        ----------
        drain : bool, optional
            Whether to wait until all queues are empty and all handlers have returned. Messages
            are still taken meanwhile.
        timeout : float, optional
            Seconds to wait at most. What is left has the reason ``closed``.
        """
        if drain and not self.closed:
            self._quiet.wait(self._idle, timeout, "close()", "await aclose()")
        self._close()

    async def aclose(self, *, drain: bool = True, timeout: float = DRAIN_S) -> None:
        """Close the bus as :meth:`close` does, for async code."""
        if drain and not self.closed:
            await self._quiet.until(self._idle, timeout)
        self._close()

    def _close(self) -> None:
        with self.lock:
            self.closed = True
            for channel in list(self.channels.values()):
                for receiver in channel.receivers:
                    receiver.stop()
                channel.call_next()
            for receiver in tuple(self.leaving):
                receiver.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        with self.lock:
            pending = sum(c.pending for c in self.channels.values())
            names = ", ".join(self.channels) or "no channels"
            state = "closed" if self.closed else f"{pending} pending"
            return f"<Bus: {names}; {state}, {len(self.ledger.dead)} dead letters>"
