"""Tables made of real events: values, types, and the way through Parquet and CSV."""

from __future__ import annotations

import contextlib
import io
import json
import math
import subprocess
import sys
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb
from robotlab_nb.core.errors import InputError
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.core.messages import (
    Message,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from robotlab_nb.core.state import RunState
from robotlab_nb.frames.columns import TABLES, describe
from robotlab_nb.frames.tables import Frames

START = "2026-03-01T12:00:00+00:00"


def scope(
    run_id: str = "9c41a0ffff",
    parent: Scope | None = None,
    *,
    kind: str = "robot",
    path: tuple[str, ...] = ("assistant",),
    robot: str | None = "assistant",
) -> Scope:
    root = parent.root_id if parent else run_id
    depth = parent.depth + 1 if parent else 0
    return Scope(run_id, root, parent.run_id if parent else None, depth, kind, path, robot)


class Story:
    """Events of one root, numbered as they are told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, where: Scope, type_: str, elapsed: float, **data: Any) -> Story:
        self.events.append(Event(type_, where, len(self.events), elapsed, data))
        return self

    def say(self, where: Scope, role: str, parts: Any, elapsed: float = 0.0) -> Story:
        return self.tell(where, "message.added", elapsed, message=Message(role, parts).to_dict())

    def call(self, where: Scope, call_id: str, cost: float | None, **usage: Any) -> Story:
        told = {"cost_usd": cost, "cost_complete": cost is not None, "calls": 1, **usage}
        self.tell(where, "model_call.started", 0.1, call_id=call_id, round=1, model="openai/x")
        return self.tell(where, "model_call.completed", 0.2, call_id=call_id, usage=told)

    def tool(self, where: Scope, id_: str, **completed: Any) -> Story:
        self.tell(where, "tool_call.started", 0.3, tool_call_id=id_, tool="look", arguments={})
        completed = {"status": "completed", **completed}
        return self.tell(where, "tool_call.completed", 0.4, tool_call_id=id_, **completed)

    @property
    def state(self) -> RunState:
        return RunState.fold(self.events)

    @property
    def frames(self) -> Frames:
        return Frames(self.state, self.events)


def weather() -> Story:
    """Two model calls, the first one tried twice, and one tool call."""
    s = scope()
    told = Story()
    told.tell(
        s,
        "run.started",
        0.0,
        started_at=START,
        name="assistant",
        model="openai/gpt-x",
        input="Weather in Paris?",
        session_id="s1",
        prompt_hash="abc",
        tags=["demo"],
    )
    told.say(s, "system", "Be brief.")
    told.say(s, "user", "Weather in Paris?")
    told.tell(
        s,
        "model_call.started",
        0.5,
        call_id="c1",
        round=1,
        model="openai/gpt-x",
        provider="openai",
        request_key="k1",
    )
    told.tell(
        s,
        "attempt.failed",
        0.7,
        call_id="c1",
        attempt=1,
        started_s=0.5,
        duration_s=0.2,
        error={"type": "ModelError", "message": "busy"},
        retry_in_s=0.25,
        billed=False,
    )
    told.tell(s, "attempt.completed", 1.0, call_id="c1", attempt=2, started_s=0.95, duration_s=0.05)
    told.tell(
        s,
        "model_call.completed",
        1.0,
        call_id="c1",
        text="",
        stop_reason="tool",
        duration_s=0.5,
        first_token_s=0.1,
        usage={"input_tokens": 20, "output_tokens": 8, "cost_usd": 0.1, "calls": 1},
    )
    told.say(s, "assistant", [ToolCallPart("t1", "get_weather", '{"city": "Paris"}')])
    told.tell(
        s,
        "tool_call.started",
        1.1,
        tool_call_id="t1",
        call_id="c1",
        round=1,
        tool="get_weather",
        source="function",
        arguments={"city": "Paris"},
    )
    told.tell(
        s,
        "tool_call.completed",
        1.25,
        tool_call_id="t1",
        status="completed",
        result={"sky": "sunny"},
        content="sunny",
        duration_s=0.15,
    )
    told.say(s, "tool", [ToolResultPart("t1", "get_weather", "sunny")])
    told.tell(s, "model_call.started", 1.5, call_id="c2", round=2, model="openai/gpt-x")
    told.tell(
        s,
        "model_call.completed",
        2.0,
        call_id="c2",
        text="Sunny.",
        stop_reason="stop",
        duration_s=0.5,
        usage={
            "input_tokens": 30,
            "output_tokens": 2,
            "reasoning_tokens": 1,
            "cached_tokens": 16,
            "estimated": True,
            "cost_usd": 0.2,
            "calls": 1,
        },
    )
    told.say(s, "assistant", "Sunny.")
    return told.tell(s, "run.completed", 2.0, stop_reason="stop")


def row(table: pd.DataFrame, number: int = 0) -> dict[str, Any]:
    return {k: None if pd.isna(v) else v for k, v in table.iloc[number].to_dict().items()}


def types(table: pd.DataFrame) -> list[tuple[str, str]]:
    return [(name, str(dtype)) for name, dtype in table.dtypes.items()]


def declared(name: str) -> list[tuple[str, str]]:
    return [(column, dtype) for column, dtype, _ in describe(name)]


def through_parquet(table: pd.DataFrame) -> pd.DataFrame:
    file = io.BytesIO()
    table.to_parquet(file)
    return pd.read_parquet(io.BytesIO(file.getvalue()))


def test_a_run_is_one_row() -> None:
    frames = weather().frames
    assert row(frames.runs) == {
        "run_id": "9c41a0ffff",
        "root_id": "9c41a0ffff",
        "parent_id": None,
        "resumed_from": None,
        "kind": "robot",
        "network": None,
        "task": None,
        "robot": "assistant",
        "model": "openai/gpt-x",
        "simulated": False,
        "status": "completed",
        "stop_reason": "stop",
        "started_at": pd.Timestamp(START),
        "duration_s": 2.0,
        "input": "Weather in Paris?",
        "output": "Sunny.",
        "input_tokens": 50,
        "output_tokens": 10,
        "reasoning_tokens": 1,
        "cached_tokens": 16,
        "tokens_estimated": True,
        "cost_usd": math.fsum([0.1, 0.2]),
        "cost_complete": True,
        "model_calls": 2,
        "tool_calls": 1,
        "error_type": None,
        "error_message": None,
        "session_id": "s1",
        "prompt_hash": "abc",
        "tags": '["demo"]',
        "rating": None,
        "note": None,
    }


def test_model_calls_and_their_attempts() -> None:
    frames = weather().frames
    assert row(frames.model_calls) == {
        "call_id": "c1",
        "run_id": "9c41a0ffff",
        "root_id": "9c41a0ffff",
        "task": None,
        "robot": "assistant",
        "round": 1,
        "model": "openai/gpt-x",
        "provider": "openai",
        "request_key": "k1",
        "cached": False,
        "attempts": 2,
        "status": "completed",
        "stop_reason": "tool",
        "started_at": pd.Timestamp("2026-03-01T12:00:00.5Z"),
        "waited_s": 0.0,
        "first_token_s": 0.1,
        "duration_s": 0.5,
        "input_tokens": 20,
        "output_tokens": 8,
        "reasoning_tokens": None,
        "cached_tokens": None,
        "tokens_estimated": False,
        "cost_usd": 0.1,
        "error_type": None,
    }
    assert row(frames.attempts) == {
        "root_id": "9c41a0ffff",
        "run_id": "9c41a0ffff",
        "robot": "assistant",
        "call_id": "c1",
        "attempt": 1,
        "model": None,
        "started_s": 0.5,
        "duration_s": 0.2,
        "status": "failed",
        "error_type": "ModelError",
        "error_message": "busy",
        "retry_in_s": 0.25,
        "billed": False,
    }
    assert row(frames.attempts, 1)["status"] == "completed"


def test_a_failed_model_call_says_why() -> None:
    s = scope()
    told = Story().tell(s, "run.started", 0.0, started_at=START)
    told.tell(s, "model_call.started", 0.0, call_id="c", round=1, model="m")
    told.tell(s, "attempt.failed", 0.1, call_id="c", attempt=1, billed=True, error={"type": "X"})
    error = {"type": "ModelError", "message": "m is busy"}
    told.tell(s, "model_call.failed", 0.1, call_id="c", error=error, duration_s=0.1)
    told.tell(s, "run.failed", 0.1, error=error)
    frames = told.frames
    assert frames.model_calls[["status", "error_type"]].values.tolist() == [
        ["failed", "ModelError"]
    ]
    assert row(frames.model_calls)["input_tokens"] is None
    run = row(frames.runs)
    assert (run["status"], run["error_message"]) == ("failed", "m is busy")
    # Perhaps charged, and counted by nobody: the total has a gap.
    assert run["cost_usd"] is None
    assert run["cost_complete"] is False


def test_tool_calls_keep_their_values_as_json_text() -> None:
    call = row(weather().frames.tool_calls)
    assert json.loads(call["arguments"]) == {"city": "Paris"}
    assert json.loads(call["result"]) == {"sky": "sunny"}
    assert call["started_at"] == pd.Timestamp("2026-03-01T12:00:01.1Z")
    assert (call["tool"], call["source"], call["call_id"]) == ("get_weather", "function", "c1")
    assert call["error"] is None


def test_arguments_that_could_not_be_read_are_a_json_string() -> None:
    s = scope()
    told = Story().tell(
        s, "tool_call.started", 0.1, tool_call_id="t", tool="look", arguments_text='{"a": '
    )
    told.tell(
        s,
        "tool_call.completed",
        0.1,
        tool_call_id="t",
        status="failed",
        error={"type": "ArgumentsError", "message": "cut"},
    )
    call = row(told.frames.tool_calls)
    assert json.loads(call["arguments"]) == '{"a": '
    assert call["error"] == "ArgumentsError: cut"
    assert call["result"] is None


def test_messages_say_what_they_are_made_of() -> None:
    s = scope()
    told = Story().tell(s, "run.started", 0.0, started_at=START)
    told.tell(s, "conversation.loaded", 0.0, messages=[Message("user", "Before").to_dict()])
    told.say(s, "user", "Hello")
    told.say(s, "assistant", [ReasoningPart("hm"), TextPart("Hi")])
    told.say(s, "assistant", [ReasoningPart("only")])
    told.say(s, "assistant", [RefusalPart("No.")])
    told.say(s, "assistant", [TextPart("wait"), ToolCallPart("t", "look", "{}")])
    told.say(s, "tool", [ToolResultPart("t", "look", "a cat")])
    told.say(s, "user", [TextPart("see"), UnknownPart({"kind": "image"})])
    told.say(s, "assistant", [])
    table = told.frames.messages
    assert list(table["position"]) == list(range(9))
    assert list(table["kind"]) == [
        "text",
        "text",
        "text",
        "reasoning",
        "refusal",
        "tool_call",
        "tool_result",
        "other",
        "text",
    ]
    words = ["Before", "Hello", "Hi", "only", "No."]
    assert [*table["content"][:5], table["content"][8]] == [*words, ""]
    assert json.loads(table["content"][5])[0] == {"kind": "text", "text": "wait"}
    assert json.loads(table["content"][6])[0]["content_text"] == "a cat"
    assert table["message_id"][1] == Message("user", "Hello").id


def test_events_are_listed_whole() -> None:
    told = weather()
    table = told.frames.events
    assert list(table["seq"]) == [event.seq for event in told.events]
    assert [json.loads(data) for data in table["data"]] == [event.data for event in told.events]
    assert json.loads(table["path"][0]) == ["assistant"]
    assert Frames(told.state).events.empty


def family() -> Story:
    """A network of two tasks; the second one's robot asks another robot."""
    net = scope("net", kind="network", path=("support",), robot=None)
    first = scope("r1", net, path=("support", "classify"), robot="classifier")
    second = scope("r2", net, path=("support", "draft", "map:1"), robot="writer")
    asked = scope("r3", second, path=("support", "draft", "map:1", "editor"), robot="editor")
    graph = [
        {"task": "classify", "robot": "classifier", "depends_on": []},
        {"task": "draft", "robot": "writer", "depends_on": ["classify"]},
        {"task": "escalate", "robot": None, "depends_on": ["classify"], "optional": True},
        {"task": "send", "robot": None, "depends_on": ["draft"]},
        {"task": "note", "robot": None, "depends_on": ["draft"]},
    ]
    told = Story().tell(net, "run.started", 0.0, started_at=START, name="support", graph=graph)
    for name, run_id in (("classify", "r1"), ("draft", "r2")):
        told.tell(net, "task.started", 1.5, task=name, waited_s=0.25, child_run_id=run_id)
    for where, cost in ((first, 0.1), (second, 0.2), (asked, 0.3)):
        told.tell(where, "run.started", 1.5, name=where.robot, simulated=where is asked)
        told.call(where, f"call-{where.run_id}", cost, input_tokens=1)
        told.tool(where, f"tool-{where.run_id}", result=1)
        told.say(where, "user", "go")
    told.tell(net, "task.completed", 2.0, task="classify", text="billing")
    told.tell(net, "task.completed", 4.0, task="draft", text="Dear …")
    told.tell(net, "task.settled", 4.0, task="escalate", status="skipped")
    told.tell(net, "task.started", 4.0, task="send", waited_s=0.0)
    told.tell(net, "task.failed", 5.0, task="send", error={"type": "OSError", "message": "gone"})
    told.tell(net, "task.completed", 6.0, task="note", text="noted")
    return told.tell(net, "run.completed", 9.0)


def test_tasks_are_rows_of_their_network() -> None:
    table = family().frames.tasks
    assert list(table["task"]) == ["classify", "draft", "escalate", "send", "note"]
    assert row(table, 1) == {
        "root_id": "net",
        "run_id": "net",
        "child_run_id": "r2",
        "network": "support",
        "task": "draft",
        "robot": "writer",
        "path": '["support", "draft"]',
        "item": None,
        "status": "completed",
        "depends_on": '["classify"]',
        "optional": None,
        "started_at": pd.Timestamp("2026-03-01T12:00:01.5Z"),
        "waited_s": 0.25,
        "duration_s": 2.5,
        # The writer's own and those of the editor that it asked.
        "tokens": 2,
        "cost_usd": math.fsum([0.2, 0.3]),
        "error_type": None,
        "error_message": None,
    }
    skipped, failed = row(table, 2), row(table, 3)
    assert (skipped["status"], skipped["optional"], skipped["started_at"]) == (
        "skipped",
        True,
        None,
    )
    assert (failed["status"], failed["error_type"], failed["error_message"]) == (
        "failed",
        "OSError",
        "gone",
    )
    assert failed["tokens"] is None
    assert failed["cost_usd"] is None


def test_a_network_answers_with_its_finished_last_tasks() -> None:
    told = family()
    assert row(told.frames.runs)["output"] == "noted"
    told.tell(
        scope("net", kind="network", path=("support",), robot=None),
        "task.completed",
        9.0,
        task="send",
        text="sent",
    )
    assert row(told.frames.runs)["output"] == "send:\nsent\n\nnote:\nnoted"
    failed = Story()
    failed.events = told.events[:-2]
    failed.tell(told.events[0].scope, "run.failed", 9.0, error={"type": "NetworkFailed"})
    assert row(failed.frames.runs)["output"] is None


def test_a_run_inside_another_keeps_its_place_when_it_stands_alone() -> None:
    told = family()
    alone = Frames(told.state.children["r2"])
    whole = told.frames.runs
    assert list(alone.runs["run_id"]) == ["r2", "r3"]
    pd.testing.assert_frame_equal(
        alone.runs, whole[whole["run_id"].isin(["r2", "r3"])].reset_index(drop=True)
    )


def test_runs_below_know_their_network_and_task() -> None:
    frames = family().frames
    told = frames.runs[["run_id", "parent_id", "kind", "network", "task", "robot"]]
    assert [tuple(None if pd.isna(v) else v for v in line) for line in told.values.tolist()] == [
        ("net", None, "network", "support", None, None),
        ("r1", "net", "robot", "support", "classify", "classifier"),
        ("r2", "net", "robot", "support", "draft", "writer"),
        ("r3", "r2", "robot", "support", "draft", "editor"),
    ]
    assert list(frames.runs["simulated"]) == [True, False, True, True]
    for name in ("model_calls", "tool_calls", "messages"):
        assert list(frames[name]["task"]) == ["classify", "draft", "draft"], name
        assert set(frames[name]["root_id"]) == {"net"}


def test_a_network_inside_a_network_keeps_the_outer_task_and_its_own_name() -> None:
    outer = scope("outer", kind="network", path=("outer",), robot=None)
    inner = scope("inner", outer, kind="network", path=("outer", "check", "inner"), robot=None)
    leaf = scope("leaf", inner, path=("outer", "check", "inner", "read"), robot="reader")
    told = Story()
    for where in (outer, inner, leaf):
        told.tell(where, "run.started", 0.0, started_at=START)
    assert told.frames.runs[["network", "task"]].iloc[1:].values.tolist() == [
        ["inner", "check"],
        ["inner", "read"],
    ]


def test_only_robots_and_networks_are_runs() -> None:
    session = scope("session", kind="session", path=(), robot=None)
    told = Story().tell(session, "run.started", 0.0, started_at=START)
    told.tell(scope("r", session), "run.started", 1.0)
    assert list(told.frames.runs["run_id"]) == ["r"]


def test_a_run_below_starts_at_the_roots_start_plus_its_seconds() -> None:
    frames = family().frames
    assert list(frames.runs["started_at"][1:]) == [pd.Timestamp("2026-03-01T12:00:01.5Z")] * 3


def test_costs_by_run_count_nothing_twice() -> None:
    frames = family().frames
    assert row(frames.runs)["cost_usd"] is None
    assert math.fsum(frames.runs["cost_usd"].dropna()) == math.fsum(frames.model_calls["cost_usd"])


money = st.none() | st.floats(0, 1000) | st.sampled_from([0.1, 0.2, 0.3, 1e-7, 3.3e-6])


@settings(max_examples=40)
@given(st.lists(st.lists(money, max_size=12), min_size=1, max_size=4))
def test_costs_by_run_are_exactly_those_of_its_model_calls(runs: list[list[float | None]]) -> None:
    net = scope("net", kind="network", path=("n",), robot=None)
    told = Story().tell(net, "run.started", 0.0, started_at=START)
    for number, costs in enumerate(runs):
        where = scope(f"r{number}", net, path=("n", f"task{number}"))
        told.tell(where, "run.started", 0.0)
        for n, cost in enumerate(costs):
            told.call(where, f"c{number}-{n}", cost)
    frames = told.frames
    by_run = frames.runs.set_index("run_id")
    for number, costs in enumerate(runs):
        calls = frames.model_calls[frames.model_calls["run_id"] == f"r{number}"]
        known = calls["cost_usd"].dropna()
        cost = by_run.at[f"r{number}", "cost_usd"]
        assert pd.isna(cost) if known.empty else cost == math.fsum(known)
        assert by_run.at[f"r{number}", "cost_complete"] == (None not in costs)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("made_of", ["nothing", "a run that has not begun", "rows without values"])
def test_types_stand_without_rows_or_values(name: str, made_of: str) -> None:
    if made_of == "nothing":
        frames = Frames([])
    elif made_of == "a run that has not begun":
        frames = Frames(RunState(scope()))
    else:
        s = scope(robot=None)
        told = Story().tell(s, "run.started", 0.0)
        told.call(s, "c", None).tool(s, "t").say(s, "user", "")
        told.tell(s, "attempt.completed", 0.1, call_id="c", attempt=1)
        told.tell(s, "hitl.requested", 0.2, question_id="q", kind="question")
        told.tell(s, "output.rejected", 0.2)
        told.tell(s, "prompt.skills_matched", 0.2, matches=[{}])
        told.tell(s, "memory.got", 0.2).tell(s, "bus.acked", 0.2, message_id="m")
        frames = told.frames
        assert len(frames[name]) or name == "tasks"
    assert types(frames[name]) == declared(name)
    assert types(through_parquet(frames[name])) == declared(name)


loose = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats()
    | st.text(st.characters(categories=["Cs", "Lu", "Ll", "Nd", "Cc", "So"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.lists(loose, min_size=1, max_size=5), st.sampled_from(["python", "pyarrow"]))
def test_mixed_values_never_change_a_type_and_parquet_always_writes(
    values: list[Any], storage: str
) -> None:
    told = Story()
    s = scope()
    told.tell(s, "run.started", 0.0, started_at=START, input=values[0], tags=values[-1])
    for n, value in enumerate(values):
        told.tool(
            s,
            f"t{n}",
            result=value,
            retryable=value,
            duration_s=value,
            error={"type": value, "message": value},
        )
        told.call(s, f"c{n}", None, input_tokens=value)
    state = RunState(s)
    for event in told.events:
        # A count that is no number breaks the reducer's sum, and must not break a table.
        with contextlib.suppress(TypeError):
            state.apply(event)
    with pd.option_context("mode.string_storage", storage):
        frames = Frames(state, told.events)
        for name in ("runs", "tool_calls", "model_calls", "events"):
            assert types(frames[name]) == declared(name)
            assert types(through_parquet(frames[name])) == declared(name)


def three_things() -> pd.DataFrame:
    s = scope()
    told = Story().tell(s, "run.started", 0.0, started_at=START)
    for n, value in enumerate(["", math.nan, "NaN", None, [math.nan, "", None]]):
        told.tool(s, f"t{n}", result=value)
    told.tool(s, "t5", status="failed")
    return told.frames.tool_calls


def test_missing_empty_and_nan_are_three_things() -> None:
    told = three_things()["result"]
    written = ['""', "NaN", '"NaN"', "null", '[NaN, "", null]']
    assert list(told[:5]) == written
    assert told[5] is pd.NA


def test_missing_empty_and_nan_are_three_things_in_plain_text() -> None:
    s = scope()
    told = []
    for n, value in enumerate(["", math.nan, None]):
        told.append(RunState.fold([Event("run.started", s, n, 0.0, {"input": value})]))
    runs = Frames(told).runs
    assert [None if pd.isna(v) else v for v in runs["input"]] == ["", "NaN", None]


def test_an_empty_answer_differs_from_none() -> None:
    s = scope()
    told = Story().tell(s, "run.started", 0.0, started_at=START).say(s, "user", "Hi")
    assert row(told.frames.runs)["output"] is None
    assert row(told.say(s, "assistant", "").frames.runs)["output"] == ""


def test_the_three_things_pass_through_parquet_and_csv() -> None:
    table = three_things()
    again = through_parquet(table)
    pd.testing.assert_frame_equal(again, table)
    assert again.attrs == table.attrs
    written = table.to_csv(index=False, na_rep="<NA>")
    read = pd.read_csv(
        io.StringIO(written),
        dtype=dict(declared("tool_calls")) | {"started_at": "string"},
        keep_default_na=False,
        na_values=["<NA>"],
    )
    read["started_at"] = pd.to_datetime(read["started_at"], utc=True, format="ISO8601").astype(
        "datetime64[us, UTC]"
    )
    pd.testing.assert_frame_equal(read, table)


@pytest.mark.parametrize(
    ("start", "utc"),
    [
        ("2026-03-29T01:59:59.500000+01:00", "2026-03-29T00:59:59.5Z"),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00Z"),
        ("2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00Z"),
        ("2026-07-01T00:00:00Z", "2026-07-01T00:00:00Z"),
        ("2026-07-01T00:00:00", "2026-07-01T00:00:00Z"),
        ("1969-12-31T19:00:00-05:30", "1970-01-01T00:30:00Z"),
    ],
)
def test_times_are_utc_whatever_zone_the_start_was_written_in(start: str, utc: str) -> None:
    s = scope()
    told = Story().tell(s, "run.started", 0.0, started_at=start)
    told.tell(s, "model_call.started", 3600.0, call_id="c", round=1, model="m")
    frames = told.frames
    assert row(frames.runs)["started_at"] == pd.Timestamp(utc)
    later = row(frames.model_calls)["started_at"]
    assert later == pd.Timestamp(utc) + pd.Timedelta(hours=1)
    assert str(later.tz) == "UTC"


def test_the_start_is_that_of_the_first_event_even_when_it_came_late() -> None:
    s = scope()
    told = Story().tell(s, "run.started", 0.25, started_at=START)
    told.tell(s, "model_call.started", 1.25, call_id="c", round=1, model="m")
    assert row(told.frames.runs)["started_at"] == pd.Timestamp(START)
    assert row(told.frames.model_calls)["started_at"] == pd.Timestamp("2026-03-01T12:00:01Z")


def test_a_run_that_has_not_begun_has_no_start() -> None:
    root = scope()
    told = Story().tell(root, "run.started", 0.0, started_at=START)
    told.say(scope("later", root), "user", "Hi", 1.0)
    assert list(told.frames.runs["status"]) == ["running", "pending"]
    assert row(told.frames.runs, 1)["started_at"] is None


def test_an_unreadable_start_leaves_times_missing() -> None:
    told = Story().tell(scope(), "run.started", 0.0, started_at="soon")
    assert row(told.frames.runs)["started_at"] is None


def test_integers_over_64_bits_are_kept_as_text() -> None:
    s = scope()
    huge = 2**64 + 1
    told = Story().tell(s, "run.started", 0.0, started_at=START)
    told.tool(s, "t", result={"n": huge, "m": [-huge]}).call(s, "c", None, input_tokens=huge)
    frames = told.frames
    assert json.loads(row(frames.tool_calls)["result"]) == {"n": huge, "m": [-huge]}
    assert row(frames.model_calls)["input_tokens"] is None
    assert row(frames.runs)["input_tokens"] is None
    assert json.loads(frames.events["data"].iloc[-1])["usage"]["input_tokens"] == huge
    again = through_parquet(frames.tool_calls)
    assert json.loads(row(again)["result"])["n"] == huge


def test_lone_surrogates_are_escaped_and_do_not_stop_a_table() -> None:
    s = scope()
    told = Story().tell(s, "run.started", 0.0, started_at=START, input="half \ud83d of é")
    told.say(s, "user", "half \ud83d of é").tool(s, "t", result={"\udc00": "\ud83d"})
    frames = told.frames
    assert row(frames.runs)["input"] == "half \\ud83d of é"
    assert json.loads(row(frames.tool_calls)["result"]) == {"\udc00": "\ud83d"}
    for name in frames:
        through_parquet(frames[name])


def test_tables_are_made_once() -> None:
    frames = weather().frames
    assert frames.runs is frames.runs
    assert frames["runs"] is frames.runs


def test_a_table_is_named_by_attribute_key_and_completion() -> None:
    frames = weather().frames
    assert list(frames) == list(frames.names) == list(TABLES)
    assert set(TABLES) <= set(dir(frames))
    assert frames._ipython_key_completions_() == list(TABLES)
    assert "tool_calls" in frames
    assert len(frames) == 12
    with pytest.raises(AttributeError, match="'tool_calls'"):
        frames.tool_cals  # noqa: B018
    with pytest.raises(InputError, match="'model_calls'"):
        frames["model_call"]


def test_the_repr_counts_rows() -> None:
    told = weather()
    assert repr(told.frames) == (
        "Frames of run 9c41a0: runs 1 · model_calls 2 · tool_calls 1 · messages 5 · "
        f"events {len(told.events)} · attempts 2"
    )
    assert repr(Frames([])) == "Frames of 0 runs: no rows"
    both = Frames([told.state, RunState.fold([Event("run.started", scope("b"), 0, 0.0, {})])])
    assert repr(both).startswith("Frames of 2 runs: runs 2 · ")


def test_attrs_name_the_version_and_the_root_runs() -> None:
    table = family().frames.tool_calls
    assert table.attrs["root_ids"] == ["net"]
    assert table.attrs["robotlab_nb"] == robotlab_nb.__version__


def test_several_runs_are_one_table_after_another() -> None:
    first, second = weather(), weather()
    states = [first.state, second.state]
    assert len(Frames(iter(states)).tool_calls) == 2


def test_ten_thousand_tool_calls_are_ten_thousand_rows() -> None:
    s = scope()
    told = Story().tell(s, "run.started", 0.0, started_at=START)
    for n in range(10_000):
        told.tool(s, f"t{n}", result={"n": n})
    table = told.frames.tool_calls
    assert types(table) == declared("tool_calls")
    assert [json.loads(text)["n"] for text in table["result"]] == list(range(10_000))


def test_pandas_is_imported_by_the_first_table_only() -> None:
    code = (
        "import sys\n"
        "from robotlab_nb.core.events import Scope\n"
        "from robotlab_nb.core.state import RunState\n"
        "from robotlab_nb.frames.tables import Frames\n"
        "frames = Frames(RunState(Scope('r', 'r', None, 0, 'robot', ('a',), 'a')))\n"
        "repr(frames), list(frames), dir(frames)\n"
        "assert not {'pandas', 'numpy', 'pyarrow'} & set(sys.modules)\n"
        "assert len(frames.runs) == 1\n"
        "assert 'pandas' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
