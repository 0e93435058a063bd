"""Keeping what a person said of answers: in the log, else in the experiment's journal.

A rating belongs to the run that answered, so an answer that is taken over into a later experiment
brings its rating along.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..runlog.faults import LogError
from ..runlog.opened import log
from ..runlog.rating_runs import checked
from ..runlog.records import now

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..runlog.store import Store
    from .cell import Cell
    from .experiment import Experiment
    from .journal import Journal

__all__ = ["keep", "kept", "kept_in", "kept_in_journal"]

#: a rating and a note
Rated = tuple["int | None", "str | None"]


def keep(experiment: Experiment, cell: Cell, rating: int | None, note: str | None) -> Rated:
    """Keep a rating and a note; None for both takes them away.

    Where nothing can be kept it stays with the experiment, and a warning says so.

    Parameters
    ----------
    experiment : Experiment
    cell : Cell
        One that was answered.
    rating : int or None
    note : str or None

    Returns
    -------
    tuple
        Both as they were kept.

    Raises
    ------
    InputError
        When it is no rating, or no note.
    """
    rating, note = checked(rating, note)
    run_id, journal = str(cell.run_id), experiment._journal
    trouble: str | None = None
    if log.target is not None:
        trouble = _keep_in_log(run_id, rating, note)
        if trouble is None:
            return rating, note
    if journal is not None:
        journal.write({"rated": run_id, "rating": rating, "note": note, "at": now()})
        trouble = journal.trouble
    if trouble is not None:
        warnings.warn(
            f"the rating of cell {cell.index} is kept in this process only: {trouble}",
            RuntimeWarning,
            stacklevel=3,
        )
    return rating, note


def _keep_in_log(run_id: str, rating: int | None, note: str | None) -> str | None:
    """Write to the log in force; why that was not possible, if it was not."""
    try:
        log.rate([run_id], rating, note or "")
    except InputError:
        return "its answer is not in the log that is in force"
    except LogError as error:
        return error.message
    return None


def kept(run_ids: Iterable[str], journal: Journal | None) -> dict[str, Rated]:
    """Ratings and notes by run, of the log in force and of a journal; the log's stand."""
    wanted = list(run_ids)
    found = {} if journal is None else kept_in_journal(journal, wanted)
    store = log.store
    if store is not None:
        found.update(kept_in(store, wanted))
    return found


def kept_in(store: Store, run_ids: Iterable[str]) -> dict[str, Rated]:
    """Ratings and notes by run, of a log."""
    noted = store.ratings(run_ids)
    return {run_id: (rating, note) for run_id, (rating, note, _) in noted.items()}


def kept_in_journal(journal: Journal, run_ids: Iterable[str]) -> dict[str, Rated]:
    """Ratings and notes by run, of a journal; the latest stands, damaged lines are passed over."""
    wanted = frozenset(run_ids)
    found: dict[str, Rated] = {}
    for line in journal.lines(b'"rated"'):
        run_id: Any = line.get("rated")
        if not isinstance(run_id, str) or run_id not in wanted:
            continue
        try:
            found[run_id] = checked(line.get("rating"), line.get("note"))
        except InputError:
            continue
    return {run_id: said for run_id, said in found.items() if said != (None, None)}
