"""The signature of a tool whose JSON Schema was given: by a factory call, or by a server.

The schema is told to models as it is. Arguments are checked as far as their top level says:
names, required ones, and simple types.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any, Literal, Union

from ..core.errors import ConfigurationError, near
from .plain_types import plain
from .schema import Field, Injected, Signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["declared_signature"]

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": None,
}


def declared_signature(
    parameters: Mapping[str, Any] | None,
    function: Callable[..., Any],
    *,
    tool: str,
    inject: Iterable[str] = (),
) -> Signature:
    """Describe a tool by a JSON Schema.

    Parameters
    ----------
    parameters : mapping or None
        JSON Schema of an object; None for a tool without arguments.
    function : callable
        It is called with the arguments by name.
    tool : str
        The tool's name, for errors.
    inject : iterable of str, optional
        Parameters of the function that the host fills.

    Returns
    -------
    Signature

    Raises
    ------
    ConfigurationError
        When the schema is not that of an object, is not JSON, or does not fit the function.

    Examples
    --------
    >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    >>> declared_signature(schema, lambda city: city, tool="weather").fields["city"].required
    False
    """
    schema = _copied(parameters, tool)
    properties: dict[str, Any] = schema["properties"]
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(n, str) for n in required):
        raise ConfigurationError(
            f"tool {tool!r}: `required` of its parameters is not a list of names",
            hint="Each property's name that must be given, as a list.",
        )
    fields = {}
    for name in dict.fromkeys([*properties, *required]):
        annotation = _annotation(properties.get(name))
        found = plain(annotation)
        fields[name] = Field(name, annotation, name in required, found.read if found else None)
    injected = {name: Injected(name, True) for name in inject}
    for name in injected:
        if name in fields:
            raise ConfigurationError(
                f"tool {tool!r}: {name!r} is both injected and a parameter for the model",
                hint="Take it out of the schema or out of inject.",
            )
    _check_fit(function, [*fields, *injected], tool)
    extra = schema.get("additionalProperties")
    closed = extra is False or (
        extra is None and bool(fields) and "patternProperties" not in schema
    )
    return Signature(fields, injected, schema, closed=closed)


def _copied(parameters: Mapping[str, Any] | None, tool: str) -> dict[str, Any]:
    if parameters is None:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    try:
        schema = json.loads(json.dumps(parameters, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"tool {tool!r}: its parameters are not a JSON Schema ({error})",
            hint="Use plain dicts, lists, text, numbers and booleans.",
        ) from None
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise ConfigurationError(
            f"tool {tool!r}: its parameters are not the JSON Schema of an object",
            hint='Write {"type": "object", "properties": {…}, "required": […]}.',
        )
    schema = {"type": "object", **schema}
    if not isinstance(schema.setdefault("properties", {}), dict):
        raise ConfigurationError(
            f"tool {tool!r}: `properties` of its parameters is not a dict",
            hint='Write {"city": {"type": "string"}}.',
        )
    return schema


def _annotation(schema: Any) -> Any:
    """A type for a simple schema; anything for the others, which the function judges itself."""
    if not isinstance(schema, dict):
        return Any
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        if all(c is None or type(c) in (str, int, bool) for c in choices):
            return Literal[tuple(choices)]
        return Any
    kinds = schema.get("type")
    if isinstance(kinds, list) and kinds and all(k in _TYPES for k in kinds if isinstance(k, str)):
        return Union[tuple(_TYPES[k] for k in kinds)]  # noqa: UP007  (made from a list)
    return _TYPES.get(kinds, Any) if isinstance(kinds, str) else Any


def _check_fit(function: Callable[..., Any], names: list[str], tool: str) -> None:
    try:
        listed = inspect.signature(function).parameters.values()
    except (TypeError, ValueError, NameError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in listed):
        return
    taken = [p.name for p in listed if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for name in names:
        if name not in taken:
            raise ConfigurationError(
                f"tool {tool!r}: its function takes no {name!r}, which its schema has",
                hint=near(name, taken) + " Or let it take **arguments.",
            )
