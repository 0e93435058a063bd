"""Pieces into a message: every interleaving, every cut."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robotlab_nb.core.messages import (
    STOP_REASONS,
    Message,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    UnknownPart,
)
from robotlab_nb.models.assembly import Assembler
from robotlab_nb.models.protocol import Chunk


def fold(*chunks: Chunk) -> Assembler:
    found = Assembler()
    for chunk in chunks:
        found.add(chunk)
    return found


def message(*chunks: Chunk) -> Message:
    numbers = count(1)
    return fold(*chunks).message(lambda: f"our_{next(numbers)}")


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


CUTS = st.lists(st.integers(0, 1000), max_size=4)


@st.composite
def answers(draw: Any) -> tuple[dict[str, Any], list[Chunk]]:
    """What is said, and chunks that say it: each kind in order, the kinds mixed."""
    said = {
        "text": draw(st.text(max_size=12)),
        "reasoning": draw(st.text(max_size=12)),
        "calls": draw(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=9)), max_size=4)),
    }
    rows = [
        [Chunk("text", piece) for piece in pieces(said["text"], draw(CUTS))],
        [Chunk("reasoning", piece) for piece in pieces(said["reasoning"], draw(CUTS))],
    ]
    labels = draw(st.permutations(range(-1, 6)))
    for (name, arguments), index in zip(said["calls"], labels, strict=False):
        first = Chunk("tool_call", "", index, f"wire_{index}", name)
        more = [Chunk("tool_call", piece, index) for piece in pieces(arguments, draw(CUTS))]
        rows.append([first, *more])
    # Calls begin in their order; anything may come between.
    turns = draw(st.permutations([n for n, row in enumerate(rows) for _ in row]))
    began: list[int] = []
    for turn in turns:
        if turn not in began:
            began.append(turn)
    calls = [n for n in began if n > 1]
    said["calls"] = [said["calls"][n - 2] for n in calls]
    left = [list(row) for row in rows]
    return said, [left[turn].pop(0) for turn in turns]


@given(answers())
@settings(max_examples=300, deadline=None)
def test_every_interleaving_gives_the_same_message(
    case: tuple[dict[str, Any], list[Chunk]],
) -> None:
    said, chunks = case
    found = message(*chunks)
    assert found.role == "assistant"
    assert found.text == said["text"]
    assert found.reasoning == said["reasoning"]
    assert [(c.name, c.arguments) for c in found.tool_calls] == said["calls"]
    assert [c.id for c in found.tool_calls] == [f"our_{n + 1}" for n in range(len(said["calls"]))]
    kinds = [part.kind for part in found.parts]
    assert kinds == sorted(kinds, key=["reasoning", "text", "tool_call"].index)
    assert kinds.count("text") <= 1


@given(answers(), st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_what_is_kept_of_a_cut_answer_holds_no_calls(
    case: tuple[dict[str, Any], list[Chunk]], cut: int
) -> None:
    _, chunks = case
    came = chunks[:cut]
    kept = fold(*came).partial()
    assert not any(isinstance(part, ToolCallPart) for part in kept)
    text = "".join(chunk.text for chunk in came if chunk.kind == "text")
    assert "".join(part.text for part in kept if isinstance(part, TextPart)) == text
    assert all(part.cut for part in kept if isinstance(part, TextPart))
    assert Message("assistant", kept).is_cut == bool(text)


@given(answers())
@settings(deadline=None)
def test_offsets_are_the_characters_that_came_before(
    case: tuple[dict[str, Any], list[Chunk]],
) -> None:
    _, chunks = case
    found = Assembler()
    before: dict[str, int] = {}
    for chunk in chunks:
        kind = f"arguments:{chunk.index}" if chunk.kind == "tool_call" else chunk.kind
        assert found.offset(kind) == before.get(kind, 0)
        found.add(chunk)
        before[kind] = before.get(kind, 0) + len(chunk.text)


@given(st.lists(st.sampled_from(["x", "x_2", "y", "", "x_2_2"]), max_size=7))
def test_call_ids_that_come_twice_are_told_apart(wire_ids: list[str]) -> None:
    chunks = [Chunk("tool_call", "{}", n, id_, "f") for n, id_ in enumerate(wire_ids)]
    given_ids = [call.wire_id for call in message(*chunks).tool_calls]
    named = [id_ for id_ in given_ids if id_ is not None]
    assert len(set(named)) == len(named) == len([w for w in wire_ids if w])
    assert [call.wire_id for call in message(*chunks).tool_calls] == given_ids
    assert [id_ is None for id_ in given_ids] == [not w for w in wire_ids]


def test_the_second_use_of_a_call_id_gets_a_number() -> None:
    calls = message(
        Chunk("tool_call", "1", 0, "x", "f"),
        Chunk("tool_call", "2", 1, "x", "f"),
        Chunk("tool_call", "3", 2, "x", "f"),
    ).tool_calls
    assert [(call.wire_id, call.arguments) for call in calls] == [
        ("x", "1"), ("x_2", "2"), ("x_3", "3"),
    ]  # fmt: skip


def test_a_name_or_an_id_that_comes_again_is_not_added_to_the_first() -> None:
    (call,) = message(
        Chunk("tool_call", "{", 0, "a", "look"),
        Chunk("tool_call", "", 0, "a", "look"),
        Chunk("tool_call", "}", 0, "", ""),
    ).tool_calls
    assert (call.name, call.wire_id, call.arguments) == ("look", "a", "{}")


def test_a_call_without_name_and_arguments_is_no_call() -> None:
    found = fold(Chunk("tool_call", "", 0, "a", None), Chunk("stop", "tool"))
    assert found.message(str).tool_calls == ()
    assert found.stop_reason is None


def test_parts_that_are_not_known_keep_their_place() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    found = message(
        Chunk("text", "a"), Chunk("text", "b"), Chunk("part", data=picture), Chunk("text", "c")
    )
    assert found.parts == (TextPart("ab"), UnknownPart(picture), TextPart("c"))
    assert found.text == "abc"


def test_extras_go_to_the_reasoning_and_to_the_call_they_belong_to() -> None:
    found = message(
        Chunk("tool_call", "{}", 3, "a", "look"),
        Chunk("opaque", index=3, data={"signature": "s"}),
        Chunk("opaque", data={"reasoning_details": [1]}),
        Chunk("opaque", data={"field": "reasoning"}),
    )
    assert found.parts == (
        ReasoningPart("", {"reasoning_details": [1], "field": "reasoning"}),
        ToolCallPart("our_1", "look", "{}", "a", {"signature": "s"}),
    )


CALL = Chunk("tool_call", "{}", 0, "a", "look")


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([Chunk("stop", "stop")], "stop"),
        ([Chunk("stop", "")], None),
        ([], None),
        ([CALL, Chunk("stop", "stop")], "tool"),
        ([CALL, Chunk("stop", "")], "tool"),
        ([CALL, Chunk("stop", "tool")], "tool"),
        ([CALL], "tool"),
        ([CALL, Chunk("stop", "length")], "length"),
        ([CALL, Chunk("stop", "content_filter")], "content_filter"),
        ([Chunk("stop", "tool")], None),
        ([Chunk("refusal", "No."), Chunk("stop", "stop")], "refused"),
        ([Chunk("refusal", ""), Chunk("stop", "stop")], "stop"),
        ([Chunk("stop", "length")], "length"),
    ],
)
def test_stop_reasons(chunks: list[Chunk], expected: str | None) -> None:
    found = fold(*chunks).stop_reason
    assert found == expected
    assert found is None or found in STOP_REASONS


def test_the_last_usage_counts_and_none_is_none() -> None:
    assert fold(Chunk("text", "a")).usage is None
    found = fold(
        Chunk("usage", data={"input_tokens": 1, "output_tokens": 1}),
        Chunk("usage", data={"input_tokens": 2}),
    )
    assert found.usage == {"input_tokens": 2}


def test_what_the_stop_brings_is_kept() -> None:
    data = {"finish_reason": "eos", "response_id": "r", "response_model": "m"}
    found = fold(Chunk("stop", "stop", data=data))
    assert (found.finish_reason, found.response_id, found.response_model) == ("eos", "r", "m")


def test_a_refusal_is_a_part_and_the_text_of_the_message() -> None:
    found = message(Chunk("refusal", "I "), Chunk("refusal", "won't."), Chunk("stop", "refused"))
    assert found.parts == (RefusalPart("I won't."),)
    assert found.text == "I won't."


def test_raw_call_text_beside_the_parsed_call_is_dropped() -> None:
    raw = '\n\n<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
    assert [p.kind for p in message(Chunk("text", raw), CALL).parts] == ["tool_call"]
    assert message(Chunk("text", f"Hm.{raw}"), CALL).text == "Hm."
    # Without a parsed call it is all that there is; of another tool it says something else.
    assert message(Chunk("text", raw)).text == raw
    other = Chunk("tool_call", "{}", 0, "a", "other")
    assert message(Chunk("text", raw), other).text == raw


def test_empty_means_that_nothing_came_at_all() -> None:
    assert Assembler().empty
    assert fold(Chunk("text", "")).empty
    for chunk in (
        Chunk("text", "a"),
        Chunk("reasoning", "a"),
        CALL,
        Chunk("stop", ""),
        Chunk("usage", data={"input_tokens": 0}),
    ):
        assert not fold(chunk).empty


def test_an_answer_without_words_is_an_empty_text() -> None:
    found = message(Chunk("stop", "stop"))
    assert found.parts == ()
    assert found.text == ""
