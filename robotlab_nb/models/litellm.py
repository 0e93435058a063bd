"""Models of every provider that litellm knows, one attempt at a time.

litellm is imported on first use. Its retries are off, its exceptions become ModelError, and its
answers, which have the shape of OpenAI's, are read as such. Knows no run, no prices, no waiting.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ModelError, RobotLabError
from .key_refs import PROVIDERS, KeyRef, default_key, missing_key, remember, remember_all
from .openai_answer import StreamReader, read_json
from .openai_request import encode
from .output_request import answer_marks, hinted
from .protocol import Model
from .real_calls import check_real_call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence

    from .protocol import Chunk, Request

__all__ = ["LiteLLMModel"]

#: what an OpenAI-like server behind api_base gets as a key where none was given
_NO_KEY = "none"
_MODES = frozenset({"schema", "tool", "text"})


class LiteLLMModel(Model):
    """A model that is asked through litellm.

    Parameters
    ----------
    model : str
        ``provider/name``, as litellm writes it.
    api_base : str, optional
        Another address than the provider's own. The provider's usual key is not sent there.
    api_key : str or callable, optional
        The key, the name of an environment variable, or something without arguments that gives
        the key. By default litellm reads the provider's usual variables.
    key_name : str, optional
        The environment variable to name when the key is missing.

    Examples
    --------
    >>> LiteLLMModel("anthropic/claude-sonnet-4-5")
    <LiteLLMModel anthropic/claude-sonnet-4-5>
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        api_key: str | Callable[[], str | None] | None = None,
        key_name: str | None = None,
    ) -> None:
        self.provider, _, bare = model.partition("/")
        if not (self.provider and bare):
            raise ConfigurationError(
                f"litellm must know whose model {model!r} is", hint="Write provider/name."
            )
        self.name = model
        self.endpoint = api_base
        self._key = api_key if callable(api_key) else KeyRef.of(api_key)
        self.key_name = key_name or (self._key.name if isinstance(self._key, KeyRef) else None)

    @property
    def output_modes(self) -> frozenset[str]:  # type: ignore[override]
        """How it can be told what its answer must be, as far as litellm's lists know."""
        from .abilities import keeps_to_schemas

        known = self.endpoint is not None or keeps_to_schemas(self.name)
        return _MODES if known else _MODES - {"schema"}

    @property
    def schema_beside_tools(self) -> bool:  # type: ignore[override]
        """Whether it can keep to a schema and yet call tools."""
        return self.provider in ("openai", "azure") and self.endpoint is None

    def warm(self) -> None:
        """Start importing litellm in the background, so that the first call need not wait."""
        from .litellm_import import warm

        warm()

    def check(self) -> None:
        """Raise ConfigurationError when a key is needed and missing."""
        if self._key is not None:
            if not self._key():
                raise missing_key(self.name, self.key_name or "a key")
        elif self.endpoint is None and self.provider in PROVIDERS:
            usual = default_key(self.provider)
            if usual is not None and not usual.get():
                raise missing_key(self.name, str(usual.name))

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer one request, once.

        Parameters
        ----------
        request : Request
            ``timeout`` (seconds) counts for the whole attempt, the import of litellm included.

        Yields
        ------
        Chunk

        Raises
        ------
        ModelError
            As the direct way raises it: same kinds, statuses and waits.
        ConfigurationError
            When there is no key.
        """
        import asyncio

        check_real_call(self.name, self.endpoint)
        self.check()
        secrets = self._secrets()
        mark = answer_marks(request)
        attempt = _Attempt(self, request, asyncio.get_running_loop().time(), secrets)
        failed: ModelError | None = None
        try:
            async with aclosing(attempt.chunks()) as chunks:
                async for chunk in chunks:
                    attempt.started = True
                    yield chunk if mark is None else mark(chunk)
        except RobotLabError:
            raise
        except Exception as error:
            from .litellm_errors import translated

            failure = translated(
                error,
                self.name,
                started=attempt.started,
                timeout=request.timeout,
                secrets=secrets,
                key_name=self._key_variable(),
            )
            failed = hinted(failure, request)
        finally:
            await attempt.close()
        # Raised here and not above: litellm's errors hold the request, and with it the key.
        if failed is not None:
            raise failed

    async def embed(self, texts: Sequence[str], *, timeout: float | None) -> dict[str, Any]:
        """Ask for the vectors of texts, once.

        Parameters
        ----------
        texts : sequence of str
        timeout : float or None
            Seconds, the import of litellm included.

        Returns
        -------
        dict
            The answer, of the shape of OpenAI's.

        Raises
        ------
        ModelError, ConfigurationError
            As :meth:`stream` raises them.
        """
        import asyncio

        from .litellm_errors import translated
        from .litellm_import import litellm

        check_real_call(self.name, self.endpoint)
        self.check()
        try:
            async with asyncio.timeout(timeout):
                module = await litellm()
                asked = {"model": self.name, "input": list(texts)}
                return _plain(await module.aembedding(**asked, **self._how(timeout)))
        except RobotLabError:
            raise
        except Exception as error:
            secrets, key_name = self._secrets(), self._key_variable()
            failed = translated(
                error, self.name, timeout=timeout, secrets=secrets, key_name=key_name
            )
        raise failed  # not above: litellm's errors hold the request

    def _arguments(self, request: Request) -> dict[str, Any]:
        """What ``litellm.acompletion`` is called with."""
        asked = encode(request, self.name, origin=self.provider, forced=self._may_force(request))
        return {**asked, **self._how(request.timeout)}

    def _how(self, timeout: float | None) -> dict[str, Any]:
        """Where litellm is to ask, with which key, how long, and that only once."""
        key = self._key() if self._key is not None else None
        if key is None and self.endpoint is not None:
            key = _NO_KEY
        more = {"api_base": self.endpoint, "api_key": key, "timeout": timeout}
        told = {name: value for name, value in more.items() if value is not None}
        return {**told, "num_retries": 0, "max_retries": 0}

    def _may_force(self, request: Request) -> bool:
        """Whether the model may be made to call a tool: some refuse that while they think."""
        thinks = any(name in request.params for name in ("reasoning_effort", "thinking"))
        return not thinks or self.provider in ("openai", "azure")

    def _key_variable(self) -> str | None:
        if self.key_name is None and self._key is None and self.endpoint is None:
            usual = default_key(self.provider)
            return usual.name if usual is not None else None
        return self.key_name

    def _secrets(self) -> tuple[str, ...]:
        usual = default_key(self.provider)
        remember_all(self.provider)
        own = self._key() if self._key is not None else None
        if own:
            remember(own, self.key_name or "api_key")
        found = (own, usual and usual.get())
        return tuple([value for value in found if value and len(value) > 7])


class _Attempt:
    """One request through litellm, with its deadline."""

    __slots__ = ("_answer", "_deadline", "_model", "_request", "_secrets", "started")

    def __init__(
        self, model: LiteLLMModel, request: Request, now: float, secrets: tuple[str, ...]
    ) -> None:
        self._model = model
        self._request = request
        self._deadline = None if request.timeout is None else now + request.timeout
        self._secrets = secrets
        self._answer: Any = None
        self.started = False

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        import asyncio

        model, request = self._model, self._request
        module = await self._imported()
        async with asyncio.timeout_at(self._deadline):
            self._check_environment(module)
            self._answer = answer = await module.acompletion(**model._arguments(request))
        how: Mapping[str, Any] = {"origin": model.provider, "limit": _limit(request)}
        if not hasattr(answer, "__aiter__"):
            payload = _plain(answer)
            if not any(_counts(payload.get("usage"))):
                payload.pop("usage", None)  # litellm writes zeros where nothing was counted
            for chunk in read_json(payload, model.name, **how):
                yield chunk
            return
        reader = StreamReader(model.name, **how)
        while True:
            try:
                async with asyncio.timeout_at(self._deadline):
                    piece = await anext(answer)
            except StopAsyncIteration:
                break
            payload = _plain(piece)
            if "usage" in payload:
                payload["usage"] = _told(payload["usage"], answer)
            for chunk in reader.feed(payload):
                yield chunk
        if not _was_ended(answer):
            said, kind = "broke off before its answer was complete", "cut"
            if not self.started:
                said, kind = "gave no answer", "protocol"
            raise ModelError(f"{model.name} {said}", retryable=True, billed=True, kind=kind)
        for chunk in reader.finish():
            yield chunk

    async def _imported(self) -> Any:
        import asyncio

        from .litellm_import import litellm

        try:
            async with asyncio.timeout_at(self._deadline):
                return await litellm()
        except TimeoutError:
            raise ModelError(
                f"{self._model.name} was not asked: litellm was not imported in time",
                hint="Its first use takes seconds. Ask again, or raise model_timeout.",
                retryable=True,
                kind="timeout",
            ) from None

    async def close(self) -> None:
        """Let go of a stream that was not read to its end."""
        close = getattr(self._answer, "aclose", None)
        if close is not None:
            await close()

    def _check_environment(self, module: Any) -> None:
        """Ask litellm which keys are missing, for a provider that we have no table for."""
        model = self._model
        if model._key is not None or model.endpoint is not None or model.provider in PROVIDERS:
            return
        missing = module.validate_environment(model.name).get("missing_keys")
        if missing:
            raise missing_key(model.name, " and ".join(missing))


def _plain(answer: Any) -> dict[str, Any]:
    """An answer of litellm's as JSON."""
    dump = getattr(answer, "model_dump", None)
    plain: dict[str, Any] = (
        dump(exclude_none=True, warnings=False) if dump is not None else dict(answer)
    )
    return plain


def _counts(usage: Any) -> tuple[Any, ...]:
    if not isinstance(usage, dict):
        return ()
    return usage.get("prompt_tokens"), usage.get("completion_tokens"), usage.get("cost")


def _told(usage: dict[str, Any], stream: Any) -> dict[str, Any] | None:
    """What the provider counted, without litellm's own estimates of tokens and of cost.

    A stream of litellm's ends with both, whether the provider told anything or not.
    """
    sent = [_plain(piece).get("usage") for piece in getattr(stream, "chunks", ())]
    counted = [usage for usage in sent if usage]
    if not counted:
        return None
    if not any("cost" in told for told in counted):
        usage = {name: value for name, value in usage.items() if name != "cost"}
    return usage


def _was_ended(stream: Any) -> bool:
    """Whether the provider said why it stopped: litellm says "stop" where it did not."""
    told = ("received_finish_reason", "intermittent_finish_reason", "received_any_finish_reason")
    known = [getattr(stream, name) for name in told if hasattr(stream, name)]
    return not known or any(known)


def _limit(request: Request) -> int | None:
    limit = request.params.get("max_completion_tokens") or request.params.get("max_tokens")
    return limit if isinstance(limit, int) else None
