"""The pictures of a log, of selections and lists of its runs, and of its tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import robotlab_nb as rl
from robotlab_nb.core.readings import html, text
from robotlab_nb.runlog.opened import open_log
from robotlab_nb.runlog.store import Batch, Store
from tests.runlog.samples import Told, network_run, robot_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = "<img src=x onerror=alert(1)> $5 of $6 \u202e\x1b[31m"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[rl.Log]:
    monkeypatch.chdir(tmp_path)
    with Store.open("runs.sqlite") as store:
        for n in range(22):
            store.write(Batch(robot_run(f"{n:012x}", hours=n / 10, robot="ann", calls=2)))
        store.write(Batch(network_run("f00d00000000", hours=3, network="desk")))
        told = Told("bad000000000", hours=4)
        robot_run("bad000000000", told=told, end="run.failed", robot=HOSTILE)
        told.events[0].data["input"] = HOSTILE  # type: ignore[index]
        store.write(Batch(told.events))
    with open_log("runs.sqlite") as opened:
        yield opened


def test_a_log_shows_its_newest_roots_and_how_to_ask(log: rl.Log) -> None:
    lines = text(log).splitlines()
    assert lines[0] == "Log runs.sqlite · 26 runs · 150 events"
    assert lines[1].split() == [
        "run", "name", "state", "tasks", "started", "tokens", "cost", "took", "input",
    ]  # fmt: skip
    assert lines[2].lstrip().startswith("bad000  <img src=x")
    assert "✕ failed" in lines[2]
    assert lines[3].split()[:4] == ["f00d00", "desk", "✓", "completed"]
    # A network with all that ran inside: two runs of fifteen tokens and a quarter of a dollar.
    assert re.search(r"✓✓\s+15:00:00\s+30\s+\$0\.5000\s+1\.6 s\s+Hi$", lines[3])
    assert len(lines) == 2 + 20 + 2
    assert "in desk" not in text(log)
    assert lines[-2] == "… 4 more · times are of 2026-03-01, UTC"
    assert 'rl.log.where(robot="…", status="failed", since="7d")' in lines[-1]
    assert max(map(len, lines)) <= 96


def test_a_selection_shows_its_conditions_and_runs_inside_networks(log: rl.Log) -> None:
    shown = text(log.where(network="desk"))
    assert "network='desk' · 3 runs" in shown
    assert "draft in desk" in shown
    assert "1 failed" in text(log.where(status=["failed", "completed"]))
    assert "0 runs" in text(log.where(robot="nobody"))
    assert "run " not in text(log.where(robot="nobody"))


def test_lists_of_runs_and_runs_have_pictures(log: rl.Log) -> None:
    runs = log.runs()
    shown = text(runs)
    assert shown.startswith("26 runs")
    assert "… 6 more" in shown
    one = text(log["f00d00000000"])
    assert "f00d00 · started 2026-03-01 15:00:00 UTC" in one
    assert "do draft" in one
    log.tag("f00d00000000", "good <b>")
    assert "good <b>" in text(log["f00d00000000"])
    assert "good &lt;b&gt;" in (html(log["f00d00000000"]) or "")


def test_tables_say_what_is_known_without_reading_them(
    log: rl.Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "events", None)
    shown = text(log.frames)
    assert "runs         26 rows" in shown
    assert "model_calls  47 rows" in shown
    assert "messages     not read yet" in shown
    assert repr(log.frames) == "Frames of all runs of the log: runs 26 · model_calls 47"


def test_texts_of_others_are_inert(log: rl.Log) -> None:
    for thing in (log, log.where(status="failed"), log.runs(), log["bad000"], log.frames,
                  log.where(robot=HOSTILE)):  # fmt: skip
        drawn = html(thing) or ""
        assert "<img src=x" not in drawn
        assert "\x1b" not in drawn + text(thing)
        assert "\u202e" not in drawn + text(thing)


def test_no_log_an_empty_one_and_one_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a long path would take the room of what is said after it
    with rl.options(log=None):
        assert "runs are not kept" in text(rl.log)
    with open_log("new.sqlite", readonly=False) as empty:
        assert "no runs yet" in text(empty)
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"this is no database, by no means" * 64)
    with rl.options(log=str(bad)):
        shown = text(rl.log)
    assert "✕ failed" in shown
    assert "bad.sqlite" in shown


def test_a_day_is_told_where_there_are_several(tmp_path: Path) -> None:
    with Store.open(tmp_path / "days.sqlite") as store:
        store.write(Batch(robot_run("a" * 12)))
        store.write(Batch(robot_run("b" * 12, hours=24)))
    with open_log(tmp_path / "days.sqlite") as log:
        shown = text(log)
    assert "2026-03-01 12:00:00" in shown
    assert "2026-03-02 12:00:00" in shown
    assert shown.splitlines()[-2] == "times are UTC"


def test_the_picture_of_a_large_log_reads_little(log: rl.Log) -> None:
    read: list[str] = []
    store = log.store
    assert store is not None
    events = store.events
    store.events = lambda *a, **k: (read.append(e.type) or e for e in events(*a, **k))  # type: ignore[method-assign, func-returns-value]
    html(log)
    assert set(read) <= {"run.started", "run.completed", "task.started", "task.completed"}
    assert len(read) < 12
