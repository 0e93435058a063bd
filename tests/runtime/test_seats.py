"""Slots under caps: never more than allowed, nobody forgotten, turns among kinds."""

from __future__ import annotations

import asyncio
import random
import threading

from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.runtime.seats import Cap, Gate, Seat


def test_a_slot_goes_to_whoever_asked_first():
    cap = Cap(1)
    first, second, third = Seat((cap,)), Seat((cap,)), Seat((cap,))
    assert [seat.ask() for seat in (first, second, third)] == [True, False, False]
    first.give()
    assert (second.held, third.held) == (True, False)
    second.end()
    assert third.held


def test_what_has_begun_goes_before_what_has_not():
    cap = Cap(1)
    holder, fresh, again = Seat((cap,)), Seat((cap,)), Seat((cap,))
    assert holder.ask()
    fresh.ask(fresh=True)
    again.ask()
    holder.give()
    assert (again.held, fresh.held) == (True, False)


def test_a_wish_that_was_given_up_is_passed_over():
    cap = Cap(1)
    holder, gone, next_ = Seat((cap,)), Seat((cap,)), Seat((cap,))
    holder.ask()
    gone.ask()
    next_.ask()
    gone.give()
    holder.give()
    assert (gone.held, next_.held, cap.used) == (False, True, 1)


def test_nobody_holds_one_cap_while_waiting_for_another():
    gate = Gate()
    wide, narrow = Cap(2, gate), Cap(1, gate)
    assert Seat((wide, narrow)).ask()
    waiting = Seat((wide, narrow))
    assert not waiting.ask()
    assert wide.used == 1
    assert Seat((wide,)).ask(), "what waits for the narrow cap leaves the wide one free"


def test_who_waits_for_others_gives_its_slot_away_and_has_it_again():
    cap = Cap(1)
    caller, called = Seat((cap,)), Seat((cap,))
    caller.ask()
    called.ask()
    caller.leave()
    assert called.held
    called.end(caller)
    assert caller.held


def test_a_slot_is_kept_from_who_still_waits_for_something_else():
    cap = Cap(1)
    caller, one, two = Seat((cap,)), Seat((cap,)), Seat((cap,))
    caller.ask()
    for called in (one, two):
        called.ask()
        caller.leave()
    one.end(caller)
    assert (two.held, caller.held) == (True, False)
    two.end(caller)
    assert caller.held


def test_the_base_is_taken_once_and_kept_to_the_end():
    gate = Gate()
    tasks, robots = Cap(1, gate), Cap(1, gate)
    seat = Seat((robots,), (tasks,))
    assert seat.ask(fresh=True)
    seat.leave()
    assert (tasks.used, robots.used) == (1, 0)
    seat.back()
    seat.close()
    assert (tasks.used, robots.used) == (0, 0)


def test_a_cancelled_wait_holds_nothing():
    async def main():
        cap = Cap(1)
        holder, waiting, next_ = Seat((cap,)), Seat((cap,)), Seat((cap,))
        await holder.take()
        task = asyncio.ensure_future(waiting.take())
        await asyncio.sleep(0)
        task.cancel()
        holder.give()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.wait_for(next_.take(), 5)
        return cap.used, waiting.held

    assert asyncio.run(main()) == (1, False)


@st.composite
def stories(draw):
    """Caps of one gate, and seats under some of them."""
    gate = Gate()
    caps = [Cap(draw(st.integers(1, 3)), gate) for _ in range(draw(st.integers(1, 3)))]
    chosen = st.lists(st.sampled_from(caps), unique=True, min_size=1)
    seats = [Seat(tuple(draw(chosen))) for _ in range(draw(st.integers(1, 12)))]
    return caps, seats, draw(st.integers(0, 10**6))


@given(stories())
def test_caps_hold_and_everybody_is_served_in_the_end(story):
    caps, seats, seed = story
    rng = random.Random(seed)
    wanting, holding, left = list(seats), [], []
    for seat in seats:
        seat.ask(fresh=rng.random() < 0.5)
    while wanting or holding or left:
        holding += [s for s in wanting if s.held]
        wanting = [s for s in wanting if not s.held]
        for cap in caps:
            assert 0 <= cap.used <= cap.limit
        assert holding or left, "somebody waits, and nobody has what it waits for"
        act = rng.choice(["end", "leave", "back"])
        if act == "leave" and holding:
            seat = holding.pop(rng.randrange(len(holding)))
            seat.leave()
            left.append(seat)
        elif left and (act == "back" or not holding):
            seat = left.pop(rng.randrange(len(left)))
            seat.back()
            (holding if seat.held else wanting).append(seat)
            seat.ask()
        elif holding:
            holding.pop(rng.randrange(len(holding))).end()
    assert [cap.used for cap in caps] == [0] * len(caps)


def test_two_kinds_take_turns():
    gate = Gate()
    most, ones, others = Cap(3, gate), Cap(3, gate), Cap(3, gate)
    seats = [Seat((most, kind)) for kind in (ones, others) for _ in range(30)]
    for seat in seats:
        seat.ask(fresh=True)
    ended = {id(ones): 0, id(others): 0}
    while any(seat.held for seat in seats):
        seat = next(s for s in seats if s.held)
        seat.end()
        ended[id(seat._caps[1])] += 1
        assert abs(ended[id(ones)] - ended[id(others)]) <= 2 * most.limit
    assert list(ended.values()) == [30, 30]


def test_threads_may_take_and_give():
    cap, most = Cap(3), 0
    lock = threading.Lock()
    here = 0

    def work():
        nonlocal here, most
        for _ in range(200):
            got = threading.Event()
            seat = Seat((cap,))
            if not seat.ask(got.set):
                assert got.wait(20)
            with lock:
                here += 1
                most = max(most, here)
            with lock:
                here -= 1
            seat.end()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (most <= 3, cap.used) == (True, 0)
