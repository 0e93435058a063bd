"""Where the cells of an experiment stand, and what they come to: read once for every picture.

A row is an input, a column a prompt, a model and what else was varied; repeats stand in one place
of the grid. Labels and values are untrusted. Knows no HTML and no widget.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from .escape import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..lab.cell import Cell

__all__ = ["Column", "GridFacts", "Tally", "all_simulated", "grid_facts", "has_failed", "tally"]

#: characters of a label
_LABEL = 60


@dataclass(frozen=True, slots=True)
class Column:
    """A prompt, a model, and the values of further axes.

    Parameters
    ----------
    prompt, model : str
    params : tuple of (str, str)
    name : str
        What of these tells it from other columns, on one line.
    """

    prompt: str
    model: str
    params: tuple[tuple[str, str], ...]
    name: str


@dataclass(frozen=True, slots=True)
class GridFacts:
    """The plan of a grid.

    Parameters
    ----------
    columns : tuple of Column
    rows : tuple of str
        Labels of the inputs.
    slots : dict of (int, int) to list of Cell
        By row and column: one cell, or its repeats.
    same : tuple of (str, str)
        Axes with one value, and that value.
    size : str
        How many of each axis, in words.
    """

    columns: tuple[Column, ...]
    rows: tuple[str, ...]
    slots: dict[tuple[int, int], list[Cell]] = field(repr=False)
    same: tuple[tuple[str, str], ...]
    size: str

    def row(self, number: int) -> list[Cell]:
        """The cells of a row."""
        return [cell for n in range(len(self.columns)) for cell in self.slots.get((number, n), ())]

    def column(self, number: int) -> list[Cell]:
        """The cells of a column."""
        return [cell for n in range(len(self.rows)) for cell in self.slots.get((n, number), ())]


def grid_facts(cells: Sequence[Cell]) -> GridFacts:
    """Where each cell stands, in the order in which prompts, models and inputs appear.

    Parameters
    ----------
    cells : sequence of Cell

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> plan = [("short", "rain"), ("long", "rain"), ("short", "sun"), ("long", "sun")]
    >>> cells = [Cell(n, "", prompt, "mini", word) for n, (prompt, word) in enumerate(plan)]
    >>> facts = grid_facts(cells)
    >>> [column.name for column in facts.columns], facts.rows, facts.size
    (['short', 'long'], ('rain', 'sun'), '2 prompts × 2 inputs')
    """
    prompts = dict.fromkeys(cell.prompt for cell in cells)
    models = dict.fromkeys(cell.model for cell in cells)
    inputs = {label: n for n, label in enumerate(dict.fromkeys(cell.input for cell in cells))}
    params: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name, value in cell.params.items():
            params.setdefault(name, {})[one_line(value, _LABEL)] = None
    columns: dict[tuple[Any, ...], int] = {}
    slots: dict[tuple[int, int], list[Cell]] = {}
    for cell in cells:
        values = tuple((name, one_line(value, _LABEL)) for name, value in cell.params.items())
        number = columns.setdefault((cell.prompt, cell.model, values), len(columns))
        slots.setdefault((inputs[cell.input], number), []).append(cell)
    for repeats in slots.values():
        repeats.sort(key=lambda cell: cell.repeat)
    several = {name for name, values in params.items() if len(values) > 1}
    made = tuple(
        Column(prompt, model, values, _name(prompt, model, values, several, prompts, models))
        for prompt, model, values in columns
    )
    single = {"prompt": [*prompts], "model": [*models], **{k: [*v] for k, v in params.items()}}
    same = tuple(
        (one_line(name, _LABEL), one_line(values[0], 120))
        for name, values in single.items()
        if len(values) == 1
    )
    repeats_ = max((cell.repeat for cell in cells), default=0) + 1
    counts = [("prompt", len(prompts)), ("model", len(models))]
    counts += [(one_line(name, 30), len(values)) for name, values in params.items()]
    words = [f"{number:,} {name}s" for name, number in counts if number > 1]
    words.append(f"{len(inputs):,} input{'' if len(inputs) == 1 else 's'}")
    words += [f"{repeats_:,} repeats"] if repeats_ > 1 else []
    return GridFacts(made, tuple(inputs), slots, same, " × ".join(words))


def _name(
    prompt: str,
    model: str,
    values: Iterable[tuple[str, str]],
    several: set[str],
    prompts: Mapping[str, None],
    models: Mapping[str, None],
) -> str:
    names = [one_line(prompt, _LABEL)] if len(prompts) > 1 else []
    names += [one_line(model, _LABEL)] if len(models) > 1 else []
    names += [f"{one_line(name, 30)} {value}" for name, value in values if name in several]
    return " · ".join(names) or one_line(prompt, _LABEL) or "answer"


def has_failed(cell: Cell) -> bool:
    """Whether a cell has no answer where one was asked for, or its answer is not good enough.

    Parameters
    ----------
    cell : Cell
    """
    return cell.status == "failed" or any(score.passed is False for score in cell.scores)


def all_simulated(cells: Iterable[Cell]) -> bool:
    """Whether there are answers, and all of them are made up.

    Parameters
    ----------
    cells : iterable of Cell
    """
    made = [cell.simulated for cell in cells if cell.status == "completed"]
    return bool(made) and all(made)


@dataclass(frozen=True, slots=True)
class Tally:
    """What cells come to.

    Parameters
    ----------
    states : Counter of str
        How many stand how.
    cached : int
    passes : dict of str to (int, int)
        By evaluator: how many passed, of how many that were judged so.
    values : dict of str to float
        By evaluator without a pass mark: the mean of its numbers.
    rating : float or None
        The mean.
    rated : int
    cost_usd : float or None
        What was paid for those answered now; None where that is not known of any.
    complete : bool
        Whether all prices are known.
    seconds : float or None
        The median, of those answered now.
    tokens : int
    """

    states: Counter[str]
    cached: int
    passes: dict[str, tuple[int, int]]
    values: dict[str, float]
    rating: float | None
    rated: int
    cost_usd: float | None
    complete: bool
    seconds: float | None
    tokens: int


def tally(cells: Iterable[Cell]) -> Tally:
    """Count cells.

    Parameters
    ----------
    cells : iterable of Cell
    """
    cells = list(cells)
    passes: dict[str, tuple[int, int]] = {}
    numbers: dict[str, list[float]] = {}
    for cell in cells:
        for score in cell.scores:
            name = one_line(score.name, 40) or "score"
            if score.passed is not None:
                good, all_ = passes.get(name, (0, 0))
                passes[name] = (good + score.passed, all_ + 1)
            elif score.value is not None:
                numbers.setdefault(name, []).append(score.value)
    now = [cell for cell in cells if not cell.cached and cell.run_id is not None]
    prices = [cell.cost_usd for cell in now if cell.cost_usd is not None]
    ratings = [cell.rating for cell in cells if cell.rating is not None]
    times = [cell.duration_s for cell in cells if cell.duration_s is not None and not cell.cached]
    # What failed before anything was answered has cost nothing that is known of.
    done = [c for c in now if (c.text is not None or c.input_tokens) and not c.simulated]
    return Tally(
        Counter(cell.status for cell in cells),
        sum(cell.cached for cell in cells),
        passes,
        {name: sum(each) / len(each) for name, each in numbers.items()},
        sum(ratings) / len(ratings) if ratings else None,
        len(ratings),
        sum(prices) if prices else None,
        all(cell.cost_complete and cell.cost_usd is not None for cell in done),
        median(times) if times else None,
        sum((cell.input_tokens or 0) + (cell.output_tokens or 0) for cell in now),
    )
