"""A log's store: events in, events out, and the index by which runs are found.

One code path for both databases. It may be used from any thread; a forked child gets connections
of its own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError
from .conditions import ALL, Where
from .connecting import PATIENCE_S, Connected
from .records import Batch, Counts, RunRow, Writer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection

    from ..core.events import Delta, Event
    from .backends import Backend
    from .rated import Noted
    from .writing import Pen

__all__ = ["ALL", "Batch", "Counts", "RunRow", "Store", "Where", "Writer"]


class Store(Connected):
    """An open log. Made by :meth:`open`.

    Attributes
    ----------
    kind : str
        ``sqlite`` or ``postgresql``.
    place : str
        The file's path, or the database's URL without its password.
    readonly : bool
    version : int
        The version of its tables.

    Examples
    --------
    >>> import robotlab_nb as rl, tempfile
    >>> result = rl.build("bob").run("Hello")
    >>> with Store.open(f"{tempfile.mkdtemp()}/log.sqlite") as store:
    ...     store.write(Batch(result.events))
    ...     [row.status for row in store.select(Where(robot="bob"))]
    ...     list(store.events()) == result.events
    ['completed']
    True
    """

    def __init__(self, backend: Backend, *, patience: float = PATIENCE_S) -> None:
        self._pen: Pen | None = None
        self.kind = backend.kind
        self.place = backend.place
        self.readonly = backend.readonly
        super().__init__(backend, patience)

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        create: bool = True,
        readonly: bool = False,
        patience: float = PATIENCE_S,
    ) -> Store:
        """Open a log.

        Parameters
        ----------
        where : str or path
            A file, or ``postgresql://user:password@host/database``; there the tables lie in the
            schema ``robotlab_nb``, or that of ``?schema=name``.
        create : bool, optional
            Whether it is made where it is not there.
        readonly : bool, optional
            Whether it is never written; then it is not made either.
        patience : float, optional
            Seconds that a write waits for others.

        Raises
        ------
        LogError
            When that cannot be; its class says why.
        ConfigurationError
            When the URL names another database.
        """
        return cls(_backend(where, create=create, readonly=readonly), patience=patience)

    # -- writing -------------------------------------------------------------------------

    def write(self, batch: Batch) -> None:
        """Write a batch: all of it, or nothing. What is there already is passed over.

        Raises
        ------
        LogError
            When it was not written; its class says why.
        """
        with self._lock:
            self._check_open()
            pen = self._writing()
            try:
                prepared = pen.prepare(batch, self._reading)
                self._change(lambda connection: pen.write(connection, prepared, batch.writer))
            except BaseException:
                pen.forget()  # it may be ahead of what was written
                raise
            pen.written(prepared)

    def _writing(self) -> Pen:
        if self._pen is None:
            from .indexing import INDEXED
            from .writing import Pen

            self._pen = Pen(
                self._backend, self._engine, lambda roots: self.events(roots, types=INDEXED)
            )
        return self._pen

    def _fresh(self) -> None:
        super()._fresh()
        self._pen = None

    def _forget(self) -> None:
        """What is remembered of roots may be wrong now."""
        if self._pen is not None:
            self._pen.forget()

    # -- reading -------------------------------------------------------------------------

    def select(self, where: Where = ALL, *, newest_first: bool = True) -> Iterator[RunRow]:
        """The runs that are meant, root by root, parents before what they started.

        Parameters
        ----------
        where : Where, optional
            Without a word about kinds, sessions are left out.
        newest_first : bool, optional
            Which root comes first.
        """
        from .querying import run_rows

        return run_rows(where, self._backend, self._reading, self._noted, newest_first=newest_first)

    def root_ids(self, where: Where = ALL, *, newest_first: bool = False) -> Iterator[str]:
        """The roots in which a run that is meant is; sessions where the conditions fit them."""
        from .querying import root_ids

        return root_ids(where, self._backend, self._reading, newest_first=newest_first)

    def events(
        self,
        root_ids: Iterable[str] | None = None,
        *,
        types: Collection[str] | None = None,
        after: int = -1,
    ) -> Iterator[Event]:
        """Events, root by root, in order; what older versions wrote is read as this one's.

        Parameters
        ----------
        root_ids : iterable of str, optional
            The roots, in the order wanted; all of them, oldest first, when left out.
        types : collection of str, optional
            Only these types of event.
        after : int, optional
            Only what has a higher ``seq``.
        """
        from .streaming import Events

        if isinstance(root_ids, str):
            raise InputError("root_ids is a text", hint="Give a list of ids.")
        reader = Events(self._backend, self._reading, types, after)
        return reader.of(self.root_ids() if root_ids is None else root_ids)

    def partials(self, root_ids: Iterable[str]) -> list[Delta]:
        """What calls that are not over, or were cut off with their process, had streamed."""
        from .streaming import Events

        return Events(self._backend, self._reading).partials(root_ids)

    # -- keeping it ----------------------------------------------------------------------

    def count(self) -> Counts:
        """How much there is. It counts roots and runs, and does not look at events."""
        from .upkeep import count

        with self._reading() as connection:
            return count(self._backend, connection)

    def tag(self, run_ids: Iterable[str], tags: Iterable[str], remove: Iterable[str] = ()) -> None:
        """Give runs tags, and take some away.

        Raises
        ------
        InputError
            For a run that is not there, and for a tag that is no text.
        """
        from .upkeep import tag

        rows = tag(self._backend, run_ids, tags, remove)
        self._change(rows)

    def rate(self, given: Sequence[tuple[str, int | None, str | None]]) -> None:
        """Keep ratings: run, 1 to 5 or None, note; None leaves the note that there was.

        Raises
        ------
        InputError
            For a run that is not there.
        """
        from .rated import put

        self._change(put(self._backend, given))

    def ratings(self, run_ids: Iterable[str] | None = None) -> dict[str, Noted]:
        """Rating, note and microseconds since 1970 by run; of all runs when none are named."""
        from .event_text import clean, original

        names = None if run_ids is None else [clean(run_id) for run_id in run_ids]
        with self._reading() as connection:
            found = self._noted(names, connection)
        return {original(run_id): each for run_id, each in found.items()}

    def ratings_in(self, root_ids: Sequence[str]) -> dict[str, dict[str, Noted]]:
        """The same of all runs of some roots, by root."""
        from .event_text import clean, original
        from .rated import noted_in

        with self._reading() as connection:
            if not self._keeps_ratings(connection):
                return {}
            found = noted_in(self._backend, connection, [clean(root) for root in root_ids])
        return {
            original(root): {original(run): each for run, each in runs.items()}
            for root, runs in found.items()
        }

    def take_ratings(self, given: Mapping[str, Noted]) -> None:
        """Take in ratings from elsewhere: of two of one run the later one stands."""
        from .rated import put_again

        self._change(put_again(self._backend, given))

    def _noted(self, names: Sequence[str] | None, connection: Connection) -> dict[str, Noted]:
        from .rated import noted

        return noted(self._backend, connection, names) if self._keeps_ratings(connection) else {}

    def _keeps_ratings(self, connection: Connection) -> bool:
        """Whether it has the table; one of an older version gets it when it is written to."""
        if self.version < 2:  # another process may have done so since
            from .metadata import read_version

            self.version = read_version(connection, self._backend.tables, self.place)
        return self.version >= 2

    def purge(self, where: Where = ALL, *, older_than: Any = None) -> int:
        """Delete whole roots for good: those in which a run that is meant is.

        Parameters
        ----------
        where : Where, optional
        older_than : datetime, date, timedelta or str, optional
            Only roots that started before.

        Returns
        -------
        int
            How many roots. What still goes on stays.
        """
        from .upkeep import purge

        return purge(self, where, older_than)

    def abandon_dead(self) -> list[str]:
        """Record of roots that have not ended, and whose process has, that they were abandoned.

        Returns
        -------
        list of str
            Their ids.
        """
        from .abandoning import abandon_dead

        return abandon_dead(self)

    def leave(self, writer: Writer) -> None:
        """Note that a writer writes no more: what has not ended will not."""
        from .abandoning import leave

        self._change(lambda connection: leave(self._backend, connection, writer))
        if self._pen is not None:
            self._pen.unsigned()

    def check(self) -> list[str]:
        """What is wrong with the log, a line each: read all of it, and compare it with the index.

        Returns
        -------
        list of str
            Empty when all is well.
        """
        from .checking import check

        return check(self)

    def reindex(self, root_ids: Iterable[str] | None = None) -> int:
        """Make the index of roots, or of all, from their events again; how many these were."""
        from .checking import reindex

        return reindex(self, root_ids)

    def upgrade(self) -> int:
        """Rewrite the events of older versions as this one's; how many roots had such."""
        from .checking import upgrade

        return upgrade(self)

    def __repr__(self) -> str:
        state = ", closed" if self._closed else ", read only" if self.readonly else ""
        return f"Store({self.place!r}{state})"


def _backend(where: str | os.PathLike[str], *, create: bool, readonly: bool) -> Backend:
    said = os.fspath(where)
    if not isinstance(said, str) or not said:
        raise ConfigurationError(
            f"a log cannot lie at {said!r:.60}", hint="Name a file, or a postgresql:// URL."
        )
    scheme, colon, rest = said.partition("://")
    if not colon:
        from .sqlite import SQLite

        return SQLite(said, create=create, readonly=readonly)
    if scheme == "sqlite":
        from .sqlite import SQLite

        return SQLite(rest.removeprefix("/"), create=create, readonly=readonly)
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        from .postgres import Postgres

        return Postgres(f"postgresql://{rest}", create=create, readonly=readonly)
    raise ConfigurationError(
        f"a log cannot lie in {scheme!r:.60}", hint="Name a file, or a postgresql:// URL."
    )
