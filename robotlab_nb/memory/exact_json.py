"""Python values as JSON that reads back as the very same values.

Plain JSON stays as it is. What JSON does not have (tuples, sets, bytes, dates, NaN, keys that are
no text …) is an object with the one key ``$`` naming its type. What cannot be written exactly is
refused, naming where it is; nothing is rounded, renamed or shortened.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import fractions
import math
import pathlib
import uuid
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NotExact", "decoded", "encoded"]

TAG = "$"
MOST_DEPTH = 200
#: above this Python refuses to write an int's digits
DIGITS_BITS = 8_000


class NotExact(InputError):
    """A value has no exact JSON."""


def encoded(value: Any, where: str = "the value") -> Any:
    """A value as JSON.

    Parameters
    ----------
    value : object
        None, bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset,
        the types of ``datetime`` (zones as offsets or zoneinfo), Decimal, Fraction, UUID, paths.
    where : str, optional
        What it is, for the error.

    Raises
    ------
    NotExact
        For a value of another type, in it too, and for one that holds itself.

    Examples
    --------
    >>> encoded({"at": (1, 2)})
    {'at': {'$': 'tuple', 'v': [1, 2]}}
    >>> decoded(encoded({"at": (1, 2)}))
    {'at': (1, 2)}
    >>> encoded([object()], "memory key 'x'")
    Traceback (most recent call last):
    ...
    robotlab_nb.memory.exact_json.NotExact: memory key 'x'[0] is of type object, which has no exact JSON. ...
    """  # noqa: E501
    return _encoded(value, where, 0)


def _encoded(value: Any, where: str, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return value if _is_clean(value) else {TAG: "str", "v": [ord(c) for c in value]}
    if kind is int:
        return value if value.bit_length() < DIGITS_BITS else {TAG: "int", "v": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {TAG: "float", "v": repr(value)}
    if depth > MOST_DEPTH:
        raise NotExact(f"{where[:200]} is nested too deeply, or holds itself")
    if kind is list:
        return [_encoded(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
    if kind is dict:
        return _mapping(value, where, depth)
    if kind in (tuple, set, frozenset):
        items = [_encoded(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
        return {TAG: kind.__name__, "v": items}
    write = _WRITE.get(kind)
    if write is None:
        name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        raise NotExact(
            f"{where} is of type {name}, which has no exact JSON",
            hint="Keep plain values: numbers, texts, bytes, dates, lists, dicts, tuples, sets.",
        )
    return {TAG: kind.__name__, "v": write(value, where)}


def _is_clean(text: str) -> bool:
    """Whether JSON keeps a text as it is: two lone surrogates would be joined."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _mapping(value: dict[Any, Any], where: str, depth: int) -> Any:
    if all(type(key) is str and _is_clean(key) for key in value) and TAG not in value:
        return {k: _encoded(v, f"{where}[{k!r}]", depth + 1) for k, v in value.items()}
    pairs = [
        [_encoded(k, f"a key of {where}", depth + 1), _encoded(v, f"{where}[{k!r}]", depth + 1)]
        for k, v in value.items()
    ]
    return {TAG: "dict", "v": pairs}


def _zoned(value: datetime.datetime | datetime.time, where: str) -> Any:
    """Its text; with the zone's name and the fold where the text does not say them."""
    zone = value.tzinfo
    name = None
    if type(zone).__module__.startswith("zoneinfo"):
        name = getattr(zone, "key", None)
    if zone is not None and name is None and not _offset_only(zone):
        raise NotExact(
            f"{where} has a time zone of type {type(zone).__name__}, which has no exact JSON",
            hint="Use zoneinfo.ZoneInfo, or datetime.timezone without a name.",
        )
    return {"at": value.replace(tzinfo=None).isoformat() if name else value.isoformat(),
            "zone": name, "fold": value.fold}  # fmt: skip


def _offset_only(zone: datetime.tzinfo) -> bool:
    if type(zone) is not datetime.timezone:
        return False
    return zone.tzname(None) == datetime.timezone(zone.utcoffset(None)).tzname(None)


def _unzoned(kind: Any) -> Callable[[Any], Any]:
    def read(data: Any) -> Any:
        value = kind.fromisoformat(data["at"]).replace(fold=data["fold"])
        if data["zone"] is None:
            return value
        import zoneinfo

        return value.replace(tzinfo=zoneinfo.ZoneInfo(data["zone"]))

    return read


def _base64(value: Any, where: str) -> str:
    return base64.b64encode(value).decode("ascii")


def _parts(value: datetime.timedelta, where: str) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _text(value: Any, where: str) -> str:
    return str(value)


_WRITE: dict[type, Callable[[Any, str], Any]] = {
    bytes: _base64,
    bytearray: _base64,
    complex: lambda value, where: [repr(value.real), repr(value.imag)],
    datetime.datetime: _zoned,
    datetime.time: _zoned,
    datetime.date: lambda value, where: value.isoformat(),
    datetime.timedelta: _parts,
    decimal.Decimal: _text,
    fractions.Fraction: _text,
    uuid.UUID: _text,
    type(pathlib.PurePosixPath()): _text,
    type(pathlib.PureWindowsPath()): _text,
    type(pathlib.Path()): _text,
}

_READ: dict[str, Callable[[Any], Any]] = {
    "str": lambda data: "".join(map(chr, data)),
    "int": lambda data: int(data, 16),
    "float": float,
    "complex": lambda data: complex(float(data[0]), float(data[1])),
    "bytes": base64.b64decode,
    "bytearray": lambda data: bytearray(base64.b64decode(data)),
    "datetime": _unzoned(datetime.datetime),
    "time": _unzoned(datetime.time),
    "date": datetime.date.fromisoformat,
    "timedelta": lambda data: datetime.timedelta(*data),
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "UUID": uuid.UUID,
    "PurePosixPath": pathlib.PurePosixPath,
    "PureWindowsPath": pathlib.PureWindowsPath,
    "PosixPath": pathlib.Path,
    "WindowsPath": pathlib.Path,
}


def decoded(data: Any) -> Any:
    """The value that :func:`encoded` wrote.

    Raises
    ------
    InputError
        When the data names a type that is not known here.
    """
    if type(data) is list:
        return [decoded(item) for item in data]
    if type(data) is not dict:
        return data
    kind = data.get(TAG)
    if kind is None:
        return {key: decoded(value) for key, value in data.items()}
    inside = data["v"]
    if kind == "dict":
        return {decoded(key): decoded(value) for key, value in inside}
    if kind in ("tuple", "set", "frozenset"):
        items = (decoded(item) for item in inside)
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)
    read = _READ.get(kind)
    if read is None:
        raise InputError(f"memory holds a value of the unknown type {kind!r:.60}")
    return read(inside)
