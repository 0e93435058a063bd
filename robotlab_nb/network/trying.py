"""The tries of a task: each within its time, and another one where it failed and may have one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import (
    AwaitTimeout,
    BudgetExceeded,
    ConfigurationError,
    InputError,
    RunInterrupted,
    describe_error,
    unwrap,
)
from ..runtime.deadlines import ending_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .doing import Doing

__all__ = ["tried"]

#: errors that would come again
_FINAL = (ConfigurationError, InputError, BudgetExceeded, RunInterrupted)
_LATE = "the time of its task was up"


async def tried(doing: Doing, do: Callable[[Doing], Awaitable[Any]]) -> Any:
    """Carry a task out, in as many tries as it may have.

    Parameters
    ----------
    doing : Doing
    do : callable
        One try.

    Returns
    -------
    object
        The task's result.

    Raises
    ------
    AwaitTimeout
        When the last try did not end in time.
    Exception
        What the last try failed with.
    """
    import asyncio

    task = doing.task
    if task.map_over is not None and doing.index is None:
        return await do(doing)  # its items are tried, each by itself
    if not task.retries:
        return await (do(doing) if task.timeout is None else _in_time(doing, do))
    for attempt in range(1, task.retries + 2):
        doing.begin_try(attempt)
        if doing.seat is not None:
            await doing.seat.take()
        try:
            return await _in_time(doing, do)
        except _FINAL:
            raise
        except Exception as error:
            if attempt > task.retries:
                raise
            told = describe_error(unwrap(error))
        doing.strand.end("its task is tried again")
        if doing.seat is not None:
            doing.seat.give()
        doing.retried(told)
        await asyncio.sleep(task.retry_wait)
    raise AssertionError("a task has at least one try")


async def _in_time(doing: Doing, do: Callable[[Doing], Awaitable[Any]]) -> Any:
    """One try, stopped when its time is up: that is the task's failure, and nobody else's."""
    import asyncio

    seconds = doing.task.timeout
    if seconds is None:
        return await do(doing)
    here: Any = asyncio.current_task()
    cancelled: bool | None = None

    def expire() -> None:
        nonlocal cancelled
        run = doing.run
        cancelled = run is None or run.done
        if run is None or run.done:
            here.cancel()
        else:
            run.cancel(_LATE)

    ending = ending_in(seconds)
    timer = asyncio.get_running_loop().call_later(seconds, expire)
    try:
        with ending:
            return await do(doing)
    except (asyncio.CancelledError, RunInterrupted):
        if cancelled is None or (cancelled and here.uncancel()):
            raise
        doing.strand.end(_LATE)
        raise AwaitTimeout(
            f"task {doing.task.name!r} did not finish within {seconds:g} s",
            hint="Raise its timeout=, or leave it out.",
        ) from None
    finally:
        timer.cancel()
        doing.run = None
