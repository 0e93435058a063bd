"""Summing old turns of a conversation up: by a function, or by a robot as a run inside the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, RobotLabError
from ..core.messages import MediaPart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..core.messages import Message
    from ..runtime.run import Run

__all__ = ["called", "sum_up", "told"]

#: characters of one message that are compared and summed up
MOST_SAID, MOST_RESULT = 8_000, 2_000
SYSTEM = (
    "You sum up conversations. Keep facts, names, numbers, decisions and open questions. "
    "Leave out greetings and repetitions. Answer with the summary alone."
)
ASK = "Sum up this part of a conversation in a few sentences:\n\n"
_NAMES = {"user": "User", "assistant": "Assistant", "system": "System"}


def told(messages: Sequence[Message]) -> str:
    r"""What was said in some messages, as text: who, what, which tools, what they gave.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> told([Message("user", "Hi"), Message("assistant", "Hello")])
    'Hi\nHello'
    """
    return "\n".join(words for _, words in _said(messages))


def _transcript(turns: Sequence[Sequence[Message]]) -> str:
    return "\n".join(
        f"{who}: {words}" for turn in turns for who, words in _said(turn) if words.strip()
    )


def _said(messages: Sequence[Message]) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for message in messages:
        who = _NAMES.get(message.role, message.role)
        if message.text:
            out.append((who, _cut(message.text, MOST_SAID)))
        media = [p for p in message.parts if isinstance(p, MediaPart)]
        out += [(who, f"[attached: {p.name or p.mime}, {p.shown}]") for p in media]
        out += [("Assistant", f"{c.name}({_cut(c.arguments, 500)})") for c in message.tool_calls]
        out += [(r.name, _cut(r.content_text, MOST_RESULT)) for r in message.tool_results]
    return out


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… [cut: {len(text):,} characters]"


async def sum_up(run: Run[Any] | None, turns: Sequence[Sequence[Message]], summarizer: Any) -> str:
    """Sum some turns up.

    Parameters
    ----------
    run : Run or None
        For whom, for errors.
    turns : sequence of sequence of Message
    summarizer : Robot, Model, str or callable

    Returns
    -------
    str
        ``""`` when there was nothing to say.
    """
    from ..models.protocol import Model
    from .robot import Robot

    text = _transcript(turns)
    if isinstance(summarizer, (str, Model)):
        summarizer = Robot("summarizer", system_prompt=SYSTEM, model=summarizer)
    if isinstance(summarizer, Robot):
        inside: Run[Any] = summarizer.prepare(ASK + text, {}, keep=False)
        return str((await inside.perform()).text).strip()
    if not callable(summarizer):
        raise ConfigurationError(
            f"summarizer= takes a Robot, a model or a function, not {type(summarizer).__name__}",
            hint='For example summarizer="openai/gpt-5-mini".',
        )
    name = getattr(summarizer, "__name__", type(summarizer).__name__)
    who = f"robot {run.name!r}: " if run is not None else ""
    found = await called(summarizer, f"{who}the summarizer {name}", text)
    if found is not None and not isinstance(found, str):
        raise InputError(
            f"{who}the summarizer {name} gave {type(found).__name__}", hint="It returns a text."
        )
    return (found or "").strip()


async def called(function: Callable[..., Any], what: str, *values: Any, **named: Any) -> Any:
    """What a person's function gives; a sync one is called in a worker thread.

    Raises
    ------
    RobotLabError
        When the function failed; its own error is the cause.
    """
    from functools import partial
    from inspect import isawaitable, iscoroutinefunction

    from ..runtime.threads import in_thread

    try:
        if iscoroutinefunction(function):
            return await function(*values, **named)
        found = await in_thread(partial(function, *values, **named))
        return await found if isawaitable(found) else found
    except RobotLabError:
        raise
    except Exception as error:
        raise RobotLabError(f"{what} failed: {type(error).__name__}: {error}") from error
