"""What a message would make a robot or a network send, without sending it.

Nothing is asked, charged, recorded or run: no model, no tool, no handler, no command of a template.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig
from ..core.errors import ConfigurationError
from ..core.messages import Message
from ..core.readings import Pictured
from ..models.costs import cost_of
from ..models.prices import context_window
from ..models.protocol import Request, ToolSpec
from ..models.tokens import estimate_input
from ..network.upstream import Upstream
from ..robot.in_force import BUDGETS, in_force, model_params, run_level
from ..robot.prompting import Part, prompt_of
from ..tools.selection import cap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..network.network import Network
    from ..network.task import Task
    from ..robot.in_force import Level
    from ..robot.robot import Robot

__all__ = ["DryRun", "DryTask", "dry_network", "dry_robot"]


@dataclass(frozen=True, repr=False)
class DryRun(Pictured):
    """What would be sent, and to whom.

    Attributes
    ----------
    name, kind : str
        Of the ``robot`` or ``network``.
    message : str
        What it would be told, filled in.
    model : str or None
        The model that would be asked; None for a network, see ``tasks``.
    simulated : bool
        Whether all its answers would be made up.
    messages : tuple of Message
        The whole prompt of the first request: system message, conversation, message.
    tools : tuple of ToolSpec
        As the model is told of them.
    params : dict
        Sampling parameters that are set.
    tokens : int
        What the first request has, estimated; for a network: those of the tasks that come first.
    cost_usd : float or None
        What reading these costs in US dollars, estimated; None where no price is known.
    window : int or None
        How many tokens the model reads at most.
    notes : tuple of str
        What may still be added or changed when it is really sent.
    refused : str or None
        Why a run would be refused before any request.
    tasks : tuple of DryTask
        Of a network.
    """

    name: str
    kind: str
    message: str
    model: str | None = None
    simulated: bool = False
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    cost_usd: float | None = None
    window: int | None = None
    notes: tuple[str, ...] = ()
    refused: str | None = None
    tasks: tuple[DryTask, ...] = ()

    @property
    def system(self) -> str:
        """The system message; empty where there is none."""
        first = self.messages[0] if self.messages else None
        return first.text if first is not None and first.role == "system" else ""


@dataclass(frozen=True)
class DryTask:
    """A task of a network: who does it, after which tasks, and what it would be asked first of all.

    Attributes
    ----------
    name, kind, runner : str
        ``runner`` is the name of the robot, function, network or person.
    after : tuple of str
    optional : bool
    prompt : str or None
        The template of its prompt, where it has one and waits for other tasks.
    asks : DryRun or None
        What would be sent, for a robot that waits for nobody.
    """

    name: str
    kind: str
    runner: str
    after: tuple[str, ...] = ()
    optional: bool = False
    prompt: str | None = None
    asks: DryRun | None = None


def dry_robot(
    robot: Robot[Any],
    message: str,
    *,
    level: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    attachments: Sequence[Any] = (),
    above: Sequence[Level] = (),
    origin: str = "run",
    keep: bool = True,
) -> DryRun:
    """What a robot would send for a message.

    Parameters
    ----------
    robot : Robot
    message : str
    level : mapping, optional
        What the run sets.
    context : mapping, optional
        Values for its templates.
    attachments : sequence, optional
    above : sequence of Level, optional
        Levels weaker than the robot's own: a network's.
    origin : str, optional
        Who sets ``level``.
    keep : bool, optional
        Whether its conversation comes before the message.

    Returns
    -------
    DryRun

    Raises
    ------
    ConfigurationError, InputError
        When there is nothing that could be sent: a template lacks a value, a tool is unknown.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> dry = dry_robot(rl.build("poet", system_prompt="Rhyme."), "A poem on rain")
    >>> [m.text for m in dry.messages], dry.model, dry.tokens
    (['Rhyme.', 'A poem on rain'], 'simulated/rules', 14)
    """
    level = dict(level or {})
    found, composition = robot.look()
    if level or above:
        found = in_force((*above, *robot.levels(composition), (origin, level)))
    values, model = found.effective.values_, found.model
    tools = cap(found.tools, values["max_tools"], values["tool_strategy"])
    shape = None
    if values["output"] is not None:
        from ..robot.structured import shape_of

        shape = shape_of(
            values["output"], values, model, tools=tools.names, fallbacks=found.fallbacks
        )
    whole = {**robot.build_context(), **(context or {})}
    prompt = prompt_of(robot, composition, whole, values, shape)
    notes = list(_notes(robot, prompt, values, found.hooks))
    system = Message("system", _system(prompt, composition, whole, robot)) if _has(prompt) else None
    asked = _asked(message, attachments)
    before = robot._conversation.messages if keep else ()
    request = Request(
        tuple(m for m in (system, *before, asked) if m is not None),
        tools.specs, model_params(values),
    )  # fmt: skip
    told = tools.specs
    if shape is not None:
        shape.apply(request)
        told = (*told, shape.tool) if shape.tool is not None else told
        notes.append(f"the answer must be {shape.name}, by {shape.spec.mode}")
    if found.servers is not None:
        named = ", ".join(found.servers.names)
        notes.append(f"tools of servers come besides, which are not asked now: {named}")
    tokens = estimate_input(request.messages, told)
    return DryRun(
        robot.name, "robot", message, model.name, model.simulated, request.messages, told,
        request.params, tokens, cost_of(model, {"input_tokens": tokens, "output_tokens": 0}),
        values["context_window"] or context_window(model.name, model.provider),
        tuple(notes), _refused(robot, message, level, whole, above, origin),
    )  # fmt: skip


def _has(prompt: Any) -> bool:
    return bool(prompt.parts) or prompt._late is not None


def _system(prompt: Any, composition: Any, context: Mapping[str, Any], robot: Any) -> str:
    """The system message's text; commands of a template stand in it as they are written."""
    if prompt._late is None:
        return str(prompt.message().text)
    parts = [
        Part(kind, one.name, one.facts(context)["text"] or one.body)
        for kind, one in composition.parts
    ]
    if robot.system_prompt:
        parts.append(Part("system_prompt", None, robot.system_prompt))
    return "\n\n".join(part.text.strip("\n") for part in parts)


def _asked(message: str, attachments: Sequence[Any]) -> Message:
    if not attachments:
        return Message("user", message)
    from ..robot.attachments import as_parts

    return Message("user", [*Message("user", message).parts, *as_parts(attachments)])


def _notes(robot: Robot[Any], prompt: Any, values: Mapping[str, Any], hooks: Any) -> Sequence[str]:
    notes = []
    if prompt._late is not None:
        notes.append("the template's commands are run only when it is really sent")
    if prompt.skills:
        notes.append(f"up to 3 of {len(prompt.skills)} agent skills are added that fit the message")
    if robot.learns(values):
        notes.append("what it learned stands in the system message")
    if hooks:
        notes.append("handlers (hooks=) may change it")
    if values["auto_compact"]:
        notes.append("old turns are compressed when the model's window fills up")
    return notes


def _refused(
    robot: Robot[Any],
    message: str,
    level: Mapping[str, Any],
    context: Mapping[str, Any],
    above: Sequence[Level],
    origin: str,
) -> str | None:
    """Why a run would not begin: no key, say. Made and not begun, a run leaves no trace."""
    try:
        robot.prepare(message, level, context=context, above=above, origin=origin, blocking=True)
    except ConfigurationError as error:
        return str(error)
    return None


def dry_network(
    network: Network,
    message: str,
    *,
    level: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
) -> DryRun:
    """What a network would send for a message: exactly, for the tasks that come first.

    What later tasks are asked depends on what earlier ones say.

    Parameters
    ----------
    network : Network
    message : str
    level : mapping, optional
        Settings for the run.
    context : mapping, optional

    Returns
    -------
    DryRun

    Raises
    ------
    GraphError
        When the network could not run at all.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("team")
    >>> _ = net.task("draft", rl.build("writer"), prompt="Write on {{ message }}")
    >>> _ = net.task("check", rl.build("editor"), depends_on=["draft"])
    >>> dry = dry_network(net, "rain")
    >>> [(t.name, t.asks and t.asks.message) for t in dry.tasks]
    [('draft', 'Write on rain'), ('check', None)]
    """
    graph = network.validate()
    config = RunConfig.of(level)
    above = tuple(
        ("network", kept)
        for one in (network.config, config)
        if (kept := {k: v for k, v in one.items() if k not in BUDGETS})
    )
    refused = None
    try:
        network.prepare(message, context=context, config=config, blocking=True)
    except ConfigurationError as error:
        refused = str(error)
    after = {name: tuple(node.depends_on) for name, node in graph.nodes.items()}
    tasks = tuple(
        _task(task, after[name], message, context or {}, above)
        for name, task in network.tasks.items()
    )
    asked = [task.asks for task in tasks if task.asks is not None]
    costs = [one.cost_usd for one in asked]
    robots = [robot.is_simulated for robot in network.crew]
    return DryRun(
        network.name, "network", message, simulated=bool(robots) and all(robots),
        tokens=sum(one.tokens for one in asked),
        cost_usd=None if None in costs else sum(c for c in costs if c is not None),
        refused=refused or next((one.refused for one in asked if one.refused), None), tasks=tasks,
    )  # fmt: skip


def _task(
    task: Task,
    after: tuple[str, ...],
    message: str,
    context: Mapping[str, Any],
    above: Sequence[Level],
) -> DryTask:
    from ..network.doing import merged

    name = task.robot_name or getattr(task.runner, "name", None)
    name = name or getattr(task.runner, "__name__", type(task.runner).__name__)
    asks = None
    if task.plan == "robot" and not after:
        given = merged(context, task.context)
        asks = dry_robot(
            task.runner, task.text_for(message, Upstream({}), given),
            level=run_level(task.tools, task.config, mcp=task.mcp), context=given, above=above,
            origin="task", keep=False,
        )  # fmt: skip
    prompt = task.prompt if asks is None else None
    return DryTask(task.name, task.plan, str(name), after, task.optional, prompt, asks)
