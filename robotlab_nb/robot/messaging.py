"""A robot among others: joining a bus, sending and answering messages, spawning.

How messages travel is the bus's matter; what a robot answers is a run of its own.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.envelopes import RobotMessage
from ..core.errors import BusError, ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from ..bus.exchange import Bus
    from ..bus.mailboxes import Mailbox, OutboxEntry
    from .in_force import Level
    from .robot import Robot

__all__ = ["Messaging"]

_joining = threading.Lock()
#: settings that say which model is asked, and how it is reached; a model's belong together
_MODEL = ("model", "provider", "api_base", "api_key", "via")


class Messaging:
    """What a robot does on a bus. Its address there is its name at the time when it joined."""

    __slots__ = ()

    if TYPE_CHECKING:
        _mailbox: Mailbox | None
        name: str

        def levels(self, composition: Any = None) -> tuple[Level, ...]:
            """What was set on the robot, weakest first."""
            ...

        def look(self) -> Any:
            """What is in force now, and the templates that are part of it."""
            ...

    # -- joining and leaving ---------------------------------------------------------------

    def with_bus(self, bus: Bus | None = None) -> Self:
        """Join a bus; messages to the robot's name reach it from now on.

        Robots of the same name on one bus all get every message, each in a queue of its own. A
        robot that joined in a notebook cell is replaced when that cell is run again.

        Parameters
        ----------
        bus : Bus, optional
            Left out, the robot stays on its bus, or joins a new one.

        Returns
        -------
        Robot
            This robot.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bus = rl.Bus()
        >>> a, b = rl.build("a").with_bus(bus), rl.build("b").with_bus(bus)
        >>> @b.on_message
        ... def answer(message):
        ...     b.send_reply(message.sender, message.content.upper(), message)
        >>> a.send_message("b", "hello").reply().content
        'HELLO'
        """
        self._join(bus)
        return self

    def _join(self, bus: Bus | None) -> Mailbox:
        from ..bus.mailboxes import Mailbox

        with _joining:  # two tools may spawn at the same time
            known = self._mailbox
            if known is not None and not known.left and bus in (None, known.bus):
                return known
            if bus is None:
                from ..bus.exchange import Bus

                bus = Bus()
            made = Mailbox(bus, self.name)
            if known is not None:
                made.receiver.handler = known.receiver.handler
                known.leave()
            self._mailbox = made  # type: ignore[misc]  # a slot of Remembering
            return made

    def leave_bus(self) -> Self:
        """Leave the bus. What waits for the robot becomes dead letters (``closed``).

        Returns
        -------
        Robot
            This robot. Its outbox can still be read.
        """
        if self._mailbox is not None:
            self._mailbox.leave()
        return self

    @property
    def bus(self) -> Bus | None:
        """The bus that the robot is on, or None."""
        mailbox = self._mailbox
        return None if mailbox is None or mailbox.left else mailbox.bus

    def _at(self, what: str) -> Mailbox:
        mailbox = self._mailbox
        if mailbox is None or mailbox.left:
            raise BusError(
                f"robot {self.name!r} is on no bus and cannot {what}",
                hint="Join one: robot.with_bus(bus).",
            )
        return mailbox

    # -- sending ---------------------------------------------------------------------------

    def send_message(
        self, to: str | Messaging, content: Any, *, timeout: float | None = None
    ) -> OutboxEntry:
        """Send a message. Returns at once; only where the receiver's channel is full, it waits.

        Parameters
        ----------
        to : str or Robot
            A robot's name, or the robot.
        content : object
            Text, a dict, anything; events hold a preview of it.
        timeout : float, optional
            Seconds to wait for room; the channel's own when left out.

        Returns
        -------
        OutboxEntry
            Its ``status`` is ``sent``, ``replied`` or ``dead``. ``wait()`` for the delivery,
            ``reply()`` for the answer.

        Raises
        ------
        BusError
            When the robot is on no bus, the bus is closed, or the channel remained full.
        """
        return self._at("send messages").send(_address(to), content, None, timeout)

    async def asend_message(
        self, to: str | Messaging, content: Any, *, timeout: float | None = None
    ) -> OutboxEntry:
        """Send a message as :meth:`send_message` does, for async code.

        It returns when the channel has taken the message in; await the entry for its delivery.
        """
        return await self._at("send messages").asend(_address(to), content, None, timeout)

    def send_reply(
        self,
        to: str | Messaging,
        content: Any,
        in_reply_to: str | RobotMessage,
        *,
        timeout: float | None = None,
    ) -> OutboxEntry:
        """Answer a message.

        Parameters
        ----------
        to : str or Robot
            Who is answered: the message's ``sender``.
        content : object
        in_reply_to : str or RobotMessage
            The message, or its key ``sender:id``.
        timeout : float, optional
            As for :meth:`send_message`.
        """
        key = _key(in_reply_to)
        return self._at("answer messages").send(_address(to), content, key, timeout)

    async def asend_reply(
        self,
        to: str | Messaging,
        content: Any,
        in_reply_to: str | RobotMessage,
        *,
        timeout: float | None = None,
    ) -> OutboxEntry:
        """Answer a message as :meth:`send_reply` does, for async code."""
        key = _key(in_reply_to)
        return await self._at("answer messages").asend(_address(to), content, key, timeout)

    @property
    def outbox(self) -> Mapping[str, OutboxEntry]:
        """What the robot has sent on its bus, by key ``sender:id``; the last 1,000 messages."""
        from ..bus.mailboxes import Outbox

        mailbox = self._mailbox
        return Outbox({} if mailbox is None else mailbox.outbox)

    # -- receiving -------------------------------------------------------------------------

    def on_message(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Have messages handled, one at a time and in order. It takes the place of another handler.

        Parameters
        ----------
        handler : callable
            ``handler(message)``: the message is acknowledged, then handled.
            ``handler(message, delivery)``: it calls ``delivery.ack()`` or ``delivery.nack(why)``
            itself, within the channel's ``timeout``. A sync one runs in a worker thread, an async
            one on the engine's loop. What it runs is no part of the run that sent the message.

        Returns
        -------
        callable
            The handler, so that this can be used as a decorator.
        """
        from ..bus.handling import Handler

        mailbox = self._at("receive messages")
        mailbox.receiver.handler = Handler(handler, f"robot {mailbox.name!r}")
        return handler

    def respond_to_tasks(
        self, handler: Callable[[RobotMessage], Any] | None = None, *, auto_reply: bool = True
    ) -> Any:
        """Have messages that are no answers handled, and send back what the handler returns.

        Parameters
        ----------
        handler : callable, optional
            ``handler(message)``, sync or async; None returned means no answer. Left out, this is
            a decorator.
        auto_reply : bool, optional
            Whether what it returns is sent back.

        Returns
        -------
        callable
            The handler.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> worker = rl.build("worker").with_bus()
        >>> @worker.respond_to_tasks(auto_reply=True)
        ... def count(message):
        ...     return len(message.content)
        >>> rl.build("boss").with_bus(worker.bus).send_message("worker", "four").reply().content
        4
        """
        if handler is None:
            return lambda function: self.respond_to_tasks(function, auto_reply=auto_reply)
        from ..bus.handling import Handler, called

        task = Handler(handler, f"robot {self.name!r}")
        if task.takes_delivery:
            raise ConfigurationError(
                f"robot {self.name!r}: a handler of tasks takes the message alone",
                hint="For message and delivery, use on_message().",
            )

        async def respond(message: RobotMessage) -> None:
            if message.is_reply:
                return
            outcome = await called(task.function, message, is_async=task.is_async)
            if outcome.error is not None:
                raise outcome.error
            if auto_reply and outcome.value is not None:
                await self.asend_reply(message.sender, outcome.value, message)

        self.on_message(respond)
        return handler

    def serve(self) -> Self:
        """Answer every message that is no answer itself with a run of this robot.

        A text is asked as it stands, a dict as ``key: value`` lines. The runs are on their own,
        belong to the robot's conversation, and have ``message_key`` in their context.

        Returns
        -------
        Robot
            This robot.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> poet = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).with_bus().serve()
        >>> rl.build("reader").with_bus(poet.bus).send_message("poet", "a poem").reply().content
        'roses are red'
        """
        from .serving import answer

        self.respond_to_tasks(partial(answer, self))
        return self

    # -- spawning --------------------------------------------------------------------------

    def spawn(self, name: str | None = None, **parts: Any) -> Robot[Any]:
        """Build another robot on the same bus, which is made when there is none.

        Parameters
        ----------
        name : str, optional
            Its name; a number is added until nobody on the bus has it. By default that of this
            robot.
        **parts
            Keywords of :func:`build`. Model, provider, address and key are this robot's unless
            ``model`` is given.

        Returns
        -------
        Robot

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> boss = rl.build("boss", model=rl.SimulatedModel("yes"))
        >>> [boss.spawn("worker").name, boss.spawn("worker").name]
        ['worker', 'worker-2']
        """
        from .robot import Robot

        inherited: dict[str, Any] = {}
        if parts.get("model") is None:
            for _, level in self.levels(self.look()[1]):
                inherited |= {k: level[k] for k in _MODEL if level.get(k) is not None}
        wanted = name or self.name
        Robot(wanted, **{**inherited, **parts})  # what cannot be meant takes no name
        bus = self._join(None).bus
        return _spawned(bus, wanted, {**inherited, **parts})


def _spawned(bus: Bus, wanted: str, parts: dict[str, Any]) -> Robot[Any]:
    """A robot that has a name of its own on a bus."""
    from ..bus.mailboxes import Mailbox
    from .robot import Robot

    mailbox = Mailbox(bus, wanted, alone=True)
    made: Robot[Any] = Robot(mailbox.name, **parts)
    made._mailbox = mailbox
    return made


def _address(to: str | Messaging) -> str:
    """The name of a robot on its bus."""
    if isinstance(to, str):
        return to
    return to._mailbox.name if to._mailbox is not None else to.name


def _key(message: str | RobotMessage) -> str:
    return message.key if isinstance(message, RobotMessage) else message
