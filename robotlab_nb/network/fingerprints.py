"""What decides the result of a task, as digests by part, and what changed between two of them.

They stand with each task in its network's ``run.started`` event. How long a task may take, how
often it is tried and what its failure means are not part of them: none of it changes a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import options
from ..core.keys import digest, task_fingerprint
from ..robot.in_force import BUDGETS, in_force, model_params, run_level
from ..tools.preview import preview

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..robot.in_force import InForce, Level
    from .graph import Node
    from .task import Task

__all__ = ["cascade", "changes", "fingerprint"]

#: what a declaration says that changes no result
_BESIDES = frozenset(
    {"task", "robot", "network", "group", "poller_group", "timeout", "retries", "on_failure"}
)
#: a task's own functions
_FUNCTIONS = ("route", "when", "map_over")
#: parts in words
_WORDS = {
    "definition": "its definition", "prompt": "its prompt", "model": "the model",
    "settings": "the model's settings", "tools": "the tools", "source": "a function's source",
    "tasks": "tasks inside it",
}  # fmt: skip


def fingerprint(task: Task, node: Node, above: Sequence[Level]) -> Mapping[str, str]:
    """The digests of what decides a task's result. The same object while nothing changes.

    Parameters
    ----------
    task : Task
    node : Node
        The task in its graph, groups resolved.
    above : sequence of Level
        Settings of the networks around its robot.

    Returns
    -------
    mapping of str to str
        Digests of ``definition, prompt``, of a robot's ``model, settings, tools``, of functions'
        ``source``, of the ``tasks`` of a network.
    """
    if task.is_network:
        return _of_network(task, node, above)
    robot = task.runner if task.is_robot else None
    looked: Any = options.version if robot is None else robot.look()[0]
    known = task.fingerprinted
    if known is not None and known[0] is looked and known[1] is node and known[2] == above:
        return known[3]
    parts = _parts(task, node)
    functions = [f for f in (getattr(task, name, None) for name in _FUNCTIONS) if callable(f)]
    if robot is not None:
        parts |= _of_robot(task, above)
        if task.way == "step":
            functions.append(type(robot).call)
    elif callable(task.runner):
        functions.append(task.runner)
    if task.loop is not None:
        functions += [f for f in (task.loop.until, task.loop.feedback) if callable(f)]
    found = task_fingerprint(parts, functions)
    task.fingerprinted = (looked, node, tuple(above), found)
    return found


def _parts(task: Task, node: Node) -> dict[str, Any]:
    declared = {k: v for k, v in task.declared(node).items() if k not in _BESIDES}
    if task.context:
        declared["context"] = preview(task.context).data
    if isinstance(task.map_over, tuple):
        declared["map_over"] = preview(task.map_over).data
    if task.way == "human":
        human = task.runner
        declared["human"] = [human.name, list(human.choices), human.default]
    return {"definition": declared, "prompt": task.prompt}


def _of_robot(task: Task, above: Sequence[Level]) -> dict[str, Any]:
    robot = task.runner
    found, composition = robot.look()
    level = run_level(task.tools, task.config, mcp=task.mcp)
    if level or above:
        found = in_force((*above, *robot.levels(composition), ("task", level)))
    templates = [] if composition is None else [part.text for _, part in composition.parts]
    return {
        "prompt": [task.prompt, robot.system_prompt, templates],
        "model": found.model.name,
        "settings": _settings(found),
        "tools": found.tools.key if found.servers is None else [found.tools.key, found.servers.key],
    }


def _settings(found: InForce) -> Any:
    values = found.effective.values_
    told: list[Any] = [preview(model_params(values)).data]
    if values["output"] is not None:
        from ..robot.structured import shape_of

        shape = shape_of(values["output"], values, found.model, tools=found.tools.names)
        told.append(None if shape is None else shape.schema)
    return told


def _of_network(task: Task, node: Node, above: Sequence[Level]) -> dict[str, str]:
    inner = task.runner
    graph = inner.validate()
    config = inner.config if task.config is None else inner.config.merge(task.config)
    levels = cascade(above, config)
    inside = [[n, fingerprint(t, graph.nodes[n], levels)] for n, t in inner.tasks.items()]
    return task_fingerprint({**_parts(task, node), "tasks": digest(inside)})


def cascade(above: Sequence[Level], config: Mapping[str, Any]) -> tuple[Level, ...]:
    """The levels under a network's robots. Budgets are the network's own and not among them."""
    cascading = {k: v for k, v in config.items() if k not in BUDGETS}
    return (*above, ("network", cascading)) if cascading else tuple(above)


def changes(before: Mapping[str, str] | None, after: Mapping[str, str]) -> tuple[str, ...]:
    """What changed between two fingerprints, in words; nothing where the first is not known.

    Examples
    --------
    >>> changes({"model": "1", "prompt": "1"}, {"model": "2", "prompt": "1"})
    ('the model',)
    """
    if before is None:
        return ()
    names = dict.fromkeys((*before, *after))
    return tuple(_WORDS.get(n, n) for n in names if before.get(n) != after.get(n))
