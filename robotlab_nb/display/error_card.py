"""The picture of an error: what was wrong, what to do, and what its run had done by then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ModelError, RunInterrupted, RunWaiting
from .escape import clip, one_line
from .parts import Fold, Para, Picture, Pre, Quote, code, dots, part, quiet, state_bit, ticked
from .result_card import after_notice, fault_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.errors import RobotLabError
    from .parts import Block

__all__ = ["causes", "error"]

_CAUSES = 3


def error(thing: RobotLabError) -> Picture:
    """The picture of an error.

    Parameters
    ----------
    thing : RobotLabError
    """
    blocks = (
        *part("error", lambda: [_notice(thing)]),
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
    seen = {id(thing)}
    here: BaseException | None = thing
    while here is not None and len(found) < _CAUSES:
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)
        if here is None or id(here) in seen:
            break
        seen.add(id(here))
        text = one_line(here, 300)
        found.append(f"{type(here).__name__}: {text}" if text else type(here).__name__)
    return found


def _notice(thing: RobotLabError) -> Block:
    if isinstance(thing, (RunWaiting, RunInterrupted)):
        status, hue = ("waiting", "kw") if isinstance(thing, RunWaiting) else ("interrupted", "ki")
        lines: list[Block] = [Para(dots(state_bit(status, loud=True), clip(thing.message, 2000)))]
        if thing.hint:
            lines.append(Para(ticked(clip(thing.hint, 1000))))
        lines.append(Para((type(thing).__name__,), quiet=True))
        return Quote(tuple(lines), "rail", hue)
    lines = list(fault_lines(_facts(thing)))
    if thing.run is not None:
        lines.append(Para(("its run: ", code("error.run")), quiet=True))
    lines += [Para((quiet(f"caused by {cause}"),)) for cause in causes(thing)]
    return Quote(tuple(lines), "rail", "kf")


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


def _body(thing: RobotLabError) -> Iterable[Block]:
    if isinstance(thing, ModelError) and thing.body:
        yield Fold(("Answer of the provider",), (Pre(thing.body),))


def _run(thing: RobotLabError) -> Iterable[Block]:
    run = thing.run
    if run is None:
        return
    name = one_line(run.robot_name or run.state.info.get("name") or "run", 80)
    yield from after_notice(run.state, name, "error.run.state.text")
