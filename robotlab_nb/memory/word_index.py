"""An index of passages by their words that grows and shrinks by one passage at a time.

Scores are TF-IDF cosines over the terms of :mod:`robotlab_nb.core.scoring`. How often a word stands
in other passages counts in the query alone: so a passage costs the same whenever it is added, and
scores depend on what is there, not on how it came there. It knows numbers of passages, no texts.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import fsum, log, sqrt
from typing import TYPE_CHECKING

from ..core.scoring import terms

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WordIndex", "counted"]


def counted(text: str) -> Counter[str]:
    """How often a text has each of its terms.

    Examples
    --------
    >>> counted("Merge files: merging a file")
    Counter({'merg': 2, 'file': 2})
    """
    return Counter(terms(text))


class WordIndex:
    """Passages by their terms. Its owner sees to it that one thread at a time uses it.

    Examples
    --------
    >>> index = WordIndex()
    >>> index.add(0, counted("Fill in PDF forms"))
    >>> index.add(1, counted("Merge PDF files"))
    >>> [round(score, 2) for score in index.scores("merge a pdf", 2)]
    [0.33, 0.81]
    """

    __slots__ = ("_held", "_postings", "_scale")

    def __init__(self) -> None:
        #: term -> the weight that it has in each passage that holds it
        self._postings: dict[str, dict[int, float]] = {}
        #: passage -> its terms
        self._held: dict[int, tuple[str, ...]] = {}
        #: passage -> what brings its weights to length 1 together
        self._scale: dict[int, float] = {}

    def add(self, number: int, counts: Mapping[str, int]) -> None:
        """Add a passage under a number that is free."""
        postings = self._postings
        for term, count in counts.items():
            holders = postings.get(term)
            if holders is None:
                holders = postings[term] = {}
            holders[number] = _weight(count)
        length = sqrt(fsum(_weight(count) ** 2 for count in counts.values()))
        self._scale[number] = 1 / length if length else 0.0
        self._held[number] = tuple(counts)

    def remove(self, number: int) -> None:
        """Remove a passage; its number is free then."""
        for term in self._held.pop(number):
            holders = self._postings[term]
            del holders[number]
            if not holders:
                del self._postings[term]
        del self._scale[number]

    def scores(self, query: str, numbers: int) -> list[float]:
        """How like the query the passages are.

        Parameters
        ----------
        query : str
        numbers : int
            One more than the highest number in use.

        Returns
        -------
        list of float
            By number: 0 (no word in common, or no passage) to 1.
        """
        found = [0.0] * numbers
        weighed = self._weighed(query)
        for term in sorted(weighed.keys() & self._postings.keys()):
            weight = weighed[term]
            for number, other in self._postings[term].items():
                found[number] += weight * other
        scale = self._scale
        return [min(s * scale[n], 1.0) if s else 0.0 for n, s in enumerate(found)]

    def _weighed(self, query: str) -> dict[str, float]:
        """The query's terms, each with its weight: the rarer among the passages, the more."""
        passages, postings = len(self._held), self._postings
        weighed = {
            term: _weight(count) * (log((1 + passages) / (1 + len(postings.get(term, ())))) + 1)
            for term, count in counted(query).items()
        }
        length = sqrt(fsum(weight * weight for weight in weighed.values()))
        return {term: weight / length for term, weight in weighed.items()}


@cache
def _weight(count: int) -> float:
    return 1 + log(count)
