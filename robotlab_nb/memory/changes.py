"""What a memory holds under a key, and what subscribers are told when that changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.readings import Pictured

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["By", "Entry", "MemoryChange"]


class Entry(NamedTuple):
    """A value with its version (from 1), its labels, and what its backend knows it by.

    Then who wrote it and when, in UTC; empty where that was not kept.
    """

    value: Any
    version: int
    labels: frozenset[str] = frozenset()
    token: str = ""
    writer: str = ""
    at: datetime | None = None


class By(NamedTuple):
    """Who changes something, and when."""

    writer: str
    network: str | None
    correlation_id: str | None
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class MemoryChange(Pictured):
    """One change of one key.

    Parameters
    ----------
    key : str
    value : object
        What is there now; None when it was deleted.
    previous : object
        What was there before; None when there was nothing.
    kind : {"created", "updated", "deleted"}
    version : int
        The value's; of a deleted key, the one that it had.
    writer : str
        The robot or the task that did it, else ``"session"``.
    network_name : str or None
        The network in whose run it happened.
    timestamp : datetime
        In UTC.
    correlation_id : str or None
        The root run in which it happened.

    Examples
    --------
    >>> import threading
    >>> import robotlab_nb as rl
    >>> memory, told = rl.create_memory(), threading.Event()
    >>> seen = []
    >>> def note(change):
    ...     seen.append(f"{change.key}: {change.previous} -> {change.value} by {change.writer}")
    ...     told.set()
    >>> subscription = memory.subscribe("draft", callback=note)
    >>> memory["draft"] = "Dear all,"
    >>> told.wait(10), seen
    (True, ['draft: None -> Dear all, by session'])
    """

    key: str
    value: Any
    previous: Any
    kind: str
    version: int
    writer: str
    network_name: str | None
    timestamp: datetime
    correlation_id: str | None

    @property
    def is_created(self) -> bool:
        """Whether the key was not there before."""
        return self.kind == "created"

    @property
    def is_updated(self) -> bool:
        """Whether the key was there before and is still."""
        return self.kind == "updated"

    @property
    def is_deleted(self) -> bool:
        """Whether the key is not there any more."""
        return self.kind == "deleted"

    @classmethod
    def of(cls, key: str, before: Entry | None, now: Entry | None, by: By) -> MemoryChange:
        """The change from one entry to another; None where there is none."""
        kept = now or before
        return cls(
            key,
            None if now is None else now.value,
            None if before is None else before.value,
            "deleted" if now is None else "created" if before is None else "updated",
            0 if kept is None else kept.version,
            by.writer,
            by.network,
            by.timestamp,
            by.correlation_id,
        )
