"""Runs without robots: starting, waiting, stopping, watching, nesting."""

from __future__ import annotations

import asyncio
import sys
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.runtime import loop as engine_module
from robotlab_nb.runtime.registry import runs
from robotlab_nb.runtime.run import Run
from robotlab_nb.runtime.threads import in_thread


def make(work, *, name="job", detached=False) -> Run[str]:
    async def whole(run):
        run.started({"name": name})
        await work(run)

    return Run(name, "robot", whole, lambda run: run.state.status, robot=name, detached=detached)


async def nothing(run):
    pass


async def forever(run):
    await asyncio.sleep(3600)


def test_a_blocking_run_returns_its_result_and_a_clean_record():
    run = make(nothing).begin()
    assert run.result() == "completed"
    assert [e.type for e in run.events] == ["run.started", "run.completed"]
    assert [e.seq for e in run.events] == [0, 1]
    assert run.events[0].data["schema_version"] == 1
    assert run.events[0].data["started_at"].endswith("+00:00")


def test_await_works_from_another_loop_and_from_the_engines():
    async def outer(run):
        child = make(nothing, name="child").begin()
        assert await child == "completed"

    async def main():
        return await make(outer).begin()

    assert asyncio.run(main()) == "completed"


def test_a_failure_keeps_the_run_on_the_error():
    async def fail(run):
        raise rl.ModelError("no answer", hint="try again", status=500)

    run = make(fail).begin()
    with pytest.raises(rl.ModelError) as caught:
        run.result()
    assert caught.value.run is run
    assert run.state.error == {
        "type": "ModelError", "message": "no answer", "hint": "try again", "retryable": False,
        "status": 500, "kind": "server",
    }  # fmt: skip


def test_a_group_of_one_error_is_unwrapped():
    async def fail(run):
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [KeyError("k")])])

    with pytest.raises(KeyError, match="k"):
        make(fail).begin().result()


def test_cancel_ends_the_run_as_interrupted():
    run = make(forever).begin()
    run.cancel("enough")
    with pytest.raises(rl.RunInterrupted, match="enough"):
        run.result(5)
    assert run.status == "interrupted"
    assert run.events[-1].data["reason"] == "enough"


def test_cancel_before_the_work_began_still_settles():
    for _ in range(50):
        run = make(forever).begin()
        run.cancel("at once")
        with pytest.raises(rl.RunInterrupted):
            run.result(5)


def test_a_timed_out_result_leaves_the_run_going():
    run = make(forever).begin()
    with pytest.raises(rl.AwaitTimeout, match="goes on"):
        run.result(0.05)
    assert not run.done
    run.stop()
    assert run.status == "interrupted"


def test_cancelling_the_waiter_stops_the_run():
    async def main(run):
        waiter = asyncio.create_task(run.begin().wait())
        await asyncio.sleep(0.05)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter

    run = make(forever)
    asyncio.run(main(run))
    assert run.status == "interrupted"


def test_cancelling_the_waiter_on_the_same_loop_stops_the_run():
    with rl.engine(loop="current"):
        run = make(forever)

        async def main():
            waiter = asyncio.create_task(run.begin().wait())
            await asyncio.sleep(0.01)
            waiter.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiter

        asyncio.run(main())
    assert run.status == "interrupted"


def test_blocking_on_the_engines_own_loop_raises_and_names_the_way():
    async def wrong(run):
        make(nothing).begin().result()

    with pytest.raises(rl.ConfigurationError, match="arun"):
        make(wrong).begin().result()


def test_children_share_the_record_and_end_with_their_parent():
    seen = {}

    async def outer(run):
        seen["child"] = make(forever, name="child").begin()
        await asyncio.sleep(0.01)

    run = make(outer, name="parent").begin()
    run.result()
    child = seen["child"]
    assert child.status == "interrupted"
    assert child.scope.path == ("parent", "child")
    assert child.root is run.root
    assert run.events[-1].type == "run.completed"
    assert RunState.fold(run.events) == run.state
    assert [e.scope.run_id for e in child.events] == [child.id] * len(child.events)


def test_a_detached_run_is_a_root_and_outlives():
    seen = {}

    async def outer(run):
        seen["other"] = make(forever, name="other", detached=True).begin()

    make(outer).begin().result()
    other = seen["other"]
    assert other.root.id == other.id
    assert not other.done
    other.stop()


def test_runs_too_deep_inside_each_other_are_refused():
    async def deeper(run):
        await make(deeper).begin()

    with pytest.raises(rl.ConfigurationError, match="17 deep"):
        make(deeper).begin().result()


def test_watching_late_gives_everything_and_does_not_cancel():
    gate = threading.Event()

    async def work(run):
        run.root.delta(run, "c1", 1, "text", "hello ")
        run.root.delta(run, "c1", 1, "text", "world")
        await in_thread(lambda: gate.wait(10))

    run = make(work).begin()
    while not run.root.so_far():
        time.sleep(0.005)
    items = []
    for item in run.watch():
        items.append(item)
        gate.set()
    assert [getattr(i, "type", None) for i in items] == ["run.started", None, "run.completed"]
    assert items[1].text == "hello world"
    assert run.status == "completed"


def test_a_slow_reader_gets_joined_deltas_and_holds_up_nobody():
    async def work(run):
        for n in range(1000):
            run.root.delta(run, "c1", 1, "text", f"{n} ")

    run = make(work)
    watcher = run.watch()
    run.begin().result()
    items = list(watcher)
    deltas = [i for i in items if isinstance(i, rl.Delta)]
    assert len(deltas) == 1
    assert deltas[0].text == "".join(f"{n} " for n in range(1000))


def test_watch_after_a_number_skips_what_came_before():
    run = make(nothing).begin()
    run.result()
    assert [e.seq for e in run.watch(after=0)] == [1]


def test_live_runs_are_listed_and_stopped():
    run = make(forever).begin()
    assert run in runs()
    assert rl.stop_all() >= 1
    assert run.status == "interrupted"
    assert run not in runs()


def test_a_loop_blocked_by_async_code_is_left_and_the_next_run_works():
    async def block(run):
        time.sleep(4)  # noqa: ASYNC251  (that is the fault)

    run = make(block).begin()
    time.sleep(0.05)
    blocked = engine_module._engine
    began = time.monotonic()
    run.stop()
    assert time.monotonic() - began < 3
    assert run.status == "interrupted"
    assert make(nothing).begin().result() == "completed"
    assert engine_module._engine is not blocked


def test_events_from_many_threads_are_numbered_without_gaps():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:

        async def work(run):
            def emit():
                for _ in range(200):
                    run.emit("bus.sent", {})

            await asyncio.gather(*(in_thread(emit) for _ in range(8)))

        run = make(work).begin()
        run.result(60)
    finally:
        sys.setswitchinterval(before)
    assert [e.seq for e in run.events] == list(range(1602))
    assert all(a.elapsed <= b.elapsed for a, b in zip(run.events, run.events[1:], strict=False))


def test_sync_work_that_waits_for_sync_work_does_not_starve():
    def nested(level):
        async def work(run):
            if level:
                await in_thread(lambda: make(nested(level - 1)).begin().result())

        return work

    async def work(run):
        await asyncio.gather(
            *(in_thread(lambda: make(nested(2)).begin().result()) for _ in range(60))
        )

    assert make(work).begin().result(60) == "completed"


def test_a_forked_child_gets_a_loop_of_its_own():
    import os

    make(nothing).begin().result()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, make(nothing).begin().result(10).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    assert os.read(read, 100) == b"completed"
    os.close(read)


def test_the_engines_mode_is_checked_and_comes_back():
    with pytest.raises(rl.ConfigurationError, match="own"):
        rl.engine(loop="mine")
    with rl.engine(loop="current"):
        assert repr(rl.engine(loop="current")) == "engine(loop='current')"
    rl.engine(loop="own")
    with rl.engine(loop="current"), pytest.raises(rl.ConfigurationError, match="no event loop"):
        make(nothing).begin()
    assert not [run for run in runs() if run.status == "pending"]  # the refused one is not live


def test_a_reader_of_events_that_raises_is_dropped_and_the_run_goes_on():
    from robotlab_nb.runtime.sinks import add_sink, remove_sink

    class Broken:
        def put(self, event):
            raise OSError("disk full")

    class Good:
        def __init__(self):
            self.types = []

        def put(self, event):
            self.types.append(event.type)

    good = Good()
    add_sink(Broken())
    add_sink(good)
    with pytest.warns(RuntimeWarning, match="disk full"):
        make(nothing).begin().result()
    remove_sink(good)
    assert good.types == ["run.started", "run.completed"]
