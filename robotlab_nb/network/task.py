"""A task of a network: who does it, what it waits for, and how its prompt is made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig
from ..core.errors import ConfigurationError, near
from ..core.readings import Pictured
from ..prompts.rendering import check_prompt, render
from ..robot.robot import Robot
from .graph import ON_FAILURE, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .upstream import Upstream

__all__ = ["Task"]

#: what functions, routes and conditions may ask for by name
OFFERED = ("message", "context", "upstream")
#: words of robot_lab's that a list says better
_WORDS = {"none": "depends_on=[]", "nothing": "depends_on=[]", "optional": "optional=True"}


class Task(Pictured):
    """A task as it was declared. Made by ``network.task(…)``; it does not change.

    Parameters
    ----------
    name : str
    runner : Robot or callable
        A robot, or a function that takes those of ``message, context, upstream`` that it names.
    depends_on : sequence of str
        Tasks that come before it.
    optional : bool
        Whether it runs only when a route names it.
    route : callable, optional
        Given the task's result, names the optional tasks to run: one name, several, or None.
    fallback : str, optional
        The optional task to run when the route names one that is not there.
    when : callable, optional
        Takes what a function task may; the task runs if it returns True. Makes it optional.
    prompt : str, optional
        What the robot is asked; Jinja over ``message``, ``upstream`` and the context's names.
    on_failure : {"block", "continue", "stop"}
        What its failure means: dependents are blocked, or go on without it, or all stops.
    context : mapping, optional
        Values for this task's prompt, tools and functions, over the run's.
    tools : sequence, optional
        The exact set of tools for this task.
    config : RunConfig or mapping, optional
        Settings for this task.
    """

    __slots__ = (
        "_takes", "config", "context", "depends_on", "fallback", "name", "on_failure", "optional",
        "prompt", "route", "runner", "tools", "when",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        runner: Robot[Any] | Callable[..., Any],
        *,
        depends_on: Sequence[str] = (),
        optional: bool = False,
        route: Callable[..., Any] | None = None,
        fallback: str | None = None,
        when: Callable[..., Any] | None = None,
        prompt: str | None = None,
        on_failure: str = "block",
        context: Mapping[str, Any] | None = None,
        tools: Sequence[Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"a task's name is a text, not {name!r}")
        if on_failure not in ON_FAILURE:
            raise ConfigurationError(
                f"task {name!r}: on_failure={on_failure!r}", hint=near(on_failure, ON_FAILURE)
            )
        self._takes: dict[str, tuple[str, ...]] = {}
        self.name = name
        self.runner = _runner(name, runner)
        self.depends_on = _names(name, depends_on)
        self.optional = optional or when is not None
        self.route = route
        self.fallback = fallback
        self.when = when
        self.prompt = prompt
        self.on_failure = on_failure
        self.context = dict(context or {})
        self.tools = tools
        self.config = RunConfig.of(config) if config is not None else None

    @property
    def is_robot(self) -> bool:
        """Whether a robot does it."""
        return isinstance(self.runner, Robot)

    @property
    def robot_name(self) -> str | None:
        """The robot's name, if a robot does it."""
        return self.runner.name if isinstance(self.runner, Robot) else None

    def node(self) -> Node:
        """The task as the graph sees it."""
        return Node(
            self.name, self.depends_on, self.optional, self.route is not None,
            self.when is not None, self.fallback, self.on_failure,
        )  # fmt: skip

    def declared(self) -> dict[str, Any]:
        """What was declared, as JSON."""
        return {
            "task": self.name,
            "kind": "robot" if self.is_robot else "function",
            "robot": self.robot_name,
            "depends_on": list(self.depends_on),
            "optional": self.optional,
            "route": self.route is not None,
            "when": self.when is not None,
            "fallback": self.fallback,
            "on_failure": self.on_failure,
        }

    def faults(self) -> Iterable[str]:
        """What is wrong with it that shows before anything runs."""
        who = f"task {self.name!r}"
        if self.prompt is not None:
            if not self.is_robot:
                yield f"{who} has a prompt=, and a function does it"
            wrong = check_prompt(self.prompt)
            if wrong:
                yield f"{who}: its prompt is no valid Jinja: {wrong}"
        if not self.is_robot:
            yield from _signature_faults(who, self.runner)
        if self.when is not None:
            yield from _signature_faults(f"{who}: when=", self.when)
        if self.route is not None and not callable(self.route):
            yield f"{who}: route= takes a function of the task's result"

    def arguments(
        self, part: str, message: str, upstream: Upstream, context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Those of ``message, context, upstream`` that its ``runner`` or its ``when`` names."""
        names = self._takes.get(part)
        if names is None:  # reading a signature is slow: once is enough
            names = self._takes[part] = _taken(getattr(self, part))
        offered = {"message": message, "context": context, "upstream": upstream}
        return {name: offered[name] for name in names}

    def text_for(self, message: str, upstream: Upstream, context: Mapping[str, Any]) -> str:
        """The prompt of a robot's task."""
        if self.prompt is None:
            return upstream.default_prompt(message)
        values = {**context, "message": message, "upstream": upstream}
        return render(self.prompt, values, where=f"task {self.name!r}")


def _taken(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which of the offered values a function names."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return OFFERED
    return tuple(name for name in OFFERED if name in parameters)


def _signature_faults(who: str, function: Callable[..., Any]) -> Iterable[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        yield f"{who} is no function whose signature can be read"
        return
    for p in parameters:
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) or p.default is not p.empty:
            continue
        if p.name not in OFFERED or p.kind is p.POSITIONAL_ONLY:
            offered = ", ".join(OFFERED)
            yield f"{who}: its function asks for {p.name!r}; offered are {offered}"


def _runner(name: str, runner: Any) -> Any:
    if isinstance(runner, Robot) or (callable(runner) and not isinstance(runner, type)):
        return runner
    raise ConfigurationError(
        f"task {name!r} is done by a robot or a function, not by {runner!r:.60}",
        hint="Pass a Robot object, or a function of message, context and upstream.",
    )


def _names(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        instead = _WORDS.get(value.lower())
        raise ConfigurationError(
            f"task {name!r}: depends_on={value!r} is a text",
            hint=f"Write {instead}." if instead else f"Write depends_on=[{value!r}].",
        )
    if not isinstance(value, Sequence) or not all(isinstance(v, str) for v in value):
        raise ConfigurationError(
            f"task {name!r}: depends_on takes a list of task names, not {value!r:.60}"
        )
    return tuple(dict.fromkeys(value))
