"""The picture of a replay that stands still: a numbered list of steps, each opening to what was
sent and received. Knows steps by what they have, and exchanges; no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import count, seconds
from .escape import one_line
from .exchange_card import got, sent
from .json_text import laid_out
from .parts import Bit, Fold, Head, Para, Picture, Pre, badge, bold, code, dots, part, quiet
from .parts import state_bit as bit_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .parts import Block, Line

__all__ = ["replay"]

#: Steps that are listed, and those of them whose model call is told in full.
_FIRST, _LAST, _TOLD = 160, 40, 40


def replay(thing: Any) -> Picture:
    """The picture of a replay.

    Parameters
    ----------
    thing : Replay
    """
    return Picture(
        (*part("head", lambda: _head(thing)), *part("steps", lambda: _steps(thing))), framed=True
    )


def _head(thing: Any) -> Iterable[Block]:
    state = thing.state
    name = one_line(str(state.info.get("name") or state.scope.path[-1]), 80)
    about = dots(
        "robot" if state.scope.kind == "robot" else "network",
        count(len(thing.steps), "step"),
        count(len(thing.exchanges), "model call"),
        seconds(state.duration_s),
        badge("simulated") if state.simulated else None,
    )
    yield Head((name,), "replay", about, (bit_of(state.status),))
    far = "" if state.ended else " · as far as the run was"
    yield Para(
        (quiet("each step opens to what was sent, or what came back"), quiet(far)), quiet=True
    )


def _steps(thing: Any) -> Iterable[Block]:
    left = len(thing.steps) - _FIRST - _LAST
    told = 0
    for step in thing.steps:
        if left > 0 and _FIRST <= step.number < _FIRST + left:
            if step.number == _FIRST:
                more: Line = (f"… {left:,} more steps: ", code("replay.steps"))
                yield Para(more, quiet=True)
            continue
        tells = step.exchange is not None and step.kind in ("ask", "answer")
        told += tells
        blocks = part("step", lambda s=step, t=told: tuple(_inside(thing, s, t)))  # type: ignore[misc]
        title = _title(step)
        when: Line = (step.moment,) if step.moment else ()
        yield Fold(title, blocks, right=when) if blocks else Para(dots(title, *when))


def _title(step: Any) -> Line:
    mark = Bit("", "mark", icon=step.icon, hue=step.hue)
    return (f"{step.number + 1}.\u00a0", mark, "\u00a0", bold(step.who), f" {step.words}")


def _inside(thing: Any, step: Any, told: int) -> Iterable[Block]:
    exchange = step.exchange
    if exchange is not None and step.kind in ("ask", "answer"):
        if told > _TOLD:
            yield Para((code(f"replay.exchanges[{exchange.number - 1}]"), " has it"), quiet=True)
        else:
            yield from sent(exchange) if step.kind == "ask" else got(exchange)
    elif step.tool_call_id:
        call = _called(thing, step.tool_call_id)
        if call is not None and step.kind == "tool":
            yield Pre(laid_out(call.arguments_text or "") or "no arguments")
        elif call is not None:
            yield Pre(laid_out(call.content or "") or "nothing")


def _called(thing: Any, tool_call_id: str) -> Any:
    for run in thing.state.walk():
        if tool_call_id in run.tool_calls:
            return run.tool_calls[tool_call_id]
    return None
