"""Cards: what a person says on one, what counts of it, and what stands there in the end."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core import secrets
from robotlab_nb.runtime.desk import desk_of
from robotlab_nb.tools.user_question import ask_user
from robotlab_nb.widgets.assets import script
from robotlab_nb.widgets.card_view import CardView
from robotlab_nb.widgets.live_view import LiveView
from tests.display.trees import check_inert
from tests.widgets.test_live_view import TEXTS, UNSEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from robotlab_nb.runtime.run import Run

REFUND = ("pay", {"order": "A-1009", "amount": 19.9})
SIZE = ("ask_user", {"question": "Size?", "choices": ["S", "L"], "default": "L"})


class Shop:
    """A run that asks, its cards, and what was paid."""

    def __init__(self, *steps: Any, **options: Any) -> None:
        self.paid: list[tuple[Any, ...]] = []

        @rl.tool(approval=True)
        def pay(order: str, amount: float) -> str:
            """Pay money back."""
            self.paid.append((order, amount))
            return "paid"

        model = rl.SimulatedModel([list(steps), "done"])
        bot = rl.build("shop", model=model, tools=[pay, ask_user], **options)
        self.run: Run[Any] = bot.start("x")
        assert self.run.result().status == "waiting"
        self.view = CardView(self.run)
        for opened in desk_of(self.run).of(self.run):
            self.view.add(opened)
        self.tried = 0

    def say(self, value: Any, at: int = 0, name: str = "") -> dict[str, Any]:
        """Say something on the card of a question, and return the card."""
        self.tried += 1
        question = self.view._opens[at].question.id
        said = {"id": question, "try": name or f"p-{self.tried}", "value": value}
        self.view.heard({"answer": said, "hello": "p"})
        self.view.paint()
        return self.view.doc.records[f"Q{question}"]

    @property
    def statuses(self) -> list[tuple[str, Any, Any]]:
        return [(a.status, a.by, a.answer) for a in self.run.state.asked.values()]


@pytest.fixture
def shop() -> Iterator[Callable[..., Shop]]:
    made: list[Shop] = []

    def make(*steps: Any, **options: Any) -> Shop:
        made.append(Shop(*(steps or (REFUND,)), **options))
        return made[-1]

    yield make
    for each in made:
        each.run.stop()


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ({"approve": True}, ("approved", "widget", True)),
        ({"deny": ""}, ("denied", "widget", False)),
        ({"deny": " too much: really "}, ("denied", "widget", "too much: really")),
        ({"edit": '{"order": "B", "amount": 2}'},
         ("edited", "widget", {"arguments": {"order": "B", "amount": 2}})),
    ],
)  # fmt: skip
def test_an_approval_is_given_refused_or_given_with_other_arguments(
    shop: Callable[..., Shop], value: Any, status: Any
) -> None:
    one = shop()
    card = one.say(value)
    assert one.statuses == [status]
    assert card["over"]["text"].startswith(("approved", "denied"))
    assert "by a person at the widget" in card["over"]["text"]
    assert one.run.result().text == "done"
    assert one.paid == {"approved": [("A-1009", 19.9)], "edited": [("B", 2.0)]}.get(status[0], [])
    assert one.view.ended


@pytest.mark.parametrize(
    ("value", "answer"),
    [({"choice": 0}, "S"), ({"choice": 1}, "L"), ({"text": "s"}, "S"), ({"text": ""}, "L")],
)
def test_a_question_is_answered_by_a_choice_or_a_text(
    shop: Callable[..., Shop], value: Any, answer: str
) -> None:
    one = shop(SIZE)
    one.say(value)
    assert one.run.result().tool_calls[0].result == answer


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"edit": "{"}, "this is no JSON: Expecting property name"),
        ({"edit": "[1]"}, "arguments are a JSON object"),
        ({"edit": '{"order": 1, "order": 2}'}, "given more than once"),
        ({"edit": '{"order": "B", "amount": NaN}'}, "not valid JSON"),
        ({"edit": '{"order": "B", "amount": "lots"}'}, "do not fit 'pay'"),
        ({"edit": '{"order": "B", "amount": 1, "more": 2}'}, "do not fit 'pay'"),
        ({"edit": "[" * 100_000}, "nested deeper"),
        ({"choice": 0}, "no answer to that question"),
        ({"text": "yes"}, "no answer to that question"),
        ({"approve": "yes"}, "no answer to that question"),
        ("approve", "no answer to that question"),
        (None, "no answer to that question"),
        ({}, "no answer to that question"),
    ],
)
def test_what_is_no_answer_is_said_on_the_card_and_changes_nothing(
    shop: Callable[..., Shop], value: Any, words: str
) -> None:
    one = shop()
    card = one.say(value, name="p-9")
    assert words in card["error"]
    assert card["tried"] == "p-9"
    assert not card["over"]
    assert one.statuses == [("pending", None, None)]
    assert one.say({"approve": True})["error"] == ""
    assert one.run.result().text == "done"
    assert one.paid == [("A-1009", 19.9)]


def test_choices_that_are_none_are_refused(shop: Callable[..., Shop]) -> None:
    one = shop(SIZE)
    for value in ({"choice": 2}, {"choice": -1}, {"choice": "0"}, {"text": "M"}, {"approve": True}):
        assert one.say(value)["error"]
    assert one.statuses == [("pending", None, None)]


def test_what_is_said_again_counts_once_and_what_comes_late_changes_nothing(
    shop: Callable[..., Shop],
) -> None:
    one = shop(REFUND, SIZE)
    card = one.say({"deny": "no"}, name="p-1")
    assert one.say({"deny": "no"}, name="p-1")["error"] == ""
    assert one.say({"approve": True}, name="q-1") is card
    assert card["error"] == "Your answer came too late and changed nothing."
    assert one.statuses[0] == ("denied", "widget", "no")
    one.run.answer("S")
    assert "came too late" in one.say({"choice": 1}, at=1)["error"]
    assert one.run.result().tool_calls[1].result == "S"
    assert one.paid == []


def test_of_many_clicks_at_once_one_counts(shop: Callable[..., Shop]) -> None:
    for _ in range(10):
        one = shop()
        begin = threading.Barrier(8)

        def click(number: int, one: Shop = one, begin: threading.Barrier = begin) -> None:
            begin.wait()
            one.say({"approve": True} if number % 2 else {"deny": str(number)}, name=f"p-{number}")

        threads = [threading.Thread(target=click, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ((status, by, _),) = one.statuses
        assert by == "widget"
        assert one.run.result().text == "done"
        assert len(one.paid) == (status == "approved")


def test_a_check_that_fails_is_said_and_the_question_stays(shop: Callable[..., Shop]) -> None:
    one = shop()

    def broken(_arguments: object) -> None:
        raise OSError("the disk is gone")

    one.view._opens[0].check = broken
    assert "OSError: the disk is gone" in one.say({"edit": "{}"})["error"]
    assert one.statuses == [("pending", None, None)]


def test_a_secret_is_masked_on_the_card_and_given_in_full_where_it_was_left_alone(
    shop: Callable[..., Shop],
) -> None:
    key = "sk-canary-0123456789abcdef"
    secrets.register(key, "shop")
    one = shop(("pay", {"order": key, "amount": 1.0}))
    one.view.cards.tell(one.view._opens[0].question.id, {"via": "click"})
    shown = json.dumps(one.view.snapshot())
    assert key not in shown
    card = next(r for k, r in one.view.doc.records.items() if k[0] == "Q")
    edited = json.loads(card["edit"])
    assert edited["order"] != key
    one.say({"edit": json.dumps({**edited, "amount": 2})})
    one.run.result()
    assert one.paid == [(key, 2.0)]
    assert key not in json.dumps(one.view.last()) + json.dumps(one.view.snapshot())


@pytest.mark.parametrize("text", TEXTS[::4])
def test_hostile_questions_are_inert_in_every_form(shop: Callable[..., Shop], text: str) -> None:
    words = text.strip() or "?"
    asked = {"question": words, "choices": [text, "b"], "default": text}
    one = shop(("pay", {"order": text, "amount": 1.0}), ("ask_user", asked))
    for record in one.view.doc.records.values():
        for value in record.values():
            for each in value if isinstance(value, list) else [value]:
                assert not UNSEEN.search(str(each).replace("\n", ""))
    drawn = one.view.picture()
    assert drawn is not None
    check_inert(drawn[0])
    one.say({"deny": text})
    one.say({"choice": 0}, at=1)
    first, second = (status for status, _, _ in one.statuses)
    assert (first, second) in (("denied", "answered"), ("denied", "default"))
    check_inert(one.view.last()["text/html"])
    assert one.run.result().text == "done"


def test_the_place_of_the_cards_shows_each_change_once_and_settles_into_lines(
    shop: Callable[..., Shop],
) -> None:
    one = shop(REFUND, SIZE)
    first = one.view.picture()
    assert first is not None
    assert "run.answer({" in first[1]
    assert one.view.picture() is None
    one.view.paint()
    number = one.view.snapshot()["n"]
    one.view.paint()
    assert one.view.snapshot()["n"] == number
    one.say({"deny": ""})
    second = one.view.picture()
    assert second is not None
    assert "✕ denied · shop" in second[1]
    assert 'run.answer("S")' in second[1]
    assert not one.view.ended
    one.say({"choice": 1}, at=1)
    assert one.view.ended
    last = one.view.last()
    assert set(last) == {"text/html", "text/plain"}
    assert len(last["text/plain"].splitlines()) == 2
    assert "✓ answered · shop asked “Size?” · “L” · by a person at the widget" in last["text/plain"]


def test_a_live_view_hears_its_cards_while_its_run_waits(shop: Callable[..., Shop]) -> None:
    one = shop()
    view = LiveView(one.run)
    question = one.run.pending[0]
    view.heard({"drawn": [[question.id, 3]], "hello": "p"})
    assert view.cards.proven(question.id) == 3
    view.heard({"drawn": [[question.id, 1]], "hello": "p"})
    assert view.cards.proven(question.id) == 3
    view.heard({"answer": {"id": question.id, "try": "p-1", "value": {"edit": "x"}}, "hello": "p"})
    batch = view.batch()
    assert batch is not None
    assert [op[0] for op in batch["ops"]] == [f"Q{question.id}"]
    view.heard({"answer": {"id": question.id, "try": "p-2", "value": {"deny": ""}}, "hello": "p"})
    end = time.monotonic() + 5
    while not one.run.done and time.monotonic() < end:
        time.sleep(0.01)
    assert one.statuses == [("denied", "widget", False)]


def test_the_front_ends_stay_small() -> None:
    assert len(script("card.js")) < 20_000
