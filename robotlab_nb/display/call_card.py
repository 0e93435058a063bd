"""The pictures of tool calls, model calls, questions and runs: alone, and as lists of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import cost, count, moment, seconds, tokens
from .attempt_rows import attempt_table
from .escape import one_line
from .json_text import arguments_line
from .parts import (
    Fields,
    Head,
    Para,
    Picture,
    Prose,
    Table,
    badge,
    code,
    dots,
    part,
    quiet,
    state_bit,
)
from .question_card import question
from .states import STOPS
from .transcript import of_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.records import Asked
    from ..core.state import ModelCall, ToolCall
    from ..runtime.run import Run
    from .parts import Block, Line

__all__ = ["model_call", "questions", "runs", "tool_call", "tool_calls"]

_ROWS, _CARDS = 60, 8


def tool_call(thing: ToolCall) -> Picture:
    """The picture of one tool call: a line that opens to arguments and result.

    Parameters
    ----------
    thing : ToolCall
    """
    return Picture(part("tool call", lambda: of_calls([thing])))


def tool_calls(things: Sequence[ToolCall]) -> Picture:
    """The picture of a list of tool calls, in order of start.

    Parameters
    ----------
    things : sequence of ToolCall
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "tool call"),), quiet=True)
        yield from of_calls(things[:_ROWS])
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))

    return Picture(part("tool calls", blocks))


def model_call(thing: ModelCall) -> Picture:
    """The picture of one model call: what was asked for, and what came of it.

    Parameters
    ----------
    thing : ModelCall
    """

    def head() -> Iterable[Block]:
        simulated = badge("simulated") if thing.simulated else None
        right: Line = (state_bit(thing.status),)
        provider = None if thing.simulated else one_line(thing.provider or "", 60)
        about = dots(provider, simulated)
        yield Head((one_line(thing.model, 120),), "model call", about, right)

    def answer() -> Iterable[Block]:
        if thing.text:
            yield Prose(thing.text, limit=4000)
        stop = STOPS.get(thing.stop_reason or "")
        took = seconds(thing.duration_s)
        first = seconds(thing.first_token_s)
        usage = thing.usage
        line = dots(
            f"round {thing.round}",
            stop,
            "from the cache" if thing.cached else None,
            tokens(usage) if usage is not None else None,
            cost(usage) if usage is not None else None,
            took,
            f"first words after {first}" if first else None,
        )
        yield Para(line, quiet=True)

    def asked() -> Iterable[Block]:
        rows: list[tuple[str, Line]] = []
        if thing.message_ids:
            rows.append(("asked with", (count(len(thing.message_ids), "message"),)))
        if thing.tools:
            names = (code(one_line(name, 64)) for name in thing.tools[:24])
            more = f"{len(thing.tools) - 24:,} more" if len(thing.tools) > 24 else None
            rows.append(("tools", dots(*names, more)))
        if rows:
            yield Fields(tuple(rows))

    return Picture(
        (
            *part("model", head),
            *part("answer", answer),
            *part("request", asked),
            *part("attempts", lambda: attempt_table([thing])),
        ),
        framed=True,
    )


def questions(things: Sequence[Asked]) -> Picture:
    """The picture of what a run waits for: a card for each.

    Parameters
    ----------
    things : sequence of Asked
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "question"),), quiet=True)
        for each in things[:_CARDS]:
            yield from question(each).blocks
        if len(things) > _CARDS:
            yield Para((quiet(f"… {len(things) - _CARDS:,} more"),))

    return Picture(part("questions", blocks))


def runs(things: Sequence[Run[Any]]) -> Picture:
    """The picture of runs that are going on: who, and what they are at.

    Parameters
    ----------
    things : sequence of Run
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "run"),), quiet=True)
        rows = tuple(_run(each) for each in things[:_ROWS])
        yield Table(("run", "kind", "state", "does", "started"), rows)
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))
        yield Para((code("rl.stop_all()"), " stops them"), quiet=True)

    return Picture(part("runs", blocks))


def _run(thing: Run[Any]) -> tuple[Line, ...]:
    state = thing.state
    busy: list[str | Any] = [
        code(arguments_line(call.arguments_text or "", 60), lead=one_line(call.tool, 60))
        for call in list(state.tool_calls.values())
        if call.status == "running"
    ]
    busy += [one_line(t.name, 60) for t in list(state.tasks.values()) if t.status == "running"]
    if not busy and any(call.status == "running" for call in list(state.model_calls.values())):
        busy = ["asks its model"]
    return (
        (one_line(thing.robot_name or state.info.get("name") or state.scope.path[-1], 80),),
        (one_line(state.scope.kind, 20),),
        (state_bit(state.status),),
        dots(*busy[:4]),
        (moment(state.started_s) or "",) if state.scope.depth else (),
    )
