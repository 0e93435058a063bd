"""What networks cost: against tasks by hand, against the critical path, and as they grow."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import robotlab_nb as rl

from . import bare
from .clock import best_of_async
from .figure import Figure, Pair
from .in_process import Instant
from .over_http import robot
from .processes import fresh, resident

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .figure import Setting

__all__ = ["FIGURES", "kept"]

#: for each task the tasks before it: ten layers of ten, each waiting for two of the layer before
GRID = {
    f"t{layer}_{place}": [f"t{layer - 1}_{p % 10}" for p in (place, place + 1)] if layer else []
    for layer in range(10)
    for place in range(10)
}
#: branches of as many tasks of so many milliseconds: all take 400, and no two are in step
BRANCHES = {1: 400, 2: 200, 4: 100, 5: 80, 8: 50}
UNEVEN = {
    **{
        f"b{count}_{i}": [f"b{count}_{i - 1}"] if i else []
        for count in BRANCHES
        for i in range(count)
    },
    "end": [f"b{count}_{count - 1}" for count in BRANCHES],
}
#: seconds
CRITICAL = 0.45


def _network(after: dict[str, list[str]], runner: rl.Robot[Any]) -> rl.Network:
    net = rl.create_network("net")
    for name, before in after.items():
        net.task(name, runner, depends_on=before)
    return net


def _wall(floor: Awaitable[Pair]) -> Pair:
    async def measure() -> Pair:
        return await floor

    with rl.engine(loop="current"):
        return asyncio.run(measure())


async def _run(net: rl.Network, tasks: int) -> None:
    result = (await net.arun("go")).raise_for_errors()
    assert len(result) == tasks, len(result)


async def _grid_in_process(setting: Setting) -> Pair:
    net = _network(GRID, rl.build("robot", model=Instant(wait=0.01)))

    async def do(name: str) -> str:
        return await bare.ask_in_process(wait=0.01)

    times = setting.times(10)
    floor = await best_of_async(lambda: bare.graph(GRID, do), batches=times)
    return Pair(floor.wall, (await best_of_async(lambda: _run(net, 100), batches=times)).wall)


async def _grid_over_http(setting: Setting) -> Pair:
    net = _network(GRID, robot(setting.url, "answer-10ms"))
    times = setting.times(10)
    async with bare.session() as http:

        async def do(name: str) -> str:
            return await bare.ask(http, setting.url, "answer-10ms")

        floor = await best_of_async(lambda: bare.graph(GRID, do), batches=times)
    return Pair(floor.wall, (await best_of_async(lambda: _run(net, 100), batches=times)).wall)


def _milliseconds(name: str) -> int:
    return 50 if name == "end" else BRANCHES[int(name[1:].partition("_")[0])]


async def _uneven(setting: Setting) -> Pair:
    robots = {
        ms: rl.build(f"robot {ms}", model=Instant(wait=ms / 1000)) for ms in BRANCHES.values()
    }
    net = rl.create_network("uneven")
    for name, before in UNEVEN.items():
        net.task(name, robots[_milliseconds(name)], depends_on=before)

    async def do(name: str) -> str:
        return await bare.ask_in_process(wait=_milliseconds(name) / 1000)

    times = setting.times(3)
    floor = await best_of_async(lambda: bare.graph(UNEVEN, do), batches=times)
    ours = await best_of_async(lambda: _run(net, len(UNEVEN)), batches=times)
    return Pair(floor.wall / CRITICAL, ours.wall / CRITICAL)


# -- growing -----------------------------------------------------------------------------------


def _chain(length: int) -> rl.Network:
    after = {f"t{i}": [f"t{i - 1}"] if i else [] for i in range(length)}
    return _network(after, rl.build("robot", model=Instant()))


async def _time(setting: Setting) -> Pair:
    """Milliseconds a task: the floor is a chain of 100, ours one of 1,000, made and run."""

    async def run(length: int) -> None:
        await _run(_chain(length), length)

    short = await best_of_async(lambda: run(100), batches=setting.times(20))
    long = await best_of_async(lambda: run(1000), batches=setting.times(5))
    return Pair(short.cpu / 100 * 1e3, long.cpu / 1000 * 1e3)


def kept(length: int, count: int) -> None:
    """Print the kilobytes that each finished task of some chains occupies."""

    async def run(length: int) -> object:
        return (await _chain(length).arun("go")).raise_for_errors()

    async def do() -> float:
        await run(10)
        gc.collect()
        before = resident()
        results = [await run(length) for _ in range(count)]
        await asyncio.sleep(0)  # the loop still holds the last run
        gc.collect()
        return (resident() - before) / length / len(results)

    with rl.engine(loop="current"):
        print(asyncio.run(do()))


def _memory(setting: Setting) -> Pair:
    script = "from tests.benchmarks.networks import kept; kept({}, {})"
    return Pair(fresh(script.format(100, 10)).printed, fresh(script.format(1000, 1)).printed)


FIGURES = [
    Figure(
        "100-task network, 10 ms model, HTTP (wall)", "s", 0.17,
        lambda setting: _wall(_grid_over_http(setting)), 0.115,
    ),
    Figure(
        "100-task network, 10 ms model, in process (wall)", "s", 0.12,
        lambda setting: _wall(_grid_in_process(setting)), 0.104,
    ),
    Figure(
        "uneven branches, against the critical path (wall)", "×", 1.05,
        lambda setting: _wall(_uneven(setting)),
    ),
    Figure(
        "a task of a 1,000-task chain (floor: of 100)", "ms", 0.18,
        lambda setting: _wall(_time(setting)), 0.15,
    ),
    Figure("a finished task of that chain (floor: of 100)", "kB", 12, _memory),
]  # fmt: skip
