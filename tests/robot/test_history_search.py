"""Finding what was said."""

from __future__ import annotations

import pytest

import robotlab_nb as rl
from robotlab_nb.core.messages import Message, ToolCallPart, ToolResultPart
from robotlab_nb.robot.history_search import asearch, search

SAID = [
    Message("system", "You know everything about towers and their height."),
    Message("user", "How high is the Eiffel tower in Paris?"),
    Message("assistant", "The Eiffel tower is 330 metres high."),
    Message("user", "And what does the museum next to it cost?"),
    Message("assistant", [ToolCallPart("c1", "price", "{}")]),
    Message("tool", [ToolResultPart("c1", "price", "A ticket of the museum costs 12 euros.")]),
    Message("assistant", "Twelve euros."),
]


def test_the_best_match_comes_first_with_its_role_and_place():
    hits = search(SAID, "how high is the tower")
    assert [(hit.role, hit.index) for hit in hits] == [("user", 1), ("assistant", 2)]
    assert hits[0].text == "How high is the Eiffel tower in Paris?"
    assert 1 > hits[0].score > hits[1].score > 0


def test_what_tools_said_is_found_and_what_the_robot_was_told_is_not():
    assert search(SAID, "price of a museum ticket")[0].index == 5
    assert 0 not in [hit.index for hit in search(SAID, "everything about towers and their height")]


def test_short_texts_are_passed_over_unless_they_are_the_query():
    assert 6 not in [hit.index for hit in search(SAID, "twelve euros please")]
    hits = search(SAID, "  twelve EUROS. ")
    assert (hits[0].index, hits[0].score) == (6, 1.0)


def test_no_word_in_common_is_no_hit():
    assert search(SAID, "zebra crossing") == []
    assert search([], "anything") == []


def test_limit_and_blank_queries():
    assert len(search(SAID, "the tower of the museum", limit=1)) == 1
    with pytest.raises(rl.InputError, match="limit is at least 1, not 0"):
        search(SAID, "tower", limit=0)
    with pytest.raises(rl.InputError, match="the query is blank"):
        search(SAID, "  ")


def test_equally_good_ones_keep_their_order():
    twice = [Message("user", "the very same question"), Message("user", "the very same question")]
    assert [hit.index for hit in search(twice, "the same question")] == [0, 1]


def test_a_scorer_of_ones_own():
    asked = []

    def longest(query, texts):
        asked.append((query, len(texts)))
        return [len(text) / 100 for text in texts]

    hits = search(SAID, "anything", scorer=longest)
    assert hits[0].index == 3
    assert asked == [("anything", 4)]


async def test_by_meaning_with_an_embedding_function():
    def vectors(texts):
        return [[float("tower" in t.lower()), float("museum" in t.lower()) + 0.1] for t in texts]

    hits = await asearch(SAID, "A museum, surely", model=vectors, limit=2)
    assert [hit.index for hit in hits] == [3, 5]
    assert hits[0].score == pytest.approx(1.0)
    assert await asearch([], "x", model=vectors) == []


def test_a_robot_searches_its_own_conversation():
    bot = rl.build("guide", system_prompt="Be kind.", model=rl.SimulatedModel(["It is 330 metres"]))
    bot.run("How high is the Eiffel tower in Paris?")
    (hit,) = bot.search_history("the tower of paris")
    assert bot.messages[hit.index].text == hit.text == "How high is the Eiffel tower in Paris?"
