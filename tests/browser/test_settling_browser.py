"""Everything shown settles in its place: in JupyterLab, in the file it saves, and in one opened
by somebody else, without the kernel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import nbformat

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from .conftest import Lab, Notebook

WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = """
%load_ext robotlab_nb
import robotlab_nb as rl, asyncio, time
from robotlab_nb.tools.user_question import ask_user
rl.options.log = None
def robot(name, *script, **more):
    return rl.build(name, model=rl.SimulatedModel(list(script), delay=0.5), **more)
short = robot("short", "one two three")
bad = robot("bad", rl.ModelError("no such key", kind="auth"))
unsure = robot("unsure", ("ask_user", {"question": "Which size?"}), "done", tools=[ask_user])
words = " ".join(f"word{n:03d}" for n in range(400))
long = rl.build("long", model=rl.SimulatedModel([words], pace=0.04))
def ask(what: str) -> str:
    "Ask another robot."
    return str(short.run(what, show=True))
boss = robot("boss", ("ask", {"what": "x"}), "all done", tools=[ask])
many = [rl.build(f"r{n}", model=rl.SimulatedModel([f"answer {n}"])) for n in range(20)]
"""
CELLS = {
    "short.run('x', show=True)": ["one two three"],
    "bad.run('x', show=True)": ["no such key"],
    "run = short.start('x')\nrun": ["one two three"],
    "failing = bad.start('x')\nfailing": ["no such key"],
    "await short.arun('x', show=True)": ["one two three"],
    "%%robot short\nhello": ["one two three"],
    "boss.run('x', show=True)": ["all done", "one two three"],
    "a = short.run('x', show=True)\nb = boss.run('x', show=True)": ["one two three", "all done"],
    "for bot in many: bot.run('x', show=True)": [f"answer {n}" for n in range(20)],
    "for bot in many: display(bot.start('x'))": [f"answer {n}" for n in range(20)],
    "asked = unsure.start('x')\nasked": ["Which size?", "interrupted"],
}


def text_of(outputs: list[dict[str, Any]]) -> str:
    return "\n".join("".join(o.get("data", {}).get("text/plain", "")) for o in outputs)


def no_widget(file: dict[str, Any]) -> None:
    assert WIDGET not in json.dumps(file)
    assert "widgets" not in file["metadata"]
    nbformat.validate(nbformat.from_dict(file))


def test_every_way_of_running_settles_and_the_file_reads_without_a_kernel(
    notebook: Callable[..., Notebook],
    opened: Callable[..., Notebook],
    page: Page,
    lab: Lab,
    screenshot: Callable[..., Any],
) -> None:
    book = notebook([SETUP, *CELLS])
    for number in range(len(CELLS) + 1):
        book.run(number)
    book.output(len(CELLS)).get_by_text("Which size?").first.wait_for()
    book.value("asked.cancel()")
    page.wait_for_function("() => !document.querySelector('.rlnb-live')", timeout=30_000)
    file = book.save()
    no_widget(file)
    for cell in file["cells"][1:]:
        for word in CELLS["".join(cell["source"])]:
            assert word in text_of(cell["outputs"]), cell["source"]
    screenshot("settled", "light")

    file["cells"][0]["metadata"]["changed"] = "elsewhere: whoever opens it has not run it"
    stranger = lab.folder / "stranger.ipynb"
    stranger.write_text(json.dumps(file), "utf-8")
    other = opened(stranger)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    trusted = "n => window.jupyterapp.shell.currentWidget.content.model.cells.get(n).trusted"
    assert not any(page.evaluate(trusted, number) for number in range(1, len(CELLS) + 1))
    for number, words in enumerate(CELLS.values(), 1):
        page.evaluate("n => jupyterapp.shell.currentWidget.content.scrollToItem(n)", number)
        area = other.output(number)
        area.get_by_text(words[-1]).first.wait_for(state="attached")
        told = area.text_content() or ""
        assert all(word in told for word in words), told
        assert "Error displaying widget" not in told
    page.evaluate("() => jupyterapp.shell.currentWidget.content.scrollToItem(1)")
    assert other.output(1).get_by_text("one two three").first.is_visible()
    screenshot("settled_untrusted", "dark")


def test_stop_settles_and_the_saved_file_says_so(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    cells = ["long.run('x', show=True)", "await long.arun('x', show=True)"]
    book = notebook([SETUP, *cells])
    book.run(0)
    for number in (1, 2):
        book.run(number, wait=False)
        view = book.output(number).locator(".rlnb-live")
        view.get_by_text("word002").first.wait_for()
        book.interrupt()
        view.wait_for(state="detached", timeout=15_000)
        while book.value("print('ready')") != "ready":
            page.wait_for_timeout(100)
    file = book.save()
    no_widget(file)
    for cell in file["cells"][1:]:
        told = text_of(cell["outputs"])
        assert "interrupted" in told
        assert "word002" in told


def test_cleared_output_stays_cleared_and_its_run_goes_on(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook([SETUP, "run = long.start('x')\nrun", "short.run('y', show=True)"])
    book.run(0)
    book.run(1)
    book.output(1).locator(".rlnb-live").wait_for()
    page.evaluate(
        "async () => { const w = window.jupyterapp; w.shell.currentWidget.content.activeCellIndex"
        " = 1; await w.commands.execute('notebook:clear-cell-output') }"
    )
    book.run(2)
    assert "one two three" in book.output(2).inner_text()
    assert book.value("run.cancel(); import time; time.sleep(0.5); print(run.status)") == (
        "interrupted"
    )
    file = book.save()
    no_widget(file)
    assert file["cells"][1]["outputs"] == []


def test_a_kernel_that_is_restarted_during_a_run_leaves_what_was_seen(
    notebook: Callable[..., Notebook], opened: Callable[..., Notebook], page: Page, lab: Lab
) -> None:
    book = notebook([SETUP, "run = long.start('x')\nrun", "short.run('y', show=True)"])
    book.run(0)
    book.run(1)
    book.output(1).get_by_text("word002").first.wait_for()
    page.evaluate(
        "async () => { const k = window.jupyterapp.shell.currentWidget.sessionContext.session"
        ".kernel; await k.restart(); await k.info }"
    )
    book.run(0)
    book.run(2)
    assert "one two three" in book.output(2).inner_text()
    file = book.save()
    file["cells"][0]["metadata"]["changed"] = "elsewhere"
    stranger = lab.folder / "cut.ipynb"
    stranger.write_text(json.dumps(file), "utf-8")
    other = opened(stranger)
    told = other.output(1).text_content() or ""
    assert "long" in told
    assert "running" in told
    assert "Error displaying widget" not in told
