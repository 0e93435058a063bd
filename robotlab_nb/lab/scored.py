"""What an experiment tells of its scores: tables of them, pass rates, differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frames.declaring import Column
from ..frames.filling import Filling
from .differences import difference_of
from .intervals import CONFIDENCE
from .pass_rates import axes_of, names_of_scores, pass_rates, scores_of_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..frames.log_frames import DataFrame
    from .cell import Cell
    from .differences import Difference
    from .evaluating import Score
    from .pass_rates import PassRate

__all__ = ["Scored", "scores_table", "summary_table"]

#: a cell and one of its scores
_Row = tuple["Cell", "Score"]


def _of_score(name: str) -> Callable[[_Row, Any], Any]:
    return lambda row, _: getattr(row[1], name)


def _of_rate(name: str) -> Callable[[PassRate, Any], Any]:
    return lambda rate, _: getattr(rate, name)


def _result(row: _Row, _place: Any) -> str:
    score = row[1]
    if score.error is not None:
        return "error"
    return {True: "passed", False: "failed", None: "undecided"}[score.passed]


#: columns of ``scores()`` after the axes
SCORES: tuple[Column[_Row], ...] = (
    Column("score", "string", "What it is called.", _of_score("name")),
    Column("result", "string",
           "`failed`, `error` (there is no score), `undecided` (a number or a word alone, or a "
           "verdict that changes with the order), `passed`.",
           _result),
    Column("passed", "boolean", "Whether the answer is good enough; missing where undecided.",
           _of_score("passed")),
    Column("value", "Float64", "A number on the evaluator's own scale.", _of_score("value")),
    Column("label", "string", "A word in its place.", _of_score("label")),
    Column("reason", "string", "Why.", _of_score("reason")),
    Column("error", "string", "Why there is no score.",
           lambda row, _: None if row[1].error is None else row[1].error.get("message")),
    Column("cost_usd", "Float64",
           "US dollars that judging cost; missing where it is not known, or nothing was asked.",
           _of_score("cost_usd")),
    Column("simulated", "boolean", "Whether the answer or the verdict was made up.",
           lambda row, _: row[0].simulated or row[1].simulated),
    Column("index", "Int64", "The cell's place in the plan.", lambda row, _: row[0].index),
    Column("output", "string", "The answer.", lambda row, _: row[0].text),
    Column("run_id", "string", "The run that answered.", lambda row, _: row[0].run_id),
    Column("judge_run_id", "string", "The run that judged.", _of_score("run_id")),
)  # fmt: skip
#: columns of ``summary()`` after the axes
SUMMARY: tuple[Column[PassRate], ...] = (
    Column("score", "string", "What it is called.", _of_rate("score")),
    Column("judged", "Int64", "Answers for which it was decided whether they pass.",
           _of_rate("judged")),
    Column("passed", "Int64", "Those that do.", _of_rate("passed")),
    Column("rate", "Float64", "Their share.", _of_rate("rate")),
    Column("low", "Float64", "The lower end of the share's interval.", _of_rate("low")),
    Column("high", "Float64", "The upper end.", _of_rate("high")),
    Column("undecided", "Int64", "Answers that the score left open.", _of_rate("undecided")),
    Column("errors", "Int64", "Answers for which the evaluator failed.", _of_rate("errors")),
    Column("unanswered", "Int64", "Cells that ended without an answer.", _of_rate("unanswered")),
    Column("inputs", "Int64", "Different inputs among the answers that count.",
           _of_rate("inputs")),
    Column("mean", "Float64", "Mean of the values, each input counting once.", _of_rate("mean")),
    Column("mean_low", "Float64", "The lower end of the mean's interval.", _of_rate("mean_low")),
    Column("mean_high", "Float64", "The upper end.", _of_rate("mean_high")),
    Column("simulated", "boolean", "Whether an answer or a verdict was made up.",
           _of_rate("simulated")),
)  # fmt: skip
#: a score's result -> its place in the table
_ORDER = {"failed": 0, "error": 1, "undecided": 2, "passed": 3}


def scores_table(cells: Sequence[Cell], score: str | None = None) -> DataFrame:
    """A row for each score of each cell, failures first."""
    axes = axes_of(cells, list(cells[0].axes) if cells else ())
    rows = [
        (cell, found)
        for cell in cells
        for name, found in scores_of_cell(cell).items()
        if score in (None, name)
    ]
    rows.sort(key=lambda row: _ORDER[_result(row, None)])
    values: list[Mapping[str, Any]] = [cell.axes for cell, _ in rows]
    return _table(axes, SCORES, rows, values)


def summary_table(rates: Sequence[PassRate], axes: Sequence[str]) -> DataFrame:
    """A row for each score of each variant."""
    return _table(axes, SUMMARY, rates, [rate.group for rate in rates])


def _table(
    axes: Sequence[str],
    columns: Sequence[Column[Any]],
    rows: Iterable[Any],
    values: Sequence[Mapping[str, Any]],
) -> DataFrame:
    """A table whose first columns are axes, with the type that their values have."""
    taken = {column.name for column in columns}
    first = [
        Column(
            f"axis_{axis}" if axis in taken else axis, _dtype(values, axis), "An axis.", _at(axis)
        )
        for axis in axes
    ]  # fmt: skip
    others = [Column(c.name, c.dtype, c.doc, _second(c.read)) for c in columns]
    filling = Filling([*first, *others])
    nowhere: Any = None
    filling.extend(((where, row), nowhere) for where, row in zip(values, rows, strict=True))
    return filling.table()


def _at(axis: str) -> Callable[[Any, Any], Any]:
    return lambda row, _: row[0][axis]


def _second(read: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda row, place: read(row[1], place)


def _dtype(values: Iterable[Mapping[str, Any]], axis: str) -> str:
    kinds = {type(where[axis]) for where in values}
    for dtype, fitting in (("boolean", {bool}), ("Int64", {int}), ("Float64", {int, float})):
        if kinds and kinds <= fitting:
            return dtype
    return "string"


class Scored:
    """Mixin of an experiment: what its scores and ratings come to."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def cells(self) -> Sequence[Cell]:
            """All cells, in the order of the plan."""
            ...

    def scores(self, score: str | None = None) -> DataFrame:
        """Every score of every cell as a table, failures first.

        Parameters
        ----------
        score : str, optional
            Only this one; ``"rating"`` for what people gave.

        Returns
        -------
        DataFrame
            The axes, then ``score, result, passed, value, label, reason, error, cost_usd,
            simulated, index, output, run_id, judge_run_id``.
        """
        return scores_table(self.cells, score)

    def summary(
        self,
        by: str | Iterable[str] | None = None,
        *,
        score: str | None = None,
        confidence: float = CONFIDENCE,
    ) -> DataFrame:
        """Pass rates and means with their intervals, the lowest rate of each score first.

        Parameters
        ----------
        by : str or list of str, optional
            Axes that tell variants apart, ``"model"`` or ``["prompt", "input"]``; all but
            ``input`` and ``repeat`` when left out, ``()`` for all answers together.
        score : str, optional
            Only this one.
        confidence : float, optional
            Of the intervals.

        Returns
        -------
        DataFrame
            The axes, then ``score, judged, passed, rate, low, high, undecided, errors,
            unanswered, inputs, mean, mean_low, mean_high, simulated``. ``low`` and ``high`` are
            Wilson's interval; repeats narrow it only as far as answers to one input differ.

        Raises
        ------
        InputError
            When there is no such axis or score.
        """
        cells = self.cells
        return summary_table(
            pass_rates(cells, by, score=score, confidence=confidence), axes_of(cells, by)
        )

    def difference(
        self,
        a: str | Mapping[str, Any],
        b: str | Mapping[str, Any],
        *,
        score: str | None = None,
        confidence: float = CONFIDENCE,
    ) -> Difference:
        """How much better one variant did than another, with an interval.

        Answers to the same input are compared in pairs, which tells much more than two pass rates
        side by side.

        Parameters
        ----------
        a, b : str or mapping
            A prompt's label, or values by axis: ``{"model": "openai/gpt-5-mini"}``.
        score : str, optional
            May be left out where there is only one.
        confidence : float, optional

        Returns
        -------
        Difference
            ``gap, low, high``, and ``told``: which one is better, or ``"neither"``.

        Raises
        ------
        InputError
            When there is no such variant or score.
        """
        return difference_of(self.cells, a, b, score=score, confidence=confidence)

    @property
    def score_names(self) -> list[str]:
        """The scores that there are; ``"rating"`` among them where somebody rated."""
        return names_of_scores(self.cells)
