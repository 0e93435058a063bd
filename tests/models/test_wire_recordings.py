"""Recorded answers of some thirty providers, replayed over HTTP.

The recordings lie beside the checkout. What is expected of each is worked out here from the
recording itself, by the plainest means, and from the tags that say what is odd in it.
"""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from robotlab_nb.core.errors import ModelError
from robotlab_nb.core.messages import Message, ReasoningPart
from robotlab_nb.models.assembly import Assembler
from robotlab_nb.models.openai_body import BodyReader
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Request
from robotlab_nb.testing import ModelServer, Reply

FILE = Path(__file__).parents[3] / "shared" / "wire" / "exchanges.jsonl"
RECORDS = {
    record["id"]: record
    for record in (json.loads(line) for line in FILE.read_text().splitlines() if line)
    if record["wire"] == "openai-chat"
} if FILE.exists() else {}  # fmt: skip

pytestmark = pytest.mark.skipif(not RECORDS, reason="the recordings are not beside the checkout")
every = pytest.mark.parametrize("name", sorted(RECORDS) or ["none"])


# -- what a recording says, worked out plainly ---------------------------------------------------


def objects(record: dict[str, Any]) -> list[dict[str, Any]]:
    body = record["response"]["body"]
    if "streaming" not in record["tags"]:
        return [json.loads(body)]
    data = [line[5:].strip() for line in re.split("\r\n|\n|\r", body) if line[:5] == "data:"]
    return [json.loads(text) for text in data if text != "[DONE]"]


def deltas(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        choice.get("delta") or choice.get("message") or {}
        for obj in objects(record)
        for choice in obj.get("choices") or ()
        if choice.get("index", 0) == 0
    ]


def said(record: dict[str, Any]) -> str:
    text = ""
    for delta in deltas(record):
        content = delta.get("content")
        if isinstance(content, dict):
            content = json.dumps(content, ensure_ascii=False)
        for part in content if isinstance(content, list) else [content or ""]:
            text += part if isinstance(part, str) else part.get("text") or ""
        text += (delta.get("audio") or {}).get("transcript") or delta.get("refusal") or ""
    return "" if "tool-call-text-in-content" in record["tags"] else text


def thought(record: dict[str, Any]) -> str:
    text = ""
    for delta in deltas(record):
        text += delta.get("reasoning") or delta.get("reasoning_content") or ""
        content = delta.get("content")
        for part in content if isinstance(content, list) else ():
            text += "".join(piece["text"] for piece in part.get("thinking", ()))
    return text


def called(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Id, name and arguments of each call."""
    calls: list[list[str]] = []
    place: dict[Any, list[str]] = {}
    for delta in deltas(record):
        entries = list(delta.get("tool_calls") or ())
        legacy = delta.get("function_call")
        if legacy and legacy.get("name"):
            entries.append({"function": legacy})
        for entry in entries:
            custom = entry.get("custom") or {}
            function = custom if custom.get("name") else entry.get("function") or {}
            label, id_ = entry.get("index"), entry.get("id") or ""
            call = place.get(label)
            if call is None or (id_ and id_ != call[0]):
                call = place[label] = [id_, function.get("name") or "", ""]
                calls.append(call)
            call[2] += function.get("arguments") or function.get("input") or ""
    return [(a, b, c) for a, b, c in calls]


def counted(record: dict[str, Any]) -> dict[str, Any] | None:
    found = [obj.get("usage") or (obj.get("x_groq") or {}).get("usage") for obj in objects(record)]
    last = next((usage for usage in reversed(found) if usage), None)
    if last is None:
        return None
    expected = {"input_tokens": last["prompt_tokens"], "output_tokens": last["completion_tokens"]}
    if "usage-cost" in record["tags"]:
        expected["cost_usd"] = last["cost"]
    for name, pattern in (
        ("cached_tokens", r'"(?:cached_tokens|prompt_cache_hit_tokens|cache_read_input_tokens)"'),
        ("reasoning_tokens", r'"reasoning_tokens"'),
    ):
        values = re.findall(rf"{pattern}: (\d+)", json.dumps(last))
        if values:
            expected[name] = max(map(int, values))
    return expected


def stopped(record: dict[str, Any]) -> str | None:
    tags = set(record["tags"])
    if "refusal" in tags:
        return "refused"
    if tags & {"finish-length", "tool-args-truncated"}:
        return "length"
    if tags & {"tool-call", "legacy-function-call"}:
        return "tool"
    if "finish-content_filter" in tags:
        return "content_filter"
    if "finish_details" in record["response"]["body"]:
        return "length"
    return "stop" if tags & {"finish-stop", "finish-eos"} else None


KINDS = {
    401: "auth",
    403: "content_filter",
    404: "not_found",
    422: "bad_request",
    429: "rate_limit",
}
#: recordings whose kind is not the status's
ODD_KINDS = {
    "deepseek-400-octet-stream": "context_length",
    "llamacpp-400-context-overflow-streaming": "context_length",
    "mistral-400-flat": "not_found",
    "azure-200-error-content-filter": "content_filter",
    "misc-200-text-plain": "protocol",
    "misc-200-json-no-choices": "protocol",
}


def failure(record: dict[str, Any]) -> dict[str, Any] | None:
    """What must be true of the error; None where there is an answer."""
    tags, status, name = set(record["tags"]), record["response"]["status"], record["id"]
    if status >= 400:
        kind = ODD_KINDS.get(name) or KINDS.get(status, "bad_request")
        again = status == 429 or status >= 500 or "failed_generation" in record["response"]["body"]
        return {"kind": kind, "status": status, "retryable": again, "billed": False}
    if not tags & {"error-in-200", "error-in-stream", "error-in-choice", "choices-missing",
                   "non-json-body"}:  # fmt: skip
        return None
    if name in ODD_KINDS:
        return {"kind": ODD_KINDS[name], "billed": True}
    errors = [obj.get("error") or _choice_error(obj) for obj in objects(record)]
    error = next(error for error in errors if error)
    code = error.get("status_code") or error["code"]
    kind = "server" if code >= 500 else "bad_request"
    again = code >= 500 or "failed_generation" in error
    return {"kind": kind, "status": code, "retryable": again, "billed": True}


def _choice_error(obj: dict[str, Any]) -> Any:
    return next((c["error"] for c in obj.get("choices") or () if c.get("error")), None)


def words_of(record: dict[str, Any]) -> str:
    """The error's own words."""
    for obj in objects(record):
        error = obj.get("error") or _choice_error(obj) or obj.get("message") or obj.get("detail")
        if error:
            return error if isinstance(error, str) else error["message"]
    raise AssertionError("no words")


# -- replaying -----------------------------------------------------------------------------------


def check(record: dict[str, Any], found: Assembler, error: BaseException | None) -> None:
    expected = failure(record)
    if expected is not None:
        assert isinstance(error, ModelError), error
        assert {key: getattr(error, key) for key in expected} == expected
        assert error.body
        assert len(error.body) <= 500
        if "non-json-body" not in record["tags"] and "choices-missing" not in record["tags"]:
            start = re.sub(r"\s+", " ", words_of(record))[:100]
            assert start in str(error)
        if record["response"]["status"] == 200 and "choices" in record["response"]["body"]:
            kept = found.partial()
            text = "".join(getattr(part, "text", "") for part in kept if part.kind != "reasoning")
            assert text == said(record)
            assert not [part for part in kept if part.kind == "tool_call"]
        return
    assert error is None, error
    numbers = count()
    message = found.message(lambda: f"our_{next(numbers)}")
    assert message.text == said(record)
    assert message.reasoning == thought(record)
    assert [(c.name, c.arguments) for c in message.tool_calls] == [
        (name, arguments) for _, name, arguments in called(record)
    ]
    assert [c.wire_id or "" for c in message.tool_calls] == [id_ for id_, _, _ in called(record)]
    assert found.stop_reason == stopped(record)
    usage = dict(found.usage) if found.usage is not None else None
    if usage and record["provider"] == "xai":
        usage.pop("cost_usd", None)
    assert usage == counted(record)
    assert found.response_model == (objects(record)[-1].get("model") or None)


async def replay(record: dict[str, Any], *sizes: int) -> tuple[Assembler, BaseException | None]:
    response = record["response"]
    headers = {k: v for k, v in response["headers"].items() if k != "content-type"}
    reply = Reply.raw(
        response["body"],
        status=response["status"],
        content_type=response["headers"].get("content-type", ""),
        headers=headers,
    )
    reply = reply.split(*sizes) if sizes else reply
    request = Request(
        (Message("user", "Hello"),), streaming="streaming" in record["tags"], timeout=30.0
    )
    found, error = Assembler(), None
    async with ModelServer([reply]) as server:
        model = server.model()
        try:
            async for chunk in model.stream(request):
                found.add(chunk)
        except Exception as raised:
            error = raised
        await model.aclose()
        assert len(server.requests) == 1
    return found, error


@every
async def test_an_answer_as_it_was_recorded(name: str) -> None:
    record = RECORDS[name]
    check(record, *await replay(record, *record["response"].get("chunks", ())))


@every
async def test_the_same_answer_cut_at_odd_places(name: str) -> None:
    check(RECORDS[name], *await replay(RECORDS[name], 1, 2, 3, 5, 700, 1, 61))


@pytest.mark.parametrize("name", [n for n, r in RECORDS.items() if r["response"]["status"] < 400])
def test_the_same_answer_byte_by_byte(name: str) -> None:
    record = RECORDS[name]
    reader, found = BodyReader("a model"), Assembler()
    for byte in record["response"]["body"].encode():
        for chunk in reader.feed(bytes([byte])):
            found.add(chunk)
    for chunk in reader.finish():
        found.add(chunk)
    check(record, found, reader.failure)


def test_there_are_recordings_of_every_kind() -> None:
    assert len(RECORDS) > 100
    outcomes = [failure(record) is None for record in RECORDS.values()]
    assert outcomes.count(True) > 70
    assert outcomes.count(False) > 20


# -- what goes back with the next turn -----------------------------------------------------------


def sent_back(name: str) -> dict[str, Any]:
    """The assistant message of a recorded answer, as the next request sends it."""
    reader, found = BodyReader("a model", origin="here"), Assembler()
    for chunk in reader.feed(RECORDS[name]["response"]["body"].encode()) + reader.finish():
        found.add(chunk)
    numbers = count()
    message = Message.from_dict(
        json.loads(json.dumps(found.message(lambda: f"our_{next(numbers)}").to_dict()))
    )
    assert encode(Request((message,)), "m", origin="elsewhere")["messages"][0].keys() <= {
        "role", "content", "tool_calls",
    }  # fmt: skip
    found_message: dict[str, Any] = encode(Request((message,)), "m", origin="here")["messages"][0]
    return found_message


@pytest.mark.parametrize(
    "name", [n for n, r in RECORDS.items() if "reasoning_details" in r["tags"] and not failure(r)]
)
def test_reasoning_details_go_back_with_text_and_signature(name: str) -> None:
    record = RECORDS[name]
    pieces = [p for delta in deltas(record) for p in delta.get("reasoning_details") or ()]
    blocks = sent_back(name)["reasoning_details"]
    for key in ("text", "data", "signature"):
        assert "".join(b.get(key) or "" for b in blocks) == "".join(
            p.get(key) or "" for p in pieces
        )
    assert [b["type"] for b in blocks] == list(dict.fromkeys(p["type"] for p in pieces))
    assert "reasoning" not in sent_back(name)


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, r in RECORDS.items()
        if {"reasoning_content", "reasoning"} & set(r["tags"])
        and "reasoning_details" not in r["tags"]
        and not failure(r)
    ],
)
def test_other_reasoning_goes_back_in_the_field_that_it_came_in(name: str) -> None:
    record = RECORDS[name]
    field = "reasoning_content" if "reasoning_content" in record["tags"] else "reasoning"
    assert sent_back(name)[field] == thought(record)


def test_thinking_parts_go_back_as_parts() -> None:
    name = "mistral-json-thinking-parts"
    if name not in RECORDS:
        pytest.skip("not among the recordings")
    content = sent_back(name)["content"]
    assert [part["type"] for part in content] == ["thinking", "text"]
    assert content[0]["thinking"][0]["text"] == thought(RECORDS[name])


def test_a_call_without_an_id_goes_back_under_ours() -> None:
    name = "gemini-compat-json-tool-id-empty"
    if name not in RECORDS:
        pytest.skip("not among the recordings")
    message = deltas(RECORDS[name])[0]
    back = sent_back(name)
    assert back["tool_calls"][0]["id"] == "our_0"
    assert back["extra_content"] == message["extra_content"]


def test_reasoning_alone_never_makes_an_answer_cut() -> None:
    """The part is there though it has no text: an encrypted block is all that was thought."""
    name = "openrouter-json-reasoning-encrypted"
    if name not in RECORDS:
        pytest.skip("not among the recordings")
    reader, found = BodyReader("a model"), Assembler()
    for chunk in reader.feed(RECORDS[name]["response"]["body"].encode()) + reader.finish():
        found.add(chunk)
    first = found.message(lambda: "our").parts[0]
    assert isinstance(first, ReasoningPart)
    assert first.text == ""
    assert first.opaque
