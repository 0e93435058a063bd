"""What judges answers, and what it says of them, made of a word: for tests of all pictures."""

from __future__ import annotations

from typing import Any

import robotlab_nb as rl
from robotlab_nb.core.readings import ShownTuple
from robotlab_nb.lab.differences import Difference

__all__ = ["a_check", "a_difference", "a_judge", "a_score", "several_scores"]


def a_score(word: str = "polite", *, failed: bool = False) -> rl.Score:
    """A score that a judge gave; or one that could not be given."""
    if failed:
        return rl.Score(word, error={"type": word, "message": word, "hint": word})
    return rl.Score(word, 3, False, word, None, word, 0.01, word, True)


def several_scores(word: str = "polite") -> Any:
    """Scores as an evaluator gives them."""
    return ShownTuple([a_score(word), a_score(word, failed=True), rl.Score(word, passed=True)])


def a_check(word: str = "Paris") -> Any:
    """An evaluator of words."""
    said = word if word.strip() else "x"
    return rl.contains(said, name=said)


def a_judge(word: str = "polite") -> Any:
    """A judge with a rubric, a criterion and a scale."""
    said = word if word.strip() else "x"
    model = rl.SimulatedModel(["{}"])
    return rl.judge(said, name=said, model=model, criteria={said: said}, scale=5, passes=3)


def a_difference(word: str = "terse") -> Difference:
    """Two variants that differ."""
    return Difference(
        {"prompt": word}, {"prompt": f"{word} 2"}, word, True, 20, 10, 9, 8, 1, 2, 0.85, 0.5, 0.35,
        0.11, 0.54, 3, True,
    )  # fmt: skip
