"""Cutting texts into passages: nothing lost, nothing too long, cuts where a reader would cut."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.memory.chunking import CHUNK_CHARS, OVERLAP_CHARS, check_sizes, spans

#: words, sentences, lines and paragraphs, and anything at all
PROSE = st.lists(
    st.sampled_from(
        ["robot", "arm. ", "Paris! ", "\n", "\n\n", " ", "  \n \n", "東京。", "x" * 50]
    ),
    max_size=60,
).map("".join)
TEXTS = PROSE | st.text(max_size=200) | st.text(st.sampled_from("a .\n"), max_size=300)


def sizes():
    return st.integers(20, 80).flatmap(
        lambda size: st.tuples(st.just(size), st.integers(0, size // 3))
    )


def passages(text, size=CHUNK_CHARS, overlap=OVERLAP_CHARS):
    return [text[start:end] for start, end in spans(text, size, overlap)]


@given(TEXTS, sizes())
def test_no_character_is_lost_and_no_passage_is_too_long(text, sizes):
    found = spans(text, *sizes)
    held = set()
    for start, end in found:
        assert 0 < end - start <= sizes[0]
        assert text[start:end] == text[start:end].strip()
        held.update(range(start, end))
    assert {n for n, char in enumerate(text) if not char.isspace()} <= held


@given(TEXTS, sizes())
def test_passages_go_forward_and_repeat_no_more_than_they_may(text, sizes):
    found = spans(text, *sizes)
    for (start, end), (next_start, next_end) in itertools.pairwise(found):
        assert start < next_start
        assert end < next_end
        assert end - next_start <= sizes[1]


@given(TEXTS, st.integers(20, 80))
def test_without_overlap_nothing_stands_twice(text, size):
    found = spans(text, size, 0)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(found))


def test_a_short_text_is_one_passage_without_the_space_around_it():
    assert passages("  Robots have arms.\n") == ["Robots have arms."]
    assert passages(" \n\t ") == passages("") == []


def test_paragraphs_stay_together_while_they_fit():
    first, second, third = ("Robots. " * n for n in (60, 30, 40))
    text = "\n\n".join(part.strip() for part in (first, second, third))
    found = passages(text, 800, 0)
    assert found == [f"{first.strip()}\n\n{second.strip()}", third.strip()]


def test_a_long_paragraph_is_cut_after_sentences_and_the_last_ones_are_repeated():
    sentences = [f"This is sentence number {n} of the paragraph." for n in range(100)]
    found = passages(" ".join(sentences), 300, 100)
    assert all(part.startswith("This is") and part.endswith("paragraph.") for part in found)
    assert all(two.split(". ")[0] in one for one, two in itertools.pairwise(found))


def test_a_sentence_without_end_is_cut_between_words():
    found = passages("word " * 500, 97, 20)
    assert {word for part in found for word in part.split()} == {"word"}


def test_the_end_of_a_text_is_not_told_twice():
    assert passages("robotrobotarm. arm. \n", 20, 5) == ["robotrobotarm. arm."]
    assert passages("robotrobotarm. arm. \n", 20, 5) == passages("robotrobotarm. arm.", 20, 5)


def test_a_sentence_is_repeated_only_where_it_fits_whole():
    sentence = "一二三四五六。"
    assert passages(sentence * 6, 21, 6) == [sentence * 3, sentence * 3]
    assert passages(sentence * 6, 21, 7) == [sentence * 3, sentence * 3, sentence * 2]


def test_text_without_spaces_is_cut_all_the_same():
    assert list(map(len, passages("x" * 2_000, 800, 100))) == [800, 800, 400]
    assert passages("今日は雨。明日は晴れ。" * 10, 30, 10)[1].startswith(("今日", "明日"))


def test_white_space_without_end_takes_no_time():
    began = time.process_time()
    assert passages("a" + " " * 1_000_000 + "b") == ["a", "b"]
    assert len(spans("a b. " * 400_000)) > 2_000
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("size", "overlap", "said"),
    [
        (10, 0, "chunk_chars is a whole number from 20, not 10"),
        ("800", 0, "chunk_chars is a whole number from 20, not '800'"),
        (800, -1, "overlap_chars is a whole number from 0, not -1"),
        (800, True, "overlap_chars is a whole number from 0, not True"),
        (300, 101, "more than a third of chunk_chars=300"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(size, overlap, said):
    with pytest.raises(ConfigurationError, match=said):
        check_sizes(size, overlap)
