"""Where styles, classes and folds are taken away, a picture still reads in order."""

from __future__ import annotations

from typing import Any

import html5lib  # type: ignore[import-untyped]
import pytest

from robotlab_nb.display.pictures import html
from robotlab_nb.display.states import STATES
from tests.display import rich_samples as rich
from tests.display.samples import (
    STATUSES,
    a_result,
    a_robot,
    a_run,
    a_tool,
    an_error,
    completed,
    failed,
    in_state,
    nested,
)
from tests.display.trees import body_of, flat, sanitised, words_of


def left_of(thing: Any) -> Any:
    return html5lib.parseFragment(sanitised(html(thing)), namespaceHTMLElements=False)


def words_left(thing: Any) -> str:
    return words_of(left_of(thing))


def in_order(words: str, *expected: str) -> bool:
    at = 0
    for each in expected:
        found = words.find(each, at)
        if found < 0:
            return False
        at = found + len(each)
    return True


def test_the_stylesheet_goes_with_all_that_it_holds() -> None:
    left = sanitised(html(a_robot()))
    assert "rlnb" not in left
    assert "{" not in left
    assert "<style" not in left


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("make", [a_result, a_run], ids=["result", "run"])
def test_answer_state_and_robot_stay_in_order(make: Any, status: str) -> None:
    if status == "pending":
        words = words_left(make(in_state(status, robot="fares")))
        assert in_order(words, "○ pending", "fares")
        return
    words = words_left(make(in_state(status, robot="fares", answer="The fare is forty")))
    state = STATES[status]
    first = () if status == "completed" else (f"{state.icon} {state.word}",)
    assert in_order(
        words, *first, "The fare is forty", f"{state.icon} {state.word}", "fares", "Transcript"
    )


def test_a_robot_reads_in_order() -> None:
    words = words_left(a_robot())
    assert in_order(
        words, "assistant", "robot · simulated/rules", "simulated", "Plans evenings",
        "You are a travel assistant", "tools", "get_weather", "search_docs", "conversation",
        "2 messages", "System prompt", "Configuration", "temperature", "0.2", "robot",
    )  # fmt: skip
    assert "simulated/rules · simulated" in words  # set apart by a dot that styles hide


def test_a_tool_reads_in_order() -> None:
    assert in_order(
        words_left(a_tool()), "get_weather", "tool · function in weather.py", "get_weather(city",
        "Current weather", "parameter", "city", "string", "required", "timeout 60 s", "JSON Schema",
    )  # fmt: skip


def test_an_error_reads_in_order() -> None:
    assert in_order(
        words_left(an_error()), "✕ failed", "rate limit (429)", "Wait 20 s", "ModelError",
        "Sales rose by", "Attempts", "Transcript",
    )  # fmt: skip


def test_an_open_question_reads_in_order() -> None:
    assert in_order(
        words_left(a_result(rich.waiting())), "? waiting for you", "refunds asks to use a tool",
        "issue_refund", 'order = "A-1009"', "why it asks", "result.answer(True)", "approves",
        "I will refund it.",
    )  # fmt: skip


def test_a_meter_keeps_its_figures() -> None:
    assert in_order(words_left(rich.a_budget()), "tokens", "77%", "8,000", "1,200", "2,800")


def test_every_word_of_a_picture_survives() -> None:
    things = [a_robot(), a_tool(), a_result(completed()), a_result(nested()), an_error()]
    things += [rich.a_budget(), rich.a_template(), rich.an_approval(), a_result(rich.guarded())]
    for thing in things:
        before = html5lib.parseFragment(body_of(html(thing)), namespaceHTMLElements=False)
        assert words_left(thing) == words_of(before)


def test_nothing_is_hidden_or_collapsed_but_by_details() -> None:
    for thing in (a_robot(), a_result(completed()), a_result(failed()), an_error()):
        picture = html(thing)
        assert "hidden" not in body_of(picture)
        assert "<input" not in picture
        assert "style=" not in picture
        tags = {element.tag for element in left_of(thing).iter()}
        assert {"details", "summary"} <= tags


def test_what_is_collapsed_is_short_enough_to_stand_open() -> None:
    long = "word " * 4000
    thing = a_robot(system_prompt=long, messages=())
    tree = left_of(thing)
    for fold in tree.iter("details"):
        assert len(flat(words_of(fold))) < 4400
    assert "more characters" in words_left(thing)
