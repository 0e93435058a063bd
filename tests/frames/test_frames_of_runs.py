"""The tables of runs that really ran: a robot with a tool, and a network of two tasks."""

from __future__ import annotations

import json
import math

import robotlab_nb as rl


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def calculator() -> rl.Robot:
    return rl.build("calc", model=rl.SimulatedModel([("add", {"a": 1, "b": 2}), "3"]), tools=[add])


def test_a_robots_result_has_its_tables() -> None:
    result = calculator().run("What is 1 + 2?")
    frames = result.frames
    run = frames.runs.iloc[0]
    assert (run["robot"], run["input"], run["output"]) == ("calc", "What is 1 + 2?", "3")
    assert run["simulated"]
    call = frames.tool_calls.iloc[0]
    assert (call["tool"], json.loads(call["arguments"])) == ("add", {"a": 1, "b": 2})
    assert json.loads(call["result"]) == 3
    assert len(frames.messages) == len(result.messages)
    assert len(frames.events) == len(result.events)
    # Tables join by ids, and times follow one another.
    joined = frames.tool_calls.merge(frames.model_calls, on="call_id", suffixes=("", "_model"))
    assert (joined["started_at"] >= joined["started_at_model"]).all()
    assert math.fsum(frames.model_calls["cost_usd"]) == run["cost_usd"]


def test_a_networks_result_has_its_tables() -> None:
    network = rl.create_network("sums")
    network.task("sum", calculator())
    network.task("shout", lambda upstream: f"{upstream}!", depends_on=["sum"])
    answer = network.run("Go")
    frames = answer.frames
    assert list(frames.tasks["status"]) == ["completed", "completed"]
    assert list(frames.runs["kind"]) == ["network", "robot"]
    assert frames.runs["output"][0] == answer.text == "3!"
    assert set(frames.tool_calls["task"]) == {"sum"}
    inner = answer["sum"].frames
    assert list(inner.runs["started_at"]) == [frames.runs["started_at"][1]]
    assert list(inner.runs["task"]) == ["sum"]
