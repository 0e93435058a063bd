"""Carrying an experiment out: cells side by side, in bounded number, each by itself.

A cell that fails is a row with its error. What would fail all cells of a model ends these; a spent
budget, or ten failed requests in a row, end all. What was answered is durable before anything else
is asked.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from ..core.errors import BudgetExceeded, ModelError, RobotLabError, describe_error, unwrap
from ..runtime import sinks
from ..runtime.asking import ask_free
from ..runtime.stillness import task_waits
from ..runtime.stop import StopRun
from .failures_in_a_row import PAUSE, FailuresInARow
from .judged import Judging

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..runtime.run import Run
    from .experiment import Experiment
    from .journal import Journal
    from .planning import Plan, Planned

__all__ = ["ExperimentStopped", "Limit", "Running"]

#: requests that fail one after the other, after which nothing more is asked
MOST_FAILURES = 10
#: seconds that cells have to end after Stop
_TIDY_S = 2.0


class ExperimentStopped(RobotLabError):
    """An experiment ended before all cells were asked; what was answered is kept."""


class Limit:
    """Above what a person is asked before anything is spent: US dollars, and calls.

    Parameters
    ----------
    cost_usd, calls : float or None
        None for no limit. Calls count where the cost is not known.
    """

    __slots__ = ("calls", "cost_usd")

    def __init__(self, cost_usd: float | None, calls: float | None) -> None:
        self.cost_usd = cost_usd
        self.calls = calls

    def passed_by(self, plan: Plan) -> bool:
        """Whether a plan is above it."""
        estimate = plan.estimate
        if estimate is None or estimate.real <= 0:
            return False
        if self.calls is not None and estimate.real > self.calls:
            return True
        cost = estimate.cost_usd
        return self.cost_usd is not None and cost is not None and cost > self.cost_usd


class Running:
    """One experiment while it is carried out.

    Parameters
    ----------
    plan : Plan
    limit : Limit
    concurrency : int
        Most cells at the same time.
    journal : Journal or None
        Where what happens is written besides the log.
    """

    def __init__(
        self, plan: Plan, *, limit: Limit, concurrency: int, journal: Journal | None
    ) -> None:
        self.plan = plan
        self.limit = limit
        self.concurrency = concurrency
        self.journal = journal
        self.experiment: Experiment
        self.run: Run[Any]
        self._left: deque[Planned] = deque()
        #: what ends all of it
        self._ending: ExperimentStopped | None = None
        #: models that refuse everything, and why
        self._refused: dict[str, Mapping[str, Any]] = {}
        self._judging = Judging(self)
        self._row: FailuresInARow
        self._noting = threading.Lock()
        self._noted = False

    def emit(self, type_: str, data: Mapping[str, Any]) -> None:
        """Record something of the experiment, in its journal as well."""
        event = self.run.emit(type_, data)
        if event is not None and self.journal is not None:
            self.journal.add(event)

    async def work(self, run: Run[Any]) -> None:
        """Carry it out. The run is settled by its caller."""
        self.run = run
        plan = self.plan
        run.started({"name": plan.name, "input": _asked(plan), "simulated": plan.simulated})
        if self.journal is not None:
            own = run.root.events[run._first :]
            self.journal.add(next(event for event in own if event.scope is run.scope))
            run.when_done(self.note_end)
        for told in plan.told():
            self.emit("experiment.planned", told)
        await self._confirm()
        self._recall()
        await self._judging.settle_known()
        await self._ask_all()
        await self._judging.compare()
        if self._ending is not None:
            raise self._ending

    def note_end(self) -> None:
        """Note the run's end in the journal, once; whoever waited for it says so again."""
        with self._noting:
            noted, self._noted = self._noted, True
        if noted or self.journal is None:
            return
        events, scope = self.run.root.events, self.run.scope
        self.journal.add(next(event for event in reversed(events) if event.scope is scope))

    async def _confirm(self) -> None:
        """Ask a person where it may cost much.

        Raises
        ------
        NoAnswerChannel
            When nobody can be asked.
        ExperimentStopped
            When it is not to be.
        """
        estimate = self.plan.estimate
        if estimate is None or not self.limit.passed_by(self.plan):
            return
        found = await ask_free(
            self.run, f"{self.plan.name}: {estimate.text}. Go on?", choices=("yes", "no"),
            default="no",
        )  # fmt: skip
        if str(found.value).strip().lower() != "yes":
            raise ExperimentStopped(
                f"it was not confirmed: {estimate.text}", hint="Nothing was sent."
            )

    def _recall(self) -> None:
        """Take over what earlier runs answered; the rest is left to ask."""
        for cell in self.plan.cells:
            known = self.plan.known.get(cell.key)
            if known is None:
                self._left.append(cell)
            else:
                self.emit("cell.completed", {**known.again(), "index": cell.index})

    # -- asking ----------------------------------------------------------------------------

    async def _ask_all(self) -> None:
        import asyncio

        count = min(self.concurrency, len(self._left))
        if not count:
            return
        loop = asyncio.get_running_loop()

        def enough(error: Mapping[str, Any]) -> None:
            self._end(
                f"{row.count} requests in a row failed, the last one with {error['type']}: "
                f"{error['message']}",
                "Mend that, and run it again: what was answered is kept.",
            )
            loop.call_soon_threadsafe(row.give_up_retries)

        self._row = row = FailuresInARow(self.run.root.id, MOST_FAILURES, enough)
        sinks.add_sink(row)
        workers = [loop.create_task(self._work()) for _ in range(count)]
        try:
            with task_waits():
                ended, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            for worker in ended:
                if not worker.cancelled():  # one that was not to ask once more
                    worker.result()
        finally:
            sinks.remove_sink(row)
            left = [worker for worker in workers if not worker.done()]
            for worker in left:
                worker.cancel()
            if left:
                await asyncio.wait(left, timeout=_TIDY_S)

    async def _work(self) -> None:
        while self._left and self._ending is None:
            cell = self._left.popleft()
            refused = self._refused.get(cell.column.account)
            if refused is not None:
                self._skip(cell, refused)
            else:
                await self._ask(cell)

    async def _ask(self, cell: Planned) -> None:
        """Ask one cell and tell how it ended. Raises nothing but what ends the run."""
        import asyncio

        told: dict[str, Any] = {"index": cell.index, "key": cell.key}
        child: Run[Any] | None = None
        label = f"cell:{cell.index}"
        status: dict[str, Any] = {"status": "interrupted"}
        result: Any = None
        try:
            child = cell.column.prepare(cell.message, cell.row, label)
            told["child_run_id"] = child.id
            if cell.key in self.plan.begun:
                told["possibly_repeated"] = True
            self.emit("cell.started", told)
            if not cell.column.simulated:
                # What was answered before is kept, and that this is asked, before it costs money.
                await sinks.durable(self.run.root)
            task = asyncio.current_task()
            assert task is not None  # a worker's
            self._row.begin(label, task)
            result = await child.perform()
            raise_for_errors = getattr(result, "raise_for_errors", None)
            if raise_for_errors is not None:
                raise_for_errors()
            status = _answer(result)
        except asyncio.CancelledError:
            raise
        except KeyboardInterrupt:  # from a tool; it must not travel through the loop
            raise StopRun from None
        except Exception as error:
            error = unwrap(error)
            status = {"status": "failed", "error": describe_error(error)}
            self._failed(cell, error, status["error"], child)
            error.__traceback__ = None  # it would keep alive all that was there
        finally:
            self._row.end(label)
            self.emit("cell.completed", {**told, **status, **_taken(child)})
        if status["status"] == "completed":
            self._row.count = 0
            await self._judging.judge(cell, result)

    def _failed(
        self, cell: Planned, error: Exception, told: Mapping[str, Any], child: Run[Any] | None
    ) -> None:
        """Look whether a failure is the others' as well."""
        if isinstance(error, BudgetExceeded) and not error.budget.startswith("this run of"):
            self._end(f"{told['message']}", "Raise budget=, and run it again: answers are kept.")
            return
        if _refuses_all(error):
            self._refused[cell.column.account] = told
            accounts = {column.account for column in self.plan.columns}
            if accounts <= self._refused.keys():
                self._end(f"no model can be asked: {told['message']}", told.get("hint"))
            return
        if told.get("kind") == PAUSE or not _request_failed(child):
            # Other requests were counted as they failed.
            self._row.add(told)

    def _end(self, why: str, hint: str | None) -> None:
        if self._ending is None:
            self._ending = ExperimentStopped(why, hint=hint)

    def _skip(self, cell: Planned, error: Mapping[str, Any]) -> None:
        told = {"index": cell.index, "key": cell.key, "status": "skipped", "error": error}
        self.emit("cell.completed", told)


def _refuses_all(error: Exception) -> bool:
    """Whether the model would refuse every other request for the same reason."""
    if not isinstance(error, ModelError):
        return False
    return error.kind == "auth" or (error.kind == "rate_limit" and error.retryable is False)


def _request_failed(child: Run[Any] | None) -> bool:
    """Whether a request of a cell's run was not answered."""
    if child is None:
        return False
    calls = [call for state in child.state.walk() for call in state.model_calls.values()]
    return any(attempt.error is not None for call in calls for attempt in call.attempts)


def _answer(result: Any) -> dict[str, Any]:
    """What a result says, for the event."""
    told: dict[str, Any] = {"status": "completed", "text": str(result)}
    value = result.state.output
    if value is not None:
        told["value"] = value
    return told


def _taken(child: Run[Any] | None) -> dict[str, Any]:
    """What a run took: time, tokens, money."""
    if child is None:
        return {}
    state = child.state
    usage = state.total_usage()
    return {
        "duration_s": state.duration_s,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "cost_complete": usage.cost_complete,
        "simulated": state.simulated,
    }


def _asked(plan: Plan) -> str:
    sizes = " × ".join(
        f"{len(labels)} {name}{'s' if len(labels) != 1 else ''}"
        for name, labels in plan.axes.items()
        if name in ("prompt", "model", "input") or len(labels) > 1
    )
    return f"{sizes}: {len(plan.cells)} cells"
