"""What went wrong in runs: errors that say the same together, how often and where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .cells import microseconds
from .declaring import ROBOT, RUN_ID, Column
from .log_frames import read_together
from .readers import error_message, error_type, started

if TYPE_CHECKING:
    from pandas import DataFrame

    from .log_frames import Source

__all__ = ["errors", "pattern"]

#: characters of a message by which errors are told apart
_MOST = 200
_CHANGING = re.compile(r"0x[0-9a-f]+|\b(?=[a-f]*\d)[0-9a-f]{6,}\b|\d+(?:[.,]\d+)*", re.IGNORECASE)
_COLUMNS = {
    "where": "string", "error_type": "string", "pattern": "string", "count": "Int64",
    "runs": "Int64", "robot": "string", "tool": "string", "first_at": "datetime64[us, UTC]",
    "last_at": "datetime64[us, UTC]", "run_id": "string", "example": "string",
}  # fmt: skip


def _at(doc: str, read: Any) -> Column[Any]:
    return Column("at", "datetime64[us, UTC]", doc, read)


_TYPE: Column[Any] = Column("error_type", "string", "Its class.", lambda r, p: error_type(r.error))
_SAYS: Column[Any] = Column("example", "string", "What it said.",
                            lambda r, p: error_message(r.error))  # fmt: skip
_NO_TOOL: Column[Any] = Column("tool", "string", "None.", lambda r, p: None)
#: table -> what its errors are read from
_READ: dict[str, tuple[Column[Any], ...]] = {
    "runs": (RUN_ID, ROBOT, _TYPE, _SAYS, _NO_TOOL, _at("Its run's start.", started)),
    "tasks": (
        Column("run_id", "string", "The network's run.", lambda t, p: p.run_id),
        Column("robot", "string", "Who did it.", lambda t, p: t[0].declared.get("robot")),
        # What its own runs died of is told of these.
        Column("error_type", "string", "Its class.",
               lambda t, p: None if t[2] else error_type(t[0].error)),
        Column("example", "string", "What it said.", lambda t, p: error_message(t[0].error)),
        _NO_TOOL,
        _at("Its start.", lambda t, p: microseconds(p.start, t[0].started_s)),
    ),
    "attempts": (
        RUN_ID, ROBOT, _TYPE, _SAYS, _NO_TOOL,
        _at("Its root's start.", lambda a, p: p.start),
    ),
    "tool_calls": (
        RUN_ID, ROBOT, _TYPE, _SAYS,
        Column("tool", "string", "The tool.", lambda c, p: c.tool),
        _at("Its start.", lambda c, p: microseconds(p.start, c.started_s)),
    ),
}  # fmt: skip
_WORDS = {"runs": "run", "tasks": "task", "attempts": "attempt", "tool_calls": "tool call"}


def pattern(message: str) -> str:
    r"""What messages of one kind have in common: their first line, numbers and ids left open.

    Examples
    --------
    >>> pattern("no answer in 12.5 s from 10.0.0.7\nTraceback …")
    'no answer in # s from #'
    """
    first = message.strip().partition("\n")[0]
    return _CHANGING.sub("#", first[: 4 * _MOST])[:_MOST]


def errors(source: Source) -> DataFrame:
    """Errors of runs, of tasks without runs, of attempts at model calls and of tool calls."""
    import pandas as pd

    read = read_together(source, _READ)
    parts = []
    for name, table in read.items():
        failed = table[table["error_type"].notna() | table["example"].notna()]
        if name == "tasks":
            failed = failed[failed["error_type"].notna()]
        parts.append(failed.assign(where=_WORDS[name]))
    every = pd.concat(parts, ignore_index=True).sort_values("at", kind="stable")
    every["pattern"] = [pattern(m) if isinstance(m, str) else "" for m in every["example"]]
    keys = ["where", "error_type", "pattern"]
    groups = every.groupby(keys, dropna=False, sort=False)
    made = groups.agg(
        count=("example", "size"),
        runs=("run_id", "nunique"),
        robot=("robot", _names),
        tool=("tool", _names),
        first_at=("at", "min"),
        last_at=("at", "max"),
        run_id=("run_id", "last"),
        example=("example", "last"),
    ).reset_index()
    made = made.sort_values(["count", *keys], ascending=[False, True, True, True], kind="stable")
    table = made[list(_COLUMNS)].astype(_COLUMNS).reset_index(drop=True)
    table.attrs = read["runs"].attrs
    return table


def _names(values: Any) -> str | None:
    found = sorted({value for value in values if isinstance(value, str)})
    return ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "") or None
