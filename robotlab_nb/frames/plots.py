"""Charts of a log's runs: what they cost, how long models took, how tools did, what ran when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .charts import HUES, INK, Plot, altair, records, rows_of
from .spans import spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

    By = str | Sequence[str]

__all__ = ["Plots"]

#: groups that a chart shows, and spans of a timeline
MOST, SPANS = 40, 400
WIDTH = 420
_KINDS = {"task": HUES[7], "model call": HUES[0], "tool call": HUES[1]}
_OK, _BAD = HUES[0], "#ff5263"


class Figures(Protocol):
    """What charts are made of: a log, or a selection of its runs."""

    def costs(self, by: Any = ...) -> DataFrame:
        """What model calls cost."""

    def latency(self, by: Any = ...) -> DataFrame:
        """How long model calls took."""

    def tools(self, by: Any = ...) -> DataFrame:
        """How tools did."""

    def find(self, run_id: str) -> Any:
        """A run."""


class Plots:
    """Charts of the runs of a log, or of a selection. They need ``robotlab-nb[plot]``.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> with rl.options(log=None):
    ...     plot = rl.log.plots.cost(by="model")
    >>> plot.title, len(plot.data)
    ('Cost by model: nothing to show', 0)
    """

    def __init__(self, of: Figures) -> None:
        self._of = of

    def __repr__(self) -> str:
        return "plots: cost(by=), latency(by=), tools(), timeline(run)"

    def cost(self, by: By = "robot") -> Plot:
        """What model calls cost; with ``"day"`` among ``by``, over time.

        Parameters
        ----------
        by : str or list of str, optional
            As for ``log.costs()``.
        """
        alt = altair()
        table = self._of.costs(by)
        names = _keys(table)
        known = table[table["cost_usd"].notna()]
        title = f"Cost by {_words(by)}"
        if known["cost_complete"].eq(False).any() or len(known) < len(table):
            title += ", where prices are known"
        rows, title = _shown(known, title + _made_up(table), by_day="day" in names)
        value = alt.X("cost_usd:Q", title="US dollars")
        shown = [*names, "cost_usd", "share", "model_calls", "input_tokens", "output_tokens"]
        tips = _tips(alt, shown)
        if "day" in names:
            other = [name for name in names if name != "day"]
            chart = alt.Chart(rows_of(_labelled(rows, other))).mark_bar(size=14)
            chart = chart.encode(
                x=alt.X("day:O", title="day, UTC", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
                y=alt.Y("sum(cost_usd):Q", title="US dollars"),
                color=alt.Color("label:N", title=_words(other)) if other else alt.value(_OK),
                tooltip=tips,
            )
        else:
            chart = alt.Chart(rows_of(_labelled(rows, names))).mark_bar(color=_OK)
            chart = chart.encode(x=value, y=_category(alt), tooltip=tips)
        return _plot(title, table, chart, shown)

    def latency(self, by: By = "model") -> Plot:
        """How long model calls took: the median as a bar, a tick where 95 of 100 had ended.

        Parameters
        ----------
        by : str or list of str, optional
            As for ``log.latency()``.
        """
        alt = altair()
        table = self._of.latency(by)
        names = _keys(table)
        title = f"Seconds of model calls by {_words(by)}{_made_up(table)}"
        rows, title = _shown(table[table["median_s"].notna()], title)
        shown = [
            *names, "median_s", "p95_s", "first_token_median_s", "model_calls", "tokens_per_s",
        ]  # fmt: skip
        tips = _tips(alt, shown)
        base = alt.Chart(rows_of(_labelled(rows, names))).encode(y=_category(alt), tooltip=tips)
        chart = alt.layer(
            base.mark_bar(color=_OK).encode(x=alt.X("median_s:Q", title="seconds")),
            base.mark_tick(color=INK, thickness=2).encode(x="p95_s:Q"),
            base.mark_point(fill=HUES[1], stroke="white", size=60, opacity=1).encode(
                x="first_token_median_s:Q"
            ),
        )
        marks = "bar: median · ●: first piece of the answer · |: 95 of 100 had ended"
        return _plot(title, table, chart, shown, marks)

    def tools(self) -> Plot:
        """What share of each tool's calls succeeded, and how sure that is."""
        alt = altair()
        table = self._of.tools()
        title = "Tool calls that succeeded"
        rows, title = _shown(table[table["success"].notna()], title)
        shown = ["tool", "success", "success_low", "success_high", "calls", "failed", "median_s"]
        tips = _tips(alt, shown)
        base = alt.Chart(rows_of(_labelled(rows, ["tool"]))).encode(y=_category(alt), tooltip=tips)
        scale = alt.Scale(domain=[0, 1])
        x = alt.X(
            "success:Q",
            title="share that succeeded",
            scale=scale,
            axis=alt.Axis(format="%", tickCount=5),
        )
        chart = alt.layer(
            base.mark_rule(color=INK, strokeWidth=2).encode(x="success_low:Q", x2="success_high:Q"),
            base.mark_point(color=_OK, filled=True, size=90, opacity=1).encode(x=x),
        )
        marks = "●: share of the calls · line: where the true share lies, for 95 % sure"
        return _plot(title, table, chart, shown, marks)

    def timeline(self, run: Any) -> Plot:
        """What ran when in one run: its tasks, model calls and tool calls.

        Parameters
        ----------
        run : str, run or result
            A run's id or its first 6 digits, or whatever has frames.
        """
        alt = altair()
        found = self._of.find(run) if isinstance(run, str) else run
        table = spans(found.frames)
        title = "What ran when"
        if len(table) > SPANS:
            title += f": the first {SPANS:,} of {len(table):,}"
        elif not len(table):
            title += ": nothing to show"
        order = list(dict.fromkeys(table["lane"].iloc[:SPANS]))
        rows = rows_of(records(table.iloc[:SPANS]))
        tips = _tips(alt, ["what", "kind", "status", "start_s", "duration_s"])
        shown = ["lane", "kind", "what", "status", "start_s", "duration_s"]
        kinds = [kind for kind in _KINDS if (table["kind"] == kind).any()]
        hues = alt.Scale(domain=kinds, range=[_KINDS[kind] for kind in kinds])
        chart = alt.Chart(rows).mark_bar(strokeWidth=2)
        chart = chart.encode(
            x=alt.X("start_s:Q", title="seconds"),
            x2="end_s:Q",
            y=alt.Y("lane:N", title=None, sort=order),
            yOffset=alt.YOffset("kind:N", sort=kinds),
            color=alt.Color("kind:N", title=None, scale=hues),
            stroke=alt.condition(
                "datum.status === 'failed'", alt.value(_BAD), alt.value("transparent")
            ),
            tooltip=tips,
        )
        return _plot(title, table, chart, shown)


def _plot(title: str, table: DataFrame, chart: Any, shown: Sequence[str], marks: str = "") -> Plot:
    told: Any = {"text": title, "subtitle": marks} if marks and "nothing" not in title else title
    return Plot(title, table, chart.properties(title=told, width=WIDTH), shown)


def _keys(table: DataFrame) -> list[str]:
    """The columns that a table is grouped by: those before its figures."""
    names = [str(name) for name in table]
    return names[: next(n for n, name in enumerate(names) if name in ("runs", "model_calls"))]


def _words(by: By) -> str:
    return by if isinstance(by, str) else " and ".join(by)


def _made_up(table: DataFrame) -> str:
    made_up, all_of = int(table["simulated"].sum()), int(table["model_calls"].sum())
    if not made_up:
        return ""
    return " (simulated)" if made_up == all_of else f" ({made_up:,} of {all_of:,} calls simulated)"


def _shown(table: DataFrame, title: str, *, by_day: bool = False) -> tuple[DataFrame, str]:
    """The groups that are shown, and a title that says of how many."""
    if not len(table):
        return table, f"{title}: nothing to show"
    if len(table) <= MOST or by_day:
        return table, title
    return table.iloc[:MOST], f"{title} (the first {MOST} of {len(table):,})"


def _labelled(table: DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """Rows with a label each; a group without a name is told as such."""
    found = records(table)
    for row in found:
        if "day" in row:
            row["day"] = (row["day"] or "")[:10] or None
        told = [str(row[name])[:80] if row[name] is not None else "(none)" for name in names]
        row["label"] = " · ".join(told)
    return found


def _category(alt: Any) -> Any:
    return alt.Y("label:N", title=None, sort=None)


def _tips(alt: Any, names: Sequence[str]) -> list[Any]:
    return [alt.Tooltip(name, type="nominal", title=name.replace("_", " ")) for name in names]
