"""The recorder: every event of every run in the log, as it was, and soon; whole roots, always."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.runlog.opened import open_log
from robotlab_nb.runlog.opening import recorder_at, recorder_of
from robotlab_nb.runlog.targets import target_of
from robotlab_nb.runtime import recording, session, sinks
from robotlab_nb.runtime.session import session_emit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[str]:
    """A log in force, in a file of its own."""
    where = str(tmp_path / "log.sqlite")
    with rl.options(log=where):
        yield where
    recording.look()
    recorder_of_place = recorder_at(target_of(where))
    if recorder_of_place is not None:
        recorder_of_place.close()


def bob(*answers: Any, **more: Any) -> rl.Robot[Any]:
    return rl.build("bob", model=rl.SimulatedModel(list(answers) or ["hello"]), **more)


def test_a_run_is_in_the_log_as_it_was(place: str) -> None:
    def add(a: int, b: int) -> int:
        "Add."
        return a + b

    result = bob(("add", {"a": 1, "b": 2}), "3", tools=[add]).run("add")
    assert rl.log[result.run_id].events == result.events
    assert rl.log.state(result.run_id).text == "3"
    assert [run.status for run in rl.log.runs()] == ["completed"]


def test_flush_says_up_to_where_all_is_safe(place: str) -> None:
    result = bob().run("x")
    assert rl.log.flush() == {result.run_id: result.events[-1].seq}
    with open_log(place, readonly=True) as other:
        assert [e.seq for e in other.events()] == list(range(len(result.events)))


def test_it_is_written_without_anybody_asking(place: str) -> None:
    result = bob().run("x")
    end = time.monotonic() + 20
    while time.monotonic() < end:
        found = recorder_at(target_of(place))
        assert found is not None
        if found.acknowledged().get(result.run_id) == result.events[-1].seq:
            return
        time.sleep(0.02)
    raise AssertionError("nothing was written by itself")


def test_what_robots_share_between_cells_is_recorded_too(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_session", None)
    memory = rl.create_memory()
    memory["draft"] = "Dear all"
    found = list(rl.log.where(kind="session").events(types={"memory.set"}))
    assert [event.data["key"] for event in found] == ["draft"]
    assert len(rl.log) == 0


def test_a_session_that_grew_while_the_log_was_away_has_its_start_and_its_latest_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_session", None)
    monkeypatch.setattr(session, "MOST_EVENTS", 20)
    monkeypatch.setattr(session, "_STEP", 5)
    for number in range(100):
        session_emit("memory.deleted", {"key": f"k{number}", "version": 1, "writer": "session"})
    with rl.options(log=tmp_path / "log.sqlite"):
        session_emit("memory.deleted", {"key": "last", "version": 1, "writer": "session"})
        kept = list(rl.log.where(kind="session").events())
    assert kept[0].seq == 0
    assert kept[-1].data["key"] == "last"
    assert [event.seq for event in kept[1:]] == list(range(kept[1].seq, 102))
    assert recorder_of(tmp_path / "log.sqlite").trouble.lost == 0  # there was no log then


# -- changing logs -------------------------------------------------------------------------------


def test_a_run_that_goes_on_is_whole_in_the_log_that_comes_into_force(tmp_path: Path) -> None:
    first, second = tmp_path / "first.sqlite", tmp_path / "second.sqlite"
    gate = threading.Event()

    def wait() -> str:
        "Wait."
        gate.wait(20)
        return "done"

    run = bob(("wait", {}), "end", tools=[wait]).start("x")
    while not run.state.tool_calls:
        time.sleep(0.01)
    with rl.options(log=first):
        rl.log.flush()
        assert [e.seq for e in rl.log.events()] == [e.seq for e in run.events]
        with rl.options(log=second):
            gate.set()
            run.result()
            assert list(rl.log.events()) == run.events


def test_each_log_has_the_runs_of_its_time(tmp_path: Path) -> None:
    asked = bob("a", "b", "c", "d")
    first, second = str(tmp_path / "first.sqlite"), str(tmp_path / "second.sqlite")
    with rl.options(log=first):
        one = asked.run("x").run_id
        with rl.options(log=second):
            two = asked.run("x").run_id
        with rl.options(log=None):
            asked.run("x")
        three = asked.run("x").run_id
    assert [run.id for run in open_log(first)] == [three, one]
    assert [run.id for run in open_log(second)] == [two]


def test_a_log_that_comes_back_before_it_was_closed_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from robotlab_nb.runlog.store import Store

    opens, go_on = Store.open, threading.Event()

    def slow(*how: Any, **more: Any) -> Store:
        go_on.wait(20)
        return opens(*how, **more)

    asked, where = bob("a", "b"), str(tmp_path / "log.sqlite")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "open", slow)
        with rl.options(log=where):
            one = asked.run("x").run_id
        recording.look()
        with rl.options(log=where):
            two = asked.run("x").run_id
            threading.Timer(0.2, go_on.set).start()
            assert set(rl.log.flush()) >= {one, two}


def test_a_place_that_cannot_be_meant_is_told_where_the_run_starts() -> None:
    with rl.options(log="mysql://me:hunter2-hunter2@host/db"):
        with pytest.raises(rl.ConfigurationError, match="mysql is no database") as caught:
            bob().run("x")
        assert "hunter2" not in str(caught.value)
    assert bob().run("x").text == "hello"


def test_an_option_may_come_from_the_environment(tmp_path: Path) -> None:
    code = "import robotlab_nb as rl; rl.build('b').run('x'); print(rl.log.place, len(rl.log))"
    told = _python(code, ROBOTLAB_LOG=str(tmp_path / "l.sqlite"))
    assert told.stdout.split() == [str(tmp_path / "l.sqlite"), "1"]
    told = _python(code, ROBOTLAB_LOG="off", ROBOTLAB_NB_LOG="", XDG_DATA_HOME=str(tmp_path))
    assert told.stdout.split() == ["None", "0"]
    assert not (tmp_path / "robotlab_nb").exists()


def test_tests_write_to_no_log_but_one_that_they_name(tmp_path: Path) -> None:
    code = "import robotlab_nb as rl; rl.build('b').run('x'); print(rl.log.place)"
    told = _python(code, ROBOTLAB_NB_LOG="off", XDG_DATA_HOME=str(tmp_path))
    assert told.stdout.strip() == "None"
    assert list(tmp_path.iterdir()) == []


# -- a person's first run --------------------------------------------------------------------------


def test_the_usual_log_is_on_and_says_once_where_it_is_and_how_to_switch_it_off(
    tmp_path: Path,
) -> None:
    code = """
import robotlab_nb as rl
bot = rl.build("b")
bot.run("x")
bot.run("x")
"""
    told = _python(code, ROBOTLAB_NB_LOG="", XDG_DATA_HOME=str(tmp_path))
    where = tmp_path / "robotlab_nb" / "log.sqlite"
    assert told.stderr.count(str(where)) == 1
    assert "rl.options.log = None" in told.stderr
    assert told.stderr.count("\n") == 1
    with open_log(where) as log:
        assert [run.status for run in log] == ["completed", "completed"]


def test_a_log_that_was_chosen_is_not_announced(tmp_path: Path) -> None:
    code = "import robotlab_nb as rl; rl.build('b').run('x')"
    assert _python(code, ROBOTLAB_LOG=str(tmp_path / "l.sqlite")).stderr == ""


def test_a_run_with_the_log_off_loads_no_part_of_it(tmp_path: Path) -> None:
    code = """
import sys, robotlab_nb as rl
rl.options.log = None
rl.build("b").run("x")
memory = rl.create_memory()
memory["a"] = 1
print([m for m in sys.modules if "sqlalchemy" in m or "runlog" in m])
"""
    assert _python(code, ROBOTLAB_NB_LOG="").stdout.strip() == "[]"


def test_looking_at_a_log_that_was_never_written_makes_nothing(tmp_path: Path) -> None:
    code = """
import robotlab_nb as rl
print(len(rl.log), rl.log.runs(), list(rl.log.events()), rl.log.abandoned(), bool(rl.log))
repr(rl.log)
"""
    told = _python(code, ROBOTLAB_NB_LOG="", XDG_DATA_HOME=str(tmp_path))
    assert told.stdout.strip() == "0 [] [] [] True"
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_ends_at_once_has_written_all(tmp_path: Path) -> None:
    code = """
import robotlab_nb as rl
bot = rl.build("slow", model=rl.SimulatedModel(["x"], delay=60))
run = bot.start("x")
while not run.state.model_calls: pass
"""
    began = time.monotonic()
    _python(code, ROBOTLAB_LOG=str(tmp_path / "l.sqlite"))
    assert time.monotonic() - began < 20
    with open_log(tmp_path / "l.sqlite") as log:
        (run,) = log.runs()
        assert run.status == "interrupted"
        assert run.state.ended


# -- what the engine waits for ---------------------------------------------------------------------


def test_before_something_is_sent_out_all_that_led_to_it_is_safe(place: str) -> None:
    safe: list[int] = []

    @rl.tool(labels={"outward"})
    def send(text: str, run: rl.Run[Any]) -> str:
        "Send."
        recorder = recorder_at(target_of(place))
        assert recorder is not None
        safe.append(recorder.acknowledged().get(run.id, -1) - len(run.events) + 1)
        return "sent"

    @rl.tool
    def note(text: str, run: rl.Run[Any]) -> str:
        "Note."
        recorder = recorder_at(target_of(place))
        assert recorder is not None
        safe.append(recorder.acknowledged().get(run.id, -1) - len(run.events) + 1)
        return "noted"

    steps = [("send", {"text": "a"}), ("note", {"text": "b"}), "done"]
    bob(*steps, tools=[send, note]).run("x")
    assert safe[0] == 0
    assert safe[1] < 0


def test_a_run_waits_for_a_log_that_is_far_behind(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from robotlab_nb.runlog import recorder as module

    monkeypatch.setattr(module, "MOST_BEHIND", 5)
    monkeypatch.setattr(module, "EVERY_S", 30.0)
    monkeypatch.setattr(module, "FIRST_S", 30.0)
    waited: list[bool] = []
    durable = sinks.durable

    async def watched(root: Any) -> None:
        waited.append(sinks.behind)
        await durable(root)
        waited.append(sinks.behind)

    monkeypatch.setattr(sinks, "durable", watched)
    asked = bob("a", "b")
    asked.run("x")
    asked.run("x")
    assert waited == [True, False]


def test_nothing_streams_that_would_not_without_a_log(place: str) -> None:
    result = bob("hello").run("x")
    started = [e for e in result.events if e.type == "model_call.started"]
    assert [e.data["streaming"] for e in started] == [False]


def test_put_is_quick_while_the_store_is_not(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from robotlab_nb.runlog.store import Store

    write, began, go_on = Store.write, threading.Event(), threading.Event()

    def slow(self: Store, batch: Any) -> None:
        began.set()
        go_on.wait(20)
        write(self, batch)

    monkeypatch.setattr(Store, "write", slow)
    asked = bob("a", "b")
    asked.run("x")
    assert began.wait(20)
    before = time.monotonic()
    asked.run("x")
    took = time.monotonic() - before
    go_on.set()
    assert took < 2
    assert len(rl.log.runs()) == 2


def _python(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, **environ},
    )  # fmt: skip


def test_a_long_session_begins_with_what_is_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its latest events only: those let go of before there was a log are no loss."""
    monkeypatch.setattr(session, "MOST_EVENTS", 20)
    monkeypatch.setattr(session, "_STEP", 10)
    memory = rl.create_memory()
    for number in range(80):
        memory[f"key {number}"] = number
    where = str(tmp_path / "log.sqlite")
    with rl.options(log=where):
        bob().run("x")
        memory["after"] = 1
        rl.log.flush()
        assert rl.log.trouble is None
        kept = [e.seq for e in rl.log.store.events() if e.scope.kind == "session"]
        assert kept[0] == 0
        assert kept[1] > 20
        assert kept[1:] == list(range(kept[1], 82))
        assert rl.log.store.check() == []
        file = rl.log.export(tmp_path / "all.jsonl")
    with rl.options(log=str(tmp_path / "other.sqlite")):
        rl.log.import_(file)
    recording.look()
