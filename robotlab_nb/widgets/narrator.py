"""A narrator: the events of all runs as lines of text on a stream, while they happen.

A slow or broken stream holds up no run: the lines are written by a thread of the narrator's own,
and when it cannot keep up, some are left out and counted.
"""

from __future__ import annotations

import os
import sys
import threading
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TextIO

from ..core.errors import ConfigurationError
from ..display.narration import TOLD, Narration
from ..runtime.sinks import OpenSinks, remove_sink

if TYPE_CHECKING:
    from ..core.events import Event

__all__ = ["Narrator", "narrate"]

#: events that wait to be written at most
MOST = 1_000
#: seconds that closing waits for the lines that are left
PATIENCE_S = 2.0

_narrators: OpenSinks[Narrator] = OpenSinks()


class Narrator:
    """Writes what happens in all runs of the process, a line per event that matters.

    ``rl.narrate()`` makes one. It writes until it is closed, or its ``with`` block ends.

    Parameters
    ----------
    stream : text stream or None
        None for the process's standard error, as it is when a line is written.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream
        #: whether it writes no more
        self.closed = False
        self._begin()

    def _begin(self) -> None:
        # A forked child has neither the thread nor a queue that can be trusted.
        self._process = os.getpid()
        self._queue: SimpleQueue[tuple[Context, TextIO, Event] | None] = SimpleQueue()
        self._left_out = 0
        self._counting = threading.RLock()
        self._thread = threading.Thread(
            target=self._write_all, args=(self._queue,), name="robotlab_nb-narrator", daemon=True
        )
        self._thread.start()

    def put(self, event: Event) -> None:
        """Take an event. Returns at once."""
        if event.type not in TOLD:
            return
        if os.getpid() != self._process:
            self._begin()
        if self._queue.qsize() >= MOST:
            with self._counting:
                self._left_out += 1
            return
        stream = sys.stderr if self.stream is None else self.stream
        # The context of the run: a notebook takes the cell from it that a line belongs to.
        self._queue.put((copy_context(), stream, event))

    async def drained(self, root_id: str, seq: int) -> None:
        """Nothing here is durable, so there is nothing to wait for."""

    def close(self) -> None:
        """Write what is left, for at most 2 s, and then no more."""
        _narrators.forget(self)
        if not self.closed:
            self.closed = True
            self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE_S)

    def __enter__(self) -> Narrator:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "standard error" if self.stream is None else type(self.stream).__name__
        return f"<narrator on {where}{' (closed)' if self.closed else ''}>"

    def _write_all(self, queue: SimpleQueue[tuple[Context, TextIO, Event] | None]) -> None:
        told = Narration()
        stream = None
        try:
            while (item := queue.get()) is not None:
                context, stream, event = item
                for line in (_line(told, event), self._missed()):
                    context.run(_write, stream, line)
                if queue.empty():
                    context.run(_flush, stream)
            if stream is not None:
                context.run(_write, stream, self._missed())
                context.run(_flush, stream)
        except Exception as error:
            self._give_up(stream, error)

    def _missed(self) -> str | None:
        with self._counting:
            number, self._left_out = self._left_out, 0
        return f"… {number:,} events left out" if number else None

    def _give_up(self, stream: TextIO | None, error: Exception) -> None:
        import warnings

        remove_sink(self)
        self.closed = True
        try:
            warnings.warn(
                f"the narrator stopped: {type(stream).__name__} failed with {error!r}",
                RuntimeWarning,
                stacklevel=2,
            )
        except RuntimeWarning:  # warnings are errors here
            pass


def _line(told: Narration, event: Event) -> str | None:
    try:
        return told.line(event)
    except Exception as error:  # an event unlike any that was declared
        return f"[{event.type}] cannot be told ({type(error).__name__})"


def _write(stream: TextIO | None, line: str | None) -> None:
    if stream is None or line is None:  # a process without standard error
        return
    try:
        stream.write(line + "\n")
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def _flush(stream: TextIO | None) -> None:
    if stream is not None and hasattr(stream, "flush"):
        stream.flush()


def narrate(stream: TextIO | None = None) -> Narrator:
    """Tell on a stream what robots and networks do, from now on, in all runs of the process.

    Each call of a model and of a tool, each task of a network, and whatever waits or fails is a
    line with the robot's name. Narrating on the same stream again replaces the narrator before.

    Parameters
    ----------
    stream : text stream, optional
        Where to write; standard error when left out.

    Returns
    -------
    Narrator
        A context manager; it has ``close()``.

    Raises
    ------
    ConfigurationError
        When the stream cannot be written to.

    Examples
    --------
    >>> import io
    >>> import robotlab_nb as rl
    >>> from robotlab_nb.widgets.narrator import narrate
    >>> said = io.StringIO()
    >>> with narrate(said):
    ...     answer = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    >>> print(said.getvalue())
    [poet] thinking…
    [poet] done after ...
    """
    if stream is not None and not hasattr(stream, "write"):
        raise ConfigurationError(
            f"narrate() takes a text stream, not {stream!r:.80}", hint="For example sys.stdout."
        )
    return _narrators.add(lambda: Narrator(stream), lambda other: other.stream is stream)
