"""What a person sees of the log in a real notebook: one quiet line in the cell of the first run."""

from __future__ import annotations

from typing import Any

SETUP = """
import os, tempfile
os.environ["ROBOTLAB_NB_LOG"] = ""
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()
import robotlab_nb as rl
bot = rl.build("poet", model=rl.SimulatedModel(["roses are red", "violets are blue"]))
"""


def test_the_first_run_says_in_its_cell_where_runs_are_kept(
    notebook: Any, screenshot: Any, page: Any
) -> None:
    shown = notebook([SETUP, "bot.run('a poem')", "bot.run('another')", "rl.log"])
    for number in range(4):
        shown.run(number)
    for width in (1280, 480):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            screenshot(f"log_first_run_{width}", theme)
    first = shown.output(1).inner_text()
    assert first.count("Runs are kept in") == 1
    assert "rl.options.log = None" in first
    assert "roses are red" in first
    assert "Runs are kept" not in shown.output(2).inner_text()
    colour = "e => getComputedStyle(e).backgroundColor"
    assert shown.output(1).locator("p", has_text="Runs are kept").evaluate(colour) in (
        "rgba(0, 0, 0, 0)",
        "transparent",
    )
