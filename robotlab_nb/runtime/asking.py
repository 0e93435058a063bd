"""Asking a person: one channel, tried rung by rung for each question.

First what was scripted (a policy, ``answers=``); then a channel that has shown that it works (a
widget); then the prompt of the thread that waits for the run (:mod:`.console`); else the run
waits until somebody calls ``run.answer()``. A channel that does not work after all gives the
question back, and the next one is tried. Every question ends: with an answer, when its time is
up, or with its run.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ..core.errors import ConfigurationError, InputError, NoAnswerChannel, ToolError
from .desk import Open, answered, desk_of
from .questions import Answer, Question, new_id, read_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .desk import Desk
    from .working import Work

__all__ = [
    "Answer",
    "Channel",
    "Question",
    "add_channel",
    "ask",
    "ask_free",
    "ask_from_thread",
    "new_id",
    "remove_channel",
    "text_of",
]

#: seconds in which a channel must take a question that cannot wait for ``answer()``
CLAIM_S = 1.5


class Channel(Protocol):
    """A way to a person that works while a run goes on, such as a widget that was heard from."""

    def offers(self, question: Question) -> bool:
        """Whether it can put this question to a person now. Must return at once."""

    def ask(self, question: Question) -> None:
        """Put it, and return at once; if that fails, ``desk.give_back`` lets others.

        The answer comes by ``desk.answer(run, {question.id: …}, by="widget")``; that the question
        is settled, by whomever, by the ``hitl.answered`` event.
        """


_channels: tuple[Channel, ...] = ()


def add_channel(channel: Channel) -> None:
    """Have a channel asked from now on, before those that were there."""
    global _channels
    if channel not in _channels:
        _channels = (channel, *_channels)


def remove_channel(channel: Channel) -> None:
    """Ask a channel no more. Nothing happens when it was not asked."""
    global _channels
    _channels = tuple(c for c in _channels if c is not channel)


async def ask(
    run: Work[Any],
    question: Question,
    answers: Any = None,
    policy: Any = None,
    *,
    check: Callable[[Mapping[str, Any]], None] | None = None,
    suspend: bool = True,
) -> Answer:
    """Ask a person, and wait for the answer on the run's loop.

    Parameters
    ----------
    run : Work
        The run that asks.
    question : Question
        Its ``timeout_s`` bounds the wait.
    answers : mapping, list or callable, optional
        Scripted answers. A mapping is looked up by the question's text, then the tool call's id,
        the tool's or the task's name, then by globs over these; a list is used in order, once in
        a root run; a function gets the question. Values that are functions are called with the
        question. None, or nothing left, means: not answered here.
    policy : {"allow", "deny"}, optional
        Settles every approval without asking. Other policies say what needs approval, and mean
        nothing here.
    check : callable, optional
        Raises InputError for changed arguments that do not fit.
    suspend : bool, optional
        Whether the run may wait for ``run.answer()`` when nobody can be asked.

    Returns
    -------
    Answer
        When the time is up: ``denied`` for approvals, the default of a question, else
        ``timeout``, with the value None.

    Raises
    ------
    ConfigurationError
        When a scripted answer is none.
    NoAnswerChannel
        When nobody can be asked and the run may not wait.
    """
    began = monotonic()
    found = _by_policy(question, policy)
    if found is None and answers is not None:
        found = await _scripted(run, question, answers, check)
    run.emit("hitl.requested", _told(question))
    if found is not None:
        run.emit("hitl.answered", answered(question, found, began))
        return found
    return await _asked(run, question, check, suspend)


async def _asked(
    run: Work[Any],
    question: Question,
    check: Callable[[Mapping[str, Any]], None] | None,
    suspend: bool,
) -> Answer:
    import asyncio

    desk = desk_of(run)
    opened = Open(run, question, check, asyncio.get_running_loop(), suspends=suspend)
    desk.put(opened)
    run.when_done(lambda: desk.settle(opened, _stopped(question)))
    try:
        _offer(desk, opened)
        desk.announce(opened)
        with run.away():
            if suspend:
                await asyncio.wait((opened.future,), timeout=question.timeout_s)
            elif not await _while_asked(desk, opened) and desk.settle(opened, _stopped(question)):
                raise NoAnswerChannel(
                    f"nobody can be asked {question.text!r:.200} while {run.name!r} runs",
                    hint="Give answers=, call run() where input is possible, or use the ask_user "
                    "tool: its questions may wait for run.answer().",
                )
    except asyncio.CancelledError:
        desk.settle(opened, _stopped(question))
        raise
    desk.settle(opened, _unanswered(question))  # nothing happens when somebody answered
    assert opened.answer is not None
    return opened.answer


async def _while_asked(desk: Desk, opened: Open) -> bool:
    """Wait for an answer while a channel has the question; False when none takes it in time."""
    import asyncio

    limit = opened.question.timeout_s
    end = None if limit is None else monotonic() + limit
    while not opened.future.done():
        with desk.root.lock:
            lonely = opened.channel is None
            opened.news = opened.loop.create_future()
        left = None if end is None else end - monotonic()
        if not lonely and left is not None and left <= 0:
            return True
        await asyncio.wait(
            (opened.future, opened.news),
            timeout=CLAIM_S if lonely else left,
            return_when="FIRST_COMPLETED",
        )
        if lonely and opened.channel is None and not opened.news.done():
            return opened.answer is not None
    return True


def _offer(desk: Desk, opened: Open) -> None:
    """Let the first channel that works have a question."""
    for channel in _channels:
        try:
            if channel.offers(opened.question) and desk.claim(opened, "widget"):
                channel.ask(opened.question)
                return
        except Exception:
            # A broken channel is no reason not to ask in another way.
            desk.give_back(opened)


def _unanswered(question: Question) -> Answer:
    if question.kind == "approval":
        return Answer(False, "timeout", "denied")
    if question.default is not None:
        return Answer(question.default, "timeout", "default")
    return Answer(None, "timeout", "timeout")


def _stopped(question: Question) -> Answer:
    if question.kind == "approval":
        return Answer(False, "stop", "denied")
    return Answer(None, "stop", "interrupted")


def _told(question: Question) -> dict[str, Any]:
    task = {} if question.task is None else {"task": question.task}
    return {
        **task,
        "question_id": question.id,
        "kind": question.kind,
        "robot": question.robot,
        "tool": question.tool,
        "tool_call_id": question.tool_call_id,
        "text": question.text,
        "choices": list(question.choices),
        "default": question.default,
        "arguments": question.arguments,
        "why": question.why,
        "timeout_s": question.timeout_s,
    }


# -- what was scripted -----------------------------------------------------------------------


def _by_policy(question: Question, policy: Any) -> Answer | None:
    if question.kind != "approval" or policy not in ("allow", "deny"):
        return None
    allowed = policy == "allow"
    return Answer(allowed, "policy", "approved" if allowed else "denied")


async def _scripted(
    run: Work[Any],
    question: Question,
    answers: Any,
    check: Callable[[Mapping[str, Any]], None] | None,
) -> Answer | None:
    value = answers
    if isinstance(answers, Mapping):
        value = _looked_up(answers, question)
    elif isinstance(answers, (list, tuple)):
        value = _next_of(run, answers)
    if callable(value):
        value = value(question)
        if hasattr(value, "__await__"):
            value = await value
    if value is None:
        return None
    try:
        return read_answer(question, value, by="scripted", check=check)
    except InputError as error:
        raise ConfigurationError(
            f"a scripted answer does not fit: {error.message}", hint=error.hint
        ) from error


def _looked_up(answers: Mapping[Any, Any], question: Question) -> Any:
    known = (question.text, question.tool_call_id, question.tool, question.task)
    names = [name for name in known if name is not None]
    for name in names:
        if name in answers:
            return answers[name]
    for pattern, value in answers.items():
        if isinstance(pattern, str) and any(fnmatch.fnmatchcase(n, pattern) for n in names):
            return value
    return None


def _next_of(run: Work[Any], answers: list[Any] | tuple[Any, ...]) -> Any:
    desk = desk_of(run)
    with run.root.lock:
        position = desk.positions.get(id(answers), 0)
        if position >= len(answers):
            return None
        desk.positions[id(answers)] = position + 1
    return answers[position]


# -- a tool's own questions ------------------------------------------------------------------


async def ask_free(
    run: Work[Any],
    text: str,
    *,
    choices: Iterable[str] = (),
    default: str | None = None,
    tool: str | None = None,
    tool_call_id: str | None = None,
    suspend: bool = False,
) -> Answer:
    """Ask a question of a run's own, by the run's scripted answers and deadline.

    Parameters
    ----------
    run : Work
    text : str
        What is asked.
    choices : iterable of str, optional
        The possible answers.
    default : str, optional
        What an empty answer means.
    tool, tool_call_id : str, optional
        Where it is asked.
    suspend : bool, optional
        As for :func:`ask`.
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a question is a text, not {text!r:.80}")
    if isinstance(choices, str):
        raise InputError(
            f"choices={choices!r:.80} is not a list of texts", hint="Write choices=[…]."
        )
    question = Question(
        new_id(), "question", text, run.id, robot=run.scope.robot, tool=tool,
        tool_call_id=tool_call_id, choices=tuple(map(str, choices)), default=default,
        timeout_s=run.ask_timeout,
    )  # fmt: skip
    return await ask(run, question, run.answers, suspend=suspend)


def text_of(found: Answer, question: str) -> str:
    """The text of an answer.

    Raises
    ------
    ToolError
        When nobody answered, or would not; for the model, which may go on without.
    """
    if found.status == "timeout":
        raise ToolError(f"nobody answered {question!r:.200} in time", hint="Go on without.")
    if found.status == "denied":
        raise ToolError(f"no answer to {question!r:.200}: {found.value}", hint="Go on without.")
    if found.status == "interrupted":
        raise ToolError(f"the run was stopped before anybody answered {question!r:.200}")
    return str(found.value)


def ask_from_thread(run: Work[Any], text: str, **options: Any) -> Answer:
    """:func:`ask_free` for a thread of its own, which is blocked meanwhile."""
    import asyncio

    from . import loop as _loop

    if _loop.loop_is_running():
        raise ConfigurationError(
            "run.ask() would block the event loop", hint="Write `await run.aask(…)` here."
        )
    loop = run._loop
    if loop is None or run.done:
        raise NoAnswerChannel(f"{run.name!r} is not going on, so it can ask nothing")
    return asyncio.run_coroutine_threadsafe(ask_free(run, text, **options), loop).result()
