"""Figures over a log's runs: they are the runs', add up, and have the same columns when empty."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import robotlab_nb as rl
from robotlab_nb.frames import mishaps, prompt_uses, summaries
from robotlab_nb.frames.mishaps import pattern
from robotlab_nb.runlog.conditions import Where
from robotlab_nb.runlog.log_source import LogSource
from robotlab_nb.runlog.store import Batch, Store
from tests.runlog.samples import Told, network_run, robot_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def source(store: Store | None, **where: Any) -> LogSource:
    return LogSource(store, Where(**where))


def rows(table: Any, *columns: str) -> list[list[Any]]:
    """Values of some columns, None for a missing one."""
    picked = table[list(columns)].astype(object)
    found: list[list[Any]] = picked.where(picked.notna(), None).values.tolist()
    return found


@pytest.fixture
def filled(store: Store) -> Store:
    store.write(Batch(robot_run("r1", robot="ann", calls=2, tags=["a", "b"])))
    store.write(Batch(robot_run("r2", hours=1, robot="ann", end="run.failed")))
    store.write(Batch(robot_run("r3", hours=30, robot="bob", calls=3, prompt_hash="ab" * 32)))
    store.write(Batch(network_run("n1", hours=31)))
    return store


def test_runs_by_robot(filled: Store) -> None:
    table = summaries.summary(source(filled))
    assert rows(table, "robot", "runs", "ok", "failed", "model_calls", "cost_usd") == [
        ["ann", 2, 1, 1, 3, 0.75],
        ["bob", 1, 1, 0, 3, 0.75],
        ["draft", 1, 1, 0, 1, 0.25],
        ["reply", 1, 1, 0, 1, 0.25],
    ]
    ann = table.iloc[0]
    # Runs last an eighth of a second an event: 6 and 4 events.
    assert (ann["mean_s"], ann["median_s"]) == (0.5, 0.5)
    assert ann["p95_s"] == pytest.approx(0.375 + 0.95 * 0.25)
    assert (ann["input_tokens"], ann["output_tokens"]) == (30, 15)
    assert table.attrs["roots"] == 4


@pytest.mark.parametrize(
    "by",
    ["robot", "task", "network", "model", "prompt", "session_id", "status", "day", None,
     ["robot", "day"], ["network", "task"], ["network", "day"]],
)  # fmt: skip
def test_whatever_they_are_grouped_by_figures_add_up(filled: Store, by: Any) -> None:
    table = summaries.summary(source(filled), by)
    assert math.fsum(table["cost_usd"].dropna()) == 2.0
    assert table["model_calls"].sum() == 8
    assert math.fsum(summaries.costs(source(filled), by)["cost_usd"]) == 2.0
    assert summaries.costs(source(filled), by)["share"].sum() == pytest.approx(1)
    assert summaries.latency(source(filled), by)["model_calls"].sum() == 8
    assert table["runs"].sum() == (4 if by in ("network", ["network", "day"]) else 5)


def test_by_network_networks_are_counted_and_what_was_used_inside(filled: Store) -> None:
    table = summaries.summary(source(filled), "network")
    assert rows(table, "network", "runs", "model_calls", "cost_usd") == [
        ["support", 1, 2, 0.5],
        [None, 3, 6, 1.5],
    ]


def test_a_run_counts_for_each_of_its_tags(filled: Store) -> None:
    table = summaries.summary(source(filled), "tag")
    assert rows(table, "tag", "runs", "cost_usd") == [["a", 1, 0.5], ["b", 1, 0.5], [None, 4, 1.5]]
    costs = summaries.costs(source(filled), ["tag"])
    assert math.fsum(costs["cost_usd"]) == 2.5


def test_days_are_utc_and_prompts_hashes(filled: Store) -> None:
    table = summaries.summary(source(filled), "day")
    assert [str(day.date()) for day in table["day"]] == ["2026-03-01", "2026-03-02"]
    assert rows(summaries.summary(source(filled), "prompt"), "prompt_hash", "runs") == [
        ["ab" * 32, 1],
        [None, 4],
    ]


def test_unknown_prices_are_no_zeros(store: Store) -> None:
    told = Told("r")
    robot_run("r", told=told, end=None)
    scope = told.events[0].scope
    told.tell(scope, "model_call.started", call_id="x", round=2, model="new/m")
    told.tell(scope, "model_call.completed", call_id="x", stop_reason="stop",
              usage={"input_tokens": 5, "cost_usd": None, "cost_complete": False})  # fmt: skip
    told.tell(scope, "run.completed")
    store.write(Batch(told.events))
    table = summaries.costs(source(store), "model")
    assert rows(table, "model", "cost_usd", "cost_complete", "share") == [
        ["test/m", 0.25, True, 1.0],
        ["new/m", None, False, None],
    ]
    assert rows(summaries.summary(source(store)), "cost_usd", "cost_complete") == [[0.25, False]]


def test_what_nobody_counted_is_missing(store: Store) -> None:
    store.write(Batch(robot_run("r", calls=0)))
    columns = ("model_calls", "input_tokens", "cost_usd", "first_token_median_s", "tool_failures")
    assert rows(summaries.summary(source(store)), *columns) == [[0, None, None, None, 0]]


def test_what_was_used_is_told_where_no_run_is_counted(store: Store) -> None:
    """A network began before midnight; the second of its robots after."""
    store.write(Batch(network_run("n", hours=12 - 0.5 / 3600)))
    table = summaries.summary(source(store), ["network", "day"])
    assert rows(table, "network", "runs", "ok", "failed", "simulated", "cost_usd") == [
        ["support", 1, 1, 0, 0, 0.25],
        ["support", 0, 0, 0, 0, 0.25],
    ]


def test_a_model_is_the_one_that_answered_and_answers_from_the_cache_took_no_time(
    store: Store,
) -> None:
    told = Told("r")
    robot_run("r", told=told, end=None, calls=0)
    scope = told.events[0].scope
    for n, (more, took) in enumerate((({"model": "b/y"}, 2.0), ({"cached": True}, 0.0))):
        told.tell(scope, "model_call.started", call_id=str(n), round=n, model="a/x", provider="a")
        told.tell(scope, "model_call.completed", call_id=str(n), duration_s=took, **more,
                  first_token_s=took / 4, usage={"output_tokens": 10, "cost_usd": 0.5})  # fmt: skip
    store.write(Batch(told.events))
    assert rows(summaries.costs(source(store), "model"), "model", "model_calls", "from_cache") == [
        ["a/x", 1, 1],
        ["b/y", 1, 0],
    ]
    (row,) = rows(
        summaries.latency(source(store), "model"), "model", "median_s", "first_token_median_s",
        "tokens_per_s",
    )  # fmt: skip
    assert row == ["b/y", 2.0, 0.5, 5.0]


def test_how_tools_did(store: Store) -> None:
    told = Told("r")
    robot_run("r", told=told, end=None, tags=["x"])
    scope = told.events[0].scope
    for n in range(10):
        tool, status = ("add", "failed" if n == 9 else "completed") if n else ("get", "interrupted")
        told.tell(scope, "tool_call.started", tool_call_id=str(n), tool=tool, round=1)
        error = {"type": "E", "message": "no"} if status == "failed" else None
        told.tell(scope, "tool_call.completed", tool_call_id=str(n), status=status, error=error,
                  duration_s=n / 10, retryable=status == "failed")  # fmt: skip
    store.write(Batch(told.events))
    table = summaries.tools(source(store))
    add, get = rows(table, "tool", "calls", "ok", "failed", "retryable", "runs", "median_s")
    assert add == ["add", 9, 8, 1, 1, 1, 0.5]
    assert get == ["get", 1, 0, 0, 0, 1, 0.0]
    assert table["success"].round(3).tolist()[0] == 0.889
    assert [round(table[c][0], 3) for c in ("success_low", "success_high")] == [0.565, 0.98]
    assert pd.isna(table["success"][1])
    assert rows(summaries.tools(source(store), "tag"), "tool", "tag")[0] == ["add", "x"]
    assert rows(summaries.summary(source(store)), "tool_calls", "tool_failures") == [[10, 1]]


def test_errors_that_say_the_same_are_one_row(store: Store) -> None:
    for n in range(3):
        told = Told(f"r{n}", hours=n)
        robot_run(f"r{n}", told=told, end=None, robot=f"bot{n % 2}")
        scope = told.events[0].scope
        told.tell(scope, "tool_call.started", tool_call_id="t", tool="get", round=1)
        told.tell(scope, "tool_call.completed", tool_call_id="t", status="failed",
                  error={"type": "HTTPError", "message": f"50{n} after {n}.5 s\nmore"})  # fmt: skip
        told.tell(scope, "run.failed", error={"type": "ModelError", "message": "gone"})
        store.write(Batch(told.events))
    table = mishaps.errors(source(store))
    assert rows(table, "where", "error_type", "pattern", "count", "runs", "robot", "tool") == [
        ["run", "ModelError", "gone", 3, 3, "bot0, bot1", None],
        ["tool call", "HTTPError", "# after # s", 3, 3, "bot0, bot1", "get"],
    ]
    last = table.iloc[1]
    assert (last["run_id"], last["example"]) == ("r2", "502 after 2.5 s\nmore")
    assert last["first_at"] < last["last_at"]
    assert pattern("") == ""


def test_errors_of_tasks_without_runs_and_of_attempts_are_there(tmp_path: Path) -> None:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        net = rl.create_network("net")
        net.task("bad", lambda message: 1 / 0)
        net.task("worse", rl.build("faulty", model=rl.SimulatedModel([ValueError("no 7")])))
        net.run("go")
        found = {(row[0], row[1]) for row in rows(rl.log.errors(), "where", "error_type")}
        rl.log.close()
    assert ("task", "ZeroDivisionError") in found
    assert {where for where, _ in found} >= {"task", "run", "attempt"}
    # What a task's own run died of is told once, of that run.
    assert ("task", "ModelError") not in found


def test_prompts_tags_and_differences(tmp_path: Path) -> None:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        for prompt, said in (("Rhyme.", "red"), ("Be brief.", "rot"), ("Rhyme.", "blue")):
            poet = rl.build("poet", model=rl.SimulatedModel([said]), system_prompt=prompt)
            result = poet.run("a poem")
        rl.log.tag(result, "good")
        table = rl.log.prompts()
        assert rows(table, "prompt", "runs", "robots") == [
            ["Rhyme.", 2, "poet"],
            ["Be brief.", 1, "poet"],
        ]
        assert len(rl.log.where(prompt=table["prompt_hash"][1])) == 1
        assert rows(rl.log.tags(), "tag", "runs") == [["good", 1]]
        assert rows(rl.log.where(tag="good").prompts(), "prompt") == [["Rhyme."]]
        assert len(rl.log.where(robot="nobody").tags()) == 0
        first, last = [run.id for run in rl.log.where(prompt="Rhyme.")][::-1]
        both = rl.log.compare(first[:8], result)
        assert (both.a.scope.run_id, both.b.scope.run_id) == (first, last)
        assert both.changed == ("poet",)
        rl.log.close()


def test_prompts_of_a_log_without_texts_are_missing(tmp_path: Path) -> None:
    with rl.options(log=str(tmp_path / "log.sqlite"), log_content=False):
        rl.build("poet", model=rl.SimulatedModel("ok"), system_prompt="Secret.").run("x")
        table = rl.log.prompts()
        assert rows(table, "prompt", "runs") == [[None, 1]]
        assert len(rl.log.where(prompt="Secret.")) == 1
        rl.log.close()


@pytest.mark.parametrize("by", ["robot", None, ["tag", "day"], "prompt"])
def test_columns_and_types_are_the_same_when_there_is_nothing(filled: Store, by: Any) -> None:
    figures = [summaries.summary, summaries.costs, summaries.latency, summaries.tools]
    for figure in figures:
        full = figure(source(filled), by)
        for empty in (figure(source(None), by), figure(source(filled, robot="nobody"), by)):
            assert len(empty) == 0
            assert empty.dtypes.to_dict() == full.dtypes.to_dict()
            assert list(empty) == list(full)
    for other in (mishaps.errors, prompt_uses.prompts):
        assert other(source(None)).dtypes.to_dict() == other(source(filled)).dtypes.to_dict()
    assert prompt_uses.tags([]).dtypes["runs"] == "Int64"


def test_a_wrong_name_to_group_by_names_the_near_one(filled: Store) -> None:
    for figure in (summaries.summary, summaries.costs, summaries.latency, summaries.tools):
        with pytest.raises(rl.InputError, match="Did you mean 'model'"):
            figure(source(filled), "models")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What pandas warns of is a fault of ours."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        warnings.simplefilter("error", DeprecationWarning)
        yield
