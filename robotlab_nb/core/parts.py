"""What a message is made of: text, reasoning, refusals, tool calls, results, media.

Parts are immutable and know which of their fields belong to the message's content id. Media stand
in :mod:`.media`. This knows nothing of roles, of providers' shapes or of robot_lab's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from .errors import InputError
from .media import MediaPart

__all__ = [
    "Part",
    "ReasoningPart",
    "RefusalPart",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "UnknownPart",
    "part_from_dict",
]


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text. ``cut`` marks text that ended before the model was done (a stop, a lost stream)."""

    kind: ClassVar[str] = "text"
    text: str
    opaque: Mapping[str, Any] | None = None
    cut: bool = False

    def content(self) -> dict[str, Any]:
        """The part as JSON, as far as it belongs to the message id."""
        out: dict[str, Any] = {"kind": "text", "text": self.text}
        if self.opaque:
            out["opaque"] = self.opaque
        if self.cut:
            out["cut"] = True
        return out


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What a model thought first; signatures and encrypted blocks sit in ``opaque``."""

    kind: ClassVar[str] = "reasoning"
    text: str
    opaque: Mapping[str, Any] | None = None

    def content(self) -> dict[str, Any]:
        """The part as JSON, as far as it belongs to the message id."""
        out: dict[str, Any] = {"kind": "reasoning", "text": self.text}
        if self.opaque:
            out["opaque"] = self.opaque
        return out


@dataclass(frozen=True, slots=True)
class RefusalPart:
    """The words in which a model declined to answer."""

    kind: ClassVar[str] = "refusal"
    text: str

    def content(self) -> dict[str, Any]:
        """The part as JSON, as far as it belongs to the message id."""
        return {"kind": "refusal", "text": self.text}


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A model's wish to call a tool.

    Parameters
    ----------
    id : str
        Our id of the call, unique in the process.
    name : str
        The tool's name as the model wrote it.
    arguments : str
        The arguments as received: JSON text, verbatim, perhaps malformed or empty.
    wire_id : str, optional
        The provider's id of the call, sent back with the result.
    opaque : mapping, optional
        The provider's extras, verbatim.
    """

    kind: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments: str = ""
    wire_id: str | None = None
    opaque: Mapping[str, Any] | None = None

    def content(self) -> dict[str, Any]:
        """The part as JSON, as far as it belongs to the message id."""
        out: dict[str, Any] = {"kind": "tool_call", "name": self.name, "arguments": self.arguments}
        if self.wire_id:
            out["wire_id"] = self.wire_id
        if self.opaque:
            out["opaque"] = self.opaque
        return out


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """What a tool gave back, as text for the model.

    Parameters
    ----------
    id : str
        Our id of the call that it answers.
    name : str
        The tool's name.
    content_text : str
        What the model reads.
    is_error : bool
        Whether the text tells of an error.
    wire_id : str, optional
        The provider's id of the call.
    data : JSON, optional
        The value as JSON where it has such a form (or a preview of it).
    """

    kind: ClassVar[str] = "tool_result"
    id: str
    name: str
    content_text: str = ""
    is_error: bool = False
    wire_id: str | None = None
    data: Any = None

    def content(self) -> dict[str, Any]:
        """The part as JSON, as far as it belongs to the message id."""
        out: dict[str, Any] = {
            "kind": "tool_result",
            "name": self.name,
            "content_text": self.content_text,
        }
        if self.is_error:
            out["is_error"] = True
        if self.wire_id:
            out["wire_id"] = self.wire_id
        if self.data is not None:
            out["data"] = self.data
        return out


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A part that this version does not know, kept as it came."""

    kind: ClassVar[str] = "unknown"
    data: Any

    def content(self) -> dict[str, Any]:
        """The part as JSON, as far as it belongs to the message id."""
        return {"kind": "unknown", "data": self.data}


Part: TypeAlias = (
    TextPart | ReasoningPart | RefusalPart | ToolCallPart | ToolResultPart | MediaPart | UnknownPart
)

_PARTS: dict[str, Any] = {
    cls.kind: cls for cls in (TextPart, ReasoningPart, RefusalPart, ToolCallPart, ToolResultPart)
}
#: fields that hold text wherever they stand
_TEXTS = ("text", "id", "name", "arguments", "content_text")


def part_from_dict(data: Mapping[str, Any]) -> Part:
    """Read a part back; one of a kind that we do not know is kept whole.

    Parameters
    ----------
    data : mapping
        What stands in ``parts`` of :meth:`~robotlab_nb.core.messages.Message.to_dict`.

    Raises
    ------
    InputError
        When a field is missing or is not of its type.

    Examples
    --------
    >>> part_from_dict({"kind": "text", "text": "Hi"}).text
    'Hi'
    >>> part_from_dict({"kind": "hologram", "depth": 3})
    UnknownPart(data={'kind': 'hologram', 'depth': 3})
    """
    if not isinstance(data, Mapping):
        raise InputError(f"a part is a mapping, not {type(data).__name__}")
    fields = dict(data)
    kind = fields.pop("kind", None)
    if kind == "media":
        return MediaPart.from_dict(fields)
    if kind == "unknown":
        return UnknownPart(fields.get("data"))
    cls = _PARTS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        return UnknownPart(dict(data))
    for name in _TEXTS:
        if name in fields and not isinstance(fields[name], str):
            raise InputError(
                f"the {name} of a {kind} part is a text, not {type(fields[name]).__name__}"
            )
    known = cls.__dataclass_fields__
    try:
        part: Part = cls(**{k: v for k, v in fields.items() if k in known})
    except TypeError:
        lacks = [n for n in _TEXTS if n in known and n not in fields and n in _REQUIRED[kind]]
        raise InputError(f"a {kind} part lacks {' and '.join(lacks)}") from None
    return part


_REQUIRED = {
    "text": ("text",),
    "reasoning": ("text",),
    "refusal": ("text",),
    "tool_call": ("id", "name"),
    "tool_result": ("id", "name"),
}
