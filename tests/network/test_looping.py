"""A task that is repeated: when it ends, what is asked each turn, failures, stopping, paths."""

from __future__ import annotations

import asyncio
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState


def counting(seen=None):
    """A robot that says how many messages it was sent, and what the last one said."""

    def answer(request):
        if seen is not None:
            seen.append([m.text for m in request.messages if m.role == "user"])
        return f"{len(request.messages)} {request.messages[-1].text}"

    return rl.build("bot", model=rl.SimulatedModel(answer))


def looped(runner, until, *, context=None, **options):
    loop = {k: options.pop(k) for k in ("max_turns", "feedback", "on_limit") if k in options}
    net = rl.create_network("n")
    net.task("t", runner, loop=rl.Loop(until, **loop), **options)
    return net.run("x", context=context)


def test_it_ends_when_its_condition_holds_and_keeps_every_turn():
    result = looped(lambda turn, result: turn * 10, lambda result, turn: result.value >= 30)
    found = result["t"]
    assert [one.value for one in found.turns] == [10, 20, 30]
    assert (found.value, found.text, found.met, found.status) == (30, "30", True, "completed")
    assert found.last is found.turns[-1]
    assert result.value == 30
    turned = [e.data for e in result.events if e.type == "loop.turned"]
    assert [(d["turn"], d["again"], d["reason"]) for d in turned] == [
        (1, True, "not yet"), (2, True, "not yet"), (3, False, "until"),
    ]  # fmt: skip
    assert (result.state.tasks["t"].turns, result.state.tasks["t"].attempts) == (3, 1)
    assert RunState.fold(result.events) == result.state


def test_a_function_gets_what_the_turn_before_gave():
    grown = looped(
        lambda result, turn, message: message if result is None else f"{result}+{turn}",
        lambda result: len(result.text) > 4,
    )
    assert grown.text == "x+2+3"


def test_a_robots_conversation_goes_on_from_turn_to_turn_and_is_not_kept():
    seen = []
    bot = counting(seen)
    result = looped(
        bot, lambda result, turn: turn == 3, prompt="Write {{ message }}",
        feedback="{{ turn }}: {{ result }} is too {{ how }}", context={"how": "long"},
    )  # fmt: skip
    assert seen[-1] == ["Write x", "1: 1 Write x is too long", "2: 3 1: 1 Write x is too long is "
                        "too long"]  # fmt: skip
    assert [one.text[0] for one in result["t"].turns] == ["1", "3", "5"]
    assert bot.messages == ()
    assert result.text == result["t"].last.text
    paths = [s.scope.path for s in result.state.children.values()]
    assert paths == [("n", "t", f"turn:{n}") for n in (1, 2, 3)]


def test_conditions_and_feedback_may_be_async_and_feedback_a_function():
    async def until(result, turn):
        await asyncio.sleep(0)
        return turn == 2

    async def feedback(result):
        return f"not {result.text}"

    assert looped(counting(), until, feedback=feedback).text == "3 not 1 x"


@pytest.mark.parametrize("on_limit", ["keep", "fail"])
def test_at_its_bound_the_last_result_stands_or_the_task_fails(on_limit):
    result = looped(lambda turn: turn, lambda r: False, max_turns=3, on_limit=on_limit)
    found = result["t"]
    assert [one.value for one in found.turns] == [1, 2, 3]
    assert found.met is False
    if on_limit == "keep":
        assert (result.status, found.value) == ("completed", 3)
    else:
        assert result.errors["t"]["type"] == "LoopLimit"
        assert (found.status, str(found.error).count("after 3 turns")) == ("failed", 1)
    last = [e.data for e in result.events if e.type == "loop.turned"][-1]
    assert (last["again"], last["reason"]) == (False, "max_turns")


def test_a_condition_that_raises_or_gives_no_truth_value_fails_the_task():
    def broken(result):
        raise KeyError("no such thing")

    result = looped(lambda turn: turn, broken)
    assert result.errors["t"]["type"] == "KeyError"
    assert [one.value for one in result["t"].turns] == [1]
    odd = looped(lambda turn: turn, lambda result: "yes")
    assert "until= returned 'yes'" in odd.errors["t"]["message"]


def test_a_turn_that_fails_keeps_those_before_it():
    def work(turn):
        if turn == 3:
            raise OSError("gone")
        return turn

    result = looped(work, lambda result: False)
    assert result.errors["t"]["message"] == "gone"
    assert [one.value for one in result["t"].turns] == [1, 2]


def test_a_further_try_begins_the_loop_again():
    calls = []

    def work(turn):
        calls.append(turn)
        if len(calls) == 2:
            raise OSError("once")
        return turn

    result = looped(work, lambda result, turn: turn == 2, retries=1, retry_wait=0)
    assert calls == [1, 2, 1, 2]
    assert result.value == 2
    assert result.state.tasks["t"].attempts == 2


def test_the_time_of_a_task_holds_for_all_its_turns():
    async def work(turn):
        await asyncio.sleep(0.15)
        return turn

    result = looped(work, lambda result: False, max_turns=100, timeout=0.4)
    assert result.errors["t"]["type"] == "AwaitTimeout"
    assert 1 <= len(result["t"].turns) <= 2


def test_stop_in_the_middle_keeps_the_turns_that_were_done():
    began = []

    async def work(turn):
        began.append(turn)
        if turn == 3:
            await asyncio.sleep(60)
        return turn

    net = rl.create_network("n")
    net.task("t", work, loop=rl.Loop(lambda result: False))
    run = net.start("x")
    while len(began) < 3:
        time.sleep(0.005)
    run.stop()
    found = run.so_far()["t"]
    assert (run.status, found.status) == ("interrupted", "interrupted")
    assert [one.value for one in found.turns] == [1, 2]


def test_a_network_is_repeated_with_the_feedback_as_its_message():
    inner = rl.create_network("inner")
    inner.task("say", lambda message: f"<{message}>")
    result = looped(inner, lambda result, turn: turn == 2, feedback="again {{ result }}")
    assert result.text == "<again <x>>"


def test_each_item_of_a_map_may_be_repeated():
    net = rl.create_network("n")
    net.task(
        "t", counting(), map_over=["a", "b"],
        loop=rl.Loop(lambda result, turn: turn == 2, feedback="more {{ item }}"),
    )  # fmt: skip
    result = net.run("x")
    assert result["t"].texts == ["3 more a", "3 more b"]
    assert [len(row.turns) for row in result["t"]] == [2, 2]
    paths = {s.scope.path for s in result.state.children.values()}
    assert paths == {("n", "t", f"map:{i}", f"turn:{n}") for i in (0, 1) for n in (1, 2)}
    turned = [e.data for e in result.events if e.type == "loop.turned"]
    assert sorted((d["item"], d["turn"]) for d in turned) == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_what_the_last_turn_activates_is_activated():
    net = rl.create_network("n")

    def work(flow, turn) -> rl.FlowResult:
        return flow.continue_with(turn).activate("extra")

    net.task("t", work, loop=rl.Loop(lambda result: result.value == 2))
    net.task("extra", lambda upstream: upstream["t"].value, optional=True, depends_on=["t"])
    assert net.run("x")["extra"].value == 2


def test_what_is_no_loop_is_refused_when_it_is_declared():
    for options in ({"max_turns": 0}, {"on_limit": "stop"}, {"feedback": "{{ x"}):
        with pytest.raises(rl.ConfigurationError):
            rl.Loop(lambda result: True, **options)
    with pytest.raises(rl.ConfigurationError, match="nothing else"):
        rl.Loop(lambda a, b, c: True)
    with pytest.raises(rl.ConfigurationError, match="no function"):
        rl.Loop(3)
    with pytest.raises(rl.ConfigurationError, match=r"no rl\.Loop"):
        rl.create_network().task("t", counting(), loop=3)
