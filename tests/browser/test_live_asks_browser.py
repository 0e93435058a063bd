"""Open questions and reasoning in the live view: alone on a page, and in a real JupyterLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.display import rich_samples as rich

from .test_live_browser import HOSTILE, Bot, alone

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


class Asking(Bot):
    """A run that asks, with what Python tells its cards."""

    def ask_person(self, call: int = 0, via: str = "click", **about: Any) -> str:
        kind = rich.a_question if "choices" in about or "text" in about else rich.an_approval
        data = rich.asked(kind(**about))
        self.run.emit("hitl.requested", data)
        self.first = self.view.batch()
        self.view.cards.tell(data["question_id"], {"via": via, "call": call})
        return str(data["question_id"])

    def settle(self, question_id: str, status: str = "denied", by: str = "answer") -> None:
        done = {"question_id": question_id, "kind": "approval", "answer": False, "waited_s": 1.0}
        self.run.emit("hitl.answered", {**done, "by": by, "status": status})


def test_a_card_says_that_it_is_there_and_has_buttons_only_when_they_are_heard(
    alone: Alone,
) -> None:
    bot = Asking()
    alone.show(bot.view.snapshot())
    question = bot.ask_person(call=3, via="")
    alone.send(bot.first)
    card = alone.page.locator(".rlnb-ask")
    assert not [said for said in alone.sent if "drawn" in said]
    alone.send(bot.view.batch())
    assert [said["drawn"] for said in alone.sent if "drawn" in said] == [[[question, 3]]]
    assert card.get_by_role("button").count() == 0
    assert card.inner_text().count("Next cell: run.answer(True)") == 1
    bot.view.cards.tell(question, {"via": "click", "call": 4})
    alone.send(bot.view.batch())
    assert [said["drawn"] for said in alone.sent if "drawn" in said][-1] == [[question, 4]]
    assert card.get_by_role("button").all_inner_texts() == ["Approve", "Deny", "Edit"]
    bot.view.cards.tell(question, {"via": "prompt"})
    alone.send(bot.view.batch())
    assert card.get_by_role("button").count() == 0
    assert "asked at the prompt" in card.inner_text()


def test_the_keyboard_goes_to_deny_only_where_nobody_else_has_it(alone: Alone) -> None:
    focused = "document.activeElement.innerText || document.activeElement.localName"
    page = alone.page
    page.evaluate("document.body.prepend(document.createElement('input'))")
    bot = Asking()
    alone.show(bot.view.snapshot())
    page.locator("body > input").focus()
    first = bot.ask_person()
    alone.send(bot.first, bot.view.batch())
    assert page.evaluate(focused) == "input"
    page.evaluate("document.activeElement.blur()")
    bot.settle(first)
    bot.ask_person(id="q2")
    alone.send(bot.first, bot.view.batch())
    assert page.evaluate(focused) == "Deny"
    bot.settle("q2")
    alone.send(bot.view.batch())
    assert page.evaluate("document.activeElement.className") == "rlnb-over"


def test_an_answer_is_said_again_until_it_is_heard_and_counts_once(alone: Alone) -> None:
    bot = Asking()
    alone.show(bot.view.snapshot())
    question = bot.ask_person()
    alone.send(bot.first, bot.view.batch())
    card = alone.page.locator(".rlnb-ask")
    card.get_by_label("why not").fill("too much")
    card.get_by_role("button", name="Deny").click()
    card.get_by_role("button", name="Approve").click(force=True)
    assert card.get_by_text("sending …").is_visible()
    card.get_by_text("not heard yet: a cell holds the kernel").wait_for(timeout=3000)
    said = [each["answer"] for each in alone.sent if "answer" in each]
    assert len(said) == 2, "the second one after a second"
    assert said[0] == said[1]
    assert said[0]["value"] == {"deny": "too much"}
    bot.view.cards.tell(question, {"tried": said[0]["try"], "error": "not like that"})
    alone.send(bot.view.batch())
    assert card.get_by_text("not like that").is_visible()
    assert "not like that" in alone.page.locator("[role=status]").inner_text()
    assert card.get_by_label("why not").input_value() == "too much"
    card.get_by_role("button", name="Approve").click()
    last = alone.sent[-1]["answer"]
    assert last["value"] == {"approve": True}
    bot.settle(question)
    bot.view.cards.tell(question, {"tried": last["try"], "error": "Your answer came too late."})
    alone.send(bot.view.batch())
    line = alone.page.locator(".rlnb-over")
    shown = line.inner_text().replace("\u00a0", " ")
    assert shown.startswith("✕ denied · refunds · issue_refund(")
    assert "by run.answer()" in shown
    assert shown.endswith("Your answer came too late.")
    assert line.get_by_role("button").count() == 0
    told = alone.page.locator("[role=status]").inner_text()
    assert "settled: denied" in told


def test_hostile_text_on_cards_stays_text(alone: Alone) -> None:
    bot = Asking()
    alone.show(bot.view.snapshot())
    for number, text in enumerate(HOSTILE[-160:]):
        approval = bot.ask_person(
            id=f"a{number}", tool=text, robot=text, why=text, arguments={text: text},
            tool_call_id=text,
        )  # fmt: skip
        alone.send(bot.first, bot.view.batch())
        choice = bot.ask_person(
            id=f"b{number}", text=text or "?", choices=(text, "b"), default=text, robot=text,
        )  # fmt: skip
        alone.send(bot.first, bot.view.batch())
        for each in (approval, choice):
            bot.view.cards.tell(each, {"error": text, "tried": "x"})
        alone.send(bot.view.batch())
        if number < 158:  # the last ones stay open
            bot.settle(approval, status=text or "denied", by=text)
            bot.settle(choice, status=text or "denied", by=text)
            alone.send(bot.view.batch())
    alone.page.wait_for_timeout(100)
    assert alone.page.evaluate("hurt") == 0
    assert alone.page.locator(".rlnb-ask, .rlnb-over").count() > 3
    parts = "[...document.querySelectorAll('.rlnb-ask *, .rlnb-over *')]"
    tags = f"[...new Set({parts}.map(e => e.localName))]"
    assert set(alone.page.evaluate(tags)) <= {
        "b", "button", "code", "div", "input", "p", "pre", "span", "strong", "textarea",
    }  # fmt: skip
    names = f"[...new Set({parts}.flatMap(e => e.getAttributeNames()))]"
    assert not [name for name in alone.page.evaluate(names) if name.startswith("on")]


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
