"""What every part of a log may ask: which store, and which runs are meant.

A part of :class:`~robotlab_nb.runlog.opened.Log` and of its selections.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.readings import Pictured, ShownList

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ..core.events import Event
    from ..core.state import RunState
    from .conditions import Where
    from .logged import LoggedRun
    from .records import RunRow
    from .store import Store

__all__ = ["Asking"]

#: digits of a run's id that are enough, where they are unique
FEWEST = 6


class Asking(Pictured, Sized):
    """Runs in a log.

    Attributes
    ----------
    store : Store or None
        The database, with all that was recorded so far; None where nothing ever was.
    query : Where
        Which runs are meant.
    """

    if TYPE_CHECKING:

        @property
        def store(self) -> Store | None:
            """The database; None where nothing was recorded yet."""

        @property
        def query(self) -> Where:
            """Which runs are meant."""

    @property
    def fixed(self) -> Asking:
        """The same, bound to the log that it is now: what is found there stays readable."""
        return self

    def rows(self) -> Iterator[RunRow]:
        """Read the index: one row per run, newest root first, children after their parents."""
        store = self.store
        return iter(()) if store is None else store.select(self.query)

    def __iter__(self) -> Iterator[LoggedRun]:
        from .logged import LoggedRun

        log = self.fixed
        return (LoggedRun(log, row) for row in log.rows())

    def runs(self) -> list[LoggedRun]:
        """List the runs, newest first; those inside a network after it.

        Returns
        -------
        list of LoggedRun
        """
        return ShownList(iter(self))

    def find(self, run_id: str) -> LoggedRun:
        """The run with an id, or with one that begins so.

        Parameters
        ----------
        run_id : str
            At least 6 of its hexadecimal digits.

        Raises
        ------
        InputError
            When no run, or more than one, is meant.
        """
        from .conditions import Where
        from .logged import LoggedRun

        log = self.fixed
        store = log.store
        found: list[RunRow] = []
        if store is not None and not set(run_id) & set("*?["):
            found = list(store.select(Where(run_id=run_id)))
            if not found and len(run_id) >= FEWEST:
                found = list(store.select(Where(run_id=f"{run_id.lower()}*")))
        if len(found) == 1:
            return LoggedRun(log, found[0])
        if found:
            several = ", ".join(row.run_id for row in found[:5])
            raise InputError(
                f"{len(found)} runs begin with {run_id!r}", hint=f"Say more of: {several}."
            )
        raise InputError(
            f"there is no run {run_id!r:.80} in this log",
            hint="log.runs() lists them; at least 6 digits of an id are enough.",
        )

    def __getitem__(self, run_id: str) -> LoggedRun:
        return self.find(run_id)

    def events(
        self, run_id: str | None = None, *, types: Collection[str] | None = None
    ) -> Iterator[Event]:
        """Read events as they were recorded, one root after the other.

        Parameters
        ----------
        run_id : str, optional
            Of this run alone, with the runs inside it; left out, of all roots that the runs meant
            here belong to.
        types : collection of str, optional
            Only these types, such as ``{"tool_call.started"}``.

        Yields
        ------
        Event
        """
        if run_id is not None:
            found: Iterable[Event] = self.find(run_id).events
            return (event for event in found if types is None or event.type in types)
        store = self.store
        if store is None:
            return iter(())
        roots = list(dict.fromkeys(row.root_id for row in self.rows()))
        return store.events(roots, types=types)

    def state(self, run_id: str) -> RunState:
        """What a run looked like in the end, or looks like by now.

        Parameters
        ----------
        run_id : str
            Or its first 6 digits and more.
        """
        return self.find(run_id).state

    def replay(self, run_id: str) -> Any:
        """Go through a run again, step by step.

        Parameters
        ----------
        run_id : str
            Or its first 6 digits and more.

        Returns
        -------
        Replay
        """
        return self.find(run_id).replay()
