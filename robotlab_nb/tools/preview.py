"""What a tool returned, as text for the model and as JSON for the record.

Nothing is lost silently: whatever the JSON does not hold is marked in it, and ``lossy`` is set.
A preview never raises, is bounded in size, and is the same for equal values. It knows no robot
and no event.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import os
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..core import secrets
from .answer import ToolAnswer
from .summaries import plainer, safe_repr, summary, type_name

__all__ = ["TEXT_LIMIT", "Preview", "preview"]

#: characters for the model, and characters of text in the record
TEXT_LIMIT = 50_000
#: values in the record
ITEM_LIMIT = 20_000
DEPTH_LIMIT = 40
KEY_LIMIT = 500
INTEGER_BITS = 2_048
NO_OUTPUT = "no output"

#: classes of the standard library whose text says all, by module and name: no import needed
_TEXTUAL = frozenset(
    {
        ("decimal", "Decimal"), ("fractions", "Fraction"), ("uuid", "UUID"),
        ("datetime", "timedelta"), ("ipaddress", "_IPAddressBase"),
    }
)  # fmt: skip
_DATED = frozenset({("datetime", "date"), ("datetime", "time")})


class Preview(NamedTuple):
    """A value as others see it.

    Attributes
    ----------
    content : str
        For the model. At most 50,000 characters and a note of what was cut.
    data : JSON
        For events: valid JSON.
    lossy : bool
        Whether ``data`` says less than the value did: cut, summarised, or (NaN) renamed.
    """

    content: str
    data: Any
    lossy: bool


def preview(value: Any) -> Preview:
    """Turn a tool's return value into text and JSON.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    Preview

    Examples
    --------
    >>> preview({"city": "Paris", "tags": ("a", "b")})
    Preview(content='{"city": "Paris", "tags": ["a", "b"]}', data={'city': 'Paris', 'tags': ['a', 'b']}, lossy=False)
    >>> preview(float("nan"))
    Preview(content='NaN', data='NaN', lossy=True)
    >>> preview(None).content
    'no output'
    """  # noqa: E501
    if value is None:
        return Preview(NO_OUTPUT, None, False)
    if type(value) is str:
        return _of_text(value)
    if type(value) is ToolAnswer:
        return _of_answer(value)
    writer = _Writer()
    data = writer.write(value, 0)
    if writer.top is not None:
        content = writer.top
    elif type(data) is str:
        content = data
    else:
        content = json.dumps(data, ensure_ascii=False)
    return Preview(_sendable(_capped(content)[0]), data, writer.lossy)


def _of_text(text: str) -> Preview:
    shown, cut = _capped(text)
    return Preview(_sendable(shown), shown, cut)


def _of_answer(answer: ToolAnswer) -> Preview:
    seen = _of_text(answer.text)
    if answer.data is None:
        return seen
    data = preview(answer.data)
    return Preview(seen.content, data.data, seen.lossy or data.lossy)


def _capped(text: str) -> tuple[str, bool]:
    if len(text) <= TEXT_LIMIT:
        return text, False
    text = secrets.redact(text)  # before the cut, which may go through one
    note = f"\n[cut: the first {TEXT_LIMIT:,} of {len(text):,} characters]"
    return text[:TEXT_LIMIT] + note, True


def _sendable(text: str) -> str:
    """The text with lone surrogates as visible escapes: no request can carry them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class _Writer:
    """One value's way to JSON, within limits on characters, items and depth."""

    __slots__ = ("characters", "items", "lossy", "opened", "top")

    def __init__(self) -> None:
        self.characters = TEXT_LIMIT
        self.items = ITEM_LIMIT
        self.lossy = False
        #: ids of the containers around the value in hand
        self.opened: set[int] = set()
        #: text of the outermost value where a summary brought its own
        self.top: str | None = None

    def write(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return self._integer(value)
        if kind is float:
            return self._float(value)
        try:
            return self._container(value, depth)
        except Exception:  # a property, an iterator or a model of its own that fails
            return self._summary(value, depth)

    def _text(self, text: str) -> str:
        if len(text) <= self.characters:
            self.characters -= len(text)
            return text
        self.lossy = True
        text = secrets.redact(text)  # before the cut, which may go through one
        shown, self.characters = text[: self.characters], 0
        return f"{shown}… [cut: {len(shown):,} of {len(text):,} characters]"

    def _integer(self, number: int) -> Any:
        if number.bit_length() <= INTEGER_BITS:
            return number
        # Python refuses to write thousands of decimal digits.
        self.lossy = True
        return f"(an integer of {number.bit_length():,} bits)"

    def _float(self, number: float) -> Any:
        if math.isfinite(number):
            return number
        self.lossy = True
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"

    def _container(self, value: Any, depth: int) -> Any:
        if depth >= DEPTH_LIMIT:
            self.lossy = True
            return f"(nested too deeply: {type_name(value)})"
        if id(value) in self.opened:
            self.lossy = True
            return f"(a cycle: the {type_name(value)} that holds this)"
        self.opened.add(id(value))
        try:
            return self._open(value, depth)
        finally:
            self.opened.discard(id(value))

    def _open(self, value: Any, depth: int) -> Any:
        if isinstance(value, enum.Enum):
            return self.write(value.value, depth)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            pairs = zip(value._fields, value, strict=True)
            return self._mapping(pairs, len(value), depth)
        if isinstance(value, (list, tuple, deque, range)):
            return self._sequence(value, len(value), depth)
        if isinstance(value, Mapping):
            return self._mapping(value.items(), len(value), depth)
        if isinstance(value, (set, frozenset)):
            return self._set(value, depth)
        found, simpler = _simpler(value)
        if found:
            return self.write(simpler, depth + 1)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            return self._mapping(((n, getattr(value, n)) for n in names), len(names), depth)
        return self._summary(value, depth)

    def _summary(self, value: Any, depth: int) -> Any:
        self.lossy = True
        found = summary(value)
        if depth == 0:
            self.top = found.text
        self.characters = max(0, self.characters - len(found.text))
        return found.data

    def _full(self) -> bool:
        if self.items > 0 and self.characters > 0:
            self.items -= 1
            return False
        self.lossy = True
        return True

    def _sequence(self, values: Iterable[Any], count: int, depth: int) -> list[Any]:
        written = self._each(values, depth)
        return written + self._missing(count - len(written))

    def _each(self, values: Iterable[Any], depth: int) -> list[Any]:
        out: list[Any] = []
        for value in values:
            if self._full():
                break
            out.append(self.write(value, depth + 1))
        return out

    def _missing(self, count: int) -> list[str]:
        return [f"… {count:,} more items"] if count else []

    def _set(self, values: set[Any] | frozenset[Any], depth: int) -> list[Any]:
        kinds = {type(value) for value in values}
        if len(kinds) == 1 and kinds <= {str, int}:
            return self._sequence(sorted(values), len(values), depth)
        # Written first, then sorted: only JSON of equal sets is sure to sort alike.
        written = self._each(values, depth)
        written.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return written + self._missing(len(values) - len(written))

    def _mapping(self, pairs: Iterable[tuple[Any, Any]], count: int, depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in pairs:
            if self._full():
                out["…"] = f"{count - len(out):,} more entries"
                break
            name = self._key(key)
            if name in out:
                # 1 and "1" are two keys in Python and one in JSON.
                self.lossy = True
                stem, n = f"{name} ({type_name(key)})", 1
                name = stem
                while name in out:
                    n += 1
                    name = f"{stem} {n}"
            out[name] = self.write(value, depth + 1)
        return out

    def _key(self, key: Any) -> str:
        if isinstance(key, enum.Enum):
            key = key.value
        if type(key) is str:
            text = key
        elif key is None or type(key) in (bool, int, float):
            text = json.dumps(self.write(key, DEPTH_LIMIT)).strip('"')
        else:
            found, simpler = _simpler(key)
            text = simpler if found and type(simpler) is str else safe_repr(key) or type_name(key)
        if len(text) > KEY_LIMIT:
            self.lossy = True
            text = secrets.redact(text)[:KEY_LIMIT] + "…"
        self.characters = max(0, self.characters - len(text))
        return text


def _simpler(value: Any) -> tuple[bool, Any]:
    """A scalar (or a model) as a simpler value that says the same, where there is one."""
    if isinstance(value, str):
        return True, str.__str__(value)
    if isinstance(value, int):
        return True, int(value)
    if isinstance(value, float):
        return True, float(value)
    if isinstance(value, os.PathLike):
        return True, os.fsdecode(value)
    for base in type(value).__mro__:
        named = (base.__module__, base.__qualname__)
        if named in _DATED:
            return True, value.isoformat()
        if named in _TEXTUAL:
            return True, str(value)
    return plainer(value)
