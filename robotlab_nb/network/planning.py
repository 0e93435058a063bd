"""What is kept of an earlier run of a network, and what runs again: decided before anything runs.

What the kept tasks gave is read by :mod:`.restoring`; nothing here starts a run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, near
from .fingerprints import changes, fingerprint
from .kept_items import kept_items
from .restoring import Kept, Restored, Source, Told
from .result import TaskResult
from .stepping import FINISHED, SETTLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..robot.in_force import Level
    from .graph import Graph
    from .task import Task

__all__ = ["Earlier", "plan"]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a run is to go on from, and how.

    Parameters
    ----------
    source : Source
    again : tuple of str
        Tasks that run again with all that comes after them.
    only : bool
        Whether nothing else runs.
    changed : str or None
        What is done about tasks that have changed: refuse, ``"rerun"`` or ``"keep"``.
    """

    source: Source
    again: tuple[str, ...] = ()
    only: bool = False
    changed: str | None = None

    def same(self, message: str, context: Mapping[str, Any] | None) -> dict[str, Any]:
        """The message and the context of the run, over those of the earlier one.

        Raises
        ------
        InputError
            When the earlier run had values that nobody has any more.
        """
        info = self.source.state.info
        whole = {**self.source.left.context, **(context or {})}
        missing = [n for n in info.get("context", ()) if n not in map(str, whole)]
        if missing:
            raise InputError(
                f"the run had {', '.join(map(repr, missing))} in its context, which events do not "
                "hold",
                hint="Pass context= with the same values.",
            )
        return {"message": message or info.get("input"), "context": whole}


def plan(
    earlier: Earlier, graph: Graph, tasks: Mapping[str, Task], above: tuple[Level, ...]
) -> Restored:
    """Decide what is kept of an earlier run, and read it.

    Parameters
    ----------
    earlier : Earlier
    graph : Graph
    tasks : mapping of str to Task
    above : tuple of Level
        Settings of the networks around the tasks' robots.

    Raises
    ------
    InputError
        For a task to run again that is not there.
    ConfigurationError
        When finished tasks have changed, or gave what was not kept and is needed.
    """
    source = earlier.source
    before = source.state.tasks
    for name in earlier.again:
        if name not in tasks:
            raise InputError(f"there is no task {name!r} to run again", hint=near(name, tasks))
    finished = [n for n in tasks if n in before and before[n].status in FINISHED]
    again = _with_later(graph, earlier.again)
    begun = [n for n in tasks if n in before and n not in finished and before[n].items]
    decided = [tasks[n] for n in (*finished, *begun) if n not in again]
    changed = _changed(source, graph, decided, above)
    if changed and earlier.changed is None:
        raise _refused(changed)
    if changed and earlier.changed == "rerun":
        again |= _with_later(graph, changed)
    if earlier.only:
        kept = {n: _as_it_was(source, tasks[n]) for n in tasks if n not in again}
    else:
        kept = {n: _restored(source, tasks[n]) for n in finished if n not in again}
    _refuse_lost(source, tasks, graph, kept)
    routes = {name for n in kept if n in before for name in before[n].route}
    running = [n for n in tasks if n not in kept and n in before]
    return Restored(
        source.run_id,
        kept,
        frozenset(n for n in running if before[n].started_s is not None and n not in again),
        frozenset(routes | set(earlier.again)) if earlier.only else frozenset(routes),
        not earlier.only and any(before[n].halts for n in kept),
        _inside(earlier, [tasks[n] for n in running if n not in again]),
        {
            n: k.result.value
            for n, k in kept.items()
            if k.data.get("live")
            and isinstance(k.result, TaskResult)
            and not isinstance(k.result, Told)
        },
        {n: kept_items(source, tasks[n]) for n in begun if n not in again and n not in kept},
    )


def _with_later(graph: Graph, names: Iterable[str]) -> set[str]:
    """Some tasks and all that come after them, activated ones included."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += (*graph.dependents[name], *graph.may_activate.get(name, ()))
    return found


def _changed(
    source: Source, graph: Graph, tasks: Iterable[Task], above: tuple[Level, ...]
) -> dict[str, tuple[str, ...]]:
    """What has changed about tasks since they were finished, by name."""
    found = {}
    for task in tasks:
        was = source.state.tasks[task.name].declared.get("fingerprint")
        what = changes(was, fingerprint(task, graph.nodes[task.name], above)) if was else ()
        if what:
            found[task.name] = what
    return found


def _refused(changed: Mapping[str, tuple[str, ...]]) -> ConfigurationError:
    told = "; ".join(f"{name!r} ({', '.join(what)})" for name, what in changed.items())
    return ConfigurationError(
        f"these tasks have changed since they were finished: {told}",
        hint='Have them done again with changed="rerun", or keep their results with '
        'changed="keep".',
    )


def _refuse_lost(
    source: Source, tasks: Mapping[str, Task], graph: Graph, kept: Mapping[str, Kept]
) -> None:
    """Raise where a task is to run whose function is given a value that nobody has any more."""
    lost = {n for n in kept if kept[n].status == "restored" and source.is_lost(tasks[n])}
    for name, task in tasks.items():
        needed = [d for d in graph.nodes[name].depends_on if d in lost]
        if needed and name not in kept and _reads_values(task):
            listed = ", ".join(map(repr, needed))
            raise ConfigurationError(
                f"task {name!r} needs what {listed} gave, which was no JSON and is not in the "
                "events",
                hint=f"Have it done again: resume(…, rerun={needed!r}). Or resume from the run "
                "or the result itself, in the process that has it.",
            )


def _reads_values(task: Task) -> bool:
    """Whether a task's own code gets results, and not only their text."""
    offered = {"upstream", "flow"}
    if task.way == "step" or (task.way == "function" and offered & {*task.takes("runner")}):
        return True
    return task.when is not None and bool(offered & {*task.takes("when")})


def _restored(source: Source, task: Task) -> Kept:
    found = source.state.tasks[task.name]
    child = source.state.children.get(found.child_run_id or "")
    output = found.output if child is None or not task.is_robot else child.output
    data: dict[str, Any] = {
        "text": found.text or "",
        "restored_from": found.restored_from or source.run_id,
        "restored_cost": source.cost(task.name),
    }
    more = {
        "result": found.result, "output": output, "activate": list(found.route),
        "halts": found.halts, "noted": dict(found.noted), "gave": dict(found.gave),
        "labels": list(found.labels), "live": found.live, "child_run_id": found.child_run_id,
    }  # fmt: skip
    data |= {k: v for k, v in more.items() if v not in (None, False, [], {}) or k == "result"}
    return Kept(
        "restored", "task.restored", data, source.result(task), source.flow(task.name),
        found.labels,
    )  # fmt: skip


def _as_it_was(source: Source, task: Task) -> Kept:
    """A task that is left at what it was, finished or not."""
    found = source.state.tasks.get(task.name)
    if found is not None and found.status in FINISHED:
        return _restored(source, task)
    if found is not None and found.status == "failed":
        failed = {"error": found.error or {}}
        return Kept("failed", "task.failed", failed, source.results.get(task.name))
    status = found.status if found is not None and found.status in SETTLED else "interrupted"
    why = (found.reason if found is not None else None) or f"not done in run {source.run_id}"
    return Kept(status, "task.settled", {"status": status, "reason": why})


def _inside(earlier: Earlier, tasks: Iterable[Task]) -> dict[str, Earlier]:
    """What the runs of networks that had begun go on from."""
    found = {}
    for task in tasks:
        source = earlier.source.inside(task.name) if task.is_network else None
        if source is not None and source.state.tasks:
            found[task.name] = replace(earlier, source=source, again=(), only=False)
    return found
