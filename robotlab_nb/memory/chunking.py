"""Cutting a text into passages short enough to be compared and shown to a model.

Cuts fall between paragraphs where they can, else between sentences, else between words. It knows
characters only, no tokens and no languages.
"""

from __future__ import annotations

import re
from typing import Any

from ..core.errors import ConfigurationError

__all__ = ["CHUNK_CHARS", "OVERLAP_CHARS", "check_sizes", "spans"]

#: characters of a passage at most: some 120 words, which embedding models take whole
CHUNK_CHARS = 800
#: characters that a passage repeats of the one before it, at most
OVERLAP_CHARS = 120
#: below this a passage is hardly a sentence
_FEWEST = 20

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_SENTENCE = re.compile(r"\n\s*|(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？])")
_WORD = re.compile(r"\s+")


def spans(
    text: str, size: int = CHUNK_CHARS, overlap: int = OVERLAP_CHARS
) -> list[tuple[int, int]]:
    """Where the passages of a text begin and end.

    Parameters
    ----------
    text : str
    size : int, optional
        Characters of a passage at most.
    overlap : int, optional
        Characters that a passage repeats of the one before it, at most: whole sentences if they
        fit, else whole words.

    Returns
    -------
    list of (int, int)
        In order, without the white space around them; none for a blank text. Together they hold
        every other character of the text.

    Examples
    --------
    >>> text = "One two three. Four five six. Seven eight."
    >>> [text[start:end] for start, end in spans(text, 30, 0)]
    ['One two three. Four five six.', 'Seven eight.']
    >>> [text[start:end] for start, end in spans(text, 30, 10)]
    ['One two three. Four five six.', 'five six. Seven eight.']
    """
    found: list[tuple[int, int]] = []
    start = told = 0
    while start < len(text):
        end = _end(text, start, size)
        first, last = _trimmed(text, start, end)
        start = end
        if last > max(first, told):  # else there is only white space in it, or what was repeated
            found.append((first, last))
            told = last
            if end < len(text):
                start = _next(text, first, last, overlap) or end
    return found


def check_sizes(size: Any, overlap: Any) -> None:
    """Raise when passages cannot have these sizes.

    Raises
    ------
    ConfigurationError
        When they are no numbers of characters, or a passage would repeat more than a third.
    """
    for name, value, least in (("chunk_chars", size, _FEWEST), ("overlap_chars", overlap, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ConfigurationError(f"{name} is a whole number from {least}, not {value!r}")
    if overlap > size // 3:
        raise ConfigurationError(
            f"overlap_chars={overlap} is more than a third of chunk_chars={size}",
            hint=f"{size // 6} is enough to keep sentences together.",
        )


def _end(text: str, start: int, size: int) -> int:
    """Where the passage that begins at ``start`` ends: in the second half of what it may be."""
    last = start + size
    if last >= len(text):
        return len(text)
    for kind in (_PARAGRAPH, _SENTENCE, _WORD):
        ends = [found.end() for found in kind.finditer(text, start + size // 2, last)]
        if ends:
            return ends[-1]
    return last


def _next(text: str, first: int, last: int, overlap: int) -> int | None:
    """Where the next passage begins inside this one; None where no sentence nor word does."""
    for kind in (_SENTENCE, _WORD):
        found = kind.search(text, max(first + 1, last - overlap), last)
        if found and found.end() < last:
            return found.end()
    return None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
