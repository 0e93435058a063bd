"""What a message offers to fill a tool's arguments with: numbers, names, quotes, dates.

Knows no schema: :mod:`robotlab_nb.models.rule_arguments` asks here for what a schema wants.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .rule_words import ORDERS, STOP_WORDS, stem, stems

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MISSING", "Figure", "Hints"]

#: stands for "the message does not say"
MISSING: Any = object()

_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_SHAPES = {
    "date": _DATE,
    "date-time": re.compile(
        r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?"
    ),
    "email": re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}"),
    "uri": re.compile(r"https?://[^\s<>\"']{1,400}"),
}
_SHAPES["url"] = _SHAPES["uri"]
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,12})?(?!\w|\.\d)")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|`([^`\n]{1,400})`|(?<!\w)'([^'\n]{1,400})'(?!\w)"
)
_NAME = re.compile(r"\b[^\W\d_a-z][\w’'-]{0,40}(?: [^\W\d_a-z][\w’'-]{0,40}){0,5}")
_CODE = re.compile(r"\b(?=[\w-]{0,40}\d)[A-Za-z0-9][\w-]{0,60}")
_SUM = re.compile(
    r"[-(]{0,3}\d[\d.,]{0,15}\s?(?:[-+*/×÷^%()]{1,3}\s?[-(]{0,3}\d[\d.,]{0,15}[)\s]{0,3}){1,20}"
)
_SEARCHED = re.compile(
    r"\b(?:search|look up|google)\b(?: the web| online)?(?: for| about)?\s+(.+)", re.I | re.S
)
_AFTER_PREPOSITION = re.compile(
    r"\b(?:in|for|at|near|about|of|to|from|on)\s+(?:the\s+)?"
    r"([^\W\d_][\w’'-]{0,40}(?:\s[^\W\d_][\w’'-]{0,40})?)"
)
_WAY = re.compile(
    r"\b(from|to)\s+(?:the\s+)?([^\W\d_a-z][\w’'-]{0,40}(?: [^\W\d_a-z][\w’'-]{0,40}){0,3})"
)
_OF = frozenset(("in", "at", "for", "of", "to", "on", "from"))
_WHEN = frozenset(("today", "tomorrow", "tonight", "yesterday", "now", "right", "later", "soon"))


class Figure(NamedTuple):
    """A number in a text and the stems of the words beside it."""

    value: float
    beside: frozenset[str]


class Hints:
    """What a message offers. Each number, name, quote and code serves once.

    Parameters
    ----------
    text : str
        The message.
    ignore : frozenset of str, optional
        Stems of words that name the tool and not its arguments.

    Examples
    --------
    >>> hints = Hints("Book 2 seats to Rome for 'Ada'")
    >>> hints.take("names"), hints.take("quotes"), hints.take("figures").value
    ('Rome', 'Ada', 2.0)
    """

    __slots__ = ("_found", "ignore", "text")

    def __init__(self, text: str, ignore: frozenset[str] = frozenset()) -> None:
        self.text = text
        self.ignore = ignore
        self._found: dict[str, list[Any]] = {}

    def mentions(self, words: frozenset[str]) -> bool:
        """Whether one of some stems occurs."""
        return not words.isdisjoint(stems(self.text))

    def pool(self, kind: str) -> list[Any]:
        """What is left of a kind: ``figures``, ``quotes``, ``names`` or ``codes``."""
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = list(getattr(self, "_" + kind)())
        return found

    def take(self, kind: str) -> Any:
        """The next of a kind, or MISSING."""
        pool = self.pool(kind)
        return pool.pop(0) if pool else MISSING

    def shaped(self, kind: str) -> Any:
        """The first text of a shape (``date``, ``email``, ``uri`` …), or MISSING."""
        shape = _SHAPES.get(kind)
        match = shape.search(self.text) if shape else None
        return match[0] if match else MISSING

    def calculation(self) -> Any:
        """The first calculation written in figures, or MISSING."""
        match = _SUM.search(self.text)
        return match[0].strip() if match else MISSING

    def wish(self) -> str:
        """What the message wants looked up, or all of it."""
        match = _SEARCHED.search(self.text)
        return match[1].strip().rstrip(".?!") if match else self.text.strip()

    def after_prepositions(self) -> Iterator[str]:
        """Words that follow a preposition, the last ones first."""
        for match in reversed(list(_AFTER_PREPOSITION.finditer(self.text))):
            words = [w for w in match[1].split() if w.lower() not in STOP_WORDS | _WHEN]
            if words:
                yield " ".join(words)

    def way(self, word: str) -> Any:
        """The name that follows ``from`` or ``to`` first, or MISSING."""
        return next((m[2] for m in _WAY.finditer(self.text) if m[1] == word), MISSING)

    def last_word(self) -> str:
        """The last word that says something and does not name the tool; else ""."""
        for word in reversed(self.text[-400:].split()):
            word = word.strip(".,;:!?\"'()")
            lower = word.lower()
            if word and lower not in STOP_WORDS and stem(lower) not in self.ignore:
                return word
        return ""

    def _figures(self) -> Iterator[Figure]:
        text = _DATE.sub(lambda m: "x" * len(m[0]), self.text)
        for match in _NUMBER.finditer(text):
            before = text[max(0, match.start() - 40) : match.start()].split()[-1:]
            after = text[match.end() : match.end() + 40].split()[:1]
            beside = stems(" ".join(before + after))
            yield Figure(float(match[0].replace(",", "")), beside)

    def _quotes(self) -> Iterator[str]:
        for groups in _QUOTED.findall(self.text):
            yield next(filter(None, groups))

    def _names(self) -> list[str]:
        """Capitalised words in order; those that may only open a sentence come last."""
        inside: list[str] = []
        opening: list[str] = []
        for match in _NAME.finditer(self.text):
            before = self.text[max(0, match.start() - 8) : match.start()].rstrip()
            opens = not before or before[-1] in ".!?:"
            words = match[0].split()
            while words and self._is_common(words[0].lower(), opens):
                del words[0]
            if not words or (len(words) == 1 and self._is_common(words[0].lower(), False)):
                continue
            after = self.text[match.end() : match.end() + 10].split()[:1]
            noun = opens and len(words) == len(match[0].split()) and after and after[0] in _OF
            name = " ".join(words).removesuffix("'s").removesuffix("’s")
            (opening if noun else inside).append(name)
        return inside + opening

    def _is_common(self, word: str, opens: bool) -> bool:
        """Whether a capitalised word is no name: a stop word, an order, a word for the tool."""
        return word in STOP_WORDS or stem(word) in self.ignore or (opens and word in ORDERS)

    def _codes(self) -> list[str]:
        return _CODE.findall(self.text)
