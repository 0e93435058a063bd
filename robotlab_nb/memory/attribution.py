"""Who the calling code is to a memory: its writer's name, its network, the labels of what it read.

All of it goes with the code in context variables, so writers side by side keep apart.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near
from ..runtime.strand import current_strand
from ..runtime.working import current_work
from ..tools.labels import LABELS
from .changes import By

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..runtime.working import Work

__all__ = ["SESSION", "checked_labels", "labels_here", "note_read", "who", "writer"]

#: who writes outside any run
SESSION = "session"


def writer() -> str:
    """Name of the robot whose run this is, else of the task, else of the network; else session."""
    work = current_work()
    if work is None:
        return SESSION
    if work.scope.robot is not None:
        return str(work.scope.robot)
    strand = current_strand(work)
    return str(strand.path[0] if strand is not None and strand.path else work.name)


def who() -> By:
    """The calling code as the author of a change that happens now."""
    work = current_work()
    root = None if work is None else work.root.id
    return By(writer(), _network(work), root, datetime.now(UTC))


def _network(work: Work[Any] | None) -> str | None:
    while work is not None and work.scope.kind != "network":
        work = work.parent
    return None if work is None else work.name


def labels_here() -> frozenset[str]:
    """Labels of the data that the calling code has read: what it writes bears them."""
    work = current_work()
    if work is None:
        return frozenset()
    strand = current_strand(work)
    return work.labels_seen if strand is None else work.labels_seen | strand.labels


def note_read(labels: frozenset[str]) -> None:
    """Tell the calling code's run that it has read labelled data."""
    if labels:
        work = current_work()
        if work is not None and not labels <= labels_here():
            work.on_read(labels)


def checked_labels(labels: Iterable[str] | None, key: str) -> frozenset[str]:
    """Labels that a person gave for a value.

    Raises
    ------
    ConfigurationError
        For one that is unknown.

    Examples
    --------
    >>> sorted(checked_labels(["private"], "salaries"))
    ['private']
    """
    if labels is None:
        return frozenset()
    if isinstance(labels, str):
        raise ConfigurationError(
            f"memory key {key!r}: labels={labels!r} is not a set of labels",
            hint=f"Write labels={{{labels!r}}}.",
        )
    found = frozenset(labels)
    for label in found:
        if label not in LABELS:
            raise ConfigurationError(
                f"memory key {key!r}: there is no label {label!r}", hint=near(str(label), LABELS)
            )
    return found
