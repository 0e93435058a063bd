"""Running a tool's function: in a thread or on a loop, within a time, ending in a plain value.

No exception leaves by itself, for some would end the event loop: each is handed over as a value.
Generators are collected and awaitables awaited. Nothing here knows what a model wrote or reads.
"""

from __future__ import annotations

from types import GeneratorType, NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..runtime.deadlines import ending_in
from ..runtime.stillness import task_waits
from ..runtime.threads import in_thread
from .preview import Preview, preview

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable

__all__ = ["PLAIN", "Late", "Raised", "Returned", "run_async", "run_sync"]

#: items taken from a generator
MOST_ITEMS = 1_000
#: seconds that a cancelled async tool has for tidying up
GRACE_S = 1.0
#: values that are neither awaited nor iterated, and need no live copy
PLAIN = frozenset({str, int, float, bool, NoneType, list, dict, tuple})


class Returned(NamedTuple):
    """A value, and what others see of it."""

    value: Any
    preview: Preview


class Raised(NamedTuple):
    """What the function raised."""

    error: BaseException


class _Unfinished(NamedTuple):
    """Returned by a sync function, and still to be awaited or iterated."""

    value: Any


class Late(NamedTuple):
    """Out of time; ``leaked`` when it still runs and could not be stopped."""

    leaked: bool


class _Items(NamedTuple):
    """What a generator gave; ``cut`` when there was more."""

    items: list[Any]
    cut: bool


async def run_sync(
    function: Callable[..., Any], arguments: dict[str, Any], seconds: float | None
) -> Returned | Raised | Late:
    """Call a sync function in a worker thread.

    When the time is up, or the calling task is cancelled, the thread is left to end by itself.

    Parameters
    ----------
    function : callable
    arguments : dict
        By name.
    seconds : float or None
        None for no limit.
    """
    import asyncio

    running = False

    def body() -> Returned | Raised | _Unfinished:
        nonlocal running
        running = True
        try:
            value = function(**arguments)
            kind = type(value)
            if kind not in PLAIN:
                if kind is GeneratorType:
                    return _previewed(_collected(value))
                if hasattr(kind, "__await__") or hasattr(kind, "__anext__"):
                    return _Unfinished(value)
            return Returned(value, preview(value))
        except BaseException as error:
            return Raised(error)
        finally:
            running = False

    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        with ending_in(seconds):
            async with asyncio.timeout(seconds):
                end = await in_thread(body)
    except TimeoutError:
        return Late(running)
    except Exception as error:  # no thread could be had
        return Raised(error)
    if not isinstance(end, _Unfinished):
        return end
    left = None if seconds is None else max(0.0, seconds - (loop.time() - began))
    value = end.value
    return await run_async(lambda: value, {}, left, None)


def _collected(values: GeneratorType[Any, Any, Any]) -> _Items:
    items: list[Any] = []
    for item in values:
        if len(items) == MOST_ITEMS:
            values.close()
            return _Items(items, True)
        items.append(item)
    return _Items(items, False)


async def _collected_async(values: AsyncIterator[Any]) -> _Items:
    items: list[Any] = []
    async for item in values:
        if len(items) == MOST_ITEMS:
            close = getattr(values, "aclose", None)
            if close is not None:
                await close()
            return _Items(items, True)
        items.append(item)
    return _Items(items, False)


def _previewed(value: Any) -> Returned:
    """A value with its preview; that of a generator says when it was cut."""
    if not isinstance(value, _Items):
        return Returned(value, preview(value))
    seen = preview(value.items)
    if value.cut:
        note = f"[cut: the first {MOST_ITEMS:,} items; there were more]"
        seen = Preview(f"{seen.content}\n{note}", [*seen.data, note], True)
    return Returned(value.items, seen)


async def _settled(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call, await and collect; nothing is raised, for the task may be on any loop."""
    try:
        value = function(**arguments)
        if hasattr(type(value), "__await__"):
            value = await value
        kind = type(value)
        if kind is GeneratorType:
            return _collected(value)
        if hasattr(kind, "__anext__"):
            return await _collected_async(value)
        return value
    except GeneratorExit:
        raise
    except BaseException as error:
        return Raised(error)


async def run_async(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    seconds: float | None,
    other_loop: asyncio.AbstractEventLoop | None,
) -> Returned | Raised | Late:
    """Call an async function (or one that returns something to await) as a task of its own.

    When the time is up, or the calling task is cancelled, the task is cancelled and given a
    second to tidy up.

    Parameters
    ----------
    function : callable
    arguments : dict
        By name.
    seconds : float or None
        None for no limit.
    other_loop : asyncio.AbstractEventLoop or None
        A loop of another thread to run it on; None for the running one.
    """
    import asyncio

    work = _settled(function, arguments)
    pending: asyncio.Future[Any]
    if other_loop is None or other_loop is asyncio.get_running_loop():
        with ending_in(seconds):
            pending = asyncio.get_running_loop().create_task(work)
    else:
        try:
            pending = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, other_loop))
        except RuntimeError as error:  # that loop is closed
            work.close()
            return Raised(error)
    try:
        with task_waits():
            await asyncio.wait((pending,), timeout=seconds)
    except asyncio.CancelledError:
        await _cancelled(pending)
        raise
    if not pending.done():
        return Late(not await _cancelled(pending))
    if pending.cancelled():
        return Raised(asyncio.CancelledError())
    value = pending.result()
    if isinstance(value, Raised):
        return value
    if type(value) in PLAIN:
        return Returned(value, preview(value))
    # Hashing bytes or printing a table may take a while: not on the loop.
    return await in_thread(lambda: _safely_previewed(value))


async def _cancelled(pending: asyncio.Future[Any]) -> bool:
    """Cancel a tool and give it a moment; whether it ended."""
    import asyncio

    pending.cancel()
    await asyncio.wait((pending,), timeout=GRACE_S)
    return pending.done()


def _safely_previewed(value: Any) -> Returned | Raised:
    try:
        return _previewed(value)
    except BaseException as error:
        return Raised(error)
