"""Whole networks against a slow reference executor, under load, and stopped at any moment."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.runtime.loop import engine_loop
from robotlab_nb.testing import ModelServer, Reply


@dataclass
class Plan:
    """A task, and what it will do."""

    name: str
    deps: tuple[str, ...]
    optional: bool
    routes: bool
    condition: bool | None
    policy: str
    failures: int
    retries: int
    halts: bool
    activates: tuple[str, ...] = ()


@st.composite
def plans(draw, *, halting):
    names = [f"t{i}" for i in range(draw(st.integers(1, 9)))]
    found = []
    for i, name in enumerate(names):
        before = st.lists(st.sampled_from(names[:i]), unique=True, max_size=3) if i else st.just([])
        found.append(
            Plan(
                name,
                tuple(draw(before)),
                optional=i > 0 and draw(st.booleans()),
                routes=draw(st.booleans()),
                condition=draw(st.sampled_from([None, None, None, True, False])),
                policy=draw(st.sampled_from(["block", "continue", *(["stop"] * halting)])),
                failures=draw(st.sampled_from([0, 0, 0, 1, 2])),
                retries=draw(st.sampled_from([0, 0, 1, 2])),
                halts=halting and draw(st.integers(0, 5)) == 0,
            )
        )
    graph = network(found, []).graph
    for plan in found:
        mine = graph.may_activate.get(plan.name)
        if mine:
            plan.activates = tuple(draw(st.lists(st.sampled_from(mine), unique=True)))
    return found


def network(plans, ran, *, rng=None, **more):
    """The network of some plans; with random numbers, each task takes a while."""
    net = rl.create_network("n", **more)
    for plan in plans:
        net.task(
            plan.name,
            doing(plan, ran, rng.random() * 0.003 if rng else 0),
            depends_on=plan.deps,
            optional=plan.optional,
            route=(lambda result, plan=plan: plan.activates) if plan.routes else None,
            when=None if plan.condition is None else (lambda plan=plan: plan.condition),
            on_failure=plan.policy,
            retries=plan.retries,
            retry_wait=0,
        )
    return net


def doing(plan, ran, seconds):
    left = [plan.failures]

    async def work():
        await asyncio.sleep(seconds)
        ran.append(plan.name)
        if left[0]:
            left[0] -= 1
            raise ValueError("broken")
        return rl.FlowResult(plan.name, halted=plan.halts)

    return work


def reference(plans, activators):
    """One task after the other, all worked out anew at each step: statuses, and what ran when."""
    place = {plan.name: n for n, plan in enumerate(plans)}
    known = {plan.name: plan for plan in plans}
    status, queue, ran, activated = {}, [], [], set()
    halted = False

    def settled(plan):
        """A status for a task that will not run; "" for one that is ready; None to wait."""
        if halted:
            return "halted"
        if any(dep not in status for dep in plan.deps):
            return None
        told = [(status[dep], known[dep].policy) for dep in plan.deps]
        if any(s in ("blocked", "halted") or (s, p) == ("failed", "block") for s, p in told):
            return "blocked"
        if told and all(s == "skipped" for s, _ in told):
            return "skipped"
        if plan.optional and plan.condition is None and plan.name not in activated:
            undecided = any(router not in status for router in activators[plan.name])
            return None if undecided else "skipped"
        return ""

    while True:
        ready, before = [], -1
        while before != len(status) + len(ready):
            before = len(status) + len(ready)
            for plan in plans:
                if plan.name in status or plan.name in queue or plan.name in ready:
                    continue
                found = settled(plan)
                if found == "":
                    ready.append(plan.name)
                elif found is not None:
                    status[plan.name] = found
        queue += sorted(ready, key=place.get)
        if halted:
            status |= dict.fromkeys(queue, "halted")
            queue = []
        if not queue:
            return status, ran
        plan = known[queue.pop(0)]
        if plan.condition is False:
            status[plan.name] = "skipped"
            continue
        fails = plan.failures > plan.retries
        ran += [plan.name] * (plan.retries + 1 if fails else plan.failures + 1)
        status[plan.name] = "failed" if fails else "completed"
        if fails:
            halted = halted or plan.policy == "stop"
        else:
            activated.update(plan.activates)
            halted = halted or plan.halts


def check(result, plans, expected):
    """What must hold of every run that ended."""
    status = {name: task.status for name, task in result.state.tasks.items()}
    assert status == expected
    fatal = any(expected[p.name] == "failed" and p.policy != "continue" for p in plans)
    assert result.status == ("failed" if fatal else "completed")
    assert set(result) == {n for n, s in expected.items() if s in ("completed", "failed")}
    assert result.halted == any(t.halts for t in result.state.tasks.values())
    assert RunState.fold(result.events) == result.state
    for plan in plans:
        task = result.state.tasks[plan.name]
        if status[plan.name] in ("completed", "failed"):
            assert task.attempts == min(plan.failures, plan.retries) + 1
            assert len(task.retried) == task.attempts - 1
        for dep in plan.deps:
            if task.started_s is not None:
                assert result.state.tasks[dep].status not in ("pending", "running")


@settings(max_examples=150)
@given(plans(halting=True))
def test_one_at_a_time_a_network_does_exactly_what_the_reference_does(made):
    ran = []
    net = network(made, ran, concurrency=1)
    expected, order = reference(made, net.graph.activators)
    check(net.run("x"), made, expected)
    assert ran == order


@settings(max_examples=60)
@given(plans(halting=False), st.integers(0, 10**6), st.sampled_from([1, 3, 32]))
def test_side_by_side_every_task_ends_as_the_reference_says(made, seed, concurrency):
    ran = []
    net = network(made, ran, rng=random.Random(seed), concurrency=concurrency)
    expected, order = reference(made, net.graph.activators)
    check(net.run("x"), made, expected)
    assert sorted(ran) == sorted(order)


@settings(max_examples=40)
@given(plans(halting=True), st.integers(0, 10**6))
def test_under_caps_nothing_is_forgotten_and_nothing_new_starts_after_a_halt(made, seed):
    ran = []
    net = network(made, ran, rng=random.Random(seed), max_concurrent_robots=1)
    result = net.start("x").result(30)
    statuses = {t.status for t in result.state.tasks.values()}
    assert statuses <= {"completed", "failed", "blocked", "skipped", "halted"}
    ended = [e for e in result.events if e.type in ("task.completed", "task.failed")]
    halting = next((e for e in ended if e.data.get("halts")), None)
    if halting is not None:
        over = {e.data["task"]: e.seq for e in ended}
        for event in result.events[halting.seq :]:
            if event.type == "task.started" and event.data.get("attempt", 1) == 1:
                # It had its slot already: what it waited for was over before.
                deps = result.state.tasks[event.data["task"]].depends_on
                assert all(over.get(dep, 0) < halting.seq for dep in deps)


# -- stopping --------------------------------------------------------------------------------


def busy(gate):
    """A network with everything in it that can go on."""

    def look(n: int) -> str:
        """Look."""
        time.sleep(0.002)
        return f"seen {n}"

    calls = [[("look", {"n": n}) for n in range(3)], "done"]
    looking = rl.build("looking", model=rl.SimulatedModel(calls, delay=0.001), tools=[look])

    def ask() -> str:
        """Ask the looking one."""
        return looking.run("look").text

    class Stepping(rl.Robot):
        def call(self, flow):
            return flow.continue_with(self.run(**self.extract_run_context(flow)))

    async def flaky():
        await asyncio.sleep(0.001)
        raise ValueError("again")

    inner = rl.create_network("inner")
    for n in range(3):
        inner.task(f"i{n}", looking, depends_on=[f"i{n - 1}"] if n else [])
    net = rl.create_network("busy", max_concurrent_robots=3, group_caps={"g": 2})
    asking = rl.build("asking", model=rl.SimulatedModel([("ask", {}), "asked"]), tools=[ask])
    for n in range(4):
        net.task(f"robot{n}", asking, poller_group="g")
        net.task(f"inner{n}", inner)
        net.task(f"after{n}", looking, depends_on=[f"robot{n}", f"inner{n}"])
    net.task("step", Stepping("step", model=rl.SimulatedModel(["x"], delay=0.005)))
    net.task("function", lambda: gate.wait(20))
    net.task("flaky", flaky, retries=10_000, retry_wait=0)
    net.task("slow", rl.build("s", model=rl.SimulatedModel(["x"], delay=60)), timeout=30)
    net.task("person", rl.Human("ann"))
    return net


@pytest.mark.parametrize("moment", [0, 0.003, 0.01, 0.03, 0.08, 0.2, 0.5])
def test_stop_at_any_moment_leaves_nothing_running_and_histories_valid(moment):
    gate = threading.Event()
    run = busy(gate).start("x")
    time.sleep(moment)
    run.stop()
    gate.set()
    assert run.status == "interrupted"
    for state in run.state.walk():
        assert state.ended, state.scope.path
        for task in state.tasks.values():
            assert task.status not in ("pending", "running", "waiting")
        for called in state.tool_calls.values():
            assert called.status != "running"
        answered = [p.id for m in state.messages if m.role == "tool" for p in m.parts]
        asked = [c.id for m in state.messages for c in m.tool_calls]
        assert sorted(answered) == sorted(asked)
    assert RunState.fold(run.events) == run.state
    assert run not in rl.runs()
    end = time.monotonic() + 5
    while left := left_on_the_loop():
        assert time.monotonic() < end, left
        time.sleep(0.01)


def left_on_the_loop():
    """What of networks and runs the engine's loop still has in hand."""

    async def look():
        names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]
        return [n for n in names if n in ("Scheduler._do", "Work._drive", "ToolRound._call_one")]

    return asyncio.run_coroutine_threadsafe(look(), engine_loop().loop).result(5)


def test_ctrl_c_while_it_blocks_keeps_what_was_finished():
    def stop():
        time.sleep(0.2)
        raise KeyboardInterrupt

    net = rl.create_network("n")
    net.task("done", lambda: "kept")
    net.task("stop", stop)
    net.task("slow", rl.build("s", model=rl.SimulatedModel(["x"], delay=60)))
    run = net.start("x")
    with pytest.raises(KeyboardInterrupt):
        run.result()
    statuses = {n: t.status for n, t in run.state.tasks.items()}
    assert statuses["done"] == "completed"
    assert run.so_far()["done"].value == "kept"
    assert statuses["slow"] == "interrupted"


# -- load ------------------------------------------------------------------------------------


def test_a_hundred_runs_of_one_robot_at_once_mix_nothing():
    def reply(request):
        said = [m["content"] for m in request.messages if m["role"] == "user"]
        return Reply.text(" ".join(said)).after(0.01)

    with ModelServer(script=reply) as server:
        bot = rl.build("r", system_prompt="Be brief.", model=server.model("m"))
        net = rl.create_network("n", concurrency=100)
        for n in range(100):
            net.task(f"t{n}", bot, prompt=f"number {n}")
        result = net.run("x")
        assert {tuple(m["role"] for m in r.messages) for r in server.requests} == {
            ("system", "user")
        }
    assert [r.text for r in result.values()] == [f"number {n}" for n in range(100)]
    assert len({r.run_id for r in result.values()}) == 100
    assert all(r.messages[-1].text == r.text for r in result.values())


@pytest.mark.parametrize("caps", [{}, {"max_concurrent_robots": 1}])
def test_a_chain_of_a_thousand_robots_runs(caps):
    bot = rl.build("r", model=rl.SimulatedModel(lambda request: request.messages[-1].text + "."))
    net = rl.create_network("chain", **caps)
    for n in range(1000):
        net.task(f"t{n}", bot, depends_on=[f"t{n - 1}"] if n else [])
    assert net.start("x").result(120).text == "x" + "." * 1000
