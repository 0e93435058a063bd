"""Cards in a real kernel: proven before they are relied on, and silent while they wait.

The page is one that a test plays: it says what cards say in a browser.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import pytest
from ipykernel._version import version_info

from .test_kernel_live import WIDGET, Tap, wait_for

SETUP = """
import asyncio, time, threading
import robotlab_nb as rl
from robotlab_nb.tools.user_question import ask_user
from robotlab_nb.notebook.painter import painter
size = ("ask_user", {"question": "Which size?", "choices": ["small", "large"]})
paid = []
@rl.tool(approval=True)
def pay(amount: int) -> str:
    "Pay."
    paid.append(amount)
    return "paid"
def order(run: rl.Run) -> str:
    "Order."
    return run.ask("Which colour?", default="red")
def shop(*steps, **config):
    return rl.build("shop", model=rl.SimulatedModel([*steps, "done"]), tools=[ask_user, pay, order],
                    config=config)
warm = str(rl.build("warm", model=rl.SimulatedModel(["up"])).run("x"))
def nobody_knows():
    painter().widgets, painter().asking._missed = None, False
"""


#: Before, a cell that awaits serves widgets only where the front end has threads for them.
serves = pytest.mark.skipif(version_info < (7, 4), reason="needs ipykernel 7.4")


@dataclass
class Page(Tap):
    """A page that shows cards and says so, as long as it is open."""

    here: bool = True
    said: int = 0

    def _receive(self, **options: Any) -> dict[str, Any]:
        message = super()._receive(**options)
        if self.here and message["msg_type"] in ("comm_open", "comm_msg"):
            data = message["content"]["data"]
            opened = data.get("state", {}).get("snapshot") or {}
            ops = (data.get("content") or opened).get("ops", ())
            drawn = [[k[1:], c["call"]] for k, c in ops if k[0] == "Q" and c and "call" in c]
            if opened or drawn:
                content = {"hello": "a page", "drawn": drawn}
                self.say(message["content"]["comm_id"], content)
        return message

    def click(self, value: Any, at: int = 0) -> None:
        """Answer a question of the latest view."""
        key = [key for key, card in self.records().items() if key[0] == "Q"][at]
        self.said += 1
        answer = {"id": key[1:], "try": f"p-{self.said}", "value": value}
        self.say(self.view, {"answer": answer, "hello": "a page"})

    def buttons(self) -> bool:
        """Whether all cards of the latest view have buttons."""
        cards = [card for key, card in self.records().items() if key[0] == "Q"]
        return bool(cards) and all(card.get("via") == "click" for card in cards)

    @property
    def last(self) -> dict[str, Any]:
        """What stands in the place of the latest view."""
        place = [i for i, bundle in self.bundles if WIDGET in bundle][-1]
        return [bundle for i, bundle in self.bundles if i == place][-1]


@pytest.fixture
def tap(kernel: Any) -> Any:
    kernel.run(f"{SETUP}\nnobody_knows()")
    kernel.drain(0.2)
    made = Page(kernel)
    yield made
    made.here = False
    kernel.run("rl.stop_all()")
    kernel.drain(0.3)
    del made.channel._recv


def test_without_a_page_and_a_prompt_cells_end_waiting_soon(kernel: Any, tap: Page) -> None:
    tap.here = False
    took = []
    for call in ("r = await shop(size).arun('x')",) * 2 + ("r = shop(size).run('x')",) * 2:
        began = time.monotonic()
        assert kernel.run(f"{call}; r.status").text == "'waiting'"
        took.append(time.monotonic() - began)
    assert max(took) < 2
    assert max(took[1:]) < 0.8, "it is tried once"
    assert sum(WIDGET in bundle for _, bundle in tap.bundles) == 1
    assert tap.last == {"text/plain": ""}, "nothing is left of the card that nobody saw"


def test_a_shown_run_without_a_page_ends_waiting_as_soon(kernel: Any, tap: Page) -> None:
    tap.here = False
    began = time.monotonic()
    cell = kernel.run("r = await shop(size).arun('x', show=True); r.status")
    assert time.monotonic() - began < 2
    assert cell.text == "'waiting'"


@serves
def test_an_awaiting_cell_goes_on_with_a_click_and_says_nothing_meanwhile(
    kernel: Any, tap: Page
) -> None:
    cell = kernel.submit("r = await shop(('pay', {'amount': 3})).arun('x'); r.text, paid")
    wait_for(kernel, tap.buttons)
    kernel.drain(0.5)
    before = len(tap.seen)
    kernel.drain(3)
    assert len(tap.seen) == before
    tap.click({"approve": True})
    assert kernel.wait(cell, 10).text == "('done', [3])"
    kernel.drain(0.3)
    assert WIDGET not in tap.last
    assert "✓ approved · shop · pay(amount=3) · by a person at the widget" in tap.last["text/plain"]
    (display,) = cell.displays
    assert set(display) == {WIDGET, "text/html", "text/plain"}


def test_a_run_that_nobody_waits_for_has_a_card_once_the_kernel_is_idle(
    kernel: Any, tap: Page
) -> None:
    model = "rl.SimulatedModel([size, 'done'], delay=0.8)"
    cell = kernel.run(f"run = rl.build('late', model={model}, tools=[ask_user]).start('x')")
    other = kernel.run("'a cell that comes in between'")
    wait_for(kernel, tap.buttons)
    kernel.drain(0.5)
    assert (len(cell.displays), len(other.displays)) == (1, 0), "under the cell that began it"
    before = len(tap.seen)
    kernel.drain(3)
    assert len(tap.seen) == before, "no traffic while a question is open"
    tap.click({"choice": 1})
    wait_for(kernel, lambda: WIDGET not in tap.last)
    assert kernel.run("run.result().tool_calls[0].result").text == "'large'"


@serves
def test_a_page_that_was_closed_is_not_relied_on(kernel: Any, tap: Page) -> None:
    kernel.run("run = shop(size).start('x')")
    wait_for(kernel, tap.buttons)
    tap.here = False
    began = time.monotonic()
    assert kernel.run("(await run).status").text == "'waiting'"
    assert 1 < time.monotonic() - began < 2
    tap.here = True  # it was loaded again, and the next cell has its cards say so
    kernel.run("1")
    kernel.drain(0.5)
    cell = kernel.submit("str(await run)")
    kernel.drain(2.5)
    assert cell.status is None
    tap.click({"choice": 0})
    assert kernel.wait(cell, 10).text == "'done'"


@serves
def test_a_cell_that_awaits_a_run_goes_on_with_the_card_that_was_there(
    kernel: Any, tap: Page
) -> None:
    kernel.run("run = shop(size).start('x')")
    wait_for(kernel, tap.buttons)
    cell = kernel.submit("(await run).tool_calls[0].result")
    kernel.drain(2.5)
    assert cell.status is None
    tap.click({"choice": 0})
    assert kernel.wait(cell, 10).text == "'small'"


def test_a_cell_that_blocks_takes_its_questions_to_the_prompt(kernel: Any, tap: Page) -> None:
    kernel.run("run = shop(size).start('x')")
    wait_for(kernel, tap.buttons)
    began = time.monotonic()
    cell = kernel.submit("run.result().tool_calls[0].result", stdin=True)
    message = kernel.client.stdin_channel.get_msg(timeout=10)
    assert message["content"]["prompt"].startswith("[shop] Which size?")
    assert time.monotonic() - began < 1.2
    wait_for(kernel, lambda: all(
        c["via"] == "prompt" for k, c in tap.records().items() if k[0] == "Q"
    ))  # fmt: skip
    kernel.client.input("2")
    assert kernel.wait(cell, 10).text == "'large'"
    kernel.drain(0.3)
    assert "by the cell's prompt" in tap.last["text/plain"]


def test_a_click_that_comes_after_the_prompt_changes_nothing(kernel: Any, tap: Page) -> None:
    kernel.run("run = shop(('pay', {'amount': 3})).start('x')")
    wait_for(kernel, tap.buttons)
    cell = kernel.submit("run.result().tool_calls[0].content", stdin=True)
    kernel.client.stdin_channel.get_msg(timeout=10)
    tap.click({"approve": True})  # lies in the kernel's queue
    kernel.client.input("no, too much")
    assert kernel.wait(cell, 10).text == "'Error (pay): denied by a person: too much'"
    assert kernel.run("paid, [a.by for a in run.state.asked.values()]").text == "([], ['input'])"


def test_a_tool_may_ask_by_a_card_and_is_told_soon_where_nobody_is(kernel: Any, tap: Page) -> None:
    kernel.run("run = shop(('order', {})).start('x')")
    wait_for(kernel, tap.buttons)
    kernel.drain(2)
    tap.click({"text": "blue"})
    wait_for(kernel, lambda: WIDGET not in tap.last)
    assert kernel.run("run.result().tool_calls[0].result").text == "'blue'"
    tap.here = False
    kernel.run("run = shop(('order', {})).start('x')\nbegan = time.monotonic()")
    kernel.drain(5)
    found = kernel.run("run.status, run.result().tool_calls[0].error['type']")
    assert found.text == "('completed', 'NoAnswerChannel')"


@serves
def test_a_click_is_heard_while_a_cell_awaits_the_run_in_its_live_view(
    kernel: Any, tap: Page
) -> None:
    cell = kernel.submit("r = await shop(size).arun('x', show=True); r.tool_calls[0].result")
    wait_for(kernel, tap.buttons)
    tap.click({"choice": 1})
    assert kernel.wait(cell, 10).text == "'large'"
    assert len(cell.displays) == 1, "no card beside the view"
    kernel.drain(0.5)
    assert WIDGET not in tap.last


@serves
def test_stop_takes_the_cards_away_and_nothing_is_approved(kernel: Any, tap: Page) -> None:
    cell = kernel.submit("await shop(('pay', {'amount': 3})).arun('x')")
    wait_for(kernel, tap.buttons)
    kernel.interrupt()
    kernel.wait(cell, 10)
    kernel.drain(0.5)
    assert WIDGET not in tap.last
    assert "✕ denied · shop · pay(amount=3) · by nobody" in tap.last["text/plain"]
    assert kernel.run("paid").text == "[]"


def test_a_headless_run_of_all_cells_keeps_no_widget_and_goes_through(tmp_path: Any) -> None:
    import nbformat
    from nbclient import NotebookClient

    cells = [SETUP, "run = shop(size).start('x')", "r = await shop(size).arun('x')\nr",
             "time.sleep(0.5)", "r2 = shop(size).run('x')\nr2", "await asyncio.sleep(1)",
             "run.answer('small').result()"]  # fmt: skip
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    began = time.monotonic()
    NotebookClient(book, timeout=60, kernel_name="python3").execute()
    assert time.monotonic() - began < 30
    saved = json.dumps([cell["outputs"] for cell in book.cells])
    assert WIDGET not in saved
    assert "Which size?" in saved


def test_a_run_that_is_shown_later_has_its_cards_in_both_places(kernel: Any, tap: Page) -> None:
    kernel.run("run = shop(size).start('x')")
    wait_for(kernel, tap.buttons)
    alone = tap.view
    kernel.run("run")
    assert tap.view != alone
    wait_for(kernel, tap.buttons)
    tap.click({"choice": 1})
    wait_for(kernel, lambda: len(tap.contents("comm_close")) == 2)
    assert sum(WIDGET in bundle for _, bundle in tap.bundles[-2:]) == 0
    assert kernel.run("run.result().tool_calls[0].result").text == "'large'"
