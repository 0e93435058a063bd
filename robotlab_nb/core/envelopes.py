"""Messages with what belongs to them: a person's to a robot, and a robot's to another robot.

Both have robot_lab's serialised keys. Knows nothing of runs, of buses or of how they are sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .views import TextMessage

__all__ = ["RobotMessage", "UserMessage"]


@dataclass(frozen=True)
class UserMessage(Pictured):
    """A person's message with what belongs to it."""

    content: str
    session_id: str | None = None
    system_prompt: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    created_at: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The message with robot_lab's keys."""
        return {
            "content": self.content,
            "session_id": self.session_id,
            "system_prompt": self.system_prompt,
            "metadata": dict(self.metadata),
            "id": self.id,
            "created_at": self.created_at,
        }

    @classmethod
    def of(cls, value: str | Mapping[str, Any] | TextMessage | UserMessage) -> UserMessage:
        """A UserMessage from a string, a dict or a text message.

        Parameters
        ----------
        value : str, mapping, TextMessage or UserMessage
            In a dict ``thread_id``, as robot_lab's first releases wrote it, is ``session_id``.

        Raises
        ------
        InputError
            When a dict has no content, or names two different sessions.

        Examples
        --------
        >>> UserMessage.of({"content": "Hi", "thread_id": "t1"}).session_id
        't1'
        """
        from .views import TextMessage

        if isinstance(value, UserMessage):
            return value
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, TextMessage):
            return cls(value.content)
        known = cls.__dataclass_fields__
        fields = {k: v for k, v in value.items() if k in known and v is not None}
        session, thread = fields.get("session_id"), value.get("thread_id")
        if None not in (session, thread) and session != thread:
            raise InputError(
                f"a user message names two sessions: session_id {session!r}, thread_id {thread!r}",
                hint="They mean the same; give session_id alone.",
            )
        if thread is not None:
            fields["session_id"] = thread
        if not isinstance(fields.get("content"), str):
            raise InputError(
                "a user message has no text under content", hint=f"It was {str(dict(value))[:120]}"
            )
        return cls(**fields)


@dataclass(frozen=True)
class RobotMessage(Pictured):
    """A message from one robot to another; ``id`` counts up for each sender."""

    id: int
    sender: str
    content: Any
    in_reply_to: str | None = None

    @property
    def key(self) -> str:
        """``from:id``, unique on a bus."""
        return f"{self.sender}:{self.id}"

    @property
    def is_reply(self) -> bool:
        """Whether it answers another message."""
        return self.in_reply_to is not None

    def to_dict(self) -> dict[str, Any]:
        """The message with robot_lab's keys."""
        return {
            "id": self.id,
            "from": self.sender,
            "content": self.content,
            "in_reply_to": self.in_reply_to,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RobotMessage:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        InputError
            When a field is missing.
        """
        try:
            return cls(data["id"], data["from"], data["content"], data.get("in_reply_to"))
        except KeyError as error:
            raise InputError(
                f"a robot's message lacks {error}", hint=f"It was {str(dict(data))[:120]}"
            ) from None
