"""One attempt of a model call: one request, with its deadline, and what it failed with.

It neither waits nor asks again: ``calls`` does.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from ..core.errors import ModelError, RobotLabError
from ..runtime.reservations import out_of_time
from . import call_events as events
from .assembly import Assembler

if TYPE_CHECKING:
    from collections.abc import Callable

    from .calls import Call
    from .protocol import Chunk

__all__ = ["attempt", "end_text", "pass_on", "timed_out"]


async def attempt(call: Call) -> ModelError | None:
    """Make one request.

    Returns
    -------
    ModelError or None
        What it failed with; None when the answer is in ``call.assembler``.

    Raises
    ------
    BudgetExceeded
        When a budget's time was up before the answer was complete.
    RobotLabError
        When the model cannot be asked: a missing key, say.
    """
    import asyncio

    model = call.model
    call.attempt += 1
    call.assembler = Assembler()
    call.first = None
    began = call.attempt_began = monotonic()
    left = call.request.timeout = None if call.until is None else max(0.0, call.until - began)
    try:
        async with asyncio.timeout(left) as limit:
            await _read(call)
    except TimeoutError as error:
        return timed_out(call) if limit.expired() else _own(call, error)
    except ModelError as error:
        if error.kind == "timeout" and left is not None and monotonic() - began >= left:
            return timed_out(call)
        return error
    except RobotLabError:
        raise
    except Exception as error:
        return _own(call, error)
    if call.assembler.empty:
        return ModelError(
            f"{model.name} answered with nothing at all", retryable=True, kind="protocol"
        )
    end_text(call)
    events.attempt_completed(call)
    return None


async def _read(call: Call) -> None:
    """Take the answer in, and pass on what is listened to."""
    chunks = call.model.stream(call.request)
    add: Callable[[Chunk], None] = call.assembler.add
    if call.heard is not None:
        add = call.heard.listen(call, add)
    streaming = call.request.streaming
    try:
        async for chunk in chunks:
            if call.first is None:
                call.first = monotonic() - call.began
            add(chunk)
            if streaming and chunk.text:
                pass_on(call, chunk)
    except BaseException:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
        raise


def pass_on(call: Call, chunk: Chunk) -> None:
    """Hand a piece of the answer to those who listen."""
    kind = chunk.kind
    if kind == "tool_call":
        kind = f"arguments:{chunk.index or 0}"
    elif kind not in ("text", "reasoning", "refusal"):
        return
    passed = call.run.root.delta(call.run, call.id, call.attempt, kind, chunk.text)
    if kind == "text":
        _say(call, passed)


def end_text(call: Call) -> None:
    """Hand on what was held back of the answer: it is complete."""
    if call.request.streaming:
        _say(call, call.run.root.let_go(call.id))


def _say(call: Call, text: str) -> None:
    on_content = call.settings["on_content"]
    if text and on_content is not None:
        on_content(text)


def _own(call: Call, error: Exception) -> ModelError:
    """A mistake of the model's own code, as a ModelError."""
    failed = ModelError(f"{call.model.name} failed: {type(error).__name__}: {error}", kind="model")
    failed.__cause__ = error
    return failed


def timed_out(call: Call) -> ModelError:
    """The error of a model whose time was up; a budget's, where its time was the shorter one."""
    if call.ends is not None and call.until == call.ends:
        raise out_of_time(call.run.budgets, call.id, call.run)
    return ModelError(
        f"{call.model.name} gave no complete answer within {call.seconds:.4g} s",
        hint="Raise model_timeout, or ask for a shorter answer.",
        kind="timeout",
        billed=call.first is not None,
    )
