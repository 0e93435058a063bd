"""A notebook's checks as a pytest file that plays its tape.

It reads a notebook and writes a file; ``testing.notebook_runs`` runs it. Nothing of the notebook is
run here.
"""

from __future__ import annotations

import ast
import json
import os
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.option_files import shown_path
from .cell_code import CheckSite, check_sites, names_of_checks, read_cell, tapes_in

if TYPE_CHECKING:
    from .cell_code import CellCode

__all__ = ["export_checks"]

#: tag of a cell that is left out, and of one that may raise (nbclient's and Jupyter Book's)
_LEFT_OUT, _MAY_RAISE = "no-test", "raises-exception"
_MOST_NAME = 60

_FILE = '''"""The checks of {book}, played from its tape: no model is asked.

Written by `python -m robotlab_nb export-checks`; after a change of the notebook, write it anew.
"""

from pathlib import Path

import pytest

from robotlab_nb.testing import NotebookRun

#: the notebook's code, by cell
CELLS = {{
{cells}
}}


@pytest.fixture(scope="module")
def notebook():
    folder = Path(__file__).parent{folder}
    with NotebookRun(CELLS, folder, name={name!r}, tape={tape!r}{may_raise}) as run:
        yield run
{tests}'''

_TEST = '''

def test_{slug}(notebook):
    """{told}"""
    notebook.assert_passed(cell={cell}, line={line})
'''


def export_checks(
    notebook: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    tape: str | os.PathLike[str] | None = None,
) -> Path:
    """Write a pytest file with a test for each check of a notebook.

    The file has the notebook's code cells up to its last check. They are run in order, once, with
    the notebook's folder as the working folder, and every tape is played and never recorded: the
    tests need no key and no network. Each ``rl.check(…)`` and each ``%%robot_check`` cell becomes
    a test. A cell with the tag ``no-test`` is left out; one with ``raises-exception`` may raise.

    Parameters
    ----------
    notebook : str or path
        An ``.ipynb`` file.
    path : str or path, optional
        Where to write: ``test_NOTEBOOK.py`` beside the notebook when left out. A file that is
        there is replaced if it was written by this function.
    tape : str or path, optional
        The tape, from the notebook's folder; by default the first one that the notebook names,
        else ``NOTEBOOK.jsonl`` where that is there.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ConfigurationError
        When the notebook cannot be read, has no check, or has magics that mean nothing in a test:
        all are named, and nothing is written.

    Examples
    --------
    >>> import json, tempfile
    >>> import robotlab_nb as rl
    >>> code = 'import robotlab_nb as rl; rl.check(1 + 1, expected=2, name="adds up")'
    >>> cell = {"cell_type": "code", "source": code}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     book = Path(folder, "sums.ipynb")
    ...     _ = book.write_text(json.dumps({"cells": [cell]}))
    ...     made = rl.export_checks(book)
    ...     made.name, "def test_adds_up(notebook):" in made.read_text()
    ('test_sums.py', True)
    """
    book = Path(notebook).expanduser()
    codes, tags = _codes(book)
    _refuse(book, codes)
    trees = {n: ast.parse(code.body) for n, code in codes.items() if code.magic in _PARSED}
    names = names_of_checks(trees.values())
    sites: list[CheckSite] = []
    for n, code in codes.items():
        if code.magic == "robot_check":
            sites.append(CheckSite(n, 0, 0, code.line or None, code.body.strip()))
        if n in trees:
            sites += check_sites(n, trees[n], names)
    if not sites:
        raise ConfigurationError(
            f"{shown_path(book)} has no check",
            hint='Write one: rl.check(answer, rl.contains("Paris"), name="names Paris").',
        )
    target = (
        Path(path).expanduser()
        if path is not None
        else book.with_name(f"test_{_slug(book.stem)}.py")
    )
    last = max(site.cell for site in sites)
    cells = {n: source for n, (source, _) in tags.items() if n <= last}
    text = _FILE.format(
        book=book.name, name=book.name, cells="\n".join(map(_cell, cells.items())),
        folder=_folder(book, target), tape=_tape(book, tape, trees), may_raise=_raising(tags, last),
        tests="".join(_tests(sites)),
    )  # fmt: skip
    return _write(target, text)


#: kinds of cells that are Python
_PARSED = (None, "robot_check")


def _codes(book: Path) -> tuple[dict[int, CellCode], dict[int, tuple[str, frozenset[str]]]]:
    """The code cells, by their place among all code cells, and their sources with their tags."""
    try:
        cells = json.loads(book.read_text("utf-8"))["cells"]
        told = [
            (_source(cell["source"]), frozenset((cell.get("metadata") or {}).get("tags") or ()))
            for cell in cells
            if cell["cell_type"] == "code"
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{shown_path(book)} is no notebook that can be read ({type(error).__name__}: {error})",
            hint="Name an .ipynb file.",
        ) from error
    tags = {
        n: (source.strip("\n"), marks)
        for n, (source, marks) in enumerate(told, 1)
        if source.strip() and _LEFT_OUT not in marks
    }
    return {n: read_cell(source) for n, (source, _) in tags.items()}, tags


def _source(told: Any) -> str:
    return told if isinstance(told, str) else "".join(told)


def _refuse(book: Path, codes: dict[int, CellCode]) -> None:
    refused = [f"cell {n}, {what}" for n, code in codes.items() for what in code.refused]
    if refused:
        shown = "".join(f"\n  {what}" for what in refused[:20])
        more = f"\n  … {len(refused) - 20} more" if len(refused) > 20 else ""
        raise ConfigurationError(
            f"{shown_path(book)} has lines that no test can run. Write them in Python, or give "
            f"their cell the tag {_LEFT_OUT}:{shown}{more}"
        )


def _cell(told: tuple[int, str]) -> str:
    n, text = told
    if "'''" in text or text.endswith(("'", "\\")):
        return f"    {n}: {text!r},"
    start = "r'''" if "\\" in text else "'''\\\n"
    return f"    {n}: {start}{text}\n''',"


def _folder(book: Path, target: Path) -> str:
    """From the test's folder to the notebook's, as code."""
    way = os.path.relpath(book.absolute().parent, target.absolute().parent)
    return "" if way == "." else f" / {Path(way).as_posix()!r}"


def _tape(book: Path, given: Any, trees: dict[int, ast.Module]) -> str | None:
    if given is not None:
        return str(os.fspath(given))
    named = tapes_in(trees.values())
    if named:
        return named[0]
    beside = book.with_suffix(".jsonl")
    return beside.name if beside.exists() else None


def _raising(tags: dict[int, tuple[str, frozenset[str]]], last: int) -> str:
    found = [n for n, (_, marks) in tags.items() if _MAY_RAISE in marks and n <= last]
    return f", may_raise={found!r}" if found else ""


def _tests(sites: list[CheckSite]) -> list[str]:
    found, taken = [], set()
    for site in sorted(sites, key=lambda site: site[:2]):
        stem = slug = _slug(site.name or f"cell {site.cell} line {site.line}")
        n = 1
        while slug in taken:
            n += 1
            slug = f"{stem}_{n}"
        taken.add(slug)
        told = textwrap.shorten(site.name or site.source, 70, placeholder="…")
        told = re.sub(r'[\\"]', "'", told)
        found.append(
            _TEST.format(
                slug=slug, told=f"Cell {site.cell}: {told}", cell=site.cell, line=site.line
            )
        )
    return found


def _slug(text: str) -> str:
    """A name as part of a Python name."""
    found = re.sub(r"\W+", "_", text).strip("_").lower()[:_MOST_NAME].rstrip("_")
    return found or "check"


def _write(target: Path, text: str) -> Path:
    try:
        if target.exists() and "robotlab_nb export-checks" not in target.read_text("utf-8"):
            raise ConfigurationError(
                f"{shown_path(target)} was written by somebody else and would be lost",
                hint="Choose another name: export_checks(notebook, path).",
            )
        target.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigurationError(f"{shown_path(target)} cannot be written: {error}") from error
    return target
