"""The chat box in a real JupyterLab: typed into, stopped, loaded again, ended, saved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

import robotlab_nb as rl
from robotlab_nb.widgets.assets import script, sheet
from robotlab_nb.widgets.chat_box import ChatBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from .conftest import Lab, Notebook

HERE = Path(__file__).resolve()
WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = """
import robotlab_nb as rl, json, time
def lookup(word: str) -> str:
    "Look a word up."
    return word.upper()
words = " ".join(f"word{n:03d}" for n in range(400))
cat = [
    {"reasoning": "let me see", "tools": [("lookup", {"word": "cat"})]},
    "**CAT** it is:\\n\\n- one\\n- two",
]
bot = rl.build("bot", model=rl.SimulatedModel(cat), tools=[lookup])
long = rl.build("long", model=rl.SimulatedModel([words, "short", "last"], pace=0.02))
"""


# -- alone on a page: as a front end shows it that does not know outputs --------------------------


class Alone:
    """The front end of a box, with a model that only a test talks to."""

    def __init__(self, page: Page, box: ChatBox) -> None:
        self.page, self.box = page, box
        page.set_content(
            f"<style>{sheet('live.css', 'asks.css', 'chat.css')}</style><div id=el></div>"
        )
        page.evaluate(
            "async ({source, snapshot}) => {"
            "const blob = new Blob([source], {type: 'text/javascript'});"
            "const module = await import(URL.createObjectURL(blob));"
            "window.sent = []; window.handlers = {};"
            "const model = {get: () => snapshot, send: content => sent.push(content),"
            "on: (name, call) => { (handlers[name] ??= []).push(call) }};"
            "const widget = module.default(); widget.initialize({model});"
            "widget.render({model, el: document.getElementById('el')}) }",
            {"source": script("chat.js"), "snapshot": box.snapshot()},
        )

    def look(self) -> None:
        self.page.evaluate("b => handlers['msg:custom'].forEach(call => call(b))", self.box.batch())

    def sent(self, what: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate("sent")
        return [each for each in found if what in each]


def test_what_nobody_hears_is_said_again_and_shown_as_not_heard(page: Page) -> None:
    bot = rl.build("bot", model=rl.SimulatedModel(lambda request: "*yes*"))
    alone = Alone(page, ChatBox(bot.chat(starters=["Hello?"], height=100)))
    assert [each["hello"] for each in alone.sent("hello")] != []
    page.get_by_role("button", name="Hello?").click()
    page.get_by_text("sending …").wait_for()
    page.get_by_text("the kernel is busy").wait_for(timeout=5000)
    page.wait_for_timeout(2500)
    said = alone.sent("say")
    assert 2 <= len(said) <= 3, "said again, more and more rarely"
    assert len({each["id"] for each in said}) == 1
    for each in said:
        alone.box.heard(each)
    alone.box.chat.runs[0].result()
    alone.look()
    assert page.get_by_text("the kernel is busy").count() == 0
    assert page.locator(".rlnb-log em").inner_text() == "yes"
    assert page.locator(".rlnb-log .rlnb-u").count() == 1
    said = alone.sent("say")
    page.wait_for_timeout(6500)
    assert alone.sent("say") == said, "what was heard is not said again"
    assert page.locator(".rlnb-log").evaluate("l => getComputedStyle(l).maxHeight") == "100px"


def test_words_that_a_reader_has_chosen_stay_chosen_when_the_answer_is_whole(page: Page) -> None:
    model = rl.SimulatedModel(["one **two** three " * 30], pace=0.02)
    alone = Alone(page, ChatBox(rl.build("bot", model=model, on_content=len).chat()))
    alone.box.chat.send("go")
    text = page.locator(".rlnb-on")
    while text.count() == 0 or len(text.inner_text()) < 30:
        page.wait_for_timeout(50)
        alone.look()
    text.evaluate("e => getSelection().setBaseAndExtent(e.firstChild, 0, e.firstChild, 9)")
    chosen = page.evaluate("String(getSelection())")
    alone.box.chat.runs[0].result()
    alone.look()
    assert page.evaluate("String(getSelection())") == chosen == "one **two"
    assert page.locator(".rlnb-a strong").count() == 0
    page.evaluate("getSelection().removeAllRanges()")
    page.locator(".rlnb-a strong").first.wait_for(timeout=3000)


# -- in JupyterLab -------------------------------------------------------------------------------


def box_of(book: Notebook, cell: int) -> Locator:
    box = book.output(cell).locator(".rlnb-chat")
    box.wait_for(timeout=15_000)
    return box


def field_of(box: Locator) -> Locator:
    return box.get_by_role("textbox")


def says(box: Locator, text: str) -> None:
    field = field_of(box)
    field.fill(text)
    field.press("Enter")


def answers(box: Locator) -> Locator:
    """What the robot has answered, formed."""
    return box.locator(".rlnb-log .rlnb-a:visible")


def end(box: Locator) -> None:
    box.get_by_role("button", name="End", exact=True).click()
    box.wait_for(state="detached")


def plain_text(output: dict[str, Any]) -> str:
    return re.sub(r"<[^>]+>", " ", "".join(output["data"]["text/html"]))


def test_a_chat_lets_the_next_cell_run_and_is_stored_as_a_picture_from_the_first_moment(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Any], lab: Lab
) -> None:
    starters = "['What is a cat?', 'And a dog?']"
    book = notebook(
        [SETUP, f"bot.chat(starters={starters})", "print('at once')", "bot.run('x').text"]
    )
    for cell in range(3):
        book.run(cell)
    assert book.output(2).inner_text().strip() == "at once"
    box = box_of(book, 1)
    screenshot("chat_empty", "light", book.output(1))
    (stored,) = book.saved_outputs(1)
    assert set(stored["data"]) == {"text/html", "text/plain"}
    assert "nothing was said yet" in plain_text(stored)
    assert not book.output(1).get_by_text("nothing was said yet").is_visible()

    box.get_by_role("button", name="What is a cat?").click()
    answers(box).wait_for()
    assert answers(box).locator("strong").inner_text() == "CAT"
    assert answers(box).locator("li").all_inner_texts() == ["one", "two"]
    assert "**" not in answers(box).inner_text()
    assert not box.get_by_role("button", name="What is a cat?").is_visible()
    call = box.locator("summary", has_text="lookup")
    call.click()
    assert box.locator("details[open] pre").last.inner_text() == "CAT"
    assert field_of(box).evaluate("e => e === document.activeElement") is False
    screenshot("chat_one", "light", book.output(1))

    # Stored after each turn, and nothing on the screen moves for it.
    page.wait_for_timeout(800)
    (stored,) = book.saved_outputs(1)
    assert WIDGET not in json.dumps(book.save())
    for word in ("What is a cat?", "lookup", "CAT", "one", "bot.chat()"):
        assert word in plain_text(stored)
    assert "CAT" in "".join(stored["data"]["text/plain"])
    assert box.locator("details[open]").count() == 1
    nbformat.validate(nbformat.read(book.path, 4))

    # A later run of the robot knows the chat, and shows in it.
    book.run(3)
    assert book.value("print(len(bot.messages))") == "8"
    box.get_by_text("said elsewhere").first.wait_for()
    end(box)
    (stored,) = book.saved_outputs(1)
    assert "rlnb-seat" not in json.dumps(book.save())
    assert "What is a cat?" in book.output(1).inner_text()
    screenshot("chat_ended", "light", book.output(1))


def test_it_streams_is_stopped_by_escape_and_goes_on_with_what_waits(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Any]
) -> None:
    book = notebook([SETUP, "chat = long.chat()\nchat"])
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    field = field_of(box)
    field.click()
    page.keyboard.type("first line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    assert field.input_value() == "first line\nsecond line"
    assert book.value("print(len(chat.runs))") == "0"
    page.keyboard.press("Enter")
    assert field.input_value() == ""
    text = box.locator(".rlnb-on")
    text.wait_for()
    before = len(text.inner_text())
    page.wait_for_timeout(700)
    assert len(text.inner_text()) > before
    assert box.get_by_text("first line\nsecond line").count() == 1
    page.keyboard.type("and then?")
    page.keyboard.press("Enter")
    box.get_by_text("waits for the answer above").wait_for()
    screenshot("chat_busy", "light", book.output(1))
    page.keyboard.press("Escape")
    box.get_by_text("stopped").first.wait_for()
    assert field.evaluate("e => e === document.activeElement")
    answers(box).filter(has_text="short").wait_for()
    assert box.get_by_text("waits for the answer above").count() == 0
    told = book.value("print([r.status for r in chat.runs], 'word000' in chat.messages[1].text)")
    assert told == "['interrupted', 'completed'] True"
    assert book.page.evaluate("document.querySelectorAll('.jp-Cell').length") == 2


def test_an_error_is_shown_and_the_chat_goes_on(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Any]
) -> None:
    cell = """
def answer(request):
    if "?" in request.messages[-1].text:
        return "back again"
    raise rl.ModelError("no such key", kind="auth")
bad = rl.build("bad", model=rl.SimulatedModel(answer))
chat = bad.chat()
chat"""
    book = notebook([SETUP, cell])
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    says(box, "hello")
    box.get_by_text("failed · no such key", exact=True).first.wait_for()
    assert box.get_by_role("status").inner_text() != ""
    says(box, "hello?")
    answers(box).filter(has_text="back again").wait_for()
    screenshot("chat_failed", "light", book.output(1))
    assert book.value("print(chat.result)") == "back again"
    end(box)
    settled = book.output(1).inner_text()
    assert "no such key" in settled
    assert "back again" in settled


def test_a_page_that_is_loaded_again_has_all_of_it_and_what_was_typed(
    notebook: Callable[..., Notebook], opened: Callable[[Path], Notebook]
) -> None:
    book = notebook([SETUP, "chat = long.chat()\nchat"])
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    says(box, "go")
    box.locator(".rlnb-on").wait_for()
    field_of(box).fill("not sent yet")
    book.save()
    book = opened(book.path)
    box = box_of(book, 1)
    text = box.locator(".rlnb-on")
    text.wait_for(timeout=60_000)
    assert text.inner_text().startswith("word000 word001")
    assert field_of(box).input_value() == "not sent yet"
    field_of(box).focus()
    book.page.keyboard.press("Escape")
    box.get_by_text("stopped").first.wait_for(timeout=15_000)
    book.page.keyboard.press("Enter")
    answers(box).filter(has_text="short").wait_for(timeout=15_000)
    end(box)
    for word in ("word000", "not sent yet", "short"):
        assert word in book.output(1).inner_text()
    assert "short" in plain_text(book.saved_outputs(1)[0])


def test_a_message_to_a_kernel_that_is_busy_says_so_and_is_sent_in_the_end(
    notebook: Callable[..., Notebook],
) -> None:
    book = notebook([SETUP, "chat = bot.chat()\nchat", "time.sleep(4)"])
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    book.run(2, wait=False)
    says(box, "What is a cat?")
    box.get_by_text("sending …").wait_for()
    heard = box.get_by_text("the kernel is busy").or_(answers(box))
    heard.first.wait_for()
    answers(box).wait_for(timeout=15_000)
    assert box.get_by_text("the kernel is busy").count() == 0
    assert book.value("print(len(chat.runs))") == "1"


def test_a_question_is_answered_in_the_line_and_an_approval_at_its_card(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Any]
) -> None:
    cell = """
def refund(order: str) -> str:
    "Pay back."
    return f"paid {order}"
steps = [("ask_user", {"question": "Which order?"}), ("refund", {"order": "A-1"}), "Done."]
model = rl.SimulatedModel(steps)
shop = rl.build("shop", model=model, tools=[rl.ask_user, refund], approve=["refund"])
chat = shop.chat()
chat"""
    book = notebook([SETUP, cell])
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    says(box, "Refund me")
    box.get_by_text("Which order?").first.wait_for()
    screenshot("chat_asks", "light", book.output(1))
    line = box.get_by_label("Message to shop")
    assert line.get_attribute("placeholder") == "Your answer to shop"
    line.fill("A-1")
    line.press("Enter")
    box.get_by_role("button", name="Approve").click(timeout=15_000)
    answers(box).filter(has_text="Done.").wait_for()
    told = book.value("print([c.result for c in chat.result.tool_calls])")
    assert told == "['A-1', 'paid A-1']"


def test_it_is_used_by_keyboard_alone(notebook: Callable[..., Notebook], page: Page) -> None:
    book = notebook([SETUP, "bot.chat(starters=['What is a cat?'])"])
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    box.get_by_role("button", name="What is a cat?").focus()
    page.keyboard.press("Enter")
    answers(box).wait_for()
    assert field_of(box).evaluate("e => e === document.activeElement"), "one may go on typing"
    page.keyboard.press("ArrowUp")
    assert field_of(box).input_value() == "What is a cat?"
    box.get_by_role("button", name="End", exact=True).focus()
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"
    page.keyboard.press("Enter")
    box.wait_for(state="detached")


def test_hostile_words_stay_words(notebook: Callable[..., Notebook], page: Page) -> None:
    corpus = str(HERE.parents[1] / "data" / "hostile.json")
    cell = f"""
corpus = [t for group in json.load(open({corpus!r})).values() for t in group]
evil = rl.build("<img src=x onerror=alert(1)>", model=rl.SimulatedModel([t or "-" for t in corpus]))
for text in corpus[:20]:
    evil.run(text if text.strip() else "-")
chat = evil.chat(starters=["<b>"], placeholder="<i>")
chat"""
    book = notebook([SETUP, cell])
    page.evaluate("() => { window.hurt = 0; window.alert = () => { window.hurt += 1 } }")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    for text in (
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
    ):
        says(box, text)
        page.wait_for_timeout(400)
    assert page.evaluate("hurt") == 0
    names = "b => [...new Set([...b.querySelectorAll('*')].flatMap(e => e.getAttributeNames()))]"
    assert not [name for name in box.evaluate(names) if name.startswith("on")]
    tags = box.evaluate("b => [...new Set([...b.querySelectorAll('*')].map(e => e.localName))]")
    assert not set(tags) & {"img", "script", "svg", "iframe", "style", "form", "link", "object"}
    links = box.evaluate("b => [...b.querySelectorAll('a')].map(e => e.href)")
    assert all(re.match("https?:|mailto:", link) for link in links)
    said = box.locator(".rlnb-log .rlnb-u").all_inner_texts()
    assert "<script>alert(1)</script>" in said[-3]
    assert "[x](javascript:alert(1))" in said[-1]
    end(box)
    assert page.evaluate("hurt") == 0
    assert not [
        url for url in requests if "127.0.0.1" not in url and not url.startswith(("blob:", "data:"))
    ]


def test_a_second_chat_goes_on_where_the_first_one_ended(notebook: Callable[..., Notebook]) -> None:
    book = notebook([SETUP, "bot.chat()", "bot.chat()"])
    book.run(0)
    book.run(1)
    first = box_of(book, 1)
    says(first, "What is a cat?")
    answers(first).wait_for()
    book.run(2)
    second = box_of(book, 2)
    first.wait_for(state="detached")
    assert "What is a cat?" in second.inner_text()
    assert answers(second).locator("strong").inner_text() == "CAT"
    assert "What is a cat?" in book.output(1).inner_text()
    assert WIDGET not in json.dumps(book.save())


def test_a_kernel_that_is_gone_leaves_the_transcript(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook([SETUP, "bot.chat()"])
    book.run(0)
    book.run(1)
    box = box_of(book, 1)
    says(box, "What is a cat?")
    answers(box).wait_for()
    page.wait_for_timeout(800)
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    box.wait_for(state="detached", timeout=20_000)
    book.output(1).get_by_text("CAT").first.wait_for()
    assert WIDGET not in json.dumps(book.save())
