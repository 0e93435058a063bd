"""Those who read every event of the process as it happens: a log, a narrator, a tracer.

A sink's ``put`` never blocks and never raises; one that raises is dropped with a warning, and
the run goes on.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.events import Event
    from .root import Root

__all__ = ["OpenSinks", "Sink", "add_sink", "remove_sink"]

#: seconds that a run waits at most for what was recorded to be safe
PATIENCE_S = 5.0


class Sink(Protocol):
    """What a reader of all events offers."""

    def put(self, event: Event) -> None:
        """Take an event. Called under the root's lock, in order; must return at once."""

    async def drained(self, root_id: str, seq: int) -> None:
        """Return when the root's events up to ``seq`` are durable."""


class Closing(Sink, Protocol):
    """A sink that somebody opened, and closes."""

    def close(self) -> None:
        """Do what is left, and read no more."""


C = TypeVar("C", bound=Closing)


class OpenSinks(Generic[C]):
    """Sinks of one kind that are open: one for each target, closed when the process ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[C] = []

    def add(self, make: Callable[[], C], same: Callable[[C], bool]) -> C:
        """Make a sink and have it read from now on, in place of those for the same target.

        Parameters
        ----------
        make : callable
            Gives the sink.
        same : callable
            Whether an open one has its target.
        """
        with self._lock:
            before = [sink for sink in self._open if same(sink)]
        for old in before:
            old.close()
        made = make()
        with self._lock:
            first = not self._open
            self._open.append(made)
        if first:
            import atexit

            atexit.unregister(self.close)
            atexit.register(self.close)
        add_sink(made)
        return made

    def forget(self, sink: C) -> None:
        """Let a sink that closes go: it reads no more."""
        remove_sink(sink)
        with self._lock:
            if sink in self._open:
                self._open.remove(sink)

    def close(self) -> None:
        """Close all that are open."""
        for sink in tuple(self._open):
            sink.close()


_sinks: tuple[Sink, ...] = ()
#: whether a reader is so far behind that runs should wait for it before they go on
behind = False


def add_sink(sink: Sink) -> None:
    """Have a sink read all events from now on."""
    global _sinks
    if sink not in _sinks:
        _sinks = (*_sinks, sink)


def remove_sink(sink: Sink) -> None:
    """Stop a sink from reading. Nothing happens when it did not."""
    global _sinks
    _sinks = tuple(s for s in _sinks if s is not sink)


def publish(event: Event) -> None:
    """Hand an event to every sink."""
    for sink in _sinks:
        try:
            sink.put(event)
        except Exception as error:
            import warnings

            remove_sink(sink)
            warnings.warn(
                f"a reader of events failed and was dropped: {type(sink).__name__}: {error!r}",
                RuntimeWarning,
                stacklevel=2,
            )


async def durable(root: Root) -> None:
    """Wait until all readers hold what a root has recorded so far; for 5 s at most.

    Before something is done that cannot be undone, and when a reader is far behind.
    """
    import asyncio

    seq = root.last
    for sink in _sinks:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await sink.drained(root.id, seq)
        except Exception:  # a reader's troubles are not the run's
            continue
