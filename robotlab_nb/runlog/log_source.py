"""What tables are read from: the events of the runs of a log that are meant."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..core.messages import Message
from ..frames.log_frames import Told
from .conditions import ALL, KINDS
from .omitting import MARK
from .rows import slices

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ..core.events import Event
    from .conditions import Where
    from .records import RunRow
    from .store import Store

__all__ = ["LogSource", "literal"]

_SIGNS = re.compile(r"[*?\[\]]")
#: every run, without what happened outside
#: tags, rating and note of a run
_Added = tuple[tuple[str, ...], "int | None", "str | None"]
RUNS = replace(ALL, kind=("robot", "network", "experiment"))


class LogSource:
    """The runs of a log that some conditions mean.

    Parameters
    ----------
    store : Store or None
        None where nothing was recorded yet.
    where : Where
    """

    def __init__(self, store: Store | None, where: Where) -> None:
        self._store = store
        self._where = where

    @property
    def query(self) -> Mapping[str, Any]:
        """The conditions, as JSON."""
        return {name: _json(value) for name, value in self._where.given().items()}

    @property
    def words(self) -> str:
        """Whose tables these are."""
        given = self._where.given()
        if not given:
            return "all runs of the log"
        told = ", ".join(f"{name}={value!r:.60}" for name, value in given.items())
        return f"the log's runs where {told}"

    def roots(
        self, types: Collection[str] | None, *, sessions: bool = False, tags: bool = False
    ) -> Iterator[Told]:
        """The roots in which a run that is meant is, oldest first, and their events in order."""
        store = self._store
        if store is None:
            return
        known: dict[str, dict[str, _Added]] = {}
        names: Iterator[str]
        if self._where == ALL and not tags:
            names = store.root_ids(ALL if sessions else RUNS)
        else:
            names = self._meant(store, known, sessions)
        events = store.events(names, types=types)
        for root_id, told in groupby(events, key=attrgetter("scope.root_id")):
            meant = known.pop(root_id, None)
            noted = {} if meant is None else {run: each[1:] for run, each in meant.items()}
            tagged = None if meant is None else {run: each[0] for run, each in meant.items()}
            yield Told(root_id, told, tagged, noted)

    def _meant(
        self, store: Store, known: dict[str, dict[str, _Added]], sessions: bool
    ) -> Iterator[str]:
        """The roots; which of their runs are meant is noted before they are read."""
        where = self._where
        if sessions and where.kind is None:
            where = replace(where, kind=KINDS)
        rows = store.select(where, newest_first=False)
        for root_id, runs in groupby(rows, key=attrgetter("root_id")):
            known[root_id] = {row.run_id: (row.tags, row.rating, row.note) for row in runs}
            yield root_id

    def outside(self, types: Collection[str]) -> Iterator[Event]:
        """What happened outside runs, where that is not meant anyway."""
        if self._store is None or self._where == ALL:
            return iter(())
        sessions = self._store.root_ids(replace(ALL, kind="session"))
        return self._store.events(sessions, types=types)

    def prompts(self, run_ids: Sequence[str]) -> Mapping[str, str]:
        """The system prompts of runs, by run, where they are known."""
        store = self._store
        if store is None or not run_ids:
            return {}
        wanted = {row.run_id: row.root_id for row in _rows(store, run_ids)}
        found: dict[str, str] = {}
        for event in store.events(dict.fromkeys(wanted.values()), types={"message.added"}):
            run_id, message = event.scope.run_id, event.data.get("message")
            if run_id not in wanted or run_id in found or not isinstance(message, dict):
                continue
            if message.get("role") == "system":
                text = Message.from_dict(message).text
                if not text.startswith(MARK):
                    found[run_id] = text
        return found

    def totals(self) -> Mapping[str, int]:
        """How many rows some tables have, from the index alone."""
        from .overview import figures

        return {} if self._store is None else figures(self._store, self._where).tables()


def _rows(store: Store, run_ids: Sequence[str]) -> Iterator[RunRow]:
    """The index of some runs, a few hundred at a time."""
    for part in slices(run_ids):
        yield from store.select(replace(ALL, run_id=[literal(run_id) for run_id in part]))


def literal(name: str) -> str:
    """A name in which no sign stands for others."""
    return _SIGNS.sub(r"[\g<0>]", name)


def _json(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g} s ago"
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return list(value)
