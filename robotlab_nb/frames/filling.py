"""A table that is filled row by row, and keeps its rows as columns.

Rows are turned into arrays some at a time: fewer the larger they are. pandas is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cells import CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pandas import DataFrame

    from .declaring import Column
    from .readers import Place

__all__ = ["Filling"]

#: rows that are turned into arrays at once, and about the bytes that they may then have
FIRST, MOST = 64, 512
BYTES = 4_000_000


class Filling:
    """Rows on their way into a table.

    Parameters
    ----------
    columns : sequence of Column

    Examples
    --------
    >>> from robotlab_nb.frames.declaring import Column
    >>> filling = Filling([Column("n", "Int64", "A number.", lambda item, place: item)])
    >>> filling.extend([(1, None), (None, None)])
    >>> filling.table()["n"].tolist()
    [1, <NA>]
    """

    def __init__(self, columns: Sequence[Column[Any]]) -> None:
        self._columns = tuple(columns)
        self._rows: list[tuple[Any, Place]] = []
        self._parts: list[list[Any]] = [[] for _ in self._columns]
        self._next = FIRST

    def extend(self, rows: Iterable[tuple[Any, Place]]) -> None:
        """Add rows: records, each with its place."""
        for row in rows:
            self._rows.append(row)
            if len(self._rows) >= self._next:
                self._turn()

    def _turn(self) -> None:
        import pandas as pd

        make: Any = pd.array
        rows, self._rows = self._rows, []
        size = 0
        for column, parts in zip(self._columns, self._parts, strict=True):
            cell, read = CELLS[column.dtype], column.read
            part = make([cell(read(record, place)) for record, place in rows], dtype=column.dtype)
            size += part.nbytes
            parts.append(part)
        if rows:
            self._next = max(1, min(MOST, 4 * len(rows), BYTES * len(rows) // max(size, 1)))

    def table(self) -> DataFrame:
        """The table; with it, what was gathered is gone."""
        import pandas as pd

        if self._rows or not all(self._parts):
            self._turn()
        arrays = {}
        for column, parts in zip(self._columns, self._parts, strict=True):
            # One column after the other, so that never all of them are there twice.
            whole = [pd.Series(part, copy=False) for part in parts]
            parts.clear()
            joined = whole[0] if len(whole) == 1 else pd.concat(whole, ignore_index=True)
            arrays[column.name] = joined.array
        return pd.DataFrame(arrays, copy=False)
