"""Reading JSON that a model wrote: strictly, and so that whatever is wrong can be told to it.

A key given twice, NaN, a number too large and deep nesting are faults: they cannot be read
faithfully, or break later readers one by one.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

__all__ = ["MOST_DEPTH", "TOKENS", "Unreadable", "read"]

#: how deep a value may be nested
MOST_DEPTH = 100
#: whole strings (the last one perhaps unfinished) and brackets outside them
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


class Unreadable(ValueError):
    """JSON that cannot be read faithfully; the message is for the model, its subject left out."""


def read(text: str) -> Any:
    """Read a JSON text.

    Raises
    ------
    json.JSONDecodeError
        When it is no JSON.
    Unreadable
        When it is, and cannot be read faithfully.

    Examples
    --------
    >>> read('{"city": "Paris"}')
    {'city': 'Paris'}
    >>> read('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    robotlab_nb.core.strict_json.Unreadable: the key 'a' is given more than once; give each key once
    """
    if text.count("[") + text.count("{") > MOST_DEPTH:
        _check_depth(text)
    try:
        return _DECODER.decode(text)
    except (json.JSONDecodeError, Unreadable):
        raise
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # Python refuses integers of thousands of digits
        raise Unreadable("a number has too many digits") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"the key {twice[:60]!r} is given more than once; give each key once")
    return made


def _constant(token: str) -> Any:
    raise Unreadable(f"{token} is not valid JSON; use a number, null or a string")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Unreadable(f"the number {digits[:40]} is too large")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


def _too_deep() -> Unreadable:
    return Unreadable(f"it is nested deeper than {MOST_DEPTH} levels")


def _check_depth(text: str) -> None:
    """Count brackets outside strings, so that no recursion is needed to refuse deep nesting."""
    depth = 0
    for token in TOKENS.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
            if depth > MOST_DEPTH:
                raise _too_deep()
        elif first != '"':
            depth -= 1
