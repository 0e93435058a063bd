"""Budgets: how many tokens, dollars, seconds and model calls may be spent, and by whom so far.

It knows amounts only. How a request reserves what it needs is in ``reservations``; prices and
models are others' work.
"""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError
from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .bells import Bell

__all__ = [
    "DIMENSIONS",
    "INFINITE",
    "PARTS",
    "Amounts",
    "Budget",
    "Ledger",
    "amount",
    "budgets_of",
    "ledgers",
]

DIMENSIONS = ("tokens", "cost", "seconds", "calls")
INFINITE = float("inf")
#: parts of a dollar that are counted: whole numbers add up however they are taken apart
PARTS = 10**12
#: one for all: a request is charged to several budgets at once
ledgers = threading.Lock()


class Amounts(NamedTuple):
    """So many tokens, US dollars, seconds and model calls."""

    tokens: float = 0
    cost: float = 0.0
    seconds: float = 0.0
    calls: float = 0


class Budget(Pictured):
    """Limits on what model calls may spend, shared by all that are given the same object.

    A request that would pass a limit is refused before it is made: its prompt is estimated, and
    ``max_tokens`` is what it may write at most. Without ``max_tokens`` nobody knows how much it
    will write: an answer may then pass a limit. It is kept, and the next request is refused. A
    request that only waits for what others have reserved is made when they have settled.

    Parameters
    ----------
    tokens : int, optional
        Most tokens, read and written.
    cost : float, optional
        Most US dollars.
    seconds : float, optional
        Most seconds, from the first use of the budget on; a call under way is then stopped.
    calls : int, optional
        Most requests that were answered or billed.
    name : str, optional
        Shown in errors and events.

    Raises
    ------
    ConfigurationError
        When a limit is no number, or below zero.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> budget = Budget(calls=1, name="lesson")
    >>> bots = [rl.build(name, config={"budget": budget}) for name in ("ann", "ben")]
    >>> answer = bots[0].run("hello")
    >>> budget.used.calls, budget.remaining.calls, budget.remaining.tokens
    (1, 0, inf)
    >>> bots[1].run("hello")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.BudgetExceeded: budget 'lesson' is spent: 1 of 1 calls used. ...
    """

    __slots__ = ("_began", "_held", "_line", "_spent", "limits", "name")

    def __init__(
        self,
        tokens: float | None = None,
        cost: float | None = None,
        seconds: float | None = None,
        calls: float | None = None,
        *,
        name: str = "budget",
    ) -> None:
        given = dict(zip(DIMENSIONS, (tokens, cost, seconds, calls), strict=True))
        for dimension, limit in given.items():
            if limit is not None and (
                isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit >= 0
            ):
                raise ConfigurationError(
                    f"budget {name!r}: {dimension}={limit!r} is no limit",
                    hint="Pass a number that is not below zero, or leave it out.",
                )
        self.name = name
        #: infinite where there is no limit
        self.limits = Amounts(*(INFINITE if x is None else x for x in given.values()))
        #: bells of requests that wait until others have settled, first come first
        self._line: deque[Bell] = deque()
        self._zero()

    def _zero(self) -> None:
        self._spent = Ledger()
        self._held = Ledger()
        self._began: float | None = None

    @property
    def used(self) -> Amounts:
        """What was billed so far, and the seconds since the first use."""
        spent = self._spent
        return Amounts(spent.tokens, spent.cost / PARTS, self._elapsed(), spent.calls)

    @property
    def reserved(self) -> Amounts:
        """What requests under way have set aside."""
        held = self._held
        return Amounts(held.tokens, held.cost / PARTS, 0.0, held.calls)

    @property
    def remaining(self) -> Amounts:
        """What is neither used nor reserved; infinite where there is no limit."""
        taken = zip(self.limits, self.used, self.reserved, strict=True)
        return Amounts(*(max(0, limit - used - held) for limit, used, held in taken))

    def reset(self) -> Budget:
        """Start afresh: nothing used, nothing reserved, the seconds from the next use on.

        What requests under way are billed is charged to the time before.

        Returns
        -------
        Budget
            This budget.
        """
        with ledgers:
            self._zero()
        self._next()
        return self

    def _elapsed(self) -> float:
        return 0.0 if self._began is None else monotonic() - self._began

    def _next(self) -> None:
        """Have the first in the line look again."""
        with ledgers:
            while self._line and not self._line[0].ring():
                self._line.popleft()

    def __repr__(self) -> str:
        told = [
            f"{amount(name, used)} of {amount(name, limit, unit=True)}"
            for name, limit, used in zip(DIMENSIONS, self.limits, self.used, strict=True)
            if limit != INFINITE
        ]
        return f"<Budget {self.name!r}: {', '.join(told) or 'no limits'}>"

    def __reduce__(self) -> Any:
        # A ledger is this process's own; elsewhere the same limits start afresh.
        limits = (None if limit == INFINITE else limit for limit in self.limits)
        return _rebuild, (*limits, self.name)


def amount(dimension: str, number: float, *, unit: bool = False) -> str:
    """A number of a dimension as text.

    Examples
    --------
    >>> amount("tokens", 12000, unit=True), amount("cost", 0.25)
    ('12,000 tokens', '0.25')
    """
    text = f"{number:,.6g}" if dimension in ("cost", "seconds") else f"{number:,.0f}"
    return f"{text} {'US dollars' if dimension == 'cost' else dimension}" if unit else text


def _rebuild(*limits_and_name: Any) -> Budget:
    *limits, name = limits_and_name
    return Budget(*limits, name=name)


class Ledger:
    """Sums of one kind; dollars in parts of one."""

    __slots__ = ("calls", "cost", "tokens")

    def __init__(self) -> None:
        self.tokens = self.cost = self.calls = 0

    def add(self, tokens: int, cost: int, calls: int) -> None:
        """Add to the sums."""
        self.tokens += tokens
        self.cost += cost
        self.calls += calls


def budgets_of(settings: Mapping[str, Any], owner_name: str) -> tuple[Budget, ...]:
    """The budgets that a level's settings mean. Their owner keeps them: they add up over its runs.

    Parameters
    ----------
    settings : mapping
        ``budget`` (one or several) and ``token_budget, cost_budget, time_budget, call_budget``.
    owner_name : str
        Whose the latter are.

    Returns
    -------
    tuple of Budget
        Empty when there are none.

    Raises
    ------
    ConfigurationError
        When ``budget`` holds something else.

    Examples
    --------
    >>> budgets_of({"token_budget": 1000, "call_budget": 10}, "ann")
    (<Budget 'ann': 0 of 1,000 tokens, 0 of 10 calls>,)
    >>> budgets_of({}, "ann")
    ()
    """
    shared = settings.get("budget")
    if shared is None:
        shared = ()
    elif isinstance(shared, Budget):
        shared = (shared,)
    if not isinstance(shared, (list, tuple)) or not all(isinstance(b, Budget) for b in shared):
        raise ConfigurationError(
            f"budget= of {owner_name!r} takes a Budget, or a list of them, not {shared!r:.80}",
            hint="For example rl.Budget(cost=0.5); token_budget= and cost_budget= take numbers.",
        )
    own = [settings.get(n) for n in ("token_budget", "cost_budget", "time_budget", "call_budget")]
    if all(limit is None for limit in own):
        return tuple(dict.fromkeys(shared))
    return (Budget(*own, name=owner_name), *dict.fromkeys(shared))
