"""From the text that a model wrote to the arguments that a tool is called with.

Models write JSON badly at times; every fault becomes a short text that the model can act on.
Nothing here calls the tool.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ToolError

if TYPE_CHECKING:
    from .schema import Signature

__all__ = ["ArgumentsError", "bind", "parse", "parsed_or_none"]

#: how deep arguments may be nested; what lies deeper breaks later readers one by one
MOST_DEPTH = 100
MOST_FAULTS = 10
#: whole strings (the last one perhaps unfinished) and brackets outside them
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


class ArgumentsError(ToolError):
    """The arguments of a tool call cannot be used; the message is for the model."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentsError(f"the key {twice!r} is given more than once; give each key once")
    return made


def _constant(token: str) -> Any:
    raise ArgumentsError(f"{token} is not valid JSON; use a number, null or a string")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ArgumentsError(f"the number {digits[:40]} is too large")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


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
    if stripped.count("[") + stripped.count("{") > MOST_DEPTH:
        _check_depth(stripped)
    try:
        value = _DECODER.decode(stripped)
    except json.JSONDecodeError as error:
        around = stripped[max(0, error.pos - 20) : error.pos + 20]
        raise ArgumentsError(
            f"the arguments are not valid JSON: {error.msg} at character {error.pos}, "
            f"near {around!r}; write one JSON object"
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # Python refuses integers of thousands of digits
        raise ArgumentsError("the arguments hold a number with too many digits") from None
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


def _too_deep() -> ArgumentsError:
    return ArgumentsError(f"the arguments are nested deeper than {MOST_DEPTH} levels")


def _check_depth(text: str) -> None:
    """Count brackets outside strings, so that no recursion is needed to refuse deep nesting."""
    depth = 0
    for token in _TOKENS.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
            if depth > MOST_DEPTH:
                raise _too_deep()
        elif first != '"':
            depth -= 1


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
