"""Two answers of an experiment, word by word: as the differences of two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.events import Event, Scope
from ..core.messages import Message
from ..core.state import RunState
from ..network.differing import Diff

if TYPE_CHECKING:
    from .cell import Cell
    from .experiment import Experiment

__all__ = ["difference"]


def difference(experiment: Experiment, a: Cell, b: Cell) -> Diff:
    """What two cells answered differently.

    Raises
    ------
    InputError
        When one of them has no answer.
    """
    return Diff(_state(experiment, a), _state(experiment, b))


def _state(experiment: Experiment, cell: Cell) -> RunState:
    """A cell as the run of a robot that said no more than the answer."""
    if cell.text is None:
        raise InputError(
            f"cell {cell.index} is {cell.status}: it has no answer to compare",
            hint="Choose two that have one.",
        )
    run_id = cell.run_id or f"cell-{cell.index}"
    scope = Scope(run_id, run_id, None, 0, "robot", ("answer",), "answer")
    asked = experiment.inputs.get(cell.input, cell.input)
    answer = Message("assistant", cell.text)
    told: tuple[tuple[str, dict[str, Any]], ...] = (
        ("run.started", {"name": "answer", "model": cell.model, "input": asked}),
        ("message.added", {"message": answer.to_dict()}),
        ("run.completed", {"stop_reason": "stop"}),
    )
    return RunState.fold(
        Event(type_, scope, seq, cell.duration_s or 0.0 if seq == 2 else 0.0, data)
        for seq, (type_, data) in enumerate(told)
    )
