"""Budgets: reserved in all or in none, settled exactly, refused with all that one must know."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.event_data import EVENT_TYPES
from robotlab_nb.runtime.budgets import Budget, budgets_of
from robotlab_nb.runtime.reservations import Ask, Reservation, ends_at, out_of_time, reserve


class Told:
    """Stands in for a run: keeps what is emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def emit(self, type_: str, data: Any) -> None:
        assert set(data) == set(EVENT_TYPES[type_].__annotations__)
        self.events.append((type_, data))


async def take(
    *budgets: Budget, tokens: int = 0, cost: float = 0.0, guess: int = 0,
    run: Any = None, until: float | None = None, unpriced: str | None = None,
) -> Reservation | None:  # fmt: skip
    return await reserve(
        budgets, Ask(tokens, cost, guess), unpriced=unpriced, call_id="r.1",
        run=run or Told(), until=until,
    )  # fmt: skip


def taken(*budgets: Budget, **ask: Any) -> Reservation:
    found = asyncio.run(take(*budgets, **ask))
    assert found is not None
    return found


# -- sums --------------------------------------------------------------------------------------


AMOUNTS = st.tuples(
    st.integers(0, 400), st.floats(0, 1e-3), st.integers(0, 400), st.floats(0, 1e-3)
)


@given(st.lists(st.tuples(AMOUNTS, st.sampled_from(["settle", "release", "hold"]))))
def test_what_is_used_and_reserved_is_the_sum_of_what_was_settled_and_held(rows: list[Any]) -> None:
    budget = Budget(tokens=1000, cost=2e-3, calls=20)
    held, used = [], []
    for (tokens, cost, real_tokens, real_cost), end in rows:
        left = budget.limits.tokens - budget.used.tokens, budget.limits.cost - budget.used.cost
        free = budget.remaining
        try:
            reservation = asyncio.run(take(budget, tokens=tokens, cost=cost, until=0.0))
        except rl.BudgetExceeded:
            too_much = tokens > left[0] or cost > left[1] or budget.used.calls >= 20
            assert too_much or min(left) < 0
            continue
        if reservation is None:  # others hold too much, and nobody will settle here
            assert tokens > free.tokens or cost > free.cost or free.calls < 1
            continue
        if end == "settle":
            reservation.settle(real_tokens, real_cost)
            used.append((real_tokens, real_cost))
        elif end == "release":
            reservation.release()
        else:
            held.append((tokens, cost))
    assert budget.used.tokens == sum(t for t, _ in used)
    assert budget.used.cost == pytest.approx(sum(c for _, c in used), abs=1e-11)
    assert budget.used.calls == len(used)
    assert budget.reserved.tokens == sum(t for t, _ in held)
    assert budget.reserved.cost == pytest.approx(sum(c for _, c in held), abs=1e-11)
    assert budget.reserved.calls == len(held)
    assert budget.reserved.tokens <= 1000


def test_sums_of_dollars_are_exact() -> None:
    budget = Budget(cost=0.3)
    for _ in range(3):
        taken(budget, cost=0.1).settle(1, 0.1)
    assert (budget.used.cost, budget.remaining.cost) == (0.3, 0.0)


def test_a_reservation_is_made_in_all_budgets_or_in_none() -> None:
    wide, narrow = Budget(tokens=1000), Budget(calls=1, name="narrow")
    taken(wide, narrow, tokens=10).settle(10, 0.0)
    with pytest.raises(rl.BudgetExceeded, match="narrow"):
        taken(wide, narrow, tokens=10)
    assert (wide.used.tokens, wide.reserved.tokens) == (10, 0)


def test_a_budget_that_stands_twice_is_charged_once() -> None:
    budget = Budget(tokens=100)
    taken(budget, budget, tokens=30).settle(20, 0.0)
    assert (budget.used.tokens, budget.used.calls) == (20, 1)


def test_a_reservation_is_settled_once() -> None:
    budget = Budget(tokens=100)
    reservation = taken(budget, tokens=30)
    reservation.settle(20, 0.5)
    reservation.settle(20, 0.5)
    reservation.release()
    assert budget.used[:2] == (20, 0.5)
    assert budget.reserved.calls == 0


def test_a_guess_reserves_what_is_left_and_refuses_nothing() -> None:
    budget = Budget(tokens=100)
    taken(budget, tokens=40, guess=1000)
    assert budget.remaining.tokens == 0
    other = Budget(tokens=5000)
    taken(other, tokens=40, guess=1000)
    assert other.reserved.tokens == 1040


def test_an_answer_that_passes_the_limit_is_charged_told_and_the_next_is_refused() -> None:
    budget, run = Budget(tokens=100, name="b"), Told()
    taken(budget, tokens=10, guess=50, run=run).settle(130, 0.0)
    assert budget.used.tokens == 130
    ((type_, data),) = run.events
    assert type_ == "guard.budget"
    assert (data["dimension"], data["limit"], data["used"], data["asked"]) == (
        "tokens", 100, 130, 130,
    )  # fmt: skip
    with pytest.raises(rl.BudgetExceeded):
        taken(budget, tokens=1)


def test_reset_starts_afresh_and_what_is_under_way_is_not_charged() -> None:
    budget = Budget(tokens=100, seconds=9)
    before = taken(budget, tokens=60)
    time.sleep(0.01)
    assert budget.used.seconds > 0
    assert budget.reset() is budget
    before.settle(80, 1.0)
    assert budget.used == (0, 0.0, 0.0, 0)
    assert budget.reserved.tokens == 0


# -- being refused -----------------------------------------------------------------------------


def test_a_refusal_says_which_budget_what_is_used_what_was_asked_and_what_to_do() -> None:
    budget, run = Budget(tokens=1000, name="lesson"), Told()
    taken(budget, tokens=900).settle(950, 0.0)
    with pytest.raises(rl.BudgetExceeded) as caught:
        taken(budget, tokens=80, run=run)
    error = caught.value
    assert str(error) == (
        "budget 'lesson' is too small for this call: 950 of 1,000 tokens used, about 80 needed. "
        "Raise the limit, lower max_tokens, or reset() the budget."
    )
    assert (error.budget, error.dimension, error.limit, error.used, error.asked) == (
        "lesson", "tokens", 1000, 950, 80,
    )  # fmt: skip
    assert run.events == [
        (
            "guard.budget",
            {"call_id": "r.1", "budget": "lesson", "dimension": "tokens", "limit": 1000,
             "used": 950, "reserved": 0, "asked": 80},
        )
    ]  # fmt: skip
    assert not error.retryable


def test_time_runs_from_the_first_use() -> None:
    budget = Budget(seconds=0.05, name="quick")
    time.sleep(0.06)
    assert ends_at([budget, Budget()]) == pytest.approx(time.monotonic() + 0.05, abs=0.03)
    taken(budget).release()
    time.sleep(0.06)
    with pytest.raises(rl.BudgetExceeded, match=r"'quick' is spent: 0\.\d+ of 0.05 seconds used"):
        taken(budget)
    assert ends_at([Budget()]) is None
    assert "quick" in str(out_of_time([Budget(), budget], "c", Told()))  # type: ignore[arg-type]


def test_an_unknown_price_is_refused_under_a_cost_limit_only() -> None:
    with pytest.raises(rl.ConfigurationError, match=r"price is known for custom/x.*allow_unpriced"):
        taken(Budget(tokens=5), Budget(cost=1.0), unpriced="custom/x")
    taken(Budget(tokens=5), unpriced="custom/x")


@pytest.mark.parametrize("limit", [-1, "10", True, float("nan")])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(rl.ConfigurationError, match="tokens="):
        Budget(tokens=limit)


# -- waiting for others ------------------------------------------------------------------------


async def test_what_others_only_have_reserved_is_waited_for_first_come_first_served() -> None:
    budget, order = Budget(tokens=100), []

    async def one(number: int) -> None:
        found = await take(budget, tokens=60)
        assert found is not None
        order.append(number)
        await asyncio.sleep(0.001)
        found.settle(5, 0.0)

    await asyncio.gather(*(one(n) for n in range(8)))
    assert order == list(range(8))
    assert budget.used.tokens == 40


async def test_who_gives_up_waiting_holds_up_nobody() -> None:
    budget = Budget(calls=1)
    first = await take(budget)
    assert first is not None
    tasks = [asyncio.create_task(take(budget)) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    assert await take(budget, until=time.monotonic() + 0.02) is None
    first.release()
    second = await tasks[1]
    assert second is not None
    second.settle(0, 0.0)
    with pytest.raises(rl.BudgetExceeded, match="1 of 1 calls used"):
        await tasks[2]
    assert not budget._line


async def test_who_waits_for_two_budgets_passes_nobody_in_either() -> None:
    one, other, order = Budget(calls=1), Budget(calls=1), []

    async def go(name: str, *budgets: Budget) -> None:
        found = await take(*budgets)
        assert found is not None
        order.append(name)
        found.release()

    held = [await take(one), await take(other)]
    tasks = [asyncio.create_task(go("first", one)), asyncio.create_task(go("both", one, other))]
    await asyncio.sleep(0)
    for reservation in reversed(held):
        assert reservation is not None
        reservation.release()
    await asyncio.gather(*tasks)
    assert order == ["first", "both"]


async def test_two_budgets_in_either_order_do_not_block_each_other() -> None:
    one, other = Budget(tokens=10), Budget(tokens=10)

    async def go(n: int) -> None:
        both = (one, other) if n % 2 else (other, one)
        for _ in range(5):
            found = await take(*both, tokens=1, guess=9, until=time.monotonic() + 30)
            assert found is not None
            await asyncio.sleep(0)
            found.release()

    await asyncio.wait_for(asyncio.gather(*(go(n) for n in range(10))), 30)


def test_a_hundred_threads_never_hold_more_than_the_limit() -> None:
    budget, most, lock = Budget(tokens=1000), [0.0], threading.Lock()

    async def one() -> None:
        for _ in range(3):
            found = await take(budget, tokens=90)
            assert found is not None
            with lock:
                most[0] = max(most[0], budget.used.tokens + budget.reserved.tokens)
            await asyncio.sleep(0.001)
            found.settle(3, 0.0)

    threads = [threading.Thread(target=asyncio.run, args=(one(),)) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert budget.used.tokens == 900
    assert 900 <= most[0] <= 1000


# -- the object --------------------------------------------------------------------------------


def test_settings_make_a_budget_of_the_owners_beside_the_shared_ones() -> None:
    shared = Budget(cost=1.0, name="class")
    made = budgets_of({"budget": [shared, shared], "token_budget": 10, "time_budget": 2.5}, "ann")
    assert [b.name for b in made] == ["ann", "class"]
    assert made[1] is shared
    inf = float("inf")
    assert made[0].limits == (10, inf, 2.5, inf)
    assert budgets_of({"budget": shared}, "ann") == (shared,)
    assert budgets_of({}, "ann") == ()
    with pytest.raises(rl.ConfigurationError, match="takes a Budget"):
        budgets_of({"budget": 5}, "ann")


def test_it_shows_its_limits_and_copies_start_afresh() -> None:
    budget = Budget(tokens=12000, cost=0.5, name="b")
    taken(budget, tokens=1500, cost=0.25).settle(1500, 0.25)
    assert repr(budget) == "<Budget 'b': 1,500 of 12,000 tokens, 0.25 of 0.5 US dollars>"
    assert repr(Budget()) == "<Budget 'budget': no limits>"
    for twin in (pickle.loads(pickle.dumps(budget)), copy.deepcopy(budget)):
        assert (twin.name, twin.limits, twin.used.tokens) == ("b", budget.limits, 0)
    assert budget.remaining == (10500, 0.25, float("inf"), float("inf"))
