"""The pictures of one cell of an experiment, and of lists of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .amounts import count
from .escape import clip, one_line
from .grid_words import answer_of, error_words, figures, score_bits, stars
from .parts import (
    Bit,
    Fields,
    Fold,
    Para,
    Picture,
    Pre,
    Prose,
    Quote,
    Table,
    badge,
    dots,
    part,
    quiet,
    state_bit,
)
from .result_card import fault_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..lab.cell import Cell
    from .parts import Block

__all__ = ["cell", "cells"]

#: columns of an input that are shown; cells of a list
_FIELDS, _ROWS = 12, 20


def cell(thing: Cell) -> Picture:
    """The picture of one cell: its answer, and all that is known of it.

    Parameters
    ----------
    thing : Cell
    """
    return Picture(
        (
            *part("answer", lambda: _answer(thing)),
            *part("figures", lambda: _about(thing)),
            *part("scores", lambda: _scores(thing)),
            *part("columns", lambda: _row_fields(thing)),
        )
    )


def _answer(thing: Cell) -> Iterable[Block]:
    if thing.status == "failed":
        yield Quote(tuple(fault_lines(thing.error or {})), "rail", "kf")
    text = answer_of(thing)
    if text:
        yield Prose(text, "", "cell.text") if thing.text else Pre(text)
    elif thing.status == "completed":
        yield Para((quiet("no text"),))


def _about(thing: Cell) -> Iterable[Block]:
    axes = [
        f"{one_line(name, 40)}: {one_line(value, 120)}"
        for name, value in thing.axes.items()
        if name != "repeat" or value
    ]
    made = badge("simulated") if thing.simulated else None
    yield Para(dots(state_bit(thing.status), *axes, made), quiet=True)
    if told := figures(thing):
        yield Para((told,), quiet=True)
    if thing.rating is not None or thing.note:
        marks = f"{stars(min(max(thing.rating, 0), 5))} " if thing.rating is not None else ""
        words = f"rated {thing.rating} of 5" if thing.rating is not None else None
        yield Para(dots(f"{marks}{words or ''}", clip(thing.note, 2_000) if thing.note else None))


def _scores(thing: Cell) -> Iterable[Block]:
    for icon, words, hue in score_bits(thing):
        yield Para((Bit(words, "mark", icon=icon, hue=hue),))


def _row_fields(thing: Cell) -> Iterable[Block]:
    rows = [(one_line(k, 40), (clip(v, 600),)) for k, v in list(thing.columns.items())[:_FIELDS]]
    if thing.expected is not None and "expected" not in thing.columns:
        rows.insert(0, ("expected", (clip(thing.expected, 600),)))
    if rows:
        yield Fold(("Input",), (Fields(tuple(rows)),), count(len(rows), "column"))


def cells(things: Sequence[Cell]) -> Picture:
    """The picture of a list of cells: the first of them as rows.

    Parameters
    ----------
    things : sequence of Cell
    """

    def rows() -> Iterable[Block]:
        yield Para((count(len(things), "cell"),), quiet=True)
        table = tuple(
            (
                (f"{each.index:,}",),
                (one_line(each.prompt, 40),),
                (one_line(each.model, 40),),
                (one_line(each.input, 40),),
                (state_bit(each.status),),
                (one_line(answer_of(each) or error_words(each, 80), 80),),
            )
            for each in things[:_ROWS]
        )
        yield Table(("cell", "prompt", "model", "input", "state", "answer"), table, frozenset({0}))
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))

    return Picture(part("cells", rows))
