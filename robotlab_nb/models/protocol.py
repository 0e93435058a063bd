"""What a language model is to the engine: something that answers one request, once.

``Model.stream`` is exactly one attempt. It neither retries nor waits nor counts money:
:mod:`robotlab_nb.models.calls` does, for every model alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from ..core.messages import Message

__all__ = ["ANSWER_INDEX", "Chunk", "Model", "OutputSpec", "Request", "ToolSpec"]

#: index of the tool call that gives the answer, in the chunks of a model that was told an output
ANSWER_INDEX = -1


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it: name, description, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """What an answer must be, as a model is told of it.

    Parameters
    ----------
    name : str
        1 to 64 of ``a-z A-Z 0-9 _ -``.
    schema : mapping
        JSON Schema of the answer, which is always an object.
    mode : {"schema", "tool", "text"}
        The provider keeps to the schema; a tool call gives the answer; the prompt says it all.
    strict : bool
        Whether the schema keeps to the subset that providers enforce.
    tool : ToolSpec or None
        The tool that gives the answer, in the mode of that name.
    key : str
        Digest of all this, a part of the request key.
    """

    name: str
    schema: Mapping[str, Any]
    mode: str
    strict: bool = False
    tool: ToolSpec | None = None
    key: str = ""


@dataclass(slots=True)
class Request:
    """One request to a model.

    Parameters
    ----------
    messages : tuple of Message
        The whole prompt, system message first when there is one.
    tools : tuple of ToolSpec
    params : mapping
        Sampling parameters by their OpenAI names (``temperature``, ``top_p``, ``max_tokens``,
        ``stop`` …) and provider options, sent as they are.
    streaming : bool
        Whether somebody listens. A model may answer in one piece when nobody does.
    timeout : float or None
        Seconds left for this attempt.
    output : OutputSpec or None
        What the answer must be, where that is prescribed.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    streaming: bool = False
    timeout: float | None = None
    output: OutputSpec | None = None


class Chunk(NamedTuple):
    """A piece of an answer.

    Parameters
    ----------
    kind : str
        ``text``, ``reasoning``, ``refusal``: ``text`` is the piece.
        ``tool_call``: ``index`` says which call (``ANSWER_INDEX``: the one that gives the
        answer); ``id`` and ``name`` come once (None or "" later); ``text`` is a piece of the
        arguments.
        ``opaque``: ``data`` are the provider's extras, for the call at ``index``, or (index None)
        for the reasoning.
        ``part``: ``data`` is a content part of a kind that we do not know.
        ``usage``: ``data`` has ``input_tokens, output_tokens, reasoning_tokens, cached_tokens``
        (the last one counts; absent fields are unknown) and perhaps ``cost_usd``.
        ``stop``: ``text`` is one of STOP_REASONS or "" (unknown); ``data`` may hold
        ``finish_reason`` (as received), ``response_id``, ``response_model``.
    """

    kind: str
    text: str = ""
    index: int | None = None  # type: ignore[assignment]  # a field, not tuple's method
    id: str | None = None
    name: str | None = None
    data: Any = None


class Model:
    """Base class of models. Subclass it and write ``stream``.

    Attributes
    ----------
    name : str
        Full name, ``provider/model``.
    provider : str
        Whose it is.
    endpoint : str or None
        Where it is asked; part of the request key.
    simulated : bool
        Whether its answers are made up. Every picture and row says so.
    output_modes : frozenset of str
        How it can be told what its answer must be, see :class:`OutputSpec`. ``"text"`` needs
        nothing of a model; the others need one that looks at ``Request.output``.
    schema_beside_tools : bool
        Whether it can keep to a schema and yet call tools.

    Examples
    --------
    >>> class Echo(Model):
    ...     name, provider = "demo/echo", "demo"
    ...     async def stream(self, request):
    ...         yield Chunk("text", request.messages[-1].text)
    ...         yield Chunk("stop", "stop")
    >>> Echo().name
    'demo/echo'
    """

    name: str = "model"
    provider: str = "custom"
    endpoint: str | None = None
    simulated: bool = False
    #: names of parameters that decide nothing about the answer and stay out of the request key
    silent_params: ClassVar[frozenset[str]] = frozenset()
    output_modes: frozenset[str] = frozenset({"text"})
    schema_beside_tools: bool = False

    def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer one request, once.

        Parameters
        ----------
        request : Request

        Yields
        ------
        Chunk
            Pieces in order; ``usage`` and ``stop`` come at the end when they are known.

        Raises
        ------
        ModelError
            With ``retryable``, ``retry_after`` (seconds) and ``billed`` set.
        """
        raise NotImplementedError

    def check(self) -> None:
        """Raise ConfigurationError when the model cannot be asked (a missing key, say). No I/O."""

    async def aclose(self) -> None:
        """Let go of connections. The model can be used again."""

    def __repr__(self) -> str:
        mark = " (simulated)" if self.simulated else ""
        return f"<{type(self).__name__} {self.name}{mark}>"
