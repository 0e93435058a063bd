"""Doing one task: what it is given, and one way for each kind of runner to carry it out.

``WAYS`` is the whole table: whoever adds a kind of task adds a line. A way is a coroutine function
of a :class:`Doing`; it says ``began`` once and returns the task's result, or raises.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError
from ..robot.in_force import run_level
from ..runtime.stop import StopRun
from ..runtime.strand import Strand
from ..runtime.threads import in_thread
from .flow import FlowResult, joined
from .result import TaskResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..robot.conversation import Conversation
    from ..runtime.run import Run
    from ..runtime.seats import Seat
    from .scheduler import Scheduler
    from .task import Task
    from .upstream import Upstream

__all__ = ["WAYS", "Doing", "called", "holds", "merged"]


class Doing:
    """One task of a network's run, while it is being done.

    Attributes
    ----------
    task : Task
    upstream : Upstream
        Results of finished dependencies.
    context : mapping
        The run's context with the task's own over it.
    strand : Strand
        The task as runs inside it see it: path, memory, labels, caps.
    attempt : int
        Which try it is, from 1; 0 where there is only one.
    run : Run or None
        The robot's or the network's run, while it goes on.
    seat : Seat or None
        The slot that it has under caps.
    index : int or None
        Which item of the task's map it is.
    given : mapping
        More of what is offered by name: the item, or what a loop's turn is to know.
    says : str or None
        What is asked in place of the task's prompt.
    conversation : Conversation or None
        Where a robot's turns go on, in a loop.
    """

    __slots__ = (
        "_flow", "attempt", "child", "context", "conversation", "given", "index", "place", "run",
        "says", "scheduler", "seat", "silent", "since", "strand", "task", "upstream",
    )  # fmt: skip

    def __init__(
        self, scheduler: Scheduler, task: Task, since: float, seat: Seat | None = None
    ) -> None:
        self.scheduler = scheduler
        self.task = task
        #: when it became ready, on the monotonic clock
        self.since = since
        self.seat = seat
        #: where it is in the network
        self.place: tuple[str, ...] = (task.name,)
        self.strand = Strand(scheduler.run, self.place)
        self.attempt = 0
        self.run: Run[Any] | None = None
        #: the id of the last run in it
        self.child: str | None = None
        self.index: int | None = None
        self.given: Mapping[str, Any] = {}
        self.says: str | None = None
        self.conversation: Conversation | None = None
        #: whether its task has begun already
        self.silent = False
        self.upstream: Upstream
        self.context: Mapping[str, Any] = scheduler.context
        self._flow: FlowResult | None = None

    @property
    def message(self) -> str:
        """The network's original message."""
        return self.scheduler.message

    def begin_try(self, attempt: int) -> None:
        """Go on as a further try, in a place of its own."""
        self.attempt = attempt
        self.strand.path = (*self.place, f"try:{attempt}")
        self.since = self.since if attempt == 1 else monotonic()

    def began(self, run: Run[Any] | None = None) -> None:
        """Record that the task begins, and in which run."""
        self.run = run
        if run is not None:
            self.child = run.id
        if self.silent:
            return
        data: dict[str, Any] = {} if run is None else {"child_run_id": run.id}
        if self.attempt:
            data["attempt"] = self.attempt
        self.scheduler.started(self.task, self.since, data)

    def retried(self, error: dict[str, Any]) -> None:
        """Record that this try failed and another one follows."""
        data = {"attempt": self.attempt, "error": error, "retry_in_s": self.task.retry_wait}
        if self.index is not None:
            data["item"] = self.index
        self.emit("task.retried", data)

    def emit(self, type_: str, data: dict[str, Any]) -> None:
        """Record something else that happened in the task."""
        self.scheduler._emit(type_, self.task.name, data)

    def keep(self, result: Any) -> None:
        """Have a result stand for the task whatever happens; an item's is kept by its map."""
        if self.index is None:
            self.scheduler.results[self.task.name] = result

    def prompt(self) -> str:
        """What a robot, a network or a person is asked."""
        if self.says is not None:
            return self.says
        return self.task.text_for(self.message, self.upstream, self.context)

    @property
    def flow(self) -> FlowResult:
        """What a step of the person's own is given."""
        if self._flow is None:
            self._flow = self._make_flow()
        return self._flow

    def _make_flow(self) -> FlowResult:
        task, flows = self.task, self.scheduler.flows
        before = joined(flows[name] for name in self.upstream if name in flows)
        text = self.prompt()
        asked: dict[str, Any] = {"message": text, "context": dict(self.context)}
        if task.tools is not None:
            asked["tools"] = task.tools
        if task.mcp is not None:
            asked["mcp"] = task.mcp
        if task.config is not None:
            asked["config"] = task.config
        given = {"run_params": {"message": self.message, **self.context}, **self.upstream}
        return FlowResult(
            text, context={**given, **before.context}, errors=before.errors,
            activated_steps=before.activated_steps, asked=asked,
        )  # fmt: skip

    def offer(self, name: str) -> Any:
        """What a person's function asks for by name."""
        if name in self.given:
            return self.given[name]
        if name == "context":
            return dict(self.context)
        if name == "memory":
            return self.strand.memory
        return getattr(self, name)

    def arguments(self, part: str) -> dict[str, Any]:
        """Those of what is offered that the task's ``runner`` or its ``when`` names."""
        return {name: self.offer(name) for name in self.task.takes(part)}


# -- the ways ----------------------------------------------------------------------------------


async def _ask_robot(doing: Doing) -> Any:
    task = doing.task
    run = task.runner.prepare(
        doing.prompt(), run_level(task.tools, task.config, mcp=task.mcp),
        context=doing.context, origin="task",
        above=doing.scheduler.above, label="", keep=doing.conversation or False,
    )  # fmt: skip
    run.seat = doing.seat
    doing.began(run)
    try:
        return await run.perform()
    except Exception:
        # What the robot did before it failed stays readable by the task's name.
        doing.keep(run.so_far())
        raise


async def _call_function(doing: Doing) -> Any:
    doing.strand.seat = doing.seat
    doing.began()
    value = await called(doing.task.runner, doing.arguments("runner"))
    return value if isinstance(value, FlowResult) else TaskResult(doing.task.name, value)


async def _step_robot(doing: Doing) -> Any:
    """A robot whose class has a ``call`` of its own: its runs there are the task's."""
    robot, flow = doing.task.runner, doing.flow
    doing.strand.seat = doing.seat
    doing.strand.level = (robot, doing.scheduler.above, "", False)
    doing.began()
    value = await called(robot.call, {"flow": flow})
    return value if isinstance(value, FlowResult) else flow.continue_with(value)


async def _run_network(doing: Doing) -> Any:
    task = doing.task
    # One that was given a memory works with it, unless the task says otherwise.
    own = task.memory is None and task.runner.owns_memory
    prompt, before = doing.prompt(), doing.scheduler.before
    prepare = task.runner.prepare if before is None else before.preparing(task, prompt)
    run = prepare(
        prompt, context=doing.context, config=task.config, label="",
        memory=None if own else doing.strand.memory, above=doing.scheduler.above,
    )  # fmt: skip
    doing.began(run)
    result = await run.perform()
    doing.keep(result)
    return result.raise_for_errors()


async def _ask_human(doing: Doing) -> Any:
    task = doing.task
    doing.began()
    return TaskResult(
        task.name, await task.runner.reply(doing.scheduler.run, task.name, doing.prompt())
    )


async def _map(doing: Doing) -> Any:
    from .mapping import mapped

    return await mapped(doing, WAYS["loop" if doing.task.loop is not None else doing.task.way])


async def _loop(doing: Doing) -> Any:
    from .looping import looped

    return await looped(doing, WAYS[doing.task.way])


#: a task's plan, and the way that one of its items or turns is done -> what carries it out
WAYS: dict[str, Callable[[Doing], Awaitable[Any]]] = {
    "robot": _ask_robot,
    "step": _step_robot,
    "function": _call_function,
    "network": _run_network,
    "human": _ask_human,
    "map": _map,
    "loop": _loop,
}


async def holds(doing: Doing) -> bool:
    """Whether a task's condition is met.

    Raises
    ------
    ConfigurationError
        When it gave something else than a truth value.
    """
    found = await called(doing.task.when, doing.arguments("when"))
    if not isinstance(found, bool):
        raise ConfigurationError(
            f"task {doing.task.name!r}: when= returned {found!r:.60}",
            hint="It returns True or False.",
        )
    return found


async def called(function: Any, arguments: Mapping[str, Any]) -> Any:
    """Call a person's function: async on this loop, sync in a worker thread."""
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)

    def body() -> tuple[Any, BaseException | None]:
        try:
            return function(**arguments), None
        except BaseException as error:
            return None, error

    value, error = await in_thread(body)
    if error is not None:
        if isinstance(error, KeyboardInterrupt):
            raise StopRun from error
        if isinstance(error, Exception):
            raise error
        raise RobotLabError(f"a function ended with {type(error).__name__}") from error
    return await value if inspect.isawaitable(value) else value


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two contexts as one: dicts are merged, of anything else the second one's stands.

    Examples
    --------
    >>> merged({"a": {"x": 1, "y": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})
    {'a': {'x': 1, 'y': 2}, 'b': [2]}
    """
    out = dict(first)
    for key, value in second.items():
        known = out.get(key)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            value = merged(known, value)
        out[key] = value
    return out
