"""Writing batches: what was prepared before, in one short transaction.

JSON is made and the index brought up to date outside the transaction, so that it holds the lock
for the inserts alone. Statements are compiled once and given plain tuples.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, delete, literal_column, null, select

from ..core.event_data import EVENT_TYPES
from ..core.state import ENDED
from .event_text import clean, original, written
from .indexing import Index
from .records import now
from .rows import root_row, run_row, scope_of, scope_row, slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy.engine import Connection, Engine

    from ..core.events import Delta, Event, Scope
    from .backends import Backend
    from .records import Batch, Writer

__all__ = ["Kept", "Pen", "Prepared"]

#: ended roots that are remembered, for what may come late
MOST_ENDED = 64
_CALL_ENDS = frozenset({"model_call.completed", "model_call.failed", "attempt.failed"})


@dataclass(slots=True)
class Kept:
    """What is remembered of a root that is being written."""

    name: str
    index: Index
    scopes: dict[Scope, int] = field(default_factory=dict)
    #: calls of which the log has a text so far
    streaming: set[str] = field(default_factory=set)
    #: the scope of the latest event, which most often is the next one's too
    scope: Scope | None = None
    number: int = 0
    #: whether the log has nothing of it yet
    fresh: bool = True


@dataclass(slots=True)
class Prepared:
    """Rows that are ready to be written."""

    roots: list[Kept] = field(default_factory=list)
    scopes: list[tuple[Any, ...]] = field(default_factory=list)
    events: list[tuple[Any, ...]] = field(default_factory=list)
    partials: list[tuple[Any, ...]] = field(default_factory=list)
    #: root, call, and attempt (None for all of them) that are over
    over: list[tuple[str, str, int | None]] = field(default_factory=list)


class Pen:
    """What one store remembers while it writes, and its statements."""

    def __init__(
        self, backend: Backend, engine: Engine, load: Callable[[list[str]], Iterable[Event]]
    ) -> None:
        self._backend = backend
        self._tables = backend.tables
        #: gives the events that make the index of roots, in order
        self._load = load
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._sql: dict[str, str] = {}
        #: which writer last gave a sign of life and when, and who does in this transaction
        self._signed: tuple[str, float] = ("", 0.0)
        self._signs: str | None = None
        self._compile(engine)

    def forget(self) -> None:
        """Let go of all that is remembered; it is read again when it is needed."""
        self._kept.clear()

    def unsigned(self) -> None:
        """Let the next write give a sign of life."""
        self._signed = ("", 0.0)

    # -- before the transaction ----------------------------------------------------------

    def prepare(self, batch: Batch, connect: Callable[[], Any]) -> Prepared:
        """Make the rows of a batch."""
        events = sorted(batch.events, key=attrgetter("seq"))
        made = Prepared()
        roots = dict.fromkeys(e.scope.root_id for e in events)
        roots.update(dict.fromkeys(d.scope.root_id for d in batch.partials))
        unknown = [root for root in roots if root not in self._kept]
        for part in slices(unknown):
            self._fetch(part, connect)
        for root in roots:
            kept = self._kept.get(root)
            if kept is not None:
                made.roots.append(kept)
                self._kept.move_to_end(root)
        for event in events:
            kept = self._kept.get(event.scope.root_id)
            if kept is None:
                kept = Kept(clean(event.scope.root_id), Index(event.scope))
                self._kept[event.scope.root_id] = kept
                made.roots.append(kept)
            self._event(kept, event, made)
        for delta in batch.partials:
            kept = self._kept.get(delta.scope.root_id)
            if kept is not None:
                self._partial(kept, delta, made)
        return made

    def _fetch(self, roots: Sequence[str], connect: Callable[[], Any]) -> None:
        """Remember again what is in the log of some roots already."""
        there = self._tables.roots.c.root_id
        scopes = self._tables.scopes
        with connect() as connection:
            names = {clean(root): root for root in roots}
            found = connection.execute(select(there).where(there.in_(names))).scalars().all()
            if not found:
                return
            rows = connection.execute(
                select(scopes).where(scopes.c.root_id.in_(found)).order_by(scopes.c.scope_no)
            ).all()
        for row in rows:
            root = original(row.root_id)
            scope = scope_of(row)
            kept = self._kept.get(root)
            if kept is None:
                kept = self._kept[root] = Kept(row.root_id, Index(scope))
            kept.scopes[scope] = row.scope_no
        for event in self._load([names[name] for name in found]):
            self._kept[event.scope.root_id].index.apply(event)
        with connect() as connection:
            last = connection.execute(
                select(there, self._tables.roots.c.last_seq).where(there.in_(found))
            )
            for name, seq in last:
                kept = self._kept[original(name)]
                kept.fresh, index = False, kept.index
                index.root.last_seq = seq
                index.changed.clear()
                index.tags.clear()
                index.cells.clear()
            partials = self._tables.partials.c
            said = select(partials.root_id, partials.call_id).where(partials.root_id.in_(found))
            for name, call in connection.execute(said):
                self._kept[original(name)].streaming.add(original(call))

    def _event(self, kept: Kept, event: Event, made: Prepared) -> None:
        scope, type_ = event.scope, event.type
        if scope is not kept.scope:
            number = kept.scopes.get(scope)
            if number is None:
                # Its first event's: unique, and the same whenever the root is written again.
                number = kept.scopes[scope] = event.seq
                made.scopes.append(scope_row(kept.name, number, scope))
            kept.scope, kept.number = scope, number
        name = type_ if type_ in EVENT_TYPES else clean(type_)
        text = written(event.data)
        made.events.append((kept.name, event.seq, kept.number, name, event.elapsed, text))
        if kept.index.root.status == "abandoned" and type_ != "run.abandoned":
            self._revive(event.scope.root_id, kept)
        if event.seq > kept.index.root.last_seq:
            kept.index.apply(event)
        if kept.streaming and type_ in _CALL_ENDS:
            self._over(kept, event, made)

    def _over(self, kept: Kept, event: Event, made: Prepared) -> None:
        """A call or an attempt ended: its text so far goes."""
        call: Any = event.data.get("call_id")
        if call not in kept.streaming:
            return
        attempt = event.data.get("attempt")
        if event.type != "attempt.failed":
            made.over.append((kept.name, clean(call), None))
            kept.streaming.discard(call)
        elif type(attempt) is int:
            made.over.append((kept.name, clean(call), attempt))

    def _revive(self, root: str, kept: Kept) -> None:
        """Somebody took the root for abandoned, and it goes on: its index as it was before."""
        told = self._load([root])
        index = Index.of(event for event in told if event.type != "run.abandoned")
        if index is not None:
            index.root.last_seq = kept.index.root.last_seq - 1
            kept.index = index

    def _partial(self, kept: Kept, delta: Delta, made: Prepared) -> None:
        number = kept.scopes.get(delta.scope)
        if number is None:  # the run's first event is still to come
            return
        kept.streaming.add(delta.call_id)
        made.partials.append(
            (
                kept.name, clean(delta.scope.run_id), number, clean(delta.call_id),
                delta.attempt, clean(delta.kind), written(delta.text), now(),
            )
        )  # fmt: skip

    # -- the transaction -----------------------------------------------------------------

    def write(self, connection: Connection, made: Prepared, writer: Writer | None) -> None:
        """Write rows that were prepared."""
        known = [kept for kept in made.roots if not kept.fresh]
        for part in slices(known):
            self._wake(connection, part)
        if writer is not None:
            self._sign(connection, writer)
        self._many(connection, "scopes", made.scopes)
        self._many(connection, "events", made.events)
        who = writer.writer_id if writer else None
        self._many(connection, "roots", [root_row(kept.index, who) for kept in made.roots])
        runs = [run_row(row) for kept in made.roots for row in kept.index.changed.values()]
        self._many(connection, "runs", runs)
        told = [(clean(i), clean(tag), "run", now()) for k in made.roots for i, tag in k.index.tags]
        self._many(connection, "tags", told)
        cells = [(k.name, seq, clean(key)) for k in made.roots for seq, key in k.index.cells]
        self._many(connection, "cells", cells)
        self._many(connection, "partials", made.partials)
        self._delete(connection, made)

    def _sign(self, connection: Connection, writer: Writer) -> None:
        """Give a sign of life, once a second at most."""
        who, when = self._signed
        if who == writer.writer_id and monotonic() - when < 1.0:
            return
        clock = self._backend.clock()
        statement = self._backend.insert(self._tables.writers).values(
            writer_id=writer.writer_id, pid=writer.pid, host=clean(writer.host),
            process_started=writer.process_started, started_at=writer.started_at, seen_at=clock,
            ended_at=None,
        )  # fmt: skip
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["writer_id"], set_={"seen_at": clock, "ended_at": null()}
            )
        )
        self._signs = writer.writer_id

    def _wake(self, connection: Connection, roots: Sequence[Kept]) -> None:
        """Roots that somebody took for abandoned, and whose writer goes on after all."""
        table = self._tables.roots.c
        given_up = connection.execute(
            select(table.root_id).where(
                table.root_id.in_([kept.name for kept in roots]), table.status == "abandoned"
            )
        )
        for name in given_up.scalars().all():
            for kept in roots:
                if kept.name == name and kept.index.root.status != "abandoned":
                    kept.index.changed.update((row.run_id, row) for row in kept.index.rows)

    def _delete(self, connection: Connection, made: Prepared) -> None:
        """Texts so far of calls that are over go."""
        t = self._tables.partials.c
        for root, call, attempt in made.over:
            gone = (t.root_id == root) & (t.call_id == call)
            if attempt is not None:
                gone &= t.attempt == attempt
            connection.execute(delete(self._tables.partials).where(gone))

    def written(self, made: Prepared) -> None:
        """It was committed: forget what need not be written again."""
        if self._signs:
            self._signed, self._signs = (self._signs, monotonic()), None
        for kept in made.roots:
            kept.fresh = False
            kept.index.changed.clear()
            kept.index.tags.clear()
            kept.index.cells.clear()
        ended = [r for r, kept in self._kept.items() if kept.index.root.status in ENDED]
        for root in ended[:-MOST_ENDED]:
            del self._kept[root]

    # -- statements ----------------------------------------------------------------------

    def _many(self, connection: Connection, name: str, rows: list[tuple[Any, ...]]) -> None:
        if rows:
            connection.exec_driver_sql(self._sql[name], rows)

    def _compile(self, engine: Engine) -> None:
        t, insert = self._tables, self._backend.insert
        made: dict[str, Any] = {
            name: insert(getattr(t, name)).on_conflict_do_nothing()
            for name in ("scopes", "tags", "cells")
        }
        events = insert(t.events)
        new = events.excluded
        abandoned: Any = literal_column("'run.abandoned'")
        made["events"] = events.on_conflict_do_update(
            index_elements=["root_id", "seq"],
            set_={name: new[name] for name in ("scope_no", "type", "elapsed", "data")},
            where=(t.events.c.type == abandoned) & (new.type != abandoned),
        )
        roots = insert(t.roots)
        new = roots.excluded
        latest = case((new.last_seq > t.roots.c.last_seq, new.last_seq), else_=t.roots.c.last_seq)
        given = ("kind", "name", "started_at", "schema_version", "status", "ended_at")
        made["roots"] = roots.on_conflict_do_update(
            index_elements=["root_id"],
            set_={**{name: new[name] for name in given}, "last_seq": latest},
        )
        runs = insert(t.runs)
        made["runs"] = runs.on_conflict_do_update(
            index_elements=["run_id"],
            set_={c.name: runs.excluded[c.name] for c in t.runs.c if c.name != "run_id"},
            where=t.runs.c.root_id == runs.excluded.root_id,
        )
        partials = insert(t.partials)
        made["partials"] = partials.on_conflict_do_update(
            index_elements=["root_id", "call_id", "attempt", "kind"],
            set_={"text": partials.excluded.text, "seen_at": partials.excluded.seen_at},
        )
        for name, statement in made.items():
            self._sql[name] = str(statement.compile(dialect=engine.dialect))
