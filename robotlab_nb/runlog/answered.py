"""Cells of experiments that were answered before, looked up by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from .event_text import clean, original, read
from .omitting import MARK
from .rows import slices

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .store import Store

__all__ = ["Told", "answered"]


class Told(NamedTuple):
    """What an event said of a cell: its type, its root and its data."""

    type: str
    root_id: str
    data: dict[str, Any]


def answered(store: Store, keys: Iterable[str]) -> list[Told]:
    """What happened to cells, oldest experiment first.

    Parameters
    ----------
    store : Store
    keys : iterable of str

    Returns
    -------
    list of Told
        Of the types ``cell.started``, ``cell.completed`` and ``cell.scored``; answers whose text
        was not kept, and what cannot be read, are left out.
    """
    t = store._backend.tables
    cells, events, roots = t.cells.c, t.events.c, t.roots.c
    query = (
        select(roots.started_at, events.root_id, events.seq, events.type, events.data)
        .select_from(t.cells)
        .join(t.events, (events.root_id == cells.root_id) & (events.seq == cells.seq))
        .join(t.roots, roots.root_id == cells.root_id)
    )
    rows: list[Any] = []
    for part in slices([clean(key) for key in dict.fromkeys(keys)]):
        with store._reading() as connection:
            rows += connection.execute(query.where(cells.cell_key.in_(part))).all()
    rows.sort(key=lambda row: tuple(row[:3]))
    found = []
    for row in rows:
        try:
            data = read(row.data)
        except (TypeError, ValueError):
            continue
        if type(data) is dict and not str(data.get("text")).startswith(MARK):
            found.append(Told(original(row.type), original(row.root_id), data))
    return found
