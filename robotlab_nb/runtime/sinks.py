"""Those who read every event of the process as it happens: a log, a narrator, a tracer.

A sink's ``put`` never blocks and never raises; one that raises is dropped with a warning, and
the run goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..core.events import Event

__all__ = ["Sink", "add_sink", "remove_sink"]


class Sink(Protocol):
    """What a reader of all events offers."""

    def put(self, event: Event) -> None:
        """Take an event. Called under the root's lock, in order; must return at once."""

    async def drained(self, root_id: str, seq: int) -> None:
        """Return when the root's events up to ``seq`` are durable."""


_sinks: tuple[Sink, ...] = ()


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
