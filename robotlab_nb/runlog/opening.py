"""Who writes to which log: one recorder for each place, until the process ends or forks.

Nothing here loads a database: that is done when a log is first read or written.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from .announcing import announce
from .recorder import Recorder
from .targets import Target, target_of

if TYPE_CHECKING:
    from .store import Store

__all__ = ["open_store", "recorder_at", "recorder_of"]

_lock = threading.Lock()
#: address -> who writes there, until all is written
_recorders: dict[str, Recorder] = {}


def recorder_of(where: Any) -> Recorder:
    """Who writes to a log; one that writes there already is taken.

    Parameters
    ----------
    where : path, URL or True

    Raises
    ------
    ConfigurationError
        When no log can be there.
    """
    target = target_of(where)
    with _lock:
        found = _recorders.get(target.address)
        if found is not None and found.go_on():
            return found
        _end_with_process()
        greet = (lambda: announce(target.shown)) if where is True else None
        made = Recorder(lambda: open_store(target), target.shown, greet=greet)
        _recorders[target.address] = made
    return made


def recorder_at(target: Target) -> Recorder | None:
    """Who in this process writes to a log, if anybody does."""
    return _recorders.get(target.address)


def open_store(target: Target) -> Store:
    """Open a log to write to; a file is made, and its folder, if need be."""
    from .store import Store

    return Store.open(target.address, create=True)


#: the process that will write the rest when it ends
_registered = 0


def _end_with_process() -> None:
    global _registered
    if _registered == os.getpid():
        return
    _registered = os.getpid()
    atexit.register(_write_the_rest)
    if "multiprocessing.process" in sys.modules:
        from multiprocessing.process import parent_process
        from multiprocessing.util import Finalize

        if parent_process() is not None:  # such a child ends without atexit, by a list of its own
            Finalize(None, _write_the_rest, exitpriority=0)


def _write_the_rest() -> None:
    """At the process's end: stop what runs, and write all of it; for 2 s at most."""
    from ..runtime.loop import shutdown

    live = [each for each in _recorders.values() if not each.ended]
    if live:
        shutdown()
    for each in live:
        each.close(2.0 / len(live))


def _after_fork() -> None:
    # The child's recorders are its own; those of the parent are forgotten by the engine's half.
    global _lock
    _lock = threading.Lock()
    for each in _recorders.values():
        each.forget()
    _recorders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
