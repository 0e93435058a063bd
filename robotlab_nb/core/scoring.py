"""How alike texts are, by the words that they share: TF-IDF and cosine, in plain Python.

It needs no model and no network, and gives the same score every time. It knows words, not
meanings: what it is used for (skills, history, documents, convergence) is its caller's business.
"""

from __future__ import annotations

import functools
import re
import threading
import unicodedata
from collections import Counter
from heapq import nlargest
from math import fsum, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import ConfigurationError, near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Hit", "TfIdf", "similarity", "terms"]

#: English words that say nothing about a text's subject. Other languages' are left to their
#: frequency.
_STOP = frozenset(
    "a about an and any are as at be been but by can could did do does for from had has have how "
    "i if in into is it its me my no not of on or our please should so some such than that the "
    "their them then there these they this those to was we were what when where which while who "
    "why will with would you your".split()
)
#: where a script begins and ends, and the language whose endings its words get
_SCRIPTS = (
    (0x0000, 0x036F, "english"),
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x1E00, 0x1EFF, "english"),
    (0x1F00, 0x1FFF, "greek"),
)
#: letters of scripts that put no spaces between words: Thai to Burmese, Khmer, Chinese, Japanese,
#: Korean
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
#: several of what is shortened to its consonants
_PLURAL = re.compile(r"[b-df-hj-np-tv-xz]{2,}(?<!s)s")
#: words whose stems are remembered
_MOST_STEMS = 100_000

_lock = threading.Lock()
_stems: dict[tuple[str | None, str], str] = {}


class Hit(NamedTuple):
    """A text that was found: its place among the texts, from 0, and its score."""

    place: int
    score: float


class TfIdf:
    """Texts, indexed so that the ones most like a query are found.

    Words count more the rarer they are among the texts. Case, accents' encoding and English word
    endings do not matter (nor Russian, Greek, Arabic, Armenian, Hindi, Tamil ones: the script
    decides). Scripts without spaces are compared by pairs of letters. It does not change, and any
    thread may use it.

    Parameters
    ----------
    texts : iterable of str
    language : str, optional
        Whose endings to take off all words (``"french"``, say), in place of the script's.

    Raises
    ------
    ConfigurationError
        When there is no such language.

    Examples
    --------
    >>> index = TfIdf(["Fill in PDF forms", "Plot a table", "Merge PDF files"])
    >>> index.best("merging some pdfs", limit=1)
    [Hit(place=2, score=0.7...)]
    >>> index.scores("plot a  TABLE")
    [0.0, 1.0, 0.0]
    """

    __slots__ = ("_equal", "_idf", "_postings", "_unknown", "language", "size")

    def __init__(self, texts: Iterable[str], *, language: str | None = None) -> None:
        self.language = _checked(language)
        counted: list[Counter[str]] = []
        self._equal: dict[str, list[int]] = {}
        for text in texts:
            self._equal.setdefault(_normal(text), []).append(len(counted))
            counted.append(Counter(terms(text, language)))
        self.size = size = len(counted)
        held_by = Counter(term for counts in counted for term in counts)
        self._idf = {term: log((1 + size) / (1 + n)) + 1 for term, n in held_by.items()}
        self._unknown = log(1 + size) + 1
        self._postings: dict[str, tuple[list[int], list[float]]] = {t: ([], []) for t in held_by}
        for index, counts in enumerate(counted):
            for term, weight in self._weighed(counts).items():
                indices, weights = self._postings[term]
                indices.append(index)
                weights.append(weight)

    def _weighed(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Terms with weights of length 1 together."""
        idf, unknown = self._idf, self._unknown
        return _unit({t: (1 + log(n)) * idf.get(t, unknown) for t, n in counts.items()})

    def scores(self, query: str) -> list[float]:
        """How like the query each text is.

        Parameters
        ----------
        query : str
            Words that no text has count too: a query that is only partly met scores lower.

        Returns
        -------
        list of float
            In the order of the texts; 0 (no word in common) to 1. Texts equal to the query, but
            for case and spaces, have exactly 1.
        """
        found = [0.0] * self.size
        weighed = self._weighed(Counter(terms(query, self.language)))
        for term in sorted(weighed.keys() & self._postings.keys()):
            weight = weighed[term]
            for index, other in zip(*self._postings[term], strict=True):
                found[index] += weight * other
        if found:
            found = [score if score < 1.0 else 1.0 for score in found]
        for index in self._equal.get(_normal(query), ()):
            found[index] = 1.0
        return found

    def best(self, query: str, limit: int = 5) -> list[Hit]:
        """The texts most like the query, best first; equally good ones in their order.

        Parameters
        ----------
        query : str
        limit : int, optional
            How many at most.

        Returns
        -------
        list of Hit
            None of them with score 0.
        """
        hits = [Hit(place, score) for place, score in enumerate(self.scores(query)) if score > 0]
        return nlargest(limit, hits, key=lambda hit: (hit.score, -hit.place))

    def similarity(self, a: str, b: str) -> float:
        """How alike two texts are, whatever this index holds. See :func:`similarity`."""
        return similarity(a, b, self.language)

    def terms(self, text: str) -> list[str]:
        """What a text is compared by. See :func:`terms`."""
        return terms(text, self.language)

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<TfIdf of {self.size} texts, {len(self._idf)} terms>"


def similarity(a: str, b: str, language: str | None = None) -> float:
    """How alike two texts are, by themselves: every word counts the same.

    Parameters
    ----------
    a, b : str
    language : str, optional
        As for :class:`TfIdf`.

    Returns
    -------
    float
        0 (no word in common) to 1 (the same words as often). Texts that are equal, but for case
        and spaces, have exactly 1.

    Examples
    --------
    >>> similarity("The robots agreed.", "a robot agrees")
    1.0
    >>> similarity("yes", "no")
    0.0
    """
    if a == b or _normal(a) == _normal(b):
        return 1.0
    first, second = (
        _unit({term: 1 + log(n) for term, n in Counter(terms(text, language)).items()})
        for text in (a, b)
    )
    dot = fsum(first[term] * second[term] for term in first.keys() & second.keys())
    # Equal bags of words may miss 1 by a rounding.
    return round(dot, 12) if dot < 1.0 else 1.0


def terms(text: str, language: str | None = None) -> list[str]:
    """The terms that a text is compared by, in order.

    Parameters
    ----------
    text : str
    language : str, optional
        Whose endings to take off, in place of the script's.

    Returns
    -------
    list of str
        Words without case and endings, common English ones left out (unless there are no
        others); pairs of letters where a script has no spaces.

    Examples
    --------
    >>> terms("Reading the files of get_weather")
    ['read', 'file', 'get', 'weather']
    >>> terms("东京天气")
    ['东京', '京天', '天气']
    """
    _checked(language)
    words: list[str] = []
    for spaced, unspaced in _pattern().findall(_folded(text)):
        if spaced:
            words.append(spaced)
        elif len(unspaced) == 1:
            words.append(unspaced)
        else:
            words += [unspaced[i : i + 2] for i in range(len(unspaced) - 1)]
    telling = [word for word in words if word not in _STOP] or words
    return _stemmed(telling, language)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _normal(text: str) -> str:
    """What two texts have in common that count as equal."""
    return " ".join(_folded(text).split())


def _unit(weights: dict[str, float]) -> dict[str, float]:
    """Weights scaled to length 1; the sum does not depend on their order."""
    length = sqrt(fsum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()}


@functools.cache
def _pattern() -> re.Pattern[str]:
    # To `re`, vowel signs and other marks are no letters: Hindi would fall into consonants.
    marks = "".join(c for c in map(chr, range(0x300, 0x3100)) if unicodedata.category(c)[0] == "M")
    outside = f"(?![{_UNSPACED}])"
    return re.compile(f"((?:{outside}(?:[^\\W_]|[{marks}]))+)|([{_UNSPACED}]+)")


def _checked(language: str | None) -> str | None:
    if language is not None and language not in _languages():
        raise ConfigurationError(
            f"no word endings are known for language {language!r}",
            hint=near(language, _languages()),
        )
    return language


@functools.cache
def _languages() -> tuple[str, ...]:
    return tuple(_snowball().algorithms())


@functools.cache
def _stemmer(language: str) -> Any:
    return _snowball().stemmer(language)


def _snowball() -> Any:
    import snowballstemmer  # type: ignore[import-untyped]

    return snowballstemmer


def _stemmed(words: list[str], language: str | None) -> list[str]:
    global _stems
    known = _stems
    found = {word: known.get((language, word), "") for word in words}
    missing = [word for word, stem in found.items() if not stem]
    if missing:
        # A stemmer keeps the word that it works on in itself: one thread at a time.
        with _lock:
            if len(_stems) > _MOST_STEMS:
                _stems = {}
            for word in missing:
                found[word] = _stems[language, word] = _stem(word, language)
    return [found[word] for word in words]


def _stem(word: str, language: str | None) -> str:
    if language is None:
        first = ord(word[0])
        language = next((name for low, high, name in _SCRIPTS if low <= first <= high), None)
        if language is None:
            return word
    stem: str = _stemmer(language).stemWord(word)
    if language == "english" and _PLURAL.fullmatch(stem):
        return stem[:-1]  # PDFs: the algorithm takes a word without vowels for none
    return stem or word
