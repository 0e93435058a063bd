"""Checks of the engine in this process: its loop, what runs, what hangs."""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING

from ..runtime import loop as _loop
from ..runtime.registry import runs
from .check_rows import Row, fine, notice, wrong

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_loop", "check_runs", "check_threads"]

#: seconds in which a loop that is not blocked answers
_ANSWER_S = 0.2
#: seconds after which a run is worth a look
_LONG_S = 600
_THREADS = 100


def check_loop() -> Iterable[Row]:
    """Whether the engine's loop answers. It is not started for that."""
    found = _loop._engine
    if found is None or not found.alive:
        yield fine("engine", "not started yet: the first run starts it")
        return
    if threading.current_thread() is found.thread:
        yield fine("engine", "its loop runs")
        return
    answered = threading.Event()
    found.loop.call_soon_threadsafe(answered.set)
    if answered.wait(_ANSWER_S):
        yield fine("engine", "its loop runs and answers")
    else:
        yield wrong(
            "engine", "its loop does not answer: an async tool blocks it",
            "Make that tool a plain `def`, or have it await; `rl.stop_all()` gives the loop up.",
        )  # fmt: skip


def check_runs() -> Iterable[Row]:
    """What goes on, waits for a person, or does not end."""
    going = runs()
    if not going:
        yield fine("runs", "none is going on")
        return
    waiting = [run.name for run in going if run.status == "waiting"]
    long = [run.name for run in going if monotonic() - run.root.started > _LONG_S]
    if waiting:
        yield notice("runs", f"waiting for an answer: {_listed(waiting)}", "`run.answer(…)`")
    if long:
        yield notice("runs", f"going on for more than 10 minutes: {_listed(long)}",
                     "`rl.stop_all()`")  # fmt: skip
    if not waiting and not long:
        yield fine("runs", f"going on: {_listed([run.name for run in going])}")


def check_threads() -> Iterable[Row]:
    """Threads, and tools that were stopped and went on."""
    count = threading.active_count()
    if count > _THREADS:
        yield notice("threads", f"{count:,} threads are alive: tools may hang",
                     "Restart the kernel.")  # fmt: skip
    else:
        yield fine("threads", f"{count:,} alive")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(name[:40] for name in names[:5]) + more
