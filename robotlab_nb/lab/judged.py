"""Having answers judged while an experiment goes on: each once, remembered ones not again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .pairing import baseline_of, places_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .evaluating import Evaluator
    from .planning import Planned
    from .running import Running

__all__ = ["Judging"]


class Judging:
    """The evaluators of an experiment at work.

    Parameters
    ----------
    running : Running
    """

    def __init__(self, running: Running) -> None:
        self.running = running
        self.evaluators = running.plan.evaluators
        #: those that look at an answer by itself, and those that compare two
        self._alone = [each for each in self.evaluators if each.baseline is None]
        self._pairs = [each for each in self.evaluators if each.baseline is not None]
        #: answers as data, where a robot gave them as such in this process
        self._values: dict[int, Any] = {}
        self._places: Mapping[Any, int] = {}

    async def settle_known(self) -> None:
        """Give answers that were taken over their scores: those remembered, and new ones."""
        plan = self.running.plan
        if self._alone:
            cells = [cell for cell in plan.cells if cell.key in plan.known]
            await self._each([(cell, self._alone) for cell in cells])

    async def judge(self, cell: Planned, result: Any) -> None:
        """Have one answer judged that was just given."""
        if not self.evaluators:
            return
        if "output" in getattr(result, "values", ()):
            self._values[cell.index] = result.values["output"]
        await self._score(cell, self._alone)

    async def compare(self) -> None:
        """Have answers compared with their baselines; all cells have ended."""
        if not self._pairs:
            return
        self._places = places_of(self.running.experiment.cells)
        await self._each([(cell, self._pairs) for cell in self.running.plan.cells])

    async def _each(self, work: list[tuple[Planned, list[Evaluator]]]) -> None:
        """So many cells at a time."""
        import asyncio

        left = iter(work)

        async def some() -> None:
            for cell, evaluators in left:
                await self._score(cell, evaluators)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.running.concurrency, len(work))):
                group.create_task(some())

    async def _score(self, planned: Planned, evaluators: list[Evaluator]) -> None:
        cell = self.running.experiment.cell(planned.index)
        if cell.status != "completed" or not evaluators:
            return
        known = self.running.plan.known.get(planned.key)
        scores: list[dict[str, Any]] = []
        fingerprints: dict[str, dict[str, str]] = {}
        for each in evaluators:
            baseline = None
            if each.baseline is not None:
                cells = self.running.experiment.cells
                other = baseline_of(cells, cell, each.baseline, self._places)
                if other is None or other.status != "completed":
                    continue
                baseline = self._value(other)
            fingerprint = dict(each.fingerprint)
            if baseline is not None:
                fingerprint["baseline"] = str(other.run_id) if other is not None else ""
            told = None if known is None else known.scores_of(each.name, fingerprint)
            if told is None:
                found = await each.score(
                    planned.row.text, self._value(cell), cell.expected, cell=cell, baseline=baseline
                )
                told = [score.to_dict() for score in found]
            scores += told
            fingerprints[each.name] = fingerprint
        if scores:
            self.running.emit(
                "cell.scored",
                {
                    "index": cell.index, "key": cell.key, "scores": scores,
                    "evaluators": fingerprints,
                },
            )  # fmt: skip

    def _value(self, cell: Any) -> Any:
        """An answer as evaluators get it: data where that was asked for, else the text."""
        if cell.index in self._values:
            return self._values[cell.index]
        return cell.text if cell.value is None else cell.value
