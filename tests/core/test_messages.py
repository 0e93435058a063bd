"""Messages, their ids, and robot_lab's views of them."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.messages import (
    MediaPart,
    Message,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from robotlab_nb.core.views import (
    ToolCallMessage,
    message_from_view,
    view_from_dict,
    views,
)

texts = st.text(st.characters(codec=None), max_size=20)
extras = st.none() | st.dictionaries(
    st.text(max_size=5), st.integers() | st.text(max_size=5), min_size=1, max_size=2
)
parts = st.one_of(
    st.builds(TextPart, texts, extras, st.booleans()),
    st.builds(ReasoningPart, texts, extras),
    st.builds(RefusalPart, texts),
    st.builds(ToolCallPart, texts, texts, texts, st.none() | texts, extras),
    st.builds(
        ToolResultPart,
        texts,
        texts,
        texts,
        st.booleans(),
        st.none() | texts,
        st.none() | st.integers(),
    ),
    st.builds(MediaPart.of, st.binary(max_size=9), texts, st.none() | texts),
    st.builds(UnknownPart, st.dictionaries(st.text(max_size=4), st.integers(), max_size=2)),
)
messages = st.builds(
    Message, st.sampled_from(["system", "user", "assistant", "tool"]), st.lists(parts, max_size=4)
)


@given(messages)
def test_a_message_survives_json(message):
    read = Message.from_dict(json.loads(json.dumps(message.to_dict())))
    # An empty provider id or extra is the same as none.
    assert read.to_dict() == message.to_dict()
    assert read.id == message.id


@given(messages)
def test_a_message_survives_pickling(message):
    assert pickle.loads(pickle.dumps(message)) == message


def test_the_id_follows_content_and_provider_extras_and_nothing_of_ours():
    call = ToolCallPart("call_a_1", "add", "{}", "wire-1")
    base = Message("assistant", [call])
    ours = Message("assistant", [ToolCallPart("call_b_7", "add", "{}", "wire-1")])
    wire = Message("assistant", [ToolCallPart("call_a_1", "add", "{}", "wire-2")])
    signed = Message("assistant", [ReasoningPart("hm", {"signature": "s"}), call])
    assert base.id == ours.id
    assert len({base.id, wire.id, signed.id}) == 3


@given(texts, st.sampled_from(["system", "user", "assistant"]))
def test_the_short_way_to_an_id_gives_the_same_id(text, role):
    from hashlib import sha256

    from robotlab_nb.core.json import canonical

    long_way = sha256(canonical([role, [{"kind": "text", "text": text}]])).hexdigest()
    assert Message(role, text).id == long_way


def test_reading_back_what_was_just_written_costs_no_parsing():
    message = Message("user", "hello")
    assert Message.from_dict(message.to_dict()) is message


def test_a_part_of_an_unknown_kind_is_kept_whole():
    data = {"role": "assistant", "parts": [{"kind": "hologram", "depth": 3}]}
    message = Message.from_dict(data)
    assert message.parts == (UnknownPart({"kind": "hologram", "depth": 3}),)


@pytest.mark.parametrize(
    "bad",
    [
        {"role": "user"},
        {"parts": []},
        {"role": "robot", "parts": []},
        {"role": "user", "parts": [3]},
    ],
)
def test_bad_messages_say_what_is_wrong(bad):
    with pytest.raises(rl.InputError):
        Message.from_dict(bad)


def test_text_prefers_text_then_a_refusal():
    assert Message("assistant", [TextPart("a"), TextPart("b")]).text == "ab"
    assert Message("assistant", [RefusalPart("no")]).text == "no"
    assert Message("assistant", [ToolCallPart("c", "t")]).text == ""


def test_robot_labs_serialised_keys():
    answer = Message("assistant", [TextPart("Let me see."), ToolCallPart("c1", "add", '{"a": 1}')])
    assert [v.to_dict() for v in views(answer, "tool")] == [
        {"type": "text", "role": "assistant", "content": "Let me see."},
        {
            "type": "tool_call", "role": "assistant", "content": None, "stop_reason": "tool",
            "tools": [{"type": "tool", "id": "c1", "name": "add", "input": {"a": 1}}],
        },
    ]  # fmt: skip
    result = Message("tool", [ToolResultPart("c1", "add", "3", data=3)])
    failed = Message("tool", [ToolResultPart("c1", "add", "Error (add): no", True)])
    assert views(result)[0].to_dict()["content"] == {"data": 3}
    assert views(failed)[0].to_dict()["content"] == {"error": "Error (add): no"}
    assert views(failed)[0].is_error
    assert views(result)[0].is_success


def test_views_are_read_back_and_are_messages_again():
    written = [
        {"role": "user", "content": "hi"},
        {"type": "text", "role": "assistant", "content": "yo", "stop_reason": "stop"},
        {
            "type": "tool_call",
            "role": "assistant",
            "tools": [{"id": "1", "name": "t", "arguments": {"x": 1}}],
        },
        {"type": "tool_result", "tool": {"id": "1", "name": "t"}, "content": {"error": "bad"}},
    ]
    read = [view_from_dict(w) for w in written]
    assert [v.type for v in read] == ["text", "text", "tool_call", "tool_result"]
    assert isinstance(read[2], ToolCallMessage)
    assert read[2].tools[0].input == {"x": 1}
    roles = [message_from_view(v).role for v in read]
    assert roles == ["user", "assistant", "assistant", "tool"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"type": "poem", "role": "user"}, "no message type 'poem'"),
        ({"type": "text", "role": "robot", "content": ""}, "no role 'robot'"),
        (
            {"type": "text", "role": "user", "content": "", "stop_reason": "tired"},
            "no stop reason 'tired'",
        ),
        ({"type": "tool_call", "role": "assistant"}, "lacks 'tools'"),
    ],
)
def test_bad_views_say_what_is_wrong(data, told):
    with pytest.raises(rl.InputError, match=told):
        view_from_dict(data)


def test_user_and_robot_messages():
    user = rl.UserMessage.of({"content": "hi", "session_id": "s", "other": 1})
    assert user.to_dict()["session_id"] == "s"
    assert rl.UserMessage.of("hi").content == "hi"
    sent = rl.RobotMessage(3, "alice", "hello", in_reply_to="bob:2")
    assert (sent.key, sent.is_reply) == ("alice:3", True)
    assert rl.RobotMessage.from_dict(sent.to_dict()) == sent
    assert sent.to_dict()["from"] == "alice"
