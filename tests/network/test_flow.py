"""A person's own steps: what they are given, and what they say is to happen next."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ScriptedModel


def says(answer, name="robot", **more):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer, **more))


class Sorter(rl.Robot):
    """Activates the task that its answer names."""

    def call(self, flow):
        result = self.run(**self.extract_run_context(flow))
        return flow.continue_with(result).activate(result.text)


class LaterSorter(rl.Robot):
    """The same, async."""

    async def call(self, flow):
        result = await self.arun(**self.extract_run_context(flow))
        return flow.continue_with(result).activate(result.text)


def sorting(kind, answer="billing", **more):
    net = rl.create_network("support")
    net.task("sort", kind("sorter", model=rl.SimulatedModel([answer])), **more)
    for name in ("billing", "other"):
        net.task(name, says(f"from {name}"), optional=True, depends_on=["sort"])
    net.task("reply", lambda upstream: str(upstream), depends_on=["billing", "other"])
    return net


# -- a robot's own step ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Sorter, LaterSorter])
def test_a_robots_own_step_decides_what_runs_next(kind):
    result = sorting(kind).run("I was charged twice")
    assert result.value == "from billing"
    assert result.activated_steps == ("billing",)
    assert result["sort"].text == "billing"
    assert result.state.tasks["other"].status == "skipped"
    assert RunState.fold(result.events) == result.state


def test_its_run_is_the_tasks():
    model = ScriptedModel(["billing"])
    net = rl.create_network("n", temperature=0.3)
    net.task("sort", Sorter("sorter", model=model), prompt="sort {{ message }}", context={"k": 1})
    net.task("billing", lambda: "x", optional=True, depends_on=["sort"])
    result = net.run("it")
    run = result["sort"]
    assert run.state.scope.path == ("n", "sort")
    assert result.state.tasks["sort"].child_run_id == run.run_id
    assert model.requests[0].params == {"temperature": 0.3}
    assert run.state.info["input"] == "sort it"
    assert run.state.info["context"] == ["k"]
    assert net["sort"].messages == (), "a network's run leaves the robot's conversation alone"


def test_a_step_that_names_no_optional_task_fails_or_falls_back():
    result = sorting(Sorter, "biling").run("x")
    assert result.status == "failed"
    assert "routes to 'biling'" in result.errors["sort"]["message"]
    assert "Did you mean 'billing'" in result.errors["sort"]["hint"]
    assert sorting(Sorter, "nonsense", fallback="other").run("x").value == "from other"


def test_what_a_step_gives_back_is_its_value():
    class Plain(rl.Robot):
        def call(self, flow):
            return {"asked": flow.value}

    net = rl.create_network("n")
    net.task("t", Plain("p", model=rl.SimulatedModel(["x"])))
    assert net.run("it").value == {"asked": "it"}


def test_a_step_may_do_what_its_class_does_and_more():
    class More(rl.Robot):
        async def call(self, flow):
            flow = await super().call(flow)
            return flow.continue_with(f"{flow.value}!")

    net = rl.create_network("n")
    net.task("t", More("m", model=rl.SimulatedModel(["done"])))
    assert net.run("x").value == "done!"


def test_a_steps_error_is_the_tasks():
    class Broken(rl.Robot):
        def call(self, flow):
            raise ValueError("broken")

    net = rl.create_network("n")
    net.task("t", Broken("b", model=rl.SimulatedModel(["x"])))
    result = net.run("x")
    assert result.errors["t"]["message"] == "broken"
    assert "ValueError" in result.state.tasks["t"].traceback


def test_what_is_extracted_runs_the_robot_as_the_network_would():
    seen = []

    class Looking(rl.Robot):
        def call(self, flow):
            seen.append(self.extract_run_context(flow))
            seen.append(self.extract_run_context(flow.continue_with("another question")))
            return flow

    def extra() -> str:
        """An extra."""
        return "x"

    net = rl.create_network("n")
    net.task("t", Looking("r", model=rl.SimulatedModel(["x"])), tools=[extra], config={"seed": 1},
             context={"k": 1})  # fmt: skip
    net.run("it", context={"run": 2})
    assert seen[0] == {
        "message": "it", "context": {"run": 2, "k": 1}, "tools": [extra],
        "config": rl.RunConfig(seed=1),
    }  # fmt: skip
    assert seen[1]["message"] == "another question"


# -- functions -------------------------------------------------------------------------------


def test_a_function_that_asks_for_the_flow_may_activate_and_note_and_pass_on():
    def sort(flow):
        return flow.activate("a").with_error("odd", "one").with_context("k", 1)

    def look(flow):
        return flow.with_error("odd", "two").continue_with(flow.context["k"])

    net = rl.create_network("n")
    net.task("sort", sort)
    net.task("a", look, optional=True, depends_on=["sort"])
    net.task("b", lambda: 0, optional=True, depends_on=["sort"])
    net.task("end", lambda flow: (dict(flow.errors), flow.context["k"], flow.activated_steps),
             depends_on=["a", "b"])  # fmt: skip
    result = net.run("x")
    assert result["a"].value == 1
    assert result["end"].value == ({"odd": ("one", "two")}, 1, ("a",))
    assert result.noted == {"odd": ("one", "two")}
    assert result.status == "completed"
    assert result.state.tasks["a"].noted == {"odd": ["two"]}


def test_a_function_that_nobody_expected_it_of_may_activate_what_comes_after_it():
    net = rl.create_network("n")
    net.task("sort", lambda: rl.FlowResult("v", activated_steps=["a"]))
    net.task("a", lambda: "ran", optional=True, depends_on=["sort"])
    net.task("b", lambda: "ran", optional=True, depends_on=["sort"])
    result = net.run("x")
    assert (result["sort"].value, list(result)) == ("v", ["sort", "a"])


def test_a_step_is_given_the_message_the_context_and_results_before_it():
    net = rl.create_network("n")
    net.task("first", says("one"))
    net.task("t", lambda flow: flow, depends_on=["first"])
    result = net.run("it", context={"k": 1})
    assert result["t"].value == "one"
    flow = rl.create_network("m")
    flow.task("first", says("one"))
    flow.task("t", lambda flow: dict(flow.context), depends_on=["first"])
    seen = flow.run("it", context={"k": 1})["t"].value
    assert seen["run_params"] == {"message": "it", "k": 1}
    assert seen["first"].text == "one"


# -- halting ---------------------------------------------------------------------------------


def test_nothing_new_starts_after_a_halt_and_what_runs_is_kept():
    gate = threading.Event()

    def slow():
        assert gate.wait(20)
        return "kept"

    net = rl.create_network("n", concurrency=2)
    net.task("running", slow)
    net.task("stop", lambda flow: flow.halt("enough"))
    net.task("ready", lambda: "never")
    net.task("after", lambda: "never", depends_on=["stop"])
    net.task("later", lambda: "never", depends_on=["running"])
    run = net.start("x")
    while run.state.tasks.get("ready") is None or run.state.tasks["ready"].status != "halted":
        time.sleep(0.005)
    gate.set()
    result = run.result(20)
    assert (result.status, result.halted, result.value) == ("completed", True, "enough")
    assert result["running"].value == "kept"
    assert {n: t.status for n, t in result.state.tasks.items()} == {
        "running": "completed", "stop": "completed", "ready": "halted", "after": "halted",
        "later": "halted",
    }  # fmt: skip
    assert {t.reason for t in result.state.tasks.values() if t.status == "halted"} == {
        "the network was halted"
    }
    assert RunState.fold(result.events) == result.state


def test_what_waits_for_a_slot_does_not_start_after_a_halt():
    net = rl.create_network("n", max_concurrent_robots=1)
    for n in range(5):
        net.task(f"r{n}", says("x", delay=0.05))
    net.task("stop", lambda flow: flow.halt())
    result = net.run("x")
    statuses = [t.status for t in result.state.tasks.values()]
    assert statuses.count("halted") >= 3
    assert set(statuses) == {"completed", "halted"}


def test_the_first_to_halt_gives_the_answer():
    net = rl.create_network("n")
    net.task("one", lambda: rl.FlowResult("one", halted=True))
    net.task("two", lambda: (time.sleep(0.1), rl.FlowResult("two", halted=True))[1])
    result = net.run("x")
    assert (result.value, result.text, result["two"].value) == ("one", "one", "two")


def test_a_failure_policy_that_stops_turns_ready_tasks_away():
    def fail():
        raise ValueError("broken")

    net = rl.create_network("n", concurrency=1)
    net.task("a", fail, on_failure="stop")
    net.task("b", says("never"))
    result = net.run("x")
    assert [t.status for t in result.state.tasks.values()] == ["failed", "halted"]


# -- the value itself ------------------------------------------------------------------------

names = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4)


@given(names, names, st.booleans())
def test_each_method_gives_a_new_flow_and_leaves_the_old_one(first, second, halts):
    flow = rl.FlowResult("v", activated_steps=first)
    before = (flow.value, dict(flow.context), dict(flow.errors), flow.activated_steps, flow.halted)
    changed = flow.activate(*second).with_context("k", 1).with_error("e", "x")
    changed = changed.halt() if halts else changed.continue_with(2)
    assert before == ("v", {}, {}, tuple(dict.fromkeys(first)), False)
    assert (flow.value, flow.activated_steps, flow.halted) == (before[0], before[3], before[4])
    assert changed.activated_steps == tuple(dict.fromkeys([*first, *second]))
    assert (changed.halted, changed.continue_) == (halts, not halts)
    assert changed.value == ("v" if halts else 2)


def test_a_flow_cannot_be_changed():
    flow = rl.FlowResult(1, context={"a": 1})
    with pytest.raises(AttributeError):
        flow.value = 2
    with pytest.raises(TypeError):
        flow.context["a"] = 2
    assert flow == rl.FlowResult(1, context={"a": 1})
    assert flow != 1


def test_only_names_can_be_activated():
    with pytest.raises(rl.InputError, match="takes names of optional tasks, not 3"):
        rl.FlowResult().activate(3)
