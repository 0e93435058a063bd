"""What an unfinished answer says so far, and reading it while it streams."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import robotlab_nb as rl
from robotlab_nb.models.output_request import answer_marks
from robotlab_nb.models.protocol import Chunk, Model, Request
from robotlab_nb.models.simulated import SimulatedModel
from robotlab_nb.robot.partial_json import partial
from robotlab_nb.robot.structured import shape_of
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

MODES = ["schema", "tool", "text"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)  # fmt: skip


def begins(part: Any, whole: Any) -> bool:
    """Whether a value is the beginning of another: only its last members may be unfinished."""
    if type(part) is not type(whole):
        return False
    if isinstance(whole, str):
        return whole.startswith(part)
    if isinstance(whole, (list, dict)):
        if len(part) > len(whole):
            return False
        if isinstance(whole, dict):
            if list(part) != list(whole)[: len(part)]:
                return False
            part, whole = list(part.values()), list(whole.values())
        *done, last = part or [None]
        return done == whole[: len(done)] and (not part or begins(last, whole[len(done)]))
    return bool(part == whole)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    st.booleans(),
    st.sampled_from([None, 2]),
    st.sampled_from(["", "Here you are:\n", "```json\n"]),
)
def test_every_prefix_is_the_beginning_of_the_whole_and_nothing_is_taken_back(
    value, ascii_only, indent, before
):
    text = before + json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    last: Any = None
    for end in range(len(text) + 1):
        found = partial(text[:end])
        if found is None:
            assert last is None
            continue
        assert begins(found, value)
        assert last is None or begins(last, found)
        last = found
    assert last == value


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from('{}[]":,\\u0123tfn-.e \n`'), max_size=60))
def test_no_text_whatever_raises(text):
    partial(text)
    shape = shape_of(list[int], {}, SimulatedModel())
    assert shape is not None
    shape.partial(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("Let me see", None),
        ("{", {}),
        ('{"a": 12', {}),
        ('{"a": 12,', {"a": 12}),
        ('{"a": tru', {}),
        ('{"a": "x\\u00', {"a": "x"}),
        ('{"a": "one 1', {"a": "one 1"}),
        ('{"a": {"b": [1, "tw', {"a": {"b": [1, "tw"]}}),
        ('Use {this}: {"a": "', {"a": ""}),
    ],
)
def test_a_number_counts_when_it_is_complete_and_a_text_as_far_as_it_goes(text, value):
    assert partial(text) == value


def test_a_long_answer_is_read_at_each_piece_in_reasonable_time():
    text = json.dumps({"rows": [{"name": f"row {n}", "size": n} for n in range(500)]})
    began = time.process_time()
    for end in range(0, len(text), 20):
        partial(text[:end])
    assert len(text) > 15_000
    assert time.process_time() - began < 5.0


# -- while it streams --------------------------------------------------------------------------


class Trip(BaseModel):
    city: str
    days: int


PARTS = ['{"ci', 'ty": "Par', 'is", "days": 1', "2}"]


def said(mode: str, parts: list[str]) -> Reply:
    if mode != "tool":
        return Reply.text(parts)
    deltas: list[dict[str, Any]] = [
        {"tool_calls": [{"index": 0, "function": {"arguments": part}}]} for part in parts
    ]
    deltas[0]["tool_calls"][0].update(id=f"c{len(parts)}", type="function")
    deltas[0]["tool_calls"][0]["function"]["name"] = "final_answer"
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return Reply.events(*chunks)


def stream_of(server: ModelServer, mode: str, output: Any = Trip, **more: Any) -> Any:
    bot = rl.build(
        "planner", model="openai/m", api_base=server.base_url, api_key="sk-test",
        config={"output": output, "output_mode": mode}, **more,
    )  # fmt: skip
    return bot.stream("Plan a trip.")


def read(stream: Any, way: str, seen: Callable[[], object] = int) -> list[Any]:
    found: list[Any] = []

    def take(one: Any) -> None:
        found.append(one)
        seen()

    async def collect() -> None:
        async for one in stream.objects:
            take(one)

    if way == "for":
        for one in stream.objects:
            take(one)
    else:
        asyncio.run(collect())
    return found


@pytest.mark.parametrize("way", ["for", "async for"])
@pytest.mark.parametrize("mode", MODES)
def test_an_answer_is_data_while_it_streams_and_the_object_at_the_end(mode, way):
    with ModelServer([said(mode, PARTS).paced(0.02)]) as server:
        found = read(stream_of(server, mode), way)
    *parts, last = found
    assert last == Trip(city="Paris", days=12)
    assert parts[-1] == {"city": "Paris", "days": 12}
    for part, after in itertools.pairwise(parts):
        assert begins(part, after)
        assert part != after


class Gated(Model):
    """Says the next piece when the reader has seen the one before."""

    output_modes = frozenset({"schema", "tool", "text"})

    def __init__(self) -> None:
        self.seen = threading.Semaphore(0)

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        mark = answer_marks(request)
        for part in ('{"city": "Par', 'is"', ', "days": 12}'):
            piece = Chunk("text", part)
            if mark is not None:
                piece = mark(Chunk("tool_call", part, 0, "c", "final_answer"))
            yield piece
            await asyncio.to_thread(self.seen.acquire, timeout=30)
        yield piece._replace(text=" ")  # a blank says nothing new
        yield Chunk("stop", "stop" if mark is None else "tool")


@pytest.mark.parametrize("way", ["for", "async for"])
@pytest.mark.parametrize("mode", MODES)
def test_each_piece_is_read_before_the_next_is_written(mode, way):
    model = Gated()
    bot = rl.build("b", model=model, config={"output": Trip, "output_mode": mode})
    found = read(bot.stream("Plan a trip."), way, model.seen.release)
    assert found == [
        {"city": "Par"}, {"city": "Paris"}, {"city": "Paris", "days": 12},
        Trip(city="Paris", days=12),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_what_is_wrapped_for_the_provider_is_not_for_the_reader(mode):
    with ModelServer([said(mode, ['{"value": [1, ', "2, ", "3]}"]).paced(0.02)]) as server:
        found = read(stream_of(server, mode, list[int]), "for")
    assert found[-1] == [1, 2, 3]
    assert all([1, 2, 3][: len(part)] == part for part in found)


@pytest.mark.parametrize("mode", MODES)
def test_a_rejected_answer_is_followed_by_the_next_from_its_start(mode):
    bad = ['{"city": "Rome", ', '"days": "many"}', " "]
    with ModelServer([said(mode, bad), said(mode, PARTS)]) as server:
        found = read(stream_of(server, mode), "for")
    assert found.index({"city": "Rome", "days": "many"}) < len(found) - 2
    assert found[-1] == Trip(city="Paris", days=12)
    assert found[-2] == {"city": "Paris", "days": 12}


def test_an_attempt_that_broke_off_is_followed_by_the_next_from_its_start():
    parts = ['{"city": "Rome", ', '"days": 1', "2"]
    with ModelServer([said("schema", parts).cut(400), said("schema", PARTS)]) as server:
        stream = rl.build(
            "planner", model=server.model(), config={"output": Trip, "retry_interval": 0.01}
        ).stream("Plan a trip.")
        found = read(stream, "for")
        assert len(server.requests) == 2
    assert found[0] == {"city": "Rome"}
    assert found[-2:] == [{"city": "Paris", "days": 12}, Trip(city="Paris", days=12)]


def test_arguments_of_other_tools_are_no_answer():
    def book(city: str, days: int) -> str:
        "Book a stay in a city."
        return "booked"

    call = Reply.tool_call("book", {"city": "Oslo", "days": 9}, id="b")
    with ModelServer([call, said("tool", PARTS)]) as server:
        found = read(stream_of(server, "tool", tools=[book]), "for")
    assert "Oslo" not in str(found)
    assert found[-1] == Trip(city="Paris", days=12)


@pytest.mark.parametrize("mode", MODES)
def test_the_simulated_model_streams_its_answer_in_pieces(mode):
    bot = rl.build(
        "planner", model=rl.SimulatedModel(pace=0.005),
        config={"output": Trip, "output_mode": mode},
    )  # fmt: skip
    found = read(bot.stream("3 days in Paris"), "for")
    assert found[-2:] == [{"city": "Paris", "days": 3}, Trip(city="Paris", days=3)]


def test_a_run_without_a_prescribed_answer_has_no_objects():
    stream = rl.build("b", model=rl.SimulatedModel(["hi"])).stream("hello")
    with pytest.raises(rl.InputError, match="output="):
        stream.objects  # noqa: B018
