"""Whether texts say the same by their words: laws, short answers, and what one word decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.convergence import lowest
from robotlab_nb.core.messages import Message

if TYPE_CHECKING:
    import random

#: texts that meet each other often, and anything at all
WORDS = st.lists(
    st.sampled_from("the refund is not valid 5 6 1,000 robots Robot don't 東京 -3 !! ü .".split()),
    max_size=14,
).map(" ".join)
TEXTS = WORDS | st.text(max_size=40) | st.text(st.characters(categories=["Cs", "Mn", "Nd"]))

LONG = "The customer was charged twice for the same order, and the second charge is to be refunded."


# laws


@given(TEXTS, TEXTS)
def test_agreement_is_the_same_both_ways_and_between_0_and_1(a: str, b: str) -> None:
    assert 0.0 <= rl.agreement(a, b) == rl.agreement(b, a) <= 1.0


@given(TEXTS)
def test_a_text_agrees_with_itself_whatever_it_consists_of(text: str) -> None:
    assert rl.agreement(text, text) == 1.0
    assert rl.agreement(text, f"  {text}\n") == 1.0
    assert rl.converged([text, text], threshold=1)


@given(st.lists(TEXTS, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_texts_decides_nothing(texts: list[str], chance: random.Random) -> None:
    shuffled = list(texts)
    chance.shuffle(shuffled)
    assert lowest(shuffled) == lowest(texts)
    assert rl.converged(shuffled) == rl.converged(texts)


@given(st.lists(TEXTS, min_size=2, max_size=5), TEXTS)
def test_another_text_never_makes_texts_agree_more(texts: list[str], more: str) -> None:
    assert lowest([*texts, more]) <= lowest(texts)


# what counts


def test_words_count_by_their_stems_and_in_any_order() -> None:
    other = "For the same order the customer was charged twice; refund the second charge."
    assert rl.agreement(LONG, other) > 0.85
    assert rl.agreement(LONG, "The weather in Paris is sunny, and rain is expected tomorrow.") == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("yes", "Yes."), ("**Yes**", " YES! "), ("'Paris'", "Paris"), ("42", "42."),
        ("café", "CAFE\u0301"), ("东京", "东京。"), ("", "  "), ("?!", "?!"),
    ],
)  # fmt: skip
def test_short_answers_that_are_equal_agree_wholly(one: str, other: str) -> None:
    assert rl.agreement(one, other) == 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("approve", "approved"), ("New York City", "the city of New York"),
        ("refund the order", "refund the orders"),
    ],
)  # fmt: skip
def test_short_answers_that_are_alike_agree_in_part(one: str, other: str) -> None:
    assert 0.6 < rl.agreement(one, other) < 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("yes", "no"), ("5", "-5"), ("5", "5 %"), ("legal", "illegal"), ("", "x"),
        ("The verdict: legal", "The verdict: illegal"), ("do it", "do not do it"),
        ("1234567", "1234568"), ("C", "C++"), ("it is 3.14", "it is 314"), ("东京", "北京"),
    ],
)  # fmt: skip
def test_short_answers_that_differ_in_what_matters_have_not_converged(one: str, other: str) -> None:
    assert rl.agreement(one, other) < 0.85
    assert not rl.converged([one, other])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LONG, LONG.replace("is to be", "is not to be")),
        (LONG, LONG.replace("is to be", "isn’t to be")),
        (f"{LONG} It costs 5.20 dollars.", f"{LONG} It costs 5.30 dollars."),
        (f"{LONG} The balance is -3.", f"{LONG} The balance is 3."),
        (f"{LONG} Pay by 1.2.2024.", f"{LONG} Pay by 2.1.2024."),
    ],
)
def test_one_word_that_denies_or_another_number_is_no_agreement(one: str, other: str) -> None:
    assert rl.agreement(one, other) == 0.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It costs 1,000 dollars in 2024.", "It costs 1000.0 dollars in 2024."),
        ("It costs 5.20 euros, not 6.", "It costs 5,2 euros, not 6."),
        ("The charge of 5 dollars is a duplicate.", "The charge is a duplicate."),
    ],
)
def test_numbers_are_the_same_however_they_are_written_and_may_be_left_out(one, other) -> None:
    assert rl.agreement(one, other) > 0.5


def test_several_agree_when_any_two_do() -> None:
    same = LONG.replace("and the second charge", "the second charge")
    assert rl.converged([LONG, same, LONG.upper()])
    assert not rl.converged([LONG, same, "Ask the customer for the invoice of the order first."])
    assert rl.converged(iter([LONG, same]), threshold=0.9)
    assert not rl.converged([LONG, same + " Also send an apology to them."], threshold=0.99)


def test_results_and_messages_have_texts() -> None:
    result = rl.build("a", model=rl.SimulatedModel(["Refund it."])).run("x")
    assert rl.agreement(result, "refund it") == 1.0
    assert rl.converged([result, Message("assistant", "Refund it!"), "refund it"])


# what is refused


def test_what_cannot_agree_is_refused() -> None:
    with pytest.raises(rl.InputError, match="only texts can agree, and int has none"):
        rl.agreement("5", 5)
    with pytest.raises(rl.InputError, match="two texts or more can agree, not 1"):
        rl.converged(["alone"])
    with pytest.raises(rl.InputError, match="one text cannot agree with itself"):
        rl.converged("a text")


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, "0.9", True, float("nan")])
def test_a_threshold_is_a_score(threshold: object) -> None:
    with pytest.raises(rl.InputError, match="is no score above 0 and up to 1"):
        rl.converged(["a", "a"], threshold=threshold)  # type: ignore[arg-type]
