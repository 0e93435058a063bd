"""What is said in a conversation: messages made of parts, as one model sees them.

A :class:`Message` is immutable and knows its content id: the SHA-256 of its role and parts.
Provider extras (thinking signatures, the provider's own call ids) are kept verbatim in
``opaque`` and ``wire_id`` and belong to the id; our own call ids and all times do not.

robot_lab's message classes are views of these: see :mod:`robotlab_nb.core.views`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from weakref import ref

from .errors import InputError
from .json import canonical
from .readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "ROLES",
    "STOP_REASONS",
    "Message",
    "Part",
    "ReasoningPart",
    "RefusalPart",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "Transcript",
    "UnknownPart",
    "part_from_dict",
]

ROLES = ("system", "user", "assistant", "tool")
#: Why a model stopped. None where the provider did not say.
STOP_REASONS = ("stop", "tool", "length", "refused", "content_filter")


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
    TextPart | ReasoningPart | RefusalPart | ToolCallPart | ToolResultPart | UnknownPart
)

_PARTS: dict[str, Any] = {
    cls.kind: cls
    for cls in (TextPart, ReasoningPart, RefusalPart, ToolCallPart, ToolResultPart, UnknownPart)
}


def part_from_dict(data: Mapping[str, Any]) -> Part:
    """Read a part back; one of a kind that we do not know is kept whole."""
    fields = dict(data)
    cls = _PARTS.get(fields.pop("kind", None))
    if cls is None:
        return UnknownPart(dict(data))
    known = cls.__dataclass_fields__
    part: Part = cls(**{k: v for k, v in fields.items() if k in known})
    return part


class _Record(dict[str, Any]):
    """A message's JSON that remembers the message, so that reading it back costs nothing."""

    __slots__ = ("__weakref__", "message")
    message: Message


class Message(Pictured):
    """One message: who speaks, and what.

    Parameters
    ----------
    role : {"system", "user", "assistant", "tool"}
    parts : iterable of Part, or str
        A string is one text part.

    Examples
    --------
    >>> hello = Message("user", "Hello")
    >>> hello.text, hello.is_user
    ('Hello', True)
    >>> Message("user", "Hello").id == hello.id
    True
    >>> Message.from_dict(hello.to_dict()) == hello
    True
    """

    __slots__ = ("_id", "_record", "parts", "role")

    role: str
    parts: tuple[Part, ...]

    def __init__(self, role: str, parts: Iterable[Part] | str) -> None:
        if role not in ROLES:
            raise InputError(
                f"a message has no role {role!r}", hint="Roles: " + ", ".join(ROLES) + "."
            )
        self.role = role
        self.parts = (TextPart(parts),) if isinstance(parts, str) else tuple(parts)
        self._id: str | None = None
        # Weak: a message and its record would else be a cycle that only the collector frees.
        self._record: ref[_Record] | None = None

    @property
    def id(self) -> str:
        """Hexadecimal SHA-256 of role and parts: equal content, equal id."""
        if self._id is None:
            self._id = hashlib.sha256(self._canonical()).hexdigest()
        return self._id

    def _canonical(self) -> bytes:
        if len(self.parts) == 1:
            part = self.parts[0]
            if type(part) is TextPart and not part.opaque and not part.cut:
                # What ``canonical`` gives for the commonest message, without its encoder.
                text = encode_basestring_ascii(part.text)
                return f'["{self.role}",[{{"kind":"text","text":{text}}}]]'.encode("ascii")
        return canonical([self.role, [p.content() for p in self.parts]])

    @property
    def text(self) -> str:
        """The text parts joined; a refusal's words where there is no text."""
        found = [p.text for p in self.parts if p.kind == "text"]  # type: ignore[union-attr]
        if not found:
            found = [p.text for p in self.parts if isinstance(p, RefusalPart)]
        return found[0] if len(found) == 1 else "".join(found)

    @property
    def reasoning(self) -> str:
        """What the model thought, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, ReasoningPart))

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The tool calls that the message asks for, in order."""
        return tuple([p for p in self.parts if p.kind == "tool_call"])  # type: ignore[misc]

    @property
    def tool_results(self) -> tuple[ToolResultPart, ...]:
        """The tool results that the message carries, in order."""
        return tuple([p for p in self.parts if p.kind == "tool_result"])  # type: ignore[misc]

    @property
    def is_cut(self) -> bool:
        """Whether the text ended before the model was done."""
        return any(isinstance(p, TextPart) and p.cut for p in self.parts)

    @property
    def is_system(self) -> bool:
        """Whether this is a system message."""
        return self.role == "system"

    @property
    def is_user(self) -> bool:
        """Whether a person (or the calling code) speaks."""
        return self.role == "user"

    @property
    def is_assistant(self) -> bool:
        """Whether the model speaks."""
        return self.role == "assistant"

    @property
    def is_tool_call(self) -> bool:
        """Whether the message asks for tools."""
        return any(p.kind == "tool_call" for p in self.parts)

    @property
    def is_tool_result(self) -> bool:
        """Whether the message carries tool results."""
        return self.role == "tool"

    def to_dict(self) -> dict[str, Any]:
        """The message as JSON: ``id``, ``role``, ``parts``. Lossless; do not change it."""
        record = self._record() if self._record is not None else None
        if record is None:
            parts = []
            for part in self.parts:
                data = part.content()
                if part.kind == "tool_call" or part.kind == "tool_result":
                    data["id"] = part.id  # type: ignore[union-attr]
                parts.append(data)
            record = _Record(id=self.id, role=self.role, parts=parts)
            record.message = self
            self._record = ref(record)
        return record

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Message:
        """Read a message that :meth:`to_dict` wrote."""
        if type(data) is _Record:
            return data.message
        try:
            return cls(data["role"], [part_from_dict(p) for p in data["parts"]])
        except (KeyError, TypeError) as error:
            raise InputError(
                f"not a message: {str(data)[:120]}", hint="It needs role and parts."
            ) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (
            self is other or (self.role == other.role and self.parts == other.parts)
        )

    def __hash__(self) -> int:
        return hash(self.id)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        # One line: messages stand in lists, whose picture this is.
        said = self.text or self.reasoning
        shown = repr(said if len(said) <= 60 else said[:57] + "…")
        extra = [f"calls {c.name}" for c in self.tool_calls]
        extra += [f"result of {r.name}" for r in self.tool_results]
        return f"<{self.role}: {', '.join([shown, *extra] if said else extra or [shown])}>"

    def __reduce__(self) -> Any:
        return _message, (self.role, self.parts)


class Transcript(tuple[Message, ...], Pictured):
    """Messages in order: a tuple whose notebook picture is the transcript.

    Examples
    --------
    >>> Transcript([Message("user", "Hello")])
    (<user: 'Hello'>,)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return tuple.__repr__(self)

    def __getnewargs__(self) -> tuple[tuple[Message, ...]]:
        return (tuple(self),)


def _message(role: str, parts: tuple[Part, ...]) -> Message:
    return Message(role, parts)
