"""What an answer can be asked to be: types that pydantic understands, and JSON Schemas.

Each becomes a reader, which has the schema that a model is told, always of an object, and reads
the data of an answer. pydantic and jsonschema are imported on first use. Knows no model.
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from abc import ABC, abstractmethod
from copy import deepcopy
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ..core.errors import ConfigurationError
from ..core.keys import digest
from .strict_schema import pointed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import TypeAdapter

__all__ = ["Fault", "Reader", "reader_of"]

#: a fault of an answer: ``{"path", "message"}``
Fault = dict[str, str]

#: the property that holds what is no object by itself
VALUE = "value"
MOST_FAULTS = 50
_WANTED = (
    "Pass a pydantic model, a dataclass, a TypedDict, any type that pydantic reads, or a JSON "
    "Schema as a dict."
)

#: readers by type, or by the text of a schema, as long as somebody has them
_readers: WeakValueDictionary[Any, Reader] = WeakValueDictionary()


class Reader(ABC):
    """What an answer must be, and reading it.

    Attributes
    ----------
    name : str
        1 to 64 of ``a-z A-Z 0-9 _ -``.
    schema : dict
        JSON Schema of an object.
    wrapped : bool
        Whether the answer is that object's only property, being none itself.
    written : str
        The name as a person wrote it: ``list[Line]`` for ``list_Line``.
    """

    __slots__ = ("__weakref__", "made", "name", "schema", "wrapped", "written")

    def __init__(self, name: str, schema: dict[str, Any], definitions: Mapping[str, Any]) -> None:
        self.name = self.written = name
        made, self.wrapped = _as_object(schema, definitions)
        if str(made.get("description", "")).startswith(f"{name}("):
            del made["description"]  # a dataclass that was not described describes itself
        self.schema = _pruned(made)
        #: what was made of the schema for each way of asking
        self.made: dict[Any, Any] = {}

    @abstractmethod
    def read(self, data: Any) -> tuple[Any, Any, list[Fault]]:
        """Read the data of an answer.

        Returns
        -------
        tuple of (object, JSON, list of Fault)
            The value, the same as JSON, and no faults; or None, None and the faults.
        """

    def paths(self, steps: Iterator[Any] | tuple[Any, ...]) -> str:
        """A place in the data as a model sees it: ``items.0.price``."""
        told = [str(step) for step in steps]
        return ".".join([VALUE, *told] if self.wrapped else told)


class TypeReader(Reader):
    """Reads into a type, by pydantic."""

    __slots__ = ("_adapter",)

    def __init__(self, output: Any) -> None:
        from pydantic.errors import PydanticUserError

        from ..tools.rich_types import adapter, schemas

        name = _name_of(output)
        if isinstance(output, str) or inspect.isroutine(output):
            raise _no_type(output, "it is a text or a function")
        try:
            self._adapter: TypeAdapter[Any] = adapter(output)
            told = adapter(_fields_of(output)) if _is_named_tuple(output) else self._adapter
            by_name, definitions = schemas({"output": told})
        except (PydanticUserError, TypeError, NameError, AttributeError) as error:
            why = re.split(r"\.\s|\n", str(error).strip() or type(error).__name__)[0]
            raise _no_type(output, why) from None
        super().__init__(name, by_name["output"], definitions)
        self.written = _written(output)

    def read(self, data: Any) -> tuple[Any, Any, list[Fault]]:
        """Read the data of an answer, leniently where pydantic is."""
        from pydantic import ValidationError

        try:
            # As JSON, not as Python objects: strict models and bytes mean something else there.
            value = self._adapter.validate_json(json.dumps(data))
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False)[:MOST_FAULTS]
            return None, None, [self._fault(one) for one in found]
        except Exception as error:
            raise ConfigurationError(
                f"output={self.name} could not read an answer: one of its validators raised "
                f"{type(error).__name__}: {error}",
                hint="A validator refuses a value with ValueError or AssertionError.",
            ) from error
        return value, self._dumped(value, data), []

    def _fault(self, found: Any) -> Fault:
        got = "" if found["type"] == "missing" else f" (got {_short(found['input'])})"
        return {"path": self.paths(found["loc"]), "message": f"{found['msg']}{got}"}

    def _dumped(self, value: Any, data: Any) -> Any:
        """The value as JSON, defaults and conversions included; what was read, failing that."""
        try:
            return self._adapter.dump_python(value, mode="json", by_alias=True, warnings=False)
        except Exception:
            return data


class SchemaReader(Reader):
    """Reads into plain data, by a JSON Schema."""

    __slots__ = ("_validator",)

    def __init__(self, schema: dict[str, Any]) -> None:
        from jsonschema import (
            Draft202012Validator,
            SchemaError,
        )
        from jsonschema.validators import validator_for

        kind = validator_for(schema, default=Draft202012Validator)
        try:
            kind.check_schema(schema)
        except SchemaError as error:
            place = ".".join(map(str, error.absolute_path))
            raise ConfigurationError(
                f"output= is no JSON Schema: {error.message[:200]}{f' at {place}' if place else ''}"
            ) from None
        _check_references(schema)
        self._validator: Any = kind(schema, format_checker=kind.FORMAT_CHECKER)
        title = schema.get("title")
        name = _clean(title) if isinstance(title, str) else ""
        super().__init__(name or "answer", schema, {})

    def read(self, data: Any) -> tuple[Any, Any, list[Fault]]:
        """Read the data of an answer: it is the value."""
        from jsonschema.exceptions import best_match

        faults: list[Fault] = []
        for error in self._validator.iter_errors(data):
            # Of a union's faults the ones that matter stand in the branch that was meant.
            inner = best_match([error])
            message = inner.message if len(inner.message) <= 300 else f"{inner.message[:299]}…"
            faults.append({"path": self.paths(tuple(inner.absolute_path)), "message": message})
            if len(faults) == MOST_FAULTS:
                break
        faults.sort(key=lambda fault: fault["path"])
        return (None, None, faults) if faults else (data, data, [])


def reader_of(output: Any) -> Reader:
    """The reader of a type or a schema; the same one while somebody has it.

    Parameters
    ----------
    output : type or dict

    Returns
    -------
    Reader

    Raises
    ------
    ConfigurationError
        When no answer can be that.

    Examples
    --------
    >>> reader_of(list[int]).read([1, "2"])
    ([1, 2], [1, 2], [])
    >>> reader_of({"type": "integer"}).read("one")[2]
    [{'path': 'value', 'message': "'one' is not of type 'integer'"}]
    """
    if isinstance(output, dict):
        schema = _copied(output)
        key: Any = ("schema", digest(schema))
    else:
        try:
            hash(output)
            key = ("type", output)
        except TypeError:
            key = ("id", id(output))
    found = _readers.get(key)
    if found is None:
        found = SchemaReader(schema) if isinstance(output, dict) else TypeReader(output)
        _readers[key] = found
    return found


def _copied(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of the reader's own, checked to be JSON."""
    if not schema:
        raise ConfigurationError("output={} says nothing of the answer", hint=_WANTED)
    try:
        json.dumps(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"output= is no JSON Schema: {error}", hint=_WANTED) from None
    return deepcopy(schema)


def _written(output: Any) -> str:
    plain = isinstance(output, type) and not typing.get_args(output)
    return output.__name__ if plain else re.sub(r"\w+\.", "", str(output))[:200]


def _name_of(output: Any) -> str:
    return _clean(_written(output)) or "answer"


def _clean(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9-]+", "_", text)[:64].strip("_-")


def _no_type(output: Any, why: str) -> ConfigurationError:
    shown = output.__name__ if isinstance(output, type) else f"{output!r:.80}"
    return ConfigurationError(
        f"output={shown} is no type that an answer can have: {why}", hint=_WANTED
    )


def _short(value: Any, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def _is_named_tuple(output: Any) -> bool:
    return isinstance(output, type) and issubclass(output, tuple) and hasattr(output, "_fields")


def _fields_of(output: Any) -> Any:
    """The fields of a NamedTuple as a TypedDict: a model should see their names."""
    from typing_extensions import TypedDict

    hints = typing.get_type_hints(output, include_extras=True)
    fields = {
        name: typing.NotRequired[hints.get(name, Any)]
        if name in output._field_defaults
        else hints.get(name, Any)
        for name in output._fields
    }
    made: Any = TypedDict(output.__name__, fields)  # type: ignore[misc]
    made.__doc__ = output.__doc__
    return made


# -- schemas -----------------------------------------------------------------------------------


def _as_object(
    schema: dict[str, Any], definitions: Mapping[str, Any]
) -> tuple[dict[str, Any], bool]:
    """A schema whose root is an object: itself, or an object with it as its only property."""
    whole = {**schema, "$defs": {**definitions, **schema.get("$defs", {})}}
    if not whole["$defs"]:
        del whole["$defs"]
    root = whole
    if set(schema) - {"$defs", "definitions"} == {"$ref"}:
        target = pointed(schema["$ref"], whole)
        if isinstance(target, dict) and "$ref" not in target:
            above = {k: v for k, v in whole.items() if k in ("$defs", "definitions")}
            root = {**target, **above}
    if root.get("type") == "object" and not root.keys() & {"anyOf", "oneOf", "allOf", "$ref"}:
        return root, False
    hoisted = {k: v for k, v in whole.items() if k in ("$defs", "definitions", "$schema")}
    inner = {k: v for k, v in whole.items() if k not in hoisted}
    made: dict[str, Any] = {
        "type": "object",
        "properties": {VALUE: _moved(inner)},
        "required": [VALUE],
        "additionalProperties": False,
        **{k: _moved(v) for k, v in hoisted.items()},
    }
    return made, True


def _pruned(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the definitions that nothing refers to."""
    definitions = schema.get("$defs")
    if not definitions:
        return schema
    out = {key: value for key, value in schema.items() if key != "$defs"}
    used: dict[str, Any] = {}
    waiting = list(_references(out))
    while waiting:
        ref = waiting.pop()
        name = ref.removeprefix("#/$defs/").partition("/")[0].replace("~1", "/").replace("~0", "~")
        if name in definitions and name not in used:
            used[name] = definitions[name]
            waiting += _references(used[name])
    return {**out, "$defs": used} if used else out


def _moved(part: Any) -> Any:
    """A part of a schema that was put beneath ``VALUE``, its references corrected."""
    if isinstance(part, list):
        return [_moved(one) for one in part]
    if not isinstance(part, dict):
        return part
    out = {key: _moved(value) for key, value in part.items()}
    ref = part.get("$ref")
    if isinstance(ref, str) and (ref == "#" or ref.startswith("#/")):
        at_home = ref.startswith(("#/$defs/", "#/definitions/"))
        out["$ref"] = ref if at_home else f"#/properties/{VALUE}{ref[1:]}"
    return out


def _check_references(schema: dict[str, Any]) -> None:
    for ref in _references(schema):
        if not ref.startswith("#"):
            raise ConfigurationError(
                f"output= refers to {ref!r}, outside the schema, where nothing is fetched from",
                hint='Put it under "$defs" and refer to it as "#/$defs/name".',
            )
        if (ref == "#" or ref.startswith("#/")) and pointed(ref, schema) is None:
            raise ConfigurationError(f"output= refers to {ref!r}, and there is no such thing")


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        refs = [part.get(key) for key in ("$ref", "$dynamicRef", "$recursiveRef")]
        yield from [ref for ref in refs if isinstance(ref, str)]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)
