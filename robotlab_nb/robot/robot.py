"""A robot: a model with a system prompt, tools and a conversation.

A Robot holds what was said of it and its conversation; running it is :mod:`.turn`'s work,
changing it :mod:`.changing`'s, its past :mod:`.remembering`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig, options, plain, resolve
from ..core.errors import ConfigurationError
from ..core.keywords import ListedSettings
from ..core.messages import Message
from ..core.pickling import refuse_secrets
from ..core.readings import Pictured
from ..core.secrets import redact_data
from ..tools.decorator import Tool, ToolManifest
from .asking import Asking
from .changing import Changing, checked
from .chatting import Chatting
from .conversation import Conversation
from .delegating import Delegating
from .in_force import BUDGETS, InForce, in_force
from .membership import Membership
from .messaging import Messaging
from .preparing import make_run
from .remembering import Remembering
from .result import T
from .resuming import Resuming
from .tool_servers import ToolServers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from ..bus.mailboxes import Mailbox
    from ..core.config import Effective
    from ..core.fields import Settings
    from ..memory.reactive import Memory
    from ..models.protocol import Model
    from ..prompts.composing import Composition
    from ..runtime.budgets import Budget
    from ..runtime.run import Run
    from .in_force import Level
    from .learnings import Learnings
    from .result import RobotResult

__all__ = ["Robot", "build"]

UNNAMED = "robot"


class Robot(
    Asking[T],
    Chatting,
    Resuming[T],
    Changing,
    Remembering,
    Membership,
    Messaging,
    Delegating,
    ToolServers,
    Pictured,
):
    """A robot. Every part is optional: a bare robot talks to the simulated model.

    Parameters
    ----------
    name : str, optional
        Shown everywhere. Left out, the template's, else ``"robot"``.
    system_prompt : str, optional
        What the model is told first, as it stands; after the template when there is one.
    description : str, optional
        What the robot is for, for people and for other robots.
    template : str, Path or Template, optional
        A prompt with parameters: a name in the folder of prompts, a file, or a Template. It may
        bring a name, a description, tools, skills and settings, all weaker than those given here.
    context : mapping or callable, optional
        Values for the template's parameters; a run may give more, and stronger ones.
    skills : sequence, optional
        Templates whose text comes before the template's. (For ``SKILL.md`` bundles that are
        matched to each message, see the setting ``agent_skills``.)
    memory : Memory or dict, optional
        What the robot shares with its tools and keeps between runs; its own when left out. Inside
        a network, the network's counts.
    config : RunConfig or dict, optional
        Any settings; the keywords here are stronger.
    **settings
        Any setting; ``rl.RunConfig`` lists them. The commonest: ``model`` (``"provider/name"``,
        or a Model; without one, and without ``rl.options.model``, answers are simulated and say
        so), ``api_base``, ``api_key`` (a key, or the name of the environment variable that holds
        it), ``tools`` (the exact set: functions, Tools; ``[]`` for none), ``mcp`` (tool
        servers), ``temperature``, ``max_tokens``, ``output`` (what the answer must be),
        ``fallback``, ``token_budget``, ``cost_budget``, ``max_tool_rounds``, ``approve``,
        ``hooks``, ``on_content``.

    Raises
    ------
    ConfigurationError
        When something cannot be meant: an unknown provider, a tool without a usable signature,
        a wrong type, a template that is not there. The message says which and what to do.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> def get_weather(city: str) -> str:
    ...     "Current weather of a city."
    ...     return f"Sunny in {city}."
    >>> bot = rl.build("assistant", system_prompt="Be brief.", tools=[get_weather])
    >>> result = bot.run("What is the weather in Paris?")
    >>> result.tool_calls[0].arguments, result.tool_calls[0].result
    ({'city': 'Paris'}, 'Sunny in Paris.')
    """

    __slots__ = (
        "__weakref__", "_budgets", "_config", "_context", "_description", "_keywords", "_known",
        "_name", "_opened", "_skills", "_system", "_template", "name",
    )  # fmt: skip

    __signature__ = ListedSettings()

    #: shown everywhere: as given, else the template's, else ``"robot"``
    name: str

    def __init__(
        self,
        name: str | None = None,
        *,
        system_prompt: str | None = None,
        description: str | None = None,
        template: Any = None,
        context: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
        skills: Sequence[Any] = (),
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise ConfigurationError(
                f"a robot's name is a text, not {name!r}", hint="Leave it out for an unnamed one."
            )
        if system_prompt is not None and not isinstance(system_prompt, str):
            raise ConfigurationError(
                f"system_prompt= takes a text, not {type(system_prompt).__name__}",
                hint="For a prompt with parameters, use template=.",
            )
        self._name = name
        self._description = description
        self._system = Message("system", system_prompt) if system_prompt else None
        self._template = template
        self._context = context
        self._skills = (skills,) if isinstance(skills, str) else tuple(skills)
        self._config = RunConfig.of(config) if config is not None else None
        self._keywords = checked(settings, name or UNNAMED)
        self._own = Conversation()
        self._known: tuple[int, InForce, Composition | None] | None = None
        self._budgets: tuple[tuple[Any, ...], tuple[Budget, ...]] | None = None
        self._learnings: Learnings | None = None
        self._opened = None
        self._memory = memory
        self._mailbox: Mailbox | None = None
        self._in_force()

    # -- what is in force --------------------------------------------------------------------

    def _compose(self) -> Composition | None:
        """The templates as they are now: their files may have changed."""
        if self._template is None and not self._skills:
            return None
        from ..prompts.composing import compose

        own = [("config", self._config or {}), ("robot", self._keywords)]
        settings = resolve([*options.levels(), *own]).values_
        return compose(
            self._template, self._skills, folder=settings["prompts_path"], settings=settings
        )

    def levels(self, composition: Composition | None = None) -> tuple[Level, ...]:
        """What was set on the robot, weakest first."""
        own: tuple[Level, ...] = (("robot", self._keywords),)
        if self._config is not None:
            own = (("config", self._config), *own)
        if composition is None:
            return own
        said: dict[str, Any] = {}
        if composition.tools is not None and not any("tools" in level for _, level in own):
            said["tools"] = composition.selection()
        origin = "template"
        if composition.mcp is not None and not any("mcp" in level for _, level in own):
            said["mcp"] = composition.mcp
            origin = f"template {' and '.join(composition.names_servers)}"
        if composition.agent_skills is not None:
            said["agent_skills"] = composition.agent_skills
        return (*composition.levels, (origin, said), *own)

    def _in_force(self) -> InForce:
        """What is in force now; worked out again when options or templates have changed."""
        known = self._known
        if known is not None and known[0] == options.version:
            templates = known[2]
            if templates is None or not templates.has_changed():
                return known[1]
        composition = self._compose()
        found = in_force(self.levels(composition))
        found = found._replace(tools=self.owned(found.tools))
        self._known = (options.version, found, composition)
        said = composition.robot_name if composition is not None else None
        self.name = self._name or said or UNNAMED
        return found

    def look(self) -> tuple[InForce, Composition | None]:
        """What is in force now, and the templates that are part of it."""
        found = self._in_force()
        return found, self._known[2] if self._known is not None else None

    def owned(self, tools: ToolManifest) -> ToolManifest:
        """Tools with this robot as the owner of those that have one."""
        if all(type(one) is Tool for one in tools):
            return tools
        return ToolManifest([one.attached_to(self) for one in tools])

    # -- what it is ------------------------------------------------------------------------

    @property
    def description(self) -> str | None:
        """What the robot is for."""
        if self._description is not None or self._known is None or self._known[2] is None:
            return self._description
        return self._known[2].description

    @property
    def system_prompt(self) -> str | None:
        """The prompt that was given as it stands; a template's text is not in it."""
        return self._system.text if self._system is not None else None

    @property
    def template(self) -> Any:
        """The template, as it was given."""
        return self._template

    @property
    def skills(self) -> tuple[Any, ...]:
        """The template skills, as they were given."""
        return self._skills

    @property
    def model(self) -> Model:
        """The model that a run would ask now."""
        return self._in_force().model

    @property
    def model_name(self) -> str:
        """The model's full name, ``provider/name``."""
        return self.model.name

    @property
    def is_simulated(self) -> bool:
        """Whether the answers are made up."""
        return self.model.simulated

    @property
    def tools(self) -> ToolManifest:
        """The tools that a run would offer, by name."""
        return self._in_force().tools

    @property
    def effective_config(self) -> Effective:
        """Every setting in force, with the level that set it."""
        return self._in_force().effective

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The robot's own budgets, charged by all its runs together."""
        values = self._in_force().effective.values_
        wanted = tuple(values[name] for name in BUDGETS)
        if wanted == (None,) * len(BUDGETS):
            return ()
        if self._budgets is None or self._budgets[0] != wanted:
            from ..runtime.budgets import budgets_of

            self._budgets = (wanted, budgets_of(values, self.name))
        return self._budgets[1]

    def to_dict(self) -> dict[str, Any]:
        """What was said of the robot, as JSON; nulls left out, keys never shown."""
        out: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "template": plain("template", self._template),
            "skills": plain("skills", self._skills),
            "system_prompt": self.system_prompt,
            "model": self.model_name,
            "tools": list(self.tools.names),
            "config": {
                k: plain(k, s.value)
                for k, s in self.effective_config.items()
                if s.origin != "default" and k not in ("model", "tools")
            },
        }
        told: dict[str, Any] = redact_data(out)
        return {k: v for k, v in told.items() if v not in (None, [], {})}

    def _say_first(self, system: Message | None) -> None:
        """Put a system message in the place of prompt, template and skills."""
        self._system = system
        self._template = None
        self._skills = ()
        self._known = None

    # -- running -----------------------------------------------------------------------------

    def prepare(
        self,
        message: Any,
        level: Mapping[str, Any],
        *,
        context: Mapping[str, Any] | None = None,
        attachments: Sequence[Any] = (),
        memory: Memory | Mapping[str, Any] | None = None,
        detached: bool = False,
        blocking: bool = False,
        origin: str = "run",
        above: Sequence[Level] = (),
        label: str | None = None,
        keep: bool | Conversation = True,
        delegated_by: str | None = None,
    ) -> Run[RobotResult[T]]:
        """Check everything that can be checked before a request, and make the run.

        Parameters
        ----------
        message : str or Message
        level : mapping
            What the run sets; see :func:`~robotlab_nb.robot.in_force.run_level`.
        context : mapping, optional
            Values for templates and tools.
        attachments : sequence, optional
            Files, images, tables that belong to the message.
        memory : Memory or dict, optional
            What the run shares.
        detached, blocking : bool, optional
            Whether the run is a root of its own; whether the caller's loop is blocked meanwhile.
        origin : str, optional
            Who sets ``level``: ``"run"`` or ``"task"``.
        above : sequence of Level, optional
            Levels weaker than the robot's own: a network's.
        label : str, optional
            The last part of the run's path, in place of the robot's name.
        keep : bool or Conversation, optional
            Whether the run starts from the robot's conversation and is kept in it.
        delegated_by : str, optional
            The robot that delegated the task.
        """
        return make_run(
            self, message, level, context=context, attachments=attachments, memory=memory,
            detached=detached,
            blocking=blocking, origin=origin, above=above, label=label, keep=keep,
            delegated_by=delegated_by,
        )  # fmt: skip

    def build_context(self) -> dict[str, Any]:
        """The values for templates and tools that the robot was built with."""
        given = self._context() if callable(self._context) else self._context
        return dict(given or {})

    def __reduce__(self) -> Any:
        recipe = self._recipe()
        refuse_secrets(f"robot {self.name!r}", recipe)
        return _rebuild, (recipe,)


def _rebuild(recipe: dict[str, Any]) -> Robot[Any]:
    return Robot(**recipe)


build = Robot
