"""The subset of JSON Schema that providers enforce, and schemas brought into it.

In that subset every object is closed and all its properties are required. One that may be left
out is offered as "this or null", and such a null is taken out of the answer again. What the
subset has no word for, and can be said in a sentence, goes into the description: answers are
judged by the original anyway. Pure functions of JSON; knows no provider and no type.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["pointed", "strict", "without_nulls"]

_KEPT = frozenset(
    """type description enum const pattern multipleOf minimum maximum exclusiveMinimum
    exclusiveMaximum minItems maxItems""".split()
)
_FORMATS = frozenset(
    "date-time time date duration email hostname ipv4 ipv6 uuid".split()
)  # fmt: skip
_SAID = frozenset(
    """minLength maxLength uniqueItems minProperties maxProperties contentEncoding
    contentMediaType format""".split()
)
_LEFT_OUT = frozenset(
    """title default examples $schema $id $comment deprecated readOnly writeOnly discriminator
    definitions $defs""".split()
)
_DEEPEST = 60


class _CannotBe(Exception):
    """The schema means something that the subset cannot say."""


def strict(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Bring a schema into the subset.

    Parameters
    ----------
    schema : mapping
        Its root is an object.

    Returns
    -------
    dict or None
        Every answer to it is one to the original too, but for the nulls that
        :func:`without_nulls` takes out. None when the subset cannot say what the original means.

    Examples
    --------
    >>> strict({"type": "object", "properties": {"n": {"type": "integer"}}})["properties"]
    {'n': {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}}
    >>> strict({"type": "object", "additionalProperties": {"type": "integer"}}) is None
    True
    """
    try:
        out = _strict(schema, schema, ())
        for name in ("$defs", "definitions"):
            if schema.get(name):
                out[name] = {k: _strict(v, schema, ()) for k, v in schema[name].items()}
    except _CannotBe:
        return None
    return out


def pointed(ref: str, root: Mapping[str, Any]) -> Any:
    """What a reference inside a document points at; None for nothing.

    Examples
    --------
    >>> pointed("#/$defs/a~1b", {"$defs": {"a/b": {"type": "null"}}})
    {'type': 'null'}
    """
    if not ref.startswith("#"):
        return None
    found: Any = root
    for step in ref[1:].split("/")[1:]:
        step = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and step.isdigit() and int(step) < len(found):
            found = found[int(step)]
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found


def _strict(schema: Any, root: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    """One schema; ``inside`` are the references that were followed to get here."""
    if not isinstance(schema, dict) or not schema or len(inside) > _DEEPEST:
        raise _CannotBe
    if "$ref" in schema:
        return _reference(schema, root, inside)
    out: dict[str, Any] = {}
    said: list[str] = []
    for key, value in schema.items():
        if key in _KEPT or (key == "format" and value in _FORMATS):
            out[key] = value
        elif key in _SAID:
            said.append(f"{key}: {json.dumps(value)}")
        elif key in ("anyOf", "oneOf") and isinstance(value, list):
            out["anyOf"] = [_strict(one, root, inside) for one in value]
        elif key == "items":
            out[key] = _strict(value, root, inside)
        elif key not in ("properties", "required", "additionalProperties", *_LEFT_OUT):
            raise _CannotBe
    kinds = schema.get("type")
    if kinds == "object" or "properties" in schema:
        _close(out, schema, root, inside)
    else:
        of_several = isinstance(kinds, list) and "object" in kinds
        of_anything = kinds == "array" and "items" not in out
        if of_several or of_anything or not out.keys() & {"type", "anyOf", "enum", "const"}:
            raise _CannotBe
    if said:
        out["description"] = " ".join(
            filter(None, (out.get("description"), f"({'; '.join(said)})"))
        )
    return out


def _reference(
    schema: dict[str, Any], root: Mapping[str, Any], inside: tuple[str, ...]
) -> dict[str, Any]:
    ref = schema["$ref"]
    more = {k: v for k, v in schema.items() if k != "$ref" and k not in _LEFT_OUT}
    if not more or (ref in inside and set(more) == {"description"}):
        return {"$ref": ref}
    target = pointed(ref, root)
    if ref in inside or not isinstance(target, dict):
        raise _CannotBe
    # Beside a reference nothing else may stand, so what it points at is put in its place.
    return _strict({**target, **more}, root, (*inside, ref))


def _close(
    out: dict[str, Any],
    schema: dict[str, Any],
    root: Mapping[str, Any],
    inside: tuple[str, ...],
) -> None:
    """Close an object and require all its properties."""
    properties = schema.get("properties")
    if not properties or schema.get("additionalProperties") not in (None, False):
        raise _CannotBe
    required = schema.get("required", ())
    if not set(required) <= set(properties):
        raise _CannotBe
    made: dict[str, Any] = {}
    for name, one in properties.items():
        made[name] = _strict(one, root, inside)
        if name not in required and not _takes_null(one, root):
            made[name] = _or_null(made[name])
    out.update(properties=made, required=list(properties), additionalProperties=False)


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    null = {"type": "null"}
    if "anyOf" in schema and not schema.keys() - {"anyOf", "description"}:
        return {**schema, "anyOf": [*schema["anyOf"], null]}
    text = schema.get("description")
    rest = {key: value for key, value in schema.items() if key != "description"}
    return {"anyOf": [rest, null], **({"description": text} if text else {})}


def _takes_null(schema: Any, root: Mapping[str, Any], depth: int = 0) -> bool:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return bool(schema)
    if "$ref" in schema:
        return _takes_null(pointed(schema["$ref"], root), root, depth + 1)
    kinds = schema.get("type")
    if kinds is not None and kinds != "null" and not (isinstance(kinds, list) and "null" in kinds):
        return False
    if "enum" in schema or "const" in schema:
        return None in schema.get("enum", (schema.get("const", 0),))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return any(_takes_null(one, root, depth + 1) for one in schema[key])
    return True


def without_nulls(value: Any, schema: Any, root: Mapping[str, Any] | None = None) -> Any:
    """An answer to a strict schema, without the nulls that stand for "left out".

    Parameters
    ----------
    value : JSON
    schema : mapping
        The original schema.
    root : mapping, optional
        The document that its references point into; by default the schema.

    Examples
    --------
    >>> original = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> without_nulls({"n": None}, original)
    {}
    """
    root = schema if root is None else root
    schema = _looked_up(schema, root)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            branch = _branch(value, schema[key], root)
            return value if branch is None else without_nulls(value, branch, root)
    if isinstance(value, list):
        items = schema.get("items")
        return [without_nulls(one, items, root) for one in value] if items else value
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return value
    required = schema.get("required", ())
    return {
        name: without_nulls(one, properties.get(name, {}), root)
        for name, one in value.items()
        if one is not None
        or name in required
        or name not in properties
        or _takes_null(properties[name], root)
    }


def _looked_up(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict):
            return {}
        if "$ref" not in schema:
            return schema
        schema = pointed(schema["$ref"], root)
    return {}


def _branch(value: Any, branches: list[Any], root: Mapping[str, Any]) -> Any:
    """The branch of a union that a value is of: the object with just these properties, constants
    included; the only array for a list.
    """
    fitting = []
    for one in branches:
        found = _looked_up(one, root)
        for key in ("anyOf", "oneOf"):
            inner = _branch(value, found[key], root) if key in found else None
            if inner is not None:
                fitting.append(inner)
        properties = found.get("properties")
        if isinstance(value, dict) and isinstance(properties, dict):
            if properties.keys() == value.keys() and all(
                value[n] is None or _looked_up(p, root).get("const", value[n]) == value[n]
                for n, p in properties.items()
            ):
                fitting.append(found)
        elif isinstance(value, list) and found.get("type") == "array":
            fitting.append(found)
    return fitting[0] if fitting else None
