"""What runs took on average so far, by model: from the log's index, in one query."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from .event_text import clean, original

if TYPE_CHECKING:
    from collections.abc import Collection

    from .store import Store

__all__ = ["Average", "averages"]


class Average(NamedTuple):
    """How many runs a model had, and what one of them took."""

    runs: int
    output_tokens: float | None
    cost_usd: float | None


def averages(store: Store, models: Collection[str]) -> dict[str, Average]:
    """The averages of completed robots' runs, by the model that they began with.

    Parameters
    ----------
    store : Store
    models : collection of str
    """
    runs = store._backend.tables.runs.c
    priced = runs.cost_complete.is_(True)
    query = (
        select(
            runs.model,
            func.count(),
            func.avg(runs.output_tokens),
            func.avg(runs.cost_usd).filter(priced),
        )
        .where(
            runs.model.in_([clean(model) for model in models]),
            runs.status == "completed",
            runs.kind == "robot",
            runs.simulated.is_(False),
            runs.model_calls > 0,
        )
        .group_by(runs.model)
    )
    with store._reading() as connection:
        rows = connection.execute(query).all()
    return {
        original(model): Average(count, _float(tokens), _float(cost))
        for model, count, tokens, cost in rows
    }


def _float(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]
