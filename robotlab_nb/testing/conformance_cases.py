"""The cases of the conformance kit: what a server answers, and what a model must make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .replies import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CASES", "Case"]

_PARIS, _ROME = '{"city": "Paris"}', '{"city": "Rome"}'
_COUNTS = {
    "prompt_tokens": 20,
    "completion_tokens": 9,
    "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 4},
}


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that a model must do.

    Parameters
    ----------
    name : str
        Says what is asked of it.
    reply : Reply
        What the server answers.
    text, reasoning : str
        What the message must say.
    calls : tuple of (name, arguments)
        The tool calls it must hold, in order.
    stop : str or None
        The stop reason; None for unknown.
    usage : mapping or None
        Counts that must be there; None when there must be none.
    partial : str or None
        For errors: the text that came before.
    error : mapping
        Attributes that the ModelError must have; empty when none must be raised.
    streaming : bool
    timeout : float or None
        Seconds, of the request.
    about : frozenset of str
        Words that an allowance may name, say ``refusal``.

    Examples
    --------
    >>> Case("a greeting", Reply.text("Hi"), text="Hi").stop
    'stop'
    """

    name: str
    reply: Reply
    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    stop: str | None = "stop"
    usage: Mapping[str, int] | None = field(default_factory=dict)
    partial: str | None = None
    error: Mapping[str, Any] = field(default_factory=dict)
    streaming: bool = False
    timeout: float | None = 20.0
    about: frozenset[str] = frozenset()


def _both(name: str, reply: Reply, **expected: Any) -> list[Case]:
    """A case as one piece and as a stream."""
    return [
        Case(name, reply, **expected),
        Case(f"{name}, streamed", reply, streaming=True, **expected),
    ]


def _about(*words: str) -> frozenset[str]:
    return frozenset(words)


def _words() -> list[Case]:
    return [
        *_both("text", Reply.text("Hello there, you"), text="Hello there, you"),
        *_both("text outside ASCII", Reply.text("Olá 🌍 안녕"), text="Olá 🌍 안녕"),
        *_both(
            "reasoning",
            Reply.text("Four.", reasoning="Two and two"),
            text="Four.",
            reasoning="Two and two",
            about=_about("reasoning"),
        ),
        *_both(
            "a refusal", Reply.refusal("No."), text="No.", stop="refused", about=_about("refusal")
        ),
        *_both(
            "a length stop",
            Reply.text("Once upon", finish="length"),
            text="Once upon",
            stop="length",
        ),
        *_both(
            "a length stop inside a call",
            Reply.tool_call("get_weather", '{"city": "Par', finish="length"),
            calls=(("get_weather", '{"city": "Par'),),
            stop="length",
        ),
        *_both(
            "a filtered answer",
            Reply.content_filter("So"),
            text="So",
            stop="content_filter",
        ),
    ]


def _calls() -> list[Case]:
    two = (("get_weather", _PARIS), ("get_weather", _ROME))
    return [
        *_both(
            "a tool call",
            Reply.tool_call("get_weather", _PARIS),
            calls=(("get_weather", _PARIS),),
            stop="tool",
        ),
        *_both(
            "text beside a tool call",
            Reply.tool_calls(("get_weather", _PARIS), text="Let me look."),
            text="Let me look.",
            calls=(("get_weather", _PARIS),),
            stop="tool",
        ),
        *_both(
            "parallel tool calls",
            Reply.tool_calls(("get_weather", _PARIS), ("get_weather", _ROME)),
            calls=two,
            stop="tool",
        ),
        Case(
            "interleaved tool calls, streamed",
            Reply.tool_calls(("get_weather", _PARIS), ("get_weather", _ROME), interleaved=True),
            calls=two,
            stop="tool",
            streaming=True,
        ),
        *_both(
            "a call under a finish reason of stop",
            Reply.tool_call("get_weather", _PARIS, finish="stop"),
            calls=(("get_weather", _PARIS),),
            stop="tool",
            about=_about("stop with calls"),
        ),
        *_both(
            "a call without arguments",
            Reply.tool_call("get_time", ""),
            calls=(("get_time", ""),),
            stop="tool",
            about=_about("empty arguments"),
        ),
        *_both(
            "a call with null for arguments",
            Reply.tool_call("get_time", "null"),
            calls=(("get_time", "null"),),
            stop="tool",
        ),
        *_both(
            "two calls with one id",
            Reply.tool_calls(("get_weather", _PARIS, "call_1"), ("get_weather", _ROME, "call_1")),
            calls=two,
            stop="tool",
        ),
    ]


def _counts() -> list[Case]:
    return [
        *_both(
            "usage",
            Reply.text("Hi", usage=_COUNTS),
            text="Hi",
            usage={
                "input_tokens": 20,
                "output_tokens": 9,
                "cached_tokens": 8,
                "reasoning_tokens": 4,
            },
        ),
        *_both(
            "no usage",
            Reply.text("Hi", usage=None),
            text="Hi",
            usage=None,
            about=_about("no usage"),
        ),
    ]


def _odd_answers() -> list[Case]:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    parts = [{"type": "text", "text": "Hi "}, {"type": "text", "text": "you"}]
    return [
        Case(
            "empty choices first and last, streamed",
            Reply.events({"choices": []}, chunk, end, {"choices": [], "usage": _COUNTS}),
            text="Hi",
            usage={"input_tokens": 20},
            streaming=True,
        ),
        Case(
            "no [DONE] after the finish reason, streamed",
            Reply.events(chunk, end, done=False),
            text="Hi",
            usage=None,
            streaming=True,
            about=_about("no usage"),
        ),
        Case("null content", Reply.text(""), text=""),
        Case(
            "content in parts",
            Reply.raw({"choices": [_choice({"role": "assistant", "content": parts})]}),
            text="Hi you",
            usage=None,
            about=_about("content parts", "no usage"),
        ),
        Case(
            "no choices",
            Reply.raw({"id": "x", "choices": []}),
            error={"kind": "protocol", "retryable": True},
            about=_about("error kinds"),
        ),
        Case(
            "choices that are null",
            Reply.raw({"id": "x", "choices": None}),
            error={"kind": "protocol", "retryable": True},
            about=_about("error kinds"),
        ),
    ]


def _choice(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"index": 0, "message": message, "finish_reason": "stop"}


def _refused() -> list[Case]:
    key = Reply.error(401, "Incorrect API key", code="invalid_api_key")
    slow = Reply.error(429, "Slow down", headers={"retry-after": "7"})
    long = "This model's maximum context length is 4096 tokens."
    return [
        *_both(
            "400",
            Reply.error(400, "no such field"),
            error=_error(400, "bad_request", retryable=False),
        ),
        *_both("401", key, error=_error(401, "auth", retryable=False)),
        *_both(
            "404",
            Reply.error(404, "The model does not exist", code="model_not_found"),
            error=_error(404, "not_found", retryable=False),
        ),
        *_both("429", slow, error=_error(429, "rate_limit", retryable=True, retry_after=7.0)),
        *_both("500", Reply.error(500), error=_error(500, "server", retryable=True)),
        *_both("503", Reply.error(503), error=_error(503, "overloaded", retryable=True)),
        *_both(
            "529",
            Reply.error(529),
            error=_error(529, "overloaded", retryable=True),
            about=_about("529"),
        ),
        Case(
            "a filtered prompt",
            Reply.error(400, "filtered", code="content_filter"),
            error=_error(400, "content_filter", retryable=False),
        ),
        Case(
            "a prompt that is too long",
            Reply.error(400, long, code="context_length_exceeded"),
            error=_error(400, "context_length", retryable=False),
        ),
        Case(
            "a page instead of an error",
            Reply.html(502),
            error=_error(502, "server", retryable=True),
        ),
    ]


def _error(status: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"status": status, "kind": kind, "billed": False, **more}


def _broken() -> list[Case]:
    first = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]}
    oops = {"error": {"code": 502, "message": "upstream"}}
    return [
        *_both(
            "a page instead of an answer",
            Reply.html(200, "Welcome"),
            error={"kind": "protocol"},
            about=_about("error kinds"),
        ),
        Case(
            "an error in a good answer",
            Reply.raw(oops),
            error={"kind": "server", "retryable": True},
        ),
        Case(
            "an error in a stream",
            Reply.events(first, oops),
            error={"retryable": True, "billed": True},
            partial="Hi",
            streaming=True,
        ),
        Case(
            "a cut answer",
            Reply.text("Hello there, you").cut(40),
            error={"kind": "cut", "retryable": True, "billed": True},
            about=_about("cut"),
        ),
        Case(
            "a cut stream",
            Reply.events(first, done=False),
            error={"kind": "cut", "retryable": True, "billed": True},
            partial="Hi",
            streaming=True,
            about=_about("cut"),
        ),
        Case(
            "a broken stream",
            Reply.events(first, first).cut(100),
            error={"kind": "cut", "retryable": True, "billed": True},
            partial="Hi",
            streaming=True,
            about=_about("cut"),
        ),
        Case(
            "a cut call",
            Reply.tool_call("get_weather", _PARIS).cut(500),
            error={"kind": "cut", "retryable": True},
            partial="",
            streaming=True,
            about=_about("cut"),
        ),
    ]


def _late() -> list[Case]:
    return [
        *_both(
            "no answer in time",
            Reply.text("late").after(30),
            error={"kind": "timeout", "billed": False},
            timeout=0.5,
        ),
        Case(
            "a stream that comes too slowly",
            Reply.text("Hello there, you").dribble(0.02),
            error={"kind": "timeout"},
            streaming=True,
            timeout=0.5,
            about=_about("slow stream"),
        ),
    ]


#: Every case, in order.
CASES: tuple[Case, ...] = (
    *_words(), *_calls(), *_counts(), *_odd_answers(), *_refused(), *_broken(), *_late(),
)  # fmt: skip
