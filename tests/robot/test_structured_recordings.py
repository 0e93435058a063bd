"""Recorded structured answers of real providers, read as answers of a prescribed shape.

The recordings lie beside the checkout.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.errors import ModelError, OutputError
from robotlab_nb.testing import ModelServer, Reply

FILE = Path(__file__).parents[3] / "shared" / "wire" / "exchanges.jsonl"


def wanted(body: dict[str, Any]) -> tuple[str, dict[str, Any], str] | None:
    """The mode of a request, the schema of the answer, and the tool that gives it."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return "schema", form["json_schema"]["schema"], ""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict) or "function" not in choice:
        return None
    name = choice["function"]["name"]
    (tool,) = [t["function"] for t in body["tools"] if t["function"]["name"] == name]
    return "tool", tool["parameters"], name


RECORDS = {
    record["id"]: record
    for record in (json.loads(line) for line in FILE.read_text().splitlines() if line)
    if record["wire"] == "openai-chat" and wanted(record["request"]["body"] or {})
} if FILE.exists() else {}  # fmt: skip

pytestmark = pytest.mark.skipif(not RECORDS, reason="the recordings are not beside the checkout")


def ask(record: dict[str, Any], server: ModelServer) -> Any:
    found = wanted(record["request"]["body"])
    assert found is not None
    mode, schema, _ = found
    bot = rl.build(
        "b", model=server.model(record["request"]["body"]["model"]),
        config={"output": schema, "output_mode": mode, "output_retries": 0, "attempts": 1},
    )  # fmt: skip
    return bot.stream("Hi").result() if "streaming" in record["tags"] else bot.run("Hi")


def replayed(record: dict[str, Any]) -> ModelServer:
    found = wanted(record["request"]["body"])
    assert found is not None
    response, body = record["response"], record["response"]["body"]
    if found[2]:
        body = body.replace(f'"{found[2]}"', '"final_answer"')
        body = body.replace(f'\\"{found[2]}\\"', '\\"final_answer\\"')
    return ModelServer([
        Reply.raw(body, content_type=response["headers"].get("content-type", ""),
                  status=response["status"])
    ])  # fmt: skip


ENDS = {
    "openai-json-refusal": (OutputError, "refused"),
    "openai-sse-refusal": (OutputError, "refused"),
    "groq-sse-event-error-first": (ModelError, "tool call validation failed"),
    "openrouter-sse-gemini-same-index-many-ids": (ModelError, "Malformed function call"),
}


@pytest.mark.parametrize("name", sorted(RECORDS) or ["none"])
def test_what_providers_answered_is_read(name):
    record = RECORDS[name]
    with replayed(record) as server:
        if name in ENDS:
            kind, words = ENDS[name]
            with pytest.raises(kind, match=words):
                ask(record, server)
            return
        result = ask(record, server)
    found = wanted(record["request"]["body"])
    assert found is not None
    assert set(found[1]["required"]) <= set(result.parsed)
