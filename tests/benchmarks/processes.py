"""What whole processes cost: importing, the first answer, the most memory.

It knows nothing of what the processes do; that stands in their scripts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from .figure import Figure, Pair
from .server import REPOSITORY

if TYPE_CHECKING:
    from .figure import Setting

__all__ = ["FIGURES", "Process", "fresh", "peak", "resident"]


class Process(NamedTuple):
    """The number that a process printed, and how many seconds it took by the wall."""

    printed: float
    wall: float


def fresh(script: str) -> Process:
    """Run a script in a fresh interpreter.

    Raises
    ------
    RuntimeError
        When it fails; with what it said.

    Examples
    --------
    >>> fresh("print(6 * 7)").printed
    42.0
    """
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=REPOSITORY.parent,
        capture_output=True,
        text=True,
    )
    wall = perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-2000:])
    return Process(float(done.stdout), wall)


def _status(field: str) -> float:
    # Not getrusage: there a process inherits the peak of the one that started it.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return float(line.split()[1]) * 1.024
    raise RuntimeError(f"no {field} in /proc/self/status")


def resident() -> float:
    """Kilobytes of memory that this process occupies."""
    return _status("VmRSS:")


def peak() -> float:
    """Megabytes of memory that this process occupied at most."""
    return _status("VmHWM:") / 1000


IMPORT_FLOOR = "import asyncio, time; print(time.process_time())"
IMPORT_OURS = """
import robotlab_nb as rl
def add(a: int, b: int) -> int:
    "Add two integers."
    return a + b
rl.build("robot", system_prompt="You are a helpful robot.", tools=[add])
import time
print(time.process_time())
"""
FIRST_FLOOR = """
import aiohttp, asyncio, os
async def main():
    body = {{"model": "answer", "messages": [{{"role": "user", "content": "hi"}}]}}
    async with aiohttp.ClientSession() as http:
        async with http.post("{url}/chat/completions", json=body) as response:
            assert (await response.json())["choices"][0]["message"]["content"] == "ok"
    print(0, flush=True)
    os._exit(0)
asyncio.run(main())
"""
FIRST_OURS = """
import os
import robotlab_nb as rl
def add(a: int, b: int) -> int:
    "Add two integers."
    return a + b
robot = rl.build("robot", model="openai/answer", api_base="{url}", api_key="none", tools=[add])
assert robot.run("hi").text == "ok"
print(0, flush=True)
os._exit(0)
"""
WEIGHED = """
from tests.benchmarks.{module} import all_of_it
from tests.benchmarks.processes import peak
all_of_it("{url}")
print(peak())
"""


def _import_and_build(setting: Setting) -> Pair:
    times = setting.times(8)
    return Pair(
        min(fresh(IMPORT_FLOOR).printed for _ in range(times)) * 1e3,
        min(fresh(IMPORT_OURS).printed for _ in range(times)) * 1e3,
    )


def _first_answer(setting: Setting) -> Pair:
    times = setting.times(5)
    return Pair(
        min(fresh(FIRST_FLOOR.format(url=setting.url)).wall for _ in range(times)),
        min(fresh(FIRST_OURS.format(url=setting.url)).wall for _ in range(times)),
    )


def _peak(setting: Setting) -> Pair:
    return Pair(
        fresh(WEIGHED.format(module="bare", url=setting.url)).printed,
        fresh(WEIGHED.format(module="over_http", url=setting.url)).printed,
    )


FIGURES = [
    Figure("import + build a robot with one tool", "ms", 130, _import_and_build, 60),
    Figure("cold process to first HTTP answer (wall)", "s", 0.5, _first_answer, 0.19),
    Figure("peak memory of HTTP runs", "MB", 65, _peak, 38),
]
