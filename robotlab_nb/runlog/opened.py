"""A log that is open: to look runs up in, to tag them, to clean up. ``rl.log`` is one.

The room's other parts of it are mixed in: tables, figures, files, conversations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, RobotLabError
from ..runtime import recording
from .conversing import Conversing
from .exporting import Exporting
from .importing import Importing
from .opening import recorder_at
from .rating_runs import RatingRuns
from .reading import Reading
from .selecting import Narrowing
from .summing import Summing
from .targets import Target, target_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from datetime import timedelta
    from types import TracebackType
    from typing import Self

    from .conditions import Where
    from .logged import LoggedRun
    from .recorder import Recorder
    from .records import Counts
    from .store import Store


__all__ = ["Log", "log", "open_log"]


class Log(Narrowing, Reading, Summing, Exporting, Importing, Conversing, RatingRuns):
    """A log of runs. ``rl.log`` is the one in force; :func:`open_log` opens another.

    Reading it waits until all that has happened in this process is written.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> for run in rl.log.where(status="failed", since="2026-01-01"):
    ...     print(run.robot, run.state.error)
    """

    def __init__(self, target: Target | None, *, readonly: bool | None = None) -> None:
        self._target = target
        self._readonly = readonly
        self._store: Store | None = None
        self._identity: object = None

    @property
    def _log(self) -> Log:
        return self

    @property
    def fixed(self) -> Log:
        """This log."""
        return self

    # -- where it is -----------------------------------------------------------------------

    @property
    def target(self) -> Target | None:
        """Where the log is; None while there is none."""
        return self._target

    @property
    def place(self) -> str | None:
        """Path or URL, without a password; None while runs are not kept."""
        target = self.target
        return None if target is None else target.shown

    @property
    def recorder(self) -> Recorder | None:
        """What writes to it in this process, if anything does."""
        target = self.target
        return None if target is None else recorder_at(target)

    @property
    def trouble(self) -> str | None:
        """What is wrong with writing it: one line; None while nothing is."""
        recorder = self.recorder
        return None if recorder is None else recorder.trouble.text

    @property
    def query(self) -> Where:
        """All runs."""
        from .conditions import ALL

        return ALL

    @property
    def store(self) -> Store | None:
        """The database, with all that happened so far; None where nothing was recorded yet."""
        target = self.target
        if target is None:
            return None
        self.flush()
        there = target.identity()
        if self._store is not None and self._identity != there:
            self.close()  # deleted meanwhile, and perhaps made again
        if self._store is None:
            if there is None:
                return None
            self._store, self._identity = _opened(target, self._readonly), there
        return self._store

    def _writable(self) -> Store | None:
        store = self.store
        if store is not None and self._readonly is None and getattr(store, "readonly", False):
            raise _read_only(self)
        return store

    # -- what is in it ---------------------------------------------------------------------

    def count(self) -> Counts:
        """How many roots, runs and events it has, and bytes on the disk."""
        from .records import Counts

        store = self.store
        return Counts(0, 0, 0, 0) if store is None else store.count()

    def __len__(self) -> int:
        return self.count().runs

    def __bool__(self) -> bool:
        return True

    def __contains__(self, run_id: object) -> bool:
        try:
            return isinstance(run_id, str) and bool(self.find(run_id))
        except InputError:
            return False

    def abandoned(self) -> list[LoggedRun]:
        """List the runs whose process ended before they did."""
        return self.where(status="abandoned").runs()

    # -- changing it -----------------------------------------------------------------------

    def tag(self, runs: str | Iterable[Any], *tags: str, remove: Iterable[str] = ()) -> None:
        """Give runs tags, or take some away.

        Parameters
        ----------
        runs : str, run, result, or iterable of them
            By id, or whatever has a ``run_id``.
        *tags : str
        remove : iterable of str, optional
        """
        store, whole = self._named_runs(runs)
        if store is not None:
            store.tag(whole, list(tags), remove=list(remove))

    def _named_runs(self, runs: Any) -> tuple[Store | None, list[str]]:
        """The database to be changed, and the whole ids of runs."""
        store = self._writable()
        ids = [_id_of(run) for run in ([runs] if _is_one(runs) else runs)]
        if store is None:
            if ids:
                self.find(ids[0])
            return None, []
        return store, [run_id if len(run_id) >= 12 else self.find(run_id).id for run_id in ids]

    def purge(
        self, *, older_than: timedelta | float | None = None, everything: bool = False
    ) -> int:
        """Delete runs for good.

        Parameters
        ----------
        older_than : timedelta or float, optional
            Those that began longer ago; a number counts days.
        everything : bool, optional
            All of them.

        Returns
        -------
        int
            How many root runs were deleted.

        Raises
        ------
        InputError
            When it is not said which.
        """
        from datetime import timedelta

        if older_than is None and not everything:
            raise InputError(
                "purge() was not told what to delete",
                hint="For example log.purge(older_than=30) for all runs older than 30 days, "
                'log.where(tag="trial").purge(), or log.purge(everything=True).',
            )
        store = self._writable()
        if store is None:
            return 0
        if isinstance(older_than, (int, float)):
            older_than = timedelta(days=older_than)
        return store.purge(self.query, older_than=older_than)

    # -- its life --------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> dict[str, int]:
        """Wait until all that has happened in this process is in the log.

        Parameters
        ----------
        timeout : float, optional
            Seconds, 10 when left out.

        Returns
        -------
        dict of str to int
            Root run -> number of its last event that is in the log for sure.
        """
        recorder = self.recorder
        return {} if recorder is None else recorder.flush(timeout)

    def close(self) -> None:
        """Let go of the file or the connection; it is opened again when something is asked."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def __repr__(self) -> str:
        if self.target is None:
            return "<no log: rl.options.log is None>"
        try:
            said = f"{len(self):,} runs"
        except RobotLabError as error:
            said = str(error)
        return f"<log {self.place}: {'; '.join(filter(None, (said, self.trouble)))}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


class InForce(Log):
    """The log that the options name, whichever that is when it is asked."""

    def __init__(self) -> None:
        super().__init__(None)
        self._now = Log(None)

    @property
    def target(self) -> Target | None:
        """Where the log is; None while there is none."""
        recording.look()
        where = recording.wanted()
        return None if where is None else target_of(where)

    @property
    def fixed(self) -> Log:
        """The log that is in force now."""
        target = self.target
        if self._now.target != target:
            self._now = Log(target)
        return self._now

    @property
    def store(self) -> Store | None:
        """The database, with all that happened so far; None where nothing was recorded yet."""
        return self.fixed.store

    def close(self) -> None:
        """Let go of the file or the connection; it is opened again when something is asked."""
        self.fixed.close()


def _opened(target: Target, readonly: bool | None) -> Store:
    from .faults import LogReadOnly
    from .store import Store

    if readonly is not None:
        return Store.open(target.address, create=False, readonly=readonly)
    try:
        return Store.open(target.address, create=False)
    except LogReadOnly:
        return Store.open(target.address, create=False, readonly=True)


def _read_only(log: Log) -> Exception:
    from .faults import LogReadOnly

    return LogReadOnly(
        f"the log {log.place!r} can be read, but not written",
        hint="Copy it to a place of your own.",
    )


def _is_one(runs: Any) -> bool:
    return isinstance(runs, str) or hasattr(runs, "run_id") or hasattr(runs, "scope")


def _id_of(run: Any) -> str:
    if isinstance(run, str):
        return run
    found = getattr(run, "run_id", None) or getattr(run, "id", None)
    if isinstance(found, str):
        return found
    raise InputError(f"{run!r:.80} is no run", hint="Pass its id, the run, or its result.")


#: the log in force
log = InForce()


def open_log(
    path_or_url: str | os.PathLike[str] | None = None, *, readonly: bool | None = None
) -> Log:
    """Open a log: to read what a colleague or another notebook has recorded.

    To record into it, set ``rl.options.log``.

    Parameters
    ----------
    path_or_url : str or path, optional
        A file, or a PostgreSQL URL (``postgresql://user@host/database``); left out, the log in
        force.
    readonly : bool, optional
        True: nothing can be changed. False: it is made if it is not there, and must be writable.
        Left out: it must be there, and may be changed if it can be.

    Returns
    -------
    Log

    Raises
    ------
    LogError
        When there is no log, or what is there cannot be read: damaged, locked, of a newer version.

    Examples
    --------
    >>> import tempfile
    >>> import robotlab_nb as rl
    >>> folder = tempfile.TemporaryDirectory()
    >>> with rl.open_log(f"{folder.name}/new.sqlite", readonly=False) as log:
    ...     len(log)
    0
    >>> folder.cleanup()
    """
    if path_or_url is None:
        target = log.target
        if target is None:
            raise InputError("no log is in force", hint="Name one: rl.open_log('runs.sqlite').")
    else:
        target = target_of(path_or_url)
    made = Log(target, readonly=readonly)
    from .store import Store

    if readonly is False:
        made._store = Store.open(target.address, create=True)
    else:
        made.flush()
        made._store = _opened(target, readonly)
    made._identity = target.identity()
    return made
