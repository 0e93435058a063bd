"""Ten megabytes, wherever they stand, make a small picture in little work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.messages import Message, ReasoningPart, ToolCallPart, ToolResultPart
from robotlab_nb.display.pictures import html, markdown, text
from tests.display.samples import (
    Story,
    a_result,
    a_robot,
    a_run,
    a_tool,
    an_error,
    completed,
    failed,
    in_state,
)
from tests.display.trees import body_of, tree_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

TEN_MB = 10_000_000


def filled(piece: str) -> str:
    return (piece * (TEN_MB // len(piece) + 1))[:TEN_MB]


def with_tool(arguments: str, result: str) -> Any:
    story = Story().asks("go").call(0, 1, stop_reason="tool")
    story.says(Message("assistant", [ToolCallPart("c1", "t", arguments)]), 1.0)
    story.tool("c1", "t", arguments, 1.0).tool_ends("c1", result, 1.1)
    story.says(Message("tool", [ToolResultPart("c1", "t", result)]), 1.1)
    return a_result(story.ends("completed", 1.2).state)


PLACES: dict[str, Callable[[str], Any]] = {
    "answer": lambda t: a_result(completed(answer=t)),
    "answer so far": lambda t: a_run(in_state("running", answer=t)),
    "question": lambda t: a_result(completed(question=t)),
    "robot": lambda t: a_result(completed(robot=t)),
    "model": lambda t: a_result(completed(model=t)),
    "reasoning": lambda t: Message("assistant", [ReasoningPart(t)]),
    "message": lambda t: Message("user", t),
    "said": lambda t: Message("assistant", t),
    "arguments": lambda t: with_tool(t, "x"),
    "arguments as JSON": lambda t: with_tool('{"x": "' + t[:100] + '"}' + " " * len(t), "x"),
    "tool result": lambda t: with_tool("{}", t),
    "prompt": lambda t: a_robot(system_prompt=t, description=t, name=t),
    "tool": lambda t: a_tool(name=t, description=t, source=t),
    "schema": lambda t: a_tool(parameters={"properties": {"a": {"default": t, "enum": [t]}}}),
    "error": lambda t: an_error(message=t, hint=t, body=t),
    "failed": lambda t: a_result(failed(message=t, hint=t, answer=t)),
    "own repr": lambda t: t,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_picture_stays_small(place: str) -> None:
    for piece in ("x", "$1 ") if place != "answer" else ("$1 ", "# a\n\n", "\ud800"):
        thing = PLACES[place](filled(piece))
        picture = html(thing)
        assert len(picture.encode("utf-8", "replace")) < 500_000
        tree_of(body_of(picture))
        assert len(text(thing)) < 5_000
        assert len(markdown(thing)) < 500_000


def test_the_answer_says_where_the_rest_of_it_is() -> None:
    thing = a_result(completed(answer=filled("word ")))
    assert "… 9,960,000 more characters: result.text has all of it" in words_of(
        tree_of(body_of(html(thing)))
    )
    shown = text(thing)
    assert "… of 10,000,000 characters: result.text has all of it" in shown
    assert "✓ completed · assistant" in shown
    assert "▸ Transcript" in shown
    assert thing.state.text == filled("word ")  # the value itself is whole


def test_thousands_of_messages_and_calls_stay_below_two_megabytes() -> None:
    payload = "<$1&" * 2000
    said = []
    for number in range(300):
        wishes = [ToolCallPart(f"c{number}.{n}", "t", payload) for n in range(10)]
        said.append(Message("assistant", [ReasoningPart(payload), *wishes]))
        said.append(Message("tool", [ToolResultPart(w.id, "t", payload) for w in wishes]))
    picture = html(said)
    assert len(picture.encode("utf-8")) < 2_000_000
    assert "more left out here" in words_of(tree_of(body_of(picture)))
    assert len(markdown(said)) < 2_000_000


def test_thousands_of_calls_in_one_message_are_cut_off() -> None:
    wishes = [ToolCallPart(f"c{n}", "pay$1" * 20, '{"a": "<$1>"}') for n in range(20_000)]
    picture = html(Message("assistant", wishes))
    assert len(picture.encode("utf-8")) < 2_000_000
    words = words_of(tree_of(body_of(picture)))
    assert "ƒ pay$1" in words
    assert words.endswith("more left out here")


def test_four_byte_characters_count_too() -> None:
    said = [Message("user", "\U0001f600" * 4000) for _ in range(100)]
    said += [Message("assistant", "\U0001f600" * 4000) for _ in range(100)]
    assert len(html(said).encode("utf-8")) < 2_000_000


def test_many_tools_runs_and_settings_are_counted_not_listed() -> None:
    tools = [a_tool(name=f"tool_{n}") for n in range(500)]
    shown = text(a_robot(tools=tools, effective_config={}))
    assert "476 more" in shown
    properties = {f"p{n}": {"type": "string"} for n in range(500)}
    shown = text(a_tool(parameters={"properties": properties}))
    assert "more" in shown
    assert len(shown.split("\n")) == 40
    assert "… 460 more parameters" in words_of(
        tree_of(body_of(html(a_tool(parameters={"properties": properties}))))
    )
