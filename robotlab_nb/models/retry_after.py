"""Reading how long a provider asks us to wait, from headers, bodies and words.

It reads; whether and how long to wait is decided elsewhere.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["retry_after_from"]

_IN_WORDS = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(\d+)h)?(?:(\d+)m(?!s))?"
    r"(?:(\d+(?:\.\d+)?)\s?(ms|s(?:ec(?:onds?)?)?)\b)?",
    re.IGNORECASE,
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s)?")


def retry_after_from(
    headers: Mapping[str, str], error: Any = None, message: str = ""
) -> float | None:
    """How long an answer asks us to wait.

    Parameters
    ----------
    headers : mapping
        ``retry-after`` (seconds or a date), ``retry-after-ms``, ``x-ratelimit-reset``.
    error : JSON, optional
        The body's error object: OpenRouter repeats headers in it, Gemini has a ``retryDelay``.
    message : str, optional
        The error's words, for "try again in 6m0s".

    Returns
    -------
    float or None
        Seconds, however many were asked for; 0 where the time has passed; None when nothing was
        said that can be read. Two headers that disagree: the longer.

    Examples
    --------
    >>> retry_after_from({"Retry-After": "1", "retry-after-ms": "1500"})
    1.5
    >>> retry_after_from({"retry-after": "-3"})
    0.0
    """
    told = {name.lower(): value for name, value in headers.items()}
    waits = [_number(told.get("retry-after-ms"), 0.001), _header(told.get("retry-after"), told)]
    known = [wait for wait in waits if wait is not None]
    if known:
        return max(0.0, *known)
    found = _in_error(error)
    if found is None:
        found = _reset(told.get("x-ratelimit-reset"))
    if found is None:
        found = _in_words(message)
    return None if found is None else max(0.0, found)


def _number(value: Any, scale: float = 1.0) -> float | None:
    try:
        seconds = float(value) * scale
    except (TypeError, ValueError, OverflowError):
        return None
    # More than a person could wait is still an answer, and must stay a number that JSON can hold.
    return None if seconds != seconds else max(-1e15, min(seconds, 1e15))


def _header(value: str | None, headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header; a date counts from the server's own clock if it is told."""
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    now = _date(headers.get("date"))
    return until - (time.time() if now is None else now)


def _date(value: str | None) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(value or "").timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _reset(value: Any) -> float | None:
    """Seconds until a reset that is given as seconds, or as an instant in (milli)seconds."""
    number = _number(value)
    if number is None or number < 1e9:
        return number
    return (number / 1000 if number > 1e11 else number) - time.time()


def _in_error(error: Any) -> float | None:
    if not isinstance(error, dict):
        return None
    metadata = error.get("metadata")
    inside = metadata.get("headers") if isinstance(metadata, dict) else None
    if isinstance(inside, dict):
        told = {str(name).lower(): value for name, value in inside.items()}
        found = _number(told.get("retry-after"))
        return found if found is not None else _reset(told.get("x-ratelimit-reset"))
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        match = _DURATION.fullmatch(delay) if isinstance(delay, str) else None
        if match:
            return _number(match[1], 0.001 if match[2] == "ms" else 1.0)
    return None


def _in_words(message: str) -> float | None:
    for hours, minutes, number, unit in _IN_WORDS.findall(message):
        if hours or minutes or number:
            seconds = float(number or 0) * (0.001 if unit.lower() == "ms" else 1)
            return float(int(hours or 0) * 3600 + int(minutes or 0) * 60) + seconds
    return None
