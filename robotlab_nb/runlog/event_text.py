r"""An event's data as JSON text that reads back as the very same, and any text as a clean one.

The text is plain JSON in ASCII, written and read by the standard library. Three things it cannot
do: integers of thousands of digits, nesting deeper than its recursion, and two lone surrogates in
a row, which a reader would join. Data with one of them is written by the slower writer here. It
is JSON all the same, marked by a leading space; in it the escapes of two lone surrogates are in
capitals, and those of one character in small letters.

Nothing is ever revived: what is read consists of dicts, lists, texts, numbers, booleans and None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

__all__ = ["Unreadable", "clean", "original", "read", "written"]

#: digits that Python turns into an int, or back, at a time
_CHUNK = 4_000
#: more bits than these make more digits than Python writes
_BITS = 14_000
_SPLIT = re.compile("[\ud800-\udbff][\udc00-\udfff]")
#: what may be two surrogates, or one character beyond the 65,536th
_PAIR = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f]")


class Unreadable(ValueError):
    """A text that is not JSON."""


def _plain(value: Any) -> Any:
    """JSON for what the standard library does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


_encode = json.JSONEncoder(separators=(",", ":"), default=_plain).encode
_decode = json.JSONDecoder().decode


def written(value: Any) -> str:
    r"""A JSON value as text in ASCII.

    Parameters
    ----------
    value : JSON
        NaN, infinities, lone surrogates, NUL, integers of any size; nested as deep as may be.
        An object that is no JSON becomes its type's name.

    Examples
    --------
    >>> written({"text": "caf\xe9\0", "n": [1, float("nan")]})
    '{"text":"caf\\u00e9\\u0000","n":[1,NaN]}'
    >>> read(written({"n": 10**5000})) == {"n": 10**5000}
    True
    """
    try:
        text = _encode(value)
    except (ValueError, RecursionError, TypeError):
        return " " + _exactly(value)
    if "\\ud" in text and _PAIR.search(text) and _has_lone(value):
        return " " + _exactly(value)
    return text


def _has_lone(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, default=_plain).encode()
    except UnicodeEncodeError:
        return True
    return False


def read(text: str) -> Any:
    """The value that :func:`written` wrote.

    Raises
    ------
    Unreadable
        When it is not JSON.
    """
    if text[:1] == " ":
        return _Reader(text).value()
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        return _Reader(text).value()


# -- the exact writer, without recursion -----------------------------------------------------


def _exactly(value: Any) -> str:
    out: list[str] = []
    #: what is still to be written: texts as they are, values in a list of one
    left: list[Any] = [[value]]
    above: dict[int, None] = {}
    while left:
        item = left.pop()
        if item is None:
            above.popitem()
        elif type(item) is str:
            out.append(item)
        else:
            _open(item[0], left, out, above)
    return "".join(out)


def _open(value: Any, left: list[Any], out: list[str], above: dict[int, None]) -> None:
    """Write a leaf, or note the parts of what has some."""
    if value is None or isinstance(value, (bool, int, float, str)):
        out.append(_leaf(value))
        return
    if not isinstance(value, (dict, list, tuple)):
        left.append([_plain(value)])
        return
    if id(value) in above:  # it holds itself
        out.append('"<itself>"')
        return
    above[id(value)] = None
    mapping = isinstance(value, dict)
    parts: list[Any] = ["{" if mapping else "["]
    for number, part in enumerate(value):
        if number:
            parts.append(",")
        if mapping:
            parts.append(_text(part if isinstance(part, str) else _key(part)) + ":")
        parts.append([value[part] if mapping else part])
    parts += ["}" if mapping else "]", None]
    left.extend(reversed(parts))


def _leaf(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _digits(int(value))
    return json.dumps(value)


def _key(key: Any) -> str:
    """The name that the standard library gives a key which is no text."""
    try:
        name: str = next(iter(json.loads(json.dumps({key: 0}))))
    except (TypeError, ValueError):
        name = repr(type(key))
    return name


def _text(text: str) -> str:
    said = json.dumps(text)
    if not _SPLIT.search(text):
        return said
    pieces, at = [], 0
    for found in _SPLIT.finditer(text):
        pieces.append(json.dumps(text[at : found.start()])[1:-1])
        pieces.append("".join(f"\\u{ord(c):04X}" for c in found[0]))
        at = found.end()
    pieces.append(json.dumps(text[at:])[1:-1])
    return f'"{"".join(pieces)}"'


def _digits(number: int) -> str:
    if number.bit_length() < _BITS:
        return str(int(number))
    sign, number = ("-", -number) if number < 0 else ("", number)
    return sign + _halves(number, number.bit_length() * 31 // 100 + 1).lstrip("0")


def _halves(number: int, width: int) -> str:
    """So many digits of a number, zeros before it; by halves, or it would cost the square."""
    if width <= _CHUNK:
        return str(number).zfill(width)
    low = width // 2
    upper, lower = divmod(number, 10**low)
    return _halves(upper, width - low) + _halves(lower, low)


def _whole(digits: str) -> int:
    if len(digits) <= _CHUNK:
        return int(digits)
    low = len(digits) // 2
    return int(_whole(digits[:-low]) * 10**low + _whole(digits[-low:]))


# -- the exact reader, without recursion -----------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>"(?:[^"\\\x00-\x1f]|\\.)*+")
    | (?P<number>-?(?:0|[1-9]\d*)(?P<part>(?:\.\d+)?(?:[eE][+-]?\d+)?))
    | (?P<word>true|false|null|NaN|-?Infinity)
    | (?P<mark>[\[\]{},:])
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_WORDS = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_CAPITAL_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)(\\uD[89AB][0-9A-F]{2})(\\uD[C-F][0-9A-F]{2})")


def _unescaped(token: str) -> str:
    if not _CAPITAL_PAIR.search(token):
        said: str = json.loads(token)
        return said
    # Cut between the two halves of each pair in capitals: apart they are read as they are.
    pieces = _CAPITAL_PAIR.sub('\\1\\2"\n"\\3', token).split("\n")
    return "".join(json.loads(piece) for piece in pieces)


class _Reader:
    """Reads one JSON text; open lists and objects lie on a stack of its own."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def value(self) -> Any:
        """The value of the whole text."""
        stack: list[tuple[Any, str | None]] = []
        while True:
            made = self._begun(stack)
            while stack and made is not _OPENED:
                made = self._added(stack, made)
            if made is not _OPENED:
                if self._text[self._at :].strip():
                    raise self._fault()
                return made

    def _begun(self, stack: list[tuple[Any, str | None]]) -> Any:
        """A leaf, an empty list or object, or the news that one was opened."""
        token = self._next()
        if token.lastgroup != "mark":
            return self._leaf(token)
        if token["mark"] not in "[{":
            raise self._fault()
        opened: Any = [] if token["mark"] == "[" else {}
        if self._peek() in ("]", "}"):
            if self._next()["mark"] != ("]" if token["mark"] == "[" else "}"):
                raise self._fault()
            return opened
        stack.append((opened, self._name() if token["mark"] == "{" else None))
        return _OPENED

    def _added(self, stack: list[tuple[Any, str | None]], made: Any) -> Any:
        """Put a finished value where it belongs; what is finished by that, or that more follows."""
        into, name = stack.pop()
        if name is None:
            into.append(made)
        else:
            into[name] = made
        mark = self._next()["mark"]
        if mark == ",":
            stack.append((into, None if name is None else self._name()))
            return _OPENED
        if mark != ("]" if name is None else "}"):
            raise self._fault()
        return into

    def _next(self) -> re.Match[str]:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            raise self._fault()
        self._at = found.end()
        return found

    def _peek(self) -> str | None:
        found = _TOKEN.match(self._text, self._at)
        return found["mark"] if found else None

    def _name(self) -> str:
        token, colon = self._next(), self._next()
        if token["text"] is None or colon["mark"] != ":":
            raise self._fault()
        return _unescaped(token["text"])

    def _leaf(self, token: re.Match[str]) -> Any:
        if token["text"] is not None:
            try:
                return _unescaped(token["text"])
            except ValueError:
                raise self._fault() from None
        if token["word"] is not None:
            return _WORDS[token["word"]]
        if token["part"]:
            return float(token["number"])
        digits = token["number"]
        return -_whole(digits[1:]) if digits[0] == "-" else _whole(digits)

    def _fault(self) -> Unreadable:
        return Unreadable(f"this is no JSON, at character {self._at} of {len(self._text)}")


_OPENED = object()


# -- texts in columns of their own -----------------------------------------------------------

_UNCLEAN = re.compile("[\0\\\\\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:\\|u[0-9a-f]{4})")


def clean(text: str) -> str:
    r"""A text that every database takes: NUL and lone surrogates escaped, backslashes doubled.

    Examples
    --------
    >>> clean("caf\xe9"), clean("a\0\\")
    ('café', 'a\\u0000\\\\')
    >>> original(clean("a\0\\")) == "a\0\\"
    True
    """
    if not _UNCLEAN.search(text):
        return text
    return _UNCLEAN.sub(lambda m: "\\\\" if m[0] == "\\" else f"\\u{ord(m[0]):04x}", text)


def original(text: str) -> str:
    """The text that :func:`clean` was given."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: "\\" if m[0] == "\\\\" else chr(int(m[0][2:], 16)), text)
