"""ScriptedModel: steps in order, a record of requests, and failure when the script does not fit."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from robotlab_nb.core.errors import ConfigurationError, ModelError
from robotlab_nb.core.messages import Message
from robotlab_nb.models.prices import price_of
from robotlab_nb.models.protocol import Chunk, Request
from robotlab_nb.testing import ScriptedModel

call = ScriptedModel.tool_call


def request(text: str = "Hi", *, streaming: bool = False) -> Request:
    return Request((Message("user", text),), streaming=streaming)


def ask(model: ScriptedModel, asked: Request | None = None) -> list[Chunk]:
    async def collect() -> list[Chunk]:
        return [chunk async for chunk in model.stream(asked or request())]

    return asyncio.run(collect())


def text(model: ScriptedModel, asked: Request | None = None) -> str:
    return "".join(c.text for c in ask(model, asked) if c.kind == "text")


def test_each_call_takes_the_next_step():
    with ScriptedModel(["one", "two"]) as model:
        assert [text(model), text(model)] == ["one", "two"]


def test_calls_are_made_one_or_many_and_arguments_may_be_malformed():
    steps = [call("look", {"at": 1}), [call("look"), call("listen", "{oops", id="c2")]]
    with ScriptedModel(steps) as model:
        one, two = ask(model), ask(model)
    assert one[0] == Chunk("tool_call", '{"at": 1}', 0, None, "look")
    assert [(c.name, c.text, c.id) for c in two[:2]] == [
        ("look", "{}", None),
        ("listen", "{oops", "c2"),
    ]
    assert one[-1].text == two[-1].text == "tool"


def test_a_dict_sets_everything():
    step = {
        "text": "Four.",
        "reasoning": "Two and two.",
        "tools": [("look", {})],
        "usage": {"input_tokens": 7, "output_tokens": 5, "cached_tokens": 3},
        "stop": "length",
    }
    with ScriptedModel([step]) as model:
        found = ask(model)
    assert [c.kind for c in found] == ["reasoning", "text", "tool_call", "usage", "stop"]
    assert found[3].data == step["usage"]
    assert found[4].text == "length"


def test_exceptions_are_raised_as_they_are():
    errors = [ModelError("busy", retryable=True, retry_after=2), KeyError("k")]
    with ScriptedModel(errors) as model:
        for error in errors:
            with pytest.raises(type(error)) as raised:
                ask(model)
            assert raised.value is error


def test_a_function_sees_the_request_and_gives_a_step():
    async def later(asked: Request) -> Any:
        return call("look", {"at": asked.messages[0].text})

    with ScriptedModel([lambda asked: asked.messages[0].text * 2, later]) as model:
        assert text(model, request("ab")) == "abab"
        assert ask(model, request("it"))[0].text == '{"at": "it"}'


def test_requests_are_kept():
    first, second = request("a"), request("b")
    with ScriptedModel(["x", "y"]) as model:
        ask(model, first)
        ask(model, second)
    assert [asked.messages[0].text for asked in model.requests] == ["a", "b"]
    assert model.requests[0] is first


def test_a_call_beyond_the_script_fails_and_is_remembered():
    model = ScriptedModel(["one", "two"])
    ask(model)
    ask(model)
    with pytest.raises(ModelError, match="the script has no step 3") as raised:
        ask(model)
    assert not raised.value.retryable
    assert len(model.requests) == 3
    with pytest.raises(AssertionError, match="calls beyond them: 3"):
        model.assert_done()


def test_leaving_with_unused_steps_fails_and_lists_them():
    with (
        pytest.raises(AssertionError, match=r"2 of 3 steps were not used:\n  2. 'two'\n  3. "),
        ScriptedModel(["one", "two", call("look")]) as model,
    ):
        ask(model)
    assert model.unused == ("two", call("look"))


def test_another_failure_is_not_hidden_by_unused_steps():
    with pytest.raises(ZeroDivisionError), ScriptedModel(["one"]):
        raise ZeroDivisionError


def test_steps_that_cannot_be_read_are_refused_at_once():
    for step in (3, None, {"txt": "a"}, [3], ModelError):
        with pytest.raises(ConfigurationError, match="step 2 of the script"):
            ScriptedModel(["fine", step])


def test_one_text_is_one_step():
    assert ScriptedModel("hello").unused == ("hello",)


def test_pieces_have_the_length_that_was_asked_for():
    with ScriptedModel(["abcdefg", "abcdefg"], chunks=3) as model:
        listened = [c.text for c in ask(model, request(streaming=True)) if c.kind == "text"]
        assert listened == ["abc", "def", "g"]
        assert [c.text for c in ask(model) if c.kind == "text"] == ["abcdefg"]


def test_usage_is_estimated_or_given_for_all():
    with ScriptedModel(["one two three"]) as model:
        usage = next(c.data for c in ask(model) if c.kind == "usage")
        assert usage["output_tokens"] == 4
    given = {"input_tokens": 9, "output_tokens": 1}
    with ScriptedModel(["a", {"text": "b", "usage": {"input_tokens": 1}}], usage=given) as model:
        assert next(c.data for c in ask(model) if c.kind == "usage") == given
        assert next(c.data for c in ask(model) if c.kind == "usage")["input_tokens"] == 1


def test_delay_is_slept_before_the_answer(monkeypatch):
    naps: list[float] = []

    async def sleep(seconds: float) -> None:
        naps.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with ScriptedModel(["a"], delay=3) as model:
        ask(model)
    assert naps == [3]


def test_its_name_decides_what_it_costs():
    plain, priced = ScriptedModel([]), ScriptedModel([], name="openai/gpt-4o")
    assert plain.simulated
    assert priced.simulated
    assert price_of(plain.name, plain.provider).input == 0.0
    assert priced.provider == "openai"


def test_threads_share_a_script_without_losing_or_doubling_a_step():
    model = ScriptedModel([str(n) for n in range(400)])
    heard: list[str] = []

    def work() -> None:
        async def many() -> None:
            for _ in range(50):
                asked = request()
                heard.append("".join([c.text async for c in model.stream(asked)][:1]))

        asyncio.run(many())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(heard, key=int) == [str(n) for n in range(400)]
    model.assert_done()
