"""The log's table of ratings: writing to it, taking in those from elsewhere, reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from .event_text import clean, original
from .rating_runs import HIGHEST, LOWEST
from .records import now
from .rows import slices
from .upkeep import all_there

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from .backends import Backend

__all__ = ["Noted", "noted", "noted_in", "put", "put_again"]

#: microseconds since 1970 that a date can have: the year 9999
LATEST = 253_402_300_800_000_000
#: a rating, a note, and microseconds since 1970
Noted = tuple["int | None", "str | None", int]


def put(
    backend: Backend, given: Sequence[tuple[str, int | None, str | None]]
) -> Callable[[Connection], None]:
    """What keeps ratings; a note of None leaves the one that there was."""
    table = backend.tables.ratings

    def change(connection: Connection) -> None:
        at = now()
        all_there(backend, connection, [clean(run_id) for run_id, _, _ in given])
        for run_id, rating, note in given:
            insert = backend.insert(table).values(
                run_id=clean(run_id), rating=rating, note=clean(note) if note else None,
                by="person", at=at,
            )  # fmt: skip
            new: dict[str, Any] = {"rating": rating, "by": "person", "at": at}
            if note is not None:
                new["note"] = clean(note) or None
            connection.execute(insert.on_conflict_do_update(index_elements=["run_id"], set_=new))

    return change


def put_again(backend: Backend, given: Mapping[str, Noted]) -> Callable[[Connection], None]:
    """What takes in ratings from elsewhere: of two of one run the later one stands."""
    table = backend.tables.ratings

    def change(connection: Connection) -> None:
        all_there(backend, connection, [clean(run_id) for run_id in given])
        for run_id, (rating, note, at) in given.items():
            insert = backend.insert(table).values(
                run_id=clean(run_id), rating=rating, note=clean(note) if note else None,
                by="import", at=at,
            )  # fmt: skip
            new = insert.excluded
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["run_id"],
                    set_={name: new[name] for name in ("rating", "note", "by", "at")},
                    where=table.c.at < new.at,
                )
            )

    return change


def noted(
    backend: Backend, connection: Connection, run_ids: Sequence[str] | None
) -> dict[str, Noted]:
    """Rating, note and microseconds since 1970 by run; of all runs when none are named.

    ``run_ids`` are as they stand in the tables. One that was taken back is not among them.
    """
    table = backend.tables.ratings
    query = select(table.c.run_id, table.c.rating, table.c.note, table.c.at)
    parts = [None] if run_ids is None else slices(run_ids)
    found: dict[str, Noted] = {}
    for part in parts:
        some = query if part is None else query.where(table.c.run_id.in_(part))
        for run_id, *told in connection.execute(some.order_by(table.c.at)):
            said = _sound(*told)
            if said[:2] != (None, None):
                found[run_id] = said
    return found


def _sound(rating: Any, note: Any, at: Any) -> Noted:
    """What a row says, as far as it can be meant: SQLite keeps anything in any column."""
    known = rating if type(rating) is int and LOWEST <= rating <= HIGHEST else None
    said = original(note) or None if isinstance(note, str) else None
    return known, said, at if type(at) is int and 0 <= at < LATEST else 0


def noted_in(
    backend: Backend, connection: Connection, root_ids: Sequence[str]
) -> dict[str, dict[str, Noted]]:
    """The same of all runs of some roots, by root."""
    t = backend.tables
    inside = t.ratings.join(t.runs, t.ratings.c.run_id == t.runs.c.run_id)
    query = select(t.runs.c.root_id, t.runs.c.run_id).select_from(inside).order_by(t.runs.c.number)
    found: dict[str, dict[str, Noted]] = {}
    for part in slices(root_ids):
        rows = connection.execute(query.where(t.runs.c.root_id.in_(part))).all()
        known = noted(backend, connection, [run_id for _, run_id in rows])
        for root_id, run_id in rows:
            if run_id in known:
                found.setdefault(root_id, {})[run_id] = known[run_id]
    return found
