"""A log in a SQLite file: opening it, refusing what is no log of ours, naming what goes wrong.

WAL, so that readers and the writer do not wait for each other. ``synchronous=NORMAL``: what was
committed survives the end of any process; the last moments may be lost when the machine itself
loses power. A file may come from a stranger: nothing in it is trusted to run.
"""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import event
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from .backends import original_error
from .faults import LogDamaged, LogError, LogFull, LogGone, LogLocked, LogReadOnly
from .metadata import describe, read_version
from .patterns import glob
from .records import now
from .schema import LAYOUT, tables

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from .schema import Tables

__all__ = ["SQLite"]

#: marks a file as ours: "RLnb"
APPLICATION = 0x524C6E62
#: seconds that SQLite itself waits for a lock before we try again
BUSY_S = 0.2
#: bytes that the write-ahead log keeps of its size after a large batch
JOURNAL_BYTES = 16_000_000
_OURS = re.compile(r"\s*CREATE\s+(UNIQUE\s+)?(TABLE|INDEX)\b", re.IGNORECASE)
#: what could compute something when rows are read or written
_ACTIVE = re.compile(
    r"\b(CHECK|GENERATED|AS|DEFAULT|COLLATE|REFERENCES|VIRTUAL|TRIGGER|WHERE|CONFLICT)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"\(\s*\w+(\s*,\s*\w+)*\s*\)\s*")
_COLUMNS = re.compile(r"\([^()]*(\([^()]*\)[^()]*)*\)\s*\Z")


class SQLite:
    """The file, and how to connect to it."""

    kind = "sqlite"
    insert = staticmethod(insert)

    def __init__(self, path: str | os.PathLike[str], *, create: bool, readonly: bool) -> None:
        self.path = Path(os.path.abspath(os.path.expanduser(os.fspath(path))))
        self.place = str(self.path)
        self.readonly = readonly
        self.streaming: dict[str, Any] = {}  # it always does
        self.tables: Tables = tables()
        #: file and its write-ahead log, as they were when they were opened
        self._known: dict[str, tuple[int, int]] = {}
        #: how a read-only log is opened: as it is, or as one that nobody changes
        self._unchanging = False
        self._create = create and not readonly

    def engine(self) -> Engine:
        """An engine for this process; opens nothing yet."""
        # Another process, or nobody, may have had the last connection in the meantime, and then
        # the write-ahead log beside the file is a new one.
        self._known.pop(f"{self.place}-wal", None)
        made = create_engine(
            "sqlite://", creator=self._connect, poolclass=QueuePool, pool_size=4,
            max_overflow=28, hide_parameters=True,
        )  # fmt: skip
        event.listen(made, "begin", _begin)
        return made

    def prepare(self, engine: Engine) -> int:
        """Make the file where it is not there, see that it is ours; the version of its tables."""
        self._look()
        try:
            version = self._prepare(engine)
        except (DBAPIError, sqlite3.Error) as error:
            # A folder that may not be written has no room for what readers share. When no
            # unfinished log lies beside the file it can be read as one that nobody changes.
            beside = Path(f"{self.place}-wal")
            refused = _code(original_error(error)) in (
                sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
            )  # fmt: skip
            unfinished = beside.exists() and beside.stat().st_size
            if not (refused and self.readonly) or self._unchanging or unfinished:
                raise
            self._unchanging = True
            engine.dispose()
            version = self._prepare(engine)
        self._remember()
        return version

    def _prepare(self, engine: Engine) -> int:
        with engine.connect() as connection:
            empty = not _objects(connection)
        if empty:
            if not self._create:
                raise LogDamaged(
                    f"the log {self.place!r} is empty", hint="It is a file with no tables, no log."
                )
            self._make(engine)
        return self._examine(engine)

    def _look(self) -> None:
        """See that there is a file that may be a log; an empty one where there was none."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            if not self._create:
                raise LogGone(
                    f"there is no log {self.place!r}", hint="Check the path, or let it be made."
                ) from None
            self._touch()
            return
        except OSError as error:
            raise self._unopened(error) from error
        if self.path.is_dir():
            raise LogError(
                f"{self.place!r} is a folder", hint="Name a file, such as log.sqlite, in it."
            )
        if not self.readonly and not os.access(self.path, os.W_OK):
            raise self._readonly()
        if not size or _identity(self.place) in _ours:
            return
        if not self._head().startswith(b"SQLite format 3\0"):
            raise LogDamaged(
                f"{self.place!r} is no log: it is no SQLite file", hint="Name another file."
            )

    def _touch(self) -> None:
        """Make an empty file that is the person's own."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise self._unopened(error) from error

    def _head(self) -> bytes:
        try:
            with open(self.path, "rb") as file:
                return file.read(16)
        except OSError as error:
            raise self._unopened(error) from error

    def _unopened(self, error: OSError) -> LogError:
        said = f"the log {self.place!r} cannot be opened: {error.strerror or error}"
        kind = LogReadOnly if isinstance(error, PermissionError) or error.errno == 30 else LogError
        return kind(said, hint="Choose another place: rl.options.log = 'path/to/log.sqlite'.")

    def _readonly(self) -> LogReadOnly:
        return LogReadOnly(
            f"the log {self.place!r} may not be written",
            hint="Open it with readonly=True, or copy it to a place of your own.",
        )

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self.readonly else "rw"
        unchanging = "&immutable=1" if self._unchanging else ""
        made = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}{unchanging}",
            uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False,
            cached_statements=64,
        )  # fmt: skip
        for pragma in (
            "trusted_schema=OFF", "cell_size_check=ON", "foreign_keys=OFF",
            "recursive_triggers=OFF", "temp_store=MEMORY",
        ):  # fmt: skip
            made.execute(f"PRAGMA {pragma}")
        if self.readonly:
            made.execute("PRAGMA query_only=ON")
        else:
            made.execute("PRAGMA synchronous=NORMAL")
            made.execute(f"PRAGMA journal_size_limit={JOURNAL_BYTES}")
        return made

    def _make(self, engine: Engine) -> None:
        # Outside any transaction: these two are settled before the first table.
        with engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            raw.execute("PRAGMA auto_vacuum=INCREMENTAL")  # type: ignore[union-attr]
            raw.execute("PRAGMA journal_mode=WAL")  # type: ignore[union-attr]
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            if not _objects(connection):  # else another process was first
                connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION}")
                self.tables.metadata.create_all(connection)
                describe(connection, self.tables)

    def _examine(self, engine: Engine) -> int:
        """See that the file is a log of ours and that nothing in it could run."""
        with engine.connect() as connection:
            ours = connection.exec_driver_sql("PRAGMA application_id").scalar() == APPLICATION
            objects = _objects(connection)
            if not ours or "meta" not in {name for _, name, _ in objects}:
                raise LogDamaged(
                    f"{self.place!r} is a SQLite database, and no log", hint="Name another file."
                )
            for kind, name, sql in objects:
                if not _harmless(kind, name, sql):
                    raise LogDamaged(
                        f"the log {self.place!r} holds a {kind} {name!r:.60} that is not ours",
                        hint="It could run something. Have its owner export the runs instead.",
                    )
            version = read_version(connection, self.tables, self.place)
            if version <= LAYOUT:
                self._check_tables(connection, version)
        if not self.readonly:
            with engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                raw.execute("PRAGMA journal_mode=WAL")  # type: ignore[union-attr]
        return version

    def _check_tables(self, connection: Connection, version: int) -> None:
        for table in self.tables.of(version):
            # The name is one of our own; the last field tells columns that are computed.
            found = connection.exec_driver_sql(f"PRAGMA table_xinfo({table.name})").fetchall()
            have = {row[1] for row in found if not row[6]}
            lacking = [c.name for c in table.columns if c.name not in have]
            if lacking or len(have) != len(found):
                raise LogDamaged(
                    f"the log {self.place!r} lacks columns of {table.name!r}: {lacking}"
                )

    def upgrading(self, connection: Connection) -> None:
        """Nothing: whoever writes is alone."""

    # -- while it is open ----------------------------------------------------------------

    def still_there(self) -> None:
        """Raise when the file that is open is not the one of its name any more."""
        for path in (self.place, f"{self.place}-wal"):
            known = self._known.get(path)
            if known is None and (path == self.place or self.readonly):
                continue
            found = _identity(path)
            if known is None:
                if found is not None:
                    self._known[path] = found
            elif found != known:
                raise LogGone(
                    f"the log {self.place!r} was deleted, moved or replaced while it was open",
                    hint="What was in it before is gone with it.",
                )

    def _remember(self) -> None:
        found = _identity(self.place)
        self._known = {self.place: found} if found else {}
        if found:
            _ours.add(found)
        beside = _identity(f"{self.place}-wal")
        if beside and not self.readonly:
            self._known[f"{self.place}-wal"] = beside

    def busy(self, error: BaseException) -> bool:
        """Whether a lock is in the way that may go."""
        return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

    def cut(self, error: BaseException) -> bool:
        """Never: there is no connection that could be."""
        return False

    def fault(self, error: BaseException) -> LogError:
        """An error of the database as one of ours."""
        code = _code(error)
        said = f"the log {self.place!r}"
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return LogLocked(
                f"{said} is locked: another process has been writing for too long",
                hint="Close the program that keeps it open, or use a log of your own.",
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            return self._readonly()
        if code == sqlite3.SQLITE_FULL:
            return LogFull(f"{said} cannot grow: {error}", hint="Free some space on its disk.")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return LogDamaged(f"{said} is damaged: {error}", hint="Restore it, or begin a new one.")
        if code == sqlite3.SQLITE_CANTOPEN:
            if not self.path.exists():
                return LogGone(f"{said} is not there any more", hint="Check the path.")
            return LogReadOnly(
                f"{said} cannot be opened: its folder may not be written",
                hint="SQLite keeps two files beside it. Copy all to a place of your own.",
            )
        return LogError(f"{said} failed: {type(error).__name__}: {error}")

    def clock(self) -> int:
        """Microseconds now: all writers are on one machine, and have one clock."""
        return now()

    def matching(self, column: Any, pattern: str) -> Any:
        """The condition that a column fits a pattern: GLOB has the very signs, and tells cases."""
        return column.op("GLOB", is_comparison=True)(glob(pattern))

    def check(self, connection: Connection) -> list[str]:
        """What SQLite itself finds wrong."""
        found = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def size(self, connection: Connection) -> int:
        """Bytes on the disk."""
        sizes = []
        for path in (self.place, f"{self.place}-wal"):
            try:
                sizes.append(os.stat(path).st_size)
            except OSError:
                pass
        return sum(sizes)

    def purging(self, connection: Connection) -> None:
        """Have what is deleted overwritten with zeros."""
        connection.exec_driver_sql("PRAGMA secure_delete=ON")

    def purged(self, engine: Engine) -> None:
        """Give the room back, and keep no copy in the write-ahead log."""
        with engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            raw.execute("PRAGMA incremental_vacuum").fetchall()
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            raw.execute("PRAGMA secure_delete=OFF").fetchall()


def _begin(connection: Connection) -> None:
    # Whoever will write takes the lock at once: a reader that becomes a writer fails at once when
    # somebody wrote between, whatever it would wait.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _code(error: BaseException) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


#: files that this process has opened as logs. POSIX lets go of all locks that a process has on a
#: file when it closes it once: it is not opened again beside SQLite, or another process would take
#: itself for the last one, and delete the write-ahead log that is in use here.
_ours: set[tuple[int, int]] = set()


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _objects(connection: Connection) -> list[tuple[str, str, str | None]]:
    """Kind, name and definition of everything in the file that SQLite did not make by itself."""
    found = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master")
    return [tuple(row) for row in found if not str(row[1]).startswith("sqlite_")]


def _harmless(kind: str, name: str, sql: str | None) -> bool:
    """Whether it is a table or an index of ours that can compute nothing."""
    ours = tables()
    if kind == "table":
        known = {table.name for table in ours.all()}
    elif kind == "index":
        known = {str(index.name) for table in ours.all() for index in table.indexes}
    else:
        return False
    text = sql or ""
    body = _COLUMNS.search(text)
    plain = body and (_NAMES.fullmatch(body[0]) if kind == "index" else True)
    return bool(name in known and _OURS.match(text) and plain and not _ACTIVE.search(text))
