"""Reserving what a request will need in all of its budgets or in none, and settling afterwards.

It knows budgets and amounts; what a request costs is worked out elsewhere.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import BudgetExceeded, ConfigurationError
from .bells import Bell
from .budgets import DIMENSIONS, INFINITE, PARTS, Amounts, amount, ledgers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .budgets import Budget, Ledger
    from .working import Work

__all__ = ["Ask", "Reservation", "ends_at", "out_of_time", "reserve"]


class Ask(NamedTuple):
    """What a request will need.

    Parameters
    ----------
    tokens : int
        What it will read, and may write at most.
    cost : float
        In US dollars.
    tokens_guess, cost_guess : float
        What it will perhaps write, where no ``max_tokens`` says. A guess is reserved as far as
        there is something left; it refuses nothing.
    """

    tokens: int
    cost: float
    tokens_guess: int = 0
    cost_guess: float = 0.0


class _Shortage(NamedTuple):
    """What stands in the way of a request."""

    budget: Budget
    dimension: str
    limit: float
    used: float
    reserved: float
    asked: float

    @property
    def passes(self) -> bool:
        """Whether it may be over when others have settled."""
        return self.dimension != "seconds" and not _over(self.used + self.asked, self.limit)

    def told(self, call_id: str) -> dict[str, Any]:
        """The data of a ``guard.budget`` event."""
        return {**self._asdict(), "call_id": call_id, "budget": self.budget.name}

    def error(self) -> BudgetExceeded:
        """What is raised for it."""
        dimension, name = self.dimension, self.budget.name
        used, held, asked = (amount(dimension, number) for number in self[3:])
        spends = dimension in ("tokens", "cost")
        small = spends and self.used < self.limit
        said = f"budget {name!r} is {'too small for this call' if small else 'spent'}: "
        said += f"{used} of {amount(dimension, self.limit, unit=True)} used"
        if self.reserved:
            said += f", {held} reserved by calls under way"
        if spends:
            said += f", about {asked} needed"
        lower = ", lower max_tokens" if spends else ""
        error = BudgetExceeded(said, hint=f"Raise the limit{lower}, or reset() the budget.")
        error.budget, error.dimension = name, dimension
        error.limit, error.used, error.reserved, error.asked = self[2:]
        return error


class Reservation:
    """What a request has set aside in its budgets, until it is settled or released. Once."""

    __slots__ = ("_call_id", "_open", "_run", "_shares")

    def __init__(
        self, shares: list[tuple[Budget, Ledger, int, int]], call_id: str, run: Work[Any]
    ) -> None:
        self._shares = shares
        self._call_id = call_id
        self._run = run
        self._open = True

    def settle(self, tokens: int, cost: float | None) -> None:
        """Charge what was billed in place of what was reserved.

        Parameters
        ----------
        tokens : int
        cost : float or None
            US dollars; None where no price is known, which no budget can count.
        """
        self._close(int(tokens), round((cost or 0.0) * PARTS), 1)

    def release(self) -> None:
        """Give everything back: nothing was billed."""
        self._close(0, 0, 0)

    def _close(self, tokens: int, cost: int, calls: int) -> None:
        passed: list[_Shortage] = []
        with ledgers:
            if not self._open:
                return
            self._open = False
            for budget, held, tokens_held, cost_held in self._shares:
                held.add(-tokens_held, -cost_held, -1)
                if held is not budget._held:
                    continue  # it was reset meanwhile
                before = budget.used
                budget._spent.add(tokens, cost, calls)
                passed += _passed(budget, before)
        for shortage in passed:
            self._run.emit("guard.budget", shortage.told(self._call_id))
        for budget, *_ in self._shares:
            budget._next()


def _passed(budget: Budget, before: Amounts) -> list[_Shortage]:
    """The limits that what was just charged has passed."""
    rows = zip(DIMENSIONS, budget.limits, before, budget.used, budget.reserved, strict=True)
    return [
        _Shortage(budget, name, limit, now, held, now - then)
        for name, limit, then, now, held in rows
        if name != "seconds" and then <= limit < now
    ]


def _shortage(budgets: Iterable[Budget], ask: Ask) -> _Shortage | None:
    """What stands in the way, that which no waiting can remove first. The lock is held."""
    found: _Shortage | None = None
    for budget in budgets:
        used, held, limits = budget.used, budget.reserved, budget.limits
        wanted = Amounts(ask.tokens, ask.cost, 0.0, 1)
        rows = zip(DIMENSIONS, limits, used, held, wanted, strict=True)
        for name, limit, spent, aside, asked in rows:
            if (
                spent >= limit
                if name == "seconds"
                else (asked > 0 and _over(spent + aside + asked, limit))
            ):
                shortage = _Shortage(budget, name, limit, spent, aside, asked)
                if not shortage.passes:
                    return shortage
                found = found or shortage
    return found


def _over(amount: float, limit: float) -> bool:
    """Whether an amount is above a limit by more than a sum of floats errs."""
    return amount > limit + 0.5 / PARTS


def _take(budgets: Iterable[Budget], ask: Ask, call_id: str, run: Work[Any]) -> Reservation:
    """Reserve in all budgets. The lock is held, and nothing stands in the way."""
    shares = []
    for budget in budgets:
        if budget._began is None:
            budget._began = monotonic()
        left = budget.remaining
        tokens = ask.tokens + min(ask.tokens_guess, max(0, left.tokens - ask.tokens))
        cost = ask.cost + min(ask.cost_guess, max(0.0, left.cost - ask.cost))
        parts = round(cost * PARTS)
        budget._held.add(int(tokens), parts, 1)
        shares.append((budget, budget._held, int(tokens), parts))
    return Reservation(shares, call_id, run)


async def reserve(
    budgets: Sequence[Budget],
    ask: Ask,
    *,
    unpriced: str | None,
    call_id: str,
    run: Work[Any],
    until: float | None,
) -> Reservation | None:
    """Set aside in all budgets what a request will need, or in none.

    A request that would fit if others had not reserved so much waits until they have settled,
    first come first.

    Parameters
    ----------
    budgets : sequence of Budget
    ask : Ask
    unpriced : str or None
        The model's name, where its price is not known and that is not allowed.
    call_id : str
    run : Work
        Gets a ``guard.budget`` event when a budget refuses.
    until : float or None
        Instant of the monotonic clock after which it waits no longer.

    Returns
    -------
    Reservation or None
        None when the time was up.

    Raises
    ------
    BudgetExceeded
        When one has not enough left.
    ConfigurationError
        When a budget limits the cost and the model has no known price.
    """
    _check_priced(budgets, unpriced)
    budgets = tuple(dict.fromkeys(budgets))  # a run and its parent may share one
    with ledgers:
        shortage = _shortage(budgets, ask)
        if shortage is None and not any(budget._line for budget in budgets):
            return _take(budgets, ask, call_id, run)
        # In all lines at once: two requests then stand in the same order in each.
        bell = Bell()
        for budget in budgets:
            budget._line.append(bell)
    try:
        while shortage is None or shortage.passes:
            left = None if until is None else until - monotonic()
            if left is not None and left <= 0:
                return None
            await bell.wait(left)
            with ledgers:
                shortage = _shortage(budgets, ask)
                if shortage is None and all(budget._line[0] is bell for budget in budgets):
                    return _take(budgets, ask, call_id, run)
    finally:
        with ledgers:
            for budget in budgets:
                if bell in budget._line:
                    budget._line.remove(bell)
        for budget in budgets:
            budget._next()
    raise _refused(shortage, call_id, run)


def _check_priced(budgets: Iterable[Budget], unpriced: str | None) -> None:
    if unpriced is None:
        return
    for budget in budgets:
        if budget.limits.cost != INFINITE:
            raise ConfigurationError(
                f"budget {budget.name!r} limits the cost, and no price is known for {unpriced}",
                hint="Use a model with a known price, limit tokens instead, or set "
                "allow_unpriced=True: what the model costs is then not counted.",
            )


def _refused(shortage: _Shortage, call_id: str, run: Work[Any]) -> BudgetExceeded:
    run.emit("guard.budget", shortage.told(call_id))
    return shortage.error()


def ends_at(budgets: Iterable[Budget]) -> float | None:
    """When the first of the budgets runs out of time; their seconds count from the first use.

    Returns
    -------
    float or None
        An instant of the monotonic clock; None when none limits the time.
    """
    ends = INFINITE
    with ledgers:
        for budget in budgets:
            if budget._began is None:
                budget._began = monotonic()
            ends = min(ends, budget._began + budget.limits.seconds)
    return None if ends == INFINITE else ends


def out_of_time(budgets: Sequence[Budget], call_id: str, run: Work[Any]) -> BudgetExceeded:
    """The error of a request that was stopped because a budget's time was up. It is not raised."""
    first = min(budgets, key=lambda budget: budget.limits.seconds - budget.used.seconds)
    limit = first.limits.seconds
    return _refused(
        _Shortage(first, "seconds", limit, max(limit, first.used.seconds), 0.0, 0.0), call_id, run
    )
