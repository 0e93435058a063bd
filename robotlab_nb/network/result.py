"""What a network's run gives back: every task's result by name, and the network's own answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, RobotLabError, RunWaiting, TaskNotRun, near
from ..core.pickling import Guarded
from ..core.readings import Pictured, ShownList, reading
from ..core.secrets import redact
from ..robot.result import RobotResult
from ..runtime.notebook import ShownOnce
from .upstream import fan_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.events import Event
    from ..core.records import Asked
    from ..core.state import RunState, TaskState
    from ..core.usage import Usage
    from ..runtime.run import Run
    from .flow import Left

__all__ = ["NetworkFailed", "NetworkResult", "TaskResult", "as_result"]


class NetworkFailed(RobotLabError):
    """Tasks of a network failed. ``errors`` has each one's error by task name."""

    def __init__(self, name: str, errors: Mapping[str, Mapping[str, Any] | None]) -> None:
        told = "; ".join(
            f"{task}: {(error or {}).get('message', 'failed')}" for task, error in errors.items()
        )
        super().__init__(
            f"network {name!r} failed: {told}",
            hint="The other tasks' results are there: result['task'].",
        )
        self.errors = dict(errors)


class TaskResult(Guarded, Pictured):
    """The result of a task that a function or a person does.

    Attributes
    ----------
    name : str
        The task's name.
    value : object
        What the function returned, or the person said.
    status : str
        ``completed`` or ``failed``.
    error : Exception or None
    """

    __slots__ = ("error", "name", "status", "value")

    def __init__(
        self, name: str, value: Any, *, status: str = "completed", error: Exception | None = None
    ) -> None:
        self.name = name
        self.value = value
        self.status = status
        self.error = error

    @property
    def text(self) -> str:
        """The value as text, registered secrets masked; ``""`` for None."""
        return "" if self.value is None else redact(str(self.value))

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)


class NetworkResult(Guarded, ShownOnce, Mapping[str, Any]):
    """The result of a network's run: a mapping of the tasks that have a result.

    ``result["task"]`` is a RobotResult, a TaskResult, or the NetworkResult of a network inside
    this one, failed ones included. A task that did not run raises TaskNotRun; ``get`` gives None
    for it. ``str(result)`` is the network's answer.

    Attributes
    ----------
    state : RunState
        What the run's events say, tasks included.
    live_values : dict
        Live objects that function tasks returned, by task name. (``values()`` is the mapping's.)

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("shout")
    >>> loud = net.task("loud", lambda message: message.upper())
    >>> result = net.run("hello")
    >>> result.status, result.text, result["loud"].value
    ('completed', 'HELLO', 'HELLO')
    """

    __slots__ = ("_events", "_left", "_results", "_run", "_sinks", "live_values", "state")

    def __init__(
        self,
        state: RunState,
        events: Sequence[Event],
        results: Mapping[str, Any],
        sinks: Sequence[str],
        *,
        values: Mapping[str, Any] | None = None,
        run: Run[Any] | None = None,
        left: Left | None = None,
    ) -> None:
        self.state = state
        self._events = events
        #: for a run that goes on from this one
        self._left = left
        #: the run, as long as it waits for an answer
        self._run = run if state.status == "waiting" else None
        self._results = {n: results[n] for n in state.tasks if n in results}
        self._sinks = tuple(sinks)
        self.live_values = dict(values or {})

    # -- by task ---------------------------------------------------------------------------

    def __getitem__(self, task: str) -> Any:
        try:
            return self._results[task]
        except KeyError:
            pass
        known = self._known(task)
        why = f": {known.reason}" if known.reason else ""
        error = TaskNotRun(
            f"task {task!r} has no result: it was {known.status}{why}",
            hint=f"result.get({task!r}) gives None.",
        )
        error.run_id, error.task = self.run_id, task
        raise error

    def get(self, task: str, default: Any = None) -> Any:
        """A task's result; ``default`` for a task that did not run. An unknown name raises."""
        if task in self._results:
            return self._results[task]
        self._known(task)
        return default

    def _known(self, task: str) -> TaskState:
        found = self.state.tasks.get(task)
        if found is None:
            raise KeyError(f"there is no task {task!r}. {near(str(task), self.state.tasks)}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __contains__(self, task: object) -> bool:
        return task in self._results

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._results)

    # -- the answer ------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The network's name."""
        return str(self.state.info.get("name", self.state.scope.path[-1]))

    @property
    def status(self) -> str:
        """``completed``, ``failed``, ``interrupted``, or ``waiting`` for a person."""
        return self.state.status

    @property
    def halted(self) -> bool:
        """Whether a task said that nothing new is to start."""
        return any(task.halts for task in self.state.tasks.values())

    def _answering(self) -> dict[str, Any]:
        """The results that make the network's answer: of its ends, or of the task that halted."""
        halting = next((name for name, task in self.state.tasks.items() if task.halts), None)
        names = self._sinks if halting is None else (halting,)
        return {
            n: self._results[n]
            for n in names
            if n in self._results and self.state.tasks[n].status in ("completed", "restored")
        }

    @property
    def value(self) -> Any:
        """The answer: the only finished sink's value or text; several sinks' text; None for none.

        Of a network that was halted: that of the task which halted it.

        Raises
        ------
        NetworkFailed
            When the network failed.
        RunWaiting
            When it still waits for a person.
        """
        self._check_answered()
        found = self._answering()
        if len(found) == 1:
            only = next(iter(found.values()))
            return only.value if isinstance(only, (TaskResult, NetworkResult)) else only.text
        return fan_in(found) if found else None

    @property
    def text(self) -> str:
        """The answer as text; ``""`` when every task was skipped.

        Raises
        ------
        NetworkFailed
            When the network failed.
        RunWaiting
            When it still waits for a person.
        """
        self._check_answered()
        return redact(str(self))

    def _check_answered(self) -> None:
        """Raise where there is no answer."""
        self.raise_for_errors()
        if self.state.status == "waiting":
            raise self._waiting()

    def __str__(self) -> str:
        found = self._answering()
        return fan_in(found) if found else ""

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    @property
    def errors(self) -> dict[str, Mapping[str, Any]]:
        """Each failed task's error: type, message, hint, retryable."""
        return {n: t.error or {} for n, t in self.state.tasks.items() if t.status == "failed"}

    @property
    def noted(self) -> dict[str, tuple[str, ...]]:
        """What steps noted with ``with_error``, by key: it stopped nothing."""
        found: dict[str, tuple[str, ...]] = {}
        for task in self.state.tasks.values():
            for key, texts in task.noted.items():
                found[key] = (*found.get(key, ()), *texts)
        return found

    def raise_for_errors(self) -> NetworkResult:
        """Raise when the network failed; return the result otherwise.

        Raises
        ------
        NetworkFailed
        """
        if self.state.status == "failed":
            failed: dict[str, Any] = dict(self.errors)
            error = NetworkFailed(self.name, failed or {"network": self.state.error})
            error.run_id = self.run_id
            error.task = next(iter(failed)) if len(failed) == 1 else None
            raise error
        return self

    @property
    def pending(self) -> list[Asked]:
        """What the network waits for: questions and approvals, those of runs inside included."""
        asked = (a for s in self.state.walk() for a in s.asked.values())
        return ShownList(a for a in asked if a.status == "pending")

    def answer(self, value: Any) -> NetworkResult:
        """Answer what a waiting network asks, and wait for what comes of it.

        Parameters
        ----------
        value : object
            An answer, or where several questions are open a dict of them by the task's name, the
            question's or the tool call's id; as for
            :meth:`Run.answer <robotlab_nb.runtime.run.Run.answer>`.

        Returns
        -------
        NetworkResult
            The result after that; it may be waiting again.
        """
        if self._run is None:
            raise InputError(
                f"network {self.name!r} asks nothing: its run is {self.status}",
                hint="Only a waiting run is answered.",
            )
        found: NetworkResult = self._run.answer(value).result()
        return found

    def _waiting(self) -> RunWaiting:
        asked = self.pending
        what = f": {asked[0].text}" if asked else ""
        return RunWaiting(
            f"network {self.name!r} waits for a person{what}",
            hint="Answer with result.answer(…) or run.answer(…).",
        )

    # -- what led to it --------------------------------------------------------------------

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.state.scope.run_id

    @property
    def resumed_from(self) -> str | None:
        """The id of the run that this one went on from; None where it began anew."""
        return self.state.info.get("resumed_from")

    @property
    def activated_steps(self) -> tuple[str, ...]:
        """The optional tasks that routes activated, in order."""
        found = (name for task in self.state.tasks.values() for name in task.route)
        return tuple(dict.fromkeys(found))

    @property
    def events(self) -> list[Event]:
        """The events of the run and of all runs inside it, in order."""
        return ShownList(self._events)

    @property
    def frames(self) -> Any:
        """Tables: ``frames.tasks``, ``frames.runs``, ``frames.tool_calls`` … (DataFrames)."""
        return reading("frames")(self.state, self._events)

    def replay(self) -> Any:
        """Go through the run again step by step: what each model was sent, what it answered."""
        return reading("replay")(self)

    @property
    def usage(self) -> Usage:
        """Tokens and cost of all tasks."""
        return self.state.total_usage()

    @property
    def cost(self) -> float | None:
        """US dollars, over all tasks; None when no price is known."""
        usage = self.usage
        return usage.cost_usd if usage.calls else 0.0

    @property
    def duration(self) -> float | None:
        """Seconds from start to end."""
        return self.state.duration_s

    @property
    def simulated(self) -> bool:
        """Whether any answer in it was made up."""
        return self.state.simulated

    def __hash__(self) -> int:
        return hash(self.run_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NetworkResult) and self._events == other._events


def as_result(task: str, value: Any) -> Any:
    """A value as the result of a task; a result stays what it is."""
    if isinstance(value, (RobotResult, NetworkResult, TaskResult)):
        return value
    return TaskResult(task, value)
