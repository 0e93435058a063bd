"""The picture of a check-up: what needs a look first, what to do about it, the rest in a fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import count
from .escape import one_line
from .parts import Bit, Head, Para, Picture, Quote, Table, bold, dots, part, quiet, ticked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .parts import Block, Line

__all__ = ["check_up"]

_MARKS = {
    "wrong": Bit("wrong", "state", icon="✕", hue="kf"),
    "look": Bit("look", "mark", icon="⚠\ufe0e", hue="kw"),
    "ok": Bit("ok", "mark", icon="✓"),
}
_LONG = 400


def check_up(thing: Any) -> Picture:
    """The picture of a check-up.

    Parameters
    ----------
    thing : CheckUp
    """
    blocks = (
        *part("summary", lambda: _head(thing)),
        *part("problems", lambda: _problems(thing)),
        *part("what is well", lambda: _well(thing)),
    )
    return Picture(blocks, framed=True)


def _head(thing: Any) -> Iterable[Block]:
    states = [row.state for row in thing.rows]
    bad, look = states.count("wrong"), states.count("look")
    about = dots(
        f"{bad:,} wrong" if bad else None,
        f"{look:,} to look at" if look else None,
        f"{states.count('ok'):,} of {count(len(states), 'check')} well",
    )
    yield Head(("check-up",), "doctor", about)


def _problems(thing: Any) -> Iterable[Block]:
    problems = [row for row in thing.rows if row.state != "ok"]
    if not problems:
        yield Para(("nothing is wrong",))
        return
    for row in problems:
        mark = _MARKS[row.state]
        lines = [Para(dots((mark, " ", bold(one_line(row.topic, 40))), _found(row)))]
        if row.remedy:
            lines.append(Para(ticked(one_line(row.remedy, _LONG))))
        yield Quote(tuple(lines), "rail", mark.hue)


def _well(thing: Any) -> Iterable[Block]:
    rows = tuple(_row(row) for row in thing.rows if row.state == "ok")
    if rows:
        yield Table(("what", "", "found"), rows)
    yield Para((quiet("Looked at on this machine alone: nothing was sent, no key was read out."),))


def _row(row: Any) -> tuple[Line, ...]:
    return (one_line(row.topic, 40),), (_MARKS[row.state],), _found(row)


def _found(row: Any) -> Line:
    return ticked(one_line(row.found, _LONG))
