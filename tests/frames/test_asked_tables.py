"""Tables of questions, of judged answers and scored skills; what fallbacks and caches leave."""

from __future__ import annotations

import json
import math

import pandas as pd

import robotlab_nb as rl
from tests.frames.test_tables import START, Story, row, scope


def begun(robot: str = "assistant") -> tuple[Story, object]:
    where = scope(robot=robot)
    return Story().tell(where, "run.started", 0.0, started_at=START, name=robot), where


def test_a_question_and_an_approval_are_a_row_each() -> None:
    told, s = begun()
    told.tell(s, "hitl.requested", 1.0, question_id="q1", kind="question", robot="assistant",
              tool="ask_user", tool_call_id="t1", text="Which size?", choices=["S", "L"],
              timeout_s=60.0)  # fmt: skip
    told.tell(s, "hitl.answered", 3.5, question_id="q1", kind="question", answer="L",
              by="answer", status="answered", waited_s=2.5)  # fmt: skip
    told.tell(s, "hitl.requested", 4.0, question_id="q2", kind="approval", tool="pay",
              tool_call_id="t2", text="May pay be called?", arguments={"amount": 19.9},
              why="outward")  # fmt: skip
    told.tell(s, "run.waiting", 4.1, questions=["q2"])
    frames = told.frames
    assert row(frames.questions) == {
        "question_id": "q1", "run_id": "9c41a0ffff", "root_id": "9c41a0ffff", "task": None,
        "robot": "assistant", "kind": "question", "tool": "ask_user", "tool_call_id": "t1",
        "text": "Which size?", "choices": '["S", "L"]', "arguments": None, "why": None,
        "answer": '"L"', "by": "answer", "status": "answered",
        "asked_at": pd.Timestamp("2026-03-01T12:00:01Z"), "waited_s": 2.5,
    }  # fmt: skip
    second = row(frames.questions, 1)
    assert json.loads(second["arguments"]) == {"amount": 19.9}
    assert (second["status"], second["why"], second["answer"]) == ("pending", "outward", None)
    assert second["choices"] is None
    assert row(frames.runs)["status"] == "waiting"


def test_every_judged_answer_is_a_row() -> None:
    told, s = begun()
    errors = [{"path": "total", "message": "a number is needed"}]
    told.tell(s, "output.rejected", 1.0, mode="schema", attempt=1, text='{"total": "x"}',
              errors=errors)  # fmt: skip
    told.tell(s, "output.parsed", 2.0, mode="schema", attempt=2, value={"total": 2})
    told.tell(s, "output.parsed", 3.0, mode="text", attempt=1, value=None)
    frames = told.frames
    first, second, third = (row(frames.outputs, n) for n in range(3))
    assert (first["attempt"], first["mode"], first["accepted"]) == (1, "schema", False)
    assert json.loads(first["errors"]) == errors
    assert json.loads(first["value"]) == '{"total": "x"}'
    assert (second["accepted"], second["errors"]) == (True, None)
    assert json.loads(second["value"]) == {"total": 2}
    assert third["value"] == "null"


def test_every_scored_skill_is_a_row() -> None:
    told, s = begun()
    told.tell(s, "prompt.skills_matched", 0.1, scorer="tf-idf", threshold=0.3, error=None, matches=[
        {"name": "haiku", "score": 0.61, "used": True}, {"name": "tax", "score": 0, "used": False},
    ])  # fmt: skip
    table = told.frames.skills
    columns = ["name", "score", "used", "threshold", "scorer"]
    assert table[columns].values.tolist() == [
        ["haiku", 0.61, True, 0.3, "tf-idf"],
        ["tax", 0.0, False, 0.3, "tf-idf"],
    ]


def test_attempts_name_their_model_and_a_call_the_one_that_answered() -> None:
    told, s = begun()
    told.tell(s, "model_call.started", 0.0, call_id="c", round=1, model="a/x", provider="a")
    told.tell(s, "guard.limited", 0.0, call_id="c", limit="requests_per_minute", wait_s=12.0)
    told.tell(s, "attempt.failed", 12.5, call_id="c", attempt=1, model="a/x", error={"type": "E"})
    told.tell(s, "model_call.fallback", 12.5, call_id="c", from_model="a/x", to_model="b/y",
              error={"type": "E"})  # fmt: skip
    told.tell(s, "attempt.completed", 13.0, call_id="c", attempt=1, model="b/y")
    told.tell(s, "model_call.completed", 13.0, call_id="c", usage={"calls": 1}, model="b/y",
              provider="b")  # fmt: skip
    frames = told.frames
    assert frames.attempts["model"].tolist() == ["a/x", "b/y"]
    call = row(frames.model_calls)
    assert (call["model"], call["provider"], call["attempts"]) == ("b/y", "b", 2)
    assert call["waited_s"] == 12.0


def test_cached_calls_cost_nothing_and_add_up() -> None:
    told, s = begun()
    told.call(s, "c1", 0.25)
    told.tell(s, "model_call.started", 0.3, call_id="c2", round=2, model="openai/x")
    told.tell(s, "cache.hit", 0.3, call_id="c2", request_key="k")
    usage = {"input_tokens": 5, "cost_usd": 0.0, "calls": 1}
    told.tell(s, "model_call.completed", 0.3, call_id="c2", cached=True, usage=usage)
    frames = told.frames
    assert frames.model_calls["cached"].tolist() == [False, True]
    assert frames.model_calls["cost_usd"].tolist() == [0.25, 0.0]
    assert row(frames.runs)["cost_usd"] == math.fsum(frames.model_calls["cost_usd"]) == 0.25
    assert row(frames.runs)["cost_complete"] is True


def pay(amount: float) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def test_a_real_run_with_approval_rejected_output_and_fallback_fills_the_tables() -> None:
    broken = rl.SimulatedModel([rl.ModelError("no model today", kind="auth")], name="broken")
    good = rl.SimulatedModel([("pay", {"amount": 3}), '{"paid": "yes"}', '{"paid": 3}'])
    schema = {
        "title": "Receipt", "type": "object", "properties": {"paid": {"type": "number"}},
        "required": ["paid"],
    }  # fmt: skip
    bot = rl.build(
        "payer", model=broken, fallback=[good], tools=[pay], output=schema, output_mode="text",
        approve=["pay"], answers={"pay": True},
    )  # fmt: skip
    result = bot.run("Pay three")
    frames = result.frames
    assert frames.questions[["kind", "tool", "by", "status"]].values.tolist() == [
        ["approval", "pay", "scripted", "approved"]
    ]
    assert frames.tool_calls["approved_by"].tolist() == ["scripted"]
    assert frames.outputs["accepted"].tolist() == [False, True]
    assert [json.loads(v) for v in frames.outputs["value"]] == ['{"paid": "yes"}', {"paid": 3}]
    assert frames.attempts["status"][0] == "failed"
    assert frames.attempts["model"][0] != frames.attempts["model"][1]
    shown = repr(result)
    assert "in place of" in shown
    assert "Rejected answers · 1" in shown
    assert "Questions and approvals · 1" in shown
