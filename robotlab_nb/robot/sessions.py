"""Conversations with a name: each goes on where its last turn ended, in this process or another.

The log keeps them. It is asked before a turn, for what others have said meanwhile, and after it,
whether anybody was first.
"""

from __future__ import annotations

import threading
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..core.errors import RobotLabError
from ..core.readings import reading
from ..runtime.recording import wanted
from .conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.messages import Message

__all__ = ["NamedConversation", "conversation_of"]

_lock = threading.Lock()
_known: WeakKeyDictionary[Any, dict[str, NamedConversation]] = WeakKeyDictionary()


def conversation_of(robot: Any, session_id: str) -> NamedConversation:
    """The conversation of a robot that has a name.

    Parameters
    ----------
    robot : Robot
    session_id : str
    """
    with _lock:
        mine = _known.setdefault(robot, {})
        found = mine.get(session_id)
        if found is None or found.robot != robot.name:
            found = mine[session_id] = NamedConversation(session_id, robot.name)
        return found


class NamedConversation(Conversation):
    """A conversation that the log keeps; it is read from there when it is first needed.

    Parameters
    ----------
    session_id : str
    robot : str
        Its name: each robot has a conversation of its own in a session.
    """

    __slots__ = ("_head", "_last", "_loaded", "_reading", "_seen", "robot")

    def __init__(self, session_id: str, robot: str) -> None:
        self._reading = threading.RLock()
        self._loaded = False
        #: the run that the conversation ended with when the log was last read
        self._head: str | None = None
        #: runs that were looked at there
        self._seen: set[str] = set()
        #: the last two messages, if they were committed here
        self._last: tuple[str, str] | None = None
        self.robot = robot
        super().__init__()
        self.session_id = session_id

    def refresh(self) -> None:
        """Take over what others have said since the log was last read.

        Raises
        ------
        RobotLabError
            When the log cannot be read, or was told not to keep what is said; later on that is
            a warning.
        """
        with self._reading:
            try:
                if wanted() is not None:
                    look = reading("conversation")
                    found = look(self.session_id, self.robot, self._head, self._seen)
                    if found is not None:
                        self._seen |= found.seen
                        if found.run_id is not None:
                            self._take(found)
            except RobotLabError as error:
                if not self._loaded:
                    raise
                warnings.warn(
                    f"session {self.session_id!r}: the log was not asked for news: {error}",
                    stacklevel=2,
                )
            self._loaded = True

    def _take(self, found: Any) -> None:
        run_id, self._head = self._head, found.run_id
        ids = [message.id for message in found.messages]
        if self._last and self._last not in pairwise(ids):
            warnings.warn(
                f"session {self.session_id!r} of robot {self.robot!r} was continued elsewhere at "
                f"the same time, by run {found.run_id}: it goes on from there. What was said here "
                f"is kept in run {run_id}.",
                stacklevel=2,
            )
        self._last = None
        super().replace(found.messages)

    def _load(self) -> None:
        if not self._loaded:
            self.refresh()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The committed messages, system message apart."""
        self._load()
        return self._messages

    def snapshot(self) -> tuple[int, tuple[Message, ...]]:
        """The version and the messages, together."""
        self._load()
        return super().snapshot()

    def commit(self, version: int, messages: Sequence[Message], run_id: str | None = None) -> bool:
        """Replace the messages if nobody did since ``version``. Returns whether it was done."""
        done = super().commit(version, messages)
        if done and run_id is not None:
            self._head = run_id
            self._seen.add(run_id)
            self._last = (messages[-2].id, messages[-1].id) if len(messages) > 1 else None
        return done

    def replace(self, messages: Iterable[Message]) -> None:
        """Replace the messages, whatever they were."""
        self._load()
        self._last = None
        super().replace(messages)
