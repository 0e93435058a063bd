"""The cache: equal requests are asked once; what it gives is what the model gave, for nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.messages import Message
from robotlab_nb.core.usage import Usage
from robotlab_nb.models.cache import Cache, Kept, answers, clear_cache
from robotlab_nb.runtime.budgets import Budget
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    clear_cache()
    yield
    clear_cache()


def bot(server: ModelServer, **config: Any) -> rl.Robot[Any]:
    config = {"cache": True, "retry_interval": 0.01, **config}
    return rl.build(
        "b", model="openai/gpt-4o-mini", api_base=server.base_url, api_key="k", config=config
    )


def types(run: Any) -> list[str]:
    return [e.type for e in run.events if e.type.partition(".")[0] in ("cache", "attempt")]


# -- over HTTP ---------------------------------------------------------------------------------


@pytest.mark.parametrize("streaming", [False, True])
def test_the_second_equal_request_costs_nothing_and_reads_the_same(streaming: bool) -> None:
    heard: list[str] = []
    listen = heard.append if streaming else None
    budget = Budget(calls=1)
    with ModelServer([Reply.text("the answer", reasoning="hm", usage=USAGE)]) as server:
        first = bot(server, budget=budget).run("hi", on_content=listen)
        again = bot(server, budget=budget).run("hi", on_content=listen)
        assert len(server.requests) == 1
    assert types(first) == ["attempt.completed", "cache.stored"]
    assert types(again) == ["cache.hit"]
    assert again.text == first.text == "the answer"
    assert "".join(heard) == ("the answerthe answer" if streaming else "")
    assert [m.id for m in again.messages] == [m.id for m in first.messages]
    assert (again.stop_reason, again.input_tokens) == ("stop", 1000)
    assert first.cost is not None
    assert first.cost > 0
    assert again.cost == 0
    assert again.usage.cost_complete
    (call,) = again.state.model_calls.values()
    assert (call.cached, call.attempts, call.usage.calls if call.usage else 0) == (True, [], 1)
    assert again.frames.model_calls["attempts"].tolist() == [0]
    assert again.frames.model_calls["cost_usd"].tolist() == [0.0]


async def test_a_stream_of_a_kept_answer_has_its_text() -> None:
    async with ModelServer(["kept words"]) as server:
        await bot(server).arun("hi")
        pieces = [
            item.text async for item in bot(server).stream("hi") if isinstance(item, rl.Delta)
        ]
    assert "".join(pieces) == "kept words"


def test_tools_are_called_again_with_ids_of_the_new_run() -> None:
    called: list[int] = []

    def add(a: int, b: int) -> int:
        """Add."""
        called.append(a + b)
        return a + b

    replies = [Reply.tool_call("add", {"a": 1, "b": 2}), "three"]
    with ModelServer(replies) as server:
        runs = [bot(server, tools=[add]).run("hi") for _ in range(2)]
        assert len(server.requests) == 2
    assert called == [3, 3]
    assert [r.text for r in runs] == ["three", "three"]
    ids = [r.tool_calls[0].tool_call_id for r in runs]
    assert ids == [f"call_{r.run_id}_1" for r in runs]
    assert [len(r.state.model_calls) for r in runs] == [2, 2]


@pytest.mark.parametrize(
    "changed",
    [{"temperature": 0.5}, {"tools": [rl.tool(lambda: 1, name="t", description="T.")]},
     {"system_prompt": "x"}, {"model": "openai/other"}],
)  # fmt: skip
def test_whatever_differs_is_asked(changed: dict[str, Any]) -> None:
    with ModelServer(["one", "two"]) as server:
        assert bot(server).run("hi").text == "one"
        asked = {"model": "openai/gpt-4o-mini", **changed}
        other = rl.build(
            "b", api_base=server.base_url, api_key="k", config={"cache": True}, **asked
        )
        assert other.run("hi").text == "two"


@pytest.mark.parametrize(
    "reply",
    [Reply.text("half", finish="length"), Reply.refusal("no"), Reply.content_filter("x"),
     Reply.text("who knows", finish=None)],
)  # fmt: skip
def test_only_whole_good_answers_are_kept(reply: Reply) -> None:
    with ModelServer([reply, "whole"]) as server:
        bot(server).run("hi")
        assert bot(server).run("hi").text == "whole"


def test_a_failed_call_is_asked_again_and_what_follows_a_failure_is_kept() -> None:
    with ModelServer([Reply.error(400), Reply.error(500), "fine"]) as server:
        with pytest.raises(rl.ModelError):
            bot(server).run("hi")
        assert bot(server).run("hi").text == "fine"
        assert bot(server).run("hi").text == "fine"
        assert len(server.requests) == 3


def test_made_up_answers_are_never_kept() -> None:
    one = rl.build("b", model=rl.SimulatedModel(["one"]), config={"cache": True})
    two = rl.build("b", model=rl.SimulatedModel(["two"]), config={"cache": True})
    assert (one.run("hi").text, two.run("hi").text) == ("one", "two")
    assert len(answers) == 0


def test_without_cache_nothing_is_kept_or_read() -> None:
    with ModelServer(["one", "two"]) as server:
        assert bot(server, cache=False).run("hi").text == "one"
        assert len(answers) == 0
        assert bot(server).run("hi").text == "two"
        assert types(bot(server).run("hi")) == ["cache.hit"]


def test_a_kept_answer_needs_no_turn() -> None:
    with ModelServer(["one"]) as server:
        bot(server, requests_per_minute=1).run("hi")
        began = time.monotonic()
        assert bot(server, requests_per_minute=1).run("hi").text == "one"
        assert time.monotonic() - began < 5


def test_an_answer_of_a_fallback_is_kept_under_its_own_name() -> None:
    with ModelServer([Reply.error(401)] * 2) as one, ModelServer(["fine"]) as other:
        robots = [
            rl.build(
                "b", model=one.model("a"), config={"fallback": other.model("c"), "cache": True}
            )
            for _ in range(2)
        ]
        runs = [robot.run("hi") for robot in robots]
    assert [r.text for r in runs] == ["fine", "fine"]
    (call,) = runs[1].state.model_calls.values()
    assert (call.cached, call.model) == (True, "openai/c")


def test_clear_cache_forgets() -> None:
    with ModelServer(["one", "two"]) as server:
        bot(server).run("hi")
        clear_cache()
        assert bot(server).run("hi").text == "two"


def test_what_is_being_asked_is_asked_once() -> None:
    with ModelServer([Reply.text("fine").after(0.3)]) as server:
        runs = [bot(server).start("hi") for _ in range(10)]
        assert [run.result().text for run in runs] == ["fine"] * 10
        assert len(server.requests) == 1
    assert sum(run.result().cost or 0 for run in runs) == max(r.result().cost for r in runs)


def test_when_the_one_that_asks_is_stopped_or_fails_another_asks() -> None:
    late, fine = Reply.text("late").after(30), Reply.text("fine").after(0.1)
    with ModelServer([late, Reply.error(400).after(0.1), fine]) as server:
        first = bot(server).start("hi")
        server.wait_for_requests(1)
        rest = [bot(server).start("hi") for _ in range(4)]
        time.sleep(0.1)
        first.stop()
        ends = []
        for run in rest:
            try:
                ends.append(run.result().text)
            except rl.ModelError as error:
                ends.append(str(error.status))
        assert len(server.requests) == 3
    assert sorted(ends) == ["400", "fine", "fine", "fine"]


def test_waiting_for_an_answer_counts_against_the_deadline() -> None:
    with ModelServer([Reply.text("late").after(30)]) as server:
        first = bot(server).start("hi")
        server.wait_for_requests(1)
        with pytest.raises(rl.ModelError, match=r"within 0\.2 s") as caught:
            bot(server, model_timeout=0.2).run("hi")
        first.stop()
        assert len(server.requests) == 1
    assert caught.value.kind == "timeout"


# -- the store ---------------------------------------------------------------------------------


def kept(text: str) -> Kept:
    return Kept(Message("assistant", text), "stop", "stop", None, Usage(1, 1))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), max_size=60), st.integers(1, 5))
def test_those_used_last_stay(steps: list[tuple[bool, int]], most: int) -> None:
    cache, order = Cache(entries=most), []
    for put, number in steps:
        key = str(number)
        if put:
            assert cache.put(key, kept(key))
        found = cache.get(key)
        if put or key in order:
            assert found is not None
            assert found.message.text == key
            order = [k for k in order if k != key] + [key]
            order = order[-most:]
        else:
            assert found is None
    assert len(cache) == len(order)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 900)), max_size=40))
def test_no_more_bytes_are_kept_than_were_allowed(puts: list[tuple[int, int]]) -> None:
    cache = Cache(size=2000)
    for number, length in puts:
        assert cache.put(str(number), kept("x" * length))
        assert cache._bytes == sum(size for _, size in cache._kept.values()) <= 2000
    assert not cache.put("big", kept("x" * 3000))
    cache.clear()
    assert (len(cache), cache._bytes) == (0, 0)


def test_threads_and_loops_wait_for_one_answer() -> None:
    cache, asked, got = Cache(), [], []

    async def one() -> None:
        found = await cache.get_or_ask("k")
        if found is None:
            asked.append(1)
            await asyncio.sleep(0.05)
            cache.put("k", kept("text"))
            cache.asked("k")
        else:
            got.append(found.message.text)

    threads = [threading.Thread(target=asyncio.run, args=(one(),)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (len(asked), got) == (1, ["text"] * 19)


async def test_who_cannot_wait_any_longer_does_not_ask_in_the_others_place() -> None:
    cache = Cache()
    assert await cache.get_or_ask("k") is None
    with pytest.raises(TimeoutError):
        await cache.get_or_ask("k", until=time.monotonic())
