"""A robot that goes round in circles is noticed; one that makes progress is not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.robot.doom_loop import LONGEST, DoomLoop


def found(calls, threshold=3):
    """What is noticed at which call, of calls written as letters."""
    loops = DoomLoop(threshold)
    seen = [(n, loops.seen("tool", {"x": c})) for n, c in enumerate(calls)]
    return [(n, loop.kind, loop.length, loop.count) for n, loop in seen if loop is not None]


def test_the_same_call_so_many_times_in_a_row_is_a_loop():
    assert found("abaabbaaa") == [(8, "repeat", 1, 3)]
    assert found("aa", threshold=2) == [(1, "repeat", 1, 2)]


def test_a_cycle_so_many_times_over_is_a_loop():
    assert found("xababab") == [(6, "cycle", 2, 3)]
    assert found("abcdefghij" * 3) == [(29, "cycle", 10, 3)]
    assert found("abcdefghijk" * 5) == []  # eleven calls are no cycle any more


def test_counting_starts_anew_after_a_loop():
    assert found("aaaaaa") == [(2, "repeat", 1, 3), (5, "repeat", 1, 3)]
    assert found("aaabbb") == [(2, "repeat", 1, 3), (5, "repeat", 1, 3)]


def test_other_arguments_are_other_calls():
    assert found("abcdefgh") == []
    loops = DoomLoop(2)
    assert loops.seen("read", {"page": 1}) is None
    assert loops.seen("write", {"page": 1}) is None
    assert loops.seen("write", {"page": 2}) is None
    assert loops.seen("write", {"page": 2})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a": 1, "b": [2]}', '{ "b":[2], "a":1 }', True),
        ('{"a": 1}', {"a": 1}, True),
        ("{}", None, True),
        ("", "  ", True),
        ('{"a": "1"}', '{"a": 1}', False),
        ('{"a": 1', '{"a": 1', True),
        ('{"a": 1', '{"a": 1}', False),
        ("[1]", "[2]", False),
        ("[" * 100_000, "[" * 100_000, True),
        ({"a": {1}}, {"a": {1}}, True),
        ('"\\ud800"', '"\\ud800"', True),
        ("\ud800", "\ud800", True),
    ],
)
def test_arguments_are_compared_by_what_they_mean(one, other, same):
    loops = DoomLoop(2)
    assert loops.seen("t", one) is None
    assert (loops.seen("t", other) is not None) is same


def test_the_warning_tells_the_model_what_it_did():
    loops = DoomLoop(2)
    for tool in ("search", "open", "search", "open"):
        loop = loops.seen(tool, '{"q": "cat"}')
    assert "2 tool calls 2 times" in loop.warning
    assert "search, open" in loop.warning
    loops.seen("search", None)
    assert "search 2 times in a row" in loops.seen("search", None).warning


@pytest.mark.parametrize("threshold", [None, 0])
def test_it_can_be_off(threshold):
    loops = DoomLoop(threshold)
    assert not any(loops.seen("t", "{}") for _ in range(100))


def test_a_threshold_of_one_would_make_each_call_a_loop():
    with pytest.raises(rl.ConfigurationError, match="at least 2"):
        DoomLoop(1)


def brute_force(calls, threshold):
    """The definition, written down: does the history since the last loop end in one?"""
    since, told = [], []
    for n, call in enumerate(calls):
        since.append(call)
        for length in range(1, LONGEST + 1):
            end = since[-length * threshold :]
            if len(end) == length * threshold and end == end[:length] * threshold:
                told.append((n, "repeat" if length == 1 else "cycle", length, threshold))
                since = []
                break
    return told


patterned = st.lists(
    st.tuples(st.text("abc", min_size=1, max_size=12), st.integers(1, 5)), max_size=6
).map(lambda pieces: "".join(text * times for text, times in pieces))


@given(patterned | st.text("ab", max_size=60), st.integers(2, 4))
def test_it_finds_what_the_definition_finds(calls, threshold):
    assert found(calls, threshold) == brute_force(calls, threshold)


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=4))
def test_the_order_of_arguments_does_not_matter(arguments):
    loops = DoomLoop(2)
    loops.seen("t", json.dumps(arguments))
    assert loops.seen("t", json.dumps(dict(reversed(arguments.items())), indent=3))
