"""What a person is asked: a card while it is open, one line once it is settled.

Draws questions and what a run's state keeps of them alike. Arguments stand verbatim, with what
would be invisible in them made visible: a person approves what is written there, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .amounts import moment, seconds
from .escape import clip, one_line
from .json_text import arguments_line, value_line
from .parts import Bit, Fold, Para, Picture, Pre, Quote, code, dots, part, quiet, state_bit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.records import Asked
    from ..core.state import RunState
    from ..runtime.questions import Question
    from .parts import Block, Inline, Line

__all__ = [
    "after_words", "asked_of", "limit_words", "of_run", "open_cards", "outcome", "question",
    "settled", "settled_fold", "ways", "written",
]  # fmt: skip

#: open questions that have a card of their own, settled ones that have a line
_CARDS, _LINES = 5, 60
_CALL = 80

#: how a question was settled -> icon, words, hue
_OUTCOMES: dict[str, tuple[str, str, str]] = {
    "answered": ("✓", "answered", ""),
    "approved": ("✓", "approved", ""),
    "edited": ("✓", "approved with other arguments", ""),
    "denied": ("✕", "denied", "kf"),
    "default": ("✓", "default taken", ""),
    "timeout": ("✕", "no answer in time", "kf"),
    "interrupted": ("■", "not answered, the run was stopped", ""),
}
#: who settled it, in words
_BY = {
    "scripted": "a scripted answer",
    "policy": "a policy",
    "input": "the cell's prompt",
    "widget": "a person at the widget",
    "client": "the client",
    "answer": "run.answer()",
    "timeout": "nobody in time",
    "stop": "nobody",
}


def question(thing: Question | Asked) -> Picture:
    """The picture of a question: open, or settled.

    Parameters
    ----------
    thing : Question or Asked
    """
    if getattr(thing, "status", "pending") != "pending":
        return Picture(part("answer", lambda: [Para(settled(thing), quiet=True)]))
    return Picture(part("question", lambda: [_card(thing, "run", alone=True)]))


def of_run(asked: Sequence[Asked]) -> Picture:
    """The picture of what a run asked: what is settled on a line each, what is open on cards.

    Parameters
    ----------
    asked : sequence of Asked
        In order.

    Examples
    --------
    >>> from robotlab_nb.core.records import Asked
    >>> of_run([Asked({"question_id": "q", "kind": "question", "text": "Size?"}, 1.0)]).framed
    False
    """
    lines = [Para(settled(each), quiet=True) for each in asked if each.status != "pending"]
    return Picture((*lines, *open_cards(asked, "run")))


def asked_of(state: RunState) -> list[Asked]:
    """Everything that a run and those inside it asked, in order."""
    found = [asked for run in state.walk() for asked in list(run.asked.values())]
    return sorted(found, key=lambda asked: asked.asked_s)


def open_cards(asked: Sequence[Asked | Question], named: str) -> Iterable[Block]:
    """A card for each open question, with the code that answers it.

    Parameters
    ----------
    asked : sequence of Asked or Question
        Settled ones have none.
    named : str
        Whose ``answer`` is called: ``run`` or ``result``.

    Yields
    ------
    Block
    """
    opened = [each for each in asked if getattr(each, "status", "pending") == "pending"]
    for each in opened[:_CARDS]:
        yield _card(each, named, alone=len(opened) == 1)
    if len(opened) > _CARDS:
        yield Para((quiet(f"… {len(opened) - _CARDS:,} more wait for an answer"),))


def _card(thing: Asked | Question, named: str, *, alone: bool) -> Quote:
    approval = thing.kind == "approval"
    who = one_line(thing.robot or "the run", 60)
    lines: list[Block] = [
        Para(
            dots(
                state_bit("waiting", loud=True),
                f"{who} asks to use a tool" if approval else f"{who} asks",
                quiet(limit_words(thing)),
            )
        )
    ]
    if approval:
        lines.append(Para((code("", lead=one_line(thing.tool or "a tool", 80)),)))
        lines.append(Pre(written(thing.arguments)))
        if thing.why:
            lines.append(Para(("why it asks: ", clip(thing.why, 1000))))
    else:
        lines.append(Para((clip(thing.text, 2000) or quiet("no words"),)))
        lines += _choices(thing)
    lines.append(Para(_how(thing, named, alone=alone), quiet=True))
    return Quote(tuple(lines), "rail", "kw")


def limit_words(thing: Asked | Question) -> str:
    """How long a question waits, and what comes then."""
    limit = seconds(thing.timeout_s, limit=True)
    return "no time limit" if limit is None else f"waits {limit}, {after_words(thing)}"


def after_words(thing: Asked | Question) -> str:
    """What comes when nobody answers in time."""
    if thing.kind == "approval":
        return "then denied"
    return "then without an answer" if thing.default is None else "then the default"


def _choices(thing: Asked | Question) -> Iterable[Block]:
    if thing.choices:
        named: list[Inline] = ["choices: "]
        for number, choice in enumerate(thing.choices[:24]):
            named += [", " if number else "", code(value_line(choice, 80))]
        if len(thing.choices) > 24:
            named.append(f" and {len(thing.choices) - 24:,} more")
        yield Para(tuple(each for each in named if each))
    if thing.default is not None:
        yield Para(("default: ", code(value_line(thing.default, 80))))


def ways(thing: Asked | Question, named: str, *, alone: bool) -> list[tuple[str, str]]:
    """The calls that answer a question, each as it would be written in the next cell.

    Parameters
    ----------
    thing : Asked or Question
    named : str
        Whose ``answer`` is called.
    alone : bool
        Whether no other question is open.

    Returns
    -------
    list of (str, str)
        Code, and what it does.

    Examples
    --------
    >>> from robotlab_nb.core.records import Asked
    >>> asked = Asked({"question_id": "q1", "kind": "question", "choices": ["S", "L"]}, 0.0)
    >>> ways(asked, "run", alone=True), ways(asked, "run", alone=False)
    ([('run.answer("S")', '')], [('run.answer({"q1": "S"})', '')])
    """
    key = value_line(_id(thing), 60)

    def call(said: str) -> str:
        return f"{named}.answer({said})" if alone else f"{named}.answer({{{key}: {said}}})"

    if thing.kind == "approval":
        return [
            (call("True"), "approves"),
            (call("False"), "denies"),
            (call('{"arguments": {…}}'), "approves with other arguments"),
        ]
    return [(call(value_line(thing.choices[0], 60) if thing.choices else '"…"'), "")]


def _how(thing: Asked | Question, named: str, *, alone: bool) -> Line:
    told = [
        (code(call), f" {what}" if what else "") for call, what in ways(thing, named, alone=alone)
    ]
    line: list[Inline] = ["Next cell: "]
    for number, each in enumerate(told):
        line += [", " if number else "", *each]
    return tuple(item for item in line if item)


def _id(thing: Any) -> str:
    return str(thing.tool_call_id or getattr(thing, "question_id", None) or thing.id)


def written(arguments: Any) -> str:
    """Arguments as a person reads them before agreeing: one a line, values as JSON, whole.

    Parameters
    ----------
    arguments : mapping, or anything

    Examples
    --------
    >>> print(written({"order": "A-1009", "amount": 19.9}))
    order  = "A-1009"
    amount = 19.9
    >>> written({}), written(None)
    ('none', 'none')
    """
    if not arguments:
        return "none"
    if not isinstance(arguments, Mapping):
        return _json(arguments)
    # A name with a line break in it must not look like two arguments.
    named = [(n if str(n).isidentifier() else _json(str(n)), v) for n, v in arguments.items()]
    wide = min(max(len(name) for name, _ in named), 24)
    return "\n".join(f"{name:<{wide}} = {_json(value)}" for name, value in named)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return value_line(value, 4000)


# -- once it is settled --------------------------------------------------------------------


def outcome(status: object, *, loud: bool = False) -> Bit:
    """How a question was settled, as icon and words."""
    icon, words, hue = _OUTCOMES.get(str(status), ("·", one_line(status, 40), ""))
    return Bit(words, "state" if loud else "mark", icon=icon, hue=hue)


def settled(thing: Any) -> Line:
    r"""A question that is settled, on one line: outcome, who asked what, the answer, by whom, when.

    Parameters
    ----------
    thing : Asked

    Examples
    --------
    >>> from robotlab_nb.core.records import Asked
    >>> asked = Asked({"question_id": "q", "kind": "question", "text": "Size?"}, 1.0)
    >>> asked.settle({"status": "answered", "answer": "S", "by": "answer", "waited_s": 2.0})
    >>> [item if isinstance(item, str) else item.text for item in settled(asked)][2:]
    ['the run asked “Size?”', ' · ', '“S”', ' · ', 'by run.answer()', ' · ', 'at 3.0\xa0s']
    """
    who = one_line(thing.robot or "the run", 60)
    words: Line = (f"{who} asked “{one_line(thing.text, 160)}”",)
    if thing.kind == "approval":
        given = arguments_line(_json(thing.arguments or {}), _CALL)
        words = (f"{who} · ", code(given, lead=one_line(thing.tool or "a tool", 80)))
    by = None if thing.by is None else f"by {_BY.get(thing.by, one_line(thing.by, 40))}"
    at = moment(thing.asked_s + thing.waited_s) if thing.waited_s is not None else None
    return dots(outcome(thing.status), words, _said(thing), by, f"at {at}" if at else None)


def _said(thing: Any) -> Line | None:
    answer = thing.answer
    if thing.kind != "approval":
        return None if answer is None else (f"“{one_line(answer, 120)}”",)
    if thing.status == "edited" and isinstance(answer, Mapping):
        changed = arguments_line(_json(answer.get("arguments") or {}), _CALL)
        return ("as ", code(changed))
    return (f"“{one_line(answer, 120)}”",) if isinstance(answer, str) else None


def settled_fold(asked: Sequence[Asked]) -> Iterable[Block]:
    """What was asked and is settled, in a fold.

    Yields
    ------
    Block
        Nothing where nothing is settled.
    """
    over = [each for each in asked if each.status != "pending"]
    if not over:
        return
    lines = [Para(settled(each), quiet=True) for each in over[:_LINES]]
    if len(over) > _LINES:
        lines.append(Para((quiet(f"… {len(over) - _LINES:,} more"),)))
    denied = sum(each.status in ("denied", "timeout") for each in over)
    note = f"{len(over):,}" + (f", {denied:,} denied or not answered" if denied else "")
    yield Fold(("Questions and approvals",), tuple(lines), note, told=True)
