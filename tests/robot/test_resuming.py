"""Going on with a turn that was stopped, failed, or waited for a person before a restart."""

from __future__ import annotations

import json
import threading

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel


def told(source):
    """A run's events as somebody would find them in a file."""
    return [json.loads(json.dumps(e.to_dict())) for e in source.events]


def texts(result):
    return [(m.role, m.text or [r.content_text for r in m.tool_results]) for m in result.messages]


def shop(*steps, **more):
    return rl.build("shop", model=rl.SimulatedModel(list(steps)), **more)


ASK = ("ask_user", {"question": "Which size?"})


@pytest.mark.parametrize("answers", ["text", "call", "question", "list"])
def test_a_turn_that_waited_goes_on_with_the_answer(answers):
    waiting = shop(ASK, "ordered", tools=[rl.ask_user]).run("shoes")
    asked = waiting.pending[0]
    given = {
        "text": {"Which size?": "L"},
        "call": {asked.tool_call_id: "L"},
        "question": {asked.question_id: "L"},
        "list": ["L"],
    }[answers]
    bot = shop("ordered L", tools=[rl.ask_user])
    result = bot.resume(told(waiting), answers=given)
    assert result.text == "ordered L"
    assert result.status == "completed"
    assert result.state.info["resumed_from"] == waiting.run_id != result.run_id
    assert [role for role, _ in texts(result)] == ["user", "assistant", "tool", "assistant"]
    assert texts(result)[2] == ("tool", ["L"])
    assert bot.messages == tuple(result.messages)
    assert RunState.fold(result.events) == result.state
    assert len(result.state.model_calls) == 1
    assert not result.tool_calls[0].possibly_repeated
    waiting.answer("S")


def test_without_an_answer_the_question_is_asked_again():
    waiting = shop(ASK, "ordered", tools=[rl.ask_user]).run("shoes")
    result = shop("ordered", tools=[rl.ask_user]).resume(told(waiting))
    assert result.status == "waiting"
    assert result.pending[0].text == "Which size?"
    assert result.answer("M").text == "ordered"
    waiting.answer("S")


def test_the_request_after_a_restart_is_the_one_that_would_have_been_sent():
    calls = Reply.tool_call("ask_user", {"question": "Which size?"})
    bodies = []
    with ModelServer([calls, "ordered"]) as server:
        bot = rl.build("shop", system_prompt="Sell.", model=server.model(), tools=[rl.ask_user])
        bot.run("x", answers={"*": "L"})
        bodies.append([r.messages for r in server.requests][-1])
    with ModelServer([calls, "ordered"]) as server:
        bot = rl.build("shop", system_prompt="Sell.", model=server.model(), tools=[rl.ask_user])
        waiting = bot.run("x")
        events = told(waiting)
        waiting._run.stop()
        again = rl.build("shop", system_prompt="Sell.", model=server.model(), tools=[rl.ask_user])
        assert again.resume(events, answers={"*": "L"}).text == "ordered"
        bodies.append([r.messages for r in server.requests][-1])
        assert len(server.requests) == 2
    for body in bodies:  # ids of calls are the server's own
        for message in body:
            message.pop("tool_call_id", None)
            for call in message.get("tool_calls", ()):
                call.pop("id")
    assert bodies[0] == bodies[1]


def test_results_that_were_there_are_kept_and_only_the_rest_is_called():
    called = []

    def look(place: str) -> str:
        "Look."
        called.append(place)
        return f"seen {place}"

    steps = [[("look", {"place": "here"}), ASK], "done"]
    waiting = rl.build("b", model=rl.SimulatedModel(steps), tools=[look, rl.ask_user])
    first = waiting.run("x")
    assert first.status == "waiting"
    assert called == ["here"]
    bot = rl.build("b", model=rl.SimulatedModel(["done"]), tools=[look, rl.ask_user])
    result = bot.resume(told(first), answers={"Which size?": "L"})
    assert called == ["here"]
    assert texts(result)[2] == ("tool", ["seen here", "L"])
    first._run.stop()


def test_a_stopped_turn_goes_on_and_a_call_that_had_begun_is_marked():
    began, calls = threading.Event(), []

    async def slow(n: int) -> int:
        "Slow."
        import asyncio

        calls.append(n)
        began.set()
        if len(calls) == 1:
            await asyncio.sleep(60)
        return n + 1

    bot = shop(("slow", {"n": 1}), "two", tools=[slow])
    run = bot.start("x")
    began.wait(10)
    run.cancel()
    with pytest.raises(rl.RunInterrupted) as stopped:
        run.result()
    assert len(bot.messages) == 3  # the stopped turn is in the conversation
    result = bot.resume(stopped.value)
    assert result.text == "two"
    assert calls == [1, 1]
    assert result.tool_calls[0].result == 2
    assert result.tool_calls[0].possibly_repeated
    assert texts(result)[2] == ("tool", ["2"])
    assert bot.messages == tuple(result.messages)  # and was replaced by the whole one
    assert run.events[-1].type == "run.interrupted"


def test_a_failed_turn_goes_on_from_its_last_message():
    with ModelServer(
        [Reply.tool_call("add", {"a": 1, "b": 2}), Reply.error(400, "no"), "3"]
    ) as server:

        def add(a: int, b: int) -> int:
            "Add."
            return a + b

        bot = rl.build("b", model=server.model(), tools=[add])
        with pytest.raises(rl.ModelError) as failed:
            bot.run("1 + 2")
        result = bot.resume(failed.value)
        assert result.text == "3"
        assert len(server.requests) == 3
        assert result.tool_calls == []
        assert [role for role, _ in texts(result)] == ["user", "assistant", "tool", "assistant"]


def test_an_answer_that_was_cut_is_asked_for_again():
    with ModelServer([Reply.text("one " * 500).paced(0.02), "whole"]) as server:
        bot = rl.build("b", model=server.model())
        heard = threading.Event()
        run = bot.start("x", on_content=lambda text: heard.set())
        assert heard.wait(10)
        run.stop()
        assert run.state.messages[-1].text.startswith("one ")
        result = bot.resume(run)
    assert texts(result) == [("user", "x"), ("assistant", "whole")]


def test_the_conversation_before_the_turn_is_told_too():
    bot = shop("hello", ASK, "unused", tools=[rl.ask_user])
    bot.run("hi")
    waiting = bot.run("shoes")
    seen = []

    def answer(request):
        seen.append([m.text for m in request.messages if m.role in ("user", "assistant")])
        return "ordered"

    again = rl.build("shop", model=rl.SimulatedModel(answer), tools=[rl.ask_user])
    again.resume(told(waiting), answers=["L"])
    assert seen == [["hi", "hello", "shoes", ""]]
    assert len(again.messages) == 6
    waiting._run.stop()


def test_a_robot_that_spoke_in_between_keeps_the_turn_with_its_result():
    waiting = shop(ASK, tools=[rl.ask_user]).run("shoes")
    events = told(waiting)
    waiting._run.stop()
    bot = shop("elsewhere", "ordered", tools=[rl.ask_user])
    bot.run("something else")
    before = bot.messages
    result = bot.resume(events, answers=["L"])
    assert bot.messages == before
    assert result.state.conversation == "forked"
    assert [m.text for m in result.conversation if m.role == "user"] == ["shoes"]


def test_an_answer_that_was_there_costs_no_request():
    bot = shop("hello")
    events = told(bot.run("hi"))
    torn = [e for e in events if e["type"] not in ("run.completed", "conversation.committed")]
    again = rl.build("shop", model=ScriptedModel([]))
    result = again.resume(torn)
    assert result.text == "hello"
    assert not result.state.model_calls
    assert len(again.messages) == 2


def test_what_cannot_be_gone_on_with_is_refused():
    bot = shop("hello", ASK, tools=[rl.ask_user])
    with pytest.raises(rl.InputError, match="is completed"):
        bot.resume(bot.run("x"))
    waiting = bot.run("y")
    with pytest.raises(rl.InputError, match="still goes on: it is waiting"):
        bot.resume(waiting)
    waiting._run.stop()
    net = rl.create_network("n")
    net.task("t", lambda message: message)
    with pytest.raises(rl.InputError, match="a run of network 'n', not of a robot"):
        bot.resume(net.run("x").events)
    with pytest.raises(rl.InputError, match="no events"):
        bot.resume(rl.InputError("not of a run"))


def test_a_picture_that_events_do_not_hold_is_taken_from_the_run_or_missed():
    heavy = rl.MediaPart.of(bytes(1_200_000), "image/png", "big.png")
    bot = shop(ASK, "seen", tools=[rl.ask_user])
    run = bot.start("look", attachments=[heavy])
    assert run.result().status == "waiting"
    events = told(run)
    run.stop()
    with pytest.raises(rl.InputError, match=r"big\.png .* is not in the events"):
        bot.resume(events)
    result = bot.resume(run, answers=["L"])
    assert result.messages[0].parts[1].base64 == heavy.base64
