"""The picture of a budget: what is used, reserved and left, as bars and in figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .amounts import count, dollars, seconds
from .escape import one_line
from .parts import Bit, Head, Para, Picture, Table, code, dots, meter, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..runtime.budgets import Budget
    from .parts import Block, Line

__all__ = ["budget", "left_words"]


def budget(thing: Budget) -> Picture:
    """The picture of a budget.

    Parameters
    ----------
    thing : Budget
    """
    blocks = (
        *part("name", lambda: [_head(thing)]),
        *part("amounts", lambda: _amounts(thing)),
        *part("way on", lambda: [Para(_way_on(thing), quiet=True)]),
    )
    return Picture(blocks, framed=True)


def left_words(thing: Budget) -> Line:
    """A budget on one line, for a robot's picture: what is used of each limit."""
    told = (
        f"{amount(name, used)} of {amount(name, limit)}"
        for name, limit, used in zip(thing.limits._fields, thing.limits, thing.used, strict=True)
        if math.isfinite(limit)
    )
    return dots(one_line(thing.name, 60), *told)


def _spent(thing: Budget) -> list[str]:
    """The dimensions of which nothing is left."""
    left = zip(thing.limits._fields, thing.limits, thing.remaining, strict=True)
    return [name for name, limit, rest in left if math.isfinite(limit) and rest <= 0]


def _head(thing: Budget) -> Head:
    over: Line = (Bit("spent", "state", icon="✕", hue="kf"),) if _spent(thing) else ()
    return Head((one_line(thing.name, 120),), "budget", right=over)


def _amounts(thing: Budget) -> Iterable[Block]:
    rows = []
    ledger = zip(
        thing.limits._fields, thing.limits, thing.used, thing.reserved, thing.remaining,
        strict=True,
    )  # fmt: skip
    for name, limit, used, held, left in ledger:
        if not math.isfinite(limit):
            continue
        share = (used + held) / limit if limit > 0 else 1.0
        rows.append(
            (
                (name,),
                (meter(share), f"\u00a0{min(share, 9.99):.0%}"),
                (_figure(name, used),),
                (_figure(name, held) if held else quiet("none"),),
                (_figure(name, left),),
                (_figure(name, limit),),
            )
        )
    if rows:
        columns = ("", "taken", "used", "reserved", "left", "limit")
        yield Table(columns, tuple(rows), frozenset({2, 3, 4, 5}))
    else:
        yield Para((quiet("no limits: it only counts"),))
    counted = [
        amount(name, used)
        for name, limit, used in zip(thing.limits._fields, thing.limits, thing.used, strict=True)
        if not math.isfinite(limit) and used
    ]
    if counted:
        yield Para(dots("used without a limit", *counted), quiet=True)


def amount(dimension: str, number: float) -> str:
    r"""So much of a dimension, with its unit.

    Examples
    --------
    >>> amount("tokens", 1200), amount("cost", 0.25), amount("seconds", 90)
    ('1,200\xa0tokens', '$0.2500', '90\xa0s')
    """
    if dimension == "cost":
        return dollars(number) or "unknown"
    if dimension == "seconds":
        return seconds(number, limit=True) or "unknown"
    return count(round(number), dimension.removesuffix("s"))


def _figure(dimension: str, number: float) -> str:
    """The amount without its unit, where the row says it."""
    return amount(dimension, number).removesuffix(f"\u00a0{dimension}").removesuffix("\u00a0call")


def _way_on(thing: Budget) -> Line:
    spent = _spent(thing)
    after = f"no {' and no '.join(spent)} left: further calls are refused" if spent else None
    return dots(after, (code("budget.reset()"), " starts afresh"))
