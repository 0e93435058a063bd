"""Writing a request in the form of the OpenAI chat-completions wire.

Pure functions from messages, tools and parameters to JSON. It knows nothing of sockets, keys,
answers or retries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from .media_parts import wire_part
from .output_request import say_output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.messages import Message, ToolCallPart
    from .protocol import Request, ToolSpec

__all__ = ["NOTES", "encode"]

#: Keys of ``opaque`` that are ours and never go to a provider: whose extras these are, the field
#: that the reasoning came in, and what kind of call it was.
NOTES = frozenset({"origin", "field", "type"})
_GIVEN = "This is what the tools above gave besides their texts; nobody said it."


def encode(
    request: Request, model: str, *, origin: str | None = None, forced: bool = True
) -> dict[str, Any]:
    """Write a request as the JSON body of ``POST /chat/completions``.

    Parameters
    ----------
    request : Request
        What to ask. Parameters go in as they are, those that are None stay out.
    model : str
        The model's name at the provider.
    origin : str, optional
        Who will read it (a host name). Extras that another one gave us (signatures, reasoning)
        are left out: they mean nothing there, and strict servers refuse them.
    forced : bool, optional
        Whether the model may be made to call the tool that gives its answer.

    Returns
    -------
    dict
        The body.

    Raises
    ------
    InputError
        When a message cannot be written, say a tool message without results.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> from robotlab_nb.models.protocol import Request
    >>> encode(Request((Message("user", "Hi"),), params={"temperature": 0}), "gpt-5-mini")
    {'model': 'gpt-5-mini', 'messages': [{'role': 'user', 'content': 'Hi'}], 'temperature': 0}
    """
    messages: list[dict[str, Any]] = []
    for message in request.messages:
        if message.role == "tool":
            messages += _results(message)
        elif message.role == "assistant":
            messages.append(_assistant(message, origin))
        else:
            messages.append({"role": message.role, "content": _content(message)})
    body: dict[str, Any] = {"model": model, "messages": messages}
    tools = [_tool(tool) for tool in request.tools]
    for name, value in request.params.items():
        if name == "tools":
            tools += value or ()
        elif value is not None and name not in ("messages", "model", "stream"):
            body[name] = value
    if tools:
        body["tools"] = tools
    if request.output is not None:
        say_output(body, request.output, forced=forced)
    if request.streaming:
        body["stream"] = True
        if "stream_options" not in request.params:
            body["stream_options"] = {"include_usage": True}
    return body


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.parameters
    return {"type": "function", "function": function}


def _content(message: Message) -> str | list[Any]:
    """The text; a list of parts when there is media, or parts that only the provider knows."""
    parts: list[Any] = []
    plain = True
    for part in message.parts:
        if part.kind == "text" or part.kind == "refusal":
            parts.append({"type": "text", "text": part.text})  # type: ignore[union-attr]
        elif part.kind == "unknown":
            data = part.data  # type: ignore[union-attr]
            if isinstance(data, dict) and data.get("type") != "audio":
                plain = False
                parts.append(data)
        elif part.kind == "media":
            plain = False
            parts.append(wire_part(part))  # type: ignore[arg-type]
    if plain:
        return "".join([part["text"] for part in parts])
    return parts


def _results(message: Message) -> list[dict[str, Any]]:
    results = message.tool_results
    if not results:
        raise InputError(
            "a tool message holds no tool result",
            hint="Give it ToolResultPart, one for each call.",
        )
    written: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": part.wire_id or part.id, "content": part.content_text}
        for part in results
    ]
    media = [wire_part(part) for part in message.parts if part.kind == "media"]  # type: ignore[arg-type]
    if media:  # a tool's message takes texts alone, so what else it gave stands after it
        written.append({"role": "user", "content": [{"type": "text", "text": _GIVEN}, *media]})
    return written


def _assistant(message: Message, origin: str | None) -> dict[str, Any]:
    out: dict[str, Any] = {"role": "assistant", "content": _content(message)}
    calls: list[dict[str, Any]] = []
    for part in message.parts:
        if part.kind == "tool_call":
            calls.append(_call(part, origin))  # type: ignore[arg-type]
        elif part.kind == "reasoning":
            extras = part.opaque  # type: ignore[union-attr]
            if extras and _welcome(extras, origin):
                _reasoning(out, part.text, extras)  # type: ignore[union-attr]
    if calls:
        out["tool_calls"] = calls
        out["content"] = out["content"] or None
    return out


def _reasoning(out: dict[str, Any], text: str, extras: Mapping[str, Any]) -> None:
    field = extras.get("field")
    if field == "thinking":
        content = out["content"]
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        out["content"] = [thought, *content]
    elif field:
        out[field] = out.get(field, "") + text
    for key, value in extras.items():
        if key in NOTES:
            continue
        before = out.get(key)
        both = isinstance(before, list) and isinstance(value, list)
        out[key] = [*before, *value] if both else value  # type: ignore[misc]


def _call(part: ToolCallPart, origin: str | None) -> dict[str, Any]:
    extras = part.opaque or {}
    call: dict[str, Any] = {"id": part.wire_id or part.id}
    if extras.get("type") == "custom":
        call["type"] = "custom"
        call["custom"] = {"name": part.name, "input": part.arguments}
    else:
        # "", "null" and "{}" all mean no arguments, and some servers parse what we send back.
        arguments = part.arguments if part.arguments.strip() not in ("", "null") else "{}"
        call["type"] = "function"
        call["function"] = {"name": part.name, "arguments": arguments}
    if _welcome(extras, origin):
        call.update({key: value for key, value in extras.items() if key not in NOTES})
    return call


def _welcome(extras: Mapping[str, Any], origin: str | None) -> bool:
    whose = extras.get("origin")
    return origin is None or whose is None or whose == origin
