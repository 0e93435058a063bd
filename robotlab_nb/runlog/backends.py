"""What a database offers to the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Connection, Engine

    from .faults import LogError
    from .schema import Tables

__all__ = ["Backend", "original_error"]


class Backend(Protocol):
    """A place for a log. The store does the work; this knows what the databases differ in."""

    kind: str
    place: str
    readonly: bool
    tables: Tables
    #: options of a query whose rows are to come as they are asked for
    streaming: dict[str, Any]
    #: the database's own insert, which can say what to do with a row that is there already
    insert: Callable[..., Any]

    def engine(self) -> Engine:
        """An engine for this process; it opens nothing yet."""

    def prepare(self, engine: Engine) -> int:
        """Make the tables where there are none, see that they are ours; their version."""

    def upgrading(self, connection: Connection) -> None:
        """Before tables are added in a transaction: two who would do so do it one by one."""

    def still_there(self) -> None:
        """Raise :class:`LogGone` when what is open is not what its name means any more."""

    def busy(self, error: BaseException) -> bool:
        """Whether others are in the way of a transaction that may succeed in a moment."""

    def cut(self, error: BaseException) -> bool:
        """Whether the connection was lost, and a new one may do."""

    def fault(self, error: BaseException) -> LogError:
        """An error of the database as one of ours."""

    def clock(self) -> Any:
        """Microseconds now, by a clock that all writers share."""

    def matching(self, column: Any, pattern: str) -> Any:
        """The condition that a column fits a pattern with ``*`` and ``?``."""

    def check(self, connection: Connection) -> list[str]:
        """What the database itself finds wrong."""

    def size(self, connection: Connection) -> int:
        """Bytes that the log takes."""

    def purging(self, connection: Connection) -> None:
        """Before something is deleted for good."""

    def purged(self, engine: Engine) -> None:
        """After that was committed."""


def original_error(error: BaseException) -> BaseException:
    """The database driver's own error."""
    return getattr(error, "orig", None) or error
