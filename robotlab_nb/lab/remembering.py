"""What earlier runs answered: found by the cells' keys in the log, or in a journal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.keys import digest
from ..runlog.faults import LogGone
from ..runlog.opened import log

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..runlog.answered import Told
    from ..runlog.opened import Log
    from ..runlog.store import Store
    from .journal import Journal

__all__ = ["Known", "Remembered", "log_is_kept", "remembered", "store_of"]


@dataclass(slots=True)
class Known:
    """A cell that was answered.

    Parameters
    ----------
    answer : dict
        The data of its latest ``cell.completed``.
    root_id : str
        Of the experiment that has it.
    scores : dict
        By the evaluator's name: the digest of its fingerprint, and what it said.
    """

    answer: dict[str, Any]
    root_id: str
    scores: dict[str, tuple[str, list[dict[str, Any]]]] = field(default_factory=dict)

    @property
    def run_id(self) -> str | None:
        """The run that answered."""
        found = self.answer.get("from_run_id") or self.answer.get("child_run_id")
        return None if found is None else str(found)

    def scores_of(self, name: str, fingerprint: Mapping[str, str]) -> list[dict[str, Any]] | None:
        """What an evaluator said of it, if it is still the same evaluator and had no trouble."""
        found = self.scores.get(name)
        if found is None or found[0] != digest(dict(fingerprint)):
            return None
        return found[1] if not any(score.get("error") for score in found[1]) else None

    def again(self) -> dict[str, Any]:
        """The data of the event that takes it over."""
        return {
            **self.answer,
            "cached": True,
            "from_run_id": self.run_id,
            "from_root_id": self.answer.get("from_root_id") or self.root_id,
        }


def log_is_kept() -> bool:
    """Whether a log is in force."""
    return log.target is not None


def store_of(where: Log) -> Store | None:
    """The database of a log; None where nothing was recorded yet, and where no log is kept."""
    if where.target is None:
        return None
    try:
        return where.store
    except LogGone:  # of a server, only asking shows whether there is one
        return None


class Remembered(NamedTuple):
    """What is known of cells: answers by key, and keys of which nobody knows how they ended."""

    known: dict[str, Known]
    #: begun by a process that died, or that still asks: they may be paid twice
    begun: set[str]


def remembered(keys: Collection[str], journal: Journal | None) -> Remembered:
    """What earlier runs tell of some cells.

    Parameters
    ----------
    keys : collection of str
    journal : Journal or None
        Is asked besides the log in force.

    Raises
    ------
    LogError
        When there is a log and it cannot be read: what is in it would be paid again.
    """
    wanted = frozenset(keys)
    found = Remembered({}, set())
    if journal is not None:
        _take(found, journal.answered(wanted))
    store = store_of(log)
    if store is not None:
        from ..runlog.answered import answered

        _take(found, answered(store, wanted))
    return found


def _take(remembered: Remembered, told: Iterable[Told]) -> None:
    found, begun = remembered
    for type_, root_id, data in told:
        key = str(data.get("key"))
        if type_ == "cell.started":
            begun.add(key)
        elif type_ == "cell.completed":
            begun.discard(key)
            if data.get("status") != "completed":
                continue
            before = found.get(key)
            made = Known(data, root_id)
            if before is not None and before.run_id == made.run_id:
                made.scores = before.scores  # the same answer, taken over
            found[key] = made
        elif key in found:
            evaluators, scores = data.get("evaluators"), data.get("scores")
            if isinstance(evaluators, dict) and isinstance(scores, list):
                _take_scores(found[key], evaluators, scores)


def _take_scores(known: Known, evaluators: dict[str, Any], scores: list[Any]) -> None:
    for name, fingerprint in evaluators.items():
        mine = [
            score
            for score in scores
            if isinstance(score, dict)
            and (score.get("name") == name or str(score.get("name")).startswith(f"{name}."))
        ]
        if isinstance(fingerprint, dict) and mine:
            known.scores[name] = digest(fingerprint), mine
