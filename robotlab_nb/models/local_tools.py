"""Tools for models that know no tool calls: a JSON Schema that the runtime holds them to.

The model must write either ``{"tool": …, "arguments": …}`` or ``{"answer": …}``; the runtime lets
it write nothing else. Pure functions: a request in, a request out; pieces of text in, chunks out.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..core.messages import Message, TextPart
from .protocol import Chunk, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .protocol import ToolSpec

__all__ = ["AnswerReader", "as_grammar", "as_plain"]

#: parameters that mean nothing once tools are a schema
_OF_TOOLS = frozenset({"tool_choice", "parallel_tool_calls", "response_format"})
_START = re.compile(r'\s*\{\s*"(?P<what>answer|tool)"\s*:\s*')
_INSIDE = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
#: the first half of a pair that stands for one character
_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")


def as_plain(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Earlier tool calls and results as texts, since templates of small models know neither."""
    return tuple(_plain(message) for message in messages)


def _plain(message: Message) -> Message:
    if message.role == "tool":
        told = [f"Result of {one.name}: {one.content_text}" for one in message.tool_results]
        media = [part for part in message.parts if part.kind == "media"]
        return Message("user", [TextPart("\n".join(told)), *media])
    if message.role == "assistant" and message.tool_calls:
        calls = [
            json.dumps({"tool": call.name, "arguments": _read(call.arguments)}, ensure_ascii=False)
            for call in message.tool_calls
        ]
        return Message("assistant", "\n".join([message.text, *calls] if message.text else calls))
    return message


def _read(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def as_grammar(request: Request) -> Request:
    """A request whose tools are a schema of the answer.

    Parameters
    ----------
    request : Request
        With tools.

    Returns
    -------
    Request
        Without, but with ``response_format``, and with the tools told in the system message.

    Examples
    --------
    >>> from .protocol import ToolSpec
    >>> clock = ToolSpec("clock", "The time.", {"type": "object", "properties": {}})
    >>> made = as_grammar(Request((Message("user", "Hi"),), (clock,)))
    >>> [message.role for message in made.messages], made.tools
    (['system', 'user'], ())
    >>> len(made.params["response_format"]["json_schema"]["schema"]["oneOf"])
    2
    """
    choice = request.params.get("tool_choice")
    definitions: dict[str, Any] = {}
    ways = [_call(tool, definitions) for tool in request.tools]
    if choice != "required":
        spec = request.output
        schema = {"type": "string"} if spec is None else _moved(spec.schema, "answer", definitions)
        ways.append(_one({"answer": schema}))
    whole: dict[str, Any] = {"oneOf": ways}
    if definitions:
        whole["$defs"] = definitions
    named = {"name": "step", "schema": whole, "strict": True}
    params = {k: v for k, v in request.params.items() if k not in _OF_TOOLS}
    params["response_format"] = {"type": "json_schema", "json_schema": named}
    return Request(
        _told(as_plain(request.messages), request.tools), (), params, request.streaming,
        request.timeout,
    )  # fmt: skip


def _call(tool: ToolSpec, definitions: dict[str, Any]) -> dict[str, Any]:
    arguments = _moved(tool.parameters, tool.name, definitions)
    return _one({"tool": {"const": tool.name}, "arguments": arguments})


def _one(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip


def _moved(schema: Mapping[str, Any], name: str, definitions: dict[str, Any]) -> Any:
    """A schema for a place inside another one: its definitions move to the root, renamed."""
    own = schema.get("$defs") or {}
    for key, value in own.items():
        definitions[f"{name}.{key}"] = _renamed(value, name)
    return _renamed({k: v for k, v in schema.items() if k != "$defs"}, name)


def _renamed(schema: Any, name: str) -> Any:
    if isinstance(schema, dict):
        return {
            key: f"#/$defs/{name}.{value.removeprefix('#/$defs/')}"
            if key == "$ref" and isinstance(value, str) and value.startswith("#/$defs/")
            else _renamed(value, name)
            for key, value in schema.items()
        }
    if isinstance(schema, list):
        return [_renamed(each, name) for each in schema]
    return schema


def _told(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> tuple[Message, ...]:
    """The messages, with the tools in the system message."""
    lines = [
        f"{tool.name}({', '.join(tool.parameters.get('properties') or ())}): {tool.description}"
        for tool in tools
    ]
    words = "\n".join(
        [
            "You can use these tools:",
            *lines,
            'To use one, write {"tool": its name, "arguments": {…}}.',
            'When you know the answer, write {"answer": …}.',
        ]
    )
    first, rest = messages[:1], messages[1:]
    if first and first[0].role == "system":
        return Message("system", f"{first[0].text}\n\n{words}"), *rest
    return Message("system", words), *messages


class AnswerReader:
    """Reads what :func:`as_grammar` made the model write: a tool call, or the answer.

    Parameters
    ----------
    data : bool
        Whether the answer is data, and not a text.

    Examples
    --------
    >>> reader = AnswerReader()
    >>> [reader.feed(piece) for piece in ('{"ans', 'wer": "H', 'i"}')]
    ['', 'H', 'i']
    >>> reader.finish()
    []
    >>> reader = AnswerReader()
    >>> reader.feed('{"tool": "clock", "arguments": {}}')
    ''
    >>> reader.finish()[0][:5]
    ('tool_call', '{}', 0, 'local_1', 'clock')
    """

    __slots__ = ("_all", "_at", "_data", "_what")

    def __init__(self, *, data: bool = False) -> None:
        self._all = ""
        self._data = data
        #: "" unknown yet, else "answer" or "tool"
        self._what = ""
        #: up to where the text of the answer was given out
        self._at = 0

    def feed(self, text: str) -> str:
        """Take a piece in; return what it adds to the answer's text."""
        self._all += text
        if not self._what:
            found = _START.match(self._all)
            if found is None:
                return ""
            self._what, self._at = found["what"], found.end()
            if self._what == "answer" and not self._data:
                if self._all[self._at :] == "":
                    self._what = ""  # the quotation mark is still to come
                    return ""
                self._at += 1
        if self._what == "tool" or self._data:
            return ""
        inside = _INSIDE.match(self._all, self._at)
        written = inside.group() if inside is not None else ""
        half = _HALF.search(written)
        if half is not None:
            written = written[: half.start()]
        self._at += len(written)
        told: str = json.loads(f'"{written}"', strict=False)
        return told

    def finish(self) -> list[Chunk]:
        """What is known only at the end: the call, or the answer as data."""
        if self._what == "answer" and not self._data:
            return []
        try:
            whole = json.loads(self._all, strict=False)
        except (ValueError, RecursionError):
            whole = None
        if not isinstance(whole, dict):  # cut, or of a runtime that does not keep to the schema
            return [Chunk("text", self._all)] if self._all and self._what != "tool" else []
        if "tool" in whole:
            told = json.dumps(whole.get("arguments"), ensure_ascii=False)
            return [Chunk("tool_call", told, 0, "local_1", str(whole["tool"]))]
        return [Chunk("text", json.dumps(whole.get("answer"), ensure_ascii=False))]
