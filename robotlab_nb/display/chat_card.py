"""The picture of a chat: who answers, what was said, what it took, how to go on.

It is what a notebook stores of a chat, open or ended, so it says nothing that is only true while
somebody sits before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import cost, count, tokens
from .escape import clip, one_line
from .parts import FOLD_LIMIT, Head, Para, Picture, Quote, badge, bold, code, dots, part, quiet
from .question_card import asked_of, open_cards
from .result_card import fault_lines
from .transcript import Beside, transcript

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..robot.chat import Chat, ChatPart
    from .parts import Block

__all__ = ["chat", "spent"]

#: parts that are shown of a long chat: the last ones
_PARTS = 60


def chat(thing: Chat) -> Picture:
    """The picture of a chat.

    Parameters
    ----------
    thing : Chat
    """
    blocks = (
        *part("name and model", lambda: _head(thing)),
        *part("what was said", lambda: _said(thing)),
        *part("figures", lambda: _figures(thing)),
        *part("how to go on", lambda: _ways(thing)),
    )
    return Picture(blocks, framed=True)


def spent(thing: Chat) -> list[str]:
    """How much was said, and what it took so far, in words.

    Parameters
    ----------
    thing : Chat
    """
    said = sum(m.role in ("user", "assistant") and bool(m.text) for m in thing.spoken)
    usage = thing.usage
    told = [count(said, "message")] if said else []
    if usage.calls:
        told += [tokens(usage), cost(usage)]
    return told


def _figures(thing: Chat) -> Iterable[Block]:
    told = spent(thing)
    if told:
        yield Para(dots(*told), quiet=True)


def _head(thing: Chat) -> Iterable[Block]:
    robot = thing.robot
    simulated = badge("simulated") if robot.is_simulated else None
    about = dots(one_line(robot.model_name, 120), simulated)
    yield Head((one_line(robot.name, 120),), "chat", about)


def _said(thing: Chat) -> Iterable[Block]:
    parts = thing.parts
    if not parts:
        yield Para((quiet("nothing was said yet"),))
    left = len(parts) - _PARTS
    if left > 0:
        yield Para((quiet(f"… {left:,} earlier turns are not shown"),))
    for each in parts[-_PARTS:]:
        yield from part("turn", lambda shown=each: _part(thing, shown))  # type: ignore[misc]
    for text in thing.waiting:
        yield _person(text, "waits")


def _part(thing: Chat, each: ChatPart) -> Iterable[Block]:
    name = one_line(thing.robot.name, 80)
    if each.kind == "said":
        yield from transcript(each.messages, name)
    elif each.kind == "remark":
        yield Para((one_line(each.text, 200),), quiet=True)
    elif each.run is not None:
        yield from _turn(each.text, each.run.state, name)
    else:
        yield _person(each.text)
        yield Quote(tuple(fault_lines(each.error or {})), "rail", "kf")


def _turn(text: str, state: Any, name: str) -> Iterable[Block]:
    """A turn: what was said and done, then how it ended where that is not what one expects."""
    start, turn = state.turn_start, state.turn
    if not turn:
        yield _person(text)
    beside = Beside(
        calls=state.tool_calls,
        reasons={p - start: reason for p, reason in state.stop_reasons.items()},
        running=not state.ended,
        limit=40_000,
        asked={each.tool_call_id: each for each in list(state.asked.values()) if each.tool_call_id},
    )
    yield from transcript(turn, name, beside)
    if not state.ended:
        cards = list(open_cards(asked_of(state), "chat"))
        yield from cards or [Para((quiet("… the answer is being written"),))]
    elif state.status == "failed":
        yield Quote(tuple(fault_lines(state.error or {})), "rail", "kf")
    elif state.status == "interrupted":
        yield Para((quiet("■\u00a0stopped"),))
    elif state.conversation == "forked":
        words = "not kept: another run of the robot was first, so it does not know of this"
        yield Para((quiet(words),))


def _person(text: str, note: str = "") -> Quote:
    head = Head((bold("you"),), right=(note,) if note else ())
    return Quote((head, Para((clip(text, FOLD_LIMIT),))), "person")


def _ways(thing: Chat) -> Iterable[Block]:
    go_on = "To go on: " if thing.parts else "To begin: "
    box, anywhere = code("bot.chat()"), code('bot.run("…")')
    yield Para((go_on, box, " where there is a chat box, ", anywhere, " elsewhere"), quiet=True)
