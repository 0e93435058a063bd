"""What guards, judges, people and caches did in a run: told where a reader looks for it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.errors import OutputError
from robotlab_nb.core.messages import Message, ReasoningPart, ToolCallPart
from robotlab_nb.display.pictures import html, markdown, text
from robotlab_nb.display.status_line import status
from robotlab_nb.display.traceback import lines
from robotlab_nb.network.result import NetworkFailed
from tests.display import network_samples, samples
from tests.display import rich_samples as rich
from tests.display.samples import MODEL, a_result, a_run
from tests.display.test_pictures import check_text
from tests.display.trees import CORPUS, check_inert, flat, words_of

if TYPE_CHECKING:
    from robotlab_nb.core.state import RunState


def both(thing: Any) -> tuple[str, str]:
    shown = words_of(check_inert(html(thing)))
    assert "could not be drawn" not in shown
    assert markdown(thing)
    return shown, flat(check_text(thing))


def in_order(shown: str, *expected: str) -> bool:
    at = 0
    for each in expected:
        found = shown.find(each, at)
        if found < 0:
            return False
        at = found + len(each)
    return True


# -- people --------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "named"), [(a_run, "run"), (a_result, "result")])
def test_a_waiting_run_shows_its_open_question_first(make: Any, named: str) -> None:
    for shown in both(make(rich.waiting())):
        assert in_order(
            shown, "? waiting for you · refunds asks to use a tool", "issue_refund",
            'order = "A-1009"', "why it asks", f"{named}.answer(True)", "I will refund it.",
            "? waiting for you · refunds", "Transcript",
        )  # fmt: skip
        assert "then denied" in shown


def test_each_of_several_questions_says_under_which_key_it_is_answered() -> None:
    for shown in both(a_result(rich.waiting(both=True))):
        assert 'result.answer({"call_7": True})' in shown
        assert 'result.answer({"q2": "Card ending 4242"})' in shown
        assert "result.answer(True)" not in shown


def test_a_question_of_a_run_inside_is_shown_by_the_run_around_it() -> None:
    story = samples.Story("outer").asks("go")
    inner = samples.Scope("k1", "r1", "r1", 1, "robot", ("outer", "inner"), "inner")
    story.add("run.started", 0.1, inner, name="inner", model=MODEL)
    story.add("hitl.requested", 0.2, inner, **rich.asked(rich.a_question(robot="inner")))
    for shown in both(a_run(story.state)):
        assert in_order(shown, "inner asks", "Which account", 'run.answer("Card', "running")


def test_a_network_that_waits_shows_what_is_asked() -> None:
    state = network_samples.nine()
    next(iter(state.children.values())).asked["q2"] = rich.Asked(rich.asked(rich.a_question()), 1.0)
    things = {"run": network_samples.a_run(state), "result": network_samples.a_result(state)}
    for name, thing in things.items():
        for shown in both(thing):
            assert "Which account should receive the refund?" in shown
            assert f'{name}.answer("Card ending 4242")' in shown


@pytest.mark.parametrize(
    ("how", "line", "call"),
    [
        ("approved", "✓ approved · refunds · issue_refund(", "approved · ✓ 142 ms"),
        ("denied", "“too much” · by run.answer() · at 14.0 s", "… · ✕ denied"),
        ("edited", "✓ approved with other arguments · refunds · issue_refund(order=", "app"),
    ],
)
def test_what_a_person_decided_is_a_frozen_line_and_a_word_at_the_call(
    how: str, line: str, call: str
) -> None:
    thing = a_result(rich.approved(how))
    assert line in words_of(check_inert(html(thing)))
    shown = flat(text(thing))
    assert "Questions and approvals · 1" in shown
    assert call in shown.replace("…  ·", "… ·")
    assert "waiting for you" not in shown
    if how == "edited":
        assert 'as (order="A-1009", amount=9.9)' in shown


def test_a_waiting_result_is_drawn_though_its_text_raises() -> None:
    class Waiting(samples.RobotResult):
        __module__ = "robotlab_nb.robot.result"

        @property
        def text(self) -> str:
            raise AssertionError("a picture asked for the text")

    thing = Waiting(state=rich.waiting(), robot_name="refunds")
    for shown in both(thing):
        assert "issue_refund" in shown


def test_what_a_waiting_run_has_thought_is_not_shown_as_its_answer() -> None:
    story = samples.Story("refunds").asks("x").call(0.0, 0.5, stop_reason="tool")
    thought = Message("assistant", [ReasoningPart("They paid twice."), ToolCallPart("c", "pay")])
    story.says(thought, 0.5, "tool").add("run.waiting", 0.6, questions=[])
    assert "They paid twice." not in text(a_result(story.state))


# -- judged answers ------------------------------------------------------------------------


def test_an_answer_that_is_data_is_shown_as_fields_with_its_json_folded() -> None:
    thing = a_result(rich.parsed())
    for shown in both(thing):
        assert in_order(shown, "number A-1009", "total 19.9", "paid false", "✓ completed", "JSON")
        assert "Invoice by schema, 1 answer sent back" in shown
        assert "Rejected answers · 1" in shown
        assert "answer 1 · by schema total a number is needed, not 'about twenty'" in shown
        assert '"total": "about twenty"' in shown
    assert "the answer above" in words_of(check_inert(html(thing)))


def test_a_list_of_records_is_a_table_and_other_values_are_shown_as_they_are() -> None:
    rows = [{"item": "pen", "n": 2}, {"item": "ink", "n": 1}]
    for shown in both(a_result(rich.parsed(rows, rejections=0))):
        assert "item n pen 2 ink 1" in shown
        assert "sent back" not in shown
    assert "yes, of course" in text(a_result(rich.parsed("yes, of course")))
    assert text(a_result(rich.parsed(["a", "b"]))).startswith('  ["a", "b"]')
    assert text(a_result(rich.parsed(7))).startswith("  7")


def test_an_answer_that_was_never_accepted_says_so() -> None:
    state = samples.failed(robot="reader", answer='{"total": 1}')
    state.error = {**(state.error or {}), "kind": "output"}
    assert "… the last answer, not accepted" in text(a_result(state))


# -- models --------------------------------------------------------------------------------


def test_a_fallback_tells_who_answered_in_whose_place_and_why() -> None:
    for shown in both(a_result(rich.fallen_back())):
        assert f"{rich.OTHER} in place of {MODEL}" in shown
        assert "Attempts · 3, 2 failed" in shown
        assert f"1 {MODEL} 12.0 s 1.1 s 429, rate limit · next after 4 s" in shown
        assert "429, rate limit · then anthropic/" in shown
        assert f"1 {rich.OTHER} 18.2 s 800 ms ✓ answered" in shown
        assert "waited 12 s for its turn: requests per minute" in shown


def test_a_model_that_was_never_asked_before_the_fallback_has_a_row_too() -> None:
    story = samples.Story().asks("x")
    story.add("model_call.started", 0.0, call_id="c", round=1, model=MODEL)
    error = {"type": "ConfigurationError", "message": "no key for openai"}
    story.add("model_call.fallback", 0.0, call_id="c", from_model=MODEL, to_model=rich.OTHER,
              error=error)  # fmt: skip
    story.add("attempt.completed", 0.5, call_id="c", attempt=1, model=rich.OTHER)
    for shown in both(a_run(story.state)):
        assert f"– {MODEL}" in shown
        assert "ConfigurationError: no key for openai ·" in shown
        assert "Attempts · 2, 1 failed" in shown


def test_what_happened_beside_the_conversation_is_told_with_its_time() -> None:
    for shown in both(a_result(rich.guarded())):
        for words in (
            "1 call, 1 cached", "$0 ·", "1 loop warning, 1 failed hook, 1 cached answer",
            "0.1 s 12 messages summed up, 9,800 → 2,100 tokens",
            "✕ hook failed Audit.before_run · TypeError: 'NoneType' has no len()",
            "0.3 s warned the model: get_weather called 3 times with the same arguments",
            "0.4 s an answer came from the cache", "Agent skills · 1 of 2 used",
            "haiku 0.61 ✓ used", "invoices 0.08 not used", "scored by tf-idf",
            "System message · 3 parts, 1,713 characters", "agent skill haiku 412",
        ):  # fmt: skip
            assert words in shown, words


def test_a_budget_that_refused_a_call_is_told() -> None:
    for shown in both(a_result(rich.over_budget())):
        assert "✕ stopped by budget lesson · 12,000 tokens of 12,000 tokens used" in shown
        assert "340 tokens needed" in shown


def test_a_plain_run_has_none_of_these_folds() -> None:
    shown = text(a_result(samples.completed()))
    for words in ("Notes", "Questions", "Rejected", "Agent skills", "System message", "Attempts"):
        assert words not in shown


# -- errors --------------------------------------------------------------------------------


def test_an_output_error_lists_what_was_wrong_with_the_answer() -> None:
    for shown in both(rich.an_output_error()):
        assert in_order(shown, "✕ failed", "gave no Invoice", "total a number is needed",
                        "the whole no")  # fmt: skip
    assert "about twenty" in html(rich.an_output_error())
    printed = lines(OutputError("no Invoice", errors=[{"path": "a.b", "message": "<b>"}] * 10))
    assert printed[:2] == ["OutputError: no Invoice", "  a.b: <b>"]
    assert "  … 2 more" in printed


def test_the_error_of_a_networks_run_shows_the_network() -> None:
    error = NetworkFailed("support", {"billing": {"type": "ModelError", "message": "no model"}})
    error.run = network_samples.a_run(network_samples.nine())
    for shown in both(error):
        assert in_order(shown, "✕ failed", "network 'support' failed", "billing ModelError: no mod",
                        "support network", "9 tasks")  # fmt: skip
        assert "robot" not in shown.split("Tasks")[0]
        assert "no text" not in shown.split("support network")[0]


def test_a_waiting_error_shows_what_is_asked() -> None:
    for shown in both(rich.a_waiting_error()):
        assert "error.run.answer(True)" in shown
        assert "failed" not in shown


# -- the status line -----------------------------------------------------------------------


def told(state: RunState, elapsed: float) -> str:
    line, drawn = status(state, elapsed)
    assert words_of_line(drawn) == flat(line)
    return flat(line)


def words_of_line(drawn: str) -> str:
    from robotlab_nb.display.style import STYLE
    from tests.display.trees import tree_of

    return words_of(tree_of(drawn.removeprefix(STYLE)))


def test_the_status_line_says_what_is_waited_for() -> None:
    assert "waiting for approval of issue_refund" in told(rich.waiting(), 3.0)
    story = samples.Story().asks("x")
    story.add("hitl.requested", 0.1, **rich.asked(rich.a_question(robot="assistant")))
    assert "· waiting for an answer: Which account should receive" in told(story.state, 1.0)


def test_the_status_line_tells_a_rate_limit_while_it_lasts_and_a_fallback_after() -> None:
    state = rich.fallen_back()
    assert len(rich.fallen_back().model_calls["r1.1"].attempts) == 3
    story = samples.Story().asks("x")
    story.add("model_call.started", 0.0, call_id="c", round=1, model=MODEL)
    story.add("guard.limited", 0.5, call_id="c", limit="requests_per_minute", wait_s=12.0)
    assert "waiting 12 s for requests_per_minute" in told(story.state, 5.0)
    assert f"asking {MODEL}" in told(story.state, 13.0)
    error = {"type": "ModelError", "message": "busy", "kind": "overloaded"}
    story.add("attempt.failed", 14.0, call_id="c", attempt=1, started_s=12.5, duration_s=1.5,
              model=MODEL, error=error, retry_in_s=4.0)  # fmt: skip
    assert "waiting 4 s to ask again (overloaded)" in told(story.state, 15.0)
    assert "waiting" not in told(story.state, 18.5)
    story.add("model_call.fallback", 19.0, call_id="c", from_model=MODEL, to_model=rich.OTHER,
              error=error)  # fmt: skip
    assert f"asking {rich.OTHER} in place of {MODEL}" in told(story.state, 19.0)
    assert state.status == "completed"


# -- hostile -------------------------------------------------------------------------------


def hostile(payload: str) -> RunState:
    """A run in which every text of the new events is a payload."""
    p = payload
    story = samples.Story(p, p).asks(p)
    story.events[0].data["output"] = p  # type: ignore[index]
    question = rich.an_approval(robot=p, tool=p, arguments={p: p}, why=p, tool_call_id=p)
    story.add("hitl.requested", 0.1, **rich.asked(question))
    story.add("hitl.requested", 0.1, **{**rich.asked(rich.a_question()), "text": p, "robot": p})
    story.add("hitl.answered", 0.2, question_id="q2", kind="question", status="answered", by=p,
              answer=p, waited_s=0.1)  # fmt: skip
    error = {"type": p, "message": p, "kind": p, "status": p}
    story.add("model_call.started", 0.2, call_id="c", round=1, model=p)
    story.add("attempt.failed", 0.3, call_id="c", attempt=1, model=p, error=error)
    story.add("model_call.fallback", 0.3, call_id="c", from_model=p, to_model=p, error=error)
    story.add("guard.limited", 0.3, call_id="c", limit=p, wait_s=2.0)
    story.add("guard.budget", 0.3, call_id="c", budget=p, dimension=p, limit=p, used=p, asked=p)
    story.add("guard.loop", 0.3, tool=p, kind=p, length=p, count=p)
    story.add("hook.failed", 0.3, hook=p, point=p, error=error)
    story.add("conversation.compacted", 0.3, strategy=p, message_ids=[], new=[], summary=p,
              dropped=p, before_tokens=p, after_tokens=p)  # fmt: skip
    story.add("prompt.composed", 0.3, parts=[{"kind": p, "name": p, "chars": p}])
    story.add("prompt.skills_matched", 0.3, scorer=p, threshold=p, error=error,
              matches=[{"name": p, "score": p, "used": p}])  # fmt: skip
    story.add("output.rejected", 0.3, mode=p, attempt=p, text=p,
              errors=[{"path": p, "message": p}])  # fmt: skip
    return story.add("output.parsed", 0.4, mode=p, attempt=2, value={p: [p, {p: p}]}).state


@pytest.mark.parametrize("group", CORPUS)
def test_hostile_text_is_inert_in_every_new_event(group: str) -> None:
    for payload in itertools.islice(CORPUS[group], 0, None, 3):
        state = hostile(payload)
        for thing in (a_run(state), a_result(state)):
            both(thing)
        line, drawn = status(state, 1.0)
        assert "\n" not in line
        words_of_line(drawn)
