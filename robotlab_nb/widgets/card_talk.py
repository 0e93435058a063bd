"""What the question cards of one view say, and what they are told.

A card proves that a click would be heard by saying that it was drawn; nobody relies on it before.
Of several answers to a question the first one counts; to the others the card says so.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.strict_json import Unreadable, read
from ..display.escape import plain
from ..runtime.desk import answer, desk_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..runtime.desk import Open
    from ..runtime.run import Run
    from .live_records import LiveRecords

__all__ = ["Cards"]

_LATE = "Your answer came too late and changed nothing."


class Cards:
    """The cards of one view.

    Parameters
    ----------
    run : Run
        Whose questions they are, those of runs inside it included.
    doc : LiveRecords
        Has a record ``Q…`` for each card.
    lock : context manager, optional
        Held while records are changed.
    prefix : str, optional
        What the records' keys begin with.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> from robotlab_nb.tools.user_question import ask_user
    >>> from robotlab_nb.widgets.live_view import LiveView
    >>> steps = [("ask_user", {"question": "Which size?", "choices": ["S", "L"]}), "ordered"]
    >>> run = rl.build("shop", model=rl.SimulatedModel(steps), tools=[ask_user]).start("shoes")
    >>> run.result().status
    'waiting'
    >>> (question,) = run.pending
    >>> cards = Cards(run, LiveView(run).doc)
    >>> cards.heard({"drawn": [[question.id, 0]]})
    >>> cards.proven(question.id)
    0
    >>> cards.heard({"answer": {"id": question.id, "try": "page-1", "value": {"choice": 1}}})
    >>> run.result().tool_calls[0].result
    'L'
    """

    def __init__(
        self,
        run: Run[Any],
        doc: LiveRecords,
        lock: AbstractContextManager[Any] | None = None,
        *,
        prefix: str = "Q",
    ) -> None:
        self.run = run
        self._doc = doc
        self._lock = lock or threading.RLock()
        self._prefix = prefix
        #: when anything was heard last
        self.heard_at = float("-inf")
        #: by question id: the latest call that its card answered, and the latest answer taken in
        self._drawn: dict[str, int] = {}
        self._tried: dict[str, str] = {}

    def proven(self, question_id: str) -> int:
        """The latest call that a question's card has answered; -1 for none."""
        return self._drawn.get(question_id, -1)

    def tell(self, question_id: str, fields: Mapping[str, Any]) -> None:
        """Tell a card something, if it is there."""
        with self._lock:
            self._doc.change(self._prefix + question_id, fields)

    def heard(self, content: Mapping[str, Any]) -> None:
        """Take in what a front end says.

        Parameters
        ----------
        content : mapping
            ``{"drawn": [[id, call], …]}``: cards that are on a page, and the call that they
            answer. ``{"answer": {"id": …, "try": …, "value": …}}``: what a person said, with a
            name for it, since it is said again until it is heard.
        """
        self.heard_at = monotonic()
        for each in content.get("drawn") or ():
            question_id, call = each
            self._drawn[str(question_id)] = max(int(call), self.proven(str(question_id)))
        said = content.get("answer")
        if isinstance(said, Mapping):
            self._answered(str(said["id"]), str(said["try"]), said.get("value"))

    def _answered(self, question_id: str, name: str, value: Any) -> None:
        with self._lock:
            if self._tried.get(question_id) == name:
                return
            self._tried[question_id] = name
        opens = {o.question.id: o for o in desk_of(self.run).of(self.run)}
        opened = opens.get(question_id)
        if opened is None:
            self.tell(question_id, {"tried": name, "error": _LATE})
            return
        try:
            answer(self.run, {question_id: _meant(opened, value)}, by="widget")
        except InputError as error:
            told = _LATE if opened.answer is not None else _words(error)
            self.tell(question_id, {"tried": name, "error": plain(told)})
        except Exception as error:  # a check of the user's own
            told = f"this could not be checked: {type(error).__name__}: {error}"
            self.tell(question_id, {"tried": name, "error": plain(told)[:1000]})
        else:
            self.tell(question_id, {"tried": name, "error": ""})


def _words(error: InputError) -> str:
    message = error.message.rstrip(".")
    return f"{message}. {error.hint}"[:1000] if error.hint else message[:1000]


def _meant(opened: Open, value: Any) -> Any:
    """What a card's answer stands for, as ``run.answer()`` takes it."""
    question = opened.question
    match value:
        case {"text": str(text)} if question.kind == "question":
            return text
        case {"choice": int(at)} if 0 <= at < len(question.choices):
            return question.choices[at]
        case {"approve": True} if question.kind == "approval":
            return True
        case {"deny": str(reason)} if question.kind == "approval":
            return f"no, {reason.strip()}" if reason.strip() else False
        case {"edit": str(text)} if question.kind == "approval":
            return {"arguments": _with_secrets(opened, _read(text))}
    raise InputError("this is no answer to that question")


def _read(text: str) -> dict[str, Any]:
    try:
        found = read(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is no JSON: {error.msg}, line {error.lineno}, column {error.colno}"
        ) from error
    except Unreadable as error:
        raise InputError(f"this JSON cannot be taken: {error}") from error
    if not isinstance(found, dict):
        raise InputError("arguments are a JSON object", hint='Such as {"amount": 3}.')
    return found


def _with_secrets(opened: Open, edited: dict[str, Any]) -> dict[str, Any]:
    """Edited arguments, with those in full that were shown masked and are as they were shown."""
    asked = opened.run.state.asked.get(opened.question.id)
    shown = getattr(asked, "arguments", None) or {}
    meant = opened.question.arguments or {}
    return {
        name: meant[name] if name in meant and shown.get(name) == value else value
        for name, value in edited.items()
    }
