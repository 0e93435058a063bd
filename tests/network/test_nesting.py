"""Networks inside networks: results, places, settings, budgets and faults."""

from __future__ import annotations

import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel


def says(answer, name="robot", **more):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer, **more))


def echo(name="echo"):
    return rl.build(name, model=rl.SimulatedModel(lambda request: request.messages[-1].text))


def pair(name="inner", first=None, second=None):
    net = rl.create_network(name)
    net.task("one", first or echo(), prompt="one of {{ message }}")
    net.task("two", second or echo(), depends_on=["one"], prompt="two of {{ upstream }}")
    return net


def test_a_network_does_a_task_and_its_result_is_a_networks_result():
    net = rl.create_network("outer")
    net.task("first", says("start"))
    net.task("inside", pair(), depends_on=["first"], prompt="inner {{ upstream }}")
    net.task("last", echo(), depends_on=["inside"])
    result = net.run("x")
    inside = result["inside"]
    assert isinstance(inside, rl.NetworkResult)
    assert inside["one"].text == "one of inner start"
    assert inside.text == "two of one of inner start" == result["last"].text
    assert inside.state is result.state.children[inside.run_id]
    assert result.state.tasks["inside"].child_run_id == inside.run_id
    paths = {e.scope.path for e in result.events}
    assert ("outer", "inside", "two") in paths
    assert RunState.fold(result.events) == result.state
    assert [e.scope.path[:2] for e in inside.events] == [("outer", "inside")] * len(inside.events)


def test_the_only_end_gives_its_value_through_all_networks():
    inner = rl.create_network("inner")
    inner.task("make", lambda: {"deep": 1})
    middle = rl.create_network("middle")
    middle.task("inner", inner)
    outer = rl.create_network("outer")
    outer.task("middle", middle)
    assert outer.run("x").value == {"deep": 1}


def test_one_network_may_do_several_tasks_at_once():
    inner = pair()
    net = rl.create_network("outer")
    for n in range(5):
        net.task(f"t{n}", inner, prompt=f"{n}")
    result = net.run("x")
    assert [r.text for r in result.values()] == [f"two of one of {n}" for n in range(5)]


def test_tables_tell_of_tasks_at_every_depth():
    net = rl.create_network("outer")
    net.task("inside", pair())
    frames = net.run("x").frames
    assert list(frames.tasks["path"]) == [
        '["outer", "inside"]', '["outer", "inside", "one"]', '["outer", "inside", "two"]',
    ]  # fmt: skip
    outer, *inside = frames.tasks["tokens"]
    assert outer == sum(inside)
    assert list(frames.runs["kind"]) == ["network", "network", "robot", "robot"]
    assert list(frames.runs["task"].fillna("")) == ["", "inside", "one", "two"]


def test_a_failure_inside_fails_that_task_and_keeps_what_was_done():
    net = rl.create_network("outer")
    net.task("inside", pair(second=rl.build("r", model=ScriptedModel([rl.ModelError("down")]))))
    net.task("after", echo(), depends_on=["inside"])
    net.task("independent", says("kept"))
    result = net.run("x")
    assert result.status == "failed"
    assert "network 'inner' failed: two: down" in result.errors["inside"]["message"]
    assert result["inside"].status == "failed"
    assert result["inside"]["one"].text == "one of x"
    assert result.state.tasks["after"].status == "blocked"
    assert result["independent"].text == "kept"


def test_a_halt_inside_ends_the_inner_network_alone():
    inner = rl.create_network("inner", concurrency=1)
    inner.task("stop", lambda flow: flow.halt("enough"))
    inner.task("never", says("never"))
    net = rl.create_network("outer")
    net.task("inside", inner)
    net.task("after", echo(), depends_on=["inside"])
    result = net.run("x")
    assert (result.status, result.halted, result.text) == ("completed", False, "enough")
    assert result["inside"].halted


def test_settings_of_the_outer_network_are_weaker_than_the_inner_ones():
    model = ScriptedModel(["x", "y"])
    inner = pair(first=rl.build("r", model=model), second=rl.build("s", model=model, seed=3))
    inner = rl.create_network("inner", tasks=list(inner.tasks.values()), temperature=0.2, seed=2)
    net = rl.create_network("outer", temperature=0.9, max_tokens=9, seed=1)
    net.task("inside", inner)
    assert net.run("x").status == "completed"
    assert [r.params for r in model.requests] == [
        {"temperature": 0.2, "max_tokens": 9, "seed": 2},
        {"temperature": 0.2, "max_tokens": 9, "seed": 3},
    ]


def test_budgets_of_the_outer_network_hold_inside():
    def reply(request):
        return Reply.text("ok", usage={"prompt_tokens": 10, "completion_tokens": 10})

    with ModelServer(script=reply) as server:
        bot = rl.build("r", model=server.model("m"))
        net = rl.create_network("outer", call_budget=3)
        for n in range(3):
            net.task(f"t{n}", pair(f"inner{n}", bot, bot), depends_on=[f"t{n - 1}"] if n else [])
        result = net.run("x")
        assert len(server.requests) == 3
    assert result.status == "failed"
    assert result.state.tasks["t0"].status == "completed"
    assert net.budgets[0].used.calls == 3


def test_the_inner_network_uses_the_outer_memory_unless_it_was_given_one():
    def write(memory):
        memory.append("k", 1)

    shared = rl.create_network("shared")
    shared.task("write", write)
    own = rl.create_network("own", memory={"own": True})
    own.task("write", write)
    net = rl.create_network("outer")
    net.task("a", shared)
    net.task("b", own)
    assert net.run("x").status == "completed"
    assert net.memory["k"] == [1]
    assert own.memory["k"] == [1]
    assert shared.memory.get("k") is None


# -- faults ----------------------------------------------------------------------------------


def test_a_network_that_contains_itself_is_refused_with_the_way_round():
    model = ScriptedModel(["never"])
    a, b, c = (rl.create_network(name) for name in "abc")
    a.task("b", b)
    a.task("robot", rl.build("r", model=model))
    b.task("c", c)
    c.task("a", a)
    for net, way in ((a, "a → b → c → a"), (b, "b → c → a → b")):
        with pytest.raises(rl.GraphError, match=f"a network contains itself: {way}"):
            net.run("x")
    own = rl.create_network("own")
    own.task("own", own)
    with pytest.raises(rl.GraphError, match="own → own"):
        own.validate()
    outside = rl.create_network("outside")
    outside.task("a", a)
    with pytest.raises(rl.GraphError, match="a → b → c → a"):
        outside.validate()
    assert model.requests == []


def test_a_circle_that_is_closed_later_is_found_as_well():
    a, b = rl.create_network("a"), rl.create_network("b")
    a.task("b", b)
    b.task("f", lambda: 0)
    assert a.run("x").status == "completed"
    b.task("a", a)
    with pytest.raises(rl.GraphError, match="a → b → a"):
        a.run("x")


def test_a_network_in_two_places_is_no_circle():
    shared = rl.create_network("shared")
    shared.task("f", lambda message: message)
    left, right = rl.create_network("left"), rl.create_network("right")
    left.task("s", shared)
    right.task("s", shared)
    net = rl.create_network("n")
    net.task("l", left)
    net.task("r", right)
    assert net.run("x").status == "completed"


def test_faults_inside_are_found_before_anything_runs():
    model = ScriptedModel(["never"])
    inner = rl.create_network("inner")
    inner.task("a", lambda: 0, depends_on=["zzz"])
    net = rl.create_network("outer")
    net.task("robot", rl.build("r", model=model))
    net.task("inside", inner)
    with pytest.raises(rl.GraphError, match="task 'inside': network 'inner' cannot run: .*'zzz'"):
        net.run("x")
    inner.task("b", lambda: 0)
    assert model.requests == []


def test_a_missing_key_inside_is_found_before_the_first_request(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    inner = rl.create_network("inner")
    inner.task("paid", rl.build("paid", model="openai/gpt-5-mini"))
    net = rl.create_network("outer")
    net.task("inside", inner)
    with pytest.raises(rl.ConfigurationError, match="task 'inside/paid': .*OPENAI_API_KEY"):
        net.run("x")


def test_stop_reaches_every_depth():
    inner = pair(first=says("x", delay=60))
    net = rl.create_network("outer")
    net.task("inside", inner)
    run = net.start("x")
    while sum(s.status == "running" for s in run.state.walk()) < 3:
        time.sleep(0.005)
    run.stop()
    assert {s.status for s in run.state.walk()} == {"interrupted"}
    assert all(t.status == "interrupted" for s in run.state.walk() for t in s.tasks.values())


def test_drawings_tell_of_networks_people_and_groups():
    net = rl.create_network("outer")
    net.task("first", echo())
    with net.parallel("both", depends_on=["first"]):
        net.task("inside", pair())
        net.task("ann", rl.Human("Ann"))
    net.task("last", echo(), depends_on=["both"])
    for drawn in (net.visualize(), net.execution_plan()):
        assert "inside (network of 2 tasks, in both)" in drawn
        assert "ann (human, in both)" in drawn
        assert "last" in drawn
    assert '[["inside"]]' in net.to_mermaid()
    assert 'subgraph g1 ["both"]' in net.to_mermaid()
    assert 'label="both"' in net.to_dot()
    assert 'label="inside", peripheries=2' in net.to_dot()
    svg = net.to_svg()
    assert all(name in svg for name in ("inside", "ann", "last"))
