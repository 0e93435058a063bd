"""Parallel groups, and caps on robots that work at the same time."""

from __future__ import annotations

import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.testing import ModelServer, Reply


def says(answer, name="robot", **more):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer, **more))


class Counting:
    """A server's script that counts the requests that are being answered at the same time."""

    def __init__(self, delay=0.004, kind=lambda request: "all"):
        self.delay = delay
        self.kind = kind
        self.server = None
        self.most = {}
        self.order = []

    def __call__(self, request):
        now = {}
        for known in self.server.requests:
            if not known.finished:
                for kind in {"all", self.kind(known)}:
                    now[kind] = now.get(kind, 0) + 1
        for kind, count in now.items():
            self.most[kind] = max(self.most.get(kind, 0), count)
        self.order.append(self.kind(request))
        return Reply.text("ok").after(self.delay)


def counted(script):
    script.server = ModelServer(script=script)
    return script.server


# -- parallel groups -------------------------------------------------------------------------


def test_tasks_declared_in_a_group_come_after_what_it_depends_on():
    net = rl.create_network("n")
    net.task("first", lambda: "first")
    net.task("other", lambda: "other")
    with net.parallel("look", depends_on=["first"]) as look:
        net.task("left", lambda upstream: list(upstream))
        net.task("right", lambda upstream: list(upstream), depends_on=["other"])
    net.task("last", lambda upstream: list(upstream), depends_on=["look"])
    result = net.run("x")
    assert result["left"].value == ["first"]
    assert result["right"].value == ["first", "other"]
    assert result["last"].value == ["left", "right"]
    assert look.members == net.groups["look"] == ("left", "right")
    declared = {d["task"]: d for d in net.declared()}
    assert declared["right"]["depends_on"] == ["first", "other"]
    assert declared["right"]["group"] == "look"
    assert result.state.tasks["last"].depends_on == ("left", "right")


def test_a_group_takes_tasks_that_were_made_elsewhere():
    net = rl.create_network("n")
    net.task("end", lambda upstream: str(upstream), depends_on=["both"])
    net.parallel("both", tasks=[rl.Task("a", lambda: 1), rl.Task("b", lambda: 2)])
    assert net.run("x").text == "a:\n1\n\nb:\n2"


def test_a_group_in_a_group_has_the_dependencies_of_both():
    net = rl.create_network("n")
    net.task("a", lambda: 0)
    net.task("b", lambda: 0)
    with net.parallel("outer", depends_on=["a"]), net.parallel("inner", depends_on=["b"]):
        net.task("c", lambda upstream: sorted(upstream))
    net.task("d", lambda upstream: list(upstream), depends_on=["outer"])
    result = net.run("x")
    assert (result["c"].value, result["d"].value) == (["a", "b"], ["c"])


def test_groups_may_follow_groups():
    net = rl.create_network("n")
    with net.parallel("one"):
        net.task("a", lambda: 0)
        net.task("b", lambda: 0)
    with net.parallel("two", depends_on=["one"]):
        net.task("c", lambda upstream: list(upstream))
    assert net.run("x")["c"].value == ["a", "b"]


@pytest.mark.parametrize(
    ("declare", "told"),
    [
        (lambda n: n.parallel("empty"), "group 'empty' has no tasks"),
        (lambda n: n.parallel("ok", tasks=[rl.Task("x", print)]), "'ok' is a task and a group"),
        (
            lambda n: n.parallel("g", tasks=[rl.Task("x", lambda: 0, depends_on=["g"])]),
            "task 'x' is in group 'g' and depends on it",
        ),
        (
            lambda n: n.parallel("g", depends_on=["okk"], tasks=[rl.Task("x", lambda: 0)]),
            "depends on 'okk', which is not there. Did you mean 'ok'",
        ),
    ],
)
def test_what_is_wrong_with_a_group_is_found_before_anything_runs(declare, told):
    net = rl.create_network("n")
    net.task("ok", lambda: 0)
    declare(net)
    with pytest.raises(rl.GraphError, match=told):
        net.run("x")


def test_a_block_that_raises_ends_the_group():
    net = rl.create_network("n")

    def declare():
        with net.parallel("g"):
            net.task("in", lambda: 0)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        declare()
    net.task("out", lambda: 0)
    assert net.groups == {"g": ("in",)}


def test_a_cell_that_runs_again_replaces_its_group_and_says_so():
    net = rl.create_network("n")
    for again in (False, True):
        if again:
            with pytest.warns(UserWarning, match="group 'g' was there and is replaced"):
                group = net.parallel("g", depends_on=["first"])
        else:
            group = net.parallel("g", depends_on=["first"])
        with group:
            if again:
                with pytest.warns(UserWarning, match="task 'a' was there"):
                    net.task("a", lambda: 1)
            else:
                net.task("a", lambda: 1)
                net.task("b", lambda: 1)
    assert net.groups == {"g": ("a",)}


# -- caps ------------------------------------------------------------------------------------


def test_no_more_robots_than_allowed_ask_a_server_at_the_same_time():
    script = Counting()
    with counted(script) as server:
        net = rl.create_network("n", concurrency=64, max_concurrent_robots=7)
        bot = rl.build("r", model=server.model("m"))
        for n in range(200):
            net.task(f"t{n}", bot)
        assert net.run("x").status == "completed"
        assert script.most["all"] == 7
        assert len(server.requests) == 200


def test_a_runs_own_cap_is_the_one_that_counts():
    script = Counting(0.001)
    with counted(script) as server:
        net = rl.create_network("n", max_concurrent_robots=7)
        for n in range(20):
            net.task(f"t{n}", rl.build("r", model=server.model("m")))
        net.run("x", config={"max_concurrent_robots": 2})
    assert script.most["all"] == 2


def test_caps_of_groups_and_of_the_network_both_hold_and_equal_groups_go_on_alike():
    script = Counting(kind=lambda request: request.messages[-1]["content"])
    with counted(script) as server:
        net = rl.create_network(
            "n", concurrency=200, max_concurrent_robots=6, group_caps={"a": 5, "b": 5, "c": 1}
        )
        bot = rl.build("r", model=server.model("m"))
        for kind, count in (("a", 90), ("b", 90), ("c", 20)):
            for n in range(count):
                net.task(f"{kind}{n}", bot, prompt=kind, poller_group=kind)
        result = net.run("x")
    assert result.status == "completed"
    assert script.most["all"] == 6
    assert script.most["a"] <= 5
    assert script.most["b"] <= 5
    assert script.most["c"] == 1
    ended = {"a": 0, "b": 0, "c": 0}
    for event in result.events:
        if event.type == "task.completed":
            ended[event.data["task"][0]] += 1
            assert abs(ended["a"] - ended["b"]) <= 10
    assert {t.group for t in result.state.tasks.values()} == {"a", "b", "c"}


def test_the_cap_holds_inside_everything_that_the_network_starts():
    script = Counting(0.003)
    with counted(script) as server:
        model = server.model("m")
        inner = rl.create_network("inner", max_concurrent_robots=50)
        for n in range(6):
            inner.task(f"i{n}", rl.build("i", model=model))
        helper = rl.build("helper", model=model)

        def fan(message: str) -> str:
            runs = [helper.start(message) for _ in range(6)]
            return " ".join(run.result().text for run in runs)

        net = rl.create_network("n", max_concurrent_robots=2)
        net.task("network", inner)
        net.task("function", fan)
        for n in range(4):
            net.task(f"t{n}", rl.build("r", model=model))
        result = net.run("x")
        assert (result.status, len(server.requests)) == ("completed", 16)
    assert script.most["all"] == 2


def asks(bot):
    """A tool that asks a robot."""

    def ask(question: str) -> str:
        """Ask another robot."""
        return bot.run(question).text

    return ask


def calling(bot, name="caller"):
    """A robot that asks another one, and then answers."""
    model = rl.SimulatedModel([("ask", {"question": "?"}), "asked"])
    return rl.build(name, model=model, tools=[asks(bot)])


def test_robots_that_call_robots_that_call_robots_go_on_under_a_cap_of_one():
    net = rl.create_network("n", max_concurrent_robots=1)
    chain = calling(calling(calling(says("end"))))
    for n in range(4):
        net.task(f"t{n}", chain)
    run = net.start("x")
    result = run.result(30)
    assert (result.status, len(result.state.tasks)) == ("completed", 4)
    assert sum(1 for s in result.state.walk() if s.scope.kind == "robot") == 16


def test_a_robot_that_starts_one_and_fetches_it_later_goes_on_under_a_cap_of_one():
    started = []
    helper = says("found", "helper")

    def launch() -> str:
        """Start the helper."""
        started.append(helper.start("look"))
        return "started"

    def fetch() -> str:
        """Wait for the helper."""
        return started[0].result().text

    model = rl.SimulatedModel([("launch", {}), ("fetch", {}), "done"])
    net = rl.create_network("n", max_concurrent_robots=1)
    net.task("t", rl.build("r", model=model, tools=[launch, fetch]))
    result = net.start("x").result(30)
    assert [c.result for c in result["t"].tool_calls] == ["started", "found"]


def test_a_robot_that_waited_for_others_waits_for_a_slot_before_it_goes_on():
    def reply(request):
        first = request.messages[-1]["role"] == "user"
        fans = first and request.messages[-1]["content"] == "fan"
        calls = [("ask", {"question": "?"})] * 2
        answer = Reply.tool_calls(*calls) if fans else Reply.text("ok")
        script(request)
        return answer.after(0.004)

    script = Counting()
    script.server = ModelServer(script=reply)
    with script.server as server:
        helper = rl.build("helper", model=server.model("m"))
        fanning = rl.build("fanning", model=server.model("m"), tools=[asks(helper)])
        net = rl.create_network("n", max_concurrent_robots=2)
        for n in range(8):
            net.task(f"f{n}", fanning, prompt="fan")
            net.task(f"t{n}", helper)
        result = net.start("x").result(60)
        assert (result.status, len(server.requests)) == ("completed", 8 * 5)
    assert script.most["all"] == 2


def test_a_robot_lets_a_run_go_on_that_it_started_and_will_wait_for():
    started = []
    helper = rl.build(
        "helper", model=rl.SimulatedModel([("ask_user", {"question": "May I?"}), "thanks"]),
        tools=[rl.ask_user],
    )  # fmt: skip

    def launch() -> str:
        """Start the helper, who asks a person."""
        started.append(helper.start("go"))
        return "started"

    def fetch() -> str:
        """Wait for the helper."""
        return started[0].result().text

    model = rl.SimulatedModel([("launch", {}), ("fetch", {}), "done"])
    net = rl.create_network("n", max_concurrent_robots=1)
    net.task("t", rl.build("r", model=model, tools=[launch, fetch]))
    waiting = net.run("x")
    assert waiting.status == "waiting"
    run = waiting._run
    run.answer("yes")
    assert [c.result for c in run.result(20)["t"].tool_calls] == ["started", "thanks"]


def test_sixty_tools_that_call_robots_that_call_tools_do_not_starve():
    def look(n: int) -> str:
        """Look something up, in a thread."""
        time.sleep(0.01)
        return f"seen {n}"

    leaf = rl.build("leaf", model=rl.SimulatedModel([("look", {"n": 1}), "leaf"]), tools=[look])
    middle = calling(leaf, "middle")
    model = rl.SimulatedModel([[("ask", {"question": str(n)}) for n in range(60)], "all asked"])
    net = rl.create_network("n", max_concurrent_robots=5)
    net.task("t", rl.build("top", model=model, tools=[asks(middle)]))
    result = net.start("x").result(60)
    assert result.text == "all asked"
    assert {c.status for c in result["t"].tool_calls} == {"completed"}
    assert sum(1 for s in result.state.walk() if s.scope.robot == "leaf") == 60


def test_a_slot_is_free_while_its_robot_waits_for_a_person():
    asking = rl.build(
        "asking", model=rl.SimulatedModel([("ask_user", {"question": "May I?"}), "thanks"]),
        tools=[rl.ask_user],
    )  # fmt: skip
    net = rl.create_network("n", max_concurrent_robots=1)
    net.task("asks", asking)
    net.task("works", says("worked"))
    waiting = net.run("x")
    assert waiting.status == "waiting"
    assert waiting["works"].text == "worked"
    assert waiting.answer("yes")["asks"].text == "thanks"


def test_a_robot_that_a_person_has_answered_waits_for_a_slot_before_it_goes_on():
    def reply(request):
        said = request.messages[-1]
        script(request)
        if said["content"] == "ask":
            return Reply.tool_call("ask_user", {"question": "May I?"}).after(0.002)
        return Reply.text("ok").after(0.05)

    script = Counting()
    script.server = ModelServer(script=reply)
    with script.server as server:
        asking = rl.build("asking", model=server.model("m"), tools=[rl.ask_user])
        net = rl.create_network("n", max_concurrent_robots=1)
        net.task("asks", asking, prompt="ask")
        for n in range(6):
            net.task(f"t{n}", rl.build("r", model=server.model("m")))
        run = net.start("x")
        while not run.pending or len(server.requests) < 3:
            time.sleep(0.002)
        run.answer("yes")
        assert run.result(30).status == "completed"
    assert script.most["all"] == 1


def test_functions_are_not_counted_as_robots():
    gate = threading.Barrier(3, timeout=20)
    net = rl.create_network("n", max_concurrent_robots=1)
    for n in range(3):
        net.task(f"f{n}", gate.wait)
    assert net.run("x").status == "completed"


def test_a_capped_group_counts_functions_and_the_robots_that_they_call():
    script = Counting(0.002)
    with counted(script) as server:
        bot = rl.build("r", model=server.model("m"))
        net = rl.create_network("n", group_caps={"g": 1})
        for n in range(6):
            net.task(f"t{n}", lambda message: bot.run(message).text, poller_group="g")
        result = net.run("x")
        assert (result.status, len(server.requests)) == ("completed", 6)
    assert script.most["all"] == 1


def test_events_of_a_capped_network_come_in_the_same_order_each_time():
    def orders():
        net = rl.create_network("n", max_concurrent_robots=3, group_caps={"a": 2, "b": 1})
        bot = says("ok")
        for n in range(30):
            deps = [f"t{n - 7}"] if n > 6 else []
            net.task(f"t{n}", bot, poller_group="ab"[n % 2], depends_on=deps)
        return [(e.type, e.scope.path) for e in net.run("x").events]

    first = orders()
    assert all(orders() == first for _ in range(3))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: rl.create_network("n", group_caps={"a": 0}), "cap of group 'a' is a whole"),
        (lambda: rl.create_network("n", group_caps=3), "is no mapping"),
        (lambda: rl.create_network("n", max_concurrent_robots=0), "at least 1"),
    ],
)
def test_caps_that_are_none_are_refused(make, told):
    with pytest.raises(rl.ConfigurationError, match=told):
        make()


def test_a_cap_of_a_group_that_nobody_is_in_is_a_fault():
    net = rl.create_network("n", group_caps={"writer": 2})
    net.task("a", says("x"), poller_group="writers")
    with pytest.raises(rl.GraphError, match="'writer', and no task is in.*Did you mean 'writers'"):
        net.validate()


def test_options_cap_every_network():
    script = Counting(0.001)
    with counted(script) as server, rl.options(max_concurrent_robots=2):
        net = rl.create_network("n")
        for n in range(12):
            net.task(f"t{n}", rl.build("r", model=server.model("m")))
        net.run("x")
    assert script.most["all"] == 2
