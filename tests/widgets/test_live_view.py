"""The live view of a run, without a browser: batches, numbers, snapshots, budgets, hostile text."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.messages import Message, TextPart
from robotlab_nb.display.escape import plain
from robotlab_nb.runtime import notebook
from robotlab_nb.runtime.run import Run
from robotlab_nb.widgets import live_doc
from robotlab_nb.widgets.live_still import TAIL
from robotlab_nb.widgets.live_view import PAINT_S, SNAPSHOT_S, LiveView
from robotlab_nb.widgets.spoken import Spoken

HOSTILE = json.loads((Path(__file__).parent.parent / "data" / "hostile.json").read_text("utf-8"))
TEXTS = [text for group in HOSTILE.values() for text in group if isinstance(text, str)]
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Wire:
    """Stands in for the widget: keeps what is sent, and when."""

    def __init__(self, view: LiveView, clock: Clock) -> None:
        self.view, self.clock = view, clock
        self.batches: list[tuple[float, dict[str, Any]]] = []
        self.snapshots: list[tuple[float, dict[str, Any]]] = []
        self.closed = False

    def send(self, batch: dict[str, Any]) -> None:
        self.batches.append((self.clock.now, json.loads(json.dumps(batch))))

    def send_state(self, key: str) -> None:
        assert key == "snapshot"
        self.snapshots.append((self.clock.now, self.view.snapshot()))

    def close(self) -> None:
        self.closed = True


class Bot:
    """A robot's run that a test tells what happens, step by step."""

    def __init__(self) -> None:
        self.run: Run[Any] = Run("bot", "robot", self._work, lambda run: run, robot="bot")
        self.run.started({"name": "bot", "model": "m", "input": "Hi"})
        self.calls = 0

    async def _work(self, run: Run[Any]) -> None:
        raise AssertionError("never begun")

    def ask(self) -> str:
        self.calls += 1
        call = f"{self.run.id}.{self.calls}"
        self.run.emit(
            "model_call.started",
            {"call_id": call, "round": self.calls, "model": "m", "message_ids": []},
        )
        return call

    def write(self, call: str, text: str, attempt: int = 1, kind: str = "text") -> None:
        self.run.root.delta(self.run, call, attempt, kind, text)

    def answer(self, call: str, text: str, usage: dict[str, Any] | None = None) -> None:
        self.run.emit(
            "model_call.completed",
            {"call_id": call, "text": text, "usage": usage or {"calls": 1, "output_tokens": 3}},
        )
        message = Message("assistant", [TextPart(text)])
        self.run.emit("message.added", {"message": message.to_dict()})
        self.run.root.void(call, 1)

    def end(self) -> None:
        self.run._settle("run.completed", {"stop_reason": "stop"}, None)


def viewed(bot: Bot) -> tuple[LiveView, Wire, Clock]:
    clock = Clock()
    bot.run.root.started = clock.now
    view = LiveView(bot.run, clock=clock)
    view.widget = wire = Wire(view, clock)  # type: ignore[assignment]
    return view, wire, clock


def applied(records: dict[str, Any], ops: list[Any]) -> dict[str, Any]:
    """What the browser does with changes."""
    for key, change in ops:
        if change is None:
            records.pop(key, None)
        elif isinstance(change, str):
            records[key]["text"] += change
        else:
            records.setdefault(key, {}).update(change)
    return records


def texts(view: LiveView, kind: str = "text") -> list[str]:
    return [r["text"] for r in view.doc.records.values() if r.get("kind") == kind]


# -- batches -----------------------------------------------------------------------------------


def test_batches_are_numbered_hold_only_what_is_new_and_come_ten_times_a_second_at_most() -> None:
    bot = Bot()
    view, wire, clock = viewed(bot)
    call = bot.ask()
    for n in range(300):
        bot.write(call, f"word{n} ")
        view.paint()
        clock.now += 0.01
    assert [batch["n"] for _, batch in wire.batches] == list(range(1, len(wire.batches) + 1))
    gaps = [b - a for (a, _), (b, _) in pairwise(wire.batches)]
    assert min(gaps) >= PAINT_S - 1e-9
    assert 25 <= len(wire.batches) <= 31
    assert [len(batch["ops"]) for _, batch in wire.batches[2:]] == [1] * (len(wire.batches) - 2)
    key, text = wire.batches[5][1]["ops"][0]
    assert isinstance(text, str)
    assert 10 <= len(text.split()) <= 12
    assert key in view.doc.records


def test_nothing_new_is_no_batch() -> None:
    bot = Bot()
    view, wire, clock = viewed(bot)
    for _ in range(20):
        clock.now += 1
        view.paint()
    assert wire.batches == []
    assert view.batch() is None


def test_the_last_batch_is_sent_at_once_when_the_run_has_ended() -> None:
    bot = Bot()
    view, wire, clock = viewed(bot)
    call = bot.ask()
    view.paint()
    clock.now += 0.001
    bot.answer(call, "the whole answer")
    bot.end()
    view.paint()
    assert [batch["n"] for _, batch in wire.batches] == [1, 2]
    assert view.ended
    records = applied({}, view.snapshot()["ops"])
    assert records["run"]["word"] == "completed"
    assert records["run"]["live"] is False
    assert texts(view) == ["Hi", "the whole answer"]


def test_a_slow_painting_makes_the_pauses_longer() -> None:
    bot = Bot()
    view, wire, clock = viewed(bot)

    def slow(batch: dict[str, Any]) -> None:
        Wire.send(wire, batch)
        clock.now += 0.2

    wire.send = slow  # type: ignore[method-assign]
    call = bot.ask()
    for _ in range(100):
        bot.write(call, "x")
        view.paint()
        clock.now += 0.05
    assert len(wire.batches) <= 8


# -- snapshots ---------------------------------------------------------------------------------

WORDS = st.sampled_from(["one ", "two\n", "\u200d", "👩\u200d", "💻", "\r", "\n", "<b>", "x" * 50])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), WORDS),
        st.tuples(st.sampled_from(["think", "tool", "retry", "answer", "look"]), st.just("")),
    ),
    max_size=40,
)


def play(bot: Bot, steps: list[tuple[str, str]], look: Any) -> str:
    """Play steps of a robot's work; what the last call has written is returned."""
    call, attempt, said, tools = bot.ask(), 1, "", 0
    for what, word in steps:
        if what == "write":
            said += word
            bot.write(call, word, attempt)
        elif what == "think":
            bot.write(call, "hm ", attempt, "reasoning")
        elif what == "retry":
            bot.run.emit(
                "attempt.failed",
                {
                    "call_id": call,
                    "attempt": attempt,
                    "error": {"message": "busy"},
                    "retry_in_s": 1,
                },
            )
            bot.run.root.void(call, attempt)
            attempt, said = attempt + 1, ""
        elif what == "answer":
            bot.answer(call, said or "-")
            call, attempt, said = bot.ask(), 1, ""
        elif what == "tool":
            tools += 1
            started = {"tool_call_id": f"t{tools}", "tool": "look", "arguments_text": '{"a": 1}'}
            bot.run.emit("tool_call.started", started)
            done = {"tool_call_id": f"t{tools}", "status": "completed", "content": "found"}
            bot.run.emit("tool_call.completed", {**done, "duration_s": 0.1})
        look()
    return said


@given(STEPS, st.integers(0, 40))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_a_snapshot_and_the_batches_after_it_are_all_there_is(
    steps: list[tuple[str, str]], at: int
) -> None:
    bot = Bot()
    view = LiveView(bot.run)
    from_start = applied({}, view.snapshot()["ops"])
    batches: list[dict[str, Any]] = []
    late: list[dict[str, Any]] = [view.snapshot()]

    def look() -> None:
        batch = view.batch()
        if batch is not None:
            batches.append(json.loads(json.dumps(batch)))
        if len(batches) == at:
            late[0] = json.loads(json.dumps(view.snapshot()))

    said = play(bot, steps, look)
    bot.answer(f"{bot.run.id}.{bot.calls}", said or "-")
    bot.end()
    look()
    for batch in batches:
        applied(from_start, batch["ops"])
    snapshot = late[0]
    attached = applied({}, snapshot["ops"])
    for batch in batches:
        if batch["n"] > snapshot["n"]:
            applied(attached, batch["ops"])
    assert from_start == attached == view.doc.records
    assert list(from_start) == list(view.doc.records)
    # Whoever looked often has seen what one sees who comes when all is over.
    assert told(from_start) == told(LiveView(bot.run).doc.records)


def told(records: dict[str, Any]) -> list[str]:
    """Who said what, in any order, without what streamed and came to nothing."""
    return sorted(
        str((records[r["in"]]["who"], r["kind"], r.get("text"), r.get("name"), r.get("word")))
        for r in records.values()
        if r.get("kind") in ("text", "tool", "note") and not r.get("void")
    )


@given(STEPS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_view_opened_late_has_the_text_so_far(steps: list[tuple[str, str]]) -> None:
    bot = Bot()
    said = play(bot, steps, lambda: None)
    view = LiveView(bot.run)
    shown = [t for t in texts(view) if t != "Hi"]
    held = said[:-1] if said.endswith(("\u200d", "\u200c", "\r")) else said
    if held:
        assert shown[-1] == plain(held)


def test_snapshots_are_rare_and_together_hardly_more_than_the_batches() -> None:
    bot = Bot()
    view, wire, clock = viewed(bot)
    call = bot.ask()
    for n in range(2000):
        bot.write(call, f"token{n:04d} "[:8])
        view.paint()
        clock.now += 0.01
    times = [at for at, _ in wire.snapshots]
    assert len(times) >= 3
    assert min(b - a for a, b in pairwise(times)) >= SNAPSHOT_S
    sent = sum(len(json.dumps(batch)) for _, batch in wire.batches)
    assert sum(len(json.dumps(snapshot)) for _, snapshot in wire.snapshots) < 2 * sent


def test_two_thousand_tokens_cost_little_more_than_their_text() -> None:
    bot = Bot()
    view, wire, clock = viewed(bot)
    call = bot.ask()
    for _ in range(2000):
        bot.write(call, "a token ")
        view.paint()
        clock.now += 0.004
    bot.answer(call, "a token " * 2000)
    bot.end()
    view.paint()
    sizes = [len(json.dumps(batch)) for _, batch in wire.batches]
    assert len(sizes) <= 83
    assert sum(sizes) < 16_000 * 1.5
    assert texts(view)[-1] == "a token " * 2000


# -- what is shown -----------------------------------------------------------------------------


def test_a_failed_attempt_stays_visible_and_what_it_wrote_is_marked_as_not_used() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    call = bot.ask()
    bot.write(call, "half an ans")
    error = {"message": "busy", "type": "ModelError", "status": 429}
    failed = {"call_id": call, "attempt": 1, "error": error, "retry_in_s": 2.0}
    bot.run.emit("attempt.failed", failed)
    bot.run.root.void(call, 1)
    view.batch()
    assert view.doc.records["L0"]["say"] == "asks again in 2\u00a0s"
    bot.write(call, "a whole one", 2)
    bot.answer(call, "a whole one")
    view.batch()
    pieces = [r for k, r in view.doc.records.items() if k[0] == "P"]
    assert [(p["kind"], p.get("void", False)) for p in pieces] == [
        ("text", False), ("text", True), ("note", False), ("text", False),
    ]  # fmt: skip
    assert pieces[2]["text"] == "attempt 1 failed · 429, busy · asks again in 2\u00a0s"
    assert pieces[3]["text"] == "a whole one"
    assert not any(p.get("on") for p in pieces)


def test_an_answer_that_was_not_streamed_is_there_in_whole() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    bot.answer(bot.ask(), "all at once")
    assert view.batch() is not None
    assert texts(view) == ["Hi", "all at once"]


def test_an_answer_that_differs_from_what_streamed_takes_its_place() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    call = bot.ask()
    bot.write(call, "Hell")
    view.batch()
    bot.answer(call, "Goodbye")
    batch = view.batch()
    assert batch is not None
    assert texts(view) == ["Hi", "Goodbye"]


def test_a_network_shows_its_tasks_and_who_does_them() -> None:
    first = rl.build("first", model=rl.SimulatedModel(["one"]))
    second = rl.build("second", model=rl.SimulatedModel([rl.ModelError("no", kind="auth")]))
    net = rl.create_network("pair")
    net.task("a", first)
    net.task("b", second, depends_on=["a"])
    net.task("c", lambda message: message.upper(), depends_on=["a"])
    net.task("d", first, depends_on=["b"])
    run = net.start("hello")
    assert run.result().status == "failed"
    records = LiveView(run).doc.records
    tasks = {r["name"]: r["word"] for k, r in records.items() if k[0] == "T"}
    assert tasks == {"a": "completed", "b": "failed", "c": "completed", "d": "blocked"}
    lanes = {r["name"]: (r["shape"], r["hue"]) for k, r in records.items() if k[0] == "L"}
    assert lanes == {"first": ("●", "k0"), "second": ("▲", "k1"), "c": ("ƒ", "")}
    assert [mark for mark, _ in records["run"]["strip"]] == ["✓", "✕", "✓", "⊘"]
    assert "no" in records["run"]["fault"]
    said = [r["text"] for k, r in records.items() if k[0] == "P"]
    assert "HELLO" in said
    assert any(text.startswith("failed · ModelError: no") for text in said)


def test_long_runs_keep_the_newest_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_doc, "ENTRIES", 5)
    bot = Bot()
    view = LiveView(bot.run)
    records = applied({}, view.snapshot()["ops"])
    for n in range(30):
        bot.answer(bot.ask(), f"answer {n}")
        batch = view.batch()
        assert batch is not None
        applied(records, batch["ops"])
    assert records == view.doc.records
    assert texts(view) == [f"answer {n}" for n in range(25, 30)]
    assert sum(k[0] == "E" for k in records) == 5


# -- hostile text ------------------------------------------------------------------------------


@given(st.text(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None, derandomize=True)
@example("👩\u200d💻 and \r\n and \r", random.Random(1))
@example("a\u200cb \u202e \x1b[31m", random.Random(2))
def test_pieces_cut_anywhere_show_what_the_whole_shows(text: str, cut: random.Random) -> None:
    spoken, shown, at = Spoken("P0", 10_000), "", 0
    while at < len(text):
        size = cut.randint(1, 3)
        shown += spoken.more(text[at : at + size])
        at += size
    assert shown + spoken.rest() == plain(text)
    single = Spoken("P0", 10_000)
    assert "".join(map(single.more, text)) + single.rest() == plain(text)


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_text_is_only_ever_visible_text(text: str) -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    call = bot.ask()
    for at in range(0, min(len(text), 2000), 7):
        bot.write(call, text[at : at + 7])
        bot.write(call, text[at : at + 7], kind="reasoning")
    started = {"tool_call_id": "t1", "tool": text[:200] or "t", "arguments_text": text}
    bot.run.emit("tool_call.started", started)
    done = {"tool_call_id": "t1", "status": "failed", "content": text, "error": {"message": text}}
    bot.run.emit("tool_call.completed", {**done, "duration_s": 0.1})
    view.batch()
    json.dumps(view.snapshot()).encode("utf-8")

    def strings(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [s for v in value.values() for s in strings(v)]
        if isinstance(value, (list, tuple)):
            return [s for v in value for s in strings(v)]
        return [value] if isinstance(value, str) else []

    found = strings(view.doc.records)
    assert len(found) > 20
    assert [s for s in found if UNSEEN.search(s)] == []
    html, told = view.picture() or ("", "")
    assert "<script" not in html
    assert not UNSEEN.search(told)


# -- Stop --------------------------------------------------------------------------------------


def how(view: LiveView) -> str:
    return str(view.doc.records["stop"]["how"])


def test_a_click_is_promised_only_where_the_kernel_hears_it() -> None:
    bot = Bot()
    view, wire, clock = viewed(bot)
    view.stopped_by(idle=False, blocked=False)
    assert how(view) == ""
    view.stopped_by(idle=True, blocked=False)
    assert how(view) == "button"
    view.stopped_by(idle=False, blocked=True)
    assert how(view) == "kernel"
    view.heard({"hello": "page"})  # a front end is heard although a cell holds the kernel
    view.stopped_by(idle=False, blocked=True)
    assert how(view) == "button"
    view.stopped_by(idle=True, blocked=False)
    view.stopped_by(idle=False, blocked=True)
    assert how(view) == "kernel"
    clock.now += 1
    view.paint()
    assert ["stop", {"how": "kernel"}] in wire.batches[-1][1]["ops"]


def test_a_click_stops_the_run() -> None:
    slow = rl.build("slow", model=rl.SimulatedModel(["x"], delay=30))
    run = slow.start("go")
    view = LiveView(run)
    view.stopped_by(idle=True, blocked=False)
    view.heard({"stop": True})
    assert how(view) == "stopping"
    with pytest.raises(rl.RunInterrupted):
        run.result(timeout=5)
    assert run.status == "interrupted"
    view.batch()
    assert view.doc.records["run"]["word"] == "interrupted"


def test_a_run_that_does_not_stop_is_let_go_after_two_seconds() -> None:
    bot = Bot()
    view, _, clock = viewed(bot)
    bot.run._loop = _Deaf()  # type: ignore[assignment]
    view.heard({"stop": True})
    clock.now += 1.9
    view.paint()
    assert not bot.run.done
    clock.now += 0.2
    view.paint()
    assert bot.run.status == "interrupted"
    assert view.ended


class _Deaf:
    """A loop that never turns."""

    def call_soon_threadsafe(self, *_: Any) -> None:
        pass


# -- without a widget --------------------------------------------------------------------------


def test_the_picture_for_front_ends_without_widgets_is_small_and_not_sent_too_often() -> None:
    bot = Bot()
    view, _, clock = viewed(bot)
    call = bot.ask()
    pictures: list[tuple[float, str, str]] = []
    for n in range(4000):
        bot.write(call, f"w{n} ")
        view.paint()
        found = view.picture()
        if found is not None:
            pictures.append((clock.now, *found))
        clock.now += 0.01
    gaps = [b[0] - a[0] for a, b in pairwise(pictures)]
    assert min(gaps) >= 0.5 - 1e-9
    sent = sum(len(html) + len(text) for _, html, text in pictures)
    assert sent < 40 * 12_000
    _, html, text = pictures[-1]
    for shown in (html, text):  # the next one would have come within a second
        assert max(map(int, re.findall(r"\bw(\d+)", shown))) >= 3900
    assert len(re.sub("<style>.*?</style>", "", html)) < TAIL + 1500
    assert "running" in text
    assert len(text.splitlines()) <= 40


def test_a_result_shown_live_by_the_same_cell_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    result = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    assert "roses are red" in result._repr_mimebundle_()["text/html"]

    class Painter:
        def shown_here(self, run_id: str) -> bool:
            return run_id == result.run_id

    other = rl.build("poet", model=rl.SimulatedModel(["violets"])).run("a poem")
    monkeypatch.setattr(notebook, "_painter", Painter())
    bundle = result._repr_mimebundle_()
    assert bundle["text/plain"] == "✓ completed · poet · shown above"
    assert "roses" not in json.dumps(bundle)
    assert set(bundle) == {"text/plain", "text/html", "text/markdown"}
    assert set(result._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert "text/html" not in result._repr_mimebundle_(exclude=["text/html"])
    assert "violets" in other._repr_mimebundle_()["text/plain"]


def test_the_widget_answers_with_the_present_state_and_tells_the_view_what_it_hears() -> None:
    pytest.importorskip("anywidget", reason="needs anywidget")
    from robotlab_nb.widgets.assets import script
    from robotlab_nb.widgets.live_widget import LiveWidget

    bot = Bot()
    view = LiveView(bot.run)
    widget = LiveWidget(view)
    assert widget.get_state()["snapshot"]["n"] == 0
    call = bot.ask()
    bot.write(call, "Hello")
    view.batch()
    snapshot = widget.get_state("snapshot")["snapshot"]
    assert snapshot["n"] == 1
    assert texts(view)[-1] == "Hello"
    assert applied({}, snapshot["ops"]) == view.doc.records
    widget._handle_custom_msg({"hello": "page"}, [])
    assert view.pages == {"page"}
    rules = re.sub(r"@(?:keyframes|media)[^{]*\{[^{}]*\{[^{}]*\}\}", "", LiveWidget._css)
    for css in re.findall(r"([^{}]+)\{", rules):
        for selector in re.split(r",(?![^(]*\))", css):
            assert selector.strip().startswith(".rlnb-"), selector
    assert len(LiveWidget._esm) < len(script("live.js")) < 45_000  # each view sends it
    widget.close()


def test_a_tasks_row_tells_how_far_it_has_come() -> None:
    from robotlab_nb.display.network_facts import facts_of
    from robotlab_nb.widgets.live_rows import task_rows
    from tests.display.shared_samples import busy_network

    notes = {row["name"]: row["note"] for _, row in task_rows(facts_of(busy_network()))}
    assert notes["intake"] == "restored from run 7f3a12, cost $0.0042 then"
    assert notes["read"] == "17 of 40 done, 2 failed"
    assert notes["draft"] == "2 turns of 5"
    assert notes["send"] == "attempt 2 of 3"
