"""JSON as people read it: calls on one line, values in short, blocks laid out, keys masked.

Knows JSON only; what is too long or malformed is shown as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from .escape import one_line
from .parts import FOLD_LIMIT

__all__ = ["arguments_line", "laid_out", "masked", "value_line"]

#: No key, token or password is shown, whoever put it there; counts of tokens are none.
_SECRET = re.compile(
    r"(^|[_\-.\s])(api_?key|key|token|secret|password|passwd|authorization|cookie)$", re.IGNORECASE
)
_MASK = "(set)"
_SHORT = 60


def arguments_line(text: object, limit: int) -> str:
    """Arguments of a call between brackets, as Python would write them.

    Parameters
    ----------
    text : str
        JSON as the model wrote it. What is no object is shown as it is.
    limit : int
        Most characters.

    Examples
    --------
    >>> arguments_line('{"city": "Paris", "days": 3}', 80)
    '(city="Paris", days=3)'
    >>> arguments_line('{"city": ', 80), arguments_line("", 80)
    ('({"city":)', '()')
    """
    found = _read(text)
    if isinstance(found, dict):
        inside = ", ".join(f"{name}={_dump(value)}" for name, value in found.items())
    else:
        inside = text if isinstance(text, str) else ""
    return f"({one_line(inside, limit - 2)})"


def laid_out(text: object) -> str:
    """JSON on several lines where it is long; anything else as it is.

    Examples
    --------
    >>> laid_out('{"a":1}'), laid_out("18.5 °C")
    ('{"a": 1}', '18.5 °C')
    """
    found = _read(text)
    if isinstance(found, (dict, list)) and found:
        line = _dump(found)
        return line if len(line) <= _SHORT else json.dumps(found, indent=2, ensure_ascii=False)
    return text if isinstance(text, str) else value_line(text, FOLD_LIMIT)


def value_line(value: Any, limit: int) -> str:
    """Any value on one line: JSON where it has such a form, its repr without addresses otherwise.

    Examples
    --------
    >>> value_line({"a": [1, None]}, 80), value_line(0.2, 80), value_line("F", 80)
    ('{"a": [1, null]}', '0.2', '"F"')
    """
    if isinstance(value, str):
        value = value[: limit + 1]
    try:
        text = _dump(value)
    except (TypeError, ValueError, RecursionError):
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return one_line(text, limit)


def masked(name: str, value: Any) -> Any:
    """The value without keys, tokens and passwords, however deep they sit in mappings.

    Examples
    --------
    >>> masked("api_key", "sk-123"), masked("max_tokens", 100)
    ('(set)', 100)
    >>> masked("headers", {"Authorization": "Bearer x", "Accept": "*"})
    {'Authorization': '(set)', 'Accept': '*'}
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if _SECRET.search(name):
        return _MASK if value else None
    if isinstance(value, Mapping):
        return {key: masked(str(key), inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked("", inner) for inner in value]
    return value


def _read(text: object) -> Any:
    if not isinstance(text, str) or len(text) > FOLD_LIMIT or text[:1].strip() not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
