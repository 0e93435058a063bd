"""The open questions of a run that is shown live, and what happens beside its conversation.

Readings of states and events, as flat records and as words; they say what the pictures that
stand still say. Knows no transcript and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..display.answer_data import words as data_words
from ..display.besides import error_words, told
from ..display.escape import clip, one_line
from ..display.json_text import value_line
from ..display.parts import Bit
from ..display.question_card import asked_of, limit_words, outcome, settled, ways, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..core.events import Event
    from ..core.records import Asked
    from ..core.state import RunState
    from ..display.parts import Line

__all__ = ["ASKS", "BESIDES", "aside", "ask_rows", "asks", "over"]

#: Open questions that have a card of their own.
ASKS = 5

Row = dict[str, Any]


def ask_rows(state: RunState) -> Iterator[tuple[str, Row]]:
    """One row per open question: who asks what, what it is about, how it is answered.

    Parameters
    ----------
    state : RunState

    Yields
    ------
    (str, dict)
        A key ``Q…`` and ``who, what, limit, tool, given, text, why, choices, how``.
    """
    opened = [asked for asked in asked_of(state) if asked.status == "pending"]
    for asked in opened[:ASKS]:
        approval = asked.kind == "approval"
        choices = ", ".join(value_line(choice, 80) for choice in asked.choices[:24])
        default = "" if asked.default is None else f"default: {value_line(asked.default, 80)}"
        yield (
            f"Q{asked.question_id}",
            {
                "who": one_line(asked.robot or "the run", 60),
                "what": "asks to use a tool" if approval else "asks",
                "limit": limit_words(asked),
                "tool": one_line(asked.tool or "a tool", 80) if approval else "",
                "given": clip(written(asked.arguments), 4000) if approval else "",
                "text": "" if approval else clip(asked.text, 2000),
                "why": clip(asked.why, 1000) if approval else "",
                "choices": " · ".join(w for w in (choices and f"choices: {choices}", default) if w),
                "how": [list(way) for way in ways(asked, "run", alone=len(opened) == 1)],
            },
        )


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
