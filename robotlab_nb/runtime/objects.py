"""The answer of a run as data, read while it streams.

How a text becomes data is the run's ``partial``; nothing here knows schemas or JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.events import Delta

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from ..core.events import Event
    from .run import Run
    from .watch import Stream

__all__ = ["ObjectStream"]

#: kinds of deltas that an answer comes in: as text, or as the arguments of the call that gives it
_KINDS = ("text", "arguments:-1")
_NOTHING: Any = object()


class ObjectStream:
    """What an answer says so far, again and again, and the parsed answer at the end.

    Parameters
    ----------
    stream : Stream
        Of a run whose answer has a prescribed shape.

    Raises
    ------
    InputError
        When it has none.
    """

    def __init__(self, stream: Stream[Any]) -> None:
        if stream.run.partial is None:
            raise InputError(
                f"the answer of {stream.run.name!r} has no prescribed shape",
                hint="Pass output=: a pydantic model, any other type, or a JSON Schema.",
            )
        self._stream = stream

    def __iter__(self) -> Iterator[Any]:
        reader = _Reader(self._stream.run)
        for item in self._stream:
            found = reader.read(item)
            if found is not _NOTHING:
                yield found

    async def __aiter__(self) -> AsyncIterator[Any]:
        reader = _Reader(self._stream.run)
        async for item in self._stream:
            found = reader.read(item)
            if found is not _NOTHING:
                yield found


class _Reader:
    """Joins the pieces of an answer and reads them anew when there are more."""

    __slots__ = ("_answer", "_last", "_run", "_text")

    def __init__(self, run: Run[Any]) -> None:
        self._run = run
        self._answer: tuple[Any, ...] = ()  # call, attempt and kind of what is being read
        self._text = ""
        self._last: Any = None

    def read(self, item: Event | Delta) -> Any:
        """What is known of the answer now, when that is more than before."""
        run = self._run
        if item.scope.run_id != run.id:
            return _NOTHING
        if not isinstance(item, Delta):
            return run.values["output"] if item.type == "output.parsed" else _NOTHING
        if item.kind not in _KINDS or run.partial is None:
            return _NOTHING
        answer = (item.call_id, item.attempt, item.kind)
        if answer != self._answer:
            self._answer, self._text, self._last = answer, "", None
        self._text += item.text
        found = run.partial(self._text)
        if found is None or found == self._last:
            return _NOTHING
        self._last = found
        return found
