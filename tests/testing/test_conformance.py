"""The conformance kit: our own model passes it, and models that are wrong do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.errors import ModelError
from robotlab_nb.models.protocol import Chunk, Model
from robotlab_nb.testing import CASES, Case, ModelServer, check_model, run_case

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from robotlab_nb.models.protocol import Request


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_direct_model_does_what_every_model_must(case: Case) -> None:
    await run_case(case, lambda server: server.model())


def test_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 50


class Wrong(Model):
    """A model over another, with one thing wrong."""

    def __init__(self, server: ModelServer, change: Callable[[Chunk], Chunk | None]) -> None:
        self.inner = server.model()
        self.change = change

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        async for chunk in self.inner.stream(request):
            changed = self.change(chunk)
            if changed is not None:
                yield changed

    async def aclose(self) -> None:
        await self.inner.aclose()


def without(*kinds: str) -> Callable[[Chunk], Chunk | None]:
    return lambda chunk: None if chunk.kind in kinds else chunk


def changed(**fields: Any) -> Callable[[Chunk], Chunk | None]:
    return lambda chunk: chunk._replace(**fields)


def stops(chunk: Chunk) -> Chunk:
    return chunk._replace(text="stop") if chunk.kind == "stop" else chunk


@pytest.mark.parametrize(
    ("change", "case", "words"),
    [
        (without("text"), "text", "text: expected"),
        (without("stop"), "text", "stop reason: expected 'stop', got None"),
        (without("usage"), "usage", "usage: expected"),
        (without("usage"), "text", "usage is given"),
        (without("reasoning"), "reasoning", "reasoning: expected"),
        (without("tool_call"), "a tool call", "calls: expected"),
        (changed(index=0), "parallel tool calls", "calls: expected"),
        (stops, "a length stop", "stop reason: expected 'length'"),
        (stops, "a length stop inside a call, streamed", "stop reason: expected 'length'"),
    ],
)
async def test_a_model_that_is_wrong_is_told_so(
    change: Callable[[Chunk], Chunk | None], case: str, words: str
) -> None:
    (found,) = [c for c in CASES if c.name == case]
    with pytest.raises(AssertionError, match=words):
        await run_case(found, lambda server: Wrong(server, change))


class Insistent(Wrong):
    """Asks again by itself."""

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        try:
            async for chunk in self.inner.stream(request):
                yield chunk
        except ModelError:
            async for chunk in self.inner.stream(request):
                yield chunk


async def test_a_model_that_retries_is_told_so() -> None:
    (case,) = [c for c in CASES if c.name == "500"]
    with pytest.raises(AssertionError, match="requests: expected 1, got 2"):
        await run_case(case, lambda server: Insistent(server, lambda chunk: chunk))


class Silent(Wrong):
    """Passes over errors."""

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        try:
            async for chunk in self.inner.stream(request):
                yield chunk
        except ModelError as error:
            yield Chunk("text", str(error))
            yield Chunk("stop", "stop")


async def test_a_model_that_hides_errors_is_told_so() -> None:
    (case,) = [c for c in CASES if c.name == "a cut stream"]
    with pytest.raises(AssertionError, match="expected a ModelError"):
        await run_case(case, lambda server: Silent(server, lambda chunk: chunk))


async def test_an_allowance_leaves_details_out_and_nothing_else() -> None:
    (case,) = [c for c in CASES if c.name == "a refusal"]
    await run_case(case, lambda server: Wrong(server, without("refusal")), allow=["refusal"])
    with pytest.raises(AssertionError):
        await run_case(case, lambda server: Wrong(server, without("refusal")), allow=["other"])
    (case,) = [c for c in CASES if c.name == "529"]
    with pytest.raises(AssertionError, match="expected a ModelError"):
        await run_case(case, lambda server: Silent(server, lambda chunk: chunk), allow=["529"])


def test_all_failures_are_listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from robotlab_nb.testing import conformance

    one, two, three = CASES[0], CASES[2], replace(CASES[4], name="left out")
    monkeypatch.setattr(conformance, "CASES", (one, two, three))
    with pytest.raises(AssertionError) as caught:
        check_model(lambda server: Wrong(server, without("text", "tool_call")), skip=["left out"])
    lines = str(caught.value).split("\n")
    assert [line.partition(":")[0] for line in lines[1:]] == [one.name, two.name]
    monkeypatch.setattr(conformance, "CASES", (one, two))
    check_model(lambda server: server.model())
