"""The questions of a run that is shown live, and what happens beside its conversation.

Readings of states and events, as flat records and as words; they say what the pictures that
stand still say. Knows no transcript and no widget.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..display.answer_data import words as data_words
from ..display.besides import error_words, told
from ..display.escape import clip, one_line, plain
from ..display.json_text import value_line
from ..display.parts import Bit
from ..display.question_card import (
    after_words,
    asked_of,
    limit_words,
    outcome,
    settled,
    ways,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..core.events import Event
    from ..core.records import Asked
    from ..core.state import RunState
    from ..display.parts import Line

__all__ = [
    "ASKS", "BESIDES", "OVER", "PICKS", "aside", "ask_rows", "asks", "card_rows", "editable",
    "over",
]  # fmt: skip

#: Open questions that have a card of their own, and settled ones whose line is kept.
ASKS, OVER = 5, 3
#: Choices that have a button.
PICKS = 24
#: Characters of arguments in every form, on a card alone, and in the field where they are edited.
_GIVEN, _WHOLE, _EDITED = 4_000, 100_000, 20_000
#: who settles questions that never were open
_AT_ONCE = ("scripted", "policy")

Row = dict[str, Any]


def ask_rows(state: RunState) -> Iterator[tuple[str, Row]]:
    """The rows of a run's questions: those that are open, and the last ones that were.

    Parameters
    ----------
    state : RunState

    Yields
    ------
    (str, dict)
        As :func:`card_rows`.
    """
    return card_rows(asked_of(state), since=state.started_s)


def card_rows(asked: Sequence[Asked], *, since: float = 0.0) -> Iterator[tuple[str, Row]]:
    """One row per question: who asks what, what it is about, how it is answered.

    Parameters
    ----------
    asked : sequence of Asked
        In order.
    since : float, optional
        When the shown run started, in seconds of its root.

    Yields
    ------
    (str, dict)
        A key ``Q…`` and what its card says. A settled one has ``over``, its one line.
    """
    opened = [each for each in asked if each.status == "pending"]
    before = [each for each in asked if each.status != "pending" and each.by not in _AT_ONCE]
    for each in chain(before[-OVER:], opened[:ASKS]):
        yield f"Q{each.question_id}", _row(each, since, alone=len(opened) == 1)


def _row(asked: Asked, since: float, *, alone: bool) -> Row:
    approval = asked.kind == "approval"
    # What can be answered no more needs no arguments on the wire.
    live = asked.status == "pending"
    choices = ", ".join(value_line(choice, 80) for choice in asked.choices[:PICKS])
    default = "" if asked.default is None else f"default: {value_line(asked.default, 80)}"
    given = plain(written(asked.arguments)) if approval and live else ""
    until = asked.asked_s + asked.timeout_s - since if asked.timeout_s is not None else None
    return {
        "who": one_line(asked.robot or "the run", 60),
        "what": "asks to use a tool" if approval else "asks",
        "limit": limit_words(asked),
        "tool": one_line(asked.tool or "a tool", 80) if approval else "",
        "given": clip(given, _GIVEN),
        "text": "" if approval else clip(asked.text, 2000),
        "why": clip(asked.why, 1000) if approval else "",
        "choices": " · ".join(w for w in (choices and f"choices: {choices}", default) if w),
        "how": [list(way) for way in ways(asked, "run", alone=alone)] if live else [],
        # what only a card with buttons needs
        "id": asked.question_id,
        "approval": approval,
        "whole": clip(given, _WHOLE) if len(given) > _GIVEN else "",
        "edit": editable(asked.arguments) if approval and live else "",
        "picks": [one_line(choice, 80).strip() or "(empty)" for choice in asked.choices[:PICKS]],
        "preset": asked.choices.index(asked.default) if asked.default in asked.choices else -1,
        "more": max(len(asked.choices) - PICKS, 0),
        "default": None if asked.default is None else one_line(asked.default, 80),
        "until": None if until is None else round(until, 2),
        "after": after_words(asked),
        "over": over(asked) if not live else None,
    }


def editable(arguments: Any) -> str:
    r"""Arguments as JSON that a person may change: whatever is invisible in it is an escape.

    Parameters
    ----------
    arguments : mapping, or anything

    Returns
    -------
    str
        Empty where they have no such form, or are too long for a field.

    Examples
    --------
    >>> print(editable({"to": "a‮b"}))
    {
      "to": "a\u202eb"
    }
    >>> json.loads(editable({"to": "a‮b"})) == {"to": "a‮b"}
    True
    """
    try:
        text = json.dumps(arguments or {}, ensure_ascii=False, indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return ""
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        text = "".join(c if c == "\n" or plain(c) == c else json.dumps(c)[1:-1] for c in text)
    return text if len(text) <= _EDITED else ""


def asks(asked: Asked) -> str:
    """A question as a line of the transcript, while it is open."""
    if asked.kind == "approval":
        return f"asks to use {one_line(asked.tool or 'a tool', 80)}"
    return f"asks: {one_line(asked.text, 160)}"


def over(asked: Asked) -> dict[str, Any]:
    """A settled question as a line of the transcript: words, icon and hue."""
    sign = outcome(asked.status)
    return {"text": flat(settled(asked)).removeprefix(f"{sign.icon} "), **_sign(sign)}


def _sign(bit: Bit) -> dict[str, str]:
    return {"icon": bit.icon, "hue": bit.hue}


def flat(line: Line) -> str:
    """A line of bits as plain text."""
    return "".join(item if isinstance(item, str) else _bit(item) for item in line)


def _bit(bit: Bit) -> str:
    if bit.icon:
        return f"{bit.icon} {bit.text}".rstrip()
    return bit.lead + bit.text


def aside(event: Event, state: RunState) -> tuple[str, bool]:
    """What happened beside the conversation, as a line, and whether it went wrong.

    Parameters
    ----------
    event : Event
    state : RunState
        Of its run, the event taken in.
    """
    tell = BESIDES.get(event.type)
    if tell is not None:
        return tell(event.data, state)
    line = told(event)
    bad = any(isinstance(item, Bit) and item.hue == "kf" for item in line)
    return one_line(flat(line).removeprefix("✕ "), 400), bad


def _fallback(data: Any, state: RunState) -> tuple[str, bool]:
    asked, before = one_line(data.get("to_model"), 80), one_line(data.get("from_model"), 80)
    words = f"asks {asked} in place of {before}"
    call = state.model_calls.get(data.get("call_id"))
    if call is not None and any(a.model == data.get("from_model") for a in call.attempts):
        return words, False  # its attempts have told why
    return f"{words} · {error_words(data.get('error'))}", True


def _rejected(data: Any, state: RunState) -> tuple[str, bool]:
    faults = [
        f"{one_line(each.get('path') or 'the whole', 60)}: {one_line(each.get('message'), 120)}"
        for each in (data.get("errors") or ())[:3]
    ]
    return f"answer {data.get('attempt')} not accepted · {'; '.join(faults)}", True


def _parsed(data: Any, state: RunState) -> tuple[str, bool]:
    return f"accepted: {data_words(state) or 'data'}", False


def _matched(data: Any, state: RunState) -> tuple[str, bool]:
    used = [one_line(m.get("name"), 60) for m in data.get("matches") or () if m.get("used")]
    if data.get("error"):
        return f"agent skills could not be scored · {error_words(data['error'])}", True
    return f"agent skills used: {', '.join(used) or 'none'}", False


#: what has words of its own here
BESIDES: dict[str, Callable[[Any, RunState], tuple[str, bool]]] = {
    "model_call.fallback": _fallback,
    "output.rejected": _rejected,
    "output.parsed": _parsed,
    "prompt.skills_matched": _matched,
}
