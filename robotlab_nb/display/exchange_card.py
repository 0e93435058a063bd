"""The picture of one model call: what was sent, what came back, each to be read and as JSON.

The same rows serve the picture that stands still and the front end of a replay. Knows exchanges,
nothing of steps; everything said is untrusted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.messages import MediaPart, ReasoningPart, RefusalPart, TextPart, ToolCallPart
from .amounts import cost, count, seconds, tokens
from .escape import one_line, plain
from .json_text import arguments_line, value_line
from .parts import Fold, Para, Picture, Pre, badge, bold, code, dots, part, quiet, state_bit
from .states import STOPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.messages import Message
    from .exchange import Exchange
    from .parts import Block, Line

__all__ = [
    "Row", "as_json", "exchange", "got", "got_line", "got_rows", "sent", "sent_line", "sent_rows",
]  # fmt: skip

_NAMES = {"user": "you", "system": "system prompt", "assistant": "assistant", "tool": "tool"}


class Row(NamedTuple):
    """One thing that was sent or came back.

    Parameters
    ----------
    kind : {"text", "think", "call", "result", "media", "tool", "fault", "note"}
    who : str
        Who says it, or what it is.
    text : str
        All of it.
    old : bool
        Whether it was sent with the call before as well.
    """

    kind: str
    who: str
    text: str
    old: bool = False


def exchange(thing: Exchange) -> Picture:
    """The picture of an exchange.

    Parameters
    ----------
    thing : Exchange
    """
    blocks = (*part("request", lambda: sent(thing)), *part("answer", lambda: got(thing)))
    return Picture(blocks, framed=True)


# -- rows ----------------------------------------------------------------------------------


def sent_rows(thing: Exchange) -> Iterator[Row]:
    """What was sent, piece by piece: messages in order, then tools, then what is not known.

    Parameters
    ----------
    thing : Exchange

    Yields
    ------
    Row
    """
    for place, message in enumerate(thing.messages):
        old = place < thing.fresh
        if message is None:
            yield Row("note", "message", "not in these events", old)
        else:
            yield from _said(message, old)
    for spec in thing.tool_specs:
        words = [str(spec.get("description") or "")]
        if "parameters" in spec:
            words.append(_dump(spec["parameters"]))
        about = "\n".join(word for word in words if word)
        yield Row("tool", f"tool {spec['name']}", about or "its name alone", thing.fresh > 0)
    if thing.output is not None:
        yield Row("tool", f"answer {thing.output.get('name')}", _dump(thing.output.get("schema")))
    for gap in _gaps(thing):
        yield Row("note", "not in these events", gap)


def got_rows(thing: Exchange) -> Iterator[Row]:
    """What came back, piece by piece: failed attempts, then the answer.

    Parameters
    ----------
    thing : Exchange

    Yields
    ------
    Row
    """
    for each in thing.attempts:
        error = each.get("error")
        if error:
            wait = seconds(each.get("retry_in_s"), limit=True)
            then = f" · asked again after {wait}" if wait else ""
            named = f"attempt {each.get('attempt')} of {each.get('model')}"
            yield Row("fault", named, f"{_fault(error)}{then}")
    if thing.answer is not None:
        yield from _said(thing.answer, False)
        if thing.changed:
            yield Row("note", "a handler", "put this in the place of the model's answer")
    elif thing.call.text:
        yield Row("text", "assistant", thing.call.text)
    if thing.call.error:
        yield Row("fault", "no answer", _fault(thing.call.error))


def _said(message: Message, old: bool) -> Iterator[Row]:
    who = _NAMES.get(message.role, message.role)
    for piece in message.parts:
        match piece:
            case TextPart() | RefusalPart():
                yield Row("text", who, piece.text, old)
            case ReasoningPart():
                words = piece.text or "kept by the provider"
                yield Row("think", "reasoning", words, old)
            case ToolCallPart():
                yield Row("call", f"calls {piece.name}", piece.arguments, old)
            case MediaPart():
                named = piece.name or piece.mime
                yield Row("media", f"{who} attached", f"{named}, {piece.mime}, {piece.shown}", old)
            case _ if message.role == "tool":
                result: Any = piece
                yield Row("result", f"{result.name} gives", result.content_text, old)
            case _:
                yield Row("note", who, value_line(getattr(piece, "data", None), 400), old)


def _gaps(thing: Exchange) -> list[str]:
    try:
        return thing.missing
    except Exception as error:  # a record of another version, say
        return [f"more than can be told ({type(error).__name__})"]


def _fault(error: Mapping[str, Any]) -> str:
    status = f"HTTP {error['status']}, " if error.get("status") else ""
    return f"{status}{error.get('type') or 'error'}: {error.get('message') or 'no message'}"


# -- one line each -------------------------------------------------------------------------


def sent_line(thing: Exchange) -> str:
    """To whom it went and how, on one line.

    Parameters
    ----------
    thing : Exchange
    """
    more = [f"{one_line(k, 40)} {value_line(v, 60)}" for k, v in thing.call.params.items()]
    words = [
        " → ".join(one_line(model, 80) for model in thing.models),
        thing.way,
        count(len(thing.messages), "message"),
        count(len(thing.call.tools), "tool") if thing.call.tools else "",
        *more[:8],
    ]
    return " · ".join(word for word in words if word)


def got_line(thing: Exchange) -> str:
    """What came of it and what it took, on one line; empty before there is an answer.

    Parameters
    ----------
    thing : Exchange
    """
    call = thing.call
    if call.status == "running":
        return ""
    usage = call.usage
    first, took = seconds(call.first_token_s), seconds(call.duration_s)
    words = [
        "from the cache" if call.cached else "",
        STOPS.get(call.stop_reason or "", call.stop_reason or ""),
        f"{tokens(usage)} ({usage.input_tokens or 0:,} in, {usage.output_tokens or 0:,} out)"
        if usage is not None and usage.total_tokens is not None
        else "",
        cost(usage) if usage is not None else "",
        f"first piece after {first}" if first else "",
        f"{took} in all" if took else "",
        f"{len(call.attempts):,} attempts" if len(call.attempts) > 1 else "",
    ]
    return " · ".join(word for word in words if word)


def as_json(value: Any) -> str:
    r"""A value as JSON that can be copied and read again, every character of it visible.

    Parameters
    ----------
    value : JSON

    Examples
    --------
    >>> as_json({"a": "\u202eb"}) == '{\n  "a": "\\u202eb"\n}'
    True
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    shown = plain(text)
    return shown if shown == text else plain(json.dumps(value, indent=2))


# -- blocks --------------------------------------------------------------------------------


def sent(thing: Exchange) -> Iterable[Block]:
    """Blocks for what was sent.

    Parameters
    ----------
    thing : Exchange

    Yields
    ------
    Block
    """
    simulated = badge("simulated") if thing.call.simulated else None
    yield Para(dots(bold("→ sent to"), sent_line(thing), simulated))
    rows = list(sent_rows(thing))
    talk = [row for row in rows if row.kind not in ("tool", "note")]
    old = [row for row in talk if row.old]
    if old:
        note = f"{count(len(old), 'piece')}, as with the call before"
        yield Fold(("Sent again",), tuple(_blocks(old)), note)
    yield from _blocks([row for row in talk if not row.old])
    for row in rows:
        if row.kind == "tool":
            yield Fold((row.who,), (Pre(row.text),), told=True)
        elif row.kind == "note":
            yield Para((quiet(f"{row.who}: {row.text}"),))
    yield Fold(("Request as JSON",), part("request", lambda: [Pre(as_json(thing.request))]))


def got(thing: Exchange) -> Iterable[Block]:
    """Blocks for what came back; none before anything did.

    Parameters
    ----------
    thing : Exchange

    Yields
    ------
    Block
    """
    line = got_line(thing)
    if line or thing.call.attempts:
        yield Para(dots(bold("← received"), line))
        yield from _blocks(list(got_rows(thing)))
        yield Fold(("Answer as JSON",), part("answer", lambda: [Pre(as_json(thing.response))]))
    elif thing.call.status == "running":
        yield Para((state_bit("running"),))


def _blocks(rows: list[Row]) -> Iterable[Block]:
    for row in rows:
        match row.kind:
            case "call":
                name = row.who.removeprefix("calls ")
                yield Para(("ƒ calls ", code(arguments_line(row.text, 400), lead=name)))
            case "think":
                note = count(len(row.text), "character")
                yield Fold(("∴ reasoning",), (Pre(row.text),), note)
            case "fault":
                yield Para(dots(state_bit("failed"), row.who, row.text))
            case "note":
                yield Para((quiet(f"{row.who}: {row.text}"),))
            case _:
                title: Line = (bold(row.who),)
                yield Para(title)
                yield Pre(row.text)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
