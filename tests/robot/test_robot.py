"""One robot: building, asking, its conversation, what it refuses."""

from __future__ import annotations

import asyncio
import pickle
import threading

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel

call = ScriptedModel.tool_call


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def adder(*steps, **more):
    return rl.build("adder", model=ScriptedModel(list(steps)), tools=[add], **more)


def test_a_bare_robot_answers_and_says_that_it_is_simulated():
    result = rl.build().run("Hello")
    assert result.text
    assert result.simulated
    assert result.robot_name == "robot"
    assert "simulated" in repr(result)


def test_a_turn_with_tools_is_whole_in_result_events_and_conversation():
    bot = adder(call("add", {"a": 1, "b": 2}), "three")
    result = bot.run("1+2?")
    assert str(result) == f"{result}" == result.text == result.reply == "three"
    assert [m.role for m in result.messages] == ["user", "assistant", "tool", "assistant"]
    called = result.tool_calls[0]
    assert (called.tool, called.arguments, called.result, called.status) == (
        "add", {"a": 1, "b": 2}, 3, "completed",
    )  # fmt: skip
    assert [v.type for v in result.output] == ["tool_call", "tool_result", "text"]
    assert bot.messages == tuple(result.messages)
    assert RunState.fold(result.events) == result.state
    assert result.usage.calls == 2
    assert result.stop_reason == "stop"


@pytest.mark.parametrize("way", ["run", "arun", "start", "stream", "astream"])
def test_every_way_of_asking_gives_the_same_result(way):
    bot = adder(call("add", {"a": 1, "b": 2}), "three")

    async def read():
        return [item async for item in bot.stream("1+2?")]

    if way == "run":
        bot.run("1+2?")
    elif way == "arun":
        asyncio.run(bot.arun("1+2?"))
    elif way == "start":
        bot.start("1+2?").result()
    elif way == "stream":
        items = list(bot.stream("1+2?"))
        assert (
            "".join(i.text for i in items if isinstance(i, rl.Delta) and i.kind == "text")
            == "three"
        )
    else:
        assert asyncio.run(read())[-1].type == "run.completed"
    assert [m.role for m in bot.messages] == ["user", "assistant", "tool", "assistant"]


def test_two_runs_one_after_the_other_share_the_conversation():
    model = ScriptedModel(["first", "second"])
    bot = rl.build("b", system_prompt="Be brief.", model=model)
    bot.run("one")
    result = bot.run("two")
    sent = [m.text for m in model.requests[1].messages]
    assert sent == ["Be brief.", "one", "first", "two"]
    assert [m.text for m in result.messages] == ["two", "second"]
    assert [m.text for m in result.conversation] == ["one", "first", "two", "second"]


def test_concurrent_runs_of_one_robot_never_mix():
    def answer(request):
        return f"answer to {request.messages[-1].text} after {len(request.messages)}"

    bot = rl.build("b", model=rl.SimulatedModel(answer, delay=0.5))

    async def main():
        return await asyncio.gather(*(bot.arun(f"q{n}") for n in range(20)))

    results = asyncio.run(main())
    for n, result in enumerate(results):
        assert result.text == f"answer to q{n} after 1"
        assert len(result.conversation) == 2
    kinds = [r.state.conversation for r in results]
    assert kinds.count("committed") == 1
    assert kinds.count("forked") == 19
    assert len(bot.messages) == 2


def test_clear_and_replace_messages():
    bot = rl.build("b", system_prompt="Be brief.", model=ScriptedModel(["x", "y"]))
    bot.run("one")
    saved = [m.to_dict() for m in bot.messages]
    assert [m.text for m in bot.clear_messages().messages] == ["Be brief."]
    assert [m.text for m in bot.replace_messages(saved).messages] == ["Be brief.", "one", "x"]
    bot.replace_messages(
        [{"role": "system", "content": "Shout."}, "hey", rl.TextMessage("assistant", "yo")]
    )
    assert [(m.role, m.text) for m in bot.messages] == [
        ("system", "Shout."), ("user", "hey"), ("assistant", "yo"),
    ]  # fmt: skip
    assert bot.clear_messages(keep_system=False).messages == ()
    before = bot.replace_messages(["kept"]).messages
    with pytest.raises(rl.InputError):
        bot.replace_messages(["a", 3])
    with pytest.raises(rl.InputError, match="inside the conversation"):
        bot.replace_messages(["a", {"role": "system", "content": "b"}])
    assert bot.messages == before


def test_a_history_with_loose_ends_is_mended():
    bot = rl.build("b", model=ScriptedModel(["fine"]))
    bot.replace_messages(
        [
            "go",
            {
                "type": "tool_call",
                "tools": [{"id": "1", "name": "add"}, {"id": "2", "name": "sub"}],
            },
            {"type": "tool_result", "tool": {"id": "2", "name": "sub"}, "content": {"data": 1}},
            {"type": "tool_result", "tool": {"id": "9", "name": "ghost"}, "content": {"data": 1}},
            "again",
        ]
    )
    roles = [m.role for m in bot.messages]
    assert roles == ["user", "assistant", "tool", "user"]
    answers = bot.messages[2].tool_results
    assert [(a.id, a.is_error) for a in answers] == [("1", True), ("2", False)]


@pytest.mark.parametrize("nothing", ["", "  \n", None])
def test_nothing_to_say_is_refused_before_any_request(nothing):
    model = ScriptedModel(["never"])
    with pytest.raises(rl.InputError, match="robot 'b' was given nothing"):
        rl.build("b", model=model).run(nothing)
    assert model.requests == []


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: rl.build(sytem_prompt="x"), "Did you mean 'system_prompt'"),
        (lambda: rl.build("b", temprature=1), "Did you mean 'temperature'"),
        (lambda: rl.build("b").run("x", contxt={}), "Did you mean 'context'"),
        (lambda: rl.build("b").start("x", detach=True), "Did you mean 'detached'"),
        (lambda: asyncio.run(rl.build("b").arun("x", tool=[])), "Did you mean 'tools'"),
        (lambda: rl.build("b").run("x", config={"modle": 1}), "Did you mean 'model'"),
        (lambda: rl.build("b", temperature="hot"), "robot 'b': temperature takes int or float"),
        (lambda: rl.build(3), "a robot's name is a text"),
        (lambda: rl.build("b", system_prompt=3), "system_prompt= takes a text"),
        (lambda: rl.build("b", model="opnai/gpt-5"), "opnai"),
        (lambda: rl.build("b", model="gpt-99-nonesuch"), "gpt-99-nonesuch"),
        (lambda: rl.build("b", tools="none"), "no meaning"),
        (lambda: rl.build("b", tools=[threading.Lock()]), "not a tool"),
        (lambda: rl.build("b").run(3), "takes a text, not int"),
        (lambda: rl.build("b").run("x", tools=["nonesuch"]), "there is no tool 'nonesuch'"),
    ],
)  # fmt: skip
def test_bad_input_says_what_is_wrong_and_what_to_do(make, told):
    with pytest.raises(rl.RobotLabError) as caught:
        make()
    assert told in str(caught.value)


def test_an_unknown_keyword_is_a_type_error_too():
    with pytest.raises(TypeError):
        rl.build(nonesuch=1)


def test_a_type_error_inside_a_tool_is_not_taken_for_a_bad_keyword():
    def broken(request):
        raise TypeError("run() got an unexpected keyword argument 'x'")

    with pytest.raises(rl.ModelError, match="TypeError"):
        rl.build("b", model=rl.SimulatedModel(broken)).run("go")


def test_a_missing_key_names_its_variable_before_any_request(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    bot = rl.build("b", model="openai/gpt-5-mini")
    with pytest.raises(rl.ConfigurationError, match="OPENAI_API_KEY"):
        bot.run("Hello")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(rl.ConfigurationError, match="ANTHROPIC_API_KEY"):
        rl.build("b", model="anthropic/claude-haiku-4-5").run("Hello")


def test_a_hostile_name_stays_text():
    name = '<script>alert(1)</script>"\x1b[31m\u202e'
    bot = rl.build(name, model=ScriptedModel(["ok"]))
    for drawn in (bot._repr_html_(), bot.run("x")._repr_html_()):
        assert "<script" not in drawn
        assert "\x1b" not in drawn
        assert "\u202e" not in drawn


def test_settings_reach_the_model_and_name_their_level():
    model = ScriptedModel(["x", "y", "z"])
    with rl.options(temperature=0.1, top_p=0.5, seed=1):
        bot = rl.build("b", model=model, config={"seed": 2, "max_tokens": 5}, max_tokens=6)
        bot.run("x")
        assert model.requests[0].params == {
            "temperature": 0.1,
            "top_p": 0.5,
            "max_tokens": 6,
            "seed": 2,
        }
        bot.run("y", config={"temperature": 0, "provider_options": {"logprobs": True}})
    assert model.requests[1].params["temperature"] == 0
    assert model.requests[1].params["logprobs"] is True
    found = bot.effective_config
    assert found["seed"] == (2, "config")
    assert found["max_tokens"] == (6, "robot")
    assert found["temperature"] == (None, "default")
    result = bot.run("z", config={"stop": ["END"]})
    assert result.state.info["config"]["stop"] == {"value": ["END"], "origin": "run"}


def test_what_tools_means_at_a_run():
    def sub(a: int, b: int) -> int:
        """Subtract."""
        return a - b

    def offered(value, own=(add,)):
        model = ScriptedModel(["ok"])
        rl.build("b", model=model, tools=list(own)).run("x", tools=value)
        return [t.name for t in model.requests[0].tools]

    assert offered(None) == ["add"]
    assert offered([]) == []
    assert offered(["add"]) == ["add"]
    assert offered([..., sub]) == ["add", "sub"]
    assert offered([sub]) == ["sub"]
    assert offered(["a*"]) == ["add"]


def test_unknown_tools_and_bad_arguments_are_told_to_the_model():
    bot = adder(
        [call("adt", {"a": 1}), call("add", {"a": "x", "b": 1}), call("add", {"a": 1, "b": 1})],
        "ok",
    )
    result = bot.run("go")
    assert [c.status for c in result.tool_calls] == ["failed", "failed", "completed"]
    assert "Did you mean 'add'" in result.tool_calls[0].content
    model = bot.model
    sent = model.requests[1].messages[-1].tool_results
    assert [r.is_error for r in sent] == [True, True, False]


def test_tools_of_one_answer_run_side_by_side_and_answer_in_order():
    started = threading.Barrier(3, timeout=10)

    def wait(n: int) -> int:
        """Wait for the others."""
        started.wait()
        return n

    model = ScriptedModel([[call("wait", {"n": n}) for n in (3, 1, 2)], "ok"])
    result = rl.build("b", model=model, tools=[wait]).run("go")
    assert [r.content_text for r in model.requests[1].messages[-1].tool_results] == ["3", "1", "2"]
    assert result.text == "ok"


def test_a_robot_that_never_stops_calling_tools_is_stopped():
    bot = adder(*[call("add", {"a": 1, "b": 1})] * 3, max_tool_rounds=2)
    with pytest.raises(rl.ToolLoopError, match="3 times in one run") as caught:
        bot.run("go")
    run = caught.value.run
    assert [c.status for c in run.state.tool_calls.values()] == ["completed", "completed", "failed"]
    assert [m.role for m in bot.messages] == ["user"] + ["assistant", "tool"] * 3


def test_calls_of_an_answer_that_was_cut_off_are_not_carried_out():
    ran = []

    def act() -> str:
        """Act."""
        ran.append(1)
        return "x"

    with ModelServer([Reply.tool_call("act", {}, finish="length")]) as server:
        result = rl.build("b", model=server.model("m"), tools=[act]).run("go")
    assert result.stop_reason == "length"
    assert result.tool_calls[0].status == "failed"
    assert [m.role for m in result.conversation] == ["user", "assistant", "tool"]
    assert ran == []


def test_a_failed_first_call_leaves_no_trace_in_the_conversation():
    bot = rl.build("b", model=ScriptedModel([rl.ModelError("down"), "up"]))
    with pytest.raises(rl.ModelError, match="down"):
        bot.run("one")
    assert bot.messages == ()
    assert bot.run("two").text == "up"
    assert [m.text for m in bot.messages] == ["two", "up"]


def test_callbacks_get_calls_results_and_text():
    seen = []
    bot = adder(
        call("add", {"a": 1, "b": 2}), "three",
        on_tool_call=lambda c: seen.append(("call", c.tool, c.status)),
        on_tool_result=lambda c, value: seen.append(("result", c.status, value)),
        on_content=seen.append,
    )  # fmt: skip
    bot.run("go")
    assert seen[:2] == [("call", "add", "running"), ("result", "completed", 3)]
    assert "".join(seen[2:]) == "three"


def test_raise_on_error_ends_the_run_with_the_tools_own_exception():
    def fail() -> str:
        """Fail."""
        raise KeyError("gone")

    model = ScriptedModel([call("fail", {})])
    with pytest.raises(KeyError, match="gone"):
        rl.build("b", model=model, tools=[fail], config={"raise_on_error": True}).run("go")


def test_live_objects_stay_with_the_result():
    import pandas as pd

    frame = pd.DataFrame({"x": range(100)})

    def table() -> object:
        """A table."""
        return frame

    result = rl.build("b", model=ScriptedModel([call("table", {}), "ok"]), tools=[table]).run("go")
    assert result.values[result.tool_calls[0].tool_call_id] is frame
    assert "100 rows" in result.tool_calls[0].content


def test_a_result_survives_its_json():
    import json

    bot = adder(call("add", {"a": 1, "b": 2}), "three")
    result = bot.run("1+2?")
    read = rl.RobotResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert read.to_dict() == result.to_dict()
    assert read.state == result.state
    assert repr(read) == repr(result)
    small = json.loads(result.to_json())
    assert "events" not in small
    from_small = rl.RobotResult.from_dict(small)
    assert (from_small.text, from_small.duration, from_small.input_tokens) == (
        result.text, pytest.approx(result.duration), result.input_tokens,
    )  # fmt: skip
    assert [c.result for c in from_small.tool_calls] == [3]


def test_robot_labs_own_export_is_read():
    read = rl.RobotResult.from_dict(
        {
            "robot_name": "helper",
            "output": [
                {"type": "text", "role": "assistant", "content": "Hi", "stop_reason": "stop"}
            ],
            "tool_calls": [
                {
                    "type": "tool_result",
                    "tool": {"type": "tool", "id": "t1", "name": "add", "input": {"a": 1}},
                    "content": {"data": 3},
                }
            ],
            "created_at": "2026-01-01T00:00:00Z",
            "id": "abc",
            "stop_reason": "stop",
            "input_tokens": 3,
        }
    )
    assert (read.text, read.robot_name, read.id, read.input_tokens) == ("Hi", "helper", "abc", 3)
    assert read.tool_calls[0].result == 3


def test_a_pickled_robot_is_a_recipe():
    bot = rl.build("b", system_prompt="Be brief.", tools=[add], api_key="sk-secret-value", seed=3,
                   model="openai/gpt-5-mini")  # fmt: skip
    data = pickle.dumps(bot)
    assert b"sk-secret-value" not in data
    again = pickle.loads(data)
    assert (again.name, again.system_prompt, again.tools.names) == ("b", "Be brief.", ("add",))
    assert again.effective_config["seed"] == (3, "robot")
    assert [m.role for m in again.messages] == ["system"]


def test_a_robot_as_json_shows_no_key():
    bot = rl.build("b", model="openai/gpt-5-mini", api_key="sk-secret-value", tools=[add])
    told = bot.to_dict()
    assert told["tools"] == ["add"]
    assert "sk-secret-value" not in repr(told) + repr(bot) + bot._repr_html_()


def test_names_are_plenty_and_repeatable():
    assert len(set(rl.names(200))) == 200
    assert rl.names(3, seed=5) == rl.names(3, seed=5)
    assert rl.names(0) == []


def test_a_tool_for_the_callers_loop_is_refused_where_there_is_none():
    @rl.tool(loop="caller")
    async def where() -> str:
        """Where?"""
        return "here"

    model = ScriptedModel([call("where", {}), "ok"])
    bot = rl.build("b", model=model, tools=[where])
    for ask in (bot.run, bot.start):
        with pytest.raises(rl.ConfigurationError, match="arun"):
            ask("go")
    assert model.requests == []

    async def main():
        return await bot.arun("go")

    assert asyncio.run(main()).tool_calls[0].result == "here"


def test_a_tool_that_cannot_be_given_what_it_needs_ends_the_run_with_a_record():
    @rl.tool(inject=["customer"])
    def recall(customer: object) -> str:
        """Recall."""
        return "x"

    bot = rl.build("b", model=ScriptedModel([call("recall", {})]), tools=[recall])
    with pytest.raises(rl.ConfigurationError, match="customer") as caught:
        bot.run("go")
    called = next(iter(caught.value.run.state.tool_calls.values()))
    assert called.status == "failed"
    assert "customer" in called.content


def test_a_callback_that_raises_ends_the_run_and_leaves_no_thread_behind():
    def broken(called):
        raise OSError("my screen is gone")

    bot = adder(call("add", {"a": 1, "b": 2}), on_tool_call=broken)
    run = bot.start("go")
    with pytest.raises(OSError, match="my screen is gone"):
        run.result()
    called = next(iter(run.state.tool_calls.values()))
    assert (called.status, called.thread_leaked) == ("interrupted", False)
    assert [m.role for m in bot.messages] == ["user", "assistant", "tool"]
