"""Live views in a real kernel: what is published, where, how much, and what it settles into."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest

from .conftest import EVERY_KERNEL

WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = """
import robotlab_nb as rl, asyncio, time, sys
words = " ".join(f"word{n:03d}" for n in range(2000))
paced = rl.build("paced", model=rl.SimulatedModel([words], pace=0.004))
quick = rl.build("quick", model=rl.SimulatedModel([words]))
slow = rl.build("slow", model=rl.SimulatedModel(["at last"], delay=30))
short = rl.build("short", model=rl.SimulatedModel(["one two three"], delay=0.4))
refused = rl.ModelError("no such key", kind="auth")
bad = rl.build("bad", model=rl.SimulatedModel([refused], delay=0.4))
"""


@dataclass
class Tap:
    """Everything the kernel publishes, with its size on the wire."""

    kernel: Any
    seen: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    answering: bool = False

    def __post_init__(self) -> None:
        self.channel = self.kernel.client.iopub_channel
        self.channel._recv = self._receive

    def _receive(self, **options: Any) -> dict[str, Any]:
        frames = self.channel.socket.recv_multipart(**options)
        _, parts = self.channel.session.feed_identities(frames)
        message: dict[str, Any] = self.channel.session.deserialize(parts)
        self.seen.append((sum(map(len, frames)), message))
        if self.answering and message["msg_type"] == "comm_open" and self.is_view(message):
            self.say(message["content"]["comm_id"], {"hello": "a page"})
        return message

    @staticmethod
    def is_view(message: dict[str, Any]) -> bool:
        return "snapshot" in message["content"]["data"].get("state", {})

    def say(self, comm_id: str, content: dict[str, Any]) -> None:
        """Say something to the kernel as the view in a browser does."""
        data = {"method": "custom", "content": content}
        message = self.kernel.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        self.kernel.client.shell_channel.send(message)

    def contents(self, *kinds: str) -> list[dict[str, Any]]:
        return [m["content"] for _, m in self.seen if m["msg_type"] in kinds]

    @property
    def bundles(self) -> list[tuple[str, dict[str, Any]]]:
        """Display ids and bundles, in order."""
        found = self.contents("display_data", "update_display_data")
        return [(c["transient"].get("display_id", ""), c["data"]) for c in found]

    @property
    def opened(self) -> list[dict[str, Any]]:
        """How live views were opened."""
        found = [m for _, m in self.seen if m["msg_type"] == "comm_open" and self.is_view(m)]
        return [m["content"] for m in found]

    @property
    def view(self) -> str:
        """The comm of the latest live view."""
        return str(self.opened[-1]["comm_id"]) if self.opened else ""

    @property
    def batches(self) -> list[dict[str, Any]]:
        """What was sent to the view."""
        return [
            c["data"]["content"]
            for c in self.contents("comm_msg")
            if c["comm_id"] == self.view and c["data"].get("method") == "custom"
        ]

    def records(self) -> dict[str, dict[str, Any]]:
        """What the view shows, from its first snapshot and all batches."""
        records: dict[str, dict[str, Any]] = {}
        if not self.opened:
            return records
        first = self.opened[-1]["data"]["state"]["snapshot"]
        assert [b["n"] for b in self.batches] == list(range(1, len(self.batches) + 1))
        for key, change in [op for b in (first, *self.batches) for op in b["ops"]]:
            if isinstance(change, str):
                records[key]["text"] += change
            else:
                records.setdefault(key, {}).update(change)
        return records

    def settled(self) -> dict[str, Any]:
        """The last bundle, which took the place of the first one."""
        (first, _), (last, bundle) = self.bundles[0], self.bundles[-1]
        assert first == last
        assert WIDGET not in bundle
        assert set(bundle) <= {"text/html", "text/plain"}
        return bundle


@pytest.fixture
def tap(kernel: Any) -> Tap:
    # What one test has taught the painter about its front ends, the next one is not to know.
    forget = "from robotlab_nb.notebook.painter import painter\npainter().widgets = None"
    kernel.run(f"{SETUP}\n{forget}")
    kernel.drain(0.2)
    made = Tap(kernel, answering=True)
    yield made
    made.answering = False
    kernel.run("rl.stop_all()")
    kernel.drain(0.3)
    del made.channel._recv


def wait_for(kernel: Any, condition: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        kernel.drain(0.05)


def ended(tap: Tap) -> bool:
    return any(c["comm_id"] == tap.view for c in tap.contents("comm_close"))


# -- start() as a cell's last line ---------------------------------------------------------------


@EVERY_KERNEL
def test_a_started_run_shows_itself_live_and_settles_in_place(kernel: Any, tap: Tap) -> None:
    cell = kernel.run("run = short.start('go')\nrun")
    assert cell.status == "ok"
    assert cell.results == []
    first = tap.bundles[0][1]
    assert set(first) == {WIDGET, "text/html", "text/plain"}
    assert first[WIDGET]["model_id"] == tap.view
    assert "short" in first["text/plain"]
    wait_for(kernel, lambda: ended(tap))
    bundle = tap.settled()
    assert "one two three" in bundle["text/plain"]
    assert "completed" in bundle["text/html"]
    records = tap.records()
    assert records["run"]["word"] == "completed"
    assert "one two three" in [r.get("text") for r in records.values()]
    order = [m["msg_type"] for _, m in tap.seen]
    assert order.index("update_display_data") < order.index("comm_close")


@EVERY_KERNEL
def test_a_run_that_has_ended_is_shown_still_at_once(kernel: Any, tap: Tap) -> None:
    kernel.run("run = short.start('go'); done = run.result()")
    tap.seen.clear()
    kernel.run("run")
    assert tap.contents("comm_open", "update_display_data") == []
    assert len(tap.bundles) == 1
    assert set(tap.bundles[0][1]) == {"text/html", "text/plain"}


@EVERY_KERNEL
def test_a_click_on_stop_stops_a_started_run(kernel: Any, tap: Tap) -> None:
    kernel.run("run = slow.start('go'); run")
    wait_for(kernel, lambda: tap.records().get("stop", {}).get("how") == "button")
    tap.say(tap.view, {"stop": True})
    wait_for(kernel, lambda: ended(tap))
    assert "interrupted" in tap.settled()["text/plain"]
    assert kernel.run("run.status").text == "'interrupted'"
    assert tap.records()["run"]["word"] == "interrupted"


def test_a_click_on_stop_is_heard_while_a_cell_awaits(kernel: Any, tap: Tap) -> None:
    cell = kernel.submit("await slow.arun('go', show=True)")
    wait_for(kernel, lambda: tap.batches)
    tap.say(tap.view, {"stop": True})
    kernel.wait(cell, 10)
    assert cell.error == "RunInterrupted"
    wait_for(kernel, lambda: ended(tap))
    assert "interrupted" in tap.settled()["text/plain"]


# -- run(show=True) ------------------------------------------------------------------------------


@EVERY_KERNEL
def test_a_blocking_run_shown_live_settles_before_its_result_which_is_one_line(
    kernel: Any, tap: Tap
) -> None:
    cell = kernel.run("short.run('go', show=True)")
    assert cell.text == "✓ completed · short · shown above"
    assert "one two three" not in json.dumps(cell.results)
    assert "one two three" in tap.settled()["text/plain"]
    assert len(cell.displays) == 1
    order = [m["msg_type"] for _, m in tap.seen]
    assert order.index("update_display_data") < order.index("execute_result")
    assert kernel.run("short.run('go')").text.startswith("one two three")


def test_a_blocked_cell_is_not_promised_a_button(kernel: Any, tap: Tap) -> None:
    tap.answering = False
    kernel.run("later = rl.build('later', model=rl.SimulatedModel(['x'], delay=1.5))")
    tap.seen.clear()
    cell = kernel.submit("answer = later.run('x', show=True)")
    wait_for(kernel, lambda: tap.records().get("stop", {}).get("how") == "kernel")
    told = [op[1]["how"] for b in tap.batches for op in b["ops"] if op[0] == "stop"]
    assert "button" not in told
    kernel.wait(cell)


@EVERY_KERNEL
def test_a_failing_run_settles_into_what_went_wrong(kernel: Any, tap: Tap) -> None:
    cell = kernel.run("bad.run('go', show=True)")
    assert cell.error == "ModelError"
    assert "no such key" in tap.settled()["text/plain"]
    assert len(cell.displays) == 1
    started = kernel.run("run = bad.start('again'); run")
    wait_for(kernel, lambda: len(tap.bundles) >= 4)
    assert started.status == "ok"
    assert "no such key" in tap.bundles[-1][1]["text/plain"]
    assert WIDGET not in tap.bundles[-1][1]


@EVERY_KERNEL
def test_interrupting_the_kernel_settles_the_view(kernel: Any, tap: Tap) -> None:
    cell = kernel.submit("slow.run('go', show=True)")
    wait_for(kernel, lambda: tap.batches)
    kernel.interrupt()
    kernel.wait(cell, 10)
    assert cell.error == "KeyboardInterrupt"
    assert "interrupted" in tap.settled()["text/plain"]
    assert tap.records()["run"]["word"] == "interrupted"
    assert kernel.run("1 + 1").text == "2"


def test_runs_inside_a_shown_run_are_shown_in_its_view_alone(kernel: Any, tap: Tap) -> None:
    kernel.run(
        "def ask(what: str) -> str:\n    'Ask another robot.'\n"
        "    return str(short.run(what, show=True))\n"
        "script = rl.SimulatedModel([('ask', {'what': 'x'}), 'done'])\n"
        "boss = rl.build('boss', model=script, tools=[ask])"
    )
    tap.seen.clear()
    assert kernel.run("str(boss.run('go', show=True))").text == "'done'"
    assert len(tap.contents("display_data")) == 1
    assert {r["name"] for k, r in tap.records().items() if k[0] == "L"} == {"boss", "short"}


def test_a_failed_network_is_shown_once(kernel: Any, tap: Tap) -> None:
    kernel.run("net = rl.create_network('net'); t = net.task('a', bad); u = net.task('b', short)")
    tap.seen.clear()
    cell = kernel.run("net.run('go')")
    # The result is the cell's value, and that is its picture; a status line may have come and gone.
    assert all("running" in d["text/plain"] for d in cell.displays)
    assert "no such key" in cell.text
    tap.seen.clear()
    cell = kernel.run("net.run('go', show=True)")
    assert cell.text == "✕ failed · net · shown above"
    assert "no such key" in tap.settled()["text/plain"]
    states = {r["name"]: r["word"] for k, r in tap.records().items() if k[0] == "T"}
    assert states == {"a": "failed", "b": "completed"}


# -- how much is sent ----------------------------------------------------------------------------


def measured(tap: Tap) -> tuple[int, int]:
    return sum(size for size, _ in tap.seen), len(tap.seen)


@pytest.mark.parametrize("call", ["paced.run('x', show=True)", "quick.run('x', show=True)"])
def test_two_thousand_tokens_of_a_blocking_run_stay_within_the_budget(
    kernel: Any, tap: Tap, call: str
) -> None:
    assert kernel.run(call).status == "ok"
    size, messages = measured(tap)
    kinds = Counter(m["msg_type"] for _, m in tap.seen)
    assert size <= 200_000, kinds
    assert messages <= 300, kinds
    assert "word1999" in next(r["text"] for r in tap.records().values() if r.get("in") == "E1")


@EVERY_KERNEL
@pytest.mark.parametrize("heard", [True, False], ids=["widget", "no widget"])
def test_two_thousand_tokens_of_a_started_run_stay_within_the_budget(
    kernel: Any, tap: Tap, heard: bool
) -> None:
    tap.answering = heard
    tap.seen.clear()
    kernel.run("run = paced.start('x'); run")
    wait_for(kernel, lambda: ended(tap) and "word1999" in tap.bundles[-1][1]["text/html"], 40)
    size, messages = measured(tap)
    kinds = Counter(m["msg_type"] for _, m in tap.seen)
    assert size <= 200_000, kinds
    assert messages <= 300, kinds
    assert kinds["comm_msg"] >= 40 if heard else kinds["update_display_data"] >= 4
    assert "word1999" in tap.settled()["text/html"]


def test_many_views_share_a_hundred_messages_a_second(kernel: Any, tap: Tap) -> None:
    kernel.run(
        "model = rl.SimulatedModel([words], pace=0.01)\n"
        "runs = [rl.build(f'r{n}', model=model).start('x') for n in range(24)]\n"
        "for run in runs: display(run)"
    )
    kernel.drain(0.5)
    tap.seen.clear()
    began = time.monotonic()
    kernel.drain(3)
    sent = [c for c in tap.contents("comm_msg") if c["data"].get("method") == "custom"]
    assert len({c["comm_id"] for c in sent}) == 24
    assert len(tap.seen) <= 100 * (time.monotonic() - began)


# -- without widgets -----------------------------------------------------------------------------


@EVERY_KERNEL
def test_a_front_end_that_is_never_heard_gets_pictures(kernel: Any, tap: Tap) -> None:
    tap.answering = False
    tap.seen.clear()
    kernel.run("run = paced.start('x'); run")
    wait_for(kernel, lambda: len(tap.bundles) >= 3)
    for _, bundle in tap.bundles[1:]:
        assert set(bundle) == {"text/html", "text/plain"}
        assert "paced" in bundle["text/plain"]
        assert "writing" in bundle["text/html"]
    assert ended(tap)
    kernel.run("run.cancel()")
    wait_for(kernel, lambda: "interrupted" in tap.bundles[-1][1]["text/plain"])


def test_runs_are_shown_where_anywidget_is_missing_or_pictures_break(kernel: Any, tap: Tap) -> None:
    kernel.run(
        "from robotlab_nb.core import readings\nname = 'robotlab_nb.widgets.live_widget'\n"
        "kept = sys.modules.pop(name, None), sys.modules.get('anywidget')\n"
        "sys.modules['anywidget'] = None"
    )
    tap.seen.clear()
    cell = kernel.run("str(short.run('x', show=True))")
    assert cell.text == "'one two three'"
    assert tap.contents("comm_open") == []
    assert "one two three" in tap.settled()["text/plain"]
    kernel.run(
        "sys.modules['anywidget'] = kept[1]\nsys.modules[name] = kept[0]\n"
        "was = readings.reading('html'), readings.reading('text')\n"
        "readings._loaded['html'] = readings._loaded['text'] = lambda thing: 1 / 0"
    )
    tap.seen.clear()
    assert kernel.run("str(short.run('x', show=True))").text == "'one two three'"
    assert "no picture" in tap.settled()["text/plain"]
    kernel.run("readings._loaded['html'], readings._loaded['text'] = was")


# -- the status line -----------------------------------------------------------------------------


@EVERY_KERNEL
def test_the_status_line_goes_away_and_prints_stay(kernel: Any, tap: Tap) -> None:
    cell = kernel.run("print('before')\nanswer = short.run('x')\nprint('after')")
    assert cell.streams == "before\nafter\n"
    assert len(cell.displays) == 1
    assert cell.updates[-1] == {"text/plain": ""}
    assert tap.contents("clear_output", "comm_open") == []


@EVERY_KERNEL
def test_a_view_in_an_earlier_cell_goes_on_while_a_later_cell_waits(kernel: Any, tap: Tap) -> None:
    kernel.run("run = short.start('go'); run")
    view = tap.bundles[0][0]
    cell = kernel.run("run.result()")
    assert cell.text.startswith("one two three")
    settled = [bundle for place, bundle in tap.bundles if place == view][-1]
    assert "one two three" in settled["text/plain"]
    assert WIDGET not in settled


@EVERY_KERNEL
def test_what_settles_between_two_cells_is_told_again_to_a_headless_reader(
    kernel: Any, tap: Tap
) -> None:
    """Such a reader takes in only messages of the cell that it is running."""
    tap.answering = False
    kernel.run("run = short.start('go'); run")
    wait_for(kernel, lambda: ended(tap))
    cell = kernel.run("1 + 1")
    assert [WIDGET in bundle for bundle in cell.updates] == [False]
    assert "one two three" in cell.updates[0]["text/plain"]
    assert kernel.run("1 + 1").updates == []


# -- headless ------------------------------------------------------------------------------------


def test_an_executed_notebook_holds_no_widget_view() -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    cells = [
        SETUP,
        "short.run('x', show=True)",
        "run = short.start('x'); run",
        "time.sleep(1.5)",
        "await short.arun('x', show=True)",
        "run = quick.start('x'); run",
        "run.result()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    where = {"metadata": {"path": str(Path(__file__).resolve().parents[2])}}
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources=where).execute()
    for cell in notebook.cells[1:]:
        for output in cell.outputs:
            assert WIDGET not in output.get("data", {}), cell.source
    assert "one two three" in notebook.cells[1].outputs[0]["data"]["text/plain"]
    assert "one two three" in notebook.cells[2].outputs[0]["data"]["text/plain"]
    assert "shown above" in notebook.cells[4].outputs[1]["data"]["text/plain"]
