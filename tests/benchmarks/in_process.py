"""What runs cost without any socket: our model of a few lines against a loop of a few lines."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import robotlab_nb as rl

from . import bare
from .clock import Took, best, best_of_async
from .figure import Figure, Pair

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from .figure import Setting

__all__ = ["FIGURES", "Instant"]


class Instant(rl.Model):
    """A model that answers at once: ``rounds`` rounds of calls of its first tool, then ``ok``.

    Parameters
    ----------
    rounds : int, optional
    wait : float, optional
        Seconds before each answer.
    at_once : int, optional
        Calls in one answer.
    """

    name, provider = "bench/instant", "bench"

    def __init__(self, rounds: int = 0, *, wait: float = 0.0, at_once: int = 1) -> None:
        self.rounds = rounds
        self.wait = wait
        self.at_once = at_once

    async def stream(self, request: rl.Request) -> AsyncIterator[rl.Chunk]:
        """Answer one request, once."""
        if self.wait:
            await asyncio.sleep(self.wait)
        done = sum(message.role == "tool" for message in request.messages)
        if done == self.rounds:
            yield rl.Chunk("text", "ok")
            yield rl.Chunk("stop", "stop")
            return
        for i in range(self.at_once):
            tool = request.tools[0].name
            yield rl.Chunk("tool_call", '{"a": 1, "b": 2}', i, f"call_{done}_{i}", tool)
        yield rl.Chunk("stop", "tool")


def _robot(model: rl.Model, tools: list[Any]) -> rl.Robot[Any]:
    return rl.build("robot", system_prompt=bare.SYSTEM_PROMPT, model=model, tools=tools)


def _each_from_the_start(robot: rl.Robot[Any]) -> Callable[[], Awaitable[object]]:
    """A run of the robot, always with an empty conversation."""

    async def run() -> None:
        result = await robot.clear_messages().arun("hi")
        assert result.text == "ok", result.text

    return run


def _async_pair(
    floor: Callable[[], Awaitable[object]],
    ours: Callable[[], Awaitable[object]],
    *,
    calls: int,
    batches: int,
) -> Pair:
    """Microseconds of processor time of both, on the loop that they are called from."""

    async def both() -> tuple[Took, Took]:
        return (
            await best_of_async(floor, calls=calls, batches=batches),
            await best_of_async(ours, calls=calls, batches=batches),
        )

    with rl.engine(loop="current"):
        one, other = asyncio.run(both())
    return Pair(one.cpu * 1e6, other.cpu * 1e6)


def _run(setting: Setting) -> Pair:
    ours = _each_from_the_start(_robot(Instant(), []))
    return _async_pair(bare.ask_in_process, ours, calls=5, batches=setting.times(400))


def _tool_rounds(setting: Setting) -> Pair:
    ours = _each_from_the_start(_robot(Instant(2), [bare.add]))
    return _async_pair(lambda: bare.ask_in_process(2), ours, calls=3, batches=setting.times(200))


def _run_through_engine(setting: Setting) -> Pair:
    robot = _robot(Instant(), [])
    times = setting.times(400)
    floor = asyncio.run(best_of_async(bare.ask_in_process, calls=5, batches=times))
    robot.run("hi")
    ours = best(lambda: robot.clear_messages().run("hi"), calls=5, batches=times)
    return Pair(floor.cpu * 1e6, ours.cpu * 1e6)


def _arun_through_engine(setting: Setting) -> Pair:
    ours = _each_from_the_start(_robot(Instant(), []))

    async def both() -> Pair:
        times = setting.times(400)
        floor = await best_of_async(bare.ask_in_process, calls=5, batches=times)
        return Pair(floor.cpu * 1e6, (await best_of_async(ours, calls=5, batches=times)).cpu * 1e6)

    return asyncio.run(both())


# -- building ----------------------------------------------------------------------------------


class _Bare:
    """As little as a robot can be."""

    def __init__(self, model: object, tools: list[Any]) -> None:
        self.model = model
        self.tools = [bare.TOOL for _ in tools]
        self.system_prompt = bare.SYSTEM_PROMPT


def _build(setting: Setting) -> Pair:
    model, tool = Instant(), rl.tool(bare.add)
    times = setting.times(100)
    floor = best(lambda: _Bare(model, [tool]), calls=100, batches=times)
    return Pair(
        floor.cpu * 1e6,
        best(lambda: _robot(model, [tool]), calls=100, batches=times).cpu * 1e6,
    )


def _size(setting: Setting) -> Pair:
    model, tool = Instant(), rl.tool(bare.add)

    def kilobytes(make: Callable[[], object]) -> float:
        kept = [make() for _ in range(10)]
        count = setting.times(1000)
        gc.collect()
        tracemalloc.start()
        kept = [make() for _ in range(count)]
        gc.collect()
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return size / len(kept) / 1000

    return Pair(kilobytes(lambda: _Bare(model, [tool])), kilobytes(lambda: _robot(model, [tool])))


# -- tables ------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _run_with_many_calls(rounds: int) -> rl.RobotResult[Any]:
    async def add(a: int, b: int) -> int:
        """Add two integers."""
        return a + b

    model = Instant(rounds, at_once=100)
    return rl.build(model=model, tools=[add], max_tool_rounds=rounds).run("go")


def _frame(setting: Setting) -> Pair:
    import pandas as pd

    rounds = setting.times(100)
    result = _run_with_many_calls(rounds)
    made = result.frames.tool_calls
    assert len(made) == 100 * rounds, made.shape
    rows = made.to_dict("records")
    times = setting.times(3)
    # Frames keep what they made: each time others.
    return Pair(
        best(lambda: pd.DataFrame(rows), calls=1, batches=times).cpu,
        best(lambda: result.frames.tool_calls, calls=1, batches=times).cpu,
    )


FIGURES = [
    Figure("build a robot with one tool", "µs", 15, _build, 1),
    Figure("a robot with one tool, size", "kB", 3, _size),
    Figure("one run in process, caller's loop", "µs", 100, _run, 2),
    Figure("one run in process, engine's loop: run()", "µs", 190, _run_through_engine),
    Figure("one run in process, engine's loop: arun()", "µs", 190, _arun_through_engine),
    Figure("two tool rounds in process", "µs", 700, _tool_rounds, 24),
    Figure("10,000 tool calls to a frame", "s", 1, _frame),
]
