"""Answers of a prescribed shape: how a model is told, and what its answer says.

The shape of an answer is a value; who asks again when an answer is wrong is decided elsewhere.
Knows no run and no request beyond the field that it fills.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError
from ..core.keys import digest
from ..core.strict_json import Unreadable
from ..models.protocol import OutputSpec, ToolSpec
from .json_in_text import NOTHING, last_value, unfenced
from .output_types import VALUE, Fault, reader_of
from .partial_json import partial
from .strict_schema import strict, without_nulls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..models.protocol import Model, Request
    from .output_types import Reader

__all__ = ["Parsed", "Rejected", "Shape", "shape_of"]

TOOL = "final_answer"
#: characters of what a model is told of a wrong answer
MOST_FEEDBACK = 2000


class Parsed(NamedTuple):
    """An answer that is what it must be: the value, and the same as JSON."""

    value: Any
    data: Any


class Rejected(NamedTuple):
    """An answer that is not: its faults, ``path`` and ``message``, and what to tell the model."""

    errors: list[Fault]
    feedback: str


class Shape:
    """What an answer must be, and the way in which a model is told.

    Parameters
    ----------
    reader : Reader
    mode : {"schema", "tool", "text"}
    taken : collection of str
        Names that the tool which gives the answer cannot have.

    Attributes
    ----------
    spec : OutputSpec
        What a request says of it.
    instructions : str or None
        What belongs into the system text, where nothing else tells the model.

    Examples
    --------
    >>> from robotlab_nb.models.simulated import SimulatedModel
    >>> shape = shape_of(list[int], {}, SimulatedModel())
    >>> shape.judge('{"value": [1, 2]}').value
    [1, 2]
    >>> shape.judge('{"value": [1, "x"]}').errors[0]["path"]
    'value.1'
    >>> shape.partial('{"value": [1, 2')
    [1]
    """

    __slots__ = ("_reader", "instructions", "spec")

    def __init__(self, reader: Reader, mode: str, taken: Collection[str] = ()) -> None:
        self._reader = reader
        name = TOOL if mode == "tool" else ""
        while name in taken:
            name += "_"
        made = reader.made.get((mode, name))
        if made is None:
            made = reader.made[mode, name] = _spec(reader, mode, name)
        self.spec: OutputSpec = made
        self.instructions = _instructions(made.schema) if mode == "text" else None

    @property
    def name(self) -> str:
        """What it is called: the type's name, the schema's title."""
        return self.spec.name

    @property
    def written(self) -> str:
        """What a person calls it: ``list[Line]``."""
        return self._reader.written

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema that the model is told, always of an object."""
        return self.spec.schema

    @property
    def mode(self) -> str:
        """How the model is told: ``schema``, ``tool`` or ``text``."""
        return self.spec.mode

    @property
    def tool(self) -> ToolSpec | None:
        """The tool that gives the answer, in the mode of that name."""
        return self.spec.tool

    def apply(self, request: Request) -> None:
        """Have a request say what its answer must be."""
        request.output = self.spec

    def keyed(self, tools_key: str) -> str:
        """The digest of a request's tools and of this: requests with other shapes are others."""
        return digest([tools_key, self.spec.key])

    def judge(self, text: str) -> Parsed | Rejected:
        """Judge an answer.

        Parameters
        ----------
        text : str
            What the model wrote, or the arguments of the tool that gives the answer. A code fence
            and words around the JSON do no harm; the last complete object counts.

        Returns
        -------
        Parsed or Rejected

        Raises
        ------
        ConfigurationError
            When the type's own code fails.
        """
        try:
            data = self._data(text)
        except Unreadable as fault:
            return self._rejected([{"path": "", "message": f"it cannot be read: {fault}"}])
        if data is NOTHING:
            said = "it is empty" if not text.strip() else "it holds no complete JSON object"
            return self._rejected([{"path": "", "message": said}])
        if self.spec.strict:
            data = without_nulls(data, self._reader.schema)
        if self._reader.wrapped and isinstance(data, dict) and set(data) == {VALUE}:
            data = data[VALUE]
        value, plain, faults = self._reader.read(data)
        return self._rejected(faults) if faults else Parsed(value, plain)

    def partial(self, text: str) -> Any:
        """What an unfinished answer says so far, as JSON; None when that is nothing yet."""
        found = partial(text)
        if self._reader.wrapped and isinstance(found, dict):
            return found.get(VALUE)
        return found

    def _data(self, text: str) -> Any:
        wrapped = self._reader.wrapped
        if self.mode == "tool" and text.strip() in ("", "null"):
            return {}
        found = last_value(text, arrays=wrapped)
        if found is NOTHING and wrapped:
            # A word without its quotes: right for a label, and for a text.
            bare = unfenced(text)
            if bare and not bare.startswith(("{", "[")):
                return bare
        return found

    def _rejected(self, faults: list[Fault]) -> Rejected:
        if self.mode == "tool":
            again = f"Call {self.spec.tool and self.spec.tool.name} again, with all of it right."
        else:
            again = "Write the whole answer again: JSON that fits the schema, and nothing else."
        head = "This answer cannot be used."
        lines = [f"- {f['path']}: {f['message']}" if f["path"] else f"- {f['message']}"
                 for f in faults]  # fmt: skip
        told = _within(lines, MOST_FEEDBACK - len(head) - len(again) - 2)
        return Rejected(faults, "\n".join([head, *told, again]))

    def __repr__(self) -> str:
        return f"<Shape {self.name} ({self.mode})>"


def shape_of(
    output: Any,
    settings: Mapping[str, Any],
    model: Model,
    *,
    tools: Collection[str] = (),
    fallbacks: Iterable[Model] = (),
) -> Shape | None:
    """What an answer must be, told in the best way that the model has.

    The best is the provider's own schema mode; where the robot has tools, only with models that
    can do both at once, else the answer is a tool call. ``output_mode`` in the settings decides
    otherwise. A server that refuses the way is not asked again in another: its error says what
    to set.

    Parameters
    ----------
    output : type, dict or None
        A pydantic model, a dataclass, a TypedDict, a NamedTuple, an Enum, any other type that
        pydantic reads, or a JSON Schema.
    settings : mapping
        ``output_mode, provider_options``.
    model : Model
    tools : collection of str, optional
        The names of the robot's tools.
    fallbacks : iterable of Model, optional
        Models that may be asked in its place; the way must be one that all of them have.

    Returns
    -------
    Shape or None
        None when ``output`` is None.

    Raises
    ------
    ConfigurationError
        When no answer can be that, or it is prescribed twice.

    Examples
    --------
    >>> from robotlab_nb.models.resolve import resolve
    >>> shape_of(int, {}, resolve("openai/gpt-5-mini")).mode
    'schema'
    >>> shape_of(int, {}, resolve("anthropic/claude-sonnet-4-5")).mode
    'tool'
    """
    if output is None:
        return None
    if "response_format" in (settings.get("provider_options") or ()):
        raise ConfigurationError(
            "the answer is prescribed twice: by output= and by response_format",
            hint="Leave response_format out of provider_options.",
        )
    mode = settings.get("output_mode") or _best(bool(tools), (model, *fallbacks))
    return Shape(reader_of(output), mode, tools)


def _best(with_tools: bool, models: tuple[Model, ...]) -> str:
    for mode in ("schema", "tool"):
        if all(mode in model.output_modes for model in models):
            if mode == "tool" or not with_tools:
                return mode
            if all(model.schema_beside_tools for model in models):
                return mode
    return "text"


def _spec(reader: Reader, mode: str, tool: str) -> OutputSpec:
    kept = strict(reader.schema) if mode == "schema" else None
    schema = reader.schema if kept is None else kept
    made = None
    if mode == "tool":
        about = f"Give the final answer, {reader.name}. Call this once, when all is known."
        made = ToolSpec(tool, about, schema)
    key = digest([reader.name, schema, mode, kept is not None, tool])
    return OutputSpec(reader.name, schema, mode, kept is not None, made, key)


def _instructions(schema: Mapping[str, Any]) -> str:
    return (
        "Your final answer is one JSON object and nothing else: no words around it, no code "
        "fence. It fits this JSON Schema:\n" + json.dumps(schema, ensure_ascii=False)
    )


def _within(lines: list[str], room: int) -> list[str]:
    """As many lines as there is room for, each cut to 500 characters."""
    told: list[str] = []
    room -= len("- and 99 more faults\n")
    for at, line in enumerate(lines):
        if len(line) > 500:
            line = line[:499] + "…"
        room -= len(line) + 1
        if room < 0:
            return [*told, f"- and {len(lines) - at} more faults"]
        told.append(line)
    return told
