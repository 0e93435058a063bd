"""Reckoning what a plan will cost: prompts counted roughly, answers as long as earlier ones."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from ..core.errors import RobotLabError
from ..core.messages import Message
from ..models.prices import price_of
from ..models.tokens import estimate_input, estimate_tokens
from ..runlog.opened import log
from .estimate import Estimate
from .remembering import store_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..runlog.averages import Average
    from .planning import Plan, Planned

__all__ = ["reckon"]

#: tokens of an answer where no earlier one tells
USUAL = 300
#: tokens that a judge reads besides the answer, and writes
JUDGED = 400, 150


def reckon(plan: Plan) -> Estimate:
    """What the cells of a plan that are not known yet will take.

    Parameters
    ----------
    plan : Plan
        Its ``known`` cells cost nothing.
    """
    asked = [cell for cell in plan.cells if cell.key not in plan.known]
    made_up = sum(cell.column.simulated for cell in asked)
    names = dict.fromkeys(
        model.name for cell in asked for model in cell.column.models[:1] if not model.simulated
    )
    earlier = _averages(names)
    unknown: dict[str, None] = {}
    total = _cost_of(asked, earlier, unknown)
    judging = sum(each.calls for each in plan.evaluators) * len(asked)
    total += _judging(plan, len(asked), unknown)
    return Estimate(
        len(plan.cells), len(asked), len(plan.cells) - len(asked),
        None if unknown else total,
        _basis(names, earlier) if asked else "",
        simulated=made_up + (judging if _judges_simulated(plan) else 0),
        judging=judging, unknown=tuple(unknown),
    )  # fmt: skip


def _cost_of(
    asked: Iterable[Planned], earlier: Mapping[str, Average], unknown: dict[str, None]
) -> float:
    total = 0.0
    system: dict[int, int] = {}
    read: Counter[tuple[str, int]] = Counter()  # tokens, by model and answer's length
    calls: Counter[tuple[str, int]] = Counter()
    for cell in asked:
        column = cell.column
        if id(column) not in system:
            system[id(column)] = estimate_tokens(column.system) + estimate_input(
                (), column.tools.specs if column.tools else ()
            )
        said = cell.message.text if isinstance(cell.message, Message) else cell.message
        most = column.most_tokens or 0
        for model in column.models if column.network is not None else column.models[:1]:
            if not model.simulated:
                read[model.name, most] += system[id(column)] + estimate_tokens(said) + 8
                calls[model.name, most] += 1
    for (name, most), tokens in read.items():
        past, count = earlier.get(name), calls[name, most]
        writes = USUAL if past is None or past.output_tokens is None else past.output_tokens
        cost = _price(name, tokens, min(writes, most or writes) * count)
        if cost is None and past is not None and past.cost_usd is not None:
            cost = past.cost_usd * count
        if cost is None:
            unknown[name] = None
        total += cost or 0.0
    return total


def _price(name: str, read: float, written: float) -> float | None:
    price = price_of(name)
    if price is None or price.input is None or price.output is None:
        return None
    return price.input * read + price.output * written


def _judging(plan: Plan, cells: int, unknown: dict[str, None]) -> float:
    total = 0.0
    for name in _judges(plan):
        cost = _price(name, JUDGED[0] + USUAL, JUDGED[1])
        if cost is None:
            unknown[name] = None
        total += (cost or 0.0) * cells
    return total


def _judges(plan: Plan) -> list[str]:
    found: list[str] = []
    for each in plan.evaluators:
        names: tuple[str, ...] = getattr(each, "model_names", ())
        found += [names[0]] * each.calls if names else []
    return [name for name in found if not name.startswith("simulated/")]


def _judges_simulated(plan: Plan) -> bool:
    return not _judges(plan)


def _averages(names: Iterable[str]) -> dict[str, Average]:
    """What earlier runs took; nothing where no log can say."""
    wanted = list(names)
    if wanted:
        with contextlib.suppress(RobotLabError):
            store = store_of(log)
            if store is not None:
                from ..runlog.averages import averages

                return averages(store, wanted)
    return {}


def _basis(names: Iterable[str], earlier: Mapping[str, Average]) -> str:
    wanted = list(names)
    if not wanted:
        return "simulated"
    runs = sum(average.runs for average in earlier.values())
    if not runs:
        return f"prompts counted roughly, answers taken as {USUAL} tokens, list prices"
    partly = "" if set(wanted) <= set(earlier) else f", else {USUAL} tokens"
    return (
        f"prompts counted roughly, answers as long as in {runs:,} earlier "
        f"run{'' if runs == 1 else 's'}{partly}, list prices"
    )
