"""Rate limits: no window of the server's log holds more, whatever the way there; a strict line."""

from __future__ import annotations

import asyncio
import selectors
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.models import accounts, limits
from robotlab_nb.models.direct import DirectModel
from robotlab_nb.models.limits import Limiter, TooLate, Wish
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator


class Leaping(selectors.DefaultSelector):
    """Where a loop would sleep, its clock leaps."""

    loop: LeapingLoop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            ready = super().select(5)
            assert ready, "everybody waits, and for nothing"
            return ready
        self.loop.now += timeout
        return []


class LeapingLoop(asyncio.SelectorEventLoop):
    """An event loop on which a minute takes no time."""

    now = 0.0

    def __init__(self) -> None:
        selector = Leaping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


def leap(main: Callable[[Limiter, LeapingLoop], Coroutine[Any, Any, Any]]) -> Any:
    """Run something with a limiter on a loop that leaps."""
    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, LeapingLoop)
        return runner.run(main(Limiter(clock=loop.time), loop))


@pytest.fixture(autouse=True)
def no_limits_of_others() -> Iterator[None]:
    accounts.forget_limits()
    yield
    accounts.forget_limits()


# -- the window --------------------------------------------------------------------------------


class Job(NamedTuple):
    after: float
    lasts: float
    arrives: float  # share of the time that it lasts
    needed: int
    took: float  # share of the tokens needed
    gives_up: float | None = None  # seconds of waiting after which it is cancelled


class Served(NamedTuple):
    number: int
    started: float
    arrived: float
    tokens: int


JOBS = st.lists(
    st.builds(
        Job,
        after=st.sampled_from([0.0, 0.0, 1.0, 30.0, 61.0]) | st.floats(0, 100),
        lasts=st.sampled_from([0.0, 5.0, 59.0, 150.0]) | st.floats(0, 90),
        arrives=st.sampled_from([0.0, 1.0]) | st.floats(0, 1),
        needed=st.integers(0, 120),
        took=st.sampled_from([0.0, 1.0]) | st.floats(0, 1),
        gives_up=st.none() | st.floats(0, 100),
    ),
    max_size=25,
)


async def serve(
    limiter: Limiter, loop: LeapingLoop, jobs: list[Job], wish: Callable[[int, Job], Wish]
) -> list[Served]:
    served: list[Served] = []

    async def one(number: int, job: Job) -> None:
        slot = await limiter.enter(wish(number, job))
        started, tokens = loop.time(), int(job.needed * job.took)
        served.append(Served(number, started, started + job.lasts * job.arrives, tokens))
        await asyncio.sleep(job.lasts)
        slot.leave(tokens)

    async def patient(number: int, job: Job) -> None:
        task = loop.create_task(one(number, job))
        if job.gives_up is not None:
            await asyncio.sleep(job.gives_up)
            if not any(s.number == number for s in served):
                task.cancel()
        await asyncio.wait([task])

    tasks = []
    for number, job in enumerate(jobs):
        await asyncio.sleep(job.after)
        tasks.append(loop.create_task(patient(number, job)))
    await asyncio.gather(*tasks)
    return served


def fullest(served: list[Served], amount: Callable[[Served], int]) -> list[list[Served]]:
    """All windows of the server's log, as lists of what arrived in each."""
    return [
        [s for s in served if first.arrived <= s.arrived < first.arrived + 60] for first in served
    ]


@given(JOBS, st.integers(1, 4), st.none() | st.integers(50, 200))
def test_no_minute_of_the_servers_log_holds_more_than_the_limit(
    jobs: list[Job], requests: int, tokens: int | None
) -> None:
    def wish(number: int, job: Job) -> Wish:
        return Wish(requests, tokens, job.needed)

    served = leap(lambda limiter, loop: serve(limiter, loop, jobs, wish))
    for window in fullest(served, lambda s: 1):
        assert len(window) <= requests
        if tokens is not None and len(window) > 1:
            assert sum(s.tokens for s in window) <= tokens
    # First come, first served; and all are served who did not give up.
    assert [s.number for s in served] == sorted(s.number for s in served)
    patient = {n for n, job in enumerate(jobs) if job.gives_up is None}
    assert patient <= {s.number for s in served}


@given(JOBS, st.lists(st.sampled_from([None, 1, 2, 5]), min_size=25, max_size=25))
def test_the_smallest_limit_counts_of_all_that_a_window_holds(
    jobs: list[Job], own: list[int | None]
) -> None:
    served = leap(lambda limiter, loop: serve(limiter, loop, jobs, lambda n, job: Wish(own[n])))
    for window in fullest(served, lambda s: 1):
        assert len(window) <= min(own[s.number] or 99 for s in window)


def test_after_all_have_left_nothing_is_held_and_a_larger_limit_counts() -> None:
    async def main(limiter: Limiter, loop: LeapingLoop) -> None:
        (await limiter.enter(Wish(1, 10, 10))).leave()
        assert not limiter.idle
        await asyncio.sleep(60)
        assert limiter.idle
        for _ in range(50):
            (await limiter.enter(Wish(50, 1000, 20))).leave()
        assert loop.time() == 60

    leap(main)


def test_more_tokens_than_the_limit_go_alone_when_the_window_is_empty() -> None:
    async def main(limiter: Limiter, loop: LeapingLoop) -> list[float]:
        starts = []
        for needed in (10, 500, 10):
            slot = await limiter.enter(Wish(None, 100, needed))
            starts.append(loop.time())
            slot.leave()
        return starts

    assert leap(main) == [0, 60, 120]


def test_tokens_that_were_not_needed_are_free_at_once() -> None:
    async def main(limiter: Limiter, loop: LeapingLoop) -> list[float]:
        starts = []

        async def one(lasts: float) -> None:
            slot = await limiter.enter(Wish(None, 100, 60))
            starts.append(loop.time())
            await asyncio.sleep(lasts)
            slot.leave(5)

        await asyncio.gather(one(3), one(1), one(1))
        return starts

    assert leap(main) == [0, 3, 4]


# -- the line ----------------------------------------------------------------------------------


def test_fifty_that_wait_leave_in_order_and_those_who_give_up_hold_up_nobody() -> None:
    async def main(limiter: Limiter, loop: LeapingLoop) -> None:
        left: list[int] = []

        async def one(number: int) -> None:
            slot = await limiter.enter(Wish(5))
            left.append(number)
            slot.leave()

        tasks = [loop.create_task(one(n)) for n in range(50)]
        await asyncio.sleep(1)
        gone = {7, 12, 13, 49}
        for number in gone:
            tasks[number].cancel()
        await asyncio.wait(tasks)
        assert left == [n for n in range(50) if n not in gone]
        assert loop.time() == pytest.approx(60 * 9)
        await asyncio.sleep(60)
        assert limiter.idle

    leap(main)


def test_a_turn_that_comes_as_its_owner_gives_up_is_the_next_ones() -> None:
    async def main(limiter: Limiter, loop: LeapingLoop) -> float:
        held = await limiter.enter(Wish(1))
        first = loop.create_task(limiter.enter(Wish(1)))
        second = loop.create_task(limiter.enter(Wish(1)))
        await asyncio.sleep(1)
        held.give_back()  # it is the first one's now, who does not know it yet
        first.cancel()
        (await second).give_back()
        assert limiter.idle
        return loop.time()

    assert leap(main) == 1


def test_a_wait_that_cannot_end_in_time_fails_at_once_and_says_what_for() -> None:
    async def main(limiter: Limiter, loop: LeapingLoop) -> None:
        for _ in range(2):
            (await limiter.enter(Wish(2))).leave()
        told: list[tuple[str, float]] = []
        waiting = [
            loop.create_task(limiter.enter(Wish(2), waits=lambda *x: told.append(x)))
            for _ in range(3)
        ]
        await asyncio.sleep(10)
        assert [(limit, round(wait)) for limit, wait in told] == [
            ("requests_per_minute", 60), ("requests_per_minute", 60), ("requests_per_minute", 120),
        ]  # fmt: skip
        with pytest.raises(TooLate) as caught:
            await limiter.enter(Wish(2), until=loop.time() + 100)
        assert (caught.value.limit, caught.value.wait_s) == ("requests_per_minute", 110)
        assert loop.time() == 10
        # One that may be in time waits for it, and no longer.
        with pytest.raises(TooLate):
            await limiter.enter(Wish(2), until=loop.time() + 115)
        assert loop.time() == 125
        for task in waiting:
            task.cancel()

    leap(main)


def test_a_pause_stops_everybody_for_an_hour_at_most() -> None:
    async def main(limiter: Limiter, loop: LeapingLoop) -> None:
        limiter.pause(20)
        limiter.pause(5)
        told: list[tuple[str, float]] = []
        await limiter.enter(Wish(), waits=lambda *x: told.append(x))
        assert told == [("retry_after", 20)]
        assert loop.time() == 20
        limiter.pause(1e15)
        await limiter.enter(Wish())
        assert loop.time() == 20 + 3600

    leap(main)


def test_waiting_threads_with_loops_of_their_own_leave_in_order() -> None:
    limiter, left = Limiter(window=0.05), []
    ready = threading.Semaphore(0)

    async def one(number: int) -> None:
        slot = await limiter.enter(Wish(1), waits=lambda *_: ready.release())
        left.append(number)
        slot.leave()

    def in_thread(number: int) -> None:
        asyncio.run(one(number))

    slot = asyncio.run(limiter.enter(Wish(1)))
    threads = [threading.Thread(target=in_thread, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
        assert ready.acquire(timeout=10)
    slot.leave()
    for thread in threads:
        thread.join(10)
    assert left == list(range(8))


def test_a_loop_that_was_closed_while_it_waited_holds_up_nobody() -> None:
    limiter = Limiter(window=0.05)
    slot = asyncio.run(limiter.enter(Wish(1)))
    lost = asyncio.new_event_loop()
    task = lost.create_task(limiter.enter(Wish(1)))
    lost.run_until_complete(asyncio.sleep(0))
    lost.close()
    slot.leave()
    assert asyncio.run(limiter.enter(Wish(1), until=time.monotonic() + 10))
    task._log_destroy_pending = False  # type: ignore[attr-defined]


# -- whose limiter -----------------------------------------------------------------------------


def direct(key: str | None, base: str = "http://127.0.0.1:9/v1", **more: Any) -> DirectModel:
    return DirectModel("m", api_base=base, api_key=key, **more)


def test_a_limiter_is_an_accounts_and_holds_no_key() -> None:
    one = accounts.limiter_of(direct("sk-one-secret"))
    assert one is accounts.limiter_of(DirectModel("n", api_base="http://127.0.0.1:9/v1",
                                                  api_key="sk-one-secret"))  # fmt: skip
    others = [
        direct("sk-two-secret"),
        direct(None),
        direct("sk-one-secret", "http://127.0.0.1:8/v1"),
        direct("sk-one-secret", provider="ollama"),
    ]
    assert len({id(accounts.limiter_of(other)) for other in others} | {id(one)}) == 5
    assert "secret" not in repr(accounts.known)
    assert accounts.limiter_of(direct("sk-three"), make=False) is None


def test_accounts_that_hold_nothing_are_forgotten_when_there_are_many() -> None:
    busy = accounts.limiter_of(direct("busy"))
    assert busy is not None
    asyncio.run(busy.enter(Wish(1)))
    for n in range(1000):
        accounts.limiter_of(direct(f"key {n}"))
    assert len(accounts.known) <= 256
    assert accounts.limiter_of(direct("busy")) is busy


# -- over HTTP ---------------------------------------------------------------------------------


def bot(server: ModelServer, **config: Any) -> rl.Robot[Any]:
    return rl.build("b", model="openai/m", api_base=server.base_url, api_key="sk-t", config=config)


def limited(run: Any) -> list[Any]:
    return [e.data for e in run.events if e.type == "guard.limited"]


@pytest.mark.parametrize("streaming", [False, True])
def test_robots_share_a_limit_and_the_server_never_sees_more(
    streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WINDOW_S", 0.4)
    with ModelServer([Reply.text("fine").after(0.02)], repeat=True) as server:
        robots = [bot(server, requests_per_minute=3) for _ in range(9)]
        heard: list[str] = []
        if streaming:
            runs = [r.start("hi", on_content=heard.append) for r in robots]
        else:
            runs = [r.start("hi") for r in robots]
        assert [run.result().text for run in runs] == ["fine"] * 9
        arrived = sorted(r.arrived for r in server.requests)
    assert all(later - first >= 0.4 for first, later in zip(arrived, arrived[3:], strict=False))
    told = [limited(run) for run in runs]
    assert sum(map(len, told)) == 6
    assert {e["limit"] for events in told for e in events} == {"requests_per_minute"}
    assert max(e["wait_s"] for events in told for e in events) > 0.7
    assert len(heard) == (9 if streaming else 0)


async def test_tokens_are_settled_with_what_was_really_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "WINDOW_S", 0.6)
    usage = {"prompt_tokens": 10, "completion_tokens": 10}
    async with ModelServer([Reply.text("fine", usage=usage)], repeat=True) as server:
        robot = bot(server, tokens_per_minute=200, max_tokens=60)
        began = time.monotonic()
        for _ in range(6):
            await robot.clear_messages().arun("hi")
        # Six of 20 tokens, each with more than 60 set aside while it is under way.
        assert time.monotonic() - began < 0.5
        run = robot.clear_messages().start("hi", tools=[])
        rest = [robot.clear_messages().start("hi") for _ in range(3)]
        await asyncio.gather(run, *rest)
        assert {e["limit"] for r in rest for e in limited(r)} == {"tokens_per_minute"}


def test_what_cannot_come_in_time_fails_at_once_without_a_request() -> None:
    with ModelServer(["one"]) as server:
        bot(server, requests_per_minute=1).run("hi")
        began = time.monotonic()
        with pytest.raises(
            rl.ModelError, match="requests_per_minute=1 its turn comes in"
        ) as caught:
            bot(server, requests_per_minute=1, model_timeout=5).run("hi")
        assert time.monotonic() - began < 3
        assert len(server.requests) == 1
    assert caught.value.kind == "rate_limit"
    assert caught.value.run.frames.attempts.empty
    (call,) = caught.value.run.state.model_calls.values()
    assert call.status == "failed"


@pytest.mark.parametrize("settings", [{}, {"requests_per_minute": 1000}])
def test_when_the_quota_is_gone_the_rows_wait_and_burn_nothing(settings: dict[str, Any]) -> None:
    """One row is told to wait; the others wait too, and each makes one request."""
    gone = Reply.error(429, headers={"retry-after": "1"})
    with ModelServer([gone, *["fine"] * 6]) as server:
        first = bot(server, **settings).start("hi")
        assert server.wait_for_requests(1)
        while not any(e.type == "attempt.failed" for e in first.events):
            time.sleep(0.005)
        rest = [bot(server, **settings).start("hi") for _ in range(5)]
        assert [run.result().text for run in (first, *rest)] == ["fine"] * 6
        assert len(server.requests) == 7
        told, *others = (r.arrived for r in server.requests)
    assert min(others) - told >= 1
    assert all(limited(run)[0]["limit"] == "retry_after" for run in rest)
    assert all(run.state.model_calls[f"{run.id}.1"].waited_s > 0 for run in rest)


def test_rows_that_have_no_time_for_a_pause_fail_at_once_without_a_request() -> None:
    with ModelServer([Reply.error(429, headers={"retry-after": "600"})]) as server:
        for _ in range(3):
            with pytest.raises(rl.ModelError) as caught:
                bot(server, model_timeout=5).run("hi")
            assert caught.value.kind == "rate_limit"
        assert "wants no request for another" in str(caught.value)
        assert len(server.requests) == 1


def test_made_up_answers_stop_nobody_else() -> None:
    busy = rl.ModelError("busy", kind="rate_limit", retry_after=600)
    model = rl.SimulatedModel([busy])
    with pytest.raises(rl.ModelError, match="busy"):
        rl.build("a", model=model).run("hi")
    assert rl.build("b", model=rl.SimulatedModel(["fine"])).run("hi").text == "fine"


def test_stop_takes_a_waiting_run_out_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WINDOW_S", 0.5)
    with ModelServer(["one", "two"]) as server:
        bot(server, requests_per_minute=1).run("hi")
        stopped = bot(server, requests_per_minute=1).start("hi")
        waiting = bot(server, requests_per_minute=1).start("hi")
        while not limited(waiting):
            time.sleep(0.005)
        stopped.stop()
        assert waiting.result().text == "two"
        first, second = server.requests
    assert 0.5 <= second.arrived - first.arrived < 1.0
    assert stopped.status == "interrupted"
