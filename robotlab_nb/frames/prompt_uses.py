"""Which system prompts and which tags runs had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .grouping import some
from .log_frames import read_together
from .summaries import _grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

    from .log_frames import Source

__all__ = ["prompts", "tags"]

_TIME = "datetime64[us, UTC]"
_PROMPTS = {
    "prompt_hash": "string", "prompt": "string", "runs": "Int64", "ok": "Int64",
    "failed": "Int64", "robots": "string", "models": "string", "cost_usd": "Float64",
    "first_at": _TIME, "last_at": _TIME,
}  # fmt: skip
_TAGS = {"tag": "string", "runs": "Int64", "first_at": _TIME, "last_at": _TIME}


def prompts(source: Source) -> DataFrame:
    """The prompts of the runs that are meant, latest first."""
    columns = some(
        "runs", "run_id", "prompt_hash", "robot", "model", "status", "cost_usd", "started_at"
    )
    runs = read_together(source, {"runs": columns})["runs"]
    attrs = runs.attrs
    runs = runs[runs["prompt_hash"].notna()].sort_values("started_at", kind="stable")
    groups = _grouped(runs, ["prompt_hash"])
    made = groups.agg(
        runs=("run_id", "size"),
        ok=("status", lambda s: (s == "completed").sum()),
        failed=("status", lambda s: (s == "failed").sum()),
        robots=("robot", _names),
        models=("model", _names),
        first_at=("started_at", "min"),
        last_at=("started_at", "max"),
        run_id=("run_id", "last"),
    )
    made["cost_usd"] = groups["cost_usd"].sum(min_count=1)
    made = made.reset_index().sort_values(["last_at", "prompt_hash"], ascending=[False, True])
    said = source.prompts(list(made["run_id"]))
    made["prompt"] = [said.get(run_id) for run_id in made["run_id"]]
    table: DataFrame = made[list(_PROMPTS)].astype(_PROMPTS).reset_index(drop=True)
    table.attrs = attrs
    return table


def _names(values: Any) -> str | None:
    return ", ".join(sorted({value for value in values if isinstance(value, str)})) or None


def tags(found: Sequence[tuple[Any, ...]]) -> DataFrame:
    """Tags as a table; times are microseconds since 1970."""
    import pandas as pd

    make: Any = pd.array
    names = list(_TAGS)
    return pd.DataFrame(
        {name: make([row[n] for row in found], dtype=_TAGS[name]) for n, name in enumerate(names)}
    )
