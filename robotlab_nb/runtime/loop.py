"""The engine's own event loop: one daemon thread for the life of the process.

Model calls and tool servers live on it, so that a notebook's own loop stays free, cells queue up
in order, and Stop reaches what runs. It starts with the first run, starts afresh in a forked
child, and is abandoned when an async tool blocks it and Stop was pressed.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Literal

from ..core.errors import ConfigurationError

__all__ = ["EngineLoop", "engine", "engine_loop", "runs_here", "shutdown"]


class EngineLoop:
    """A daemon thread that runs an event loop until it is closed."""

    def __init__(self) -> None:
        import asyncio

        self.loop = asyncio.new_event_loop()
        self.abandoned = False
        self._quit = asyncio.Event()
        self.thread = threading.Thread(target=self._main, name="robotlab_nb", daemon=True)
        self.thread.start()

    def _main(self) -> None:
        import asyncio

        loop = self.loop
        asyncio.set_event_loop(loop)
        # An endless root task, not run_forever: worker threads then find their root at once.
        loop.run_until_complete(self._quit.wait())
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        # Sessions of the models are kept open by generators on the loop: this closes them.
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    @property
    def alive(self) -> bool:
        """Whether new runs may be sent here."""
        return not self.abandoned and self.thread.is_alive()

    def abandon(self) -> None:
        """Send no more runs here: something blocks it. It ends when it can."""
        self.abandoned = True
        self.loop.call_soon_threadsafe(self._quit.set)

    def close(self, timeout: float = 1.0) -> None:
        """Close connections, end the loop, and wait up to ``timeout`` seconds for it."""
        self.abandon()
        self.thread.join(timeout)


_lock = threading.Lock()
_engine: EngineLoop | None = None
_mode: Literal["own", "current"] = "own"


def engine_loop() -> EngineLoop:
    """Return the engine's loop, started if need be."""
    global _engine
    found = _engine
    if found is not None and found.alive:
        return found
    with _lock:
        if _engine is None or not _engine.alive:
            if _engine is None:
                import atexit

                atexit.register(shutdown)
            _engine = EngineLoop()
        return _engine


def runs_here() -> bool:
    """Whether the calling thread's running loop is the one that runs are to use."""
    import asyncio

    running = asyncio._get_running_loop()
    if running is None:
        return False
    return _mode == "current" or (_engine is not None and _engine.loop is running)


def loop_is_running() -> bool:
    """Whether the calling thread has an event loop that is running."""
    import asyncio

    return asyncio._get_running_loop() is not None


def current_mode() -> bool:
    """Whether runs use the caller's loop."""
    return _mode == "current"


def shutdown() -> None:
    """Stop all runs, close connections and end the engine's loop. A later run starts a new one."""
    global _engine
    from .registry import stop_all

    found, _engine = _engine, None
    if found is not None and found.alive and threading.current_thread() is not found.thread:
        stop_all(wait=0.5)
        found.close()


def _after_fork() -> None:
    # The thread did not come along; neither may a lock that somebody held.
    global _engine, _lock
    _engine = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class engine:
    """Choose the loop that runs use: the engine's own thread, or the caller's loop.

    Parameters
    ----------
    loop : {"own", "current"}
        ``"own"`` (the default of the process): a background thread, so that sync code, notebooks
        and Stop work. ``"current"``: the loop that calls ``arun``, ``start`` or ``stream``; for
        servers, benchmarks and browsers without threads. Blocking ``run()`` is an error then.

    Raises
    ------
    ConfigurationError
        For another word.

    Examples
    --------
    It takes effect at once; used with ``with``, the former choice comes back afterwards.

    >>> import asyncio
    >>> import robotlab_nb as rl
    >>> with rl.engine(loop="current"):
    ...     print(asyncio.run(rl.build("a", model=rl.SimulatedModel(["hi"])).arun("hello")))
    hi
    """

    def __init__(self, *, loop: Literal["own", "current"] = "own") -> None:
        global _mode
        if loop not in ("own", "current"):
            raise ConfigurationError(
                f"there is no engine loop {loop!r}", hint='Use "own" or "current".'
            )
        self._before = _mode
        _mode = loop

    def __enter__(self) -> engine:
        return self

    def __exit__(self, *_: Any) -> None:
        global _mode
        _mode = self._before

    def __repr__(self) -> str:
        return f"engine(loop={_mode!r})"
