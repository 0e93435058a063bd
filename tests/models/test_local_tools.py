"""Tools as a schema: what a small model is told, and what its text is read as."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.messages import Message, ToolCallPart, ToolResultPart
from robotlab_nb.models.local_tools import AnswerReader, as_grammar, as_plain
from robotlab_nb.models.protocol import OutputSpec, Request, ToolSpec

WEATHER = ToolSpec(
    "weather", "The weather.",
    {
        "type": "object", "properties": {"place": {"$ref": "#/$defs/Place"}},
        "required": ["place"],
        "$defs": {"Place": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Place"}}}},
    },
)  # fmt: skip
ROUTE = ToolSpec(
    "route", "A way.",
    {
        "type": "object", "properties": {"to": {"$ref": "#/$defs/Place"}},
        "$defs": {"Place": {"type": "string"}},
    },
)  # fmt: skip


def read(text: str, *, size: int = 3, data: bool = False) -> tuple[str, list[object]]:
    """What a text is read as, in pieces of some size."""
    reader = AnswerReader(data=data)
    said = "".join(reader.feed(text[n : n + size]) for n in range(0, len(text), size))
    return said, [chunk[:2] + chunk[4:5] for chunk in reader.finish()]


def schema_of(request: Request) -> dict[str, object]:
    found: dict[str, object] = as_grammar(request).params["response_format"]["json_schema"][
        "schema"
    ]
    return found


def test_two_tools_keep_their_own_definitions() -> None:
    schema = schema_of(Request((Message("user", "Hi"),), (WEATHER, ROUTE)))
    good = [
        {"tool": "weather", "arguments": {"place": {"next": {}}}},
        {"tool": "route", "arguments": {"to": "Paris"}},
        {"answer": "yes"},
    ]
    bad = [{"tool": "weather", "arguments": {"place": "Paris"}}, {"tool": "x", "arguments": {}}]
    for each in good:
        jsonschema.validate(each, schema)
    for each in [*bad, {"answer": 1}]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(each, schema)


def test_an_answer_may_have_to_be_data_beside_tools() -> None:
    spec = OutputSpec("N", {"type": "object", "properties": {"n": {"type": "integer"}}}, "schema")
    schema = schema_of(Request((Message("user", "Hi"),), (ROUTE,), output=spec))
    jsonschema.validate({"answer": {"n": 1}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"answer": "text"}, schema)


def test_a_tool_that_must_be_used_leaves_no_way_to_answer() -> None:
    asked = Request((Message("user", "Hi"),), (ROUTE,), {"tool_choice": "required"})
    made = as_grammar(asked)
    assert "tool_choice" not in made.params
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"answer": "no"}, schema_of(asked))


def test_the_tools_are_told_after_the_prompt() -> None:
    asked = Request((Message("system", "Be brief."), Message("user", "Hi")), (ROUTE,))
    system, user = as_grammar(asked).messages
    assert system.text.startswith("Be brief.\n\n")
    assert "route(to): A way." in system.text
    assert user.text == "Hi"


def test_earlier_calls_and_results_become_texts() -> None:
    messages = (
        Message("user", "Hi"),
        Message("assistant", [ToolCallPart("1", "route", '{"to": "Köln"}')]),
        Message("tool", [ToolResultPart("1", "route", "by train")]),
    )
    assert [(m.role, m.text) for m in as_plain(messages)] == [
        ("user", "Hi"),
        ("assistant", '{"tool": "route", "arguments": {"to": "Köln"}}'),
        ("user", "Result of route: by train"),
    ]


@given(st.text(), st.integers(1, 7), st.booleans())
def test_any_answer_comes_out_as_it_was_meant(text: str, size: int, plain: bool) -> None:
    written = json.dumps({"answer": text}, ensure_ascii=not plain)
    if plain and any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        return
    said, rest = read(written, size=size)
    assert (said, rest) == (text, [])


@given(st.text(max_size=20), st.integers(1, 7))
def test_any_call_comes_out_whole(text: str, size: int) -> None:
    written = json.dumps({"tool": "route", "arguments": {"to": text}}, indent=1)
    said, (call,) = read(written, size=size)  # type: ignore[misc]
    assert said == ""
    assert call[0] == "tool_call"
    assert call[2] == "route"
    assert json.loads(call[1]) == {"to": text}


def test_an_answer_as_data_comes_at_its_end() -> None:
    assert read('{ "answer": {"n": 1}}', data=True) == ("", [("text", '{"n": 1}', None)])


def test_a_call_that_was_cut_is_no_call() -> None:
    assert read('{"tool": "route", "argum') == ("", [])


def test_an_answer_that_was_cut_is_what_came() -> None:
    assert read('{"answer": "half an an') == ("half an an", [])


def test_text_that_keeps_to_nothing_is_an_answer() -> None:
    assert read("I cannot.") == ("", [("text", "I cannot.", None)])
