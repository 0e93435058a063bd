"""Pictures of what a tool server offers and gives: tools, resources, prompts, results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .amounts import count
from .attachment import attached
from .escape import clip, one_line
from .json_text import laid_out
from .parts import Bit, Fold, Head, Para, Picture, Pre, Table, code, dots, part, quiet
from .tool_card import type_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..mcp.remote_offers import RemotePrompt, RemoteResource
    from ..mcp.remote_results import RemoteResult
    from ..mcp.remote_tools import RemoteTool
    from .parts import Block

__all__ = [
    "prompt", "prompts", "resource", "resources", "result", "tool", "tool_rows", "tools",
]  # fmt: skip

_ROWS, _PARTS = 100, 40


def tool(thing: RemoteTool) -> Picture:
    """The picture of a server's tool.

    Parameters
    ----------
    thing : RemoteTool
    """

    def parameters() -> Iterable[Block]:
        required = thing.input_schema.get("required")
        needed = set(map(str, required)) if isinstance(required, list) else set()
        rows = tuple(
            (
                (code(one_line(name, 64)),),
                (type_words(schema),),
                ("required" if name in needed else "optional",),
                (one_line(schema.get("description") or "", 300) if _is(schema) else "",),
            )
            for name, schema in _properties(thing)[:_ROWS]
        )
        if rows:
            yield Table(("parameter", "type", "", "meaning"), rows)

    def said() -> Iterable[Block]:
        if thing.annotations:
            words = ", ".join(f"{k}: {json.dumps(v)}" for k, v in thing.annotations.items())
            yield Para((quiet(f"the server says of it: {one_line(words, 300)}"),))
        schemas = {"arguments": thing.input_schema, "result": thing.output_schema}
        text = json.dumps({k: v for k, v in schemas.items() if v}, indent=2, ensure_ascii=False)
        yield Fold(("JSON Schema",), (Pre(text),))

    title = one_line(thing.title, 120) if thing.title else ""
    head = Head((one_line(thing.name, 120),), "tool of a server", (title,) if title else ())
    blocks = (
        *part("name", lambda: [head]),
        *part("description", lambda: _words(thing.description)),
        *part("parameters", parameters),
        *part("schema", said),
    )
    return Picture(blocks, framed=True)


def tool_rows(things: Sequence[RemoteTool]) -> Iterable[Block]:
    """A table of tools: how each is called, and what its server says that it does.

    Parameters
    ----------
    things : sequence of RemoteTool

    Yields
    ------
    Block
    """
    rows = tuple(
        ((code(_called(each), lead=one_line(each.name, 64)),), (one_line(each.description, 200),))
        for each in things[:_ROWS]
    )
    if rows:
        yield Table(("tool", "what its server says"), rows)
    if len(things) > _ROWS:
        yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))


def tools(things: Sequence[RemoteTool]) -> Picture:
    """The picture of a list of tools.

    Parameters
    ----------
    things : sequence of RemoteTool
    """
    return Picture(part("tools", lambda: tool_rows(things)))


def resource(thing: RemoteResource) -> Picture:
    """The picture of a resource.

    Parameters
    ----------
    thing : RemoteResource
    """
    return resources([thing])


def resources(things: Sequence[RemoteResource]) -> Picture:
    """The picture of a list of resources.

    Parameters
    ----------
    things : sequence of RemoteResource
    """

    def table() -> Iterable[Block]:
        rows = tuple(
            (
                (code(one_line(each.uri, 160)),),
                (one_line(each.title or each.name, 80),),
                (one_line(each.mime or ("pattern" if each.is_template else ""), 60),),
                (one_line(each.description, 200),),
            )
            for each in things[:_ROWS]
        )
        yield Table(("resource", "name", "type", "what its server says"), rows)
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))

    return Picture(part("resources", table))


def prompt(thing: RemotePrompt) -> Picture:
    """The picture of a prompt.

    Parameters
    ----------
    thing : RemotePrompt
    """
    return prompts([thing])


def prompts(things: Sequence[RemotePrompt]) -> Picture:
    """The picture of a list of prompts.

    Parameters
    ----------
    things : sequence of RemotePrompt
    """

    def table() -> Iterable[Block]:
        rows = tuple(
            (
                (code(_arguments(each), lead=one_line(each.name, 64)),),
                (one_line(each.description or each.title or "", 200),),
            )
            for each in things[:_ROWS]
        )
        yield Table(("prompt", "what its server says"), rows)
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))

    return Picture(part("prompts", table))


def result(thing: RemoteResult) -> Picture:
    """The picture of what a tool gave back.

    Parameters
    ----------
    thing : RemoteResult
    """

    def pieces() -> Iterable[Block]:
        for each in thing.parts[:_PARTS]:
            text = getattr(each, "text", None)
            if isinstance(text, str):
                yield Pre(laid_out(text))
            else:
                yield from attached(each)  # type: ignore[arg-type]
        if len(thing.parts) > _PARTS:
            yield Para((quiet(f"… {len(thing.parts) - _PARTS:,} more"),))
        if thing.structured is not None:
            yield Fold(("Structured content",), (Pre(laid_out(thing.structured)),))
        if thing.truncated:
            yield Para((quiet(one_line(thing.truncated, 400)),))

    state = (Bit("failed", "state", icon="✕", hue="kf"),) if thing.is_error else ()
    parts = count(len(thing.parts), "part") if len(thing.parts) > 1 else None
    head = Head(("result of a tool",), right=dots(parts, state))
    return Picture((*part("head", lambda: [head]), *part("parts", pieces)))


def _is(schema: object) -> bool:
    return isinstance(schema, Mapping)


def _properties(thing: RemoteTool) -> list[tuple[str, Any]]:
    found = thing.input_schema.get("properties")
    return [(str(k), v) for k, v in found.items()] if isinstance(found, Mapping) else []


def _called(thing: RemoteTool) -> str:
    required = thing.input_schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    words = (n if n in needed else f"{n} = …" for n, _ in _properties(thing)[:_PARTS])
    return f"({one_line(', '.join(words), 200)})"


def _arguments(thing: RemotePrompt) -> str:
    words = (a.name if a.required else f"{a.name} = …" for a in thing.arguments[:_PARTS])
    return f"({one_line(', '.join(words), 200)})"


def _words(text: str) -> Iterable[Block]:
    if text.strip():
        yield Para((clip(text.strip(), 1000),))
