"""What ran when in one run: tasks, model calls and tool calls as spans of seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

    from .tables import Frames

__all__ = ["spans"]

_COLUMNS = {
    "lane": "string", "kind": "string", "what": "string", "status": "string",
    "start_s": "Float64", "end_s": "Float64", "duration_s": "Float64",
}  # fmt: skip
#: table -> kind, and the column that says what it was
_TABLES = {"tasks": ("task", "task"), "model_calls": ("model call", "model"),
           "tool_calls": ("tool call", "tool")}  # fmt: skip


def spans(frames: Frames) -> DataFrame:
    """Spans in order of start; a lane is a task, else a robot. What has not ended is left out.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> result = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    >>> spans(result.frames)[["lane", "kind", "status"]].to_dict("records")
    [{'lane': 'poet', 'kind': 'model call', 'status': 'completed'}]
    """
    import pandas as pd

    parts = []
    for name, (kind, what) in _TABLES.items():
        table = frames[name]
        lane = table["task"].fillna(table["robot"])
        part = table.assign(lane=lane, kind=kind, what=table[what])
        parts.append(part[["lane", "kind", "what", "status", "started_at", "duration_s"]])
    every = pd.concat(parts, ignore_index=True)
    every = every[every["started_at"].notna() & every["duration_s"].notna()]
    first: Any = frames["runs"]["started_at"].min()
    if pd.isna(first):
        first = every["started_at"].min()
    start = (every["started_at"] - first).dt.total_seconds().round(6)
    made = every.assign(start_s=start, end_s=start + every["duration_s"])
    made = made.sort_values(["start_s", "end_s"], ascending=[True, False], kind="stable")
    return made[list(_COLUMNS)].astype(_COLUMNS).reset_index(drop=True)
