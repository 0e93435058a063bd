"""Reading what an evaluator gave back: a truth, a number, a word, a dict, a score, or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Number
from typing import Any

from ..core.errors import InputError
from .evaluating import Score

__all__ = ["scores_of"]

#: what a dict that is one score may say
_ONE = frozenset({"value", "passed", "reason", "label"})
#: scores that one evaluator may give an answer
MOST = 50


def scores_of(name: str, found: Any, passes: float | None = None) -> tuple[Score, ...]:
    """The scores that an evaluator's answer stands for.

    Parameters
    ----------
    name : str
        The evaluator's.
    found : object
        True or False; a number; a word; a dict with some of ``value, passed, reason, label``, or
        of several scores by name; a pair of one of these and a reason; a :class:`Score`; a list
        of scores.
    passes : float, optional
        The smallest number that is good enough.

    Returns
    -------
    tuple of Score
        Named by the evaluator, or ``"evaluator.part"``.

    Raises
    ------
    InputError
        When it says nothing.

    Examples
    --------
    >>> scores_of("short", True)
    (<score short: passed>,)
    >>> scores_of("style", {"tone": 0.9, "grammar": 0.4}, passes=0.5)
    (<score style.tone: passed, 0.9>, <score style.grammar: failed, 0.4>)
    """
    made = [_judged(score, passes) for score in _several(name, found)]
    if not made:
        raise InputError(f"evaluator {name!r} gave no score")
    if len(made) > MOST:
        raise InputError(f"evaluator {name!r} gave {len(made)} scores; {MOST} are the most")
    names = [score.name for score in made]
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise InputError(
            f"evaluator {name!r} gave two scores that are called {twice!r}",
            hint="Give each a name: rl.Score('tone', 0.9).",
        )
    return tuple(made)


def _several(name: str, found: Any) -> list[Score]:
    if isinstance(found, Mapping) and found and not set(found) <= _ONE:
        return [_one(_inside(name, str(part)), value) for part, value in found.items()]
    if isinstance(found, (list, tuple)) and not _is_pair(found):
        for each in found:
            if not isinstance(each, Score):
                raise InputError(
                    f"evaluator {name!r} gave a {type(found).__name__} that holds {each!r:.60}",
                    hint="Several scores are a dict by name, or a list of rl.Score.",
                )
        return [_one(name, each) for each in found]
    return [_one(name, found)]


def _one(name: str, found: Any) -> Score:
    if isinstance(found, Score):
        return replace(found, name=_inside(name, found.name))
    if isinstance(found, Mapping) and found and set(found) <= _ONE:
        return Score(name, **found)
    if _is_pair(found):
        return replace(_one(name, found[0]), reason=found[1])
    if type(found).__name__ in ("bool", "bool_"):
        return Score(name, passed=bool(found))
    if isinstance(found, Number) or hasattr(found, "__float__"):
        return Score(name, found)
    if isinstance(found, str):
        return Score(name, label=found)
    if found is None:
        raise InputError(
            f"evaluator {name!r} gave nothing", hint="Did its function forget to return?"
        )
    raise InputError(
        f"evaluator {name!r} gave {found!r:.60}",
        hint="Give True or False, a number, a word, a dict, or rl.Score(…).",
    )


def _is_pair(found: Any) -> bool:
    if not isinstance(found, tuple) or len(found) != 2:
        return False
    first, second = found
    return isinstance(second, str) and not isinstance(first, (str, tuple, list, Score))


def _inside(name: str, part: str) -> str:
    if part in ("", name) or part.startswith(f"{name}."):
        return part or name
    return f"{name}.{part}"


def _judged(score: Score, passes: float | None) -> Score:
    if passes is None or score.passed is not None or score.value is None:
        return score
    return replace(score, passed=score.value >= passes)
