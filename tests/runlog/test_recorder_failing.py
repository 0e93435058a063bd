"""Whatever happens to the log: runs go on, it is said once, and what can be written later is."""

from __future__ import annotations

import functools
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.runlog import delivery, opening, recorder, trouble
from robotlab_nb.runlog.faults import LogFull, LogReadOnly
from robotlab_nb.runlog.opened import open_log
from robotlab_nb.runlog.opening import recorder_at
from robotlab_nb.runlog.recorder import Recorder
from robotlab_nb.runlog.store import Store
from robotlab_nb.runlog.targets import target_of
from robotlab_nb.runtime import recording
from robotlab_nb.runtime.sinks import add_sink, remove_sink

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "FIRST_PAUSE_S", 0.02)
    monkeypatch.setattr(recorder, "LONGEST_PAUSE_S", 0.1)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[str]:
    """A log in force, in a file of its own."""
    where = str(tmp_path / "log.sqlite")
    with rl.options(log=where):
        yield where
    recording.look()
    found = recorder_at(target_of(where))
    if found is not None:
        found.close()


def bob(*answers: Any, **more: Any) -> rl.Robot[Any]:
    return rl.build("bob", model=rl.SimulatedModel(list(answers) or ["hello"]), **more)


def until(what: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


class Broken:
    """A store that fails so often, then works."""

    def __init__(self, store: Store, error: Exception, times: int) -> None:
        self.store, self.error, self.times = store, error, times
        self.asked = 0

    def write(self, batch: Any) -> None:
        self.asked += 1
        if self.asked <= self.times:
            raise self.error
        self.store.write(batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("odd"), LogFull("no room"), OSError(5, "I/O"), MemoryError()]
)
def test_runs_go_on_whatever_the_store_raises_and_all_is_written_when_it_works_again(
    tmp_path: Path, error: Exception
) -> None:
    store = Store.open(tmp_path / "log.sqlite")
    broken = Broken(store, error, times=10**9)
    writes = Recorder(lambda: broken, "the log")  # type: ignore[arg-type, return-value]
    add_sink(writes)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            results = [bob(text).run("x") for text in ("a", "b", "c")]
            until(lambda: broken.asked > 5)
        assert [r.text for r in results] == ["a", "b", "c"]
        ours = [w for w in said if "runs are not being kept" in str(w.message)]
        assert len(ours) == 1
        assert issubclass(ours[0].category, RuntimeWarning)
        assert writes.trouble.text is not None
        broken.times = 0
        store_again = Store.open(tmp_path / "log.sqlite")
        broken.store = store_again
        writes.flush()
        assert writes.trouble.text is None
        assert [list(store_again.events([r.run_id])) for r in results] == [
            r.events for r in results
        ]
    finally:
        remove_sink(writes)
        writes.close()


def test_what_cannot_be_kept_while_it_fails_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "MOST_KEPT", 20)
    broken = Broken(Store.open(tmp_path / "log.sqlite"), ZeroDivisionError("odd"), times=10**9)
    writes = Recorder(lambda: broken, "the log")  # type: ignore[arg-type, return-value]
    with rl.options(log=None), warnings.catch_warnings(action="ignore"):
        monkeypatch.setattr(recording, "_recorder", writes)
        monkeypatch.setattr(recording, "_seen", rl.options.version)
        add_sink(writes)
        asked = bob(*"abcdefgh")
        results = [asked.run("x") for _ in range(8)]
        total = sum(len(r.events) for r in results)
        until(lambda: writes.trouble.lost)
    remove_sink(writes)
    lost = writes.trouble.lost
    broken.times, broken.store = 0, Store.open(tmp_path / "log.sqlite")
    writes.flush()
    kept = len(list(broken.store.events()))
    assert kept + lost == total
    assert 0 < kept <= 20 + len(results[-1].events)
    assert f"{lost} events were lost" in str(writes.trouble.text)
    writes.close()


def test_a_read_only_folder_is_said_and_the_run_is_not_touched(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    code = """
import os, sys, robotlab_nb as rl
bot = rl.build("b", model=rl.SimulatedModel(lambda m: "hello"))
bot.run("x")  # all that is to be imported is there now
rl.log.flush()
len(rl.log), rl.log.runs(), rl.runs()
if os.getuid() == 0:
    os.setuid(65534)
rl.options.log = sys.argv[1]
result = bot.run("x")
rl.log.flush()
print(result.text, "|", rl.log.trouble, "|", len(rl.log), "|", rl.log.runs())
"""
    folder.chmod(0o555)
    told = _python(code, str(folder / "log.sqlite"), ROBOTLAB_LOG=str(tmp_path / "log.sqlite"))
    text, said, count, runs = told.stdout.strip().split(" | ")
    assert (text, count, runs) == ("hello", "0", "[]")
    assert "cannot be opened: Permission denied" in said
    assert told.stderr.count("RuntimeWarning") == 1
    assert "rl.options.log" in told.stderr


def test_a_full_disk_is_said_and_what_waited_is_written_when_there_is_room(tmp_path: Path) -> None:
    code = """
import resource, sys, warnings, robotlab_nb as rl
from robotlab_nb.runlog import recorder
recorder.FIRST_PAUSE_S = recorder.LONGEST_PAUSE_S = 0.05
bot = rl.build("b", model=rl.SimulatedModel(lambda m: "y" * 2000))
bot.clear_messages().run("x")
rl.log.flush()
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
for _ in range(100):
    assert bot.clear_messages().run("x").text == "y" * 2000
rl.log.flush()
trouble = rl.log.trouble
readable = len(rl.log.where(status="completed"))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
rl.log.flush(60)
print(trouble is None, 0 < readable < 101, rl.log.trouble, len(rl.log))
store = rl.log.store
print(store.check())
"""
    told = _python(code, ROBOTLAB_LOG=str(tmp_path / "log.sqlite"))
    assert told.stdout.split("\n")[:2] == ["False True None 101", "[]"]
    assert told.stderr.count("RuntimeWarning") == 1


def test_a_process_that_ends_without_its_server_says_that_nothing_was_kept() -> None:
    code = "import robotlab_nb as rl; print(rl.build('b').run('x'))"
    told = _python(code, ROBOTLAB_LOG="postgresql://ann:hunter2-hunter2@127.0.0.1:9/runs")
    assert "simulated reply" in told.stdout
    assert told.stderr.count("runs were not kept") == 1
    assert "hunter2" not in told.stderr


def test_a_log_deleted_while_a_run_goes_on_is_made_again_with_the_whole_run(place: str) -> None:
    gate = threading.Event()

    def wait() -> str:
        "Wait."
        gate.wait(20)
        return "waited"

    asked = bob(("wait", {}), "the answer", tools=[wait])
    run = asked.start("x")
    until(lambda: run.state.tool_calls)
    assert rl.log.flush()[run.id] == len(run.events) - 1
    assert len(rl.log) == 1
    for name in ("", "-wal", "-shm"):
        if os.path.exists(place + name):
            os.unlink(place + name)
    gate.set()
    assert run.result().text == "the answer"
    assert rl.log[run.id].events == run.events
    assert rl.log.trouble is None
    assert Store.open(place).check() == []


def test_a_log_replaced_by_something_else_is_said_and_left_alone(place: str) -> None:
    bob().run("x")
    rl.log.flush()
    for name in ("-wal", "-shm"):
        if os.path.exists(place + name):
            os.unlink(place + name)
    os.unlink(place)
    with open(place, "w") as file:
        file.write("my diary")
    result = bob("still here").run("x")
    # The second is told where a connection was still open.
    told = "no log|file is not a database"
    with pytest.warns(RuntimeWarning, match=told):
        rl.log.flush()
    assert result.text == "still here"
    assert re.search(told, str(rl.log.trouble))
    with open(place) as file:
        assert file.read() == "my diary"
    os.unlink(place)


def test_a_log_locked_for_a_while_is_waited_for_without_a_word(
    place: str, recwarn: pytest.WarningsRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = functools.partial(Store.open, patience=0.1)
    monkeypatch.setattr(opening, "open_store", lambda target: impatient(target.address))
    bob().run("x")
    rl.log.flush()
    other = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    letting_go = threading.Timer(1.5, other.rollback)
    letting_go.start()
    result = bob("meanwhile").run("x")
    assert rl.log.flush(20)[result.run_id] == result.events[-1].seq
    letting_go.join()
    other.close()
    assert rl.log[result.run_id].events == result.events
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


@pytest.mark.slow
def test_a_log_locked_for_ten_seconds_is_said_and_then_written(place: str) -> None:
    bob().run("x")
    rl.log.flush()
    other = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    result = bob("meanwhile").run("x")
    assert time.monotonic() - began < 2
    writes = recorder_at(target_of(place))
    assert writes is not None
    with pytest.warns(RuntimeWarning, match="is locked"):
        until(lambda: writes.trouble, 30)
    assert "is locked" in str(writes.trouble.text)
    time.sleep(max(0.0, began + 10 - time.monotonic()))
    other.rollback()
    other.close()
    assert rl.log.flush(20)[result.run_id] == result.events[-1].seq
    assert rl.log.trouble is None


def test_two_processes_write_to_one_log_at_the_same_time(tmp_path: Path) -> None:
    code = """
import sys, robotlab_nb as rl
bot = rl.build(sys.argv[1], model=rl.SimulatedModel(lambda m: "y"))
for _ in range(150):
    bot.clear_messages().run("x")
print(len(rl.log.flush(60)), rl.log.trouble)
"""
    environ = {**os.environ, "ROBOTLAB_LOG": str(tmp_path / "log.sqlite")}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, name], env=environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for name in ("ann", "ben")
    ]  # fmt: skip
    told = [process.communicate(timeout=120) for process in both]
    assert [out.split() for out, _ in told] == [["150", "None"]] * 2, told
    with open_log(tmp_path / "log.sqlite") as log:
        assert len(log.where(robot="ann", status="completed")) == 150
        assert len(log.where(robot="ben", status="completed")) == 150
        assert log.store is not None
        assert log.store.check() == []


def test_a_forked_child_records_on_its_own_and_leaves_its_parents_runs_alone(
    tmp_path: Path,
) -> None:
    code = """
import os, sys, time, robotlab_nb as rl
gate = os.path.join(sys.argv[1], "gate")
def wait() -> str:
    "Wait."
    while not os.path.exists(gate):
        time.sleep(0.01)
    return "waited"
run = rl.build("parent", model=rl.SimulatedModel([("wait", {}), "end"]), tools=[wait]).start("x")
while not run.state.tool_calls:
    time.sleep(0.01)
rl.log.flush()
pid = os.fork()
if pid == 0:
    try:
        assert rl.runs() == []
        child = rl.build("child", model=rl.SimulatedModel(["hello"])).run("x")
        flushed = rl.log.flush()
        print("child", flushed == {child.run_id: child.events[-1].seq}, rl.log.trouble, flush=True)
    finally:
        os._exit(0)
os.waitpid(pid, 0)
open(gate, "w").close()
result = run.result()
assert rl.log[result.run_id].events == result.events
print("parent", sorted((r.robot, r.status) for r in rl.log), rl.log.store.check())
"""
    told = _python(code, str(tmp_path), ROBOTLAB_LOG=str(tmp_path / "log.sqlite"))
    assert told.stdout.split("\n")[:2] == [
        "child True None",
        "parent [('child', 'completed'), ('parent', 'completed')] []",
    ], told


def test_a_child_of_multiprocessing_writes_the_rest_when_it_ends(tmp_path: Path) -> None:
    code = """
import multiprocessing, robotlab_nb as rl
def work():
    rl.build("child", model=rl.SimulatedModel(["hello"])).run("x")
if __name__ == "__main__":
    rl.build("parent", model=rl.SimulatedModel(["hello"])).run("x")
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join()
    print(sorted(r.robot for r in rl.log))
"""
    told = _python(code, ROBOTLAB_LOG=str(tmp_path / "log.sqlite"))
    assert told.stdout.strip() == "['child', 'parent']"


def test_a_log_that_may_only_be_read_is_read(tmp_path: Path) -> None:
    with rl.options(log=tmp_path / "log.sqlite"):
        result = bob().run("x")
        rl.log.flush()
    with open_log(tmp_path / "log.sqlite", readonly=True) as log:
        assert log[result.run_id].text == "hello"
        with pytest.raises(LogReadOnly):
            log.tag(result.run_id, "good")


def test_patience_with_others_is_bounded() -> None:
    assert trouble.PATIENCE_S <= 5


def _python(code: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=180,
        check=True, env={**os.environ, **environ},
    )  # fmt: skip
