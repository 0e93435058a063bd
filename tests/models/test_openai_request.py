"""Requests as they are sent."""

from __future__ import annotations

from typing import Any

import pytest

from robotlab_nb.core.errors import InputError
from robotlab_nb.core.messages import (
    Message,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Request, ToolSpec


def sent(*messages: Message, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = encode(Request(messages), "m", **more)["messages"]
    return found


def test_a_conversation_as_it_is_sent() -> None:
    first = ToolCallPart("c1", "look", '{"x": 1}', "wire_1")
    second = ToolCallPart("c2", "wait", "", None)
    results = [
        ToolResultPart("c1", "look", "sun", False, "wire_1"),
        ToolResultPart("c2", "wait", "Error: no time", True),
    ]
    assert sent(
        Message("system", "Be brief."),
        Message("user", [TextPart("Look "), TextPart("there")]),
        Message("assistant", [TextPart("Well", cut=True), first, second]),
        Message("tool", results),
        Message("assistant", [first]),
        Message("assistant", [RefusalPart("No.")]),
        Message("assistant", []),
    ) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look there"},
        {
            "role": "assistant",
            "content": "Well",
            "tool_calls": [
                {
                    "id": "wire_1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"x": 1}'},
                },
                {"id": "c2", "type": "function", "function": {"name": "wait", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "wire_1", "content": "sun"},
        {"role": "tool", "tool_call_id": "c2", "content": "Error: no time"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "wire_1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"x": 1}'},
                }
            ],
        },
        {"role": "assistant", "content": "No."},
        {"role": "assistant", "content": ""},
    ]


def test_malformed_arguments_go_back_as_they_came() -> None:
    part = ToolCallPart("c1", "look", '{"x": ')
    assert (
        sent(Message("assistant", [part]))[0]["tool_calls"][0]["function"]["arguments"] == '{"x": '
    )


def test_a_tool_message_without_results_cannot_be_sent() -> None:
    with pytest.raises(InputError, match="no tool result"):
        sent(Message("tool", "sun"))


def test_parts_of_the_providers_own_make_the_content_a_list() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    assert sent(Message("user", [TextPart("Look"), UnknownPart(picture)]))[0]["content"] == [
        {"type": "text", "text": "Look"}, picture,
    ]  # fmt: skip


def test_reasoning_goes_back_only_where_it_came_from() -> None:
    plain = Message("assistant", [ReasoningPart("Hm"), TextPart("4")])
    assert sent(plain) == [{"role": "assistant", "content": "4"}]
    named = ReasoningPart("Hm", {"field": "reasoning_content", "origin": "a.example"})
    back = Message("assistant", [named, TextPart("4")])
    expected = {"role": "assistant", "content": "4", "reasoning_content": "Hm"}
    assert sent(back, origin="a.example") == [expected]
    assert sent(back) == [expected]
    assert sent(back, origin="b.example") == [{"role": "assistant", "content": "4"}]
    call = ToolCallPart("c", "f", "{}", "w", {"extra_content": 1, "origin": "a.example"})
    assert (
        "extra_content"
        in sent(Message("assistant", [call]), origin="a.example")[0]["tool_calls"][0]
    )
    entry = sent(Message("assistant", [call]), origin="b.example")[0]["tool_calls"][0]
    assert entry.keys() == {"id", "type", "function"}


def test_thinking_goes_back_as_a_part_before_the_rest() -> None:
    thought = ReasoningPart("Hm", {"field": "thinking"})
    call = ToolCallPart("c", "f", "{}")
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    assert sent(Message("assistant", [thought, TextPart("4")]))[0]["content"] == [
        part, {"type": "text", "text": "4"},
    ]  # fmt: skip
    assert sent(Message("assistant", [thought, call]))[0]["content"] == [part]


def test_tools_and_parameters() -> None:
    schema = {"type": "object", "properties": {}}
    request = Request(
        (Message("user", "Hi"),),
        (ToolSpec("f", "Does it.", schema), ToolSpec("g", "", schema)),
        {"temperature": 0, "top_p": None, "model": "x", "stream": True, "tools": [{"type": "web"}]},
    )
    body = encode(request, "m")
    assert body["model"] == "m"
    assert body["temperature"] == 0
    assert body.keys() == {"model", "messages", "temperature", "tools"}
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "f", "description": "Does it.", "parameters": schema},
        },
        {"type": "function", "function": {"name": "g", "parameters": schema}},
        {"type": "web"},
    ]


def test_a_stream_asks_for_usage_unless_told_otherwise() -> None:
    hello = (Message("user", "Hi"),)
    body = encode(Request(hello, streaming=True), "m")
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    body = encode(Request(hello, params={"stream_options": None}, streaming=True), "m")
    assert "stream_options" not in body
    assert "stream" not in encode(Request(hello), "m")
