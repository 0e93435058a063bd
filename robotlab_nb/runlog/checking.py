"""Whether a log is whole; making its index again; rewriting what older versions wrote."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, update

from ..core import events as versions
from ..core.state import RunState
from ..frames.readers import Place
from .cursors import is_session
from .event_text import clean, original, written
from .indexing import INDEXED, PREVIEW, Index, microseconds, number_of, text_of
from .records import now
from .rows import RUN_COLUMNS, root_row, run_of, run_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy.engine import Connection

    from ..core.events import Event
    from .backends import Backend
    from .store import Store

__all__ = ["check", "reindex", "upgrade"]

#: faults that are told
MOST = 100


def check(store: Store) -> list[str]:
    """What is wrong with the log, a line each."""
    with store._reading() as connection:
        found = store._backend.check(connection)
    for root in _roots(store._backend, store._reading):
        if len(found) >= MOST:
            return [*found[:MOST], "… and more"]
        found += _faults(store, root)
    return found


def _roots(backend: Backend, connect: Callable[[], Any]) -> Iterator[str]:
    """Every root that has events or stands in the index, a few hundred at a time."""
    last = ""
    while True:
        names: set[str] = set()
        for table in (backend.tables.events, backend.tables.roots, backend.tables.runs):
            column = table.c.root_id
            query = select(column).where(column > last).distinct().order_by(column).limit(400)
            with connect() as connection:
                names.update(connection.execute(query).scalars().all())
        if not names:
            return
        page = sorted(names)[:400]
        yield from page
        last = page[-1]


def _faults(store: Store, name: str) -> list[str]:
    root = original(name)
    t = store._backend.tables
    with store._reading() as connection:
        kept = connection.execute(select(t.roots).where(t.roots.c.root_id == name)).first()
        columns = [t.runs.c[column] for column in RUN_COLUMNS]
        rows = connection.execute(select(*columns).where(t.runs.c.root_id == name)).all()
    have = {row.run_id: row for row in map(run_of, rows)}
    seen: list[int] = []
    state, found = None, []
    try:
        state = RunState.fold(_noted(store.events([root]), seen))
    except Exception as error:
        found = [f"{root}: its events cannot be read: {type(error).__name__}: {error}"]
    if seen[:1] != [0]:
        found.append(f"{root}: its first events are missing")
    if not is_session(root):  # which begins with its first event and the latest of those after
        found += [f"{root}: events are missing after {a}" for a, b in pairwise(seen) if b != a + 1]
    if state is None:
        return found
    if kept is None or kept.last_seq != seen[-1]:
        found.append(f"{root}: the index does not know its last event")
    for run in state.walk():
        row = have.pop(run.scope.run_id, None)
        if row is None:
            found.append(f"{root}: the index lacks run {run.scope.run_id}")
            continue
        for column, value in expected(run).items():
            if getattr(row, column) != value:
                found.append(
                    f"{root}: run {row.run_id}: {column} is {getattr(row, column)!r:.60} in the "
                    f"index, and {value!r:.60} by its events"
                )
    return [*found, *(f"{root}: the index knows a run {run} without events" for run in have)]


def _noted(events: Iterable[Event], seen: list[int]) -> Iterator[Event]:
    for event in events:
        seen.append(event.seq)
        yield event


def expected(run: RunState) -> dict[str, Any]:
    """What the index is to say of a run, by the reducer that all else is read from."""
    place, info, usage = Place.of(run), run.info, run.usage
    top = run
    while top.parent is not None:
        top = top.parent
    start = microseconds(top.started_at)
    zero = None if start is None else start - round(top.started_s * 1e6)

    def at(seconds: float | None) -> int | None:
        return None if seconds is None or not zero else zero + round(seconds * 1e6)

    asked = text_of(info.get("input"))
    return {
        "kind": run.scope.kind,
        "robot": run.scope.robot,
        "network": place.network,
        "task": place.task,
        "status": run.status,
        "stop_reason": text_of(run.stop_reason),
        "simulated": run.simulated,
        "started_at": at(run.started_s) if info else None,
        "ended_at": at(run.ended_s),
        "model": text_of(info.get("model")),
        "session_id": text_of(info.get("session_id")),
        "prompt_hash": text_of(info.get("prompt_hash")),
        "resumed_from": text_of(info.get("resumed_from")),
        "input": asked and asked[:PREVIEW],
        "error_type": text_of(run.error.get("type")) if run.error else None,
        "model_calls": len(run.model_calls),
        "tool_calls": len(run.tool_calls),
        "input_tokens": number_of(usage.input_tokens),
        "output_tokens": number_of(usage.output_tokens),
        "cost_usd": usage.cost_usd,
        "cost_complete": usage.cost_complete,
    }


def reindex(store: Store, root_ids: Iterable[str] | None) -> int:
    """Make the index of roots again; how many these were."""
    backend = store._backend
    roots = _roots(backend, store._reading) if root_ids is None else map(clean, root_ids)
    count = 0
    for name in roots:
        index = Index.of(store.events([original(name)], types=INDEXED))
        store._change(_indexing(backend, name, index))
        count += index is not None
    store._forget()
    return count


def _indexing(backend: Backend, name: str, index: Index | None) -> Callable[[Connection], None]:
    t = backend.tables

    def change(connection: Connection) -> None:
        for table in (t.runs, t.cells):
            connection.execute(delete(table).where(table.c.root_id == name))
        mine = t.roots.c.root_id == name
        if index is None:
            connection.execute(delete(t.roots).where(mine))
            return
        last = select(func.max(t.events.c.seq)).where(t.events.c.root_id == name)
        index.root.last_seq = connection.execute(last).scalar_one()
        who = connection.execute(select(t.roots.c.writer_id).where(mine)).scalar()
        connection.execute(delete(t.roots).where(mine))
        columns = [column.name for column in t.roots.columns]
        connection.execute(
            t.roots.insert(), [dict(zip(columns, root_row(index, who), strict=True))]
        )
        insert = backend.insert(t.runs).on_conflict_do_nothing()
        connection.execute(
            insert, [dict(zip(RUN_COLUMNS, run_row(row), strict=True)) for row in index.rows]
        )
        names = t.tags.columns.keys()
        tags = [(clean(run), clean(tag), "run", now()) for run, tag in index.tags]
        cells = [{"root_id": name, "seq": seq, "cell_key": clean(key)} for seq, key in index.cells]
        if cells:
            connection.execute(t.cells.insert(), cells)
        if tags:  # those that people took away stay away
            given = [dict(zip(names, row, strict=True)) for row in tags]
            connection.execute(backend.insert(t.tags).on_conflict_do_nothing(), given)

    return change


def upgrade(store: Store) -> int:
    """Rewrite events of older versions, a root at a time; how many roots had such."""
    backend = store._backend
    roots = backend.tables.roots.c
    newest = versions.SCHEMA_VERSION
    with store._reading() as connection:
        older = connection.execute(select(roots.root_id).where(roots.schema_version < newest))
        names = older.scalars().all()
    for name in names:
        store._change(_rewriting(store, name))
        reindex(store, [original(name)])
    return len(names)


def _rewriting(store: Store, name: str) -> Callable[[Connection], None]:
    t = store._backend.tables

    def change(connection: Connection) -> None:
        table = t.events
        for event in store.events([original(name)]):
            here = (table.c.root_id == name) & (table.c.seq == event.seq)
            values = {"type": clean(event.type), "data": written(event.data)}
            connection.execute(update(table).where(here).values(values))
        connection.execute(
            update(t.roots)
            .where(t.roots.c.root_id == name)
            .values(schema_version=versions.SCHEMA_VERSION)
        )

    return change
