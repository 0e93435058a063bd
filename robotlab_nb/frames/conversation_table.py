"""Conversations of a log as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame

__all__ = ["conversation_table"]

_COLUMNS = {
    "session_id": "string", "robot": "string", "turns": "Int64",
    "first_at": "datetime64[us, UTC]", "last_at": "datetime64[us, UTC]", "tokens": "Int64",
    "cost_usd": "Float64", "run_id": "string",
}  # fmt: skip


def conversation_table(conversations: Sequence[Any]) -> DataFrame:
    """A row for each conversation.

    Parameters
    ----------
    conversations : sequence of KeptConversation
    """
    import pandas as pd

    made: Any = pd.array
    return pd.DataFrame(
        {
            name: made([getattr(each, name) for each in conversations], dtype=dtype)
            for name, dtype in _COLUMNS.items()
        }
    )
