"""The index of passages by words: what is there decides the scores, not how it came there."""

from __future__ import annotations

from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.scoring import terms
from robotlab_nb.memory.word_index import WordIndex, counted

TEXTS = st.lists(
    st.sampled_from("robot robots arm the of table PDF 東京 天気 книга !! ü".split()), max_size=8
).map(" ".join)
#: a passage to add, or the number of one to remove
STEPS = st.lists(st.tuples(st.integers(0, 5), TEXTS | st.none()), max_size=14)


def filled(texts):
    index = WordIndex()
    for number, text in texts.items():
        index.add(number, counted(text))
    return index


def expected(texts, query):
    """The scores, worked out anew for each passage in the plainest way."""
    held = {number: counted(text) for number, text in texts.items()}

    def rarity(term):
        return log((1 + len(held)) / (1 + sum(term in counts for counts in held.values()))) + 1

    def unit(weights):
        length = sqrt(sum(weight**2 for weight in weights.values()))
        return {term: weight / length for term, weight in weights.items()}

    asked = unit({t: (1 + log(n)) * rarity(t) for t, n in counted(query).items()})
    passages = {
        number: unit({t: 1 + log(n) for t, n in counts.items()}) for number, counts in held.items()
    }
    return {
        number: sum(asked.get(term, 0.0) * weight for term, weight in weights.items())
        for number, weights in passages.items()
    }


@given(STEPS, TEXTS)
def test_scores_are_those_of_what_is_there_however_it_came_there(steps, query):
    index, there = WordIndex(), {}
    for number, text in steps:
        if number in there:
            index.remove(number)
            del there[number]
        if text is not None:
            index.add(number, counted(text))
            there[number] = text
    found = index.scores(query, 6)
    assert found == filled(dict(reversed(there.items()))).scores(query, 6)
    assert found == pytest.approx([expected(there, query).get(n, 0.0) for n in range(6)])
    assert all(0.0 <= score <= 1.0 for score in found)


def test_rare_words_count_more_and_unknown_ones_lower_the_score():
    index = filled({0: "merge the files", 1: "read the files", 2: "write the files"})
    scores = index.scores("merge files", 3)
    assert scores[0] > 2 * scores[1] > 0
    assert index.scores("merge", 3)[0] > index.scores("merge quietly", 3)[0] > 0
    assert index.scores("quietly", 3) == [0.0, 0.0, 0.0]


def test_nothing_is_left_of_what_was_removed():
    index = filled({0: "robots have arms", 1: "robots have tables"})
    index.remove(0)
    index.remove(1)
    assert (index._postings, index._held, index._scale) == ({}, {}, {})
    assert terms("robots") == ["robot"]
