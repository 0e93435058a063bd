"""The columns of what was asked of people, of judged answers, and of scored agent skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cells import json_text, microseconds
from .declaring import ROBOT, ROOT_ID, RUN_ID, TASK, Column
from .readers import judged_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.events import Event
    from ..core.records import Asked

__all__ = ["OUTPUTS", "QUESTIONS", "SKILLS"]

QUESTIONS: tuple[Column[Asked], ...] = (
    Column("question_id", "string", "The question, or the approval.", lambda q, p: q.question_id),
    RUN_ID,
    ROOT_ID,
    TASK,
    ROBOT,
    Column("kind", "string", "`question` or `approval`.", lambda q, p: q.kind),
    Column("tool", "string", "The tool that asked, or that was to be approved.",
           lambda q, p: q.tool),
    Column("tool_call_id", "string", "The tool call.", lambda q, p: q.tool_call_id),
    Column("text", "string", "What was asked.", lambda q, p: q.text),
    Column("choices", "string", "The choices as JSON text; missing where the answer was free.",
           lambda q, p: json_text(q.choices) if q.choices else None),
    Column("arguments", "string", "The arguments to be approved, as JSON text.",
           lambda q, p: json_text(q.arguments)),
    Column("why", "string", "Why approval was needed.", lambda q, p: q.why or None),
    Column("answer", "string", "The answer as JSON text; missing where there was none.",
           lambda q, p: json_text(q.answer)),
    Column("by", "string",
           "Who settled it: `scripted`, `policy`, `input`, `widget`, `answer`, `timeout`, `stop`.",
           lambda q, p: q.by),
    Column("status", "string",
           "`pending`, `answered`, `approved`, `denied`, `edited`, `default`, `timeout`, "
           "`interrupted`.",
           lambda q, p: q.status),
    Column("asked_at", "datetime64[us, UTC]", "When it was asked.",
           lambda q, p: microseconds(p.start, q.asked_s)),
    Column("waited_s", "Float64", "Seconds until it was settled.", lambda q, p: q.waited_s),
)  # fmt: skip

OUTPUTS: tuple[Column[Event], ...] = (
    RUN_ID,
    ROOT_ID,
    TASK,
    ROBOT,
    Column("attempt", "Int64", "Which answer of the run, from 1.",
           lambda e, p: e.data.get("attempt")),
    Column("mode", "string", "How the model was told: `schema`, `tool` or `text`.",
           lambda e, p: e.data.get("mode")),
    Column("accepted", "boolean", "Whether it was what it must be.",
           lambda e, p: e.type == "output.parsed"),
    Column("errors", "string", "Its faults, `path` and `message` of each, as JSON text.",
           lambda e, p: json_text(e.data.get("errors"))),
    Column("value", "string", "The value as JSON text; of a rejected one the text as JSON text.",
           judged_value),
    Column("elapsed_s", "Float64", "Seconds since the root started.", lambda e, p: e.elapsed),
)  # fmt: skip

#: An event of matching, and one of its matches.
SkillRow = tuple["Event", "Mapping[str, Any]"]

SKILLS: tuple[Column[SkillRow], ...] = (
    RUN_ID,
    ROOT_ID,
    TASK,
    ROBOT,
    Column("name", "string", "The agent skill.", lambda s, p: s[1].get("name")),
    Column("score", "Float64", "How well it fits the message.", lambda s, p: s[1].get("score")),
    Column("used", "boolean", "Whether the model was told of it.", lambda s, p: s[1].get("used")),
    Column("threshold", "Float64", "The lowest score of a skill that is used.",
           lambda s, p: s[0].data.get("threshold")),
    Column("scorer", "string", "What scored it.", lambda s, p: s[0].data.get("scorer")),
)  # fmt: skip
