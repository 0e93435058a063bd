"""Memories, buses, documents, people, flows, maps, loops; how far a network's tasks have come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.records import TaskState
from robotlab_nb.display.network_facts import facts_of
from robotlab_nb.display.pictures import html, text
from robotlab_nb.display.task_progress import progress_of, traits_of
from tests.display import shared_samples as shared
from tests.display.network_samples import a_result, a_run
from tests.display.test_pictures import check_text
from tests.display.trees import body_of, check_inert, flat, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

THINGS: dict[str, Callable[[str], Any]] = {
    "memory": shared.a_memory, "documents": shared.some_documents, "bus": shared.a_bus,
    "human": shared.a_human, "flow": shared.a_flow, "map": shared.a_map, "loop": shared.a_loop,
}  # fmt: skip


def both(thing: Any) -> tuple[str, str]:
    """The words of the HTML and of the text."""
    told, drawn = check_text(thing), html(thing)
    assert "could not be drawn" not in told + drawn
    return words_of(check_inert(drawn)), flat(told)


def test_a_memory_tells_keys_values_writers_writes_and_labels_and_no_key() -> None:
    for shown in both(shared.a_memory()):
        assert "lesson" in shown
        assert "3 keys" in shown
        assert "key value writer at, UTC 2026-03-01 writes labels" in shown
        assert "draft Dear all, session 09:30:00 2" in shown
        assert "salaries [3100, 2900] session 09:30:00 1 private" in shown
        assert "api_key (set) session" in shown
        assert "language Dear all," in shown
        assert "canary" not in shown
    for shown in both(rl.create_memory()):
        assert "0 keys" in shown
        assert "labels" not in shown


def test_a_memory_names_the_robots_that_wrote_and_tells_other_days() -> None:
    def note(text: str, memory: rl.Memory) -> str:
        """Note something."""
        memory["note"] = text
        return "noted"

    memory = rl.create_memory(name="desk")
    memory["draft"] = "Dear all,"
    old = memory.entries(["draft"])["draft"]
    memory.backend.put("keys", "draft", old._replace(at=shared.WRITTEN))  # type: ignore[attr-defined]
    model = rl.SimulatedModel([("note", {"text": "seen"}), "Done."])
    rl.build("clerk", tools=[note], model=model, memory=memory).run("Note it.")
    for shown in both(memory):
        assert "draft Dear all, session 2026-03-01 09:30:00 1" in shown
        assert "note seen clerk 20" in shown  # the year of today


def test_drawing_a_memory_marks_nothing_as_read_and_takes_what_is_large() -> None:
    memory = rl.create_memory()
    memory["rows"] = list(range(1_000_000))
    for number in range(70):
        memory[f"k{number:02}"] = number
    assert "… 11 more keys" in both(memory)[0]
    assert len(html(memory)) < 60_000


def test_documents_tell_how_many_and_how_they_begin() -> None:
    for shown in both(shared.some_documents()):
        assert "Documents 2 stored" in shown.replace("· ", "")
        assert "tea 31 Boil fresh water for green tea." in shown
        assert "documents.search(…) finds passages" in shown


def test_a_bus_tells_channels_pending_and_dead_letters() -> None:
    bus = shared.a_bus()
    for shown in both(bus):
        assert "1 channel · 0 pending · 1 dead letter" in shown
        assert "orders desk 0 10 RobotMessage" in shown
        assert "nobody receives there hello" in shown
        assert "bus.redeliver() publishes them again" in shown
    bus.close()
    assert "■ closed" in both(bus)[0]
    for shown in both(rl.Bus()):
        assert "0 channels · 0 pending" in shown
        assert "Dead letters" not in shown


def test_a_person_tells_what_may_be_answered_and_how_long_that_waits() -> None:
    for shown in both(shared.a_human()):
        assert "answers editor · drop" in shown
        assert "default editor" in shown
        assert "waits 90 s" in shown
    assert "answers any text waits as long as the run says" in both(rl.Human())[0]
    assert "waits without a limit" in both(rl.Human(timeout=None))[0]


def test_a_flow_tells_its_value_and_what_happens_next() -> None:
    flow = rl.FlowResult({"n": 1}).activate("billing").with_error("price", "odd")
    for shown in both(flow.with_context("k", 1)):
        assert '{"n": 1}' in shown
        assert "activates billing" in shown
        assert "notes price odd" in shown
        assert "context k goes on" in shown
    assert "no value halts: nothing new starts" in both(rl.FlowResult().halt())[0]


def test_a_map_tells_its_first_rows_and_all_errors() -> None:
    for shown in both(shared.a_map()):
        assert "0 ✓ completed done 0" in shown
        assert "1 ✕ failed ValueError: done" in shown
        assert "2 ■ interrupted no result" in shown
        assert "■ interrupted · read · 1 of 3 items done · 1 failed" in shown
    large = both(shared.a_map("late", items=60))[0]
    assert "… 40 more items" in large
    assert "Errors · 1" in large
    assert "58 ValueError late" in large


def test_a_loop_tells_its_last_turn_then_the_others() -> None:
    for shown in both(shared.a_loop()):
        assert shown.startswith("a short poem ✓ completed · draft · 2 turns · its condition holds")
        assert "1 ✓ completed a poem" in shown


def test_a_delegated_task_tells_by_whom_and_shows_its_run() -> None:
    boss, clerk = rl.build("boss"), rl.build("clerk", model=rl.SimulatedModel(["filed"]))
    future = boss.delegate(clerk, "file this", wait=False)
    future.value()
    for shown in both(future):
        assert shown.startswith("delegated by boss filed ✓ completed")
        assert "future.value()" not in shown


# -- networks ------------------------------------------------------------------------------


def test_a_network_tells_how_far_each_task_has_come() -> None:
    run = a_run(shared.busy_network())
    for words in (
        "↺ intake restored reader restored from run 7f3a12, cost $0.0042 then",
        "read running reader 3.0 s 17 of 40 done, 2 failed",
        "draft running reader 3.0 s 2 turns of 5",
        "send running function 2.0 s attempt 2 of 3",
        "? check waiting editor asks: Send this letter?",
        "audit pending network auditors",
    ):
        assert words in flat(check_text(run)), words
    drawn = html(run)
    shown = words_of(check_inert(drawn))
    assert "17 of 40 done, 2 failed" in shown
    assert '<progress max="1" value="0.475">' in drawn


def test_a_network_tells_what_was_compared_stuck_or_undeliverable() -> None:
    shown = words_of(check_inert(html(a_run(shared.busy_network()))))
    for words in (
        "1 comparison, 1 deadlock, 2 dead letters",
        "compared 3 texts: the same · score 0.91, 0.85 is enough",
        "✕deadlock draft, audit waited for plan · nobody was left to write them",
        "on desk · nobody receives there · BusError: nobody receives on 'desk'",
        "on desk · refused by ann",
    ):  # fmt: skip
        assert words in shown or words.replace("✕", "✕ ") in shown, (words, shown)


def test_a_declared_network_tells_maps_loops_groups_and_caps() -> None:
    inner = rl.create_network("auditors")
    inner.task("one", lambda message: message)
    net = rl.create_network("busy", group_caps={"slow": 2})
    bot = rl.build("bot", model=rl.SimulatedModel(["ok"]))
    net.task("read", bot, map_over=[1, 2], poller_group="slow")
    net.task("draft", bot, loop=rl.Loop(until=lambda result: True, max_turns=4), retries=1)
    net.task("audit", inner)
    for shown in both(net):
        assert "for each item, group slow, at most 2" in shown
        assert "up to 4 turns, up to 2 attempts" in shown
        assert "network auditors" in shown
    assert "read, bot, for each item" in html(net)


def test_tokens_of_a_map_are_those_of_all_its_items() -> None:
    net = rl.create_network("map")
    net.task("read", rl.build("bot", model=rl.SimulatedModel(["a", "b"])), map_over=["x", "y"])
    result = net.run("go")
    usage = facts_of(result).tasks[0].usage
    assert usage is not None
    assert usage.calls == 2


def test_a_real_network_that_waits_for_a_person_says_so() -> None:
    net = rl.create_network("letter")
    net.task("draft", lambda message: f"Dear {message}")
    net.task("check", rl.Human("editor", choices=["send", "drop"]), depends_on=["draft"])
    result = net.run("Ada")
    for shown in both(result):
        assert "check ? waiting for you" in shown or "? check waiting editor asks: Dear" in shown
        assert 'result.answer("send")' in shown
    assert "check waiting for you, asks: Dear Ada" in html(result)


def test_a_result_that_waits_is_answered_by_its_own_name() -> None:
    state = shared.busy_network()
    state.status = "waiting"
    assert 'result.answer("send")' in text(a_result(state))
    assert 'run.answer("send")' in text(a_run(state))


@pytest.mark.parametrize(
    "value", [None, 7, -1, "<b>", 2.5, float("nan"), ["x"], {"max_turns": "x"}]
)
def test_what_an_old_log_says_of_progress_breaks_nothing(value: Any) -> None:
    task = TaskState("a", {"loop": value, "retries": value, "group": value, "poller_group": value})
    for name in ("items", "total", "turns", "attempts", "restored_from", "restored_cost"):
        setattr(task, name, value)
    task.status = "restored"
    progress_of(task)
    traits_of(task.declared, value)
    traits_of(value)


PICTURES: dict[str, Any] = {kind: make() for kind, make in THINGS.items()}  # type: ignore[call-arg]


@pytest.mark.parametrize("name", PICTURES)
def test_whole_pictures(name: str, snapshot: SnapshotAssertion) -> None:
    assert text(PICTURES[name]) == snapshot(name="text")
    assert body_of(html(PICTURES[name])).replace("><", ">\n<") == snapshot(name="html")
