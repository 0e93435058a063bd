"""The runs of a log page by page, in any order, and which values they have: for looking through.

A page is read from where the last one ended, so that the thousandth costs what the first does.
Values are counted in the database. Knows no widget.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, case, func, literal, or_, select

from .event_text import clean, original, read
from .querying import _beyond, _tags_of, condition
from .rows import RUN_COLUMNS, run_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.sql import ColumnElement

    from .backends import Backend
    from .conditions import Where
    from .records import RunRow
    from .store import Store

__all__ = ["FACETS", "SORTS", "Key", "Page", "answers", "counted", "page"]

#: by what runs can be put in order; ``time`` keeps roots and what ran inside them together
SORTS = ("time", "duration", "tokens", "cost")
#: conditions whose values can be offered
FACETS = ("status", "kind", "robot", "network", "task", "model", "tag", "prompt")
#: where a page begins: what the row before it has of the order
Key = tuple[Any, ...]
_ANSWERS = ("model_call.completed", "task.completed")
#: events that are gone through at most for the answers of a page's runs, root by root
_MOST_EVENTS = 20_000
#: what stands for a figure that nobody knows: after all others, whichever way they are ordered
_LAST = 1e300


class Page(NamedTuple):
    """Runs of a log.

    Parameters
    ----------
    rows : list of RunRow
    following : Key or None
        Where the next page begins; None when this is the last.
    """

    rows: list[RunRow]
    following: Key | None


def page(
    store: Store,
    where: Where,
    *,
    sort: str = "time",
    falling: bool = True,
    roots: bool = False,
    after: Key | None = None,
    most: int = 50,
) -> Page:
    """Read a page of runs.

    Parameters
    ----------
    store : Store
    where : Where
        Which runs are meant.
    sort : str, optional
        One of :data:`SORTS`. Of a whole network, tokens and cost are those of all inside it.
    falling : bool, optional
        Whether the newest, longest or dearest come first. What is not known comes last.
    roots : bool, optional
        Whether only whole runs are meant, and none that ran inside another.
    after : Key, optional
        As the page before said.
    most : int, optional
        Rows of the page.
    """
    backend = store._backend
    runs = backend.tables.runs
    query = select(*(runs.c[name] for name in RUN_COLUMNS)).where(condition(where, backend))
    if roots:
        query = query.where(runs.c.run_id == runs.c.root_id)
    if sort == "time":
        start, root = runs.c.root_started_at, runs.c.root_id
        key: list[Any] = [start, root, runs.c.number, runs.c.run_id]
        ways = [column.desc() if falling else column for column in key[:2]]
        query = query.order_by(*ways, *key[2:])
        if after is not None:
            query = query.where(_beyond(runs.c, _Last(*after), falling))
    else:
        value = func.coalesce(_value(sort, backend), -_LAST if falling else _LAST)
        key = [value, runs.c.run_id]
        query = query.order_by(value.desc() if falling else value, runs.c.run_id)
        if after is not None:
            further = value < after[0] if falling else value > after[0]
            same = and_(value == after[0], runs.c.run_id > after[1])
            query = query.where(or_(further, same))
    query = query.add_columns(*(column.label(f"key_{n}") for n, column in enumerate(key)))
    with store._reading() as connection:
        found = connection.execute(query.limit(most + 1)).all()
        shown = found[:most]
        names = [row.run_id for row in shown]
        tags = _tags_of(names, backend, connection) if shown else {}
        rated = store._noted(names, connection) if shown else {}
    width = len(RUN_COLUMNS)
    rows = []
    for row in shown:
        made = run_of(row[:width], tags.get(row.run_id, ()))
        made.rating, made.note, _ = rated.get(row.run_id, (None, None, 0))
        rows.append(made)
    return Page(rows, tuple(shown[-1][width:]) if len(found) > most else None)


class _Last(NamedTuple):
    root_started_at: int
    root_id: str
    number: int
    run_id: str


def _value(sort: str, backend: Backend) -> ColumnElement[Any]:
    """What runs are ordered by."""
    runs = backend.tables.runs
    if sort == "duration":
        taken: ColumnElement[Any] = runs.c.ended_at - runs.c.started_at
        return taken
    inside = runs.alias("inside")
    own, all_of = _figure(sort, runs.c), func.sum(_figure(sort, inside.c))
    whole = select(all_of).where(inside.c.root_id == runs.c.root_id).scalar_subquery()
    return case((runs.c.run_id == runs.c.root_id, whole), else_=own)


def _figure(sort: str, runs: Any) -> Any:
    if sort == "cost":
        return runs.cost_usd
    return case(
        (and_(runs.input_tokens.is_(None), runs.output_tokens.is_(None)), None),
        else_=func.coalesce(runs.input_tokens, 0) + func.coalesce(runs.output_tokens, 0),
    )


def counted(store: Store, where: Where, name: str, most: int = 50) -> list[tuple[str | None, int]]:
    """Which values runs have of what a condition is about, and how many runs each; most first.

    Parameters
    ----------
    store : Store
    where : Where
        Which runs are meant. What it says of ``name`` itself is passed over.
    name : str
        One of :data:`FACETS`.
    most : int, optional
        Values at most.
    """
    backend = store._backend
    runs, tags = backend.tables.runs, backend.tables.tags
    meant = condition(replace(where, **{name: None}), backend)
    many = func.count()
    if name == "tag":
        # A run has the tags of its root as well, as in `where(tag=…)`.
        of = or_(tags.c.run_id == runs.c.run_id, tags.c.run_id == runs.c.root_id)
        many = func.count(runs.c.run_id.distinct())
        column: Any = tags.c.tag
        query = select(column, many).select_from(runs.join(tags, of)).where(tags.c.by != "removed")
    else:
        column = runs.c["prompt_hash" if name == "prompt" else name]
        query = select(column, many).select_from(runs)
    query = query.where(meant).group_by(column).order_by(many.desc(), column).limit(most)
    with store._reading() as connection:
        found = connection.execute(query).all()
    return [(None if value is None else original(value), int(number)) for value, number in found]


def answers(store: Store, rows: Sequence[RunRow]) -> dict[str, str]:
    """The last text that each run gave, where it can be found without reading much.

    Parameters
    ----------
    store : Store
    rows : sequence of RunRow
    """
    if not rows:
        return {}
    backend = store._backend
    events, scopes = backend.tables.events, backend.tables.scopes
    runs, roots = backend.tables.runs, backend.tables.roots
    own = select(scopes.c.scope_no).where(
        scopes.c.root_id == runs.c.root_id, scopes.c.run_id == runs.c.run_id
    )
    last = (
        select(events.c.data)
        .where(
            events.c.root_id == runs.c.root_id, events.c.type.in_(_ANSWERS),
            events.c.scope_no.in_(own.correlate(runs)),
        )
        .order_by(events.c.seq.desc())
        .limit(literal(1))
        .correlate(runs)
        .scalar_subquery()
    )  # fmt: skip
    query = (
        select(runs.c.run_id, last)
        .select_from(runs.join(roots, roots.c.root_id == runs.c.root_id))
        .where(
            runs.c.run_id.in_([clean(row.run_id) for row in rows]),
            roots.c.last_seq < _MOST_EVENTS,
        )
    )
    with store._reading() as connection:
        found = connection.execute(query).all()
    return {original(run_id): text for run_id, data in found if (text := _text(data))}


def _text(data: str | None) -> str:
    try:
        told = read(data) if data else None
    except ValueError:
        return ""
    text = told.get("text") if isinstance(told, dict) else None
    return text if isinstance(text, str) else ""
