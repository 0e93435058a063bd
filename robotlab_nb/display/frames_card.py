"""The picture of tables: which there are, how large they are, and how each begins.

Reads the first rows only: no table is made, and pandas is not loaded for it.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from .amounts import count
from .escape import one_line
from .parts import Fold, Head, Para, Picture, Table, bold, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..frames.tables import Beginning, Frames
    from .parts import Block, Line

__all__ = ["frames"]

#: rows of each table that are shown, characters of a cell
_ROWS, _CELL = 3, 48
_FIGURES = ("Int64", "Float64")


def frames(thing: Frames) -> Picture:
    """The picture of the tables of one run, or of many.

    Parameters
    ----------
    thing : Frames
    """
    found: dict[str, Beginning] = {}

    def head() -> Iterable[Block]:
        found.update((name, thing.beginning(name, _ROWS)) for name in thing.names)
        filled = [name for name in found if found[name].total]
        about = dots(f"{len(filled):,} of {len(found):,} with rows")
        yield Head((one_line(thing.whose, 60),), "tables", about)
        if filled:
            called = code(f"frames.{filled[0]}")
            yield Para((called, " is a DataFrame, made when it is asked for"), quiet=True)

    def tables() -> Iterable[Block]:
        for name, each in found.items():
            if each.total:
                yield from part(name, lambda name=name, each=each: [_table(name, each)])  # type: ignore[misc]

    def empty() -> Iterable[Block]:
        none = [one_line(name, 40) for name in found if not found[name].total]
        if none:
            yield Para((f"without rows: {', '.join(none)}",), quiet=True)

    return Picture(
        (*part("name", head), *part("tables", tables), *part("the others", empty)), framed=True
    )


def _table(name: str, found: Beginning) -> Block:
    size = f"{count(found.total, 'row')} × {count(len(found.columns), 'column')}"
    blocks: list[Block] = [_rows(found)]
    more = found.total - len(found.rows)
    if more > 0:
        blocks.append(Para((quiet(f"… {more:,} more"),)))
    return Fold((bold(one_line(name, 40)),), tuple(blocks), size)


def _rows(found: Beginning) -> Table:
    """The names over their types, then the first rows."""
    types: tuple[Line, ...] = tuple((quiet(_TYPES.get(c.dtype, c.dtype)),) for c in found.columns)
    rows: list[tuple[Line, ...]] = [types]
    rows += [tuple(_cell(value) for value in row) for row in found.rows]
    figures = frozenset(n for n, c in enumerate(found.columns) if c.dtype in _FIGURES)
    return Table(tuple(c.name for c in found.columns), tuple(rows), figures)


#: a type of which a shorter word says enough
_TYPES = {"datetime64[us, UTC]": "datetime, UTC"}


def _cell(value: object) -> Line:
    if value is None:
        return (quiet("<NA>"),)
    if isinstance(value, float):
        return (f"{value:.6g}",)
    if isinstance(value, datetime):
        return (f"{value:%Y-%m-%d %H:%M:%S}",)
    # On one line: of thirty columns each would else be as narrow as its longest word.
    return (one_line(value, _CELL).replace(" ", "\u00a0"),)
