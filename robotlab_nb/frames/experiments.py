"""Tables of experiments: a row for each cell, a grid of one column, variants in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near
from ..core.secrets import redact
from .experiment_columns import columns_of
from .filling import Filling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pandas import DataFrame

__all__ = ["cells_table", "pivoted", "ranked", "write_table"]

#: columns of which less is better
_NUMBERS = ("Int64", "Float64", "boolean")
_LESS = frozenset({"cost_usd", "duration_s", "input_tokens", "output_tokens"})
#: axes that are no matter of a variant
_WHERE = ("input", "repeat")


def cells_table(cells: Sequence[Any], axes: Mapping[str, Sequence[Any]]) -> DataFrame:
    """A row for each cell.

    Parameters
    ----------
    cells : sequence of Cell
    axes : mapping
        Labels by axis.
    """
    from .. import __version__

    filling = Filling(columns_of(cells, axes))
    place: Any = None
    filling.extend((cell, place) for cell in cells)
    table = filling.table()
    table.attrs = {"robotlab_nb": __version__}
    return table


def pivoted(
    table: DataFrame,
    axes: Mapping[str, Sequence[Any]],
    values: str,
    index: str | Sequence[str],
    columns: str | Sequence[str],
) -> DataFrame:
    """A column of the table by axes.

    Raises
    ------
    InputError
        When there is no such column, or no such axis.
    """
    rows, across = _several(index), _several(columns)
    for name in (values, *rows, *across):
        if name not in table.columns:
            raise InputError(f"there is no column {name!r:.60}", hint=near(name, table.columns))
    across = [name for name in across if len(axes.get(name, ("", ""))) > 1] or across[:1]
    how: Any = "mean" if str(table[values].dtype) in ("Int64", "Float64") else "first"
    if str(table[values].dtype) == "boolean":
        table, how = table.assign(**{values: table[values].astype("Float64")}), "mean"
    found = table.pivot_table(
        values=values, index=rows, columns=across, aggfunc=how, sort=False, observed=True
    )
    # In the order of the axes; what nothing was answered for stays there, empty.
    if len(rows) == 1 and rows[0] in axes:
        found = found.reindex(list(axes[rows[0]]))
        found.index.name = rows[0]
    return found


def ranked(
    table: DataFrame,
    axes: Mapping[str, Sequence[Any]],
    by: str | None,
    scores: Sequence[str],
) -> list[dict[str, Any]]:
    """The variants (prompt, model, further values), best first.

    Raises
    ------
    InputError
        When there is nothing to go by.
    """
    if by is None:
        by = next((name for name in (*scores, "rating") if _has(table, name)), None)
    if by is None:
        raise InputError(
            "nothing says which is best: there are no scores and no ratings",
            hint="Pass evaluators= to compare(), rate some cells, or say by='cost_usd'.",
        )
    if by not in table.columns or str(table[by].dtype) not in _NUMBERS:
        known = [str(n) for n, t in table.dtypes.items() if str(t) in _NUMBERS]
        raise InputError(f"best(by={by!r:.60}): there are no such numbers", hint=near(by, known))
    if not _has(table, by):
        raise InputError(f"best(by={by!r:.60}): no cell has one")
    variant = [name for name in axes if name not in _WHERE and name in table.columns]
    numbers = table.assign(**{by: table[by].astype("Float64")})
    grouped = numbers.groupby(variant, sort=False, observed=True, dropna=False)
    parts: Any = (grouped[by].mean(), grouped[by].count(), grouped["cost_usd"].mean())
    means, counts, costs = parts
    found = [
        {
            **dict(zip(variant, key if isinstance(key, tuple) else (key,), strict=True)),
            "by": by, "mean": float(mean), "of": int(counts[key]),
            "cost_usd": None if _missing(costs[key]) else float(costs[key]),
        }
        for key, mean in means.items()
        if not _missing(mean)
    ]  # fmt: skip
    sign = 1 if by in _LESS else -1
    # Of those that are as good as each other, the cheapest comes first.
    found.sort(key=lambda each: (sign * each["mean"], each["cost_usd"] or 0.0))
    return found


def write_table(table: DataFrame, path: Path, *, as_csv: bool, formulas: bool = False) -> None:
    """Write a table of cells to a file: registered secrets are masked, CSV is free of formulas.

    Parameters
    ----------
    table : DataFrame
    path : Path
    as_csv : bool
        CSV, else Parquet.
    formulas : bool, optional
        Whether texts that begin like a formula stay as they are.
    """
    from .table_files import harmless

    change = redact if formulas or not as_csv else lambda text: harmless(redact(text))
    texts = [name for name, dtype in table.dtypes.items() if dtype == "string"]
    made = table.copy(deep=False)
    for name in texts:
        made[name] = made[name].map(change, na_action="ignore").astype("string")
    made = made.rename(columns=lambda name: change(str(name)))
    made.attrs = {}
    if as_csv:
        made.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")
    else:
        made.to_parquet(path, index=False)


def _has(table: DataFrame, name: str) -> bool:
    return name in table.columns and bool(table[name].notna().any())


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _several(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
