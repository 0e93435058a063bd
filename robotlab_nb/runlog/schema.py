"""The log's tables, the same on both databases.

``events`` and ``scopes`` are the record, ``tags`` and ``ratings`` what people added; ``roots``,
``runs`` and ``cells`` are an index, derived from the events and made again from them at any time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)
from sqlalchemy.dialects import postgresql

from .rows import OTHER_COLUMNS, TEXT_COLUMNS

if TYPE_CHECKING:
    from sqlalchemy.types import TypeEngine

__all__ = ["LAYOUT", "Tables", "tables"]

#: Version of the tables; it stands in ``meta``.
LAYOUT = 2
#: version -> the tables that came with it
ADDED = {2: ("ratings", "cells")}

#: compared by code points on both databases
_TEXT: TypeEngine[str] = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def _key(name: str) -> Column[str]:
    return Column(name, _TEXT, nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, _TEXT)


def _number(name: str, *, needed: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=not needed)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean(create_constraint=False), nullable=False)


class Tables:
    """The tables, in a PostgreSQL schema or in a file."""

    def __init__(self, schema: str | None) -> None:
        self.metadata = made = MetaData(schema=schema)
        self.meta = Table("meta", made, _key("key"), _text("value"), PrimaryKeyConstraint("key"))
        self.writers = Table(
            "writers", made, _key("writer_id"), _number("pid"), _text("host"),
            _number("process_started"), _number("started_at"), _number("seen_at"),
            _number("ended_at"), PrimaryKeyConstraint("writer_id"),
        )  # fmt: skip
        self.roots = Table(
            "roots", made, _key("root_id"), _text("writer_id"), _text("kind"), _text("name"),
            _number("started_at", needed=True), _number("schema_version"), _text("status"),
            _number("last_seq", needed=True), _number("ended_at"),
            PrimaryKeyConstraint("root_id"),
        )  # fmt: skip
        self.scopes = Table(
            "scopes", made, _key("root_id"), _number("scope_no", needed=True), _key("run_id"),
            _text("parent_id"), _number("depth"), _text("kind"), _text("path"), _text("robot"),
            PrimaryKeyConstraint("root_id", "scope_no"),
        )  # fmt: skip
        self.events = Table(
            "events", made, _key("root_id"), _number("seq", needed=True),
            _number("scope_no", needed=True), _key("type"), Column("elapsed", Double),
            _key("data"), PrimaryKeyConstraint("root_id", "seq"),
        )  # fmt: skip
        self.runs = self._runs(made)
        self.partials = Table(
            "partials", made, _key("root_id"), _key("run_id"), _number("scope_no"),
            _key("call_id"), Column("attempt", Integer, nullable=False), _key("kind"),
            _key("text"), _number("seen_at"),
            PrimaryKeyConstraint("root_id", "call_id", "attempt", "kind"),
        )  # fmt: skip
        self.tags = Table(
            "tags", made, _key("run_id"), _key("tag"), _key("by"), _number("at"),
            PrimaryKeyConstraint("run_id", "tag"),
        )  # fmt: skip
        self.ratings = Table(
            "ratings", made, _key("run_id"), Column("rating", Integer), _text("note"), _key("by"),
            _number("at", needed=True), PrimaryKeyConstraint("run_id"),
        )  # fmt: skip
        self.cells = Table(
            "cells", made, _key("root_id"), _number("seq", needed=True), _key("cell_key"),
            PrimaryKeyConstraint("root_id", "seq"),
        )  # fmt: skip
        Index("cells_by_key", self.cells.c.cell_key)
        Index("roots_by_start", self.roots.c.started_at, self.roots.c.root_id)
        Index("roots_by_status", self.roots.c.status)
        runs = self.runs.c
        Index("runs_by_root_start", runs.root_started_at, runs.root_id, runs.number)
        for name in ("root_id", "started_at", "robot", "model", "status", "session_id",
                     "prompt_hash", "task"):  # fmt: skip
            Index(f"runs_by_{name}", runs[name])
        Index("tags_by_tag", self.tags.c.tag)

    @staticmethod
    def _runs(made: MetaData) -> Table:
        others: dict[str, Column[Any]] = {
            name: _flag(name) for name in ("simulated", "tokens_estimated", "cost_complete")
        }
        others["cost_usd"] = Column("cost_usd", Double)
        needed = {"run_id", "root_id", "number", "root_started_at"}
        return Table(
            "runs", made,
            *(_key(name) if name in needed else _text(name) for name in TEXT_COLUMNS),
            *(others.get(name, _number(name, needed=name in needed)) for name in OTHER_COLUMNS),
            PrimaryKeyConstraint("run_id"),
        )  # fmt: skip

    def all(self) -> list[Table]:
        """Every table."""
        return list(self.metadata.tables.values())

    def of(self, version: int) -> list[Table]:
        """The tables that a log of a version has."""
        later = {name for since, names in ADDED.items() if since > version for name in names}
        return [table for table in self.all() if table.name not in later]


@lru_cache(maxsize=32)
def tables(schema: str | None = None) -> Tables:
    """The tables of a schema; None where the database has none."""
    return Tables(schema)
