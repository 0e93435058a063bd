"""What a narrator says of each event."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.event_data import EVENT_TYPES
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.display.narration import TOLD, Narration

ROBOT = Scope("r", "r", None, 0, "robot", ("guide",), "guide")
INNER = Scope("i", "n", "n", 1, "robot", ("support", "draft"), "writer")
NETWORK = Scope("n", "n", None, 0, "network", ("support",), None)
TASK = Scope("n", "n", None, 0, "task", ("support", "draft"), "writer")
BUSY = {"type": "ModelError", "message": "busy"}


def said(*events):
    """The lines for some (type, data, scope, elapsed)."""
    told = Narration()
    lines = [
        told.line(Event(type_, scope, n, float(n), data))
        for n, (type_, data, scope) in enumerate(events)
    ]
    return [line for line in lines if line is not None]


def one(type_, data, scope=ROBOT):
    return said((type_, data, scope))[0]


def test_a_robots_run_from_start_to_end():
    call = {"tool_call_id": "t", "tool": "weather", "arguments": {"city": "Paris", "unit": "C"}}
    done = {"tool_call_id": "t", "status": "completed", "duration_s": 0.142}
    assert said(
        ("run.started", {"name": "guide"}, ROBOT),
        ("message.added", {}, ROBOT),
        ("model_call.started", {"call_id": "1"}, ROBOT),
        ("tool_call.started", call, ROBOT),
        ("tool_call.completed", done, ROBOT),
        ("model_call.started", {"call_id": "2"}, ROBOT),
        ("run.completed", {"stop_reason": "stop"}, ROBOT),
    ) == [
        "[guide] thinking…",
        '[guide] weather("Paris", …)',
        "[guide] weather done after 142 ms",
        "[guide] thinking…",
        "[guide] done after 6.0 s",
    ]


def test_a_networks_tasks_bear_the_networks_name_and_robots_their_tasks():
    started = {"graph": [{"task": "draft"}, {"task": "late"}]}
    settled = {"task": "late", "status": "blocked", "reason": "needs draft"}
    assert said(
        ("run.started", started, NETWORK),
        ("task.started", {"task": "draft"}, TASK),
        ("run.started", {"name": "writer"}, INNER),
        ("model_call.started", {}, INNER),
        ("run.failed", {"error": BUSY}, INNER),
        ("task.failed", {"task": "draft", "error": BUSY}, TASK),
        ("task.settled", settled, TASK),
        ("run.failed", {"error": BUSY}, NETWORK),
    ) == [
        "[support] begins: 2 tasks",
        "[support] task draft begins",
        "[writer · draft] thinking…",
        "[support] task draft failed after 4.0 s: ModelError: busy",
        "[support] task late blocked: needs draft",
        "[support] failed after 7.0 s: ModelError: busy",
    ]


@pytest.mark.parametrize(
    ("type_", "data", "line"),
    [
        ("task.retried", {"task": "draft", "attempt": 1, "error": BUSY, "retry_in_s": 2.0},
         "task draft: attempt 1 failed, again in 2.0 s: ModelError: busy"),
        ("task.restored",
         {"task": "draft", "restored_from": "7f3a12", "restored_cost": 0.0042},
         "task draft restored from 7f3a12, which cost $0.0042 then"),
        ("map.completed", {"task": "read", "done": 38, "failed": 2},
         "task read: 38 items done, 2 failed"),
        ("loop.turned", {"task": "draft", "turn": 2, "again": True, "reason": "not yet"},
         "task draft: turn 2, again"),
        ("loop.turned",
         {"task": "draft", "turn": 5, "again": False, "reason": "max_turns", "item": 7},
         "task draft, item 7: turn 5, over (max turns)"),
        ("guard.convergence", {"score": 0.914, "threshold": 0.85, "converged": True, "texts": 3},
         "compared 3 texts: the same (score 0.91)"),
        ("guard.convergence", {"score": None, "threshold": 0.85, "converged": False, "texts": 1},
         "compared 1 text: not the same (score unknown)"),
        ("memory.deadlock", {"keys": ["plan"], "waiting": ["draft", "audit"]},
         "deadlock: nobody is left to write plan, for which draft, audit waited"),
        ("bus.dead", {"channel": "desk", "reason": "no_receiver", "error": BUSY},
         "dead letter on desk (no receiver): ModelError: busy"),
        ("attempt.failed", {"attempt": 1, "retry_in_s": 2.0, "error": BUSY},
         "attempt 1 failed, again in 2.0 s: ModelError: busy"),
        ("model_call.fallback", {"from_model": "a/b", "to_model": "c/d", "error": BUSY},
         "asks c/d in place of a/b: ModelError: busy"),
        ("cache.hit", {"call_id": "1"}, "has the answer in the cache"),
        ("guard.limited", {"limit": "requests_per_minute", "wait_s": 3.0},
         "waits 3.0 s (requests per minute)"),
        ("guard.budget",
         {"budget": "month", "dimension": "cost", "limit": 1.0, "used": 0.98, "asked": 0.1},
         "budget month is used up: $0.9800 of $1.00 (cost)"),
        ("guard.budget", {"budget": "b", "dimension": "tokens", "limit": 1000, "used": 1200},
         "budget b is used up: 1,200 of 1,000 (tokens)"),
        ("guard.loop", {"tool": "search", "kind": "cycle", "length": 2, "count": 3},
         "goes round in circles: 2 calls, 3 times, ending in search"),
        ("hitl.requested", {"kind": "question", "text": "Which?", "choices": ["a", "b"]},
         "asks: Which? (a / b)"),
        ("hitl.requested",
         {"kind": "approval", "tool": "delete", "arguments": {"path": "/x"}, "why": "it deletes"},
         'wants approval of delete("/x"): it deletes'),
        ("hitl.answered", {"kind": "question", "by": "input", "status": "answered", "answer": "a"},
         "answered by input: a"),
        ("hitl.answered", {"kind": "approval", "by": "policy", "status": "denied", "answer": False},
         "denied by policy"),
        ("output.rejected", {"errors": [{"path": "age", "message": "not a number"}]},
         "answer sent back: age: not a number"),
        ("conversation.compacted", {"before_tokens": 9000, "after_tokens": 800},
         "compressed the conversation from 9,000 tokens to 800 tokens"),
        ("hook.failed", {"hook": "Audit", "point": "after_run", "error": BUSY},
         "hook Audit failed at after_run: ModelError: busy"),
        ("run.interrupted", {"reason": "stopped", "stuck": ["sleep"]},
         "stopped (stopped); still running: sleep"),
        ("tool_call.started", {"tool_call_id": "t", "tool": "now", "arguments": {}}, "now()"),
        ("tool_call.started",
         {"tool_call_id": "t", "tool": "now", "arguments": None, "arguments_text": '{"a'},
         'now({"a)'),
        ("tool_call.completed", {"tool_call_id": "?", "status": "failed", "error": BUSY},
         "a tool failed: ModelError: busy"),
    ],
)  # fmt: skip
def test_each_event_that_matters_is_one_line(type_, data, line):
    assert one(type_, data) == f"[guide] {line}"


def test_a_last_attempt_is_told_by_what_fails_with_it():
    assert said(("attempt.failed", {"attempt": 3, "retry_in_s": None, "error": BUSY}, ROBOT)) == []


def test_the_first_argument_is_cut_to_eighty_characters():
    long = {"tool_call_id": "t", "tool": "say", "arguments": {"text": "x" * 500}}
    line = one("tool_call.started", long)
    assert len(line) == len("[guide] say()") + 80
    assert line.endswith("x…)")


def test_all_that_is_told_is_declared():
    assert set(EVENT_TYPES) >= TOLD


hostile = st.text() | st.sampled_from(["\x1b[2J", "a\nb", "\r[guide] done", "\u202e", "\ud800"])
json_values = st.recursive(
    hostile | st.none() | st.booleans() | st.floats() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile, inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(TOLD)), hostile, st.data())
def test_hostile_text_cannot_move_the_cursor_or_begin_a_line(type_, name, data):
    fields = {k: data.draw(hostile) for k in EVENT_TYPES[type_].__annotations__}
    fields |= {
        "graph": [], "errors": [{"path": name, "message": name}], "choices": [name],
        "stuck": [name], "activate": [name], "error": {"type": name, "message": name},
        "arguments": {name: name}, "retry_in_s": 1.0, "limit": 5, "used": 5,
    }  # fmt: skip
    scope = Scope("r", "r", None, 0, "robot", (name,), name)
    line = one(type_, fields, scope)
    assert len(line) <= 300
    assert line.isprintable() or not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in line)
    assert "\u202e" not in line
    assert "\n" not in line


@given(json_values)
def test_any_arguments_can_be_told(arguments):
    for value in ({"a": arguments}, arguments):
        data = {"tool_call_id": "t", "tool": "x", "arguments": value, "arguments_text": "?"}
        assert one("tool_call.started", data).startswith("[guide] x(")


def test_what_is_remembered_of_runs_goes_with_them_and_is_bounded():
    told = Narration()
    for n in range(1_100):
        scope = Scope(f"r{n}", f"r{n}", None, 0, "robot", ("g",), "g")
        told.line(Event("run.started", scope, 0, 0.0, {}))
        if n < 500:
            told.line(Event("run.completed", scope, 1, 1.0, {}))
            assert len(told._roots) == 0
    assert len(told._roots) == 600
    for n in range(1_100, 2_000):
        scope = Scope(f"r{n}", f"r{n}", None, 0, "robot", ("g",), "g")
        told.line(Event("run.started", scope, 0, 0.0, {}))
    assert len(told._roots) == 1_000
