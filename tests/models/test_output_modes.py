"""How models are told what an answer must be: which have which way, and what they are sent."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from robotlab_nb.core.messages import Message, ToolCallPart, ToolResultPart
from robotlab_nb.models.abilities import keeps_to_schemas
from robotlab_nb.models.assembly import Assembler
from robotlab_nb.models.direct import DirectModel
from robotlab_nb.models.litellm import LiteLLMModel
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.output_request import AnswerMarks
from robotlab_nb.models.price_file import price_file
from robotlab_nb.models.protocol import Chunk, Model, OutputSpec, Request, ToolSpec
from robotlab_nb.models.resolve import resolve
from robotlab_nb.models.rule_arguments import fill
from robotlab_nb.models.rule_hints import Hints
from robotlab_nb.models.simulated import SimulatedModel
from robotlab_nb.robot.structured import shape_of
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}
FINAL = ToolSpec("final_answer", "Give the answer.", SCHEMA)
LOOK = ToolSpec("forecast", "The weather.", {"type": "object", "properties": {"q": {}}})


def spec(mode: str) -> OutputSpec:
    return OutputSpec("Trip", SCHEMA, mode, True, FINAL if mode == "tool" else None)


def request(mode: str, *tools: ToolSpec, text: str = "3 days in Paris", **more: Any) -> Request:
    return Request((Message("user", text),), tools, output=spec(mode), **more)


def body(mode: str, *tools: ToolSpec, forced: bool = True, **params: Any) -> dict[str, Any]:
    return encode(request(mode, *tools, params=params), "m", forced=forced)


# -- which way ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "mode", "with_tools"),
    [
        (resolve("openai/gpt-5-mini"), "schema", "schema"),
        (resolve("ollama/llama3.2"), "schema", "tool"),
        (resolve("qwen", api_base="http://127.0.0.1:1/v1"), "schema", "tool"),
        (LiteLLMModel("openai/gpt-5-mini"), "schema", "schema"),
        (LiteLLMModel("anthropic/claude-sonnet-4-5"), "tool", "tool"),
        (LiteLLMModel("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0"), "tool", "tool"),
        (LiteLLMModel("nobody/knows-this"), "tool", "tool"),
        (SimulatedModel(), "schema", "schema"),
        (ScriptedModel([]), "schema", "schema"),
        (Model(), "text", "text"),
    ],
    ids=lambda value: value.name if isinstance(value, Model) else value,
)
def test_each_model_is_told_in_the_best_way_it_has(model, mode, with_tools):
    alone, beside = shape_of(int, {}, model), shape_of(int, {}, model, tools=["forecast"])
    assert alone is not None
    assert beside is not None
    assert (alone.mode, beside.mode) == (mode, with_tools)


@pytest.mark.skipif(price_file() is None, reason="litellm's list of models is not installed")
def test_what_litellm_lists_decides_for_other_providers():
    assert keeps_to_schemas("gemini/gemini-2.5-flash")
    assert not keeps_to_schemas("perplexity/sonar")
    assert resolve("gemini/gemini-2.5-flash").output_modes == {"schema", "tool", "text"}


def test_models_that_stand_in_for_each_other_are_told_in_a_way_that_all_have():
    first, second = resolve("openai/gpt-5-mini"), LiteLLMModel("anthropic/claude-sonnet-4-5")
    shape = shape_of(int, {}, first, fallbacks=(second,))
    assert shape is not None
    assert shape.mode == "tool"


@pytest.mark.parametrize("mode", ["schema", "tool", "text"])
def test_a_person_may_decide_the_way(mode):
    for model in (resolve("openai/gpt-5-mini"), Model()):
        shape = shape_of(int, {"output_mode": mode}, model)
        assert shape is not None
        assert shape.mode == mode
        assert (shape.tool is not None) == (mode == "tool")
        assert (shape.instructions is not None) == (mode == "text")


# -- what is sent ---------------------------------------------------------------------------------


def test_the_schema_mode_is_a_response_format():
    sent = body("schema", LOOK)
    named = {"name": "Trip", "schema": SCHEMA, "strict": True}
    assert sent["response_format"] == {"type": "json_schema", "json_schema": named}
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["forecast"]
    assert "tool_choice" not in sent


def test_the_tool_mode_adds_its_tool_after_the_robots_own():
    alone, beside = body("tool"), body("tool", LOOK)
    assert alone["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "final_answer", "description": "Give the answer.", "parameters": SCHEMA,
            },
        }
    ]  # fmt: skip
    assert alone["tool_choice"] == {"type": "function", "function": {"name": "final_answer"}}
    assert [t["function"]["name"] for t in beside["tools"]] == ["forecast", "final_answer"]
    assert beside["tool_choice"] == "required"
    assert body("tool", forced=False)["tool_choice"] == "auto"
    assert body("tool", tool_choice="none")["tool_choice"] == "none"


def test_the_text_mode_leaves_the_request_as_it_is():
    plain = encode(Request((Message("user", "3 days in Paris"),)), "m")
    assert body("text") == plain


def test_a_model_that_thinks_is_not_made_to_call_a_tool_where_that_is_refused():
    def choice(name: str, **params: Any) -> Any:
        model = LiteLLMModel(name, api_base="http://127.0.0.1:1", api_key="k")
        return model._arguments(request("tool", params=params))["tool_choice"]

    assert choice("anthropic/claude-sonnet-4-5", reasoning_effort="low") == "auto"
    assert choice("anthropic/claude-sonnet-4-5")["type"] == "function"
    assert choice("openai/gpt-5-mini", reasoning_effort="low")["type"] == "function"


# -- which pieces are the answer -----------------------------------------------------------------


def test_pieces_of_the_answers_call_are_marked_and_others_are_not():
    mark = AnswerMarks("final_answer")
    pieces = [
        Chunk("text", "Well"),
        Chunk("tool_call", "{", 0, "a", "forecast"),
        Chunk("tool_call", "{", 1, "b", "final_answer"),
        Chunk("tool_call", "}", 0),
        Chunk("tool_call", "}", 1),
        Chunk("opaque", index=1, data={"signature": "s"}),
        Chunk("tool_call", "{}", 2, "c", "final_answer"),
    ]
    marked = [mark(piece) for piece in pieces]
    assert [piece.index for piece in marked] == [None, 0, -1, 0, -1, -1, 2]
    found = Assembler()
    for piece in marked:
        found.add(piece)
    calls = found.message(iter("xyz").__next__).tool_calls
    assert [(call.name, call.arguments) for call in calls] == [
        ("forecast", "{}"), ("final_answer", "{}"), ("final_answer", "{}"),
    ]  # fmt: skip
    assert calls[1].opaque == {"signature": "s"}


def direct(server: ModelServer) -> Model:
    return server.model()


def by_litellm(server: ModelServer) -> Model:
    return LiteLLMModel("openai/test-model", api_base=server.base_url, api_key="test-key")


@pytest.mark.xdist_group("litellm")
@pytest.mark.parametrize("make", [direct, by_litellm])
@pytest.mark.parametrize("streaming", [False, True])
def test_both_ways_over_http_send_the_same_and_mark_the_same(make, streaming):
    replies = [Reply.tool_call("final_answer", {"city": "Paris", "days": 3}), '{"city": "Rome"}']

    async def ask(mode: str) -> list[Chunk]:
        asked = request(mode, LOOK, streaming=streaming, timeout=30.0)
        return [chunk async for chunk in model.stream(asked)]

    with ModelServer(replies) as server:
        model = make(server)
        by_tool, by_schema = asyncio.run(ask("tool")), asyncio.run(ask("schema"))
        first, second = (recorded.body for recorded in server.requests)
    arguments = "".join(c.text for c in by_tool if c.kind == "tool_call" and c.index == -1)
    assert json.loads(arguments) == {"city": "Paris", "days": 3}
    assert "".join(c.text for c in by_schema if c.kind == "text") == '{"city": "Rome"}'
    assert first["tool_choice"] == "required"
    assert first["tools"][1]["function"]["parameters"] == SCHEMA
    assert second["response_format"]["json_schema"]["schema"] == SCHEMA


# -- the simulated model -------------------------------------------------------------------------


def answer(asked: Request) -> Assembler:
    found = Assembler()

    async def collect() -> None:
        async for chunk in SimulatedModel().stream(asked):
            found.add(chunk)

    asyncio.run(collect())
    return found


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("mode", ["schema", "tool", "text"])
def test_the_simulated_model_answers_in_the_shape_that_is_prescribed(mode, streaming):
    found = answer(request(mode, streaming=streaming)).message(lambda: "id")
    said = found.tool_calls[0].arguments if mode == "tool" else found.text
    assert json.loads(said) == {"city": "Paris", "days": 3}
    assert len(found.tool_calls) == (mode == "tool")


def test_it_uses_a_tool_that_fits_before_it_answers():
    found = answer(request("tool", LOOK, text="The weather of 3 days in Paris"))
    first = found.message(lambda: "id").tool_calls
    assert [call.name for call in first] == ["forecast"]
    call = ToolCallPart("1", "forecast", "{}")
    history = (
        Message("user", "The weather of 3 days in Paris"),
        Message("assistant", [call]),
        Message("tool", [ToolResultPart("1", "forecast", "sunny")]),
    )
    then = answer(Request(history, (LOOK,), output=spec("tool"))).message(lambda: "id").tool_calls
    assert [call.name for call in then] == ["final_answer"]


def test_the_tool_that_gives_the_answer_counts_among_what_was_read():
    alone = answer(Request((Message("user", "3 days in Paris"),))).usage
    told = answer(request("tool")).usage
    assert told["input_tokens"] > alone["input_tokens"]  # type: ignore[index]


NAMES = st.sampled_from("city name count price when email tags note to kind".split())
RANGES = st.tuples(st.integers(-50, 50), st.integers(0, 60))
SCALARS = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda t: {"type": t}),
    st.lists(st.sampled_from(["a", "c d", 1, None]), min_size=1, max_size=3).map(
        lambda options: {"enum": options}
    ),
    st.sampled_from([1, "x", None]).map(lambda value: {"const": value}),
    st.builds(
        lambda kind, r: {"type": kind, "minimum": r[0], "maximum": r[0] + r[1]},
        st.sampled_from(["integer", "number"]),
        RANGES,
    ),
    st.builds(lambda a, b: {"type": "string", "minLength": a, "maxLength": a + b},
              st.integers(0, 5), st.integers(0, 20)),
    st.integers(1, 7).map(
        lambda step: {"type": "integer", "multipleOf": step, "minimum": 1, "maximum": 100}
    ),
    st.sampled_from(["date", "date-time", "email", "uuid"]).map(
        lambda form: {"type": "string", "format": form}
    ),
)  # fmt: skip


def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(
            lambda p, r: {"type": "object", "properties": p, "required": sorted(r & set(p))},
            st.dictionaries(NAMES, inner, max_size=4),
            st.sets(NAMES),
        ),
        st.builds(lambda i, n: {"type": "array", "items": i, "minItems": n}, inner,
                  st.integers(0, 3)),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda some: {"type": "array", "prefixItems": some, "minItems": len(some)}
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda some: {"anyOf": some}),
        inner.map(lambda one: {"anyOf": [one, {"type": "null"}]}),
    )  # fmt: skip


TEXTS = st.sampled_from(
    ["", 'Book 3 nights in Paris for "Ada" at 12.5 on 2026-03-04', "Ask ann@example.com, 70: a, b"]
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.recursive(SCALARS, compound, max_leaves=10), TEXTS)
def test_its_answers_fit_whatever_schema_it_is_given(schema, text):
    checker = Draft202012Validator.FORMAT_CHECKER
    Draft202012Validator(schema, format_checker=checker).validate(fill(schema, Hints(text)))


def test_a_list_of_dates_is_not_filled_with_names():
    schema = {"type": "array", "items": {"type": "string", "format": "date"}, "minItems": 1}
    assert fill(schema, Hints('Book it for "Ada".')) == ["2026-01-01"]


def test_a_schema_that_contains_itself_comes_to_an_end():
    schema = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                },
                "required": ["name", "next"],
            }
        },
        "$ref": "#/$defs/node",
    }
    made = fill(schema, Hints("hello"))
    Draft202012Validator(schema).validate(made)


def test_a_direct_model_knows_whether_its_server_does_both_at_once():
    assert DirectModel("m", api_base="https://api.openai.com/v1").schema_beside_tools
    assert not DirectModel("m", api_base="http://127.0.0.1:8000/v1").schema_beside_tools
