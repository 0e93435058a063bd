"""Plain types: their JSON Schema, and a quick exact reading of JSON values into them.

Plain are ``str, int, float, bool, None``, ``Any``, ``Literal`` and ``Enum`` of scalars, lists,
tuples, sets and string-keyed dicts of plain types, and unions of them. A reader takes a value
that already has the right JSON type and answers :data:`MISS` for any other; lenient conversion
belongs to :mod:`.rich_types`. Nothing here imports pydantic.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Callable  # noqa: TC003  (the NamedTuple's fields use it)
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

__all__ = ["MISS", "Plain", "plain"]

#: a reader's answer for a value that is not exactly of its type
MISS: Final = object()

NoneType = type(None)


class Plain(NamedTuple):
    """How a plain type is told to a model, and how a value of it is read.

    ``rank`` orders the members of a union, so that the most exact one takes a value first.
    """

    schema: dict[str, Any]
    read: Callable[[Any], Any]
    rank: int


def plain(annotation: Any) -> Plain | None:
    """Describe a plain type; None for any other.

    Parameters
    ----------
    annotation : object
        A type as an annotation gives it, strings resolved.

    Returns
    -------
    Plain or None

    Examples
    --------
    >>> plain(list[int]).schema
    {'type': 'array', 'items': {'type': 'integer'}}
    >>> plain(list[int]).read([1, 2])
    [1, 2]
    >>> plain(list[int]).read(["1"]) is MISS
    True
    >>> import datetime
    >>> plain(datetime.date) is None
    True
    """
    try:
        found = _SCALARS.get(annotation)
    except TypeError:  # an annotation that cannot be hashed is not plain
        return None
    if found is not None:
        return found
    origin = get_origin(annotation)
    if origin is None:
        if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
            return _enum(annotation)
        return None
    maker = _GENERICS.get(origin)
    return maker(get_args(annotation)) if maker is not None else None


def _anything(value: Any) -> Any:
    return value


def _exactly(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if type(value) is kind else MISS


def _read_float(value: Any) -> Any:
    if type(value) is float:
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return MISS
    return MISS


def _all(read: Callable[[Any], Any], values: Any) -> Any:
    """Read each value, or MISS when one misses."""
    if read is _anything:
        return values
    out = []
    for value in values:
        item = read(value)
        if item is MISS:
            return MISS
        out.append(item)
    return out


def _list(args: tuple[Any, ...]) -> Plain | None:
    of = plain(args[0] if args else Any)
    if of is None:
        return None
    read = of.read
    return Plain(
        {"type": "array", "items": of.schema},
        lambda value: _all(read, value) if type(value) is list else MISS,
        3,
    )


def _set(kind: type) -> Callable[[tuple[Any, ...]], Plain | None]:
    def make(args: tuple[Any, ...]) -> Plain | None:
        of = _list(args)
        if of is None:
            return None

        def read(value: Any) -> Any:
            items = of.read(value)
            try:
                return items if items is MISS else kind(items)
            except TypeError:  # an item that cannot be hashed
                return MISS

        return Plain({**of.schema, "uniqueItems": True}, read, 3)

    return make


def _tuple(args: tuple[Any, ...]) -> Plain | None:
    if not args or (len(args) == 2 and args[1] is Ellipsis):
        of = _list(args[:1])
        if of is None:
            return None
        listed = of.read

        def read_any(value: Any) -> Any:
            items = listed(value)
            return items if items is MISS else tuple(items)

        return Plain(of.schema, read_any, 3)
    members = [plain(arg) for arg in args]
    if None in members:
        return None
    each = [m for m in members if m is not None]

    def read(value: Any) -> Any:
        if type(value) is not list or len(value) != len(each):
            return MISS
        items = tuple([m.read(v) for m, v in zip(each, value, strict=True)])
        return MISS if any(item is MISS for item in items) else items

    kinds = [m.schema for m in each]
    schema: dict[str, Any] = {"type": "array", "minItems": len(each), "maxItems": len(each)}
    if all(k == kinds[0] for k in kinds):
        schema["items"] = kinds[0] if kinds else {}
    else:
        # Providers ask every array for its items; behind as many prefixItems they bind nothing.
        schema["prefixItems"] = kinds
        schema["items"] = {"anyOf": [k for i, k in enumerate(kinds) if k not in kinds[:i]]}
    return Plain(schema, read, 3)


def _dict(args: tuple[Any, ...]) -> Plain | None:
    if args and args[0] is not str:
        return None
    of = plain(args[1] if args else Any)
    if of is None:
        return None
    read_one = of.read

    def read(value: Any) -> Any:
        if type(value) is not dict:
            return MISS
        items = _all(read_one, value.values())
        return MISS if items is MISS else dict(zip(value, items, strict=True))

    return Plain({"type": "object", "additionalProperties": of.schema or True}, read, 3)


def _choices(values: list[Any], results: list[Any], rank: int) -> Plain | None:
    """One of some scalars; 1, 1.0 and True are told apart."""
    kinds = {type(value) for value in values}
    if not values or not kinds <= {str, int, float, bool, NoneType}:
        return None
    table = {(type(v), v): r for v, r in zip(values, results, strict=True)}
    schema: dict[str, Any] = {"enum": values}
    if len(kinds) == 1:
        schema = {**_SCALARS[type(values[0])].schema, **schema}

    def read(value: Any) -> Any:
        kind = type(value)
        return table.get((kind, value), MISS) if kind in kinds else MISS

    return Plain(schema, read, rank)


def _literal(args: tuple[Any, ...]) -> Plain | None:
    return _choices(list(args), list(args), 0)


def _enum(cls: type[enum.Enum]) -> Plain | None:
    if issubclass(cls, enum.Flag):
        return None
    members = list(cls)
    values = [m._value_ for m in members]
    return _choices(values, members, 2)


def _union(args: tuple[Any, ...]) -> Plain | None:
    members = [plain(arg) for arg in args]
    if None in members:
        return None
    each = [m for m in members if m is not None]
    if sum(m.rank == 3 for m in each) > 1:
        return None  # which container fits best is pydantic's to say
    readers = [m.read for m in sorted(each, key=lambda m: m.rank)]

    def read(value: Any) -> Any:
        for one in readers:
            found = one(value)
            if found is not MISS:
                return found
        return MISS

    return Plain({"anyOf": [m.schema for m in each]}, read, max(m.rank for m in each))


def _annotated(args: tuple[Any, ...]) -> Plain | None:
    of = plain(args[0])
    if of is None or not all(isinstance(note, str) for note in args[1:]):
        return None
    return Plain({**of.schema, "description": args[-1]}, of.read, of.rank)


_SCALARS: dict[Any, Plain] = {
    str: Plain({"type": "string"}, _exactly(str), 0),
    int: Plain({"type": "integer"}, _exactly(int), 0),
    bool: Plain({"type": "boolean"}, _exactly(bool), 0),
    float: Plain({"type": "number"}, _read_float, 1),
    NoneType: Plain({"type": "null"}, _exactly(NoneType), 0),
    None: Plain({"type": "null"}, _exactly(NoneType), 0),
    Any: Plain({}, _anything, 4),
    object: Plain({}, _anything, 4),
    inspect.Parameter.empty: Plain({}, _anything, 4),
}
_GENERICS: dict[Any, Callable[[tuple[Any, ...]], Plain | None]] = {
    list: _list,
    set: _set(set),
    frozenset: _set(frozenset),
    tuple: _tuple,
    dict: _dict,
    Literal: _literal,
    Union: _union,
    types.UnionType: _union,
    Annotated: _annotated,
}
for _bare in (list, set, frozenset, tuple, dict):
    _made = _GENERICS[_bare](())
    if _made is not None:
        _SCALARS[_bare] = _made
