"""Magics in JupyterLab: a dry run, the doctor, the line while a cell blocks, Tab."""

from __future__ import annotations

import pytest

SETUP = """\
import robotlab_nb as rl
%load_ext robotlab_nb
def lookup(word: str) -> str:
    "Look a word up in the dictionary."
    return word
bot = rl.build("lexicographer", tools=[lookup], temperature=0.2,
    system_prompt="You explain words. Give one example. Be brief, and never guess.")
slow = rl.build("slow", model=rl.SimulatedModel(["at last"], delay=4))
net = rl.create_network("editorial")
first = net.task("draft", bot, prompt="Write a paragraph about {{ message }}.")
second = net.task("check", slow, depends_on=["draft"], prompt="Check this: {{ upstream }}")
word = "serendipity"
"""
CELLS = [
    SETUP,
    "%%robot bot --dry\nWhat does *{{ word }}* mean?",
    "%%robot net --dry\n{{ word }}",
    "%robots",
    "rl.doctor()",
    "%%robot bot\nWhat does *{{ word }}* mean?",
    "answer = slow.run('x')",
    "%%robot b",
    "%%robot bot --dry -m openai/gpt-5-mini\nWhat does *{{ word }}* mean?",
    "%robot --help",
]


@pytest.mark.browser
def test_magics_in_jupyterlab(notebook, page, screenshot):
    book = notebook(CELLS)
    for number in range(6):
        book.run(number)
    dry, team, listed, doctor, asked = (book.output(n) for n in range(1, 6))
    assert "dry run" in dry.inner_text()
    assert "What does *serendipity* mean?" in dry.inner_text()
    assert "Write a paragraph about serendipity." in team.inner_text()
    assert "lexicographer" in listed.inner_text()
    assert "check-up" in doctor.inner_text()
    page.wait_for_function("() => !document.body.innerText.includes('pending')", timeout=20_000)
    assert "shown above" in asked.inner_text()

    # One line stands under a cell while it blocks, and none afterwards.
    book.run(6, wait=False)
    line = book.output(6).get_by_text("interrupt the kernel to stop")
    line.wait_for(timeout=10_000)
    screenshot("status_line", of=book.output(6))
    line.wait_for(state="detached", timeout=20_000)
    assert book.output(6).inner_text().strip() == ""

    # Tab on the first line of a magic offers robots.
    editor = page.locator(".jp-Notebook .jp-Cell").nth(7).locator(".cm-content")
    editor.click()
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    page.locator(".jp-Completer-item", has_text="bot").wait_for(timeout=10_000)
    assert page.locator(".jp-Completer-item").count() == 1
    page.keyboard.press("Escape")
    assert book.value("print(rl.doctor()['live views'].found)").endswith("this page shows them")

    for number in (8, 9):
        book.run(number)
    names = {1: "dry", 2: "dry_network", 3: "robots", 4: "doctor", 8: "dry_refused", 9: "help"}
    for theme in ("light", "dark"):
        for width in (1280, 480):
            page.set_viewport_size({"width": width, "height": 900})
            for number, name in names.items():
                screenshot(f"{name}_{width}", theme, of=book.output(number))
