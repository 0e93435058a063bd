"""The picture of an error: what was wrong, what to do, and what its run had done by then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.errors import ModelError, OutputError, RunInterrupted, RunWaiting, TaskNotRun
from ..core.tape_errors import LISTED, TapeMiss
from . import network_card
from .answer_data import faults
from .besides import error_words
from .escape import clip, one_line
from .parts import (
    Fields,
    Fold,
    Para,
    Picture,
    Pre,
    Quote,
    bold,
    code,
    dots,
    part,
    quiet,
    state_bit,
    ticked,
)
from .question_card import asked_of, open_cards
from .result_card import after_notice, fault_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.errors import RobotLabError
    from .parts import Block

__all__ = ["causes", "error"]

_CAUSES, _ROWS = 3, 20


def error(thing: RobotLabError) -> Picture:
    """The picture of an error.

    Parameters
    ----------
    thing : RobotLabError
    """
    blocks = (
        *part("error", lambda: [_notice(thing)]),
        *part("errors", lambda: _errors(thing)),
        *part("differences", lambda: _differences(thing)),
        *part("questions", lambda: _questions(thing)),
        *part("body", lambda: _body(thing)),
        *part("run", lambda: _run(thing)),
    )
    return Picture(blocks)


def causes(thing: BaseException) -> list[str]:
    """The errors behind an error, outermost first, each on one line.

    Examples
    --------
    >>> failed = ValueError("a")
    >>> failed.__cause__ = KeyError("b")
    >>> causes(failed)
    ["KeyError: 'b'"]
    """
    found: list[str] = []
    said = one_line(thing, 4000)
    seen = {id(thing)}
    here: BaseException | None = thing
    while here is not None and len(found) < _CAUSES:
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)
        if here is None or id(here) in seen:
            break
        seen.add(id(here))
        text = one_line(here, 300)
        # An error that only passes on what was said below it is told once.
        if not text or text not in said:
            found.append(f"{type(here).__name__}: {text}" if text else type(here).__name__)
        said += f"\n{text}"
    return found


def _notice(thing: RobotLabError) -> Block:
    if isinstance(thing, (RunWaiting, RunInterrupted)):
        status, hue = ("waiting", "kw") if isinstance(thing, RunWaiting) else ("interrupted", "ki")
        lines: list[Block] = [Para(dots(state_bit(status, loud=True), clip(thing.message, 2000)))]
        if thing.hint:
            lines.append(Para(ticked(clip(thing.hint, 1000))))
        lines.append(Para((type(thing).__name__,), quiet=True))
        return Quote(tuple(lines), "rail", hue)
    lines = list(fault_lines(_facts(thing), None if _in_a_run(thing) else type(thing).__name__))
    if thing.run is not None:
        lines.append(Para(("its run: ", code("error.run")), quiet=True))
    lines += [Para((quiet(f"caused by {cause}"),)) for cause in causes(thing)]
    return Quote(tuple(lines), "rail", "kf")


def _in_a_run(thing: RobotLabError) -> bool:
    """Whether something was done and failed; else it was a mistake, found before anything ran."""
    if isinstance(thing, TaskNotRun):
        return False
    return thing.run is not None or thing.run_id is not None or isinstance(thing, ModelError)


def _errors(thing: RobotLabError) -> Iterable[Block]:
    """The errors inside an error: of an answer by place, of a network by task."""
    found = getattr(thing, "errors", None)
    if isinstance(found, Mapping):
        rows = [(one_line(task, 80), (error_words(error),)) for task, error in found.items()]
        if rows:
            yield Fields(tuple(rows[:_ROWS]))
        if len(rows) > _ROWS:
            yield Para((quiet(f"… {len(rows) - _ROWS:,} more"),))
    else:
        yield from faults(found)


def _differences(thing: RobotLabError) -> Iterable[Block]:
    """What differs from the nearest request that is on a tape."""
    found = thing.differences if isinstance(thing, TapeMiss) else ()
    if found:
        yield Para((quiet("what differs from the nearest recorded request"),))
        yield Fields(tuple((one_line(what, 60), (clip(how, 800),)) for what, how in found[:LISTED]))
    if len(found) > LISTED:
        yield Para((quiet(f"… {len(found) - LISTED:,} more"),))


def _facts(thing: RobotLabError) -> dict[str, object]:
    facts: dict[str, object] = {
        "type": type(thing).__name__,
        "message": thing.message or str(thing),
        "hint": thing.hint,
        "retryable": thing.retryable,
    }
    if isinstance(thing, ModelError):
        facts |= {"kind": thing.kind, "status": thing.status, "retry_after": thing.retry_after}
    return facts


def _questions(thing: RobotLabError) -> Iterable[Block]:
    if isinstance(thing, RunWaiting) and thing.run is not None:
        yield from open_cards(asked_of(thing.run.state), "error.run")


def _body(thing: RobotLabError) -> Iterable[Block]:
    if isinstance(thing, ModelError) and thing.body:
        yield Fold(("Answer of the provider",), (Pre(thing.body),))
    if isinstance(thing, OutputError) and thing.text:
        yield Fold(("Last answer",), (Pre(thing.text),))


def _run(thing: RobotLabError) -> Iterable[Block]:
    run = thing.run
    if run is None:
        return
    state = run.state
    name = one_line(run.robot_name or state.info.get("name") or state.scope.path[-1], 80)
    if state.scope.kind == "network":
        yield Para((bold(name), quiet(" network")))
        yield from network_card.after_notice(state, "error.run.so_far()")
    else:
        yield from after_notice(state, name, "error.run.state.text")
