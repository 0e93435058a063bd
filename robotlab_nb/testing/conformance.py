"""What every model that is asked over HTTP must do, as cases that can be run against any.

A case scripts a server, asks the model once, and looks at what came: words, calls, usage, stop
reason or error, and that exactly one request was made. It knows models and the server, no robots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from ..core.messages import Message, ToolCallPart, ToolResultPart
from ..models.assembly import Assembler
from ..models.protocol import Request, ToolSpec
from .conformance_cases import CASES, Case
from .server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ..models.protocol import Chunk, Model

__all__ = ["CASES", "Case", "check_model", "run_case"]

_WEATHER = ToolSpec(
    "get_weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_CLOCK = ToolSpec("get_time", "The time.", {"type": "object", "properties": {}})


async def run_case(
    case: Case, make_model: Callable[[ModelServer], Model], *, allow: Collection[str] = ()
) -> None:
    """Run one case against a model.

    Parameters
    ----------
    case : Case
        One of :data:`CASES`, or your own.
    make_model : callable
        Takes the running server, gives the model that asks it.
    allow : collection of str, optional
        Words of ``case.about`` whose details are not looked at: what came must still be an
        answer where one was due and a ModelError where one was due, from one request.

    Raises
    ------
    AssertionError
        When the model does something else; the message says what.

    Examples
    --------
    >>> import asyncio
    >>> asyncio.run(run_case(CASES[0], lambda server: server.model()))
    """
    async with ModelServer([case.reply], repeat=True) as server:
        model = make_model(server)
        request = _request(case)
        found, error, chunks = await _ask(model, request)
        await model.aclose()
        asked = len(server.requests)
    lenient = not case.about.isdisjoint(allow)
    _same(case, "requests", asked, 1)
    if case.error:
        _check_error(case, error, found, lenient)
        return
    if error is not None:
        raise AssertionError(f"{case.name}: {type(error).__name__}: {error}") from error
    if not lenient:
        _check_message(case, found, chunks)


def check_model(
    make_model: Callable[[ModelServer], Model],
    *,
    allow: Collection[str] = (),
    skip: Collection[str] = (),
) -> None:
    """Run all cases against a model; for a test of your own model.

    Parameters
    ----------
    make_model : callable
        Takes the running server, gives the model that asks it.
    allow : collection of str, optional
        As in :func:`run_case`.
    skip : collection of str, optional
        Names of cases to leave out.

    Raises
    ------
    AssertionError
        When cases fail; all of them are listed.

    Examples
    --------
    >>> check_model(lambda server: server.model(), skip=[case.name for case in CASES[4:]])
    """
    import asyncio

    async def run() -> list[str]:
        failures = []
        for case in CASES:
            if case.name not in skip:
                try:
                    await run_case(case, make_model, allow=allow)
                except AssertionError as error:
                    failures.append(str(error))
        return failures

    failures = asyncio.run(run())
    if failures:
        raise AssertionError(f"{len(failures)} of {len(CASES)} cases:\n" + "\n".join(failures))


def _request(case: Case) -> Request:
    """A question that comes after a tool was used, so that each kind of message is sent."""
    call = ToolCallPart("c0", "get_time", "{}", "wire_0")
    messages = (
        Message("system", "Be brief."),
        Message("user", "What time is it?"),
        Message("assistant", [call]),
        Message("tool", [ToolResultPart("c0", "get_time", "noon", False, "wire_0")]),
        Message("assistant", "Noon."),
        Message("user", "And the weather?"),
    )
    return Request(messages, (_WEATHER, _CLOCK), {}, case.streaming, case.timeout)


async def _ask(
    model: Model, request: Request
) -> tuple[Assembler, BaseException | None, list[Chunk]]:
    found = Assembler()
    chunks: list[Chunk] = []
    try:
        async for chunk in model.stream(request):
            chunks.append(chunk)
            found.add(chunk)
    except Exception as error:
        return found, error, chunks
    return found, None, chunks


def _check_message(case: Case, found: Assembler, chunks: list[Chunk]) -> None:
    ids = iter(range(1, 1000))
    message = found.message(lambda: f"id_{next(ids)}")
    _same(case, "text", message.text, case.text)
    _same(case, "reasoning", message.reasoning, case.reasoning)
    calls = message.tool_calls
    _same(case, "calls", tuple((call.name, call.arguments) for call in calls), case.calls)
    wire_ids = [call.wire_id or call.id for call in calls]
    _same(case, "different call ids", len(set(wire_ids)), len(calls))
    _same(case, "stop reason", found.stop_reason, case.stop)
    _same(case, "last chunk", chunks[-1].kind, "stop")
    if case.usage is None:
        _same(case, "usage", found.usage, None)
    else:
        usage = found.usage or {}
        _same(case, "usage", {key: usage.get(key) for key in case.usage}, dict(case.usage))
        _same(case, "usage is given", bool(usage), True)
    if case.streaming and len(case.reply.pieces) > 1:
        pieces = [chunk for chunk in chunks if chunk.kind == "text"]
        _same(case, "streamed in pieces", len(pieces) > 1, True)


def _check_error(case: Case, error: BaseException | None, found: Assembler, lenient: bool) -> None:
    if not isinstance(error, ModelError):
        raise AssertionError(f"{case.name}: expected a ModelError, got {error!r}") from error
    if lenient:
        return
    for name, value in case.error.items():
        _same(case, name, getattr(error, name), value)
    if case.partial is not None:
        kept = found.partial()
        said = "".join(part.text for part in kept if part.kind == "text")  # type: ignore[union-attr]
        _same(case, "partial text", said, case.partial)
        _same(case, "calls kept", [part for part in kept if part.kind == "tool_call"], [])


def _same(case: Case, what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise AssertionError(f"{case.name}: {what}: expected {expected!r}, got {found!r}")
