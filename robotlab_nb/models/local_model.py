"""A real small model in this process: no key, no server to start, no hub.

One attempt at a time and no more; loading is :mod:`.local_engine`'s, tools are
:mod:`.local_tools`'s, the wire is :mod:`.direct`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ModelError
from .local_engine import Wanted, default_threads, load, unload
from .local_tools import AnswerReader, as_grammar, as_plain
from .local_weights import SMOL, check_weights, weights_of
from .protocol import Chunk, Model, Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from .local_engine import Loaded

__all__ = ["LocalModel"]

#: tokens of an answer where nobody says: a small model may never find an end
_MOST_TOKENS = 512


class LocalModel(Model):
    """A model whose weights are loaded in this process.

    ``model="local"`` is the small SmolLM2 (135 million parameters) that ``python -m robotlab_nb
    local install`` brings; ``model="local/path/to/weights.gguf"`` any other. Good for seeing real
    streaming, tool calls and structured answers without a key; do not let the small one decide
    anything. Tools and structured answers are held to their schemas by the runtime.

    Parameters
    ----------
    weights : str or Path, optional
        A ``.gguf`` file; the small model when left out.
    threads : int, optional
        Of the processor; half of them by default.
    context : int, optional
        Tokens that prompt and answer may have together.
    slots : int, optional
        Answers that are written at the same time; others wait.

    Raises
    ------
    ConfigurationError
        When ``weights`` cannot be meant. Whether they are there is looked at before a request.

    Examples
    --------
    >>> LocalModel(), LocalModel("weights/qwen.gguf").name
    (<LocalModel local/SmolLM2-135M-Instruct>, 'local/qwen')
    """

    provider = "local"
    output_modes = frozenset({"schema", "text"})
    schema_beside_tools = True

    def __init__(
        self,
        weights: str | Path | None = None,
        *,
        threads: int | None = None,
        context: int = 4096,
        slots: int = 1,
    ) -> None:
        for what, number in (("threads", threads), ("context", context), ("slots", slots)):
            if number is not None and (not isinstance(number, int) or number < 1):
                raise ConfigurationError(
                    f"{what}={number!r} of a local model is no number above 0",
                    hint="Leave it out for what fits most.",
                )
        self._path = weights_of(str(weights or ""))
        self._threads = threads or default_threads()
        self._context, self._slots = context, slots
        self._wanted: Wanted | None = None
        stem = SMOL if self._path is None else self._path.stem
        self.name = f"local/{stem}"
        self.endpoint = f"local:{stem}.gguf"

    def check(self) -> None:
        """Raise ConfigurationError when the runtime or the weights are missing."""
        check_weights(self._path)

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer one request, once; the first one loads the weights.

        Parameters
        ----------
        request : Request

        Yields
        ------
        Chunk

        Raises
        ------
        ModelError
            Of kind ``context_length`` when the messages are longer than ``context``.
        ConfigurationError
            When the weights are missing.
        """
        loaded = await self._load()
        reader = None
        if request.tools:
            reader = AnswerReader(data=request.output is not None)
            asked = as_grammar(request)
        else:
            asked = _copied(request, as_plain(request.messages))
        asked.params = {**_limited(asked.params)}
        asked.streaming = True  # what is generated can be stopped at any token
        try:
            async for chunk in loaded.model.stream(asked):
                for made in _read(chunk, reader):
                    yield made
        except ModelError as error:
            raise self._told(error) from None

    async def aclose(self) -> None:
        """Free the memory, unless another robot's model uses it. The model can be used again."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            from ..runtime.threads import in_thread

            await in_thread(lambda: unload(wanted, self))

    async def _load(self) -> Loaded:
        from ..runtime.threads import in_thread

        wanted = Wanted(check_weights(self._path), self._threads, self._context, self._slots)
        self._wanted = wanted
        return await in_thread(lambda: load(wanted, self.name.partition("/")[2], self))

    def _told(self, error: ModelError) -> ModelError:
        """An error of the runtime, with what to do about it here."""
        if "context size" in error.message or "context size" in (error.body or ""):
            error.kind, error.retryable = "context_length", False
            error.hint = (
                f"It has room for {self._context:,} tokens: ask for less, or build the robot with "
                f"model=rl.LocalModel(…, context={2 * self._context})."
            )
        return error


def _copied(request: Request, messages: Any) -> Request:
    return Request(messages, (), request.params, request.streaming, request.timeout, request.output)


def _limited(params: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in params.items() if value is not None}
    if not told.keys() & {"max_tokens", "max_completion_tokens"}:
        told["max_tokens"] = _MOST_TOKENS
    return told


def _read(chunk: Chunk, reader: AnswerReader | None) -> list[Chunk]:
    """A chunk as it is to the engine: what was made here costs nothing, and tools are calls."""
    if chunk.kind == "usage":
        return [chunk._replace(data={**(chunk.data or {}), "cost_usd": 0.0})]
    if reader is None:
        return [chunk]
    if chunk.kind == "text":
        said = reader.feed(chunk.text)
        return [chunk._replace(text=said)] if said else []
    if chunk.kind == "stop":
        return [*reader.finish(), chunk]
    return [chunk]
