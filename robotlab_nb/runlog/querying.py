"""Conditions as SQL. Every value is bound; nothing that a person gives becomes part of a statement.

Rows are read in pages, each from where the last one ended, so that no query stays open while
somebody looks at its rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, false, func, or_, select
from sqlalchemy.sql import true

from .event_text import clean, original
from .rows import RUN_COLUMNS, run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.engine import Connection
    from sqlalchemy.sql import ColumnElement

    from .backends import Backend
    from .conditions import Where
    from .rated import Noted
    from .records import RunRow

__all__ = ["condition", "root_ids", "run_rows"]

PAGE = 500
#: condition -> the column it is about, where that has another name
_COLUMN = {"prompt": "prompt_hash"}
_WILD = re.compile(r"[*?\[]")
_CAPITALS = re.compile("[A-Z]+")


def condition(where: Where, backend: Backend, *, sessions: bool = False) -> ColumnElement[bool]:
    """The condition on ``runs``; without a word about kinds it leaves sessions out."""
    runs = backend.tables.runs.c
    checked = where.checked()
    all_of: list[ColumnElement[bool]] = []
    for name, value in checked.items():
        if name == "since":
            all_of.append(runs.started_at >= value)
        elif name == "until":
            all_of.append(runs.started_at < value)
        elif name == "tag":
            all_of.append(_tagged(value, backend))
        elif name == "input":
            # Both databases know the cases of A to Z alone.
            small = [value and _CAPITALS.sub(lambda m: m[0].lower(), value) for value in value]
            all_of.append(_fits(func.lower(runs.input), small, backend))
        else:
            names = [f"{v}*" if name == "prompt" and v else v for v in value]
            all_of.append(_fits(runs[_COLUMN.get(name, name)], names, backend))
    if "kind" not in checked and not sessions:
        all_of.append(runs.kind != "session")
    return and_(true(), *all_of)


def _fits(column: Any, names: list[str | None], backend: Backend) -> ColumnElement[bool]:
    """Whether a column has one of the names."""
    exact = [clean(name) for name in names if name is not None and not _WILD.search(name)]
    wild = [clean(name) for name in names if name is not None and _WILD.search(name)]
    any_of: list[ColumnElement[bool]] = [backend.matching(column, name) for name in wild]
    if exact:
        any_of.append(column.in_(exact))
    if None in names:
        any_of.append(column.is_(None))
    return or_(false(), *any_of)


def _tagged(names: list[str | None], backend: Backend) -> ColumnElement[bool]:
    runs, tags = backend.tables.runs.c, backend.tables.tags.c
    there = select(tags.run_id).where(tags.by != "removed")
    named = [name for name in names if name is not None]
    having = there.where(_fits(tags.tag, list(named), backend))
    found = or_(runs.run_id.in_(having), runs.root_id.in_(having))
    if None in names:
        found = or_(found, and_(runs.run_id.not_in(there), runs.root_id.not_in(there)))
    return found


def run_rows(
    where: Where,
    backend: Backend,
    connect: Callable[[], Any],
    ratings: Callable[[list[str], Connection], dict[str, Noted]],
    *,
    newest_first: bool,
) -> Iterator[RunRow]:
    """The runs meant, root by root, parents before what they started."""
    runs = backend.tables.runs
    columns = [runs.c[name] for name in RUN_COLUMNS]
    start, root, number = runs.c.root_started_at, runs.c.root_id, runs.c.number
    query = select(*columns).where(condition(where, backend)).limit(PAGE)
    query = query.order_by(
        start.desc() if newest_first else start,
        root.desc() if newest_first else root,
        number,
        runs.c.run_id,
    )
    after: Any = None
    while True:
        page = query if after is None else query.where(_beyond(runs.c, after, newest_first))
        with connect() as connection:
            rows = connection.execute(page).all()
            names = [row.run_id for row in rows]
            tags = _tags_of(names, backend, connection) if rows else {}
            rated = ratings(names, connection) if rows else {}
        for row in rows:
            made = run_of(row, tags.get(row.run_id, ()))
            made.rating, made.note, _ = rated.get(row.run_id, (None, None, 0))
            yield made
        if len(rows) < PAGE:
            return
        after = rows[-1]


def _beyond(runs: Any, last: Any, newest_first: bool) -> ColumnElement[bool]:
    """What comes after a row in the order of the pages."""
    start, root = runs.root_started_at, runs.root_id
    further = start < last.root_started_at if newest_first else start > last.root_started_at
    other = root < last.root_id if newest_first else root > last.root_id
    later = or_(
        runs.number > last.number,
        and_(runs.number == last.number, runs.run_id > last.run_id),
    )
    # The first condition says nothing new; it lets the index find where to begin.
    here = start <= last.root_started_at if newest_first else start >= last.root_started_at
    same = start == last.root_started_at
    return and_(here, or_(further, and_(same, or_(other, and_(root == last.root_id, later)))))


def _tags_of(
    run_ids: list[str], backend: Backend, connection: Connection
) -> dict[str, tuple[str, ...]]:
    table = backend.tables.tags
    query = select(table.c.run_id, table.c.tag).where(
        table.c.run_id.in_(run_ids), table.c.by != "removed"
    )
    found: dict[str, tuple[str, ...]] = {}
    for run_id, tag in connection.execute(query.order_by(table.c.at, table.c.tag)):
        found[run_id] = (*found.get(run_id, ()), original(tag))
    return found


def root_ids(
    where: Where, backend: Backend, connect: Callable[[], Any], *, newest_first: bool
) -> Iterator[str]:
    """The roots in which a run meant is, sessions included where nothing speaks against them."""
    runs = backend.tables.runs
    start, root = runs.c.root_started_at, runs.c.root_id
    query = (
        select(start, root)
        .where(condition(where, backend, sessions=True))
        .distinct()
        .limit(PAGE)
        .order_by(start.desc() if newest_first else start, root.desc() if newest_first else root)
    )
    after: Any = None
    while True:
        page = query
        if after is not None:
            at, name = after
            here, same = (start <= at, start == at) if newest_first else (start >= at, start == at)
            further = start < at if newest_first else start > at
            other = root < name if newest_first else root > name
            page = query.where(and_(here, or_(further, and_(same, other))))
        with connect() as connection:
            rows = connection.execute(page).all()
        for row in rows:
            yield original(row.root_id)
        if len(rows) < PAGE:
            return
        after = tuple(rows[-1])
