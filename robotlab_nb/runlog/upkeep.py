"""Counting, tagging, deleting: what people do with a log besides reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, update

from ..core.errors import InputError
from .abandoning import living
from .conditions import moment
from .event_text import clean, original
from .querying import condition
from .records import Counts, now
from .rows import slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy.engine import Connection

    from .backends import Backend
    from .conditions import Where
    from .store import Store

__all__ = ["all_there", "count", "purge", "tag"]

#: the longest tag
MOST_CHARACTERS = 200


def count(backend: Backend, connection: Connection) -> Counts:
    """How much there is."""
    t = backend.tables
    events, roots = connection.execute(
        select(
            func.coalesce(func.sum(t.roots.c.last_seq + 1), 0),
            func.count().filter(t.roots.c.kind != "session"),
        )
    ).one()
    runs = connection.execute(
        select(func.count()).select_from(t.runs).where(t.runs.c.kind != "session")
    ).scalar_one()
    return Counts(int(roots), int(runs), int(events), backend.size(connection))


def tag(
    backend: Backend, run_ids: Iterable[str], tags: Iterable[str], remove: Iterable[str]
) -> Callable[[Connection], None]:
    """What gives runs tags and takes some away, once all is seen to make sense."""
    given, taken = _tags(tags), _tags(remove)
    runs = list(dict.fromkeys(clean(run_id) for run_id in _several(run_ids)))
    table = backend.tables.tags

    def change(connection: Connection) -> None:
        all_there(backend, connection, runs)
        rows = [(run, tag, "person", now()) for run in runs for tag in given]
        insert = backend.insert(table)
        statement = insert.on_conflict_do_update(
            index_elements=["run_id", "tag"],
            set_={"by": insert.excluded.by, "at": insert.excluded.at},
            where=table.c.by == "removed",
        )
        for part in slices(rows):
            connection.execute(
                statement, [dict(zip(table.columns.keys(), row, strict=True)) for row in part]
            )
        for part in slices(runs):
            # The row stays: the tag that a run began with would come back with its index.
            gone = update(table).where(table.c.run_id.in_(part), table.c.tag.in_(taken))
            connection.execute(gone.values(by="removed", at=now()))

    return change


def _several(values: Iterable[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def _tags(values: Iterable[str]) -> list[str]:
    found = _several(values)
    for one in found:
        if not isinstance(one, str) or not one.strip() or len(one) > MOST_CHARACTERS:
            raise InputError(
                f"{one!r:.60} is no tag", hint=f"A tag is a text of 1 to {MOST_CHARACTERS} letters."
            )
    return [clean(one) for one in dict.fromkeys(found)]


def all_there(backend: Backend, connection: Connection, runs: list[str]) -> None:
    """Raise for the first of some runs that the log does not have."""
    there = backend.tables.runs.c.run_id
    found: set[str] = set()
    for part in slices(runs):
        found.update(connection.execute(select(there).where(there.in_(part))).scalars())
    lacking = [original(run) for run in runs if run not in found]
    if lacking:
        raise InputError(f"there is no run {lacking[0]!r:.60} in the log {backend.place!r}")


def purge(store: Store, where: Where, older_than: Any) -> int:
    """Delete whole roots that have ended, or whose process has."""
    backend = store._backend
    t = backend.tables
    meant = select(t.runs.c.root_id).where(condition(where, backend, sessions=True)).distinct()
    if older_than is not None:
        meant = meant.where(t.runs.c.root_started_at < moment("older_than", older_than))
    with store._reading() as connection:
        roots = connection.execute(meant).scalars().all()
        alive = living(backend, connection)
    goes_on = set(alive)
    found = [root for root in roots if root not in goes_on]
    for part in slices(found):
        store._change(_deleting(backend, part))
    if found:
        store._forget()
        backend.purged(store._engine)
    return len(found)


def _deleting(backend: Backend, roots: Sequence[str]) -> Callable[[Connection], None]:
    t = backend.tables

    def change(connection: Connection) -> None:
        backend.purging(connection)
        inside = select(t.runs.c.run_id).where(t.runs.c.root_id.in_(roots))
        for added in (t.tags, t.ratings):
            connection.execute(delete(added).where(added.c.run_id.in_(inside)))
        for table in (t.events, t.scopes, t.partials, t.cells, t.runs, t.roots):
            connection.execute(delete(table).where(table.c.root_id.in_(roots)))

    return change
