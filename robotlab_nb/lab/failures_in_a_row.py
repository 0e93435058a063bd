"""Requests that fail one after the other while cells are asked, counted as they fail.

A request is counted before it is tried again, so that an experiment that gets no answers stops at
once. It reads the events of the experiment's run and decides nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from ..core.events import Event

__all__ = ["PAUSE", "FailuresInARow"]

#: the kind of failure that is waited out by all together, and counts once its cell has failed
PAUSE = "rate_limit"
_TYPES = frozenset({"attempt.failed", "model_call.completed"})


class FailuresInARow:
    """Reads failed attempts (a sink), and lets nothing be tried again once there are enough.

    Parameters
    ----------
    root_id : str
        Whose events count.
    most : int
        How many are enough.
    enough : callable
        Called with the error then, and with that of every failure after it; returns at once.
    """

    __slots__ = ("_enough", "_most", "_root_id", "count", "flying", "retrying")

    def __init__(
        self, root_id: str, most: int, enough: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._root_id = root_id
        self._most = most
        self._enough = enough
        #: failures since the last cell that was answered
        self.count = 0
        #: who asks a cell, by the label of the cell's run
        self.flying: dict[str, asyncio.Task[None]] = {}
        #: labels of cells whose request failed and is to be tried again
        self.retrying: set[str] = set()

    def put(self, event: Event) -> None:
        """Take an event."""
        type_ = event.type
        if type_ not in _TYPES or event.scope.root_id != self._root_id:
            return
        label = next((part for part in event.scope.path if part in self.flying), None)
        if label is None:
            return
        if type_ == "model_call.completed":
            self.retrying.discard(label)
            return
        told: Any = event.data
        if told["error"].get("kind") == PAUSE:
            return
        if told.get("retry_in_s") is not None:
            self.retrying.add(label)
        self.add(told["error"])

    async def drained(self, root_id: str, seq: int) -> None:
        """Keeps nothing, so nothing is waited for."""

    def add(self, error: Mapping[str, Any]) -> None:
        """Count a failure."""
        self.count += 1
        if self.count >= self._most:
            self._enough(error)

    def give_up_retries(self) -> None:
        """Stop the cells that would ask once more. Only on their loop."""
        for label in tuple(self.retrying):
            task = self.flying.get(label)
            if task is not None:
                task.cancel()

    def begin(self, label: str, task: asyncio.Task[None]) -> None:
        """A cell is asked."""
        self.flying[label] = task

    def end(self, label: str) -> None:
        """A cell is asked no longer."""
        self.flying.pop(label, None)
        self.retrying.discard(label)
