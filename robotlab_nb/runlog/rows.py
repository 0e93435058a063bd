"""Records as rows of the log's tables, and back. It knows no sqlalchemy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..core.events import Delta, Event, Scope
from .event_text import clean, original, read, written
from .faults import LogDamaged
from .records import RunRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .indexing import Index

__all__ = [
    "RUN_COLUMNS",
    "delta_of",
    "event_of",
    "root_row",
    "run_of",
    "run_row",
    "scope_of",
    "scope_row",
    "slices",
]

#: rows that one statement names
SLICE = 400
#: the columns of ``runs`` that are texts, and those that are not, in the table's order
TEXT_COLUMNS = (
    "run_id", "root_id", "parent_id", "kind", "name", "network", "task", "robot", "model",
    "status", "stop_reason", "session_id", "prompt_hash", "resumed_from", "error_type", "input",
)  # fmt: skip
OTHER_COLUMNS = (
    "started_at", "ended_at", "model_calls", "tool_calls", "input_tokens", "output_tokens",
    "reasoning_tokens", "cached_tokens", "simulated", "tokens_estimated", "cost_usd",
    "cost_complete", "number", "root_started_at",
)  # fmt: skip
RUN_COLUMNS = (*TEXT_COLUMNS, *OTHER_COLUMNS)


def scope_row(root: str, number: int, scope: Scope) -> tuple[Any, ...]:
    """A scope as a row; ``root`` is the root's id as it stands in the tables."""
    return (
        root, number, clean(scope.run_id), _cleaned(scope.parent_id), scope.depth,
        clean(scope.kind), written(list(scope.path)), _cleaned(scope.robot),
    )  # fmt: skip


def scope_of(row: Any) -> Scope:
    """The scope that a row tells."""
    path = read(row.path)
    if not isinstance(path, list):
        raise LogDamaged(f"the path of a scope of {row.root_id!r:.60} is no list")
    return Scope(
        original(row.run_id), original(row.root_id), _originally(row.parent_id), row.depth,
        original(row.kind), tuple(map(str, path)), _originally(row.robot),
    )  # fmt: skip


def event_of(root: str, row: Any, scope: Scope) -> Event:
    """The event that a row ``(seq, type, elapsed, data)`` tells."""
    seq, type_, elapsed, text = row
    try:
        data = read(text)
    except (TypeError, ValueError) as error:
        raise LogDamaged(f"event {seq} of {root!r:.60} cannot be read: {error}") from None
    if type(data) is not dict:
        raise LogDamaged(f"event {seq} of {root!r:.60} cannot be read: it is no object")
    return Event(original(type_), scope, seq, math.nan if elapsed is None else elapsed, data)


def delta_of(row: Any, scope: Scope) -> Delta:
    """The text so far that a row tells."""
    text = read(row.text)
    return Delta(
        scope, original(row.call_id), row.attempt, original(row.kind), 0,
        text if isinstance(text, str) else "",
    )  # fmt: skip


def root_row(index: Index, writer: str | None) -> tuple[Any, ...]:
    """A root as a row."""
    root = index.root
    return (
        clean(root.root_id), writer, clean(root.kind), _cleaned(root.name), root.started_at,
        root.schema_version, root.status, root.last_seq, root.ended_at,
    )  # fmt: skip


def run_row(row: RunRow) -> tuple[Any, ...]:
    """A run as a row."""
    return (
        *(_cleaned(getattr(row, name)) for name in TEXT_COLUMNS),
        *(getattr(row, name) for name in OTHER_COLUMNS),
    )


def run_of(row: Any, tags: tuple[str, ...] = ()) -> RunRow:
    """The run that a row, with its columns in the order of ``RUN_COLUMNS``, tells."""
    texts = [_originally(value) for value in row[: len(TEXT_COLUMNS)]]
    made = RunRow(**dict(zip(RUN_COLUMNS, [*texts, *row[len(texts) :]], strict=True)))
    made.tags = tags
    return made


def _cleaned(text: str | None) -> str | None:
    return None if text is None else clean(text)


def _originally(text: str | None) -> str | None:
    return None if text is None else original(text)


def slices(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """As many at a time as one statement may name."""
    return (items[at : at + SLICE] for at in range(0, len(items), SLICE))
