"""What a request needs before it is made: a part of the budgets, and its turn under rate limits.

Estimates are made here, and settled here when it is known what was billed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from ..runtime.reservations import Ask, reserve
from . import accounts
from .costs import cost_of
from .limits import TooLate, Wish
from .tokens import estimate_input

if TYPE_CHECKING:
    from ..core.usage import Usage
    from ..runtime.reservations import Reservation
    from .calls import Call
    from .limits import Slot

__all__ = ["Ticket", "admit"]

#: tokens that an answer is taken to have where no ``max_tokens`` says how many it may have
GUESS = 1024


class Ticket:
    """What an admitted request holds, until it has ended."""

    __slots__ = ("_reservation", "_slot")

    def __init__(self, reservation: Reservation | None, slot: Slot | None) -> None:
        self._reservation = reservation
        self._slot = slot

    def settle(self, usage: Usage | None, *, refused: bool = False) -> None:
        """Charge what was billed, and let the window run.

        Parameters
        ----------
        usage : Usage or None
            What was billed; None for a request that failed before any byte.
        refused : bool, optional
            Whether the server said that it did nothing: its tokens do not count then.
        """
        tokens = None if usage is None else usage.total_tokens or 0
        if self._reservation is not None:
            if usage is None:
                self._reservation.release()
            else:
                self._reservation.settle(tokens or 0, usage.cost_usd)
        if self._slot is not None:
            self._slot.leave(0 if refused else tokens)


async def admit(call: Call, *, limits: bool = True) -> Ticket | None:
    """Wait until a call's next request may be made.

    Parameters
    ----------
    call : Call
    limits : bool, optional
        Whether rate limits hold; else only budgets count.

    Returns
    -------
    Ticket or None
        None when there is nothing to hold.

    Raises
    ------
    BudgetExceeded, ConfigurationError
        When a budget has not enough left, or cannot count what the model costs.
    ModelError
        When its turn would come after the deadline; no request was made.
    """
    settings, budgets = call.settings, call.run.budgets
    requests, tokens = settings["requests_per_minute"], settings["tokens_per_minute"]
    limiter = None
    if limits:
        limiter = accounts.limiter_of(call.model, make=requests is not None or tokens is not None)
    if limiter is None and not budgets:
        return None
    reads = estimate_input(call.request.messages, call.request.tools)
    writes = _most_output(call)
    reservation = await _reserved(call, reads, writes) if budgets else None
    if limiter is None:
        return Ticket(reservation, None)

    def waits(limit: str, seconds: float) -> None:
        data: dict[str, Any] = {"call_id": call.id, "limit": limit, "wait_s": seconds}
        call.run.emit("guard.limited", data)

    if writes is None:
        writes = GUESS if tokens is None else min(GUESS, int(tokens) // 4)
    # Estimates of texts err by a third: for a limit, rather too many than too few.
    wish = Wish(requests, tokens, reads * 3 // 2 + writes)
    try:
        slot = await limiter.enter(wish, until=call.until, waits=waits)
    except BaseException as error:
        if reservation is not None:
            reservation.release()
        if isinstance(error, TooLate):
            raise _too_late(call, error) from None
        raise
    return Ticket(reservation, slot)


async def _reserved(call: Call, reads: int, writes: int | None) -> Reservation:
    model = call.model
    guess = GUESS if writes is None else 0
    known = {"input_tokens": reads, "output_tokens": writes or 0}
    cost = 0.0 if model.simulated else cost_of(model, known)
    more = 0.0
    if guess and cost:
        more = (cost_of(model, {**known, "output_tokens": guess}) or cost) - cost
    found = await reserve(
        call.run.budgets,
        Ask(reads + (writes or 0), cost or 0.0, guess, more),
        unpriced=model.name if cost is None and not call.settings["allow_unpriced"] else None,
        call_id=call.id,
        run=call.run,
        until=call.until,
    )
    if found is None:
        raise ModelError(
            f"{model.name} was not asked: other calls have reserved what is left of its budget, "
            f"and did not settle within {call.seconds:.4g} s",
            hint="Raise model_timeout, or the budget.",
            retryable=True,
            kind="timeout",
        )
    return found


def _most_output(call: Call) -> int | None:
    params = call.request.params
    most = params.get("max_completion_tokens") or params.get("max_tokens")
    return most if isinstance(most, int) else None


def _too_late(call: Call, late: TooLate) -> ModelError:
    limit, wait = late.limit, f"{late.wait_s:.3g} s"
    longer = "model_timeout" if call.ends is None or call.until != call.ends else "the time budget"
    if limit == "retry_after":
        why = f"its provider wants no request for another {wait}"
        hint = f"Raise {longer}, or run again later."
    else:
        own = call.settings[limit]
        named = f"{limit}={own:g}" if own is not None else f"the {limit} of another robot"
        why = f"under {named} its turn comes in {wait}"
        hint = f"Raise {longer} or {limit}, or run fewer calls at once."
    return ModelError(
        f"{call.model.name} was not asked: {why}, after the deadline of {call.seconds:.4g} s",
        hint=hint,
        retryable=True,
        retry_after=late.wait_s,
        kind="rate_limit",
    )
