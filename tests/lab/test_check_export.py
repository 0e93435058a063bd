"""A notebook's checks as a test file: what it takes along, what it refuses, green and red."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.lab.cell_code import read_cell
from robotlab_nb.notebook.commands import main
from robotlab_nb.testing import ModelServer, NotebookRun, Reply

if TYPE_CHECKING:
    from pathlib import Path

#: first of a test file's folder: no socket for anybody
NO_SOCKETS = """
import socket

def refuse(*_, **__):
    raise AssertionError("a socket was opened")

for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, refuse)
"""


def book(path: Path, *cells: str | tuple[str, list[str]]) -> Path:
    told = []
    for cell in cells:
        source, tags = (cell, []) if isinstance(cell, str) else cell
        told.append({"cell_type": "code", "source": source, "metadata": {"tags": tags}})
    path.write_text(json.dumps({"cells": told}), "utf-8")
    return path


def pytest_in(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=240,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
    )  # fmt: skip
    return done.returncode, done.stdout


LESSON = (
    "%load_ext robotlab_nb\nimport robotlab_nb as rl\n"
    "rl.options.tape = rl.tape('lesson.jsonl', mode='record')",
    "def capital_of(country: str) -> str:\n    'The capital.'\n    return 'Paris'\n"
    "bot = rl.build('guide', model='small', api_base={url!r}, tools=[capital_of])",
    "answer = bot.run('Capital of France?')\nanswer",
    "rl.check(answer, rl.contains('Paris'), name='names Paris')\n"
    "rl.check(\n    answer,\n    rl.contains('river'),\n)",
    "%%robot_check is short\nassert answer.text\nlen(answer.text) < 100",
    "%%robot bot -o more\nAnd of {{{{ 'Italy' }}}}?",
    "for word in ('Rome', '.'):\n    rl.check(more, rl.contains(word), name='says all')",
    "last = await bot.arun('bye')\nrl.check(last.text == 'Bye.', name='bye')",
    "raise SystemExit('after the last check')",
)


@pytest.mark.slow
def test_a_lesson_becomes_a_test_that_is_green_and_turns_red(tmp_path: Path) -> None:
    steps = [Reply.tool_call("capital_of", {"country": "France"}), "It is Paris, on a river.",
             "Rome.", "Bye."]  # fmt: skip
    with ModelServer(steps) as server:
        cells = [cell.format(url=server.base_url) for cell in LESSON]
        lesson = book(tmp_path / "lesson.ipynb", *cells)
        record(cells[:-1], tmp_path)
    assert main(["export-checks", str(lesson), "-o", str(tmp_path / "tests_of.py")]) == 0
    (tmp_path / "conftest.py").write_text(NO_SOCKETS)
    names = ["names_paris", "cell_4_line_2", "is_short", "says_all", "bye"]
    text = (tmp_path / "tests_of.py").read_text("utf-8")
    assert [
        line.split("(")[0][9:] for line in text.splitlines() if line[:9] == "def test_"
    ] == names
    code, said = pytest_in(tmp_path, "tests_of.py")
    assert (code, "5 passed" in said) == (0, True), said
    tape = tmp_path / "lesson.jsonl"
    tape.write_text(tape.read_text("utf-8").replace('"text": "Rome."', '"text": "Oslo."'), "utf-8")
    code, said = pytest_in(tmp_path, "tests_of.py")
    assert (code, "2 failed, 3 passed" in said) == (1, True), said
    assert "it lacks 'Rome'" in said


def record(cells: list[str], folder: Path) -> None:
    """Run the cells as a kernel would, recording."""
    from robotlab_nb.testing import notebook_runs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebook_runs, "only_played", lambda: rl.options())
        with NotebookRun(dict(enumerate(cells, 1)), folder) as run:
            assert run.error is None, run.error
            assert all(run.checks)


def test_the_file_finds_the_notebooks_folder_from_another_one(tmp_path: Path) -> None:
    (tmp_path / "books").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "books" / "data.txt").write_text("seven")
    lesson = book(
        tmp_path / "books" / "a b.ipynb",
        "from robotlab_nb import check as sure\nfrom pathlib import Path",
        'text = r"""\\d \'\'\' """\nsure(Path("data.txt").read_text(), expected="seven")',
    )
    made = rl.export_checks(lesson, tmp_path / "tests" / "test_a.py")
    assert " / '../books'" in made.read_text("utf-8")
    code, said = pytest_in(tmp_path / "tests")
    assert code == 0, said


def test_what_no_test_can_run_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    lesson = book(
        tmp_path / "lesson.ipynb",
        "!rm -r data\nfiles = !ls\n%sql select 1",
        "%%bash\nls",
        "x = (",
        "import robotlab_nb as rl\nrl.check(True)",
    )
    with pytest.raises(rl.ConfigurationError) as caught:
        rl.export_checks(lesson)
    said = str(caught.value)
    for what in ("cell 1, line 1: !rm", "files = !ls", "line 3: %sql", "cell 2, line 1: %%bash",
                 "cell 3", "no-test"):  # fmt: skip
        assert what in said, what
    assert not list(tmp_path.glob("*.py"))


def test_cells_can_be_left_out_and_may_raise(tmp_path: Path) -> None:
    lesson = book(
        tmp_path / "lesson.ipynb",
        ("!rm -r data", ["no-test"]),
        ("1 / 0", ["raises-exception"]),
        "%pip install numpy\n!pip install numpy\n%matplotlib inline\n%time x = 1\nx?",
        "import robotlab_nb as rl\nrl.check(x == 1, name='Done: \"it\"\\\\n')",
    )
    made = rl.export_checks(lesson)
    assert made == tmp_path / "test_lesson.py"
    code, said = pytest_in(tmp_path)
    assert code == 0, said


def test_an_error_in_a_cell_is_told_by_each_test_behind_it(tmp_path: Path) -> None:
    cells = {1: "import robotlab_nb as rl\nrl.check(True)", 2: "x = 1\n1 / 0", 3: "rl.check(False)"}
    with NotebookRun(cells, tmp_path, name="lesson.ipynb") as run:
        run.assert_passed(cell=1, line=2)
        with pytest.raises(AssertionError, match=r"cell 2 of lesson.ipynb, line 2, raised ZeroDiv"):
            run.assert_passed(cell=3, line=1)
    with (
        NotebookRun({1: "import robotlab_nb as rl\nif False:\n    rl.check(True)"}, ".") as run,
        pytest.raises(AssertionError, match="was not made"),
    ):
        run.assert_passed(cell=1, line=3)


def test_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    here, before = os.getcwd(), dict(rl.options.level())
    cells = {
        1: "import robotlab_nb as rl\nrl.options.temperature = 1\nrl.check(rl.log is not None)"
    }
    with NotebookRun(cells, tmp_path):
        assert os.getcwd() == str(tmp_path)
    assert (os.getcwd(), dict(rl.options.level())) == (here, before)


def test_its_file_is_not_written_over_somebody_elses(tmp_path: Path, capsys: Any) -> None:
    lesson = book(tmp_path / "lesson.ipynb", "import robotlab_nb as rl\nrl.check(True)")
    mine = tmp_path / "test_lesson.py"
    mine.write_text("# mine\n")
    assert main(["export-checks", str(lesson)]) == 1
    assert "written by somebody else" in capsys.readouterr().err
    assert mine.read_text() == "# mine\n"
    mine.unlink()
    assert main(["export-checks", str(lesson)]) == main(["export-checks", str(lesson)]) == 0
    assert capsys.readouterr().out.endswith("test_lesson.py: 1 test\n")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"cells": 3}', '{"cells": [{}]}'])
def test_what_is_no_notebook_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(text)
    with pytest.raises(rl.ConfigurationError, match="no notebook|has no check"):
        rl.export_checks(path)
    with pytest.raises(rl.ConfigurationError, match="no notebook"):
        rl.export_checks(tmp_path / "nowhere.ipynb")


def test_a_notebook_without_checks_is_told_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(rl.ConfigurationError, match="has no check.*rl.check"):
        rl.export_checks(book(tmp_path / "a.ipynb", "x = 1"))


def test_python_that_looks_like_a_magic_stays_python() -> None:
    source = 'text = """\n%sql\n!ls\n"""\ny = 7\ny % 2'
    assert read_cell(source).body == source


def test_prompts_and_plain_robots_mean_what_they_mean_in_a_notebook(tmp_path: Path) -> None:
    cells = {
        1: "import robotlab_nb as rl\nmodel = rl.SimulatedModel(lambda r: r.messages[0].text)",
        2: "%%prompt manners\nBe {{ manner }}.",
        3: "bot = rl.build('bot', template=manners, model=model, context={'manner': 'kind'})",
        4: "%%robot bot --out answer\nHello",
        5: "%%robot_check follows its prompt\nanswer.text == 'Be kind.'",
        6: "%%robot -d bot\nnot sent",
    }
    with NotebookRun(cells, tmp_path) as run:
        assert run.error is None, run.error
        run.assert_passed(cell=5)
