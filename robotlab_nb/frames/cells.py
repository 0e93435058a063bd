"""One cell of a table: what a value becomes under a column's fixed type.

A value that does not fit its column never changes the column: it becomes text (in text
columns) or missing (in all others). Nothing here knows of pandas, of tables or of runs.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CELLS", "clean", "json_text", "microseconds", "start_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The years 1 to 9999, which Python's own datetime can show.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
#: Integers of more bits are written as hexadecimal text: Python refuses long decimal ones.
_DECIMAL_BITS = 14_000
_DEPTH = 100
_encode = json.JSONEncoder(ensure_ascii=False, default=repr).encode


def json_text(value: Any) -> str | None:
    """Write a nested value as JSON text.

    Integers keep all their digits (in hexadecimal text past 4,000 digits). NaN and infinities
    are written ``NaN``, ``Infinity`` and ``-Infinity``, as Python's `json` reads and writes them,
    so that they differ from ``null``, from the text ``"NaN"`` and from a missing value.

    Parameters
    ----------
    value : JSON or None
        None stands for *nothing there*.

    Returns
    -------
    str or None
        None for None; otherwise text that :func:`json.loads` reads back.

    Examples
    --------
    >>> json_text({"city": "Zürich", "n": [1, float("nan"), None]})
    '{"city": "Zürich", "n": [1, NaN, null]}'
    >>> json_text(""), json_text(None), json_text("NaN")
    ('""', None, '"NaN"')
    """
    if value is None:
        return None
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        return _encode(_writable(value, frozenset()))


def _writable(value: Any, above: frozenset[int]) -> Any:
    """Replace what JSON text cannot hold: huge integers, foreign keys, cycles, endless depth."""
    if isinstance(value, int) and value.bit_length() > _DECIMAL_BITS:
        return hex(value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    if len(above) >= _DEPTH or id(value) in above:
        return "…"
    above = above | {id(value)}
    if isinstance(value, dict):
        return {str(k): _writable(v, above) for k, v in value.items()}
    return [_writable(v, above) for v in value]


def clean(text: str) -> str:
    r"""Escape lone surrogates, which no Arrow text can hold; all other text stays as it is.

    In JSON text the escape is JSON's own, so nothing is lost there.

    Examples
    --------
    >>> clean("caf\u00e9 \ud83d!")
    'café \\ud83d!'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _text(value: Any) -> str | None:
    if type(value) is str:
        return value if value.isascii() else clean(value)
    if value is None:
        return None
    written = value if isinstance(value, str) else json_text(value)
    return clean(str(written))


def _integer(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -(2**63) <= value < 2**63 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _time(value: Any) -> int | None:
    found = _integer(value)
    return found if found is not None and _FIRST <= found <= _LAST else None


#: dtype -> what makes a column's cell of any value; times are microseconds since 1970.
CELLS: dict[str, Callable[[Any], Any]] = {
    "string": _text,
    "Int64": _integer,
    "Float64": _number,
    "boolean": _boolean,
    "datetime64[us, UTC]": _time,
}


def start_of(written: str | None) -> int | None:
    """Read an ISO 8601 time as microseconds since 1970 in UTC.

    Parameters
    ----------
    written : str or None
        Without an offset it is taken as UTC.

    Returns
    -------
    int or None
        None when there is no readable time.

    Examples
    --------
    >>> start_of("2026-03-29T03:30:00+02:00") == start_of("2026-03-29T01:30:00Z")
    True
    >>> start_of("soon") is None
    True
    """
    if not isinstance(written, str):
        return None
    try:
        when = datetime.fromisoformat(written)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return (when - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None


def microseconds(start: int | None, seconds: float | None) -> int | None:
    """Add seconds to a start in microseconds; None when either is unknown.

    Examples
    --------
    >>> microseconds(1_000_000, 0.25)
    1250000
    """
    if start is None or seconds is None or not math.isfinite(seconds):
        return None
    return start + round(seconds * 1e6)
