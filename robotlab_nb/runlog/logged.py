"""A run as a log has it: what the index says at once, and its events when they are asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.readings import Pictured, ShownList, reading
from ..core.state import RunState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.events import Delta, Event, Scope
    from .asking import Asking
    from .records import RunRow

__all__ = ["LoggedRun"]


class LoggedRun(Pictured):
    """A run that a log has kept. You get one from ``log[run_id]`` and from ``log.runs()``.

    It can be used wherever events are taken: ``robot.resume(rl.log["3f0c71"])``.

    Attributes
    ----------
    row : RunRow
        What the log's index says of it: ids, names, status, model, tokens, cost.

    Examples
    --------
    >>> import tempfile
    >>> import robotlab_nb as rl
    >>> folder = tempfile.TemporaryDirectory()
    >>> with rl.options(log=f"{folder.name}/log.sqlite"):
    ...     result = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    ...     run = rl.log[result.run_id]
    >>> run.robot, run.status, run.text, run.simulated
    ('poet', 'completed', 'roses are red', True)
    >>> run.events == result.events
    True
    >>> folder.cleanup()
    """

    __slots__ = ("_events", "_log", "_root", "_state", "row")

    def __init__(self, log: Asking, row: RunRow) -> None:
        self._log = log
        self.row = row
        self._root: list[Event] | None = None
        self._events: list[Event] | None = None
        self._state: RunState | None = None

    # -- from the index --------------------------------------------------------------------

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits."""
        return self.row.run_id

    run_id = id

    @property
    def root_id(self) -> str:
        """The outermost run that it belongs to."""
        return self.row.root_id

    @property
    def kind(self) -> str:
        """``robot``, ``network`` or ``experiment``; ``session`` for what happened outside runs."""
        return self.row.kind

    @property
    def name(self) -> str | None:
        """The robot's or the network's name."""
        return self.row.name

    @property
    def robot(self) -> str | None:
        """The robot's name."""
        return self.row.robot

    @property
    def model(self) -> str | None:
        """The model that it began with."""
        return self.row.model

    @property
    def status(self) -> str:
        """``running, waiting, completed, failed, interrupted`` or ``abandoned``.

        Abandoned is a run whose process ended before it did.
        """
        return self.row.status

    @property
    def simulated(self) -> bool:
        """Whether any answer in it was made up."""
        return self.row.simulated

    @property
    def input(self) -> str | None:
        """The first 200 characters of what was asked."""
        return self.row.input

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags: those that it was run with, and those given afterwards."""
        return self.row.tags

    @property
    def rating(self) -> int | None:
        """What a person gave it: 1 to 5."""
        return self.row.rating

    @property
    def note(self) -> str | None:
        """What a person wrote of it."""
        return self.row.note

    @property
    def started_at(self) -> datetime | None:
        """When it began (UTC)."""
        at = self.row.started_at
        return None if at is None else _EPOCH + timedelta(microseconds=at)

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end; None while it runs."""
        return self.row.duration_s

    @property
    def cost_usd(self) -> float | None:
        """US dollars of its own model calls; None where no price is known."""
        return self.row.cost_usd

    # -- from its events -------------------------------------------------------------------

    def _recorded(self) -> list[Event]:
        """The events of its whole root; kept once the root has ended."""
        if self._root is not None:
            return self._root
        store = self._log.store
        found = [] if store is None else list(store.events([self.root_id]))
        if not found:
            raise InputError(
                f"run {self.id!r} is not in the log any more", hint="It was purged meanwhile."
            )
        if self.row.ended:
            self._root = found
        return found

    @property
    def events(self) -> list[Event]:
        """Its events in order, those of runs inside it included."""
        if self._events is not None:
            return self._events
        found = self._recorded()
        if self.id != self.root_id:
            family = _family(self.id, (event.scope for event in found))
            found = [event for event in found if event.scope.run_id in family]
        made: list[Event] = ShownList(found)
        if self.row.ended:
            self._events = made
        return made

    @property
    def state(self) -> RunState:
        """What its events say, with all runs below it."""
        if self._state is not None:
            return self._state
        whole = RunState.fold(self._recorded())
        found = next((s for s in whole.walk() if s.scope.run_id == self.id), whole)
        if self.row.ended:
            self._state = found
        return found

    @property
    def text(self) -> str:
        """The answer, as far as it was recorded; of a call that was cut off, what had come."""
        said = self.state.text
        if said or self.row.status == "completed":
            return said
        return "".join(delta.text for delta in self.so_far if delta.kind == "text")

    @property
    def so_far(self) -> list[Delta]:
        """What model calls that have not ended had streamed, noted once a second."""
        store = self._log.store
        found = [] if store is None else store.partials([self.root_id])
        family = _family(self.id, (event.scope for event in self._recorded()))
        return [delta for delta in found if delta.scope.run_id in family]

    @property
    def frames(self) -> Any:
        """Its tables: ``run.frames.tool_calls`` and so on."""
        return reading("frames")(self.state, self.events)

    @property
    def values(self) -> dict[str, Any]:
        """Live objects are not kept in a log: always empty."""
        return {}

    def replay(self) -> Any:
        """Go through it again, step by step.

        Returns
        -------
        Replay
        """
        return reading("replay")(self)

    def __repr__(self) -> str:
        made_up = ", simulated" if self.simulated else ""
        return f"<run {self.id}: {self.kind} {self.name!r:.60}, {self.status}{made_up}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoggedRun) and (self.id, self.root_id) == (other.id, other.root_id)

    def __hash__(self) -> int:
        return hash((self.id, self.root_id))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _family(run_id: str, scopes: Iterable[Scope]) -> set[str]:
    """The ids of a run and of all runs inside it. Parents come before their children."""
    found = {run_id}
    for scope in scopes:
        if scope.parent_id in found:
            found.add(scope.run_id)
    return found
