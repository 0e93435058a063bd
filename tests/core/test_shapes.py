"""Messages as others wrote them: both generations of robot_lab's shapes, and chat APIs'."""

from __future__ import annotations

import base64
import json

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
from robotlab_nb.core.shapes import message_of
from robotlab_nb.core.views import RobotMessage, TextMessage, UserMessage, view_from_dict, views
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Request
from robotlab_nb.robot.conversation import as_message, as_messages, repair

# -- robot_lab's first releases --------------------------------------------------------------------

OLD = [
    {"role": "user", "content": "Add them"},
    {"role": "assistant", "tool_call": {"id": "1", "name": "add", "input": {"a": 1}}},
    {"role": "assistant", "tool_call": {"id": "2", "name": "mul", "input": {"a": 2}}},
    {"role": "tool", "tool_result": {"id": "1", "result": {"sum": 3}}},
    {"role": "tool", "tool_result": {"id": "2", "error": "no such number"}},
    {"role": "assistant", "content": "3, and an error", "stop_reason": "stop"},
]
NEW = [
    {"type": "text", "role": "user", "content": "Add them"},
    {
        "type": "tool_call", "role": "assistant", "content": None, "stop_reason": "tool",
        "tools": [
            {"type": "tool", "id": "1", "name": "add", "input": {"a": 1}},
            {"type": "tool", "id": "2", "name": "mul", "input": {"a": 2}},
        ],
    },
    {
        "type": "tool_result", "role": "tool_result", "stop_reason": "tool",
        "tool": {"type": "tool", "id": "1", "name": "add", "input": {}},
        "content": {"data": {"sum": 3}},
    },
    {
        "type": "tool_result", "role": "tool_result", "stop_reason": "tool",
        "tool": {"type": "tool", "id": "2", "name": "mul", "input": {}},
        "content": {"error": "no such number"},
    },
    {"type": "text", "role": "assistant", "content": "3, and an error"},
]  # fmt: skip


def test_both_generations_are_the_same_conversation_and_the_newer_is_written():
    old, mended = repair(as_messages(OLD))
    new, nothing = repair(as_messages(NEW))
    assert old == new
    assert nothing == []
    assert mended == [f"a result was given the name of its tool, {n}" for n in ("add", "mul")]
    written = [view.to_dict() for message in old for view in views(message)]
    assert written == NEW


def test_a_robot_takes_a_conversation_of_the_first_releases():
    bot = rl.build("b", model=rl.SimulatedModel(["next"]))
    bot.replace_messages(OLD)
    assert [m.role for m in bot.messages] == ["user", "assistant", "tool", "assistant"]
    assert [c.name for c in bot.messages[1].tool_calls] == ["add", "mul"]
    assert bot.run("go on").text == "next"


def test_text_beside_an_old_tool_call_is_kept():
    found = message_of({"role": "assistant", "content": "Let me see.", **OLD[1]})
    assert found.text == "Let me see."
    assert found.tool_calls[0].arguments == '{"a": 1}'
    with pytest.raises(rl.InputError, match="text beside its call"):
        view_from_dict({"role": "assistant", "content": "Let me see.", **OLD[1]})


def test_extras_of_an_old_call_are_kept():
    call = {"id": "1", "name": "add", "input": {}, "signature": "s"}
    assert message_of({"role": "assistant", "tool_call": call}).tool_calls[0].opaque == {
        "signature": "s"
    }


def test_thread_id_is_session_id():
    old = UserMessage.of({"content": "Hi", "thread_id": "t1", "metadata": {"a": 1}})
    assert old == UserMessage("Hi", "t1", metadata={"a": 1})
    assert old.to_dict()["session_id"] == "t1"
    assert "thread_id" not in old.to_dict()
    assert UserMessage.of({"content": "Hi", "thread_id": "t", "session_id": "t"}).session_id == "t"
    with pytest.raises(rl.InputError, match="two sessions: session_id 's', thread_id 't'"):
        UserMessage.of({"content": "Hi", "thread_id": "t", "session_id": "s"})
    with pytest.raises(rl.InputError, match="no text under content"):
        UserMessage.of({"thread_id": "t"})


def test_what_a_person_or_a_robot_sent_is_a_users_message():
    user = UserMessage("Hi", "s", metadata={"a": 1}, id="u1", created_at="2026-01-01")
    sent = RobotMessage(3, "alice", {"task": 1})
    for given_ in (user, user.to_dict(), {"content": "Hi", "thread_id": "t"}):
        assert as_message(given_) == Message("user", "Hi")
    for given_ in (sent, sent.to_dict()):
        assert as_message(given_) == Message("user", '{"task": 1}')


# -- chat APIs -------------------------------------------------------------------------------------


def test_a_chat_conversation_is_read_with_its_extras():
    call = {
        "id": "call_1", "type": "function", "extra_content": {"sig": "x"},
        "function": {"name": "look", "arguments": "{bad"},
    }  # fmt: skip
    chat = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "ann"},
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Hm",
         "annotations": []},
        {"role": "tool", "tool_call_id": "call_1", "content": "sun"},
        {"role": "assistant", "content": "Sunny", "refusal": None, "function_call": None},
    ]  # fmt: skip
    system, user, asked, answer, said = repair(as_messages(chat))[0]
    assert system == Message("system", "Be brief.")
    assert user.parts == (TextPart("Hi", {"name": "ann"}),)
    assert asked.parts == (
        ReasoningPart("Hm", {"field": "reasoning_content"}),
        ToolCallPart("call_1", "look", "{bad", "call_1", {"extra_content": {"sig": "x"}}),
    )
    assert answer.tool_results == (ToolResultPart("call_1", "look", "sun", wire_id="call_1"),)
    assert said == Message("assistant", "Sunny")


def test_media_in_a_chat_conversation_are_media():
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    png = f"data:image/png;base64,{data}"
    parts = [
        {"type": "image_url", "image_url": {"url": png, "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf",
                                  "file_data": f"data:application/pdf;base64,{data}"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,***"}},
        {"type": "hologram", "depth": 3},
    ]  # fmt: skip
    found = message_of({"role": "user", "content": parts}).parts
    assert [type(p) for p in found] == [MediaPart] * 4 + [UnknownPart] * 3
    assert (found[0].mime, found[0].opaque) == ("image/png", {"detail": "low"})
    assert encode(Request((Message("user", found),)), "m")["messages"][0]["content"] == parts


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"role": "robot", "content": ""}, "no role 'robot'"),
        ({"role": 3, "content": ""}, "no role 3"),
        ({"role": "user"}, "lacks content"),
        ({"type": "text", "content": "x"}, "lacks role"),
        ({"parts": []}, "needs role and parts"),
        ({}, "needs role and content"),
        ({"role": "user", "content": 3}, "content is a text or a list of parts, not int"),
        ({"role": "user", "content": [3]}, r"content\[0\] is a mapping, not int"),
        ({"role": "user", "content": [{"type": "text"}]}, r"content\[0\].text is a text"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, r"tool_calls\[0\] lacks function"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]},
            r"tool_calls\[0\].id is a text, not NoneType",
        ),
        ({"role": "assistant", "tool_call": {"id": "1"}}, "lacks 'name'"),
        ({"role": "assistant", "tool_call": 1}, "tool_call is a mapping, not int"),
        ({"role": "tool", "tool_result": {"id": "1"}}, "lacks 'result'"),
        ({"role": "tool", "tool_result": {"result": 1}}, "lacks 'id'"),
        (
            {"role": "assistant", "content": "", "function_call": {"name": "f"}},
            "tool_calls instead",
        ),
        ({"type": "poem", "role": "user", "content": ""}, "no message type 'poem'"),
        ({"type": "tool_result", "tool": {"id": "1", "name": "t"}, "content": {}}, "lacks 'data'"),
        ({"from": "alice", "content": "x"}, "lacks 'id'"),
        (
            {"role": "user", "parts": [{"kind": "text", "text": "a"}, {"kind": "text", "text": 1}]},
            r"parts\[1\] of a message: the text of a text part is a text, not int",
        ),
        (
            {"role": "user", "parts": [{"kind": "tool_call", "id": "1"}]},
            "tool_call part lacks name",
        ),
        ({"role": "user", "parts": [{"kind": "media"}]}, "lacks its mime type"),
        ({"role": "user", "parts": [{"kind": "media", "mime": "a/b"}]}, "neither bytes nor an"),
        ({"role": "user", "parts": [{"kind": "media", "mime": 1}]}, "mime of a media part is str"),
    ],
)
def test_a_bad_shape_says_what_and_where(data, told):
    with pytest.raises(rl.InputError, match=rf"messages\[1\]: .*{told}|{told}") as error:
        as_messages(["fine", data])
    assert str(error.value).startswith("messages[1]: ")


# -- there and back --------------------------------------------------------------------------------

texts = st.text(max_size=12)
some = st.text(min_size=1, max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
tools = st.builds(
    lambda id_, name, given_: {"type": "tool", "id": id_, "name": name, "input": given_},
    some, some, st.dictionaries(texts, values, max_size=2),
)  # fmt: skip
stops = st.sampled_from(["stop", "tool", "length"])
written = st.one_of(
    st.builds(
        lambda role, content, stop: {
            "type": "text", "role": role, "content": content, "stop_reason": stop
        },
        st.sampled_from(["system", "user", "assistant", "tool_result"]), texts, stops,
    ),
    st.builds(
        lambda found, stop: {
            "type": "tool_call", "role": "assistant", "content": None, "tools": found,
            "stop_reason": stop,
        },
        st.lists(tools, min_size=1, max_size=3), stops,
    ),
    st.builds(
        lambda tool, content, stop: {
            "type": "tool_result", "role": "tool_result", "tool": tool, "content": content,
            "stop_reason": stop,
        },
        tools, st.builds(lambda d: {"data": d}, values) | st.builds(lambda e: {"error": e}, texts),
        stops,
    ),
)  # fmt: skip


@given(written)
def test_robot_labs_messages_survive_reading_and_writing(data):
    assert view_from_dict(data).to_dict() == data
    assert isinstance(message_of(data), Message)


extras = st.none() | st.dictionaries(
    st.sampled_from(["extra_content", "signature"]), values.filter(bool), min_size=1
)
media = st.builds(
    lambda data, kind: MediaPart.of(data, kind, None), st.binary(min_size=1, max_size=8),
    st.sampled_from(["image/png", "image/webp", "audio/wav", "audio/mpeg"]),
)  # fmt: skip
pdfs = st.builds(
    lambda data, name: MediaPart.of(data, "application/pdf", name), st.binary(min_size=1), some
)
addresses = st.builds(lambda n: MediaPart("image/*", url=f"https://x/{n}"), st.integers(0, 9))
calls = st.builds(
    lambda id_, name, arguments, more: ToolCallPart(id_, name, arguments, id_, more),
    some, some, some, extras,
)  # fmt: skip
thoughts = st.builds(
    lambda words, field: ReasoningPart(words, {"field": field}),
    some, st.sampled_from(["reasoning_content", "reasoning", "thinking"]),
)  # fmt: skip
users = st.lists(
    st.builds(TextPart, some) | media | pdfs | addresses, min_size=1, max_size=4
).map(lambda parts: Message("user", parts))  # fmt: skip
answers = st.builds(
    lambda thought, words, wishes: Message("assistant", [*thought, *words, *wishes]),
    st.lists(thoughts, max_size=1), st.lists(st.builds(TextPart, some), max_size=2),
    st.lists(calls, max_size=2, unique_by=lambda call: call.id),
)  # fmt: skip
results = st.builds(
    lambda id_, words: Message("tool", [ToolResultPart(id_, "", words, wire_id=id_)]), some, texts
)


@given(st.lists(users | answers | results, max_size=4))
def test_what_goes_to_a_chat_api_reads_back_as_the_same(messages):
    sent = encode(Request(tuple(messages)), "m")["messages"]
    read = [message_of(json.loads(json.dumps(message))) for message in sent]
    assert encode(Request(tuple(read)), "m")["messages"] == sent


@given(users | answers | results)
def test_our_own_shape_loses_nothing(message):
    stored = json.loads(json.dumps(message.to_dict()))
    assert as_message(stored) == message
    assert as_message(stored).id == stored["id"]


def test_a_refusal_and_a_plain_view_are_messages():
    assert message_of({"role": "assistant", "refusal": "No."}).parts == (RefusalPart("No."),)
    assert as_message(TextMessage("user", "Hi")) == Message("user", "Hi")
