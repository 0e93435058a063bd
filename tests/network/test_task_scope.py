"""What a task sets for itself: time, tries, context, memory. Nothing of it reaches another task."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ScriptedModel


def says(answer, name="robot", **more):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer, **more))


def failing(times, value="made it"):
    """A function that fails so many times."""
    left = [times]

    def work():
        if left[0]:
            left[0] -= 1
            raise ValueError(f"{left[0]} more")
        return value

    return work


# -- tries -----------------------------------------------------------------------------------


def test_a_failed_task_is_tried_again_and_each_failure_is_told():
    net = rl.create_network("n")
    net.task("flaky", failing(2), retries=3, retry_wait=0.001)
    result = net.run("x")
    assert result.value == "made it"
    task = result.state.tasks["flaky"]
    assert task.attempts == 3
    assert [e["message"] for e in task.retried] == ["1 more", "0 more"]
    told = [(e.type, e.data.get("attempt")) for e in result.events if "task" in e.type]
    assert told == [
        ("task.started", 1), ("task.retried", 1), ("task.started", 2), ("task.retried", 2),
        ("task.started", 3), ("task.completed", None),
    ]  # fmt: skip
    assert RunState.fold(result.events) == result.state


def test_a_task_fails_with_the_error_of_its_last_try():
    net = rl.create_network("n")
    net.task("flaky", failing(5), retries=1, retry_wait=0)
    net.task("other", says("fine"))
    result = net.run("x")
    assert result.errors["flaky"]["message"] == "3 more"
    assert result["other"].text == "fine"


def test_each_try_has_a_place_of_its_own_and_is_paid_for():
    model = ScriptedModel([rl.ModelError("down", billed=True), "up"])
    net = rl.create_network("n")
    net.task("t", rl.build("r", model=model), retries=2, retry_wait=0, config={"attempts": 1})
    result = net.run("x")
    paths = [c.scope.path for c in result.state.children.values()]
    assert paths == [("n", "t", "try:1"), ("n", "t", "try:2")]
    assert [c.status for c in result.state.children.values()] == ["failed", "completed"]
    assert result["t"].text == "up"
    frames = result.frames
    assert list(frames.runs["task"].dropna()) == ["t", "t"]
    assert frames.tasks["tokens"][0] == result.usage.total_tokens


def test_what_would_fail_again_is_not_tried_again():
    calls = []

    def wrong():
        calls.append(1)
        raise rl.ConfigurationError("never")

    net = rl.create_network("n")
    net.task("t", wrong, retries=5)
    assert net.run("x").status == "failed"
    assert len(calls) == 1


def test_a_retried_task_lets_its_slot_go_meanwhile():
    order = []
    tries = failing(1)

    def first():
        order.append("first")
        return tries()

    net = rl.create_network("n", group_caps={"g": 1})
    net.task("a", first, retries=1, retry_wait=0.05, poller_group="g")
    net.task("b", lambda: order.append("b"), poller_group="g")
    net.run("x")
    assert order == ["first", "b", "first"]


# -- time ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["robot", "async", "sync", "network", "human", "step"])
def test_a_task_that_takes_too_long_fails_and_nothing_else_does(kind):
    gate = threading.Event()

    async def never():
        await asyncio.sleep(60)

    class Slow(rl.Robot):
        async def call(self, flow):
            return await self.arun(**self.extract_run_context(flow))

    inner = rl.create_network("inner")
    inner.task("i", says("x", delay=60))
    slow = {
        "robot": says("x", delay=60),
        "async": never,
        "sync": lambda: gate.wait(60),
        "network": inner,
        "human": rl.Human("late"),
        "step": Slow("slow", model=rl.SimulatedModel(["x"], delay=60)),
    }[kind]
    net = rl.create_network("n")
    net.task("slow", slow, timeout=0.1)
    net.task("after", says("never"), depends_on=["slow"])
    net.task("independent", says("kept", delay=0.2))
    began = time.monotonic()
    result = net.start("x").result(30)
    assert time.monotonic() - began < 10
    gate.set()
    assert result.errors["slow"]["type"] == "AwaitTimeout"
    assert "within 0.1 s" in result.errors["slow"]["message"]
    assert result.state.tasks["after"].status == "blocked"
    assert result["independent"].text == "kept"
    assert all(child.ended for child in result.state.children.values())
    assert RunState.fold(result.events) == result.state


def test_a_robots_run_says_why_it_was_stopped():
    net = rl.create_network("n")
    net.task("slow", says("x", delay=60), timeout=0.05)
    result = net.run("x")
    reasons = [e.data["reason"] for e in result.events if e.type == "run.interrupted"]
    assert reasons == ["the time of its task was up"]
    assert result["slow"].status == "interrupted"


def test_runs_that_a_late_function_started_are_stopped_with_it():
    slow = says("x", delay=60)
    net = rl.create_network("n")
    net.task("slow", lambda message: slow.run(message).text, timeout=0.2)
    net.task("independent", says("kept", delay=0.5))
    result = net.start("x").result(30)
    assert result.status == "failed"
    stopped = [e for e in result.events if e.type == "run.interrupted"]
    assert [e.scope.path for e in stopped] == [("n", "slow", "robot")]
    kept = next(e for e in result.events if e.data.get("text") == "kept")
    assert stopped[0].seq < kept.seq, "it was not the network's end that stopped it"


def test_each_try_has_the_whole_time():
    model = rl.SimulatedModel(lambda request: "x", delay=60)
    net = rl.create_network("n")
    net.task("slow", rl.build("r", model=model), timeout=0.05, retries=2, retry_wait=0)
    result = net.run("x")
    assert result.state.tasks["slow"].attempts == 3
    assert {e["type"] for e in result.state.tasks["slow"].retried} == {"AwaitTimeout"}


def test_a_stop_during_a_timed_task_stops_the_network():
    net = rl.create_network("n")
    net.task("slow", says("x", delay=60), timeout=30, retries=3)
    run = net.start("x")
    while "slow" not in run.state.tasks or run.state.tasks["slow"].status != "running":
        time.sleep(0.005)
    run.stop()
    assert run.status == "interrupted"
    assert run.state.tasks["slow"].status == "interrupted"
    assert run.state.tasks["slow"].attempts == 1


# -- context, tools, settings ----------------------------------------------------------------


def test_a_tasks_context_is_laid_over_the_runs_and_reaches_no_other_task():
    def look(context):
        return context

    net = rl.create_network("n")
    net.task("own", look, context={"a": {"y": 2, "z": {"k": 2}}, "list": [2]})
    net.task("after", look, depends_on=["own"])
    given = {"a": {"x": 1, "y": 1, "z": {"k": 1, "l": 1}}, "list": [1, 1], "b": 1}
    result = net.run("x", context=given)
    assert result["own"].value == {
        "a": {"x": 1, "y": 2, "z": {"k": 2, "l": 1}}, "list": [2], "b": 1,
    }  # fmt: skip
    assert result["after"].value == given
    assert given["a"] == {"x": 1, "y": 1, "z": {"k": 1, "l": 1}}


def test_tools_and_settings_of_one_task_leave_the_next_as_it_was():
    def extra() -> str:
        """An extra."""
        return "x"

    model = ScriptedModel(["one", "two", "three"])
    bot = rl.build("r", model=model, temperature=0.5)
    net = rl.create_network("n")
    net.task("a", bot, tools=[extra], config={"temperature": 0.1})
    net.task("b", bot, depends_on=["a"])
    net.task("c", bot, depends_on=["b"], tools=[])
    assert net.run("x").status == "completed"
    assert [r.params["temperature"] for r in model.requests] == [0.1, 0.5, 0.5]
    assert [[t.name for t in r.tools] for r in model.requests] == [["extra"], [], []]


# -- memory ----------------------------------------------------------------------------------


def test_tasks_share_the_networks_memory_and_it_stays():
    net = rl.create_network("n")
    net.task("write", lambda memory: memory.set("k", memory.get("k") or 0))
    net.task("add", lambda memory: memory.update("k", lambda k: k + 1), depends_on=["write"])
    net.run("x")
    net.run("x")
    assert net.memory["k"] == 2
    assert net.reset_memory().memory.get("k") is None


def test_a_tasks_own_values_are_there_for_it_alone():
    def look(memory):
        found = memory.get("k", "own")
        memory.set("left", "behind")
        return found

    net = rl.create_network("n", memory={"k": "network"})
    net.task("own", look, memory={"own": 1})
    net.task("after", lambda memory: memory.get("k", "own", "left"), depends_on=["own"])
    result = net.run("x")
    assert result["own"].value == {"k": "network", "own": 1}
    assert result["after"].value == {"k": "network", "own": None, "left": None}


def test_a_task_may_work_with_another_memory():
    other = rl.create_memory(name="other")
    net = rl.create_network("n")
    net.task("own", lambda memory: memory.set("k", 1), memory=other)
    net.run("x")
    assert (other["k"], net.memory.get("k")) == (1, None)


def test_a_runs_own_values_leave_no_trace():
    net = rl.create_network("n", memory={"k": 1})
    net.task("t", lambda memory: memory.update("k", lambda k: k + 1))
    net.run("x", memory={"more": 1})
    assert net.memory.get("k", "more") == {"k": 1, "more": None}
    kept = rl.create_memory(name="kept")
    kept["k"] = 10
    net.run("x", memory=kept)
    assert (kept["k"], net.memory["k"]) == (11, 1)


def test_a_robots_tools_and_the_functions_beside_it_see_one_memory():
    def note(text: str, memory: rl.Memory) -> str:
        """Note something."""
        memory.append("notes", text)
        return "noted"

    model = rl.SimulatedModel([("note", {"text": "seen"}), "done"])
    net = rl.create_network("n")
    net.task("robot", rl.build("r", model=model, tools=[note]))
    net.task("read", lambda memory: memory["notes"], depends_on=["robot"])
    assert net.run("x").value == ["seen"]


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"timeout": "1"}, "timeout='1' is not a number of seconds"),
        ({"timeout": -1}, "timeout=-1 is not"),
        ({"timeout": True}, "timeout=True is not"),
        ({"retries": 1.5}, "retries=1.5 is not a whole number"),
        ({"retries": -1}, "retries=-1 is not"),
        ({"retry_wait": None}, "retry_wait=None is not"),
        ({"retires": 2}, "Did you mean 'retries'"),
    ],
)
def test_what_no_task_can_have_is_refused(options, told):
    with pytest.raises(rl.RobotLabError, match=told):
        rl.create_network("n").task("t", lambda: 0, **options)


def test_what_a_function_cannot_have_is_a_fault():
    net = rl.create_network("n")
    net.task("t", lambda: 0, tools=[], prompt="x")
    with pytest.raises(rl.GraphError) as caught:
        net.validate()
    assert "task 't' has tools=, and a function does it" in str(caught.value)
    assert "task 't' has a prompt=, and a function does it" in str(caught.value)


def test_something_that_is_no_memory_is_refused():
    with pytest.raises(rl.ConfigurationError, match="is no memory"):
        rl.create_network("n", memory=3)
    net = rl.create_network("n")
    with pytest.raises(rl.ConfigurationError, match="task 't': memory=3 is no memory"):
        net.task("t", lambda: 0, memory=3)
    net.task("t", lambda: 0)
    with pytest.raises(rl.ConfigurationError, match="this run of .*: memory=3 is no memory"):
        net.run("x", memory=3)
