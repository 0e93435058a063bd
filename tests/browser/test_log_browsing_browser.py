"""The log browser in a real JupyterLab: filtered, opened, compared, tagged, loaded again, saved."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from .conftest import Notebook

HERE = Path(__file__).resolve()
WIDGET = "application/vnd.jupyter.widget-view+json"
#: where the logs are: the notebook's own folder may be anywhere
HOME = """
import json, os, tempfile
home = tempfile.mkdtemp()
os.chdir(home)
import robotlab_nb as rl
rl.options.log = "runs.sqlite"
"""
SETUP = f"""{HOME}
def lookup(word: str) -> str:
    "Look a word up."
    return word.upper()
def answer(request):
    if "broken" in request.messages[-1].text:
        raise ValueError("this is no text")
    return "about " + request.messages[-1].text
poems = ["roses are red", "violets are blue"]
poet = rl.build("poet", model=rl.SimulatedModel(poems, name="small"))
clerk = rl.build("clerk", model=rl.SimulatedModel(answer, name="large"), tools=[lookup])
for n in range(30):
    poet.run(f"a poem, number {{n}}")
for asked in ("a refund", "broken bill", "thanks"):
    try:
        clerk.run(asked)
    except rl.RobotLabError:
        pass
rl.log.flush()
"""


HOLD = "import time; time.sleep(6)"


def browser_of(book: Notebook, cell: int) -> Locator:
    box = book.output(cell).locator(".rlnb-browser")
    box.wait_for(timeout=30_000)
    box.locator("tbody tr").first.wait_for()
    return box


def rows(box: Locator) -> Locator:
    return box.locator(".rlnb-runs tbody tr")


def words(output: dict[str, Any]) -> str:
    html = re.sub(r"<style>.*?</style>", "", "".join(output["data"]["text/html"]), flags=re.S)
    return unescape(re.sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ")


def stored(book: Notebook, cell: int, *expected: str) -> dict[str, Any]:
    """The one output of a cell as it is saved, once it has these words; never a widget."""
    for _ in range(100):
        found = book.save()
        assert WIDGET not in json.dumps(found)
        (output,) = found["cells"][cell]["outputs"]
        if all(word in words(output) for word in expected):
            return output
        book.page.wait_for_timeout(200)
    raise AssertionError((expected, words(output)))


def test_runs_are_filtered_opened_compared_tagged_and_the_saved_file_is_a_table(
    notebook: Callable[..., Notebook],
    opened: Callable[[Path], Notebook],
    page: Page,
    screenshot: Callable[..., Any],
) -> None:
    book = notebook([SETUP, "b = rl.log.browse(rows=20)\nb", "b.selection.frames.runs.shape"])
    book.run(0)
    book.run(1)
    box = browser_of(book, 1)
    assert rows(box).count() == 20
    box.get_by_text("1–20 of 33", exact=True).wait_for()
    screenshot("browse_open", "light", book.output(1))
    output = stored(book, 1, "33 runs", "clerk", "rl.log.frames.runs")
    assert set(output["data"]) == {"text/html", "text/plain"}
    assert "clerk" in "".join(output["data"]["text/plain"])
    assert not book.output(1).get_by_text("inside others").is_visible()

    # Pages, then conditions: typed, and picked among what there is.
    box.get_by_role("button", name="Next").click()
    box.get_by_text("21–33 of 33", exact=True).wait_for()
    assert rows(box).count() == 13
    box.get_by_label("only runs with this robot").select_option(label="clerk (3)")
    box.get_by_text("1–3 of 3", exact=True).wait_for()
    box.get_by_label("words in the question").fill("BROKEN")
    box.get_by_text("1–1 of 1", exact=True).wait_for()
    assert "✕ failed" in rows(box).inner_text().replace("\u00a0", " ")
    code = "rl.log.where(robot='clerk', input='*BROKEN*').frames.runs"
    assert box.locator(".rlnb-codes code").first.inner_text() == code
    book.run(2)
    assert "(1, " in book.output(2).inner_text()
    stored(book, 1, "clerk", "input='*BROKEN*'")

    # A run opens; tags are given to it, and taken away.
    rows(box).first.click()
    pane = box.locator(".rlnb-pane")
    pane.get_by_text("this is no text").first.wait_for()
    box.get_by_role("button", name="Clear all").click()
    box.get_by_text("1–20 of 33", exact=True).wait_for()
    rows(box).nth(1).get_by_role("checkbox").check()
    rows(box).nth(2).get_by_role("checkbox").check()
    tag = box.get_by_label("tag for the chosen runs")
    tag.fill("odd")
    tag.press("Enter")
    pane.get_by_role("button", name="take the tag odd away").wait_for()
    assert book.value("print(len(rl.log.where(tag='odd')))") == "2"
    box.get_by_role("button", name="Compare").click()
    pane.get_by_text("side by side").wait_for()
    assert "large" in pane.inner_text()
    screenshot("browse_compare", "dark", book.output(1))
    assert book.value("print(type(b.open).__name__)") == "Diff"

    # Loaded again: all that was chosen is still there, and goes on.
    box.get_by_label("only runs with this tag").select_option(label="odd (2)")
    box.get_by_text("1–2 of 2", exact=True).wait_for()
    stored(book, 1, "tag='odd'")
    book = opened(book.path)
    box = browser_of(book, 1)
    box.get_by_text("1–2 of 2", exact=True).wait_for(timeout=30_000)
    box.locator(".rlnb-pane").get_by_text("side by side").wait_for()
    box.get_by_role("button", name="tag odd: take this condition away").click()
    box.get_by_text("1–20 of 33", exact=True).wait_for()
    stored(book, 1, "1–20 of 33")
    nbformat.validate(nbformat.read(book.path, 4))

    # Closed: the table stays, and nothing can be pressed.
    box.get_by_role("button", name="Close").click()
    box.wait_for(state="detached")
    book.output(1).get_by_text("1–20 of 33").wait_for()
    assert book.output(1).get_by_role("button").count() == 0
    assert "rlnb-seat" not in json.dumps(stored(book, 1, "1–20 of 33"))


def test_new_runs_appear_by_themselves_and_a_run_is_replayed(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Any]
) -> None:
    book = notebook([SETUP, "rl.log.where(robot='clerk').browse()", "clerk.run('a late one').text"])
    book.run(0)
    book.run(1)
    box = browser_of(book, 1)
    assert rows(box).count() == 3
    book.run(2)
    rows(box).filter(has_text="a late one").wait_for(timeout=30_000)
    assert rows(box).count() == 4
    rows(box).filter(has_text="a refund").click()
    box.get_by_role("button", name="▸ Replay", exact=True).click()
    player = box.locator(".rlnb-replay")
    player.wait_for(timeout=30_000)
    player.get_by_role("button", name="Step ›").click()
    player.get_by_text("step 2 of").wait_for()
    screenshot("browse_replay", "light", book.output(1))
    box.get_by_role("button", name="The run").click()
    player.wait_for(state="detached")
    assert WIDGET not in json.dumps(book.save())


def test_a_cell_that_runs_again_has_one_browser_and_a_kernel_that_is_gone_leaves_the_table(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook([SETUP, "b = rl.log.browse()\nfirst = globals().get('first', b)\nb", HOLD])
    book.run(0)
    book.run(1)
    browser_of(book, 1)
    book.run(1)
    box = browser_of(book, 1)
    assert book.output(1).locator(".rlnb-browser").count() == 1
    told = "print(first is not b, first._box.widget is None, b._box.widget is not None)"
    for _ in range(50):
        if book.value(told) == "True True True":
            break
        page.wait_for_timeout(200)
    assert book.value(told) == "True True True"

    # While a cell runs, what is pressed is heard, or waits and says so: kernels differ in that.
    book.run(2, wait=False)
    box.get_by_label("words in the question").fill("refund")
    there = box.get_by_text("1–1 of 1", exact=True)
    box.get_by_text("the kernel is busy").or_(there).first.wait_for()
    there.wait_for(timeout=30_000)
    assert not box.get_by_text("the kernel is busy").is_visible()

    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    box.wait_for(state="detached", timeout=30_000)
    book.output(1).get_by_text("a refund").first.wait_for()
    assert WIDGET not in json.dumps(book.save())


def test_it_is_used_by_keyboard_alone(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Any]
) -> None:
    book = notebook([SETUP, "rl.log.browse(rows=20)"])
    book.run(0)
    book.run(1)
    box = browser_of(book, 1)
    rows(box).first.focus()
    for key in ("ArrowDown", "Space", "ArrowDown", "Space", "Enter"):
        page.keyboard.press(key)
    pane = box.locator(".rlnb-pane")
    pane.get_by_text("a refund").first.wait_for()
    at = "document.activeElement"
    assert page.evaluate(f"getComputedStyle({at}).outlineStyle") == "solid"
    assert page.evaluate(f"{at}.getAttribute('aria-selected')") == "true"
    assert page.evaluate(f"{at}.getAttribute('aria-current')") == "true"
    assert "is open below" in box.get_by_role("status").inner_text()
    page.keyboard.press("PageDown")
    box.get_by_text("21–33 of 33", exact=True).wait_for()
    assert page.evaluate(f"{at}.localName") == "tr"
    page.keyboard.press("PageUp")
    box.get_by_text("1–20 of 33", exact=True).wait_for()
    # Tab goes on to what is below; Escape in it leads back to the row.
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate(f"{at}.textContent") == "Compare":
            break
    page.keyboard.press("Enter")
    pane.get_by_text("side by side").wait_for()
    pane.locator(".rlnb-opened").focus()
    page.keyboard.press("Escape")
    pane.wait_for(state="hidden")
    assert page.evaluate(f"{at}.localName") == "tr"
    box.get_by_role("button", name="tokens").focus()
    page.keyboard.press("Enter")
    box.locator("th[aria-sort=descending]", has_text="tokens").wait_for()
    assert book.page.evaluate("document.querySelectorAll('.jp-Cell').length") == 2
    for width in (1280, 480):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            screenshot(f"browse_{width}", theme, book.output(1))


def test_logs_that_are_no_good_are_told_in_the_browser_and_the_cell_goes_well(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook(
        [
            f"{HOME}\nrl.options.log = None\nrl.log.browse()",
            "rl.options.log = 'new.sqlite'\nrl.log.browse()",
            "open('none.sqlite', 'w').write('no database ' * 99)\n"
            "rl.options.log = 'none.sqlite'\nrl.log.browse()",
            "rl.options.log = 'new.sqlite'\nrl.build('poet').run('a poem').text",
        ]
    )
    told = ("rl.options.log is None", "No runs yet", "none.sqlite")
    for number, words_ in enumerate(told):
        book.run(number)
        box = book.output(number).locator(".rlnb-browser")
        box.get_by_text(words_).last.wait_for(timeout=30_000)
        assert "Traceback" not in book.output(number).inner_text()
    book.run(3)
    rows(book.output(1)).filter(has_text="a poem").wait_for(timeout=30_000)
    saved = json.dumps(book.save())
    assert WIDGET not in saved
    assert '"output_type": "error"' not in saved


def test_a_strangers_log_is_words_and_loads_nothing(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    corpus = str(HERE.parents[1] / "data" / "hostile.json")
    cell = f"""{HOME}
corpus = [t for group in json.load(open({corpus!r})).values() for t in group]
for text in corpus[:60]:
    try:
        rl.build("<img src=x onerror=alert(1)>", model=rl.SimulatedModel([text or "-"]),
                 tags=["<b>x</b>"]).run(text or "-")
    except rl.RobotLabError:
        pass
rl.log.flush()"""
    book = notebook([cell, "rl.log.browse(rows=60)"])
    page.evaluate("() => { window.hurt = 0; window.alert = () => { window.hurt += 1 } }")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    book.run(0)
    book.run(1)
    box = browser_of(book, 1)
    for number in (0, 3, 9, 20, 30):
        rows(box).nth(number).click()
        title = rows(box).nth(number).locator("code").inner_text()
        box.locator(".rlnb-pane b", has_text=title).first.wait_for()
        tags = box.evaluate("b => [...new Set([...b.querySelectorAll('*')].map(e => e.localName))]")
        assert not set(tags) & {"script", "svg", "iframe", "style", "form", "link", "object"}
        names = "b => [...b.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
        assert not [name for name in box.evaluate(names) if name.startswith("on")]
        links = box.evaluate("b => [...b.querySelectorAll('a')].map(e => e.href)")
        assert all(re.match("https?:|mailto:", link) for link in links)
        images = box.evaluate("b => [...b.querySelectorAll('img')].map(e => e.src)")
        assert all(source.startswith("data:image/") for source in images)
    box.get_by_label("only runs with this robot").wait_for(state="attached")
    assert page.evaluate("hurt") == 0
    assert not [
        url for url in requests if "127.0.0.1" not in url and not url.startswith(("blob:", "data:"))
    ]


def test_html_that_nobody_of_us_wrote_is_taken_over_without_what_could_act(page: Page) -> None:
    from robotlab_nb.widgets.assets import script

    evil = (
        '<div class="rlnb-c other" onclick="hurt()" style="position:fixed"><p>words</p>'
        '<script>hurt()</script><img src="x" onerror="hurt()"><svg onload="hurt()"></svg>'
        '<a href="javascript:hurt()">a</a><a href="https://x.test/">b</a><iframe src="x"></iframe>'
        '<img src="data:image/svg+xml,<svg onload=hurt()>"><form><input></form></div>'
    )
    page.set_content("<div id=el></div>")
    page.evaluate("() => { window.hurts = 0; window.hurt = () => { window.hurts += 1 } }")
    page.evaluate(
        "async ([source, html]) => {"
        "const blob = new Blob([source], {type: 'text/javascript'});"
        "const {adopt} = await import(URL.createObjectURL(blob));"
        "document.getElementById('el').append(...adopt(html)) }",
        [script("adopt.js") + "\nexport { adopt };", evil],
    )
    page.wait_for_timeout(200)
    assert page.evaluate("hurts") == 0
    assert page.locator("#el").inner_html() == (
        '<div class="rlnb-c"><p>words</p><img><a rel="noopener noreferrer" target="_blank">a</a>'
        '<a href="https://x.test/" rel="noopener noreferrer" target="_blank">b</a><img></div>'
    )
