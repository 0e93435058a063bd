"""Networks of robots and functions: order, data flow, routes, failures, halts, stopping."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel


def says(answer, name="robot", **more):
    """A robot that gives one answer, or what a function of the request says."""
    model = rl.SimulatedModel(answer if callable(answer) else lambda request: answer, **more)
    return rl.build(name, model=model)


def wait_for(run, task, status):
    while task not in run.state.tasks or run.state.tasks[task].status != status:
        time.sleep(0.005)


def echo(name="echo"):
    return says(lambda request: request.messages[-1].text, name)


def support(label="billing"):
    net = rl.create_network("support")
    net.task(
        "classify",
        says(label, "classifier"),
        route=lambda r: r.text.strip().lower(),
        fallback="general",
    )
    net.task("billing", says("refunded", "billing"), optional=True, depends_on=["classify"])
    net.task("general", says("let me see", "general"), optional=True, depends_on=["classify"])
    net.task(
        "reply",
        echo(),
        depends_on=["billing", "general"],
        prompt="Answer {{ message }} using {{ upstream }}",
    )
    return net


# -- what flows where ------------------------------------------------------------------------


def test_a_routed_network_runs_what_was_chosen_and_joins_over_it():
    answer = support().run("I was charged twice", context={"customer_id": 7})
    assert answer.status == "completed"
    assert answer.text == str(answer) == "Answer I was charged twice using refunded"
    assert list(answer) == ["classify", "billing", "reply"]
    assert answer.activated_steps == ("billing",)
    assert answer.state.tasks["general"].status == "skipped"
    with pytest.raises(rl.TaskNotRun, match="skipped: route not taken"):
        answer["general"]
    assert answer.get("general") is None
    with pytest.raises(KeyError, match="Did you mean 'general'"):
        answer["genral"]
    with pytest.raises(KeyError, match="Did you mean 'general'"):
        answer.get("genral")
    assert RunState.fold(answer.events) == answer.state


def test_a_route_that_nobody_knows_goes_to_the_fallback_or_fails_that_task():
    assert support("nonsense").run("x").activated_steps == ("general",)
    net = rl.create_network("n")
    net.task("sort", says("nonsense"), route=lambda r: r.text)
    net.task("a", echo(), optional=True, depends_on=["sort"])
    net.task("b", says("fine"))
    result = net.run("x")
    assert result.status == "failed"
    assert "routes to 'nonsense'" in result.errors["sort"]["message"]
    assert "'a'" in result.errors["sort"]["hint"]
    assert result["b"].text == "fine"


def test_one_robot_in_many_tasks_mixes_no_histories():
    seen = []

    def answer(request):
        seen.append([m.text for m in request.messages])
        return f"got {request.messages[-1].text}"

    shared = rl.build(
        "shared", system_prompt="Be brief.", model=rl.SimulatedModel(answer, delay=0.01)
    )
    net = rl.create_network("n")
    for n in range(8):
        net.task(f"t{n}", shared, prompt=f"part {n} of {{{{ message }}}}")
    result = net.run("all")
    assert sorted(r.text for r in result.values()) == [f"got part {n} of all" for n in range(8)]
    assert all(len(texts) == 2 for texts in seen)
    assert shared.messages == (shared.messages[0],)


def test_prompts_see_message_upstream_and_context():
    net = rl.create_network("n")
    net.task("one", says("first"))
    net.task("two", says("second"))
    net.task("both", echo(), depends_on=["one", "two"])
    picked = "{{ upstream.two }} for {{ who }} about {{ message }}; {{ upstream['one'].text }}"
    net.task("picked", echo(), depends_on=["one", "two"], prompt=picked)
    net.task("root", echo())
    result = net.run("it", context={"who": "Ada"})
    assert result["both"].text == "one:\nfirst\n\ntwo:\nsecond"
    assert result["picked"].text == "second for Ada about it; first"
    assert result["root"].text == "it"
    both = "one:\nfirst\n\ntwo:\nsecond"
    assert result.text == f"both:\n{both}\n\npicked:\n{result['picked']}\n\nroot:\nit"


def test_a_missing_name_in_a_prompt_fails_that_task_and_names_the_near_one():
    net = rl.create_network("n")
    net.task("a", echo(), prompt="{{ mesage }}")
    result = net.run("x")
    assert "'mesage' is undefined" in result.errors["a"]["message"]
    assert "Did you mean 'message'" in result.errors["a"]["hint"]


def test_prompts_are_sandboxed():
    net = rl.create_network("n")
    net.task("a", echo(), prompt="{{ message.__class__.__mro__ }}")
    assert net.run("x").status == "failed"


def test_functions_take_what_they_name_and_give_live_values():
    frame = object()

    async def later(message, upstream):
        await asyncio.sleep(0)
        return upstream["make"].value

    net = rl.create_network("n")
    net.task("make", lambda: frame)
    net.task("pass", later, depends_on=["make"])
    net.task("ctx", lambda context, **rest: (context["k"], sorted(rest)))
    result = net.run("x", context={"k": 1})
    assert result["pass"].value is frame
    assert result["ctx"].value == (1, ["message", "upstream"])
    assert result.live_values["make"] is frame


def test_a_condition_decides_and_must_be_a_truth_value():
    net = rl.create_network("n")
    net.task("a", says("yes"))
    net.task("b", says("ran"), depends_on=["a"], when=lambda upstream: upstream.a.text == "yes")
    net.task("c", says("ran"), depends_on=["a"], when=lambda upstream: upstream.a.text == "no")
    net.task("after", echo(), depends_on=["b", "c"])
    result = net.run("x")
    assert {n: t.status for n, t in result.state.tasks.items()} == {
        "a": "completed", "b": "completed", "c": "skipped", "after": "completed",
    }  # fmt: skip
    assert result.state.tasks["c"].reason == "its condition is false"
    wrong = rl.create_network("n")
    wrong.task("a", says("x"), when=lambda: "maybe")
    assert "when= returned 'maybe'" in wrong.run("x").errors["a"]["message"]


def test_all_optional_and_none_chosen_ends_completed():
    net = rl.create_network("n")
    net.task("a", echo(), optional=True)
    net.task("b", echo(), optional=True, depends_on=["a"])
    result = net.run("x")
    assert result.status == "completed"
    assert {t.status for t in result.state.tasks.values()} == {"skipped"}
    assert result.value is None
    assert result.text == ""


# -- refusals --------------------------------------------------------------------------------


def bad_networks(server):
    def robot():
        return rl.build("r", model=server.model("m"))

    cycle = rl.create_network("cycle")
    cycle.task("a", robot(), depends_on=["b"])
    cycle.task("b", robot(), depends_on=["a"])
    yield cycle, "a → b → a"
    unknown = rl.create_network("unknown")
    unknown.task("draft", robot())
    unknown.task("b", robot(), depends_on=["drafd"])
    yield unknown, "Did you mean 'draft'"
    own = rl.create_network("own")
    own.task("a", robot(), depends_on=["a"])
    yield own, "depends on itself"
    syntax = rl.create_network("syntax")
    syntax.task("a", robot(), prompt="{{ message")
    yield syntax, "no valid Jinja"
    asks = rl.create_network("asks")
    asks.task("a", lambda mesage: 1)
    asks.task("b", robot())
    yield asks, "asks for 'mesage'"
    yield rl.create_network("empty"), "it has no tasks"


def test_invalid_graph_zero_requests():
    """A bad network is refused before anything is asked or run, every fault named."""
    with ModelServer([]) as server:
        for net, told in bad_networks(server):
            for ask in (
                net.run,
                net.start,
                net.stream,
                lambda m, net=net: asyncio.run(net.arun(m)),
            ):
                with pytest.raises(rl.GraphError, match=told.replace("(", r"\(")):
                    ask("x")
            with pytest.raises(rl.GraphError):
                net.visualize()
        assert server.requests == []


def test_duplicates_are_refused_in_a_list_and_replace_loudly_in_a_notebook():
    task = rl.Task("a", echo())
    with pytest.raises(rl.GraphError, match="'a' is there twice"):
        rl.create_network("n", tasks=[task, rl.Task("a", echo())])
    net = rl.create_network("n", tasks=[task])
    with pytest.warns(UserWarning, match="task 'a' was there and is replaced"):
        net.task("a", says("new"))
    assert net.run("x").text == "new"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda n: n.task("a", echo(), depends_on="none"), "depends_on=[]"),
        (lambda n: n.task("a", echo(), depends_on="optional"), "optional=True"),
        (lambda n: n.task("a", echo(), depends_on="b"), "depends_on=['b']"),
        (lambda n: n.task("", echo()), "a task's name"),
        (lambda n: n.task("a", 3), "done by a robot or a function"),
        (lambda n: n.task("a", echo(), on_failure="blok"), "Did you mean 'block'"),
        (lambda n: n.task("a", echo(), dependson=[]), "Did you mean 'depends_on'"),
        (lambda n: rl.create_network("n", concurrency="threads"), "one scheduler"),
        (lambda n: rl.create_network("n", concurrency=0), "whole number from 1"),
        (lambda n: n.run("  "), "given nothing to work on"),
    ],
)
def test_bad_declarations_say_what_is_wrong(make, told):
    net = rl.create_network("n")
    net.task("ok", echo())
    with pytest.raises(rl.RobotLabError) as caught:
        make(net)
    assert told in str(caught.value)


def test_a_missing_key_is_found_before_the_first_request(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = ScriptedModel(["never"])
    net = rl.create_network("n")
    net.task("free", rl.build("free", model=model))
    net.task("paid", rl.build("paid", model="openai/gpt-5-mini"))
    with pytest.raises(rl.ConfigurationError, match="task 'paid': .*OPENAI_API_KEY"):
        net.run("x")
    assert model.requests == []


# -- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "way"),
    list(itertools.product(["block", "continue", "stop"], ["robot", "function", "tool"])),
)
def test_partial_failure_matrix(policy, way):
    """One failure never discards independent results, whatever failed and whatever the policy."""

    def fail(message: str = "") -> str:
        """Fail."""
        raise ValueError("broken")

    broken = {
        "robot": rl.build("r", model=ScriptedModel([rl.ModelError("broken")])),
        "function": lambda: fail(),
        "tool": rl.build("r", tools=[fail], config={"raise_on_error": True},
                         model=ScriptedModel([ScriptedModel.tool_call("fail", {})])),
    }[way]  # fmt: skip
    gate = threading.Event()

    def slow():
        assert gate.wait(10)
        return "kept"

    net = rl.create_network("n")
    net.task("broken", broken, on_failure=policy)
    net.task("independent", slow)
    net.task("dependent", lambda upstream: f"without: {list(upstream)}", depends_on=["broken"])
    net.task("later", lambda upstream: upstream.independent.value, depends_on=["independent"])
    run = net.start("x")
    wait_for(run, "broken", "failed")
    gate.set()
    result = run.result(20)
    status = {n: t.status for n, t in result.state.tasks.items()}
    assert status["broken"] == "failed"
    assert result["independent"].value == "kept"
    assert "broken" in result.errors["broken"]["message"]
    assert result["broken"].status == "failed"
    expected = {
        "block": ("blocked", "completed", "failed"),
        "continue": ("completed", "completed", "completed"),
        "stop": ("halted", "halted", "failed"),
    }[policy]
    assert (status["dependent"], status["later"], result.status) == expected
    if policy == "continue":
        assert result["dependent"].value == "without: []"
    else:
        with pytest.raises(rl.NetworkFailed, match="broken"):
            _ = result.text
        with pytest.raises(rl.NetworkFailed):
            result.raise_for_errors()


def test_independent_work_over_http_survives_a_failure():
    with ModelServer(
        script=lambda request: (
            Reply.error(400) if request.messages[-1]["content"] == "bad" else "fine"
        )
    ) as server:
        net = rl.create_network("n")
        net.task("bad", rl.build("r", model=server.model("m")), prompt="bad")
        net.task(
            "good",
            rl.build(
                "r",
                model=server.model("m"),
            ),
            prompt="good",
        )
        net.task("after", rl.build("r", model=server.model("m")), depends_on=["bad"])
        result = net.run("x")
        assert len(server.requests) == 2
    assert result["good"].text == "fine"
    assert result.state.tasks["after"].status == "blocked"
    assert result.state.tasks["after"].reason == "needs bad"
    assert result["bad"].state.error["status"] == 400


# -- time ------------------------------------------------------------------------------------


def test_each_task_starts_when_its_own_dependencies_are_done():
    order = []

    def step(name, seconds):
        def work():
            time.sleep(seconds)
            order.append(name)

        return work

    net = rl.create_network("n")
    net.task("fast", step("fast", 0))
    net.task("slow", step("slow", 0.4))
    net.task("after_fast", step("after_fast", 0), depends_on=["fast"])
    net.task("last", step("last", 0), depends_on=["after_fast"])
    net.run("x")
    assert order == ["fast", "after_fast", "last", "slow"]


def test_no_more_tasks_than_allowed_run_at_once():
    running, most, lock = 0, 0, threading.Lock()

    def work():
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    net = rl.create_network("n", concurrency=3)
    for n in range(20):
        net.task(f"t{n}", work)
    assert net.run("x").status == "completed"
    assert most == 3
    net.run("x", concurrency=1)


def test_a_chain_of_a_thousand_tasks_runs():
    net = rl.create_network("chain")
    net.task("t0", lambda: 0)
    for n in range(1, 1000):
        net.task(
            f"t{n}",
            lambda upstream: next(iter(upstream.values())).value + 1,
            depends_on=[f"t{n - 1}"],
        )
    assert net.run("x").value == 999


def test_stop_ends_everything_that_runs_and_keeps_what_was_done():
    net = rl.create_network("n")
    net.task("done", says("kept"))
    net.task("slow", says("never", delay=60), depends_on=["done"])
    net.task("after", echo(), depends_on=["slow"])
    run = net.start("x")
    wait_for(run, "slow", "running")
    time.sleep(0.05)
    run.stop()
    assert run.status == "interrupted"
    with pytest.raises(rl.RunInterrupted) as caught:
        run.result()
    state = caught.value.run.state
    assert [t.status for t in state.tasks.values()] == ["completed", "interrupted", "interrupted"]
    assert {c.status for c in state.children.values()} == {"completed", "interrupted"}
    assert RunState.fold(run.events) == state


def test_a_person_who_stops_inside_a_function_stops_the_network():
    def stop():
        raise KeyboardInterrupt

    net = rl.create_network("n")
    net.task("a", stop)
    net.task("b", says("x", delay=60))
    with pytest.raises(KeyboardInterrupt):
        net.run("x")


# -- the record ------------------------------------------------------------------------------


def test_costs_by_task_add_up_to_the_run():
    def reply(request):
        return Reply.text("ok", usage={"prompt_tokens": 10, "completion_tokens": 3})

    with ModelServer(script=reply) as server:
        net = rl.create_network("n")
        for n in range(5):
            deps = [f"t{n - 1}"] if n else []
            net.task(f"t{n}", rl.build("r", model=server.model("gpt-4o-mini")), depends_on=deps)
        result = net.run("x")
    frames = result.frames
    assert frames.tasks["cost_usd"].sum() == pytest.approx(result.cost, abs=0)
    assert frames.tasks["tokens"].sum() == result.usage.total_tokens == 65
    robots = frames.runs[frames.runs["kind"] == "robot"]
    assert list(robots["task"]) == [f"t{n}" for n in range(5)]
    assert robots["cost_usd"].sum() == result.cost
    assert set(frames.tasks["child_run_id"]) == set(robots["run_id"])
    assert list(frames.tasks["status"]) == ["completed"] * 5


def test_events_stream_from_a_network():
    items = list(support().stream("x"))
    types = [i.type for i in items if isinstance(i, rl.Event)]
    assert types[0] == "run.started"
    assert types[-1] == "run.completed"
    assert types.count("task.completed") == 3
    texts = {i.scope.path: i.text for i in items if isinstance(i, rl.Delta)}
    assert texts[("support", "billing")] == "refunded"


def test_a_network_run_by_a_robots_tool_is_its_child():
    net = support()

    def ask_support(question: str) -> str:
        """Ask the support network."""
        return net.run(question).text

    model = ScriptedModel([ScriptedModel.tool_call("ask_support", {"question": "help"}), "done"])
    result = rl.build("front", model=model, tools=[ask_support]).run("go")
    paths = {e.scope.path for e in result.events}
    assert ("front", "support", "billing") in paths
    assert result.usage.calls == 5


def test_settings_of_network_and_task_stand_around_the_robots_own():
    model = ScriptedModel(["x"])
    bot = rl.build("r", model=model, max_tokens=5)
    net = rl.create_network("n", config={"temperature": 0.1, "max_tokens": 1, "seed": 1})
    net.task("a", bot, config={"seed": 2}, tools=[])
    result = net.run("x")
    assert model.requests[0].params == {"temperature": 0.1, "max_tokens": 5, "seed": 2}
    told = result["a"].state.info["config"]
    origins = [told[name]["origin"] for name in ("temperature", "max_tokens", "seed")]
    assert origins == ["network", "robot", "task"]


def test_diagrams_name_every_task():
    net = support()
    for drawn in (net.visualize(), net.execution_plan(), net.to_mermaid(), net.to_dot()):
        for name in net.tasks:
            assert name in drawn
    assert net["billing"].name == "billing"
    assert set(net.robots) == set(net.tasks)
    with pytest.raises(KeyError, match="Did you mean 'billing'"):
        net["biling"]


def test_a_tool_for_the_callers_loop_is_refused_in_a_blocking_network():
    @rl.tool(loop="caller")
    async def where() -> str:
        """Where?"""
        return "here"

    model = ScriptedModel([ScriptedModel.tool_call("where", {}), "ok"])
    net = rl.create_network("n")
    net.task("a", rl.build("r", model=model, tools=[where]))
    with pytest.raises(rl.ConfigurationError, match="task 'a'.*caller's loop"):
        net.run("x")

    async def main():
        return await net.arun("x")

    assert asyncio.run(main())["a"].tool_calls[0].result == "here"


def test_a_network_is_saved_as_a_picture(tmp_path):
    net = support()
    assert "<svg" in net.save(tmp_path / "n.svg").read_text("utf-8")
    assert net.save(tmp_path / "n.dot").read_text("utf-8").startswith("digraph")
    assert "graph TD" in net.save(tmp_path / "n.mmd").read_text("utf-8")
    with pytest.raises(rl.ConfigurationError, match="svg"):
        net.save(tmp_path / "n.jpeg")
