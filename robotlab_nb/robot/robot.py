"""A robot: a model with a system prompt, tools and a conversation.

A Robot holds what was said of it and its conversation; running it is :mod:`.turn`'s work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig, check, options
from ..core.errors import ConfigurationError, InputError
from ..core.keywords import strict_keywords
from ..core.messages import Message, Transcript
from ..core.readings import Pictured
from ..runtime.loop import loop_is_running
from ..runtime.run import Run
from ..tools.call import check_callable
from ..tools.selection import cap
from .asking import Asking
from .conversation import Conversation, as_message, as_question, repair
from .in_force import InForce, in_force, model_params
from .result import T
from .turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..core.config import Effective
    from ..models.protocol import Model
    from ..tools.decorator import ToolManifest
    from .in_force import Level
    from .result import RobotResult

__all__ = ["Robot", "build"]

UNNAMED = "robot"


class Robot(Asking[T], Pictured):
    """A robot. Every part is optional: a bare robot talks to the simulated model.

    Parameters
    ----------
    name : str, optional
        Shown everywhere; ``"robot"`` when left out.
    system_prompt : str, optional
        What the model is told first, as it stands.
    description : str, optional
        What the robot is for, for people and for other robots.
    model : str or Model, optional
        ``"provider/name"``, or a Model. Without one, and without ``rl.options.model``, answers
        are simulated, and say so.
    provider, api_base, api_key : str, optional
        Provider of a bare model name; address of an OpenAI-compatible server; a key, or the name
        of the environment variable that holds it.
    via : str, optional
        ``"litellm"`` to go through litellm even where a direct way exists.
    tools : list, optional
        The exact set: functions, Tools. ``[]`` for none.
    config : RunConfig or dict, optional
        Any settings; the keywords here are stronger.
    temperature, top_p, top_k, max_tokens, presence_penalty, frequency_penalty, stop, seed, \
reasoning_effort : optional
        Sampling parameters, sent when set.
    max_tool_rounds : int, optional
        Most rounds of tool calls in a run (25).
    on_content : callable, optional
        Called with each piece of text as it streams.
    on_tool_call : callable, optional
        Called with each :class:`~robotlab_nb.core.state.ToolCall` as it starts.
    on_tool_result : callable, optional
        Called with the ToolCall and its result.

    Raises
    ------
    ConfigurationError
        When something cannot be meant: an unknown provider, a tool without a usable signature,
        a wrong type. The message says which and what to do.

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
        "__weakref__", "_config", "_conversation", "_keywords", "_known", "_named", "_system",
        "description", "name",
    )  # fmt: skip

    name: str
    description: str | None

    @strict_keywords
    def __init__(
        self,
        name: str | None = None,
        *,
        system_prompt: str | None = None,
        description: str | None = None,
        model: str | Model | None = None,
        provider: str | None = None,
        api_base: str | None = None,
        api_key: str | None = None,
        via: str | None = None,
        tools: Sequence[Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        max_tokens: int | None = None,
        presence_penalty: float | None = None,
        frequency_penalty: float | None = None,
        stop: str | Sequence[str] | None = None,
        seed: int | None = None,
        reasoning_effort: str | None = None,
        max_tool_rounds: int | None = None,
        on_content: Callable[[str], object] | None = None,
        on_tool_call: Callable[..., object] | None = None,
        on_tool_result: Callable[..., object] | None = None,
    ) -> None:
        given = {k: v for k, v in locals().items() if v is not None and k in _KEYWORDS}
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise ConfigurationError(
                f"a robot's name is a text, not {name!r}", hint="Leave it out for an unnamed one."
            )
        if system_prompt is not None and not isinstance(system_prompt, str):
            raise ConfigurationError(
                f"system_prompt= takes a text, not {type(system_prompt).__name__}"
            )
        self.name = name or UNNAMED
        self._named = name is not None
        self.description = description
        self._system = Message("system", system_prompt) if system_prompt else None
        where = f"robot {self.name!r}"
        for key, value in given.items():
            if key != "tools":
                check(key, value, where)
        self._keywords = given
        self._config = RunConfig.of(config) if config is not None else None
        self._conversation = Conversation()
        self._known: tuple[int, InForce] | None = None
        self._in_force()

    def _levels(self) -> tuple[Level, ...]:
        """What was set on the robot, weakest first."""
        if self._config is None:
            return (("robot", self._keywords),)
        return (("config", self._config), ("robot", self._keywords))

    def _in_force(self) -> InForce:
        """What is in force now; worked out again when the options have changed."""
        known = self._known
        if known is None or known[0] != options.version:
            known = self._known = (options.version, in_force(self._levels()))
        return known[1]

    # -- what it is ------------------------------------------------------------------------

    @property
    def system_prompt(self) -> str | None:
        """What the model is told first."""
        return self._system.text if self._system is not None else None

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

    def to_dict(self) -> dict[str, Any]:
        """What was said of the robot, as JSON; nulls left out, keys never shown."""
        from ..core.config import plain

        out: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "system_prompt": self.system_prompt,
            "model": self.model_name,
            "tools": list(self.tools.names),
            "config": {
                k: plain(k, s.value)
                for k, s in self.effective_config.items()
                if s.origin != "default" and k not in ("model", "tools")
            },
        }
        return {k: v for k, v in out.items() if v not in (None, [], {})}

    # -- its conversation --------------------------------------------------------------------

    @property
    def messages(self) -> Transcript:
        """The conversation so far, system message first."""
        kept = self._conversation.messages
        return Transcript((self._system, *kept) if self._system is not None else kept)

    def clear_messages(self, *, keep_system: bool = True) -> Robot[T]:
        """Forget the conversation.

        Parameters
        ----------
        keep_system : bool, optional
            False forgets the system prompt too.

        Returns
        -------
        Robot
            This robot.
        """
        self._conversation.replace(())
        if not keep_system:
            self._system = None
        return self

    def replace_messages(self, messages: Sequence[Any]) -> Robot[T]:
        """Put another conversation in place (a saved one, say).

        Parameters
        ----------
        messages : sequence
            Messages, dicts (ours, robot_lab's, or ``{"role", "content"}``) or strings (a
            person's). A leading system message becomes the robot's system prompt. Tool calls
            without a result get one that says so; results without a call are dropped.

        Returns
        -------
        Robot
            This robot.

        Raises
        ------
        InputError
            When something is not a message; nothing is changed then.
        """
        found = [as_message(m) for m in messages]
        system = found.pop(0) if found and found[0].role == "system" else None
        if any(m.role == "system" for m in found):
            raise InputError(
                f"robot {self.name!r}: a system message stands inside the conversation",
                hint="It can only be the first message.",
            )
        mended, _ = repair(found)
        if system is not None:
            self._system = system
        self._conversation.replace(mended)
        return self

    # -- running -----------------------------------------------------------------------------

    def prepare(
        self,
        message: Any,
        level: Mapping[str, Any],
        *,
        context: Mapping[str, Any] | None = None,
        detached: bool = False,
        blocking: bool = False,
        origin: str = "run",
        above: Sequence[Level] = (),
        label: str | None = None,
        keep: bool = True,
    ) -> Run[RobotResult[T]]:
        """Check everything that can be checked before a request, and make the run.

        Parameters
        ----------
        message : str or Message
        level : mapping
            What the run sets; see :func:`~robotlab_nb.robot.in_force.run_level`.
        context : mapping, optional
            Values for tools.
        detached, blocking : bool, optional
            Whether the run is a root of its own; whether the caller's loop is blocked meanwhile.
        origin : str, optional
            Who sets ``level``: ``"run"`` or ``"task"``.
        above : sequence of Level, optional
            Levels weaker than the robot's own: a network's.
        label : str, optional
            The last part of the run's path, in place of the robot's name.
        keep : bool, optional
            Whether the run starts from the robot's conversation and is kept in it.
        """
        found = self._in_force()
        if level or above:
            found = in_force((*above, *self._levels(), (origin, level)))
        effective, model, tools = found
        tools = cap(tools, effective.values_["max_tools"])
        question = as_question(message, self.name)
        model.check()
        check_callable(tools, may_use_caller=not blocking and loop_is_running())
        turn = Turn(
            self,
            question,
            model=model,
            tools=tools,
            effective=effective,
            system=self._system,
            params=model_params(effective.values_),
            context=dict(context or {}),
            conversation=self._conversation if keep else None,
            about={"context": sorted(map(str, context))} if context else {},
        )
        return Run(
            self.name, "robot", turn.work, turn.finish,
            robot=self.name, label=label, detached=detached,
        )  # fmt: skip

    def __reduce__(self) -> Any:
        return _rebuild, (self._recipe(),)

    def _recipe(self) -> dict[str, Any]:
        """What builds this robot again elsewhere: no conversation, no live model, no key."""
        from ..core.config import key_name_only

        recipe = {k: v for k, v in self._keywords.items() if k != "api_key"}
        key = key_name_only(self._keywords.get("api_key"))
        if key is not None:
            recipe["api_key"] = key
        if self._config is not None:
            recipe["config"] = {k: v for k, v in self._config.items() if k != "api_key"}
        recipe["name"] = self.name if self._named else None
        recipe["system_prompt"] = self.system_prompt
        recipe["description"] = self.description
        return recipe


_KEYWORDS = frozenset(
    {
        "model", "provider", "api_base", "api_key", "via", "tools", "temperature", "top_p",
        "top_k", "max_tokens", "presence_penalty", "frequency_penalty", "stop", "seed",
        "reasoning_effort", "max_tool_rounds", "on_content", "on_tool_call", "on_tool_result",
    }
)  # fmt: skip


def _rebuild(recipe: dict[str, Any]) -> Robot[Any]:
    return Robot(**recipe)


build = Robot
