"""A conversation with one robot that a person has in a box under a cell.

A turn in it is a turn of the robot. It starts runs and keeps what was said; it knows no widget and
no screen, and asks the painter of the notebook for a place, where there is one.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from ..core.errors import InputError, RobotLabError, describe_error
from ..core.messages import Transcript
from ..core.readings import Pictured, reading
from ..core.usage import NOTHING, Usage
from ..runtime.notebook import painter
from . import chat_settings as checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.messages import Message
    from ..runtime.questions import Question
    from ..runtime.run import Run
    from .result import RobotResult
    from .robot import Robot

__all__ = ["Chat", "ChatPart"]

#: messages that may wait while one is answered
WAITING = 5
#: seconds that an answer has to stop before it is abandoned
PATIENCE_S = 2.0


@dataclass(slots=True)
class ChatPart:
    """A stretch of a chat: a turn in it, what was said elsewhere, or a remark.

    Parameters
    ----------
    kind : {"turn", "said", "remark"}
    text : str
        What the person said, or the remark.
    messages : tuple of Message
        What was said elsewhere: before the chat, or while it was open.
    run : Run, optional
        Of a turn.
    error : dict, optional
        Why a turn could not begin.
    """

    kind: Literal["turn", "said", "remark"]
    text: str = ""
    messages: tuple[Message, ...] = ()
    run: Run[Any] | None = None
    error: dict[str, Any] | None = None


class Chat(Pictured):
    """A chat with a robot. ``robot.chat()`` makes one; a notebook shows it as a chat box.

    Parameters
    ----------
    robot : Robot
    starters : sequence of str, optional
        First messages to choose from.
    placeholder : str, optional
        Shown in the empty line.
    context : mapping, optional
        Values for templates and tools, in every turn.
    height : int, optional
        Pixels that the transcript takes at most.

    Attributes
    ----------
    robot : Robot
    closed : bool
        Whether it has ended.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> bot = rl.build("poet", model=rl.SimulatedModel(["roses are red"]))
    >>> chat = bot.chat()
    >>> chat.send("a poem, please")
    >>> chat.runs[-1].result().text, [message.role for message in chat.messages]
    ('roses are red', ['user', 'assistant'])
    """

    def __init__(
        self,
        robot: Robot[Any],
        *,
        starters: Sequence[str] = (),
        placeholder: str | None = None,
        context: Mapping[str, Any] | None = None,
        height: int | None = None,
    ) -> None:
        self.robot = robot
        self.starters = checked.starters(starters)
        self.placeholder = checked.placeholder(placeholder)
        self.height = checked.height(height)
        self.closed = False
        self._context = dict(context) if context is not None else None
        self._lock = threading.RLock()
        self._parts: list[ChatPart] = []
        self._queue: deque[str] = deque()
        #: the run of the last turn, and the same while its messages are not looked at yet
        self._run: Run[Any] | None = None
        self._turn: Run[Any] | None = None
        self._stopped_at: float | None = None
        self._kept: Transcript | None = None
        self._version, self._known = -1, ()  # type: tuple[int, tuple[Message, ...]]
        self._shown: Any = None
        self._look()

    # -- reading ---------------------------------------------------------------------------

    @property
    def parts(self) -> tuple[ChatPart, ...]:
        """What has happened, in order."""
        with self._lock:
            self._look()
            return tuple(self._parts)

    @property
    def messages(self) -> Transcript:
        """The robot's conversation; once the chat has ended, as it was then."""
        kept = self._kept
        return self.robot.messages if kept is None else kept

    @property
    def spoken(self) -> tuple[Message, ...]:
        """The conversation without the system message."""
        kept = self._kept
        if kept is None:
            return self.robot._conversation.messages
        return tuple(message for message in kept if message.role != "system")

    @property
    def runs(self) -> tuple[Run[RobotResult[Any]], ...]:
        """The runs of its turns, in order."""
        return tuple(part.run for part in tuple(self._parts) if part.run is not None)

    @property
    def result(self) -> RobotResult[Any] | None:
        """The result of the last turn that has one; None before the first."""
        return next((run.outcome() for run in reversed(self.runs) if run.has_result), None)

    @property
    def frames(self) -> Any:
        """Tables of all its turns together: ``chat.frames.tool_calls`` and so on."""
        runs = self.runs
        return reading("frames")([r.state for r in runs], [e for r in runs for e in r.events])

    @property
    def waiting(self) -> tuple[str, ...]:
        """The messages that wait until the one before is answered."""
        return tuple(self._queue)

    @property
    def busy(self) -> bool:
        """Whether the robot is answering."""
        return self._run is not None and not self._run.done

    @property
    def asked(self) -> Question | None:
        """The one question that what is said next is the answer to; None where there is none."""
        run = self._run
        asked = run.pending if run is not None and not run.done else ()
        return asked[0] if len(asked) == 1 and asked[0].kind != "approval" else None

    @property
    def usage(self) -> Usage:
        """Tokens and cost of all its turns."""
        total = NOTHING
        for run in self.runs:
            total = total + run.state.total_usage()
        return total

    # -- saying ----------------------------------------------------------------------------

    def send(self, text: str) -> None:
        """Say something in the chat, as if it were typed. Returns at once.

        While the robot answers, a message waits for its turn. While the robot asks for a text, it
        is the answer.

        Parameters
        ----------
        text : str

        Raises
        ------
        InputError
            When the chat has ended, there is nothing in the text, or too many messages wait.
        """
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                f"a chat with robot {self.robot.name!r} takes a text with something in it",
                hint='For example chat.send("Hello").',
            )
        with self._lock:
            if self.closed:
                raise InputError(
                    f"this chat with robot {self.robot.name!r} has ended",
                    hint="`bot.chat()` goes on where it ended.",
                )
            if self.busy and self._answers(text):
                return
            if self.busy or self._queue:
                if len(self._queue) >= WAITING:
                    raise InputError(
                        f"{WAITING} messages wait already", hint="Wait for an answer, or stop it."
                    )
                self._queue.append(text)
            else:
                self._begin(text)
        self._next()  # the answer may have ended in between

    def _answers(self, text: str) -> bool:
        """Take a text as the answer to the one question that the robot asks, if it does."""
        run = self._run
        if run is None or self.asked is None:
            return False
        run.answer(text)
        return True

    def _begin(self, text: str) -> None:
        self._look()
        part = ChatPart("turn", text)
        try:
            run = self.robot.start(text, context=self._context)
        except Exception as error:
            part.error = describe_error(error)
        else:
            part.run = self._run = self._turn = run
            self._stopped_at = None
        self._parts.append(part)
        if part.run is not None:
            part.run.when_done(self._ended)

    def _ended(self) -> None:
        """Go on with what waits; not on the thread that calls this, where the run ended."""
        if self._queue:
            threading.Thread(target=self._next, name="robotlab_nb-chat", daemon=True).start()

    def _next(self) -> None:
        with self._lock:
            while self._queue and not self.busy and not self.closed:
                self._begin(self._queue.popleft())

    def answer(self, value: Any) -> None:
        """Answer what the robot asks in the present turn; see ``Run.answer``.

        Parameters
        ----------
        value : object

        Raises
        ------
        InputError
            When nothing is asked, or the value cannot be meant.
        """
        if self._run is None:
            raise InputError(f"robot {self.robot.name!r} asks nothing in this chat")
        self._run.answer(value)

    def stop(self) -> None:
        """Stop the answer that is being written; the chat goes on. Returns at once."""
        run = self._run
        if run is not None and not run.done:
            self._stopped_at = monotonic()
            run.cancel("stopped")

    def close(self) -> None:
        """End the chat, and an answer that is being written. Its transcript stays.

        ``robot.chat()`` opens another one that goes on where this one ended.
        """
        self.end()
        run = self._run
        if run is not None and not run.done:
            ended = threading.Event()
            run.when_done(ended.set)
            from ..runtime.loop import runs_here

            if not runs_here() and not ended.wait(PATIENCE_S):
                run.abandon()
        with self._lock:
            if not self.busy:
                self._keep()
        found = painter()
        if found is not None and self._shown is not None:
            found.paint()

    def end(self) -> None:
        """End the chat without waiting for what is being stopped."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            self._queue.clear()
            self.stop()

    def _keep(self) -> None:
        if self._kept is None:
            self._look()
            try:
                self._kept = self.robot.messages
            except RobotLabError:  # its template cannot be told now
                self._kept = Transcript(self.spoken)

    @property
    def over(self) -> bool:
        """Whether it has ended and nothing in it goes on any more."""
        run = self._run
        if run is not None and not run.done:
            late = self._stopped_at is not None and monotonic() - self._stopped_at > PATIENCE_S
            if late:
                self._stopped_at = None
                run.abandon()
            return False
        if self.closed:
            with self._lock:
                self._keep()
        return self.closed

    # -- what others say to the robot --------------------------------------------------------

    def _look(self) -> None:
        """Note what was said to the robot elsewhere. Not while it answers here."""
        if self.busy or self._kept is not None:
            return
        version, messages = self.robot._conversation.snapshot()
        if version == self._version:
            return
        base = self._known
        self._version, self._known = version, messages
        if self._turn is not None:
            base = _of_turn(self._turn) or base
            self._turn = None
        if messages[: len(base)] == base:
            rest = messages[len(base) :]
            if rest:
                self._parts.append(ChatPart("said", messages=rest))
            return
        if not messages:
            words = "the robot's conversation was cleared: it does not know what stands above"
        else:
            words = "the robot's conversation was changed: it may not know what stands above"
        self._parts.append(ChatPart("remark", words))

    # -- its place ---------------------------------------------------------------------------

    def _ipython_display_(self) -> None:
        """Show the chat box; where there is none yet, or another one, it moves here."""
        found = painter()
        if found is None:
            print(repr(self))  # noqa: T201  (that is what a plain shell shows)
            return
        before, self._shown = self._shown, reading("chat")(self)
        if before is not None:
            before.leave()
        found.open(self._shown)


def _of_turn(run: Run[Any]) -> tuple[Message, ...]:
    """The whole conversation after a turn, as its run has it; empty where it was not kept."""
    if run.state.conversation != "committed":
        return ()
    return tuple(m for m in run.state.messages if m.role != "system")
