"""Bringing the tables of an older log up to date: what it lacks is added, all else stays.

It happens with the first thing that is written to such a log, in the same transaction. A log that
is only read stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import update
from sqlalchemy.schema import CreateIndex, CreateTable

from .metadata import read_version
from .schema import LAYOUT

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from .backends import Backend

__all__ = ["LAYOUT", "upgrade"]


def upgrade(connection: Connection, backend: Backend) -> None:
    """Add the tables that a log lacks, and note its new version.

    Parameters
    ----------
    connection : Connection
        In a transaction that writes.
    backend : Backend
    """
    tables = backend.tables
    backend.upgrading(connection)
    there = tables.of(read_version(connection, tables, backend.place))  # perhaps all, by now
    for table in tables.all():
        if table not in there:
            connection.execute(CreateTable(table))
            for index in table.indexes:
                connection.execute(CreateIndex(index))
    meta = tables.meta
    noted = update(meta).where(meta.c.key == "schema_version")
    connection.execute(noted.values(value=str(LAYOUT)))
