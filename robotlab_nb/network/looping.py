"""Doing a task again until it is as it should be, at most so many times."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError
from ..core.readings import Pictured
from ..prompts.rendering import check_prompt, render
from ..robot.conversation import Conversation
from .doing import called
from .flow import FlowResult
from .result import TaskResult, as_result
from .rows import value_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .doing import Doing

__all__ = ["Loop", "LoopLimit", "LoopResult", "looped"]

FEEDBACK = "That is not it yet. Try again."


class LoopLimit(RobotLabError):
    """A loop reached its bound and its condition does not hold."""


class Loop:
    """How a task is repeated. For ``net.task(…, loop=Loop(…))``.

    A robot's conversation goes on from turn to turn, and is its own: nothing of it is kept in the
    robot. A function may name ``result`` (of the turn before; None at first) and ``turn``.

    Parameters
    ----------
    until : callable
        Given the turn's result, and the turn's number (from 1) if it takes two arguments. True
        ends the loop.
    max_turns : int, optional
        Most turns.
    feedback : str or callable, optional
        What is asked in the turns after the first: Jinja over what the task's prompt may use,
        ``result`` and ``turn`` (of the turn before), or a function that takes what ``until`` does.
    on_limit : {"keep", "fail"}, optional
        What it means to reach ``max_turns``: the last result stands, or the task fails.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> bot = rl.build("poet", model=rl.SimulatedModel(["a poem", "a short poem"]))
    >>> net = rl.create_network("poem")
    >>> loop = rl.Loop(until=lambda result: "short" in result.text, feedback="Shorter.")
    >>> draft = net.task("draft", bot, loop=loop)
    >>> found = net.run("a poem")["draft"]
    >>> found.text, len(found.turns), found.met
    ('a short poem', 2, True)
    """

    __slots__ = ("_many", "feedback", "max_turns", "on_limit", "until")

    def __init__(
        self,
        until: Callable[..., Any],
        *,
        max_turns: int = 5,
        feedback: str | Callable[..., Any] = FEEDBACK,
        on_limit: str = "keep",
    ) -> None:
        if isinstance(max_turns, bool) or not isinstance(max_turns, int) or max_turns < 1:
            raise ConfigurationError(f"max_turns={max_turns!r} is not a whole number from 1")
        if on_limit not in ("keep", "fail"):
            raise ConfigurationError(f"on_limit={on_limit!r}", hint='It is "keep" or "fail".')
        wrong = check_prompt(feedback) if isinstance(feedback, str) else None
        if wrong:
            raise ConfigurationError(f"feedback is no valid Jinja: {wrong}")
        self.until = until
        self.max_turns = max_turns
        self.feedback = feedback
        self.on_limit = on_limit
        self._many = {
            name: _arity(name, one)
            for name, one in (("until", until), ("feedback", feedback))
            if not isinstance(one, str)
        }

    async def holds(self, result: Any, turn: int) -> bool:
        """Whether the condition is met.

        Raises
        ------
        ConfigurationError
            When it gave something else than a truth value.
        """
        found = await self._ask("until", result, turn)
        if not isinstance(found, bool):
            raise ConfigurationError(
                f"until= returned {found!r:.60}", hint="It returns True or False."
            )
        return found

    async def next_prompt(self, doing: Doing, result: Any, turn: int) -> str:
        """What is asked in the turn after this one."""
        if not isinstance(self.feedback, str):
            return str(await self._ask("feedback", result, turn))
        values = {
            **doing.context, "message": doing.message, "upstream": doing.upstream,
            "result": result, "turn": turn,
        }  # fmt: skip
        return render(self.feedback, values, where=f"feedback of task {doing.task.name!r}")

    async def _ask(self, name: str, *given: Any) -> Any:
        return await called(functools.partial(getattr(self, name), *given[: self._many[name]]), {})

    def declared(self) -> dict[str, Any]:
        """What was said, as JSON."""
        told = {"max_turns": self.max_turns, "on_limit": self.on_limit}
        return {**told, "feedback": self.feedback} if isinstance(self.feedback, str) else told


def _arity(name: str, function: Any) -> int:
    """How many of result and turn a function takes."""
    if not callable(function):
        raise ConfigurationError(f"{name}={function!r:.60} is no function")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return 1
    for many in (2, 1):
        try:
            signature.bind(*range(many))
        except TypeError:
            continue
        return many
    raise ConfigurationError(
        f"{name}= takes the result, and the turn's number if it likes, and nothing else"
    )


class LoopResult(TaskResult, Pictured):
    """The result of a task that was repeated: the last turn's, and all before it.

    Attributes
    ----------
    turns : tuple
        Each turn's result.
    met : bool
        Whether the condition holds.
    """

    __slots__ = ("met", "turns")

    def __init__(
        self,
        name: str,
        turns: tuple[Any, ...],
        *,
        met: bool = False,
        status: str = "completed",
        error: Exception | None = None,
    ) -> None:
        last = value_of(turns[-1]) if turns and turns[-1].status == "completed" else None
        super().__init__(name, last, status=status, error=error)
        self.turns = turns
        self.met = met

    @property
    def last(self) -> Any:
        """The last turn's result."""
        return self.turns[-1]

    @property
    def text(self) -> str:
        """The last turn's text."""
        return str(self.turns[-1]) if self.turns else ""


async def looped(doing: Doing, do: Callable[[Doing], Awaitable[Any]]) -> Any:
    """Do a task again and again until its loop's condition holds, or its bound is reached.

    Parameters
    ----------
    doing : Doing
    do : callable
        What is done in a turn.

    Returns
    -------
    LoopResult or FlowResult
        The latter where the last turn gave one, with the LoopResult as its value.

    Raises
    ------
    LoopLimit
        When the bound is reached and that is to be a failure.
    """
    task = doing.task
    before = doing.silent, doing.given, doing.says, doing.strand.path
    doing.conversation = Conversation() if task.way == "robot" else None
    turns: list[Any] = []
    try:
        return await _turns(doing, do, turns)
    except BaseException as error:
        failed = isinstance(error, Exception)
        doing.keep(
            LoopResult(
                task.name, tuple(turns), status="failed" if failed else "interrupted",
                error=error if failed else None,  # type: ignore[arg-type]
            )
        )  # fmt: skip
        raise
    finally:
        doing.silent, doing.given, doing.says, doing.strand.path = before


async def _turns(
    doing: Doing, do: Callable[[Doing], Awaitable[Any]], turns: list[Any]
) -> LoopResult | FlowResult:
    loop, task, place, given = doing.task.loop, doing.task, doing.strand.path, doing.given
    assert loop is not None
    met = False
    for turn in range(1, loop.max_turns + 1):
        doing.strand.path = (*place, f"turn:{turn}")
        doing.given = {**given, "result": turns[-1] if turns else None, "turn": turn}
        found = await do(doing)
        doing.silent = True
        last = as_result(task.name, found.value) if isinstance(found, FlowResult) else found
        turns.append(last)
        met = await loop.holds(last, turn)
        again = not met and turn < loop.max_turns
        doing.emit("loop.turned", _told(doing, turn, met, again))
        if not again:
            break
        doing.says = await loop.next_prompt(doing, last, turn)
    if not met and loop.on_limit == "fail":
        raise LoopLimit(
            f"task {task.name!r}: its condition does not hold after {loop.max_turns} turns",
            hint='Raise max_turns=, or keep the last result with on_limit="keep".',
        )
    result = LoopResult(task.name, tuple(turns), met=met)
    return found.continue_with(result) if isinstance(found, FlowResult) else result


def _told(doing: Doing, turn: int, met: bool, again: bool) -> dict[str, Any]:
    reason = "until" if met else "not yet" if again else "max_turns"
    told: dict[str, Any] = {"turn": turn, "again": again, "reason": reason}
    if doing.index is not None:
        told["item"] = doing.index
    return told
