"""Runs whose process ended before they did.

A process on this machine is looked up; one on another is taken for dead when it has given no sign
of life for a minute. If it lives after all and goes on writing, what it writes takes the place of
what was recorded here.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from ..core.events import Event, Scope
from .event_text import original
from .records import Batch, Writer, now
from .rows import scope_of

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from .backends import Backend
    from .store import Store

__all__ = ["abandon_dead", "leave", "living"]

#: seconds without a sign of life
SILENCE_S = 60
GOES_ON = ("pending", "running", "waiting", "session")


def leave(backend: Backend, connection: Connection, writer: Writer) -> None:
    """Note that a writer writes no more."""
    table = backend.tables.writers
    mine = update(table).where(table.c.writer_id == writer.writer_id)
    connection.execute(mine.values(ended_at=backend.clock()))


def living(backend: Backend, connection: Connection) -> list[str]:
    """The roots that go on, as they are named in the tables."""
    return [row.root_id for row in _open_roots(backend, connection, GOES_ON) if not row.dead]


def abandon_dead(store: Store) -> list[str]:
    """Record of roots that go on, and whose process does not, that they were abandoned."""
    if store.readonly:
        return []
    with store._reading() as connection:
        found = [r for r in _open_roots(store._backend, connection, GOES_ON[:-1]) if r.dead]
        events = [_abandoned(store._backend, connection, row) for row in found]
    told = [event for event in events if event is not None]
    if told:
        store.write(Batch(told))
    return [event.scope.root_id for event in told]


class _Root:
    """A root that has not ended, when its process was last seen, and whether that is dead."""

    __slots__ = ("dead", "last_seq", "root_id", "seen_at", "started_at")

    def __init__(self, row: Any, clock: int) -> None:
        self.root_id: str = row.root_id
        self.last_seq: int = row.last_seq
        self.started_at: int = row.started_at
        self.seen_at: int | None = row.seen_at
        self.dead = _dead(row, clock)


def _dead(row: Any, clock: int) -> bool:
    if row.pid is None or row.writer_ended_at is not None:
        return True
    writer = Writer(
        row.writer_id, row.pid, original(row.host), row.process_started, row.writer_started_at
    )
    alive = writer.alive()
    if alive is None:
        return bool(clock - (row.seen_at or 0) > SILENCE_S * 1_000_000)
    return not alive


def _open_roots(backend: Backend, connection: Connection, statuses: tuple[str, ...]) -> list[_Root]:
    roots, writers = backend.tables.roots, backend.tables.writers
    query = (
        select(
            roots.c.root_id, roots.c.writer_id, roots.c.last_seq, roots.c.started_at,
            writers.c.pid, writers.c.host, writers.c.process_started, writers.c.seen_at,
            writers.c.started_at.label("writer_started_at"),
            writers.c.ended_at.label("writer_ended_at"),
        )
        .select_from(roots.outerjoin(writers, roots.c.writer_id == writers.c.writer_id))
        .where(roots.c.status.in_(statuses))
    )  # fmt: skip
    rows = connection.execute(query).all()
    clock = backend.clock()
    if not isinstance(clock, int):
        clock = connection.execute(select(clock)).scalar_one() if rows else now()
    return [_Root(row, clock) for row in rows]


def _abandoned(backend: Backend, connection: Connection, root: _Root) -> Event | None:
    t = backend.tables
    row = connection.execute(
        select(t.scopes)
        .where(t.scopes.c.root_id == root.root_id, t.scopes.c.run_id == root.root_id)
        .order_by(t.scopes.c.scope_no)
        .limit(1)
    ).first()
    if row is None:
        return None
    last = connection.execute(
        select(t.events.c.elapsed)
        .where(t.events.c.root_id == root.root_id)
        .order_by(t.events.c.seq.desc())
        .limit(1)
    ).scalar()
    elapsed = last if last is not None and math.isfinite(last) else 0.0
    seen = root.seen_at
    if seen is not None and root.started_at:
        elapsed = max(elapsed, (seen - root.started_at) / 1e6)
    when = None if seen is None else datetime.fromtimestamp(seen / 1e6, UTC).isoformat()
    scope: Scope = scope_of(row)
    data = {"reason": "its process ended", "seen_at": when}
    return Event("run.abandoned", scope, root.last_seq + 1, elapsed, data)
