"""Waits that nobody is left to end are ended at once, not at their deadlines.

While a run waits for a key, the engine's loop looks again and again whether anything in the
process can still act: any thread, task or timer that is not known to wait counts as a possible
writer, and so does every other process where a memory is shared. If all only wait, then the next
thing to happen would be that the first of the waits reaches its deadline. It is told so now; what
it does then may end the others, so these are looked at anew. Nobody is told wrongly: whoever is
told would have waited in vain.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..core.errors import AwaitTimeout
from ..runtime import loop as _loop
from ..runtime.stillness import is_still

if TYPE_CHECKING:
    import asyncio

    from .waits import Wait

__all__ = ["enter", "leave"]

#: seconds between two looks: at first, and at most
FIRST_S, MOST_S = 0.03, 0.5
#: how far a timer may lie behind the moment that it was meant for
SLACK_S = 0.001

_waits: set[Wait] = set()
_lock = threading.Lock()
_watch: _Watch | None = None


def enter(wait: Wait) -> None:
    """Count a wait among those that go on."""
    global _watch
    _waits.add(wait)
    if wait.work is None or wait.memory.shared or _loop.current_mode():
        return
    loop = _loop.engine_loop().loop
    with _lock:
        if _watch is None or _watch.loop is not loop:
            _watch = _Watch(loop)
        watch = _watch
    loop.call_soon_threadsafe(watch.soon)


def leave(wait: Wait) -> None:
    """A wait is over."""
    _waits.discard(wait)


class _Watch:
    """Looks on the engine's loop whether the waits that go on are all that goes on."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._pause = FIRST_S
        self._handle: asyncio.TimerHandle | None = None
        #: the waits of the last look, if all was still then
        self._still: frozenset[Wait] = frozenset()

    def soon(self) -> None:
        """Look in a moment: something has begun to wait."""
        self._pause = FIRST_S
        self._again()

    def _again(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self.loop.call_later(self._pause, self._look)

    def _look(self) -> None:
        self._handle = None
        waits = frozenset(tuple(_waits))
        if not any(wait.work is not None for wait in waits):
            self._still = frozenset()
            return
        if _only_waits(waits, self.loop):
            # Seen twice: a thread that was being given work the first time has it by now.
            if waits == self._still:
                _end_first(waits)
            self._still, self._pause = waits, FIRST_S
        else:
            self._still, self._pause = frozenset(), min(MOST_S, self._pause * 1.5)
        self._again()


def _only_waits(waits: frozenset[Wait], loop: asyncio.AbstractEventLoop) -> bool:
    until = min(wait.until for wait in waits)
    return all(_goes_on(wait) for wait in waits) and is_still(loop, until - SLACK_S)


def _goes_on(wait: Wait) -> bool:
    """Whether a wait is not about to end, and no other process could end it."""
    memory = wait.memory
    if wait.failure is not None or memory.shared:
        return False
    return len(memory.entries(wait.keys)) < len(wait.keys)


def _end_first(waits: frozenset[Wait]) -> None:
    first = min(waits, key=lambda wait: wait.until)
    told = "; ".join(sorted(f"{w.who!r} for {', '.join(map(repr, w.missing))}" for w in waits))
    listed = ", ".join(map(repr, first.missing))
    first.failure = AwaitTimeout(
        f"{first.who!r} waits for {listed} of {first.memory.title}, and nobody is left who could "
        f"write it: all that goes on only waits ({told})",
        hint="Have it written before something else is waited for.",
    )
    first.stuck = {"keys": first.missing, "waiting": sorted({w.who for w in waits})}
    first.ring()
