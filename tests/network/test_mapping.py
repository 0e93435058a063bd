"""A task for each item of a list: what it runs over, rows, failures, bounds, stopping, figures."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ModelServer, Reply


def echo(name="echo", **more):
    return rl.build(
        name, model=rl.SimulatedModel(lambda request: f"re {request.messages[-1].text}"), **more
    )


def mapped(runner, over, *, context=None, network=None, **options):
    net = rl.create_network("n", **(network or {}))
    net.task("m", runner, map_over=over, **options)
    return net.run("x", context=context)


def wait_until(holds):
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


# -- what it runs over ------------------------------------------------------------------------


def test_a_robot_is_asked_each_item_and_the_result_is_in_their_order():
    result = mapped(echo(), ["a", "b", {"c": 1}, 4])
    found = result["m"]
    assert found.texts == found.values == ["re a", "re b", 're {"c": 1}', "re 4"]
    assert result.text == str(found) == 're a\nre b\nre {"c": 1}\nre 4'
    assert (len(found), found.ok, found.status, found[-1].text) == (4, True, "completed", "re 4")
    assert isinstance(found[0], rl.RobotResult)
    assert [row.text for row in found[1:3]] == ["re b", 're {"c": 1}']
    assert RunState.fold(result.events) == result.state


def test_prompts_and_functions_see_item_and_index():
    prompt = "{{ index }}: {{ item.name }} of {{ message }} for {{ who }}"
    items = [{"name": "Ada"}, {"name": "Bo"}]
    found = mapped(echo(), items, prompt=prompt, context={"who": "me"})["m"]
    assert found.texts == ["re 0: Ada of x for me", "re 1: Bo of x for me"]
    assert mapped(lambda item, index, message: (item, index, message), "ab".split())["m"].value == [
        ("ab", 0, "x")
    ]
    assert mapped(lambda **given: sorted(given), [1])["m"].value == [
        ["context", "index", "item", "message", "upstream"]
    ]


def test_items_come_from_the_context_a_task_a_part_of_its_value_or_a_function():
    net = rl.create_network("n")
    net.task("make", lambda: {"words": ["a", "b"]})
    net.task("list", lambda: (1, 2))
    net.task("given", lambda item: item, map_over="rows")
    net.task("part", lambda item: item, map_over="make.words", depends_on=["make"])
    net.task("whole", lambda item: item, map_over="list", depends_on=["list"])
    net.task("again", lambda item: item * 2, map_over="whole", depends_on=["whole"])
    net.task(
        "made", lambda item: item, map_over=lambda upstream: range(upstream["list"].value[1]),
        depends_on=["list"],
    )  # fmt: skip
    result = net.run("x", context={"rows": [7, 8]})
    values = {name: result[name].value for name in ("given", "part", "whole", "again", "made")}
    assert values == {
        "given": [7, 8], "part": ["a", "b"], "whole": [1, 2], "again": [2, 4], "made": [0, 1],
    }  # fmt: skip


def test_a_table_is_mapped_over_by_rows_and_a_robots_list_by_its_items():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert mapped(lambda item: item["b"] * item["a"], lambda: table)["m"].value == ["x", "yy"]
    net = rl.create_network("n")
    lister = rl.build("lister", model=rl.SimulatedModel(['["p", "q"]']), output=list[str])
    net.task("list", lister)
    net.task("m", echo(), map_over="list", depends_on=["list"])
    assert net.run("x")["m"].texts == ["re p", "re q"]


def test_what_cannot_be_mapped_over_says_so():
    for bad, why in ((iter([1]), "used up"), ({"a": 1}, "no list"), (3, "no list")):
        with pytest.raises(rl.ConfigurationError, match=why):
            rl.create_network().task("m", echo(), map_over=bad)
    said = mapped(echo(), "rowz", context={"rows": []}).errors["m"]["message"]
    assert "'rowz'" in said
    assert "Did you mean 'rows'" in said
    assert "which is no list" in mapped(echo(), lambda: "abc").errors["m"]["message"]
    net = rl.create_network()
    net.task("t", lambda item: item)
    with pytest.raises(rl.GraphError, match="asks for 'item'"):
        net.validate()
    net = rl.create_network()
    net.task("t", echo(), concurrency=3)
    with pytest.raises(rl.GraphError, match="no map_over="):
        net.validate()
    net = rl.create_network()
    net.task("a", echo())
    net.task("m", echo(), map_over="a", depends_on=["a"])
    assert "is a text, and no list" in net.run("x").errors["m"]["message"]


def test_nothing_to_map_over_is_a_result_without_rows():
    result = mapped(echo(), [])
    assert (result.status, list(result["m"]), result["m"].ok, result.text) == (
        "completed", [], True, "",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["generator", "async generator"])
def test_generators_are_read_no_further_than_what_is_being_done(kind):
    read, done = [], []

    def plain():
        for n in range(30):
            read.append(n)
            yield n

    async def slow():
        for n in plain():
            await asyncio.sleep(0)
            yield n

    async def one(item):
        assert len(read) <= len(done) + 3
        await asyncio.sleep(0.001)
        done.append(item)
        return item

    source = plain if kind == "generator" else slow
    result = mapped(one, lambda: source(), concurrency=3)
    assert result["m"].value == list(range(30))
    assert result.state.tasks["m"].total is None


# -- failures ---------------------------------------------------------------------------------


def picky(item):
    if item % 2:
        raise ValueError(f"{item} is odd")
    return item


def test_failed_items_are_rows_and_the_others_go_on():
    net = rl.create_network("n")
    net.task("m", picky, map_over=[0, 1, 2, 3])
    net.task("sum", lambda upstream: sum(v for v in upstream["m"].values if v), depends_on=["m"])
    net.task("say", echo(), prompt="{{ upstream.m }}", depends_on=["m"])
    result = net.run("x")
    found = result["m"]
    assert (result.status, found.value, found.ok, found.done) == ("completed", [0, None, 2, None],
                                                                 False, 2)  # fmt: skip
    assert {n: e["message"] for n, e in found.errors.items()} == {1: "1 is odd", 3: "3 is odd"}
    assert found[1].status == "failed"
    assert isinstance(found[1].error, ValueError)
    assert result["sum"].value == 2
    assert result["say"].text == "re 0\n2"
    last = next(e for e in result.events if e.type == "map.completed")
    assert last.data == {"task": "m", "done": 2, "failed": 2}
    assert RunState.fold(result.events) == result.state


def test_on_item_failure_fail_lets_all_end_and_then_fails_the_task():
    net = rl.create_network("n")
    net.task("m", picky, map_over=[0, 1, 2, 3], on_item_failure="fail", concurrency=1)
    net.task("after", lambda: 1, depends_on=["m"])
    result = net.run("x")
    assert result.status == "failed"
    assert result.errors["m"]["type"] == "ItemsFailed"
    assert "2 of 4 items failed; item 1: 1 is odd" in result.errors["m"]["message"]
    assert result["m"].value == [0, None, 2, None]
    assert result.state.tasks["after"].status == "blocked"


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=25),
    st.integers(1, 6),
    st.booleans(),
)
def test_rows_are_in_order_and_never_more_at_once_than_allowed(items, most, counted):
    going = peak = 0

    async def one(item, index):
        nonlocal going, peak
        going += 1
        peak = max(peak, going)
        try:
            for _ in range(item[0]):
                await asyncio.sleep(0)
            if item[1]:
                raise ValueError(str(index))
            return index
        finally:
            going -= 1

    result = mapped(one, items if counted else lambda: iter(items), concurrency=most)["m"]
    bad = [n for n, item in enumerate(items) if item[1]]
    assert result.value == [None if n in bad else n for n in range(len(items))]
    assert {n: e["message"] for n, e in result.errors.items()} == {n: str(n) for n in bad}
    assert peak <= most
    assert going == 0


def test_each_item_has_its_own_tries_and_its_own_time():
    tries = {}

    async def one(item):
        tries[item] = tries.get(item, 0) + 1
        if item == "slow":
            await asyncio.sleep(30)
        if item == "flaky" and tries[item] < 3:
            raise OSError("again")
        return tries[item]

    result = mapped(one, ["fine", "flaky", "slow"], retries=2, retry_wait=0, timeout=0.2)
    assert result["m"].value == [1, 3, None]
    assert result["m"].errors[2]["type"] == "AwaitTimeout"
    assert tries == {"fine": 1, "flaky": 3, "slow": 3}
    retried = [e.data for e in result.events if e.type == "task.retried"]
    assert sorted((d["item"], d["attempt"]) for d in retried) == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_a_step_of_an_item_activates_nothing():
    found = mapped(lambda item: rl.FlowResult(item).halt(), [1])["m"]
    assert "activates or halts" in found.errors[0]["message"]
    assert mapped(lambda item: rl.FlowResult(item), [1])["m"].value == [1]


# -- where it is seen -------------------------------------------------------------------------


def test_items_have_rows_in_the_table_of_tasks_and_paths_of_their_own():
    pytest.importorskip("pandas")
    inner = rl.create_network("inner")
    inner.task("deep", echo())
    result = mapped(inner, ["a", "b"], retries=1)
    assert [row["deep"].text for row in result["m"]] == ["re a", "re b"]
    paths = {s.scope.path for s in result.state.walk() if s.scope.kind == "robot"}
    assert paths == {("n", "m", f"map:{n}", "try:1", "deep") for n in (0, 1)}
    tasks = result.frames.tasks
    rows = tasks[tasks.network == "n"]
    assert list(rows.path) == ['["n", "m"]', '["n", "m", "map:0"]', '["n", "m", "map:1"]']
    assert list(rows.item.fillna(-1)) == [-1, 0, 1]
    assert rows.tokens.iloc[0] == rows.tokens.iloc[1:].sum() > 0
    items = result.state.tasks["m"].items
    assert [items[n].child_run_id for n in (0, 1)] == [row.run_id for row in result["m"]]


def test_a_mapped_robot_starts_empty_each_time_and_keeps_nothing():
    bot = echo(system_prompt="Be brief.")
    result = mapped(bot, ["a", "b"])
    assert [len(row.messages) for row in result["m"]] == [2, 2]
    assert len(bot.messages) == 1


def test_a_map_that_was_finished_is_a_map_again_in_a_run_that_goes_on_from_its_events():
    broken = True

    def last(upstream):
        if broken:
            raise ValueError("not yet")
        return (upstream["m"].values, list(upstream["m"].errors))

    net = rl.create_network("n")
    net.task("m", picky, map_over=[0, 1, 2])
    net.task("last", last, depends_on=["m"])
    first = net.run("x")
    broken = False
    assert net.resume(first.events)["last"].value == ([0, None, 2], [1])


@pytest.mark.parametrize("part", ["items", "condition"])
def test_other_items_or_another_condition_are_noticed_when_a_run_goes_on(part):
    def once(result):
        return True

    def twice(result, turn):
        return turn == 2

    def network(items, until):
        net = rl.create_network("n")
        net.task("m", lambda item: item, map_over=items, loop=rl.Loop(until))
        return net

    first = network([1, 2], once).run("x")
    assert network([1, 2], once).resume(first)["m"].values == [1, 2]
    other = network([1, 3], once) if part == "items" else network([1, 2], twice)
    with pytest.raises(rl.RobotLabError, match="'m'"):
        other.resume(first)


# -- people and stopping inside items -----------------------------------------------------------


def test_a_person_may_do_the_items_and_is_asked_all_of_them():
    waiting = mapped(rl.Human("editor"), ["a", "b"])
    assert (waiting.status, [asked.text for asked in waiting.pending]) == ("waiting", ["a", "b"])
    ids = [asked.question_id for asked in waiting.pending]
    answered = waiting.answer({ids[1]: "B"})
    assert answered.status == "waiting"
    assert answered.answer("A")["m"].values == ["A", "B"]


def test_robots_in_the_middle_of_an_answer_are_stopped_at_once():
    async def slow(request):
        await asyncio.sleep(60)
        return "late"

    net = rl.create_network("n")
    net.task("m", rl.build("b", model=rl.SimulatedModel(slow)), map_over=range(200), concurrency=50)
    run = net.start("x")
    wait_until(lambda: len(run.state.children) == 50)
    began = time.monotonic()
    run.stop()
    assert time.monotonic() - began < 2
    assert {s.status for s in run.state.walk()} == {"interrupted"}


# -- bounds -----------------------------------------------------------------------------------


class Gauge:
    """A model that counts how many answers are being made."""

    def __init__(self):
        self.now = self.peak = 0

    async def __call__(self, request):
        self.now += 1
        self.peak = max(self.peak, self.now)
        await asyncio.sleep(0.002)
        self.now -= 1
        return "ok"


@pytest.mark.parametrize("cap", [1, 3])
def test_caps_on_robots_hold_for_items_and_for_robots_inside_them(cap):
    gauge = Gauge()
    bot = rl.build("bot", model=rl.SimulatedModel(gauge))
    inner = rl.create_network("inner")
    inner.task("one", bot)
    inner.task("two", bot)
    net = rl.create_network("n", max_concurrent_robots=cap)
    net.task("a", bot, map_over=range(12))
    net.task("b", inner, map_over=range(5))
    result = net.run("x")
    assert (result.status, result["a"].ok, result["b"].ok) == ("completed", True, True)
    assert gauge.peak == cap


def test_the_cap_of_a_group_holds_for_functions_that_are_mapped():
    gauge = Gauge()
    result = mapped(
        lambda item: gauge(item), range(20), poller_group="g", network={"group_caps": {"g": 2}}
    )
    assert result["m"].ok
    assert gauge.peak == 2


def test_the_networks_concurrency_holds_where_the_task_says_nothing():
    gauge = Gauge()
    assert mapped(lambda item: gauge(item), range(9), network={"concurrency": 3})["m"].ok
    assert gauge.peak == 3


# -- ending early -----------------------------------------------------------------------------


def test_stop_keeps_the_items_that_were_done():
    began = []

    async def one(item):
        began.append(item)
        if item >= 3:
            await asyncio.sleep(60)
        return item

    net = rl.create_network("n")
    net.task("m", one, map_over=range(10), concurrency=2)
    run = net.start("x")
    wait_until(lambda: len(began) == 5)
    run.stop()
    found = run.so_far()["m"]
    assert (run.status, found.status, found.value) == ("interrupted", "interrupted",
                                                       [0, 1, 2] + [None] * 7)  # fmt: skip
    assert (found.done, found.ok, len(found), began) == (3, False, 10, [0, 1, 2, 3, 4])
    with pytest.raises(rl.TaskNotRun, match="interrupted"):
        found[3]
    items = run.state.tasks["m"].items
    assert [items[n].status for n in sorted(items)] == ["completed"] * 3 + ["interrupted"] * 2


def test_ctrl_c_in_an_items_function_ends_the_whole_run():
    def one(item):
        if item == 2:
            raise KeyboardInterrupt
        return item

    net = rl.create_network("n")
    net.task("m", one, map_over=range(10), concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        net.run("x")


def test_a_spent_budget_begins_no_more_items():
    result = mapped(echo(), range(50), concurrency=2, network={"call_budget": 7})
    found = result["m"]
    assert result.errors["m"]["type"] == "BudgetExceeded"
    assert (found.done, found.status, len(found)) == (7, "failed", 50)
    assert len(result.state.tasks["m"].items) <= 9


def test_a_budget_that_each_item_has_for_itself_ends_that_item_alone():
    def call():
        return "called"

    steps = [("call", {}), "done"]
    bot = rl.build("bot", model=rl.SimulatedModel(steps), tools=[call])
    found = mapped(bot, range(9), config={"call_budget": 1}, concurrency=2)["m"]
    assert (len(found.errors), found.status) == (9, "completed")
    assert {e["type"] for e in found.errors.values()} == {"BudgetExceeded"}


def test_a_refused_key_begins_no_more_items():
    with ModelServer([Reply.error(401)], repeat=True) as server:
        bot = rl.build("bot", model=server.model())
        result = mapped(bot, range(50), concurrency=2)
        assert result.status == "failed"
        assert len(server.requests) <= 3
    assert len(result["m"].errors) <= 3


def test_a_rate_limit_pauses_all_items_and_costs_no_row():
    first = []

    def script(request):
        now = time.monotonic()
        first.append(now)
        if now - first[0] < 0.5:
            return Reply.error(429, headers={"retry-after": "1"})
        return "fine"

    with ModelServer(script=script) as server:
        bot = rl.build("bot", model=server.model())
        result = mapped(bot, range(40), concurrency=4)
        assert result["m"].ok
        assert len(server.requests) <= 40 + 4


# -- figures ----------------------------------------------------------------------------------


def test_memory_of_an_item_is_bounded_and_does_not_grow_with_their_number():
    bot = echo(system_prompt="You are a helpful robot.")
    kept = []

    def cost(items):
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        kept.append(mapped(bot, [f"item {n}" for n in range(items)]))
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / items

    cost(20)
    tracemalloc.start()
    try:
        few, many = cost(150), cost(900)
    finally:
        tracemalloc.stop()
    assert many < 12_000
    assert many < 1.2 * few


def test_a_finished_item_leaves_nothing_for_the_collector():
    net = rl.create_network("n")
    net.task("m", echo(), map_over=range(30))
    net.run("x")
    while gc.collect():  # what earlier tests left, and what that leaves in turn
        pass
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        assert net.run("x")["m"].ok
        gc.collect()
        left = {type(thing).__name__ for thing in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left & {"Run", "Turn", "Doing", "Strand", "RobotResult"}
