"""``log.frames``: the same tables as everywhere, of exactly the runs that are meant."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import robotlab_nb as rl
from robotlab_nb.frames.columns import TABLES, describe
from robotlab_nb.frames.log_frames import LogFrames
from robotlab_nb.frames.log_needs import types_of
from robotlab_nb.frames.tables import Frames
from robotlab_nb.runlog.conditions import Where
from robotlab_nb.runlog.log_source import LogSource
from robotlab_nb.runlog.store import Batch, Store
from tests.runlog.happenings import everything
from tests.runlog.samples import Told, network_run, robot_run, session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from robotlab_nb.core.events import Event


def frames(store: Store, **where: Any) -> LogFrames:
    return LogFrames(LogSource(store, Where(**where)))


def same(found: Any, wanted: Any) -> None:
    """Two tables are equal, what ``attrs`` say aside."""
    assert_frame_equal(found, wanted, check_flags=False)


@pytest.fixture(scope="module")
def happened(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """Real runs of all kinds, oldest root first."""
    folder = tmp_path_factory.mktemp("happened")
    return everything(str(folder / "log.sqlite"))


@pytest.fixture
def filled(store: Store, happened: list[Event]) -> Store:
    store.write(Batch(happened))
    return store


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_log_is_the_table_of_its_events(
    filled: Store, happened: list[Event], name: str
) -> None:
    found, wanted = frames(filled)[name], Frames.of(happened)[name]
    assert len(found), "the sample has nothing for this table"
    same(found, wanted)


@pytest.mark.parametrize("name", [n for n in TABLES if n != "events"])
def test_the_events_that_a_table_is_read_from_are_enough(happened: list[Event], name: str) -> None:
    """Table by table, and column by column of runs: fewer events, the same values."""
    wanted = Frames.of(happened)[name]
    columns = [[c.name] for c in TABLES["runs"]] if name == "runs" else [None]
    for some in columns:
        types = types_of(name, some)
        assert types is not None
        read = [event for event in happened if event.type in types]
        assert len(read) < len(happened)
        found = Frames.of(read)[name]
        same(found[some or list(found)], wanted[some or list(wanted)])


def test_only_the_types_that_a_table_needs_are_read(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    events = Store.events

    def noted(self: Store, *args: Any, **more: Any) -> Iterator[Event]:
        for event in events(self, *args, **more):
            read.append(event.type)
            yield event

    monkeypatch.setattr(Store, "events", noted)
    assert len(frames(filled).tool_calls)
    assert {t.partition(".")[0] for t in read} == {"run", "tool_call"}
    read.clear()
    assert len(frames(filled).read("runs", ["robot", "status"]))
    assert {t.partition(".")[0] for t in read} == {"run"}


def test_runs_are_exactly_those_meant_and_the_other_tables_what_happened_in_them(
    filled: Store, happened: list[Event]
) -> None:
    everywhere = Frames.of(happened)
    for robot in ("writer", "clerk"):
        meant = frames(filled, robot=robot)
        whole = everywhere.runs
        same(
            meant.runs.drop(columns="tags"),
            whole[whole["robot"] == robot].drop(columns="tags").reset_index(drop=True),
        )
        ids = set(meant.runs["run_id"])
        for name in TABLES:
            if name in ("runs", "tasks"):
                continue
            table = everywhere[name]
            same(meant[name], table[table["run_id"].isin(ids)].reset_index(drop=True))


def test_tasks_are_those_of_networks_meant_and_those_that_runs_meant_did(store: Store) -> None:
    store.write(Batch(network_run("n1")))
    store.write(Batch(network_run("n2", network="other")))
    assert frames(store, task="do draft").tasks["task"].tolist() == ["do draft", "do draft"]
    assert frames(store, kind="network", network="other").tasks["task"].tolist() == [
        "do draft", "do reply",
    ]  # fmt: skip
    assert len(frames(store, robot="nobody").tasks) == 0


def test_an_empty_log_and_an_empty_selection_have_every_column(store: Store) -> None:
    store.write(Batch(robot_run("r1")))
    nowhere = LogFrames(LogSource(None, Where()))
    for empty in (frames(store, robot="nobody"), nowhere):
        assert list(empty) == list(TABLES)
        for name in empty:
            table = empty[name]
            assert len(table) == 0
            assert [(c, str(d)) for c, d in table.dtypes.items()] == [
                (name_, dtype) for name_, dtype, _ in describe(name)
            ]
    assert "no rows" in repr(nowhere)


def test_attrs_say_what_was_read_and_are_bounded(store: Store, tmp_path: Path) -> None:
    for n in range(3):
        store.write(Batch([e for i in range(400) for e in robot_run(f"r{n}-{i:03d}", calls=0)]))
    table = frames(store, robot="bo*", since="2026-01-01").read("runs", ["run_id", "robot"])
    assert table.attrs["robotlab_nb"] == rl.__version__
    assert table.attrs["schema_version"] == 1
    assert table.attrs["query"] == {"robot": "bo*", "since": "2026-01-01"}
    assert table.attrs["roots"] == len(table) == 1_200
    assert table.attrs["root_ids"] == table["run_id"].tolist()[:1_000]
    json.dumps(table.attrs)
    table.to_parquet(tmp_path / "runs.parquet")
    assert pd.read_parquet(tmp_path / "runs.parquet").attrs == table.attrs


def test_tags_are_those_of_now(store: Store) -> None:
    store.write(Batch(robot_run("r1", tags=["first"])))
    store.write(Batch(robot_run("r2", hours=1)))
    store.tag(["r2"], ["good", "seen"])
    store.tag(["r1"], ["late"], remove=["first"])
    runs = frames(store).runs
    assert [json.loads(tags) for tags in runs["tags"]] == [["late"], ["good", "seen"]]
    store.tag(["r1"], [], remove=["late"])
    assert frames(store).runs["tags"].isna().tolist() == [True, False]


def test_what_happened_outside_runs_is_in_tables_without_conditions(store: Store) -> None:
    store.write(Batch(session("s")))
    store.write(Batch(robot_run("r", hours=1)))
    assert frames(store).memory["key"].tolist() == ["a"]
    assert set(frames(store).events["root_id"]) == {"s", "r"}
    assert set(frames(store).runs["run_id"]) == {"r"}
    assert len(frames(store, robot="bob").memory) == 0
    assert frames(store, since="2026-01-01").memory["key"].tolist() == ["a"]
    assert len(frames(store, until="2026-01-01").memory) == 0
    assert frames(store, kind="session").memory["key"].tolist() == ["a"]
    assert len(frames(store, kind="session").runs) == 0


def test_the_rest_of_a_message_that_a_run_sent_is_looked_up_outside(store: Store) -> None:
    told = Told("r")
    robot_run("r", told=told, end=None)
    sender = told.events[0].scope
    told.tell(sender, "bus.sent", message_id="m", channel="desk", receivers=["x"], content="hi")
    told.tell(sender, "run.completed")
    outside = Told("s", hours=-1)
    scope = type(sender)("s", "s", None, 0, "session", (), None)
    outside.begin(scope)
    outside.tell(scope, "bus.acked", message_id="m", channel="desk", receiver="x")
    outside.tell(scope, "bus.sent", message_id="n", channel="desk", receivers=["x"], content="")
    store.write(Batch(told.events))
    store.write(Batch(outside.events))
    of_run = frames(store, robot="bob").bus
    assert of_run[["message_id", "status"]].values.tolist() == [["m", "acked"]]
    assert sorted(frames(store).bus["message_id"]) == ["m", "n"]


def test_events_that_make_no_sense_are_passed_over_and_told(store: Store) -> None:
    told = Told("r")
    robot_run("r", told=told, end=None)
    told.tell(told.events[0].scope, "tool_call.completed", tool_call_id="never", status="completed")
    told.tell(told.events[0].scope, "tool_call.started", tool_call_id="t", tool="add", round=1)
    store.write(Batch(told.events))
    store.write(Batch(robot_run("fine", hours=1)))
    with pytest.warns(RuntimeWarning, match=r"over: 1, first .*\(event 3 of 'r'\), KeyError"):
        table = frames(store).tool_calls
    assert table["tool"].tolist() == ["add"]
    assert len(frames(store).events) == len(told.events) + 4


def test_a_column_of_mixed_values_keeps_its_type_and_survives_parquet(
    store: Store, tmp_path: Path
) -> None:
    told = Told("r")
    robot_run("r", told=told, end=None)
    scope = told.events[0].scope
    values: list[Any] = [1, "", None, math.nan, {"n": math.inf}, [2**80], "NaN", "\ud83d", "\x00"]
    for n, value in enumerate(values):
        told.tell(scope, "tool_call.started", tool_call_id=f"t{n}", tool="t", round=1)
        done = {"tool_call_id": f"t{n}", "status": "completed", "result": value}
        told.tell(scope, "tool_call.completed", **done)
    store.write(Batch(told.events))
    table = frames(store).tool_calls
    table.to_parquet(tmp_path / "t.parquet")
    back = pd.read_parquet(tmp_path / "t.parquet")
    same(back, table)
    read = [json.loads(text) for text in back["result"]]
    assert [repr(x) for x in read] == [repr(x) for x in values]


def test_times_are_utc_wherever_they_were_told(store: Store) -> None:
    for root, at in (("a", "2026-03-29T03:30:00+02:00"), ("b", "2026-03-29T01:30:00+00:00")):
        events = robot_run(root)
        events[0].data["started_at"] = at  # type: ignore[index]
        store.write(Batch(events))
    runs = frames(store).runs
    assert str(runs["started_at"].dtype) == "datetime64[us, UTC]"
    assert runs["started_at"].nunique() == 1


@settings(max_examples=25)
@given(
    prices=st.lists(
        st.lists(st.integers(0, 10_000).map(lambda n: n / 1024), max_size=4),
        min_size=1, max_size=5,
    )
)  # fmt: skip
def test_costs_of_tasks_add_up_to_the_run(
    tmp_path_factory: pytest.TempPathFactory, prices: list[list[float]]
) -> None:
    events = _priced("n", prices)
    place = tmp_path_factory.mktemp("costs") / "log.sqlite"
    with Store.open(place) as store:
        store.write(Batch(events))
        read = frames(store)
        spent = math.fsum(price for each in prices for price in each)
        for table in (read.tasks, read.runs, read.model_calls):
            assert math.fsum(table["cost_usd"].dropna()) == spent
        joined = read.tasks.merge(
            read.runs, left_on="child_run_id", right_on="run_id", suffixes=("", "_run")
        )
        assert len(joined) == len(prices)
        assert (joined["cost_usd"].fillna(-1) == joined["cost_usd_run"].fillna(-1)).all()
        calls = read.model_calls.merge(read.runs, on="run_id", validate="many_to_one")
        assert len(calls) == sum(map(len, prices))


def _priced(root: str, prices: list[list[float]]) -> list[Event]:
    told = Told(root)
    make = type(robot_run("x")[0].scope)
    scope = make(root, root, None, 0, "network", ("net",), None)
    told.begin(scope, name="net", graph=[{"task": f"t{n}"} for n in range(len(prices))])
    for n, each in enumerate(prices):
        task = make(root, root, None, 0, "task", ("net", f"t{n}"), None)
        told.tell(task, "task.started", task=f"t{n}", child_run_id=f"c{n}")
        run = make(f"c{n}", root, root, 1, "robot", ("net", f"t{n}"), f"r{n}")
        told.begin(run, name=f"r{n}")
        for i, price in enumerate(each):
            call = {"call_id": f"{n}.{i}", "round": i + 1, "model": "m"}
            told.tell(run, "model_call.started", **call)
            used = {"input_tokens": 1, "output_tokens": 1, "cost_usd": price}
            told.tell(run, "model_call.completed", **call, usage=used, stop_reason="stop")
        told.tell(run, "run.completed", stop_reason="stop")
        told.tell(task, "task.completed", task=f"t{n}", text="")
    told.tell(scope, "run.completed")
    return told.events


def test_rows_come_oldest_root_first_and_are_kept_until_new_frames_are_taken(
    filled: Store,
) -> None:
    read = frames(filled)
    starts = read.runs.groupby("root_id", sort=False)["started_at"].min()
    assert starts.is_monotonic_increasing
    before = read.runs
    filled.write(Batch(robot_run("later", hours=10**5)))
    assert read.runs is before
    assert len(frames(filled).runs) == len(before) + 1


@pytest.mark.parametrize("wrong", ["run", "toolcalls"])
def test_a_wrong_name_names_the_near_one(store: Store, wrong: str) -> None:
    read = frames(store)
    near = {"run": "runs", "toolcalls": "tool_calls"}[wrong]
    with pytest.raises(AttributeError, match=near):
        getattr(read, wrong)
    with pytest.raises(rl.InputError, match=near):
        read.read(wrong)
    with pytest.raises(rl.InputError, match="Did you mean 'robot'"):
        read.read("runs", ["robots"])


def test_a_large_cell_does_not_wait_for_many_others(
    opened: Callable[..., Store], sqlite_place: str
) -> None:
    from robotlab_nb.frames.filling import BYTES, Filling

    told = Told("r")
    robot_run("r", told=told, end=None, calls=0)
    for n in range(12):
        told.tell(told.events[0].scope, "cache.stored", call_id=str(n), text="x" * (BYTES // 4))
    filling = Filling(TABLES["events"])
    filling.extend((event, None) for event in told.events * 20)  # type: ignore[misc]
    assert len(filling._rows) < 30
    assert len(filling.table()) == 20 * len(told.events)
