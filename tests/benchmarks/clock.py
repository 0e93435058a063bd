"""Timing: the best of many short batches, so that whatever else the machine does counts little.

It knows nothing of what is timed.
"""

from __future__ import annotations

import gc
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["Took", "best", "best_of_async"]


class Took(NamedTuple):
    """Seconds for one call: of processor time (all threads of the process), and by the wall."""

    cpu: float
    wall: float


def best(call: Callable[[], object], *, calls: int, batches: int) -> Took:
    """The best batch of a function; one call of it.

    Parameters
    ----------
    call : callable
    calls : int
        Calls in a batch.
    batches : int

    Examples
    --------
    >>> took = best(lambda: sum(range(1000)), calls=10, batches=3)
    >>> 0 < took.cpu < 1 and 0 < took.wall < 1
    True
    """
    cpu = wall = float("inf")
    gc.collect()
    for _ in range(batches):
        began, used = perf_counter(), process_time()
        for _ in range(calls):
            call()
        cpu = min(cpu, process_time() - used)
        wall = min(wall, perf_counter() - began)
    return Took(cpu / calls, wall / calls)


async def best_of_async(
    call: Callable[[], Awaitable[Any]], *, calls: int = 1, batches: int
) -> Took:
    """The best batch of an async function; one call of it. It is called once before."""
    await call()
    cpu = wall = float("inf")
    gc.collect()
    for _ in range(batches):
        began, used = perf_counter(), process_time()
        for _ in range(calls):
            await call()
        cpu = min(cpu, process_time() - used)
        wall = min(wall, perf_counter() - began)
    return Took(cpu / calls, wall / calls)
