"""Where the events of messages go: to the run that sent them, else to the process's session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..runtime.session import _task_scope, session_emit
from ..runtime.working import current_work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.events import Scope
    from ..runtime.working import Work

__all__ = ["NOWHERE", "Origin", "here", "tell"]


class Origin(NamedTuple):
    """The run in which a message was sent, and the network's task in it."""

    work: Work[Any] | None
    scope: Scope | None


NOWHERE = Origin(None, None)


def here() -> Origin:
    """Where the calling code happens."""
    work = current_work()
    return NOWHERE if work is None else Origin(work, _task_scope(work))


def tell(origin: Origin, type_: str, data: Mapping[str, Any]) -> None:
    """Record an event of a message.

    Parameters
    ----------
    origin : Origin
        Where it was sent. Once that run has ended, the session has the rest.
    type_ : str
    data : mapping
    """
    work, scope = origin
    if work is None or work.emit(type_, data, scope) is None:
        session_emit(type_, data)
