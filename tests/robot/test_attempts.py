"""One owner of attempts: what is configured is what is sent, over a real socket."""

from __future__ import annotations

import asyncio
import email.utils
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.testing import ModelServer, Reply

FAST = {"retry_interval": 0.01, "retry_jitter": 0.0}


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


@pytest.mark.parametrize("absurd", ["86400", "9" * 30])
def test_an_absurd_retry_after_ends_the_call_at_once_and_says_why(absurd):
    began = time.monotonic()
    with ModelServer([Reply.error(429, headers={"retry-after": absurd})]) as server:
        with pytest.raises(rl.ModelError, match="deadline of 5 s.*it asks to wait"):
            bot(server, model_timeout=5).run("hi")
        assert len(server.requests) == 1
    assert time.monotonic() - began < 4


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


def test_a_timeout_error_of_the_models_own_is_not_taken_for_the_deadline():
    def broken(request):
        raise TimeoutError("my database is slow")

    with pytest.raises(rl.ModelError, match="TimeoutError: my database is slow"):
        rl.build("b", model=rl.SimulatedModel(broken)).run("x")
