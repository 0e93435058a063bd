"""Open questions and reasoning in the live view: alone on a page, and in a real JupyterLab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.display import rich_samples as rich

from .test_live_browser import Bot, alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Notebook
    from .test_live_browser import Alone

__all__ = ["alone"]

RUN = """import robotlab_nb as rl
def issue_refund(order: str, amount: float) -> str:
    "Pay money back."
    return f"{amount} paid back for {order}"
broken = rl.SimulatedModel([rl.ModelError("no model today", kind="auth")], name="broken")
script = [{"reasoning": "The order was charged twice. " * 12,
           "tools": [("issue_refund", {"order": "A-1009", "amount": 19.9})]},
          '{"refunded": "nearly twenty"}', '{"refunded": 19.9}']
receipt = {"title": "Receipt", "type": "object", "properties": {"refunded": {"type": "number"}},
           "required": ["refunded"]}
bot = rl.build("refunds", model=broken, fallback=[rl.SimulatedModel(script, delay=0.02)],
               tools=[issue_refund], approve=["issue_refund"], output=receipt, output_mode="text")
run = bot.start("I was charged twice for order A-1009")
run"""


def test_reasoning_streams_folded_and_stays_open_once_opened(alone: Alone) -> None:
    bot = Bot()
    alone.show(bot.view.snapshot())
    bot.ask(1)
    alone.send(bot.write(1, "First I look ", "reasoning"))
    fold = alone.log.locator("details", has_text="∴ reasoning")
    assert fold.evaluate("d => d.open") is False
    assert not fold.locator("p").is_visible()
    assert "13" in fold.locator("summary").inner_text()
    for number in range(20):
        alone.send(bot.write(1, f"and think {number} ", "reasoning"))
    assert fold.evaluate("d => d.open") is False
    fold.locator("summary").click()
    node = fold.locator("p").element_handle()
    alone.send(bot.write(1, "and decide.", "reasoning"), bot.write(1, "The answer"))
    alone.send(bot.answer(1, "The answer"))
    assert fold.evaluate("d => d.open") is True
    shown = node.text_content() or ""
    assert shown.startswith("First I look and think 0 and think 1 ")
    assert shown.endswith("and decide.")
    assert node.evaluate("e => e.childNodes.length") == 1  # grown, never drawn again


def test_an_open_question_stands_first_and_goes_when_it_is_settled(alone: Alone) -> None:
    bot = Bot()
    alone.show(bot.view.snapshot())
    bot.ask(1)
    hostile = "<img src=x onerror=alert(1)>\u202e"
    data = rich.asked(rich.an_approval(arguments={"order": hostile}, why=hostile))
    bot.run.emit("hitl.requested", data)
    alone.send(bot.view.batch())
    card = alone.page.locator("blockquote.rlnb-kw")
    shown = card.inner_text()
    assert "? waiting for you" in shown.replace("\u00a0", " ")
    assert 'order = "<img src=x onerror=alert(1)>\\u202e"' in shown
    assert "run.answer(True) approves" in shown
    assert card.bounding_box()["y"] < alone.log.bounding_box()["y"]  # type: ignore[index]
    assert (
        "refunds asks to use a tool issue_refund"
        in alone.page.locator("[role=status]").inner_text()
    )
    assert alone.page.evaluate("hurt") == 0
    done = {"question_id": "q1", "kind": "approval", "answer": False, "waited_s": 1.0}
    bot.run.emit("hitl.answered", {**done, "by": "answer", "status": "denied"})
    alone.send(bot.view.batch())
    assert card.count() == 0
    assert "✕ denied · refunds" in alone.log.inner_text().replace("\u00a0", " ")


def test_a_run_that_asks_is_rejected_and_falls_back_in_a_real_notebook(
    notebook: Callable[..., Notebook], screenshot: Callable[..., object]
) -> None:
    book = notebook([RUN, "run.answer(True).result()", "run.frames.outputs"])
    book.run(0)
    output = book.output(0)
    output.locator("blockquote.rlnb-kw").wait_for(timeout=20_000)
    shown = output.inner_text().replace("\u00a0", " ")
    assert "refunds asks to use a tool" in shown
    assert "in place of" in shown
    for theme in ("light", "dark"):
        screenshot("live_waiting", theme)
    book.run(1)
    output.locator("blockquote.rlnb-kw").wait_for(state="detached", timeout=20_000)
    settled = book.output(1)
    settled.get_by_text("Rejected answers").wait_for(timeout=20_000)
    words = settled.inner_text().replace("\u00a0", " ")
    assert "Receipt by text, 1 answer sent back" in words
    for summary in settled.locator("details > summary").all()[:6]:
        summary.click()
    for theme in ("light", "dark"):
        screenshot("asked_and_judged", theme)
    book.run(2)
    assert "accepted" in book.output(2).inner_text()
