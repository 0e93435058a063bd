"""What is said in a conversation: messages made of parts, as one model sees them.

A :class:`Message` is immutable and knows its content id: the SHA-256 of its role and parts.
Provider extras (thinking signatures, the provider's own call ids) are kept verbatim in
``opaque`` and ``wire_id`` and belong to the id; our own call ids and all times do not.

robot_lab's message classes are views of these: see :mod:`robotlab_nb.core.views`.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any
from weakref import ref

from . import secrets
from .errors import InputError
from .json import canonical
from .media import MediaPart
from .parts import (
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    part_from_dict,
)
from .readings import Pictured, pretty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "MEDIA_IN_EVENTS",
    "ROLES",
    "STOP_REASONS",
    "MediaPart",
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
#: Bytes up to which an event holds a picture or a file itself, and not only its SHA-256.
MEDIA_IN_EVENTS = 1_000_000


class _Record(dict[str, Any]):
    """A message's JSON that remembers the message, so that reading it back costs nothing."""

    __slots__ = ("__weakref__", "message")
    message: Message

    def remade(self, fields: Mapping[str, Any]) -> _Record:
        """The record of the message with other fields in place; parts not touched stay alive."""
        told = fields["parts"]
        parts = [
            part if new is before else _redone(part, new)
            for part, before, new in zip(self.message.parts, self["parts"], told, strict=True)
        ]
        made = Message(self.message.role, parts)
        heavy = [p for p, t in zip(parts, told, strict=True) if "base64" not in t]
        return made._written(tuple([p for p in heavy if isinstance(p, MediaPart)]))


def _redone(part: Part, fields: Mapping[str, Any]) -> Part:
    """A part with other fields; what was masked inside base64 is masked in the bytes instead."""
    if isinstance(part, MediaPart) and part.base64 is not None:
        clean = part.masked()
        fields = {**clean.content(), "base64": clean.base64, "name": fields.get("name")}
    return part_from_dict(fields)


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

    def to_dict(self, *, most_media: int | None = None) -> dict[str, Any]:
        """The message as JSON: ``id``, ``role``, ``parts``. Lossless; do not change it.

        Parameters
        ----------
        most_media : int, optional
            Media of more bytes are told by name, size and SHA-256 alone (events and tables do
            so). What is read back from such JSON cannot be sent to a model.
        """
        # Nearly all messages are one part of text: they cost nothing more.
        if most_media is not None and (len(self.parts) != 1 or self.parts[0].kind == "media"):
            heavy = self.heavy_media(most_media)
            if heavy:
                return self._written(heavy)
        record = self._record() if self._record is not None else None
        if record is None:
            record = self._written()
            self._record = ref(record)
        return record

    def heavy_media(self, most: int = MEDIA_IN_EVENTS) -> tuple[MediaPart, ...]:
        """The pictures and files in it that have more than so many bytes."""
        found: tuple[MediaPart, ...] = ()
        for part in self.parts:  # a plain loop: every message that is recorded comes here
            if part.kind == "media" and part.base64 and (part.size or 0) > most:  # type: ignore[union-attr]
                found = (*found, part)  # type: ignore[arg-type]
        return found

    def _written(self, left_out: tuple[MediaPart, ...] = ()) -> _Record:
        parts = []
        for part in self.parts:
            data = part.content()
            if part.kind == "tool_call" or part.kind == "tool_result":
                data["id"] = part.id  # type: ignore[union-attr]
            elif isinstance(part, MediaPart) and part not in left_out and part.base64 is not None:
                data["base64"] = part.base64
            parts.append(data)
        record = _Record(id=self.id, role=self.role, parts=parts)
        record.message = self
        return record

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Message:
        """Read a message that :meth:`to_dict` wrote.

        Raises
        ------
        InputError
            When it is none; the message says which part is wrong.
        """
        if type(data) is _Record:
            return data.message
        try:
            role, found = data["role"], list(data["parts"])
        except (KeyError, TypeError) as error:
            raise InputError(
                f"not a message: {str(data)[:120]}", hint="It needs role and parts."
            ) from error
        parts: list[Part] = []
        for position, part in enumerate(found):
            try:
                parts.append(part_from_dict(part))
            except InputError as error:
                raise InputError(
                    f"parts[{position}] of a message: {error.message}", hint=error.hint
                ) from None
        return cls(role, parts)

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
        if secrets.any_known:
            said = secrets.redact(said)
        shown = repr(said if len(said) <= 60 else said[:57] + "…")
        extra = [p.shown for p in self.parts if isinstance(p, MediaPart)]
        extra += [f"calls {c.name}" for c in self.tool_calls]
        extra += [f"result of {r.name}" for r in self.tool_results]
        return f"<{self.role}: {', '.join([shown, *extra] if said else extra or [shown])}>"

    def __reduce__(self) -> Any:
        if secrets.any_known:
            from .pickling import refuse_secrets

            refuse_secrets(f"a {self.role} message", {"parts": self.parts})
        return _message, (self.role, self.parts)


class Transcript(tuple[Message, ...], Pictured):
    """Messages in order: a tuple whose notebook picture is the transcript.

    Examples
    --------
    >>> Transcript([Message("user", "Hello")])
    (<user: 'Hello'>,)
    """

    __slots__ = ()
    _repr_pretty_ = pretty

    def __repr__(self) -> str:
        return tuple.__repr__(self)

    def __getnewargs__(self) -> tuple[tuple[Message, ...]]:
        return (tuple(self),)


def _message(role: str, parts: tuple[Part, ...]) -> Message:
    return Message(role, parts)
