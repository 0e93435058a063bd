"""A question to a person, and what an answer to it may be. Pure: it asks nobody.

A question is either free (``question``: a text, or one of some choices) or for approval of a tool
call (``approval``: yes, no, or yes with other arguments).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..core.errors import InputError
from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Answer", "Question", "new_id", "read_answer", "told"]

_YES = frozenset({"yes", "y", "ok", "approve", "approved", "allow", "true"})
_NO = frozenset({"no", "n", "deny", "denied", "refuse", "reject", "false"})
#: what an approval's answer may be, for messages
APPROVAL_FORMS = 'True, False, "no, because …", or {"arguments": {…}} to change the arguments'


@dataclass(frozen=True, slots=True)
class Question(Pictured):
    """Something that a person is asked.

    Attributes
    ----------
    id : str
    kind : {"question", "approval"}
    text : str
        What is asked.
    run_id : str
        The run that asks.
    robot, tool, tool_call_id : str or None
        Whose question it is, and in which tool call.
    choices : tuple of str
        The possible answers; empty for free text.
    default : str or None
        What an empty answer means, and what is taken when nobody answers.
    arguments : dict or None
        What the tool is to be called with, for approvals.
    why : str
        Why approval is needed.
    timeout_s : float or None
        Seconds that it waits; None for no limit.
    task : str or None
        The task of a network that the person does by answering.

    Examples
    --------
    >>> Question("q1", "question", "Which size?", "run", choices=("small", "large")).choices
    ('small', 'large')
    """

    id: str
    kind: Literal["question", "approval"]
    text: str
    run_id: str
    robot: str | None = None
    tool: str | None = None
    tool_call_id: str | None = None
    choices: tuple[str, ...] = ()
    default: str | None = None
    arguments: Mapping[str, Any] | None = None
    why: str = ""
    timeout_s: float | None = None
    task: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """What it may be answered under: its id, the id of its tool call, the task's name."""
        known = (self.id, self.tool_call_id, self.task)
        return tuple([key for key in known if key is not None])


class Answer(NamedTuple):
    """How a question was settled.

    Attributes
    ----------
    value : object
        A text; for approvals True, False, the reason for a refusal, or ``{"arguments": {…}}``.
    by : str
        ``scripted, policy, input, widget, client, answer, timeout`` or ``stop``.
    status : str
        ``answered, default, timeout, interrupted``; ``approved, edited, denied``. A question that
        somebody would not answer is denied too: the value then says why.
    """

    value: Any
    by: str
    status: str


def new_id() -> str:
    """An id for a question."""
    return f"q{os.urandom(4).hex()}"


def told(question: Question) -> str:
    """A question on one line, for errors: what it is answered under, and what may be said.

    Examples
    --------
    >>> told(Question("q1", "question", "Which size?", "run", choices=("small", "large")))
    "'q1': Which size? ('small', 'large')"
    """
    key = question.task or question.tool_call_id or question.id
    if question.kind == "approval":
        return f"{key!r}: {question.text} (True or False)"
    choices = f" ({', '.join(map(repr, question.choices))})" if question.choices else ""
    return f"{key!r}: {question.text:.200}{choices}"


def read_answer(
    question: Question,
    value: Any,
    *,
    by: str,
    check: Callable[[Mapping[str, Any]], None] | None = None,
) -> Answer:
    """Make an answer of what somebody said.

    Parameters
    ----------
    question : Question
    value : object
        For a question: a text or a number, a choice or the number of a choice; an empty text
        stands for the default. For an approval: True, False, yes or no as words, ``"no, reason"``,
        or ``{"arguments": {…}}``.
    by : str
        Who said it.
    check : callable, optional
        Raises when changed arguments do not fit the tool.

    Returns
    -------
    Answer

    Raises
    ------
    InputError
        When it answers nothing; the message says what would.

    Examples
    --------
    >>> size = Question("q1", "question", "Which size?", "run", choices=("small", "large"))
    >>> read_answer(size, "2", by="input")
    Answer(value='large', by='input', status='answered')
    >>> buy = Question("q2", "approval", "buy?", "run")
    >>> read_answer(buy, "no, too expensive", by="answer")
    Answer(value='too expensive', by='answer', status='denied')
    """
    if question.kind == "approval":
        return _approval(question, value, by, check)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(
            f"{value!r:.80} does not answer {question.text!r:.200}", hint="The answer is a text."
        )
    text = str(value).strip()
    if not text and question.default is not None:
        return Answer(question.default, by, "default")
    if question.choices:
        text = _choice(question, text)
    return Answer(text, by, "answered")


def _choice(question: Question, text: str) -> str:
    choices = question.choices
    if text in choices:
        return text
    if text.isdecimal() and 1 <= int(text) <= len(choices):
        return choices[int(text) - 1]
    alike = [c for c in choices if c.strip().casefold() == text.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise InputError(
        f"{text!r:.80} is none of the choices of {question.text!r:.200}",
        hint=f"Choose from {_listed(choices)}, or give the number.",
    )


def _listed(choices: Sequence[str]) -> str:
    return ", ".join(map(repr, choices))


def _approval(
    question: Question,
    value: Any,
    by: str,
    check: Callable[[Mapping[str, Any]], None] | None,
) -> Answer:
    if value is True:
        return Answer(True, by, "approved")
    if value is False:
        return Answer(False, by, "denied")
    if isinstance(value, str):
        word, reason = _word_and_reason(value)
        if word in _YES and not reason:
            return Answer(True, by, "approved")
        if word in _NO:
            return Answer(reason or False, by, "denied")
    if isinstance(value, Mapping) and set(value) == {"arguments"}:
        arguments = value["arguments"]
        if isinstance(arguments, Mapping):
            if check is not None:
                check(arguments)
            return Answer({"arguments": dict(arguments)}, by, "edited")
    raise InputError(
        f"{value!r:.200} neither approves nor denies the call of {question.tool!r}",
        hint=f"Answer with {APPROVAL_FORMS}.",
    )


def _word_and_reason(text: str) -> tuple[str, str]:
    """``"No, too far"`` as ``("no", "too far")``."""
    text = text.strip()
    for position, character in enumerate(text):
        if character in ",:;.":
            return text[:position].strip().casefold(), text[position + 1 :].strip()
    return text.casefold(), ""
