"""What an earlier run of a network left: its tasks' results, read from the run or from its events.

Nothing is decided here: :mod:`.resuming` says which tasks run again.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, InputError
from ..core.event_sources import unfinished
from ..core.events import Event, Scope
from ..core.messages import Message
from ..core.records import TaskState
from ..core.state import RunState
from ..robot.result import RobotResult
from .flow import FlowResult, Left
from .result import NetworkResult, TaskResult
from .rows import MapResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..core.records import ItemState
    from .kept_items import KeptItem
    from .network import Network
    from .task import Task

__all__ = ["Kept", "Restored", "Source", "Told", "network_result", "robot_result", "source_of"]


class Told(TaskResult):
    """The result of a task whose value did not outlive its process: only its text is known."""

    __slots__ = ("_text",)

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.status = "completed"
        self.error = None
        self._text = text

    @property
    def value(self) -> Any:
        """Not there.

        Raises
        ------
        ConfigurationError
            Saying how to get it again.
        """
        raise ConfigurationError(
            f"the value of task {self.name!r} is no JSON and was not kept: only its text is",
            hint=f"Have the task done again: resume(…, rerun=[{self.name!r}]).",
        )

    @property
    def text(self) -> str:
        """What the value was as text."""
        return self._text


@dataclass(frozen=True, slots=True)
class Source:
    """An earlier run.

    Attributes
    ----------
    state : RunState
    events : sequence of Event
    results : mapping of str to object
        The results that are still there as they were.
    left : Left
    """

    state: RunState
    events: Sequence[Event]
    results: Mapping[str, Any] = field(default_factory=dict)
    left: Left = field(default_factory=Left)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.state.scope.run_id

    def inside(self, task: str) -> Source | None:
        """The last run that a task of it started, as a source of its own."""
        found = self.state.tasks[task]
        return self.of_child(found.child_run_id, self.results.get(task))

    def of_child(self, run_id: str | None, live: Any = None) -> Source | None:
        """A run inside it, as a source of its own; ``live`` is its result, if that is there."""
        child = self.state.children.get(run_id or "")
        if child is None:
            return None
        results = live._results if isinstance(live, NetworkResult) else {}
        left = (live._left if isinstance(live, NetworkResult) else None) or Left()
        family = {state.scope.run_id for state in child.walk()}
        return Source(child, [e for e in self.events if e.scope.run_id in family], results, left)

    def cost(self, task: str) -> float | None:
        """US dollars that a task has cost, whatever runs it took."""
        found = self.state.tasks[task]
        if found.status == "restored":
            return found.restored_cost
        depth = len(self.state.scope.path)
        costs = [
            child.total_usage().cost_usd
            for child in self.state.children.values()
            if child.scope.path[depth : depth + 1] == (task,)
        ]
        return None if None in costs else sum(c for c in costs if c is not None)

    def is_lost(self, task: Task) -> bool:
        """Whether a finished task gave something that neither this process nor an event has."""
        found = self.state.tasks[task.name]
        if task.name in self.results:
            return False
        inside = task.is_network and _is_done_once(task)
        return found.live or (inside and found.child_run_id not in self.state.children)

    def result(self, task: Task) -> Any:
        """The result of a task that was finished."""
        if task.name in self.results:
            return self.results[task.name]
        found = self.state.tasks[task.name]
        child = self.state.children.get(found.child_run_id or "")
        if self.is_lost(task):
            return Told(task.name, found.text or "")
        if task.map_over is not None:
            return MapResult.told(found)
        if not _is_done_once(task):
            return TaskResult(task.name, found.result)
        if task.is_network:
            return network_result(self.inside(task.name), task.runner)
        answered = found.result is None and (task.way == "robot" or child is not None)
        if task.is_robot and answered:
            return robot_result(self, task, found)
        return TaskResult(task.name, found.result)

    def flow(self, task: str) -> FlowResult | None:
        """What a step said besides its value, as far as that is known."""
        if task in self.left.flows:
            return self.left.flows[task]
        found = self.state.tasks[task]
        if not (found.noted or found.gave or found.halts or found.route):
            return None
        return FlowResult(
            found.result, context=found.gave, errors=found.noted, activated_steps=found.route,
            halted=found.halts,
        )  # fmt: skip


def _is_done_once(task: Task) -> bool:
    """Whether a task is done once as a whole, and not for each item, or in turns."""
    return task.map_over is None and task.loop is None


def source_of(given: Any) -> Source:
    """An earlier run of a network, from whatever is left of it.

    Parameters
    ----------
    given : Run, NetworkResult, run id, path, or iterable of Event or dict

    Raises
    ------
    InputError
        When it is none of a network, or still goes on.
    """
    from ..runtime.run import Run

    if isinstance(given, NetworkResult):
        given = given._run or given
    if isinstance(given, Run):
        if not given.done:
            raise InputError(
                f"run {given.name!r} still goes on: it is {given.status}",
                hint="Answer what it asks, or cancel() it first.",
            )
        given = given.so_far()
    if isinstance(given, NetworkResult):
        return Source(given.state, given.events, given._results, given._left or Left())
    events = unfinished(given)
    state = RunState.fold(events)
    if state.scope.kind != "network":
        raise InputError(
            f"this is a run of {state.scope.kind} {state.info.get('name')!r}, not of a network",
            hint="A robot goes on with robot.resume(…).",
        )
    return Source(state, events)


def robot_result(source: Source, task: Task, found: TaskState | ItemState) -> Any:
    """What a robot gave for a task, or for an item of it."""
    inside = source.of_child(found.child_run_id)
    if inside is None:
        output = found.output if isinstance(found, TaskState) else found.result
        events: Sequence[Event] = _retold(found, task.robot_name or task.name, output)
        state = RunState.fold(events)
    else:
        state, events = inside.state, inside.events
    values = {} if state.output is None else _parsed(task, state.output)
    return RobotResult(state, events, values=values)


def _parsed(task: Task, output: Any) -> dict[str, Any]:
    """An answer of a prescribed shape as what it was: the events have it as data."""
    import json

    from ..robot.in_force import in_force, run_level
    from ..robot.structured import Parsed, shape_of

    robot = task.runner
    level = run_level(None, task.config)  # names of tools may mean those of a network around it
    found = in_force((*robot.levels(robot.look()[1]), ("task", level)))
    values = found.effective.values_
    shape = shape_of(values["output"], values, found.model, tools=found.tools.names)
    judged = None if shape is None else shape.judge(json.dumps(output))
    return {"output": judged.value} if isinstance(judged, Parsed) else {}


def _retold(found: TaskState | ItemState, robot: str, output: Any) -> list[Event]:
    """The events of a robot's run of which only the answer is known."""
    run_id = found.child_run_id or "unknown"
    scope = Scope(run_id, run_id, None, 0, "robot", (robot,), robot)
    told: list[tuple[str, dict[str, Any]]] = [("run.started", {"name": robot})]
    if found.text:
        told.append(("message.added", {"message": Message("assistant", found.text).to_dict()}))
    if output is not None:
        told.append(("output.parsed", {"value": output}))
    told.append(("run.completed", {}))
    return [Event(kind, scope, n, 0.0, data) for n, (kind, data) in enumerate(told)]


def network_result(source: Source | None, network: Network) -> Any:
    """What a network gave, from its run."""
    assert source is not None
    tasks = network.tasks
    results = {
        name: source.result(tasks[name])
        for name, found in source.state.tasks.items()
        if name in tasks and found.status in ("completed", "restored")
    }
    return NetworkResult(source.state, source.events, results, network.graph.sinks)


class Kept(NamedTuple):
    """A task that does not run again.

    Attributes
    ----------
    status : str
        ``restored``, or how it ended where it is left at that.
    type : str
        Of the event that tells it, with its data.
    data : dict
    result : object
        None where it has none.
    flow : FlowResult or None
    labels : tuple of str
    """

    status: str
    type: str
    data: dict[str, Any]
    result: Any = None
    flow: FlowResult | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """What a run goes on from.

    Attributes
    ----------
    run_id : str
        The earlier run.
    kept : mapping of str to Kept
        Tasks that do not run again.
    begun : frozenset of str
        Those that run again and had begun.
    activated : frozenset of str
        Optional tasks that were activated, or are to run.
    halted : bool
        Whether nothing new starts.
    inside : mapping of str to object
        For a network's task that had begun: what its run goes on from.
    values : mapping of str to object
        Live objects that kept tasks gave.
    items : mapping of str to mapping
        For a map that had begun: its items that are not done again, by place.
    """

    run_id: str
    kept: Mapping[str, Kept]
    begun: frozenset[str]
    activated: frozenset[str]
    halted: bool = False
    inside: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    items: Mapping[str, Mapping[int, KeptItem]] = field(default_factory=dict)

    def preparing(self, task: Task, message: str) -> Callable[..., Any]:
        """How the run of a network's task is prepared: going on from the one that it had begun.

        It begins anew where it is asked something else than it was.
        """
        found = self.inside.get(task.name)
        if found is None or found.source.state.info.get("input") != message:
            return task.runner.prepare  # type: ignore[no-any-return]
        return functools.partial(task.runner.prepare_again, found)
