"""What the simulated model says when nobody scripted it: tool calls, labels, replies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robotlab_nb.core.messages import Message, ToolCallPart, ToolResultPart
from robotlab_nb.models.protocol import Request, ToolSpec
from robotlab_nb.models.rule_arguments import arguments, fill
from robotlab_nb.models.rule_hints import Hints
from robotlab_nb.models.rules import answer

STRING, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def tool(name: str, description: str = "", required: str = "", **properties: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return ToolSpec(name, description, schema)


WEATHER = tool(
    "get_weather",
    "The weather in a city.",
    "city",
    city=STRING,
    unit={"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
    days=INTEGER,
)
CLOCK = tool("get_time", "Current local time in a city.", "city", city=STRING)


def ask_for(text: str, *tools: ToolSpec, system: str = "", **params: Any) -> Request:
    prompt = [Message("system", system)] if system else []
    return Request((*prompt, Message("user", text)), tools, params)


def said(text: str, *tools: ToolSpec, **more: Any) -> Any:
    return answer(ask_for(text, *tools, **more))


# -- tools ----------------------------------------------------------------------------


def test_a_tool_is_called_whose_words_are_in_the_message():
    assert said("What is the weather in Paris?", WEATHER, CLOCK) == [
        ("get_weather", {"city": "Paris"})
    ]


def test_no_tool_is_called_that_the_message_does_not_speak_of():
    assert isinstance(said("Who wrote Hamlet?", WEATHER, CLOCK), str)


def test_tools_that_fit_alike_are_called_at_once():
    calls = said("What are the weather and the time in New York?", WEATHER, CLOCK)
    assert calls == [("get_weather", {"city": "New York"}), ("get_time", {"city": "New York"})]


def test_a_tool_that_fits_far_worse_than_the_best_is_left_alone():
    search = tool("web_search", "Search the web.", "query", query=STRING)
    flight = tool("book_flight", "Book a flight.", "origin", origin=STRING)
    calls = said("Search the web for cheap flights to Rome.", search, flight)
    assert [name for name, _ in calls] == ["web_search"]


def test_a_tool_whose_whole_name_is_said_is_called_however_well_another_fits():
    calls = said("What are the weather and time in Oslo in fahrenheit for 3 days?", WEATHER, CLOCK)
    assert [name for name, _ in calls] == ["get_weather", "get_time"]


def test_what_is_needed_takes_its_pick_of_the_message_first():
    spec = tool("weather", "", "city", country=STRING, city=STRING)
    assert said("weather in Paris", spec) == [("weather", {"city": "Paris"})]
    assert said("weather in Paris, France", spec)[0][1] == {"city": "Paris", "country": "France"}


def test_optional_arguments_are_given_only_where_the_message_speaks_of_them():
    assert said("Weather in Oslo in fahrenheit for 3 days", WEATHER) == [
        ("get_weather", {"city": "Oslo", "unit": "fahrenheit", "days": 3})
    ]


def test_words_are_matched_by_their_stems():
    refund = tool("refund_payment", "Refund a payment.", "reason", reason=STRING)
    assert said("I want my payments refunded", refund)[0][0] == "refund_payment"


@pytest.mark.parametrize(
    ("message", "spec", "expected"),
    [
        ("Add 2 and 3.5", tool("add", "", "a b", a=NUMBER, b=NUMBER), {"a": 2, "b": 3.5}),
        ("What is 12 * 7?", tool("multiply", "", "a b", a=INTEGER, b=INTEGER), {"a": 12, "b": 7}),
        (
            "Please compute (3 + 4) * 2",
            tool("calculator", "Evaluate arithmetic.", "expression", expression=STRING),
            {"expression": "(3 + 4) * 2"},
        ),
        (
            "Where is order A-1234? Include items.",
            tool("find_order", "", "order_id", order_id=STRING, include_items={"type": "boolean"}),
            {"order_id": "A-1234", "include_items": True},
        ),
        (
            "Where is order 77 without items?",
            tool("find_order", "", "order_id", order_id=STRING, include_items={"type": "boolean"}),
            {"order_id": "77", "include_items": False},
        ),
        (
            "Send an email to ann@x.org with subject 'Hi' saying \"See you\"",
            tool("send_email", "", "to subject body", to=STRING, subject=STRING, body=STRING),
            {"to": "ann@x.org", "subject": "Hi", "body": "See you"},
        ),
        (
            "Search the web for cheap flights to Rome.",
            tool("web_search", "", "query", query=STRING),
            {"query": "cheap flights to Rome"},
        ),
        (
            "Sort 3, 1 and 2.5",
            tool("sort", "", "numbers", numbers={"type": "array", "items": NUMBER}),
            {"numbers": [3, 1, 2.5]},
        ),
        (
            "Greet Ann and Bob",
            tool("greet", "", "people", people={"type": "array", "items": STRING}),
            {"people": ["Ann", "Bob"]},
        ),
        (
            'Create an event "Party" on 2026-01-02 at hour 20',
            tool(
                "create_event",
                "",
                "title when",
                title=STRING,
                when={
                    "type": "object",
                    "properties": {"date": {"type": "string", "format": "date"}, "hour": INTEGER},
                    "required": ["date"],
                },
            ),
            {"title": "Party", "when": {"date": "2026-01-02", "hour": 20}},
        ),
        ("weather in paris please", WEATHER, {"city": "paris"}),
        (
            "How is the weather?",
            tool("weather", "", "place unit", place={"default": "here"}, unit={"enum": ["C", "F"]}),
            {"place": "here", "unit": "C"},
        ),
    ],
)
def test_arguments_are_drawn_from_the_schema_and_the_message(message, spec, expected):
    assert said(message, spec) == [(spec.name, expected)]


def test_references_and_nullable_types_are_followed():
    schema = {
        "type": "object",
        "$defs": {
            "Place": {"type": "object", "properties": {"city": STRING}, "required": ["city"]}
        },
        "properties": {
            "where": {"$ref": "#/$defs/Place"},
            "days": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
        "required": ["where"],
    }
    spec = ToolSpec("get_weather", "The weather.", schema)
    assert said("Weather in Rome for 2 days", spec)[0][1] == {"where": {"city": "Rome"}, "days": 2}
    assert said("Weather in Rome", spec)[0][1] == {"where": {"city": "Rome"}}


def test_a_constant_in_an_optional_object_is_no_reason_to_fill_it():
    filters = {
        "type": "object",
        "properties": {"kind": {"const": "filter"}, "color": {"enum": ["red", "blue"]}},
        "required": ["kind"],
    }
    spec = tool("find_shoes", "", "size", size=INTEGER, filters=filters)
    assert said("Find shoes in 42", spec)[0][1] == {"size": 42}
    assert said("Find blue shoes in 42", spec)[0][1] == {
        "size": 42,
        "filters": {"kind": "filter", "color": "blue"},
    }


def test_tool_choice_is_obeyed():
    assert said("Who won?", CLOCK, tool_choice="required")[0][0] == "get_time"
    assert isinstance(said("The time in Rome?", CLOCK, tool_choice="none"), str)
    named = {"type": "function", "function": {"name": "get_time"}}
    assert said("The weather in Rome?", WEATHER, CLOCK, tool_choice=named) == [
        ("get_time", {"city": "Rome"})
    ]


def turn(*results: tuple[str, str, bool]) -> Request:
    calls = [ToolCallPart(str(n), name, "{}") for n, (name, _, _) in enumerate(results)]
    told = [ToolResultPart(str(n), name, t, e) for n, (name, t, e) in enumerate(results)]
    return Request(
        (
            Message("user", "What are the weather and the time in Paris?"),
            Message("assistant", calls),
            Message("tool", told),
        ),
        (WEATHER, CLOCK),
    )


def test_results_are_retold_in_a_sentence_and_no_tool_is_called_again():
    request = turn(
        ("get_weather", '{"temp": 21, "sky": "clear"}', False), ("get_time", "9:05", False)
    )
    told = answer(request)
    assert told == "I used 2 tools. get_weather says: temp: 21, sky: clear. get_time says: 9:05."


def test_a_failed_tool_is_called_failed():
    told = answer(turn(("get_weather", "no such city", True), ("get_time", "9:05", False)))
    assert "get_weather failed: no such city." in told


def test_a_tool_that_was_not_called_yet_in_this_turn_still_is():
    assert answer(turn(("get_weather", "Sunny", False))) == [("get_time", {"city": "Paris"})]


def test_tools_are_called_anew_in_a_new_turn():
    first = turn(("get_weather", "Sunny", False), ("get_time", "9:05", False))
    again = Request(
        (*first.messages, Message("assistant", "Sunny."), Message("user", "Weather in Rome?")),
        first.tools,
    )
    assert answer(again) == [("get_weather", {"city": "Rome"})]


# -- text -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "message", "label"),
    [
        ("Answer with one of: billing, technical, general.", "My bill is wrong", "billing"),
        ("Answer with one of: billing, technical, general.", "Good morning", "general"),
        ("Answer with one of: billing, technical, general.", "I was charged twice", "billing"),
        ("Classify into billing, technical, or general.", "A technical fault", "technical"),
        (
            "Categories:\n- billing: money matters\n- technical\n- other",
            "It's about money",
            "billing",
        ),
        ('Answer only "yes" or "no".', "Well, yes", "yes"),
        ('Answer only "yes" or "no".', "Is it raining?", "no"),
        ("", "Classify as cat, dog or bird: My dog barks", "dog"),
    ],
)
def test_a_label_is_chosen_where_the_prompt_lists_labels(system, message, label):
    assert said(message, system=system) == label


def test_a_list_of_words_that_asks_for_nothing_is_no_list_of_labels():
    assert said("I met Ann, Bob and Eve.") != "Eve"


def test_a_schema_for_the_answer_is_filled_from_the_message():
    schema = {
        "type": "object",
        "properties": {"name": STRING, "age": INTEGER, "city": STRING},
        "required": ["name", "age", "city"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
    told = said("Ada is 36 years old and lives in London", response_format=form)
    assert json.loads(told) == {"name": "Ada", "age": 36, "city": "London"}


def test_a_reply_takes_up_the_question_and_the_role_and_claims_nothing():
    told = said("What is the capital of France?", system="You are a travel guide.")
    assert "capital of France" in told
    assert told.startswith("As a travel guide")
    assert "simulated" in told


def test_a_brief_reply_is_one_sentence():
    told = said("What is the capital of France?", system="Be brief.")
    assert told == "You asked about the capital of France."


@pytest.mark.parametrize(
    "message", ["", "   ", "???", "Hello!", "ok", "日本の首都はどこですか", "a" * 9000]
)
def test_any_message_gets_a_reply(message):
    assert said(message, WEATHER, system="Be kind.")


def test_rules_give_the_same_answer_every_time():
    request = ask_for("Weather in Paris?", WEATHER, CLOCK)
    assert [answer(request) for _ in range(3)] == [answer(request)] * 3


# -- any schema -----------------------------------------------------------------------

SIMPLE = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"type": ["integer", "null"]},
            {"type": "string", "format": "date"},
            {"enum": ["red", "green", 3]},
            {"const": 7},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ]
    ),
    st.integers(-5, 5).map(lambda n: {"type": "integer", "minimum": n, "maximum": n + 3}),
    st.integers(-5, 5).map(lambda n: {"type": "number", "exclusiveMinimum": n}),
    st.integers(0, 9).map(lambda n: {"type": "string", "minLength": n, "maxLength": n + 2}),
)


def bigger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["city", "days", "order_id", "query", "isFast", "x"])
    things = st.dictionaries(names, inner, max_size=4).flatmap(
        lambda properties: st.sets(st.sampled_from(sorted(properties) or ["x"])).map(
            lambda needed: {
                "type": "object",
                "properties": properties,
                "required": sorted(needed & properties.keys()),
            }
        )
    )
    lists = st.tuples(inner, st.integers(0, 3)).map(
        lambda pair: {"type": "array", "items": pair[0], "minItems": pair[1], "maxItems": 4}
    )
    return st.one_of(things, lists)


SCHEMAS = st.recursive(SIMPLE, bigger, max_leaves=8)
MESSAGES = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            ["Paris", "3", "2.5", "'two words'", "red", "fast", "not", "2026-01-02", "-4"]
        )
    ).map(" ".join),
)


@settings(max_examples=80, deadline=None)
@given(schema=SCHEMAS, message=MESSAGES)
def test_what_is_filled_in_fits_the_schema(schema, message):
    validator = pytest.importorskip("jsonschema").Draft202012Validator(schema)
    found = fill(schema, Hints(message))
    assert [error.message for error in validator.iter_errors(found)] == []


KEYWORDS = ["type", "properties", "required", "items", "enum", "anyOf", "$ref", "const", "default"]
KEYWORDS += ["minimum", "maximum", "minLength", "maxLength", "minItems", "pattern", "format"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYWORDS) | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(properties=st.dictionaries(st.text(max_size=6), ANYTHING, max_size=3), message=st.text())
def test_no_schema_however_odd_makes_the_rules_fail(properties, message):
    spec = ToolSpec("look", "Look.", {"type": "object", "properties": properties, "required": 3})
    assert isinstance(arguments(spec, Hints(message)), dict)
    answer(ask_for("look " + message, spec))


def test_a_schema_that_refers_to_itself_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert isinstance(fill(node, Hints("")), dict)
