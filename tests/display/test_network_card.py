"""Networks, runs of them, results and tasks: drawn whole, inert, and the same in words."""

from __future__ import annotations

import base64
import re
import threading
import time
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.display import graph_layout
from robotlab_nb.display.columns import width
from robotlab_nb.display.escape import one_line, plain
from robotlab_nb.display.network_facts import facts_of
from robotlab_nb.display.pictures import html, markdown, text
from robotlab_nb.display.states import STATES
from robotlab_nb.display.timeline import MOST_ROWS, critical, timeline
from robotlab_nb.network.result import TaskResult
from tests.display.network_samples import (
    TASK_STATES,
    NetworkStory,
    a_result,
    a_run,
    all_states,
    declared,
    large,
    nine,
    support,
    three,
)
from tests.display.trees import PAYLOADS, body_of, check_inert, flat, sanitised, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syrupy.assertion import SnapshotAssertion

    from robotlab_nb.core.state import RunState

any_text = st.text(st.characters(exclude_categories=()), min_size=1, max_size=40)


@pytest.fixture(autouse=True, scope="module")
def _library() -> Iterator[None]:
    """The same places on every machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_layout, "dot_is_there", lambda: False)
        graph_layout._layout.cache_clear()
        yield
    graph_layout._layout.cache_clear()


def check_text(thing: Any) -> str:
    """The text form keeps its measures and holds nothing that acts."""
    found = text(thing)
    lines = found.split("\n")
    assert len(lines) <= 40
    assert max(map(width, lines)) <= 96
    assert plain(found) == found
    return found


def drawings_of(drawn: str) -> list[ElementTree.Element]:
    """The SVG pictures in a picture."""
    found = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]*)", drawn)
    return [ElementTree.fromstring(base64.b64decode(each)) for each in found]


def in_order(words: str, *expected: str) -> bool:
    at = 0
    for each in expected:
        at = words.find(each, at)
        if at < 0:
            return False
        at += len(each)
    return True


# -- what is told ---------------------------------------------------------------------------


def test_a_network_tells_its_tasks() -> None:
    shown = words_of(check_inert(html(support())))
    assert shown.startswith("support network · 4 tasks · 4 robots · simulated 2 optional · 1 route")
    for words in (
        "at most 32 at the same time", "net.run(…)",
        "task robot depends on runs prompt",
        "classify ● classifier routes, else general",
        "billing ▲ billing classify optional",
        "reply ▼ writer billing, general Answer {{ message }} using {{ upstream }}",
        "Prompts · 1",
    ):  # fmt: skip
        assert words in shown, words
    assert len(drawings_of(html(support()))) == 1
    assert check_text(support()).split("\n") == [
        "Network support · 4 tasks · 4 robots (simulated)",
        "2 optional · 1 route · at most 32 at the same time · net.run(…)",
        "  classify  classifier  routes, else general",
        "  billing   billing     after classify (optional)",
        "  general   general     after classify (optional)",
        "  reply     writer      after billing, general",
        "▸ Tasks · 4",
        "▸ Prompts · 1",
    ]


def test_a_result_reads_answer_figures_picture_folds() -> None:
    result = support().run("I was charged twice")
    tree = check_inert(html(result))
    words = words_of(tree)
    assert in_order(
        words, "You were charged twice; 19.90 € go back.",
        "✓ completed · ✓✓↷✓ · 4 tasks simulated · 3 calls", "$0",
        "Tasks · 4", "task state robot needs", "general ↷ skipped", "route not taken",
        "Timeline", "longest chain: classify → billing → reply",
        "Transcript · 6 messages", "● classify · classifier", "▲ billing", "▼ reply · writer",
        "the answer above",
    )  # fmt: skip
    assert words.count("19.90 €") == 1
    assert [image.tag for image in tree.iter("img")] == ["img", "img"]
    shown = check_text(result)
    assert shown.startswith("You were charged twice; **19.90 €** go back.\n✓ completed · ✓✓↷✓")
    assert re.search(r"\n  ↷ general +skipped +general +route not taken\n", shown)
    assert re.search(r"\n  ✓ classify +completed +classifier +\S.* \$0 +→ billing\n", shown)


def test_a_failed_network_says_which_task_why_and_what_to_do_first() -> None:
    result = a_result(three()["failed"])
    for shown in (words_of(check_inert(html(result))), flat(check_text(result))):
        assert in_order(
            shown, "✕ failed · billing · TimeoutError: billing.internal did not answer",
            "Wait 20 s.", 'blocks reply · what it did: result["billing"]',
            "✕ failed · ✓✕↷⊘ · 4 tasks", "2 calls", "2,592 tokens · $0.0043 · 4.0 s",
            "needs billing",
        )  # fmt: skip
    assert 'run.result()["billing"]' in text(a_run(three()["failed"]))


def test_a_failure_that_stops_nothing_says_so() -> None:
    tasks = [declared("a", on_failure="continue"), declared("b", None, ["a"])]
    story = NetworkStory(tasks).starts("a", 0.0).fails("a", 1.0).starts("b", 1.0).ends("b", 2.0)
    shown = check_text(a_result(story.closes("completed", 2.0).state))
    assert "the rest went on without it" in shown
    assert "\ndone\n✓ completed · ✕✓" in shown
    tasks = [declared("a", on_failure="stop")]
    story = NetworkStory(tasks).starts("a", 0.0).fails("a", 1.0, retryable=True)
    shown = check_text(a_result(story.closes("failed", 1.0).state))
    assert "nothing new was started after it" in shown
    assert "the same call may work when it is repeated" in flat(shown)


def test_a_running_network_tells_what_goes_on() -> None:
    for shown in (
        words_of(check_inert(html(a_run(nine())))), flat(check_text(a_run(nine()))),
    ):  # fmt: skip
        assert in_order(
            shown, "support", "9 tasks · ↺✓↷✓✕◐?⊘○ · ", "? waiting for you",
            "↺ 1 restored · ✓ 2 completed", "run.result() waits for the answer",
            "? waiting for you · refund", "run.answer(…)", "✕ failed · orders",
            "blocks reply", "9 tasks, 1 restored · 5 calls · 6,120 tokens · $0.0093 · 12.4 s",
        )  # fmt: skip
    for row in (
        "↺ intake restored reader from run 7f3a",
        "✓ classify completed classifier 800 ms $0.0002 → billing",
        "✕ orders failed researcher 6.0 s $0.0011 after classify",
        "◐ policy running researcher 8.5 s $0.0032 after classify",
        "? refund waiting refunds 1.2 s $0.0007 after billing",
        "○ audit pending network needs policy",
    ):
        assert row in flat(text(a_run(nine())))
    assert "policy ◐ running ✦ researcher classify 3.1 s 8.5 s 2,476 $0.0032" in words_of(
        check_inert(html(a_run(nine())))
    )


def test_a_run_that_has_not_begun_or_was_cut_off() -> None:
    story = NetworkStory([declared("a", None), declared("b", None, ["a"])]).starts("a", 0.0)
    story.settles("a", 3.0, "interrupted", "stopped").settles("b", 3.0, "interrupted", "stopped")
    shown = check_text(a_run(story.closes("interrupted", 3.0, stuck=["slow"]).state))
    assert "■ interrupted after 3.0 s · 0 of 2 tasks finished" in shown
    assert "still running, and not to be stopped: slow" in shown
    state = three()["running"]
    state.status = "abandoned"
    assert "◌ abandoned · its process ended before the run did" in check_text(a_run(state))
    unborn = NetworkStory([]).state
    unborn.status, unborn.info = "pending", {}
    assert check_text(a_run(unborn)).startswith("Network support · 0 tasks · ○ pending")
    check_inert(html(a_run(unborn)))


def test_several_ends_answer_under_their_names_and_functions_as_they_are() -> None:
    net = rl.create_network("two")
    net.task("load", lambda message: f"a  b\n* {message} *")
    net.task("count", lambda message: len(message))
    for shown in (words_of(check_inert(html(net.run("go")))), flat(text(net.run("go")))):
        assert in_order(shown, "load", "a b * go *", "count", "2", "✓ completed · ✓✓ · 2 tasks")
    net = rl.create_network("none")
    net.task("a", lambda message: message, when=lambda message: False)
    shown = text(net.run("go"))
    assert "no answer: the tasks at the end did not run" in shown
    assert "its condition is false" in shown


def test_a_functions_traceback_is_in_a_fold() -> None:
    net = rl.create_network("bad")
    net.task("divide", lambda message: 1 / 0)
    shown = words_of(check_inert(html(net.run("go"))))
    assert in_order(shown, "ZeroDivisionError: division by zero", "Traceback of divide", "1 / 0")


def test_a_network_that_cannot_run_still_has_a_picture() -> None:
    net = rl.create_network("broken")
    net.task("a", lambda message: message, depends_on=["a", "nowhere"])
    for shown in (words_of(check_inert(html(net))), flat(check_text(net))):
        assert "✕ GraphError · network 'broken' cannot run" in shown
        assert "depends on itself" in shown
        assert "after a, nowhere" in shown or "a, nowhere" in shown
    assert len(drawings_of(html(net))) == 1
    empty = rl.create_network("empty")
    assert "it has no tasks" in check_text(empty)
    assert drawings_of(html(empty)) == []


def test_a_large_network_keeps_what_to_look_at() -> None:
    state = large(1000)
    failed = [name for name, task in state.tasks.items() if task.status == "failed"]
    run = a_run(state)
    shown = check_text(run)
    assert re.search(r"✓\d+", shown)
    assert len(html(run).encode()) < 500_000
    words = words_of(check_inert(html(run)))
    assert "800 more tasks" in words
    assert sum(f"{name} ✕ failed" in words for name in failed) == len(failed)
    outline = check_text(a_run(large(40)))
    for name, task in large(40).tasks.items():
        if task.status in ("failed", "running"):
            assert f" {name} " in outline
    assert "… 16 more tasks" in outline


@pytest.mark.parametrize("status", TASK_STATES)
def test_html_text_and_markdown_name_the_same_states(status: str) -> None:
    run = a_run(all_states())
    state = STATES[status]
    assert f"task {status} {state.icon} {state.word}" in words_of(check_inert(html(run)))
    row = rf"{re.escape(state.icon)} task {status} +{state.word.split()[0]} "
    assert re.search(row, check_text(run))
    assert f"{state.icon} task {status} · {state.word.split()[0]}" in markdown(run)


def test_where_styles_and_folds_are_gone_the_order_stands() -> None:
    left = sanitised(html(a_result(three()["completed"])))
    assert "rlnb" not in left
    assert in_order(
        left, "19.90 €", "✓\u00a0completed", "<img", "alt=", "classify completed",
        "reply completed", "Tasks", "Timeline", "Transcript",
    )  # fmt: skip


# -- the timeline ---------------------------------------------------------------------------


def bars_of(root: ElementTree.Element) -> list[tuple[float, float]]:
    """Where the bars of a timeline begin and how long they are."""
    rects = [r for r in root if r.tag.endswith("rect") and re.match(r"k\d|x", r.get("class", ""))]
    return [(float(r.get("x", 0)), float(r.get("width", 0))) for r in rects]


def test_bars_begin_and_last_as_long_as_their_tasks() -> None:
    facts = facts_of(three()["completed"])
    drawn = timeline(facts)
    assert drawn is not None
    bars = bars_of(ElementTree.fromstring(drawn.svg))
    scale = (768 - 132) / 5.5
    for (x, size), (start, took) in zip(bars, [(0, 0.8), (0.8, 3.1), (3.9, 1.6)], strict=True):
        assert x == pytest.approx(132 + start * scale, abs=0.11)
        assert size == pytest.approx(took * scale, abs=0.11)
    assert drawn.alt.replace("\u00a0", " ") == (
        "Timeline of support, 5.5 s. classify completed, from 0.0 s for 800 ms; "
        "billing completed, from 0.8 s for 3.1 s; reply completed, from 3.9 s for 1.6 s."
    )
    words = [
        "".join(t.itertext())
        for t in ElementTree.fromstring(drawn.svg).iter()
        if t.tag.endswith("text")
    ]
    assert words[:6] == ["0 s", "1 s", "2 s", "3 s", "4 s", "5 s"]
    assert "skipped: route not taken" in words
    assert "at work" in words
    assert "waiting for a free slot" not in words


def test_dots_are_waits_for_a_slot_and_dashes_waits_for_a_person() -> None:
    drawn = timeline(facts_of(nine()))
    assert drawn is not None
    root = ElementTree.fromstring(drawn.svg)
    dotted = [p.get("d", "") for p in root if p.get("stroke-dasharray") == "1.5 3.5"]
    assert len(dotted) == 2  # policy and refund
    start, end = map(float, re.findall(r"M([\d.]+) .*H([\d.]+)", dotted[0])[0])
    scale = (768 - 132) / 12.4
    assert start == pytest.approx(132 + 0.8 * scale + 2, abs=0.11)
    assert end == pytest.approx(132 + 3.9 * scale - 2, abs=0.11)
    assert [r.get("class") for r in root if r.get("stroke-dasharray") == "3 2.5"] == ["bw sw"]
    words = "".join(root.itertext())
    for meaning in (
        "waiting for a free slot",
        "waiting for a person",
        "now, 12.4",
        "4.4 s for you",
    ):
        assert meaning in words
    assert "after waiting 3.1\u00a0s" in drawn.alt


def test_what_a_person_took_to_answer_is_no_work() -> None:
    net = rl.create_network("sign")
    net.task("ask", rl.Human("editor"), prompt="Good?")
    net.task("publish", lambda upstream: "done", depends_on=["ask"])
    result = net.run("go")
    time.sleep(0.1)
    facts = facts_of(result.answer("yes"))
    ((since, waited),) = facts.tasks[0].held
    assert since >= (facts.tasks[0].started_s or 0.0)
    assert waited is not None
    assert 0.1 <= waited <= (facts.tasks[0].worked_s or 0.0)
    drawn = timeline(facts)
    assert drawn is not None
    root = ElementTree.fromstring(drawn.svg)
    dashed = [r for r in root if r.get("stroke-dasharray") == "3 2.5"]
    work = bars_of(root)[0]
    assert len(dashed) == 1
    left, size = float(dashed[0].get("x", 0)), float(dashed[0].get("width", 0))
    assert work[0] <= left
    assert left + size <= sum(work) + 4
    assert size == pytest.approx(waited / (facts.elapsed_s or 1) * (768 - 132), abs=1)
    assert "waiting for a person" in "".join(root.itertext())
    assert "of it waiting for a person" in drawn.alt


def test_a_timeline_of_many_says_what_it_leaves_out() -> None:
    drawn = timeline(facts_of(large(300)))
    assert drawn is not None
    root = ElementTree.fromstring(drawn.svg)
    assert len(bars_of(root)) == MOST_ROWS
    assert "… 200 more tasks, which took less time" in "".join(root.itertext())
    assert "; and 140 more, which took less time." in drawn.alt
    failed = [t.name for t in facts_of(large(300)).tasks if t.status == "failed"]
    assert all(f"{name} failed" in drawn.alt for name in failed)
    assert timeline(facts_of(support())) is None


def test_the_longest_chain_follows_what_ended_last() -> None:
    assert critical(facts_of(three()["completed"])) == ("classify", "billing", "reply")
    assert critical(facts_of(nine()))[0] == "classify"
    assert critical(facts_of(support())) == ()


# -- tasks ----------------------------------------------------------------------------------


def test_a_task_tells_what_was_declared() -> None:
    net = support()
    assert check_text(net.tasks["classify"]).split("\n") == [
        "Task classify · robot classifier (simulated)",
        "  depends on   none",
        "  runs         always",
        "  routes       as <lambda> says · else general",
        "  if it fails  those that need it do not run",
    ]

    def is_long(message: str) -> bool:
        return True

    def load(message: str) -> str:
        return message

    load_task = net.task(
        "load", load, when=is_long, depends_on=["classify"], on_failure="stop", context={"a<b": 1}
    )
    shown = words_of(check_inert(html(load_task)))
    for words in (
        "load task · function load", "depends on classify", "runs when is_long says so",
        "if it fails nothing new is started", "context a<b",
    ):  # fmt: skip
        assert words in shown
    prompt = "Answer {{ message }}.\n" * 20
    shown = words_of(check_inert(html(net.task("tell", net["reply"], prompt=prompt, tools=[load]))))
    assert "Prompt · 440 characters" in shown
    assert "tools load" in shown


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("**19.90 €** back", "19.90 € back"),
        ({"rows": [1, 2]}, '{"rows": [1, 2]}'),
        (10, "10"),
        (None, "nothing was returned"),
        ("", "an empty text"),
        (b"\x00<b>", "b'\\x00<b>'"),
        (object, "<class 'object'>"),
    ],
)
def test_a_functions_value_comes_first(value: object, told: str) -> None:
    result = TaskResult("load", value)
    shown = words_of(check_inert(html(result)))
    assert shown.startswith(f"{told} ✓ completed · load")
    check_text(result)
    if not isinstance(value, (str, type(None))):
        assert shown.endswith(f" · {type(value).__name__}")


def test_a_functions_error_comes_first() -> None:
    error = rl.ConfigurationError("no <b>", hint="Pass `x=`.")
    result = TaskResult("load", None, status="failed", error=error)
    for shown in (words_of(check_inert(html(result))), flat(check_text(result))):
        assert in_order(
            shown, "✕ failed · load · ConfigurationError: no <b>", "Pass x=.", "✕ failed · load"
        )


# -- nothing raises, nothing acts -----------------------------------------------------------


def hostile_network(payload: str) -> Any:
    named = payload if payload.strip() else "blank"
    net = rl.create_network(named)
    net.task(named, rl.build("bot", model=rl.SimulatedModel([payload])), prompt="x " + payload[:0])
    net.task(named + "2", lambda message: payload, depends_on=[named], context={payload: payload})
    return net


def hostile_state(payload: str, status: str) -> RunState:
    tasks = [
        declared(payload, payload, route=True, fallback=payload, on_failure=payload),
        declared(payload + "2", None, [payload], optional=True, kind=payload),
    ]
    story = NetworkStory(tasks, payload).starts(payload, 0.0, robot=payload)
    story.asks(payload, payload, 0.0, 1.0, 5, 0.1, payload)
    if status == "failed":
        story.fails(payload, 1.0, payload, hint=payload, type=payload)
        story.settles(payload + "2", 1.0, "blocked", payload)
        return story.closes("failed", 1.0).state
    story.ends(payload, 1.0, payload, activate=[payload])
    if status == "completed":
        story.starts(payload + "2", 1.0).ends(payload + "2", 2.0, payload)
        return story.closes("completed", 2.0).state
    return story.state


KINDS: dict[str, Callable[[str], Any]] = {
    "network": hostile_network,
    "completed": lambda p: a_result(hostile_state(p, "completed")),
    "failed": lambda p: a_result(hostile_state(p, "failed")),
    "running": lambda p: a_run(hostile_state(p, "running")),
    "task": lambda p: hostile_network(p).tasks[p if p.strip() else "blank"],
    "value": lambda p: TaskResult(p, p),
    "values": lambda p: TaskResult(p, {p: [p]}, status=p, error=ValueError(p)),
}


@pytest.mark.parametrize("number", range(0, len(PAYLOADS), 2))
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_text_is_inert(kind: str, number: int) -> None:
    payload = PAYLOADS[number]
    thing = KINDS[kind](payload)
    tree = check_inert(html(thing))
    drawings_of(html(thing))
    check_text(thing)
    assert markdown(thing)
    start = one_line(payload, 20).removesuffix("…").split("`")[0].strip()
    assert start in words_of(tree)


@given(payload=any_text, kind=st.sampled_from(list(KINDS)))
@settings(max_examples=120, deadline=None)
def test_any_text_is_inert(payload: str, kind: str) -> None:
    thing = KINDS[kind](payload)
    check_inert(html(thing))
    for root in drawings_of(html(thing)):
        assert not {e.tag for e in root.iter()} & {"script", "a", "image", "foreignObject"}
    check_text(thing)


@pytest.mark.parametrize("name", [n for n in nine().__slots__ if n != "scope"])
@pytest.mark.parametrize("status", ["running", "completed", "failed"])
def test_a_broken_state_still_has_a_picture(name: str, status: str) -> None:
    for value in (None, 7, "<b>", object(), {"a": 1}, [3]):
        state = three()[status]
        things = (a_result(state), a_run(state))
        setattr(state, name, value)
        for thing in things:
            check_inert(html(thing))
            check_text(thing)
            assert markdown(thing)


@pytest.mark.parametrize("name", list(next(iter(nine().tasks.values())).__slots__))
def test_a_broken_task_still_has_a_picture(name: str) -> None:
    for value in (None, 7, "<b>", object(), float("nan"), ["x", 3], {"depends_on": 7}):
        state = three()["completed"]
        for task in state.tasks.values():
            setattr(task, name, value)
        for thing in (a_result(state), a_run(state)):
            check_inert(html(thing))
            check_text(thing)


@pytest.mark.parametrize("name", ["name", "tasks", "config", "concurrency", "validate"])
def test_a_part_that_cannot_be_drawn_says_so_and_the_rest_stands(name: str) -> None:
    class Broken:
        __module__ = "robotlab_nb.broken"

        def __getattr__(self, asked: str) -> Any:
            if asked in (name, "state", "apply"):
                raise AttributeError(asked) if asked != name else RuntimeError("<b>")
            return getattr(support(), asked)

    broken = type("Network", (Broken,), {"__module__": "robotlab_nb.broken"})()
    shown = words_of(check_inert(html(broken)))
    assert "could not be drawn (RuntimeError)" in shown
    if name in ("config", "concurrency", "validate"):
        assert "classify" in check_text(broken)


def test_a_run_is_drawn_while_it_goes_on() -> None:
    go = threading.Event()
    net = rl.create_network("slow", concurrency=1)
    net.task("first", lambda message: message)
    net.task("wait", lambda message: go.wait(20) and "done", depends_on=["first"])
    net.task("also", lambda message: message, depends_on=["first"])
    net.task("last", lambda upstream: str(upstream), depends_on=["wait"])
    run = net.start("hello")
    end = time.monotonic() + 20
    while run.state.tasks.get("wait") is None or run.state.tasks["wait"].status != "running":
        assert time.monotonic() < end
        time.sleep(0.005)
    shown = check_text(run)
    for words in (
        "Network slow · 4 tasks · ✓◐○○ · ◐ running",
        "needs wait",
        "waits for a free slot",
    ):
        assert words in shown
    check_inert(html(run))
    go.set()
    run.result(20)
    assert check_text(run).startswith("also")
    assert text(run).replace("run.result()", "result") == text(run.result())


# -- whole ----------------------------------------------------------------------------------


def laid_out(drawn: str) -> str:
    """A picture with an element on each line, and the drawings in it legible."""

    def legible(found: re.Match[str]) -> str:
        return "data:" + base64.b64decode(found[1]).decode("utf-8")

    body = re.sub(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]*)", legible, body_of(drawn))
    return re.sub(r"<style>.*?</style>", "<style/>", body).replace("><", ">\n<")


WHOLE: dict[str, Callable[[], Any]] = {
    "declared": support,
    "running": lambda: a_run(three()["running"]),
    "completed": lambda: a_result(three()["completed"]),
    "failed": lambda: a_result(three()["failed"]),
    "nine": lambda: a_run(nine()),
}


@pytest.mark.parametrize("name", list(WHOLE)[:4])
def test_html(name: str, snapshot: SnapshotAssertion) -> None:
    drawn = html(WHOLE[name]())
    assert html(WHOLE[name]()) == drawn
    assert laid_out(drawn) == snapshot


@pytest.mark.parametrize("name", WHOLE)
def test_text(name: str, snapshot: SnapshotAssertion) -> None:
    assert text(WHOLE[name]()) == snapshot


@pytest.mark.parametrize("name", ["declared", "failed"])
def test_markdown(name: str, snapshot: SnapshotAssertion) -> None:
    assert markdown(WHOLE[name]()) == snapshot


def test_a_cap_on_robots_is_told_beside_the_number_of_tasks():
    import robotlab_nb as rl

    net = rl.create_network("capped", max_concurrent_robots=4)
    net.task("t", rl.build("b"))
    assert "at most 32 at the same time, 4 robots among them" in repr(net)
