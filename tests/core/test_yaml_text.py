"""YAML that people write: what it means, and what is refused."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.core.yaml_text import read_mapping, read_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("010", 10),
        ("0x1f", 31),
        ("-7", -7),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("", None),
        ("~", None),
        ('"5"', "5"),
        ("[a, {b: c}]", ["a", {"b": "c"}]),
    ],
)
def test_words_are_words_and_numbers_are_numbers(text, value):
    found = read_mapping(f"key: {text}", "a.yml").data["key"]
    assert (found, type(found)) == (value, type(value))


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}, *{old}, *{old}]\n"
    for old, new in zip("abcdefghij", "bcdefghijk", strict=True)
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LAUGHS, "line 2: references"),
        ("a: 1\nb: !!python/object/apply:os.system [x]", "line 2: the tag"),
        ("a: !!python/name:os.system", "the tag"),
        ("a: !!binary aGk=", "the tag"),
        ("a: 1\n\na: 2", "line 3: 'a' stands here twice"),
        ("a:\n  b: 1\n  b: 2", "line 3: 'b' stands here twice"),
        ("1: x", "a key is a name, not '1'"),
        ("[a]: x", "a key is a name, not a sequence"),
        ("- a\n- b", "these are no settings, but list"),
        ("just words", "these are no settings, but str"),
        ("a: [", "line 1:"),
        ("a: b: c", "line 1: mapping values"),
        ("x: 1\na: \x00", "line 2: special characters"),
        ("a: \ud800", "special characters"),
        ("a: " + "9" * 5000, "digits"),
        ("a: " + "[" * 60 + "]" * 60, "nested more than 50"),
        ("a: 1\n---\nb: 2", "another document"),
        ("# " + "x" * 64_000, "over 64,000"),
    ],
)
def test_what_is_more_than_plain_data_is_refused_with_its_line(text, told):
    with pytest.raises(ConfigurationError, match="a.yml") as caught:
        read_mapping(text, "a.yml")
    assert told in str(caught.value)


def test_lines_are_those_of_the_whole_file():
    assert read_mapping("a: 1\n\nb: 2", "x.md", first_line=2).lines == {"a": 2, "b": 4}
    with pytest.raises(ConfigurationError, match="x.md, line 7"):
        read_mapping("a: 1\na: 2", "x.md", first_line=6)


@given(st.text(max_size=200))
def test_any_text_is_data_or_an_error_of_ours(text):
    try:
        found = read_value(text, "x")
    except ConfigurationError:
        return
    assert isinstance(found, (str, int, float, bool, list, dict, type(None)))


def test_the_worst_texts_end_soon():
    began = time.perf_counter()
    for text in ("[" * 63_000, "a: {" * 15_000, "- " * 30_000, '"' * 63_000, "? " * 30_000):
        with pytest.raises(ConfigurationError):
            read_mapping(text, "x")
    assert time.perf_counter() - began < 20
    assert sys.getrecursionlimit() >= 1000
