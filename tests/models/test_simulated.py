"""The simulated model: scripts, functions, rules, and how their answers are streamed."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.errors import ConfigurationError, ModelError
from robotlab_nb.core.messages import Message, ToolCallPart
from robotlab_nb.models.costs import cost_of
from robotlab_nb.models.protocol import Chunk, Request, ToolSpec
from robotlab_nb.models.simulated import Answer, Call, SimulatedModel
from robotlab_nb.models.tokens import estimate_input, estimate_tokens

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolSpec("get_weather", "The weather in a city.", CITY)


def ask_for(words: str, *tools: ToolSpec) -> Request:
    return Request((Message("user", words),), tools)


async def collect(model: SimulatedModel, request: Request) -> list[Chunk]:
    return [chunk async for chunk in model.stream(request)]


def chunks(model: SimulatedModel, request: Request) -> list[Chunk]:
    return asyncio.run(collect(model, request))


def text(model: SimulatedModel, request: Request | None = None) -> str:
    found = chunks(model, request or ask_for("Hi"))
    return "".join(c.text for c in found if c.kind == "text")


def after(*spoken: str) -> Request:
    """A conversation in which the model has said these things."""
    messages = [Message("user", "Hi")]
    for words in spoken:
        messages += [Message("assistant", words), Message("user", "And?")]
    return Request(tuple(messages))


def test_without_answers_it_goes_by_rules():
    call, *rest = chunks(SimulatedModel(), ask_for("What is the weather in Paris?", WEATHER))
    assert call == Chunk("tool_call", '{"city": "Paris"}', 0, None, "get_weather")
    assert [chunk.kind for chunk in rest] == ["usage", "stop"]


# -- scripts ---------------------------------------------------------------------------------


def test_a_script_is_followed_along_the_conversation_and_begins_again():
    model = SimulatedModel(["one", "two"])
    heard = [text(model, after(*["…"] * n)) for n in range(4)]
    assert heard == ["one", "two", "one", "two"]


def test_a_script_has_no_state_that_runs_could_share():
    model = SimulatedModel(["one", "two", "three"])

    async def run() -> list[str]:
        said: list[str] = []
        for _ in range(3):
            request = after(*said)
            said.append("".join([c.text async for c in model.stream(request) if c.kind == "text"]))
            await asyncio.sleep(0)
        return said

    async def many() -> list[list[str]]:
        return await asyncio.gather(*[run() for _ in range(20)])

    assert asyncio.run(many()) == [["one", "two", "three"]] * 20


def test_a_script_calls_tools_one_or_many():
    model = SimulatedModel([("look", {"at": "it"}), [("look", {}), ("listen", {})]])
    one, two = chunks(model, after()), chunks(model, after("…"))
    assert [(c.name, c.text) for c in one if c.kind == "tool_call"] == [("look", '{"at": "it"}')]
    assert [(c.index, c.name) for c in two if c.kind == "tool_call"] == [(0, "look"), (1, "listen")]
    assert one[-1] == Chunk("stop", "tool")


def test_a_dict_says_more_at_once():
    step = {"text": "Let me see.", "reasoning": "Hm.", "tools": [("look", {})]}
    found = chunks(SimulatedModel([step]), after())
    assert [c.kind for c in found] == ["reasoning", "text", "tool_call", "usage", "stop"]


def test_anything_with_a_name_and_arguments_is_a_call():
    part = ToolCallPart("id", "look", '{"a": 1}')
    found = chunks(SimulatedModel([[part, Call("listen")]]), after())
    assert [(c.name, c.text) for c in found if c.kind == "tool_call"] == [
        ("look", '{"a": 1}'),
        ("listen", "{}"),
    ]


def test_an_exception_is_raised_before_the_answer_that_follows_it():
    model = SimulatedModel([ModelError("busy", retryable=True), ModelError("still"), "done"])
    request = after()
    for said in ("busy", "still"):
        with pytest.raises(ModelError, match=said):
            chunks(model, request)
    assert text(model, request) == "done"
    with pytest.raises(ModelError, match="busy"):
        chunks(model, after())


def test_runs_that_fail_do_not_use_up_each_others_exceptions():
    model = SimulatedModel([ModelError("busy"), "done"])
    requests = [after() for _ in range(300)]
    for request in requests[:3]:
        with pytest.raises(ModelError):
            chunks(model, request)
    assert [text(model, request) for request in requests[:3]] == ["done"] * 3
    for request in requests:
        with pytest.raises(ModelError):
            chunks(model, request)


def test_a_script_may_end_in_an_exception_or_hold_nothing_else():
    model = SimulatedModel(["ok", ValueError("the end")])
    last = after("ok")
    with pytest.raises(ValueError, match="the end"):
        chunks(model, last)
    assert text(model, last) == "ok"
    only, request = SimulatedModel([ModelError("no")]), after()
    for _ in range(3):
        with pytest.raises(ModelError):
            chunks(only, request)


def test_each_raise_is_of_a_fresh_copy():
    error = ModelError("no", status=500)
    model = SimulatedModel([error])
    with pytest.raises(ModelError) as raised:
        chunks(model, after())
    assert raised.value is not error
    assert raised.value.status == 500
    assert error.__traceback__ is None


@pytest.mark.parametrize("answers", [[], [3], [("a", 1)], [{"txt": "a"}], [[3]], 7, [None]])
def test_a_script_that_cannot_be_read_is_refused_at_once(answers):
    with pytest.raises(ConfigurationError):
        SimulatedModel(answers)


def test_the_refusal_names_the_entry():
    with pytest.raises(ConfigurationError, match="entry 2 of the script"):
        SimulatedModel(["fine", 3])


# -- functions -------------------------------------------------------------------------------


def test_a_function_answers_from_the_request():
    assert text(SimulatedModel(lambda request: request.messages[-1].text.upper())) == "HI"


def test_an_async_function_is_awaited():
    async def think(request: Request) -> Any:
        await asyncio.sleep(0)
        return ("look", {})

    assert chunks(SimulatedModel(think), after())[0].name == "look"


def test_a_function_may_raise_or_give_back_an_exception():
    def fail(request: Request) -> Any:
        raise KeyError("x")

    with pytest.raises(KeyError):
        text(SimulatedModel(fail))
    with pytest.raises(ModelError, match="no"):
        text(SimulatedModel(lambda request: ModelError("no")))


def test_a_function_that_gives_back_nothing_is_named():
    with pytest.raises(ConfigurationError, match="function of simulated/function"):
        text(SimulatedModel(lambda request: None))


# -- streams ---------------------------------------------------------------------------------


@given(said=st.text(), size=st.none() | st.integers(1, 5))
def test_the_pieces_of_a_stream_join_to_the_text(said, size):
    request = Request((Message("user", "Hi"),), streaming=True)
    found = list(Answer(said, reasoning=said, calls=(Call("a", said),)).pieces(request, size))
    for kind in ("text", "reasoning", "tool_call"):
        assert "".join(c.text for c in found if c.kind == kind) == said


def test_text_comes_word_by_word_only_where_somebody_listens():
    request = ask_for("Hi")
    model = SimulatedModel(["The quick brown fox"])
    assert [c.text for c in chunks(model, request) if c.kind == "text"] == ["The quick brown fox"]
    request.streaming = True
    pieces = [c.text for c in chunks(model, request) if c.kind == "text"]
    assert pieces == ["The ", "quick ", "brown ", "fox"]


@pytest.fixture
def slept(monkeypatch) -> list[float]:
    """What is slept, in place of sleeping."""
    naps: list[float] = []

    async def sleep(seconds: float) -> None:
        naps.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return naps


def test_pace_is_kept_between_words_only_where_somebody_listens(slept):
    model = SimulatedModel(["one two three"], pace=0.5)
    request = ask_for("Hi")
    chunks(model, request)
    assert slept == []
    request.streaming = True
    chunks(model, request)
    assert slept == [0.5, 0.5, 0.5]


def test_nothing_is_slept_without_delay_and_all_of_it_with(slept):
    chunks(SimulatedModel(), ask_for("Hi"))
    assert slept == []
    chunks(SimulatedModel(delay=2), ask_for("Hi"))
    assert slept == [2]


def test_an_answer_that_takes_longer_than_its_time_is_a_timeout(slept):
    request = ask_for("Hi")
    request.timeout = 1.5
    with pytest.raises(ModelError) as raised:
        chunks(SimulatedModel(delay=2), request)
    assert raised.value.kind == "timeout"
    assert slept == [1.5]


@pytest.mark.parametrize("seconds", [-1, "1", None, True, float("nan")])
def test_seconds_are_checked(seconds):
    with pytest.raises(ConfigurationError, match="delay"):
        SimulatedModel(delay=seconds)


def test_tokens_are_counted_and_cost_nothing():
    model, request = SimulatedModel(["Hello there, friend"]), ask_for("Hi", WEATHER)
    usage = next(c.data for c in chunks(model, request) if c.kind == "usage")
    assert usage == {
        "input_tokens": estimate_input(request.messages, request.tools),
        "output_tokens": estimate_tokens("Hello there, friend"),
    }
    assert usage["input_tokens"] > estimate_input(request.messages)
    assert cost_of(model, usage) == 0.0


def test_reasoning_is_counted_as_output_too():
    step = {"text": "Four.", "reasoning": "Two and two are four"}
    usage = next(c.data for c in chunks(SimulatedModel([step]), after()) if c.kind == "usage")
    assert usage["reasoning_tokens"] == 5
    assert usage["output_tokens"] == usage["reasoning_tokens"] + estimate_tokens("Four.")


def test_short_words_are_tokens_too():
    assert estimate_tokens("a b c d e f g h") == 8
    assert estimate_tokens("antidisestablishmentarianism") == 7


@given(st.text())
def test_an_estimate_is_never_less_than_the_words(said):
    assert estimate_tokens(said) >= len(said.split())
    assert (estimate_tokens(said) == 0) == (said == "")


# -- what it is ------------------------------------------------------------------------------


def test_its_name_says_where_answers_come_from_and_that_they_are_simulated():
    assert SimulatedModel().name == "simulated/rules"
    assert SimulatedModel(["a"]).name == "simulated/script"
    assert SimulatedModel(str).name == "simulated/function"
    assert SimulatedModel(name="demo").name == "simulated/demo"
    assert SimulatedModel().simulated
    assert "(simulated)" in repr(SimulatedModel())


def test_it_can_be_pickled():
    model = SimulatedModel([ModelError("no"), "yes"])
    request = after()
    with pytest.raises(ModelError):
        chunks(model, request)
    copy = pickle.loads(pickle.dumps(model))
    with pytest.raises(ModelError):
        chunks(copy, request)
    assert text(copy, request) == "yes"
