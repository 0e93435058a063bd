"""Asking at the prompt of the thread that waits for a run: in a terminal, or in a notebook's cell.

That thread is blocked anyway. Whether a person sits at its prompt is looked up, never tried out.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from time import sleep
from typing import TYPE_CHECKING, Any, Protocol

from ..core.errors import InputError
from ..core.readings import reading
from .desk import desk_of
from .questions import read_answer

if TYPE_CHECKING:
    from .desk import Desk, Open
    from .questions import Answer, Question
    from .working import Work

__all__ = ["Console", "ask_here", "prompt_of"]

#: how often a choice that is none may be given
TRIES = 3


class Console(Protocol):
    """A prompt that the calling thread may use."""

    def can_ask(self) -> bool:
        """Whether a person sits at it, and Stop reaches a thread that waits for them."""

    def input(self, prompt: str) -> str:
        """Show a prompt and wait for a line."""


class _Terminal:
    """The terminal of a script or of a plain shell."""

    def can_ask(self) -> bool:
        main = threading.current_thread() is threading.main_thread()
        try:
            return main and sys.stdin.isatty() and sys.stdout.isatty()
        except (AttributeError, ValueError):  # there is none, or it is closed
            return False

    def input(self, prompt: str) -> str:
        return input(prompt)


def _console() -> Console:
    if "IPython" in sys.modules:
        with contextlib.suppress(Exception):
            found: Console | None = reading("asker")()
            if found is not None:
                return found
    return _Terminal()


def ask_here(run: Work[Any], tried: set[str]) -> bool:
    """Put the open questions of a run to the person at this thread's prompt, if there is one.

    Parameters
    ----------
    run : Work
    tried : set of str
        Ids of questions that this prompt could not get answered; they are added and left alone.

    Returns
    -------
    bool
        Whether anything was asked.
    """
    desk = desk_of(run)
    asked = False
    while True:
        left = [o for o in desk.of(run) if o.channel is None and o.question.id not in tried]
        if not left:
            return asked
        console = _console()
        if not console.can_ask():
            return asked
        opened = left[0]
        if desk.claim(opened, "input"):
            asked = True
            if not _ask(console, desk, opened):
                tried.add(opened.question.id)
                desk.give_back(opened)


def _ask(console: Console, desk: Desk, opened: Open) -> bool:
    """Ask one question; whether it is settled now."""
    question = opened.question
    if question.kind == "approval":
        _say(_about(question))
    try:
        for _ in range(TRIES):
            typed = _typed(console, desk, opened)
            if typed is None:
                _say(f"(no longer asked: settled by {opened.answer and opened.answer.by})")
                return True
            try:
                found = read_answer(question, _meant(question, typed), by="input",
                                    check=opened.check)  # fmt: skip
            except InputError as error:
                _say(reading("plain")(error))
                continue
            desk.settle(opened, found)
            _say(f"→ {_shown(found)}")
            return True
    except Exception:  # the prompt is gone: end of file, no front end any more
        pass
    return opened.answer is not None


def _typed(console: Console, desk: Desk, opened: Open) -> str | None:
    """What the person types; None when the question was settled elsewhere meanwhile."""
    here = threading.get_ident()
    withdrawn = False

    def withdraw() -> None:
        nonlocal withdrawn
        withdrawn = True
        if hasattr(signal, "pthread_kill"):  # elsewhere the prompt stays until a line is entered
            signal.pthread_kill(here, signal.SIGINT)

    with desk.root.lock:
        if opened.answer is not None:
            return None
        opened.withdraw = withdraw
    try:
        typed = console.input(prompt_of(opened.question))
        opened.withdraw = None
        with desk.root.lock:  # whoever was settling it has sent the signal by now
            pass
        if withdrawn:
            sleep(0.05)
    except KeyboardInterrupt:
        opened.withdraw = None
        if not withdrawn:
            raise
    return None if withdrawn else typed


def prompt_of(question: Question) -> str:
    """The line at which a person answers: the question, numbered choices, the default.

    Examples
    --------
    >>> from robotlab_nb.runtime.questions import Question
    >>> size = Question("q", "question", "Which size?", "r", choices=("S", "L"), default="S")
    >>> prompt_of(size)
    'Which size? 1: S, 2: L [S] '
    >>> prompt_of(Question("q", "approval", "pay?", "r", "shop", "pay"))
    '[shop] Allow pay? yes / no / {"arguments": …} [no] '
    """
    who = f"[{question.robot}] " if question.robot else ""
    if question.kind == "approval":
        ends = f'Allow {question.tool}? yes / no / {{"arguments": …}} [no] '
    else:
        numbered = ", ".join(f"{n}: {c}" for n, c in enumerate(question.choices, 1))
        default = "" if question.default is None else f" [{question.default}]"
        ends = f"{question.text}{' ' if numbered else ''}{numbered}{default} "
    line = reading("line")(who + ends, 4_000)
    return f"{line} "


def _about(question: Question) -> str:
    """What is to be approved: the arguments verbatim, whatever is invisible in them shown."""
    plain = reading("plain")
    arguments = json.dumps(question.arguments, indent=2, ensure_ascii=False, default=str)
    who = f"{question.robot!r}" if question.robot else "A robot"
    lines = [f"{who} wants to call {question.tool} with", arguments]
    if question.why:
        lines.append(f"Why you are asked: {question.why}")
    return str(plain("\n".join(lines)))


def _meant(question: Question, typed: str) -> Any:
    """What a typed line stands for: nothing means no, JSON means changed arguments."""
    if question.kind != "approval":
        return typed
    text = typed.strip()
    if text.startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text or False


def _shown(found: Answer) -> str:
    if found.status in ("answered", "default"):
        return str(reading("plain")(found.value))
    return found.status if not isinstance(found.value, str) else f"{found.status}: {found.value}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
