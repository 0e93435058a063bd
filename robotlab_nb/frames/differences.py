"""The table of what is different between two runs: a row for each task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cells import CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pandas import DataFrame

__all__ = ["differences"]

#: name -> type
_COLUMNS = {
    "task": "string", "change": "string", "what": "string", "status_a": "string",
    "status_b": "string", "text_a": "string", "text_b": "string", "cost_usd_a": "Float64",
    "cost_usd_b": "Float64", "duration_s_a": "Float64", "duration_s_b": "Float64",
    "model_a": "string", "model_b": "string",
}  # fmt: skip


def differences(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """The rows of a Diff as a table, the same columns and types whatever they hold.

    Parameters
    ----------
    rows : sequence of mapping
        What ``rl.diff(a, b).rows`` lists.

    Returns
    -------
    DataFrame
        Its ``what`` is one text: the names with commas between them.

    Examples
    --------
    >>> differences([]).shape
    (0, 13)
    """
    import pandas as pd

    make: Any = pd.array
    arrays = {}
    for name, dtype in _COLUMNS.items():
        cell = CELLS[dtype]
        values = [", ".join(row["what"]) if name == "what" else row[name] for row in rows]
        arrays[name] = make([cell(value) for value in values], dtype=dtype)
    return pd.DataFrame(arrays, copy=False)
