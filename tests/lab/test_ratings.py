"""Ratings of an experiment's answers: kept in the log or the journal, and there again later."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

PROMPTS = {"terse": "Be terse.", "long": "Be long."}


def tried(**more: Any) -> rl.Experiment:
    model = rl.SimulatedModel(lambda request: request.messages[-1].text.upper(), name="shout")
    return rl.compare(PROMPTS, model, ["a", "b"], name="shouting", **more)


def ratings(experiment: rl.Experiment) -> list[tuple[int | None, str | None]]:
    return [(cell.rating, cell.note) for cell in experiment.cells]


def test_a_rating_is_with_the_cell_at_once_and_the_version_grows() -> None:
    experiment = tried()
    before = experiment.version
    found = experiment.rate(1, 4, "fine")
    assert (found.rating, found.note) == (4, "fine")
    assert experiment.cells[1] == found
    assert experiment.version > before
    experiment.rate(found, 5)
    assert ratings(experiment)[1] == (5, "fine")
    experiment.rate({"prompt": "long", "input": "a"}, 5, "")
    assert ratings(experiment)[1] == (5, None)
    experiment.rate(1, None)
    assert ratings(experiment)[1] == (None, None)


@pytest.mark.parametrize("bad", [0, 6, "4", True, 2.5])
def test_what_is_no_rating_leaves_the_one_that_there_was(bad: Any) -> None:
    experiment = tried()
    experiment.rate(0, 3)
    with pytest.raises(InputError, match="no rating"):
        experiment.rate(0, bad)
    with pytest.raises(InputError, match="no note"):
        experiment.rate(0, 4, 5)  # type: ignore[arg-type]
    assert ratings(experiment)[0] == (3, None)


def test_a_cell_without_an_answer_is_not_rated() -> None:
    planned = tried(dry=True)
    with pytest.raises(InputError):
        planned.rate(0, 3)


def test_the_log_keeps_them_and_another_process_has_them(log: Any, tmp_path: Path) -> None:
    experiment = tried()
    experiment.rate(0, 5)
    experiment.rate(3, 1, "too long")
    again = tried()
    assert all(cell.cached for cell in again.cells)
    assert ratings(again) == [(5, None), (None, None), (None, None), (1, "too long")]
    assert log.ratings()[experiment.cells[0].run_id].rating == 5
    log.flush()
    code = (
        "import json, sys, robotlab_nb as rl\n"
        "rl.options.log = sys.argv[1]\n"
        "found = rl.experiments('shouting')[0]\n"
        "print(json.dumps([(c.rating, c.note) for c in found.cells]))\n"
        "print(found.summary(score='rating')[['prompt', 'mean']].to_json(orient='records'))\n"
        "found.rate(1, 2)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "log.sqlite")],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    first, second = done.stdout.splitlines()
    assert [tuple(each) for each in json.loads(first)] == ratings(again)
    assert json.loads(second) == [
        {"prompt": "long", "mean": 1.0}, {"prompt": "terse", "mean": 5.0},
    ]  # fmt: skip
    assert ratings(tried())[1] == (2, None)


def test_without_a_log_the_journal_keeps_them(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    experiment = tried(journal=journal)
    experiment.rate(0, 5, "fine")
    experiment.rate(0, 4)
    experiment.rate(1, 2)
    experiment.rate(1, None)
    with journal.open("ab") as file:
        file.write(b'{"rated": ["x"], "rating": 3}\n{"rated": "' + b"x" * 12 + b'", "rating": 9}\n')
        file.write(b'{"rated": "unfinished')
    again = tried(journal=journal)
    assert all(cell.cached for cell in again.cells)
    assert ratings(again) == [(4, "fine"), *[(None, None)] * 3]
    (found,) = [e for e in rl.experiments("shouting", journal=journal) if e.id == experiment.id]
    assert ratings(found)[0] == (4, "fine")


def test_a_rating_that_cannot_be_kept_stays_and_a_warning_says_so(tmp_path: Path) -> None:
    experiment = tried()
    with (
        rl.options(log=str(tmp_path / "other.sqlite")),
        pytest.warns(RuntimeWarning, match="in this process only: its answer is not in the log"),
    ):
        experiment.rate(0, 5)
    assert ratings(experiment)[0] == (5, None)


def test_where_nothing_is_kept_a_rating_is_with_the_experiment_alone() -> None:
    experiment = tried()
    experiment.rate(0, 5)
    assert ratings(experiment)[0] == (5, None)
    assert experiment.best("rating")["prompt"] == "terse"
