"""One model call as the loop sees it: attempts, waits, deadlines, usage, cost, and their events.

This is the only place that asks a model again. Fallback chains, rate limits, budgets and caching
belong here too, between :meth:`Call.complete` and :meth:`Call._attempt`.
"""

from __future__ import annotations

import random
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError, RobotLabError, describe_error
from ..core.keys import request_key
from ..core.usage import Usage
from .assembly import Assembler
from .costs import cost_of
from .tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from ..core.messages import Message, Part
    from ..runtime.run import Run
    from .protocol import Chunk, Model, Request

__all__ = ["Call"]

#: stands in before the first attempt; nothing is added to it
NOTHING = Assembler()


class Call:
    """A call to a model: up to ``attempts`` requests within ``model_timeout`` seconds.

    Parameters
    ----------
    run : Run
        Events are emitted through it.
    model : Model
    request : Request
    settings : mapping
        ``attempts, model_timeout, retry_interval, retry_backoff, retry_jitter, on_content``.
    tools_key : str
        Digest of the tool schemas in the request.
    round_ : int
        Which round of the model-tool loop this is, from 1.
    """

    __slots__ = (
        "_began", "_on_content", "assembler", "attempt", "billed", "first", "id", "model",
        "request", "round", "run", "settings", "tools_key",
    )  # fmt: skip

    def __init__(
        self,
        run: Run[Any],
        model: Model,
        request: Request,
        settings: Mapping[str, Any],
        *,
        tools_key: str = "",
        round_: int = 1,
    ) -> None:
        self.run = run
        self.model = model
        self.request = request
        self.settings = settings
        self.tools_key = tools_key
        self.round = round_
        self.id = f"{run.id}.{round_}"
        self.attempt = 0
        self._began = 0.0
        self.assembler: Assembler = NOTHING
        #: seconds from the call's start to the first piece of an answer
        self.first: float | None = None
        self.billed = False
        self._on_content = settings["on_content"]

    async def complete(self) -> Message:
        """Ask until there is an answer, the attempts are used up, or the time is.

        Returns
        -------
        Message
            The assistant's message. Stop reason and usage are in the run's state.

        Raises
        ------
        ModelError
            The last attempt's.
        """
        started = monotonic()
        self._emit_started()
        try:
            while True:
                error = await self._attempt(started)
                if error is None:
                    break
                wait = self._wait_before_next(error, started)
                self._emit_failed_attempt(error, wait, started)
                if wait is None:
                    raise error
                await self._sleep(wait)
        except BaseException as error:
            self._emit_failed(error, started)
            raise
        return self._emit_completed(started)

    def partial(self) -> list[Part]:
        """What an unfinished answer had: its text, marked as cut, and no half tool calls."""
        return self.assembler.partial()

    # -- attempts --------------------------------------------------------------------------

    async def _attempt(self, started: float) -> ModelError | None:
        """Make one request. Returns what it failed with, or None."""
        import asyncio

        self.attempt += 1
        self.assembler = Assembler()
        self.first = None
        timeout = self.settings["model_timeout"]
        left = None if timeout is None else max(0.0, timeout - (monotonic() - started))
        self.request.timeout = left
        began = self._began = monotonic()
        try:
            async with asyncio.timeout(left) as limit:
                await self._read(self.model.stream(self.request), started)
        except TimeoutError as error:
            if limit.expired():
                return self._name(self._timed_out(timeout))
            return self._own(error)
        except ModelError as error:
            if error.kind == "timeout" and left is not None and monotonic() - began >= left:
                return self._name(self._timed_out(timeout))
            return self._name(error)
        except RobotLabError:
            raise
        except Exception as error:
            return self._own(error)
        if self.assembler.empty:
            return ModelError(
                f"{self.model.name} answered with nothing at all", retryable=True, kind="protocol"
            )
        self.run.emit(
            "attempt.completed",
            {
                "call_id": self.id,
                "attempt": self.attempt,
                "started_s": began - started,
                "duration_s": monotonic() - began,
            },
        )
        return None

    def _name(self, error: ModelError) -> ModelError:
        self.billed = self.billed or error.billed or self.first is not None
        return error

    def _own(self, error: Exception) -> ModelError:
        """A mistake of the model's own code, as a ModelError."""
        failed = ModelError(
            f"{self.model.name} failed: {type(error).__name__}: {error}", kind="model"
        )
        failed.__cause__ = error
        return failed

    def _timed_out(self, timeout: float) -> ModelError:
        return ModelError(
            f"{self.model.name} gave no complete answer within {timeout:g} s",
            hint="Raise model_timeout, or ask for a shorter answer.",
            kind="timeout",
            billed=self.first is not None,
        )

    async def _read(self, chunks: AsyncIterator[Chunk], started: float) -> None:
        add = self.assembler.add
        run = self.run
        streaming = self.request.streaming
        try:
            async for chunk in chunks:
                if self.first is None:
                    self.first = monotonic() - started
                add(chunk)
                if streaming and chunk.text:
                    self._pass_on(run, chunk)
        except BaseException:
            close = getattr(chunks, "aclose", None)
            if close is not None:
                await close()
            raise

    def _pass_on(self, run: Run[Any], chunk: Chunk) -> None:
        kind = chunk.kind
        if kind == "text":
            if self._on_content is not None:
                self._on_content(chunk.text)
        elif kind == "tool_call":
            kind = f"arguments:{chunk.index or 0}"
        elif kind not in ("reasoning", "refusal"):
            return
        run.root.delta(run, self.id, self.attempt, kind, chunk.text)

    def _wait_before_next(self, error: ModelError, started: float) -> float | None:
        """Seconds to wait before asking again; None when that makes no sense."""
        s = self.settings
        if not error.retryable or self.attempt >= s["attempts"]:
            return None
        wait: float = s["retry_interval"] * s["retry_backoff"] ** (self.attempt - 1)
        wait *= 1 + s["retry_jitter"] * random.random()
        if error.retry_after is not None:
            wait = max(0.0, error.retry_after)
        timeout = s["model_timeout"]
        if timeout is not None and wait > timeout - (monotonic() - started):
            asked = "" if error.retry_after is None else f"; it asks to wait {wait:g} s"
            error.hint = (
                f"Another attempt would come after the deadline of {timeout:g} s"
                f"{asked}. Raise model_timeout, or run again later."
            )
            return None
        return wait

    async def _sleep(self, wait: float) -> None:
        import asyncio

        self.run.root.void(self.id, self.attempt)
        await asyncio.sleep(wait)

    # -- events ----------------------------------------------------------------------------

    def _emit_started(self) -> None:
        request, model = self.request, self.model
        ids = [m.id for m in request.messages]
        self.run.emit(
            "model_call.started",
            {
                "call_id": self.id,
                "round": self.round,
                "model": model.name,
                "provider": model.provider,
                "endpoint": model.endpoint,
                "simulated": model.simulated,
                "request_key": request_key(
                    ids, self.tools_key, request.params, model.name, model.endpoint
                ),
                "message_ids": ids,
                "tools": [t.name for t in request.tools],
                "params": request.params,
                "streaming": request.streaming,
            },
        )

    def _emit_failed_attempt(self, error: ModelError, wait: float | None, started: float) -> None:
        self.run.emit(
            "attempt.failed",
            {
                "call_id": self.id,
                "attempt": self.attempt,
                "started_s": self._began - started,
                "duration_s": monotonic() - self._began,
                "error": describe_error(error),
                "retry_in_s": wait,
                "billed": error.billed or self.first is not None,
            },
        )

    def _emit_failed(self, error: BaseException, started: float) -> None:
        described = (
            describe_error(error)
            if isinstance(error, Exception)
            else {"type": "RunInterrupted", "message": "the run was stopped"}
        )
        data: dict[str, Any] = {
            "call_id": self.id,
            "error": described,
            "attempts": self.attempt,
            "duration_s": monotonic() - started,
            "text": "".join(getattr(p, "text", "") for p in self.partial() if p.kind == "text"),
        }
        if self.billed or self.first is not None:
            free = self.model.simulated
            cost = 0.0 if free else None
            data["usage"] = {"calls": 1, "cost_usd": cost, "cost_complete": free}
        self.run.emit("model_call.failed", data)
        self.run.root.void(self.id, self.attempt)

    def _emit_completed(self, started: float) -> Message:
        found = self.assembler
        numbered = _Numbered(self.run)
        message = found.message(numbered)
        self.run.emit(
            "model_call.completed",
            {
                "call_id": self.id,
                "text": message.text,
                "stop_reason": found.stop_reason or None,
                "finish_reason": found.finish_reason,
                "usage": self._usage(message).to_dict(),
                "attempts": self.attempt,
                "duration_s": monotonic() - started,
                "first_token_s": self.first,
                "response_id": found.response_id,
                "response_model": found.response_model,
            },
        )
        self.run.root.void(self.id, self.attempt)
        return message

    def _usage(self, message: Message) -> Usage:
        told = self.assembler.usage or {}
        estimated = False
        tokens_in, tokens_out = told.get("input_tokens"), told.get("output_tokens")
        if tokens_in is None or tokens_out is None:
            estimated = True
            if tokens_in is None:
                tokens_in = sum(estimate_tokens(m.text) for m in self.request.messages)
            if tokens_out is None:
                written = [message.text, message.reasoning]
                written += [c.name + c.arguments for c in message.tool_calls]
                tokens_out = sum(estimate_tokens(t) for t in written)
        counted = {**told, "input_tokens": tokens_in, "output_tokens": tokens_out}
        cost = cost_of(self.model, counted, self.assembler.response_model)
        return Usage(
            tokens_in,
            tokens_out,
            told.get("reasoning_tokens"),
            told.get("cached_tokens"),
            estimated,
            cost,
            cost is not None and not self.billed,
            1,
        )


class _Numbered:
    """Gives our ids to the tool calls of a run, in order."""

    __slots__ = ("count", "run")

    def __init__(self, run: Run[Any]) -> None:
        self.run = run
        self.count = len(run.state.tool_calls)

    def __call__(self) -> str:
        self.count += 1
        return f"call_{self.run.id}_{self.count}"
