"""The shipped notebooks: they run top to bottom, and their stored outputs can be read anywhere."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def outputs(book):
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            yield cell, output


@pytest.mark.kernel
@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_every_notebook_runs_from_top_to_bottom(path, monkeypatch):
    from nbclient import NotebookClient

    root = str(FOLDER.parent)
    monkeypatch.setenv("PYTHONPATH", root)
    book = nbformat.read(path, 4)
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    for cell, output in outputs(book):
        assert output.output_type != "error", cell.source
        assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {}), cell.source


def test_there_are_notebooks():
    assert {p.stem for p in BOOKS} >= {
        "01_first_robot", "02_tools", "03_networks", "04_prompts_and_templates",
        "05_guards_and_budgets", "06_structured_output", "07_skills",
        "08_questions_and_approvals", "09_long_conversations", "10_parallel_analysts",
        "11_routing", "12_message_bus", "13_spawn_and_delegate",
        "14_editorial_pipeline", "15_launch_assessment", "16_resume_and_rerun", "17_chat",
        "18_replay", "19_magics", "20_reading_a_log", "21_costs_and_latency", "22_conversations",
        "30_compare_prompts", "31_evaluate_and_judge", "32_tape", "33_local_model", "40_mcp",
        "41_mcp_discovery", "42_serve_a_robot", "90_gallery",
    }  # fmt: skip


@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_stored_outputs_are_there_and_still(path):
    book = nbformat.read(path, 4)
    nbformat.validate(book)
    assert "widgets" not in book.metadata
    code = [c for c in book.cells if c.cell_type == "code"]
    assert all(c.execution_count for c in code)
    shown = list(outputs(book))
    assert len(shown) >= len(code) // 2
    for cell, output in shown:
        assert output.output_type != "error"
        data = output.get("data", {})
        assert "application/vnd.jupyter.widget-view+json" not in data, cell.source
        if "text/html" in data:
            assert data.get("text/plain"), cell.source
    # The gallery holds one of everything.
    assert path.stat().st_size < (1_500_000 if path.stem == "90_gallery" else 600_000)


@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_stored_outputs_make_sense_with_styles_and_folds_stripped(path):
    """As GitHub shows them: no style sheet, no classes, folds open."""
    for cell, output in outputs(nbformat.read(path, 4)):
        html = output.get("data", {}).get("text/html", "")
        if "rlnb-" not in html:
            continue
        bare = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
        bare = re.sub(r' (?:class|style)=("[^"]*"|[^ >]+)', "", bare)
        text = re.sub(r"<[^>]+>", " ", bare)
        assert len(text.split()) >= 3, cell.source
        for picture in re.findall(r'<img[^>]+src="data:image/svg\+xml;base64,([^"]+)"', html):
            assert b"<svg" in base64.b64decode(picture)
        assert all('alt="' in tag for tag in re.findall(r"<img[^>]*>", html))
    private = re.compile(r"/(?:root|home|work|tmp)/\w+")
    assert not private.search(path.read_text("utf-8"))
