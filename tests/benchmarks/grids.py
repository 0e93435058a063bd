"""What a comparison costs: a cell of a grid of 1,000, against a plain loop over ``arun``."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import robotlab_nb as rl
from robotlab_nb.lab.remembering import remembered
from robotlab_nb.testing import ScriptedModel

from .clock import best, best_of_async
from .figure import Figure, Pair
from .processes import fresh, resident

if TYPE_CHECKING:
    from .figure import Setting

__all__ = ["FIGURES", "kept"]

#: 2 prompts × 2 models × 250 inputs
INPUTS = [f"input {n}" for n in range(250)]
PROMPTS = {"terse": "Be brief.", "kind": "Be kind."}
CELLS = 1_000


def _models() -> dict[str, ScriptedModel]:
    return {name: ScriptedModel(["ok"] * (CELLS // 2)) for name in ("one", "two")}


async def _grid() -> rl.Experiment:
    made = await rl.acompare(PROMPTS, _models(), INPUTS, journal=False, show=False)
    assert made.progress.done == CELLS
    return made


async def _loop() -> list[rl.RobotResult]:
    """The same calls, so many at a time, by somebody who only wants the answers."""
    robots = [
        rl.build(name, system_prompt=text, model=model)
        for name, text in PROMPTS.items()
        for model in _models().values()
    ]
    left = iter([(robot, text) for text in INPUTS for robot in robots])
    results: list[rl.RobotResult] = []

    async def some() -> None:
        for robot, text in left:
            results.append(await robot.arun(text))
            robot.clear_messages()

    await asyncio.gather(*[some() for _ in range(8)])
    return results


def _time(setting: Setting) -> Pair:
    async def measure() -> Pair:
        times = setting.times(10)
        floor = await best_of_async(_loop, batches=times)
        ours = await best_of_async(_grid, batches=times)
        return Pair(floor.cpu / CELLS * 1e6, ours.cpu / CELLS * 1e6)

    with rl.engine(loop="current"):
        return asyncio.run(measure())


def kept(what: str) -> None:
    """Print the kilobytes that each cell of some kept experiments (or loops) occupies."""
    do = _grid if what == "grid" else _loop

    async def measure() -> float:
        await do()
        gc.collect()
        before = resident()
        found = [await do() for _ in range(5)]
        await asyncio.sleep(0)  # the loop still holds the last run
        gc.collect()
        return (resident() - before) / CELLS / len(found)

    with rl.engine(loop="current"):
        print(asyncio.run(measure()))


def _memory(setting: Setting) -> Pair:
    script = "from tests.benchmarks.grids import kept; kept({!r})"
    return Pair(fresh(script.format("loop")).printed, fresh(script.format("grid")).printed)


def _known(setting: Setting) -> Pair:
    """Milliseconds to look 1,000 cells up in a log in which 20 experiments are."""
    with tempfile.TemporaryDirectory() as folder, rl.options(log=str(Path(folder) / "log.sqlite")):
        for n in range(2 if setting.quick else 20):
            made = rl.compare(PROMPTS, _models(), [f"{n} {text}" for text in INPUTS])
        keys = {cell.key for cell in made.cells}
        rl.log.flush(60)
        assert len(remembered(keys, None).known) == CELLS
        took = best(lambda: remembered(keys, None), calls=1, batches=setting.times(20))
        rl.log.close()
    return Pair(None, took.wall * 1e3)


FIGURES = [
    Figure("a cell of a grid of 1,000 (floor: a loop over arun)", "µs", 280, _time, 200),
    Figure("a finished cell of that grid (floor: a result)", "kB", 11, _memory, 8),
    Figure("1,000 known cells in a log of 20,000 (wall)", "ms", 130, _known),
]
