"""Finding JSON in what a model wrote: bare, in a code fence, or with words around it.

It is read strictly, as JSON and nothing else; what cannot be read faithfully becomes a fault that
the model can act on. Knows no schema and no type.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..core.strict_json import TOKENS, read

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NOTHING", "last_value", "opening", "unfenced"]

#: what :func:`last_value` gives where there is no JSON at all
NOTHING: Any = object()

_FENCE = re.compile(r"```[\w+-]*[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
#: a bracket that begins an object or an array, and none of a sentence
_OPENS = re.compile(
    r"""\{(?=\s*(?:["'}]|\w+\s*:|\Z))|\[(?=\s*(?:[\[{"\]\d-]|true|false|null|\Z))"""
)


def unfenced(text: str) -> str:
    r"""A text without the code fence around the whole of it, and without blanks.

    Examples
    --------
    >>> unfenced("```json\n42\n```")
    '42'
    """
    text = text.strip()
    found = _FENCE.fullmatch(text)
    return found[1].strip() if found else text


def last_value(text: str, *, arrays: bool = False) -> Any:
    """Read the JSON of an answer: all of it, else the last complete object in it.

    Parameters
    ----------
    text : str
    arrays : bool, optional
        Whether an array between words counts as well.

    Returns
    -------
    JSON
        What was read; ``NOTHING`` when there is none. What stands inside an unfinished object is
        a part of it, and no answer.

    Raises
    ------
    Unreadable
        For a key given twice, NaN, a number too large, deep nesting.

    Examples
    --------
    >>> last_value('First {"a": 1}, or rather {"a": 2}.')
    {'a': 2}
    >>> last_value('{"items": [{"a": 1}, {"a":') is NOTHING
    True
    """
    text = unfenced(text)
    try:
        return read(text)
    except json.JSONDecodeError:
        pass
    kinds = "{[" if arrays else "{"
    for start, end in reversed(list(_groups(text))):
        if end is not None and text[start] in kinds:
            try:
                return read(text[start:end])
            except json.JSONDecodeError:
                continue
    return NOTHING


def opening(text: str) -> str | None:
    """The text from where its last object or array begins, finished or not; None for none.

    Examples
    --------
    >>> opening('Here it is: {"a": [1, ')
    '{"a": [1, '
    """
    starts = [start for start, _ in _groups(text)]
    return text[starts[-1] :] if starts else None


def _groups(text: str) -> Iterator[tuple[int, int | None]]:
    """Start and end of what stands in brackets, the outermost; the last may have no end."""
    at = 0
    while (opens := _OPENS.search(text, at)) is not None:
        end = _end(text, opens.start())
        yield opens.start(), end
        if end is None:
            return
        at = end


def _end(text: str, start: int) -> int | None:
    depth = 0
    for token in TOKENS.finditer(text, start):
        first = token[0][0]
        if first in "[{":
            depth += 1
        elif first != '"':
            depth -= 1
            if depth == 0:
                return token.end()
    return None
