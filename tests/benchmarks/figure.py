"""A figure to hold: what is measured, what it may cost, and how the two are told.

It knows nothing of how anything is measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Figure", "Measured", "Pair", "Setting", "table"]


class Pair(NamedTuple):
    """One measurement: the floor (None where there is none) and ours, in the figure's unit."""

    floor: float | None
    ours: float


@dataclass(frozen=True, slots=True)
class Setting:
    """What measurements share.

    Parameters
    ----------
    url : str
        Base URL of the model server on the loopback.
    quick : bool
        Whether a tenth of the repetitions is enough: to see that all works, not how fast.
    """

    url: str
    quick: bool = False

    def times(self, count: int) -> int:
        """How often to repeat something."""
        return max(2, count // 10) if self.quick else count


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure to hold.

    Parameters
    ----------
    what : str
    unit : str
        ``µs``, ``ms`` and so on of processor time, unless ``what`` says wall.
    most : float
        What ours may be at most, in the unit.
    measure : callable
        Given a Setting, returns a Pair.
    floor_then : float or None
        The floor on the machine on which ``most`` was set: elsewhere, their ratio is what counts.
    """

    what: str
    unit: str
    most: float
    measure: Callable[[Setting], Pair]
    floor_then: float | None = None


@dataclass(slots=True)
class Measured:
    """A figure and what was measured of it.

    Examples
    --------
    >>> slow = Figure("a run", "µs", 100, lambda setting: Pair(4, 180), floor_then=2)
    >>> found = Measured(slow, [Pair(4, 180), Pair(4, 190), Pair(4, 180)])
    >>> found.ours, found.ratio, found.verdict
    (180, 45.0, 'ok')
    >>> Measured(slow, [Pair(2, 180)]).verdict
    'over'
    """

    figure: Figure
    pairs: list[Pair] = field(default_factory=list)
    error: str | None = None

    @property
    def ours(self) -> float | None:
        """The median of what we cost."""
        return median([pair.ours for pair in self.pairs]) if self.pairs else None

    @property
    def floor(self) -> float | None:
        """The median of what the floor costs."""
        floors = [pair.floor for pair in self.pairs if pair.floor is not None]
        return median(floors) if floors else None

    @property
    def ratio(self) -> float | None:
        """How many times the floor we cost; the median over the pairs."""
        ratios = [pair.ours / pair.floor for pair in self.pairs if pair.floor]
        return median(ratios) if ratios else None

    @property
    def verdict(self) -> str:
        """``ok`` within the bound, or within its ratio to the floor of its machine."""
        if self.ours is None:
            return "failed"
        figure, ratio = self.figure, self.ratio
        if self.ours <= figure.most:
            return "ok"
        allowed = figure.most / figure.floor_then if figure.floor_then else None
        return "ok" if allowed and ratio and ratio <= allowed else "over"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "what": self.figure.what,
            "unit": self.figure.unit,
            "floor": self.floor,
            "ours": self.ours,
            "ratio": self.ratio,
            "bound": self.figure.most,
            "floor_then": self.figure.floor_then,
            "verdict": self.verdict,
            "pairs": [list(pair) for pair in self.pairs],
            "error": self.error,
        }


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _cells(found: Measured) -> list[str]:
    figure = found.figure
    return [
        figure.what,
        _number(found.floor),
        _number(found.ours),
        f"{found.ratio:.2f}×" if found.ratio else "-",
        f"{_number(figure.most)} {figure.unit}",
        found.verdict,
    ]


def table(found: Iterable[Measured]) -> str:
    """All figures as one Markdown table.

    Examples
    --------
    >>> figure = Figure("a run", "µs", 100, lambda setting: Pair(2, 80))
    >>> print(table([Measured(figure, [Pair(2, 80)])]))
    | what  | floor | ours | ratio  |  bound |  is |
    | ----- | ----- | ---- | ------ | ------ | --- |
    | a run |     2 |   80 | 40.00× | 100 µs |  ok |
    """
    rows = [["what", "floor", "ours", "ratio", "bound", "is"], *map(_cells, found)]
    widths = [max(3, *(len(row[i]) for row in rows)) for i in range(6)]
    rows.insert(1, ["-" * width for width in widths])
    lines = []
    for row in rows:
        first, *rest = (
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append(f"| {' | '.join([first, *rest])} |")
    return "\n".join(lines)
