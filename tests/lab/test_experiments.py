"""Experiments: read while they go on, found again, kept in files, tables and logs."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import robotlab_nb as rl
from robotlab_nb.core import readings
from robotlab_nb.core.errors import ConfigurationError, InputError
from robotlab_nb.core.state import RunState
from robotlab_nb.lab.experiment import of_run
from robotlab_nb.lab.listing import experiment_of
from robotlab_nb.lab.state import ExperimentState
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from pathlib import Path


def answer(request: Any) -> str:
    said = request.messages[-1].text
    return said.upper() if "loud" in said else said


LOUD = {"quiet": "{{ input }}", "loud": "loud {{ input }}"}


def made(**more: Any) -> rl.Experiment:
    options = {"evaluators": {"loud": lambda output: output.isupper()}, **more}
    return rl.compare(LOUD, rl.SimulatedModel(answer), ["one", "two"], **options)


def told(experiment: rl.Experiment) -> list[Any]:
    """The cells as data."""
    cells: list[Any] = experiment.to_dict()["cells"]
    return cells


# -- reading -----------------------------------------------------------------------------------


def test_a_table_has_a_row_for_each_cell() -> None:
    frame = made(repeats=2).frame
    assert len(frame) == 8
    assert list(frame.columns[:5]) == ["cell", "prompt", "model", "input", "repeat"]
    assert frame["text"].tolist()[:2] == ["one", "LOUD ONE"]
    assert frame["loud"].tolist()[:2] == [0.0, 1.0]
    assert frame["loud_passed"].dtype == "boolean"
    assert frame["simulated"].all()


def test_a_pivot_shows_a_column_by_axes() -> None:
    experiment = made(repeats=2)
    texts = experiment.pivot()
    assert texts.loc["two"].to_dict() == {"quiet": "two", "loud": "LOUD TWO"}
    rates = experiment.pivot("loud_passed", index="prompt", columns="model")
    assert rates.iloc[:, 0].to_dict() == {"quiet": 0.0, "loud": 1.0}
    with pytest.raises(InputError, match="Did you mean 'text'"):
        experiment.pivot("txt")


def test_the_best_is_by_score_by_rating_or_by_cost() -> None:
    experiment = made()
    assert experiment.best() == {
        "prompt": "loud", "model": "simulated/function", "by": "loud", "mean": 1.0, "of": 2,
        "cost_usd": 0.0,
    }  # fmt: skip
    assert experiment.best("output_tokens")["prompt"] == "quiet"
    with pytest.raises(InputError, match="Did you mean 'loud'"):
        experiment.best("lowd")
    bare = made(evaluators=())
    with pytest.raises(InputError, match="no scores and no ratings"):
        bare.best()
    bare.rate(1, 5)
    assert bare.best()["prompt"] == "loud"


def test_a_cell_is_meant_by_place_or_by_axes() -> None:
    experiment = made()
    assert experiment.cell(prompt="loud", input="two").text == "LOUD TWO"
    assert experiment.cell(-1).index == 3
    for axes, says in (
        ({"prompt": "loud"}, "2 cells are meant.*input="),
        ({"promt": "loud"}, "Did you mean 'prompt'"),
        ({"prompt": "lowd"}, "Did you mean 'loud'"),
    ):
        with pytest.raises(InputError, match=says):
            experiment.cell(**axes)
    with pytest.raises(InputError, match="cells 0 to 3"):
        experiment.cell(4)


def test_two_answers_are_compared_word_by_word() -> None:
    model = rl.SimulatedModel(lambda request: f"the {request.messages[-1].text} cat sat on the mat")
    experiment = rl.compare(["{{ input }}"], model, ["fat", "thin"])
    diff = experiment.diff({"input": "fat"}, {"input": "thin"})
    assert diff.text() == "the [-fat-] {+thin+} cat sat on the mat"
    with ModelServer([Reply.error(400, "no")]) as server:
        failed = rl.compare(["{{ input }}"], server.model(), ["x"])
    with pytest.raises(InputError, match="no answer to compare"):
        failed.diff(0, 0)


def test_cells_that_did_not_change_are_the_same_objects() -> None:
    experiment = made()
    before, version = experiment.cells, experiment.version
    experiment.rate(2, 4, "good")
    after = experiment.cells
    assert experiment.version > version
    assert [a is b for a, b in zip(before, after, strict=True)] == [True, True, False, True]
    assert (after[2].rating, after[2].note) == (4, "good")
    assert experiment.rate(2, 3).note == "good"
    assert experiment.rate(2, None, "").note is None


def test_it_is_read_while_it_goes_on() -> None:
    with ModelServer(script=lambda r: Reply.text("x").after(0 if "a" in str(r.body) else 20)) as s:
        seen: list[Any] = []

        def look(output: str) -> bool:
            experiment = rl.experiments()[0]
            seen.append((experiment.status, experiment.progress.done, experiment.progress.total))
            return True

        rl.compare(["{{ input }}"], s.model(), ["a1", "a2"], evaluators=[look], concurrency=1)
    assert seen == [("running", 1, 2), ("running", 2, 2)]


def test_the_engines_own_fold_agrees() -> None:
    experiment = made()
    assert experiment.run is not None
    state = ExperimentState.fold(experiment.run.events)
    assert state.cells == list(experiment.cells)
    whole = RunState.fold(experiment.run.events)
    assert [child.scope.path[-1] for child in whole.children.values()] == [
        f"cell:{n}" for n in range(4)
    ]
    assert whole.scope.kind == "experiment"
    assert of_run(experiment.run) is experiment
    assert experiment.frames.runs["kind"].tolist() == ["experiment", *["robot"] * 4]


# -- keeping -----------------------------------------------------------------------------------


def test_it_travels_as_json_and_as_a_pickle() -> None:
    experiment = made()
    experiment.rate(0, 5, "fine")
    for copy in (
        rl.Experiment.from_dict(json.loads(json.dumps(experiment.to_dict()))),
        pickle.loads(pickle.dumps(experiment)),
    ):
        assert told(copy) == told(experiment)
        assert copy.run is None
        assert copy.frame.equals(experiment.frame)
    with pytest.raises(InputError, match="no experiment"):
        rl.Experiment.from_dict({})
    with pytest.raises(InputError, match="version 99"):
        rl.Experiment.from_dict({"experiment": 99})


def test_it_is_written_to_files(tmp_path: Path) -> None:
    model = rl.SimulatedModel(lambda request: '=cmd|"/c calc"!A1')
    rows = [{"input": "x", "@sum": "+1", "-n": -1}]
    experiment = rl.compare(["{{ input }}"], model, rows)
    path = experiment.export(tmp_path / "cells.csv")
    frame = pd.read_csv(path)
    assert frame["text"][0].startswith("'=cmd")
    assert frame["'@sum"][0] == "'+1"
    assert frame["'-n"][0] == -1, "a number is no formula"
    with pytest.raises(ConfigurationError, match="there already"):
        experiment.export(path)
    assert pd.read_csv(experiment.export(path, overwrite=True, formulas=True))["text"][0][0] == "="
    table = pd.read_parquet(experiment.export(tmp_path / "cells.parquet"))
    assert table["text"][0].startswith("=cmd")
    back = json.loads(experiment.export(tmp_path / "all.json").read_text())
    assert told(rl.Experiment.from_dict(back)) == told(experiment)
    assert "<html" in experiment.export(tmp_path / "page.html").read_text()
    with pytest.raises(ConfigurationError, match=r"\.csv"):
        experiment.export(tmp_path / "cells.xls")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        experiment.export(tmp_path / "nowhere" / "cells.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "all.json", "cells.csv", "cells.parquet", "page.html",
    ]  # fmt: skip


def test_a_secret_is_in_none_of_it(log: rl.Log, tmp_path: Path) -> None:
    rl.register_secret("hunter2-hunter2", "PASSWORD")
    journal = tmp_path / "journal.jsonl"
    experiment = rl.compare(
        ["{{ input }} hunter2-hunter2"], rl.SimulatedModel(answer), ["say"], journal=journal
    )
    cut = rl.compare([f"{'x' * 40} hunter2-hunter2"], rl.SimulatedModel(answer), ["say"])
    assert "hunter" not in cut.axes["prompt"][0], "a secret is masked before a label is cut"
    log.flush(30)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"hunter2-hunter2" not in kept
    assert "hunter2-hunter2" not in json.dumps(experiment.to_dict())
    assert b"hunter2-hunter2" not in pickle.dumps(experiment)


def test_a_log_gives_it_back(log: rl.Log) -> None:
    experiment = made(name="volumes")
    experiment.rate(1, 5)
    assert log.target is not None
    with rl.open_log(log.target.address) as elsewhere:
        found = rl.experiments("volumes", log=elsewhere)
        assert [each.id for each in found] == [experiment.id]
        assert told(found[0]) == told(experiment)
        assert found[0].estimate == experiment.estimate
        assert found[0].status == "completed"
        run = elsewhere.where(kind="experiment").runs()[0]
        assert told(experiment_of(run)) == told(experiment)
        assert "Experiment volumes" in readings.text(run)
        with pytest.raises(InputError, match="a robot's"):
            experiment_of(elsewhere.where(kind="robot").runs()[0])
    frame = log.frames.runs
    assert frame["kind"].value_counts().to_dict() == {"robot": 4, "experiment": 1}


def test_a_journal_gives_it_back(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    experiment = made(name="noted", journal=journal)
    found = list(rl.experiments("noted", journal=journal))
    assert found == [experiment]
    name, cells = experiment.id, told(experiment)
    del experiment, found
    import gc

    gc.collect()
    found = rl.experiments("noted", journal=journal)
    assert [each.id for each in found] == [name]
    assert told(found[0]) == cells


def test_the_logs_index_knows_cells_and_is_made_again(log: rl.Log, server: ModelServer) -> None:
    ask = lambda: rl.compare(["{{ input }}"], server.model(), ["a", "b"])  # noqa: E731
    ask()
    store = log.store
    assert store is not None
    assert store.check() == []
    assert store.reindex() >= 1  # what happens between runs is a root too
    assert store.check() == []
    ask()
    assert len(server.requests) == 2
    log.purge(everything=True)
    ask()
    assert len(server.requests) == 4


def test_newest_first_and_no_more_than_asked_for(log: rl.Log) -> None:
    for n in range(4):
        rl.compare(["{{ input }}"], "simulated", [str(n)], name=f"number {n}")
    assert [e.name for e in rl.experiments(limit=2)] == ["number 3", "number 2"]
    assert rl.experiments("nothing") == []
