"""The live view in a real browser: alone on a page, and in a real JupyterLab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

import robotlab_nb as rl
from robotlab_nb.core.messages import Message, TextPart
from robotlab_nb.runtime.run import Run
from robotlab_nb.widgets.assets import script, sheet
from robotlab_nb.widgets.live_view import LiveView

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from .conftest import Lab, Notebook

HERE = Path(__file__).resolve()
CORPUS = json.loads((HERE.parents[1] / "data" / "hostile.json").read_text("utf-8"))
#: The markup last: a view keeps its newest entries.
HOSTILE = [text for group in reversed(CORPUS.values()) for text in group]
WIDGET = "application/vnd.jupyter.widget-view+json"


# -- alone on a page: a stand-in for the widget's model, and batches made by Python ---------------


class Alone:
    """The front end with a model that only a test talks to."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_content(f"<style>{sheet('live.css')}</style><div id=el></div>")
        page.evaluate(
            "async source => {"
            "const blob = new Blob([source], {type: 'text/javascript'});"
            "const module = await import(URL.createObjectURL(blob));"
            "window.sent = []; window.handlers = {}; window.traits = {}; window.hurt = 0;"
            "window.alert = () => { window.hurt += 1 };"
            "window.model = {get: name => traits[name], send: content => sent.push(content),"
            "on: (name, call) => { handlers[name] = call }};"
            "window.widget = module.default() }",
            script("live.js"),
        )

    def show(self, snapshot: dict[str, Any]) -> None:
        self.page.evaluate(
            "snapshot => { traits.snapshot = snapshot; widget.initialize({model});"
            "widget.render({model, el: document.getElementById('el')}) }",
            snapshot,
        )

    def send(self, *batches: dict[str, Any] | None) -> None:
        self.page.evaluate("all => all.forEach(b => handlers['msg:custom'](b))", list(batches))

    def snapshot(self, snapshot: dict[str, Any]) -> None:
        self.page.evaluate("s => { traits.snapshot = s; handlers['change:snapshot']() }", snapshot)

    @property
    def sent(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate("sent")
        return found

    @property
    def log(self) -> Locator:
        return self.page.locator(".rlnb-log")


@pytest.fixture
def alone(page: Page) -> Alone:
    return Alone(page)


class Bot:
    """A robot's run that a test tells what happens."""

    def __init__(self) -> None:
        self.run: Run[Any] = Run("bot", "robot", self._work, lambda run: run, robot="bot")
        self.run.started({"name": "bot", "model": "m", "input": "Hi"})
        self.view = LiveView(self.run)

    async def _work(self, run: Run[Any]) -> None:
        raise AssertionError("never begun")

    def ask(self, number: int) -> None:
        started = {"call_id": f"c{number}", "round": number, "model": "m", "message_ids": []}
        self.run.emit("model_call.started", started)

    def write(self, number: int, text: str, kind: str = "text") -> dict[str, Any]:
        self.run.root.delta(self.run, f"c{number}", 1, kind, text)
        return self.view.batch() or {}

    def answer(self, number: int, text: str) -> dict[str, Any]:
        done = {"call_id": f"c{number}", "text": text, "usage": {"calls": 1}}
        self.run.emit("model_call.completed", done)
        message = Message("assistant", [TextPart(text)])
        self.run.emit("message.added", {"message": message.to_dict()})
        return self.view.batch() or {}

    def tool(self, name: str, arguments: str, content: str) -> dict[str, Any]:
        started = {"tool_call_id": name, "tool": name, "arguments_text": arguments}
        self.run.emit("tool_call.started", started)
        done = {"tool_call_id": name, "status": "completed", "content": content}
        self.run.emit("tool_call.completed", {**done, "duration_s": 0.1})
        return self.view.batch() or {}


def test_hostile_text_stays_text(alone: Alone) -> None:
    bot = Bot()
    alone.show(bot.view.snapshot())
    for number, text in enumerate(HOSTILE):
        bot.ask(number)
        alone.send(
            bot.write(number, text, "reasoning"),
            bot.write(number, text),
            bot.answer(number, text or "-"),
            bot.tool(f"t{number}", text, text),
        )
    markup = "<img src=x onerror=alert(1)>"
    state = {"icon": markup, "word": markup, "hue": ""}
    names = {
        "L9": {"name": markup, "shape": markup, "say": markup, "tone": "", "spans": [], **state},
        "T9": {"name": markup, "who": markup, "note": markup, **state},
        "E9999": {"who": markup, "label": markup, "at": markup},
        "P9999": {"in": "E9999", "kind": "note", "text": markup, **state},
        "run": {"name": markup, "figures": markup, "fault": markup, "counts": [[markup] * 3]},
    }
    number = bot.view.snapshot()["n"] + 1
    alone.send({"n": number, "at": 1, "ops": [[key, record] for key, record in names.items()]})
    alone.page.wait_for_timeout(100)
    assert alone.page.evaluate("hurt") == 0
    assert alone.log.locator("blockquote").last.inner_text().count(markup) == 6
    tags = alone.page.evaluate(
        "[...new Set([...document.querySelectorAll('#el *')].map(e => e.localName))].sort()"
    )
    assert set(tags) <= {
        "b", "blockquote", "button", "code", "details", "div", "g", "li", "p", "pre", "span",
        "strong", "summary", "svg", "ul",
    }  # fmt: skip
    names = (
        "[...new Set([...document.querySelectorAll('#el *')].flatMap(e => e.getAttributeNames()))]"
    )
    assert not [name for name in alone.page.evaluate(names) if name.startswith("on")]
    shown = alone.log.locator(".rlnb-t").all_text_contents()
    assert "<script>alert(1)</script>" in shown
    records = bot.view.doc.records
    said = [r["text"] for r in records.values() if r.get("kind") == "text"]
    assert alone.log.locator("p > .rlnb-t").all_text_contents() == said


def test_a_lost_batch_is_asked_for_and_mended_by_a_snapshot(alone: Alone) -> None:
    bot = Bot()
    alone.show(bot.view.snapshot())
    bot.ask(1)
    first, lost, third = (bot.write(1, word) for word in ("one ", "two ", "three "))
    alone.send(first, third)
    assert alone.log.locator(".rlnb-t").last.text_content() == "one "
    assert {"want": 1} in alone.sent
    alone.snapshot(bot.view.snapshot())
    assert alone.log.locator(".rlnb-t").last.text_content() == "one two three "
    alone.send(lost, third)  # late, and known already
    alone.send(bot.write(1, "four"))
    assert alone.log.locator(".rlnb-t").last.text_content() == "one two three four"


def test_what_the_reader_has_opened_chosen_and_read_stays(alone: Alone) -> None:
    bot = Bot()
    alone.show(bot.view.snapshot())
    bot.ask(0)
    alone.send(bot.write(0, "thinking about it", "reasoning"), bot.answer(0, "x"))
    alone.send(bot.tool("lookup", '{"city": "Paris"}', "18 °C"))
    for number in range(1, 30):
        bot.ask(number)
        alone.send(bot.answer(number, f"A longer answer with the number {number}. " * 4))
    page = alone.page
    at_end = "l => l.scrollHeight - l.scrollTop - l.clientHeight < 2"
    assert alone.log.evaluate(at_end)
    bot.ask(30)
    alone.send(bot.write(30, "word " * 200))
    assert alone.log.evaluate(at_end), "it follows a reader at the end"

    alone.log.evaluate("l => { l.scrollTop = 0 }")
    page.wait_for_timeout(50)
    alone.log.locator("summary", has_text="lookup").click()
    node = alone.log.locator(".rlnb-t").last.element_handle()
    # The reader has selected words in the very text that still streams.
    node.evaluate("e => getSelection().setBaseAndExtent(e.firstChild, 5, e.firstChild, 14)")
    chosen = page.evaluate("String(getSelection())")
    assert chosen == "word word"
    before = alone.log.evaluate("l => l.scrollTop")
    for _ in range(20):
        alone.send(bot.write(30, "and more text " * 10))
    alone.send(bot.answer(30, "word " * 200 + "and more text " * 200))
    assert alone.log.evaluate("l => l.scrollTop") == before
    opened = alone.log.locator("details[open]")
    assert opened.count() == 1
    assert "18 °C" in opened.locator("pre").last.inner_text()
    assert page.evaluate("String(getSelection())") == chosen
    assert node.text_content() == "word " * 200 + "and more text " * 200
    assert node.evaluate("e => e.isConnected && e.childNodes.length") == 1
    page.get_by_role("button", name="Newest").click()
    assert alone.log.evaluate(at_end)


def test_the_view_is_usable_by_keyboard_and_speaks_states_only(alone: Alone) -> None:
    page = alone.page
    first = rl.build("first", model=rl.SimulatedModel(["the first answer"]))
    second = rl.build("second", model=rl.SimulatedModel(["the second answer"]))
    net = rl.create_network("pair")
    net.task("a", first)
    net.task("b", second, depends_on=["a"])
    run = net.prepare("hello")
    view = LiveView(run)
    alone.show(view.snapshot())
    run.begin().result()
    batch = view.batch()
    alone.send(batch)
    told = page.locator("[role=status]").inner_text()
    assert "a completed" in told
    assert "answer" not in told
    assert page.locator("[aria-live]").count() == 1
    focused = (
        "(e => e.getAttribute('class') + ' ' + e.textContent.split('\\n').join(' '))"
        "(document.activeElement)"
    )
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(focused))
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        if page.evaluate("document.activeElement !== document.body"):
            assert style == "solid", reached[-1]
    words = " | ".join(reached)
    for name in ("first", "second", "Tasks", "All", "Messages", "rlnb-log"):
        assert name in words
    page.locator(".rlnb-lane", has_text="second").focus()
    page.keyboard.press("Enter")
    entries = alone.log.locator("blockquote:visible")
    assert entries.count() == 1
    assert "the second answer" in entries.inner_text()
    assert page.locator(".rlnb-lane[aria-pressed=true]").count() == 1
    page.keyboard.press("Enter")
    assert entries.count() == 3
    for state in ("completed", "✓"):
        assert state in page.locator(".rlnb-lane").first.inner_text()


def test_nothing_moves_for_whoever_wants_no_motion(alone: Alone) -> None:
    bot = Bot()
    alone.show(bot.view.snapshot())
    bot.ask(1)
    alone.send(bot.write(1, "text"))
    animation = "e => getComputedStyle(e, ':after').animationName"
    caret = alone.log.locator(".rlnb-on")
    assert caret.evaluate("e => getComputedStyle(e, ':after').content") == '"▍"'
    assert caret.evaluate(animation) == "none"
    alone.page.emulate_media(reduced_motion="no-preference")
    assert caret.evaluate(animation) != "none"


def test_a_click_that_nobody_hears_promises_nothing(alone: Alone) -> None:
    bot = Bot()
    bot.view.stopped_by(idle=True, blocked=False)
    alone.show(bot.view.snapshot())
    button = alone.page.get_by_role("button", name="Stop")
    button.click()
    assert any(said.get("stop") for said in alone.sent)
    hint = alone.page.get_by_text("not heard yet")
    hint.wait_for(timeout=5000)
    assert "toolbar" in hint.inner_text()
    bot.view.stopped_by(idle=False, blocked=True)
    alone.send(bot.view.batch())
    assert not button.is_visible()
    assert alone.page.get_by_text("stop with ■ in the toolbar", exact=True).is_visible()


# -- in JupyterLab -------------------------------------------------------------------------------

SETUP = """
import robotlab_nb as rl, asyncio
def lookup(word: str) -> str:
    "Look a word up."
    return word.upper()
words = " ".join(f"word{n:03d}" for n in range(120))
script = [{"reasoning": "let me see", "tools": [("lookup", {"word": "cat"})]}, words]
bot = rl.build("bot", model=rl.SimulatedModel(script, pace=0.04), tools=[lookup])
slow = rl.build("slow", model=rl.SimulatedModel(["at last"], delay=1.5))
long = rl.build("long", model=rl.SimulatedModel([words * 20], pace=0.04))
"""


def grows(text: Locator) -> bool:
    before = len(text.inner_text())
    text.page.wait_for_timeout(700)
    return len(text.inner_text()) > before


def test_a_started_run_streams_keeps_what_is_open_and_settles(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Any], lab: Lab
) -> None:
    book = notebook([SETUP, "run = bot.start('go')\nrun"])
    book.run(0)
    book.run(1)
    view = book.output(1).locator(".rlnb-live")
    view.wait_for()
    text = view.locator("p > .rlnb-on")
    text.wait_for()
    view.locator("summary", has_text="lookup").click()
    assert grows(text)
    assert view.locator("details[open] pre").last.inner_text() == "CAT"
    assert "running" in view.inner_text()
    assert view.get_by_role("button", name="Stop").is_visible()
    screenshot("live_bot", "light", book.output(1))
    view.wait_for(state="detached", timeout=30_000)
    settled = book.output(1)
    assert "word119" in settled.inner_text()
    assert "completed" in settled.inner_text()
    (output,) = book.saved_outputs(1)
    assert set(output["data"]) == {"text/html", "text/plain"}
    whole = json.dumps(book.save())
    assert WIDGET not in whole
    nbformat.validate(nbformat.read(book.path, 4))

    other = nbformat.read(book.path, 4)
    other.cells.insert(0, nbformat.v4.new_markdown_cell("Written elsewhere, so not trusted here."))
    stranger = lab.folder / "untrusted.ipynb"
    nbformat.write(other, stranger)
    page.goto(f"{lab.url}/lab/tree/{stranger.name}?reset")
    output_area = page.locator(".jp-Notebook .jp-CodeCell").nth(1).locator(".jp-OutputArea")
    output_area.locator("blockquote, p").first.wait_for(state="attached", timeout=60_000)
    trusted = "window.jupyterapp.shell.currentWidget.content.model.cells.get(2).trusted"
    assert page.evaluate(trusted) is False
    told = output_area.text_content() or ""
    for word in ("bot", "completed", "word119", "lookup"):
        assert word in told


def test_stop_works_for_a_started_run_and_for_an_awaited_one(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook([SETUP, "run = long.start('go')\nrun", "await long.arun('go', show=True)"])
    book.run(0)
    for cell in (1, 2):
        book.run(cell, wait=False)
        view = book.output(cell).locator(".rlnb-live")
        view.locator("p > .rlnb-on").wait_for()
        view.get_by_role("button", name="Stop").click()
        view.wait_for(state="detached", timeout=10_000)
        settled = book.output(cell)
        settled.get_by_text("interrupted").first.wait_for()
        assert "word000" in settled.inner_text()
    assert book.value("print(run.status)") == "interrupted"


def test_a_blocking_run_says_how_to_stop_and_leaves_no_widget(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    cells = [SETUP, "long.run('go', show=True)", "print('before')\nanswer = slow.run('go')\n"]
    book = notebook(cells)
    book.run(0)
    book.run(1, wait=False)
    view = book.output(1).locator(".rlnb-live")
    view.locator("p > .rlnb-on").wait_for()
    hint = view.get_by_text("stop with ■ in the toolbar")
    button = view.get_by_role("button", name="Stop")
    hint.or_(button).wait_for()
    # One look at both: the view may change from one to the other at any time.
    seen = view.evaluate(
        "v => [...v.querySelectorAll('.rlnb-bar .rlnb-bar > *')].map(e =>"
        " e.checkVisibility() && e.textContent).filter(Boolean)"
    )
    assert seen in (["stop with ■ in the toolbar"], ["■ Stop"])
    assert grows(view.locator("p > .rlnb-on"))
    book.interrupt()
    view.wait_for(state="detached", timeout=10_000)
    assert "interrupted" in book.output(1).inner_text()
    book.output(1).get_by_text("KeyboardInterrupt").first.wait_for()
    assert WIDGET not in json.dumps(book.saved_outputs(1))

    while book.value("print('ready')") != "ready":  # what comes right after an error is aborted
        page.wait_for_timeout(100)
    book.run(2, wait=False)
    book.output(2).get_by_text("interrupt the kernel to stop").wait_for()
    page.wait_for_function("() => !document.body.innerText.includes('interrupt the kernel')")
    assert book.output(2).inner_text().strip() == "before"
    line = book.output(2).locator(".jp-OutputArea-child").nth(1)
    assert line.evaluate("e => e.getBoundingClientRect().height") == 0
    printed, gone = book.saved_outputs(2)
    assert printed["text"] == ["before\n"]
    assert gone["data"] in ({"text/plain": ""}, {"text/plain": [""]}, {"text/plain": []})


def test_a_view_comes_back_when_the_page_is_loaded_again(
    notebook: Callable[..., Notebook], opened: Callable[[Path], Notebook]
) -> None:
    book = notebook([SETUP, "run = long.start('go')\nrun"])
    book.run(0)
    book.run(1)
    book.output(1).locator(".rlnb-live p > .rlnb-on").wait_for()
    book.save()
    book = opened(book.path)
    view = book.output(1).locator(".rlnb-live")
    text = view.locator("p > .rlnb-on")
    text.wait_for(timeout=60_000)
    assert text.inner_text().startswith("word000 word001")
    assert grows(text)
    view.get_by_role("button", name="Stop").click()
    book.output(1).get_by_text("interrupted").first.wait_for(timeout=15_000)


def test_a_key_on_a_button_of_the_view_is_none_of_jupyterlabs(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook([SETUP, "run = long.start('go')\nrun", "1 + 1"])
    book.run(0)
    book.run(1)
    view = book.output(1).locator(".rlnb-live")
    view.locator("p > .rlnb-on").wait_for()
    for place in (view.get_by_role("button", name="Stop"), view.locator(".rlnb-log")):
        place.focus()
        page.keyboard.press("x")  # in a notebook: cut this cell
        assert page.locator(".jp-Notebook .jp-Cell").count() == 3
    book.value("run.stop()")
