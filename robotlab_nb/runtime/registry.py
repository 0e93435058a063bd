"""The live runs of the process: to list, to stop, and to replace when a cell is run again."""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.readings import ShownList
from . import recording

if TYPE_CHECKING:
    from .run import Run

__all__ = ["runs", "stop_all"]

_lock = threading.Lock()
#: seconds that runs have for ending by themselves when their loop was given up
PATIENCE_S = 2.0
#: live root runs, in order of start
_live: dict[str, Run[Any]] = {}
#: notebook cell -> (which execution of it, the runs started there)
_cells: dict[str, tuple[str, list[Run[Any]]]] = {}


def enter(run: Run[Any], cell: tuple[str, str] | None) -> None:
    """Note a root run that starts; cancel what an earlier execution of its cell started."""
    recording.begin(run.root)
    stale: list[Run[Any]] = []
    with _lock:
        _live[run.id] = run
        if cell is not None:
            cell_id, execution = cell
            known = _cells.get(cell_id)
            if known is None or known[0] != execution:
                stale = known[1] if known else []
                _cells[cell_id] = (execution, [run])
            else:
                known[1].append(run)
    for old in stale:
        if not old.done:
            old.cancel("its cell was run again")
    run.when_done(lambda: _leave(run, cell))


def _leave(run: Run[Any], cell: tuple[str, str] | None) -> None:
    with _lock:
        _live.pop(run.id, None)
        known = _cells.get(cell[0]) if cell else None
        if known and run in known[1]:
            known[1].remove(run)


def leave_loop(loop: Any) -> None:
    """See to it that the runs of a loop that was given up end, if it never turns again."""

    def leave() -> None:
        end = monotonic() + PATIENCE_S
        for run in runs():
            if run._loop is loop:
                done = threading.Event()
                run.when_done(done.set)
                if not done.wait(max(0.0, end - monotonic())):
                    run.abandon()

    threading.Thread(target=leave, name="robotlab_nb leaves a loop", daemon=True).start()


def runs() -> list[Run[Any]]:
    """List the runs that are going on, in order of start (children are inside them).

    Returns
    -------
    list of Run

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> run = rl.build("slow", model=rl.SimulatedModel(["done"], delay=5)).start("go")
    >>> run in rl.runs()
    True
    >>> run.stop()
    >>> run in rl.runs()
    False
    """
    with _lock:
        return ShownList(_live.values())


def stop_all(*, wait: float = 2.0) -> int:
    """Stop every run that is going on.

    Parameters
    ----------
    wait : float, optional
        Seconds to wait for them to tidy up.

    Returns
    -------
    int
        How many were stopped.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> run = rl.build("slow", model=rl.SimulatedModel(["done"], delay=5)).start("go")
    >>> rl.stop_all() >= 1, run.status
    (True, 'interrupted')
    """
    found = runs()
    for run in found:
        run.cancel("stopped")
    end = monotonic() + wait
    for run in found:
        done = threading.Event()
        run.when_done(done.set)
        done.wait(max(0.0, end - monotonic()))
    return len(found)


def _after_fork() -> None:
    # Runs of the parent go on there, not here; a lock that somebody held does not come along.
    global _lock
    _lock = threading.Lock()
    recording.after_fork([run.root.id for run in _live.values()])
    _live.clear()
    _cells.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
