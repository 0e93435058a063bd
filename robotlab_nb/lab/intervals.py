"""How sure a share or a mean is, when it comes from few answers. Plain arithmetic, no packages.

All intervals are of 95 % where it is not said otherwise, and none of them is a promise: they tell
what else would fit the answers seen, had the inputs been drawn from the same lot.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import InputError
from ..frames.summaries import wilson as share_and_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Pairs",
    "difference",
    "effective_size",
    "mean_interval",
    "paired_difference",
    "wilson",
]

CONFIDENCE = 0.95


class Pairs(NamedTuple):
    """Two variants on the same inputs, counted by what became of each."""

    both: float
    first_only: float
    second_only: float
    neither: float


@lru_cache(maxsize=64)
def _z(confidence: float) -> float:
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r:.40} is no share between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson(passed: float, of: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a share.

    With p = passed / of and z the normal quantile, its ends are

        (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)

    It stays inside 0 and 1 and has a width also where all passed or none. Source: E. B. Wilson,
    "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212.

    Parameters
    ----------
    passed, of : float
        ``of`` may be smaller than the number of answers where they are not independent.
    confidence : float, optional

    Returns
    -------
    tuple of float
        Low and high; 0 and 1 where nothing was judged.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(3, 4)], [round(end, 3) for end in wilson(0, 10)]
    ([0.301, 0.954], [0.0, 0.278])
    """
    if not 0 <= passed <= of:
        raise InputError(f"{passed:g} of {of:g} is no share")
    if of == 0:
        return 0.0, 1.0
    _, low, high = share_and_interval(passed, of, _z(confidence))
    return (low if passed else 0.0), (high if passed < of else 1.0)


def difference(
    first: tuple[float, float], second: tuple[float, float], confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """How much larger the first of two independent shares is.

    The ends of the two Wilson intervals are combined: method 10 of R. G. Newcombe, "Interval
    estimation for the difference between independent proportions", Statistics in Medicine 17
    (1998), 873-890.

    Parameters
    ----------
    first, second : tuple of float
        Passed, and of how many.
    confidence : float, optional

    Returns
    -------
    tuple of float
        The difference, its low and high end. Nothing judged on one side: 0, -1 and 1.

    Examples
    --------
    >>> [round(x, 4) for x in difference((56, 70), (48, 80))]
    [0.2, 0.0524, 0.3339]
    """
    if not first[1] or not second[1]:
        return 0.0, -1.0, 1.0
    one, two = first[0] / first[1], second[0] / second[1]
    low_1, high_1 = wilson(*first, confidence)
    low_2, high_2 = wilson(*second, confidence)
    gap = one - two
    return (
        gap,
        gap - math.hypot(one - low_1, high_2 - two),
        gap + math.hypot(high_1 - one, two - low_2),
    )


def paired_difference(pairs: Pairs, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """How much larger the share of the first variant is, on the same inputs.

    As :func:`difference`, with the correlation of the two taken into account: method 10 of
    R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions
    based on paired data", Statistics in Medicine 17 (1998), 2635-2650.

    Returns
    -------
    tuple of float
        The difference, its low and high end. No pairs: 0, -1 and 1.

    Examples
    --------
    >>> [round(x, 4) for x in paired_difference(Pairs(36, 12, 2, 0))]
    [0.2, 0.0569, 0.3404]
    """
    both, one_only, two_only, _ = pairs
    size = sum(pairs)
    if not size:
        return 0.0, -1.0, 1.0
    one, two = (both + one_only) / size, (both + two_only) / size
    low_1, high_1 = wilson(both + one_only, size, confidence)
    low_2, high_2 = wilson(both + two_only, size, confidence)
    phi = _correlation(pairs, size)
    below = _combined(one - low_1, high_2 - two, phi)
    above = _combined(two - low_2, high_1 - one, phi)
    gap = one - two
    return gap, gap - below, gap + above


def _correlation(pairs: Pairs, size: float) -> float:
    """The correlation of the two, brought nearer to 0 where it is positive."""
    both, one_only, two_only, neither = pairs
    margins = (both + one_only) * (two_only + neither) * (both + two_only) * (one_only + neither)
    if margins <= 0:
        return 0.0
    cross = both * neither - one_only * two_only
    if cross > 0:
        cross = max(cross - size / 2, 0.0)
    return cross / math.sqrt(margins)


def _combined(one: float, two: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * two + two * two))


def effective_size(groups: Iterable[Sequence[float]]) -> float:
    """How many independent answers several answers to the same inputs are worth.

    Asking an input again is no new input: answers to one input are alike. Their number is divided
    by the design effect, which is the variance of the mean between inputs by what it would be for
    independent answers (L. Kish, "Survey Sampling", 1965; used with score intervals by E. L. Korn
    and B. I. Graubard, Survey Methodology 24 (1998), 193-201). It is never less than the number of
    inputs nor more than that of answers. Where all are equal, how alike they are cannot be seen,
    and inputs are counted; a single input's repeats are counted as they are.

    Parameters
    ----------
    groups : iterable of sequence of float
        For each input the values of its answers: 1 for passed, 0 for failed.

    Examples
    --------
    >>> effective_size([[1], [0], [1]])
    3.0
    >>> effective_size([[1, 1], [0, 0], [1, 1], [0, 0]])
    4.0
    >>> effective_size([[1, 0], [0, 1], [1, 0], [0, 1]])
    8.0
    """
    found = [values for values in groups if values]
    inputs, answers = len(found), float(sum(map(len, found)))
    if inputs <= 1 or answers == inputs:
        return answers
    middle = sum(map(sum, found)) / answers
    alone = sum((value - middle) ** 2 for values in found for value in values) / answers**2
    if not alone:
        return float(inputs)
    between = sum((sum(values) - len(values) * middle) ** 2 for values in found) / answers**2
    effect = between * inputs / (inputs - 1) / alone
    return min(answers, max(float(inputs), answers / effect if effect else answers))


def mean_interval(
    values: Sequence[float], confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """A mean and its interval by Student's t.

    Source: Student (W. S. Gosset), "The probable error of a mean", Biometrika 6 (1908), 1-25.

    Returns
    -------
    tuple of float
        Mean, low, high; ends are NaN for a single value: it says nothing of the spread.

    Examples
    --------
    >>> [round(x, 3) for x in mean_interval([4, 5, 3, 4])]
    [4.0, 2.701, 5.299]
    """
    if not values:
        return math.nan, math.nan, math.nan
    middle = fmean(values)
    if len(values) == 1:
        return middle, math.nan, math.nan
    half = student(len(values) - 1, confidence) * stdev(values) / math.sqrt(len(values))
    return middle, middle - half, middle + half


@lru_cache(maxsize=512)
def student(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Student's t that a share of ``confidence`` stays within, both sides.

    Examples
    --------
    >>> round(student(3), 4), round(student(1), 3), round(student(200), 4)
    (3.1824, 12.706, 1.9719)
    """
    _z(confidence)  # raises for what is no confidence
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if _within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return high


def _within(t: float, freedom: int) -> float:
    """The probability that Student's t lies between -t and t: the closed sums for whole degrees.

    M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    if freedom % 2:
        term, total = cosine, 0.0
        for step in range(1, freedom - 1, 2):
            total += term
            term *= cosine * cosine * (step + 1) / (step + 2)
        return 2 / math.pi * (angle + sine * total)
    term, total = 1.0, 0.0
    for step in range(0, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (step + 1) / (step + 2)
    return sine * total
