"""What a model call says of itself: its events, and the usage in them.

It only tells; whom to ask, when and how often is decided in ``calls`` and ``attempts``.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import describe_error
from ..core.usage import NOTHING, Usage
from .costs import cost_of
from .tokens import estimate_tokens

if TYPE_CHECKING:
    from ..core.errors import ModelError
    from ..core.messages import Message
    from .cache import Kept
    from .calls import Call
    from .protocol import Model, OutputSpec, ToolSpec

__all__ = [
    "attempt_completed", "attempt_failed", "call_completed", "call_failed", "call_started",
    "estimated", "fallback", "found", "stored", "usage_of",
]  # fmt: skip


def call_started(call: Call) -> None:
    """Somebody is about to be asked. A run's first call tells what all of its requests are told."""
    request, model = call.request, call.model
    data: dict[str, Any] = {
        "call_id": call.id,
        "round": call.round,
        "model": model.name,
        "provider": model.provider,
        "endpoint": model.endpoint,
        "simulated": model.simulated,
        "request_key": call.key,
        "message_ids": call.message_ids,
        "tools": [t.name for t in request.tools],
        "params": request.params,
        "streaming": request.streaming,
    }
    if call.round == 1:
        if request.tools:
            data["tool_specs"] = [_tool(tool) for tool in request.tools]
        if request.output is not None:
            data["output"] = _output(request.output)
    call.run.emit("model_call.started", data)


def _tool(tool: ToolSpec) -> dict[str, Any]:
    told = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return told  # the schema itself: one for all runs


def _output(spec: OutputSpec) -> dict[str, Any]:
    tool = None if spec.tool is None else _tool(spec.tool)
    return {
        "name": spec.name, "schema": spec.schema, "mode": spec.mode, "strict": spec.strict,
        "tool": tool,
    }  # fmt: skip


def attempt_completed(call: Call) -> None:
    """The request that was answered."""
    call.run.emit(
        "attempt.completed",
        {
            "call_id": call.id,
            "attempt": call.attempt,
            "model": call.model.name,
            "started_s": call.attempt_began - call.began,
            "duration_s": monotonic() - call.attempt_began,
        },
    )


def attempt_failed(call: Call, error: ModelError, wait: float | None) -> None:
    """A request that was not, and after how many seconds there is another (None: there is none)."""
    call.run.emit(
        "attempt.failed",
        {
            "call_id": call.id,
            "attempt": call.attempt,
            "model": call.model.name,
            "started_s": call.attempt_began - call.began,
            "duration_s": monotonic() - call.attempt_began,
            "error": describe_error(error),
            "retry_in_s": wait,
            "billed": error.billed or call.first is not None,
        },
    )


def fallback(call: Call, next_model: Model, error: ModelError) -> None:
    """The current model has failed for good."""
    call.run.emit(
        "model_call.fallback",
        {
            "call_id": call.id,
            "from_model": call.model.name,
            "to_model": next_model.name,
            "error": describe_error(error),
        },
    )


def call_failed(call: Call, error: BaseException) -> None:
    """There is no answer: all attempts failed, or the run was stopped."""
    described = (
        describe_error(error)
        if isinstance(error, Exception)
        else {"type": "RunInterrupted", "message": "the run was stopped"}
    )
    data: dict[str, Any] = {
        "call_id": call.id,
        "error": described,
        "attempts": call.attempt,
        "duration_s": monotonic() - call.began,
        "text": "".join(getattr(p, "text", "") for p in call.partial() if p.kind == "text"),
    }
    if call.wasted is not NOTHING:
        data["usage"] = {**call.wasted.to_dict(), "calls": 1}
    call.run.emit("model_call.failed", data)
    call.run.root.void(call.id, call.attempt)


def call_completed(call: Call, message: Message, usage: Usage) -> None:
    """There is an answer."""
    answer = call.assembler
    data: dict[str, Any] = {
        "call_id": call.id,
        "text": message.text,
        "stop_reason": answer.stop_reason or None,
        "finish_reason": answer.finish_reason,
        "usage": usage.to_dict(),
        "attempts": call.attempt,
        "duration_s": monotonic() - call.began,
        "first_token_s": call.first,
        "response_id": answer.response_id,
        "response_model": answer.response_model,
    }
    if call.tried:
        data |= _who(call)
    if call.played:
        data["played"] = True
    call.run.emit("model_call.completed", data)
    call.run.root.void(call.id, call.attempt)


def found(call: Call, kept: Kept, message: Message) -> None:
    """The answer was kept from an equal request. It has its tokens, and costs nothing now."""
    call.run.emit("cache.hit", {"call_id": call.id, "request_key": call.key})
    data: dict[str, Any] = {
        "call_id": call.id,
        "text": message.text,
        "stop_reason": kept.stop_reason,
        "finish_reason": kept.finish_reason,
        "usage": kept.usage.to_dict(),
        "attempts": call.attempt,
        "duration_s": monotonic() - call.began,
        "response_model": kept.response_model,
        "cached": True,
    }
    if call.tried:
        data |= _who(call)
    call.run.emit("model_call.completed", data)
    call.run.root.void(call.id, call.attempt)


def stored(call: Call) -> None:
    """The answer is kept for equal requests."""
    call.run.emit("cache.stored", {"call_id": call.id, "request_key": call.key})


def _who(call: Call) -> dict[str, Any]:
    """Who answered, where it is another model than the one that was asked first."""
    model = call.model
    return {
        "model": model.name,
        "provider": model.provider,
        "simulated": model.simulated,
        "request_key": call.key,
    }


def usage_of(call: Call, message: Message) -> Usage:
    """What an answer took: the provider's counts, else our estimates, and its price."""
    told = call.assembler.usage or {}
    estimated = False
    tokens_in, tokens_out = told.get("input_tokens"), told.get("output_tokens")
    if tokens_in is None or tokens_out is None:
        estimated = True
        if tokens_in is None:
            tokens_in = sum(estimate_tokens(m.text) for m in call.request.messages)
        if tokens_out is None:
            written = [message.text, message.reasoning]
            written += [c.name + c.arguments for c in message.tool_calls]
            tokens_out = sum(estimate_tokens(t) for t in written)
    counted = {**told, "input_tokens": tokens_in, "output_tokens": tokens_out}
    cost = cost_of(call.model, counted, call.assembler.response_model)
    return Usage(
        tokens_in,
        tokens_out,
        told.get("reasoning_tokens"),
        told.get("cached_tokens"),
        estimated,
        cost,
        cost is not None and call.wasted is NOTHING,
        1,
    )


def estimated(call: Call) -> Usage:
    """What an attempt was billed that broke off after its first byte, as far as can be told."""
    usage = usage_of(call, call.assembler.message(lambda: ""))
    if call.model.simulated:
        return Usage(usage.input_tokens, usage.output_tokens, estimated=True, cost_usd=0.0)
    return Usage(
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cached_tokens,
        estimated=True,
        cost_usd=usage.cost_usd,
        cost_complete=False,
    )
