"""A task of a network, as the runs that are started inside it see it.

A network's run is one, and its tasks go on side by side in it: what holds for one task alone
cannot stand on the run. It goes with the code, in a context variable.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .seats import Cap, Seat
    from .working import Work

__all__ = ["Strand", "current_strand", "enter_strand"]

_strand: contextvars.ContextVar[Strand | None] = contextvars.ContextVar(
    "robotlab_nb_strand", default=None
)


class Strand:
    """One task of a network that is being done.

    Parameters
    ----------
    work : Work
        The network's run.
    path : tuple of str
        What the task adds to the path of the runs inside it, e.g. ``("draft", "try:2")``.
    """

    __slots__ = ("caps", "labels", "level", "memory", "path", "runs", "seat", "work")

    def __init__(self, work: Work[Any], path: tuple[str, ...]) -> None:
        self.work = work
        self.path = path
        #: what the task's code shares with other runs
        self.memory: Any = work.memory
        #: labels of what came to the task and of what it has read; it grows
        self.labels: frozenset[str] = frozenset()
        #: caps that robots inside the task are counted under
        self.caps: tuple[Cap, ...] = work.caps
        #: the slot of the task itself, where its group is capped
        self.seat: Seat | None = None
        #: runs started directly inside it
        self.runs: list[Work[Any]] = []
        #: of a robot's own step: the robot, then ``above, label, keep`` of its runs here
        self.level: tuple[Any, ...] | None = None

    def read(self, labels: frozenset[str]) -> None:
        """Note labels of data that the task has seen."""
        self.labels |= labels

    def end(self, reason: str) -> None:
        """Cancel what was started inside the task and still goes on."""
        for run in self.runs:
            if not run.done:
                run.cancel(reason)


def current_strand(work: Work[Any] | None) -> Strand | None:
    """The task of a network's run in which the calling code happens, or None."""
    found = _strand.get()
    return found if found is not None and found.work is work else None


def enter_strand(strand: Strand) -> None:
    """Have the rest of the calling asyncio task, and all it starts, happen in a network's task."""
    _strand.set(strand)
