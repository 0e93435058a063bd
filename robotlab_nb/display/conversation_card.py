"""The pictures of conversations that a log has kept: one as its transcript, several as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import RobotLabError
from .amounts import count, dollars
from .escape import one_line
from .parts import Head, Para, Picture, Table, code, dots, part, state_bit
from .transcript import transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ..runlog.conversing import KeptConversation
    from .parts import Block, Line

__all__ = ["conversation", "conversations"]

#: rows that are shown; characters of a name
_ROWS, _NAME = 20, 40


def conversation(thing: KeptConversation) -> Picture:
    """The picture of a conversation: whose it is, then what was said.

    Parameters
    ----------
    thing : KeptConversation
    """

    def blocks() -> Iterable[Block]:
        about = dots(
            f"with {one_line(thing.robot, _NAME)}", count(thing.turns, "turn"),
            f"last {_clock(thing.last_at)} UTC",
        )  # fmt: skip
        yield Head((one_line(thing.session_id, _NAME),), "conversation", about)
        try:
            messages = thing.messages
        except RobotLabError as error:
            yield Para((state_bit("failed"), " ", one_line(error.message, 300)))
            return
        yield from transcript(messages, thing.robot)

    return Picture(part("conversation", blocks), framed=True)


def conversations(things: Sequence[KeptConversation]) -> Picture:
    """The picture of a list of conversations.

    Parameters
    ----------
    things : sequence of KeptConversation
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "conversation"),), quiet=True)
        paid = any(each.cost_usd for each in things)
        names = ("session", "robot", "turns", "last", "tokens", *(("cost",) if paid else ()))
        rows = tuple(_row(each, paid) for each in things[:_ROWS])
        yield Table(names, rows, frozenset({2, 4, 5}))
        more = f"… {len(things) - _ROWS:,} more" if len(things) > _ROWS else None
        yield Para(dots(more, "times are UTC"), quiet=True)

    return Picture(part("conversations", blocks))


def _row(thing: KeptConversation, paid: bool) -> tuple[Line, ...]:
    told: tuple[Line, ...] = (
        (code(one_line(thing.session_id, _NAME)),),
        (one_line(thing.robot, _NAME),),
        (f"{thing.turns:,}",),
        (_clock(thing.last_at),),
        ("" if thing.tokens is None else f"{thing.tokens:,}",),
    )
    if not paid:
        return told
    return (*told, ("" if thing.cost_usd is None else dollars(thing.cost_usd) or "",))


def _clock(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}".replace(" ", "\u00a0")
