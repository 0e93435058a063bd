"""Events as they were told, root by root, in constant memory.

Small roots are read many at a time; large ones in pages, by what is read so far. No query stays
open between two events that are handed out, so that a slow reader is in nobody's way.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from ..core import events as versions
from .event_text import clean, original
from .faults import LogDamaged
from .rows import delta_of, event_of, scope_of
from .upcasting import upcaster

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from ..core.events import Delta, Event, Scope
    from .backends import Backend

__all__ = ["Events"]

#: roots that are read at once, and the events that they may have together
ROOTS = 100
EVENTS = 2_000
#: events of a page, and characters of their data, of which there may be somewhat more
PAGE = 1_000
CHARACTERS = 4_000_000


class Events:
    """Reads events of some types, or of all, that come after a number."""

    def __init__(
        self,
        backend: Backend,
        connect: Callable[[], Any],
        types: Collection[str] | None = None,
        after: int = -1,
    ) -> None:
        self._tables = backend.tables
        self._streaming = backend.streaming
        self._connect = connect
        self._types = None if types is None else [clean(t) for t in types]
        self._after = after
        #: the scopes of the roots that are being read
        self._scopes: dict[tuple[str, int], Scope] = {}
        self._versions: dict[str, int] = {}

    def of(self, root_ids: Iterable[str]) -> Iterator[Event]:
        """The events of roots, in the order that these are given in."""
        left = iter(root_ids)
        while names := [clean(root_id) for root_id in islice(left, ROOTS)]:
            self._scopes.clear()
            sizes = self._sizes(names)
            group: list[str] = []
            total = 0
            for name in names:
                size = sizes.get(name, EVENTS + 1)  # the index may not know it
                if group and total + size > EVENTS:
                    yield from self._group(group)
                    group, total = [], 0
                if size > EVENTS:
                    yield from self._one(name, self._after)
                else:
                    group.append(name)
                    total += size
            yield from self._group(group)

    def _sizes(self, names: list[str]) -> dict[str, int]:
        """About how many events each root has."""
        roots = self._tables.roots.c
        query = select(roots.root_id, roots.last_seq, roots.schema_version)
        with self._connect() as connection:
            found = connection.execute(query.where(roots.root_id.in_(names))).all()
        self._versions = {row.root_id: _version(row.schema_version) for row in found}
        return {row.root_id: row.last_seq + 1 for row in found}

    def _group(self, names: list[str]) -> Iterator[Event]:
        """Small roots, as many as one page holds; the others one by one."""
        if not names:
            return
        rows, whole = self._page(names, self._after)
        by_root: dict[str, list[Any]] = {name: [] for name in names}
        for row in rows:
            by_root[row[0]].append(row)
        if rows:
            self._read_scopes(names)
        last = rows[-1][0] if rows and not whole else None
        for name in names:
            if whole or (last is not None and name < last):
                yield from self._made(name, by_root[name])
            else:  # not all of it was read, or nothing
                yield from self._one(name, self._after)

    def _one(self, name: str, after: int) -> Iterator[Event]:
        """A root, page by page."""
        while True:
            rows, whole = self._page([name], after)
            yield from self._made(name, rows)
            if whole:
                return
            after = rows[-1][1]

    def _page(self, names: list[str], after: int) -> tuple[list[Any], bool]:
        """Some rows in order of root and number, and whether they are all that there are."""
        events = self._tables.events.c
        query = (
            select(
                events.root_id, events.seq, events.type, events.elapsed, events.data,
                events.scope_no,
            )
            .where(events.root_id.in_(names), events.seq > after)
            .order_by(events.root_id, events.seq)
        )  # fmt: skip
        if self._types is not None:
            query = query.where(events.type.in_(self._types))
        if len(names) == 1:
            query = query.where(events.root_id == names[0]).limit(PAGE)
        rows: list[Any] = []
        size = 0
        with self._connect() as connection:
            streamed = connection.execution_options(**self._streaming)
            with streamed.execute(query) as result:
                for row in result:
                    rows.append(row)
                    size += len(row[4]) if isinstance(row[4], (str, bytes)) else 0
                    if size > CHARACTERS:
                        return rows, False
        return rows, not (len(names) == 1 and len(rows) == PAGE)

    def _made(self, name: str, rows: list[Any]) -> Iterator[Event]:
        if not rows:
            return
        root, scopes = original(name), self._scopes
        if not all((name, row[5]) in scopes for row in rows):
            self._read_scopes([name])
        upcast = upcaster(self._versions.get(name, versions.SCHEMA_VERSION))
        for row in rows:
            scope = scopes.get((name, row[5]))
            if scope is None:
                raise LogDamaged(f"event {row[1]} of {root!r:.60} has no scope")
            event = event_of(root, row[1:5], scope)
            yield event if upcast is None else upcast(event)

    def _read_scopes(self, names: list[str]) -> None:
        scopes = self._tables.scopes
        with self._connect() as connection:
            for row in connection.execute(select(scopes).where(scopes.c.root_id.in_(names))):
                self._scopes[row.root_id, row.scope_no] = scope_of(row)

    def partials(self, root_ids: Iterable[str]) -> list[Delta]:
        """What calls that are not over had streamed."""
        table = self._tables.partials
        made = []
        for name in dict.fromkeys(clean(root_id) for root_id in root_ids):
            query = select(table).where(table.c.root_id == name)
            with self._connect() as connection:
                rows = connection.execute(query.order_by(table.c.seen_at, table.c.kind)).all()
            if rows:
                self._read_scopes([name])
            for row in rows:
                scope = self._scopes.get((name, row.scope_no))
                if scope is not None:
                    made.append(delta_of(row, scope))
        return made


def _version(said: int | None) -> int:
    return versions.SCHEMA_VERSION if said is None else said
