"""Texts as vectors: over the OpenAI wire, through litellm, by a function; checked and scaled."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.errors import ConfigurationError, InputError, ModelError
from robotlab_nb.models import embeddings
from robotlab_nb.models.embeddings import cosine, embed
from robotlab_nb.models.simulated import SimulatedModel
from robotlab_nb.testing import ModelServer, Reply
from robotlab_nb.testing.vectors import hashed_vector

FAST = {"retry_interval": 0.001, "model_timeout": 20.0}


def answer(*vectors: Any, **more: Any) -> Reply:
    data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return Reply.raw({"object": "list", "data": data}, **more)


async def failing(*args: Any, **more: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await embed(*args, **more)
    return caught.value


# over HTTP


async def test_vectors_come_from_one_request_on_the_openai_wire() -> None:
    async with ModelServer() as server:
        texts = ["red fish", "blue fish", "a table of numbers"]
        vectors = await embed(server.model("embedder"), texts)
        (asked,) = server.requests
    assert (asked.method, asked.path) == ("POST", "/v1/embeddings")
    assert asked.body == {"model": "embedder", "input": texts}
    assert asked.headers["authorization"] == "Bearer test-key"
    assert [len(vector) for vector in vectors] == [64, 64, 64]
    assert cosine(vectors[0], vectors[1]) == pytest.approx(0.5)
    assert cosine(vectors[0], vectors[2]) == pytest.approx(0.0)


async def test_a_model_is_named_with_an_address_and_the_name_of_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EMBEDDING_KEY", "key-of-embeddings")
    async with ModelServer() as server:
        await embed("nomic", ["x"], api_base=server.base_url, api_key="EMBEDDING_KEY")
        monkeypatch.setenv("OLLAMA_API_BASE", server.url)
        await embed("ollama/nomic", ["x"])
        first, second = server.requests
    assert first.headers["authorization"] == "Bearer key-of-embeddings"
    assert (second.path, second.body["model"]) == ("/v1/embeddings", "nomic")


async def test_a_query_in_the_address_stays_at_its_end() -> None:
    async with ModelServer() as server:
        model = server.model()
        model.endpoint += "?api-version=1"
        await embed(model, ["x"])
        assert server.requests[0].path == "/v1/embeddings"


async def test_many_texts_are_asked_for_in_several_requests_and_stay_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embeddings, "_TEXTS", 3)
    texts = [f"text{n}" for n in range(20)]
    async with ModelServer() as server:
        vectors = await embed(server.model(), texts)
        sizes = sorted(len(request.body["input"]) for request in server.requests)
    assert sizes == [2, 3, 3, 3, 3, 3, 3]
    assert vectors == [pytest.approx(hashed_vector(text)) for text in texts]


def test_a_batch_is_bounded_in_texts_and_in_characters() -> None:
    assert [len(batch) for batch in embeddings._batches(["x"] * 600)] == [256, 256, 88]
    assert [len(batch) for batch in embeddings._batches(["x" * 150_000] * 5)] == [2, 2, 1]
    assert [len(batch) for batch in embeddings._batches(["x" * 900_000] * 2)] == [1, 1]


async def test_vectors_are_sorted_by_their_indices() -> None:
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    async with ModelServer(embeddings=[Reply.raw({"data": data})]) as server:
        assert await embed(server.model(), ["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]]


async def test_a_busy_server_is_asked_again_as_often_as_the_settings_say() -> None:
    busy = Reply.error(429, "slow down", headers={"retry-after": "0"})
    async with ModelServer(embeddings=[busy, busy, answer([3, 4])]) as server:
        assert await embed(server.model(), ["a"], settings=FAST) == [[0.6, 0.8]]
        assert len(server.requests) == 3
    async with ModelServer(embeddings=[busy, busy]) as server:
        error = await failing(server.model(), ["a"], settings={**FAST, "attempts": 2})
        assert len(server.requests) == 2
    assert (error.kind, error.status, error.retryable) == ("rate_limit", 429, True)


async def test_a_wait_that_would_pass_the_deadline_is_not_begun() -> None:
    later = Reply.error(429, "slow down", headers={"retry-after": "30"})
    async with ModelServer(embeddings=[later]) as server:
        error = await failing(server.model(), ["a"], settings={"model_timeout": 5.0})
    assert error.retry_after == 30


async def test_a_refusal_is_not_repeated_and_tells_no_key() -> None:
    secret = "key-0123456789abcdef"
    refusal = Reply.error(401, f"Incorrect API key provided: {secret}")
    async with ModelServer(embeddings=[refusal]) as server:
        error = await failing(server.model(api_key=secret), ["a"], settings=FAST)
        assert len(server.requests) == 1
    assert error.kind == "auth"
    assert secret not in f"{error}{error.body}{error.__context__}{error.__cause__}"


async def test_a_silent_server_is_left_when_the_time_is_up() -> None:
    async with ModelServer(embeddings=[answer([1]).after(60)]) as server:
        error = await failing(server.model(), ["a"], settings={"model_timeout": 0.1})
    assert (error.kind, error.billed) == ("timeout", False)
    assert str(error) == "openai/test-model gave no vectors within 0.1 s. Raise model_timeout."


async def test_a_broken_answer_and_a_missing_server_are_told_apart() -> None:
    cut = answer([1.0] * 100).cut(50)
    async with ModelServer(embeddings=[cut]) as server:
        model = server.model()
        broken = await failing(model, ["a"], settings={"attempts": 1})
    gone = await failing(model, ["a"], settings={"attempts": 1})
    assert (broken.kind, broken.billed) == ("cut", True)
    assert (gone.kind, gone.billed) == ("connection", False)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"data": [{"index": 0, "embedding": [1, 0]}]}, "1 vectors for 2 texts"),
        ({"data": [{"embedding": [1, 0]}, {"embedding": [1]}]}, "several lengths"),
        ({"data": [{"embedding": []}, {"embedding": []}]}, "nothing in it"),
        ({"data": [{"embedding": [1, None]}, {"embedding": [1, 0]}]}, "no number"),
        ({"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}, "vector that is none"),
        ({"data": "none"}, "without a list of vectors"),
        ({"error": {"message": "no such thing", "code": 404}}, "no such thing"),
        ("<html><title>Welcome</title></html>", "Welcome"),
        ('{"data": [{"embedding": [NaN, 1]}, {"embedding": [1, 0]}]}', "NaN"),
        ('{"data": [{"embedding": [Infinity, 1]}, {"embedding": [1, 0]}]}', "NaN"),
    ],
)
async def test_an_answer_without_usable_vectors_is_an_error_that_says_why(
    body: Any, words: str
) -> None:
    async with ModelServer(embeddings=[Reply.raw(body)]) as server:
        error = await failing(server.model("embedder"), ["a", "b"], settings={"attempts": 1})
    assert words in str(error)
    assert "openai/embedder" in str(error)


async def test_one_failing_request_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_TEXTS", 1)
    replies = [Reply.error(400, "too odd"), *[answer([1]).after(30)] * 3]
    async with ModelServer(embeddings=replies) as server:
        error = await failing(server.model(), ["a", "b", "c", "d"], settings=FAST)
        for request in server.requests:
            assert await asyncio.to_thread(request.wait, 5)
        assert [request.finished for request in server.requests].count(True) == 1
        server._embeddings.clear()  # what was not asked for any more
    assert error.kind == "bad_request"


async def test_other_providers_are_asked_through_litellm() -> None:
    from robotlab_nb.models.resolve import resolve

    busy = Reply.error(503, "busy")
    async with ModelServer(embeddings=[busy, answer([3, 4])]) as server:
        model = resolve("openai/e", api_base=server.base_url, api_key="sk-x", via="litellm")
        assert await embed(model, ["a"], settings=FAST) == [[0.6, 0.8]]
        assert [r.body["input"] for r in server.requests] == [["a"], ["a"]]
    async with ModelServer(embeddings=[Reply.error(401, "wrong key")]) as server:
        model = resolve("openai/e", api_base=server.base_url, api_key="sk-y", via="litellm")
        error = await failing(model, ["a"], settings=FAST)
        assert len(server.requests) == 1
    assert error.kind == "auth"


# by a function


async def test_a_function_makes_vectors_in_a_thread_and_an_async_one_on_the_loop() -> None:
    seen: list[bool] = []

    def sync(texts: list[str]) -> Any:
        seen.append(threading.current_thread() is threading.main_thread())
        return np.array([[len(text), 0.0] for text in texts])

    async def on_loop(texts: list[str]) -> list[tuple[int, int]]:
        seen.append(threading.current_thread() is threading.main_thread())
        return [(0, len(text)) for text in texts]

    class Loaded:
        def __call__(self, texts: list[str]) -> list[Any]:
            return [np.ones(4, dtype=np.float32) for _ in texts]

    assert await embed(sync, ["a", "bb"]) == [[1.0, 0.0], [1.0, 0.0]]
    assert await embed(on_loop, ["a", "bb"]) == [[0.0, 1.0], [0.0, 1.0]]
    assert await embed(Loaded(), ["a"]) == [[0.5, 0.5, 0.5, 0.5]]
    assert seen == [False, True]


async def test_a_function_that_raises_or_hangs_is_a_model_error_with_its_name() -> None:
    release = threading.Event()

    def broken(texts: list[str]) -> Any:
        raise RuntimeError("no weights")

    def hanging(texts: list[str]) -> Any:
        release.wait(20)

    error = await failing(broken, ["a"])
    assert str(error) == "broken failed: RuntimeError: no weights"
    assert isinstance(error.__cause__, RuntimeError)
    late = await failing(hanging, ["a"], settings={"model_timeout": 0.05})
    release.set()
    assert (late.kind, late.message) == ("timeout", "hanging gave no vectors within 0.05 s")


async def test_a_vector_of_zeros_stays_one_and_is_near_to_nothing() -> None:
    zeros, other = await embed(lambda texts: [[0, 0], [1, 0]], ["?", "a"])
    assert zeros == [0.0, 0.0]
    assert cosine(zeros, other) == 0.0


# what is refused


@pytest.mark.parametrize("texts", [["a", ""], ["a", " \n"], ["a", 3], ["a", None]])
async def test_a_blank_text_is_refused_before_anything_is_asked(texts: list[Any]) -> None:
    with pytest.raises(InputError, match="text 1 of 2"):
        await embed(lambda _: pytest.fail("asked"), texts)


@pytest.mark.parametrize("model", [None, "simulated", SimulatedModel(["x"])])
async def test_what_makes_no_vectors_is_refused(model: Any) -> None:
    with pytest.raises(ConfigurationError, match="vectors|embedding model"):
        await embed(model, ["a"])


async def test_a_missing_key_is_said_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        await embed("openai/text-embedding-3-small", ["a"])


async def test_no_texts_need_no_request() -> None:
    assert await embed(lambda _: pytest.fail("asked"), []) == []


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_any_finite_vector_is_scaled_to_length_1(row: list[float]) -> None:
    (vector,) = embeddings._checked([row], 1, "m")
    if any(row):
        assert math.hypot(*vector) == pytest.approx(1.0)
        assert cosine(vector, vector) == pytest.approx(1.0)
    else:
        assert vector == [0.0] * len(row)


@given(st.lists(NUMBERS, min_size=3, max_size=3), st.lists(NUMBERS, min_size=3, max_size=3))
def test_a_cosine_is_symmetric_and_within_bounds(a: list[float], b: list[float]) -> None:
    first, second = embeddings._checked([a, b], 2, "m")
    assert -1.0 <= cosine(first, second) == cosine(second, first) <= 1.0


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_whatever_a_function_gives_is_vectors_or_a_model_error(given_: Any) -> None:
    try:
        (vector,) = embeddings._checked(given_, 1, "m")
    except ModelError:
        return
    assert all(isinstance(value, float) for value in vector)
