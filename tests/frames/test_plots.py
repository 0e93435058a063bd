"""Charts of a log: what they show, and that they fetch nothing and run nothing."""

from __future__ import annotations

import builtins
import json
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.frames.charts import MIME, Plot, records
from robotlab_nb.frames.plots import MOST, SPANS
from robotlab_nb.runlog.opened import open_log
from robotlab_nb.runlog.store import Batch, Store
from tests.runlog.samples import Told, network_run, robot_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = "</script><script>alert(1)</script>\u202e{{x}} datum.a\ud83d"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[rl.Log]:
    place = tmp_path / "log.sqlite"
    with Store.open(place) as store:
        for n in range(3):
            store.write(Batch(robot_run(f"r{n}", hours=20 * n, robot=f"bot{n % 2}", calls=n)))
        told = Told("t", hours=3)
        robot_run("t", told=told, end=None, robot=HOSTILE)
        for n in range(2):
            call = {"tool_call_id": f"c{n}", "tool": HOSTILE, "round": 1}
            told.tell(told.events[0].scope, "tool_call.started", **call)
            status = ("completed", "failed")[n]
            told.tell(told.events[0].scope, "tool_call.completed", tool_call_id=f"c{n}",
                      status=status, duration_s=0.125)  # fmt: skip
        store.write(Batch(told.events))
        store.write(Batch(network_run("n" * 12, hours=4)))
    with open_log(place) as opened:
        yield opened


def values(plot: Plot) -> list[dict[str, Any]]:
    """The rows of a chart's data."""
    spec = plot.spec
    found = spec["data"] if "data" in spec else spec["layer"][0]["data"]
    if "name" in found:
        return list(spec["datasets"][found["name"]])
    return list(found["values"])


def every(log: Any) -> list[Plot]:
    plots = log.plots
    return [
        plots.cost(), plots.cost("day"), plots.cost(["day", "robot"]),
        plots.cost(["robot", "model"]), plots.latency(), plots.latency("robot"), plots.tools(),
    ]  # fmt: skip


def test_a_chart_shows_what_the_table_says(log: rl.Log) -> None:
    plot = log.plots.cost(by="robot")
    table = log.costs(by="robot")
    assert [(row["label"], row["cost_usd"]) for row in values(plot)] == [
        (robot, cost) for robot, cost in zip(table["robot"], table["cost_usd"], strict=True)
    ]
    assert plot.title == "Cost by robot"
    assert {row["day"] for row in values(log.plots.cost(["day", "robot"]))} == {
        "2026-03-01", "2026-03-02", "2026-03-03",
    }  # fmt: skip
    (tool,) = values(log.plots.tools())
    assert tool["success"] == 0.5
    assert tool["success_low"] < 0.5 < tool["success_high"]


def test_a_timeline_has_a_lane_for_each_task_and_seconds_from_the_start(log: rl.Log) -> None:
    rows = values(log.plots.timeline("n" * 12))
    # The network's first event is its start; an event is told every eighth of a second.
    assert [(row["lane"], row["start_s"], row["duration_s"]) for row in rows] == [
        ("do draft", 0.125, 0.625),
        ("do reply", 0.875, 0.625),
    ]
    assert all(row["end_s"] == row["start_s"] + row["duration_s"] for row in rows)


def test_a_timeline_of_a_result_has_its_calls(tmp_path: Path) -> None:
    def double(n: int) -> int:
        """Twice a number."""
        return 2 * n

    with rl.options(log=str(tmp_path / "log.sqlite")):
        result = rl.build("clerk", model=rl.SimulatedModel(), tools=[double]).run("double 4")
        kinds = [row["kind"] for row in values(rl.log.plots.timeline(result))]
        assert kinds == ["model call", "tool call", "model call"]
        assert values(rl.log.plots.timeline(result.run_id[:8])) == values(
            rl.log.plots.timeline(result)
        )
        rl.log.close()


def test_a_bundle_holds_the_data_and_leads_nowhere(log: rl.Log) -> None:
    for plot in [*every(log), log.plots.timeline("n" * 12)]:
        bundle, metadata = plot._repr_mimebundle_()
        assert set(bundle) == {MIME, "text/plain"}
        assert metadata[MIME]["embed_options"]["actions"]["editor"] is False
        spec = json.loads(json.dumps(bundle[MIME]))
        text = json.dumps({k: v for k, v in spec.items() if k != "$schema"})
        assert "://" not in text
        assert '"url"' not in text
        assert '"href"' not in text
        assert spec["config"]["background"] == "transparent"
        json.dumps(spec).encode("utf-8")
        assert not hasattr(plot, "_repr_html_")


def test_texts_are_data_and_never_part_of_an_expression(log: rl.Log) -> None:
    for plot in every(log):
        spec = plot.spec
        assert "alert" not in json.dumps(
            {k: v for k, v in spec.items() if k not in ("datasets", "data", "layer")}
        )
        for layer in spec.get("layer", [spec]):
            assert "alert" not in json.dumps([layer["mark"], layer["encoding"]])
    shown = repr(log.plots.cost())
    assert "\u202e" not in shown
    assert "alert(1)" in shown


def test_what_is_missing_is_null_and_times_are_text() -> None:
    import pandas as pd

    at = pd.Timestamp("2026-03-01", tz="UTC")
    table = pd.DataFrame({"x": [1.5, float("nan")], "at": [at, pd.NaT]})
    assert records(table) == [
        {"x": 1.5, "at": "2026-03-01T00:00:00+00:00"},
        {"x": None, "at": None},
    ]


def test_charts_without_rows_say_so(log: rl.Log) -> None:
    nobody = log.where(robot="nobody")
    for plot in every(nobody):
        assert plot.title.endswith("nothing to show")
        assert values(plot) == []
        assert "nothing to show" in repr(plot)


def test_many_groups_and_spans_are_bounded(tmp_path: Path) -> None:
    place = tmp_path / "many.sqlite"
    with Store.open(place) as store:
        told = Told("r")
        robot_run("r", told=told, end=None)
        for n in range(SPANS + 5):
            call = {"tool_call_id": f"c{n}", "tool": "add", "round": 1}
            told.tell(told.events[0].scope, "tool_call.started", **call)
            told.tell(told.events[0].scope, "tool_call.completed", **call, duration_s=0.1,
                      status="completed")  # fmt: skip
        store.write(Batch(told.events))
        for n in range(MOST + 5):
            store.write(Batch(robot_run(f"m{n}", robot=f"bot{n}", hours=1)))
    with open_log(place) as log:
        plot = log.plots.cost()
        assert len(values(plot)) == MOST
        assert "the first 40 of 46" in plot.title
        assert len(plot.data) == MOST + 6
        timeline = log.plots.timeline("r")
        assert len(values(timeline)) == SPANS
        assert f"of {SPANS + 5}" in timeline.title


def test_prices_that_are_not_known_are_told_and_made_up_calls_too(tmp_path: Path) -> None:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        rl.build("bob", model=rl.SimulatedModel("ok")).run("x")
        assert rl.log.plots.cost().title == "Cost by robot (simulated)"
        assert rl.log.plots.latency().title.endswith("(simulated)")
        rl.log.close()
    told = Told("r")
    robot_run("r", told=told, end=None)
    scope = told.events[0].scope
    told.tell(scope, "model_call.started", call_id="x", round=2, model="new/m")
    told.tell(scope, "model_call.completed", call_id="x", usage={"cost_complete": False})
    with Store.open(tmp_path / "other.sqlite") as store:
        store.write(Batch(told.events))
    with open_log(tmp_path / "other.sqlite") as log:
        assert log.plots.cost("model").title == "Cost by model, where prices are known"


def test_without_altair_tables_work_and_the_error_names_the_extra(
    log: rl.Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **more: Any) -> Any:
        if name == "altair":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(rl.ConfigurationError, match="altair") as caught:
        log.plots.cost()
    assert "robotlab-nb[plot]" in str(caught.value.hint)
    assert len(log.costs())


def test_a_page_of_a_chart_is_its_table(log: rl.Log, tmp_path: Path) -> None:
    path = log.plots.cost().to_html(tmp_path / "cost.html")
    page = (tmp_path / "cost.html").read_text("utf-8")
    assert str(path).endswith("cost.html")
    assert "<script" not in page
    assert "bot0" in page
