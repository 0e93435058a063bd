"""Tables of memories and of the bus, of restored tasks and a map's items, of the session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import robotlab_nb as rl
from robotlab_nb.frames.tables import Frames
from tests.frames.test_tables import START, Story, row, scope

if TYPE_CHECKING:
    from robotlab_nb.core.events import Scope


def network() -> tuple[Story, Scope, Scope]:
    """A network that has begun; its scope, and that of its task ``draft``."""
    net = scope("net", kind="network", path=("letters",), robot=None)
    task = scope("net", kind="task", path=("letters", "draft", "try:1"), robot=None)
    told = Story().tell(net, "run.started", 0.0, started_at=START, name="letters")
    return told, net, task


def sent(told: Story, where: Scope, at: float, id_: str, *receivers: str, **more: Any) -> None:
    data = {"key": "ann:1", "channel": "desk", "sender": "ann", "in_reply_to": None, **more}
    told.tell(where, "bus.sent", at, message_id=id_, receivers=list(receivers), **data)


def of(told: Story, where: Scope, at: float, what: str, id_: str, who: str, **more: Any) -> None:
    told.tell(where, f"bus.{what}", at, message_id=id_, channel="desk", receiver=who, **more)


def test_a_message_is_a_row_that_says_who_took_it_and_how_long_that_was() -> None:
    told, _, task = network()
    sent(told, task, 1.0, "m1", "bob", "cid", content={"n": 1}, in_reply_to="bob:4")
    of(told, task, 1.5, "delivered", "m1", "bob", queued_s=0.5)
    of(told, task, 1.25, "delivered", "m1", "cid", queued_s=0.25)
    of(told, task, 1.5, "acked", "m1", "bob")
    assert row(told.frames.bus)["status"] == "pending"
    assert row(told.frames.bus)["duration_s"] is None
    of(told, task, 2.0, "acked", "m1", "cid")
    assert row(told.frames.bus) == {
        "root_id": "net", "run_id": "net", "task": "draft", "message_id": "m1", "key": "ann:1",
        "channel": "desk", "sender": "ann", "receivers": '["bob", "cid"]', "in_reply_to": "bob:4",
        "content": '{"n": 1}', "status": "acked", "reason": None, "error_type": None,
        "error_message": None, "acked_by": '["bob", "cid"]', "failed_by": "[]", "sent_s": 1.0,
        "queued_s": 0.5, "duration_s": 1.0,
    }  # fmt: skip


def test_a_dead_letter_says_why_and_stays_dead() -> None:
    told, net, _ = network()
    sent(told, net, 1.0, "m1", "bob", "cid", content=None)
    of(told, net, 1.5, "nacked", "m1", "bob", reason="busy")
    of(told, net, 1.5, "dead", "m1", "bob", reason="nack",
       error={"type": "Nack", "message": "busy"})  # fmt: skip
    of(told, net, 9.0, "acked", "m1", "cid")
    found = row(told.frames.bus)
    assert (found["status"], found["reason"], found["duration_s"]) == ("dead", "nack", 0.5)
    assert (found["error_type"], found["error_message"]) == ("Nack", "busy")
    assert (found["acked_by"], found["failed_by"]) == ('["cid"]', '["bob"]')
    assert found["content"] == "null"
    assert found["task"] is None


def test_a_handler_that_failed_on_what_it_took_is_named() -> None:
    told, net, _ = network()
    sent(told, net, 1.0, "m1", "bob")
    of(told, net, 1.1, "acked", "m1", "bob")
    of(told, net, 1.2, "handler_failed", "m1", "bob", error={"type": "KeyError", "message": "'x'"})
    found = row(told.frames.bus)
    assert (found["status"], found["failed_by"]) == ("acked", '["bob"]')
    assert (found["error_type"], found["error_message"]) == ("KeyError", "'x'")


def test_what_became_of_a_message_after_its_run_says_no_wrong_duration() -> None:
    told, net, _ = network()
    later = scope("session", kind="session", path=(), robot=None)
    sent(told, net, 100.0, "m1", "bob")
    of(told, later, 3.0, "acked", "m1", "bob")
    found = row(told.frames.bus)
    assert (found["status"], found["root_id"], found["duration_s"]) == ("acked", "net", None)
    alone = Frames([], [told.events[-1]]).bus
    assert (row(alone)["status"], row(alone)["acked_by"]) == (None, '["bob"]')


def test_each_event_of_a_memory_is_a_row() -> None:
    told, net, task = network()
    robot = scope("r1", net, path=("letters", "draft"), robot="writer")
    told.tell(robot, "run.started", 0.1, name="writer")
    told.tell(robot, "memory.set", 0.5, key="plan", value={"steps": 3}, version=1, created=True,
              writer="writer", network="letters")  # fmt: skip
    told.tell(task, "memory.set", 0.6, key="log", value="tea", version=2, created=False,
              appended=True, writer="draft")  # fmt: skip
    told.tell(net, "memory.waiting", 0.7, keys=["a", "b"], timeout_s=9.0)
    told.tell(net, "memory.got", 0.9, keys=["a", "b"], waited_s=0.2, found=["a"])
    told.tell(net, "memory.deadlock", 1.0, keys=["b"], waiting=["check"])
    error = {"type": "ValueError", "message": "no"}
    told.tell(net, "memory.subscriber_failed", 1.1, key="a", subscriber="s1", error=error)
    told.tell(net, "memory.cleared", 1.2, keys=["a", "plan"], writer="session")
    table = told.frames.memory
    assert row(table) == {
        "root_id": "net", "seq": 2, "run_id": "r1", "task": "draft", "robot": "writer",
        "elapsed_s": 0.5, "kind": "set", "key": "plan", "keys": '["plan"]', "version": 1,
        "value": '{"steps": 3}', "appended": False, "created": True, "writer": "writer",
        "found": None, "waited_s": None, "timeout_s": None, "error_type": None,
        "error_message": None,
    }  # fmt: skip
    assert table["kind"].tolist() == [
        "set", "set", "waiting", "got", "deadlock", "subscriber_failed", "cleared",
    ]  # fmt: skip
    second, waiting, got, deadlock, failed = (row(table, n) for n in range(1, 6))
    assert (second["task"], second["appended"], second["value"]) == ("draft", True, '"tea"')
    assert (waiting["key"], waiting["keys"], waiting["timeout_s"]) == (None, '["a", "b"]', 9.0)
    assert (got["found"], got["waited_s"], got["value"]) == ('["a"]', 0.2, None)
    assert (deadlock["key"], deadlock["appended"]) == ("b", None)
    assert (failed["error_type"], failed["error_message"]) == ("ValueError", "no")


def test_a_restored_task_costs_nothing() -> None:
    told, net, _ = network()
    told.tell(net, "task.restored", 0.1, task="draft", text="Dear …", restored_from="old",
              child_run_id="old-1", restored_cost=0.25)  # fmt: skip
    found = row(told.frames.tasks)
    assert (found["status"], found["cost_usd"], found["tokens"]) == ("restored", 0.0, 0)
    assert (found["child_run_id"], found["started_at"]) == ("old-1", None)


def test_the_session_has_tables_too() -> None:
    memory, bus = rl.create_memory(), rl.Bus()
    memory["session table"] = [1, 2]
    bus.publish("nobody here", rl.RobotMessage(1, "ann", "hello"))
    frames = Frames.of(rl.session_events())
    assert frames.runs.empty
    last = row(frames.memory, len(frames.memory) - 1)
    assert (last["key"], last["value"], last["writer"]) == ("session table", "[1, 2]", "session")
    letter = row(frames.bus, len(frames.bus) - 1)
    assert (letter["channel"], letter["status"], letter["reason"]) == (
        "nobody here", "dead", "no_receiver",
    )  # fmt: skip


def test_events_of_several_roots_are_tables_of_several_runs() -> None:
    first = rl.build("one", model=rl.SimulatedModel(["1"])).run("go")
    second = rl.build("two", model=rl.SimulatedModel(["2"])).run("go")
    frames = Frames.of([*first.events, *second.events])
    assert frames.runs["robot"].tolist() == ["one", "two"]
    assert frames.runs.attrs["root_ids"] == [first.run_id, second.run_id]
    assert Frames.of([]).runs.empty


def half(item: int) -> float:
    """Half of an even number."""
    if item % 2:
        raise ValueError(f"{item} is odd")
    return item / 2


@pytest.fixture(scope="module")
def mapped() -> Any:
    net = rl.create_network("halves")
    net.task("half", half, map_over=[2, 3, 4])
    net.task("tell", lambda memory, message: memory.set("told", message), depends_on=["half"])
    return net.run("go", memory=rl.create_memory())


def test_a_real_map_has_a_row_for_the_task_and_one_for_each_item(mapped: Any) -> None:
    table = mapped.frames.tasks
    table = table[table["task"] == "half"]
    assert table["item"].fillna(-1).tolist() == [-1, 0, 1, 2]
    assert table["status"].tolist() == ["completed", "completed", "failed", "completed"]
    assert json.loads(table["path"].iloc[2]) == ["halves", "half", "map:1"]
    assert table["error_message"].iloc[2] == "3 is odd"


def test_what_a_real_task_wrote_is_in_the_table_of_memories(mapped: Any) -> None:
    found = row(mapped.frames.memory)
    assert (found["kind"], found["key"], found["value"]) == ("set", "told", '"go"')
    assert (found["task"], found["writer"], found["created"]) == ("tell", "tell", True)


def test_a_run_that_went_on_names_the_one_before() -> None:
    net = rl.create_network("again")
    net.task("one", lambda message: "first")
    net.task("two", lambda message: 1 / 0, depends_on=["one"])
    before = net.run("go")
    after = net.resume(before)
    frames = after.frames
    assert row(frames.runs)["resumed_from"] == before.run_id
    assert pd.isna(before.frames.runs["resumed_from"].iloc[0])
    assert frames.tasks["status"].tolist() == ["restored", "failed"]
    assert row(frames.tasks)["cost_usd"] == 0.0
