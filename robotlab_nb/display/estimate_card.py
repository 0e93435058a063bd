"""The pictures of what an experiment will take, and of lists of experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .amounts import count
from .escape import one_line
from .grid_words import state_bit_of
from .parts import Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..lab.estimate import Estimate
    from ..lab.experiment import Experiment
    from .parts import Block, Line

__all__ = ["estimate", "experiments"]

_ROWS = 40


def estimate(thing: Estimate) -> Picture:
    """The picture of an estimate: calls, what is known already, cost, and its basis.

    Parameters
    ----------
    thing : Estimate
    """

    def blocks() -> Iterable[Block]:
        known = f"{count(thing.cached, 'cell')} known already" if thing.cached else None
        judged = f"{thing.judging:,} more to judge" if thing.judging else None
        yield Para(dots(count(thing.calls, "call"), judged, known, one_line(thing.cost, 200)))
        if thing.basis:
            yield Para((quiet(one_line(thing.basis, 200)),))

    return Picture(part("estimate", blocks))


def experiments(things: Sequence[Experiment]) -> Picture:
    """The picture of a list of experiments, a row for each.

    Parameters
    ----------
    things : sequence of Experiment
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "experiment"),), quiet=True)
        rows = tuple(_row(place, each) for place, each in enumerate(things[:_ROWS]))
        yield Table(("", "experiment", "state", "cells", "began", "id"), rows)
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))

    return Picture(part("experiments", blocks))


def _row(place: int, thing: Experiment) -> tuple[Line, ...]:
    found = thing.progress
    began = (thing.started_at or "")[:16].replace("T", " ")
    return (
        (code(f"[{place}]"),),
        (one_line(thing.name, 80),),
        (state_bit_of(thing.status),),
        (f"{found.done:,} of {found.total:,}",),
        (f"{began} UTC" if began else "",),
        (code(one_line((thing.id or "")[:6], 12)),),
    )
