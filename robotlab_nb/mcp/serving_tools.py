"""What a robot or a network is to others: a tool with a name, schemas, and an answer.

Knows nothing of the protocol: schemas and answers are plain JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, InputError, RobotLabError, describe_error, near
from ..core.secrets import redact, redact_data
from ..network.network import Network
from ..robot.in_force import run_level
from ..robot.output_types import VALUE, reader_of
from ..robot.robot import Robot
from ..tools.preview import preview

if TYPE_CHECKING:
    from ..prompts.parameters import Parameter
    from ..robot.conversation import Conversation
    from ..runtime.run import Run

__all__ = ["Reply", "Served", "legal_name", "schema_of_parameters", "served", "told_error"]

#: characters of one text of a reply, and of what stands of each task besides
TEXT, TASK_TEXT = 400_000, 20_000
_TYPES = {"list": "array"}
_NETWORK_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The network's answer."},
        "value": {"description": "The answer as data, where it is that."},
        "tasks": {
            "type": "object",
            "description": "What became of each task.",
            "additionalProperties": {
                "type": "object",
                "properties": {"status": {"type": "string"}, "text": {"type": "string"}},
                "required": ["status"],
            },
        },
    },
    "required": ["text", "tasks"],
}


class Reply(NamedTuple):
    """What a call gives back.

    Attributes
    ----------
    text : str
    structured : dict or None
        The same as data, where the tool has an output schema.
    is_error : bool
        Whether the text says what went wrong.
    """

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False


class Served:
    """A robot or a network as a tool. Its schemas follow changes of the robot.

    Parameters
    ----------
    runnable : Robot or Network
    name : str
        The tool's name: letters, digits, ``_ - .``
    conversations : bool, optional
        Whether calls may go on in a conversation that they name.
    """

    __slots__ = ("conversations", "kind", "name", "runnable")

    def __init__(self, runnable: Any, name: str, *, conversations: bool = False) -> None:
        self.runnable = runnable
        self.name = name
        self.kind = "network" if isinstance(runnable, Network) else "robot"
        self.conversations = conversations and self.kind == "robot"

    def __repr__(self) -> str:
        return f"<{self.kind} as tool {self.name!r}>"

    @property
    def title(self) -> str:
        """What people call it."""
        return str(self.runnable.name)

    @property
    def description(self) -> str:
        """What it is for. Its prompt is nobody else's business."""
        if self.kind == "network":
            tasks = ", ".join(self.runnable.tasks)
            return f"Has the network {self.title} do its tasks: {tasks}."
        return self.runnable.description or f"Asks the robot {self.title}."

    def _parameters(self) -> tuple[Parameter, ...]:
        """The values that the robot's templates take."""
        if self.kind == "network":
            return ()
        _, composition = self.runnable.look()
        if composition is None:
            return ()
        found = {p.name: p for _, part in composition.parts for p in part.parameters}
        return tuple(found.values())

    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments: ``message``, ``context`` as declared, ``conversation``."""
        properties: dict[str, Any] = {
            "message": {"type": "string", "description": "What is said to it.", "minLength": 1}
        }
        needed = ["message"]
        if self.kind == "network":
            properties["context"] = {
                "type": "object", "description": "Values for prompts, functions and tools.",
            }  # fmt: skip
        else:
            parameters = self._parameters()
            if parameters:
                given = self.runnable.build_context()
                context = schema_of_parameters(parameters, given)
                properties["context"] = context
                if context.get("required"):
                    needed.append("context")
        if self.conversations:
            properties["conversation"] = {
                "type": "string", "minLength": 1, "maxLength": 200,
                "description": "Name of a conversation to begin or to go on with; "
                "without it the call stands alone.",
            }  # fmt: skip
        return {
            "type": "object", "properties": properties, "required": needed,
            "additionalProperties": False,
        }  # fmt: skip

    def output_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the answer as data; None where it is a text alone."""
        if self.kind == "network":
            return _NETWORK_OUTPUT
        output = self._output()
        return None if output is None else dict(reader_of(output).schema)

    def _output(self) -> Any:
        return self.runnable.look()[0].effective.values_["output"]

    def prepare(
        self, arguments: Mapping[str, Any], tag: str, conversation: Conversation | None = None
    ) -> Run[Any]:
        """Check what a call gives, and make its run.

        Parameters
        ----------
        arguments : mapping
            As the caller sent them.
        tag : str
            What the log finds the run by.
        conversation : Conversation, optional
            Where the run goes on.

        Raises
        ------
        InputError, ConfigurationError
        """
        message, context = self._checked(arguments)
        if self.kind == "network":
            tags = _tags(self.runnable.config.get("tags"), tag)
            run: Run[Any] = self.runnable.prepare(
                message, context=context, config={"tags": tags}, detached=True
            )
            return run
        tags = _tags(self.runnable.look()[0].effective.values_["tags"], tag)
        made: Run[Any] = self.runnable.prepare(
            message, run_level(None, {"tags": tags}), context=context, detached=True,
            keep=False if conversation is None else conversation,
        )  # fmt: skip
        return made

    def _checked(self, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        known = self.input_schema()["properties"]
        for key in arguments:
            if key not in known:
                raise InputError(f"{self.name} takes no {key!r:.80}", hint=near(key, known))
        message, context = arguments.get("message"), arguments.get("context")
        if not isinstance(message, str) or not message.strip():
            raise InputError(f"{self.name} needs a message, a text that says something")
        if context is not None and not isinstance(context, Mapping):
            raise InputError(f"{self.name}: context is an object, not {type(context).__name__}")
        named = arguments.get("conversation")
        if named is not None and (not isinstance(named, str) or not 0 < len(named) <= 200):
            raise InputError(f"{self.name}: conversation is a name of 1 to 200 characters")
        return message, None if context is None else dict(context)

    def reply(self, run: Run[Any]) -> Reply:
        """What a run that has ended gives back; errors in words that may leave this machine."""
        try:
            result = run.outcome()
        except Exception as error:
            return Reply(_failed(self, run, error), is_error=True)
        if self.kind == "network":
            return self._of_network(run, result)
        if run.state.output is None:
            return Reply(_cut(result.text, TEXT))
        data = run.state.output
        output = self._output()
        if output is not None and reader_of(output).wrapped:
            data = {VALUE: data}
        return Reply(json.dumps(data, ensure_ascii=False), data if type(data) is dict else None)

    def _of_network(self, run: Run[Any], result: Any) -> Reply:
        if result.status == "failed":
            return Reply(_failed_network(self.title, result), is_error=True)
        tasks: dict[str, Any] = {}
        for name, task in result.state.tasks.items():
            tasks[name] = {"status": task.status}
            if name in result:
                tasks[name]["text"] = _cut(redact(str(result[name])), TASK_TEXT)
        text = _cut(result.text, TEXT)
        structured: dict[str, Any] = {"text": text, "tasks": tasks}
        value = _as_data(result)
        if value is not None:
            structured["value"] = value
        return Reply(text, structured)


def served(things: Any, *, conversations: bool = False) -> tuple[Served, ...]:
    """Robots and networks as tools, each under a name of its own.

    Parameters
    ----------
    things : Robot, Network, sequence or mapping of them
        A mapping gives the names.
    conversations : bool, optional
        As for :class:`Served`.

    Raises
    ------
    ConfigurationError
        For anything else, for nothing, and for two of one name.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> [tool.name for tool in served([rl.build("my poet"), rl.build("critic")])]
    ['my_poet', 'critic']
    """
    named: list[tuple[str | None, Any]]
    if isinstance(things, (Robot, Network)):
        named = [(None, things)]
    elif isinstance(things, Mapping):
        named = list(things.items())
    elif isinstance(things, (list, tuple)):
        named = [(None, thing) for thing in things]
    else:
        named = [(None, things)]
    if not named:
        raise ConfigurationError("there is nothing to serve", hint="Give a robot or a network.")
    found: dict[str, Served] = {}
    for given, thing in named:
        if not isinstance(thing, (Robot, Network)):
            raise ConfigurationError(
                f"serve() takes robots and networks, not {type(thing).__name__}",
                hint='Several: a list, or a dict {"tool_name": robot}.',
            )
        name = legal_name(given if given is not None else thing.name)
        if name in found:
            raise ConfigurationError(
                f"two of what is to be served are called {name!r}",
                hint='Give a dict {"tool_name": robot}.',
            )
        if isinstance(thing, Network):
            thing.validate()
        found[name] = Served(thing, name, conversations=conversations)
    return tuple(found.values())


def legal_name(name: Any) -> str:
    """A name as the protocol allows it."""
    legal = re.sub(r"[^A-Za-z0-9_.-]+", "_", str(name)).strip("_")[:64]
    if not legal:
        raise ConfigurationError(
            f"{name!r:.80} makes no tool name",
            hint='It needs a letter or a digit; name it: {"tool_name": robot}.',
        )
    return legal


def _tags(own: Any, tag: str) -> list[str]:
    given = [own] if isinstance(own, str) else list(own or ())
    return [*given, tag]


def schema_of_parameters(
    parameters: tuple[Parameter, ...], given: Mapping[str, Any]
) -> dict[str, Any]:
    """A template's parameters as JSON Schema.

    Parameters
    ----------
    parameters : tuple of Parameter
    given : mapping
        Values that are there already: those are not required.

    Examples
    --------
    >>> from robotlab_nb.prompts.parameters import Parameter
    >>> schema_of_parameters((Parameter("tone", "string", "dry", required=False),), {})
    {'type': 'object', 'properties': {'tone': {'type': 'string', 'default': 'dry'}}}
    """
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in parameters:
        told: dict[str, Any] = {}
        if parameter.type is not None:
            told["type"] = _TYPES.get(parameter.type, parameter.type)
        if parameter.description:
            told["description"] = parameter.description
        if parameter.enum is not None:
            told["enum"] = list(parameter.enum)
        if parameter.default is not None:
            told["default"] = parameter.default
        properties[parameter.name] = told
        if parameter.required and parameter.default is None and parameter.name not in given:
            required.append(parameter.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema


# -- answers ------------------------------------------------------------------------------------


def told_error(error: Mapping[str, Any]) -> str:
    """An error in words for others: ours as they are, of other people's code the kind alone.

    What a function raised may hold paths, rows and passwords: nothing of it leaves the machine.

    Parameters
    ----------
    error : mapping
        As events have it: ``type, message, hint``.

    Examples
    --------
    >>> told_error({"type": "InputError", "message": "no such city", "hint": "Try Paris."})
    'no such city. Try Paris.'
    >>> told_error({"type": "OperationalError", "message": "password=hunter2"})
    'OperationalError'
    """
    kind = str(error.get("type") or "error")
    if kind not in _ours(RobotLabError):
        return kind
    message, hint = str(error.get("message") or kind), error.get("hint")
    end = "" if message.endswith((".", "!", "?", ":")) else "."
    return redact(f"{message}{end} {hint}" if hint else message)[:4000]


def _ours(root: type[RobotLabError]) -> set[str]:
    """The names of our errors: what they say was written to be read."""
    found = {root.__name__}
    for each in root.__subclasses__():
        found |= _ours(each)
    return found


def _failed(tool: Served, run: Run[Any], error: Exception) -> str:
    if run.status == "interrupted":
        return f"{tool.kind} {tool.title!r} was stopped before it had an answer (run {run.id})"
    described = describe_error(error)
    return f"{tool.kind} {tool.title!r} failed: {told_error(described)} (run {run.id})"


def _failed_network(name: str, result: Any) -> str:
    failed = result.errors or {"network": result.state.error or {}}
    each = "; ".join(f"{task}: {told_error(error)}" for task, error in failed.items())
    return f"network {name!r} failed: {each} (run {result.run_id})"


def _as_data(result: Any) -> Any:
    """A network's answer as JSON, where it is more than a text and nothing of it is lost."""
    value = result.value
    if value is None or isinstance(value, str):
        return None
    seen = preview(value)
    return None if seen.lossy else redact_data(seen.data)


def _cut(text: str, most: int) -> str:
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[cut: the first {most:,} of {len(text):,} characters]"
