"""Question and approval cards in a real JupyterLab: who is asked where, by a click or otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .test_live_browser import WIDGET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from .conftest import Notebook

SETUP = """
import asyncio, time
import robotlab_nb as rl
from robotlab_nb.tools.user_question import ask_user
paid = []
@rl.tool(approval=True)
def pay(order: str, amount: float = 1.0) -> str:
    "Pay money back."
    paid.append((order, amount))
    return f"{amount} paid"
refund = ("pay", {"order": "A-1009", "amount": 19.9})
size = ("ask_user", {"question": "Which size?", "choices": ["small", "large"], "default": "large"})
name = ("ask_user", {"question": "What is your name?"})
def shop(*steps, **options):
    return rl.build("shop", model=rl.SimulatedModel([*steps, "all done"]), tools=[ask_user, pay],
                    **options)
"""
CARD = ".rlnb-ask"
#: Has the page say everything to the thread that runs the cells, as front ends without subshells.
DEAF = (
    "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    ".commsOverSubshells = 'disabled'"
)


def card_of(book: Notebook, cell: int) -> Locator:
    card = book.output(cell).locator(CARD)
    card.get_by_role("button").first.wait_for(timeout=20_000)
    return card


def settled(book: Notebook, cell: int) -> str:
    """What stands in a cell's output once no widget does; the saved file has none either."""
    output = book.output(cell)
    output.locator(".rlnb-live").wait_for(state="detached", timeout=20_000)
    saved = book.saved_outputs(cell)
    assert WIDGET not in json.dumps(saved)
    return str(output.inner_text()).replace("\u00a0", " ")


def status(book: Notebook) -> str:
    return book.value("print(run.status)")


def test_a_click_approves_while_a_started_run_goes_on(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Path | None], page: Page
) -> None:
    book = notebook([SETUP, "run = shop(refund).start('charged twice')\nrun", "1 + 1"])
    book.run(0)
    book.run(1)
    card = card_of(book, 1)
    book.run(2)  # the kernel is free
    assert "shop asks to use a tool" in card.inner_text()
    assert 'order  = "A-1009"' in card.locator("pre").inner_text()
    weights = card.get_by_role("button").evaluate_all(
        "all => all.map(b => {const s = getComputedStyle(b);"
        "return [s.backgroundColor, s.borderColor, s.color, s.fontWeight, s.fontSize].join()})"
    )
    assert len(weights) == 3
    assert len(set(weights)) == 1
    for theme in ("light", "dark"):
        screenshot("card_approval", theme)
    card.get_by_role("button", name="Approve").click()
    told = settled(book, 1)
    assert "all done" in told
    assert book.value("print(run.status, paid, run.state.walk().__next__().status)").startswith(
        "completed [('A-1009', 19.9)]"
    )
    (asked,) = json.loads(book.value(
        "import json; print(json.dumps([[a.status, a.by] for a in run.state.asked.values()]))"
    ))  # fmt: skip
    assert asked == ["approved", "widget"]


def test_a_run_that_is_not_shown_has_a_card_of_its_own_which_freezes(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Path | None]
) -> None:
    book = notebook([SETUP, "run = shop([refund, size, name]).start('x')", "'another cell'"])
    book.run(0)
    book.run(1)
    book.output(1).locator(CARD).nth(2).get_by_role("button").first.wait_for(timeout=20_000)
    book.run(2)
    cards = book.output(1).locator(CARD)
    assert cards.count() == 3
    for theme in ("light", "dark"):
        screenshot("card_alone", theme)
    first, second, third = (cards.nth(n) for n in range(3))
    first.get_by_label("why not").fill("too much")
    third.get_by_role("textbox").fill("Ada")
    third.get_by_role("textbox").press("Enter")
    book.output(1).locator(".rlnb-over").wait_for()
    second.get_by_role("button", name="large (default)").click()
    first.get_by_role("button", name="Deny").click()
    told = settled(book, 1)
    lines = [line for line in told.splitlines() if line.strip()]
    assert len(lines) == 3
    assert "✕ denied · shop · pay(" in told
    assert "“too much” · by a person at the widget · at" in told
    assert "✓ answered · shop asked “What is your name?” · “Ada”" in told
    assert "✓ answered · shop asked “Which size?” · “large”" in told
    assert book.value("print(run.result(), paid)") == "all done []"
    for theme in ("light", "dark"):
        screenshot("card_frozen", theme)


def test_an_awaiting_cell_goes_on_when_its_card_is_answered(
    notebook: Callable[..., Notebook],
) -> None:
    cells = [SETUP, "result = await shop(size).arun('x')\nprint('then', result)"]
    cells.append("result = await shop(refund).arun('x', show=True)\nprint('then', result)")
    book = notebook(cells)
    book.run(0)
    book.run(1, wait=False)
    card_of(book, 1).get_by_role("button", name="small").click()
    book.output(1).get_by_text("then all done").wait_for(timeout=10_000)
    assert "✓ answered · shop asked “Which size?” · “small”" in settled(book, 1)
    assert book.value("print(result.tool_calls[0].result)") == "small"
    book.run(2, wait=False)
    card_of(book, 2).get_by_role("button", name="Deny").click()
    book.output(2).get_by_text("then all done").wait_for(timeout=10_000)
    settled(book, 2)
    assert book.value("print(result.tool_calls[0].content, paid)") == (
        "Error (pay): denied by a person []"
    )


def test_edited_arguments_are_checked_and_what_was_typed_stays(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Path | None]
) -> None:
    book = notebook([SETUP, "run = shop(refund).start('x')\nrun"])
    book.run(0)
    book.run(1)
    card = card_of(book, 1)
    card.get_by_role("button", name="Edit").click()
    field = card.get_by_label("arguments, as JSON")
    assert json.loads(field.input_value()) == {"order": "A-1009", "amount": 19.9}
    edited = card.get_by_role("button", name="Approve as edited")
    for wrong, told in (
        ('{"order": "A-1009", "amount": }', "this is no JSON: Expecting value, line 1, column 31"),
        ('["A-1009"]', "arguments are a JSON object"),
        ('{"order": "A-1009", "amount": "lots"}', "these arguments do not fit 'pay'"),
    ):
        field.fill(wrong)
        edited.click()
        card.get_by_text(told).wait_for(timeout=5000)
        assert field.input_value() == wrong
    for theme in ("light", "dark"):
        screenshot("card_edit", theme)
    assert book.value("print(run.status, paid)") == "waiting []"
    field.press("Escape")
    assert not field.is_visible()
    assert card.locator("pre").is_visible()
    card.get_by_role("button", name="Edit").press("Enter")
    field.fill('{"order": "B-1", "amount": 2}')
    field.press("Control+Enter")
    told = settled(book, 1)
    assert "all done" in told
    assert book.value("print(paid)") == "[('B-1', 2.0)]"


def test_the_time_runs_down_on_the_card_and_then_it_is_denied(
    notebook: Callable[..., Notebook],
) -> None:
    book = notebook([SETUP, "run = shop(refund, config={'ask_timeout': 5}).start('x')\nrun"])
    book.run(0)
    book.run(1)
    card = card_of(book, 1)
    left = card.get_by_role("timer")
    first = left.inner_text()
    assert first.endswith(" left, then denied")
    seconds = int(first.split()[0])
    assert 1 <= seconds <= 5
    left.get_by_text(f"{seconds - 1}\u00a0s left").wait_for(timeout=2000)
    assert "all done" in settled(book, 1)
    assert book.value(
        "(a,) = run.state.asked.values(); print(a.status, a.by, round(a.waited_s), paid)"
    ) == "denied timeout 5 []"  # fmt: skip


def test_a_blocking_cell_asks_at_its_prompt_at_once(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Path | None]
) -> None:
    cells = [SETUP, "result = shop(size).run('x')\nprint(result.tool_calls[0].result)"]
    cells.append("result = shop(refund).run('x', show=True)")
    cells.append("for _ in (stream := shop(size).stream('x')): pass\nprint(stream.result())")
    book = notebook(cells)
    book.run(0)
    book.run(1, wait=False)
    # By cell: JupyterLab may keep the line of an earlier one for a moment.
    prompt = book.output(1).locator(".jp-Stdin-input")
    prompt.wait_for(timeout=1400)  # before a card could have been given up
    assert page.locator(CARD).count() == 0
    prompt.fill("1")
    prompt.press("Enter")
    book.output(1).get_by_text("→ small").wait_for()

    page.evaluate(DEAF)
    book.run(2, wait=False)
    prompt = book.output(2).locator(".jp-Stdin-input")
    prompt.wait_for()
    card = book.output(2).locator(CARD)
    card.get_by_text("asked at the prompt of the cell that waits for it").wait_for()
    assert card.get_by_role("button").count() == 0
    screenshot("card_prompt")
    prompt.fill("no, too much")
    prompt.press("Enter")
    settled(book, 2)
    assert book.value("print(result.tool_calls[0].content)").endswith("by a person: too much")

    book.run(3, wait=False)
    prompt = book.output(3).locator(".jp-Stdin-input")
    prompt.wait_for(timeout=3000)
    prompt.fill("large")
    prompt.press("Enter")
    book.output(3).get_by_text("all done").wait_for()
    assert page.locator(CARD).count() == 0


def test_a_waiting_run_is_answered_by_a_click_after_its_cell_has_ended(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    """No prompt can be used in these cells, so they end with a result that waits."""
    cells = [
        SETUP,
        "await asyncio.sleep(0)\nresult = shop(refund).run('x')\nresult",
        "await asyncio.sleep(0)\nresult = shop(refund).run('x', show=True)",
    ]
    book = notebook(cells)
    book.run(0)
    for cell in (1, 2):
        book.run(cell)
        assert book.value("print(result.status)") == "waiting"
        card_of(book, cell).get_by_role("button", name="Approve").click()
        page.locator(CARD).wait_for(state="detached", timeout=10_000)
        settled(book, cell)
        assert book.value("print(len(paid))") == str(cell)
    assert "approved" in book.output(1).inner_text()
    assert "all done" in book.output(2).inner_text()


def test_a_question_can_be_answered_after_the_page_was_loaded_again(
    notebook: Callable[..., Notebook], opened: Callable[[Path], Notebook]
) -> None:
    cells = [SETUP, "run = shop(size).start('x')\nrun", "alone = shop(refund).start('y')"]
    book = notebook(cells)
    book.run(0)
    book.run(1)
    card_of(book, 1)
    book.run(2)
    card_of(book, 2)
    book.save()
    book = opened(book.path)
    card = card_of(book, 1)
    assert card.count() == 1
    card.get_by_role("button", name="small").click()
    book.output(1).get_by_text("completed").first.wait_for(timeout=15_000)
    card_of(book, 2).get_by_role("button", name="Deny").click()
    book.output(2).locator(".rlnb-over").wait_for(timeout=15_000)
    assert book.value("print(run.result().tool_calls[0].result, alone.result(), paid)") == (
        "small all done []"
    )


def test_a_card_is_answered_by_the_keyboard_alone(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook([SETUP, "run = shop([refund, name]).start('x')\nrun", "print('mine')"])
    book.run(0)
    book.run(1)
    card = card_of(book, 1).first
    book.output(1).locator(CARD).nth(1).get_by_role("button").wait_for()
    page.evaluate("document.activeElement.blur()")
    card.locator("pre").focus()
    words = "(e => [e.localName, e.innerText || e.ariaLabel].join(' '))(document.activeElement)"
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(words))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached == [
        "button Approve", "button Deny", "button Edit", "input why not", "textarea your answer",
        "button Send",
    ]  # fmt: skip
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("Ada dd j")  # letters that are JupyterLab's own commands elsewhere
    page.keyboard.press("Enter")
    book.output(1).locator(".rlnb-over").wait_for()
    assert page.locator(".jp-Notebook .jp-Cell").count() == 3
    for name in ("Approve", "Deny", "Edit"):
        card.get_by_role("button", name=name).focus()
        page.keyboard.press("x")  # cuts a cell elsewhere
        page.keyboard.press("b")  # and this makes one
    assert page.locator(".jp-Notebook .jp-Cell").count() == 3
    page.keyboard.press("Enter")
    assert page.evaluate(words).startswith("textarea")
    page.keyboard.press("Escape")
    assert page.evaluate(words) == "button Edit"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(words) == "button Deny"
    page.keyboard.press("Enter")
    assert "all done" in settled(book, 1)
    assert (
        book.value("print([a.answer for a in run.state.asked.values()])") == "[False, 'Ada dd j']"
    )


def test_a_click_that_comes_too_late_or_while_a_cell_holds_the_kernel_says_so(
    notebook: Callable[..., Notebook],
) -> None:
    cells = [SETUP, "run = shop(refund).start('x')", "time.sleep(4)"]
    cells.append("time.sleep(3)\nrun.answer(False)")
    book = notebook(cells)
    book.run(0)
    book.page.evaluate(DEAF)
    book.run(1)
    card = card_of(book, 1)
    book.run(2, wait=False)
    card.get_by_role("button", name="Edit").click()
    card.get_by_label("arguments, as JSON").fill("nonsense")
    card.get_by_role("button", name="Approve as edited").click()
    card.get_by_text("sent, not heard yet: a cell holds the kernel").wait_for()
    card.get_by_text("this is no JSON").wait_for(timeout=10_000)
    card.get_by_role("button", name="Leave edit").click()
    book.run(3, wait=False)
    card.get_by_role("button", name="Approve").click()
    told = settled(book, 1)
    assert "✕ denied · shop" in told
    assert "by run.answer()" in told
    assert book.value("print(run.result(), paid)") == "all done []"


def test_questions_of_runs_inside_stand_in_the_view_of_the_whole(
    notebook: Callable[..., Notebook],
) -> None:
    net = (
        "net = rl.create_network('desk')\n"
        "net.task('refund', shop(refund))\n"
        "net.task('check', rl.Human('editor', choices=['send', 'drop']))\n"
    )
    book = notebook([SETUP, f"{net}run = net.start('x')\nrun", "run2 = net.start('y')"])
    book.run(0)
    for cell in (1, 2):
        book.run(cell)
        cards = book.output(cell).locator(CARD)
        cards.nth(1).get_by_role("button").first.wait_for(timeout=20_000)
        cards.filter(has_text="editor").get_by_role("button", name="send").click()
        cards.filter(has_text="pay").get_by_role("button", name="Approve").click()
        assert ("all done" if cell == 1 else "approved · shop") in settled(book, cell)
    assert book.value("print(run.status, run2.result()['check'].text, len(paid))") == (
        "completed send 2"
    )


def test_a_live_view_that_is_heard_while_its_cell_blocks_has_the_card(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    slow = (
        "rl.build('slow', model=rl.SimulatedModel([size, 'all done'], delay=1), tools=[ask_user])"
    )
    book = notebook([SETUP, f"slow = {slow}\nresult = slow.run('x', show=True)\nprint('then')"])
    book.run(0)
    book.run(1, wait=False)
    card_of(book, 1).get_by_role("button", name="small").click()
    book.output(1).get_by_text("then", exact=True).wait_for(timeout=10_000)
    assert page.locator(".jp-Stdin-input").count() == 0
    assert book.value("print(result.tool_calls[0].result)") == "small"
    settled(book, 1)


def test_cards_fit_a_narrow_page(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Path | None]
) -> None:
    long = ("pay", {"order": "A-1009 " * 60 + "x" * 300, "amount": 3})
    many = (
        "ask_user",
        {
            "question": "Which city of these? " * 8,
            "choices": [f"choice number {n} with some words" for n in range(30)],
        },
    )
    book = notebook([SETUP, f"run = shop([{long!r}, {many!r}, name]).start('x')\nrun"])
    book.run(0)
    book.run(1)
    card_of(book, 1).first.get_by_role("button", name="Edit").click()
    for width in (480, 1280):
        page.set_viewport_size({"width": width, "height": 1400})
        page.wait_for_timeout(300)
        for theme in ("light", "dark"):
            screenshot(f"card_{width}", theme)
        wide = (
            book.output(1)
            .locator(".rlnb-live")
            .evaluate(
                "e => [e, ...e.querySelectorAll('.rlnb-ask, .rlnb-says, button, textarea')]"
                ".filter(x => x.getBoundingClientRect().right - 1 >"
                "e.getBoundingClientRect().right)"
                ".map(x => x.className + x.innerText.slice(0, 20))"
            )
        )
        assert wide == []
    second = book.output(1).locator(CARD).nth(1)
    second.get_by_label("your answer").fill("30")
    second.get_by_role("button", name="Send").click()
    book.output(1).locator(".rlnb-over", has_text="choice number 29").wait_for()
    book.value("rl.stop_all()")
    settled(book, 1)
