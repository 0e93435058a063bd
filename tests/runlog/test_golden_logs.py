"""Logs that released versions wrote are read as what they were."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.events import SCHEMA_VERSION, Event
from robotlab_nb.core.state import RunState
from robotlab_nb.runlog.event_text import read, written
from robotlab_nb.runlog.schema import LAYOUT
from robotlab_nb.runlog.store import Batch, Store, Where

if TYPE_CHECKING:
    from collections.abc import Callable

LOGS = Path(__file__).parent.parent / "data" / "logs"
GOLDEN = sorted(path.stem for path in LOGS.glob("*.sql"))


@pytest.fixture(params=GOLDEN)
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A version, whose log lies in a file."""
    with sqlite3.connect(tmp_path / "golden.sqlite") as log:
        log.executescript((LOGS / f"{request.param}.sql").read_text("utf-8"))
    log.close()
    version: str = request.param
    return version


def lines(name: str) -> list[Any]:
    return [read(line) for line in (LOGS / name).read_text("ascii").split("\n") if line]


def text(events: list[Event]) -> list[str]:
    return [written(event.to_dict()) for event in events]


def as_told_by(golden: list[Any], rows: list[Any]) -> list[Any]:
    """The rows without what a version did not tell yet; that is None in what it wrote."""
    known = golden[0].keys()
    assert all(row[name] is None for row in rows for name in row.keys() - known)
    return [{name: row[name] for name in known} for row in rows]


def test_there_is_a_log_of_every_version() -> None:
    assert f"v{SCHEMA_VERSION}" in GOLDEN
    assert f"v{LAYOUT}" in GOLDEN


@pytest.mark.parametrize("readonly", [True, False])
def test_a_golden_log_is_read(
    golden: str, readonly: bool, tmp_path: Path, opened: Callable[..., Store]
) -> None:
    store = opened(str(tmp_path / "golden.sqlite"), readonly=readonly)
    assert text(list(store.events())) == [written(e) for e in lines(f"{golden}.events.jsonl")]
    rows = [read(written(asdict(row))) for row in store.select()]
    want = lines(f"{golden}.runs.json")
    assert as_told_by(want, rows) == want
    assert store.check() == []
    for root in store.root_ids():
        assert RunState.fold(store.events([root])).scope.root_id == root
    (said,) = store.partials(["begun"])
    assert said.text == "Once upon \ud83d"
    assert [row.run_id for row in store.select(Where(tag="kept"))] == ["begun"]
    assert [row.run_id for row in store.select(Where(tag="été"))] == ["strange"]


def test_a_golden_log_goes_on(golden: str, tmp_path: Path, opened: Callable[..., Store]) -> None:
    store = opened(str(tmp_path / "golden.sqlite"))
    before = len(list(store.events()))
    assert sorted(store.abandon_dead()) == ["begun", "strange"]
    assert len(list(store.events())) == before + 2
    told = lines(f"{golden}.events.jsonl")
    assert store.reindex() == len({event["scope"]["root_id"] for event in told})
    assert store.check() == []


def test_the_other_database_makes_the_same_of_its_events(
    golden: str, place: str, opened: Callable[..., Store]
) -> None:
    store = opened(place)
    told = [Event.from_dict(event) for event in lines(f"{golden}.events.jsonl")]
    store.write(Batch(told))
    assert text(list(store.events())) == text(told)
    want = lines(f"{golden}.runs.json")
    for row in want:
        row["tags"] = [tag for tag in row["tags"] if tag != "kept"]
        row |= {name: None for name in ("rating", "note") if name in row}
    rows = [read(written(asdict(row))) for row in store.select()]
    assert as_told_by(want, rows) == want


def test_a_log_of_the_first_version_is_rated_and_loses_nothing(
    tmp_path: Path, opened: Callable[..., Store]
) -> None:
    path = tmp_path / "golden.sqlite"
    with sqlite3.connect(path) as log:
        log.executescript((LOGS / "v1.sql").read_text("utf-8"))
    log.close()
    with sqlite3.connect(path) as log:
        before = list(log.iterdump())
    log.close()

    reader = opened(str(path))
    assert (reader.version, reader.ratings()) == (1, {})
    writer = opened(str(path))
    writer.rate([("begun", 4, "promising")])
    assert writer.version == LAYOUT
    # Who has had it open all the while sees it too.
    assert reader.ratings()["begun"][:2] == (4, "promising")
    assert [row.rating for row in reader.select(Where(run_id="begun"))] == [4]
    assert text(list(reader.events())) == [written(e) for e in lines("v1.events.jsonl")]
    assert [row.run_id for row in reader.select(Where(tag="kept"))] == ["begun"]
    assert opened(str(path)).check() == []

    with sqlite3.connect(path) as log:
        after = list(log.iterdump())
    log.close()
    changed = [line for line in before if line not in after]
    assert len(changed) == 1
    assert "schema_version" in changed[0]


@pytest.mark.parametrize("readonly", [True, False])
def test_reading_a_log_of_the_first_version_changes_nothing(
    readonly: bool, tmp_path: Path, opened: Callable[..., Store]
) -> None:
    path = tmp_path / "golden.sqlite"
    with sqlite3.connect(path) as log:
        log.executescript((LOGS / "v1.sql").read_text("utf-8"))
    log.close()
    store = opened(str(path), readonly=readonly)
    assert len(list(store.select())) == 6
    assert store.ratings(["begun"]) == {}
    assert store.check() == []
    assert store.ratings_in(["begun"]) == {}
    store.close()
    with sqlite3.connect(path) as log:
        (said,) = log.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    log.close()
    assert said == "1"
