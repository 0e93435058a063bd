"""The passages of documents that are here, and which of them fit a question best.

One index for both ways of comparing: by words, and by vectors that were made elsewhere. Its owner
sees to it that one thread at a time uses it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from heapq import nlargest
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import ConfigurationError
from .word_index import WordIndex

if TYPE_CHECKING:
    from array import array
    from collections import Counter
    from collections.abc import Collection, Sequence

    from .document_files import Stored

__all__ = ["Held", "Passage", "Passages"]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A document that is here: itself, where it stands, and the numbers of its passages."""

    stored: Stored
    place: int
    numbers: tuple[int, ...]


class Passage(NamedTuple):
    """A passage of a document that is here."""

    held: Held
    start: int
    end: int
    #: its text as far as it counts where texts are equal
    plain: str
    vector: array[float] | None

    @property
    def text(self) -> str:
        """The passage itself."""
        return self.held.stored.text[self.start : self.end]


class Passages:
    """Passages by number, ranked by words, or by vectors where they have them."""

    __slots__ = ("_equal", "_free", "_passages", "_words", "length")

    def __init__(self) -> None:
        self._passages: list[Passage | None] = []
        #: numbers that were freed
        self._free: list[int] = []
        #: numbers of the passages that are equal to a text
        self._equal: dict[str, list[int]] = {}
        self._words = WordIndex()
        #: of the vectors; 0 while there are none
        self.length = 0

    def __len__(self) -> int:
        return len(self._passages) - len(self._free)

    def add(self, stored: Stored, place: int, counts: Sequence[Counter[str]]) -> Held:
        """Add a document's passages.

        Parameters
        ----------
        stored : Stored
        place : int
            Where it stands among the documents: of equally good passages, the first comes first.
        counts : sequence of Counter
            The terms of each passage, where it has no vectors.
        """
        held = Held(stored, place, tuple(self._number() for _ in stored.spans))
        for at, (number, (start, end)) in enumerate(zip(held.numbers, stored.spans, strict=True)):
            plain = _plain(stored.text[start:end])
            vector = None if stored.vectors is None else stored.vectors[at]
            if vector is None:
                self._words.add(number, counts[at])
            else:
                self.length = len(vector)
            self._equal.setdefault(plain, []).append(number)
            self._passages[number] = Passage(held, start, end, plain, vector)
        return held

    def _number(self) -> int:
        if self._free:
            return self._free.pop()
        self._passages.append(None)
        return len(self._passages) - 1

    def remove(self, held: Held) -> None:
        """Remove a document's passages."""
        for number in held.numbers:
            passage = self._passages[number]
            assert passage is not None
            self._passages[number] = None
            self._free.append(number)
            same = self._equal[passage.plain]
            same.remove(number)
            if not same:
                del self._equal[passage.plain]
            if passage.vector is None:
                self._words.remove(number)
        if not len(self):
            self.length = 0

    def of(self, held: Held) -> list[Passage]:
        """A document's passages, in order."""
        return [p for n in held.numbers if (p := self._passages[n]) is not None]

    def ranked(
        self,
        query: str,
        limit: int,
        *,
        vector: array[float] | None = None,
        among: Collection[Held] | None = None,
    ) -> list[tuple[float, Passage]]:
        """The passages that fit a query best.

        Parameters
        ----------
        query : str
        limit : int
            How many at most.
        vector : array, optional
            The query's, where passages have vectors.
        among : collection of Held, optional
            Whose passages may be among them; all when left out.

        Returns
        -------
        list of (float, Passage)
            Best first; none of them with score 0. Those equal to the query have 1.

        Raises
        ------
        ConfigurationError
            When the query's vector has another length than the passages'.
        """
        if vector is None:
            scores = self._words.scores(query, len(self._passages))
        else:
            self.check_length(len(vector))
            scores = [_cosine(vector, p.vector) if p is not None else 0.0 for p in self._passages]
        for number in self._equal.get(_plain(query), ()):
            scores[number] = 1.0
        found = [
            (score, passage)
            for score, passage in zip(scores, self._passages, strict=True)
            if score > 0 and passage is not None and (among is None or passage.held in among)
        ]
        return nlargest(limit, found, key=lambda hit: (hit[0], -hit[1].held.place, -hit[1].start))

    def check_length(self, length: int) -> None:
        """Raise when vectors of a length cannot be compared with those that are here."""
        if self.length not in (0, length):
            raise ConfigurationError(
                f"the embedding model gives vectors of {length} numbers, and those of the stored "
                f"documents have {self.length}",
                hint="It is another model by now. Make new Documents, and store the texts again.",
            )


def _cosine(a: array[float], b: array[float] | None) -> float:
    """How near two vectors of length 1 are, opposite ones counting as unrelated."""
    return min(max(sum(map(mul, a, b)), 0.0), 1.0) if b is not None else 0.0


def _plain(text: str) -> str:
    """What two texts have in common that count as equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
