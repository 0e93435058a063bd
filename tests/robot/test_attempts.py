"""One owner of attempts: what is configured is what is sent, over a real socket."""

from __future__ import annotations

import asyncio
import email.utils
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.models import accounts
from robotlab_nb.testing import ModelServer, Reply

FAST = {"retry_interval": 0.01, "retry_jitter": 0.0}


@pytest.fixture(autouse=True)
def no_pauses_of_others():
    accounts.forget_limits()
    yield
    accounts.forget_limits()


def bot(server, *, via=None, **config):
    return rl.build(
        "b", model="openai/m", api_base=server.base_url, api_key="sk-test", via=via,
        config={**FAST, **config},
    )  # fmt: skip


@pytest.mark.parametrize("via", [None, "litellm"])
@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_one_retry_owner(via, attempts):
    """The attempts configured are the requests made, and each is a row."""
    with ModelServer([Reply.error(500)] * attempts) as server:
        with pytest.raises(rl.ModelError) as caught:
            bot(server, via=via, attempts=attempts).run("hi")
        assert len(server.requests) == attempts
    frames = caught.value.run.frames
    assert list(frames.attempts["attempt"]) == list(range(1, attempts + 1))
    assert list(frames.attempts["status"]) == ["failed"] * attempts
    assert frames.model_calls["attempts"].tolist() == [attempts]


def test_two_failures_and_an_answer_are_three_rows_and_one_answer():
    with ModelServer([Reply.error(500), Reply.error(503), "fine"]) as server:
        result = bot(server).run("hi")
        assert len(server.requests) == 3
    assert result.text == "fine"
    assert [m.role for m in result.messages] == ["user", "assistant"]
    rows = result.frames.attempts
    assert list(rows["status"]) == ["failed", "failed", "completed"]
    # Each row is one request: it starts after the one before it ended, and lasts as long as it did.
    ends = rows["started_s"] + rows["duration_s"]
    assert (rows["started_s"][1:].to_numpy() > ends[:-1].to_numpy()).all()
    assert ends.iloc[-1] <= result.frames.model_calls["duration_s"][0]


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"retry-after": "1"}, 1.0),
        ({"retry-after-ms": "150"}, 0.15),
        ({"retry-after": "DATE"}, 0.5),
    ],
)
def test_retry_after_is_obeyed(headers, least):
    if headers.get("retry-after") == "DATE":
        headers = {"retry-after": email.utils.formatdate(time.time() + 2, usegmt=True)}
    with ModelServer([Reply.error(429, headers=headers), "fine"]) as server:
        assert bot(server).run("hi").text == "fine"
        first, second = server.requests
    assert second.arrived - first.arrived >= least


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("header", ["retry-after", "retry-after-ms"])
@pytest.mark.parametrize("absurd", ["-5", "nan", "soon", "", "0", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_retry_after_that_means_nothing_is_no_wait_and_no_failure(absurd, header, streaming):
    began = time.monotonic()
    with ModelServer([Reply.error(429, headers={header: absurd}), "fine"]) as server:
        on_content = (lambda text: None) if streaming else None
        assert bot(server).run("hi", on_content=on_content).text == "fine"
        assert [r.streaming for r in server.requests] == [streaming] * 2
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("absurd", ["86400", "9" * 30, "inf", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_an_absurd_retry_after_ends_the_call_at_once_and_says_why(absurd):
    began = time.monotonic()
    with ModelServer([Reply.error(429, headers={"retry-after": absurd})]) as server:
        with pytest.raises(rl.ModelError, match="deadline of 5 s.*it asks to wait"):
            bot(server, model_timeout=5).run("hi")
        assert len(server.requests) == 1
    assert time.monotonic() - began < 4


def test_without_a_deadline_a_provider_is_waited_for_a_day_at_most():
    with ModelServer([Reply.error(429, headers={"retry-after": "86401"})]) as server:
        with pytest.raises(rl.ModelError, match="it asks to wait 86401 s"):
            bot(server, model_timeout=None).run("hi")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_cannot_succeed_is_not_asked_again(status):
    with ModelServer([Reply.error(status)]) as server:
        with pytest.raises(rl.ModelError) as caught:
            bot(server).run("hi")
        assert len(server.requests) == 1
    assert caught.value.status == status
    assert not caught.value.retryable


def test_a_dribbling_answer_cannot_evade_the_deadline():
    began = time.monotonic()
    with ModelServer([Reply.text("word " * 200, pause=0.05)]) as server:
        streaming = bot(server, model_timeout=0.5, attempts=1)
        with pytest.raises(rl.ModelError, match=r"within 0\.5 s") as caught:
            list(streaming.stream("hi"))
    assert time.monotonic() - began < 3
    assert caught.value.kind == "timeout"
    # what had come is kept, marked as cut
    last = caught.value.run.state.messages[-1]
    assert last.is_cut
    assert last.text.startswith("word ")
    assert streaming.messages[-1].is_cut


@pytest.mark.parametrize("streaming", [False, True])
async def test_one_byte_at_a_time_cannot_evade_the_deadline(streaming):
    began = time.monotonic()
    async with ModelServer([Reply.text("word " * 200).dribble(0.05)]) as server:
        slow = bot(server, model_timeout=0.4, attempts=1)
        with pytest.raises(rl.ModelError, match=r"within 0\.4 s") as caught:
            await slow.arun("hi", on_content=(lambda text: None) if streaming else None)
    assert time.monotonic() - began < 3
    assert caught.value.kind == "timeout"


def test_a_connection_refused_is_tried_again_and_then_told():
    with ModelServer([]) as server:
        address = server.base_url
    lost = rl.build("b", model="openai/m", api_base=address, config={**FAST, "attempts": 2})
    with pytest.raises(rl.ModelError) as caught:
        lost.run("hi")
    assert caught.value.kind == "connection"
    assert len(caught.value.run.frames.attempts) == 2


def test_pieces_of_a_failed_attempt_are_void():
    cut = Reply.text("wrong words here", cut_after=600)
    with ModelServer([cut, "right"]) as server:
        items = list(bot(server).stream("hi"))
    texts = {}
    for item in items:
        if isinstance(item, rl.Delta):
            texts[item.attempt] = texts.get(item.attempt, "") + item.text
    failed = [i.data["attempt"] for i in items if getattr(i, "type", "") == "attempt.failed"]
    assert failed == [1]
    assert texts[2] == "right"


def test_a_refusal_is_an_answer_and_a_content_filter_is_told():
    with ModelServer([Reply.refusal("I will not."), Reply.content_filter()]) as server:
        robot = bot(server)
        refused = robot.run("hi")
        assert (refused.stop_reason, refused.status, refused.text) == (
            "refused",
            "completed",
            "I will not.",
        )
        filtered = robot.run("hi")
        assert filtered.stop_reason == "content_filter"
        assert len(server.requests) == 2


def test_costs_are_summed_over_all_calls_and_unknown_is_not_zero():
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    replies = [Reply.tool_call("add", {"a": 1, "b": 2}, usage=usage), Reply.text("3", usage=usage)]
    with ModelServer(replies) as server:
        known = rl.build(
            "b", model="openai/gpt-4o-mini", api_base=server.base_url, api_key="k", tools=[add]
        )
        result = known.run("hi")
    assert (result.input_tokens, result.output_tokens) == (2000, 200)
    rows = result.frames.model_calls
    assert result.cost == pytest.approx(rows["cost_usd"].sum(), abs=0)
    assert result.cost > 0
    with ModelServer([Reply.text("x", usage=usage)]) as server:
        unknown = bot(server).run("hi")
    assert unknown.cost is None
    assert unknown.frames.runs["cost_usd"].isna().all()


def test_a_billed_failure_leaves_the_total_incomplete():
    with ModelServer(
        [Reply.text("half an answer that is long", cut_after=500), Reply.text("whole")]
    ) as server:
        model = rl.build(
            "b", model="openai/gpt-4o-mini", api_base=server.base_url, api_key="k", config=FAST
        )
        result = asyncio.run(model.arun("hi", on_content=lambda text: None))
    assert not result.usage.cost_complete


@pytest.mark.parametrize("stop", [False, True])
def test_a_call_that_broke_off_after_its_first_byte_tells_what_it_took_by_estimate(stop):
    reply = Reply.text("word " * 200, pause=0.02)
    with ModelServer([reply]) as server:
        robot = rl.build(
            "b", model="openai/gpt-4o-mini", api_base=server.base_url, api_key="k",
            config={"model_timeout": 30 if stop else 0.5},
        )  # fmt: skip
        run = robot.start("hi", on_content=lambda text: None)
        if stop:
            while not run.root.so_far():
                time.sleep(0.005)
            time.sleep(0.1)
            run.stop()
        else:
            with pytest.raises(rl.ModelError):
                run.result()
    usage = run.state.usage
    assert usage.estimated
    assert usage.input_tokens > 0
    assert 0 < usage.output_tokens < 200
    assert usage.cost_usd > 0
    assert not usage.cost_complete
    assert usage.calls == 1


def test_a_timeout_error_of_the_models_own_is_not_taken_for_the_deadline():
    def broken(request):
        raise TimeoutError("my database is slow")

    with pytest.raises(rl.ModelError, match="TimeoutError: my database is slow"):
        rl.build("b", model=rl.SimulatedModel(broken)).run("x")


# -- fallbacks ---------------------------------------------------------------------------------


def chain(*servers, names=("gpt-4o-mini", "gpt-4o"), **config):
    """A robot whose model is behind the first server, and its fallbacks behind the others."""
    models = [server.model(name) for server, name in zip(servers, names, strict=True)]
    config = {**FAST, "attempts": 2, "fallback": models[1:], **config}
    return rl.build("b", model=models[0], config=config)


def of_type(run, kind):
    return [e.data for e in run.events if e.type == kind]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("status", [401, 404, 429, 500, 503, 529])
def test_when_a_model_fails_for_good_the_next_one_answers_and_is_named(status, streaming):
    usage = {"prompt_tokens": 1000, "completion_tokens": 1000}
    retried = 1 if status in (401, 404) else 2
    with (
        ModelServer([Reply.error(status)] * retried) as one,
        ModelServer([Reply.error(500), Reply.text("fine", usage=usage)]) as other,
    ):
        heard = []
        robot = chain(one, other)
        result = robot.run("hi", on_content=heard.append if streaming else None)
        assert (len(one.requests), len(other.requests)) == (retried, 2)
        key = result.state.model_calls[f"{result.run_id}.1"].request_key
    assert result.text == "fine"
    assert "".join(heard) == ("fine" if streaming else "")
    (told,) = of_type(result, "model_call.fallback")
    assert (told["from_model"], told["to_model"]) == ("openai/gpt-4o-mini", "openai/gpt-4o")
    assert told["error"]["status"] == status
    rows = result.frames.attempts
    assert list(rows["attempt"]) == list(range(1, retried + 3))
    models = [e.data["model"] for e in result.events if e.type.startswith("attempt.")]
    assert models == ["openai/gpt-4o-mini"] * retried + ["openai/gpt-4o"] * 2
    (call,) = result.state.model_calls.values()
    assert (call.model, call.provider, call.simulated) == ("openai/gpt-4o", "openai", False)
    # The price is that of the model that answered, and so is the key.
    assert result.cost == pytest.approx((2.5 + 10) / 1000)
    assert result.usage.cost_complete
    assert key != of_type(result, "model_call.started")[0]["request_key"]


@pytest.mark.parametrize(
    "reply",
    [Reply.html(200), Reply.text("half of it", cut_after=300), Reply.raw({}), Reply.events()],
)
async def test_garbage_and_a_cut_answer_are_helped_by_another_model(reply):
    async with ModelServer([reply], repeat=True) as one, ModelServer(["fine"]) as other:
        result = await chain(one, other).arun("hi", on_content=lambda text: None)
    assert result.text == "fine"
    assert [m.role for m in result.messages] == ["user", "assistant"]


@pytest.mark.parametrize("code", [None, "content_filter"])
def test_what_is_wrong_with_the_request_is_not_asked_of_another_model(code):
    with ModelServer([Reply.error(400, "no", code=code)]) as one, ModelServer([]) as other:
        with pytest.raises(rl.ModelError, match="no"):
            chain(one, other).run("hi")
        assert (len(one.requests), len(other.requests)) == (1, 0)


def test_a_prompt_too_long_for_one_model_goes_to_the_next():
    full = Reply.error(400, "too long", code="context_length_exceeded")
    with ModelServer([full]) as one, ModelServer(["fine"]) as other:
        assert chain(one, other).run("hi").text == "fine"


def test_when_all_fail_the_last_error_names_those_before_it():
    with (
        ModelServer([Reply.error(401)]) as one,
        ModelServer([Reply.error(404)]) as two,
        ModelServer([Reply.error(500, "broken")] * 2) as three,
        pytest.raises(rl.ModelError) as caught,
    ):
        chain(one, two, three, names=("a", "b", "c")).run("hi")
    assert caught.value.status == 500
    message = str(caught.value)
    assert message.startswith("openai/c answered 500: broken")
    assert "(failed before it: openai/a (auth), openai/b (not_found))" in message
    assert len(of_type(caught.value.run, "model_call.fallback")) == 2
    assert caught.value.run.frames.model_calls["attempts"].tolist() == [4]


def test_a_model_that_hangs_leaves_its_fallbacks_their_share_of_the_time():
    began = time.monotonic()
    with (
        ModelServer([Reply.text("late").after(30)]) as one,
        ModelServer([Reply.text("word " * 500, pause=0.1)]) as two,
        ModelServer(["fine"]) as three,
    ):
        robot = chain(one, two, three, names=("a", "b", "c"), model_timeout=3)
        result = robot.run("hi", on_content=lambda text: None)
    assert result.text == "fine"
    assert 1.9 < time.monotonic() - began < 10
    errors = [e["error"]["kind"] for e in of_type(result, "model_call.fallback")]
    assert errors == ["timeout", "timeout"]


def test_a_retry_that_would_take_the_fallbacks_time_is_left_out():
    busy = Reply.error(503, headers={"retry-after": "20"})
    began = time.monotonic()
    with ModelServer([busy]) as one, ModelServer(["fine"]) as other:
        assert chain(one, other, model_timeout=30).run("hi").text == "fine"
    assert time.monotonic() - began < 10


def test_a_simulated_fallback_is_told_as_simulated():
    with ModelServer([Reply.error(401)]) as server:
        model = server.model("m")
        spare = rl.SimulatedModel(["made up"])
        result = rl.build("b", model=model, config={"fallback": spare}).run("hi")
    assert result.text == "made up"
    assert result.simulated
    assert result.cost == 0


async def test_stop_reaches_a_fallback():
    async with (
        ModelServer([Reply.error(401)]) as one,
        ModelServer([Reply.text("late").after(30)]) as other,
    ):
        run = chain(one, other).start("hi")
        await asyncio.to_thread(other.wait_for_requests)
        await asyncio.to_thread(run.stop)
        assert run.status == "interrupted"
        assert other.requests[0].wait(5)
