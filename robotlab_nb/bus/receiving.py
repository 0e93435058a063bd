"""A receiver of a channel: its own queue, emptied by one handler, one message at a time, in order.

The queue is emptied by a task of the engine's loop that is there while there are messages. When
that loop is lost, the next message or whoever waits starts another one.
"""

from __future__ import annotations

import contextvars
import warnings
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import describe_error
from ..core.readings import Pictured
from ..runtime import loop as _loop
from ..runtime.bells import Bell
from .handling import called
from .telling import tell

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from .channels import Channel
    from .handling import Handler, Outcome
    from .letters import Delivery

__all__ = ["Subscription"]

#: seconds that a cancelled handler has for tidying up
GRACE_S = 1.0


class _Shift:
    """A task that empties a queue, and the loop that it lives on."""

    __slots__ = ("bell", "engine", "loop", "task")

    def __init__(self) -> None:
        import asyncio

        running = asyncio._get_running_loop()
        here = running is not None and _loop.current_mode()
        self.engine = None if here else _loop.engine_loop()
        self.loop = running if self.engine is None else self.engine.loop
        self.bell: Bell | None = None
        self.task: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether its loop still turns for us."""
        if self.engine is not None:
            return self.engine.alive
        return self.loop is not None and self.loop.is_running()

    def stir(self) -> None:
        """Have it look again: something was settled."""
        if self.bell is not None:
            self.bell.ring()


class Subscription(Pictured):
    """Somebody who receives what is published on a channel; :meth:`Bus.subscribe` makes one.

    Attributes
    ----------
    channel : Channel
    name : str
    handler : Handler or None
        Without one, messages become dead letters.
    """

    __slots__ = (
        "_gone", "_now", "_queue", "_shift", "_warned", "arrived", "cell", "channel", "handler",
        "name",
    )  # fmt: skip

    def __init__(self, channel: Channel, name: str, handler: Handler | None) -> None:
        self.channel = channel
        self.name = name
        self.handler = handler
        #: called with each message as it comes in, under the lock; True where no handler is needed
        self.arrived: Callable[[Any], bool] | None = None
        #: the notebook cell where it was made
        self.cell: tuple[str, str] | None = None
        self._queue: deque[Delivery] = deque()
        self._now: Delivery | None = None
        self._shift: _Shift | None = None
        self._gone = False
        self._warned = False

    @property
    def busy(self) -> bool:
        """Whether messages wait here, or one is being handled."""
        return bool(self._queue) or self._now is not None

    def leave(self) -> None:
        """Receive nothing more; what waits in the queue becomes dead letters (``closed``).

        A message that is being handled is left to its handler.
        """
        with self.channel.bus.lock:
            self.channel.bus.remove(self)
            self._gone = True
            error = {"type": "BusError", "message": f"{self.name!r} left the bus"}
            while self._queue:
                self._queue.popleft().settle("closed", "closed", error)
            if self._now is not None:
                self.channel.bus.leaving.add(self)

    def stop(self) -> None:
        """Leave, and stop the handler too."""
        with self.channel.bus.lock:
            self.leave()
            self._lose(self._now, "the bus was closed")
            shift = self._shift
            self._rest()
            if shift is not None and shift.task is not None and shift.loop is not None:
                try:
                    shift.loop.call_soon_threadsafe(shift.task.cancel)
                except RuntimeError:  # that loop is closed: nothing runs any more
                    pass

    @staticmethod
    def _lose(delivery: Delivery | None, why: str) -> None:
        if delivery is not None:
            delivery.settle("closed", "closed", {"type": "BusError", "message": why})

    # -- the queue, under the bus's lock ---------------------------------------------------

    def put(self, delivery: Delivery) -> None:
        """Take a message in."""
        delivery.expected = self.arrived is not None and self.arrived(delivery.message)
        self._queue.append(delivery)
        self.look_after()
        if len(self._queue) == 1:
            self.stir()  # its time begins, whatever the handler is at

    def look_after(self) -> None:
        """Drop what has waited too long, and see to it that somebody empties the queue."""
        self._expire()
        shift = self._shift
        if shift is not None and shift.alive:
            return
        if shift is not None:
            self._lose(self._now, "the event loop of its handler was lost")
            self._rest()
        if self._queue:
            shift = self._shift = _Shift()
            assert shift.loop is not None
            shift.loop.call_soon_threadsafe(self._start, shift)

    def _rest(self) -> None:
        """There is nothing more to do for now."""
        self._now = self._shift = None
        self.channel.bus.leaving.discard(self)
        self.channel.bus.stir()

    def _expire(self) -> None:
        now = monotonic()
        current = self._now
        if current is not None and not current.settled and current.deadline <= now:
            what = f"not acknowledged within {self.channel.timeout} s"
            current.settle("timeout", "timeout", {"type": "AwaitTimeout", "message": what})
        while self._queue and self._queue[0].deadline <= now:
            what = f"{self.name!r} did not come to it within {self.channel.queue_timeout} s"
            late = self._queue.popleft()
            late.settle("timeout", "timeout", {"type": "AwaitTimeout", "message": what})

    def stir(self) -> None:
        """Have the task that empties the queue look again."""
        if self._shift is not None:
            self._shift.stir()

    def _deadline(self) -> float | None:
        """When something here will have taken too long."""
        found = [self._queue[0].deadline] if self._queue else []
        if self._now is not None and not self._now.settled:
            found.append(self._now.deadline)
        return min(found, default=None)

    # -- emptying it, on the loop ----------------------------------------------------------

    def _start(self, shift: _Shift) -> None:
        # A context of its own: what a handler starts is no part of the run that sent the message.
        assert shift.loop is not None
        shift.bell = Bell()
        shift.task = shift.loop.create_task(self._empty(shift), context=contextvars.Context())

    async def _empty(self, shift: _Shift) -> None:
        lock = self.channel.bus.lock
        try:
            while True:
                with lock:
                    if self._shift is not shift:
                        return
                    self._expire()
                    self._now = delivery = self._queue.popleft() if self._queue else None
                    if delivery is None:
                        self._rest()
                        return
                    handler = self.handler
                    delivery.begin()
                await self._handle(shift, delivery, handler)
        finally:
            with lock:
                if self._shift is shift:
                    self._lose(self._now, "the event loop of its handler ended")
                    self._rest()

    async def _handle(self, shift: _Shift, delivery: Delivery, handler: Handler | None) -> None:
        """Have one message handled, and wait until handler and message are both done."""
        if handler is None:
            self._without_handler(delivery)
            return
        import asyncio

        bell = shift.bell
        assert bell is not None
        if not handler.takes_delivery:
            delivery.ack()
        given = (delivery.message, delivery) if handler.takes_delivery else (delivery.message,)
        work = called(handler.function, *given, is_async=handler.is_async)
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda _: bell.ring())
        judged = cancelled = False
        try:
            while not (task.done() and judged and delivery.settled):
                if task.done() and not judged:
                    judged = True
                    self._judge(delivery, task)
                    continue
                with self.channel.bus.lock:
                    self._expire()
                    end = self._deadline()
                    if self._shift is not shift:
                        return
                if delivery.status == "timeout" and handler.is_async and not cancelled:
                    cancelled = task.cancel()  # a thread cannot be: the next message waits for it
                await bell.wait(None if end is None else max(0.0, end - monotonic()))
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait((task,), timeout=GRACE_S)

    def _without_handler(self, delivery: Delivery) -> None:
        if delivery.expected:
            delivery.ack()
            return
        why = f"{self.name!r} has no handler for messages; give it one with on_message() or serve()"
        delivery.settle("failed", "no_receiver", {"type": "BusError", "message": why})

    def _judge(self, delivery: Delivery, task: asyncio.Task[Outcome]) -> None:
        """Tell of a handler that failed: by a dead letter, or where it has taken the message."""
        if task.cancelled() or (error := task.result().error) is None:
            return
        told = describe_error(error)
        if delivery.settle("failed", "handler_error", told) or delivery.status == "timeout":
            return
        with self.channel.bus.lock:
            delivery.receipt.failures.append((self.name, told))
            tell(
                delivery.origin, "bus.handler_failed",
                {
                    "message_id": delivery.message_id, "channel": delivery.channel,
                    "receiver": self.name, "error": told,
                },
            )  # fmt: skip
        delivery.receipt._news.ring()
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the handler of {self.name!r} failed on message {delivery.message_id}: "
                f"{told['type']}: {told['message']} (said once; see the bus.handler_failed events)",
                RuntimeWarning,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        waiting = len(self._queue) + (self._now is not None)
        state = "left" if self._gone else f"{waiting} waiting"
        return f"<Subscription of {self.name!r} to {self.channel.name!r}: {state}>"
