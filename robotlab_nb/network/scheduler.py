"""Carrying a network out: each task starts when its own dependencies are done and a slot is free.

One coroutine steps the graph and reacts to tasks as they end. There are no levels and no
recursion; a failing task ends nothing but what depends on it. How one task is done is
:mod:`.doing`'s.
"""

from __future__ import annotations

import functools
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError, describe_error, unwrap
from ..core.events import Scope
from ..runtime.stillness import task_waits
from ..runtime.stop import StopRun
from ..runtime.strand import enter_strand
from ..tools.failing import traceback_text
from .doing import WAYS, Doing, holds, merged
from .fingerprints import fingerprint
from .flow import FlowResult
from .result import NetworkFailed, TaskResult, as_result
from .routing import routes_of
from .stepping import FINISHED, Happening, States, advance
from .trying import tried
from .upstream import Upstream

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from ..core.config import RunConfig
    from ..robot.in_force import Level
    from ..runtime.hook_chain import Chain
    from ..runtime.run import Run
    from ..runtime.seats import Seat
    from .graph import Graph, Node
    from .groups import Caps
    from .restoring import Restored
    from .stepping import Change
    from .task import Task

__all__ = ["Scheduler"]

HALTED = "the network was halted"
NOTHING: frozenset[str] = frozenset()


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
        Most tasks at the same time; a person's do not count.
    config : RunConfig
        The network's settings, those of this run included.
    about : mapping
        More fields of the ``run.started`` event.
    above : sequence of Level
        Settings for its robots, weaker than their own: of the networks around it, then its own.
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
        above: tuple[Level, ...] = (),
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
        self.above = above
        self.states = States.begin(graph)
        #: results by task name: RobotResult or TaskResult, failed ones included
        self.results: dict[str, Any] = {}
        #: what tasks gave back as a FlowResult, by name
        self.flows: dict[str, FlowResult] = {}
        #: what limits the robots, where something does; made when the run begins
        self.caps: Caps | None = None
        self._given = NOTHING
        self._labels: dict[str, frozenset[str]] = {}
        self._ready: deque[tuple[str, float]] = deque()
        #: tasks that wait for a slot under caps, and those that have one
        self._queued: dict[str, tuple[Seat, float]] = {}
        self._seated: deque[str] = deque()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._busy = 0
        self._ended: deque[Happening] = deque()
        self._stop: BaseException | None = None
        #: whether a task has said that nothing new is to start
        self._halts = False
        #: what an earlier run had finished, where this one goes on from it
        self.before: Restored | None = None
        self.run: Run[Any]

    def go_on(self, before: Restored) -> None:
        """Keep what an earlier run had finished. Said before the work begins."""
        self.before = before
        self.about = {**self.about, "resumed_from": before.run_id}
        kept = {name: task.status for name, task in before.kept.items()}
        self.states = States.begin(
            self.graph, kept, activated=before.activated, halted=before.halted
        )
        for name, task in before.kept.items():
            if task.result is not None:
                self.results[name] = task.result
            if task.flow is not None:
                self.flows[name] = task.flow
            if task.labels:
                self._labels[name] = frozenset(task.labels)

    async def work(self, run: Run[Any]) -> None:
        """Carry the network out. The run is settled by its caller."""
        import asyncio

        self.run = run
        self._given = run.labels_seen
        self._wake = asyncio.Event()
        nodes = self.graph.nodes
        run.started(
            {
                "name": run.name,
                "input": self.message,
                "graph": [self._declared(t, nodes[t.name]) for t in self.tasks.values()],
                **self.about,
            }
        )
        if self.before is not None:
            self._restore(self.before)
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
            with task_waits():
                await self._wake.wait()
            self._wake.clear()
            if self._stop is not None:
                raise self._stop
            while self._ended:
                self._take(advance(self.graph, self.states, self._ended.popleft()))

    def _take(self, change: Change) -> None:
        halts = change.halted and not self.states.halted
        self.states.apply(change)
        for name, status, why in change.settled:
            self._emit("task.settled", name, {"status": status, "reason": why})
        now = monotonic()
        self._ready.extend((name, now) for name in change.start)
        if halts:
            self._turn_away()

    def _turn_away(self) -> None:
        """Settle tasks that were ready and have not begun: the network was halted."""
        for seat, _ in self._queued.values():
            seat.close()
        for name in [*self._queued, *(name for name, _ in self._ready)]:
            self._emit("task.settled", name, {"status": "halted", "reason": HALTED})
            self._ended.append(Happening("ended", name, "halted"))
        self._queued.clear()
        self._seated.clear()
        self._ready.clear()
        self._wake.set()

    # -- slots -----------------------------------------------------------------------------

    def _start_ready(self) -> None:
        """Start what is ready, as far as there are slots."""
        if self.caps is not None:
            self._queue_ready(self.caps)
            return
        while self._ready:
            human = self.tasks[self._ready[0][0]].way == "human"
            if self._busy >= self.concurrency and not human:
                return
            self._start(*self._ready.popleft())

    def _queue_ready(self, caps: Caps) -> None:
        """Have what is ready wait for its slots, and start what has got them."""
        import asyncio

        loop = asyncio.get_running_loop()
        while self._ready:
            name, since = self._ready.popleft()
            seat = caps.seat(self.run, self.tasks[name])
            self._queued[name] = (seat, since)
            wake = functools.partial(loop.call_soon_threadsafe, self._has_seat, name)
            if seat.ask(wake, fresh=True):
                self._seated.append(name)
        while self._seated:
            name = self._seated.popleft()
            found = self._queued.pop(name, None)
            if found is not None:
                self._start(name, found[1], found[0])

    def _has_seat(self, name: str) -> None:
        self._seated.append(name)
        self._wake.set()

    def _start(self, name: str, since: float, seat: Seat | None = None) -> None:
        import asyncio

        task = self.tasks[name]
        self._busy += task.way != "human"
        doing = Doing(self, task, since, seat)
        self._running[name] = asyncio.get_running_loop().create_task(self._do(doing))

    async def _end_all(self) -> None:
        """Cancel what runs, wait a moment for it, and settle the rest."""
        import asyncio

        for seat, _ in self._queued.values():
            seat.close()
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

    async def _do(self, doing: Doing) -> None:
        """Do one task and tell how it ended. Raises nothing."""
        import asyncio

        task = doing.task
        happening = Happening("ended", task.name, "failed")
        enter_strand(doing.strand)
        try:
            happening = await self._attempt(doing)
        except asyncio.CancelledError:
            happening = Happening("ended", task.name, "interrupted")
            self._emit("task.settled", task.name, {"status": "interrupted", "reason": "stopped"})
        except (StopRun, KeyboardInterrupt) as stop:
            self._stop = stop if isinstance(stop, StopRun) else StopRun()
        except Exception as error:
            self._failed(task, unwrap(error))
        finally:
            del self._running[task.name]
            self._busy -= task.way != "human"
            if doing.seat is not None:
                doing.seat.close()
            if doing.strand.labels:
                self._labels[task.name] = doing.strand.labels
                self.run.on_read(doing.strand.labels)
            doing.strand.runs.clear()  # they know the strand, and only the collector would see it
            self._ended.append(happening)
            self._wake.set()

    async def _attempt(self, doing: Doing) -> Happening:
        task = doing.task
        self._equip(doing)
        if task.when is not None and not await holds(doing):
            self._emit(
                "task.settled", task.name, {"status": "skipped", "reason": "its condition is false"}
            )
            return Happening("ended", task.name, "skipped")
        if self.hooks is not None and "task" in self.hooks.families:
            from .hooked import hooked_task

            core = functools.partial(tried, doing, WAYS[task.plan])
            result = await hooked_task(self, self.hooks, task, core)
        else:
            result = await tried(doing, WAYS[task.plan])
        said: FlowResult | None = None
        if isinstance(result, FlowResult):
            said, result = result, as_result(task.name, result.value)
        activate = routes_of(doing, result, said)
        self.results[task.name] = result
        if said is not None:
            self.flows[task.name] = said
        halts = said is not None and said.halted and not self._halts
        self._halts |= halts
        self._completed(doing, result, activate, said, halts=halts)
        return Happening("ended", task.name, "completed", activate, halts)

    def _equip(self, doing: Doing) -> None:
        """Give a task what it works with: results before it, context, memory, caps, labels."""
        task, strand = doing.task, doing.strand
        deps = self.graph.nodes[task.name].depends_on
        status = self.states.status
        done = {n: self.results[n] for n in deps if status[n] in FINISHED}
        routers = NOTHING
        if self.graph.may_activate:
            routers = frozenset([n for n in done if self.tasks[n].route is not None])
        doing.upstream = Upstream(done, routers=routers, known=deps)
        if task.context:
            doing.context = merged(self.context, task.context)
        if self.caps is not None and task.poller_group is not None:
            strand.caps = self.caps.of(self.run, task.poller_group)
        if task.memory is not None:
            from ..memory.sharing import memory_of

            strand.memory = memory_of(task.memory, strand.memory, f"task {task.name!r}")
        if self._labels or self._given:
            strand.labels = self._given.union(*(self._labels.get(n, ()) for n in deps))

    # -- events ----------------------------------------------------------------------------

    def _declared(self, task: Task, node: Node) -> dict[str, Any]:
        told = {**task.declared(node), "fingerprint": fingerprint(task, node, self.above)}
        cap = None if self.caps is None else self.caps.groups.get(task.poller_group or "")
        return told if cap is None else {**told, "group_cap": cap.limit}

    def _restore(self, before: Restored) -> None:
        """Record what is kept of an earlier run."""
        for name, kept in before.kept.items():
            self._emit(kept.type, name, kept.data)
        self.run.values.update(before.values)

    def _emit(self, type_: str, name: str, data: dict[str, Any]) -> None:
        run = self.run
        scope = Scope(
            run.id, run.scope.root_id, run.scope.parent_id, run.scope.depth, "task",
            (*run.scope.path, name), self.tasks[name].robot_name,
        )  # fmt: skip
        run.emit(type_, {"task": name, **data}, scope)

    def started(self, task: Task, since: float, more: dict[str, Any]) -> None:
        """Record that a task begins."""
        data: dict[str, Any] = {"kind": task.kind, "waited_s": monotonic() - since, **more}
        if task.is_robot:
            data["robot"] = task.robot_name
        if task.poller_group is not None:
            data["group"] = task.poller_group
        if self.before is not None and task.name in self.before.begun:
            data["possibly_repeated"] = True
        self._emit("task.started", task.name, data)

    def _completed(
        self,
        doing: Doing,
        result: Any,
        activate: tuple[str, ...],
        said: FlowResult | None,
        *,
        halts: bool,
    ) -> None:
        from .telling import completed

        data = completed(doing, result, activate, said, halts=halts)
        if data.get("live") and isinstance(result, TaskResult):
            self.run.values[doing.task.name] = result.value
        self._emit("task.completed", doing.task.name, data)

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
