"""A narrator writes what happens in real runs, holds up none of them, and never raises."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
import warnings

import pytest

import robotlab_nb as rl
from robotlab_nb.runtime import sinks
from robotlab_nb.testing import ScriptedModel
from robotlab_nb.widgets import narrator as narrator_module
from robotlab_nb.widgets.narrator import narrate


@pytest.fixture(autouse=True)
def no_narrators_left():
    yield
    narrator_module._narrators.close()
    assert sinks._sinks == ()


def weather(city: str, unit: str = "C") -> str:
    """Weather of a city."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return "sunny"


def guide(*cities, name="guide"):
    steps = [ScriptedModel.tool_call("weather", {"city": c, "unit": "C"}) for c in cities]
    return rl.build(name, model=ScriptedModel([*steps, "done"]), tools=[weather])


def without_times(text):
    return [line.partition(" after ")[0] for line in text.splitlines()]


def test_a_robots_run_is_told_as_it_happens():
    said = io.StringIO()
    with narrate(said):
        guide("Paris", "Atlantis").run("go")
    assert without_times(said.getvalue()) == [
        "[guide] thinking…",
        '[guide] weather("Paris", …)',
        "[guide] weather done",
        "[guide] thinking…",
        '[guide] weather("Atlantis", …)',
        "[guide] weather failed",
        "[guide] thinking…",
        "[guide] done",
    ]
    guide("Paris").run("go")
    assert said.getvalue().count("thinking") == 3  # closed


def test_a_network_is_told_with_its_tasks():
    net = rl.create_network("trip")
    net.task("look", guide("Paris"))
    net.task("break", lambda: 1 / 0, depends_on=["look"])
    said = io.StringIO()
    with narrate(said):
        net.run("go")
    lines = without_times(said.getvalue())
    assert lines[:3] == [
        "[trip] begins: 2 tasks", "[trip] task look begins", "[guide · look] thinking…",
    ]  # fmt: skip
    assert lines[-3:] == ["[trip] task break begins", "[trip] task break failed", "[trip] failed"]
    assert "ZeroDivisionError: division by zero" in said.getvalue()


def test_it_writes_to_the_standard_error_of_the_moment(capsys):
    with narrate():
        guide("Paris").run("go")
    assert capsys.readouterr().err.startswith("[guide] thinking…\n")


def test_narrating_on_the_same_stream_again_replaces_the_narrator_before():
    said, other = io.StringIO(), io.StringIO()
    first = narrate(said)
    second, third = narrate(said), narrate(other)
    assert first.closed
    assert repr(first) == "<narrator on StringIO (closed)>"
    guide("Paris").run("go")
    for one in (second, third):
        one.close()
        one.close()
    assert said.getvalue().count("thinking") == other.getvalue().count("thinking") == 2


def test_what_is_no_stream_is_an_error():
    with pytest.raises(rl.ConfigurationError, match="text stream"):
        narrate("log.txt")


class Stuck(io.StringIO):
    """A terminal that takes nothing until it is freed."""

    def __init__(self):
        super().__init__()
        self.freed = threading.Event()

    def write(self, text):
        self.freed.wait(30)
        return super().write(text)


def test_a_terminal_that_hangs_holds_up_no_run_and_what_is_left_out_is_counted(monkeypatch):
    monkeypatch.setattr(narrator_module, "MOST", 5)
    terminal = Stuck()
    narrator = narrate(terminal)
    bot = guide(*(f"city {n}" for n in range(20)))
    began = time.monotonic()
    bot.run("go")
    assert time.monotonic() - began < 5
    terminal.freed.set()
    narrator.close()
    lines = terminal.getvalue().splitlines()
    left_out = [int(line.split()[1]) for line in lines if line.startswith("…")]
    told = [line for line in lines if line.startswith("[")]
    # run.started is taken in without a line
    assert len(told) + 1 + sum(left_out) == 1 + 21 + 20 * 2 + 1
    assert 5 <= len(told) <= 7


def test_closing_waits_a_moment_and_not_forever(monkeypatch):
    monkeypatch.setattr(narrator_module, "PATIENCE_S", 0.1)
    terminal = Stuck()
    with narrate(terminal):
        guide("Paris").run("go")
    assert terminal.getvalue() == ""
    terminal.freed.set()


def test_a_stream_that_fails_ends_the_narration_with_a_warning_and_no_run():
    broken = io.StringIO()
    broken.close()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        narrator = narrate(broken)
        assert str(guide("Paris").run("go")) == "done"
        narrator._thread.join(10)
    assert narrator.closed
    assert [str(w.message).partition(" with ")[0] for w in warned] == [
        "the narrator stopped: StringIO failed"
    ]


def test_a_stream_of_few_characters_gets_escapes():
    raw = io.BytesIO()
    terminal = io.TextIOWrapper(raw, "ascii")
    with narrate(terminal):
        guide(name="Führer").run("go")
    assert raw.getvalue().splitlines()[0] == rb"[F\xfchrer] thinking\u2026"


def test_events_from_many_runs_at_once_are_all_told():
    said = io.StringIO()
    with narrate(said):
        runs = [guide("Paris", name=f"bot{n}").start("go") for n in range(50)]
        for run in runs:
            run.result()
    lines = said.getvalue().splitlines()
    for n in range(50):
        mine = [line for line in lines if line.startswith(f"[bot{n}]")]
        assert without_times("\n".join(mine))[-1] == f"[bot{n}] done"
        assert len(mine) == 5


def test_a_process_that_ends_writes_its_last_lines():
    code = """
import sys, time
import robotlab_nb as rl
from robotlab_nb.widgets.narrator import narrate
class Slow:
    def write(self, text):
        time.sleep(0.2)
        sys.stderr.write(text)
narrate(Slow())
rl.build("poet", model=rl.SimulatedModel(["x"])).run("go")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert without_times(done.stderr) == ["[poet] thinking…", "[poet] done"]


def test_a_forked_child_narrates_too():
    # In a process of its own: a fork copies whatever locks other tests' threads hold.
    code = """import os, sys
import robotlab_nb as rl
def say(name):
    rl.build(name, model=rl.SimulatedModel(["x"])).run("go")
narrator = rl.narrate(sys.stdout)
say("parent")
pid = os.fork()
if pid == 0:
    say("child")
    narrator.close()
    sys.stdout.flush()
    os._exit(0)
os.waitpid(pid, 0)
narrator.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "[child] done" in done.stdout, done.stderr
    assert "[parent] done" in done.stdout
