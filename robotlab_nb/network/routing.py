"""Which optional tasks a task's result activates: by its route, or as its FlowResult says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near

if TYPE_CHECKING:
    from .doing import Doing
    from .flow import FlowResult

__all__ = ["routes_of"]


def routes_of(doing: Doing, result: Any, said: FlowResult | None) -> tuple[str, ...]:
    """The optional tasks that a task's result activates.

    Parameters
    ----------
    doing : Doing
    result : object
        What the task's route is given.
    said : FlowResult or None
        What the step itself said.

    Raises
    ------
    ConfigurationError
        For a name that is no optional task after it, where there is no fallback.
    """
    task, graph = doing.task, doing.scheduler.graph
    names: list[Any] = []
    if said is not None:
        before = doing.flow.activated_steps  # steps say again what was activated before them
        names += [n for n in said.activated_steps if n not in before]
    if task.route is not None:
        found = task.route(result)
        names += [found] if isinstance(found, str) else list(found or ())
    if not names:
        return ()
    allowed = graph.may_activate.get(task.name)
    if allowed is None:  # a function that did not show that it would
        allowed = tuple(n for n in graph.dependents[task.name] if graph.nodes[n].optional)
    if all(n in allowed for n in names):
        return tuple(dict.fromkeys(names))
    if task.fallback is not None:
        return (task.fallback,)
    wrong = next(n for n in names if n not in allowed)
    listed = ", ".join(map(repr, allowed)) or "none"
    raise ConfigurationError(
        f"task {task.name!r} routes to {wrong!r:.80}, which is no optional task after it",
        hint=f"{near(str(wrong), allowed)} Possible: {listed}. Or give it a fallback=.",
    )
