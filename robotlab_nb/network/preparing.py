"""From a message to a network's run: everything that can be checked before a request is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig, options
from ..core.errors import InputError
from ..core.messages import Message
from ..robot.in_force import BUDGETS, chain, handlers_of
from ..runtime.loop import loop_is_running
from ..runtime.recording import stamps
from ..runtime.run import Run
from .flow import Left
from .groups import Caps, checked_concurrency
from .nesting import check_members
from .result import NetworkResult
from .scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..robot.in_force import Level
    from .network import Network
    from .planning import Earlier

__all__ = ["make_run"]


def make_run(
    network: Network,
    message: Any,
    *,
    context: Mapping[str, Any] | None,
    concurrency: int | None,
    memory: Any,
    config: RunConfig | Mapping[str, Any] | None,
    detached: bool,
    blocking: bool,
    above: tuple[Level, ...],
    label: str | None,
    earlier: Earlier | None = None,
) -> Run[NetworkResult]:
    """Make the run of a network; parameters as for :meth:`Network.prepare`.

    ``earlier`` is what it goes on from.
    """
    graph = network.validate()
    settings = network.config
    levels = [settings]
    if config is not None:
        levels.append(RunConfig.of(config))
        settings = settings.merge(levels[1])
    above = (*above, *_cascading(levels))
    text = _text(message, network.name)
    check_members(network, may_use_caller=not blocking and loop_is_running())
    scheduler = Scheduler(
        graph,
        network.tasks,
        message=text,
        context=dict(context or {}),
        concurrency=checked_concurrency(concurrency or network.concurrency),
        config=settings,
        about={**_about(context), **stamps(_in_force(above))},
        above=above,
        hooks=chain(handlers_of([*options.levels(), *above])),
    )

    if earlier is not None:
        from .planning import plan

        scheduler.go_on(plan(earlier, graph, scheduler.tasks, scheduler.above))

    def finish(run: Run[NetworkResult]) -> NetworkResult:
        return NetworkResult(
            run.state, run.events, scheduler.results, graph.sinks, values=run.values, run=run,
            left=Left(scheduler.context, scheduler.flows),
        )  # fmt: skip

    run = Run(
        network.name, "network", scheduler.work, finish, label=label, detached=detached,
        keep_failed=True,
    )  # fmt: skip
    _put_on_tape(run, _in_force(above).get("tape"))
    _charge(run, network, config)
    _share(run, network, memory)
    most = settings.get("max_concurrent_robots")
    if most is None and not run.caps:
        most = options.max_concurrent_robots
    if run.caps or most is not None or network.group_caps:
        scheduler.caps = Caps(run, scheduler.concurrency, most, network.group_caps)
    _let_ask(run, settings)
    return run


def _put_on_tape(run: Run[Any], tape: Any) -> None:
    """Have the run's times recorded, or shown as they were, where there is a tape."""
    if tape is not None:
        from ..models.tape_times import on_tape

        on_tape(run, tape)


def _let_ask(run: Run[Any], settings: Mapping[str, Any]) -> None:
    """Tell the run how a person is asked, where that was said: else as the run around it."""
    if settings.get("answers") is not None:
        run.answers = settings["answers"]
    if "ask_timeout" in settings:
        run.ask_timeout = settings["ask_timeout"]


def _about(context: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"context": sorted(map(str, context))} if context else {}


def _in_force(above: Iterable[Level]) -> dict[str, Any]:
    """The settings of the network's own run: of the levels around it, and of its own."""
    found: dict[str, Any] = {}
    for _, level in (*options.levels(), *above):
        found.update(level)
    return found


def _cascading(levels: Sequence[RunConfig]) -> Iterable[Level]:
    """What holds for robots inside. Budgets are the network's own: its run has them."""
    for level in levels:
        kept = {k: v for k, v in level.items() if k not in BUDGETS}
        if kept:
            yield ("network", kept)


def _charge(run: Run[Any], network: Network, config: RunConfig | Mapping[str, Any] | None) -> None:
    """Have the run charged to the network's budgets, and to those of this run alone."""
    own = network.budgets
    if config is not None:
        from ..runtime.budgets import budgets_of

        own = (*own, *budgets_of(RunConfig.of(config), f"this run of {network.name}"))
    if own:
        run.budgets = (*run.budgets, *own)


def _share(run: Run[Any], network: Network, memory: Any) -> None:
    """Give the run its memory: what it was given, else the network's own."""
    if memory is None:
        run.memory = network.memory
        return
    from ..memory.sharing import memory_of

    run.memory = memory_of(memory, network.memory, f"this run of {network.name}")


def _text(message: Any, name: str) -> str:
    text = message.text if isinstance(message, Message) else message
    if isinstance(text, str) and text.strip():
        return text
    raise InputError(
        f"network {name!r} was given nothing to work on: the message is {message!r:.60}",
        hint="Pass a text, for example net.run('I was charged twice').",
    )
