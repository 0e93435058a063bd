"""Figures over runs, grouped: what they came to, cost and took; how tools did.

Reads the tables of :mod:`.log_frames`, only the columns that it needs. Every function gives a
DataFrame with fixed columns and types, also when there is nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .declaring import RUN_ID, Column
from .grouping import BY, chosen, labelled, names_of, shaped, some
from .log_frames import read_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

    from ..core.state import ModelCall
    from .log_frames import Source

__all__ = ["costs", "latency", "summary", "tools", "wilson"]

_SUMMARY = {
    "runs": "Int64", "ok": "Int64", "failed": "Int64", "simulated": "Int64",
    "model_calls": "Int64", "input_tokens": "Int64", "output_tokens": "Int64",
    "cost_usd": "Float64", "cost_complete": "boolean",
    "mean_s": "Float64", "median_s": "Float64", "p95_s": "Float64",
    "first_token_median_s": "Float64", "tool_calls": "Int64", "tool_failures": "Int64",
}  # fmt: skip
_COSTS = {
    "runs": "Int64", "model_calls": "Int64", "from_cache": "Int64", "simulated": "Int64",
    "input_tokens": "Int64",
    "output_tokens": "Int64", "reasoning_tokens": "Int64", "cached_tokens": "Int64",
    "cost_usd": "Float64", "cost_complete": "boolean", "share": "Float64",
}  # fmt: skip
_LATENCY = {
    "model_calls": "Int64", "simulated": "Int64",
    "first_token_median_s": "Float64", "first_token_p95_s": "Float64",
    "mean_s": "Float64", "median_s": "Float64", "p95_s": "Float64", "max_s": "Float64",
    "waited_s": "Float64", "tokens_per_s": "Float64",
}  # fmt: skip
_TOOLS = {
    "calls": "Int64", "ok": "Int64", "failed": "Int64", "success": "Float64",
    "success_low": "Float64", "success_high": "Float64", "retryable": "Int64",
    "runs": "Int64", "median_s": "Float64", "p95_s": "Float64",
}  # fmt: skip
_SUMS = ("input_tokens", "output_tokens", "model_calls", "tool_calls", "cost_usd")
#: what only robots' runs have
_OF_ROBOTS = frozenset({"robot", "task", "model", "prompt_hash"})
#: what model calls and tool calls may be grouped by besides
_CALLS_BY = {**BY, "provider": "provider"}
_TOOLS_BY = {**BY, "source": "source"}


def _priced(call: ModelCall, _place: Any) -> bool:
    """Whether nothing that was charged for it is unknown."""
    if call.usage is not None:
        return call.usage.cost_complete
    return not any(attempt.billed for attempt in call.attempts)


_COMPLETE: Column[ModelCall] = Column(
    "cost_complete", "boolean", "Whether it had a price.", _priced
)
_MADE_UP: Column[ModelCall] = Column(
    "simulated", "boolean", "Whether it was made up.", lambda call, place: call.simulated
)


def summary(source: Source, by: str | Sequence[str] | None = "robot") -> DataFrame:
    """What runs came to, a row for each group.

    Robots' runs are counted; by network also networks' own, instead of the robots' inside them.
    """
    columns = chosen(by)
    needed = (
        "run_id", "kind", "network", "status", "simulated", "duration_s", "cost_complete",
        *_SUMS, *names_of(columns),
    )  # fmt: skip
    tables = {
        "runs": some("runs", *needed),
        "model_calls": some("model_calls", "run_id", "first_token_s"),
        "tool_calls": some("tool_calls", "run_id", "status"),
    }
    read = read_together(source, tables)
    runs = labelled(read["runs"], columns)
    units, sums = _counted(runs, columns)
    labels = runs[["run_id", *columns]]
    of_sums = _grouped(sums, columns)
    calls = _grouped(read["model_calls"].merge(labels, on="run_id"), columns)
    used = read["tool_calls"]
    used = used[["run_id"]].assign(failed=used["status"] == "failed").merge(labels, on="run_id")
    units = _grouped(units, columns).agg(
        runs=("run_id", "size"),
        ok=("status", lambda s: (s == "completed").sum()),
        failed=("status", lambda s: (s == "failed").sum()),
        simulated=("simulated", "sum"),
        mean_s=("duration_s", "mean"),
        median_s=("duration_s", "median"),
        p95_s=("duration_s", _p95),
    )
    # A group may have used something without a run that is counted in it.
    made = units.reindex(of_sums.size().index)
    made = made.fillna(dict.fromkeys(("runs", "ok", "failed", "simulated"), 0))
    for name in _SUMS:
        made[name] = of_sums[name].sum(min_count=1)
    made["cost_complete"] = of_sums["cost_complete"].all()
    made["first_token_median_s"] = calls["first_token_s"].median()
    failures = _grouped(used, columns)["failed"].sum()
    made["tool_failures"] = failures.reindex(made.index).astype("Int64").fillna(0)
    return _finished(made, columns, _SUMMARY, read["runs"])


def _counted(runs: DataFrame, columns: Sequence[str]) -> tuple[DataFrame, DataFrame]:
    """The runs that are counted, and those whose figures are added up."""
    robots = runs["kind"] == "robot"
    if not robots.any():
        return runs, runs
    if "network" in columns and not _OF_ROBOTS.intersection(columns):
        return runs[~robots | runs["network"].isna()], runs
    return runs[robots], runs[robots]


def costs(source: Source, by: str | Sequence[str] | None = "robot") -> DataFrame:
    """What model calls cost, a row for each group; a model is the one that answered."""
    columns = chosen(by, _CALLS_BY)
    calls = _calls(
        source, "model_calls", columns, "call_id", "cached", "input_tokens", "output_tokens",
        "reasoning_tokens", "cached_tokens", "cost_usd", more=(_COMPLETE, _MADE_UP),
    )  # fmt: skip
    groups = _grouped(calls, columns)
    made = groups.agg(
        runs=("run_id", "nunique"),
        model_calls=("call_id", "size"),
        from_cache=("cached", "sum"),
        simulated=("simulated", "sum"),
    )
    for name in ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "cost_usd"):
        made[name] = groups[name].sum(min_count=1)
    made["cost_complete"] = groups["cost_complete"].all()
    total = math.fsum(calls.drop_duplicates("call_id")["cost_usd"].dropna())
    made["share"] = made["cost_usd"] / (total or math.nan)
    made = made.sort_values("cost_usd", ascending=False, kind="stable")
    return _finished(made, columns, _COSTS, calls)


def latency(source: Source, by: str | Sequence[str] | None = "model") -> DataFrame:
    """How long model calls took, a row for each group; answers from the cache are left out."""
    columns = chosen(by, _CALLS_BY)
    calls = _calls(
        source, "model_calls", columns, "call_id", "cached", "waited_s", "first_token_s",
        "duration_s", "output_tokens", more=(_MADE_UP,),
    )  # fmt: skip
    attrs = calls.attrs
    calls = calls[~calls["cached"].fillna(False)]
    calls = calls.assign(timed=calls["output_tokens"].where(calls["duration_s"].notna()))
    groups = _grouped(calls, columns)
    made = groups.agg(
        model_calls=("call_id", "size"),
        simulated=("simulated", "sum"),
        first_token_median_s=("first_token_s", "median"),
        first_token_p95_s=("first_token_s", _p95),
        mean_s=("duration_s", "mean"),
        median_s=("duration_s", "median"),
        p95_s=("duration_s", _p95),
        max_s=("duration_s", "max"),
        waited_s=("waited_s", "mean"),
    )
    spent = groups["duration_s"].sum(min_count=1).replace(0, math.nan)
    made["tokens_per_s"] = groups["timed"].sum(min_count=1).astype("Float64") / spent
    calls.attrs = attrs
    return _finished(made, columns, _LATENCY, calls)


def tools(source: Source, by: str | Sequence[str] | None = None) -> DataFrame:
    """How tools did, a row for each: what share succeeded, with its interval of 95 %."""
    columns = ["tool", *chosen(by, _TOOLS_BY)]
    calls = _calls(
        source, "tool_calls", columns, "tool_call_id", "status", "retryable", "duration_s"
    )
    groups = _grouped(calls, columns)
    made = groups.agg(
        calls=("tool_call_id", "size"),
        ok=("status", lambda s: (s == "completed").sum()),
        failed=("status", lambda s: (s == "failed").sum()),
        retryable=("retryable", "sum"),
        runs=("run_id", "nunique"),
        median_s=("duration_s", "median"),
        p95_s=("duration_s", _p95),
    )
    ended = [int(ok) + int(bad) for ok, bad in zip(made["ok"], made["failed"], strict=True)]
    shares = [wilson(int(ok), n) for ok, n in zip(made["ok"], ended, strict=True)]
    for place, name in enumerate(("success", "success_low", "success_high")):
        made[name] = [share[place] for share in shares]
    made = made.sort_values("calls", ascending=False, kind="stable")
    return _finished(made, columns, _TOOLS, calls)


def wilson(ok: float, of: float, z: float = 1.959964) -> tuple[float, float, float]:
    """A share, and where it lies for sure enough: Wilson's interval; nothing is known of none.

    Examples
    --------
    >>> [round(x, 3) for x in wilson(9, 10)]
    [0.9, 0.596, 0.982]
    """
    if of == 0:
        return math.nan, math.nan, math.nan
    share = ok / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return share, max(0.0, middle - half), min(1.0, middle + half)


def _calls(
    source: Source,
    table: str,
    columns: Sequence[str],
    *needed: str,
    more: Sequence[Column[Any]] = (),
) -> DataFrame:
    """Calls with what they are grouped by; what they do not say themselves, their run does."""
    own = {c.name for c in some(table, *columns, "started_at")} - {"run_id"}
    foreign = [name for name in columns if name not in own and name != "day"]
    wanted = {*needed, *(own & {*columns, *names_of(columns)})}
    tables = {table: (RUN_ID, *some(table, *wanted), *more)}
    if foreign:
        tables["runs"] = some("runs", "run_id", *names_of(foreign))
    read = read_together(source, tables)
    calls = labelled(read[table], [name for name in columns if name == "day"])
    if foreign:
        runs = labelled(read["runs"], foreign)[["run_id", *foreign]]
        calls = calls.merge(runs, on="run_id")
    calls.attrs = read[table].attrs
    return calls


def _grouped(table: DataFrame, columns: Sequence[str]) -> Any:
    keys: Any = list(columns) if columns else [0] * len(table)
    return table.groupby(keys, dropna=False, sort=True)


def _p95(values: Any) -> Any:
    return values.quantile(0.95)


def _finished(
    made: DataFrame, columns: Sequence[str], dtypes: dict[str, str], read: DataFrame
) -> DataFrame:
    table = shaped(made, columns, dtypes)
    table.attrs = read.attrs
    return table
