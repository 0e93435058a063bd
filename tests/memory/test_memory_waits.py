"""Waiting for keys: on any thread and loop, one deadline, slots given back, ends with its run."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.memory import waits
from robotlab_nb.runtime import loop as engine
from robotlab_nb.runtime import threads


def later(seconds, function, *arguments):
    timer = threading.Timer(seconds, function, arguments)
    timer.start()
    return timer


@pytest.fixture
def memory():
    return rl.create_memory(name="m")


def test_a_key_that_is_there_is_not_waited_for_even_when_it_holds_none(memory):
    memory["a"] = None
    assert memory.get("a", wait=True) is None
    assert memory.get("a", "results", wait=0) == {"a": None, "results": []}


def test_a_thread_waits_until_another_writes(memory):
    later(0.1, memory.set, "a", 1)
    began = time.monotonic()
    assert memory.get("a", wait=20) == 1
    assert time.monotonic() - began < 5


def test_one_deadline_holds_for_all_keys_and_the_missing_ones_are_named(memory):
    # Each key comes within the time, but one after the other they would not.
    memory["a"] = 1
    later(0.2, memory.set, "b", 2)
    began = time.monotonic()
    with pytest.raises(rl.AwaitTimeout, match=r"for 'c', 'd' of memory 'm'") as caught:
        memory.get("a", "b", "c", "d", wait=0.4)
    assert 0.4 <= time.monotonic() - began < 2
    assert isinstance(caught.value, TimeoutError)


@pytest.mark.parametrize("wait", [-1, float("inf"), float("nan"), "5", None])
def test_a_wait_that_is_no_time_is_refused(memory, wait):
    with pytest.raises(rl.InputError, match="wait="):
        memory.get("a", wait=wait)


def test_waiting_without_a_number_ends_after_five_minutes(memory, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(waits, "monotonic", lambda: now[0])
    timer = later(0.1, now.__setitem__, 0, 299.9)
    second = later(0.5, now.__setitem__, 0, 300.1)
    with pytest.raises(rl.AwaitTimeout, match="waited 300 s"):
        memory.get("a", wait=True)
    assert not timer.is_alive()
    second.join()


async def test_async_code_waits_on_its_own_loop(memory):
    later(0.05, memory.set, "a", 1)
    assert await memory.aget("a", wait=20) == 1
    with pytest.raises(rl.AwaitTimeout, match="'b'"):
        await memory.aget("a", "b", wait=0.01)


def test_one_wait_after_the_other_on_loops_that_come_and_go(memory):
    for n in range(3):
        later(0.05, memory.set, f"k{n}", n)
        assert asyncio.run(memory.aget(f"k{n}", wait=20)) == n


def test_two_loops_a_thread_and_a_run_wait_for_one_key(memory):
    found = []

    async def tool() -> str:
        """Wait."""
        return str(await memory.aget("a", wait=20))

    def sync_tool() -> str:
        """Wait."""
        return str(memory.get("a", wait=20))

    model = rl.SimulatedModel([[("tool", {}), ("sync_tool", {})], "done"])
    run = rl.build("b", model=model, tools=[tool, sync_tool]).start("x")
    others = [
        threading.Thread(target=lambda: found.append(memory.get("a", wait=20))),
        threading.Thread(target=lambda: found.append(asyncio.run(memory.aget("a", wait=20)))),
    ]
    for other in others:
        other.start()
    while len(memory._waits) < 4:
        time.sleep(0.01)
    memory["a"] = 7
    for other in others:
        other.join(20)
    assert found == [7, 7]
    assert [c.result for c in run.result(20).tool_calls] == ["7", "7"]
    assert memory._waits == set()


def test_a_sync_wait_on_the_engines_loop_is_refused_at_once(memory):
    async def tool() -> str:
        """Wait wrongly."""
        memory["there"] = 1
        memory.get("there", wait=True)
        return str(memory.get("a", wait=True))

    model = rl.SimulatedModel([("tool", {}), "done"])
    began = time.monotonic()
    result = rl.build("b", model=model, tools=[tool]).run("x")
    assert "await memory.aget(" in result.tool_calls[0].content
    assert time.monotonic() - began < 5


def test_waiting_sync_work_gives_its_slots_back(memory, monkeypatch):
    monkeypatch.setattr(threads, "FIRST", 2)
    monkeypatch.setattr(threads, "PATIENCE_S", 60.0)  # the limiter does not grow meanwhile
    rl.shutdown()  # the next loop has a limiter of two
    net = rl.create_network("n")
    for n in range(6):
        net.task(f"wait{n}", lambda: memory.get("go", wait=60))
    net.task("write", lambda: memory.set("go", "went"))
    began = time.monotonic()
    result = net.run("x")
    assert time.monotonic() - began < 20
    assert {result[f"wait{n}"].value for n in range(6)} == {"went"}
    loop = engine.engine_loop().loop
    settled = threading.Event()
    loop.call_soon_threadsafe(settled.set)
    assert settled.wait(5)
    slots = threads._slots[loop]
    assert (slots.lent, slots.limiter.total_tokens, slots.limiter.borrowed_tokens) == (0, 2, 0)
    rl.shutdown()


def test_a_wait_in_a_thread_ends_soon_after_its_run_was_stopped(memory, monkeypatch):
    monkeypatch.setattr(waits, "LOOK_S", 0.05)
    ended = []

    def tool() -> str:
        """Wait."""
        try:
            return str(memory.get("never", wait=200))
        except rl.RobotLabError as error:
            ended.append(error)
            raise

    run = rl.build("b", model=rl.SimulatedModel([("tool", {}), "x"]), tools=[tool]).start("x")
    while not memory._waits:
        time.sleep(0.01)
    run.stop()
    end = time.monotonic() + 10
    while not ended and time.monotonic() < end:
        time.sleep(0.01)
    assert isinstance(ended[0], rl.RunInterrupted)
    loop = engine.engine_loop().loop
    assert threads._slots[loop].lent == 0


def test_a_wait_lasts_no_longer_than_the_tool_that_it_is_in(memory):
    ended = threading.Event()

    def tool() -> str:
        """Wait."""
        try:
            memory.get("never", wait=200)
        finally:
            ended.set()
        return ""

    model = rl.SimulatedModel([("tool", {}), "x"])
    run = rl.build("b", model=model, tools=[tool], tool_timeout=0.3).start("x")
    assert ended.wait(10)
    assert "Error" in run.result().tool_calls[0].content


def test_a_wait_is_recorded_from_beginning_to_end(memory):
    later(0.1, memory.set, "b", 2)
    memory["a"] = 1
    memory.get("a", "b", wait=20)
    with pytest.raises(rl.AwaitTimeout):
        memory.get("b", "c", wait=0.01)
    told = [e for e in rl.session_events() if e.type in ("memory.waiting", "memory.got")][-4:]
    assert [dict(e.data) for e in told[::2]] == [
        {"keys": ["a", "b"], "timeout_s": 20.0}, {"keys": ["b", "c"], "timeout_s": 0.01},
    ]  # fmt: skip
    assert [e.data["found"] for e in told[1::2]] == [["a", "b"], ["b"]]
    assert 0.05 < told[1].data["waited_s"] < 10


def test_a_cancelled_wait_leaves_nothing_behind(memory):
    async def main():
        waiting = asyncio.create_task(memory.aget("never", wait=True))
        await asyncio.sleep(0.05)
        assert len(memory._waits) == 1
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert memory._waits == set()
    from robotlab_nb.memory import deadlock
    from robotlab_nb.runtime import stillness

    assert deadlock._waits == set()
    assert not stillness._tasks
    assert not stillness._loops
    assert not stillness._threads
