"""What an analyst sees of a log in a real notebook: its picture, its tables, its charts."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

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
    assert "<img src=x" in shown.output(2).inner_text()
    look_at(page, first + 1)
    shown.output(first + 1).locator("canvas, svg.marks").first.hover(position={"x": 330, "y": 45})
    tip = page.locator("#vg-tooltip-element")
    tip.wait_for()
    assert "model calls" in tip.inner_text()
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
