"""How much two variants differ in a score: paired by input, with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near
from ..core.readings import Pictured
from .intervals import CONFIDENCE, Pairs, effective_size, paired_difference
from .intervals import difference as independent_difference
from .pairing import place_of
from .pass_rates import by_input, mean_of, names_of_scores, scores_of_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .cell import Cell
    from .evaluating import Score

__all__ = ["Difference", "difference_of"]


@dataclass(frozen=True, slots=True)
class Difference(Pictured):
    """How much better the first of two variants did than the second.

    Attributes
    ----------
    a, b : mapping
        Value by axis.
    score : str
    paired : bool
        Whether the two were given the same inputs; then only answers whose partner was judged
        too count.
    judged : int
        Pairs that count; where nothing is paired, the answers of both.
    inputs : int
        Different inputs among them.
    both, only_a, only_b, neither : int
        Pairs in which both passed, only one did, none did; 0 where nothing is paired.
    rate_a, rate_b : float or None
        Shares that passed, among those that count; means where the score has only values.
    gap, low, high : float or None
        ``rate_a - rate_b`` and its interval; None where there is nothing, ends None for a mean of
        a single value.
    left_out : int
        Answers of the two without a decided partner, or not judged.
    simulated : bool
        Whether an answer or a verdict was made up.
    """

    a: Mapping[str, Any]
    b: Mapping[str, Any]
    score: str
    paired: bool
    judged: int
    inputs: int
    both: int
    only_a: int
    only_b: int
    neither: int
    rate_a: float | None
    rate_b: float | None
    gap: float | None
    low: float | None
    high: float | None
    left_out: int
    simulated: bool = False

    @property
    def told(self) -> str:
        """``"a"`` or ``"b"`` for the better one; ``"neither"`` where the interval holds 0."""
        if self.low is None or self.high is None or self.low <= 0 <= self.high:
            return "neither"
        return "a" if self.low > 0 else "b"

    def __repr__(self) -> str:
        names = [" × ".join(map(str, side.values())) for side in (self.a, self.b)]
        head = f"{self.score}, {names[0]} against {names[1]}"
        if self.gap is None:
            return f"<{head}: nothing to compare>"
        ends = "" if self.low is None else f" ({self.low:+.2f} to {self.high:+.2f})"
        how = "pairs" if self.paired else "answers, not paired"
        said = f"{self.gap:+.2f}{ends}, {self.judged} {how}"
        told = {
            "a": f"{names[0]} is better", "b": f"{names[1]} is better",
            "neither": "no difference can be told",
        }[self.told]  # fmt: skip
        made_up = ", simulated" if self.simulated else ""
        return f"<{head}: {said}{made_up}; {told}>"


def difference_of(
    cells: Sequence[Cell],
    a: str | Mapping[str, Any],
    b: str | Mapping[str, Any],
    *,
    score: str | None = None,
    confidence: float = CONFIDENCE,
) -> Difference:
    """How much better one variant did than another.

    Answers at the same place but for the axes that are named are pairs: same input, same repeat,
    same value of every other axis.

    Parameters
    ----------
    cells : sequence of Cell
    a, b : str or mapping
        A prompt's label, or values by axis.
    score : str, optional
        May be left out where there is only one.
    confidence : float, optional

    Returns
    -------
    Difference

    Raises
    ------
    InputError
        When there is no such variant or score, or the two are one.

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> from robotlab_nb.lab.evaluating import Score
    >>> cells = [
    ...     Cell(n, "", prompt, "m", f"q{n // 2}", status="completed",
    ...          scores=(Score("short", passed=prompt == "terse" or n < 10),))
    ...     for n, prompt in enumerate(["terse", "long"] * 20)
    ... ]
    >>> difference_of(cells, "terse", "long")
    <short, terse against long: +0.75 (+0.48 to +0.89), 20 pairs; terse is better>
    """
    sides = [_variant(cells, each) for each in (a, b)]
    if sides[0] == sides[1]:
        raise InputError(f"{a!r:.60} and {b!r:.60} are the same variant")
    name = _score(cells, score)
    axes = list(dict.fromkeys((*sides[0], *sides[1])))
    found = [_scored(cells, side, name, axes) for side in sides]
    shared = found[0].keys() & found[1].keys()
    both = [place for place in found[0] if place in shared]  # in the order of cells
    if both:
        return _of_pairs(sides, name, [(found[0][p], found[1][p]) for p in both], found, confidence)
    return _of_two(sides, name, found, confidence)


def _variant(cells: Sequence[Cell], given: Any) -> dict[str, Any]:
    side = {"prompt": given} if isinstance(given, str) else dict(given)
    known = cells[0].axes if cells else {}
    for axis, value in side.items():
        if axis not in known:
            raise InputError(f"there is no axis {axis!r:.60}", hint=near(str(axis), known))
        values = list(dict.fromkeys(str(cell.axes[axis]) for cell in cells))
        if str(value) not in values:
            raise InputError(f"there is no {axis} {value!r:.60}", hint=near(str(value), values))
    if not side:
        raise InputError("a variant is named by a prompt, or by values of axes")
    return side


def _score(cells: Sequence[Cell], score: str | None) -> str:
    names = names_of_scores(cells)
    if score is None and len(names) == 1:
        return names[0]
    if score is None or score not in names:
        told = "which score is meant was not said" if score is None else f"no score {score!r:.60}"
        raise InputError(told, hint=near(score or "", names))
    return score


_Scored = dict[Any, tuple["Cell", "Score"]]


def _scored(cells: Sequence[Cell], side: Mapping[str, Any], name: str, axes: list[str]) -> _Scored:
    """Place but for the axes that differ -> a cell of the variant, and its score."""
    found: _Scored = {}
    for cell in cells:
        if any(str(cell.axes[axis]) != str(value) for axis, value in side.items()):
            continue
        score = scores_of_cell(cell).get(name)
        if score is not None and score.error is None and score.number is not None:
            found[place_of(cell, dict.fromkeys(axes))] = (cell, score)
    return found


def _of_pairs(
    sides: list[dict[str, Any]],
    name: str,
    pairs: list[tuple[tuple[Cell, Score], tuple[Cell, Score]]],
    found: list[_Scored],
    confidence: float,
) -> Difference:
    decided = [p for p in pairs if p[0][1].passed is not None and p[1][1].passed is not None]
    if decided:
        table = [[0, 0], [0, 0]]
        for (_, one), (_, two) in decided:
            table[not one.passed][not two.passed] += 1
        (both, only_a), (only_b, neither) = table
        size = effective_size(
            by_input((cell.input, _number(one) - _number(two)) for (cell, one), (_, two) in decided)
        )
        worth = size / len(decided)
        counted = Pairs(both * worth, only_a * worth, only_b * worth, neither * worth)
        gap, low, high = paired_difference(counted, confidence)
        counts = (both, only_a, only_b, neither)
        rates = ((both + only_a) / len(decided), (both + only_b) / len(decided))
        return _made(sides, name, decided, counts, rates, (gap, low, high), found)
    gaps = by_input((cell.input, _number(one) - _number(two)) for (cell, one), (_, two) in pairs)
    means = [_mean([_number(pair[n][1]) for pair in pairs]) for n in (0, 1)]
    told = mean_of(gaps, confidence)
    return _made(sides, name, pairs, (0, 0, 0, 0), (means[0], means[1]), told, found)


def _made(
    sides: list[dict[str, Any]],
    name: str,
    pairs: list[tuple[tuple[Cell, Score], tuple[Cell, Score]]],
    counts: tuple[int, int, int, int],
    rates: tuple[float, float],
    gap: tuple[float | None, float | None, float | None],
    found: list[_Scored],
) -> Difference:
    inputs = len({cell.input for (cell, _), _ in pairs})
    left = len(found[0]) + len(found[1]) - 2 * len(pairs)
    return Difference(
        sides[0],
        sides[1],
        name,
        True,
        len(pairs),
        inputs,
        *counts,
        *rates,
        *gap,
        left,
        _made_up(found),
    )


def _of_two(
    sides: list[dict[str, Any]], name: str, found: list[_Scored], confidence: float
) -> Difference:
    """Two variants that were not given the same inputs."""
    decided = [[(c, s) for c, s in f.values() if s.passed is not None] for f in found]
    rates: list[float | None] = [None, None]
    gap: tuple[float | None, float | None, float | None] = (None, None, None)
    if all(decided):
        shares = []
        for n, side in enumerate(decided):
            size = effective_size(by_input((cell.input, _number(s)) for cell, s in side))
            rates[n] = rate = _mean([_number(score) for _, score in side])
            shares.append((rate * size, size))
        gap = independent_difference(shares[0], shares[1], confidence)
    judged = sum(map(len, decided)) if all(decided) else 0
    inputs = len({cell.input for side in decided for cell, _ in side})
    left = sum(map(len, found)) - judged
    return Difference(
        sides[0],
        sides[1],
        name,
        False,
        judged,
        inputs,
        0,
        0,
        0,
        0,
        rates[0],
        rates[1],
        *gap,
        left,
        _made_up(found),
    )


def _made_up(found: list[_Scored]) -> bool:
    """Whether something in it was simulated."""
    return any(cell.simulated or score.simulated for f in found for cell, score in f.values())


def _number(score: Score) -> float:
    if score.passed is not None:
        return float(score.passed)
    return score.value or 0.0


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
