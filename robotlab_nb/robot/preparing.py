"""From a question to a run: everything that can be checked before a request is checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.messages import Message
from ..runtime.loop import loop_is_running
from ..runtime.run import Run
from ..runtime.strand import current_strand
from ..runtime.working import current_work
from ..tools.call import check_callable
from ..tools.selection import cap
from .conversation import as_question
from .in_force import BUDGETS, chain, in_force, model_params
from .prompting import prompt_of
from .turn import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.config import Effective
    from ..models.protocol import Model
    from ..tools.decorator import ToolManifest
    from .conversation import Conversation
    from .in_force import InForce, Level
    from .result import RobotResult
    from .resuming import Earlier
    from .robot import Robot
    from .structured import Shape

__all__ = ["make_run"]


def make_run(
    robot: Robot[Any],
    message: Any,
    level: Mapping[str, Any],
    *,
    context: Mapping[str, Any] | None,
    attachments: Sequence[Any],
    memory: Any = None,
    detached: bool,
    blocking: bool,
    origin: str,
    above: Sequence[Level],
    label: str | None,
    keep: bool | Conversation,
    delegated_by: str | None,
    earlier: Earlier | None = None,
) -> Run[RobotResult[Any]]:
    """Make the run of a robot; parameters as for :meth:`Robot.prepare`.

    ``earlier`` is a turn that it goes on with.
    """
    strand = current_strand(current_work())
    if strand is not None and strand.level is not None and strand.level[0] is robot:
        above, label, keep = strand.level[1:]  # its own step of a network: the task's run
    found, composition = robot.look()
    if level or above:
        found = in_force((*above, *robot.levels(composition), (origin, level)))
        found = found._replace(tools=robot.owned(found.tools))
    effective, model, tools, fallbacks, handlers, _, servers = found
    values = effective.values_
    tools = cap(tools, values["max_tools"], values["tool_strategy"])
    question = _question(message, attachments, robot.name)
    _check(found, tools, robot.name, blocking)
    shape = _shape(values, model, tools.names, fallbacks) if values["output"] is not None else None
    whole = {**robot.build_context(), **(context or {})} if context or robot._context else {}
    prompt = None
    if composition or shape or robot._learnings or values["learnings"] or values["agent_skills"]:
        prompt = prompt_of(robot, composition, whole, values, shape)
    turn = (Turn if earlier is None else earlier.turn)(
        robot,
        question,
        model=model,
        tools=tools,
        effective=effective,
        system=robot._system if prompt is None else prompt.message(),
        params=model_params(values),
        context=whole,
        conversation=_conversation(robot, values) if keep is True else keep or None,
        about=_about(whole, shape, delegated_by) if whole or shape or delegated_by else {},
        prompt=prompt, fallbacks=fallbacks, hooks=chain(handlers), shape=shape, servers=servers,
    )  # fmt: skip
    run = Run(
        robot.name, "robot", turn.work, turn.finish,
        robot=robot.name, label=label, detached=detached,
    )  # fmt: skip
    if found.budgeted:
        _charge(run, robot, level)
    if memory is not None or robot._memory is not None or tools.wants_memory:
        _share(run, robot, memory)
    return _let_ask(run, effective, shape)


def _conversation(robot: Robot[Any], values: Mapping[str, Any]) -> Conversation:
    """Where the turn goes on: in the conversation of the session that it belongs to."""
    session_id = values["session_id"]
    if session_id is None:
        return robot._own
    from .sessions import conversation_of

    return conversation_of(robot, session_id)


def _check(found: InForce, tools: ToolManifest, name: str, blocking: bool) -> None:
    """Raise for what could not be asked or called."""
    if found.effective.values_["tape"] is None:  # what is played needs no key
        for one in (found.model, *found.fallbacks):
            one.check()
    strategy = found.effective.values_["auto_compact"]
    if strategy:
        _check_strategy(strategy, name)
    check_callable(tools, may_use_caller=not blocking and loop_is_running())


def _share(run: Run[Any], robot: Robot[Any], memory: Any) -> None:
    """Give the run its memory: what it was given, else the network's, else the robot's own."""
    from ..memory.sharing import memory_of

    around = robot.memory if run.memory is None else run.memory
    run.memory = memory_of(memory, around, f"this run of {robot.name}")
    shared = run.memory

    def keep() -> None:
        if run.has_result:
            shared.append_result(run.outcome())

    run.when_done(keep)


def _let_ask(run: Run[Any], effective: Effective, shape: Shape | None) -> Run[Any]:
    """Tell the run how a person is asked, where that was said, how its answer is read, and which
    tape has its times.
    """
    if "answers" in effective.origins and effective.values_["answers"] is not None:
        run.answers = effective.values_["answers"]
    if "ask_timeout" in effective.origins:
        run.ask_timeout = effective.values_["ask_timeout"]
    run.partial = shape.partial if shape is not None else None
    if effective.values_["tape"] is not None:
        from ..models.tape_times import on_tape

        on_tape(run, effective.values_["tape"])
    return run


def _shape(
    values: Mapping[str, Any], model: Model, tools: Sequence[str], fallbacks: Sequence[Model]
) -> Shape | None:
    """What the answer must be."""
    from .structured import shape_of

    return shape_of(values["output"], values, model, tools=tools, fallbacks=fallbacks)


def _check_strategy(strategy: Any, name: str) -> None:
    """Raise when ``auto_compact`` says nothing that can be done."""
    if strategy is True or strategy == "context_window" or callable(strategy):
        return
    raise ConfigurationError(
        f"robot {name!r}: auto_compact={strategy!r} has no meaning",
        hint='Use True (or "context_window"), or a function of the messages.',
    )


def _charge(run: Run[Any], robot: Robot[Any], level: Mapping[str, Any]) -> None:
    """Have the run's calls charged to the robot's budgets, and to those of this run alone."""
    own = robot.budgets
    if any(level.get(name) is not None for name in BUDGETS):
        from ..runtime.budgets import budgets_of

        own = (*own, *budgets_of(level, f"this run of {robot.name}"))
    if own:
        run.budgets = (*run.budgets, *own)


def _question(message: Any, attachments: Any, name: str) -> Message:
    """What the robot is asked, with what belongs to it."""
    if attachments is None or (isinstance(attachments, (list, tuple)) and not attachments):
        return as_question(message, name)
    from .attachments import as_parts

    parts = as_parts(attachments)
    if message is None:
        return Message("user", parts)
    return Message("user", [*as_question(message, name).parts, *parts])


def _about(
    context: Mapping[str, Any], shape: Shape | None, delegated_by: str | None
) -> dict[str, Any]:
    about: dict[str, Any] = {"context": sorted(map(str, context))} if context else {}
    if shape is not None:
        about["output"] = shape.written
    if delegated_by is not None:
        about["delegated_by"] = delegated_by
    return about
