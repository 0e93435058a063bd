"""What a template must be given: its parameters' types, defaults and choices.

Knows nothing of files and of Jinja.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

from ..core.errors import ConfigurationError, near

__all__ = ["Parameter", "fill", "missing", "read_parameters"]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (Integral,),
    "number": (Real,),
    "boolean": (bool,),
    "list": (Sequence,),
    "object": (Mapping,),
}
_SPEC = ("type", "default", "description", "required", "enum")
#: names that mean something of their own in a template
_TAKEN = frozenset(
    {
        "caller", "cycler", "dict", "false", "insert", "joiner", "kwargs", "lipsum", "loop",
        "namespace", "none", "range", "self", "super", "true", "varargs",
        "and", "else", "if", "in", "is", "not", "or",
    }
)  # fmt: skip


class Parameter(NamedTuple):
    """One value that a template takes.

    Attributes
    ----------
    name : str
    type : str or None
        ``string, integer, number, boolean, list`` or ``object``; None for anything.
    default : object
        What stands for it when it is left out; None where there is none.
    required : bool
    description : str or None
    enum : tuple or None
        The values it may have, when it may have only these.
    """

    name: str
    type: str | None = None
    default: Any = None
    required: bool = True
    description: str | None = None
    enum: tuple[Any, ...] | None = None

    def check(self, value: Any, where: str) -> None:
        """Raise a ConfigurationError when a value is not of the type, or none of the choices."""
        if self.type is not None and not _is(value, self.type):
            raise ConfigurationError(
                f"{where}: parameter {self.name!r} takes {self.type}, "
                f"not {type(value).__name__} ({value!r:.80})",
                hint=self.description,
            )
        if self.enum is not None and value not in self.enum:
            raise ConfigurationError(
                f"{where}: parameter {self.name!r} is one of "
                f"{', '.join(map(repr, self.enum))}, not {value!r:.80}",
                hint=self.description,
            )

    def to_dict(self) -> dict[str, Any]:
        """The parameter as JSON, for a picture."""
        return {**self._asdict(), "enum": None if self.enum is None else list(self.enum)}


def read_parameters(data: Any, where: str) -> tuple[Parameter, ...]:
    """Read ``parameters:`` of a front matter.

    Parameters
    ----------
    data : mapping
        Name -> default (null: it must be given), or name -> a mapping of ``type``, ``default``,
        ``description``, ``required`` and ``enum``. A mapping of other names is a default.
    where : str
        For errors.

    Raises
    ------
    ConfigurationError
        When it is no mapping, a name cannot be used in a template, a type is unknown, or a
        default contradicts the rest.

    Examples
    --------
    >>> for one in read_parameters({"tone": "kind", "n": {"type": "integer"}}, "a.md"):
    ...     print(one.name, one.type, one.default, one.required)
    tone None kind False
    n integer None True
    """
    if data is None:
        return ()
    if not isinstance(data, Mapping):
        raise ConfigurationError(
            f"{where}: parameters: takes a mapping, not {type(data).__name__}",
            hint="Write `name: default` on lines of their own, and nothing after the colon for "
            "one that must be given.",
        )
    return tuple(_one(name, told, where) for name, told in data.items())


def _one(name: str, told: Any, where: str) -> Parameter:
    if not name.isidentifier() or name.lower() in _TAKEN:
        raise ConfigurationError(
            f"{where}: {name!r} cannot be the name of a parameter",
            hint="Letters, digits and _, and no word of Jinja's own.",
        )
    if not isinstance(told, Mapping) or not any(key in _SPEC for key in told):
        return Parameter(name, default=told, required=told is None)
    for key in told:
        if key not in _SPEC:
            raise ConfigurationError(
                f"{where}: parameter {name!r} has no {key!r}", hint=near(key, _SPEC)
            )
    kind, enum, default = told.get("type"), told.get("enum"), told.get("default")
    if kind is not None and kind not in _TYPES:
        raise ConfigurationError(
            f"{where}: parameter {name!r} has the type {kind!r}", hint=near(str(kind), _TYPES)
        )
    if enum is not None and (not isinstance(enum, list) or not enum):
        raise ConfigurationError(f"{where}: enum: of parameter {name!r} is a list of values")
    required = told.get("required", default is None)
    if not isinstance(required, bool):
        raise ConfigurationError(f"{where}: required: of parameter {name!r} is true or false")
    if required and default is not None:
        raise ConfigurationError(
            f"{where}: parameter {name!r} is required and has a default", hint="Drop one of them."
        )
    told_of = told.get("description")
    found = Parameter(
        name, kind, default, required, None if told_of is None else str(told_of),
        None if enum is None else tuple(enum),
    )  # fmt: skip
    for value in (*(enum or ()), *(() if default is None else (default,))):
        found.check(value, where)
    return found


def missing(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of those that must be given and are not; None counts as not given.

    Examples
    --------
    >>> missing(read_parameters({"a": None, "b": 1, "c": None}, "x"), {"c": 2})
    ('a',)
    """
    return tuple(p.name for p in parameters if p.required and given.get(p.name) is None)


def fill(parameters: Sequence[Parameter], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The given values, checked, and the defaults of those that were left out.

    Raises
    ------
    ConfigurationError
        When one must be given and is not, or has a wrong type; it names them.

    Examples
    --------
    >>> fill(read_parameters({"a": 1, "b": 2}, "x"), {"b": 3, "other": 4}, "x")
    {'b': 3, 'other': 4, 'a': 1}
    """
    absent = missing(parameters, given)
    if absent:
        raise ConfigurationError(f"{where} needs {told(absent)}", hint=how_to_give(absent))
    values = dict(given)
    for one in parameters:
        if values.get(one.name) is None:
            values[one.name] = one.default
        else:
            one.check(values[one.name], where)
    return values


def told(names: Sequence[str]) -> str:
    """Names as a person lists them.

    Examples
    --------
    >>> told(["a"]), told(["a", "b", "c"])
    ("'a'", "'a', 'b' and 'c'")
    """
    first, last = [repr(n) for n in names[:-1]], repr(names[-1])
    return f"{', '.join(first)} and {last}" if first else last


def how_to_give(names: Sequence[str]) -> str:
    """What to do about missing parameters."""
    example = ", ".join(f"{name!r}: …" for name in names)
    return f"Pass context={{{example}}}, or give defaults under `parameters:`."


def _is(value: Any, kind: str) -> bool:
    if kind != "boolean" and isinstance(value, bool):
        return False
    if kind == "list" and isinstance(value, (str, bytes, bytearray)):
        return False
    return isinstance(value, _TYPES[kind])
