"""What an analyst sees of a log in a real notebook: its picture, its tables, its charts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

SETUP = '''
import os, tempfile
os.chdir(tempfile.mkdtemp())
import robotlab_nb as rl
rl.options.log = "runs.sqlite"
HOSTILE = "<img src=x onerror='window.hurt=1'><script>window.hurt=1</script>"

def double(n: int) -> int:
    """Twice a number."""
    if n == 3:
        raise ValueError(HOSTILE)
    return 2 * n

clerk = rl.build("clerk", model=rl.SimulatedModel(), tools=[double])
net = rl.create_network("desk")
net.task("draft", rl.build("writer " + HOSTILE, model=rl.SimulatedModel(["a draft"])))
net.task("check", rl.build("checker", model=rl.SimulatedModel(["fine"])), depends_on=["draft"])
for n in range(24):
    clerk.run(f"double {n} " + HOSTILE)
result = net.run("Write about " + HOSTILE)
'''
CHARTS = ["cost()", "latency(by='robot')", "tools()", "timeline(result.run_id)", "cost(by='day')"]


def look_at(page: Any, number: int) -> None:
    """Bring a cell into the window: JupyterLab keeps only those there in the page."""
    page.evaluate(
        "async n => {const book = window.jupyterapp.shell.currentWidget.content;"
        "await book.scrollToItem(n)}",
        number,
    )
    page.wait_for_timeout(150)


def tip_of(page: Any, chart: Any) -> str:
    """What a chart says of the mark that is found first, line by line."""
    box = chart.bounding_box()
    tip = page.locator("#vg-tooltip-element")
    for down in range(40, int(box["height"]), 9):
        for right in range(40, int(box["width"]), 9):
            page.mouse.move(box["x"] + right, box["y"] + down)
            if tip.is_visible():
                return str(tip.inner_text())
    return ""


def test_a_log_its_runs_and_its_charts_in_a_notebook(
    notebook: Any, screenshot: Any, page: Any
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    cells = [
        SETUP, "rl.log", "rl.log.where(robot='clerk')", "rl.log.runs()[:2]", "rl.log.frames",
        "rl.log[result.run_id]", "rl.log.summary()",
        *(f"rl.log.plots.{chart}" for chart in CHARTS),
        "rl.log.where(robot='nobody').plots.latency()",
    ]  # fmt: skip
    shown = notebook(cells)
    for number in range(len(cells)):
        shown.run(number)
    first = len(cells) - 1 - len(CHARTS)
    for number in range(first, len(cells)):
        # Drawn by what JupyterLab has of its own: a canvas or an SVG of some size.
        drawn = shown.output(number).locator(".vega-embed canvas, .vega-embed svg.marks").first
        drawn.wait_for(timeout=30_000)
        box = drawn.bounding_box()
        assert box is not None
        assert box["width"] > 200, cells[number]
    look_at(page, 1)
    table = shown.output(1).locator("table")
    assert table.locator("tr").count() == 21
    said = shown.output(1).inner_text()
    assert "27 runs" in said.replace("\u00a0", " ")
    assert "5 more" in said
    assert "simulated" in said
    look_at(page, 2)
    assert "<img src=x" in shown.output(2).inner_text().replace("\u00a0", " ")
    look_at(page, first + 1)
    said = tip_of(page, shown.output(first + 1).locator("canvas, svg.marks").first)
    assert "model calls" in said
    for width in (1280, 480):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            for number in range(1, len(cells)):
                look_at(page, number)
                screenshot(f"log_{number:02d}_{width}", theme, shown.output(number))
    assert page.evaluate("window.hurt") is None
    hosts = {urlsplit(url).hostname for url in asked if url.startswith("http")}
    assert hosts == {"127.0.0.1"}
    for number in range(first, len(cells)):
        (output,) = shown.saved_outputs(number)
        assert "text/html" not in output["data"]
        assert "text/plain" in output["data"]


NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CHART = "application/vnd.vegalite.v5+json"


@pytest.mark.parametrize("name", ["20_reading_a_log", "21_costs_and_latency"])
def test_a_stored_notebook_shows_its_tables_and_charts_before_anything_is_run(
    lab: Any, opened: Any, screenshot: Any, page: Any, name: str
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    path = lab.folder / f"{name}.ipynb"
    path.write_bytes((NOTEBOOKS / path.name).read_bytes())
    shown = opened(path)
    cells = json.loads(path.read_text("utf-8"))["cells"]
    charts = 0
    for number, cell in enumerate(cells):
        look_at(page, number)
        for output in cell.get("outputs", ()):
            if CHART in output.get("data", {}):
                drawn = shown.output(number).locator("canvas, svg.marks").first
                drawn.wait_for(timeout=30_000)
                charts += 1
    assert charts == (4 if name.startswith("21") else 0)
    for width in (1280, 480):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            for number, cell in enumerate(cells):
                if cell.get("outputs"):
                    look_at(page, number)
                    screenshot(f"book_{name[:2]}_{number:02d}_{width}", theme, shown.output(number))
    assert {urlsplit(url).hostname for url in asked if url.startswith("http")} == {"127.0.0.1"}
