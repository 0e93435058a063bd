"""A log in PostgreSQL: its schema, and naming what goes wrong.

All tables lie in one schema of their own. Waits are bounded: to connect, for locks, and for a
connection that has silently gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, cast, event, extract, func, inspect, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import create_engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.schema import CreateSchema

from ..core.errors import ConfigurationError, DependencyError
from .faults import LogDamaged, LogError, LogFull, LogGone, LogLocked, LogReadOnly, LogUnreachable
from .metadata import describe, read_version
from .patterns import like
from .schema import LAYOUT, tables

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from .schema import Tables

__all__ = ["Postgres"]

SCHEMA = "robotlab_nb"
#: seconds to connect; milliseconds that a statement waits for others; seconds of silence after
#: which a connection is given up
CONNECT_S = 10
LOCK_MS = 2_000
SILENCE_S = 30
#: so that two who begin a log at once do it one after the other
_LOCK = 0x524C6E62
#: the same transaction may succeed in a moment
_RETRY = {"40001", "40P01", "55P03"}
_CLASSES: dict[str, tuple[type[LogError], str]] = {
    "53100": (LogFull, "Free some space on its disk."),
    "25006": (LogReadOnly, "Open it with readonly=True."),
    "42501": (LogReadOnly, "Ask for the right to write, or open it with readonly=True."),
    "42P01": (LogGone, "Its tables were dropped or renamed."),
    "3F000": (LogGone, "Its schema was dropped or renamed."),
    "3D000": (LogGone, "Name a database that is there."),
    "42703": (LogDamaged, "Its tables are not ours."),
}


class Postgres:
    """The database, and how to connect to it."""

    kind = "postgresql"
    insert = staticmethod(insert)

    def __init__(self, url: str, *, create: bool, readonly: bool) -> None:
        try:
            found = make_url(url)
        except (ArgumentError, ValueError):
            raise ConfigurationError(
                "the log's PostgreSQL URL cannot be read",
                hint="It is postgresql://user:password@host:5432/database.",
            ) from None
        query = dict(found.query)
        schema = query.pop("schema", SCHEMA)
        if not isinstance(schema, str) or not schema or "\0" in schema:
            raise ConfigurationError("the log's URL names several schemas", hint="Name one.")
        self.schema = schema
        self._url = found.set(drivername="postgresql+psycopg", query=query)
        self.place = found.set(drivername="postgresql").render_as_string(hide_password=True)
        self.readonly = readonly
        self.streaming: dict[str, Any] = {"stream_results": True, "max_row_buffer": 20}
        self.tables: Tables = tables(schema)
        self._create = create and not readonly

    def engine(self) -> Engine:
        """An engine for this process; opens nothing yet."""
        try:
            made = create_engine(
                self._url, pool_size=4, max_overflow=28, pool_pre_ping=True,
                paramstyle="format", hide_parameters=True,
                connect_args={
                    "connect_timeout": CONNECT_S,
                    "tcp_user_timeout": SILENCE_S * 1_000,
                    "keepalives_idle": SILENCE_S,
                    "application_name": "robotlab_nb",
                },
            )  # fmt: skip
        except ModuleNotFoundError as error:
            raise DependencyError(
                "a log in PostgreSQL needs the package psycopg",
                hint='pip install "robotlab-nb[postgres]"',
            ) from error
        readonly = self.readonly

        @event.listens_for(made, "connect")
        def settle(connection: Any, _: Any) -> None:
            connection.execute(f"SET lock_timeout = {LOCK_MS}")
            connection.execute("SET client_encoding = 'UTF8'")
            if readonly:
                connection.execute("SET default_transaction_read_only = on")
            connection.commit()

        return made

    def prepare(self, engine: Engine) -> int:
        """Make the schema and tables where there are none, see that they are ours."""
        with engine.connect() as connection:
            there = inspect(connection).has_table("meta", schema=self.schema)
        if not there:
            if not self._create:
                raise LogGone(
                    f"there is no log in {self.place!r}",
                    hint=f"Check the database and the schema {self.schema!r}.",
                )
            self._make(engine)
        with engine.connect() as connection:
            version = read_version(connection, self.tables, self.place)
            if version <= LAYOUT:
                self._check_tables(connection, version)
        return version

    def _make(self, engine: Engine) -> None:
        with engine.connect() as connection, connection.begin():
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            seen = inspect(connection)
            if self.schema not in seen.get_schema_names():
                connection.execute(CreateSchema(self.schema))
            elif seen.has_table("meta", schema=self.schema):
                return  # another process was first
            elif strangers := seen.get_table_names(schema=self.schema):
                raise LogDamaged(
                    f"the schema {self.schema!r} of {self.place!r} holds other tables, such as "
                    f"{strangers[0]!r:.60}",
                    hint="Name a schema of the log's own with ?schema=name.",
                )
            self.tables.metadata.create_all(connection, checkfirst=False)
            describe(connection, self.tables)

    def _check_tables(self, connection: Connection, version: int) -> None:
        found = inspect(connection).get_multi_columns(schema=self.schema)
        for table in self.tables.of(version):
            have = {c["name"] for c in found.get((self.schema, table.name), ())}
            lacking = [c.name for c in table.columns if c.name not in have]
            if lacking:
                raise LogDamaged(
                    f"the log {self.place!r} lacks columns of {table.name!r}: {lacking}"
                )

    def upgrading(self, connection: Connection) -> None:
        """Let others wait who would do the same."""
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))

    # -- while it is open ----------------------------------------------------------------

    def still_there(self) -> None:
        """Raise nothing: the server says itself when a table is gone."""

    def busy(self, error: BaseException) -> bool:
        """Whether others are in the way."""
        return _state(error) in _RETRY

    def cut(self, error: BaseException) -> bool:
        """Whether the connection was cut, and a new one may do."""
        return _state(error).startswith(("08", "57P")) or _silent(error)

    def fault(self, error: BaseException) -> LogError:
        """An error of the server as one of ours."""
        state = _state(error)
        said = f"the log {self.place!r}"
        told = str(error).strip().splitlines()[:1]
        why = told[0][:300] if told else type(error).__name__
        if state in _CLASSES:
            kind, hint = _CLASSES[state]
            return kind(f"{said}: {why}", hint=hint)
        if state in _RETRY:
            return LogLocked(
                f"{said} is locked: others have been writing for too long", hint="Try again."
            )
        if state.startswith(("08", "28", "53", "57P")) or _silent(error):
            return LogUnreachable(
                f"{said} cannot be reached: {why}",
                hint="Check that the server runs, and the names of database and user.",
            )
        return LogError(f"{said} failed: {type(error).__name__}: {why}")

    def clock(self) -> Any:
        """Microseconds now, by the server's clock: writers may be on several machines."""
        return cast(extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)

    def matching(self, column: Any, pattern: str) -> Any:
        """The condition that a column fits a pattern."""
        return column.like(like(pattern), escape="!")

    def check(self, connection: Connection) -> list[str]:
        """Nothing: the server watches over its own files."""
        return []

    def size(self, connection: Connection) -> int:
        """Bytes of the tables and their indexes."""
        sizes = text(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = :name AND c.relkind = 'r'"
        )
        return int(connection.execute(sizes, {"name": self.schema}).scalar_one())

    def purging(self, connection: Connection) -> None:
        """Nothing: the server gives room back by itself."""

    def purged(self, engine: Engine) -> None:
        """Nothing more to do."""


def _state(error: BaseException) -> str:
    """The five signs by which SQL names an error; empty where there are none."""
    return getattr(error, "sqlstate", None) or ""


def _silent(error: BaseException) -> bool:
    """Whether the connection itself failed: such errors have no state."""
    name = type(error).__name__
    return not _state(error) and name in ("OperationalError", "ConnectionTimeout", "AdminShutdown")
