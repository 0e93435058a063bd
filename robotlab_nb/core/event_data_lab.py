"""What experiments say: one TypedDict per type of event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LAB_TYPES"]


class ExperimentPlanned(TypedDict, total=False):
    """What will be asked. A large plan comes in several: all but ``cells`` is in the first."""

    #: labels and values by axis: ``prompt, model, input``, further ones, ``repeat``
    axes: Mapping[str, Sequence[Any]]
    #: how many each axis has, in the same order
    sizes: Sequence[int]
    #: what stands on the axes ``prompt`` and ``input``, in full
    prompts: Sequence[str]
    inputs: Sequence[str]
    #: all columns of each input
    rows: Sequence[Mapping[str, Any]]
    #: ``key``, and ``at``: the place on each axis, from 0
    cells: Sequence[Mapping[str, Any]]
    #: see :class:`~robotlab_nb.lab.estimate.Estimate`
    estimate: Mapping[str, Any]
    #: digests of what decides each evaluator's scores, by name
    evaluators: Mapping[str, Mapping[str, str]]


class CellStarted(TypedDict, total=False):
    """A cell is asked, in a run of its own."""

    index: int
    key: str
    child_run_id: str
    #: whether an earlier run had begun to ask it, and nobody knows how that ended
    possibly_repeated: bool


class CellCompleted(TypedDict, total=False):
    """A cell is over: ``completed, failed, interrupted`` or ``skipped``."""

    index: int
    key: str
    status: str
    #: the run that answered
    child_run_id: str
    #: whether the answer is an earlier run's, and whose
    cached: bool
    from_run_id: str
    from_root_id: str
    text: str | None
    #: the answer as data, where there is such
    value: Any
    error: Mapping[str, Any] | None
    duration_s: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    cost_complete: bool
    simulated: bool
    possibly_repeated: bool


class CellScored(TypedDict, total=False):
    """Evaluators looked at a cell's answer."""

    index: int
    key: str
    #: see :class:`~robotlab_nb.lab.evaluating.Score`
    scores: Sequence[Mapping[str, Any]]
    #: digests of what decided them, by the evaluator's name
    evaluators: Mapping[str, Mapping[str, str]]


#: event type -> what its data says
LAB_TYPES: dict[str, type] = {
    "experiment.planned": ExperimentPlanned,
    "cell.started": CellStarted,
    "cell.completed": CellCompleted,
    "cell.scored": CellScored,
}
