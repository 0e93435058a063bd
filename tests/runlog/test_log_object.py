"""``rl.log`` and ``rl.open_log``: finding runs, reading them, tagging, cleaning up."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.runlog.faults import LogGone
from robotlab_nb.runlog.opened import open_log
from robotlab_nb.runlog.opening import recorder_at
from robotlab_nb.runlog.targets import target_of
from robotlab_nb.runtime import recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Iterator[rl.Log]:
    """The log in force, in a file of its own."""
    where = str(tmp_path / "log.sqlite")
    with rl.options(log=where):
        yield rl.log
        rl.log.close()
    recording.look()
    found = recorder_at(target_of(where))
    if found is not None:
        found.close()


def robot(name: str, *answers: Any, **more: Any) -> rl.Robot[Any]:
    return rl.build(name, model=rl.SimulatedModel(list(answers) or ["hello"]), **more)


def network() -> rl.Network:
    net = rl.create_network("desk")
    net.task("draft", robot("writer", "a draft"))
    net.task("check", robot("checker", "fine"), depends_on=["draft"])
    return net


def test_runs_are_listed_newest_first_with_those_inside_after_their_network(log: rl.Log) -> None:
    robot("ann").run("x")
    network().run("go")
    found = [(run.kind, run.name, run.status) for run in log.runs()]
    assert found == [
        ("network", "desk", "completed"),
        ("robot", "writer", "completed"),
        ("robot", "checker", "completed"),
        ("robot", "ann", "completed"),
    ]
    assert len(log) == 4
    assert log.count().roots == 2


def test_a_run_is_found_by_the_beginning_of_its_id(log: rl.Log) -> None:
    result = robot("ann").run("x")
    assert log[result.run_id[:6]].id == result.run_id
    assert log[result.run_id[:8].upper()].id == result.run_id
    assert result.run_id in log
    assert "ffffffffffff" not in log
    for wrong in (result.run_id[:5], "ffffffffffff", "%", "*"):
        with pytest.raises(rl.InputError, match="there is no run"):
            log[wrong]


def test_a_beginning_that_several_have_is_refused(
    log: rl.Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = iter(["aaaaaa000001", "aaaaaa000002"])
    urandom = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: bytes.fromhex(next(ids)) if n == 6 else urandom(n))
    asked = robot("ann", "a", "b")
    asked.run("x")
    asked.run("x")
    with pytest.raises(rl.InputError, match="2 runs begin with 'aaaaaa'") as caught:
        log["aaaaaa"]
    assert "aaaaaa000001" in str(caught.value)
    assert log["aaaaaa000002"].text == "b"


def test_a_run_inside_another_is_read_alone(log: rl.Log) -> None:
    result = network().run("go")
    inner = result["draft"]
    found = log[inner.run_id]
    assert found.text == "a draft"
    assert found.events == [e for e in result.events if e.scope.run_id == inner.run_id]
    assert list(log.events(inner.run_id, types={"model_call.started"})) == [
        e for e in found.events if e.type == "model_call.started"
    ]
    whole = log.state(result.run_id)
    assert whole.tasks["check"].status == "completed"
    assert len(log[result.run_id].events) == len(result.events)
    assert found.frames.model_calls["robot"].tolist() == ["writer"]


def test_selections_narrow_and_look_again(log: rl.Log) -> None:
    writers = log.where(robot="wri*")
    assert writers.runs() == []
    network().run("go")
    robot("writer").run("alone")
    assert len(writers) == 2
    assert [run.row.network for run in writers.where(network="desk")] == ["desk"]
    assert len(log.where(robot=["checker", "writer"], status="completed")) == 3
    assert len(log.where(since=timedelta(hours=1))) == 4
    assert len(log.where(until=timedelta(hours=1))) == 0
    with pytest.raises(rl.InputError, match="selected by robot='wri"):
        writers.where(robot="x")
    with pytest.raises(rl.UnknownKeyword, match="Did you mean 'robot'"):
        log.where(robots="x")


def test_tags_and_sessions_come_from_every_level(log: rl.Log) -> None:
    net = network()
    with rl.options(tags=["class"]):
        net.run("go", config={"session_id": "monday"})
        robot("ann", tags="mine").run("x", config={"session_id": "tuesday"})
    assert {run.name for run in log.where(tag="class")} == {"desk", "writer", "checker"}
    assert {run.name for run in log.where(session_id="monday")} == {"desk", "writer", "checker"}
    (ann,) = log.where(tag="mine")
    assert (ann.row.session_id, ann.state.info["tags"]) == ("tuesday", ["mine"])
    assert ann.frames.runs["session_id"].tolist() == ["tuesday"]


def test_tags_may_be_given_and_taken_afterwards(log: rl.Log) -> None:
    one, two = robot("ann").run("x"), robot("ben").run("x")
    log.tag(one, "good", "shown")
    log.tag([two.run_id[:7], one.run_id], "seen")
    assert log[one.run_id].tags == ("good", "shown", "seen")
    log.where(tag="seen").tag("both", remove=["seen"])
    assert log[two.run_id].tags == ("both",)
    with pytest.raises(rl.InputError, match="there is no run"):
        log.tag("ffffff", "x")


def test_purging_says_what_it_deletes(log: rl.Log) -> None:
    robot("ann").run("x")
    network().run("go")
    with pytest.raises(rl.InputError, match="was not told what to delete"):
        log.purge()
    assert log.purge(older_than=1) == 0
    assert log.where(robot="checker").purge() == 1
    assert [run.name for run in log] == ["ann"]
    assert log.purge(everything=True) >= 1
    assert len(log) == 0


def test_a_colleagues_log_is_opened_by_its_path(log: rl.Log, tmp_path: Path) -> None:
    result = robot("ann").run("x")
    with rl.open_log(tmp_path / "log.sqlite") as other:
        assert other.place == log.place
        assert other[result.run_id].events == result.events
    with rl.open_log() as same:
        assert len(same) == 1


def test_a_log_that_is_not_there_is_an_error_unless_it_is_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(LogGone, match="there is no log"):
        rl.open_log(tmp_path / "tpyo.sqlite")
    assert isinstance(LogGone("x"), rl.LogError)
    with open_log(tmp_path / "new.sqlite", readonly=False) as log:
        assert log.runs() == []
    assert (tmp_path / "new.sqlite").exists()
    with pytest.raises(rl.InputError, match="no log is in force"):
        rl.open_log()


def test_a_logged_run_can_be_replayed_and_resumed(log: rl.Log) -> None:
    result = network().run("go")
    assert [s.words for s in log.replay(result.run_id).steps][-1].startswith("ends")
    again = network().resume(log[result.run_id[:6]])
    assert again.state.info["resumed_from"] == result.run_id
    assert log[again.run_id].row.resumed_from == result.run_id


def test_it_says_what_it_is_and_what_is_wrong(log: rl.Log, tmp_path: Path) -> None:
    assert "0 runs" in repr(log)
    result = robot("ann").run("x")
    run = log[result.run_id]
    assert repr(log) == f"<log {log.place}: 1 runs>"
    assert repr(run) == f"<run {run.id}: robot 'ann', completed, simulated>"
    assert "robot='ann'" in repr(log.where(robot="ann"))
    for thing in (log, log.where(robot="ann"), run):
        assert thing._repr_mimebundle_()["text/plain"]
    assert run == log.runs()[0]
    assert len({run, log.runs()[0]}) == 1
    with rl.options(log=tmp_path):  # a folder
        robot("ben").run("x")
        with pytest.warns(RuntimeWarning, match="is a folder"):
            log.flush()
        assert "is a folder" in repr(log)
    with rl.options(log=None):
        assert repr(log) == "<no log: rl.options.log is None>"
