"""Types that pydantic understands: their JSON Schema, and lenient reading of JSON values.

pydantic is imported on first use, here alone. Nothing here knows of tools or calls.
"""

from __future__ import annotations

import json
import sys
import types
import typing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter

__all__ = ["adapter", "check", "schemas"]

#: keywords of JSON Schema that hold one schema, a list of them, or schemas by name
_ONE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "patternProperties", "dependentSchemas")
MOST_FAULTS = 10


def adapter(annotation: Any) -> TypeAdapter[Any]:
    """Make pydantic's reader of a type.

    Raises
    ------
    Exception
        pydantic's, when it cannot make sense of the type.
    """
    from pydantic import TypeAdapter

    return TypeAdapter(annotation if sys.version_info >= (3, 12) else _readable(annotation))


def _readable(annotation: Any) -> Any:
    """The same type with each ``typing.TypedDict`` as pydantic reads it in Python 3.11."""
    if typing.is_typeddict(annotation):
        return _typed_dict(annotation)
    args = typing.get_args(annotation)
    if not any(isinstance(arg, type) or typing.get_args(arg) for arg in args):
        return annotation
    readable = tuple(_readable(arg) for arg in args)
    if all(new is old for new, old in zip(readable, args, strict=True)):
        return annotation
    origin = typing.get_origin(annotation)
    return typing.Union[readable] if origin is types.UnionType else origin[readable]  # noqa: UP007


def _typed_dict(cls: Any) -> Any:
    import typing_extensions

    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        marked = typing.get_origin(hint) in (typing.Required, typing.NotRequired)
        optional = name in cls.__optional_keys__ and not marked
        readable = _readable(hint)
        fields[name] = typing.NotRequired[readable] if optional else readable
    made: Any = typing_extensions.TypedDict(cls.__name__, fields)  # type: ignore[misc]
    made.__doc__ = cls.__doc__
    return made


def schemas(
    adapters: Mapping[str, TypeAdapter[Any]],
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """JSON Schemas of several types, with the definitions that they share.

    Parameters
    ----------
    adapters : mapping of str to TypeAdapter
        By a name of the caller's.

    Returns
    -------
    tuple of (dict, dict)
        Schemas by the caller's names, and what belongs under ``$defs``. Titles, which only repeat
        names, are left out.

    Examples
    --------
    >>> import datetime
    >>> schemas({"day": adapter(datetime.date)})
    ({'day': {'type': 'string', 'format': 'date'}}, {})
    """
    from pydantic import TypeAdapter

    found, shared = TypeAdapter.json_schemas(
        [(name, "validation", one) for name, one in adapters.items()]
    )
    by_name = {name: _untitled(schema) for (name, _), schema in found.items()}
    return by_name, _untitled({"$defs": shared.get("$defs", {})})["$defs"]


def _untitled(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, dict):
            out[key] = {name: _untitled(one) for name, one in value.items()}
        elif key in _MANY and isinstance(value, list):
            out[key] = [_untitled(one) for one in value]
        elif key in _ONE:
            out[key] = _untitled(value)
        elif key != "title":
            out[key] = value
    return out


def check(reader: TypeAdapter[Any], value: Any) -> tuple[Any, list[str]]:
    """Read a JSON value leniently (``"3"`` is an integer where one is wanted).

    Parameters
    ----------
    reader : TypeAdapter
    value : JSON

    Returns
    -------
    tuple of (object, list of str)
        The value read and no faults, or None and the faults: one line each, starting with the
        place inside the value where there is one.

    Examples
    --------
    >>> check(adapter(int), "3")
    (3, [])
    >>> check(adapter(list[int]), [1, "x"])[1]
    ["at 1: Input should be a valid integer, unable to parse string as an integer (got 'x')"]
    """
    from pydantic import ValidationError

    try:
        # As JSON, not as Python objects: strict models and bytes mean something else there.
        return reader.validate_json(json.dumps(value)), []
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
    lines = []
    for one in found[:MOST_FAULTS]:
        place = ".".join(str(step) for step in one["loc"])
        got = "" if one["type"] == "missing" else f" (got {_short(one['input'])})"
        lines.append(f"at {place}: {one['msg']}{got}" if place else f"{one['msg']}{got}")
    if len(found) > MOST_FAULTS:
        lines.append(f"and {len(found) - MOST_FAULTS} more")
    return None, lines


def _short(value: Any, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
