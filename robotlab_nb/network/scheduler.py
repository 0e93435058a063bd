"""Carrying a network out: each task starts when its own dependencies are done and a slot is free.

One coroutine steps the graph and reacts to tasks as they end. There are no levels and no
recursion; a failing task ends nothing but what depends on it.
"""

from __future__ import annotations

import functools
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError, describe_error, near, unwrap
from ..core.events import Scope
from ..robot.in_force import BUDGETS, run_level
from ..runtime.stop import StopRun
from ..runtime.threads import in_thread
from ..tools.failing import traceback_text
from .result import NetworkFailed, TaskResult
from .stepping import FINISHED, Happening, States, advance
from .upstream import Upstream

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from ..core.config import RunConfig
    from ..robot.in_force import Level
    from ..runtime.hook_chain import Chain
    from ..runtime.run import Run
    from .graph import Graph
    from .stepping import Change
    from .task import Task

__all__ = ["Scheduler"]


class Scheduler:
    """One run of a network.

    Parameters
    ----------
    graph : Graph
    tasks : mapping of str to Task
    message : str
        The original message.
    context : mapping
        The run's values for prompts, functions and tools.
    concurrency : int
        Most tasks at the same time.
    config : RunConfig
        Settings for all robots of the network, weaker than their own.
    hooks : Chain or None
        Handlers around the network's run and its tasks.
    """

    def __init__(
        self,
        graph: Graph,
        tasks: Mapping[str, Task],
        *,
        message: str,
        context: Mapping[str, Any],
        concurrency: int,
        config: RunConfig,
        about: Mapping[str, Any],
        hooks: Chain | None = None,
    ) -> None:
        self.graph = graph
        self.tasks = tasks
        self.message = message
        self.context = context
        self.concurrency = concurrency
        self.config = config
        self.about = about
        self.hooks = hooks
        # Budgets are the network's own: its run has them, and so have all runs inside it.
        cascading = {k: v for k, v in config.items() if k not in BUDGETS}
        self.above: tuple[Level, ...] = (("network", cascading),) if cascading else ()
        self.states = States.begin(graph)
        #: results by task name: RobotResult or TaskResult, failed ones included
        self.results: dict[str, Any] = {}
        self._ready: deque[tuple[str, float]] = deque()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._ended: deque[Happening] = deque()
        self._stop: BaseException | None = None
        self.run: Run[Any]

    async def work(self, run: Run[Any]) -> None:
        """Carry the network out. The run is settled by its caller."""
        import asyncio

        self.run = run
        self._wake = asyncio.Event()
        run.started(
            {
                "name": run.name,
                "input": self.message,
                "graph": [t.declared() for t in self.tasks.values()],
                **self.about,
            }
        )
        try:
            if self.hooks is not None and "network_run" in self.hooks.families:
                from .hooked import hooked_network

                await hooked_network(self, self.hooks)
            else:
                await self.step_through()
        except BaseException:
            await self._end_all()
            raise
        failed = [n for n, s in self.states.status.items() if s == "failed"]
        fatal = [n for n in failed if self.tasks[n].on_failure != "continue"]
        if fatal:
            raise NetworkFailed(run.name, {n: self.run.state.tasks[n].error for n in fatal})

    async def step_through(self) -> None:
        """Start what is ready and react to what ends, until nothing is left."""
        self._take(advance(self.graph, self.states, Happening("begin")))
        while self.states.left:
            self._start_ready()
            await self._wake.wait()
            self._wake.clear()
            if self._stop is not None:
                raise self._stop
            while self._ended:
                self._take(advance(self.graph, self.states, self._ended.popleft()))

    def _take(self, change: Change) -> None:
        self.states.apply(change)
        for name, status, why in change.settled:
            self._emit("task.settled", name, {"status": status, "reason": why})
        now = monotonic()
        self._ready.extend((name, now) for name in change.start)

    def _start_ready(self) -> None:
        import asyncio

        loop = asyncio.get_running_loop()
        while self._ready and len(self._running) < self.concurrency:
            name, since = self._ready.popleft()
            self._running[name] = loop.create_task(self._do(name, since))

    async def _end_all(self) -> None:
        """Cancel what runs, wait a moment for it, and settle the rest."""
        import asyncio

        running = list(self._running.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=2.0)
        for name, found in self.run.state.tasks.items():
            if found.status in ("pending", "running"):
                why = "the run was stopped"
                self._emit("task.settled", name, {"status": "interrupted", "reason": why})

    # -- one task --------------------------------------------------------------------------

    async def _do(self, name: str, since: float) -> None:
        """Do one task and tell how it ended. Raises nothing."""
        import asyncio

        task = self.tasks[name]
        happening = Happening("ended", name, "failed")
        try:
            happening = await self._attempt(task, since)
        except asyncio.CancelledError:
            happening = Happening("ended", name, "interrupted")
            self._emit("task.settled", name, {"status": "interrupted", "reason": "stopped"})
        except (StopRun, KeyboardInterrupt) as stop:
            self._stop = stop if isinstance(stop, StopRun) else StopRun()
        except Exception as error:
            self._failed(task, unwrap(error))
        finally:
            del self._running[name]
            self._ended.append(happening)
            self._wake.set()

    async def _attempt(self, task: Task, since: float) -> Happening:
        upstream = self._upstream(task)
        context = {**self.context, **task.context} if task.context else self.context
        if task.when is not None and not await self._holds(task, upstream, context):
            self._emit(
                "task.settled", task.name, {"status": "skipped", "reason": "its condition is false"}
            )
            return Happening("ended", task.name, "skipped")
        if self.hooks is not None and "task" in self.hooks.families:
            from .hooked import hooked_task

            core = functools.partial(self._result, task, upstream, context, since)
            result = await hooked_task(self, self.hooks, task, core)
        else:
            result = await self._result(task, upstream, context, since)
        self.results[task.name] = result
        activate = self._routes(task, result)
        self._completed(task, result, activate)
        return Happening("ended", task.name, "completed", activate)

    async def _result(
        self, task: Task, upstream: Upstream, context: Mapping[str, Any], since: float
    ) -> Any:
        do = self._ask if task.is_robot else self._call
        return await do(task, upstream, context, since)

    def _upstream(self, task: Task) -> Upstream:
        status = self.states.status
        done = {n: self.results[n] for n in task.depends_on if status[n] in FINISHED}
        routers = frozenset(n for n in done if self.tasks[n].route is not None)
        return Upstream(done, routers=routers, known=task.depends_on)

    async def _holds(self, task: Task, upstream: Upstream, context: Mapping[str, Any]) -> bool:
        found = await _called(
            task.when, task.arguments("when", self.message, upstream, dict(context))
        )
        if not isinstance(found, bool):
            raise ConfigurationError(
                f"task {task.name!r}: when= returned {found!r:.60}",
                hint="It returns True or False.",
            )
        return found

    async def _ask(
        self, task: Task, upstream: Upstream, context: Mapping[str, Any], since: float
    ) -> Any:
        prompt = task.text_for(self.message, upstream, context)
        run = task.runner.prepare(
            prompt, run_level(task.tools, task.config), context=context, origin="task",
            above=self.above, label=task.name, keep=False,
        )  # fmt: skip
        self.started(task, since, {"robot": task.robot_name, "child_run_id": run.id})
        try:
            return await run.perform()
        except Exception:
            # What the robot did before it failed stays readable by the task's name.
            self.results[task.name] = run.so_far()
            raise

    async def _call(
        self, task: Task, upstream: Upstream, context: Mapping[str, Any], since: float
    ) -> TaskResult:
        self.started(task, since, {})
        value = await _called(
            task.runner, task.arguments("runner", self.message, upstream, dict(context))
        )
        return TaskResult(task.name, value)

    def _routes(self, task: Task, result: Any) -> tuple[str, ...]:
        """The optional tasks that a task's result activates."""
        if task.route is None:
            return ()
        found = task.route(result)
        names = [found] if isinstance(found, str) else list(found or ())
        allowed = self.graph.may_activate[task.name]
        if all(n in allowed for n in names):
            return tuple(names)
        if task.fallback is not None:
            return (task.fallback,)
        wrong = next(n for n in names if n not in allowed)
        listed = ", ".join(map(repr, allowed)) or "none"
        raise ConfigurationError(
            f"task {task.name!r} routes to {wrong!r:.80}, which is no optional task after it",
            hint=f"{near(str(wrong), allowed)} Possible: {listed}. Or give it a fallback=.",
        )

    # -- events ----------------------------------------------------------------------------

    def _emit(self, type_: str, name: str, data: dict[str, Any]) -> None:
        run = self.run
        scope = Scope(
            run.id, run.scope.root_id, run.scope.parent_id, run.scope.depth, "task",
            (*run.scope.path, name), self.tasks[name].robot_name,
        )  # fmt: skip
        run.emit(type_, {"task": name, **data}, scope)

    def started(self, task: Task, since: float, more: dict[str, Any]) -> None:
        """Record that a task begins."""
        kind = "robot" if task.is_robot else "function"
        self._emit(
            "task.started", task.name, {"kind": kind, "waited_s": monotonic() - since, **more}
        )

    def _completed(self, task: Task, result: Any, activate: tuple[str, ...]) -> None:
        data: dict[str, Any] = {"text": str(result)}
        if isinstance(result, TaskResult):
            from ..tools.preview import preview

            seen = preview(result.value)
            data["result"] = seen.data
            if seen.lossy:
                self.run.values[task.name] = result.value
        if task.route is not None:
            data["activate"] = list(activate)
        self._emit("task.completed", task.name, data)

    def _failed(self, task: Task, error: Exception) -> None:
        data: dict[str, Any] = {"error": describe_error(error)}
        if not isinstance(error, RobotLabError):
            data["traceback"] = traceback_text(error)
        if isinstance(error, RobotLabError):
            error.task = task.name
        if self.run.state.tasks[task.name].started_s is None:
            self.started(task, monotonic(), {})
        if task.name not in self.results:
            self.results[task.name] = TaskResult(task.name, None, status="failed", error=error)
        self._emit("task.failed", task.name, data)


async def _called(function: Any, arguments: Mapping[str, Any]) -> Any:
    """Call a person's function: async on this loop, sync in a worker thread."""
    import inspect

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
