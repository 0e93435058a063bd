"""Bodies of answers as bytes: errors inside them, halves of them, and what is none."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robotlab_nb.core.messages import Message, TextPart
from robotlab_nb.models.assembly import Assembler
from robotlab_nb.models.openai_body import BodyReader
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Request

if TYPE_CHECKING:
    from robotlab_nb.core.errors import ModelError


def delta(fields: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Any:
    choice = {"index": 0, "delta": fields or {}, "finish_reason": finish, **more}
    return {"id": "r", "model": "m", "choices": [choice]}


def message(found: Assembler) -> Message:
    numbers = count(1)
    return found.message(lambda: f"our_{next(numbers)}")


def body_read(raw: bytes) -> tuple[Assembler, ModelError | None]:
    reader, found = BodyReader("m"), Assembler()
    for chunk in reader.feed(raw) + reader.finish():
        found.add(chunk)
    return found, reader.failure


ERROR = json.dumps({"error": {"message": "boom", "type": "server_error"}})
START = f"data: {json.dumps(delta({'content': 'Hi'}))}\n\n"


@pytest.mark.parametrize(
    "tail",
    [
        f"data: {ERROR}\n\n",
        f"data: {ERROR}\n\ndata: [DONE]\n\n",
        f"event: error\ndata: {ERROR}\n\n",
        'event: error\ndata: {"message": "boom"}\n\n',
        "event: error\ndata: boom\n\n",
        f"error: {ERROR}\n",
        'data: {"object": "error", "message": "boom", "code": 500}\n\n',
        'data: {"type": "error", "error": {"type": "api_error", "message": "boom"}}\n\n',
        f"data: {json.dumps(delta({}, error={'code': 502, 'message': 'boom'}))}\n\n",
        'data: {"error": "boom"}',
    ],
)
def test_an_error_in_a_stream_is_raised_and_the_text_before_it_kept(tail: str) -> None:
    found, error = body_read((START + tail).encode())
    assert error is not None
    assert (error.retryable, error.billed, error.kind) == (True, True, "server")
    assert "boom" in str(error)
    assert found.partial() == [TextPart("Hi", None, True)]
    # As the first and only event it is one too.
    found, error = body_read(tail.encode())
    assert error is not None
    assert "boom" in str(error)


def test_an_error_beside_a_piece_of_text_is_seen() -> None:
    last = {**delta({"content": "!"}), "error": {"code": 502, "message": "boom"}}
    found, error = body_read(f"{START}data: {json.dumps(last)}\n\n".encode())
    assert error is not None
    assert "boom" in str(error)
    assert found.partial() == [TextPart("Hi!", None, True)]


def test_overload_is_recognised_inside_a_stream() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    _, found = body_read(f"event: error\ndata: {json.dumps(error)}\n\n".encode())
    assert found is not None
    assert (found.kind, found.retryable) == ("overloaded", True)


def test_the_counts_that_come_with_an_error_are_kept() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    error = {**delta({"content": "Hi"}), "error": {"code": 400, "message": "limit"}, "usage": usage}
    found, failure = body_read(f"data: {json.dumps(error)}\n\n".encode())
    assert failure is not None
    assert (failure.kind, failure.retryable) == ("bad_request", False)
    assert found.usage == {"input_tokens": 9, "output_tokens": 2}
    assert found.partial() == [TextPart("Hi", None, True)]


@pytest.mark.parametrize("text", ["{broken", "ERROR: out of memory", "1", "null", '"x"', "[1, 2]"])
def test_an_event_that_is_no_object_is_a_protocol_error(text: str) -> None:
    found, error = body_read(f"{START}data: {text}\n\n{START}".encode())
    assert error is not None
    assert (error.kind, error.retryable) == ("protocol", True)
    assert text in str(error)
    assert found.partial() == [TextPart("Hi", None, True)]


def test_nothing_after_done_is_read() -> None:
    found, error = body_read(f"{START}data: [DONE]\n\n{START}data: {{broken\n\n".encode())
    assert error is None
    assert message(found).text == "Hi"


@pytest.mark.parametrize(
    ("raw", "kind", "retryable"),
    [
        (b"", "cut", True),
        (b"  \n ", "cut", True),
        (b'{"choices": [{"message": {"content": "Hel', "cut", True),
        (b'{"choices": [{"message": {"content": "Hello"}, "finish_reason": nul', "cut", True),
        (b'{"choices": [', "cut", True),
        (b": still working\n\n", "cut", True),
        (b"da", "cut", True),
        (b"data: {", "cut", True),
        (b"<!DOCTYPE html><title>Sign in</title>", "protocol", False),
        (b"upstream connect error", "protocol", False),
        (b'{"choices": oops, "more": "and more and more and more"}', "protocol", False),
        (b"[" * 100_000, "protocol", False),
        (b"data: " + b"[" * 100_000 + b"\n\n", "protocol", True),
        (b'{"n": ' + b"9" * 5000 + b"}", "protocol", False),
    ],
)
def test_bodies_that_are_no_answer(raw: bytes, kind: str, retryable: bool) -> None:
    _, error = body_read(raw)
    assert error is not None
    assert (error.kind, error.retryable) == (kind, retryable)
    assert len(error.body or "") <= 500


def test_a_stream_and_a_whole_answer_are_told_apart_by_looking() -> None:
    whole = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}
    for raw in (
        json.dumps(whole).encode(),
        b"\n" * 3000 + json.dumps(whole).encode() + b"\n",
        b"\xef\xbb\xbf" + json.dumps(whole).encode(),
        f"{START}data: [DONE]\n\n".encode(),
        f"\n\n : hm\n: hello\n\n{START}data: [DONE]\n\n".encode(),
        b"\xef\xbb\xbf" + f"{START}data: [DONE]\n\n".encode(),
        f"event: message\r\n{START}data: [DONE]\n\n".replace("\n\n", "\r\n\r\n").encode(),
    ):
        found, error = body_read(raw)
        assert error is None, (raw, error)
        assert message(found).text == "Hi"


#: what the shapes are made of
KEYS = st.sampled_from(
    [
        "id", "model", "choices", "index", "delta", "message", "content", "role",
        "tool_calls", "function", "name", "arguments", "custom", "input", "type",
        "finish_reason", "native_finish_reason", "finish_details", "usage",
        "prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens",
        "cost", "error", "code", "status", "metadata", "raw", "reasoning",
        "reasoning_details", "reasoning_content", "refusal", "audio", "transcript",
        "data", "images", "function_call", "x_groq", "text", "thinking", "detail", "loc",
        "msg", "object", "signature", "extra_content",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 600)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "{}", "stop", "length", "error", "text", "thinking", "custom"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=3), st.booleans())
@settings(max_examples=150, deadline=None)
def test_whatever_objects_come_there_are_chunks_or_a_model_error(
    objects: list[Any], whole: bool
) -> None:
    wrapped = [{"choices": [{"delta": obj, "message": obj, **obj}], **obj} for obj in objects]
    if whole:
        raw = json.dumps(wrapped[0] if wrapped else {}).encode()
    else:
        raw = b"".join(f"data: {json.dumps(obj)}\n\n".encode() for obj in [*wrapped, *objects])
    found, _ = body_read(raw)
    made = message(found)
    assert Message.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    encode(Request((made,)), "m")
