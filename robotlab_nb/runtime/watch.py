"""Reading a run while it happens: watchers, and the stream that a person iterates."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..core.events import Delta, Event
from ..core.state import ENDED
from .desk import asks, waits
from .stillness import loop_waits, thread_waits
from .waiting import Heartbeat, may_wait, shorten

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from ..core.events import Scope
    from .objects import ObjectStream
    from .run import Run

__all__ = ["Stream", "TextStream", "Watcher"]

T = TypeVar("T")

#: seconds between two looks of a blocked thread; Stop is heard in between
LOOK_S = 0.1
_LAST = frozenset(f"run.{status}" for status in ENDED)


class _Pending:
    """Deltas of one kind that nobody has read yet, joined when somebody does."""

    __slots__ = ("attempt", "call_id", "kind", "offset", "pieces", "scope")

    def __init__(
        self, scope: Scope, call_id: str, attempt: int, kind: str, offset: int, text: str
    ) -> None:
        self.scope = scope
        self.call_id = call_id
        self.attempt = attempt
        self.kind = kind
        self.offset = offset
        self.pieces = [text]

    def delta(self) -> Delta:
        pieces = self.pieces
        text = pieces[0] if len(pieces) == 1 else "".join(pieces)
        return Delta(self.scope, self.call_id, self.attempt, self.kind, self.offset, text)


class Watcher:
    """A cursor over a run's events and deltas, with one pending wake.

    A slow reader holds up nobody: deltas that it has not read yet are joined.
    """

    def __init__(self, run: Run[Any], *, after: int = -1, deltas: bool = True) -> None:
        self.run = run
        self.deltas = deltas
        self.ended = False
        self._queue: deque[Event | _Pending] = deque()
        self._wake: Callable[[], object] | None = None
        self._tried: set[str] = set()
        root = run.root
        with root.lock:
            for event in root.events[after + 1 :]:
                self.push(event)
            if deltas and not self.ended:
                for d in root.so_far():
                    self.push_delta(*d)
            if not self.ended:
                root.attach(self)

    def push(self, event: Event) -> None:
        """Take an event in. Called under the root's lock."""
        if self.ended or not self.run.owns(event.scope.run_id):
            return
        self._queue.append(event)
        if event.type in _LAST and event.scope.run_id == self.run.id:
            self.ended = True
        self._call()

    def push_delta(
        self, scope: Scope, call_id: str, attempt: int, kind: str, offset: int, text: str
    ) -> None:
        """Take a delta in, joined to the last unread one where it continues it."""
        queue = self._queue
        if queue:
            last = queue[-1]
            if (
                type(last) is _Pending
                and last.kind == kind
                and last.call_id == call_id
                and last.attempt == attempt
            ):
                last.pieces.append(text)
                return
        if self.ended or not self.run.owns(scope.run_id):
            return
        queue.append(_Pending(scope, call_id, attempt, kind, offset, text))
        self._call()

    def _call(self) -> None:
        wake, self._wake = self._wake, None
        if wake is not None:
            wake()

    def take(self) -> list[Event | Delta]:
        """Everything that came since the last time, in order."""
        with self.run.root.lock:
            items = list(self._queue)
            self._queue.clear()
        return [i.delta() if type(i) is _Pending else i for i in items]  # type: ignore[misc]

    def attend(self) -> None:
        """Put the run's questions at the prompt of this thread, if it has one."""
        if asks(self.run):
            from .console import ask_here

            ask_here(self.run, self._tried)

    def leaves(self, item: Event | Delta) -> bool:
        """Whether an item says that the run can only go on when somebody calls ``answer()``."""
        if type(item) is not Event or item.type != "run.waiting":
            return False
        return item.scope.run_id == self.run.id and waits(self.run) and may_wait(self.run)

    def close(self) -> None:
        """See nothing more."""
        self.run.root.detach(self)

    def __iter__(self) -> Iterator[Event | Delta]:
        event = threading.Event()
        try:
            while True:
                items = self._take_or(event.set)
                yield from items
                if not items:
                    if self.ended:
                        return
                    with thread_waits(lambda: not event.is_set()):
                        while not event.wait(LOOK_S):
                            self.attend()
                    event.clear()
        finally:
            self.close()

    async def __aiter__(self) -> AsyncIterator[Event | Delta]:
        import asyncio

        loop = asyncio.get_running_loop()
        event = asyncio.Event()

        def wake() -> None:
            if asyncio._get_running_loop() is loop:
                event.set()
            else:
                loop.call_soon_threadsafe(event.set)

        try:
            with Heartbeat(loop):
                while True:
                    items = self._take_or(wake)
                    for item in items:
                        yield item
                    if not items:
                        if self.ended:
                            return
                        with loop_waits():
                            await event.wait()
                        event.clear()
        finally:
            self.close()

    def _take_or(self, wake: Callable[[], object]) -> list[Event | Delta]:
        """Take what is there; when there is nothing, ask to be woken."""
        with self.run.root.lock:
            if not self._queue:
                self._wake = wake
                return []
            return self.take()


class Stream(Generic[T]):
    """What ``stream()`` returns: iterate it, with ``for`` or ``async for``, while the run happens.

    Leaving the loop early cancels the run. The loop ends by itself where the run waits for a person
    who cannot be asked here: answer it with ``stream.run.answer(…)``.

    Attributes
    ----------
    run : Run
        The run itself.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> bot = rl.build("poet", model=rl.SimulatedModel(["roses are red"]))
    >>> "".join(bot.stream("a poem, please").text)
    'roses are red'
    >>> events = [item.type for item in bot.stream("another") if hasattr(item, "type")]
    >>> events[0], events[-1]
    ('run.started', 'run.completed')
    """

    def __init__(self, run: Run[T], begin: Callable[[], object]) -> None:
        self.run = run
        self._watcher: Watcher | None = Watcher(run)
        self._begin = begin

    def _open(self) -> Watcher:
        watcher, self._watcher = self._watcher, None
        if watcher is None:
            # A second reading of the same stream starts over from the first event.
            return Watcher(self.run)
        self._begin()
        return watcher

    def __iter__(self) -> Iterator[Event | Delta]:
        self.run.check_may_block("stream()")
        watcher = self._open()
        left = True
        try:
            for item in watcher:
                yield item
                if watcher.leaves(item):
                    watcher.attend()
                    if watcher.leaves(item):
                        break
            left = False
            self.run.outcome()
        except KeyboardInterrupt as stop:
            self.run.stop()
            shorten(stop)
            raise
        finally:
            watcher.close()
            if left and not self.run.done:
                self.run.cancel("the reader left the stream")

    async def __aiter__(self) -> AsyncIterator[Event | Delta]:
        watcher = self._open()
        left = True
        try:
            async for item in watcher:
                yield item
                if watcher.leaves(item):
                    break
            left = False
            self.run.outcome()
        finally:
            watcher.close()
            if left and not self.run.done:
                self.run.cancel("the reader left the stream")

    @property
    def objects(self) -> ObjectStream:
        """The answer as data while it grows, where its shape is prescribed by ``output=``.

        ``for`` and ``async for`` both work. What comes is JSON as far as it goes; the last is the
        parsed answer itself. A rejected answer is followed by the next one from its start.

        Raises
        ------
        InputError
            When no shape is prescribed.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bot = rl.build("teller", model=rl.SimulatedModel(['{"value": [1, 2, 3]}']))
        >>> list(bot.stream("Count to three.", output=list[int]).objects)[-1]
        [1, 2, 3]
        """
        from .objects import ObjectStream

        return ObjectStream(self)

    @property
    def text(self) -> TextStream:
        """Only the text of the answer, piece by piece; ``for`` and ``async for`` both work."""
        return TextStream(self)

    def result(self) -> T:
        """The run's result; reads the rest of the stream if need be."""
        for _ in self:
            pass
        return self.run.outcome()

    def __repr__(self) -> str:
        return f"<Stream of {self.run!r}>"


class TextStream:
    """The text pieces of a stream."""

    def __init__(self, stream: Stream[Any]) -> None:
        self._stream = stream

    def _piece(self, item: Event | Delta) -> str:
        own = item.scope.run_id == self._stream.run.id
        return item.text if own and type(item) is Delta and item.kind == "text" else ""

    def __iter__(self) -> Iterator[str]:
        for item in self._stream:
            piece = self._piece(item)
            if piece:
                yield piece

    async def __aiter__(self) -> AsyncIterator[str]:
        async for item in self._stream:
            piece = self._piece(item)
            if piece:
                yield piece
