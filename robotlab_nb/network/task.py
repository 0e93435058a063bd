"""A task of a network: who does it, what it waits for, and how its prompt is made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig
from ..core.errors import ConfigurationError, near
from ..core.readings import Pictured
from ..prompts.rendering import check_prompt, render
from ..robot.membership import Membership
from ..robot.robot import Robot
from .graph import ON_FAILURE, Node
from .groups import checked_concurrency
from .human import Human
from .looping import Loop
from .sources import checked_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from .upstream import Upstream

__all__ = ["Task", "names"]

#: what functions and conditions may ask for by name
OFFERED = ("message", "context", "upstream", "memory", "flow")
#: what the function of a map's or a loop's task may ask for as well
_ITEM, _TURN = ("item", "index"), ("result", "turn")
#: what those get that take anything
_PLAIN = OFFERED[:3]
#: ways of tasks that are asked something
_ASKED = ("robot", "step", "network", "human")
#: words of robot_lab's that a list says better
_WORDS = {"none": "depends_on=[]", "nothing": "depends_on=[]", "optional": "optional=True"}


class Task(Pictured):
    """A task as it was declared. Made by ``network.task(…)``; it does not change.

    Parameters
    ----------
    name : str
    runner : Robot, callable, Network or Human
        A robot, another network, a person, or a function that takes those of ``message, context,
        upstream, memory, flow`` that it names.
    depends_on : sequence of str
        Tasks, or groups of tasks, that come before it.
    optional : bool
        Whether it runs only when a route names it.
    route : callable, optional
        Given the task's result, names the optional tasks to run: one name, several, or None.
    fallback : str, optional
        The optional task to run when the route names one that is not there.
    when : callable, optional
        Takes what a function task may; the task runs if it returns True. Makes it optional.
    prompt : str, optional
        What is asked; Jinja over ``message``, ``upstream`` and the context's names.
    on_failure : {"block", "continue", "stop"}
        What its failure means: dependents are blocked, or go on without it, or all stops.
    context : mapping, optional
        Values for this task's prompt, tools and functions, over the run's: dicts are merged,
        anything else is replaced.
    tools : sequence, optional
        The exact set of tools for this task.
    mcp : sequence, optional
        The exact set of tool servers for this task.
    config : RunConfig or mapping, optional
        Settings for this task.
    memory : Memory or mapping, optional
        What this task shares in place of the network's memory; values of a mapping are there
        besides the network's, for this task alone.
    timeout : float, optional
        Seconds for each try; past them the task fails.
    retries : int, optional
        How often a failed task is tried again.
    retry_wait : float, optional
        Seconds before it is.
    poller_group : str, optional
        The group whose cap the task's robots are counted under.
    map_over : str, callable or iterable, optional
        The task is done once for each item of this.
    concurrency : int, optional
        Most items at the same time.
    on_item_failure : {"keep", "fail"}, optional
        Whether items that failed are rows of the result, or the task's failure.
    loop : Loop, optional
        How the task, or each item of it, is repeated.
    """

    __slots__ = (
        "_named", "_takes", "concurrency", "config", "context", "depends_on", "fallback",
        "fingerprinted", "is_network", "is_robot", "kind", "loop", "map_over", "mcp", "memory",
        "name", "on_failure", "on_item_failure", "optional", "poller_group", "prompt", "retries",
        "retry_wait", "route", "runner", "timeout", "tools", "way", "when",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        runner: Any,
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
        mcp: Sequence[Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        memory: Any = None,
        timeout: float | None = None,
        retries: int = 0,
        retry_wait: float = 1.0,
        poller_group: str | None = None,
        map_over: Any = None,
        concurrency: int | None = None,
        on_item_failure: str = "keep",
        loop: Loop | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"a task's name is a text, not {name!r}")
        if on_failure not in ON_FAILURE:
            raise ConfigurationError(
                f"task {name!r}: on_failure={on_failure!r}", hint=near(on_failure, ON_FAILURE)
            )
        self._takes: dict[str, tuple[str, ...]] = {}
        #: the digests of what decides its result, and what they were made of
        self.fingerprinted: tuple[Any, Any, tuple[Any, ...], Mapping[str, str]] | None = None
        self.name, self.runner = name, runner
        #: how it is carried out
        self.way = _way(name, runner)
        #: who does it: ``robot, function, network`` or ``human``
        self.kind = "robot" if self.way == "step" else self.way
        self.is_robot = self.kind == "robot"
        self.is_network = self.kind == "network"
        self._named = self.is_robot or self.kind == "human"
        self.depends_on = names(depends_on, f"task {name!r}")
        self.optional = optional or when is not None
        self.route = route
        self.fallback = fallback
        self.when = when
        self.prompt = prompt
        self.on_failure = on_failure
        self.context = dict(context or {})
        self.tools, self.mcp, self.memory = tools, mcp, memory
        self.config = RunConfig.of(config) if config is not None else None
        if memory is not None:
            from ..memory.sharing import checked_memory

            checked_memory(memory, f"task {name!r}")
        self.poller_group = poller_group
        self._pace(timeout, retries, retry_wait)
        self._repeat(map_over, concurrency, on_item_failure, loop)

    def _pace(self, timeout: float | None, retries: int, retry_wait: float) -> None:
        name = self.name
        self.timeout = None if timeout is None else _number(name, "timeout", timeout)
        self.retries = int(_number(name, "retries", retries, whole=True))
        self.retry_wait = _number(name, "retry_wait", retry_wait)

    def _repeat(
        self, map_over: Any, concurrency: int | None, on_item_failure: str, loop: Loop | None
    ) -> None:
        self.map_over = checked_source(self.name, map_over)
        self.concurrency = None if concurrency is None else checked_concurrency(concurrency)
        self.on_item_failure = on_item_failure
        self.loop = loop
        if on_item_failure not in ("keep", "fail"):
            hint = near(on_item_failure, ("keep", "fail"))
            raise ConfigurationError(f"task {self.name!r}: {on_item_failure=}", hint=hint)
        if loop is not None and not isinstance(loop, Loop):
            raise ConfigurationError(f"task {self.name!r}: loop={loop!r:.60} is no rl.Loop")

    @property
    def plan(self) -> str:
        """How it is carried out as a whole: ``map``, ``loop``, or as one of it is."""
        if self.map_over is not None:
            return "map"
        return self.way if self.loop is None else "loop"

    @property
    def robot_name(self) -> str | None:
        """The robot's or the person's name, if one of them does it."""
        return self.runner.name if self._named else None

    @property
    def activates(self) -> bool:
        """Whether its result may activate optional tasks."""
        if self.route is not None or self.way == "step":
            return True
        return self.way == "function" and ("flow" in self.takes("runner") or _flows(self.runner))

    def node(self) -> Node:
        """The task as the graph sees it, groups not resolved."""
        return Node(
            self.name, self.depends_on, self.optional, self.activates, self.when is not None,
            self.fallback, self.on_failure, self.kind,
            size=len(self.runner.tasks) if self.is_network else 0,
        )  # fmt: skip

    def declared(self, node: Node | None = None) -> dict[str, Any]:
        """What was declared, as JSON; dependencies and group as compiling resolved them."""
        told: dict[str, Any] = {
            "task": self.name,
            "kind": self.kind,
            "robot": self.robot_name,
            "depends_on": list(self.depends_on if node is None else node.depends_on),
            "optional": self.optional,
            "route": self.activates,
            "when": self.when is not None,
            "fallback": self.fallback,
            "on_failure": self.on_failure,
        }
        if node is not None and node.group is not None:
            told["group"] = node.group
        if self.poller_group is not None:
            told["poller_group"] = self.poller_group
        if self.timeout is not None:
            told["timeout"] = self.timeout
        if self.retries:
            told["retries"] = self.retries
        if self.map_over is not None:
            told["map_over"] = _source_told(self.map_over)
        if self.loop is not None:
            told["loop"] = self.loop.declared()
        if self.is_network:
            told["network"] = self.runner.name
        return told

    def faults(self) -> Iterable[str]:
        """What is wrong with it that shows before anything runs."""
        who = f"task {self.name!r}"
        if self.prompt is not None:
            if self.way not in _ASKED:
                yield f"{who} has a prompt=, and a {self.kind} does it"
            wrong = check_prompt(self.prompt)
            if wrong:
                yield f"{who}: its prompt is no valid Jinja: {wrong}"
        if self.map_over is None and (self.concurrency or self.on_item_failure != "keep"):
            yield f"{who} has concurrency= or on_item_failure=, and no map_over="
        if callable(self.map_over):
            yield from _signature_faults(f"{who}: map_over=", self.map_over)
        for word in ("tools", "mcp"):
            if getattr(self, word) is not None and not self.is_robot:
                yield f"{who} has {word}=, and a {self.kind} does it"
        if self.way == "function":
            yield from _signature_faults(who, self.runner, self._more)
        if self.when is not None:
            yield from _signature_faults(f"{who}: when=", self.when)
        if self.route is not None and not callable(self.route):
            yield f"{who}: route= takes a function of the task's result"

    def takes(self, part: str) -> tuple[str, ...]:
        """Which of what is offered its ``runner`` or its ``when`` names."""
        found = self._takes.get(part)
        if found is None:  # reading a signature is slow: once is enough
            found = self._takes[part] = _taken(
                getattr(self, part), self._more if part == "runner" else ()
            )
        return found

    @property
    def _more(self) -> tuple[str, ...]:
        """What its function may ask for besides what every function may."""
        items = () if self.map_over is None else _ITEM
        return items if self.loop is None else (*items, *_TURN)

    def text_for(self, message: str, upstream: Upstream, context: Mapping[str, Any]) -> str:
        """What is asked."""
        if self.prompt is None:
            return upstream.default_prompt(message)
        values = {**context, "message": message, "upstream": upstream}
        return render(self.prompt, values, where=f"task {self.name!r}")


def _taken(function: Callable[..., Any], more: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Which of the offered values a function names."""
    parameters, takes_any = _parameters(function)
    found = tuple([name for name in (*OFFERED, *more) if name in parameters])
    return tuple(dict.fromkeys((*_PLAIN, *more, *found))) if takes_any else found


def _parameters(function: Callable[..., Any]) -> tuple[Collection[str], bool]:
    """The names of a function's parameters, and whether it takes any keyword besides."""
    if type(function) is FunctionType and not function.__dict__:
        # What a signature would say, at a tenth of the time.
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        return code.co_varnames[:count], bool(code.co_flags & inspect.CO_VARKEYWORDS)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return (), False
    return parameters, any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _source_told(source: Any) -> str:
    if isinstance(source, str):
        return source
    return "a function" if callable(source) else f"{len(source)} items"


def _flows(function: Callable[..., Any]) -> bool:
    """Whether a function says that it returns a FlowResult."""
    said = getattr(function, "__annotations__", {}).get("return", "")
    named = said if isinstance(said, str) else getattr(said, "__name__", "")
    return named.rpartition(".")[2] == "FlowResult"


def _signature_faults(
    who: str, function: Callable[..., Any], more: tuple[str, ...] = ()
) -> Iterable[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        yield f"{who} is no function whose signature can be read"
        return
    for p in parameters:
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) or p.default is not p.empty:
            continue
        if p.name not in (*OFFERED, *more) or p.kind is p.POSITIONAL_ONLY:
            offered = ", ".join((*OFFERED, *more))
            yield f"{who}: its function asks for {p.name!r}; offered are {offered}"


def _way(name: str, runner: Any) -> str:
    """How a runner is run: a key of :data:`robotlab_nb.network.doing.WAYS`."""
    if isinstance(runner, Robot):
        return "robot" if type(runner).call is Membership.call else "step"
    if isinstance(runner, Human):
        return "human"
    if isinstance(runner, type):
        raise _no_runner(name, runner)
    if getattr(runner, "is_network", None) is True:
        return "network"
    if callable(runner):
        return "function"
    raise _no_runner(name, runner)


def _no_runner(name: str, runner: Any) -> ConfigurationError:
    return ConfigurationError(
        f"task {name!r} is done by a robot or a function, not by {runner!r:.60}",
        hint="Pass a Robot, a Network or a Human, or a function of message, context and upstream.",
    )


def _number(task: str, option: str, value: Any, *, whole: bool = False) -> float:
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < 1e9:
        what = "a whole number from 0" if whole else "a number of seconds"
        raise ConfigurationError(f"task {task!r}: {option}={value!r} is not {what}")
    return value


def names(value: Any, who: str) -> tuple[str, ...]:
    """A list of names that somebody depends on, checked.

    Raises
    ------
    ConfigurationError
    """
    if isinstance(value, str):
        instead = _WORDS.get(value.lower())
        raise ConfigurationError(
            f"{who}: depends_on={value!r} is a text",
            hint=f"Write {instead}." if instead else f"Write depends_on=[{value!r}].",
        )
    if not isinstance(value, Sequence) or not all(isinstance(v, str) for v in value):
        raise ConfigurationError(f"{who}: depends_on takes a list of task names, not {value!r:.60}")
    return tuple(dict.fromkeys(value))
