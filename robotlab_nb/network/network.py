"""A network: tasks done by robots and functions, and running them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig, options
from ..core.errors import ConfigurationError, GraphError, InputError, near
from ..core.keywords import ListedSettings, strict_keywords
from ..core.messages import Message
from ..core.pickling import Guarded
from ..core.readings import Pictured
from ..robot.changing import checked
from ..robot.in_force import BUDGETS, chain, handlers_of
from ..runtime.loop import loop_is_running
from ..runtime.run import Run
from ..tools.call import check_callable
from .asking import Asking
from .diagrams import Diagrams
from .graph import Graph, compile_graph
from .result import NetworkResult
from .scheduler import Scheduler
from .task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from ..core.fields import Settings
    from ..robot.robot import Robot
    from ..runtime.budgets import Budget

__all__ = ["Network", "create_network"]

#: most tasks at the same time
CONCURRENCY = 32


class Network(Guarded, Asking, Diagrams, Pictured):
    """A graph of tasks. Each starts when its own dependencies are done.

    Parameters
    ----------
    name : str, optional
    tasks : sequence of Task, optional
        More are added with :meth:`task`. Two of one name are refused here.
    concurrency : int, optional
        Most tasks at the same time (32).
    config : RunConfig or dict, optional
        Settings for all its robots, weaker than their own.
    **settings
        The same as keywords, stronger than ``config``. Budgets are the network's own: all runs
        inside it are charged to them together.

    Raises
    ------
    ConfigurationError, GraphError

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("count")
    >>> first = net.task("first", lambda message: len(message))
    >>> second = net.task("second", lambda upstream: upstream["first"].value * 2,
    ...                   depends_on=["first"])
    >>> net.run("hello").value
    10
    """

    __slots__ = (
        "__weakref__", "_budgets", "_graph", "_tasks", "concurrency", "config", "name",
    )  # fmt: skip

    __signature__ = ListedSettings()

    def __init__(
        self,
        name: str = "network",
        *,
        tasks: Sequence[Task] = (),
        concurrency: int | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"a network's name is a text, not {name!r}")
        self.name = name
        self.concurrency = _concurrency(concurrency)
        self.config = RunConfig.of(config).merge(checked(settings, name, kind="network"))
        self._budgets: tuple[Budget, ...] | None = None
        self._tasks: dict[str, Task] = {}
        self._graph: Graph | None = None
        for task in tasks:
            if task.name in self._tasks:
                raise GraphError(f"network {name!r}: task {task.name!r} is there twice")
            self._tasks[task.name] = task

    @strict_keywords
    def task(
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
    ) -> Task:
        """Add a task. One of a known name replaces it, and says so.

        Parameters
        ----------
        name : str
        runner : Robot or callable
            A robot, or a function that takes those of ``message, context, upstream`` that it
            names.
        depends_on : sequence of str, optional
            Tasks that come before it; they may be declared later.
        optional : bool, optional
            Whether it runs only when a route names it.
        route : callable, optional
            Given this task's result, names the optional tasks to run: one, several, or None.
        fallback : str, optional
            The optional task to run when the route names one that is not there.
        when : callable, optional
            Takes what a function task may; the task runs if it returns True. Makes it optional.
        prompt : str, optional
            What the robot is asked; Jinja over ``message``, ``upstream`` and the context's names.
            Without it: the original message at a root and after tasks that only routed, else
            what the finished dependencies said.
        on_failure : {"block", "continue", "stop"}, optional
            What its failure means: dependents are blocked and the rest goes on, dependents go on
            without it, or nothing new starts.
        context : mapping, optional
            Values for this task, over the run's.
        tools : sequence, optional
            The exact set of tools for this task.
        config : RunConfig or mapping, optional
            Settings for this task, over the robot's.

        Returns
        -------
        Task
        """
        made = Task(
            name, runner, depends_on=depends_on, optional=optional, route=route,
            fallback=fallback, when=when, prompt=prompt, on_failure=on_failure, context=context,
            tools=tools, config=config,
        )  # fmt: skip
        if name in self._tasks:
            import warnings

            warnings.warn(
                f"network {self.name!r}: task {name!r} was there and is replaced", stacklevel=3
            )
        self._tasks[name] = made
        self._graph = None
        return made

    @property
    def tasks(self) -> dict[str, Task]:
        """The tasks by name, in the order declared."""
        return dict(self._tasks)

    @property
    def robots(self) -> dict[str, Robot[Any]]:
        """The robots by task name."""
        return {n: t.runner for n, t in self._tasks.items() if t.is_robot}

    def __getitem__(self, task: str) -> Any:
        """The robot or function of a task."""
        try:
            return self._tasks[task].runner
        except KeyError:
            raise KeyError(f"there is no task {task!r}. {near(str(task), self._tasks)}") from None

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._tasks)

    @property
    def graph(self) -> Graph:
        """The compiled graph; every fault raises one GraphError."""
        return self.validate()

    def validate(self) -> Graph:
        """Check everything that can be checked before a request.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            Listing all faults: cycles, unknown dependencies, bad prompts, functions that ask for
            what is not offered.
        """
        if self._graph is None:
            faults = [f for t in self._tasks.values() for f in t.faults()]
            if not self._tasks:
                faults.append("it has no tasks")
            nodes = [t.node() for t in self._tasks.values()]
            self._graph = compile_graph(nodes, name=self.name, more=faults)
        return self._graph

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The network's own budgets, charged by all its runs and everything inside them."""
        if self._budgets is None:
            self._budgets = ()
            if any(self.config.get(name) is not None for name in BUDGETS):
                from ..runtime.budgets import budgets_of

                self._budgets = budgets_of(self.config, f"network {self.name!r}")
        return self._budgets

    def to_dict(self) -> dict[str, Any]:
        """What was declared, as JSON."""
        return {
            "name": self.name,
            "concurrency": self.concurrency,
            "config": self.config.to_dict(),
            "tasks": [t.declared() for t in self._tasks.values()],
        }

    # -- running ---------------------------------------------------------------------------

    def prepare(
        self,
        message: Any,
        *,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        detached: bool = False,
        blocking: bool = False,
    ) -> Run[NetworkResult]:
        """Check everything that can be checked before a request, and make the run."""
        graph = self.validate()
        settings = self.config if config is None else self.config.merge(RunConfig.of(config))
        text = _text(message, self.name)
        for name, robot in self.robots.items():
            try:
                robot.model.check()
                check_callable(robot.tools, may_use_caller=not blocking and loop_is_running())
            except ConfigurationError as error:
                error.message = f"task {name!r}: {error.message}"
                raise
        scheduler = Scheduler(
            graph,
            dict(self._tasks),
            message=text,
            context=dict(context or {}),
            concurrency=_concurrency(concurrency or self.concurrency),
            config=settings,
            about={"context": sorted(map(str, context))} if context else {},
            hooks=chain(handlers_of([*options.levels(), ("network", settings)])),
        )

        def finish(run: Run[NetworkResult]) -> NetworkResult:
            return NetworkResult(
                run.state, run.events, scheduler.results, graph.sinks, values=run.values
            )

        run = Run(self.name, "network", scheduler.work, finish, detached=detached, keep_failed=True)
        own = self.budgets
        if config is not None:
            from ..runtime.budgets import budgets_of

            own = (*own, *budgets_of(RunConfig.of(config), f"this run of {self.name!r}"))
        if own:
            run.budgets = (*run.budgets, *own)
        if settings.get("answers") is not None:
            run.answers = settings["answers"]
        if "ask_timeout" in settings:
            run.ask_timeout = settings["ask_timeout"]
        return run


def create_network(
    name: str = "network",
    *,
    tasks: Sequence[Task] = (),
    concurrency: int | None = None,
    config: RunConfig | Mapping[str, Any] | None = None,
    **settings: Unpack[Settings],
) -> Network:
    """Make a network. Parameters as for :class:`Network`.

    Examples
    --------
    >>> create_network("support").name
    'support'
    """
    return Network(name, tasks=tasks, concurrency=concurrency, config=config, **settings)


def _concurrency(value: Any) -> int:
    if value is None:
        return CONCURRENCY
    if isinstance(value, str):
        raise ConfigurationError(
            f"concurrency={value!r}: there is one scheduler, and it is neither threads nor fibres",
            hint="Give the number of tasks that may run at the same time.",
        )
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigurationError(f"concurrency is a whole number from 1, not {value!r}")
    return value


def _text(message: Any, name: str) -> str:
    text = message.text if isinstance(message, Message) else message
    if isinstance(text, str) and text.strip():
        return text
    raise InputError(
        f"network {name!r} was given nothing to work on: the message is {message!r:.60}",
        hint="Pass a text, for example net.run('I was charged twice').",
    )
