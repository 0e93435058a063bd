"""Waiting for keys that others will write: in a thread, or in a coroutine of any loop.

One deadline holds for all keys of a wait. What a wait looks at is the memory itself, at each ring
and at each beat, so it depends on no single notification and on no event loop's objects.
"""

from __future__ import annotations

import contextlib
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import AwaitTimeout, ConfigurationError, InputError, RunInterrupted
from ..runtime.bells import Bell
from ..runtime.deadlines import ends_at
from ..runtime.loop import runs_here
from ..runtime.session import emit_here
from ..runtime.stillness import loop_waits, task_waits, thread_waits
from ..runtime.threads import slot_given_back
from ..runtime.waiting import BEAT_S, Heartbeat
from ..runtime.working import current_work
from .attribution import writer
from .deadlock import enter, leave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .changes import Entry
    from .storing import Storing

__all__ = ["WAIT_S", "Wait", "seconds_of", "wait_async", "wait_here"]

#: seconds of ``wait=True``
WAIT_S = 300.0
#: seconds between two looks of a worker thread: whether its run has ended
LOOK_S = 1.0


class Wait:
    """One wait of somebody for some keys."""

    __slots__ = (
        "began", "failure", "found", "keys", "memory", "ring", "stuck", "until", "who", "work",
    )  # fmt: skip

    def __init__(
        self, memory: Storing, keys: Sequence[str], seconds: float, ring: Callable[[], object]
    ) -> None:
        self.memory = memory
        self.keys = tuple(keys)
        self.ring = ring
        self.began = monotonic()
        #: when it ends at the latest: by its own time or with what it is a part of
        self.until = min(self.began + seconds, ends_at())
        self.work = current_work()
        self.who = writer()
        #: what was there at the last look
        self.found: dict[str, Entry] = {}
        #: set from outside when nobody is left who could write: the error, and what is recorded
        self.failure: AwaitTimeout | None = None
        self.stuck: dict[str, Any] = {}

    @property
    def missing(self) -> list[str]:
        """The keys that were not there at the last look."""
        return [key for key in self.keys if key not in self.found]

    @property
    def goes_on(self) -> bool:
        """Whether a key is missing."""
        return len(self.found) < len(self.keys)

    def left(self) -> float:
        """Seconds that are left.

        Raises
        ------
        AwaitTimeout
            When there are none, or nobody is left who could write.
        RunInterrupted
            When the run that waits has ended meanwhile.
        """
        if self.failure is not None:
            emit_here("memory.deadlock", self.stuck)
            raise self.failure
        listed = ", ".join(map(repr, self.missing))
        if self.work is not None and (self.work.done or self.work._cancelled):
            raise RunInterrupted(f"{self.who!r} waited for {listed} when its run ended")
        left = self.until - monotonic()
        if left <= 0:
            raise AwaitTimeout(
                f"{self.who!r} waited {self.until - self.began:.3g} s for {listed} of "
                f"{self.memory.title}, and nobody wrote it",
                hint="Give it more time, wait=seconds, or see who should have written it.",
            )
        return left


def seconds_of(wait: Any) -> float | None:
    """How long ``wait=`` means; None for not at all.

    Raises
    ------
    InputError
        When it is neither a bool nor a finite number of seconds.

    Examples
    --------
    >>> seconds_of(True), seconds_of(False), seconds_of(2)
    (300.0, None, 2.0)
    """
    if wait is True:
        return WAIT_S
    if wait is False:
        return None
    if not isinstance(wait, (int, float)) or not 0 <= wait < float("inf"):
        raise InputError(
            f"wait={wait!r:.60} is no time",
            hint=f"Write wait=True (for {WAIT_S:g} s at most), or seconds.",
        )
    return float(wait)


@contextlib.contextmanager
def _waiting(
    memory: Storing, keys: Sequence[str], seconds: float, ring: Callable[[], object]
) -> Iterator[Wait]:
    """Have a wait rung at changes, counted among those that wait, and recorded."""
    wait = Wait(memory, keys, seconds, ring)
    emit_here("memory.waiting", {"keys": list(keys), "timeout_s": seconds})
    away = contextlib.nullcontext() if wait.work is None else wait.work.away()
    memory.add_wait(wait)
    enter(wait)
    try:
        with away:
            yield wait
    finally:
        leave(wait)
        memory.remove_wait(wait)
        told = {"keys": list(keys), "waited_s": monotonic() - wait.began}
        emit_here("memory.got", {**told, "found": list(wait.found)})


def wait_here(memory: Storing, keys: Sequence[str], seconds: float) -> dict[str, Entry]:
    """Block the calling thread until all keys are there.

    Raises
    ------
    ConfigurationError
        On the event loop that does the work.
    AwaitTimeout
        When they are not there in time, or nobody is left who could write them.
    """
    if runs_here():
        raise ConfigurationError(
            "get(wait=…) cannot wait on the event loop that does the work",
            hint="In async code, write `await memory.aget(…, wait=…)`.",
        )
    news = threading.Event()
    # Stop is heard between two looks of the main thread; other threads are not stopped.
    main = threading.current_thread() is threading.main_thread()
    beat = BEAT_S if main else LOOK_S
    with (
        _waiting(memory, keys, seconds, news.set) as wait,
        slot_given_back(),
        thread_waits(lambda: wait.goes_on),
    ):
        while True:
            wait.found = memory.entries(keys)
            if not wait.goes_on:
                return wait.found
            if news.wait(min(beat, wait.left())):
                news.clear()


async def wait_async(memory: Storing, keys: Sequence[str], seconds: float) -> dict[str, Entry]:
    """Wait on the running loop until all keys are there. Raises as :func:`wait_here` does."""
    import asyncio

    bell = Bell()
    with _waiting(memory, keys, seconds, bell.ring) as wait, contextlib.ExitStack() as around:
        if runs_here():
            around.enter_context(task_waits())
        else:
            around.enter_context(Heartbeat(asyncio.get_running_loop()))
            around.enter_context(loop_waits())
        while True:
            wait.found = await memory.aentries(keys)
            if not wait.goes_on:
                return wait.found
            left = wait.left()
            await bell.wait(min(LOOK_S, left) if memory.shared else left)
