"""The JSON Schema of a function's signature, and how each argument of it is read.

Plain signatures are described without importing pydantic; other types go through it, lazily.
Parameters that the host fills (the run, the robot, the memory, the context) stay out of the
schema. Nothing here calls the function.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import types
import typing
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin

from ..core.errors import ConfigurationError, near
from . import rich_types
from .docstrings import read_docstring
from .plain_types import MISS, plain
from .traits import underlying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import TypeAdapter

__all__ = ["Field", "Injected", "Signature", "read_signature"]

_EMPTY = inspect.Parameter.empty
_PACKAGE = __name__.partition(".")[0]
#: classes whose parameters the host fills: name -> the room that defines it
_HOST_TYPES = {"Run": "runtime", "Robot": "robot", "Memory": "memory"}


class Field:
    """One parameter that the model fills.

    Parameters
    ----------
    name : str
    annotation : object
        Its type, strings resolved.
    required : bool
    read_plain : callable or None
        The quick exact reader of a plain type.
    adapter : TypeAdapter or None
        pydantic's reader; made when the quick one misses.
    """

    __slots__ = ("adapter", "annotation", "name", "read_plain", "required")

    def __init__(
        self,
        name: str,
        annotation: Any,
        required: bool,
        read_plain: Callable[[Any], Any] | None,
        adapter: TypeAdapter[Any] | None = None,
    ) -> None:
        self.name = name
        self.annotation = annotation
        self.required = required
        self.read_plain = read_plain
        self.adapter = adapter

    def read(self, value: Any, faults: list[str]) -> Any:
        """Read a JSON value; what is wrong with it is added to ``faults``."""
        if self.read_plain is not None:
            found = self.read_plain(value)
            if found is not MISS:
                return found
        if self.adapter is None:
            self.adapter = rich_types.adapter(self.annotation)
        found, wrong = rich_types.check(self.adapter, value)
        faults.extend(f"{self.name!r}: {line}" for line in wrong)
        return found


class Injected(NamedTuple):
    """A parameter that the host fills: with what, and whether it must be there."""

    kind: str
    required: bool


class Signature:
    """What a tool takes.

    Attributes
    ----------
    fields : dict of str to Field
        The parameters that the model fills.
    injected : dict of str to Injected
        The parameters that the host fills.
    parameters : dict
        JSON Schema of the arguments, as models are told. Not to be changed.
    closed : bool
        Whether arguments that are no parameters are refused.
    required : int
        How many fields must be given.
    description : str
        The function's, from its docstring.
    """

    __slots__ = ("closed", "description", "fields", "injected", "parameters", "required")

    def __init__(
        self,
        fields: dict[str, Field],
        injected: dict[str, Injected],
        parameters: dict[str, Any],
        *,
        closed: bool = True,
        description: str = "",
    ) -> None:
        self.fields = fields
        self.injected = injected
        self.parameters = parameters
        self.closed = closed
        self.description = description
        self.required = sum(field.required for field in fields.values())


def read_signature(
    function: Callable[..., Any], *, tool: str, inject: Iterable[str] = (), is_method: bool = False
) -> Signature:
    """Describe what a function takes.

    Parameters
    ----------
    function : callable
    tool : str
        The tool's name, for errors.
    inject : iterable of str, optional
        Parameters that the host fills, besides those annotated with a run, robot or memory.
    is_method : bool, optional
        Whether the first parameter is the object that the method belongs to.

    Returns
    -------
    Signature

    Raises
    ------
    ConfigurationError
        When a parameter cannot be told to a model; it names tool and parameter.

    Examples
    --------
    >>> def weather(city: str, days: int = 1) -> str:
    ...     '''Weather of a city.'''
    >>> read_signature(weather, tool="weather").parameters["properties"]
    {'city': {'type': 'string'}, 'days': {'type': 'integer', 'default': 1}}
    """
    listed = _parameters(function, tool)
    if is_method:
        listed = listed[1:]
    inside = underlying(function)
    host = _host_filled(listed, tuple(inject), tool)
    listed = [p for p in listed if p.name not in host]
    hints = _annotations(listed, inside, tool)
    description, texts = read_docstring(_docstring(function, inside))
    fields: dict[str, Field] = {}
    properties: dict[str, Any] = {}
    injected = dict(host)
    rich: dict[str, inspect.Parameter] = {}
    for parameter in listed:
        name = parameter.name
        required = parameter.default is _EMPTY
        hint, text = _described(hints[name], texts.get(name))
        found = plain(hint)
        if found is None and (kind := _host_kind(hint)) is not None:
            injected[name] = Injected(kind, required)
            continue
        read = found.read if found else None
        fields[name] = Field(name, hint, required, read)
        properties[name] = dict(found.schema) if found else {}
        if text:
            properties[name]["description"] = text
        if found is None:
            rich[name] = parameter
        elif not required:
            _set_default(properties[name], parameter.default)
    definitions = _describe_rich(rich, fields, properties, tool) if rich else {}
    return Signature(
        fields, injected, _object(fields, properties, definitions), description=description
    )


def _parameters(function: Callable[..., Any], tool: str) -> list[inspect.Parameter]:
    try:
        listed = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, NameError) as error:
        raise ConfigurationError(
            f"tool {tool!r}: the parameters of its function cannot be read ({error})",
            hint="Wrap it in a function of your own that names its parameters.",
        ) from None
    bound: Mapping[str, Any] = function.keywords if isinstance(function, functools.partial) else {}
    for parameter in listed:
        name = parameter.name
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise ConfigurationError(
                f"tool {tool!r}: a model cannot fill {stars}{name}",
                hint="Give each argument a parameter of its own "
                "(a decorator that hides them needs functools.wraps).",
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ConfigurationError(
                f"tool {tool!r}: parameter {name!r} is positional-only, "
                "and a model gives arguments by name",
                hint="Remove the '/' from the signature.",
            )
        if type(parameter.default).__name__ == "FieldInfo":
            raise ConfigurationError(
                f"tool {tool!r}: the default of parameter {name!r} is a pydantic Field, "
                "which the function itself would receive",
                hint=f"Write `{name}: Annotated[type, Field(…)] = default`.",
            )
    return [p for p in listed if p.name not in bound]


def _host_filled(
    listed: list[inspect.Parameter], inject: tuple[str, ...], tool: str
) -> dict[str, Injected]:
    if not inject:
        return {}
    by_name = {p.name: p for p in listed}
    for name in inject:
        if name not in by_name:
            raise ConfigurationError(
                f"tool {tool!r}: inject names {name!r}, which is no parameter of it",
                hint=near(name, by_name),
            )
    return {name: Injected(name, by_name[name].default is _EMPTY) for name in inject}


def _host_kind(annotation: Any) -> str | None:
    """``run``, ``robot`` or ``memory`` for a parameter that asks for one of these."""
    members = [a for a in get_args(annotation) if a is not type(None)]
    if get_origin(annotation) in (typing.Union, types.UnionType) and len(members) == 1:
        annotation = members[0]
    cls = get_origin(annotation) or annotation
    if not isinstance(cls, type):
        return None
    for base in cls.__mro__:
        room = _HOST_TYPES.get(base.__name__)
        if room and f"{base.__module__}.".startswith(f"{_PACKAGE}.{room}."):
            return base.__name__.lower()
    return None


def _annotations(listed: list[inspect.Parameter], inside: Any, tool: str) -> dict[str, Any]:
    """The parameters' types, with strings evaluated where the function was defined."""
    hints = {p.name: p.annotation for p in listed}
    if all(isinstance(hint, type) and not get_args(hint) for hint in hints.values()):
        return hints
    names = getattr(inside, "__globals__", {})
    for name, hint in hints.items():
        if isinstance(hint, str):
            named = names.get(hint, getattr(builtins, hint, None))
            hint = hints[name] = named if isinstance(named, type) else hint
        if isinstance(hint, type) and not get_args(hint):
            continue
        holder = types.SimpleNamespace(__annotations__={name: hint})
        try:
            hints[name] = typing.get_type_hints(holder, names, include_extras=True)[name]
        except NameError as error:
            raise ConfigurationError(
                f"tool {tool!r}: parameter {name!r} has the type {_shown(hint)}, "
                f"but {error.name or hint!r} is not known where the function was defined",
                hint="Import or define it at the top of that module or cell, outside "
                "`if TYPE_CHECKING`; for a value of the host's, name the parameter in "
                "@tool(inject=…).",
            ) from None
        except Exception as error:
            raise ConfigurationError(
                f"tool {tool!r}: the type {_shown(hint)} of parameter {name!r} cannot be read "
                f"({type(error).__name__}: {error})",
                hint='Use a type; a description goes into Annotated[str, "the description"].',
            ) from None
    return hints


def _shown(annotation: Any) -> str:
    if isinstance(annotation, str):
        return repr(annotation)
    return getattr(annotation, "__qualname__", None) or str(annotation)


def _described(hint: Any, text: str | None) -> tuple[Any, str | None]:
    """Take a description out of ``Annotated[T, "description"]``; it beats the docstring's."""
    if get_origin(hint) is not Annotated:
        return hint, text
    inner, *notes = get_args(hint)
    words = [note for note in notes if isinstance(note, str)]
    rest = [note for note in notes if not isinstance(note, str)]
    return (Annotated[(inner, *rest)] if rest else inner), (words[0] if words else text)


def _docstring(function: Any, inside: Any) -> str | None:
    own = None if isinstance(function, functools.partial) else getattr(function, "__doc__", None)
    text = getattr(inside, "__doc__", None) or own
    return text if isinstance(text, str) else None


def _describe_rich(
    rich: dict[str, inspect.Parameter],
    fields: dict[str, Field],
    properties: dict[str, Any],
    tool: str,
) -> dict[str, Any]:
    """Fill in what pydantic knows; returns the definitions that the schemas share."""
    usable: dict[str, TypeAdapter[Any]] = {}
    for name, parameter in rich.items():
        try:
            one = rich_types.adapter(fields[name].annotation)
            rich_types.schemas({name: one})
        except Exception as error:
            shown = _shown(fields.pop(name).annotation)
            properties.pop(name)
            if parameter.default is not _EMPTY:
                continue  # it keeps its default; the model is not told of it
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ConfigurationError(
                f"tool {tool!r}: parameter {name!r} has the type {shown}, "
                f"which a model cannot fill ({reason})",
                hint="Annotate it with a type that has a JSON form, give it a default "
                "(it will be left out), or name it in @tool(inject=…).",
            ) from None
        usable[name] = fields[name].adapter = one
    if not usable:
        return {}
    found, definitions = rich_types.schemas(usable)
    for name, schema in found.items():
        properties[name] = {**schema, **properties[name]}
        if not fields[name].required:
            try:
                default = usable[name].dump_python(rich[name].default, mode="json", warnings=False)
            except Exception:
                continue  # a default without a JSON form is Python's alone
            _set_default(properties[name], default)
    return definitions


def _set_default(schema: dict[str, Any], default: Any) -> None:
    value = _json_default(default)
    if value is not MISS:
        schema["default"] = value


def _json_default(value: Any) -> Any:
    """A default as plain JSON, or MISS when it has no such form."""
    kind = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if kind is float:
        return value if math.isfinite(value) else MISS
    if kind in (list, tuple):
        items = [_json_default(v) for v in value]
        return MISS if any(i is MISS for i in items) else items
    if kind is dict:
        pairs = {k: _json_default(v) for k, v in value.items()}
        fits = all(type(k) is str and v is not MISS for k, v in pairs.items())
        return pairs if fits else MISS
    return _json_default(value._value_) if hasattr(kind, "_member_map_") else MISS


def _object(
    fields: dict[str, Field], properties: dict[str, Any], definitions: dict[str, Any]
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [name for name, field in fields.items() if field.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    if definitions:
        schema["$defs"] = definitions
    return schema
