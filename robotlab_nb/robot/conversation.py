"""A robot's conversation between runs: always valid, and never mixed by runs at the same time.

A run starts from a snapshot and commits its whole turn by compare-and-set. When another run
committed in between, the later one keeps its turn to itself.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.messages import Message, ToolCallPart, ToolResultPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Conversation", "as_message", "as_messages", "as_question", "repair"]

NO_RESULT = "no result: the run ended before this tool answered"


class Conversation:
    """The committed messages, system message apart, and how often they changed."""

    __slots__ = ("_lock", "_messages", "session_id", "version")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._lock = threading.Lock()
        #: its name, where the log keeps it
        self.session_id: str | None = None
        self._messages: tuple[Message, ...] = tuple(messages)
        self.version = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The committed messages."""
        return self._messages

    def snapshot(self) -> tuple[int, tuple[Message, ...]]:
        """The version and the messages, together."""
        with self._lock:
            return self.version, self._messages

    def refresh(self) -> None:
        """Take over what others have said, where there can be others."""

    def commit(self, version: int, messages: Sequence[Message], run_id: str | None = None) -> bool:
        """Replace the messages if nobody did since ``version``. Returns whether it was done.

        ``run_id`` is the run whose turn they end with.
        """
        with self._lock:
            if version != self.version:
                return False
            self._messages = tuple(messages)
            self.version += 1
            return True

    def replace(self, messages: Iterable[Message]) -> None:
        """Replace the messages, whatever they were."""
        with self._lock:
            self._messages = tuple(messages)
            self.version += 1


def repair(messages: Iterable[Message]) -> tuple[list[Message], list[str]]:
    """Make a history one that every provider accepts.

    Every tool call gets exactly one result, right after the message that asked for it, under the
    tool's name; results without a call are dropped.

    Returns
    -------
    (list of Message, list of str)
        The messages, and what was mended (empty when nothing was).
    """
    out: list[Message] = []
    mended: list[str] = []
    waiting: dict[str, ToolCallPart] = {}
    answers: dict[str, ToolResultPart] = {}

    def settle() -> None:
        if not waiting:
            return
        for call in waiting.values():
            if call.id not in answers:
                mended.append(f"a result for {call.name} was missing")
                answers[call.id] = ToolResultPart(call.id, call.name, NO_RESULT, True, call.wire_id)
        out.append(Message("tool", [answers[i] for i in waiting]))
        waiting.clear()
        answers.clear()

    for message in messages:
        if message.role == "tool":
            for part in message.tool_results:
                if part.id in waiting and part.id not in answers:
                    if not part.name:
                        part = replace(part, name=waiting[part.id].name)
                        mended.append(f"a result was given the name of its tool, {part.name}")
                    answers[part.id] = part
                else:
                    mended.append(f"a stray result of {part.name} was dropped")
            continue
        settle()
        out.append(message)
        waiting.update({c.id: c for c in message.tool_calls})
    settle()
    return out, mended


def as_message(value: Any) -> Message:
    """A message from a Message, a robot_lab message, a string (a user's), or a dict.

    Dicts may have our shape (``role, parts``), robot_lab's of either generation (``type, role,
    content`` …; ``role, tool_call`` …) or the one of chat APIs (``role, content, tool_calls`` …).

    Raises
    ------
    InputError
        For anything else, naming what is wrong with it.
    """
    from ..core.views import RobotMessage, UserMessage, View, message_from_view

    if isinstance(value, Message):
        return value
    if isinstance(value, str):
        return Message("user", value)
    if isinstance(value, View):
        return message_from_view(value)
    if isinstance(value, (UserMessage, RobotMessage)):
        value = value.to_dict()
    if isinstance(value, Mapping):
        from ..core.shapes import message_of

        return message_of(value)
    raise InputError(
        f"not a message: {type(value).__name__}", hint="Give a Message, a dict or a string."
    )


def as_messages(values: Iterable[Any]) -> list[Message]:
    """The messages of a conversation that somebody wrote down.

    robot_lab writes the text and the tool calls of one answer as two messages, and its first
    releases each call as one: these are one message again.

    Parameters
    ----------
    values : iterable
        What :func:`as_message` takes.

    Raises
    ------
    InputError
        Naming the place of what is no message.
    """
    out: list[Message] = []
    joinable = False  # the last one came from a shape that may hold half an answer
    for place, value in enumerate(values):
        try:
            message = as_message(value)
        except InputError as error:
            raise InputError(f"messages[{place}]: {error.message}", hint=error.hint) from None
        half = message.is_assistant and not _is_whole(value)
        if half and joinable and message.tool_calls:
            out[-1] = Message("assistant", [*out[-1].parts, *message.parts])
        else:
            out.append(message)
        joinable = half
    return out


def _is_whole(value: Any) -> bool:
    """Whether a value holds all of an answer by itself."""
    return isinstance(value, Message) or (
        isinstance(value, Mapping) and ("parts" in value or "tool_calls" in value)
    )


def as_question(message: Any, robot: str) -> Message:
    """What a robot is asked, as a user's message.

    Raises
    ------
    InputError
        When there is nothing in it, or it is nothing that can be said.
    """
    if isinstance(message, str):
        if message.strip():
            return Message("user", message)
    elif isinstance(message, Message):
        if message.role == "user" and message.parts:
            return message
        raise InputError(f"robot {robot!r} is asked by a user's message, not {message!r}")
    elif message is not None:
        from ..core.views import TextMessage, UserMessage

        if isinstance(message, (UserMessage, TextMessage)):
            return as_question(message.content, robot)
        raise InputError(
            f"robot {robot!r} takes a text, not {type(message).__name__}",
            hint="Make a text of it first, for example with json.dumps.",
        )
    raise InputError(
        f"robot {robot!r} was given nothing to answer: the message is empty",
        hint="Pass a text, for example bot.run('Hello').",
    )
