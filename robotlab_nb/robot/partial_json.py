"""What an unfinished JSON text says so far.

Nothing is taken back when more of the text comes: objects and arrays gain members, strings gain
characters, and a number or a word counts once it is complete. Knows no schema and no stream.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from .json_in_text import opening

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["partial"]

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
#: a number that may go on
_NUMBER = re.compile(r"-?\d[\d.eE+-]*\Z")


def partial(text: str) -> Any:
    """Read as much of a JSON text as there is.

    Parameters
    ----------
    text : str
        The start of an answer; words and a code fence may stand before the JSON.

    Returns
    -------
    JSON or None
        The last object or array of the text as far as it goes; None when there is none yet, or
        what is there is no JSON.

    Examples
    --------
    >>> partial('{"city": "Par')
    {'city': 'Par'}
    >>> partial('{"city": "Paris", "days": [1, 2')
    {'city': 'Paris', 'days': [1]}
    >>> partial("Let me see") is None
    True
    """
    found = opening(text)
    if found is None:
        return None
    number = _NUMBER.search(found)
    if number is not None and '"' not in _STRINGS.sub("", found):
        found = found[: number.start()]
    try:
        return _reader().validate_json(found, experimental_allow_partial="trailing-strings")
    except ValueError:
        return None


@cache
def _reader() -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(Any)
