"""Reading a message from a dict, whoever wrote it.

Our own shape (``role, parts``), both generations of robot_lab's, its user and robot messages, and
the one of chat APIs (``role, content``, ``tool_calls``, ``tool_call_id``; content as text or as a
list of parts). What is in none of our fields is kept verbatim. Ours is the only one written.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from .envelopes import RobotMessage, UserMessage
from .errors import InputError
from .messages import (
    ROLES,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from .views import message_from_view, view_from_dict

__all__ = ["message_of"]

_ROLES = {"developer": "system", "tool_result": "tool"}
#: fields in which chat APIs tell what a model thought
_THOUGHT = ("reasoning_content", "reasoning", "reasoning_text")
#: keys of a chat message that say nothing about what goes back to the provider
_READ = frozenset({"role", "content", "tool_calls", "refusal", "stop_reason", "type", "tool_call"})
_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def message_of(data: Mapping[str, Any]) -> Message:
    """Read one message.

    Parameters
    ----------
    data : mapping

    Returns
    -------
    Message

    Raises
    ------
    InputError
        When it has none of the shapes; the message says what is missing or wrong.

    Examples
    --------
    >>> message_of({"role": "user", "content": "Hi"})
    <user: 'Hi'>
    >>> call = {"id": "1", "name": "add", "input": {"a": 1}}
    >>> message_of({"role": "assistant", "tool_call": call})
    <assistant: calls add>
    >>> message_of({"role": "tool", "tool_call_id": "1", "content": "3"}).tool_results[0].id
    '1'
    """
    if "parts" in data:
        return Message.from_dict(data)
    if "role" not in data and "type" not in data:
        return _envelope(data)
    if data.get("type") in ("tool_call", "tool_result") or "tool_result" in data:
        return message_from_view(view_from_dict(data))
    if "role" not in data or ("content" not in data and not _asks(data)):
        raise InputError(
            f"a message lacks {'role' if 'role' not in data else 'content'}",
            hint=f"It was {str(dict(data))[:120]}",
        )
    if data.get("type") not in (None, "text", "message"):
        raise InputError(
            f"no message type {data['type']!r}", hint="Types: text, tool_call, tool_result."
        )
    return _chat(data)


def _asks(data: Mapping[str, Any]) -> bool:
    return bool(data.get("tool_calls") or data.get("tool_call") or data.get("refusal"))


def _envelope(data: Mapping[str, Any]) -> Message:
    """A message to a robot, from a person or from another robot."""
    if "from" in data:
        said = RobotMessage.from_dict(data).content
        return Message("user", said if isinstance(said, str) else json.dumps(said))
    if "content" not in data:
        raise InputError(
            f"not a message: {str(dict(data))[:120]}",
            hint="It needs role and content, or role and parts.",
        )
    return Message("user", UserMessage.of(data).content)


def _chat(data: Mapping[str, Any]) -> Message:
    role = _ROLES.get(data["role"], data["role"]) if isinstance(data["role"], str) else None
    if role not in ROLES:
        raise InputError(
            f"a message has no role {data['role']!r}", hint="Roles: " + ", ".join(ROLES) + "."
        )
    if role == "tool":
        return _answer(data)
    parts = _content(data.get("content"))
    extras = {k: v for k, v in data.items() if k not in _READ and v not in (None, [], "", {})}
    if role != "assistant":
        return Message(role, _marked(parts, extras))
    if extras.pop("function_call", None) is not None:
        raise InputError(
            "an assistant's message has the old function_call", hint="Write tool_calls instead."
        )
    if data.get("refusal"):
        parts.append(RefusalPart(_text(data["refusal"], "refusal")))
    calls = [_call(call, place) for place, call in enumerate(data.get("tool_calls") or ())]
    if "tool_call" in data:
        calls.append(_robot_labs_call(data["tool_call"]))
    return Message(role, [*_thought(extras), *parts, *calls])


def _marked(parts: list[Part], extras: Mapping[str, Any]) -> list[Part]:
    """The parts with what else stood in the message (a name, an id) kept on the first text."""
    if not extras:
        return parts
    for place, part in enumerate(parts):
        if isinstance(part, TextPart):
            parts[place] = TextPart(part.text, {**(part.opaque or {}), **extras}, part.cut)
            return parts
    return [TextPart("", dict(extras)), *parts]


def _thought(extras: dict[str, Any]) -> list[Part]:
    """What the model thought, with everything that its provider wants back."""
    for field in _THOUGHT:
        if isinstance(extras.get(field), str):
            text = extras.pop(field)
            return [ReasoningPart(text, {"field": field, **extras})]
    return [ReasoningPart("", extras)] if extras else []


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} is a text, not {type(value).__name__}")
    return value


def _content(content: Any) -> list[Part]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [TextPart(content)]
    if not isinstance(content, Sequence) or isinstance(content, (bytes, bytearray)):
        raise InputError(
            f"content is a text or a list of parts, not {type(content).__name__}",
            hint="For example [{'type': 'text', 'text': 'Hi'}].",
        )
    return [_part(part, place) for place, part in enumerate(content)]


def _part(part: Any, place: int) -> Part:
    if isinstance(part, str):
        return TextPart(part)
    if not isinstance(part, Mapping):
        raise InputError(f"content[{place}] is a mapping, not {type(part).__name__}")
    kind = part.get("type")
    inner = part.get(kind) if isinstance(kind, str) else None
    if kind in ("text", "input_text", "output_text"):
        extras = {k: v for k, v in part.items() if k not in ("type", "text")}
        return TextPart(_text(part.get("text"), f"content[{place}].text"), extras or None)
    if kind == "refusal":
        return RefusalPart(_text(inner, f"content[{place}].refusal"))
    if kind == "thinking" and set(part) == {"type", "thinking"} and isinstance(inner, Sequence):
        pieces = [inner] if isinstance(inner, str) else [_piece(piece) for piece in inner]
        if None not in pieces:
            return ReasoningPart("".join(map(str, pieces)), {"field": "thinking"})
    if kind in ("image_url", "input_audio", "file") and isinstance(inner, Mapping):
        return _media(kind, inner) or UnknownPart(dict(part))
    return UnknownPart(dict(part))


def _piece(piece: Any) -> str | None:
    text = piece.get("text") if isinstance(piece, Mapping) else None
    return text if isinstance(text, str) else None


def _media(kind: str, inner: Mapping[str, Any]) -> MediaPart | None:
    """A picture, a sound or a file whose bytes or address are all there; else None."""
    if kind == "input_audio":
        mime, data = _SOUNDS.get(str(inner.get("format"))), inner.get("data")
        extras = {k: v for k, v in inner.items() if k not in ("data", "format")}
        return _embedded(mime, data, None, extras)
    key = "url" if kind == "image_url" else "file_data"
    url = inner.get(key)
    if not isinstance(url, str):
        return None
    name = inner.get("filename") if kind == "file" else None
    extras = {k: v for k, v in inner.items() if k not in (key, "filename")}
    if url.startswith("data:"):
        mime, _, data = url[5:].partition(";base64,")
        if mime.startswith("image/") == (kind == "image_url") and mime.isascii():
            return _embedded(mime, data, name, extras)
        return None
    if kind == "image_url":
        return MediaPart("image/*", url=url, opaque=extras or None)
    return None


def _embedded(
    mime: str | None, data: Any, name: Any, extras: Mapping[str, Any]
) -> MediaPart | None:
    if not mime or not isinstance(data, str) or not data:
        return None
    try:
        raw = b64decode(data, validate=True)
    except ValueError:
        return None
    if b64encode(raw).decode() != data:
        return None  # another spelling of base64 would not go back as it came
    return MediaPart(mime, data, None, name, opaque=dict(extras) or None)


def _call(call: Any, place: int) -> ToolCallPart:
    where = f"tool_calls[{place}]"
    if not isinstance(call, Mapping):
        raise InputError(f"{where} is a mapping, not {type(call).__name__}")
    custom = call.get("type") == "custom"
    inner = call.get("custom" if custom else "function")
    if not isinstance(inner, Mapping):
        raise InputError(f"{where} lacks {'custom' if custom else 'function'}")
    id_ = _text(call.get("id"), f"{where}.id")
    arguments = inner.get("input" if custom else "arguments")
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments)
    opaque = {k: v for k, v in call.items() if k not in ("id", "type", "function", "custom")}
    if custom:
        opaque["type"] = "custom"
    name = _text(inner.get("name"), f"{where}.name")
    said = "" if arguments is None else _text(arguments, f"{where}.arguments")
    return ToolCallPart(id_, name, said, id_, opaque or None)


def _robot_labs_call(call: Any) -> ToolCallPart:
    """The one call of a message of robot_lab's first releases."""
    if not isinstance(call, Mapping):
        raise InputError(f"tool_call is a mapping, not {type(call).__name__}")
    read = message_from_view(view_from_dict({"role": "assistant", "tool_call": call}))
    extras = {k: v for k, v in call.items() if k not in ("id", "name", "input", "arguments")}
    found = read.tool_calls[0]
    return ToolCallPart(found.id, found.name, found.arguments, found.wire_id, extras or None)


def _answer(data: Mapping[str, Any]) -> Message:
    """A tool's answer; one without the id of its call is text that belongs to no call."""
    content = data.get("content")
    parts = _content(content)
    words = "".join([p.text for p in parts if isinstance(p, TextPart)])
    if "tool_call_id" not in data:
        return Message("tool", parts)
    id_ = _text(data["tool_call_id"], "tool_call_id")
    plain = all(isinstance(p, TextPart) for p in parts)
    name = data.get("name") or ""
    return Message(
        "tool",
        [ToolResultPart(id_, _text(name, "name"), words, wire_id=id_,
                        data=None if plain else list(content or ()))],
    )  # fmt: skip
