"""Answers of a prescribed shape: over a real socket, in each way of telling a model."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import gc
import json
import re
import weakref
from typing import Any, Literal, NamedTuple, TypedDict

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

import robotlab_nb as rl
from robotlab_nb.core.errors import OutputError
from robotlab_nb.core.strict_json import Unreadable
from robotlab_nb.models.simulated import SimulatedModel
from robotlab_nb.robot.json_in_text import NOTHING, last_value
from robotlab_nb.robot.strict_schema import strict, without_nulls
from robotlab_nb.robot.structured import Parsed, Rejected, shape_of
from robotlab_nb.testing import ModelServer, Reply

MODES = ["schema", "tool", "text"]
VIA = [None, pytest.param("litellm", marks=pytest.mark.xdist_group("litellm"))]


class Trip(BaseModel):
    """A trip to a city."""

    city: str
    days: int = Field(ge=1, description="nights and all")
    tags: list[str] = []

    @field_validator("city")
    @classmethod
    def known(cls, city: str) -> str:
        if city == "Atlantis":
            raise ValueError("Atlantis has sunk")
        return city


GOOD = '{"city": "Paris", "days": 3}'
BAD = '{"city": "Atlantis", "days": 0}'
#: what a strict server sends: everything that may be left out is null
WHOLE = '{"city": "Paris", "days": 3, "tags": null}'


def said(mode: str, text: str, **more: Any) -> Reply:
    """An answer as it is given in a mode."""
    if mode == "tool":
        more.setdefault("id", f"call_{len(text)}")
        return Reply.tool_call("final_answer", text, finish="tool_calls", **more)
    return Reply.text(text, **more)


def bot(server: ModelServer, mode: str | None = None, *, via=None, output: Any = Trip, **more: Any):
    return rl.build(
        "planner", model="openai/m", api_base=server.base_url, api_key="sk-test", via=via,
        config={"output": output, "output_mode": mode, **more.pop("config", {})}, **more,
    )  # fmt: skip


def ask(robot: Any, way: str) -> Any:
    if way == "run":
        return robot.run("Plan a trip.")
    if way == "arun":
        return asyncio.run(robot.arun("Plan a trip."))
    return robot.stream("Plan a trip.").result()


def kinds(run: Any) -> list[str]:
    return [e.type for e in run.events if e.type.startswith("output.")]


# -- what goes over the wire -------------------------------------------------------------------


@pytest.mark.parametrize("via", VIA)
@pytest.mark.parametrize("way", ["run", "arun", "stream"])
@pytest.mark.parametrize("mode", MODES)
def test_an_answer_becomes_an_object_in_every_mode_and_every_way_to_run(mode, way, via):
    with ModelServer([said(mode, GOOD)]) as server:
        result = ask(bot(server, mode, via=via), way)
        assert len(server.requests) == 1
        assert server.requests[0].streaming == (way == "stream")
    assert result.parsed == Trip(city="Paris", days=3)
    (event,) = [e for e in result.events if e.type == "output.parsed"]
    assert event.data == {
        "mode": mode, "attempt": 1, "value": {"city": "Paris", "days": 3, "tags": []},
    }  # fmt: skip


@pytest.mark.parametrize("via", VIA)
def test_the_schema_mode_sends_a_schema_that_the_server_can_enforce(via):
    with ModelServer([WHOLE]) as server:
        assert bot(server, via=via).run("Go").parsed.tags == []
        body = server.requests[0].body
    named = body["response_format"]["json_schema"]
    assert (named["name"], named["strict"]) == ("Trip", True)
    assert named["schema"] == {
        "type": "object",
        "description": "A trip to a city.",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "description": "nights and all"},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        },
        "required": ["city", "days", "tags"],
        "additionalProperties": False,
    }
    assert "tools" not in body


@pytest.mark.parametrize("via", VIA)
def test_the_tool_mode_offers_one_tool_and_insists_on_it(via):
    with ModelServer([said("tool", GOOD)]) as server:
        bot(server, "tool", via=via).run("Go")
        body = server.requests[0].body
    (tool,) = body["tools"]
    assert tool["function"]["name"] == "final_answer"
    assert tool["function"]["parameters"]["required"] == ["city", "days"]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "final_answer"}}
    assert "response_format" not in body


def test_the_text_mode_says_it_in_the_system_text_and_reads_json_out_of_words():
    reply = f"With pleasure!\n```json\n{GOOD}\n```\nHave a {{nice}} trip [1]."
    with ModelServer([reply]) as server:
        result = bot(server, "text", system_prompt="Be brief.").run("Go")
        body = server.requests[0].body
    assert result.parsed.city == "Paris"
    told = body["messages"][0]
    assert told["role"] == "system"
    assert told["content"].startswith("Be brief.")
    assert '"minimum": 1' in told["content"]
    assert not body.keys() & {"response_format", "tools", "tool_choice"}


def get_weather(city: str) -> str:
    "Weather of a city."
    return "sunny"


@pytest.mark.parametrize("mode", ["schema", "tool"])
@pytest.mark.parametrize("way", ["run", "stream"])
def test_other_tools_are_called_on_the_way(mode, way):
    replies = [
        Reply.tool_call("get_weather", {"city": "Paris"}, id="first"),
        said(mode, BAD),
        Reply.tool_call("get_weather", {"city": "Rome"}, id="second"),
        said(mode, GOOD),
    ]
    with ModelServer(replies) as server:
        result = ask(bot(server, mode, tools=[get_weather]), way)
        bodies = [r.body for r in server.requests]
    assert result.parsed == Trip(city="Paris", days=3)
    assert kinds(result) == ["output.rejected", "output.parsed"]
    weather = [c.arguments for c in result.tool_calls if c.tool == "get_weather"]
    assert weather == [{"city": "Paris"}, {"city": "Rome"}]
    if mode == "tool":
        assert bodies[0]["tool_choice"] == "required"
        assert [t["function"]["name"] for t in bodies[0]["tools"]] == [
            "get_weather", "final_answer",
        ]  # fmt: skip
    # Whatever happened, each call has its one result, so the conversation can go on.
    for message in bodies[-1]["messages"]:
        for call in message.get("tool_calls") or ():
            results = [m for m in bodies[-1]["messages"] if m.get("tool_call_id") == call["id"]]
            assert len(results) == 1


def test_the_answers_tool_gets_another_name_where_the_robot_has_one_of_that_name():
    def final_answer(text: str) -> str:
        "A tool of the person's own."
        return text

    shape = shape_of(int, {"output_mode": "tool"}, SimulatedModel(), tools=("final_answer",))
    assert shape is not None
    assert shape.tool is not None
    assert shape.tool.name == "final_answer_"


# -- wrong answers -----------------------------------------------------------------------------


@pytest.mark.parametrize("via", VIA)
@pytest.mark.parametrize("way", ["run", "arun", "stream"])
@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_answer_is_sent_back_with_its_errors_until_it_is_right(mode, way, via):
    replies = [said(mode, BAD), said(mode, '{"city": 1}'), said(mode, GOOD)]
    with ModelServer(replies) as server:
        result = ask(bot(server, mode, via=via), way)
        last = [r.body["messages"][-1] for r in server.requests]
    assert result.parsed.city == "Paris"
    assert kinds(result) == ["output.rejected"] * 2 + ["output.parsed"]
    assert last[1]["role"] == ("tool" if mode == "tool" else "user")
    assert "city: Value error, Atlantis has sunk" in last[1]["content"]
    assert "days: Input should be greater than or equal to 1 (got 0)" in last[1]["content"]
    assert "days: Field required" in last[2]["content"]


@pytest.mark.parametrize("mode", MODES)
def test_an_answer_that_stays_wrong_is_an_error_that_keeps_everything(mode):
    with ModelServer([said(mode, BAD)] * 3) as server:
        with pytest.raises(OutputError) as caught:
            bot(server, mode).run("Go")
        assert len(server.requests) == 3
    error = caught.value
    assert (error.kind, error.retryable, error.text) == ("output", False, BAD)
    assert [e["path"] for e in error.errors] == ["city", "days"]
    assert kinds(error.run) == ["output.rejected"] * 3
    assert error.run.status == "failed"
    assert len(error.run.state.model_calls) == 3


@pytest.mark.parametrize("retries", [0, 1])
def test_as_many_answers_are_sent_back_as_was_said(retries):
    with ModelServer([said("schema", BAD)] * (retries + 1)) as server:
        with pytest.raises(OutputError):
            bot(server, config={"output_retries": retries}).run("Go")
        assert len(server.requests) == retries + 1


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply.refusal("I cannot help with that."), "refused"),
        (Reply.text('{"city": "Par', finish="length"), "max_tokens"),
        (Reply.content_filter("{"), "content filter"),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
def test_what_asking_again_would_not_mend_is_not_asked_again(reply, words, streaming):
    with ModelServer([reply]) as server:
        with pytest.raises(OutputError, match=words):
            ask(bot(server), "stream" if streaming else "run")
        assert len(server.requests) == 1


def test_a_call_cut_by_the_limit_is_not_read():
    cut = Reply.tool_call("final_answer", '{"city": "Par', finish="length")
    with ModelServer([cut]) as server:
        with pytest.raises(OutputError, match="max_tokens"):
            bot(server, "tool").run("Go")
        assert len(server.requests) == 1


@pytest.mark.parametrize("via", VIA)
@pytest.mark.parametrize(
    ("mode", "words", "hint"),
    [
        ("schema", "'response_format' is not supported by this model", 'output_mode="tool"'),
        ("tool", "tool_choice: extra fields not permitted", 'output_mode="text"'),
    ],
)
def test_a_server_that_has_not_the_mode_is_asked_once_and_the_error_says_what_to_set(
    mode, words, hint, via
):
    with ModelServer([Reply.error(400, words)]) as server:
        with pytest.raises(rl.ModelError) as caught:
            bot(server, mode, via=via).run("Go")
        assert len(server.requests) == 1
    assert caught.value.kind == "bad_request"
    assert hint in str(caught.value)


def test_a_bad_request_about_something_else_says_nothing_of_modes():
    reply = Reply.error(400, "temperature must be at most 2")
    with ModelServer([reply]) as server, pytest.raises(rl.ModelError) as caught:
        bot(server).run("Go")
    assert "output_mode" not in str(caught.value)


def test_a_validator_that_breaks_is_the_persons_mistake_and_named():
    class Odd(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def broken(cls, n: int) -> int:
            raise KeyError("oops")

    words = r"Odd.*validators raised KeyError"
    with ModelServer(['{"n": 1}']) as server, pytest.raises(rl.ConfigurationError, match=words):
        bot(server, output=Odd).run("Go")


# -- what an answer can be -----------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: list[int] = dataclasses.field(default_factory=list)


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Loose(TypedDict, total=False):
    a: int
    b: str


class Amount(TypedDict):
    value: int
    unit: str


class Node(BaseModel):
    name: str
    children: list[Node] = []


LEAF = Node(name="b")


@pytest.mark.parametrize(
    ("output", "data", "value"),
    [
        (Trip, {"city": "Rome", "days": 2}, Trip(city="Rome", days=2)),
        (Point, {"x": 1, "y": [2]}, Point(1, [2])),
        (Loose, {"b": "x"}, {"b": "x"}),
        (Pair, {"left": 1}, Pair(1)),
        (Node, {"name": "a", "children": [{"name": "b"}]}, Node(name="a", children=[LEAF])),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Colour, {"value": "red"}, Colour.RED),
        (list[Point], {"value": [{"x": 1}]}, [Point(1)]),
        (int, {"value": 3}, 3),
        (datetime.date, {"value": "2026-01-02"}, datetime.date(2026, 1, 2)),
        (Literal["yes", "no"], {"value": "no"}, "no"),
        (Trip | Point, {"value": {"x": 1, "y": []}}, Point(1)),
        (int | str, {"value": "x"}, "x"),
        (tuple[int, str], {"value": [1, "a"]}, (1, "a")),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}, {"a": 1}),
        ({"type": "array", "items": {"type": "integer"}}, {"value": [1]}, [1]),
        (
            {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}
            },
            {"value": [[], [[]]]},
            [[], [[]]],
        ),
        ({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]},
         {"value": [None, [None]]}, [None, [None]]),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("mode", MODES)
def test_each_kind_of_type_has_an_object_for_a_schema_and_reads_its_answers(
    output, data, value, mode
):
    shape = shape_of(output, {"output_mode": mode}, SimulatedModel())
    assert shape is not None
    assert shape.schema["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(dict(shape.schema))
    if not shape.spec.strict:
        jsonschema.validate(data, dict(shape.schema))
    verdict = shape.judge(json.dumps(data))
    assert isinstance(verdict, Parsed)
    assert verdict.value == value
    assert type(verdict.value) is type(value)
    json.dumps(verdict.data)


@pytest.mark.parametrize(
    ("output", "text", "value"),
    [
        (int, "42", 42),
        (int, "```\n42\n```", 42),
        (Literal["yes", "no"], "no", "no"),
        (list[int], "Here: [1, 2]", [1, 2]),
        (Trip | Point, '{"x": 1}', Point(1)),
        (Trip | Amount, '{"value": 1, "unit": "m"}', {"value": 1, "unit": "m"}),
    ],
)
def test_an_answer_without_its_wrapping_is_taken_all_the_same(output, text, value):
    shape = shape_of(output, {}, SimulatedModel())
    assert shape is not None
    assert shape.judge(text).value == value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("Trip", "text"),
        (5, "5"),
        (get_weather, "function"),
        ([int], r"\[<class 'int'>\]"),
        ({}, "nothing"),
        ({"type": "foo"}, "no JSON Schema"),
        ({"$ref": "https://example.com/x.json"}, "outside the schema"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "no such thing"),
        ({"const": object()}, "no JSON Schema"),
    ],
    ids=("name", "number", "function", "list", "empty", "type", "far", "ref", "object"),
)
def test_what_no_answer_can_be_is_refused_before_any_request(output, words):
    with pytest.raises(rl.ConfigurationError, match=words):
        shape_of(output, {}, SimulatedModel())


def test_a_dataclass_that_nobody_described_is_sent_without_a_description():
    for output in (Point, Pair):
        shape = shape_of(output, {}, SimulatedModel())
        assert shape is not None
        assert "description" not in shape.schema


def test_a_shape_that_is_prescribed_twice_is_refused():
    with pytest.raises(rl.ConfigurationError, match="twice"):
        shape_of(int, {"provider_options": {"response_format": {}}}, SimulatedModel())


def test_a_second_robot_shares_the_work_and_a_cell_that_runs_again_does_not():
    def make() -> Any:
        class Same(BaseModel):
            n: int

        return Same

    first, second = make(), make()
    one, two = (shape_of(first, {}, SimulatedModel()) for _ in range(2))
    other = shape_of(second, {}, SimulatedModel())
    assert one is not None and two is not None and other is not None  # noqa: PT018
    assert one.spec is two.spec
    assert type(other.judge('{"n": 1}').value) is second  # type: ignore[union-attr]
    gone = weakref.ref(first)
    del one, two, first
    gc.collect()
    assert gone() is None


def test_requests_with_other_shapes_have_other_keys():
    keys = set()
    for output, mode in ((int, "schema"), (str, "schema"), (int, "tool"), (int, "text")):
        shape = shape_of(output, {"output_mode": mode}, SimulatedModel())
        assert shape is not None
        keys.add(shape.keyed("t"))
    assert len(keys) == 4


# -- feedback ------------------------------------------------------------------------------------


def test_feedback_is_short_however_much_is_wrong():
    shape = shape_of(list[Trip], {}, SimulatedModel())
    assert shape is not None
    verdict = shape.judge(json.dumps({"value": [{"city": "x" * 5000, "days": "y" * 5000}] * 300}))
    assert isinstance(verdict, Rejected)
    assert len(verdict.feedback) <= 2000
    assert "more faults" in verdict.feedback
    assert verdict.feedback.startswith("This answer cannot be used.\n- value.0.days: ")
    shape = shape_of(list[int], {}, SimulatedModel())
    assert shape is not None
    verdict = shape.judge(json.dumps(["x"] * 300))
    assert isinstance(verdict, Rejected)
    assert 1800 < len(verdict.feedback) <= 2000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("I would rather not.", "no complete JSON object"),
        ('{"city": "Rome", "days": 1', "no complete JSON object"),
        ('{"city": "Rome", "city": "Paris", "days": 1}', "'city' is given more than once"),
        ('{"city": "Rome", "days": NaN}', "NaN is not valid JSON"),
        ('{"city": "Rome", "days": 1e999}', "too large"),
        ('{"city": "Rome", "days": ' + "1" * 5000 + "}", "too many digits"),
        ("[" * 100_000, "nested deeper"),
        ('{"a": ' * 200 + "1" + "}" * 200, "nested deeper"),
        ('{"city": "\\ud800", "days": 1}', "surrogate|escape"),
    ],
)
def test_what_is_no_json_is_said_in_words(text, words):
    shape = shape_of(Trip, {}, SimulatedModel())
    assert shape is not None
    verdict = shape.judge(text)
    assert isinstance(verdict, Rejected)
    assert re.search(words, verdict.feedback)


def test_a_json_schema_names_place_and_fault():
    schema = {
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            }
        },
    }
    shape = shape_of(schema, {}, SimulatedModel())
    assert shape is not None
    verdict = shape.judge('{"rows": ["2026-01-01", "soon"]}')
    assert isinstance(verdict, Rejected)
    assert verdict.errors == [{"path": "rows.1", "message": "'soon' is not a 'date'"}]


# -- JSON in a text ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('First {"a": 1}, no: {"a": 2}', {"a": 2}),
        ('{"a": 2} and then {"b": ', {"a": 2}),
        ('Use {placeholders} and [brackets]: {"a": "}{"} as in [3]', {"a": "}{"}),
        ('{"a": [{"b": 1}, {"b": 2}', NOTHING),
        ("{'a': {\"b\": 1}}", NOTHING),
        ('{a: {"b": 1}}', NOTHING),
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ('Two: [{"a": 1}, {"a": 2}]', NOTHING),
        ("__import__('os')", NOTHING),
    ],
)
def test_the_last_complete_object_counts(text, value):
    assert last_value(text) == value


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_judged_without_an_error_of_our_own(text):
    shape = shape_of(Trip, {}, SimulatedModel())
    assert shape is not None
    assert isinstance(shape.judge(text), Rejected)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=3),
    st.text("abc .,:!?\n`()", max_size=30),
    st.text("abc .,:!?\n`()", max_size=30),
    st.sampled_from([None, 2]),
)
def test_an_object_is_found_among_any_words(value, before, after, indent):
    text = f"{before} {json.dumps(value, indent=indent)} {after}"
    assert last_value(text) == value


def test_json_is_read_strictly():
    with pytest.raises(Unreadable, match="more than once"):
        last_value('Well: {"a": 1, "a": 2}')


# -- strict schemas --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"not": {"type": "string"}}}},
        {"type": "object", "properties": {"a": {"type": "null"}}, "patternProperties": {"x": {}}},
    ],
    ids=str,
)  # fmt: skip
def test_what_the_strict_subset_cannot_say_is_sent_as_it_is(schema):
    assert strict(schema) is None
    shape = shape_of(schema, {"output_mode": "schema"}, SimulatedModel())
    assert shape is not None
    assert shape.spec.strict is False
    assert shape.schema == schema


def test_limits_that_the_subset_has_not_are_said_in_words():
    made = strict(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "minLength": 3, "title": "A", "description": "code"}
            },
            "required": ["a"],
        }
    )
    assert made is not None
    assert made["properties"]["a"] == {"type": "string", "description": "code (minLength: 3)"}


def test_a_null_that_means_something_is_no_gap():
    class Count(BaseModel):
        n: int | None = 5
        m: int = 7

    shape = shape_of(Count, {}, SimulatedModel())
    assert shape is not None
    properties = shape.schema["properties"]
    assert properties["n"] == properties["m"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert shape.judge('{"n": null, "m": null}').value == Count(n=None, m=7)  # type: ignore[union-attr]


SCALARS = st.sampled_from(
    [{"type": "string"}, {"type": "integer"}, {"type": "null"}, {"enum": ["a", None]}, {"const": 1}]
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(
            lambda p, r: {"type": "object", "properties": p, "required": sorted(r & set(p))},
            st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3),
            st.sets(st.sampled_from("abcd")),
        ),
        inner.map(lambda one: {"type": "array", "items": one}),
        inner.map(lambda one: {"anyOf": [one, {"type": "null"}]}),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), SCHEMAS, min_size=1, max_size=3), st.data())
def test_answers_to_a_strict_schema_are_answers_to_the_original(properties, data):
    original = {"type": "object", "properties": properties, "required": ["a"] * ("a" in properties)}
    made = strict(original)
    assert made is not None
    answer = data.draw(instances(made))
    jsonschema.validate(answer, made)
    jsonschema.validate(without_nulls(answer, original), original)


def instances(schema: dict[str, Any]) -> Any:
    """Answers to a strict schema."""
    if "anyOf" in schema:
        return st.one_of([instances(one) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    if schema["type"] == "object":
        return st.fixed_dictionaries({n: instances(p) for n, p in schema["properties"].items()})
    if schema["type"] == "array":
        return st.lists(instances(schema["items"]), max_size=2)
    return {"string": st.text(max_size=3), "integer": st.integers(), "null": st.none()}[
        schema["type"]
    ]
