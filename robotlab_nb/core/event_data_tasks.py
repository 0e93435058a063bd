"""What the events of a network's tasks say; :mod:`.event_data` lists them with all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["TASK_TYPES"]


class TaskStarted(TypedDict, total=False):
    """A task of a network begins, after waiting ``waited_s`` for a slot; so does each new try."""

    task: str
    kind: str
    robot: str | None
    waited_s: float
    #: the robot's or the network's run
    child_run_id: str
    #: which try it is, from 1, where it may have several
    attempt: int
    #: the group whose cap it is under
    group: str
    #: whether it had begun in the run that this one goes on from: what it did then may come twice
    possibly_repeated: bool


class TaskRetried(TypedDict, total=False):
    """A try of a task failed, and another one follows in ``retry_in_s`` seconds."""

    task: str
    attempt: int
    error: Mapping[str, Any]
    retry_in_s: float
    #: which item of a map
    item: int


class TaskCompleted(TypedDict, total=False):
    """A task ended well. ``result`` is a function's value as JSON or a preview of it."""

    task: str
    text: str
    result: Any
    #: optional tasks that its route activates
    activate: Sequence[str]
    #: whether it ended the network: nothing new starts, and its value is the network's
    halts: bool
    #: what it noted besides: texts by key
    noted: Mapping[str, Sequence[str]]
    #: labels of the data that is in its result
    labels: Sequence[str]
    #: the robot's run, where it was not known when the task began
    child_run_id: str
    #: whether ``result`` says less than the value did, which lives in its process alone
    live: bool
    #: values that it gives to steps after it, as JSON or previews
    gave: Mapping[str, Any]


class TaskRestored(TypedDict, total=False):
    """A task that an earlier run had finished, and that is not done again. Costs nothing now."""

    task: str
    text: str
    result: Any
    #: a robot's answer, where its shape was prescribed
    output: Any
    activate: Sequence[str]
    halts: bool
    noted: Mapping[str, Sequence[str]]
    gave: Mapping[str, Any]
    labels: Sequence[str]
    live: bool
    #: the run that did it, and the robot's or network's run in there
    restored_from: str
    child_run_id: str
    #: US dollars that it cost there; None where that is not known
    restored_cost: float | None


class TaskFailed(TypedDict, total=False):
    """A task failed; ``traceback`` for errors of a person's own code."""

    task: str
    error: Mapping[str, Any]
    traceback: str


class TaskSettled(TypedDict, total=False):
    """A task will not run, or was stopped: ``skipped, blocked, halted, interrupted``, and why."""

    task: str
    status: str
    reason: str


class MapStarted(TypedDict, total=False):
    """A task is done for each of so many items; None where only the end will tell."""

    task: str
    items: int | None


class MapItem(TypedDict, total=False):
    """An item of a map is over: ``completed, failed`` or ``interrupted``."""

    task: str
    index: int
    status: str
    text: str
    #: a function's value as JSON or a preview of it
    result: Any
    error: Mapping[str, Any]
    child_run_id: str
    duration_s: float
    #: digest of the item: a later run knows by it that it is the same
    key: str
    #: whether ``result`` says less than the value did, which lives in its process alone
    live: bool
    #: labels of the data that was read for it
    labels: Sequence[str]
    #: the run that did it, where this one only took it over
    restored_from: str


class MapCompleted(TypedDict, total=False):
    """A map begins no more items; ``done`` and ``failed`` count them."""

    task: str
    done: int
    failed: int


class LoopTurned(TypedDict, total=False):
    """A turn of a loop is over, and whether another follows: ``until, not yet, max_turns``."""

    task: str
    #: from 1
    turn: int
    again: bool
    reason: str
    #: which item of a map
    item: int


#: event type -> what its data says


class GuardConvergence(TypedDict, total=False):
    """Texts were compared. ``score`` is the two's that differ most; None where one is alone."""

    score: float | None
    threshold: float
    converged: bool
    #: how many
    texts: int


TASK_TYPES: dict[str, type] = {
    "task.started": TaskStarted,
    "task.retried": TaskRetried,
    "task.completed": TaskCompleted,
    "task.restored": TaskRestored,
    "task.failed": TaskFailed,
    "task.settled": TaskSettled,
    "map.started": MapStarted,
    "map.item": MapItem,
    "map.completed": MapCompleted,
    "loop.turned": LoopTurned,
    "guard.convergence": GuardConvergence,
}
