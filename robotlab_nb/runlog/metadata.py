"""What a log says of itself: the version of its tables, and which package made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from .faults import LogDamaged, LogVersion
from .schema import LAYOUT

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from .schema import Tables

__all__ = ["describe", "read_version"]


def describe(connection: Connection, tables: Tables) -> None:
    """Write it into tables just made."""
    from .. import __version__
    from .records import now

    rows = {"schema_version": LAYOUT, "made_by": __version__, "made_at": now()}
    connection.execute(
        insert(tables.meta), [{"key": key, "value": str(value)} for key, value in rows.items()]
    )


def read_version(connection: Connection, tables: Tables, place: str) -> int:
    """The version of the tables.

    Raises
    ------
    LogVersion
        When it is newer than any that is known here.
    """
    meta = tables.meta
    found = connection.execute(select(meta.c.key, meta.c.value))
    said = {row.key: row.value for row in found}
    try:
        version = int(said["schema_version"] or "")
    except (KeyError, ValueError):
        raise LogDamaged(f"the log {place!r} does not say its version") from None
    if version > LAYOUT:
        made_by = str(said.get("made_by") or "a newer version")[:40]
        raise LogVersion(
            f"the log {place!r} has tables of version {version}, made by robotlab_nb {made_by}; "
            f"this one knows version {LAYOUT}",
            hint="Update robotlab_nb, or open another log.",
        )
    return version
