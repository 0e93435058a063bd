"""Text fits its columns; JSON is shown as people write it; amounts say what they know."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robotlab_nb.core.usage import Usage
from robotlab_nb.display import amounts
from robotlab_nb.display.as_text import write
from robotlab_nb.display.columns import fit, pad, width, wrap
from robotlab_nb.display.escape import plain
from robotlab_nb.display.json_text import arguments_line, laid_out, masked, value_line
from robotlab_nb.display.parts import Fields, Fold, Head, Para, Picture, Prose, Table
from robotlab_nb.display.tool_card import type_words

VISIBLE = st.text(max_size=200).map(plain)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VISIBLE, st.integers(2, 40), st.integers(1, 8))
@settings(max_examples=200, deadline=None)
def test_wrapped_lines_fit_and_hold_every_letter(text: str, columns: int, most: int) -> None:
    lines, more = wrap(text, columns, most)
    assert len(lines) <= most
    assert all(width(line) <= columns for line in lines)
    whole, left = wrap(text, columns, 10_000)
    assert not left
    assert "".join("".join(whole).split()) == "".join(text.split())
    assert more == (len(whole) > most)


@given(VISIBLE, st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_fitting_and_padding_keep_to_the_columns(text: str, columns: int) -> None:
    flat = text.replace("\n", " ").replace("\t", " ")
    assert width(fit(flat, columns)) <= columns
    assert width(pad(fit(flat, columns), columns)) == columns


def test_wide_characters_take_two_columns() -> None:
    assert width("日本語") == 6
    assert fit("日本語日本語", 7) == "日本語…"
    assert width("e\u0301") == 1


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_arguments_of_any_shape_are_one_short_line(value: Any) -> None:
    line = arguments_line(json.dumps(value), 80)
    assert line[0] + line[-1] == "()"
    assert len(line) <= 80
    assert "\n" not in line


@pytest.mark.parametrize(
    "text", ["", "null", "{", '{"a": ', "[" * 5000, '{"a": ' + "9" * 3900 + "}", '{"a": NaN}', "{}"]
)
def test_malformed_arguments_are_shown_as_they_are(text: str) -> None:
    assert arguments_line(text, 80).startswith("(")
    assert len(laid_out(text)) >= min(len(text), 1) or text == ""


def test_long_json_is_laid_out_and_short_json_is_not() -> None:
    assert laid_out('{"a":[1,2]}') == '{"a": [1, 2]}'
    value = {f"key {n}": "v" * 9 for n in range(5)}
    assert json.loads(laid_out(json.dumps(value))) == value
    assert laid_out(json.dumps(value)).count("\n") == 6


def test_values_have_no_addresses_and_keys_no_values() -> None:
    assert "0x" not in value_line(object(), 80)
    assert masked(
        "x", {"API-KEY": "s", "keys": ["k"], "n": {"password": "p", "max_tokens": 3}}
    ) == {
        "API-KEY": "(set)",
        "keys": ["k"],
        "n": {"password": "(set)", "max_tokens": 3},
    }
    assert masked("api_key", "") is None
    assert masked("monkey", "banana") == "banana"


def test_amounts_tell_unknown_from_nothing() -> None:
    assert amounts.cost(Usage(cost_usd=0.0)) == "$0"
    assert amounts.cost(Usage()) == "cost\u00a0unknown"
    assert amounts.tokens(Usage(0, 0)) == "0\u00a0tokens"
    assert amounts.tokens(Usage()) == "tokens\u00a0unknown"
    odd: Any
    for odd in (None, "x", True, float("nan"), float("inf"), -1, 10**400):
        assert amounts.seconds(odd) is None
        assert amounts.dollars(odd) is None
        assert amounts.moment(odd) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "under 1 ms"), (0.9994, "999 ms"), (0.9996, "1.0 s"), (59.94, "59.9 s"),
     (59.96, "1 min 00 s"), (3599, "59 min 59 s"), (3600, "1 h 00 min"), (90061, "25 h 01 min")],
)  # fmt: skip
def test_lengths_of_time_change_their_unit_where_a_person_would(seconds: float, words: str) -> None:
    assert amounts.seconds(seconds) == words.replace(" ", "\u00a0")


def test_schemas_are_told_in_words_whatever_they_are() -> None:
    assert type_words({"anyOf": [{"type": "string"}, {"type": "null"}]}) == "string | null"
    assert type_words({"type": ["integer", "null"]}) == "integer | null"
    assert type_words({"$ref": "#/$defs/Place"}) == "Place"
    assert type_words({"enum": list(range(20))}).endswith("11 | …")
    assert type_words({"const": "x"}) == '"x"'
    odd: Any
    for odd in (
        None,
        3,
        [],
        {"type": {}},
        {"enum": 5},
        {"items": 3, "type": "array"},
        {"anyOf": []},
    ):
        assert type_words(odd)
    deep: Any = {"type": "string"}
    for _ in range(2000):
        deep = {"type": "array", "items": deep}
    assert type_words(deep) == "array of array of array of array of array of any"


def test_text_gives_way_in_the_answer_before_it_does_in_the_figures() -> None:
    picture = Picture(
        (
            Prose("\n".join(f"line {n}" for n in range(100)), whole="result.text"),
            Para(("✓ completed",), quiet=True),
            Fold(("Transcript",), (Para(("inside",)),), "2 messages", told=True),
        )
    )
    lines = write(picture).split("\n")
    assert len(lines) == 40
    assert lines[0] == "line 0"
    assert lines[-3:] == [
        "… of 789 characters: result.text has all of it",
        "✓ completed",
        "▸ Transcript · 2 messages",
    ]


def test_a_table_and_fields_keep_to_the_columns() -> None:
    row = (("日本" * 30,), ("x" * 200,), ("9",))
    picture = Picture(
        (
            Head(("n" * 300,), "robot", ("m" * 100,)),
            Table(("a", "b", "c"), (row, row), frozenset({2})),
            Fields((("k" * 50, ("v " * 500,)),)),
        ),
        framed=True,
    )
    lines = write(picture).split("\n")
    assert all(width(line) <= 96 for line in lines)
    assert len(lines) == 1 + 3 + 4
