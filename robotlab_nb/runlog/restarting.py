"""A run of the log in force, found by its id: to read it, or to go on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError

if TYPE_CHECKING:
    from .logged import LoggedRun

__all__ = ["logged"]


def logged(run: Any, *, to_resume: bool = False) -> LoggedRun:
    """A run that a log has kept.

    Parameters
    ----------
    run : str or LoggedRun
        Its id in the log in force, or the first 6 digits and more.
    to_resume : bool, optional
        Whether it is to be gone on from: it must have ended, or its process must have.

    Raises
    ------
    InputError
        When there is no such run, several are meant, or it still goes on.
    """
    from .opened import log

    if isinstance(run, str) and log.target is None:
        raise InputError(
            f"run {run!r} cannot be looked up: runs are not kept, rl.options.log is None",
            hint="Pass the run itself, its result, or its events.",
        )
    found: LoggedRun = log.find(run) if isinstance(run, str) else run
    return _ended(found) if to_resume else found


def _ended(run: LoggedRun) -> LoggedRun:
    """The run, now that its process has been looked for."""
    store = run._log.store
    if store is not None:
        run = run._log.fixed.find(run.id)  # it may have gone on since it was read
    if run.row.ended or store is None:
        return run
    if store.readonly:
        from .abandoning import living
        from .event_text import clean

        with store._reading() as connection:
            goes_on = clean(run.root_id) in living(store._backend, connection)
        if not goes_on:
            return run
    else:
        store.abandon_dead()
        run = run._log.fixed.find(run.id)
        if run.row.ended:
            return run
    raise InputError(
        f"run {run.id!r} still goes on: it is {run.status}",
        hint="Its process is alive. Wait for it, or stop it there with cancel().",
    )
