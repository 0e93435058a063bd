"""The pictures of what goes through steps of a network: a flow, a map's rows, a loop's turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import TaskNotRun
from ..tools.preview import preview
from .amounts import count
from .escape import clip, one_line
from .json_text import value_line
from .parts import (
    Fields,
    Fold,
    Para,
    Picture,
    Pre,
    Prose,
    Table,
    code,
    dots,
    part,
    quiet,
    state_bit,
)
from .task_card import error_notice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..network.flow import FlowResult
    from ..network.looping import LoopResult
    from ..network.rows import MapResult
    from .parts import Block, Line

__all__ = ["flow", "looped", "mapped"]

#: rows of a map, faults of one, turns of a loop, characters of a text in a row
_ROWS, _FAULTS, _TURNS, _TEXT = 20, 20, 20, 300


def flow(thing: FlowResult) -> Picture:
    """The picture of a flow: its value, then what is to happen next.

    Parameters
    ----------
    thing : FlowResult
    """
    blocks = (
        *part("value", lambda: _value(thing.value)),
        *part("what happens next", lambda: _next(thing)),
    )
    return Picture(blocks, framed=True)


def _value(value: Any) -> Iterable[Block]:
    text = value if isinstance(value, str) else getattr(value, "text", None)
    if value is None:
        yield Para((quiet("no value"),))
    elif isinstance(text, str):
        yield Prose(text) if text else Para((quiet("an empty text"),))
    else:
        yield Pre(value_line(preview(value).data, 4000))


def _next(thing: FlowResult) -> Iterable[Block]:
    rows: list[tuple[str, Line]] = []
    if thing.activated_steps:
        steps = (code(one_line(name, 80)) for name in thing.activated_steps[:24])
        rows.append(("activates", dots(*steps)))
    rows += [
        (f"notes {one_line(str(key), 60)}", (one_line("; ".join(map(str, told)), _TEXT),))
        for key, told in list(thing.errors.items())[:_FAULTS]
    ]
    if thing.context:
        names = (code(one_line(str(name), 64)) for name in list(thing.context)[:24])
        rows.append(("context", dots(*names)))
    if rows:
        yield Fields(tuple(rows))
    yield Para(("halts: nothing new starts" if thing.halted else "goes on",), quiet=True)


def mapped(thing: MapResult) -> Picture:
    """The picture of a map's result: its first rows, and what failed.

    Parameters
    ----------
    thing : MapResult
    """
    blocks = (
        *part("error", lambda: error_notice(thing)),
        *part("rows", lambda: _rows(thing)),
        *part("figures", lambda: [Para(_counted(thing), quiet=True)]),
        *part("errors", lambda: _errors(thing)),
    )
    return Picture(blocks)


def _rows(thing: MapResult) -> Iterable[Block]:
    rows = tuple(_row(thing, index) for index in range(min(len(thing), _ROWS)))
    if rows:
        yield Table(("item", "state", "result"), rows)
    else:
        yield Para((quiet("no items"),))
    if len(thing) > _ROWS:
        yield Para((quiet(f"… {len(thing) - _ROWS:,} more items"),))


def _row(thing: MapResult, index: int) -> tuple[Line, ...]:
    try:
        found = thing[index]
    except TaskNotRun:
        return (f"{index:,}",), (state_bit("interrupted"),), (quiet("no result"),)
    said = _fault(found.error) if found.status == "failed" else clip(str(found), _TEXT)
    return (f"{index:,}",), (state_bit(found.status),), (one_line(said, _TEXT),)


def _fault(error: Any) -> str:
    return f"{type(error).__name__}: {getattr(error, 'message', '') or error}"


def _counted(thing: MapResult) -> Line:
    failed = len(thing.errors)
    status = state_bit(thing.status)
    return dots(
        f"{status.icon}\u00a0{status.text}",
        one_line(thing.name, 80),
        f"{thing.done:,} of {count(len(thing), 'item')} done",
        f"{failed:,} failed" if failed else None,
        (code("result.values"), " has what each gave"),
    )


def _errors(thing: MapResult) -> Iterable[Block]:
    """The items that failed, of which the first rows may show none."""
    errors = thing.errors
    if not errors or max(errors) < _ROWS:
        return
    rows = tuple(
        (
            (f"{index:,}",),
            (one_line(error.get("type") or "error", 60),),
            (one_line(error.get("message") or "", _TEXT),),
        )
        for index, error in list(errors.items())[:_FAULTS]
    )
    blocks: list[Block] = [Table(("item", "error", "message"), rows)]
    if len(errors) > _FAULTS:
        blocks.append(Para((quiet(f"… {len(errors) - _FAULTS:,} more"),)))
    yield Fold(("Errors",), tuple(blocks), f"{len(errors):,}", told=True)


def looped(thing: LoopResult) -> Picture:
    """The picture of a loop's result: the last turn's text, then the turns before it.

    Parameters
    ----------
    thing : LoopResult
    """
    blocks = (
        *part("error", lambda: error_notice(thing)),
        *part("value", lambda: _last(thing)),
        *part("figures", lambda: [Para(_turned(thing), quiet=True)]),
        *part("turns", lambda: _turns(thing)),
    )
    return Picture(blocks)


def _last(thing: LoopResult) -> Iterable[Block]:
    if thing.turns:
        yield Prose(thing.text, whole="result.text") if thing.text else Para((quiet("no text"),))


def _turned(thing: LoopResult) -> Line:
    status = state_bit(thing.status)
    return dots(
        f"{status.icon}\u00a0{status.text}",
        one_line(thing.name, 80),
        count(len(thing.turns), "turn"),
        "its condition holds" if thing.met else "its condition does not hold",
    )


def _turns(thing: LoopResult) -> Iterable[Block]:
    if len(thing.turns) < 2:
        return
    first = max(len(thing.turns) - _TURNS, 0)
    rows = tuple(
        ((f"{n:,}",), (state_bit(turn.status),), (one_line(str(turn), _TEXT),))
        for n, turn in enumerate(thing.turns[first:], first + 1)
    )
    blocks: list[Block] = [Table(("turn", "state", "result"), rows)]
    if first:
        blocks.append(Para((quiet(f"… {first:,} earlier ones"),)))
    yield Fold(("Turns",), tuple(blocks), f"{len(thing.turns):,}", told=True)
