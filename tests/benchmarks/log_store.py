"""What a log costs: writing, reading and opening it, beside bare sqlite3 with the same rows.

It knows nothing of who records; that is measured elsewhere.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from robotlab_nb.runlog.store import Batch, Store
from tests.runlog.samples import robot_run

from .clock import best
from .figure import Figure, Pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robotlab_nb.core.events import Event

    from .figure import Setting

__all__ = ["FIGURES"]

#: events that the recorder writes at once
BATCH = 500
TABLE = (
    "CREATE TABLE events (root_id TEXT NOT NULL, seq BIGINT NOT NULL, scope_no BIGINT NOT NULL, "
    "type TEXT NOT NULL, elapsed DOUBLE, data TEXT NOT NULL, PRIMARY KEY (root_id, seq))"
)
INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"


def _batches(count: int) -> list[list[Event]]:
    """So many events of runs with five model calls each."""
    runs = (robot_run(f"root-{n}", calls=5) for n in range(count // 12 + 1))
    events = [event for run in runs for event in run][:count]
    return [events[at : at + BATCH] for at in range(0, count, BATCH)]


def _bare(path: Path, batches: list[list[Event]]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as log:
        log.execute("PRAGMA journal_mode=WAL")
        log.execute("PRAGMA synchronous=NORMAL")
        log.execute(TABLE)
        for batch in batches:
            rows = [
                (e.scope.root_id, e.seq, 0, e.type, e.elapsed, json.dumps(e.data)) for e in batch
            ]
            log.execute("BEGIN IMMEDIATE")
            log.executemany(INSERT, rows)
            log.execute("COMMIT")


def _ours(path: Path, batches: list[list[Event]]) -> None:
    with Store.open(path) as store:
        for batch in batches:
            store.write(Batch(batch))


def _names(folder: str) -> Iterator[Path]:
    return (Path(folder) / f"{n}.sqlite" for n in range(1_000_000))


def _write(setting: Setting) -> Pair:
    batches = _batches(setting.times(20_000))
    count = sum(map(len, batches))
    with tempfile.TemporaryDirectory() as folder:
        names = _names(folder)
        floor = best(lambda: _bare(next(names), batches), calls=1, batches=3)
        ours = best(lambda: _ours(next(names), batches), calls=1, batches=3)
    return Pair(floor.cpu / count * 1e6, ours.cpu / count * 1e6)


def _read(setting: Setting) -> Pair:
    count = setting.times(20_000)
    with tempfile.TemporaryDirectory() as folder:
        names = _names(folder)
        path = next(names)
        _ours(path, _batches(count))

        def bare() -> None:
            with closing(sqlite3.connect(path)) as log:
                for row in log.execute("SELECT * FROM events ORDER BY root_id, seq"):
                    json.loads(row[5])

        with Store.open(path) as store:
            ours = best(lambda: sum(1 for _ in store.events()), calls=1, batches=3)
        floor = best(bare, calls=1, batches=3)
    return Pair(floor.cpu / count * 1e6, ours.cpu / count * 1e6)


#: as many roots of ten events as asked for, made inside the database
MANY = """
INSERT INTO events
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})
SELECT 'many-' || (i / 10), i % 10, 0, 'message.added', 0.1, '{{"text":"' || hex(i) || '"}}' FROM n;
INSERT INTO roots
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count} / 10)
SELECT 'many-' || i, NULL, 'robot', 'r', i + 1, 1, 'completed', 9, i + 2 FROM n;
INSERT INTO runs (run_id, root_id, kind, status, number, root_started_at, simulated,
                  tokens_estimated, cost_complete)
SELECT root_id, root_id, 'robot', 'completed', 0, started_at, 0, 0, 1 FROM roots;
"""


def _filled(path: Path, count: int) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as log:
        log.executescript(MANY.format(count=count))


def _open(setting: Setting) -> Pair:
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.sqlite", Path(folder) / "large.sqlite"
        _filled(small, 1_000)
        _filled(large, setting.times(1_000_000))

        def opened(path: Path) -> None:
            with Store.open(path) as store:
                store.abandon_dead()

        opened(small)
        floor = best(lambda: opened(small), calls=1, batches=20)
        ours = best(lambda: opened(large), calls=1, batches=20)
    return Pair(floor.wall * 1e3, ours.wall * 1e3)


FIGURES = [
    Figure("an event written to a log, in batches of 500", "µs", 14, _write, 7),
    Figure("an event read from a log", "µs", 16, _read, 5),
    Figure("opening a log of 1,000,000 events beside one of 1,000 (wall)", "ms", 6, _open, 4),
]
