"""What it costs to keep runs: the run's own part, all of it, and what a person waits longer."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import robotlab_nb as rl
from robotlab_nb.runtime import recording, sinks

from . import bare
from .clock import best
from .figure import Figure, Pair
from .in_process import Instant
from .over_http import robot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from robotlab_nb.core.events import Event

    from .figure import Setting

__all__ = ["FIGURES"]

#: interleaved pairs, with the log and without
PAIRS = 20


class _Log:
    """A log in a file; its recorder reads while it is on, and stays open."""

    def __enter__(self) -> _Log:
        self._folder = tempfile.TemporaryDirectory()
        self._options = rl.options(log=Path(self._folder.name) / "log.sqlite")
        self._options.__enter__()
        self.recorder = recording.recorder()
        return self

    def on(self) -> None:
        sinks.add_sink(self.recorder)
        recording._recorder = self.recorder

    def off(self) -> None:
        sinks.remove_sink(self.recorder)
        recording._recorder = None

    def __exit__(self, *_: object) -> None:
        self.on()
        self._options.__exit__()
        recording.look()
        self.recorder.close(60)
        self._folder.cleanup()


def _events() -> list[Event]:
    bot = rl.build("robot", model=Instant(2), tools=[bare.add])
    return bot.run("hi").events


def _put(setting: Setting) -> Pair:
    """One event as the run sees it: noted, and no more."""
    events = _events()
    with _Log() as log:

        class Root:
            id, last = events[0].scope.root_id, -1

            def after(self, seq: int) -> list[Event]:
                return []

        put = log.recorder.put
        log.recorder.follow(Root())
        took = best(lambda: _note(put, events), calls=20, batches=setting.times(100))
    kept: list[Event] = []
    floor = best(lambda: _note(kept.append, events), calls=20, batches=setting.times(100))
    return Pair(floor.cpu / len(events) * 1e6, took.cpu / len(events) * 1e6)


def _note(put: Callable[[Event], object], events: list[Event]) -> None:
    for event in events:
        put(event)


def _alternating(log: _Log, once: Callable[[], float], pairs: int) -> Iterator[tuple[float, float]]:
    """What something costs without the log and with it, one right after the other."""
    for number in range(pairs):
        found = {}
        for wanted in (False, True) if number % 2 else (True, False):
            log.off()
            if wanted:
                log.on()
            try:
                found[wanted] = once()
            finally:
                log.off()
        yield found[False], found[True]


def _in_all(setting: Setting) -> Pair:
    """Processor time of all threads for an event, from the run to the file."""
    count = setting.times(200)
    bot = rl.build("robot", model=Instant(2), tools=[bare.add])
    each = len(_events())

    with _Log() as log:

        def once() -> float:
            began = process_time()
            for _ in range(count):
                bot.clear_messages().run("hi")
            log.recorder.flush(60)
            return process_time() - began

        once()
        more = [(with_ - without) for without, with_ in _alternating(log, once, setting.times(10))]
    return Pair(None, median(more) / (count * each) * 1e6)


def _over_http(setting: Setting) -> Pair:
    """How many times as long a run over HTTP takes while its log is written."""
    asked = robot(setting.url, "answer")
    count = setting.times(100)

    async def both() -> float:
        async def once() -> float:
            began = perf_counter()
            for _ in range(count):
                await asked.clear_messages().arun("hi")
            return perf_counter() - began

        return await _ratio(once, setting)

    with rl.engine(loop="current"):
        return Pair(1.0, asyncio.run(both()))


async def _ratio(once: Callable[[], Awaitable[float]], setting: Setting) -> float:
    ratios: list[float] = []
    with _Log() as log:
        for number in range(setting.times(PAIRS) + 1):
            found: dict[bool, float] = {}
            for wanted in (False, True) if number % 2 else (True, False):
                log.off()
                if wanted:
                    log.on()
                found[wanted] = await once()
                await asyncio.to_thread(log.recorder.flush, 60)
            if number:  # the first one loads the database
                ratios.append(found[True] / found[False])
    return median(ratios)


FIGURES = [
    Figure("recording, the run's part of an event", "µs", 1.0, _put),
    Figure("recording, all of an event, all threads", "µs", 12.0, _in_all),
    Figure("a run over HTTP and its log, wall, times without", "×", 1.1, _over_http),
]
