"""Open questions, waits, fallbacks and judged answers in a live view, while they happen."""

from __future__ import annotations

import json
from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.display.escape import plain
from robotlab_nb.widgets.live_asks import ASKS, editable
from robotlab_nb.widgets.live_still import still
from robotlab_nb.widgets.live_view import LiveView
from tests.display import rich_samples as rich
from tests.display.trees import check_inert, words_of
from tests.widgets.test_live_view import TEXTS, UNSEEN, Bot, applied, texts, viewed


def asked(bot: Bot, **about: Any) -> str:
    data = rich.asked(rich.an_approval(**about))
    bot.run.emit("hitl.requested", data)
    return str(data["question_id"])


def answered(bot: Bot, question_id: str, status: str = "approved", answer: Any = True) -> None:
    data = {"question_id": question_id, "kind": "approval", "status": status, "answer": answer}
    bot.run.emit("hitl.answered", {**data, "by": "answer", "waited_s": 2.0})


def questions(view: LiveView) -> list[dict[str, Any]]:
    found = [record for key, record in view.doc.records.items() if key[0] == "Q"]
    return [record for record in found if not record["over"]]


def lines(view: LiveView) -> list[str]:
    found = [record for key, record in view.doc.records.items() if key[0] == "Q"]
    return [record["over"]["text"] for record in found if record["over"]]


def test_an_open_question_has_a_card_until_it_is_settled() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    seen = applied({}, view.snapshot()["ops"])
    bot.ask()
    question = asked(bot)
    bot.run.emit("run.waiting", {"questions": [question]})
    batch = view.batch()
    assert batch is not None
    applied(seen, batch["ops"])
    card = seen[f"Q{question}"]
    assert (card["who"], card["what"], card["tool"]) == (
        "refunds", "asks to use a tool", "issue_refund",
    )  # fmt: skip
    assert 'order  = "A-1009"' in card["given"]
    assert card["how"][0] == ["run.answer(True)", "approves"]
    assert card["limit"] == "waits 4\u00a0min\u00a032\u00a0s, then denied"
    assert seen["run"]["word"] == "waiting for you"
    assert seen["L0"]["say"] == "waiting for you"
    assert "asks to use issue_refund" in texts(view, "note")
    answered(bot, question)
    bot.run.emit("run.resumed", {})
    batch = view.batch()
    assert batch is not None
    applied(seen, batch["ops"])
    assert seen == view.doc.records
    assert questions(view) == []
    assert lines(view) == [texts(view, "note")[-1]]
    assert (card["given"], card["edit"], card["how"]) == ("", "", [])
    note = texts(view, "note")[-1]
    assert note.startswith("approved · refunds · issue_refund(")
    assert seen["run"]["word"] == "running"


def test_a_call_waits_for_the_person_and_not_for_its_tool() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    bot.ask()
    bot.run.emit("tool_call.started", {"tool_call_id": "call_7", "tool": "issue_refund"})
    asked(bot)
    view.batch()
    tool = next(r for r in view.doc.records.values() if r.get("kind") == "tool")
    assert (tool["icon"], tool["word"], tool["hue"]) == ("?", "waiting for you", "kw")
    answered(bot, "q1")
    view.batch()
    assert tool["word"] == "running"


def test_a_fallback_after_failed_attempts_does_not_tell_the_error_twice() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    call = bot.ask()
    error = {"type": "ModelError", "message": "busy"}
    bot.run.emit("attempt.failed", {"call_id": call, "attempt": 1, "model": "m", "error": error})
    data = {"call_id": call, "from_model": "m", "to_model": "other", "error": error}
    bot.run.emit("model_call.fallback", data)
    view.batch()
    assert texts(view, "note") == [
        "attempt 1 failed · busy · does not ask again", "asks other in place of m",
    ]  # fmt: skip


def test_a_question_costs_one_batch_and_then_nothing() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    asked(bot)
    assert view.batch() is not None
    assert view.batch() is None


def test_several_questions_say_their_keys_and_the_last_one_needs_none() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    asked(bot, id="q1", tool_call_id="c1")
    asked(bot, id="q2", tool_call_id="c2")
    view.batch()
    assert [card["how"][0][0] for card in questions(view)] == [
        'run.answer({"c1": True})', 'run.answer({"c2": True})',
    ]  # fmt: skip
    answered(bot, "q1")
    view.batch()
    assert [card["how"][0][0] for card in questions(view)] == ["run.answer(True)"]
    for number in range(20):
        asked(bot, id=f"q{number + 3}", tool_call_id=f"c{number + 3}")
    view.batch()
    assert len(questions(view)) == ASKS


def test_what_was_settled_leaves_a_line_each_and_only_the_last_ones_stay() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    seen = applied({}, view.snapshot()["ops"])
    for number in range(6):
        answered(bot, asked(bot, id=f"q{number}", tool=f"tool{number}"))
        batch = view.batch()
        assert batch is not None
        applied(seen, batch["ops"])
    assert seen == view.doc.records
    assert [line.split(" · ")[2].split("(")[0] for line in lines(view)] == [
        "tool3", "tool4", "tool5",
    ]  # fmt: skip
    asked(bot, id="q9", tool="scripted")
    data = {"question_id": "q9", "kind": "approval", "status": "approved", "answer": True}
    bot.run.emit("hitl.answered", {**data, "by": "policy", "waited_s": 0.0})
    view.batch()
    assert "scripted" not in " ".join(lines(view))


def test_long_arguments_stand_whole_on_the_card_and_say_where_they_end() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    asked(bot, arguments={"text": "x" * 50_000})
    view.batch()
    (card,) = questions(view)
    assert "more characters" in card["given"]
    assert len(card["given"]) < 5_000
    assert card["whole"] == f'text = "{"x" * 50_000}"'
    assert card["edit"] == ""
    asked(bot, id="q2", arguments={"text": "x" * 200_000})
    view.batch()
    assert questions(view)[1]["whole"].endswith("more characters")


def test_the_countdown_ends_when_the_question_does() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    asked(bot, timeout_s=60.0)
    asked(bot, id="q2", timeout_s=None)
    view.batch()
    first, second = questions(view)
    put = next(iter(bot.run.state.asked.values())).asked_s
    assert first["until"] == pytest.approx(put + 60.0 - bot.run.state.started_s, abs=0.01)
    assert first["after"] == "then denied"
    assert second["until"] is None
    assert second["limit"] == "no time limit"


@pytest.mark.parametrize("text", TEXTS[::3])
def test_what_can_be_edited_shows_all_and_means_the_same(text: str) -> None:
    shown = editable({text: [text, {"deep": text}]})
    if shown or len(text) < 1000:  # what is too long has no such form
        assert json.loads(shown) == {text: [text, {"deep": text}]}
    assert not UNSEEN.search(shown.replace("\n", ""))
    assert plain(shown) == shown


def test_a_view_opened_late_shows_what_is_still_open() -> None:
    bot = Bot()
    answered(bot, asked(bot, id="q1"))
    asked(bot, id="q2", tool="wire_money")
    view = LiveView(bot.run)
    assert [card["tool"] for card in questions(view)] == ["wire_money"]
    assert [line.split(" · ")[0] for line in lines(view)] == ["approved"]
    notes = texts(view, "note")
    assert notes[0].startswith("approved")
    assert notes[1] == "asks to use wire_money"


ASIDES = [
    ("model_call.fallback", {"call_id": "c", "from_model": "a/x", "to_model": "b/y",
     "error": {"type": "ModelError", "message": "busy"}},
     "asks b/y in place of a/x · ModelError: busy", True),
    ("guard.limited", {"call_id": "c", "limit": "requests_per_minute", "wait_s": 12.0},
     "waited 12 s for its turn: requests per minute", False),
    ("guard.loop", {"tool": "look", "kind": "repeat", "length": 1, "count": 3},
     "warned the model: look called 3 times with the same arguments", False),
    ("guard.budget", {"call_id": "c", "budget": "b", "dimension": "calls", "limit": 2, "used": 2},
     "stopped by budget b · 2 calls of 2 calls used", True),
    ("output.rejected", {"mode": "text", "attempt": 1, "text": "x",
     "errors": [{"path": "total", "message": "is missing"}]},
     "answer 1 not accepted · total: is missing", True),
    ("conversation.compacted", {"strategy": "s", "message_ids": [], "new": [], "summary": "m",
     "dropped": 12, "before_tokens": 9800, "after_tokens": 2100},
     "12 messages summed up, 9,800 → 2,100 tokens · s", False),
    ("cache.hit", {"call_id": "c", "request_key": "k"},
     "an answer came from the cache: an equal request was paid before", False),
    ("hook.failed", {"hook": "Audit", "point": "before_run", "error": {"type": "E"}},
     "hook failed Audit · E · the run went on", True),
    ("prompt.skills_matched", {"scorer": "s", "threshold": 0.3,
     "matches": [{"name": "haiku", "score": 1, "used": True}]}, "agent skills used: haiku", False),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "words", "bad"), ASIDES, ids=[a[0] for a in ASIDES])
def test_what_happens_beside_the_conversation_is_a_note_when_it_happens(
    kind: str, data: dict[str, Any], words: str, bad: bool
) -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    call = bot.ask()
    bot.run.emit(kind, {**data, "call_id": call} if "call_id" in data else data)
    assert view.batch() is not None
    note = next(r for r in view.doc.records.values() if r.get("kind") == "note")
    assert note["text"] == words
    assert note.get("err", False) == bad
    if kind == "guard.limited":
        assert view.doc.records["L0"]["say"].startswith("waits 12 s for its turn")


def test_an_accepted_answer_says_what_it_is_and_approved_calls_say_so() -> None:
    def pay(amount: int) -> str:
        """Pay."""
        return "paid"

    model = rl.SimulatedModel([("pay", {"amount": 3}), '{"n": "x"}', '{"n": 3}'])
    schema = {"title": "Count", "type": "object", "properties": {"n": {"type": "integer"}}}
    bot = rl.build("b", model=model, tools=[pay], output=schema, output_mode="text",
                   approve=["pay"], answers={"pay": True})  # fmt: skip
    run = bot.start("go")
    assert run.result().parsed
    view = LiveView(run)
    notes = texts(view, "note")
    assert any(note.startswith("answer 1 not accepted · n:") for note in notes)
    assert any(note.startswith("accepted: Count by text, 1 answer sent back") for note in notes)
    tool = next(r for r in view.doc.records.values() if r.get("kind") == "tool")
    assert tool["word"].startswith("approved · ")


def test_the_picture_that_stands_still_shows_the_open_question_first() -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    bot.ask()
    asked(bot)
    view.batch()
    drawn, text = still(view.doc.records, "2 s")
    for shown in (words_of(check_inert(drawn)), " ".join(text.split())):
        assert "? waiting for you · refunds asks to use a tool" in shown
        assert 'order = "A-1009"' in shown
        assert "run.answer(True) approves" in shown


@pytest.mark.parametrize("text", TEXTS[::5])
def test_hostile_questions_are_in_visible_form(text: str) -> None:
    bot = Bot()
    view, _, _ = viewed(bot)
    asked(bot, robot=text, tool=text, why=text, arguments={text: text}, tool_call_id=text)
    data = rich.asked(rich.a_question(robot=text, text=text, choices=(text,), default=text))
    bot.run.emit("hitl.requested", data)
    bot.run.emit("output.rejected", {"attempt": 1, "errors": [{"path": text, "message": text}]})
    bot.run.emit("hook.failed", {"hook": text, "point": text, "error": {"type": text}})
    view.batch()
    for record in view.doc.records.values():
        for value in record.values():
            for each in value if isinstance(value, list) else [value]:
                assert not UNSEEN.search(str(each).replace("\n", ""))
    check_inert(still(view.doc.records, "1 s")[0])
    answered(bot, "q1", "denied", text)
    assert view.batch() is not None
