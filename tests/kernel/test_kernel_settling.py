"""What a program that runs a notebook leaves in its file: pictures that stand still, no widget."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

if TYPE_CHECKING:
    from nbformat import NotebookNode

WIDGET = "application/vnd.jupyter.widget-view+json"
ROOT = str(Path(__file__).resolve().parents[2])
SETUP = """
%load_ext robotlab_nb
import robotlab_nb as rl, asyncio, time
from robotlab_nb.tools.user_question import ask_user
rl.options.log = None
def robot(name, *script, **more):
    return rl.build(name, model=rl.SimulatedModel(list(script)), **more)
def slow(name, *script, delay=0.5):
    return rl.build(name, model=rl.SimulatedModel(list(script), delay=delay))
short = slow("short", "one two three")
bad = slow("bad", rl.ModelError("no such key", kind="auth"))
unsure = robot("unsure", ("ask_user", {"question": "Which size?"}), "done", tools=[ask_user])
def ask(what: str) -> str:
    "Ask another robot."
    return str(short.run(what, show=True))
boss = robot("boss", ("ask", {"what": "x"}), "all done", tools=[ask])
many = [slow(f"r{n}", f"answer {n}", delay=0.02) for n in range(20)]
"""
#: what each cell leaves, in the words of its outputs
CELLS = {
    "short.run('x', show=True)": ["one two three"],
    "bad.run('x', show=True)": ["no such key"],
    "run = short.start('x')\nrun": ["one two three"],
    "run.result()": ["one two three"],
    "failing = bad.start('x')\nfailing": ["no such key"],
    "await short.arun('x', show=True)": ["one two three"],
    "await bad.arun('x', show=True)": ["no such key"],
    "%%robot short\nhello": ["one two three"],
    "boss.run('x', show=True)": ["all done", "one two three"],
    "a = short.run('x', show=True)\nb = boss.run('x', show=True)": ["one two three", "all done"],
    "for bot in many: bot.run('x', show=True)": [f"answer {n}" for n in range(20)],
    "for bot in many: display(bot.start('x'))": [f"answer {n}" for n in range(20)],
    "waiting = unsure.run('x', show=True)\nwaiting": ["Which size?", "waiting"],
    "stopped = slow('gone', 'never', delay=30).start('x')\nstopped": ["interrupted"],
    "stopped.cancel(); time.sleep(0.7)": [],
    "quick = robot('quick', 'at once').start('x')\nquick": ["at once"],
    "last = slow('last', 'too late', delay=30).start('x')\nlast": ["Robot last"],
}


@pytest.fixture(scope="module")
def executed() -> NotebookNode:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    cells = [nbformat.v4.new_code_cell(code) for code in (SETUP, *CELLS)]
    book = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": ROOT}}
    nbclient.NotebookClient(
        book, timeout=60, kernel_name="python3", resources=where, allow_errors=True
    ).execute()
    return book


def texts(cell: Any) -> str:
    return "\n".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)


def test_every_way_of_running_leaves_its_picture(executed: NotebookNode) -> None:
    for cell in executed.cells[1:]:
        for word in CELLS[cell.source]:
            assert word in texts(cell), cell.source
    raised = [c.source for c in executed.cells if any(o.output_type == "error" for o in c.outputs)]
    assert raised == ["bad.run('x', show=True)", "await bad.arun('x', show=True)"]


def test_no_widget_and_nothing_of_one_is_in_the_file(executed: NotebookNode) -> None:
    assert WIDGET not in json.dumps(executed)
    assert "widgets" not in executed.metadata
    nbformat.validate(executed)


def test_each_place_holds_one_picture_and_no_line_that_went_away(executed: NotebookNode) -> None:
    loop = next(c for c in executed.cells if c.source.startswith("for bot in many: bot.run"))
    assert len([o for o in loop.outputs if o.get("data", {}).get("text/plain")]) == 20
    boss = next(c for c in executed.cells if c.source == "boss.run('x', show=True)")
    assert len(boss.outputs) == 2
    assert "shown above" in boss.outputs[1]["data"]["text/plain"]
    assert all("running" not in texts(cell) for cell in executed.cells[1:-1])


def test_what_has_not_ended_says_so(executed: NotebookNode) -> None:
    (output,) = executed.cells[-1].outputs
    assert set(output["data"]) == {"text/html", "text/plain"}
    assert any(word in output["data"]["text/plain"] for word in ("running", "pending"))


def test_a_page_that_takes_over_a_kernel_has_widgets_again(kernel: Any) -> None:
    code = "rl.build('b', model=rl.SimulatedModel(['x'], delay=0.4)).start('x')"
    by_program = kernel.run(code, cell_id="")
    assert [WIDGET in shown for shown in by_program.displays] == [False]
    by_page = kernel.run(code)
    assert [WIDGET in shown for shown in by_page.displays] == [True]
    end = time.monotonic() + 10
    while not by_page.updates or WIDGET in by_page.updates[-1]:
        assert time.monotonic() < end
        kernel.drain(0.1)
