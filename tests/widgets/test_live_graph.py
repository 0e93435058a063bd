"""The live picture of a network, without a browser: graph, lanes, tracks, whose entries stay."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.display.network_facts import facts_of
from robotlab_nb.widgets import live_doc, live_graph, live_lanes
from robotlab_nb.widgets.live_doc import LiveDoc
from robotlab_nb.widgets.live_graph import LiveGraph
from robotlab_nb.widgets.live_lanes import HELD, SLOT, WORK

if TYPE_CHECKING:
    import pytest

CORPUS = json.loads((Path(__file__).parent.parent / "data" / "hostile.json").read_text("utf-8"))
TEXTS = [text for group in CORPUS.values() for text in group if isinstance(text, str)]

Told = list[tuple[str, str, dict[str, Any]]]


class Net:
    """A network's run as a test tells it."""

    def __init__(self, *graph: dict[str, Any]) -> None:
        self.scope = Scope("r", "r", None, 0, "network", ("net",), None)
        self.doc = LiveDoc(self.scope)
        self.count = 0
        told = [{"kind": "robot", "robot": d["task"], "depends_on": [], **d} for d in graph]
        self.tell(0.0, "run.started", name="net", graph=told)

    def tell(self, at: float, what: str, inside: str = "", **data: Any) -> list[Any]:
        scope = self.scope
        if what.startswith("task."):
            scope = Scope("r", "r", None, 0, "task", ("net", data["task"]), None)
        if inside:
            scope = Scope(f"r.{inside}", "r", "r", 1, "robot", ("net", inside), inside)
        self.count += 1
        return self.doc.take([Event(what, scope, self.count, at, data)])  # type: ignore[arg-type]

    def __getitem__(self, key: str) -> dict[str, Any]:
        return self.doc.records[key]

    def spans(self, lane: int) -> list[list[Any]]:
        return list(self[f"L{lane}"]["spans"])


def test_the_graph_is_placed_once_and_then_only_its_words_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed: list[int] = []
    layout = live_graph.layout

    def counted(count: int, *args: Any, **more: Any) -> Any:
        placed.append(count)
        return layout(count, *args, **more)

    monkeypatch.setattr(live_graph, "layout", counted)
    net = Net({"task": "a"}, {"task": "b", "depends_on": ["a"]})
    assert [k for k in net.doc.records if k[0] in "GNW"] == ["G", "N0", "N1", "W0"]
    assert net["N0"]["x"] < net["N1"]["x"]
    assert net["W0"] | {"on": False, "opt": False} == net["W0"]
    net.tell(1.0, "task.started", task="a", waited_s=0.0)
    changes = dict(net.tell(2.0, "task.completed", task="a", text="x"))
    assert not [key for key in changes if key[0] in "GNW"]
    assert changes["T0"]["word"] == "completed"
    changes = dict(net.tell(2.5, "task.started", task="b", waited_s=0.0))
    assert changes["W0"] == {"on": True}
    assert changes["T1"]["since"] == 2.5
    assert placed == [2]


def test_where_the_graph_cannot_be_placed_the_tasks_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*args: Any, **more: Any) -> Any:
        raise RuntimeError("no engine")

    monkeypatch.setattr(live_graph, "layout", broken)
    net = Net({"task": "a"}, {"task": "b", "depends_on": ["a"]})
    assert not [key for key in net.doc.records if key[0] in "GNW"]
    assert [net[key]["name"] for key in ("T0", "T1")] == ["a", "b"]


def test_groups_nested_networks_and_optional_edges_look_like_what_they_are() -> None:
    inner = rl.create_network("inner")
    inner.task("x", lambda: 1)
    net = rl.create_network("net")
    first = net.task("first", lambda: 1, depends_on=[])
    with net.parallel("look", depends_on=["first"]):
        net.task("one", lambda: 1)
        net.task("two", inner)
    net.task("maybe", lambda: 1, depends_on=["one"], optional=True)
    facts = facts_of(net)
    assert first.name == "first"
    rows = dict(LiveGraph().rows(facts))
    (frame,) = rows["G"]["frames"]
    assert frame[-1] == "look"
    x, y, width, height, _ = frame
    for key in ("N1", "N2"):
        assert x < rows[key]["x"] < rows[key]["x"] + 148 < x + width
        assert y < rows[key]["y"] < rows[key]["y"] + 60 < y + height
    assert [rows[f"N{n}"]["nested"] for n in range(4)] == [False, False, True, False]
    dashed = [row["ends"] for key, row in rows.items() if key[0] == "W" and row["opt"]]
    assert dashed == [[1, 3]]
    assert rows["G"]["keys"] == ["needs", "optional", "not yet passed"]


def test_more_than_150_tasks_are_drawn_by_phase_with_counts() -> None:
    graph = [{"task": f"t{n}", "depends_on": [f"t{n - 8}"] if n >= 8 else []} for n in range(160)]
    net = Net(*graph)
    boxes = [record for key, record in net.doc.records.items() if key[0] == "N"]
    assert len(boxes) <= 12
    assert sorted(n for box in boxes for n in box["tasks"]) == list(range(160))
    assert boxes[0]["rows"] == [["○", f"{len(boxes[0]['tasks'])} pending", ""]]
    assert "160 tasks" in net["G"]["note"]
    net.tell(0.5, "task.started", task="t0", waited_s=0.0)
    assert ["◐", "1 running", "kr"] in net["N0"]["rows"]
    assert net["N0"]["hue"] == "kr"
    assert net["run"]["tasks"] == 160
    assert len([key for key in net.doc.records if key[0] == "T"]) == 150


def test_a_persons_task_waits_for_the_person_while_others_work() -> None:
    waiting = threading.Event()
    net = rl.create_network("net")
    net.task("check", rl.Human("editor", choices=["yes"]))
    net.task("work", lambda: waiting.wait(20) and "done")
    run = net.start("Is it right?")
    try:
        doc = LiveDoc(run.scope)
        watcher = run.watch()
        for _ in range(400):
            doc.take(watcher.take())
            if run.pending and len(doc.records) > 6:
                break
            threading.Event().wait(0.01)
        assert run.status == "running"
        assert doc.records["T0"]["word"] == "waiting for you"
        assert doc.records["T1"]["word"] == "running"
        assert doc.records["L0"]["say"] == "waiting for you"
        assert doc.records["L0"]["spans"][-1][1:] == [None, HELD]
        assert ["?", "1\u00a0waiting for you", "kw"] in doc.records["run"]["counts"]
        told = {r["in"]: r["text"] for r in doc.records.values() if r.get("kind") == "note"}
        ((entry, words),) = told.items()
        assert "Is it right?" in words
        assert doc.records[entry] | {"who": "editor", "task": "T0"} == doc.records[entry]
    finally:
        waiting.set()
        run.cancel()


# -- tracks ------------------------------------------------------------------------------------


def test_a_track_shows_work_and_waiting_for_a_slot_and_for_a_person() -> None:
    net = Net({"task": "a"}, {"task": "b", "depends_on": ["a"]})
    net.tell(0.0, "task.started", task="a", waited_s=0.0)
    net.tell(0.0, "run.started", "a", name="a")
    question = {"question_id": "q1", "kind": "approval", "robot": "a", "tool": "wire", "text": "?"}
    net.tell(2.0, "hitl.requested", "a", **question)
    assert net.spans(0) == [[0.0, 2.0, WORK], [2.0, None, HELD]]
    net.tell(5.0, "hitl.answered", "a", question_id="q1", status="approved", waited_s=3.0)
    net.tell(6.0, "run.completed", "a")
    net.tell(6.0, "task.completed", task="a")
    assert net.spans(0) == [[0.0, 2.0, WORK], [2.0, 5.0, HELD], [5.0, 6.0, WORK]]
    assert net["L1"]["say"] == "waits for a free slot"
    assert net.spans(1) == [[6.0, None, SLOT]]
    net.tell(8.0, "task.started", task="b", waited_s=2.0)
    net.tell(8.0, "run.started", "b", name="b")
    assert net.spans(1) == [[6.0, 8.0, SLOT], [8.0, None, WORK]]


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=9).map(
    lambda found: [(float(a), float(a + b)) for a, b in found]
)


@given(SPANS, SPANS)
@settings(deadline=None, derandomize=True)
def test_no_work_is_shown_while_a_person_is_waited_for(
    worked: list[tuple[float, float]], held: list[tuple[float, float]]
) -> None:
    parts = live_lanes._track(worked, [], held)
    for moment in [n + 0.5 for n in range(50)]:
        person = any(a <= moment < b for a, b in held)
        work = any(a <= moment < b for a, b in worked) and not person
        found = [kind for a, b, kind in parts if a is not None and b and a <= moment < b]
        assert found == [HELD] * person + [WORK] * work


def test_a_robot_that_worked_very_often_keeps_its_whole_track() -> None:
    often = [(n * 1.0, n + 0.9) for n in range(1000)]
    parts = live_lanes._track(often, [], [])
    assert parts[0][0] == 0.0
    assert parts[-1][1] == 999.9
    assert len(parts) <= 24


# -- whose entries stay -------------------------------------------------------------------------


def test_each_task_keeps_its_last_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_doc, "ENTRIES", 10)
    net = Net(*({"task": name, "kind": "function"} for name in "abcd"))
    for number in range(6):
        for name in "abcd" if number == 0 else "cd":
            net.tell(number, "task.failed", task=name, error={"message": f"{name}{number}"})
    entries = {key: record for key, record in net.doc.records.items() if key[0] == "E"}
    assert len(entries) == 10
    kept: dict[str, list[str]] = {}
    for record in net.doc.records.values():
        if record.get("kind") == "note":
            kept.setdefault(entries[record["in"]]["who"], []).append(record["text"][-2:])
    assert net["run"]["older"] == 4
    newest = {name: [f"{name}{n}" for n in range(2, 6)] for name in "cd"}
    assert kept == {"a": ["a0"], "b": ["b0"], **newest}


def test_hostile_names_are_in_visible_form_in_every_record() -> None:
    for text in TEXTS:
        net = Net({"task": text, "robot": text, "group": text}, {"task": "b", "depends_on": [text]})
        net.tell(1.0, "task.failed", task=text, error={"message": text})
        shown = json.dumps(net.doc.whole(), ensure_ascii=False)
        # The records hold no character that is not seen, and JSON escapes those below a space.
        for hidden in "\u202e\u2066\u200b\x1b\x00\u2028":
            assert hidden not in shown, text
        assert "\\u001b" not in shown
        assert "\\u0000" not in shown
