"""Odd answers: what each shape that servers send must be read as."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from robotlab_nb.core.errors import ModelError
from robotlab_nb.core.messages import Message, ReasoningPart, RefusalPart, TextPart, UnknownPart
from robotlab_nb.models.assembly import Assembler
from robotlab_nb.models.openai_answer import StreamReader, read_json
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Chunk, Request


def delta(fields: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> Any:
    choice = {"index": 0, "delta": fields or {}, "finish_reason": finish, **more}
    return {"id": "r", "model": "m", "choices": [choice]}


def piece(
    index: Any = 0, id_: Any = None, name: Any = None, arguments: Any = None, **more: Any
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    entry = {"index": index, "id": id_, "function": function, **more}
    return {k: v for k, v in entry.items() if v is not None}


def calls(*entries: dict[str, Any]) -> Any:
    return delta({"tool_calls": list(entries)})


def read(*objects: Any, done: bool = True, limit: int | None = None) -> Assembler:
    reader = StreamReader("m", limit=limit)
    found = Assembler()
    for obj in objects:
        for chunk in reader.feed(obj):
            found.add(chunk)
    reader.done = done
    for chunk in reader.finish():
        found.add(chunk)
    return found


def message(found: Assembler) -> Message:
    numbers = count(1)
    return found.message(lambda: f"our_{next(numbers)}")


def made(*objects: Any) -> list[tuple[str | None, str, str]]:
    return [(c.wire_id, c.name, c.arguments) for c in message(read(*objects)).tool_calls]


def failed(*objects: Any, done: bool = True) -> ModelError:
    with pytest.raises(ModelError) as caught:
        read(*objects, done=done)
    return caught.value


# -- tool calls ------------------------------------------------------------------------------------


def test_an_index_is_only_a_label() -> None:
    assert made(
        calls(piece(-1, "a", "f", "{")), calls(piece(7, "b", "g", "[")),
        calls(piece(-1, None, None, "}")), calls(piece(7, "", None, "]")),
    ) == [("a", "f", "{}"), ("b", "g", "[]")]  # fmt: skip


def test_a_new_id_under_a_used_index_is_a_new_call() -> None:
    assert made(calls(piece(0, "a", "f", "")), calls(piece(0, "b", "f", ""))) == [
        ("a", "f", ""), ("b", "f", ""),
    ]  # fmt: skip
    assert made(calls(piece(0, "a", "f", "{}")), calls(piece(0, "b", "f", "{}"))) == [
        ("a", "f", "{}"), ("b", "f", "{}"),
    ]  # fmt: skip


def test_an_id_that_comes_again_or_empty_changes_nothing() -> None:
    assert made(
        calls(piece(0, "a", "f", "")), calls(piece(0, "a", None, '{"x"')),
        calls(piece(0, "", "", ": 1")), calls(piece(0, None, None, "}")),
        calls({"index": 0, "id": "", "function": {"arguments": None}}),
        calls({"index": 0, "function": {}}), calls({"index": 0, "function": None}),
    ) == [("a", "f", '{"x": 1}')]  # fmt: skip


def test_id_and_name_of_a_call_are_given_once() -> None:
    reader = StreamReader("m")
    pieces = [
        piece(0, "", "", "{"),
        piece(0, "a", "f", ""),
        piece(0, "", ""),
        piece(0, "a", "f", "}"),
    ]
    chunks = [chunk for entry in pieces for chunk in reader.feed(calls(entry))]
    assert [(chunk.id, chunk.name) for chunk in chunks] == [
        (None, None), ("a", "f"), (None, None), (None, None),
    ]  # fmt: skip


def test_without_an_index_the_id_tells_and_then_the_place() -> None:
    whole = {"tool_calls": [piece(None, "a", "f", "{}"), piece(None, "b", "g", "{}")]}
    assert made(delta(whole)) == [("a", "f", "{}"), ("b", "g", "{}")]
    assert made(
        calls(piece(None, "a", "f", "{")), calls(piece(None, None, None, "}")),
        calls(piece(None, "b", "g", "[")), calls(piece(None, None, None, "]")),
        calls(piece(None, "a", None, " ")),
    ) == [("a", "f", "{} "), ("b", "g", "[]")]  # fmt: skip


def test_a_piece_that_names_nothing_goes_on_with_the_call_before_it() -> None:
    assert made(calls(piece(None, "a", "f", "{")), calls(piece(0, None, None, "}"))) == [
        ("a", "f", "{}"),
    ]  # fmt: skip


def test_calls_without_ids_at_one_index_are_told_apart() -> None:
    assert made(calls(piece(0, "", "f", "")), calls(piece(0, "", "g", ""))) == [
        (None, "f", ""), (None, "g", ""),
    ]  # fmt: skip
    assert made(calls(piece(0, "", "f", "{}")), calls(piece(0, "", "g", "{}"))) == [
        (None, "f", "{}"), (None, "g", "{}"),
    ]  # fmt: skip
    assert made(calls(piece(0, "", "f", '{"x": 1}')), calls(piece(0, "", "f", '{"x": 2}'))) == [
        (None, "f", '{"x": 1}'), (None, "f", '{"x": 2}'),
    ]  # fmt: skip


def test_a_name_that_comes_again_with_each_piece_is_one_call() -> None:
    assert made(
        calls(piece(0, "a", "f", "")),
        calls(piece(0, "a", "f", "{}")),
        calls(piece(0, "a", "f", "")),
    ) == [("a", "f", "{}")]


def test_two_calls_with_one_id_at_two_indexes_are_two() -> None:
    found = made(calls(piece(0, "a", "f", "{}")), calls(piece(1, "a", "g", "{}")))
    assert found == [("a", "f", "{}"), ("a_2", "g", "{}")]


@pytest.mark.parametrize("arguments", ["", None, "null", "{}", "absent"])
def test_arguments_are_kept_as_they_came(arguments: str | None) -> None:
    function = {"name": "f"} if arguments == "absent" else {"name": "f", "arguments": arguments}
    entry = {"index": 0, "id": "a", "function": function}
    expected = arguments if arguments in ("null", "{}") else ""
    assert made(calls(entry)) == [("a", "f", expected)]


def test_arguments_that_are_an_object_become_json() -> None:
    assert made(calls(piece(0, "a", "f", {"x": "ü"}))) == [("a", "f", '{"x": "ü"}')]


def test_legacy_function_calls_are_calls_and_empty_shells_are_not() -> None:
    found = read(
        delta({"function_call": {"name": "f", "arguments": ""}}),
        delta({"function_call": {"arguments": "{}"}}, "function_call"),
    )
    assert [(c.name, c.arguments) for c in message(found).tool_calls] == [("f", "{}")]
    assert found.stop_reason == "tool"
    shell = {"function_call": {"name": "", "arguments": ""}, "tool_calls": None, "content": "Hi"}
    found = read(delta(shell, "stop"))
    assert message(found).text == "Hi"
    assert found.stop_reason == "stop"
    both = {"function_call": {"name": "f", "arguments": "{}"}, "tool_calls": [piece(0, "a", "f")]}
    assert len(made(delta(both))) == 1


def test_a_custom_tool_keeps_its_kind() -> None:
    entry = {"id": "a", "type": "custom", "custom": {"name": "f", "input": "4 + 4"}}
    part = message(read(calls(entry))).tool_calls[0]
    assert (part.name, part.arguments) == ("f", "4 + 4")
    back = encode(Request((Message("assistant", [part]),)), "m")["messages"][0]
    assert back["tool_calls"] == [entry]


def test_extras_of_a_call_go_back_with_it() -> None:
    extra = {"google": {"thought_signature": "s"}}
    part = message(read(calls(piece(0, "a", "f", "{}", extra_content=extra)))).tool_calls[0]
    back = encode(Request((Message("assistant", [part]),)), "m")["messages"][0]
    assert back["tool_calls"][0]["extra_content"] == extra


# -- text, reasoning, refusals ---------------------------------------------------------------------


def test_a_message_beside_the_deltas_is_not_read_again() -> None:
    first = delta({"content": "1 "}, message={"role": "assistant", "content": "1 "})
    second = delta({"content": "2"}, message={"role": "assistant", "content": "1 2"})
    last = delta({}, "stop", message={"role": "assistant", "content": "1 2"})
    assert message(read(first, second, last, done=False)).text == "1 2"


def test_content_is_a_string_now_and_parts_then() -> None:
    thinking = [{"type": "text", "text": "Hm. "}]
    found = message(
        read(
            delta({"content": [{"type": "thinking", "thinking": thinking}]}),
            delta(
                {
                    "content": [
                        {"type": "thinking", "thinking": "So."},
                        {"type": "text", "text": "1"},
                    ]
                }
            ),
            delta({"content": "4"}),
            delta({"content": ["4"]}, "stop"),
        )
    )
    assert (found.text, found.reasoning) == ("144", "Hm. So.")
    assert found.parts[0] == ReasoningPart("Hm. So.", {"field": "thinking"})


def test_a_part_that_is_not_known_is_kept() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    found = message(read(delta({"content": [{"type": "text", "text": "Look"}, picture]}, "stop")))
    assert found.parts == (TextPart("Look"), UnknownPart(picture))


@pytest.mark.parametrize(
    ("content", "text"), [(None, ""), ("", ""), ({"a": 1}, '{"a": 1}'), ([], ""), (0, "")]
)
def test_content_of_other_kinds(content: Any, text: str) -> None:
    payload = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    found = Assembler()
    for chunk in read_json(payload):
        found.add(chunk)
    assert message(found).text == text


def test_reasoning_that_comes_under_two_names_is_read_once() -> None:
    details = [{"type": "reasoning.text", "text": "Hm", "index": 0}]
    found = message(
        read(
            delta({"reasoning": "Hm", "reasoning_details": details}),
            delta(
                {"reasoning_details": [{"type": "reasoning.text", "signature": "s", "index": 0}]}
            ),
            delta({"content": "4"}, "stop"),
        )
    )
    whole = [{"type": "reasoning.text", "text": "Hm", "index": 0, "signature": "s"}]
    assert found.parts[0] == ReasoningPart("Hm", {"reasoning_details": whole})
    only = delta({"reasoning_details": details})
    assert message(read(delta({"reasoning": "Hm"}), only, delta({}, "stop"))).reasoning == "Hm"
    assert message(read(only, delta({}, "stop"))).reasoning == "Hm"


def test_reasoning_blocks_keep_their_order_and_are_not_run_together() -> None:
    def details(**block: Any) -> Any:
        return delta({"reasoning_details": [block]})

    found = message(
        read(
            details(type="reasoning.text", index=0, text="a"),
            details(type="reasoning.text", index=0, text="b", signature="s"),
            details(type="reasoning.encrypted", index=1, data="x", id="1"),
            details(type="reasoning.encrypted", index=1, data="y", id="2"),
            details(type="reasoning.encrypted", index=1, data="z"),
            details(type="reasoning.text", index=2, text="c"),
            details(type="reasoning.text", index=3, text="d"),
            delta({}, "stop"),
        )
    )
    part = found.parts[0]
    assert isinstance(part, ReasoningPart)
    assert part.opaque is not None
    blocks = part.opaque["reasoning_details"]
    assert [b.get("text") or b.get("data") for b in blocks] == ["ab", "x", "y", "z", "c", "d"]
    assert blocks[0]["signature"] == "s"


def test_a_refusal_comes_in_pieces_beside_any_finish() -> None:
    for finish in ("stop", "content_filter", None):
        found = read(delta({"refusal": "I "}), delta({"refusal": "won't"}), delta({}, finish))
        assert message(found).parts == (RefusalPart("I won't"),)
        assert found.stop_reason == "refused"


def test_sound_is_a_part_and_its_words_are_the_text() -> None:
    found = message(
        read(
            delta({"audio": {"id": "a1", "transcript": "He"}}),
            delta({"audio": {"data": "QUI=", "transcript": "y"}}),
            delta({"audio": {"data": "Q0Q="}}, "stop"),
        )
    )
    assert found.text == "Hey"
    sound = {"id": "a1", "transcript": "Hey", "data": "QUI=Q0Q="}
    assert found.parts[-1] == UnknownPart({"type": "audio", "audio": sound})
    empty = {"audio": {"data": "", "id": "", "transcript": ""}, "content": "Hi"}
    assert message(read(delta(empty, "stop"))).parts == (TextPart("Hi"),)


def test_think_tags_stay_in_the_text() -> None:
    assert (
        message(read(delta({"content": "<think>a</think>b"}, "stop"))).text == "<think>a</think>b"
    )


# -- choices and finish ----------------------------------------------------------------------------


def test_only_the_first_choice_is_read() -> None:
    def other(fields: dict[str, Any], finish: str | None = None) -> Any:
        return {"choices": [{"index": 1, "delta": fields, "finish_reason": finish}]}

    found = read(
        other({"content": "x"}), delta({"content": "a"}), other({"content": "y"}),
        other({"tool_calls": [piece(0, "a", "f")]}, "length"), delta({}, "stop"),
    )  # fmt: skip
    assert message(found).parts == (TextPart("a"),)
    assert found.stop_reason == "stop"


@pytest.mark.parametrize(
    ("reasons", "stop", "finish"),
    [
        (["tool_calls", "stop"], None, "tool_calls"),
        (["length", "stop"], "length", "length"),
        (["stop", "length"], "length", "length"),
        (["eos"], "stop", "eos"),
        (["never_heard_of"], None, "never_heard_of"),
        (["never_heard_of", "stop"], "stop", "stop"),
        (["", "stop"], "stop", "stop"),
        (["MAX_TOKENS"], "length", "MAX_TOKENS"),
        (["SAFETY"], "content_filter", "SAFETY"),
        (["refusal"], "refused", "refusal"),
    ],
)
def test_the_strongest_reason_counts(reasons: list[str], stop: str | None, finish: str) -> None:
    found = read(delta({"content": "a"}), *[delta({}, reason) for reason in reasons])
    assert (found.stop_reason, found.finish_reason) == (stop, finish)


@pytest.mark.parametrize("label", ["length", "tool_calls", "stop"])
def test_a_call_that_was_cut_at_the_limit_stops_for_length_under_any_label(label: str) -> None:
    cut = calls(piece(0, "a", "f", '{"x": "y'))
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 16}}
    assert read(cut, delta({}, label), usage, limit=16).stop_reason == "length"
    native = delta({}, label, native_finish_reason="max_tokens")
    assert read(cut, native, usage).stop_reason == "length"
    # Badly written, but not at the limit: the model is told, and may try again.
    if label != "length":
        assert read(cut, delta({}, label), usage, limit=17).stop_reason == "tool"
        whole = calls(piece(0, "a", "f", "{}"))
        assert read(whole, delta({}, label), usage, limit=16).stop_reason == "tool"


def test_a_finish_that_says_error_is_one() -> None:
    error = failed(delta({"content": "a"}), delta({}, "error"))
    assert (error.kind, error.retryable, error.billed) == ("server", True, True)


def test_an_answer_is_complete_by_done_by_a_reason_or_by_the_usage_after_it() -> None:
    text = delta({"content": "a"})
    usage = {"choices": [], "usage": {"completion_tokens": 1}}
    assert read(text, done=True).stop_reason is None
    assert read(text, delta({}, "stop"), done=False).stop_reason == "stop"
    assert read(text, usage, done=False).stop_reason is None
    assert failed(text, done=False).kind == "cut"
    assert failed(text, usage, text, done=False).kind == "cut"
    # Usage that rides on every piece says nothing about the end.
    assert failed({**text, "usage": {"completion_tokens": 1}}, done=False).kind == "cut"


@pytest.mark.parametrize("choices", [[], None, "absent", {}, [None]])
def test_no_choices_is_an_error_worth_another_try(choices: Any) -> None:
    payload = {"id": "chat-7"} if choices == "absent" else {"id": "chat-7", "choices": choices}
    with pytest.raises(ModelError) as caught:
        read_json(payload, "a/b")
    error = caught.value
    assert (error.kind, error.retryable, error.billed) == ("protocol", True, True)
    assert "a/b" in str(error)
    if choices != [None]:
        assert "chat-7" in (error.body or "")


def test_odd_containers_are_passed_over() -> None:
    found = read(
        {"choices": None}, {"choices": [{"delta": None}]}, {"choices": [{}]}, {"type": "ping"},
        delta({"content": "a", "tool_calls": None, "role": None}),
        delta({"tool_calls": []}, "stop"),
    )  # fmt: skip
    assert message(found).parts == (TextPart("a"),)


# -- usage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 1, "completion_tokens": 2}, {"input_tokens": 1, "output_tokens": 2}),
        ({"prompt_tokens_details": {"cached_tokens": 5}}, {"cached_tokens": 5}),
        ({"prompt_cache_hit_tokens": 5}, {"cached_tokens": 5}),
        ({"cached_tokens": 5}, {"cached_tokens": 5}),
        ({"cache_read_input_tokens": 5}, {"cached_tokens": 5}),
        (
            {"prompt_tokens_details": {"cached_tokens": 0}, "cache_read_input_tokens": 5},
            {"cached_tokens": 5},
        ),
        ({"completion_tokens_details": {"reasoning_tokens": 61}}, {"reasoning_tokens": 61}),
        ({"completion_tokens": 0, "cost": 0}, {"output_tokens": 0, "cost_usd": 0.0}),
        ({"cost": {"total_cost": 0.006}}, {"cost_usd": 0.006}),
        ({"cost": "0.5"}, {"cost_usd": 0.5}),
        ({"cost_in_usd_ticks": 2279400}, {"cost_usd": 0.00022794}),
        ({"prompt_tokens": None, "completion_tokens": "many", "prompt_tokens_details": None}, None),
        ({}, None),
    ],
)
def test_usage(usage: dict[str, Any], expected: dict[str, Any] | None) -> None:
    found = read(delta({"content": "a"}, "stop"), {"choices": [], "usage": usage})
    assert found.usage == expected


def test_usage_comes_growing_and_the_last_that_is_known_counts() -> None:
    found = read(
        {**delta({"content": "a"}), "usage": {"prompt_tokens": 9, "completion_tokens": None}},
        {**delta({}, "stop"), "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
        {"choices": [], "usage": {"prompt_tokens": None, "completion_tokens": None}},
        {"choices": [], "usage": None},
        {"choices": []},
    )
    assert found.usage == {"input_tokens": 9, "output_tokens": 4}
    groq = {**delta({}, "stop"), "x_groq": {"usage": {"prompt_tokens": 3}}}
    assert read(delta({"content": "a"}), groq).usage == {"input_tokens": 3}


def test_chunks_are_given_once_for_each_piece_of_text() -> None:
    reader = StreamReader("m")
    assert reader.feed(delta({"role": "assistant", "content": ""})) == []
    assert reader.feed(delta({"content": "a"})) == [Chunk("text", "a")]
    assert reader.feed(delta({"role": "assistant", "content": "b"})) == [Chunk("text", "b")]
    (end,) = reader.feed(delta({"content": "c"}, "stop"))
    assert end == Chunk("text", "c")
    data = {"response_id": "r", "response_model": "m", "finish_reason": "stop"}
    assert reader.finish() == [Chunk("stop", "stop", data=data)]
