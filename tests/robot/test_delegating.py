"""One robot has another do something: results, futures, and that they always settle."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.event_data import EVENT_TYPES
from robotlab_nb.core.state import RunState
from robotlab_nb.robot.result import RobotResult
from robotlab_nb.runtime import loop as engine_module
from robotlab_nb.runtime import registry
from robotlab_nb.testing import ScriptedModel


def boss():
    return rl.build("boss", model=rl.SimulatedModel("ok"))


def slow(delay=60.0, answer="late"):
    return rl.build("slow", model=rl.SimulatedModel([answer] * 100, delay=delay))


def broken():
    return rl.build("broken", model=ScriptedModel([rl.ModelError("no model", status=400)] * 5))


def test_a_delegated_result_says_who_delegated_it_and_survives_a_round_trip():
    clerk = rl.build("clerk", model=ScriptedModel(["filed", "yours"]))
    result = boss().delegate(clerk, "file this", context={"shelf": 3})
    assert (result.text, result.robot_name, result.delegated_by) == ("filed", "clerk", "boss")
    started = result.events[0]
    assert started.data["delegated_by"] == "boss"
    assert set(started.data) <= set(EVENT_TYPES["run.started"].__annotations__)
    assert result.duration > 0
    assert RobotResult.from_dict(result.to_dict()).delegated_by == "boss"
    assert RobotResult.from_dict(result.export()).delegated_by == "boss"
    assert clerk.run("and mine").delegated_by is None


def test_a_delegated_task_starts_from_nothing_and_leaves_the_conversation_alone():
    clerk = rl.build("clerk", model=ScriptedModel(["mine", "theirs"]))
    clerk.run("hello")
    result = boss().delegate(clerk, "file this")
    assert [m.text for m in result.messages] == ["file this", "theirs"]
    assert [m.text for m in clerk.messages] == ["hello", "mine"]


def test_keywords_of_a_run_are_keywords_of_a_delegation():
    clerk = rl.build("clerk", model=ScriptedModel(['{"value": 3}']))
    assert boss().delegate(clerk, "count", output=int).parsed == 3
    with pytest.raises(rl.UnknownKeyword, match="Did you mean 'output'"):
        boss().delegate(clerk, "count", outptu=int)
    for wrong in (rl.Bus(), "clerk", None):
        with pytest.raises(rl.ConfigurationError, match="can delegate to a robot"):
            boss().delegate(wrong, "count")
    with pytest.raises(rl.ConfigurationError, match=r"future.value\(timeout\)"):
        boss().delegate(clerk, "count", wait=False, timeout=3)


async def test_delegating_can_be_awaited():
    clerk = rl.build("clerk", model=ScriptedModel(["one", "two"]))
    assert (await boss().adelegate(clerk, "a", timeout=30)).text == "one"
    future = boss().delegate(clerk, "b", wait=False)
    assert (await future).text == "two"
    assert (await future.avalue(0)).delegated_by == "boss"


def test_a_future_gives_its_value_again_and_again():
    future = boss().delegate(slow(0.05, "done"), "x", wait=False)
    assert not future.resolved
    assert future.error is None
    assert future.value(30) is future.value()
    assert (future.resolved, future.error, future.value(0).text) == (True, None, "done")


def test_the_time_may_be_up_and_the_task_goes_on():
    gate = threading.Event()

    def wait() -> str:
        """Wait."""
        gate.wait(20)
        return "waited"

    def step(request):
        return "done" if request.messages[-1].role == "tool" else ("wait", {})

    clerk = rl.build("clerk", model=rl.SimulatedModel(step), tools=[wait])
    with pytest.raises(rl.DelegationTimeout, match=r"'clerk' did not .* within 0.05 s") as caught:
        boss().delegate(clerk, "x", timeout=0.05)
    future = boss().delegate(clerk, "x", wait=False)
    for _ in range(2):
        with pytest.raises(rl.DelegationTimeout):
            future.value(0.02)
    with pytest.raises(rl.DelegationTimeout):
        asyncio.run(future.avalue(0.02))
    assert not caught.value.run.done
    gate.set()
    assert caught.value.run.result(20).text == future.value(20).text == "done"


def test_what_the_task_failed_with_is_raised_each_time():
    future = boss().delegate(broken(), "x", wait=False)
    for _ in range(3):
        with pytest.raises(rl.ModelError, match="no model"):
            future.value(30)
    assert future.resolved
    assert isinstance(future.error, rl.ModelError)
    with pytest.raises(rl.ModelError):
        asyncio.run(future.avalue())
    with pytest.raises(rl.ModelError):
        boss().delegate(broken(), "x")


def test_a_task_that_fails_with_a_timeout_of_its_own_is_not_one_of_ours():
    def wait() -> str:
        """Wait for the tide."""
        raise rl.AwaitTimeout("the tide did not come")

    model = ScriptedModel([("wait", {}), "done"])
    clerk = rl.build("clerk", model=model, tools=[wait], raise_on_error=True)
    future = boss().delegate(clerk, "x", wait=False)
    with pytest.raises(rl.AwaitTimeout, match="the tide did not come"):
        future.value(30)


@pytest.mark.parametrize("wrong", [OSError("disk"), BaseException("odd"), ValueError("no")])
def test_it_settles_with_any_exception_of_the_model(wrong):
    def answer(request):
        raise wrong

    future = boss().delegate(rl.build("x", model=rl.SimulatedModel(answer)), "x", wait=False)
    with pytest.raises(BaseException):  # noqa: B017
        future.value(30)
    assert future.resolved
    assert future.error is not None


def test_cancelling_and_stopping_settle_it():
    one, two = (boss().delegate(slow(), "x", wait=False) for _ in range(2))
    one.cancel("enough")
    two.run.stop()
    for future in (one, two):
        with pytest.raises(rl.RunInterrupted):
            future.value(10)
        assert isinstance(future.error, rl.RunInterrupted)
    assert "enough" in str(one.error)
    assert repr(one) == "<DelegationFuture of 'slow', by 'boss': interrupted>"


async def test_a_cancelled_wait_stops_the_task():
    future = boss().delegate(slow(), "x", wait=False)
    for wait in (future.avalue(30), boss().adelegate(slow(), "y", timeout=30)):
        waiter = asyncio.ensure_future(wait)
        await asyncio.sleep(0.05)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
    with pytest.raises(rl.RunInterrupted):
        await future


def test_callbacks_get_the_future_and_one_that_raises_harms_nothing():
    seen, done = [], threading.Event()
    future = boss().delegate(slow(0.2, "x"), "x", wait=False)
    future.when_done(lambda f: 1 / 0)
    future.when_done(lambda f: (seen.append(f.value().text), done.set()))
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError"):
        assert done.wait(20)
    future.when_done(lambda f: seen.append(f is future))
    assert seen == ["x", True]


# -- inside runs ---------------------------------------------------------------------------


def test_inside_a_tool_it_is_a_run_inside_and_ends_with_it():
    left = []
    clerk = rl.build("clerk", model=ScriptedModel(["filed"]))

    def file(robot: rl.Robot) -> str:
        """File it."""
        left.append(robot.delegate(slow(), "x", wait=False))
        return robot.delegate(clerk, "file this").text

    chief = rl.build("chief", model=ScriptedModel([("file", {}), "all done"]), tools=[file])
    result = chief.run("go")
    assert result.tool_calls[0].result == "filed"
    children = {s.scope.path[-1]: s for s in result.state.children.values()}
    assert children["clerk"].scope.path == ("chief", "clerk")
    assert children["clerk"].info["delegated_by"] == "chief"
    assert children["clerk"].scope.root_id == result.run_id
    with pytest.raises(rl.RunInterrupted, match="the run that started it ended"):
        left[0].value(10)
    assert RunState.fold(result.events) == result.state


def test_robots_that_delegate_in_a_circle_are_stopped_by_the_depth():
    deepest = []

    async def pass_on(run: rl.Run, robot: rl.Robot) -> str:
        """Pass it on."""
        deepest.append(run.scope.depth)
        return (await robot.adelegate(robot, "do it")).text

    def step(request):
        return "done" if request.messages[-1].role == "tool" else ("pass_on", {})

    bot = rl.build("bot", model=rl.SimulatedModel(step), tools=[pass_on])
    assert bot.run("go").text == "done"
    assert max(deepest) == 16


def test_on_the_engines_loop_value_is_refused_and_awaiting_works():
    async def ask(robot: rl.Robot) -> str:
        """Ask."""
        future = robot.delegate(slow(0.02, "yes"), "x", wait=False)
        with pytest.raises(rl.ConfigurationError, match="await future"):
            future.value()
        with pytest.raises(rl.ConfigurationError, match="delegate"):
            robot.delegate(slow(), "x")
        return (await future.avalue(20)).text

    chief = rl.build("chief", model=ScriptedModel([("ask", {}), "done"]), tools=[ask])
    assert chief.run("go").tool_calls[0].result == "yes"


def test_it_settles_when_the_loop_was_lost_and_never_turns_again(monkeypatch):
    monkeypatch.setattr(registry, "PATIENCE_S", 0.2)
    gate = threading.Event()

    async def block() -> str:
        """Block the loop: that is the fault."""
        gate.wait(30)
        return "late"

    future = boss().delegate(slow(), "x", wait=False)
    blocker = rl.build("blocker", model=ScriptedModel([("block", {}), "x"]), tools=[block])
    run = blocker.start("go")
    end = time.monotonic() + 10
    while not run.state.tool_calls and time.monotonic() < end:
        time.sleep(0.005)
    before = engine_module.engine_loop()
    run.stop()
    with pytest.raises(rl.RunInterrupted):
        future.value(20)
    assert engine_module.engine_loop() is not before
    assert boss().delegate(slow(0, "again"), "x").text == "again"
    gate.set()


ENDINGS = {
    "quick": {type(None), rl.RunInterrupted},
    "slow": {rl.RunInterrupted},
    "broken": {rl.ModelError, rl.RunInterrupted},
}
ENDS = ["cancel", "stop", "parent", "nothing", "timeout"]


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from(ENDS), st.sampled_from(["quick", "slow", "broken"])), max_size=6
    ),
    st.floats(0, 0.02),
)
def test_futures_settle_whatever_is_cancelled_when(plans, pause):
    makers = {"quick": lambda: slow(0.01), "slow": lambda: slow(60), "broken": broken}
    futures = []

    def hand_out(robot: rl.Robot) -> str:
        """Hand out work."""
        for end, kind in plans:
            if end == "parent":
                futures.append((end, kind, robot.delegate(makers[kind](), "x", wait=False)))
        return "ok"

    chief = rl.build("chief", model=ScriptedModel([("hand_out", {}), "ok"]), tools=[hand_out])
    for end, kind in plans:
        if end != "parent":
            futures.append((end, kind, boss().delegate(makers[kind](), "x", wait=False)))
    called = []
    whole = chief.start("go")
    time.sleep(pause)
    for end, kind, future in list(futures):
        future.when_done(called.append)
        if end == "cancel" or kind == "slow":
            future.cancel()
        elif end == "stop":
            future.run.stop()
        elif end == "timeout":
            with contextlib.suppress(rl.DelegationTimeout, rl.ModelError):
                future.value(0)
    whole.result(30)
    for end, kind, future in futures:
        if end == "parent" and kind == "slow":
            future.cancel()
        with contextlib.suppress(rl.RunInterrupted, rl.ModelError):
            assert future.value(30).text == "late"
        assert future.resolved
        assert type(future.error) in ENDINGS[kind]
    assert set(called) <= {future for _, _, future in futures}
    assert len(called) == len(set(called))
