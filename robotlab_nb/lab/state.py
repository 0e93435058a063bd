"""What an experiment looks like after its events so far: a fold, like that of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cell import Cell
from .estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.events import Event

__all__ = ["TYPES", "ExperimentState"]

#: the types of event that it is made of
TYPES = frozenset(
    {
        "run.started", "run.completed", "run.failed", "run.interrupted", "run.abandoned",
        "experiment.planned", "cell.started", "cell.completed", "cell.scored",
    }
)  # fmt: skip
#: fields that a cell has of its ``cell.completed`` event, as they are there
_TOLD = (
    "status", "cached", "text", "value", "error", "duration_s", "input_tokens", "output_tokens",
    "cost_usd", "cost_complete", "simulated", "possibly_repeated",
)  # fmt: skip
#: axes that every experiment has
AXES = ("prompt", "model", "input", "repeat")


class ExperimentState:
    """Everything that the events of one experiment say.

    Attributes
    ----------
    name : str
    run_id, root_id : str or None
    status, reason : str
        As the experiment's.
    error : mapping or None
        What it failed with.
    axes : dict of str to tuple
        Labels and values by axis, in order.
    cells : list of Cell
        In the order of the plan.
    prompts, inputs : dict of str to str
        The texts in full by label.
    rows : dict of str to mapping
        All columns of each input by label.
    estimate : Estimate or None
    evaluators : dict of str to mapping
        Fingerprints by name.
    version : int
        Grows with every change.
    """

    def __init__(self, run_id: str | None = None) -> None:
        self.name = ""
        self.run_id = run_id
        self.root_id: str | None = None
        self.started_at: str | None = None
        #: seconds since the root's start: of the first event, of the latest, of the end
        self.started_s = 0.0
        self.latest_s = 0.0
        self.ended_s: float | None = None
        self.status = "pending"
        self.reason: str | None = None
        self.error: Mapping[str, Any] | None = None
        self.axes: dict[str, tuple[Any, ...]] = {}
        self.cells: list[Cell] = []
        self.prompts: dict[str, str] = {}
        self.inputs: dict[str, str] = {}
        self.rows: dict[str, Mapping[str, Any]] = {}
        self.estimate: Estimate | None = None
        self.evaluators: dict[str, Mapping[str, str]] = {}
        self.version = 0
        #: ratings and notes by the run that answered
        self._rated: dict[str, tuple[int | None, str | None]] = {}

    @classmethod
    def fold(cls, events: Iterable[Event], run_id: str | None = None) -> ExperimentState:
        """Build the state from events; those of other runs are passed over."""
        state = cls(run_id)
        for event in events:
            state.apply(event)
        return state

    def apply(self, event: Event) -> None:
        """Take an event in."""
        handler = _HANDLERS.get(event.type)
        if handler is None:
            return
        if self.run_id is None and event.scope.kind == "experiment":
            self.run_id = event.scope.run_id
        if event.scope.run_id != self.run_id:
            return
        self.latest_s = event.elapsed
        handler(self, event)
        self.version += 1

    def rate(self, run_id: str, rating: int | None, note: str | None) -> None:
        """Take a person's rating of an answer in; None for both takes it away."""
        self._rated[run_id] = rating, note
        for cell in self.cells:
            if cell.run_id == run_id and (cell.rating, cell.note) != (rating, note):
                self.cells[cell.index] = cell.changed(rating=rating, note=note)
        self.version += 1

    # -- one method per event type -------------------------------------------------------

    def _started(self, event: Event) -> None:
        data: Any = event.data
        self.root_id = event.scope.root_id
        self.name = str(data.get("name") or "")
        self.started_at, self.started_s = data.get("started_at"), event.elapsed
        self.status = "running"

    def _planned(self, event: Event) -> None:
        self.plan(event.data)

    def plan(self, data: Mapping[str, Any]) -> None:
        """Take a plan in, or a further part of its cells."""
        if "axes" in data:
            sizes = data.get("sizes") or ()
            self.axes = {
                name: _labels(name, labels, size)
                for (name, labels), size in zip(data["axes"].items(), sizes, strict=False)
            }
            self.prompts = _by_label(self.axes.get("prompt", ()), data.get("prompts"))
            self.inputs = _by_label(self.axes.get("input", ()), data.get("inputs"))
            rows = data.get("rows")
            if isinstance(rows, (list, tuple)):
                self.rows = dict(zip(self.axes.get("input", ()), rows, strict=False))
            told = data.get("estimate")
            self.estimate = Estimate.from_dict(told if isinstance(told, dict) else {})
            self.evaluators = dict(data.get("evaluators") or {})
        for told in data.get("cells") or ():
            self.cells.append(self._cell(told))

    def _cell(self, told: Mapping[str, Any]) -> Cell:
        where = {
            name: labels[place]
            for (name, labels), place in zip(self.axes.items(), told["at"], strict=True)
        }
        row = self.rows.get(where["input"]) or {}
        return Cell(
            len(self.cells), told["key"], where["prompt"], where["model"], where["input"],
            params={name: value for name, value in where.items() if name not in AXES},
            repeat=where["repeat"], expected=row.get("expected"), columns=row,
        )  # fmt: skip

    def _cell_started(self, event: Event) -> None:
        data: Any = event.data
        self._change(
            data["index"], status="running", run_id=data.get("child_run_id"), root_id=self.root_id
        )

    def _cell_completed(self, event: Event) -> None:
        data: Any = event.data
        told = {name: data[name] for name in _TOLD if name in data}
        run_id = data.get("from_run_id") or data.get("child_run_id")
        if run_id is not None:
            told["run_id"] = run_id
            told["root_id"] = data.get("from_root_id") or self.root_id
            if run_id in self._rated:
                told["rating"], told["note"] = self._rated[run_id]
        self._change(data["index"], **told)

    def _cell_scored(self, event: Event) -> None:
        from .evaluating import Score

        data: Any = event.data
        known = {score.name: score for score in self.cells[data["index"]].scores}
        for told in data["scores"]:
            # Where a log keeps no texts, a number stands there by its length only.
            said = {k: v for k, v in told.items() if k == "error" or not isinstance(v, dict)}
            known[told["name"]] = Score.from_dict(said)
        self._change(data["index"], scores=tuple(known.values()))

    def _change(self, index: int, **fields: Any) -> None:
        self.cells[index] = self.cells[index].changed(**fields)

    def _ended(self, event: Event) -> None:
        data: Any = event.data
        self.status = event.type.partition(".")[2]
        self.ended_s = event.elapsed
        if self.status == "failed":
            error = data.get("error") or {}
            self.error, self.reason = error, error.get("message")
            if error.get("type") == "ExperimentStopped":
                self.status = "stopped"
        elif self.status == "interrupted":
            self.reason = data.get("reason")
        elif self.status == "abandoned":
            self.status, self.reason = "interrupted", "its process ended before it did"
        if self.status != "completed":
            self._leave_off()

    def _leave_off(self) -> None:
        """Of a run that did not end well: what was begun will not end, the rest not begin."""
        after = {"running": "interrupted", "pending": "skipped"}
        for cell in list(self.cells):
            if cell.status in after:
                self._change(cell.index, status=after[cell.status])


def _labels(name: str, labels: Any, size: int) -> tuple[Any, ...]:
    """The labels of an axis; numbered where a log that keeps no texts has none."""
    if isinstance(labels, (list, tuple)) and len(set(map(str, labels))) == size:
        return tuple(labels)
    return tuple(range(size)) if name == "repeat" else tuple(f"{name} {n + 1}" for n in range(size))


def _by_label(labels: Sequence[Any], texts: Any) -> dict[str, str]:
    return dict(zip(labels, texts, strict=False)) if isinstance(texts, (list, tuple)) else {}


_HANDLERS = {
    "run.started": ExperimentState._started,
    "experiment.planned": ExperimentState._planned,
    "cell.started": ExperimentState._cell_started,
    "cell.completed": ExperimentState._cell_completed,
    "cell.scored": ExperimentState._cell_scored,
    "run.completed": ExperimentState._ended,
    "run.failed": ExperimentState._ended,
    "run.interrupted": ExperimentState._ended,
    "run.abandoned": ExperimentState._ended,
}
