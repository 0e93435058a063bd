"""Compiling and stepping: faults are named, and stepping agrees with a reference executor."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.network.graph import Node, compile_graph
from robotlab_nb.network.stepping import SETTLED, Happening, States, advance


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([Node("a", ("c",)), Node("b", ("a",)), Node("c", ("b",))], "a cycle: a → b → c → a"),
        (
            [Node("a"), Node("b", ("aa",))],
            "'b' depends on 'aa', which is not there. Did you mean 'a'",
        ),
        ([Node("a", ("a",))], "'a' depends on itself"),
        ([Node("a"), Node("a")], "'a' is there twice"),
        ([Node("a", fallback="b"), Node("b", ("a",), optional=True)], "a fallback= and no route="),
        ([Node("a", routes=True, fallback="x"), Node("b", ("a",))], "falls back to 'x'"),
        ([Node("a", routes=True, fallback="b"), Node("b", ("a",))], "which is not optional"),
        ([Node("a", on_failure="blok")], "Did you mean 'block'"),
    ],
)
def test_each_fault_is_named(nodes, told):
    with pytest.raises(rl.GraphError, match=told.replace("(", r"\(")):
        compile_graph(nodes)


def test_all_faults_are_listed_together():
    with pytest.raises(rl.GraphError) as caught:
        compile_graph([Node("a", ("a", "zzz")), Node("a"), Node("b", ("c",)), Node("c", ("b",))])
    told = str(caught.value)
    for part in ("depends on itself", "'zzz'", "there twice", "b → c → b"):
        assert part in told


def run(graph, endings, *, seed=0, routes=None):
    """Drive ``advance`` with tasks that end in random order; starts in order, and all statuses."""
    rng = random.Random(seed)
    states = States.begin(graph)
    running, started = [], []
    change = advance(graph, states, Happening("begin"))
    steps = 0
    while True:
        states.apply(change)
        running += change.start
        started += change.start
        if not running:
            break
        name = running.pop(rng.randrange(len(running)))
        status = endings.get(name, "completed")
        activate = tuple((routes or {}).get(name, ())) if status == "completed" else ()
        change = advance(graph, states, Happening("ended", name, status, activate))
        steps += 1
        assert steps <= len(graph.nodes)
    assert change.done
    return started, dict(states.status)


@st.composite
def networks(draw):
    count = draw(st.integers(1, 12))
    names = [f"t{i}" for i in range(count)]
    nodes, endings, routes = [], {}, {}
    for i, name in enumerate(names):
        deps = (
            tuple(draw(st.lists(st.sampled_from(names[:i]), unique=True, max_size=3))) if i else ()
        )
        optional = draw(st.booleans()) and i > 0
        router = draw(st.booleans())
        policy = draw(st.sampled_from(["block", "continue"]))
        nodes.append(Node(name, deps, optional=optional, routes=router, on_failure=policy))
        endings[name] = draw(st.sampled_from(["completed", "completed", "failed"]))
    graph = compile_graph(nodes)
    for node in nodes:
        if node.routes:
            mine = graph.may_activate[node.name]
            if mine:
                routes[node.name] = draw(st.lists(st.sampled_from(mine), unique=True))
    return graph, endings, routes


def reference(graph, endings, routes):
    """What each task's status must be, worked out in topological order with no scheduling."""
    status: dict[str, str] = {}
    activated: set[str] = set()
    names = list(graph.nodes)
    while len(status) < len(names):
        before = len(status)
        for name in names:
            node = graph.nodes[name]
            if name in status or any(d not in status for d in node.depends_on):
                continue
            undecided = node.optional and any(r not in status for r in graph.activators[name])
            if undecided and name not in activated:
                continue
            told = [status[d] for d in node.depends_on]
            blocks = any(
                s == "blocked" or (s == "failed" and graph.nodes[d].on_failure == "block")
                for d, s in zip(node.depends_on, told, strict=True)
            )
            if blocks:
                status[name] = "blocked"
            elif (told and all(s == "skipped" for s in told)) or (
                node.optional and name not in activated
            ):
                status[name] = "skipped"
            else:
                status[name] = endings[name]
                if endings[name] == "completed":
                    activated.update(routes.get(name, ()))
        assert len(status) > before, "the reference is stuck"
    return status


@settings(max_examples=300, deadline=None)
@given(networks(), st.integers(0, 10**6))
def test_random_graphs_end_as_the_reference_says_in_any_order(made, seed):
    graph, endings, routes = made
    started, status = run(graph, endings, seed=seed, routes=routes)
    assert status == reference(graph, endings, routes)
    ran = {n for n, s in status.items() if s in ("completed", "failed")}
    assert sorted(started) == sorted(ran)


@settings(max_examples=100, deadline=None)
@given(networks(), st.integers(0, 10**6))
def test_every_task_starts_after_its_dependencies(made, seed):
    graph, endings, routes = made
    started, status = run(graph, endings, seed=seed, routes=routes)
    place = {n: i for i, n in enumerate(started)}
    for name in started:
        for dep in graph.nodes[name].depends_on:
            assert dep not in place or place[dep] < place[name]
            assert status[dep] in SETTLED


def test_advance_changes_nothing_that_it_is_given():
    graph = compile_graph([Node("a"), Node("b", ("a",))])
    states = States.begin(graph)
    before = (dict(states.status), dict(states.waiting), set(states.activated), states.left)
    advance(graph, states, Happening("begin"))
    assert before == (states.status, states.waiting, states.activated, states.left)


def test_nothing_new_starts_after_a_halt_and_what_runs_may_end():
    graph = compile_graph([Node("a"), Node("b"), Node("c", ("a",)), Node("d", ("b",))])
    states = States.begin(graph)
    states.apply(advance(graph, states, Happening("begin")))
    change = advance(graph, states, Happening("halt"))
    assert change.settled == (
        ("c", "halted", "the network was halted"), ("d", "halted", "the network was halted"),
    )  # fmt: skip
    states.apply(change)
    for name in ("a", "b"):
        change = advance(graph, states, Happening("ended", name, "completed"))
        assert change.start == ()
        states.apply(change)
    assert change.done


def test_on_failure_stop_halts_the_rest():
    graph = compile_graph([Node("a", on_failure="stop"), Node("b"), Node("c", ("b",))])
    _, status = run(graph, {"a": "failed"}, seed=1)
    assert status["a"] == "failed"
    assert status["c"] in ("halted", "completed")


def test_a_join_waits_for_the_activated_branch_and_is_skipped_when_there_is_none():
    nodes = [
        Node("sort", routes=True),
        Node("x", ("sort",), optional=True),
        Node("y", ("sort",), optional=True),
        Node("join", ("x", "y")),
    ]
    graph = compile_graph(nodes)
    started, status = run(graph, {}, routes={"sort": ["y"]})
    assert started == ["sort", "y", "join"]
    assert status["x"] == "skipped"
    _, status = run(graph, {}, routes={})
    assert status == {"sort": "completed", "x": "skipped", "y": "skipped", "join": "skipped"}


def test_a_chain_of_five_thousand_and_a_fan_of_ten_thousand_step_without_recursion():
    chain = [Node("t0")] + [Node(f"t{i}", (f"t{i - 1}",)) for i in range(1, 5000)]
    _, status = run(compile_graph(chain), {"t0": "failed"})
    assert set(list(status.values())[1:]) == {"blocked"}
    fan = [Node(f"t{i}") for i in range(10_000)] + [
        Node("all", tuple(f"t{i}" for i in range(10_000)))
    ]
    started, _ = run(compile_graph(fan), {})
    assert started[-1] == "all"
    assert len(started) == 10_001
