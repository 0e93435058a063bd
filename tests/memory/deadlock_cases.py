"""Waits that nobody is left to end are ended at once; no other wait ever is.

Told only where every thread of the process is known to wait: run in a process of its own, by
``test_memory_deadlock.py``.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.runtime.deadlines import ending_in

#: far more than a report takes on a busy machine, far less than the waits would
SOON_S = 15.0


@pytest.fixture(scope="module", autouse=True)
def _warm():
    """All is loaded before the times below matter."""

    def look() -> str:
        """Look."""
        return str(rl.create_memory().get("x"))

    net = rl.create_network("n")
    net.task("t", look)
    net.task("b", rl.build("b", model=rl.SimulatedModel([("look", {}), "x"]), tools=[look]))
    net.run("go")


@pytest.fixture
def memory():
    return rl.create_memory(name="m")


def circle(memory):
    """Two tasks that wait for each other, and one that has nothing to do with it."""
    net = rl.create_network("circle")
    net.task("a", lambda: (memory.get("x", wait=100), memory.set("y", 1)))
    net.task("b", lambda: (memory.get("y", wait=200), memory.set("x", 1)))
    net.task("c", lambda: "fine")
    return net


def test_tasks_that_wait_for_each_other_are_told_at_once_who_waits_for_what(memory):
    began = time.monotonic()
    result = circle(memory).run("go")
    assert time.monotonic() - began < SOON_S
    assert (result["a"].status, result["b"].status, result["c"].text) == ("failed",) * 2 + ("fine",)
    told = [dict(e.data) for e in result.events if e.type == "memory.deadlock"]
    assert told == [{"keys": ["x"], "waiting": ["a", "b"]}, {"keys": ["y"], "waiting": ["b"]}]
    error = result.errors["a"]
    assert error["type"] == "AwaitTimeout"
    assert "'a' waits for 'x' of memory 'm', and nobody is left who could write it" in str(error)
    assert "('a' for 'x'; 'b' for 'y')" in str(error)


def test_the_same_for_a_run_that_is_awaited_or_watched(memory):
    began = time.monotonic()
    assert asyncio.run(circle(memory).arun("go")).status == "failed"
    run = circle(memory).start("go")
    assert [e.type for e in run.watch()][-1] == "run.failed"
    assert time.monotonic() - began < SOON_S


def test_the_same_for_async_tasks_and_for_tools_of_one_robot(memory):
    net = rl.create_network("n")

    async def wait():
        return await memory.aget("x", wait=True)

    def tool(key: str) -> str:
        """Wait."""
        return str(memory.get(key, wait=True))

    async def async_tool(key: str) -> str:
        """Wait."""
        return str(await memory.aget(key, wait=True))

    calls = [("tool", {"key": "y"}), ("async_tool", {"key": "z"})]
    model = rl.SimulatedModel([calls, "gave up"])
    net.task("wait", wait)
    net.task("bot", rl.build("bot", model=model, tools=[tool, async_tool]))
    began = time.monotonic()
    result = net.run("go")
    assert time.monotonic() - began < SOON_S
    assert result["bot"].text == "gave up"
    assert result["wait"].status == "failed"
    assert ["nobody is left" in c.content for c in result["bot"].tool_calls] == [True, True]


def test_a_run_inside_a_tool_is_seen_through(memory):
    inner = rl.create_network("inner")
    inner.task("wait", lambda: memory.get("x", wait=True))

    def tool() -> str:
        """Run a network."""
        return inner.run("go").status

    async def async_tool() -> str:
        """Run a network."""
        return (await inner.arun("go")).status

    model = rl.SimulatedModel([[("tool", {}), ("async_tool", {})], "done"])
    began = time.monotonic()
    result = rl.build("b", model=model, tools=[tool, async_tool]).run("x")
    assert time.monotonic() - began < SOON_S
    assert [c.result for c in result.tool_calls] == ["failed", "failed"]


def test_who_is_told_first_may_still_write_what_the_other_waits_for(memory):
    net = rl.create_network("n")

    def impatient():
        try:
            memory.get("never", wait=100)
        except rl.AwaitTimeout:
            memory["plan b"] = "written"

    net.task("impatient", impatient)
    net.task("patient", lambda: memory.get("plan b", wait=200))
    began = time.monotonic()
    result = net.run("go")
    assert time.monotonic() - began < SOON_S
    assert result["patient"].value == "written"


def test_the_time_of_a_tool_counts_as_its_waits_deadline(memory):
    # The tool would be stopped after 60 s, and the robot then writes; the task waits 200 s.
    def tool() -> str:
        """Wait."""
        return str(memory.get("never", wait=300))

    def put() -> str:
        """Put."""
        memory["late"] = 1
        return "put"

    model = rl.SimulatedModel([("tool", {}), ("put", {}), "done"])
    net = rl.create_network("n")
    net.task("bot", rl.build("bot", model=model, tools=[tool, put]))
    net.task("patient", lambda: memory.get("late", wait=200))
    began = time.monotonic()
    result = net.run("go")
    assert time.monotonic() - began < SOON_S
    assert result["patient"].value == 1


# -- whatever could still write ------------------------------------------------------------------

#: seconds until a late writer writes: several looks of the watch
LATE_S = 0.6


def waits_for(memory, key="x"):
    net = rl.create_network("n")
    net.task("wait", lambda: memory.get(key, wait=60))
    return net


def by_timer(memory):
    threading.Timer(LATE_S, memory.set, ("x", 1)).start()


def by_thread(memory):
    threading.Thread(target=lambda: (time.sleep(LATE_S), memory.set("x", 1))).start()


def by_executor(memory):
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    pool.submit(time.sleep, 0).result()
    pool.submit(lambda: (time.sleep(LATE_S), memory.set("x", 1)))
    pool.shutdown(wait=False)


def by_another_run(memory):
    def slow() -> str:
        """Slow."""
        time.sleep(LATE_S)
        memory["x"] = 1
        return ""

    rl.build("other", model=rl.SimulatedModel([("slow", {}), "x"]), tools=[slow]).start("x")


def by_another_runs_model(memory):
    def put() -> str:
        """Put."""
        memory["x"] = 1
        return ""

    model = rl.SimulatedModel([("put", {}), "x"], delay=LATE_S)
    rl.build("other", model=model, tools=[put]).start("x")


def by_subscriber(memory):
    def slow(change):
        time.sleep(LATE_S)
        memory["x"] = 1

    memory.subscribe("start", callback=slow)
    memory["start"] = 1


def by_async_subscriber(memory):
    async def slow(change):
        await asyncio.sleep(LATE_S)
        memory["x"] = 1

    memory.subscribe("start", callback=slow)
    memory["start"] = 1


def by_a_call_later_on_the_engines_loop(memory):
    from robotlab_nb.runtime.loop import engine_loop

    loop = engine_loop().loop
    loop.call_soon_threadsafe(loop.call_later, LATE_S, memory.set, "x", 1)


def by_news_from_another_process(memory):
    # Nothing shows it but the task that awaits it: no thread, no timer.
    async def listen() -> str:
        """Listen."""
        code = f"import time; time.sleep({LATE_S + 0.5}); print('news')"
        program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)  # noqa: ASYNC220
        reader = asyncio.StreamReader()
        way, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), program.stdout
        )
        await reader.readline()
        way.close()
        program.wait()
        memory["x"] = 1
        return ""

    model = rl.SimulatedModel([("listen", {}), "x"])
    rl.build("other", model=model, tools=[listen], tool_timeout=100).start("x")


def by_a_wait_on_another_memory(memory):
    other = rl.create_memory()
    net = rl.create_network("other")
    net.task("pass", lambda: memory.set("x", other.get("y", wait=60)))
    net.start("go")
    threading.Timer(LATE_S, other.set, ("y", 1)).start()


@pytest.mark.parametrize(
    "writer",
    [
        by_timer, by_thread, by_executor, by_another_run, by_another_runs_model, by_subscriber,
        by_async_subscriber, by_a_call_later_on_the_engines_loop, by_news_from_another_process,
        by_a_wait_on_another_memory,
    ],
    ids=lambda writer: writer.__name__,
)  # fmt: skip
def test_nobody_is_told_wrongly_while_somebody_may_write(memory, writer):
    writer(memory)
    result = waits_for(memory).run("go")
    assert result["wait"].value == 1
    assert not any(e.type == "memory.deadlock" for e in result.events)


def test_the_cell_that_started_a_run_may_write(memory):
    run = waits_for(memory).start("go")
    time.sleep(LATE_S)
    memory["x"] = 1
    assert run.result(20)["wait"].value == 1


async def test_other_tasks_and_timers_of_the_awaiting_loop_may_write(memory):
    async def feed():
        await asyncio.sleep(LATE_S)
        memory["x"] = 1

    result, _ = await asyncio.gather(waits_for(memory).arun("go"), feed())
    assert result["wait"].value == 1
    asyncio.get_running_loop().call_later(LATE_S, memory.set, "y", 2)
    assert (await waits_for(memory, "y").arun("go"))["wait"].value == 2


def test_a_task_that_a_tool_left_behind_may_write(memory):
    left = set()

    async def tool() -> str:
        """Start something, then wait for it."""

        async def produce() -> None:
            await asyncio.sleep(LATE_S)
            memory["x"] = 1

        left.add(asyncio.create_task(produce()))
        return str(await memory.aget("x", wait=60))

    model = rl.SimulatedModel([("tool", {}), "done"])
    assert rl.build("b", model=model, tools=[tool]).run("x").tool_calls[0].result == "1"


def test_a_tool_with_a_timeout_of_its_own_may_write(memory):
    async def tool() -> str:
        """Try for a while."""
        try:
            async with asyncio.timeout(LATE_S):
                await memory.aget("never", wait=300)
        except TimeoutError:
            memory["x"] = 1
        return ""

    net = waits_for(memory)
    net.task("bot", rl.build("b", model=rl.SimulatedModel([("tool", {}), "x"]), tools=[tool]))
    assert net.run("go")["wait"].value == 1


def test_a_thread_that_was_given_up_may_write(memory):
    def tool() -> str:
        """Be late."""
        time.sleep(LATE_S)
        memory["x"] = 1
        return ""

    model = rl.SimulatedModel([("tool", {}), "x"])
    net = waits_for(memory)
    net.task("bot", rl.build("b", model=model, tools=[tool], tool_timeout=0.05))
    assert net.run("go")["wait"].value == 1


def test_a_question_to_a_person_may_end_in_a_write(memory):
    def put() -> str:
        """Put."""
        memory["x"] = 1
        return ""

    model = rl.SimulatedModel([("ask_user", {"question": "Which?"}), ("put", {}), "done"])
    net = waits_for(memory)
    net.task("bot", rl.build("b", model=model, tools=[rl.ask_user, put]))
    run = net.start("go")
    while not run.pending:
        time.sleep(0.01)
    time.sleep(LATE_S)
    run.answer("this")
    assert run.result(30)["wait"].value == 1


def test_outside_any_run_a_wait_keeps_its_time(memory):
    began = time.monotonic()
    with pytest.raises(rl.AwaitTimeout, match="waited 0.5 s"):
        memory.get("x", wait=0.5)
    assert time.monotonic() - began >= 0.5


def test_with_a_shorter_time_around_the_shorter_one_holds(memory):
    began = time.monotonic()
    with ending_in(0.2), pytest.raises(rl.AwaitTimeout):
        memory.get("x", wait=100)
    assert time.monotonic() - began < 10


# -- random graphs ---------------------------------------------------------------------------------

TASKS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 5), max_size=2, unique=True),  # keys that it waits for, in order
        st.lists(st.integers(0, 5), max_size=2, unique=True),  # keys that it writes afterwards
        st.booleans(),  # whether it is async
        st.booleans(),  # whether it writes although it waited in vain
    ),
    min_size=1,
    max_size=6,
)


def expected(tasks):
    """Which tasks wait in vain: time passes only when nobody can go on."""
    written, waiting, failed = set(), dict(enumerate(tasks)), set()
    while waiting:
        ready = [n for n, task in waiting.items() if written.issuperset(task[0])]
        # Everybody waits: whose time is up first goes on without.
        n = ready[0] if ready else min(waiting, key=lambda m: tasks[m][4])
        _, writes, _, stubborn, _ = waiting.pop(n)
        if not ready:
            failed.add(n)
        if ready or stubborn:
            written |= set(writes)
    return failed


@settings(max_examples=40)
@given(TASKS, st.randoms(use_true_random=False))
def test_random_graphs_of_writers_and_waiters_end_as_if_time_had_passed(tasks, random):
    seconds = random.sample(range(100, 200), len(tasks))
    tasks = [(*task[:4], s) for task, s in zip(tasks, seconds, strict=True)]
    memory = rl.create_memory()
    net = rl.create_network("n")

    def sync_task(n):
        def work():
            wants, writes, _, stubborn, seconds = tasks[n]
            try:
                if wants:
                    memory.get(*map(str, wants), wait=seconds)
            except rl.AwaitTimeout:
                if stubborn:
                    for key in writes:
                        memory[str(key)] = n
                raise
            for key in writes:
                memory[str(key)] = n

        return work

    def async_task(n):
        async def work():
            wants, writes, _, stubborn, seconds = tasks[n]
            try:
                if wants:
                    await memory.aget(*map(str, wants), wait=seconds)
            except rl.AwaitTimeout:
                if stubborn:
                    for key in writes:
                        memory[str(key)] = n
                raise
            for key in writes:
                memory[str(key)] = n

        return work

    for n, task in enumerate(tasks):
        net.task(f"t{n}", (async_task if task[2] else sync_task)(n))
    began = time.monotonic()
    result = net.run("go")
    assert time.monotonic() - began < SOON_S
    assert {n for n in range(len(tasks)) if result[f"t{n}"].status == "failed"} == expected(tasks)


def test_items_that_wait_for_what_nobody_writes_do_not_wait_in_vain():
    async def one(memory):
        return await memory.aget("never", wait=100)

    net = rl.create_network("n")
    net.task("m", one, map_over=range(3))
    began = time.monotonic()
    result = net.run("x")
    assert time.monotonic() - began < SOON_S
    assert len(result["m"].errors) == 3
