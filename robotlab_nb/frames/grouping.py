"""By what figures over runs can be grouped, and how a table is grouped so that nothing is lost.

A row without a name makes a group of its own, with a missing name: sums over groups are sums over
all. Only ``tag`` is different: a run counts for each of its tags.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near
from .columns import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pandas import DataFrame

    from .declaring import Column

__all__ = ["BY", "chosen", "labelled", "names_of", "shaped", "some"]

#: what a person may say -> the column that it becomes
BY = {
    "robot": "robot",
    "task": "task",
    "network": "network",
    "model": "model",
    "prompt": "prompt_hash",
    "session_id": "session_id",
    "status": "status",
    "tag": "tag",
    "day": "day",
}
_DTYPES = {"day": "datetime64[us, UTC]"}


def chosen(by: str | Sequence[str] | None, known: Mapping[str, str] = BY) -> list[str]:
    """The columns that a person groups by.

    Examples
    --------
    >>> chosen(["prompt", "day"]), chosen(None)
    (['prompt_hash', 'day'], [])
    >>> chosen("robots")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.InputError: runs are not grouped by 'robots'. Did you mean 'robot'?
    """
    given = [by] if isinstance(by, str) else list(by or ())
    for name in given:
        if name not in known:
            raise InputError(
                f"runs are not grouped by {name!r:.60}", hint=near(str(name), list(known))
            )
    return list(dict.fromkeys(known[name] for name in given))


def some(table: str, *names: str) -> tuple[Column[Any], ...]:
    """Some columns of a table."""
    return tuple(column for column in TABLES[table] if column.name in names)


def names_of(columns: Sequence[str]) -> list[str]:
    """The columns of ``runs`` that these are made of."""
    return [{"tag": "tags", "day": "started_at"}.get(name, name) for name in columns]


def labelled(table: DataFrame, columns: Sequence[str]) -> DataFrame:
    """A table with the columns to group by: ``day`` from its start, a row for each ``tag``."""
    if "day" in columns:
        table = table.assign(day=table["started_at"].dt.floor("D"))
    if "tag" in columns:
        tags: Any = [json.loads(t) if isinstance(t, str) else None for t in table["tags"]]
        table = table.assign(tag=tags).explode("tag", ignore_index=True)
        table["tag"] = table["tag"].astype("string")
    return table


def shaped(table: DataFrame, columns: Sequence[str], dtypes: Mapping[str, str]) -> DataFrame:
    """A table of groups with its columns and types as declared, whatever it holds."""
    wanted = {**{name: _DTYPES.get(name, "string") for name in columns}, **dtypes}
    made = table.reset_index() if columns else table.reset_index(drop=True)
    return made[list(wanted)].astype(wanted)
