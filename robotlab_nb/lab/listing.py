"""Experiments of this process, of the log and of journals: found again, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.readings import ShownList
from ..runlog.conditions import Where
from ..runlog.opened import log as log_in_force
from .experiment import Experiment, live
from .journal import journal_of
from .remembering import log_is_kept, store_of
from .state import TYPES, ExperimentState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.events import Event
    from ..runlog.logged import LoggedRun
    from ..runlog.opened import Log
    from ..runlog.store import Store
    from .journal import Journal

__all__ = ["experiment_of", "experiments"]


def experiments(
    name: str | None = None, *, log: Log | None = None, journal: Any = None, limit: int = 50
) -> list[Experiment]:
    """List the experiments that were kept, newest first: ``rl.experiments()[0]`` is the last one.

    Parameters
    ----------
    name : str, optional
        Only those of this name.
    log : Log, optional
        Where to look; the log in force when left out.
    journal : path, optional
        A journal to look in as well, where experiments were kept in one.
    limit : int, optional
        How many at most.

    Returns
    -------
    list of Experiment

    Raises
    ------
    LogError
        When the log cannot be read.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> tried = rl.compare(["Be brief."], "simulated", ["Hello"], name="greetings")
    >>> rl.experiments("greetings")[0] is tried
    True
    """
    found: dict[str, Experiment] = {}
    for each in live():
        if each.id is not None and log is None:
            found[each.id] = each
    kept = journal_of(journal, logged=log_is_kept() or log is not None)
    if kept is not None:
        for each in _of_journal(kept):
            if each.id is not None:
                found.setdefault(each.id, each)
    store = store_of(log_in_force if log is None else log)
    if store is not None:
        for row in store.select(Where(kind="experiment")):
            if len(found) >= limit and row.run_id not in found:
                break
            if name is None or row.name == name:
                found.setdefault(row.run_id, _of_store(store, row.run_id, row.root_id))
    chosen = [each for each in reversed(found.values()) if name is None or each.name == name]
    chosen.sort(key=lambda each: each.started_at or "", reverse=True)
    return ShownList(chosen[:limit])


def experiment_of(run: LoggedRun) -> Experiment:
    """The experiment that a run of a log is.

    Parameters
    ----------
    run : LoggedRun
        Of kind ``experiment``.

    Raises
    ------
    InputError
        When it is another kind of run.
    """
    if run.kind != "experiment":
        raise InputError(f"run {run.id!r} is a {run.kind}'s, not an experiment")
    store = run._log.store
    if store is None:
        raise InputError(f"run {run.id!r} is not in the log any more")
    return _of_store(store, run.id, run.root_id)


def _of_store(store: Store, run_id: str, root_id: str) -> Experiment:
    state = ExperimentState.fold(store.events([root_id], types=TYPES), run_id)
    made = Experiment(state)
    _rate(made, store)
    return made


def _rate(experiment: Experiment, store: Store) -> None:
    """Take over what a person said of its answers."""
    from .ratings import kept_in

    for run_id, (rating, note) in kept_in(store, experiment.run_ids).items():
        experiment._state.rate(run_id, rating, note)


def _of_journal(journal: Journal) -> Iterator[Experiment]:
    by_run: dict[str, list[Event]] = {}
    for event in journal.events():
        by_run.setdefault(event.scope.run_id, []).append(event)
    from .ratings import kept_in_journal

    for run_id, events in by_run.items():
        if events[0].type == "run.started":
            made = Experiment(ExperimentState.fold(events, run_id), journal=journal)
            for rated, (rating, note) in kept_in_journal(journal, made.run_ids).items():
                made._state.rate(rated, rating, note)
            yield made
