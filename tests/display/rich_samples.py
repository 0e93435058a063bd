"""More to draw: templates, skills, budgets, settings and questions; runs that were guarded.

The objects are real ones wherever they need no running engine.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING, Any

from robotlab_nb.core.config import RunConfig, options, resolve
from robotlab_nb.core.errors import BudgetExceeded, OutputError, RunWaiting
from robotlab_nb.core.media import MediaPart
from robotlab_nb.core.messages import Message, TextPart, ToolCallPart, ToolResultPart
from robotlab_nb.core.records import Asked
from robotlab_nb.prompts.agent_skills import AgentSkill, Catalog
from robotlab_nb.prompts.templates import Template
from robotlab_nb.robot.history_search import Hit, Hits
from robotlab_nb.runtime.budgets import PARTS, Budget
from robotlab_nb.runtime.hook_registry import Hooks
from robotlab_nb.runtime.questions import Question
from tests.display.samples import MODEL, Story, a_run, failed

if TYPE_CHECKING:
    from pathlib import Path

    from robotlab_nb.core.state import RunState

OTHER = "anthropic/claude-haiku-4-5"
INVOICE = {"number": "A-1009", "total": 19.9, "paid": False, "lines": [{"item": "pen", "n": 2}]}
REFUND = '{"order": "A-1009", "amount": 19.9, "reason": "duplicate charge on 4 May"}'


# -- objects -------------------------------------------------------------------------------


def a_template(**words: str) -> Template:
    text = words.get("text", "Explain {{ topic }} to a class and be {{ tone }}.")
    head = (
        "robot_name: teacher\ndescription: Explains a topic to a class.\ntemperature: 0.2\n"
        "parameters:\n  tone: kind\n  level: {type: string, enum: [easy, hard], default: easy}\n"
        "  topic: {type: string, description: What to explain.}\n"
    )
    return Template(f"---\n{head}---\n{text}", words.get("name", "teach"))


def rendered_template() -> Template:
    return Template("---\nparameters:\n  tone: kind\n---\nBe {{ tone }}, always.", "tone")


def open_template() -> Template:
    return Template("Hello {{ nane }}", "greet")


def a_skill(folder: Path, *, text: str = "Count syllables: 5, 7, 5.") -> AgentSkill:
    """A bundle with a script, a reference and words of its author's."""
    bundle = folder / "haiku"
    (bundle / "scripts").mkdir(parents=True, exist_ok=True)
    (bundle / "references").mkdir(exist_ok=True)
    script = bundle / "scripts" / "count.py"
    script.write_text("#!/usr/bin/env python3\nprint(17)\n", "utf-8")
    script.chmod(0o755)
    (bundle / "references" / "forms.md").write_text("five seven five", "utf-8")
    head = (
        "name: haiku\ndescription: Writes haiku. Use it when somebody asks for a short poem.\n"
        "license: MIT\ncompatibility: Python 3.11\nallowed-tools: Bash Read\n"
        "metadata:\n  author: the poetry club\n  network: 'false'\n  timeout: '10'\n"
    )
    (bundle / "SKILL.md").write_text(f"---\n{head}---\n{text}\n", "utf-8", "replace")
    return AgentSkill(bundle)


def a_catalog(folder: Path) -> Catalog:
    a_skill(folder)
    return Catalog([folder])


def a_budget(name: str = "lesson", *, spent: bool = False) -> Budget:
    budget = Budget(tokens=12_000, cost=0.5, name=name)
    budget._spent.add(12_400 if spent else 8_000, round(0.031 * PARTS), 3)
    if not spent:
        budget._held.add(1_200, round(0.004 * PARTS), 1)
    return budget


def some_settings() -> Any:
    return resolve(
        [
            ("environment ROBOTLAB_MODEL_TIMEOUT", {"model_timeout": 30.0}),
            ("options", {"attempts": 5}),
            ("network", {"max_tokens": 500}),
            ("template:teach", {"temperature": 0.9}),
            ("robot", {"temperature": 0.2, "api_key": "sk-canary-0000000000"}),
            ("run", {"seed": 7}),
        ]
    )


class Audit:
    """A handler."""

    def before_run(self, context: Any) -> None: ...

    async def after_tool_call(self, context: Any) -> None: ...


def some_hooks() -> Hooks:
    found = Hooks()
    found.add(Audit())
    return found


def some_hits() -> Hits:
    return Hits(
        [
            Hit("The tower is 330 metres high, antenna included.", "assistant", 0.82, 3),
            Hit("How high is the Eiffel tower?", "user", 0.41, 2),
        ]
    )


def an_approval(**about: Any) -> Question:
    fields: dict[str, Any] = {
        "id": "q1", "kind": "approval", "text": "May issue_refund be called?", "run_id": "r1",
        "robot": "refunds", "tool": "issue_refund", "tool_call_id": "call_7",
        "arguments": {"order": "A-1009", "amount": 19.9, "reason": "duplicate charge on 4 May"},
        "why": "it moves money, and the letter that was read is a stranger's", "timeout_s": 272.0,
    }  # fmt: skip
    return Question(**{**fields, **about})


def a_question(**about: Any) -> Question:
    fields: dict[str, Any] = {
        "id": "q2", "kind": "question", "text": "Which account should receive the refund?",
        "run_id": "r1", "robot": "refunds", "choices": ("Card ending 4242", "Bank account"),
        "default": "Card ending 4242",
    }  # fmt: skip
    return Question(**{**fields, **about})


def asked(question: Question) -> dict[str, Any]:
    """The data of the event that puts a question."""
    names = ("kind", "robot", "tool", "tool_call_id", "text", "choices", "default", "arguments")
    told = {name: getattr(question, name) for name in (*names, "why", "timeout_s")}
    return {"question_id": question.id, **told}


def a_settled(status: str, **about: Any) -> Asked:
    question = an_approval() if status in ("approved", "edited", "denied") else a_question()
    found = Asked(asked(question), 1.0)
    by = {"timeout": "timeout", "interrupted": "stop", "default": "timeout"}.get(status, "answer")
    answer = "Bank account" if status == "answered" else None
    found.settle({"status": status, "by": by, "answer": answer, "waited_s": 4.5, **about})
    return found


def png(width: int = 60, height: int = 40) -> bytes:
    """A picture of some colours."""
    rows = (
        b"\0" + bytes(v for x in range(width) for v in (x * 255 // width, y * 255 // height, 140))
        for y in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        end = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + end

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def media() -> dict[str, MediaPart]:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    return {
        "png": MediaPart.of(png(), "image/png", "chart.png"),
        "large": MediaPart.of(png(900, 300) + b"\0" * 200_000, "image/png", "large.png"),
        "svg": MediaPart.of(svg, "image/svg+xml", "drawing.svg"),
        "lie": MediaPart.of(svg, "image/png", "drawing.png"),
        "csv": MediaPart.of(b"city,temp\nParis,18.5\n", "text/csv", "cities.csv"),
        "pdf": MediaPart.of(b"%PDF-1.4\n" * 2000, "application/pdf", "paper.pdf"),
        "url": MediaPart("image/*", url="https://example.org/a.png"),
        "gone": MediaPart("image/png", name="seen.png", sha256="0" * 64, size=12_345),
    }


def photo_message() -> Message:
    return Message("user", [TextPart("What is in these?"), *list(media().values())[:1]])


# -- runs ----------------------------------------------------------------------------------


def refund_asked() -> Story:
    """A run that wants to use a tool which needs approval."""
    wish = ToolCallPart("call_7", "issue_refund", REFUND)
    story = Story("refunds").asks("I was charged twice").call(0.0, 0.9, stop_reason="tool")
    story.says(Message("assistant", [TextPart("I will refund it."), wish]), 0.9, "tool")
    story.tool("call_7", "issue_refund", REFUND, 0.9)
    return story.add("hitl.requested", 1.0, **asked(an_approval()))


def waiting(*, both: bool = False) -> RunState:
    story = refund_asked()
    if both:
        story.add("hitl.requested", 1.1, **asked(a_question()))
    return story.add("run.waiting", 1.2, questions=["q1"]).state


def approved(status: str = "approved", by: str = "answer") -> RunState:
    story = refund_asked()
    story.add("run.waiting", 1.2, questions=["q1"])
    answer: Any = {"edited": {"arguments": {"order": "A-1009", "amount": 9.9}}}.get(status, True)
    story.add("hitl.answered", 14.0, question_id="q1", kind="approval", status=status, by=by,
              answer=answer if status != "denied" else "too much", waited_s=13.0)  # fmt: skip
    story.add("run.resumed", 14.0)
    denied = status == "denied"
    content = "Error (issue_refund): denied: too much" if denied else "refunded"
    how: dict[str, Any] = {} if denied else {"approved_by": by}
    story.tool_ends("call_7", content, 14.2, "failed" if denied else "completed", **how)
    story.says(Message("tool", [ToolResultPart("call_7", "issue_refund", content, denied)]), 14.2)
    story.call(14.2, 1.0).says(Message("assistant", "Your 19.90 € are on their way."), 15.2, "stop")
    return story.ends("completed", 15.2, stop_reason="stop").state


def parsed(value: Any = INVOICE, *, rejections: int = 1) -> RunState:
    """A run whose answer had to be data, and was sent back first."""
    import json

    story = Story("reader")
    story.events[0].data["output"] = "Invoice"  # type: ignore[index]
    story.asks("Read this invoice")
    for number in range(1, rejections + 1):
        bad = '{"number": "A-1009", "total": "about twenty"}'
        story.call(number - 1.0, 0.8).says(Message("assistant", bad), number - 0.2, "stop")
        errors = [
            {"path": "total", "message": "a number is needed, not 'about twenty'"},
            {"path": "lines", "message": "it is missing"},
        ]
        story.add("output.rejected", number - 0.2, mode="schema", attempt=number, text=bad,
                  errors=errors)  # fmt: skip
        story.says(Message("user", "Not yet: total must be a number."), number - 0.1)
    at = float(rejections)
    good = json.dumps(value)
    story.call(at, 0.8).says(Message("assistant", good), at + 0.8, "stop")
    story.add("output.parsed", at + 0.8, mode="schema", attempt=rejections + 1, value=value)
    return story.ends("completed", at + 0.9, stop_reason="stop").state


def fallen_back() -> RunState:
    """A run whose first model failed for good, after waits and attempts."""
    story = Story("assistant").asks("Is it going to rain?")
    limit = {"type": "ModelError", "message": "rate limit", "status": 429, "kind": "rate_limit"}
    story.add("model_call.started", 0.0, call_id="r1.1", round=1, model=MODEL, provider="openai")
    story.add("guard.limited", 0.0, call_id="r1.1", limit="requests_per_minute", wait_s=12.0)
    at: dict[str, Any] = {"call_id": "r1.1", "model": MODEL, "error": limit}
    story.add("attempt.failed", 13.1, attempt=1, started_s=12.0, duration_s=1.1, retry_in_s=4.0,
              **at)  # fmt: skip
    story.add("attempt.failed", 18.2, attempt=2, started_s=17.1, duration_s=1.1, retry_in_s=None,
              **at)  # fmt: skip
    story.add("model_call.fallback", 18.2, call_id="r1.1", from_model=MODEL, to_model=OTHER,
              error=limit)  # fmt: skip
    story.add("attempt.completed", 19.0, call_id="r1.1", attempt=1, model=OTHER, started_s=18.2,
              duration_s=0.8)  # fmt: skip
    usage = {"input_tokens": 60, "output_tokens": 12, "cost_usd": 0.0004, "calls": 1}
    story.add("model_call.completed", 19.0, call_id="r1.1", attempts=3, duration_s=19.0,
              usage=usage, stop_reason="stop", model=OTHER, provider="anthropic")  # fmt: skip
    story.says(Message("assistant", "It will, from four o'clock on."), 19.0, "stop")
    return story.ends("completed", 19.0, stop_reason="stop").state


def guarded() -> RunState:
    """A run in which much happened beside what was said; its answer came from the cache."""
    story = Story("assistant").asks("And tomorrow?")
    story.add("prompt.skills_matched", 0.0, scorer="tf-idf", threshold=0.3, error=None, matches=[
        {"name": "haiku", "score": 0.61, "used": True},
        {"name": "invoices", "score": 0.08, "used": False},
    ])  # fmt: skip
    story.add("prompt.composed", 0.0, parts=[
        {"kind": "agent_skill", "name": "haiku", "chars": 412, "hash": "a" * 64},
        {"kind": "template", "name": "teach", "chars": 1_240, "hash": "b" * 64},
        {"kind": "system_prompt", "name": "", "chars": 61, "hash": "c" * 64},
    ])  # fmt: skip
    story.add("conversation.compacted", 0.1, strategy="turns scored by TF-IDF", message_ids=[],
              new=[], summary="s" * 64, dropped=12, before_tokens=9_800,
              after_tokens=2_100)  # fmt: skip
    story.add("hook.failed", 0.1, hook="Audit.before_run", point="before_run",
              error={"type": "TypeError", "message": "'NoneType' has no len()"})  # fmt: skip
    story.add("guard.loop", 0.3, tool="get_weather", kind="repeat", length=1, count=3)
    story.add("model_call.started", 0.4, call_id="r1.1", round=1, model=MODEL, provider="openai")
    story.add("cache.hit", 0.4, call_id="r1.1", request_key="k")
    usage = {"input_tokens": 60, "output_tokens": 12, "cost_usd": 0.0, "calls": 1}
    story.add("model_call.completed", 0.4, call_id="r1.1", attempts=0, duration_s=0.001,
              usage=usage, stop_reason="stop", cached=True)  # fmt: skip
    story.says(Message("assistant", "Tomorrow starts at 12 °C."), 0.5, "stop")
    return story.ends("completed", 0.5, stop_reason="stop").state


def over_budget() -> RunState:
    message = "budget 'lesson' is spent: 12,000 of 12,000 tokens used, about 340 needed"
    error = {
        "type": "BudgetExceeded", "message": message, "retryable": False,
        "hint": "Raise the limit, lower max_tokens, or reset() the budget.",
    }  # fmt: skip
    story = Story("assistant").asks("And tomorrow?")
    story.add("guard.budget", 0.1, call_id="r1.1", budget="lesson", dimension="tokens",
              limit=12_000, used=12_000, reserved=0, asked=340)  # fmt: skip
    return story.ends("failed", 0.1, error=error).state


# -- errors --------------------------------------------------------------------------------


def an_output_error() -> OutputError:
    error = OutputError(
        "robot 'reader' gave no Invoice in 3 answers: total: a number is needed",
        hint="Make the prompt clearer, or raise output_retries.",
        errors=[{"path": "total", "message": "a number is needed"}, {"path": "", "message": "no"}],
        text='{"total": "about twenty"}',
    )
    error.run = a_run(failed(robot="reader", answer='{"total": "about twenty"}'))
    return error


def a_budget_error() -> BudgetExceeded:
    error = BudgetExceeded("budget 'lesson' is spent", hint="Raise the limit.")
    error.run = a_run(over_budget())
    return error


def a_waiting_error() -> RunWaiting:
    error = RunWaiting("robot 'refunds' waits for a person", hint="Answer with run.answer(…).")
    error.run = a_run(waiting())
    return error


def data_url(part: MediaPart) -> str:
    return f"data:{part.mime};base64,{base64.b64encode(part.data or b'').decode()}"


def some_options() -> Any:
    return options


def a_config() -> RunConfig:
    return RunConfig(temperature=0.2, max_tokens=100, stop=["END"])
