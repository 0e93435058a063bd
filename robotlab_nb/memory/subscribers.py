"""Those who are told of changes: who wants which keys, and how each is told.

Each has a queue of its own and is told of one change at a time, in order, in the background: on
the engine's loop if its function is async, else in a worker thread. One that fails or hangs is
reported and holds up nobody else. It knows no values and no backend.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, describe_error
from ..runtime import loop as _loop
from ..runtime.session import emit_here
from ..runtime.threads import in_thread

if TYPE_CHECKING:
    import asyncio
    import re
    from collections.abc import Callable, Iterable

    from .changes import MemoryChange

__all__ = ["MOST_QUEUED", "Subscriber", "globbed", "subscriber_ids"]

#: changes that wait for one subscriber; the oldest go first
MOST_QUEUED = 1_000
#: seconds after which a subscriber counts as hanging
STALLED_S = 60.0

subscriber_ids = itertools.count(1)


def globbed(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Globs as expressions: ``*`` any text, ``?`` one character, ``[abc]`` and ``[!abc]`` one of.

    Everything else stands for itself, and ``[*]`` for a star.

    Examples
    --------
    >>> matches = globbed(["a.*"])[0].match
    >>> bool(matches("a.b")), bool(matches("axb"))
    (True, False)
    """
    import re
    from fnmatch import translate

    return tuple(re.compile(translate(pattern)) for pattern in patterns)


class Subscriber:
    """Somebody who is told of changes.

    Parameters
    ----------
    id : str
    keys, patterns : tuple of str
        Exact keys, globs.
    callback : callable
        Takes a MemoryChange; sync or async.

    Raises
    ------
    ConfigurationError
        When the callback cannot be called.
    """

    __slots__ = (
        "_context", "_draining", "_globs", "_lock", "_missed", "_queue", "_warned", "callback",
        "id", "keys", "over", "patterns",
    )  # fmt: skip

    def __init__(
        self, id: str, keys: tuple[str, ...], patterns: tuple[str, ...], callback: Any
    ) -> None:
        if not callable(callback):
            raise ConfigurationError(
                f"callback={callback!r:.80} cannot be called",
                hint="It takes one argument, the MemoryChange.",
            )
        self.id = id
        self.keys = keys
        self.patterns = patterns
        self._globs = globbed(patterns)
        self.callback: Callable[[MemoryChange], Any] = callback
        #: set when it wants to be told of nothing more
        self.over = False
        # What it does happens where it subscribed: in that run, that task or that cell.
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._queue: deque[MemoryChange] = deque()
        self._draining = False
        self._missed = 0
        self._warned = False

    def wants(self, key: str) -> bool:
        """Whether it is told of changes of a key."""
        return key in self.keys or any(glob.match(key) for glob in self._globs)

    def narrow(self, keys: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
        """Be told of these only from now on. Returns whether anything is left."""
        self.keys, self.patterns, self._globs = keys, patterns, globbed(patterns)
        return bool(keys or patterns)

    def offer(self, change: MemoryChange) -> None:
        """Queue a change; never blocks. Called in the order of the changes."""
        with self._lock:
            if len(self._queue) >= MOST_QUEUED:
                self._queue.popleft()
                self._missed += 1
            self._queue.append(change)
            if self._draining:
                return
            self._draining = True
        loop = _loop_here()
        try:
            loop.call_soon_threadsafe(self._begin, loop, context=contextvars.Context())
        except RuntimeError:  # shut down just now: the next change finds another loop
            self._draining = False

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        # Kept by the task itself: the loop alone holds tasks weakly.
        task = loop.create_task(self._drain(), context=self._context.copy())
        _drains.add(task)
        task.add_done_callback(_drains.discard)

    def _next(self) -> tuple[MemoryChange | None, int]:
        """The next change to tell of, and how many were dropped before it."""
        with self._lock:
            if self.over or not self._queue:
                self._draining = False
                return None, 0
            missed, self._missed = self._missed, 0
            return self._queue.popleft(), missed

    async def _drain(self) -> None:
        """Tell of queued changes until there are none."""
        import asyncio

        try:
            while True:
                change, missed = self._next()
                if change is None:
                    return
                if missed:
                    why = f"{missed:,} changes, for {MOST_QUEUED:,} were waiting for it already"
                    self.failed(change.key, missed_error(why))
                await self._tell(change)
        except asyncio.CancelledError:  # the loop is being shut down
            self._draining = False
            raise

    async def _tell(self, change: MemoryChange) -> None:
        import asyncio
        import inspect

        telling = asyncio.create_task(_called(self.callback, change))
        try:
            done, _ = await asyncio.wait((telling,), timeout=STALLED_S)
            if not done:
                late = f"did not end within {STALLED_S:g} s"
                self.failed(change.key, {"type": "TimeoutError", "message": late})
                if inspect.iscoroutinefunction(self.callback):
                    telling.cancel()
                # The next change is told when this one is over: nothing comes out of order, and
                # a function that hangs holds one thread.
                await asyncio.wait((telling,))
                return
        except asyncio.CancelledError:
            telling.cancel()
            raise
        error = asyncio.CancelledError() if telling.cancelled() else telling.result()
        if error is not None:
            self.failed(change.key, describe_error(error))

    def failed(self, key: str, error: dict[str, Any]) -> None:
        """Report a failure: an event each time, a warning the first time."""
        emit_here("memory.subscriber_failed", {"key": key, "subscriber": self.id, "error": error})
        if not self._warned:
            self._warned = True
            import warnings

            name = getattr(self.callback, "__name__", None) or repr(self.callback)
            with contextlib.suppress(RuntimeWarning):  # where warnings are errors
                warnings.warn(
                    f"a memory's subscriber {name:.80} ({self.id}) failed at key {key!r}: "
                    f"{error['type']}: {error['message']}; others are told all the same",
                    RuntimeWarning,
                    stacklevel=2,
                )


#: tasks that tell somebody
_drains: set[asyncio.Task[None]] = set()


def missed_error(what: str) -> dict[str, Any]:
    """Changes that somebody was not told of, as an error in an event."""
    return {"type": "Missed", "message": f"it was not told of {what}"}


def _loop_here() -> asyncio.AbstractEventLoop:
    """The engine's loop; the running one where runs use the caller's."""
    import asyncio

    if _loop.current_mode() and (running := asyncio._get_running_loop()) is not None:
        return running
    return _loop.engine_loop().loop


async def _called(callback: Callable[[MemoryChange], Any], change: MemoryChange) -> Any:
    """Call somebody's function; what it raised, or None. Raises nothing but a cancellation."""
    import asyncio
    import inspect

    def body() -> tuple[Any, BaseException | None]:
        try:
            return callback(change), None
        except BaseException as error:
            return None, error

    try:
        if inspect.iscoroutinefunction(callback):
            await callback(change)
            return None
        value, error = await in_thread(body)
        if error is None and inspect.isawaitable(value):
            await value
        return error
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return error
