"""A notebook that is made again is the same file: its differences in a commit are differences."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from .steady import executed

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.mark.kernel
@pytest.mark.parametrize("name", ["18_replay", "90_gallery"])
def test_run_again_it_is_byte_for_byte_the_same(name: str) -> None:
    path = FOLDER / f"{name}.ipynb"
    stored = path.read_text("utf-8")
    book = nbformat.reads(stored, 4)
    about = book.metadata["language_info"]
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    again = executed(book)
    again.metadata["language_info"] = about  # which Python ran it is no difference
    assert nbformat.writes(again).split("\n") == stored.rstrip("\n").split("\n")
