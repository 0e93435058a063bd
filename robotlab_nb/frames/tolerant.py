"""Folding events that somebody else recorded: what cannot be read is passed over, and told."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ..core.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.events import Event

__all__ = ["Folding"]


class Folding:
    """Makes states of roots; one event that makes no sense does not cost the others.

    Attributes
    ----------
    faults : int
        Events that were passed over.

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> scope = Scope("r", "r", None, 0, "robot", ("bob",), "bob")
    >>> folding = Folding()
    >>> odd = Event("model_call.completed", scope, 1, 0.0, {"call_id": "never started"})
    >>> state = folding.state([Event("run.started", scope, 0, 0.0, {}), odd])
    >>> state.status, folding.faults
    ('running', 1)
    """

    def __init__(self) -> None:
        self.faults = 0
        self._first = ""

    def state(self, events: Iterable[Event]) -> RunState | None:
        """The state that a root's events give; None without any."""
        state: RunState | None = None
        for event in events:
            if state is None:
                state = RunState(event.scope)
            try:
                state.apply(event)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                self._note(event, error)
        return state

    def _note(self, event: Event, error: Exception) -> None:
        self.faults += 1
        if self.faults == 1:
            where = f"{event.type} (event {event.seq} of {event.scope.root_id[:12]!r})"
            self._first = f"{where}, {type(error).__name__}"

    def complain(self) -> None:
        """Warn of what was passed over, once."""
        if self.faults:
            warnings.warn(
                f"events that make no sense were passed over: {self.faults:,}, first {self._first}",
                RuntimeWarning,
                stacklevel=2,
            )
