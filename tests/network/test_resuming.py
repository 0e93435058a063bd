"""Going on from an earlier run of a network: nothing that is finished is done again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.runtime.sinks import add_sink, remove_sink
from robotlab_nb.testing import ModelServer


def told(result):
    """A result's events as somebody would find them in a file."""
    return [json.loads(json.dumps(e.to_dict())) for e in result.events]


def statuses(result):
    return {name: task.status for name, task in result.state.tasks.items()}


def fails_once():
    """A function that fails the first time, and how often it was called."""
    calls = []

    def body(message):
        calls.append(message)
        if len(calls) == 1:
            raise ValueError("not yet")
        return f"fine with {message}"

    return body, calls


def says(answer, name="robot", **more):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer), **more)


# -- what is kept ----------------------------------------------------------------------------


def half_done():
    done = []
    broken, _ = fails_once()
    net = rl.create_network("n")
    net.task("first", lambda message: done.append("first") or {"length": len(message)})
    net.task("broken", broken, depends_on=["first"])
    net.task("last", lambda upstream: f"last: {upstream}", depends_on=["broken"])
    return net, done


@pytest.mark.parametrize("kind", ["result", "events", "dicts", "file"])
def test_a_failed_network_goes_on_from_what_it_had_finished(kind, tmp_path):
    net, done = half_done()
    failed = net.run("hello")
    assert statuses(failed) == {"first": "completed", "broken": "failed", "last": "blocked"}
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(e) + "\n" for e in told(failed)) + '{"torn')
    source = {"result": failed, "events": failed.events, "dicts": told(failed), "file": path}
    result = net.resume(source[kind])
    assert result.status == "completed"
    assert result.text == "last: fine with hello"
    assert statuses(result) == {"first": "restored", "broken": "completed", "last": "completed"}
    assert done == ["first"]
    assert result["first"].value == {"length": 5}
    assert result.resumed_from == failed.run_id != result.run_id
    assert result.state.tasks["first"].restored_from == failed.run_id
    assert RunState.fold(result.events) == result.state
    assert result.frames.runs["resumed_from"].tolist() == [failed.run_id]
    assert repr(result)
    assert result._repr_html_()


def test_a_run_that_was_stopped_goes_on():
    net = rl.create_network("n")
    done = []

    def stop(message):
        done.append("stop")
        if len(done) == 2:
            rl.current_run().cancel("enough")
        return "went on"

    net.task("one", lambda message: done.append("one"))
    net.task("two", stop, depends_on=["one"])
    net.task("three", lambda message: "done", depends_on=["two"])
    run = net.start("x")
    with pytest.raises(rl.RunInterrupted):
        run.result()
    result = net.resume(run)
    assert statuses(result) == {"one": "restored", "two": "completed", "three": "completed"}
    assert done == ["one", "stop", "stop"]
    assert result.state.tasks["two"].possibly_repeated
    assert not result.state.tasks["three"].possibly_repeated


def test_a_run_that_goes_on_is_not_resumed():
    net = rl.create_network("n")
    net.task("ask", rl.Human("editor"))
    run = net.start("x")
    assert run.result().status == "waiting"
    with pytest.raises(rl.InputError, match="still goes on: it is waiting"):
        net.resume(run)
    run.cancel()


def test_restored_tasks_cost_nothing_again_and_say_what_they_did():
    broken, _ = fails_once()
    net = rl.create_network("n")
    with ModelServer(["an answer"]) as server:
        bot = rl.build("bob", model=server.model("gpt-4o-mini"))
        net.task("ask", bot)
        net.task("broken", broken, depends_on=["ask"])
        failed = net.run("hello")
        result = net.resume(told(failed))
        again = net.resume(told(result), rerun=["broken"])
    assert len(server.requests) == 1
    for later in (result, again):
        assert later.status == "completed"
        assert later["ask"].text == "an answer"
        assert later.usage.total_tokens is None or later.usage.total_tokens == 0
        task = later.state.tasks["ask"]
        assert task.status == "restored"
        assert task.restored_from == failed.run_id
        assert task.restored_cost == failed.cost
    assert len(result["ask"].messages) == 2
    assert result["ask"].usage == failed["ask"].usage


def test_routes_that_were_taken_hold():
    broken, _ = fails_once()
    asked = []
    net = rl.create_network("n")
    net.task("sort", lambda message: asked.append(1) or "a", route=lambda r: r.text)
    net.task("a", broken, optional=True, depends_on=["sort"])
    net.task("b", lambda message: "b", optional=True, depends_on=["sort"])
    net.task("end", lambda upstream: str(upstream), depends_on=["a", "b"])
    result = net.resume(told(net.run("x")))
    assert statuses(result) == {
        "sort": "restored", "a": "completed", "b": "skipped", "end": "completed",
    }  # fmt: skip
    assert asked == [1]
    assert result.activated_steps == ("a",)


def test_a_halted_network_stays_halted():
    net = rl.create_network("n")
    net.task("gate", lambda flow: flow.halt("closed"))
    net.task("never", lambda message: "ran", depends_on=["gate"])
    halted = net.run("x")
    result = net.resume(told(halted))
    assert statuses(result) == {"gate": "restored", "never": "halted"} == {
        **statuses(halted), "gate": "restored",
    }  # fmt: skip
    assert result.halted
    assert result.text == halted.text == "closed"


def test_what_steps_gave_to_each_other_is_still_there():
    broken, _ = fails_once()
    net = rl.create_network("n")
    net.task("price", lambda flow: flow.continue_with("ok").with_context("price", 7))
    net.task("broken", broken, depends_on=["price"])
    net.task("pay", lambda flow: flow.context["price"] * 2, depends_on=["price", "broken"])
    failed = net.run("x")
    for source in (failed, told(failed)):
        assert net.resume(source)["pay"].value == 14


def test_an_answer_of_a_prescribed_shape_is_that_again():
    from dataclasses import dataclass

    @dataclass
    class Price:
        amount: int

    broken, _ = fails_once()
    net = rl.create_network("n")
    net.task("price", says('{"amount": 7}', output=Price))
    net.task("broken", broken)
    net.task(
        "pay", lambda upstream: upstream["price"].parsed.amount, depends_on=["price", "broken"]
    )
    failed = net.run("x")
    first = net.resume(told(failed), rerun=["broken"])
    assert first["pay"].value == 7
    assert net.resume(told(first), rerun=["pay"])["pay"].value == 7


def test_a_map_and_a_loop_that_were_finished_are_not_done_again():
    broken, _ = fails_once()
    done = []
    net = rl.create_network("n")
    net.task("squares", lambda item: done.append(item) or item * item, map_over=[1, 2, 3])
    turns = rl.Loop(until=lambda result, turn: turn == 2, max_turns=5)
    net.task("turned", lambda turn: done.append("t") or turn, loop=turns)
    net.task("broken", broken)

    def total(upstream):
        return sum(upstream["squares"].values) + upstream["turned"].value

    net.task("sum", total, depends_on=["squares", "turned", "broken"])
    failed = net.run("x")
    first = net.resume(told(failed), rerun=["broken"])
    assert first["sum"].value == 16
    assert net.resume(told(first), rerun=["sum"])["sum"].value == 16
    assert sorted(map(str, done)) == ["1", "2", "3", "t", "t"]


# -- live values -----------------------------------------------------------------------------


class Table:
    def __str__(self):
        return "a table"


def with_table():
    broken, _ = fails_once()
    table = Table()
    net = rl.create_network("n")
    net.task("make", lambda message: table)
    net.task("tell", says("told"), depends_on=["make"], prompt="{{ upstream.make }}")
    net.task("broken", broken, depends_on=["make"])
    net.task("use", lambda upstream: upstream["make"].value is table, depends_on=["make", "broken"])
    return net


def test_a_live_value_is_taken_from_the_result_that_has_it():
    net = with_table()
    failed = net.run("x")
    result = net.resume(failed)
    assert result["use"].value is True
    assert net.resume(result, rerun=["use"])["use"].value is True


def test_a_live_value_that_is_gone_is_an_error_that_names_the_task():
    net = with_table()
    events = told(net.run("x"))
    with pytest.raises(rl.ConfigurationError, match="'use' needs what 'make' gave") as caught:
        net.resume(events)
    assert "rerun=['make']" in caught.value.hint
    assert net.resume(events, rerun=["make"])["use"].value is True


def test_the_text_of_a_live_value_is_enough_for_a_prompt_and_for_the_answer():
    net = rl.create_network("n")
    net.task("make", lambda message: Table())
    net.task("tell", says("told"), depends_on=["make"], prompt="Say {{ upstream.make }}")
    result = net.resume(told(net.run("x")), rerun=["tell"])
    assert result.status == "completed"
    assert result.state.children[result["tell"].run_id].info["input"] == "Say a table"
    with pytest.raises(rl.ConfigurationError, match="only its text is"):
        _ = result["make"].value
    assert "a table" in str(result["make"])
    assert repr(result)


def test_context_is_asked_for_where_only_events_are_left():
    broken, _ = fails_once()
    net = rl.create_network("n")
    net.task("broken", broken)
    net.task("who", lambda context: context["who"], depends_on=["broken"])
    failed = net.run("x", context={"who": "Ada"})
    assert net.resume(failed, rerun=["broken"])["who"].value == "Ada"
    with pytest.raises(rl.InputError, match="'who' in its context"):
        net.resume(told(failed))
    assert net.resume(told(failed), context={"who": "Bob"})["who"].value == "Bob"


# -- what has changed ------------------------------------------------------------------------


def one_robot(system="Be brief.", model=None, prompt=None, tools=(), when="x"):
    broken, calls = fails_once()
    if when != "x":
        calls.append(0)
    net = rl.create_network("n")
    bot = rl.build("bob", system_prompt=system, model=model or rl.SimulatedModel(["hi", "ho"]),
                   tools=list(tools))  # fmt: skip
    net.task("ask", bot, prompt=prompt)
    net.task("after", lambda upstream: f"after {upstream}", depends_on=["ask"])
    net.task("broken", broken)
    return net


def add(a: int, b: int) -> int:
    "Add."
    return a + b


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"system": "Be long."}, "its prompt"),
        ({"prompt": "Say {{ message }}"}, "its prompt"),
        ({"model": "ollama/other"}, "the model"),
        ({"tools": [add]}, "the tools"),
    ],
)
def test_a_finished_task_that_has_changed_is_refused_and_told_how(change, what):
    events = told(one_robot().run("x"))
    changed = one_robot(**change, when="fixed")
    with pytest.raises(rl.ConfigurationError, match=rf"'ask' \({what}\)") as caught:
        changed.resume(events)
    assert 'changed="rerun"' in caught.value.hint
    kept = changed.resume(events, changed="keep")
    assert statuses(kept) == {"ask": "restored", "after": "restored", "broken": "completed"}


def test_a_changed_task_and_what_comes_after_it_run_again_when_asked():
    events = told(one_robot().run("x"))
    changed = one_robot(system="Be long.", when="fixed")
    result = changed.resume(events, changed="rerun")
    assert statuses(result) == dict.fromkeys(("ask", "after", "broken"), "completed")
    with pytest.raises(rl.ConfigurationError, match="has no meaning"):
        changed.resume(events, changed="maybe")


def test_a_functions_source_counts_and_how_long_a_task_may_take_does_not():
    def build(function, **options):
        net = rl.create_network("n")
        net.task("f", function, **options)
        return net

    def one(message):
        return 1

    def two(message):
        return 2

    events = told(build(one).run("x"))
    assert statuses(build(one, timeout=9, retries=2).resume(events)) == {"f": "restored"}
    with pytest.raises(rl.ConfigurationError, match="a function's source"):
        build(two).resume(events)


def test_settings_of_the_network_count_for_its_robots():
    def build(**settings):
        net = rl.create_network("n", **settings)
        net.task("ask", says("hi"))
        return net

    events = told(build(temperature=0.1).run("x"))
    assert statuses(build(temperature=0.1, cost_budget=1.0).resume(events)) == {"ask": "restored"}
    with pytest.raises(rl.ConfigurationError, match="the model's settings"):
        build(temperature=0.9).resume(events)


def test_a_fixed_task_is_no_change_and_new_tasks_just_run():
    net, done = half_done()
    events = told(net.run("hello"))
    fixed, _ = half_done()
    with pytest.warns(UserWarning, match="replaced"):
        fixed.task("broken", lambda message: "mended", depends_on=["first"])
    fixed.task("more", lambda upstream: "more", depends_on=["last"])
    result = fixed.resume(events)
    assert result["last"].value == "last: mended"
    assert result["more"].value == "more"
    assert done == ["first"]


def test_a_network_inside_goes_on_too_and_its_changes_are_noticed():
    done = []
    broken, _ = fails_once()

    def inner(prompt=None):
        net = rl.create_network("inner")
        net.task("one", lambda message: done.append("one") or "one")
        net.task("two", broken, depends_on=["one"])
        return net

    def outer(inside):
        net = rl.create_network("outer")
        net.task("sub", inside)
        net.task("end", lambda upstream: upstream["sub"]["two"].value, depends_on=["sub"])
        return net

    failed = outer(inner()).run("x")
    result = outer(inner()).resume(told(failed))
    assert result.text == "fine with x"
    assert done == ["one"]
    assert statuses(result["sub"]) == {"one": "restored", "two": "completed"}
    assert result["sub"].resumed_from == failed["sub"].run_id
    other = inner()
    other.task("three", lambda message: 3)
    with pytest.raises(rl.ConfigurationError, match=r"'sub' \(tasks inside it\)"):
        outer(other).resume(told(result))
    again = outer(inner()).resume(told(result), rerun=["end"])
    assert again.text == "fine with x"
    assert again["sub"]["one"].text == "one"


# -- running again from a task ---------------------------------------------------------------


def counted(names="abcd"):
    calls = Counter()
    net = rl.create_network("n")

    def body(name):
        def work(message, upstream):
            calls[name] += 1
            return f"{name}{calls[name]}({message})"

        return work

    net.task("a", body("a"))
    net.task("b", body("b"), depends_on=["a"])
    net.task("c", body("c"), depends_on=["a"])
    net.task("d", body("d"), depends_on=["b"])
    return net, calls


def test_rerun_does_a_task_again_and_what_comes_after_it():
    net, calls = counted()
    first = net.run("x")
    result = net.rerun(first, "b", message="y")
    assert calls == {"a": 1, "b": 2, "c": 1, "d": 2}
    assert {n: r.text for n, r in result.items()} == {
        "a": "a1(x)", "b": "b2(y)", "c": "c1(x)", "d": "d2(y)",
    }  # fmt: skip
    assert result.resumed_from == first.run_id
    assert net.rerun(first, ["c", "d"]).text.count("2(") == 1
    with pytest.raises(rl.InputError, match="no task 'e' to run again"):
        net.rerun(first, "e")


def test_rerun_leaves_failed_and_skipped_tasks_as_they_were():
    tried = []
    net = rl.create_network("n")
    net.task("bad", lambda message: tried.append(1) or 1 / 0)
    net.task("sort", lambda message: "one", route=lambda r: r.text)
    net.task("one", lambda message: message, optional=True, depends_on=["sort"])
    net.task("two", lambda message: message, optional=True, depends_on=["sort"])
    first = net.run("x")
    result = net.rerun(first, "one", message="y")
    assert statuses(result) == {
        "bad": "failed", "sort": "restored", "one": "completed", "two": "skipped",
    }  # fmt: skip
    assert tried == [1]
    assert result.status == "failed"
    assert "division by zero" in result.errors["bad"]["message"]
    forced = net.rerun(first, "two")
    assert statuses(forced)["two"] == "completed"
    assert statuses(forced)["one"] == "restored"


def test_rerun_of_a_router_does_what_it_activates_again_too():
    ran = []
    net = rl.create_network("n")
    net.task("start", lambda message: message)
    net.task("sort", lambda message: "extra", route=lambda r: r.text)
    net.task("extra", lambda message: ran.append(1), optional=True, depends_on=["start"])
    net.rerun(net.run("x"), "sort")
    assert ran == [1, 1]


@pytest.mark.anyio
async def test_both_can_be_awaited():
    net, calls = counted()
    first = await net.arun("x")
    assert (await net.aresume(first)).status == "completed"
    assert calls["a"] == 1
    assert (await net.arerun(first, "a")).status == "completed"
    assert calls["a"] == 2


@pytest.fixture
def anyio_backend():
    return "asyncio"


def test_what_is_no_network_is_refused():
    net, _ = counted()
    with pytest.raises(rl.InputError, match="a run of robot 'bob', not of a network"):
        net.resume(rl.build("bob").run("x"))
    for wrong in (7, {}, [], [{"x": 1}]):
        with pytest.raises(rl.InputError):
            net.resume(wrong)
    with pytest.raises(rl.InputError, match="cannot be read"):
        net.resume("/nowhere/at/all.jsonl")


# -- on the wire -----------------------------------------------------------------------------


def five(server_url):
    net = rl.create_network("five")
    bot = rl.build("bob", model="openai/test-model", api_base=server_url, api_key="test-key")
    net.task("t0", bot, prompt="task 0 of {{ message }}")
    net.task("t1", bot, prompt="task 1 after {{ upstream }}", depends_on=["t0"])
    net.task("t2", bot, prompt="task 2 after {{ upstream }}", depends_on=["t0"])
    net.task("t3", bot, prompt="task 3 after {{ upstream }}", depends_on=["t1", "t2"])
    net.task("t4", bot, prompt="task 4 after {{ upstream }}", depends_on=["t3"])
    return net


def question(request):
    return "t" + request.messages[-1]["content"][5]


def answer(request):
    return f"({question(request)})"


class Recorder:
    """Keeps a run's events as JSON, and does something at a barrier."""

    def __init__(self, barrier, do):
        self.barrier, self.do = barrier, do
        self.lines = []
        self.seen = 0

    def put(self, event):
        self.lines.append(json.dumps(event.to_dict()))
        kind, number = self.barrier
        self.seen += event.type == kind
        if event.type == kind and self.seen == number:
            self.do(event)

    async def drained(self, root_id, seq):
        pass

    @property
    def events(self):
        return [json.loads(line) for line in self.lines]


def stop_run(event):
    next(run for run in rl.runs() if run.id == event.scope.root_id).cancel()


def recorded(barrier, go, *given):
    """The events of a run that is stopped at a barrier, if it gets there."""
    recorder = Recorder(barrier, stop_run)
    add_sink(recorder)
    try:
        go(*given)
    except rl.RunInterrupted:
        pass
    finally:
        remove_sink(recorder)
    return recorder.events


def with_status(events, *statuses):
    state = RunState.fold([rl.Event.from_dict(e) for e in events])
    return {n for n, t in state.tasks.items() if t.status in statuses}


BARRIERS = [(kind, n) for kind in ("task.started", "task.completed") for n in range(1, 5)]


@pytest.mark.parametrize("first", BARRIERS, ids=str)
def test_what_is_finished_is_never_asked_again_however_often_a_network_is_stopped(first):
    for second in BARRIERS:
        with ModelServer(script=answer) as server:
            net = five(server.base_url)
            events = recorded(first, net.run, "it")
            stopped_in: set[str] = set()
            for go in (second, ("never", 0)):
                finished = with_status(events, "completed", "restored")
                begun = {e["data"]["task"] for e in events if e["type"] == "task.started"}
                stopped_in |= begun - finished
                asked = Counter(map(question, server.requests))
                events = recorded(go, net.resume, events)
                assert with_status(events, "restored") == finished
                now = Counter(map(question, server.requests))
                assert all(now[n] == asked[n] for n in finished)
                starts = [e["data"] for e in events if e["type"] == "task.started"]
                flagged = {d["task"] for d in starts if d.get("possibly_repeated")}
                assert flagged == {d["task"] for d in starts} & (begun - finished)
            result = RunState.fold([rl.Event.from_dict(e) for e in events])
            assert result.status == "completed"
            assert result.tasks["t4"].text == "(t4)"
            assert {n for n, times in now.items() if times > 1} <= stopped_in


KILLED = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import robotlab_nb as rl
from robotlab_nb.runtime.sinks import add_sink
from test_resuming import Recorder, five

url, before, path, kind, number = sys.argv[2:]
log = open(path, "w")

class Log(Recorder):
    def put(self, event):
        log.write(json.dumps(event.to_dict()) + "\\n")
        log.flush()
        super().put(event)

add_sink(Log((kind, int(number)), lambda event: os._exit(9)))
net = five(url)
print(net.resume(before).text if before else net.run("it").text)
"""


def test_a_network_goes_on_after_its_process_was_killed_twice(tmp_path):
    from pathlib import Path

    script = tmp_path / "killed.py"
    script.write_text(KILLED)

    def process(server, before, path, kind, number):
        where = str(Path(__file__).parent)
        words = [where, server.base_url, str(before), str(path), kind, str(number)]
        done = subprocess.run(
            [sys.executable, str(script), *words], capture_output=True, text=True, timeout=120
        )
        return done.returncode, done.stdout, done.stderr

    one, two, three = (tmp_path / f"{n}.jsonl" for n in "123")
    with ModelServer(script=answer) as server:
        assert process(server, "", one, "task.completed", 2)[0] == 9
        assert process(server, one, two, "task.completed", 1)[0] == 9
        code, said, wrong = process(server, two, three, "never", 0)
        asked = Counter(map(question, server.requests))
    assert (code, said) == (0, "(t4)\n"), wrong
    restored = [json.loads(line)["data"]["task"] for line in three.read_text().splitlines()
                if '"task.restored"' in line]  # fmt: skip
    assert len(restored) == 3
    flagged = [json.loads(line)["data"]["task"] for line in three.read_text().splitlines()
               if "possibly_repeated" in line]  # fmt: skip
    assert set(asked) == {"t0", "t1", "t2", "t3", "t4"}
    assert all(times == 1 or name in {"t1", "t2", *flagged} for name, times in asked.items())


# -- any graph, cut anywhere -----------------------------------------------------------------


@st.composite
def graphs(draw):
    """Names, and for each task: dependencies, how it behaves, what its failure means."""
    tasks = []
    for n in range(draw(st.integers(2, 9))):
        before = [f"t{i}" for i in range(n)]
        deps = draw(st.lists(st.sampled_from(before), unique=True, max_size=3)) if n else []
        tasks.append(
            {
                "deps": deps,
                "kind": draw(st.sampled_from(["ok", "ok", "ok", "fails", "robot", "skips"])),
                "on_failure": draw(st.sampled_from(["block", "continue"])),
                "optional": bool(deps) and draw(st.booleans()) and draw(st.booleans()),
                "routes": draw(st.booleans()) and draw(st.booleans()),
                "takes": draw(st.integers(0, 3)),
            }
        )
    return tasks


def network(tasks, tick):
    """The network of a drawing; ``tick()`` is called by each task that does something."""
    net = rl.create_network("drawn")
    later = {
        n: [f"t{i}" for i, other in enumerate(tasks) if _may_wait(tasks, i) and
            f"t{n}" in other["deps"]]
        for n in range(len(tasks))
    }  # fmt: skip

    def body(name, fails):
        def work(upstream):
            tick()
            if fails:
                raise ValueError(name)
            return {"name": name, "from": {n: str(r) for n, r in upstream.items()}}

        return work

    def reply(request):
        tick()
        return request.messages[-1].text.upper()

    for n, task in enumerate(tasks):
        name, more = f"t{n}", {}
        runner = body(name, task["kind"] == "fails")
        if task["kind"] == "robot":
            runner = rl.build(name, model=rl.SimulatedModel(reply))
        if task["kind"] == "skips":
            more["when"] = lambda upstream: len(upstream) % 2 == 1
        elif _may_wait(tasks, n):
            more["optional"] = True
        if task["routes"] and later[n]:
            more["route"] = lambda result, names=later[n], k=task["takes"]: names[: k + 1]
        net.task(name, runner, depends_on=task["deps"], on_failure=task["on_failure"], **more)
    return net


def _may_wait(tasks, n):
    """Whether a task waits for a route: it says so, and one comes before it."""
    task = tasks[n]
    routed = any(tasks[int(d[1:])]["routes"] for d in task["deps"])
    return task["optional"] and task["kind"] != "skips" and routed


@given(graphs(), st.lists(st.integers(1, 8), min_size=1, max_size=2), st.sampled_from([1, 2, 32]))
def test_a_network_cut_anywhere_ends_as_if_it_had_not_been(tasks, cuts, concurrency):
    left = [0]

    def tick():
        left[0] -= 1
        if left[0] == 0:
            top = rl.current_run()
            while top.parent is not None:
                top = top.parent
            top.cancel()

    net = network(tasks, tick)
    whole = net.run("x")
    source, resumed = None, None
    for after in (*cuts, 0):
        left[0] = after
        try:
            resumed = net.run("x", concurrency=concurrency) if source is None else net.resume(
                source, concurrency=concurrency
            )  # fmt: skip
            source = told(resumed)
        except rl.RunInterrupted as stopped:
            source = told(stopped.run)
    want = {n: (t.status, t.text, t.result, t.route) for n, t in whole.state.tasks.items()}
    got = {
        n: ("completed" if t.status == "restored" else t.status, t.text, t.result, t.route)
        for n, t in resumed.state.tasks.items()
    }
    assert got == want
    assert (resumed.status, str(resumed)) == (whole.status, str(whole))
    assert RunState.fold(resumed.events) == resumed.state
