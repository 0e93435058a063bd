"""What a run has from the runs around it, and what it passes on to them.

Budgets, scripted answers, memory, caps on robots and labels of data go down; labels of what was
read go up with the answer. Knows nothing of how a run works.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from .strand import current_strand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.events import Scope
    from .budgets import Budget
    from .root import Root
    from .seats import Cap, Seat
    from .strand import Strand
    from .working import Work

__all__ = ["Surroundings"]

NOTHING: frozenset[str] = frozenset()


class Surroundings:
    """The part of a run that looks outward.

    Attributes
    ----------
    budgets : tuple of Budget
        Those that every model call of the run is charged to, those of the runs above included.
    answers : object
        Scripted answers to what the run asks a person.
    ask_timeout : float or None
        Seconds that a question waits for a person; None for no limit.
    memory : Memory or None
        What the run shares with others.
    caps : tuple of Cap
        What limits how many robots work at the same time around here.
    seat : Seat or None
        The robot's slot under those caps.
    strand : Strand or None
        The task of a network that started the run.
    labels_seen : frozenset of str
        Labels of the data that has come into the run.
    """

    __slots__ = (
        "_left", "answers", "ask_timeout", "budgets", "caps", "labels_seen", "memory", "seat",
        "strand",
    )  # fmt: skip

    if TYPE_CHECKING:
        parent: Work[Any] | None
        root: Root
        scope: Scope

    def _inherit(self, parent: Any, strand: Strand | None) -> None:
        """What holds for a run holds for the runs inside it as well."""
        self.seat: Seat | None = None
        self._left: Seat | None = None
        self.strand = strand
        if parent is None:
            self.budgets: tuple[Budget, ...] = ()
            self.answers: Any = None
            self.ask_timeout: float | None = 3600.0
            self.memory: Any = None
            self.caps: tuple[Cap, ...] = ()
            self.labels_seen = NOTHING
            return
        self.budgets = parent.budgets
        self.answers = parent.answers
        self.ask_timeout = parent.ask_timeout
        nearest = parent if strand is None else strand
        self.memory = nearest.memory
        self.caps = nearest.caps
        if strand is None:
            self.labels_seen = parent.labels_seen
        else:
            self.labels_seen = strand.labels
            strand.runs.append(self)  # type: ignore[arg-type]

    # -- labels ----------------------------------------------------------------------------

    def on_read(self, labels: frozenset[str]) -> None:
        """Note labels of data that came into the run: they go wherever its answer goes."""
        with self.root.lock:
            here = current_strand(self)  # type: ignore[arg-type]
            if here is not None:
                here.read(labels)
            self.labels_seen |= labels
            if self.strand is not None:
                self.strand.read(labels)
            elif self.parent is not None:
                self.parent.on_read(labels)

    # -- slots -----------------------------------------------------------------------------

    async def _sit_down(self) -> None:
        """Wait for a slot under the caps; whoever started this gives its own away meanwhile."""
        above = self._seat_above()
        if self.scope.kind == "robot" and self.seat is None:
            from .seats import Seat

            self.seat = Seat(self.caps)
            self.seat.ask()  # in the queue before the one above makes room
        if above is not None:
            above.leave()
            self._left = above
        if self.seat is not None:
            await self.seat.take()

    def _get_up(self) -> None:
        """Give the slot back, to whoever started this if it awaits nothing else."""
        left, self._left = self._left, None
        if self.seat is not None:
            self.seat.end(left)
        elif left is not None:
            left.back()

    def _seat_above(self) -> Seat | None:
        if self.strand is not None:
            return self.strand.seat
        found: Seat | None = None if self.parent is None else self.parent.seat
        return found

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """While something is awaited that others must do first, they may have the slot.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> with rl.build("a").start("hello").away():
        ...     pass  # wait here for what another robot is to write
        """
        seat = self.seat
        here = current_strand(self) if seat is None else None  # type: ignore[arg-type]
        if here is not None:
            seat = here.seat
        if seat is None:
            yield
            return
        seat.leave()
        try:
            yield
        finally:
            seat.back()
