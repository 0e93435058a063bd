"""What scores come to: pass rates and means of variants, and how much two variants differ.

Every figure has its interval. Answers to the same input are alike: repeats narrow an interval only
as far as they differ (see :func:`~robotlab_nb.lab.intervals.effective_size`). Pure functions of
cells.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near
from .evaluating import Score
from .intervals import CONFIDENCE, effective_size, mean_interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .cell import Cell

__all__ = ["RATING", "PassRate", "by_input", "names_of_scores", "pass_rates", "scores_of_cell"]

#: what people's ratings are called among scores
RATING = "rating"
#: axes that tell answers of one variant apart
WITHIN = ("input", "repeat")


@dataclass(frozen=True, slots=True)
class PassRate:
    """What one score comes to for one variant.

    Attributes
    ----------
    group : mapping
        Value by axis.
    score : str
        The score's name; ``"rating"`` for what people gave.
    judged, passed : int
        Answers for which it was decided whether they pass, and those that do.
    rate, low, high : float or None
        Share that passed, and its interval; None where nothing was decided.
    undecided : int
        Answers that it left open: ties, verdicts that change with the order.
    errors : int
        Answers for which the evaluator failed.
    unanswered : int
        Cells that ended without an answer: they are not among those judged.
    inputs : int
        Different inputs among the answers that count.
    mean, mean_low, mean_high : float or None
        Of the values, each input counting once; ends None for a single value.
    simulated : bool
        Whether an answer or a verdict was made up.
    """

    group: Mapping[str, Any]
    score: str
    judged: int
    passed: int
    rate: float | None
    low: float | None
    high: float | None
    undecided: int
    errors: int
    unanswered: int
    inputs: int
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    simulated: bool

    def __repr__(self) -> str:
        where = " × ".join(str(value) for value in self.group.values()) or "all"
        if self.rate is not None:
            said = f"{self.passed} of {self.judged} passed, {self.rate:.0%} "
            said += f"({self.low:.0%} to {self.high:.0%})"
        elif self.mean is not None:
            ends = (
                "" if self.mean_low is None else f" ({self.mean_low:.3g} to {self.mean_high:.3g})"
            )
            said = f"mean {self.mean:.3g}{ends}"
        else:
            said = "nothing judged"
        return f"<{self.score}, {where}: {said}>"


def pass_rates(
    cells: Sequence[Cell],
    by: str | Iterable[str] | None = None,
    *,
    score: str | None = None,
    confidence: float = CONFIDENCE,
) -> list[PassRate]:
    """What each score comes to for each variant, the lowest rate first.

    Parameters
    ----------
    cells : sequence of Cell
    by : str or iterable of str, optional
        Axes that tell variants apart; all but ``input`` and ``repeat`` when left out, none of them
        for ``()``.
    score : str, optional
        Only this one.
    confidence : float, optional

    Returns
    -------
    list of PassRate

    Raises
    ------
    InputError
        When there is no such axis, or no such score.

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> cells = [
    ...     Cell(n, "", "terse", "m", f"q{n}", status="completed",
    ...          scores=(Score("short", passed=n != 3),))
    ...     for n in range(4)
    ... ]
    >>> pass_rates(cells)
    [<short, terse × m: 3 of 4 passed, 75% (30% to 95%)>]
    """
    axes = axes_of(cells, by)
    names = names_of_scores(cells)
    if score is not None:
        if score not in names:
            raise InputError(f"there is no score {score!r:.60}", hint=near(score, names))
        names = [score]
    groups: dict[tuple[Any, ...], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[tuple(_told(cell.axes[axis]) for axis in axes)].append(cell)
    made: list[PassRate] = []
    for name in names:
        rows = [
            _rate(dict(zip(axes, values, strict=True)), name, inside, confidence)
            for values, inside in groups.items()
        ]
        made += sorted(rows, key=_worst_first)
    return made


def axes_of(cells: Sequence[Cell], by: str | Iterable[str] | None) -> list[str]:
    """The axes that a person names; those of variants where none are named."""
    known = list(cells[0].axes) if cells else []
    if by is None:
        return [axis for axis in known if axis not in WITHIN]
    given = [by] if isinstance(by, str) else list(by)
    for axis in given:
        if known and axis not in known:
            raise InputError(f"there is no axis {axis!r:.60}", hint=near(str(axis), known))
    return list(dict.fromkeys(given))


def names_of_scores(cells: Iterable[Cell]) -> list[str]:
    """The scores that cells have, in order; ratings last."""
    found: dict[str, None] = {}
    rated = False
    for cell in cells:
        found.update(dict.fromkeys(score.name for score in cell.scores))
        rated = rated or cell.rating is not None
    names = [name for name in found if name != RATING or not rated]
    return [*names, RATING] if rated else names


def scores_of_cell(cell: Cell) -> dict[str, Score]:
    """A cell's scores by name, a person's rating among them."""
    found = {score.name: score for score in cell.scores}
    if cell.rating is not None:
        found[RATING] = Score(RATING, float(cell.rating), reason=cell.note)
    return found


def by_input(values: Iterable[tuple[str, float]]) -> list[list[float]]:
    """Values of answers, those to one input together."""
    found: dict[str, list[float]] = defaultdict(list)
    for label, value in values:
        found[label].append(value)
    return list(found.values())


def _told(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return str(value)
    return value


def _rate(group: dict[str, Any], name: str, cells: list[Cell], confidence: float) -> PassRate:
    scored = [(cell, scores_of_cell(cell).get(name)) for cell in cells]
    found = [(cell, score) for cell, score in scored if score is not None]
    decided = [(cell, score.passed) for cell, score in found if score.passed is not None]
    valued = [(cell, score.value) for cell, score in found if score.value is not None]
    open_ = [s for _, s in found if s.passed is None and s.error is None]
    passed = sum(1 for _, good in decided if good)
    rate = low = high = None
    if decided:
        size = effective_size(by_input((cell.input, float(good)) for cell, good in decided))
        rate = passed / len(decided)
        low, high = wilson(rate * size, size, confidence)
    groups = by_input((cell.input, float(value)) for cell, value in valued)
    mean, mean_low, mean_high = mean_of(groups, confidence)
    counted = {cell.input for cell, _ in decided} or {cell.input for cell, _ in valued}
    return PassRate(
        group, name, len(decided), passed, rate, low, high,
        # A score that gives only numbers leaves nothing open.
        sum(1 for each in open_ if decided or each.label is not None),
        sum(1 for _, score in found if score.error is not None),
        sum(1 for cell in cells if cell.ended and cell.status != "completed"),
        len(counted), mean, mean_low, mean_high,
        any(score.simulated or cell.simulated for cell, score in found),
    )  # fmt: skip


def mean_of(
    groups: list[list[float]], confidence: float
) -> tuple[float | None, float | None, float | None]:
    """Mean and interval of inputs' means; of a single input's values as they are."""
    values = groups[0] if len(groups) == 1 else [math.fsum(g) / len(g) for g in groups]
    told = [None if math.isnan(each) else each for each in mean_interval(values, confidence)]
    return told[0], told[1], told[2]


def _worst_first(row: PassRate) -> tuple[float, float]:
    rate = math.inf if row.rate is None else row.rate
    return rate, math.inf if row.mean is None else row.mean
