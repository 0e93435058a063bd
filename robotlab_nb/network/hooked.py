"""A network within its handlers: around the whole run, and around each task."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..runtime.hook_chain import HookContext
from .flow import FlowResult
from .result import TaskResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..runtime.hook_chain import Chain
    from .scheduler import Scheduler
    from .task import Task

__all__ = ["hooked_network", "hooked_task"]


async def hooked_network(scheduler: Scheduler, hooks: Chain) -> None:
    """Carry a network out within its handlers, which may change the run's context."""
    run = scheduler.run
    context = HookContext(
        "network_run", run=run, network=run.name, config=scheduler.config,
        context=dict(scheduler.context), memory=run.memory,
    )  # fmt: skip

    async def core() -> Any:
        scheduler.context = context.context
        await scheduler.step_through()
        return scheduler.results

    if await hooks.around(context, core, run) is not scheduler.results:
        raise ConfigurationError(
            f"a handler gave network {run.name!r} another result",
            hint="A network's result is what its tasks did; change a task's result instead.",
        )


async def hooked_task(
    scheduler: Scheduler, hooks: Chain, task: Task, core: Callable[[], Awaitable[Any]]
) -> Any:
    """Do a task within its handlers, which may give a result of their own."""
    context = HookContext(
        "task", run=scheduler.run, network=scheduler.run.name, task=task, task_name=task.name,
        robot=task.runner if task.is_robot else None, config=scheduler.config,
        memory=scheduler.run.memory,
    )  # fmt: skip
    done: list[Any] = []

    async def kept() -> Any:
        done.append(await core())
        return done[-1]

    given = await hooks.around(context, kept, scheduler.run)
    if done and given is done[-1]:
        return given
    if not done:  # a handler did the task by itself
        scheduler.started(task, monotonic(), {})
    return given if isinstance(given, (TaskResult, FlowResult)) else TaskResult(task.name, given)
