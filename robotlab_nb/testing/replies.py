"""What a model server answers: a reply for one request, and how it looks on the wire.

Replies are values; the server sends them. Nothing here opens a socket.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ..models.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["Call", "Reply"]

#: usage is counted from the words unless a reply says otherwise
_COUNTED: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in a reply: name, arguments as JSON text, and the id on the wire.

    Examples
    --------
    >>> Reply.tool_calls(Call("get_time"), ("get_weather", {"city": "Paris"})).calls[1].id
    'call_2'
    """

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a :class:`~robotlab_nb.testing.ModelServer`.

    Make one with :meth:`text`, :meth:`tool_call`, :meth:`tool_calls`, :meth:`refusal`,
    :meth:`content_filter`, :meth:`error`, :meth:`html`, :meth:`events` or :meth:`raw`, and change
    how it is sent with :meth:`after`, :meth:`paced`, :meth:`split`, :meth:`dribble`, :meth:`cut`
    and :meth:`unframed`. An answer goes out as JSON or as a stream, as the request asks.

    Parameters
    ----------
    status : int
        HTTP status.
    pieces : sequence of str
        The text, in the pieces of a stream; joined otherwise.
    reasoning, refused : str
    calls : sequence of Call
    interleaved : bool
        Whether the arguments of several calls come in turns.
    finish : str or None
        The finish reason; None leaves it out.
    usage : mapping or None
        As on the wire; None sends none. By default it is counted from the words.
    body : bytes or None
        Sent as it is, instead of all of the above.
    content_type : str
        Of a body that is sent as it is; "" sends none.
    headers : mapping
        Further headers.
    delay : float
        Seconds before anything is sent.
    pause : float
        Seconds between two blocks.
    sizes : sequence of int
        Lengths in bytes of the blocks that the body is sent in; the last one repeats.
    cut_after : int or None
        Bytes of the body after which the connection is closed.
    framed : bool
        Whether the end of the body is marked; else it ends with the connection.

    Examples
    --------
    >>> Reply.text("Hello there").pieces
    ('Hello ', 'there')
    >>> Reply.tool_call("get_weather", {"city": "Paris"}).calls[0].arguments
    '{"city": "Paris"}'
    """

    status: int = 200
    pieces: Sequence[str] = ()
    reasoning: str = ""
    refused: str = ""
    calls: Sequence[Call] = ()
    interleaved: bool = False
    finish: str | None = "stop"
    usage: Mapping[str, Any] | None = field(default_factory=lambda: _COUNTED)
    body: bytes | None = None
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pause: float = 0.0
    sizes: Sequence[int] = ()
    cut_after: int | None = None
    framed: bool = True

    # -- what is said ----------------------------------------------------------------------

    @classmethod
    def text(cls, text: str | Sequence[str], **more: Any) -> Reply:
        """Answer with text: a string (streamed word by word), or the pieces of a stream.

        Parameters
        ----------
        text : str or sequence of str
        **more
            Fields of :class:`Reply`, say ``reasoning=``, ``finish=`` or ``usage=``.
        """
        pieces = _words(text) if isinstance(text, str) else tuple(text)
        return cls(pieces=pieces, **more)

    @classmethod
    def tool_call(
        cls,
        name: str,
        arguments: Mapping[str, Any] | str = "{}",
        *,
        id: str = "call_1",
        **more: Any,
    ) -> Reply:
        """Answer with one tool call; arguments that are a string are sent as they are."""
        return cls.tool_calls((name, arguments, id), **more)

    @classmethod
    def tool_calls(cls, *calls: Sequence[Any] | Call, text: str = "", **more: Any) -> Reply:
        """Answer with several tool calls.

        Parameters
        ----------
        *calls : Call, or tuple of name, arguments and perhaps id
            Ids are ``call_1``, ``call_2`` … where they are not given.
        text : str, optional
            Said beside the calls.
        **more
            Fields of :class:`Reply`, say ``interleaved=True`` or ``finish="length"``.
        """
        made = tuple(
            call if isinstance(call, Call) else _call(n, *call) for n, call in enumerate(calls, 1)
        )
        more.setdefault("finish", "tool_calls")
        return cls(pieces=_words(text), calls=made, **more)

    @classmethod
    def refusal(cls, text: str = "I cannot help with that.", **more: Any) -> Reply:
        """Answer by declining to."""
        return cls(refused=text, **more)

    @classmethod
    def content_filter(cls, text: str = "", **more: Any) -> Reply:
        """Answer that a filter stopped."""
        return cls(pieces=_words(text), finish="content_filter", **more)

    @classmethod
    def error(
        cls, status: int, message: str = "", *, code: str | None = None, **more: Any
    ) -> Reply:
        """Answer with an HTTP error of the usual shape.

        Parameters
        ----------
        status : int
            400 or above.
        message, code : str, optional
        **more
            Fields of :class:`Reply`, say ``headers={"retry-after": "1"}``.
        """
        error = {"message": message or f"scripted error {status}", "type": "error", "code": code}
        return cls.raw(json.dumps({"error": error}), status=status, **more)

    @classmethod
    def html(cls, status: int = 502, title: str = "Bad Gateway", **more: Any) -> Reply:
        """Answer with a web page."""
        page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body></body></html>"
        return cls.raw(page, status=status, content_type="text/html", **more)

    @classmethod
    def events(cls, *objects: Any, done: bool = True, **more: Any) -> Reply:
        """Answer with a stream of these objects, and ``[DONE]`` unless told otherwise."""
        return cls.raw(b"".join(_stream(objects, done)), content_type="text/event-stream", **more)

    @classmethod
    def raw(
        cls, body: bytes | str | Any, *, content_type: str = "application/json", **more: Any
    ) -> Reply:
        """Answer with exactly these bytes (text is encoded, anything else written as JSON)."""
        if isinstance(body, str):
            body = body.encode()
        elif not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return cls(body=body, content_type=content_type, **more)

    # -- how it is sent --------------------------------------------------------------------

    def after(self, seconds: float) -> Reply:
        """The same, sent after a while."""
        return replace(self, delay=seconds)

    def paced(self, seconds: float) -> Reply:
        """The same, with a pause between two blocks (of a stream: between two events)."""
        return replace(self, pause=seconds)

    def split(self, *sizes: int) -> Reply:
        """The same, in blocks of these lengths in bytes; the last length repeats."""
        return replace(self, sizes=sizes)

    def dribble(self, seconds: float) -> Reply:
        """The same, byte by byte."""
        return replace(self, sizes=(1,), pause=seconds)

    def cut(self, after: int) -> Reply:
        """The same, but the connection closes after so many bytes of the body."""
        return replace(self, cut_after=after)

    def unframed(self) -> Reply:
        """The same, with nothing but the end of the connection to mark the end of the body."""
        return replace(self, framed=False)

    # -- on the wire -----------------------------------------------------------------------

    def blocks(self, request: Mapping[str, Any]) -> tuple[str, list[bytes]]:
        """The content type and the body, in the blocks that it is sent in.

        Parameters
        ----------
        request : mapping
            The JSON body that is answered.
        """
        kind = self.content_type
        if self.body is not None:
            blocks = [self.body]
        elif request.get("stream"):
            kind = kind or "text/event-stream; charset=utf-8"
            blocks = list(_stream(self._chunks(request), True))
        else:
            kind = kind or "application/json"
            blocks = [json.dumps(self._whole(request)).encode()]
        if self.sizes:
            blocks = list(_split(b"".join(blocks), self.sizes))
        return kind, [block for block in blocks if block]

    def _usage(self, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if self.usage is not _COUNTED:
            return self.usage
        said = "".join((*self.pieces, self.reasoning, self.refused))
        out = estimate_tokens(said) + sum(estimate_tokens(c.arguments) + 1 for c in self.calls)
        into = estimate_tokens(json.dumps(request.get("messages", [])))
        return {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}

    def _whole(self, request: Mapping[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.pieces) or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.refused:
            message["refusal"] = self.refused
        if self.calls:
            message["tool_calls"] = [_wire(call) for call in self.calls]
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        whole = _envelope(request, "chat.completion", [choice])
        usage = self._usage(request)
        if usage is not None:
            whole["usage"] = usage
        return whole

    def _chunks(self, request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": piece} for piece in _words(self.reasoning)]
        deltas += [{"content": piece} for piece in self.pieces]
        deltas += [{"refusal": piece} for piece in _words(self.refused)]
        deltas += [{"tool_calls": [entry]} for entry in self._call_pieces()]
        for delta in deltas:
            choice = {"index": 0, "delta": delta, "finish_reason": None}
            yield _envelope(request, "chat.completion.chunk", [choice])
        last = {"index": 0, "delta": {}, "finish_reason": self.finish}
        yield _envelope(request, "chat.completion.chunk", [last])
        usage = self._usage(request)
        wanted = (request.get("stream_options") or {}).get("include_usage")
        if usage is not None and wanted:
            yield {**_envelope(request, "chat.completion.chunk", []), "usage": usage}

    def _call_pieces(self) -> Iterator[dict[str, Any]]:
        rows: list[list[dict[str, Any]]] = []
        for index, call in enumerate(self.calls):
            first = {**_wire(call), "index": index}
            first["function"] = {"name": call.name, "arguments": ""}
            third = max(1, -(-len(call.arguments) // 3))
            parts = [call.arguments[i : i + third] for i in range(0, len(call.arguments), third)]
            rows.append(
                [first, *({"index": index, "function": {"arguments": part}} for part in parts)]
            )
        if self.interleaved:
            rows = [[entry for entry in row if entry] for row in zip_longest(*rows)]
        for row in rows:
            yield from row


def _call(number: int, name: str, arguments: Any = "{}", id_: str | None = None) -> Call:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Call(name, text, id_ if id_ is not None else f"call_{number}")


def _wire(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _envelope(request: Mapping[str, Any], kind: str, choices: list[Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-test",
        "object": kind,
        "created": 0,
        "model": request.get("model", "test-model"),
        "choices": choices,
    }


def _stream(objects: Iterable[Any], done: bool) -> Iterator[bytes]:
    for obj in objects:
        data = obj if isinstance(obj, str) else json.dumps(obj)
        yield f"data: {data}\n\n".encode()
    if done:
        yield b"data: [DONE]\n\n"


def _words(text: str) -> tuple[str, ...]:
    """A text in pieces that end after a space."""
    pieces = text.split(" ")
    return tuple(p for p in (*(f"{piece} " for piece in pieces[:-1]), pieces[-1]) if p)


def _split(body: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    start, n = 0, 0
    while start < len(body):
        size = max(1, sizes[min(n, len(sizes) - 1)])
        yield body[start : start + size]
        start, n = start + size, n + 1
