"""What pictures tell of a network, read once: from what was declared, or from a run's state.

Picture, outline, tables and timeline all draw these facts, so that they say the same. Reads
mappings and states with patience, for they may come from an old log; knows no HTML and no SVG.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..core.usage import NOTHING
from .escape import one_line
from .lanes import lanes
from .task_progress import progress_of, traits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.state import ModelCall, RunState, TaskState, ToolCall
    from ..core.usage import Usage
    from .lanes import Lane

__all__ = ["EdgeFacts", "NetworkFacts", "TaskFacts", "facts_of"]

_FINISHED = frozenset({"completed", "restored"})
#: statuses of a task that does or did something
_WORKED = frozenset({"running", "waiting", "completed", "failed", "interrupted"})
#: Of many tasks that one waits for, so many are named.
_NAMED = 3
_OPEN = frozenset({"pending", "running", "waiting"})
#: Seconds: what has run for less has just started; events tell no more than that.
_BEGUN = 0.05
#: statuses of a run that may still change
LIVE = frozenset({"pending", "running", "waiting"})


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task, and where it stands. All texts are untrusted.

    Parameters
    ----------
    name : str
    kind : str
        ``robot``, ``function`` or ``network``.
    robot : str
        Name of the robot; empty for others.
    lane : Lane or None
        The robot's mark.
    depends_on : tuple of str
    optional, routes, conditional : bool
    fallback, on_failure, prompt : str
    status : str
        Empty where nothing has run.
    note : str
        Why it stands so, or what it waits for.
    started_s, waited_s, worked_s : float or None
        Seconds: since the network's start, for a free slot, at work so far. Waiting for a
        person is no work.
    usage : Usage or None
        Tokens and cost; None where no model was asked.
    error : mapping
        Of a failed one.
    route : tuple of str
        Tasks that it chose.
    network : str
        Name of the network that does it; empty for others.
    traits : tuple of str
        How it is done: a map, a loop, its group; words for a person.
    progress : str
        How far it has come, in words.
    share : float or None
        The same as a share of 0 to 1, of a map whose items were counted.
    held : tuple of (float, float or None)
        When it asked a person, in seconds since the network's start, and how long it waited;
        None where it still does.
    """

    name: str
    kind: str = "robot"
    robot: str = ""
    lane: Lane | None = None
    depends_on: tuple[str, ...] = ()
    optional: bool = False
    routes: bool = False
    conditional: bool = False
    fallback: str = ""
    on_failure: str = ""
    prompt: str = ""
    status: str = ""
    note: str = ""
    started_s: float | None = None
    waited_s: float | None = None
    worked_s: float | None = None
    usage: Usage | None = None
    error: Mapping[str, Any] | None = None
    route: tuple[str, ...] = ()
    network: str = ""
    traits: tuple[str, ...] = ()
    progress: str = ""
    share: float | None = None
    held: tuple[tuple[float, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeFacts:
    """An edge between two tasks, by their places.

    Parameters
    ----------
    source, target : int
    optional : bool
        Whether the target runs only when a route or a condition says so.
    passed : bool
        Whether the target began with what the source gave.
    """

    source: int
    target: int
    optional: bool = False
    passed: bool = True


@dataclass(frozen=True, slots=True)
class NetworkFacts:
    """A network, and where it stands.

    Parameters
    ----------
    name : str
    status : str
        Of its run; empty where nothing has run.
    tasks : tuple of TaskFacts
        In the order declared.
    edges : tuple of EdgeFacts
    simulated : bool
    elapsed_s : float or None
        Seconds since its start, to its end or to the last thing known.
    """

    name: str
    status: str
    tasks: tuple[TaskFacts, ...]
    edges: tuple[EdgeFacts, ...]
    simulated: bool = False
    elapsed_s: float | None = None

    @property
    def robots(self) -> dict[str, Lane]:
        """Robots and their marks, in the order declared."""
        return {t.robot: t.lane for t in self.tasks if t.robot and t.lane is not None}

    @property
    def live(self) -> bool:
        """Whether it may still change."""
        return self.status in LIVE


def facts_of(thing: Any, *, now: float | None = None) -> NetworkFacts:
    """The facts of a network, of its result, of its run, or of a run's state.

    Parameters
    ----------
    thing : Network, NetworkResult, Run or RunState
    now : float, optional
        Seconds since the root run's start, for work that goes on. Left out: the time of the
        last event.

    Examples
    --------
    >>> from robotlab_nb.network.network import create_network
    >>> net = create_network("count")
    >>> task = net.task("first", lambda message: len(message))
    >>> found = facts_of(net)
    >>> found.name, found.status, found.tasks[0].kind
    ('count', '', 'function')
    """
    state = thing if hasattr(thing, "apply") else getattr(thing, "state", None)
    if state is None:
        return _declared(thing)
    for _ in range(3):
        try:
            return _happened(state, _latest(thing, state, now))
        except RuntimeError:
            continue  # the run went on while it was read, and a dict grew
    return _happened(state, _latest(thing, state, now))


def _declared(network: Any) -> NetworkFacts:
    tasks = list(network.tasks.values())
    caps = getattr(network, "group_caps", None)
    found = [
        replace(
            _told(task.name, told),
            prompt=_text(getattr(task, "prompt", None)),
            traits=traits_of(told, caps),
        )
        for task, told in zip(tasks, network.declared(), strict=True)
    ]
    simulated = any(bool(getattr(task.runner, "is_simulated", False)) for task in tasks)
    return NetworkFacts(
        _text(network.name) or "network", "", _laned(found), tuple(_edges(found)), simulated
    )


def _happened(state: RunState, latest: float) -> NetworkFacts:
    children = {child.scope.run_id: child for child in state.walk()}
    start = _number(state.started_s) or 0.0
    tasks = list(state.tasks.values())
    statuses = {task.name: _text(task.status) for task in tasks}
    inside = _by_task(state)
    asked = _open_questions(state)
    found = []
    for task in tasks:
        told = _told(task.name, task.declared)
        child = children.get(task.child_run_id or "")
        began = _number(task.started_s)
        worked = _number(task.duration_s)
        runs = inside.get(task.name) or ([child] if child is not None else [])
        status = _standing(task, asked, runs)
        if worked is None and began is not None and _text(task.status) in _OPEN:
            until = latest
            if status == "waiting":
                until = began if child is None else _last(child)
            worked = until - began if until - began >= _BEGUN else None
        progress = progress_of(task)
        found.append(
            replace(
                told,
                status=status,
                note=asked.get(task.name) or _note(told, task, statuses, worked),
                started_s=None if began is None else max(began - start, 0.0),
                waited_s=_number(task.waited_s),
                worked_s=worked,
                usage=sum((r.total_usage() for r in runs), NOTHING) if runs else None,
                error=task.error if isinstance(task.error, Mapping) else None,
                route=_names(task.route),
                progress=progress.words,
                share=progress.share,
                held=_held(task.name, state, runs, start),
            )
        )
    return NetworkFacts(
        _text(state.info.get("name")) or _text(state.scope.path[-1]),
        _text(state.status),
        _laned(found),
        tuple(_edges(found)),
        state.simulated,
        max(latest - start, 0.0) if state.info else None,
    )


def _by_task(state: RunState) -> dict[str, list[RunState]]:
    """The runs that were started directly inside each task: its tries, turns and items."""
    at = len(state.scope.path)
    found: dict[str, list[RunState]] = {}
    for child in list(state.children.values()):
        for name in child.scope.path[at : at + 1]:
            found.setdefault(name, []).append(child)
    return found


def _standing(task: TaskState, asked: Mapping[str, str], runs: Iterable[RunState]) -> str:
    """A task's status; one that a person holds up waits, whatever else is at work in it."""
    status = _text(task.status)
    held = task.name in asked or any(run.status == "waiting" for run in runs)
    return "waiting" if status == "running" and held else status


def _open_questions(state: RunState) -> dict[str, str]:
    """What a person who does a task is asked, by the task's name."""
    return {
        asked.task: f"asks: {one_line(asked.text, 100)}"
        for asked in list(state.asked.values())
        if asked.status == "pending" and isinstance(asked.task, str)
    }


def _held(
    task: str, state: RunState, runs: Iterable[RunState], start: float
) -> tuple[tuple[float, float | None], ...]:
    """When a task asked a person: itself, or what ran in it."""
    asked = [each for each in list(state.asked.values()) if each.task == task]
    for run in runs:
        asked += [each for inner in run.walk() for each in list(inner.asked.values())]
    waits = {
        (max((_number(each.asked_s) or 0.0) - start, 0.0), _number(each.waited_s))
        for each in asked
        if each.status == "pending" or _number(each.waited_s) is not None
    }
    return tuple(sorted(waits, key=lambda wait: (wait[0], wait[1] or 0.0)))


def _latest(thing: Any, state: RunState, now: float | None) -> float:
    """The last moment that is known of a run, in seconds since its root's start."""
    ended = _number(state.ended_s)
    if ended is not None:
        return ended
    events = getattr(thing, "events", None)
    event = _number(events[-1].elapsed) if events else None
    tasks = [
        (_number(task.started_s) or 0.0) + (_number(task.duration_s) or 0.0)
        for task in list(state.tasks.values())
    ]
    return max(now or 0.0, event or 0.0, *tasks, *map(_last, state.walk()))


def _last(run: RunState) -> float:
    """When a run is known to have done something last."""
    calls: list[ModelCall | ToolCall] = list(run.model_calls.values())
    calls += run.tool_calls.values()
    ends = [(_number(call.started_s) or 0.0) + (_number(call.duration_s) or 0.0) for call in calls]
    moments = [_number(moment) or 0.0 for moment in list(run.message_times.values())]
    return max(_number(run.ended_s) or 0.0, _number(run.started_s) or 0.0, *ends, *moments)


def _told(name: object, declared: Any) -> TaskFacts:
    """What was declared of a task, from its mapping."""
    told = declared if isinstance(declared, Mapping) else {}
    return TaskFacts(
        _text(name),
        kind=_text(told.get("kind")) or "robot",
        robot=_text(told.get("robot")),
        depends_on=_names(told.get("depends_on")),
        optional=told.get("optional") is True,
        routes=told.get("route") is True,
        conditional=told.get("when") is True,
        fallback=_text(told.get("fallback")),
        on_failure=_text(told.get("on_failure")),
        network=_text(told.get("network")),
        traits=traits_of(told),
    )


def _note(
    told: TaskFacts, task: TaskState, statuses: Mapping[str, str], worked: float | None
) -> str:
    """Why a task stands so, or what it waits for."""
    if task.reason:
        return _text(task.reason)
    if task.status == "running" and worked is None:
        return "just started"
    if task.status != "pending":
        return ""
    needed = [name for name in told.depends_on if statuses.get(name) in _OPEN]
    if needed:
        more = f" and {len(needed) - _NAMED:,} more" if len(needed) > _NAMED + 1 else ""
        return f"needs {', '.join(needed[: _NAMED if more else None])}{more}"
    if told.optional and not told.conditional:
        return "if a route names it"
    return "waits for a free slot"


def _laned(tasks: Sequence[TaskFacts]) -> tuple[TaskFacts, ...]:
    # By the order declared, and not of first start: a robot keeps its mark while others start.
    names = [task.robot or (task.name if task.kind == "network" else "") for task in tasks]
    marks = lanes(name for name in names if name)
    return tuple(
        replace(task, lane=marks.get(name)) for task, name in zip(tasks, names, strict=True)
    )


def _edges(tasks: Sequence[TaskFacts]) -> Iterable[EdgeFacts]:
    places = {task.name: place for place, task in enumerate(tasks)}
    routers = [place for place, task in enumerate(tasks) if task.routes]
    for place, task in enumerate(tasks):
        needed = [places[name] for name in task.depends_on if places.get(name, place) != place]
        if task.optional and not task.conditional and not needed:
            # Named by any route that comes before it: that is all that leads to it.
            needed = [router for router in routers if router != place]
        for source in dict.fromkeys(needed):
            yield EdgeFacts(source, place, task.optional, _passed(tasks[source], task))


def _passed(source: TaskFacts, target: TaskFacts) -> bool:
    if not target.status:
        return True
    began = target.status in _WORKED and target.started_s is not None
    return source.status in _FINISHED and (began or target.status == "restored")


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    return tuple(_text(name) for name in value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    """A time as a number; None for what is none."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None  # type: ignore[arg-type]
