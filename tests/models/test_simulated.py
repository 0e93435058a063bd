"""The simulated model: scripts, functions, rules, and how their answers are streamed."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robotlab_nb.core.errors import ConfigurationError, ModelError
from robotlab_nb.core.messages import Message, ToolCallPart, ToolResultPart
from robotlab_nb.models.prices import cost_of
from robotlab_nb.models.protocol import Chunk, Request, ToolSpec
from robotlab_nb.models.rule_arguments import arguments, fill
from robotlab_nb.models.rule_hints import Hints
from robotlab_nb.models.rules import answer
from robotlab_nb.models.simulated import Answer, Call, SimulatedModel
from robotlab_nb.models.tokens import estimate_input, estimate_tokens

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


# -- rules: tools ----------------------------------------------------------------------------


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


# -- rules: text -----------------------------------------------------------------------------


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
    assert chunks(SimulatedModel(), request) == chunks(SimulatedModel(), request)


# -- rules: any schema -----------------------------------------------------------------------

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
