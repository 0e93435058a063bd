"""What runs cost over HTTP, against aiohttp by hand, both with the same server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import robotlab_nb as rl

from . import bare
from .clock import Took, best_of_async
from .figure import Figure, Pair
from .server import words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp import ClientSession

    from .figure import Setting

__all__ = ["FIGURES", "all_of_it", "robot"]

LENGTH = sum(map(len, words(2000)))


def robot(url: str, model: str, tools: list[Any] | None = None) -> rl.Robot[Any]:
    """A robot whose model is at the server."""
    return rl.build(
        "robot",
        system_prompt=bare.SYSTEM_PROMPT,
        model=f"openai/{model}",
        api_base=url,
        api_key="none",
        tools=tools,
    )


async def _run(asked: rl.Robot[Any], answer: str) -> None:
    result = await asked.clear_messages().arun("hi")
    assert result.text == answer, result.text


async def _stream(asked: rl.Robot[Any]) -> None:
    length = 0
    async for text in asked.clear_messages().stream("hi").text:
        length += len(text)
    assert length == LENGTH, length


async def _run_all(asked: rl.Robot[Any], count: int) -> None:
    asked.clear_messages()
    results = await asyncio.gather(*[asked.arun(f"hi {i}") for i in range(count)])
    assert all(result.text == "ok" for result in results)


async def _run_all_bare(http: ClientSession, url: str, model: str, count: int) -> None:
    await asyncio.gather(*[bare.ask(http, url, model) for _ in range(count)])


def _both(
    floor: Callable[[ClientSession], Awaitable[object]],
    ours: Callable[[], Awaitable[object]],
    *,
    calls: int = 1,
    batches: int,
) -> tuple[Took, Took]:
    async def measure() -> tuple[Took, Took]:
        async with bare.session() as http:
            one = await best_of_async(lambda: floor(http), calls=calls, batches=batches)
        return one, await best_of_async(ours, calls=calls, batches=batches)

    with rl.engine(loop="current"):
        return asyncio.run(measure())


def _one_run(setting: Setting) -> Pair:
    url, asked = setting.url, robot(setting.url, "answer")
    floor, ours = _both(
        lambda http: bare.ask(http, url, "answer"),
        lambda: _run(asked, "ok"),
        calls=3,
        batches=setting.times(200),
    )
    return Pair(floor.cpu * 1e6, ours.cpu * 1e6)


def _tool_rounds(setting: Setting) -> Pair:
    url, asked = setting.url, robot(setting.url, "tools-2", [bare.add])
    floor, ours = _both(
        lambda http: bare.ask(http, url, "tools-2", tools=True),
        lambda: _run(asked, "done"),
        calls=2,
        batches=setting.times(100),
    )
    return Pair(floor.cpu * 1e6, ours.cpu * 1e6)


def _at_once(setting: Setting) -> Pair:
    url, asked = setting.url, robot(setting.url, "answer-50ms")
    floor, ours = _both(
        lambda http: _run_all_bare(http, url, "answer-50ms", 200),
        lambda: _run_all(asked, 200),
        batches=setting.times(5),
    )
    return Pair(floor.wall, ours.wall)


def _chunks(setting: Setting) -> Pair:
    url, asked = setting.url, robot(setting.url, "chunks-2000")
    floor, ours = _both(
        lambda http: bare.read_stream(http, url, "chunks-2000"),
        lambda: _stream(asked),
        batches=setting.times(20),
    )
    return Pair(floor.cpu * 1e3, ours.cpu * 1e3)


# -- in a process of its own, to see how much memory it needs --------------------------------------


def all_of_it(url: str) -> None:
    """Runs, tool rounds, 200 at once and a stream."""

    async def do() -> None:
        asked = robot(url, "answer")
        for _ in range(50):
            await _run(asked, "ok")
        asked = robot(url, "tools-2", [bare.add])
        for _ in range(20):
            await _run(asked, "done")
        await _run_all(robot(url, "answer-50ms"), 200)
        await _stream(robot(url, "chunks-2000"))

    with rl.engine(loop="current"):
        asyncio.run(do())


FIGURES = [
    Figure("one run over HTTP", "µs", 500, _one_run, 190),
    Figure("two tool rounds over HTTP", "µs", 1800, _tool_rounds, 605),
    Figure("200 runs at once, 50 ms model, HTTP (wall)", "s", 0.16, _at_once, 0.075),
    Figure("2,000 streamed chunks over HTTP", "ms", 35, _chunks, 9),
]
