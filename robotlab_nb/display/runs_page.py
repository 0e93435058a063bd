"""Runs of a log on one page: the list, then what was said in the newest of them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .escape import one_line
from .log_card import noted, rating, runs
from .parts import Fold, Para, Picture, code, dots, part, state_bit
from .state_card import state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..runlog.listing import RunsPage
    from ..runlog.logged import LoggedRun
    from .parts import Block

__all__ = ["page"]

#: runs that are shown in full
_MOST = 50


def page(thing: RunsPage) -> Picture:
    """The picture of runs as a page has it.

    Parameters
    ----------
    thing : RunsPage
    """

    def blocks() -> Iterable[Block]:
        yield from runs(thing.log)
        roots = (run for run in thing.log if run.id == run.root_id)
        for run in islice(roots, _MOST):
            yield Fold(
                dots(
                    one_line(run.name or run.kind, 60),
                    state_bit(run.status),
                    code(run.id[:6]),
                    rating(run),
                ),
                tuple(part("run", lambda run=run: _whole(run))),  # type: ignore[misc]
                right=(one_line(run.input or "", 60),),
            )
        if next(roots, None) is not None:
            yield Para((f"The newest {_MOST} runs are shown in full.",), quiet=True)

    return Picture(part("runs", blocks), framed=True)


def _whole(run: LoggedRun) -> Iterable[Block]:
    yield from noted(run)
    yield from state(run.state).blocks
