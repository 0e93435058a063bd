"""The pictures of a bare state of a run, and of a task that was delegated: as of the run itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import network_card, result_card
from .escape import one_line
from .parts import Para, Picture, code, dots, part

if TYPE_CHECKING:
    from ..core.state import RunState
    from ..robot.delegating import DelegationFuture
    from .parts import Line

__all__ = ["delegated", "state"]


def state(thing: RunState) -> Picture:
    """The picture of the state of a run, of whatever kind.

    Parameters
    ----------
    thing : RunState
    """
    if thing.scope.kind == "network":
        return Picture(network_card.whole(thing, "state"))
    return result_card.state(thing)


def delegated(thing: DelegationFuture[Any]) -> Picture:
    """The picture of a delegated task: by whom, then its run.

    Parameters
    ----------
    thing : DelegationFuture
    """
    drawn = network_card.run(thing.run)
    words: Line = (f"delegated by {one_line(thing.by, 80)}",)
    if not thing.resolved:
        words = dots(words, (code("future.value()"), " waits for the result"))
    return Picture((*part("delegation", lambda: [Para(words, quiet=True)]), *drawn.blocks), True)
