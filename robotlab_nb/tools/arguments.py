"""From the text that a model wrote to the arguments that a tool is called with.

Models write JSON badly at times; every fault becomes a short text that the model can act on.
Nothing here calls the tool.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ToolError
from ..core.strict_json import Unreadable, read

if TYPE_CHECKING:
    from .schema import Signature

__all__ = ["ArgumentsError", "bind", "parse", "parsed_or_none"]

MOST_FAULTS = 10


class ArgumentsError(ToolError):
    """The arguments of a tool call cannot be used; the message is for the model."""


def parse(text: str | None) -> dict[str, Any]:
    """Read the arguments of a tool call as the model wrote them.

    Parameters
    ----------
    text : str or None
        JSON text. Nothing at all and ``null`` mean no arguments.

    Returns
    -------
    dict
        A new one at each call.

    Raises
    ------
    ArgumentsError
        When the text is no JSON object, or one that cannot be read faithfully: a key given
        twice, NaN, a number too large, nesting deeper than 100 levels.

    Examples
    --------
    >>> parse('{"city": "Paris"}')
    {'city': 'Paris'}
    >>> parse("")
    {}
    >>> parse("[1]")
    Traceback (most recent call last):
    ...
    robotlab_nb.tools.arguments.ArgumentsError: the arguments are a list, not a JSON object
    """
    stripped = text.strip() if text else ""
    if not stripped or stripped == "null":
        return {}
    try:
        value = read(stripped)
    except json.JSONDecodeError as error:
        around = stripped[max(0, error.pos - 20) : error.pos + 20]
        raise ArgumentsError(
            f"the arguments are not valid JSON: {error.msg} at character {error.pos}, "
            f"near {around!r}; write one JSON object"
        ) from None
    except Unreadable as error:
        raise ArgumentsError(f"the arguments cannot be read: {error}") from None
    if type(value) is not dict:
        kind = {str: "string", list: "list", bool: "boolean"}.get(type(value), "number")
        raise ArgumentsError(f"the arguments are a {kind}, not a JSON object")
    return value


def parsed_or_none(text: str | None) -> dict[str, Any] | None:
    """The arguments as an event shows them: parsed, or None when they cannot be read.

    Examples
    --------
    >>> parsed_or_none('{"a": 1}'), parsed_or_none("{")
    ({'a': 1}, None)
    """
    try:
        return parse(text)
    except ArgumentsError:
        return None


def bind(
    signature: Signature, given: dict[str, Any], host: Mapping[str, Any], *, tool: str
) -> dict[str, Any]:
    """Check arguments against a signature and add what the host injects.

    Parameters
    ----------
    signature : Signature
    given : dict
        Parsed arguments.
    host : mapping
        Values that parameters may ask for: ``run``, ``robot``, ``memory``, ``context``; other
        injected names are looked up here, then in ``context``.
    tool : str
        The tool's name, for errors.

    Returns
    -------
    dict
        Keyword arguments for the function. An injected parameter always has the host's value,
        whatever the model gave under its name.

    Raises
    ------
    ArgumentsError
        Naming every unknown, missing and unfitting argument.
    ConfigurationError
        When a required injected value is not there.

    Examples
    --------
    >>> from robotlab_nb.tools.schema import read_signature
    >>> def greet(name: str, times: int = 1): ...
    >>> bind(read_signature(greet, tool="greet"), {"name": "Ada", "times": "2"}, {}, tool="greet")
    {'name': 'Ada', 'times': 2}
    """
    fields = signature.fields
    injected = signature.injected
    faults: list[str] = []
    unknown: list[str] = []
    arguments: dict[str, Any] = {}
    required = signature.required
    for name, value in given.items():
        field = fields.get(name)
        if field is not None:
            required -= field.required
            arguments[name] = field.read(value, faults)
        elif name in injected:
            continue
        elif signature.closed:
            unknown.append(name)
        else:
            arguments[name] = value
    if unknown or required or faults:
        raise _refusal(signature, given, unknown, faults)
    if injected:
        _inject(signature, arguments, host, tool)
    return arguments


def _refusal(
    signature: Signature, given: dict[str, Any], unknown: list[str], faults: list[str]
) -> ArgumentsError:
    lines = [f"no parameter {name[:60]!r}" for name in unknown]
    lines += [
        f"{name!r} is required"
        for name, field in signature.fields.items()
        if field.required and name not in given
    ]
    lines += faults
    if len(lines) > MOST_FAULTS:
        lines[MOST_FAULTS:] = [f"and {len(lines) - MOST_FAULTS} more faults"]
    known = ", ".join(repr(name) for name in signature.fields) or "none"
    return ArgumentsError(f"wrong arguments: {'; '.join(lines)}. Parameters: {known}.")


def _inject(
    signature: Signature, arguments: dict[str, Any], host: Mapping[str, Any], tool: str
) -> None:
    context = host.get("context")
    for name, (kind, required) in signature.injected.items():
        if kind in host:
            arguments[name] = host[kind]
        elif isinstance(context, Mapping) and kind in context:
            arguments[name] = context[kind]
        elif required:
            raise ConfigurationError(
                f"tool {tool!r}: nothing to inject as {name!r}",
                hint=f'Pass it: run(…, context={{"{kind}": …}}), or give the parameter a default.',
            )
