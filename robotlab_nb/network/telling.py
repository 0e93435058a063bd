"""What the event of a finished task says: everything that a later run needs to go on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.preview import preview
from .result import TaskResult

if TYPE_CHECKING:
    from .doing import Doing
    from .flow import FlowResult

__all__ = ["completed"]


def completed(
    doing: Doing, result: Any, activate: tuple[str, ...], said: FlowResult | None, *, halts: bool
) -> dict[str, Any]:
    """The data of a ``task.completed`` event, the task's name apart.

    Parameters
    ----------
    doing : Doing
    result : object
        The task's result.
    activate : tuple of str
        Optional tasks that it activates.
    said : FlowResult or None
        What the step itself said.
    halts : bool
        Whether nothing new starts after it.
    """
    task = doing.task
    data: dict[str, Any] = {"text": str(result)}
    if isinstance(result, TaskResult):
        seen = preview(result.value)
        data["result"] = seen.data
        if seen.lossy:
            data["live"] = True
    if task.route is not None or activate:
        data["activate"] = list(activate)
    if said is not None:
        noted = said.news(doing.flow)
        if noted:
            data["noted"] = noted
        if halts:
            data["halts"] = True
        _tell_given(data, said, doing.flow)
    if task.way == "step" and doing.strand.runs:
        data["child_run_id"] = doing.strand.runs[-1].id
    if doing.strand.labels:
        data["labels"] = sorted(doing.strand.labels)
    return data


def _tell_given(data: dict[str, Any], said: FlowResult, before: FlowResult) -> None:
    """Tell the values that a step gives to those after it."""
    known = before.context
    fresh = {k: v for k, v in said.context.items() if k not in known or known[k] is not v}
    if fresh:
        seen = {str(key): preview(value) for key, value in fresh.items()}
        data["gave"] = {key: found.data for key, found in seen.items()}
        if any(found.lossy for found in seen.values()):
            data["live"] = True
