"""The grid of an experiment in a real browser: alone on a page, and in a real JupyterLab."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from robotlab_nb.lab.cell import Cell
from robotlab_nb.widgets.assets import script, sheet
from robotlab_nb.widgets.grid_view import GridView
from tests.display import experiment_samples as lab_samples
from tests.display.test_look import CONTRAST, THEMES
from tests.display.test_look import PAGE as HOST

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from robotlab_nb.lab.experiment import Experiment

    from .conftest import Lab, Notebook

CORPUS = json.loads((Path(__file__).parents[1] / "data" / "hostile.json").read_text("utf-8"))
WIDGET = "application/vnd.jupyter.widget-view+json"


# -- alone on a page: a stand-in for the widget's model --------------------------------------------


class Alone:
    """The front end of a grid, with a model that only a test talks to."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.view: GridView
        self.heard = 0

    def show(self, thing: Experiment, *, theme: str = "light") -> Locator:
        self.view = GridView(thing)
        css = sheet("live.css", "asks.css", "grid.css")
        host = HOST.replace("PICTURES", f"<style>{css}</style><div id=el></div>")
        scheme, *colours = THEMES[theme]
        host = host.replace("SCHEME", scheme)
        for name, colour in zip(("INK0", "INK1", "PAPER", "GREY"), colours, strict=True):
            host = host.replace(name, colour)
        self.page.set_content(host)
        self.page.evaluate(
            "async ({source, snapshot}) => {"
            "const blob = new Blob([source], {type: 'text/javascript'});"
            "const module = await import(URL.createObjectURL(blob));"
            "window.sent = []; window.handlers = {}; window.hurt = 0;"
            "window.alert = () => { window.hurt += 1 };"
            "const model = {get: () => snapshot, send: content => sent.push(content),"
            "on: (name, call) => { (handlers[name] ??= []).push(call) }};"
            "const widget = module.default(); widget.initialize({model});"
            "widget.render({model, el: document.getElementById('el')}) }",
            {"source": script("grid.js"), "snapshot": json.loads(json.dumps(self.view.snapshot()))},
        )
        self.heard = 0
        return self.page.locator(".rlnb-grid")

    def listen(self) -> list[dict[str, Any]]:
        """Have Python hear what was said since, and the page read what came of it."""
        said: list[dict[str, Any]] = self.page.evaluate("sent")
        new, self.heard = said[self.heard :], len(said)
        for content in new:
            self.view.heard(content)
        self.look()
        return new

    def look(self) -> None:
        batch = json.loads(json.dumps(self.view.batch()))
        if batch is not None:
            self.page.evaluate("b => handlers['msg:custom'].forEach(call => call(b))", batch)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self) -> str:
        found: str = self.page.evaluate("document.activeElement.dataset.cell ?? ''")
        return found


@pytest.fixture
def alone(page: Page) -> Alone:
    return Alone(page)


def cell(grid: Locator, index: int) -> Locator:
    return grid.locator(f"[data-cell='{index}']")


def words(node: Locator) -> str:
    return " ".join(node.inner_text().split())


def test_arrow_keys_go_from_cell_to_cell_and_tab_leads_to_the_last_one(alone: Alone) -> None:
    grid = alone.show(lab_samples.repeated())
    assert grid.locator("[data-cell][tabindex='0']").count() == 1
    cell(grid, 0).focus()
    visited = []
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft",
                "Home", "End", "Control+End", "Control+Home", "ArrowUp", "ArrowLeft"):  # fmt: skip
        alone.press(key)
        visited.append(alone.focused())
    assert visited == ["1", "3", "6", "7", "6", "4", "4", "6", "7", "0", "0", "0"]
    assert cell(grid, 0).get_attribute("aria-selected") == "true"
    outline = cell(grid, 0).evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline == "solid", "focus is seen"
    alone.press("ArrowRight", "Tab", "Shift+Tab")
    assert alone.focused() == "2"
    assert grid.get_by_role("gridcell").count() == 8
    assert grid.get_by_role("columnheader").count() == 3


def test_a_cell_opens_with_all_of_it_and_closes_where_the_reader_was(alone: Alone) -> None:
    grid = alone.show(lab_samples.an_experiment())
    cell(grid, 2).focus()
    alone.press("Enter")
    assert [each["look"] for each in alone.listen() if "look" in each] == [2]
    panel = grid.get_by_role("region", name="Cell v1 · double charge")
    assert panel.evaluate("e => e === document.activeElement")
    assert panel.locator("li").all_inner_texts() == ["It lapses by itself.", "Wait."]
    assert "polite failed: no apology" in panel.inner_text()
    panel.locator("summary", has_text="Prompt").click()
    assert panel.locator("[open] pre").inner_text() == lab_samples.PROMPTS["v1"]
    alone.press("ArrowRight")
    alone.listen()
    panel = grid.get_by_role("region", name="Cell v2 · double charge")
    assert "failed · RateLimitError · rate limit (429)" in words(panel)
    alone.press("Escape")
    assert alone.focused() == "3"
    assert not panel.is_visible()


def test_keys_rate_an_answer_and_say_so_before_it_is_heard(alone: Alone) -> None:
    thing = lab_samples.an_experiment()
    grid = alone.show(thing)
    cell(grid, 0).focus()
    alone.press("2")
    assert "★★☆☆☆ rated 2" in words(cell(grid, 0))
    assert grid.get_by_role("status").inner_text().startswith("v1 · late parcel: ★★☆☆☆")
    assert thing.cells[0].rating == 4
    alone.listen()
    assert thing.cells[0].rating == 2
    alone.press("0")
    alone.listen()
    assert thing.cells[0].rating is None
    assert "rated" not in words(cell(grid, 0))
    cell(grid, 3).focus()
    alone.press("5")
    assert not [each for each in alone.listen() if "rate" in each], "it has no answer"
    cell(grid, 0).focus()
    alone.press("n")
    alone.page.keyboard.type("too long, 1 of 3; d b f")
    alone.press("Enter")
    alone.listen()
    assert thing.cells[0].note == "too long, 1 of 3; d b f"
    assert alone.focused() == "0"
    assert "note: too long" in words(cell(grid, 0))
    grid.get_by_role("button", name="rate 3 of 5").click()
    alone.listen()
    assert thing.cells[0].rating == 3


def test_a_rating_that_is_not_heard_is_said_again_and_says_so(alone: Alone) -> None:
    thing = lab_samples.an_experiment()
    grid = alone.show(thing)
    cell(grid, 0).focus()
    alone.press("1")
    late = grid.get_by_text("it hears this when the running cell ends")
    late.wait_for(timeout=5000)
    assert "not heard yet" in words(cell(grid, 0))
    alone.page.wait_for_function("sent.filter(each => 'rate' in each).length > 1")
    alone.listen()
    assert thing.cells[0].rating == 1
    assert not late.is_visible()
    assert "not heard" not in words(cell(grid, 0))


def test_blind_hides_what_tells_columns_apart_and_ratings_stay_right(alone: Alone) -> None:
    thing = lab_samples.an_experiment()
    grid = alone.show(thing)
    cell(grid, 1).focus()
    alone.press("b")
    told = words(grid.locator(".rlnb-pane"))
    for word in ("v1", "v2", "gpt-5", "$", "1.2 s", "from earlier", "RateLimitError"):
        assert word not in told, word
    assert "gpt-5" not in words(grid)
    heads = grid.get_by_role("columnheader").all_inner_texts()
    assert [" ".join(head.split()) for head in heads] == ["input", "A", "B"]
    order = grid.locator(".rlnb-row").nth(1).locator("[data-cell]")
    assert [each.get_attribute("data-cell") for each in order.all()] == ["1", "0"]
    assert alone.focused() == "1"
    alone.press("3", "ArrowRight")
    assert alone.focused() == "0"
    alone.press("1", "Enter")
    alone.listen()
    assert [thing.cells[n].rating for n in (0, 1)] == [1, 3]
    panel = grid.get_by_role("region", name="Cell B · late parcel")
    assert "v1" not in words(panel)
    assert "gpt-5" not in words(panel)
    assert not panel.locator("summary", has_text="Prompt").is_visible()
    alone.press("b")
    assert grid.get_by_role("region", name="Cell v1 · late parcel").is_visible()
    blind = alone.show(thing)
    alone.page.keyboard.press("Tab")
    blind.get_by_role("button", name="Blind").click()
    order = blind.locator(".rlnb-row").nth(1).locator("[data-cell]")
    assert [each.get_attribute("data-cell") for each in order.all()] == ["1", "0"], "the same"


def test_differences_are_shown_by_word_against_a_chosen_column(alone: Alone) -> None:
    grid = alone.show(lab_samples.an_experiment())
    cell(grid, 0).focus()
    alone.press("d")
    changed = cell(grid, 1)
    added, gone = (
        [" ".join(each.split()) for each in changed.locator(tag).all_inner_texts()]
        for tag in ("ins", "del")
    )
    assert added == ["sorry:", "me", "number, and I will check today."]
    assert gone == ["sorry that your parcel is late. Please", "tracking number."]
    assert cell(grid, 0).locator("ins,del").count() == 0
    assert "baseline" in words(grid.get_by_role("columnheader").nth(1))
    style = changed.locator("del").first.evaluate("e => getComputedStyle(e).textDecorationLine")
    assert style == "line-through", "not by colour alone"
    alone.press("ArrowRight", "d")
    assert cell(grid, 1).locator("ins,del").count() == 0
    assert cell(grid, 0).locator("del").count() > 0
    alone.press("d")
    assert grid.locator("ins,del").count() == 0
    assert grid.get_by_role("button", name="Difference").get_attribute("aria-pressed") == "false"


def test_only_rows_with_failures_are_shown_when_that_is_asked_for(alone: Alone) -> None:
    grid = alone.show(lab_samples.large(200, failing=50))
    cell(grid, 0).focus()
    alone.press("f")
    assert grid.locator(".rlnb-row:visible").count() == 1 + 4
    assert "4 of 50 inputs have failures" in words(grid)
    assert alone.focused() == "48", "the keyboard is where something is seen"
    alone.press("ArrowDown")
    assert alone.focused() == "96"
    grid.get_by_role("button", name="Failures only").click()
    assert grid.locator(".rlnb-row").nth(1).is_visible()


def test_what_a_reader_has_opened_chosen_and_scrolled_to_stays_while_cells_arrive(
    alone: Alone,
) -> None:
    thing = lab_samples.large(200)
    state = thing._state
    whole = list(state.cells)
    state.status = "running"
    state.cells[50:] = [Cell(c.index, c.key, c.prompt, c.model, c.input)
                        for c in whole[50:]]  # fmt: skip
    grid = alone.show(thing)
    cell(grid, 9).focus()
    alone.press("Enter")
    alone.listen()
    pane = grid.locator(".rlnb-pane")
    pane.evaluate("e => { e.scrollTop = 321 }")
    text = cell(grid, 0).locator(".rlnb-t").first
    text.evaluate("e => getSelection().setBaseAndExtent(e.firstChild, 0, e.firstChild, 9)")
    grid.get_by_label("Note").fill("half a no")
    before = alone.page.evaluate("String(getSelection())") or "in the field"
    for number in range(50, 200):
        state.cells[number] = whole[number]
        state.version += 1
        if number % 10 == 9:
            alone.look()
    assert "200 of 200 cells" in words(grid)
    assert "199 It rains" in (cell(grid, 199).text_content() or "")
    assert pane.evaluate("e => e.scrollTop") == 321
    assert grid.get_by_label("Note").input_value() == "half a no"
    assert (alone.page.evaluate("String(getSelection())") or "in the field") == before
    assert grid.get_by_role("region", name="Cell v1 · input 2").is_visible()


def test_hostile_text_makes_no_element(alone: Alone) -> None:
    for group in CORPUS.values():
        for text in group:
            if not isinstance(text, str) or not text.strip() or len(text) > 5_000:
                continue
            grid = alone.show(lab_samples.an_experiment(text))
            cell(grid, 0).focus()
            alone.press("Enter")
            alone.listen()
            alone.press("d")
            assert grid.locator("img,script,iframe,svg,object,style,form").count() == 0, text
            assert alone.page.evaluate("hurt") == 0, text


@pytest.mark.parametrize("theme", THEMES)
def test_all_of_it_has_contrast_enough_and_fits_a_narrow_page(alone: Alone, theme: str) -> None:
    for width in (1180, 480):
        alone.page.set_viewport_size({"width": width, "height": 900})
        for thing in (lab_samples.an_experiment(), lab_samples.running(), lab_samples.repeated()):
            grid = alone.show(thing, theme=theme)
            cell(grid, 0).focus()
            alone.press("d", "Enter")
            alone.listen()
            least = alone.page.evaluate(CONTRAST)
            assert min(found[0] for found in least) >= 4.5, least[:3]
            wide = alone.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, "what is wider scrolls in its own pane"


# -- in JupyterLab -------------------------------------------------------------------------------

SETUP = """
import robotlab_nb as rl, json, time
rl.options.log = "log.sqlite"
words = "It rains in the morning, and in the afternoon the sun comes out again. "
def answer(request):
    text = request.messages[-1].text
    if "no 3" in text:
        raise rl.ModelError("too much was asked", kind="context_length")
    return f"{text}: {words}"
model = rl.SimulatedModel(answer, pace=PACE)
prompts = {"long": "Answer {{ input }}", "short": "Answer in a word {{ input }}"}
def compare(inputs, **more):
    return rl.compare(prompts, model, inputs, evaluators=[rl.contains("word")], **more)
"""


def grid_of(book: Notebook, number: int) -> Locator:
    grid = book.output(number).locator(".rlnb-grid")
    grid.wait_for(timeout=30_000)
    return grid


def settled(grid: Locator, word: str = "completed") -> None:
    grid.locator(".rlnb-bar").first.get_by_text(word, exact=False).first.wait_for(timeout=60_000)


def until(page: Page, check: Callable[[], bool]) -> None:
    """Wait for what a slow machine does later."""
    for _ in range(150):
        if check():
            return
        page.wait_for_timeout(200)
    assert check()


def plain(output: dict[str, Any]) -> str:
    found = re.sub(r"<style>.*?</style>|<[^>]+>", " ", "".join(output["data"]["text/html"]))
    return " ".join(found.replace("&nbsp;", " ").split())


def test_it_fills_while_its_cell_runs_and_a_keyboard_rating_arrives_in_the_frame(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Any]
) -> None:
    cells = ["exp = compare([f'no {n}' for n in range(8)], concurrency=3)\nexp", "exp.frame.shape"]
    book = notebook([SETUP.replace("PACE", "0.04"), *cells])
    book.run(0)
    book.run(1, wait=False)
    grid = grid_of(book, 1)
    grid.locator(".rlnb-k .rlnb-on").first.wait_for(timeout=30_000)
    assert "experiment · 2 prompts × 8 inputs" in words(grid)
    assert grid.get_by_role("progressbar").is_visible()
    screenshot("grid_running", "light")
    settled(grid)
    assert not grid.get_by_role("progressbar").is_visible()
    assert "simulated" in words(grid)
    assert "16 of 16 cells" in words(grid)
    assert "shown above" in book.output(1).inner_text()
    cell(grid, 0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("4")
    page.keyboard.press("n")
    page.keyboard.type("one word 0 0 d d")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("2")
    told = "print(exp.frame[['rating', 'note']].dropna(how='all').values.tolist())"
    until(page, lambda: book.value(told) == "[[4, 'one word 0 0 d d'], [2, <NA>]]")
    assert book.page.evaluate("document.querySelectorAll('.jp-Cell').length") == 3
    until(page, lambda: "rated 2 of 5" in plain(book.saved_outputs(1)[0]))
    stored, repeated = book.saved_outputs(1)
    assert WIDGET not in json.dumps(book.save())
    assert "rated 4 of 5 · note: one word 0 0 d d" in plain(stored)
    assert "too much was asked" in plain(stored)
    assert "".join(repeated["data"]["text/plain"]).endswith("shown above")
    nbformat.validate(nbformat.read(book.path, 4))
    for theme in ("light", "dark"):
        screenshot("grid_done", theme)
    # In a kernel of its own the answers, and what was said of them, are there again.
    page.evaluate(
        "async () => {const {kernel} = jupyterapp.shell.currentWidget.sessionContext.session;"
        "await kernel.restart(); await kernel.info}"
    )
    grid.wait_for(state="detached")
    assert "rated 4 of 5" in words(book.output(1)), "without a kernel the picture is there"
    book.run(0)
    book.run(1)
    again = grid_of(book, 1)
    until(page, lambda: "14 from earlier" in words(again))
    assert "★★★★☆ rated\u00a04" in (cell(again, 1).text_content() or "")


def test_stop_ends_it_and_only_what_is_missing_is_asked_again(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    cell_ = "exp = compare([f'input {n}' for n in range(30)], concurrency=2)\nexp.status"
    book = notebook([SETUP.replace("PACE", "0.03"), cell_, "1 + 1"])
    book.run(0)
    book.run(1, wait=False)
    grid = grid_of(book, 1)
    grid.locator(".rlnb-k:not([aria-busy=true]) .rlnb-score").nth(3).wait_for(timeout=60_000)
    button = grid.get_by_role("button", name="Stop")
    if button.is_visible():
        button.click()
    else:  # a kernel that hears no click while a cell runs
        book.interrupt()
    settled(grid, "interrupted")
    assert "not asked" in words(grid)
    book.run(2)
    assert "2" in words(book.output(2))
    done = int(book.value("print(sum(c.status == 'completed' for c in exp.cells))"))
    assert 3 < done < 60
    assert WIDGET not in json.dumps(book.save())
    until(page, lambda: "run the cell again" in plain(book.saved_outputs(1)[0]))
    book.value("model = rl.SimulatedModel(lambda request: words + request.messages[-1].text)")
    book.run(1)
    settled(grid_of(book, 1))
    told = book.value("print(exp.estimate.cached, sum(c.cached for c in exp.cells))")
    assert len(set(told.split())) == 1


def test_a_page_that_is_loaded_again_has_the_grid_and_what_was_chosen_in_it(
    notebook: Callable[..., Notebook], opened: Callable[[Path], Notebook], lab: Lab
) -> None:
    cell_ = (
        "exp = await rl.acompare(prompts, model, [f'input {n}' for n in range(12)], concurrency=2)"
    )
    book = notebook([SETUP.replace("PACE", "0.05"), cell_, "exp"])
    book.run(0)
    book.run(1, wait=False)
    grid = grid_of(book, 1)
    cell(grid, 1).focus()
    book.page.keyboard.press("b")
    book.page.keyboard.press("Enter")
    grid.get_by_role("region").wait_for()
    book.save()
    book = opened(book.path)
    grid = grid_of(book, 1)
    assert grid.get_by_role("button", name="Blind").get_attribute("aria-pressed") == "true"
    assert "long" not in words(grid.locator(".rlnb-pane"))
    assert grid.get_by_role("region").is_visible()
    settled(grid)
    cell(grid, 1).focus()
    book.page.keyboard.press("5")
    until(book.page, lambda: book.value("print(exp.cells[1].rating)") == "5")
    # The page stores it itself: it takes no updates any more.
    until(book.page, lambda: "rated 5 of 5" in plain(book.saved_outputs(1)[0]))
    book.run(2)
    moved = grid_of(book, 2)
    # What is far away on the page is there, though not drawn.
    assert "★★★★★ rated\u00a05" in (cell(moved, 1).text_content() or "")
    grid.wait_for(state="detached")
    until(book.page, lambda: "rated 5 of 5" in words(book.output(1)))  # its picture stands there
    assert WIDGET not in json.dumps(book.save())


def test_what_a_cell_asks_is_answered_at_its_card_in_the_grid(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Any]
) -> None:
    ask = """
@rl.tool(approval=True)
def delete(path: str) -> str:
    "Delete a file."
    return "gone"
model = rl.SimulatedModel(lambda request: "done" if len(request.messages) > 1 else
                          ("delete", {"path": "a.txt"}))
bot = rl.build("cleaner", model=model, tools=[delete])
exp = await rl.acompare([bot], None, ["tidy up"], fresh=True)
"""
    book = notebook([SETUP.replace("PACE", "0"), ask])
    book.run(0)
    book.run(1, wait=False)
    grid = grid_of(book, 1)
    button = grid.get_by_role("button", name="Approve")
    button.wait_for(timeout=20_000)
    screenshot("grid_asks", "light", book.output(1))
    button.click()
    settled(grid)
    assert book.value("print(exp.cells[0].text)") == "done"
