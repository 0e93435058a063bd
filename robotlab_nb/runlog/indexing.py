"""The log's index: a row per root and per run, kept up to date as events come.

A small fold of few event types. It agrees with :class:`~robotlab_nb.core.state.RunState` (a check
compares them), holds no messages, and raises on nothing that an event may say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..core.state import ENDED
from .records import RunRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.events import Event, Scope

__all__ = ["INDEXED", "Index", "RootRow", "microseconds"]

#: the event types that the index is made of
INDEXED = frozenset(
    {
        "run.started", "run.completed", "run.failed", "run.interrupted", "run.abandoned",
        "run.waiting", "run.resumed", "model_call.started", "model_call.completed",
        "model_call.failed", "tool_call.started", "cell.started", "cell.completed", "cell.scored",
    }
)  # fmt: skip
#: characters of what a run was asked
PREVIEW = 200
_MOST = 2**63 - 1


@dataclass(slots=True)
class RootRow:
    """A root as the index knows it."""

    root_id: str
    kind: str
    name: str | None = None
    started_at: int = 0
    schema_version: int | None = None
    status: str = "pending"
    last_seq: int = -1
    ended_at: int | None = None


def text_of(value: Any) -> str | None:
    """A text; of anything else its JSON."""
    if value is None or type(value) is str:
        return value
    try:
        return json.dumps(value)[:PREVIEW]
    except (TypeError, ValueError, RecursionError):
        return None


def number_of(value: Any) -> int | None:
    """A whole number that a column holds, or None."""
    return value if type(value) is int and -_MOST <= value <= _MOST else None


def microseconds(at: Any) -> int | None:
    """Microseconds since 1970 of an ISO 8601 time with a zone, or None."""
    try:
        when = datetime.fromisoformat(at)
        return None if when.tzinfo is None else round(when.timestamp() * 1e6)
    except (TypeError, ValueError, OverflowError):
        return None


class _Run:
    """A run's row while it may change, and what the rows of runs inside it need to know."""

    __slots__ = ("parent", "row", "within")

    def __init__(self, row: RunRow, parent: _Run | None) -> None:
        self.row = row
        self.parent = parent
        self.within: tuple[str, ...] | None = parent.within if parent else None


class Index:
    """The rows of one root.

    Attributes
    ----------
    root : RootRow
    changed : dict of str to RunRow
        The rows that changed since it was last emptied, by run id.
    tags : list of tuple
        ``(run_id, tag)`` of the same time, as runs were told them.
    cells : list of tuple
        ``(seq, key)`` of the same time: events of cells of an experiment.
    """

    __slots__ = ("_runs", "cells", "changed", "root", "tags")

    def __init__(self, scope: Scope) -> None:
        self.root = RootRow(scope.root_id, scope.kind if scope.depth == 0 else "robot")
        self._runs: dict[str, _Run] = {}
        self.changed: dict[str, RunRow] = {}
        self.tags: list[tuple[str, str]] = []
        self.cells: list[tuple[int, str]] = []

    @classmethod
    def of(cls, events: Iterable[Event]) -> Index | None:
        """The index of a root's events; None without any."""
        made: Index | None = None
        for event in events:
            if made is None:
                made = cls(event.scope)
            made.apply(event)
        return made

    @property
    def rows(self) -> list[RunRow]:
        """All runs' rows, in order of start."""
        return [run.row for run in self._runs.values()]

    def apply(self, event: Event) -> None:
        """Take an event in."""
        self.root.last_seq = max(self.root.last_seq, event.seq)
        run_id = event.scope.run_id
        run = self._runs.get(run_id)
        if run is None:
            run = self._adopt(event)
        elif event.type not in INDEXED:
            return
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, run, event)
            self.changed[run_id] = run.row

    def _adopt(self, event: Event) -> _Run:
        scope = event.scope
        parent = self._runs.get(scope.parent_id or "")
        row = RunRow(
            scope.run_id, scope.root_id, scope.parent_id, scope.kind, robot=scope.robot,
            number=event.seq, root_started_at=self.root.started_at,
        )  # fmt: skip
        run = _Run(row, parent)
        if parent is not None:
            row.network, row.task = parent.row.network, parent.row.task
        if run.within is not None and len(scope.path) > len(run.within):
            row.task = scope.path[len(run.within)]
        if scope.kind == "network":
            row.network = scope.path[-1] if scope.path else None
            run.within = scope.path
        self._runs[scope.run_id] = run
        self.changed[scope.run_id] = row
        return run

    # -- one method per event type -------------------------------------------------------

    def _started(self, run: _Run, event: Event) -> None:
        row, data = run.row, event.data
        if row.run_id == self.root.root_id:
            self._root_started(row, data, event)
        elif self.root.started_at:
            row.started_at = self.root.started_at + _elapsed(event)
        row.status = "running"
        row.name = text_of(data.get("name"))
        if row.kind == "network" and row.name:
            row.network = row.name
        for name in ("model", "session_id", "prompt_hash", "resumed_from"):
            setattr(row, name, text_of(data.get(name)))
        asked = text_of(data.get("input"))
        row.input = asked and asked[:PREVIEW]
        tags = data.get("tags")
        if isinstance(tags, (list, tuple)):
            self.tags += [(row.run_id, tag) for tag in tags if type(tag) is str]
        if data.get("simulated"):
            self._simulated(run)

    def _root_started(self, row: RunRow, data: Mapping[str, Any], event: Event) -> None:
        root = self.root
        root.kind, root.name = row.kind, text_of(data.get("name"))
        root.schema_version = number_of(data.get("schema_version"))
        # A session never ends: it is nothing that could be found dead.
        root.status = "session" if root.kind == "session" else "running"
        row.started_at = microseconds(data.get("started_at"))
        # Times count from the root's start, which is a moment before its first event.
        root.started_at = 0 if row.started_at is None else row.started_at - _elapsed(event)
        row.root_started_at = root.started_at

    def _ended(self, run: _Run, event: Event) -> None:
        row, data = run.row, event.data
        self._status(run, event.type.partition(".")[2])
        row.ended_at = self._at(event)
        if event.type == "run.completed":
            row.stop_reason = text_of(data.get("stop_reason"))
        elif event.type == "run.failed":
            error = data.get("error")
            row.error_type = text_of(error.get("type")) if isinstance(error, dict) else None
        if row.run_id == self.root.root_id:
            self.root.ended_at = row.ended_at

    def _abandoned(self, run: _Run, event: Event) -> None:
        for other in self._runs.values():
            if other.row.status not in ENDED and _inside(other, run):
                other.row.status = "abandoned"
                other.row.ended_at = self._at(event)
                self.changed[other.row.run_id] = other.row
        if run.row.run_id == self.root.root_id:
            self.root.status, self.root.ended_at = run.row.status, run.row.ended_at

    def _waiting(self, run: _Run, event: Event) -> None:
        self._status(run, "waiting")

    def _resumed(self, run: _Run, event: Event) -> None:
        self._status(run, "running")

    def _call_started(self, run: _Run, event: Event) -> None:
        run.row.model_calls += 1
        if event.data.get("simulated"):
            self._simulated(run)

    def _call_ended(self, run: _Run, event: Event) -> None:
        row, data = run.row, event.data
        if event.type == "model_call.completed":
            row.stop_reason = text_of(data.get("stop_reason"))
            if data.get("simulated"):
                self._simulated(run)
        used = data.get("usage")
        if not isinstance(used, dict):
            return
        # As Usage adds: what nobody counted stays unknown, and one unknown price is a gap.
        get = used.get
        row.input_tokens = _sum(row.input_tokens, get("input_tokens"))
        row.output_tokens = _sum(row.output_tokens, get("output_tokens"))
        row.reasoning_tokens = _sum(row.reasoning_tokens, get("reasoning_tokens"))
        row.cached_tokens = _sum(row.cached_tokens, get("cached_tokens"))
        cost = get("cost_usd")
        if type(cost) is float or type(cost) is int:
            row.cost_usd = _dollars(row.cost_usd, cost)
        if get("estimated"):
            row.tokens_estimated = True
        if not get("cost_complete", True):
            row.cost_complete = False

    def _tool_started(self, run: _Run, event: Event) -> None:
        run.row.tool_calls += 1

    def _cell(self, run: _Run, event: Event) -> None:
        key = event.data.get("key")
        if type(key) is str:
            self.cells.append((event.seq, key))

    def _status(self, run: _Run, status: str) -> None:
        run.row.status = status
        if run.row.run_id == self.root.root_id:
            self.root.status = status

    def _simulated(self, run: _Run) -> None:
        """Mark a run and all around it."""
        above: _Run | None = run
        while above is not None and not above.row.simulated:
            above.row.simulated = True
            self.changed[above.row.run_id] = above.row
            above = above.parent

    def _at(self, event: Event) -> int | None:
        return self.root.started_at + _elapsed(event) if self.root.started_at else None


def _sum(known: int | None, more: Any) -> int | None:
    if type(more) is not int:
        return known
    return number_of(more if known is None else known + more)


def _dollars(known: float | None, more: float) -> float | None:
    try:
        return float(more) if known is None else known + more
    except OverflowError:
        return known


def _elapsed(event: Event) -> int:
    try:
        return max(-_MOST // 4, min(_MOST // 4, round(event.elapsed * 1e6)))
    except (TypeError, ValueError, OverflowError):
        return 0


def _inside(run: _Run, outer: _Run) -> bool:
    above: _Run | None = run
    while above is not None:
        if above is outer:
            return True
        above = above.parent
    return False


_HANDLERS = {
    "run.started": Index._started,
    "run.completed": Index._ended,
    "run.failed": Index._ended,
    "run.interrupted": Index._ended,
    "run.abandoned": Index._abandoned,
    "run.waiting": Index._waiting,
    "run.resumed": Index._resumed,
    "model_call.started": Index._call_started,
    "model_call.completed": Index._call_ended,
    "model_call.failed": Index._call_ended,
    "tool_call.started": Index._tool_started,
    "cell.started": Index._cell,
    "cell.completed": Index._cell,
    "cell.scored": Index._cell,
}
