"""Whether texts say the same, by their words: a score, and a yes or no.

It needs no model, and it knows words, not meanings: two texts in other words score low although
they agree, and what is decided by one small word is looked at apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .scoring import similarity

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["THRESHOLD", "agreement", "check_threshold", "converged", "lowest"]

#: the score from which texts count as saying the same
THRESHOLD = 0.85
#: characters below which the letters of a text count besides its words
SHORT = 30
#: the highest score of texts of which one may deny what the other says
OPPOSED = 0.5

#: what stands around a short answer and says nothing; signs of numbers are not among them
_EDGES = " \t\r\n.,;:!?…\"'`*_“”„‘’«»()[]。、「」『』"
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|nobody|nothing|cannot|without)\b|n['’]t\b"
)
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def agreement(a: Any, b: Any) -> float:
    """How far two texts say the same, by the words that they share.

    Parameters
    ----------
    a, b : str, or anything with a ``text``
        Results of robots and tasks, messages.

    Returns
    -------
    float
        From 0 to 1, the same both ways; 1 for texts that are equal but for case, spaces and the
        punctuation around them. Words are compared by their stems. Where a text has fewer than 30
        characters, pairs of letters count as much as words. At most 0.5 where only one of the
        texts denies something (in English), or each gives a number that the other does not.

    Raises
    ------
    InputError
        For what has no text.

    Examples
    --------
    >>> agreement("Yes.", "yes"), agreement("yes", "no")
    (1.0, 0.0)
    >>> agreement("The contract can be enforced in all states.",
    ...           "Enforcing the contract is possible in all states") > 0.7
    True
    >>> agreement("The contract is valid in all states.",
    ...           "The contract is not valid in all states.")
    0.5
    """
    first, second = _plain(_text(a)), _plain(_text(b))
    score = similarity(first, second)
    if min(len(first), len(second)) < SHORT:
        score = (score + _letters_shared(first, second)) / 2
    return min(score, OPPOSED) if _opposed(first, second) else score


def converged(texts: Iterable[Any], threshold: float = THRESHOLD) -> bool:
    """Whether all texts say the same, by the words that they share.

    Parameters
    ----------
    texts : iterable
        Two or more of what :func:`agreement` takes; their order does not matter.
    threshold : float, optional
        What any two of them score at least, above 0 and up to 1.

    Returns
    -------
    bool

    Raises
    ------
    InputError
        For fewer than two texts, or a threshold out of bounds.

    Examples
    --------
    >>> converged(["Refund it.", "refund it", "Refund it!"])
    True
    >>> converged(["Refund it.", "Ask the customer first."])
    False
    """
    check_threshold(threshold)
    return lowest(texts) >= threshold


def lowest(texts: Iterable[Any]) -> float:
    """The agreement of the two texts that differ most.

    Raises
    ------
    InputError
        For fewer than two texts.

    Examples
    --------
    >>> lowest(["yes", "Yes!", "no"])
    0.0
    """
    if isinstance(texts, str):
        raise InputError("one text cannot agree with itself", hint="Pass a list of texts.")
    given = [_text(one) for one in texts]
    if len(given) < 2:
        raise InputError(f"two texts or more can agree, not {len(given)}")
    different = {_plain(text): text for text in given}
    return min((agreement(*two) for two in combinations(different.values(), 2)), default=1.0)


def check_threshold(threshold: Any) -> None:
    """Raise when something is no score to reach.

    Raises
    ------
    InputError
        When it is no number above 0 and up to 1.
    """
    known = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    if not known or not 0 < threshold <= 1:
        raise InputError(
            f"threshold={threshold!r} is no score above 0 and up to 1",
            hint=f"{THRESHOLD} is the usual one; 1 means equal.",
        )


def _text(given: Any) -> str:
    text = given if isinstance(given, str) else getattr(given, "text", None)
    if not isinstance(text, str):
        raise InputError(
            f"only texts can agree, and {type(given).__name__} has none",
            hint="Pass texts, results of robots or tasks, or messages.",
        )
    return text


def _plain(text: str) -> str:
    """What two texts have in common that count as equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(_EDGES) or folded.strip()


def _letters_shared(a: str, b: str) -> float:
    """The share of pairs of letters that two texts have in common, beginnings and ends counted."""
    first, second = (Counter(zip(f" {text}", f"{text} ", strict=True)) for text in (a, b))
    return 2 * (first & second).total() / (first.total() + second.total())


def _opposed(a: str, b: str) -> bool:
    """Whether one text may deny what the other says, although they share their other words."""
    if (_NEGATION.search(a) is None) != (_NEGATION.search(b) is None):
        return True
    first, second = _numbers(a), _numbers(b)
    return bool(first - second) and bool(second - first)


def _numbers(text: str) -> set[str]:
    """The numbers in a text, the same however they are written."""
    return {_number(found.replace("−", "-")) for found in _NUMBER.findall(text)}


def _number(written: str) -> str:
    if _THOUSANDS.fullmatch(written):
        written = written.replace(",", "")
    try:
        return repr(float(written.replace(",", ".")))
    except ValueError:  # a date, a version
        return written
