"""robot_lab's message classes, as views of ours, with its serialised keys.

=================  =====================================================================
class              serialised keys
=================  =====================================================================
TextMessage        ``type="text"``, ``role``, ``content``, ``stop_reason`` (left out if None)
ToolMessage        ``type="tool"``, ``id``, ``name``, ``input``
ToolCallMessage    ``type="tool_call"``, ``role``, ``content=None``, ``tools``, ``stop_reason``
ToolResultMessage  ``type="tool_result"``, ``role="tool_result"``, ``tool``, ``content``
                   (``{"data"}`` or ``{"error"}``), ``stop_reason``
UserMessage        ``content, session_id, system_prompt, metadata, id, created_at``
RobotMessage       ``id, from, content, in_reply_to``
=================  =====================================================================
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .envelopes import RobotMessage, UserMessage
from .errors import InputError
from .messages import STOP_REASONS, Message, TextPart, ToolCallPart, ToolResultPart
from .readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "RobotMessage",
    "TextMessage",
    "ToolCallMessage",
    "ToolMessage",
    "ToolResultMessage",
    "UserMessage",
    "View",
    "message_from_view",
    "view_from_dict",
    "views",
]

VIEW_ROLES = ("system", "user", "assistant", "tool_result")


class View(Pictured):
    """What robot_lab's text, tool-call and tool-result messages have in common."""

    type: str
    role: str
    stop_reason: str | None

    @property
    def is_text(self) -> bool:
        """Whether this is text."""
        return self.type == "text"

    @property
    def is_tool_call(self) -> bool:
        """Whether this asks for tools."""
        return self.type == "tool_call"

    @property
    def is_tool_result(self) -> bool:
        """Whether this is a tool's result."""
        return self.type == "tool_result"

    @property
    def is_system(self) -> bool:
        """Whether the role is system."""
        return self.role == "system"

    @property
    def is_user(self) -> bool:
        """Whether the role is user."""
        return self.role == "user"

    @property
    def is_assistant(self) -> bool:
        """Whether the role is assistant."""
        return self.role == "assistant"

    @property
    def is_stopped(self) -> bool:
        """Whether the model was done."""
        return self.stop_reason == "stop"

    @property
    def is_tool_stop(self) -> bool:
        """Whether the model stopped to have tools run."""
        return self.stop_reason == "tool"

    def to_dict(self) -> dict[str, Any]:
        """The message with robot_lab's keys."""
        raise InputError(f"{type(self).__name__} has no serialised form")


def _check(role: str, stop_reason: str | None) -> None:
    if role not in VIEW_ROLES:
        raise InputError(f"no role {role!r}", hint="Roles: " + ", ".join(VIEW_ROLES) + ".")
    if stop_reason is not None and stop_reason not in STOP_REASONS:
        raise InputError(
            f"no stop reason {stop_reason!r}",
            hint="Stop reasons: " + ", ".join(STOP_REASONS) + ".",
        )


@dataclass(frozen=True)
class TextMessage(View):
    """Text of a system, a user, an assistant or a tool.

    Examples
    --------
    >>> TextMessage("assistant", "Hi", "stop").to_dict()
    {'type': 'text', 'role': 'assistant', 'content': 'Hi', 'stop_reason': 'stop'}
    """

    role: str
    content: str
    stop_reason: str | None = None
    type: str = field(default="text", init=False)

    def __post_init__(self) -> None:
        _check(self.role, self.stop_reason)

    def to_dict(self) -> dict[str, Any]:
        """The message with robot_lab's keys."""
        out: dict[str, Any] = {"type": "text", "role": self.role, "content": self.content}
        if self.stop_reason is not None:
            out["stop_reason"] = self.stop_reason
        return out


@dataclass(frozen=True)
class ToolMessage:
    """A wish to call one tool: id, name and arguments."""

    id: str
    name: str
    input: Any = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The call with robot_lab's keys."""
        return {"type": "tool", "id": self.id, "name": self.name, "input": self.input}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolMessage:
        """Read ``id, name`` and ``input`` (or ``arguments``); a result's may lack its name."""
        given = data.get("input", data.get("arguments"))
        name = data.get("name") if "result" in data or "error" in data else data["name"]
        return cls(str(data["id"]), str(name or ""), {} if given is None else given)


@dataclass(frozen=True)
class ToolCallMessage(View):
    """An assistant's message that asks for tools."""

    tools: tuple[ToolMessage, ...]
    role: str = "assistant"
    stop_reason: str | None = "tool"
    type: str = field(default="tool_call", init=False)

    def __post_init__(self) -> None:
        _check(self.role, self.stop_reason)

    def to_dict(self) -> dict[str, Any]:
        """The message with robot_lab's keys."""
        return {
            "type": "tool_call",
            "role": self.role,
            "content": None,
            "tools": [t.to_dict() for t in self.tools],
            "stop_reason": self.stop_reason,
        }


@dataclass(frozen=True)
class ToolResultMessage(View):
    """What a tool gave back: ``content`` is ``{"data": …}`` or ``{"error": …}``."""

    tool: ToolMessage
    content: Mapping[str, Any]
    role: str = "tool_result"
    stop_reason: str | None = "tool"
    type: str = field(default="tool_result", init=False)

    def __post_init__(self) -> None:
        _check(self.role, self.stop_reason)

    @property
    def is_success(self) -> bool:
        """Whether the tool answered."""
        return "error" not in self.content

    @property
    def is_error(self) -> bool:
        """Whether the tool failed."""
        return "error" in self.content

    @property
    def data(self) -> Any:
        """The tool's answer, or None."""
        return self.content.get("data")

    @property
    def error(self) -> Any:
        """What went wrong, or None."""
        return self.content.get("error")

    def to_dict(self) -> dict[str, Any]:
        """The message with robot_lab's keys."""
        return {
            "type": "tool_result",
            "role": self.role,
            "tool": self.tool.to_dict(),
            "content": dict(self.content),
            "stop_reason": self.stop_reason,
        }


def _input(part: ToolCallPart) -> Any:
    try:
        return json.loads(part.arguments) if part.arguments.strip() else {}
    except (ValueError, RecursionError):
        return {"arguments": part.arguments}


def views(message: Message, stop_reason: str | None = None) -> list[View]:
    """robot_lab's messages for one of ours: text first, then tool calls, or tool results.

    Examples
    --------
    >>> views(Message("assistant", "Hello"), "stop")
    [TextMessage(role='assistant', content='Hello', stop_reason='stop', type='text')]
    """
    if message.role == "tool":
        return [
            ToolResultMessage(
                ToolMessage(p.id, p.name),
                {"error": p.content_text}
                if p.is_error
                else {"data": p.content_text if p.data is None else p.data},
            )
            for p in message.tool_results
        ]
    out: list[View] = []
    calls = message.tool_calls
    if message.text or not calls:
        out.append(TextMessage(message.role, message.text, None if calls else stop_reason))
    if calls:
        tools = tuple(ToolMessage(c.id, c.name, _input(c)) for c in calls)
        out.append(ToolCallMessage(tools, message.role))
    return out


def message_from_view(view: View) -> Message:
    """Our message for one of robot_lab's."""
    if isinstance(view, TextMessage):
        role = "tool" if view.role == "tool_result" else view.role
        return Message(role, [TextPart(view.content)])
    if isinstance(view, ToolCallMessage):
        return Message(
            view.role,
            [ToolCallPart(t.id, t.name, json.dumps(t.input), t.id) for t in view.tools],
        )
    if isinstance(view, ToolResultMessage):
        shown = view.error if view.is_error else view.data
        text = shown if isinstance(shown, str) else json.dumps(shown)
        part = ToolResultPart(
            view.tool.id, view.tool.name, text, view.is_error, view.tool.id,
            None if view.is_error else view.data,
        )  # fmt: skip
        return Message("tool", [part])
    raise InputError(f"not a message: {type(view).__name__}")


def view_from_dict(data: Mapping[str, Any]) -> View:
    """Read a serialised message; one without ``type`` is text.

    The shapes of robot_lab's first releases are read too: ``{"role", "tool_call": {id, name,
    input}}`` and ``{"role": "tool", "tool_result": {id, result}}``.

    Parameters
    ----------
    data : mapping

    Raises
    ------
    InputError
        For an unknown type, role or stop reason, a missing field, or one of the wrong type.

    Examples
    --------
    >>> view_from_dict({"role": "tool", "tool_result": {"id": "1", "result": 3}}).data
    3
    """
    kind = data.get("type") or next((k for k in ("tool_call", "tool_result") if k in data), "text")
    try:
        if kind == "text":
            return _text(data)
        if kind == "tool_call":
            return _call(data)
        if kind == "tool_result":
            return _result(data)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        lacks = f"lacks {error}" if isinstance(error, KeyError) else f"is not one: {error}"
        raise InputError(
            f"a {kind} message {lacks}", hint=f"It was {str(dict(data))[:120]}"
        ) from None
    raise InputError(f"no message type {kind!r}", hint="Types: text, tool_call, tool_result.")


def _text(data: Mapping[str, Any]) -> TextMessage:
    content = data["content"]
    if content is not None and not isinstance(content, str):
        raise InputError(
            f"the content of a text message is a text, not {type(content).__name__}",
            hint="A list of content parts is read by replace_messages.",
        )
    role = "tool_result" if data["role"] == "tool" else data["role"]
    return TextMessage(role, content or "", data.get("stop_reason"))


def _call(data: Mapping[str, Any]) -> ToolCallMessage:
    older = "tool_call" in data
    if older and data.get("content"):
        raise InputError(
            "a tool_call message has text beside its call", hint="Read it with replace_messages."
        )
    given = (data["tool_call"],) if older else data["tools"]
    tools = tuple(ToolMessage.from_dict(t) for t in given)
    return ToolCallMessage(tools, data.get("role", "assistant"), data.get("stop_reason") or "tool")


def _result(data: Mapping[str, Any]) -> ToolResultMessage:
    stop = data.get("stop_reason") or "tool"
    if "tool_result" in data:
        found = data["tool_result"]
        key = "error" if found.get("error") is not None else "data"
        content: Any = {key: found["error" if key == "error" else "result"]}
        return ToolResultMessage(ToolMessage.from_dict(found), content, stop_reason=stop)
    content = data["content"]
    if isinstance(content, str):
        content = {"data": content}
    if "data" not in content and "error" not in content:
        raise KeyError("data")
    return ToolResultMessage(ToolMessage.from_dict(data["tool"]), dict(content), stop_reason=stop)
