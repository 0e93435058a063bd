"""Going on with a robot's turn that was not finished: from its messages, in a run of its own.

What was said stays; tool calls without a result are made, an answer that was cut is asked for
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from ..core.errors import InputError, RobotLabError
from ..core.event_sources import unfinished
from ..core.keywords import strict_keywords
from ..core.messages import MediaPart, Message, ToolResultPart
from ..core.state import RunState
from ..runtime.notebook import show_live
from .in_force import run_level
from .preparing import make_run
from .result import RobotResult, T
from .turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..core.config import RunConfig
    from ..core.messages import ToolCallPart
    from ..runtime.run import Run

__all__ = ["Earlier", "Resuming"]

#: statuses of a tool call that has a result
ANSWERED = ("completed", "failed")


@dataclass(frozen=True, slots=True)
class Earlier:
    """A turn as far as it had come.

    Attributes
    ----------
    state : RunState
    history : tuple of Message
        What was said before the turn.
    question : Message
    said : tuple of (Message, str or None)
        What came of it, each with its stop reason; nothing that was cut.
    answered : mapping of str to ToolResultPart
        Results of those of the last message's tool calls that have one.
    repeated : frozenset of str
        Ids of tool calls that had begun and have none.
    """

    state: RunState
    history: tuple[Message, ...]
    question: Message
    said: tuple[tuple[Message, str | None], ...]
    answered: Mapping[str, ToolResultPart]
    repeated: frozenset[str]

    def turn(self, *parts: Any, **options: Any) -> ResumedTurn:
        """The turn that goes on from here; parameters as for :class:`Turn`."""
        made = ResumedTurn(*parts, **options)
        made.earlier = self
        made.about = {**made.about, "resumed_from": self.state.scope.run_id}
        return made


class ResumedTurn(Turn):
    """A turn that goes on where an earlier one ended."""

    __slots__ = ("earlier",)
    earlier: Earlier

    async def open(self) -> None:
        """Record all that was said."""
        earlier = self.earlier
        if self.conversation is not None and not self._follows(self.history):
            self.version = -1  # somebody has spoken in between: the turn stays with its result
        self.history = earlier.history
        await super().open()
        self.round.repeated = earlier.repeated
        for message, reason in earlier.said:
            self.add(message, reason)

    def _follows(self, now: tuple[Message, ...]) -> bool:
        """Whether the robot's conversation is as the earlier turn found or left it."""
        before = self.earlier.history
        messages = self.earlier.state.messages
        lead = len(messages) - len(self.earlier.state.turn) - len(before)
        ids = [m.id for m in now]
        return ids in ([], [m.id for m in before], [m.id for m in messages[lead:]])

    async def loop(self) -> None:
        """Make the tool calls that have no result, then go on as ever."""
        last = self.run.state.messages[-1]
        if last.role == "assistant" and not last.tool_calls:  # the answer was there
            again = None
            if self.output is not None:
                again = self.output.judge_message(last, self.run.state.stop_reason)
            if again is None:
                return
            self.add(again)
        elif last.tool_calls:
            left = tuple(c for c in last.tool_calls if c.id not in self.earlier.answered)
            rest = left if self.output is None else self._judge(self.output, left)
            if rest is None:
                return
            await self.round.call(rest)
            self.add(self._results(last.tool_calls))
        await super().loop()

    def _results(self, calls: tuple[ToolCallPart, ...]) -> Message:
        found = self.round.results(calls)
        answered = self.earlier.answered
        return Message(
            "tool",
            [answered.get(p.id, p) if isinstance(p, ToolResultPart) else p for p in found.parts],
        )

    def _answer_last(self, state: RunState) -> None:
        last = state.messages[-1] if state.messages else None
        if last is None or not last.tool_calls:
            return
        for part in last.tool_calls:
            if part.id not in state.tool_calls and part.id not in self.earlier.answered:
                self.round.start(part)
                self.round.interrupt(part.id, None, False)
        self.add(self._results(last.tool_calls))


class Resuming(Generic[T]):
    """Going on with a turn that was not finished."""

    __slots__ = ()

    @strict_keywords
    def resume(
        self,
        source: Any,
        *,
        answers: Any = None,
        context: Mapping[str, Any] | None = None,
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        hooks: Any = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        on_content: Callable[[str], object] | None = None,
        show: bool | None = None,
    ) -> RobotResult[T]:
        """Go on with a turn that was stopped, failed, or waited for a person before a restart.

        A new run begins, with ``resumed_from``, from the messages of the earlier one. Tool calls
        that have no result are made now, and their questions asked; one that had begun is marked
        ``possibly_repeated``. What the earlier run cost is not in this one.

        Parameters
        ----------
        source : Run, RobotResult, error, run id, path, or list of events or of their dicts
            The earlier run, the error that it failed with, or what is left of it: the log has it
            by its id (the first 6 digits are enough); a file holds one event as JSON on each line.
        answers : mapping, list or callable, optional
            Answers to what is asked; besides texts and tools' names, the ids of questions and of
            tool calls are keys.
        context, tools, mcp, output, hooks, config, on_content, show
            As for :meth:`run`. What was given to the earlier run alone is given again.

        Returns
        -------
        RobotResult

        Raises
        ------
        InputError
            When there is no such turn, it is finished or goes on, or a picture of it was not kept.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> steps = [("ask_user", {"question": "Which size?"}), "ordered"]
        >>> model = rl.SimulatedModel(steps)
        >>> waiting = rl.build("shop", model=model, tools=[rl.ask_user]).run("shoes")
        >>> events = [event.to_dict() for event in waiting.events]  # all that is left
        >>> again = rl.build("shop", model=rl.SimulatedModel(["ordered"]), tools=[rl.ask_user])
        >>> again.resume(events, answers={"Which size?": "L"}).text
        'ordered'
        """
        run = self._again(
            source, answers, context, blocking=True, tools=tools, config=config,
            on_content=on_content, mcp=mcp, output=output, hooks=hooks,
        )  # fmt: skip
        run.check_may_block("resume()")
        try:
            show_live(run, show)
            run.begin()
            return run.result()
        except KeyboardInterrupt:
            run.stop()
            raise

    @strict_keywords
    async def aresume(
        self,
        source: Any,
        *,
        answers: Any = None,
        context: Mapping[str, Any] | None = None,
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        hooks: Any = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        on_content: Callable[[str], object] | None = None,
        show: bool | None = None,
    ) -> RobotResult[T]:
        """Go on with a turn. As :meth:`resume`, for async code."""
        run = self._again(
            source, answers, context, blocking=False, tools=tools, config=config,
            on_content=on_content, mcp=mcp, output=output, hooks=hooks,
        )  # fmt: skip
        show_live(run, show)
        return await run.begin().wait()

    def _again(
        self,
        source: Any,
        answers: Any,
        context: Mapping[str, Any] | None,
        *,
        blocking: bool,
        tools: Any,
        config: Any,
        **keywords: Any,
    ) -> Run[RobotResult[T]]:
        earlier = _earlier(source)
        if isinstance(answers, Mapping):
            answers = _by_call(earlier.state, answers)
        level = run_level(tools, config, answers=answers, **keywords)
        robot: Any = self
        return make_run(
            robot, earlier.question, level, context=context, attachments=(), detached=False,
            blocking=blocking, origin="run", above=(), label=None, keep=True, delegated_by=None,
            earlier=earlier,
        )  # fmt: skip


def _by_call(state: RunState, answers: Mapping[Any, Any]) -> dict[Any, Any]:
    """Answers under ids that hold in the new run too: a question's own is another there."""
    known = {a.question_id: a.tool_call_id or a.text for a in state.asked.values()}
    return {known.get(key, key): value for key, value in answers.items()}


# -- reading ---------------------------------------------------------------------------------


def _earlier(source: Any) -> Earlier:
    state, values = _read(source)
    if state.scope.kind != "robot":
        raise InputError(
            f"this is a run of {state.scope.kind} {state.info.get('name')!r}, not of a robot",
            hint="A network goes on with network.resume(…).",
        )
    if state.status == "completed":
        raise InputError(
            f"the run of robot {state.scope.robot!r} is completed",
            hint="There is nothing left of it to do; ask the robot anew with run(…).",
        )
    if not state.turn:
        raise InputError(
            f"the run of robot {state.scope.robot!r} had not begun its turn",
            hint="Ask the robot anew with run(…).",
        )
    start = state.turn_start
    lead = 1 if state.messages[0].role == "system" else 0
    messages = [_whole(m, values) for m in state.messages]
    said = [(messages[i], state.stop_reasons.get(i)) for i in range(start + 1, len(messages))]
    said = _without_cuts(state, said)
    answered: dict[str, ToolResultPart] = {}
    repeated: set[str] = set()
    for part in said[-1][0].tool_calls if said else ():
        called = state.tool_calls.get(part.id)
        if called is not None and called.status in ANSWERED and called.content is not None:
            data = None if isinstance(called.result, str) else called.result
            failed = called.status == "failed"
            answered[part.id] = ToolResultPart(
                part.id, part.name, called.content, failed, part.wire_id, data
            )
        elif called is not None and not _was_asked(state, part.id):
            repeated.add(part.id)
    return Earlier(
        state, tuple(messages[lead:start]), messages[start], tuple(said), answered,
        frozenset(repeated),
    )  # fmt: skip


def _read(source: Any) -> tuple[RunState, Mapping[str, Any]]:
    from ..runtime.run import Run

    if isinstance(source, RobotLabError):
        source = source.run
    if isinstance(source, RobotResult):
        source = source._run or source
    if isinstance(source, Run):
        if not source.done:
            raise InputError(
                f"run {source.name!r} still goes on: it is {source.status}",
                hint="Answer what it asks, or cancel() it first.",
            )
        return source.state, source.values
    if isinstance(source, RobotResult):
        return source.state, source.values
    return RunState.fold(unfinished(source)), {}


def _without_cuts(
    state: RunState, said: list[tuple[Message, str | None]]
) -> list[tuple[Message, str | None]]:
    """What was said, less what the end of the run left: results of stopped calls, a cut answer."""
    if not said:
        return said
    last = said[-1][0]
    calls = [state.tool_calls.get(part.id) for part in last.tool_results]
    if any(call is not None and call.status == "interrupted" for call in calls):
        return said[:-1]
    asked = list(state.model_calls.values())
    if last.role == "assistant" and asked and asked[-1].status != "completed":
        return said[:-1]
    return said


def _was_asked(state: RunState, tool_call_id: str) -> bool:
    """Whether a tool call had not begun: a person had yet to say something."""
    return any(
        a.tool_call_id == tool_call_id and a.status in ("pending", "interrupted")
        for a in state.asked.values()
    )


def _whole(message: Message, values: Mapping[str, Any]) -> Message:
    """A message with the pictures and files that its event held by their SHA-256 only."""
    parts = []
    for part in message.parts:
        if isinstance(part, MediaPart) and part.base64 is None and part.url is None:
            found = values.get(str(part.sha256))
            if not isinstance(found, MediaPart):
                raise InputError(
                    f"{part.name or part.mime} ({part.shown}) is not in the events",
                    hint="Go on from the run itself, or ask anew with attachments=.",
                )
            part = found
        parts.append(part)
    return message if list(message.parts) == parts else Message(message.role, parts)
