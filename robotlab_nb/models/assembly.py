"""Folding the pieces of an answer into one assistant message.

Every model's pieces go through here, so what a stop reason means and what becomes of a call id
that was given twice is decided once. It knows no wire, no socket and no run.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..core.messages import (
    Message,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    UnknownPart,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..core.messages import Part
    from .protocol import Chunk

__all__ = ["Assembler", "without_call_text"]

_CALL_TEXT = re.compile(r"\s*<tool_call>\s*(\{.*?\})\s*</tool_call>\s*", re.DOTALL)


class Assembler:
    """Takes chunks in, gives a message out.

    Attributes
    ----------
    usage : dict or None
        What the provider counted: ``input_tokens``, ``output_tokens``, ``reasoning_tokens``,
        ``cached_tokens``, perhaps ``cost_usd`` (US dollars). None when it counted nothing.
    finish_reason, response_id, response_model : str or None
        As received.

    Examples
    --------
    >>> from robotlab_nb.models.protocol import Chunk
    >>> found = Assembler()
    >>> for chunk in (Chunk("text", "Hel"), Chunk("text", "lo"), Chunk("stop", "stop")):
    ...     found.add(chunk)
    >>> found.message(lambda: "call_1").text, found.stop_reason
    ('Hello', 'stop')
    """

    __slots__ = (
        "_calls", "_content", "_last", "_lengths", "_opaque", "_reasoning", "_refusal", "_stop",
        "_text", "_text_length", "finish_reason", "response_id", "response_model", "usage",
    )  # fmt: skip

    def __init__(self) -> None:
        self._text: list[str] = []  # text since the last part that is not text
        self._text_length = 0
        self._content: list[Part] = []  # text and unknown parts before that
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._opaque: dict[str, Any] = {}
        self._calls: dict[Any, _Call] = {}
        self._last: Any = None
        self._lengths: dict[str, int] = {}
        self._stop: str | None = None
        self.usage: dict[str, Any] | None = None
        self.finish_reason: str | None = None
        self.response_id: str | None = None
        self.response_model: str | None = None

    def add(self, chunk: Chunk) -> None:
        """Take one piece in. Pieces of a kind that is not known are left out."""
        kind = chunk[0]
        if kind == "text":
            text = chunk[1]
            self._text.append(text)
            self._text_length += len(text)
        elif kind == "reasoning":
            self._reasoning.append(chunk.text)
            self._count(kind, chunk.text)
        elif kind == "refusal":
            self._refusal.append(chunk.text)
            self._count(kind, chunk.text)
        elif kind == "tool_call":
            self._add_call(chunk)
        elif kind == "usage":
            self.usage = dict(chunk.data) if chunk.data else self.usage
        elif kind == "opaque":
            self._add_opaque(chunk)
        elif kind == "part":
            self._flush()
            self._content.append(UnknownPart(chunk.data))
        elif kind == "stop":
            self._stop = chunk.text
            data = chunk.data or {}
            self.finish_reason = data.get("finish_reason")
            self.response_id = data.get("response_id")
            self.response_model = data.get("response_model")

    def message(self, new_id: Callable[[], str]) -> Message:
        """The whole answer.

        Parameters
        ----------
        new_id : callable
            Gives our id for each tool call, in order.

        Returns
        -------
        Message
            Of the assistant: reasoning, text, refusal, tool calls in the order of their first
            piece. A provider's call id that was used before in this answer gets ``_2``, ``_3`` …
        """
        calls = self._made()
        content = self._said()
        if calls:
            names = [call.name for call in calls]
            content = [
                part
                for part in (_cleaned(part, names) for part in content)
                if not isinstance(part, TextPart) or part.text
            ]
        parts: list[Part] = self._thought(self._opaque or None)
        parts += content
        parts += self._refused()
        taken: set[str] = set()
        for call in calls:
            parts.append(
                ToolCallPart(
                    new_id(),
                    call.name,
                    "".join(call.arguments),
                    _fresh(call.id, taken),
                    call.opaque or None,
                )
            )
        return Message("assistant", parts)

    def partial(self) -> list[Part]:
        """What an answer that broke off had: the text marked as cut, and no tool calls.

        Returns
        -------
        list of Part
            Reasoning, text, refusal. Signatures are left out: they stand for whole reasoning.
        """
        said: list[Part] = [
            TextPart(part.text, part.opaque, True) if isinstance(part, TextPart) else part
            for part in self._said()
        ]
        return [*self._thought(None), *said, *self._refused()]

    @property
    def empty(self) -> bool:
        """Whether nothing came: no words, no call, no count and no stop reason."""
        return self._stop is None and self.usage is None and not self.offset("text") and not (
            self._content or self._reasoning or self._refusal or self._calls or self._opaque
        )  # fmt: skip

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped, one of ``STOP_REASONS``; None when that is unknown.

        Tool calls make it ``tool`` unless something stronger was said: after ``length`` they are
        cut and after ``content_filter`` or ``refused`` unwanted, and must not be carried out.
        """
        stop = self._stop or ""
        if stop in ("length", "content_filter", "refused"):
            return stop
        if any(self._refusal):
            return "refused"
        if self._made():
            return "tool"
        return "stop" if stop == "stop" else None

    def offset(self, kind: str) -> int:
        """How many characters of a kind came so far.

        Parameters
        ----------
        kind : str
            ``text``, ``reasoning``, ``refusal`` or ``arguments:N``, N being a chunk's index.
        """
        return self._text_length if kind == "text" else self._lengths.get(kind, 0)

    # -- pieces ------------------------------------------------------------------------------

    def _count(self, kind: str, text: str) -> None:
        self._lengths[kind] = self._lengths.get(kind, 0) + len(text)

    def _call(self, chunk: Chunk) -> _Call:
        key: Any = chunk.index
        if key is None:
            key = chunk.id or self._last
        self._last = key
        return self._calls.setdefault(key, _Call())

    def _add_call(self, chunk: Chunk) -> None:
        call = self._call(chunk)
        call.id = call.id or chunk.id or ""
        call.name = call.name or chunk.name or ""
        if chunk.text:
            call.arguments.append(chunk.text)
            self._count(f"arguments:{chunk.index or 0}", chunk.text)

    def _add_opaque(self, chunk: Chunk) -> None:
        extras = self._opaque if chunk.index is None else self._call(chunk).opaque
        extras.update(chunk.data or {})

    def _flush(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if text:
            self._content.append(TextPart(text))

    # -- parts -------------------------------------------------------------------------------

    def _said(self) -> list[Part]:
        text = "".join(self._text)
        return [*self._content, TextPart(text)] if text else list(self._content)

    def _thought(self, opaque: Mapping[str, Any] | None) -> list[Part]:
        text = "".join(self._reasoning)
        return [ReasoningPart(text, opaque)] if text or opaque else []

    def _refused(self) -> list[Part]:
        text = "".join(self._refusal)
        return [RefusalPart(text)] if text else []

    def _made(self) -> list[_Call]:
        """The calls: a name, or arguments for want of one. Some servers send empty shells."""
        return [call for call in self._calls.values() if call.name or call.arguments]


class _Call:
    """One tool call in the making."""

    __slots__ = ("arguments", "id", "name", "opaque")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.opaque: dict[str, Any] = {}


def _fresh(id_: str, taken: set[str]) -> str | None:
    if not id_:
        return None
    fresh, n = id_, 1
    while fresh in taken:
        n += 1
        fresh = f"{id_}_{n}"
    taken.add(fresh)
    return fresh


def _cleaned(part: Part, names: Iterable[str]) -> Part:
    if isinstance(part, TextPart) and "<tool_call>" in part.text:
        return TextPart(without_call_text(part.text, names), part.opaque, part.cut)
    return part


def without_call_text(text: str, names: Iterable[str]) -> str:
    r"""A text without the raw ``<tool_call>`` blocks of calls that the server also parsed.

    Parameters
    ----------
    text : str
        What the model wrote.
    names : iterable of str
        The tools of the parsed calls. Blocks that name another tool stay.

    Returns
    -------
    str
        The rest; "" when nothing but blanks is left.

    Examples
    --------
    >>> raw = 'Hm.\n<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
    >>> without_call_text(raw, ["look"])
    'Hm.'
    >>> without_call_text(raw, ["other"]) == raw
    True
    """
    known = set(names)

    def keep(match: re.Match[str]) -> str:
        try:
            call = json.loads(match[1])
        except (ValueError, RecursionError):
            return match[0]
        if call.get("name") not in known:
            return match[0]
        return "\n" if match.start() > 0 and match.end() < len(text) else ""

    rest = _CALL_TEXT.sub(keep, text)
    return rest if rest == text or rest.strip() else ""
