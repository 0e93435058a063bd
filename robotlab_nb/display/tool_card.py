"""The picture of a tool: how it is called, what its parameters mean, and its limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .amounts import count, seconds
from .escape import clip, one_line
from .json_text import value_line
from .parts import Fold, Head, Para, Picture, Pre, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..tools.decorator import Tool
    from ..tools.manifest import ToolManifest
    from .parts import Block

__all__ = ["tool", "tools"]

_PARAMETERS = 40
_TOOLS = 60


def tool(thing: Tool) -> Picture:
    """The picture of a tool.

    Parameters
    ----------
    thing : Tool
    """
    blocks = (
        *part("name", lambda: [Head(_name(thing), "tool", (one_line(thing.source, 120),))]),
        *part("signature", lambda: [Para((_signature(thing),))]),
        *part("description", lambda: _description(thing)),
        *part("parameters", lambda: _parameters(thing)),
        *part("limits", lambda: [Para(_limits(thing), quiet=True)]),
        *part("schema", lambda: _schema(thing)),
    )
    return Picture(blocks, framed=True)


def tools(thing: ToolManifest) -> Picture:
    """The picture of a set of tools: a row for each.

    Parameters
    ----------
    thing : ToolManifest
    """

    def table() -> Iterable[Block]:
        found = list(thing)
        yield Para(dots(count(len(found), "tool")), quiet=True)
        rows = tuple(
            ((code("", lead=one_line(each.name, 64)),), (one_line(each.description, 200),))
            for each in found[:_TOOLS]
        )
        if rows:
            yield Table(("tool", "what it does"), rows)
        if len(found) > _TOOLS:
            yield Para((quiet(f"… {len(found) - _TOOLS:,} more"),))

    return Picture(part("tools", table), framed=True)


def type_words(schema: object, depth: int = 0) -> str:
    """A JSON Schema in a few words.

    Parameters
    ----------
    schema : object
        A schema, or anything that stands where one should.

    Examples
    --------
    >>> type_words({"type": "array", "items": {"type": "integer"}})
    'array of integer'
    >>> type_words({"anyOf": [{"enum": ["C", "F"]}, {"type": "null"}]})
    '"C" | "F" | null'
    """
    if not isinstance(schema, Mapping) or depth > 4:
        return "any"
    if "const" in schema:
        return value_line(schema["const"], 40)
    for name in ("enum", "anyOf", "oneOf"):
        if isinstance(schema.get(name), (list, tuple)) and schema[name]:
            words = (
                value_line(each, 40) if name == "enum" else type_words(each, depth + 1)
                for each in schema[name][:12]
            )
            return " | ".join(words) + (" | …" if len(schema[name]) > 12 else "")
    if "$ref" in schema:
        return one_line(str(schema["$ref"]).rpartition("/")[2], 60)
    kind = schema.get("type")
    if isinstance(kind, (list, tuple)):
        return " | ".join(one_line(each, 20) for each in kind[:8])
    if kind == "array":
        return (
            f"array of {type_words(schema['items'], depth + 1)}" if "items" in schema else "array"
        )
    return one_line(kind, 40) if kind else "any"


def _name(thing: Tool) -> tuple[str]:
    return (one_line(thing.name, 120),)


def _signature(thing: Tool) -> Any:
    required = _required(thing)
    pieces = []
    for name, schema in _properties(thing)[:_PARAMETERS]:
        piece = f"{one_line(name, 64)}: {type_words(schema)}"
        if name not in required:
            piece += f" = {value_line(schema['default'], 40)}" if "default" in schema else " = …"
        pieces.append(piece)
    return code(f"({one_line(', '.join(pieces), 600)})", lead=one_line(thing.name, 120))


def _description(thing: Tool) -> Iterable[Block]:
    if thing.description:
        yield Para((clip(thing.description.strip(), 1000),))


def _parameters(thing: Tool) -> Iterable[Block]:
    required = _required(thing)
    properties = _properties(thing)
    rows = tuple(
        (
            (code(one_line(name, 64)),),
            (type_words(schema),),
            ("required" if name in required else _default(schema),),
            (one_line(schema.get("description") or "", 300),),
        )
        for name, schema in properties[:_PARAMETERS]
    )
    if rows:
        yield Table(("parameter", "type", "default", "meaning"), rows)
    if len(properties) > _PARAMETERS:
        yield Para((quiet(f"… {len(properties) - _PARAMETERS:,} more parameters"),))


def _default(schema: Mapping[str, Any]) -> str:
    return value_line(schema["default"], 60) if "default" in schema else "optional"


def _limits(thing: Tool) -> Any:
    limit = seconds(thing.timeout, limit=True)
    where = "runs in a thread"
    if thing.is_async:
        where = "runs on the cell's loop" if thing.loop == "caller" else "runs on the engine's loop"
    raises = {True: "an exception ends the run", False: "the model reads its errors"}
    return dots(
        f"timeout {limit}" if limit else "timeout as the robot says",
        "async" if thing.is_async else None,
        where,
        raises.get(thing.raise_on_error) if thing.raise_on_error is not None else None,
    )


def _schema(thing: Tool) -> Iterable[Block]:
    if not isinstance(thing.parameters, Mapping):
        return
    text = json.dumps(thing.parameters, indent=2, ensure_ascii=False)
    note = count(len(_properties(thing)), "parameter")
    yield Fold(("JSON Schema",), (Pre(text),), note)


def _properties(thing: Tool) -> list[tuple[str, Mapping[str, Any]]]:
    found = thing.parameters.get("properties") if isinstance(thing.parameters, Mapping) else None
    if not isinstance(found, Mapping):
        return []
    return [
        (str(name), schema if isinstance(schema, Mapping) else {}) for name, schema in found.items()
    ]


def _required(thing: Tool) -> frozenset[str]:
    found = thing.parameters.get("required") if isinstance(thing.parameters, Mapping) else None
    return frozenset(map(str, found)) if isinstance(found, (list, tuple)) else frozenset()
