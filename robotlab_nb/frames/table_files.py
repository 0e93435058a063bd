"""A table of a log written to a file, some roots at a time: it is never in memory as a whole.

Cells of a CSV file that a spreadsheet would take for a formula are made texts.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..core import secrets
from ..core.errors import ConfigurationError
from .columns import TABLES
from .log_frames import read_together

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from pandas import DataFrame

    from .log_frames import Source, Told

__all__ = ["harmless", "portions", "write_csv", "write_parquet"]

#: roots that are read at a time
ROOTS = 100
#: what begins a formula, full-width signs too
_SIGN = "[^\\S\r\n]*[=+\\-@\uff1d\uff0b\uff0d\uff20\u2212\t]"
_FIRST = re.compile(f"{_SIGN}|\r")
#: the same at the start of a line in a cell, or of what is quoted in it
_INSIDE = re.compile(f"([\r\n\"'\u2018\u2019\u201c\u201d])(?={_SIGN})")


def harmless(text: str) -> str:
    r"""A text that no spreadsheet takes for a formula: an apostrophe before what begins like one.

    Examples
    --------
    >>> harmless("=1+1"), harmless("1 + 1"), harmless('"\t@x')
    ("'=1+1", '1 + 1', '"\'\t@x')
    """
    made = _INSIDE.sub(r"\1'", text)
    return f"'{made}" if _FIRST.match(made) else made


class _Portion:
    """A source that gives its roots some at a time."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._roots: Iterator[Told] | None = None
        self.more = True

    @property
    def query(self) -> Mapping[str, Any]:
        return self._source.query

    @property
    def words(self) -> str:
        return self._source.words

    def roots(
        self, types: Collection[str] | None, *, sessions: bool = False, tags: bool = False
    ) -> Iterator[Told]:
        if self._roots is None:
            self._roots = self._source.roots(types, sessions=sessions, tags=tags)
        taken = 0
        for told in islice(self._roots, ROOTS):
            taken += 1
            yield told
        self.more = taken == ROOTS

    def outside(self, types: Collection[str]) -> Iterator[Any]:
        return self._source.outside(types)

    def totals(self) -> Mapping[str, int]:
        return {}

    def prompts(self, run_ids: Sequence[str]) -> Mapping[str, str]:
        return self._source.prompts(run_ids)


def portions(source: Source, name: str) -> Iterator[DataFrame]:
    """A table in parts, the first one always; registered secrets are masked in it.

    Parameters
    ----------
    source : Source
    name : str
        The table's name. Letters on the bus are read at once: they go from root to root.
    """
    if name == "bus":
        yield _masked(read_together(source, {name: TABLES[name]})[name])
        return
    part, first = _Portion(source), True
    while part.more:
        table = read_together(part, {name: TABLES[name]})[name]
        if first or len(table):
            yield _masked(table)
        first = False


def _masked(table: DataFrame) -> DataFrame:
    for unsteady in ("roots", "root_ids"):  # they tell of the part alone
        table.attrs.pop(unsteady, None)
    return _mapped(table, secrets.redact) if secrets.any_known else table


def _mapped(table: DataFrame, change: Any) -> DataFrame:
    """A table with its texts changed."""
    for column in _texts(table):
        table[column] = table[column].map(change, na_action="ignore").astype("string")
    return table


def _texts(table: DataFrame) -> list[str]:
    return [str(name) for name, dtype in table.dtypes.items() if dtype == "string"]


def write_csv(source: Source, name: str, path: Path, *, formulas: bool = False) -> int:
    """Write a table as CSV (UTF-8, lines end with a line feed).

    Parameters
    ----------
    source : Source
    name : str
    path : Path
    formulas : bool, optional
        Whether texts that begin like a formula stay as they are.

    Returns
    -------
    int
        How many rows.
    """
    rows = 0
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        for number, table in enumerate(portions(source, name)):
            shown = table if formulas else _mapped(table, harmless)
            shown.to_csv(file, index=False, header=not number, lineterminator="\n")
            rows += len(table)
    return rows


def write_parquet(source: Source, name: str, path: Path) -> int:
    """Write a table as a Parquet file; its columns have the types of the table.

    Returns
    -------
    int
        How many rows.

    Raises
    ------
    ConfigurationError
        Without pyarrow.
    """
    try:
        import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]
        from pyarrow import parquet
    except ImportError as error:
        raise ConfigurationError(
            "Parquet files need the package pyarrow",
            hint="Install it: pip install pyarrow. Or end the file's name in .csv or .jsonl.",
        ) from error
    rows, writer = 0, None
    try:
        for table in portions(source, name):
            made = pa.Table.from_pandas(
                table, schema=None if writer is None else writer.schema, preserve_index=False
            )
            if writer is None:
                writer = parquet.ParquetWriter(path, made.schema, compression="zstd")
            writer.write_table(made)
            rows += len(table)
    finally:
        if writer is not None:
            writer.close()
    return rows
