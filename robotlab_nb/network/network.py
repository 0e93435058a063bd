"""A network: tasks done by robots and functions, and running them together."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig
from ..core.errors import ConfigurationError, GraphError
from ..core.keywords import ListedSettings, strict_keywords
from ..core.pickling import Guarded
from ..core.readings import Pictured
from ..robot.changing import checked
from ..robot.in_force import BUDGETS
from .asking import Asking
from .crew import Crew
from .diagrams import Diagrams
from .graph import Graph, compile_graph
from .groups import (
    Grouped,
    Parallel,
    cap_faults,
    checked_caps,
    checked_concurrency,
    expanded,
    say_replaced,
)
from .nesting import faults_inside
from .resuming import Resuming
from .task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Unpack

    from ..core.fields import Settings
    from ..memory.reactive import Memory
    from ..robot.in_force import Level
    from ..robot.robot import Robot
    from ..runtime.budgets import Budget
    from ..runtime.run import Run
    from .human import Human
    from .looping import Loop
    from .result import NetworkResult

__all__ = ["Network", "create_network"]


class Network(Guarded, Asking, Resuming, Crew, Diagrams, Grouped, Pictured):
    """A graph of tasks. Each starts when its own dependencies are done.

    Parameters
    ----------
    name : str, optional
    tasks : sequence of Task, optional
        More are added with :meth:`task`. Two of one name are refused here.
    concurrency : int, optional
        Most tasks at the same time (32).
    group_caps : dict of str to int, optional
        Most robots at the same time, by ``poller_group`` of the tasks.
    memory : Memory or dict, optional
        What its runs share, and keep; one of its own when left out. A dict is its first content.
    config : RunConfig or dict, optional
        Settings for all its robots, weaker than their own.
    **settings
        The same as keywords, stronger than ``config``. Budgets are the network's own: all runs
        inside it are charged to them together. ``max_concurrent_robots`` caps the robots that
        work at the same time in it, and in everything inside it.

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
        "__weakref__", "_budgets", "_graph", "_groups", "_handlers", "_memory", "_open", "_tasks",
        "concurrency", "config", "group_caps", "name", "owns_memory",
    )  # fmt: skip

    __signature__ = ListedSettings()

    def __init__(
        self,
        name: str = "network",
        *,
        tasks: Sequence[Task] = (),
        concurrency: int | None = None,
        group_caps: Mapping[str, int] | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"a network's name is a text, not {name!r}")
        self.name = name
        self.concurrency = checked_concurrency(concurrency)
        self.group_caps = checked_caps(group_caps, name)
        self.config = RunConfig.of(config).merge(checked(settings, name, kind="network"))
        self._budgets: tuple[Budget, ...] | None = None
        self._tasks: dict[str, Task] = {}
        self._graph: Graph | None = None
        self._groups: list[Parallel] = []
        #: groups whose ``with`` blocks the person's code is in
        self._open: list[Parallel] = []
        self._handlers: list[Callable[[dict[str, Any]], object]] = []
        self._memory: Any = memory
        #: whether its memory was given, and so is used inside another network as well
        self.owns_memory = memory is not None
        if memory is not None:
            from ..memory.sharing import checked_memory

            checked_memory(memory, f"network {name!r}")
        for task in tasks:
            if task.name in self._tasks:
                raise GraphError(f"network {name!r}: task {task.name!r} is there twice")
            self._tasks[task.name] = task

    @strict_keywords
    def task(
        self,
        name: str,
        runner: Robot[Any] | Callable[..., Any] | Network | Human,
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
        memory: Memory | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        retries: int = 0,
        retry_wait: float = 1.0,
        poller_group: str | None = None,
        map_over: Any = None,
        concurrency: int | None = None,
        on_item_failure: str = "keep",
        loop: Loop | None = None,
    ) -> Task:
        """Add a task. One of a known name replaces it, and says so.

        Parameters
        ----------
        name : str
        runner : Robot, callable, Network or Human
            A robot, another network, a person, or a function that takes those of ``message,
            context, upstream, memory, flow`` that it names.
        depends_on : sequence of str, optional
            Tasks, or groups of tasks, that come before it; they may be declared later.
        optional : bool, optional
            Whether it runs only when a route names it.
        route : callable, optional
            Given this task's result, names the optional tasks to run: one, several, or None.
        fallback : str, optional
            The optional task to run when the route names one that is not there.
        when : callable, optional
            Takes what a function task may; the task runs if it returns True. Makes it optional.
        prompt : str, optional
            What is asked; Jinja over ``message``, ``upstream`` and the context's names.
            Without it: the original message at a root and after tasks that only routed, else
            what the finished dependencies said.
        on_failure : {"block", "continue", "stop"}, optional
            What its failure means: dependents are blocked and the rest goes on, dependents go on
            without it, or nothing new starts.
        context : mapping, optional
            Values for this task, over the run's: dicts are merged, anything else is replaced.
        tools : sequence, optional
            The exact set of tools for this task.
        mcp : sequence, optional
            The exact set of tool servers for this task; nothing of it holds for later ones.
        config : RunConfig or mapping, optional
            Settings for this task, over the robot's.
        memory : Memory or dict, optional
            What this task shares in place of the network's memory; the values of a dict are there
            besides the network's, for this task alone.
        timeout : float, optional
            Seconds for each try; past them the task fails, and nothing else does.
        retries : int, optional
            How often a failed task is tried again.
        retry_wait : float, optional
            Seconds before it is.
        poller_group : str, optional
            The group whose cap (``group_caps=`` of the network) its robots are counted under.
        map_over : iterable, str or callable, optional
            The task is done for each item of a list; ``item`` and ``index`` are there for prompt
            and function, and the item is the prompt where there is none. A name: of a task in
            ``depends_on`` whose value is a list (``"task.attribute"``: that part of it), or of a
            value of the context. A function takes what ``when`` does. The result is a
            :class:`~robotlab_nb.network.rows.MapResult`; a task after it reduces that. Time and
            retries are each item's.
        concurrency : int, optional
            Most items at the same time; the network's when left out.
        on_item_failure : {"keep", "fail"}, optional
            What a failed item is: a row of the result, or the task's failure once all are done.
        loop : Loop, optional
            The task, or each item of it, is repeated until a condition holds.

        Returns
        -------
        Task
        """
        made = Task(
            name, runner, depends_on=depends_on, optional=optional, route=route,
            fallback=fallback, when=when, prompt=prompt, on_failure=on_failure, context=context,
            tools=tools, mcp=mcp, config=config, memory=memory, timeout=timeout,
            retries=retries, retry_wait=retry_wait, poller_group=poller_group, map_over=map_over,
            concurrency=concurrency, on_item_failure=on_item_failure, loop=loop,
        )  # fmt: skip
        self._add(made)
        return made

    def _add(self, task: Task) -> None:
        if task.name in self._tasks:
            say_replaced(self.name, "task", task.name)
            for group in self._groups:
                group.remove(task.name)
        self._tasks[task.name] = task
        for group in self._open:
            group.add(task.name)
        self._changed()

    def _remove(self, task: str) -> None:
        del self._tasks[task]
        for group in self._groups:
            group.remove(task)
        self._changed()

    def _changed(self) -> None:
        """What was compiled is not what there is any more."""
        self._graph = None

    @property
    def tasks(self) -> dict[str, Task]:
        """The tasks by name, in the order declared."""
        return dict(self._tasks)

    @property
    def memory(self) -> Memory:
        """What the network's runs share; it stays from run to run."""
        found = self._memory
        if found is None or isinstance(found, Mapping):
            from ..memory.reactive import Memory
            from ..memory.sharing import memory_of

            found = memory_of(found, Memory(name=self.name), f"network {self.name!r}")
            self._memory = found
        return found  # type: ignore[no-any-return]

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
        nested = any(t.is_network for t in self._tasks.values())
        if self._graph is None or nested:  # what is inside may have changed
            faults = [f for t in self._tasks.values() for f in t.faults()]
            if not self._tasks:
                faults.append("it has no tasks")
            nodes, wrong = expanded(self._tasks, self._groups)
            faults += [*wrong, *cap_faults(self._tasks, self.group_caps)]
            if nested:
                faults += faults_inside(self)
            self._graph = compile_graph(nodes, name=self.name, more=faults)
        return self._graph

    def declared(self) -> list[dict[str, Any]]:
        """The tasks as they were declared, as JSON; groups resolved into dependencies."""
        nodes = {node.name: node for node in expanded(self._tasks, self._groups)[0]}
        told = [t.declared(nodes[n]) for n, t in self._tasks.items()]
        for each in told:
            if each.get("poller_group") in self.group_caps:
                each["group_cap"] = self.group_caps[each["poller_group"]]
        return told

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The network's own budgets, charged by all its runs and everything inside them."""
        if self._budgets is None:
            self._budgets = ()
            if any(self.config.get(name) is not None for name in BUDGETS):
                from ..runtime.budgets import budgets_of

                self._budgets = budgets_of(self.config, self.name)
        return self._budgets

    def to_dict(self) -> dict[str, Any]:
        """What was declared, as JSON."""
        return {
            "name": self.name,
            "concurrency": self.concurrency,
            "group_caps": dict(self.group_caps),
            "config": self.config.to_dict(),
            "tasks": self.declared(),
        }

    # -- running ---------------------------------------------------------------------------

    def prepare(
        self,
        message: Any,
        *,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        detached: bool = False,
        blocking: bool = False,
        above: tuple[Level, ...] = (),
        label: str | None = None,
    ) -> Run[NetworkResult]:
        """Check everything that can be checked before a request, and make the run.

        Parameters
        ----------
        message, context, concurrency, memory, config
            As for :meth:`run`.
        detached, blocking : bool, optional
            Whether the run is a root of its own; whether the caller's loop is blocked meanwhile.
        above : tuple of Level, optional
            Settings of the networks around it, weaker than its own.
        label : str, optional
            The last part of the run's path, in place of the network's name.
        """
        from .preparing import make_run

        return make_run(
            self, message, context=context, concurrency=concurrency, memory=memory, config=config,
            detached=detached, blocking=blocking, above=above, label=label,
        )  # fmt: skip


def create_network(
    name: str = "network",
    *,
    tasks: Sequence[Task] = (),
    concurrency: int | None = None,
    group_caps: Mapping[str, int] | None = None,
    memory: Memory | Mapping[str, Any] | None = None,
    config: RunConfig | Mapping[str, Any] | None = None,
    **settings: Unpack[Settings],
) -> Network:
    """Make a network. Parameters as for :class:`Network`.

    Examples
    --------
    >>> create_network("support").name
    'support'
    """
    return Network(
        name, tasks=tasks, concurrency=concurrency, group_caps=group_caps, memory=memory,
        config=config, **settings,
    )  # fmt: skip


create_network.__signature__ = inspect.signature(Network)  # type: ignore[attr-defined]
