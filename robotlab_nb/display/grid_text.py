"""A grid in plain text: a small one with its answers, a larger one as marks. Knows no HTML."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .escape import one_line
from .grid_facts import has_failed
from .grid_words import answer_of, error_words, figures, rated, score_bits
from .states import state_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..lab.cell import Cell
    from .grid_facts import GridFacts
    from .parts import Line

__all__ = ["told_rows"]

#: lines for the grid, inputs among them; cells that are told with their answers
_LINES, _SMALL = 24, 10
#: characters of an answer; of a row's label; columns that have a letter
_ANSWER, _LABEL, _COLUMNS = 48, 40, 12
_ERRORS = 3
_LEGEND = "✓ answered, ! answered and a check failed, ✕ failed, ○ to come, ↷ not asked"


def told_rows(facts: GridFacts, order: Sequence[int]) -> tuple[Line, ...]:
    """The rows of a grid as lines of text.

    Parameters
    ----------
    facts : GridFacts
    order : sequence of int
        Of the rows.
    """
    cells = sum(map(len, facts.slots.values()))
    made = _answers(facts, order) if cells <= _SMALL else _marks(facts, order)
    return tuple((line,) for line in made)


def _answers(facts: GridFacts, order: Sequence[int]) -> Iterator[str]:
    for row in order:
        yield one_line(facts.rows[row], 88) or "(empty)"
        for number, column in enumerate(facts.columns):
            for cell in facts.slots.get((row, number), ()):
                again = f" ({cell.repeat + 1})" if cell.repeat else ""
                yield f"  {one_line(column.name, 28)}{again}  {_said(cell)}"


def _said(cell: Cell) -> str:
    state = state_of(cell.status)
    bad = [f"{icon} {words}" for icon, words, hue in score_bits(cell) if hue]
    good = sum(score.passed is True for score in cell.scores)
    text = one_line(answer_of(cell), _ANSWER) or error_words(cell, _ANSWER) or state.word
    marks = [f"{good} passed"] if good and not bad else []
    told = (f"{state.icon} {text}", *bad, rated(cell), *marks, figures(cell))
    return " · ".join(each for each in told if each)


def _marks(facts: GridFacts, order: Sequence[int]) -> Iterator[str]:
    shown = facts.columns[:_COLUMNS]
    letters = [chr(ord("A") + number) for number in range(len(shown))]
    yield _LEGEND
    errors = Counter(error_words(c, 80) for each in facts.slots.values() for c in each if c.error)
    for words, number in errors.most_common(_ERRORS):
        yield f"✕ {number:,} failed: {words}"
    for letter, column in zip(letters, shown, strict=True):
        yield f"{letter} = {one_line(column.name, 80)}"
    if len(facts.columns) > len(shown):
        yield f"… {len(facts.columns) - len(shown):,} more columns"
    room = max(_LINES - len(shown) - min(len(errors), _ERRORS) - 2, 6)
    for row in order[:room]:
        places = [
            f"{letter} {''.join(map(_mark, facts.slots.get((row, n), ())))}"
            for n, letter in enumerate(letters)
        ]
        label = one_line(facts.rows[row], _LABEL) or "(empty)"
        yield f"{'  '.join(places)}  {label}"
    if len(order) > room:
        yield f"… {len(order) - room:,} more inputs"


def _mark(cell: Cell) -> str:
    bad = cell.status == "completed" and has_failed(cell)
    return "!" if bad else state_of(cell.status).icon
