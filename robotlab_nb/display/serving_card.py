"""The picture of what is served: where, what may be called, how to get there, the latest calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .amounts import count, seconds
from .escape import one_line
from .parts import Bit, Fields, Fold, Head, Para, Picture, Pre, Table, code, dots, part, quiet
from .states import state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..mcp.serving import ServedCall, Serving
    from .parts import Block, Line

__all__ = ["calls", "serving", "servings"]

_TOOLS, _CALLS = 40, 10
_MARKS = {
    "serving": Bit("serving", "mark", icon="◉", hue="kr"),
    "stopped": Bit("stopped", "mark", icon="■", hue="ki"),
    "failed": Bit("failed", "state", icon="✕", hue="kf"),
}
_TRANSPORTS = {
    "http": "streamable HTTP",
    "sse": "server-sent events",
    "websocket": "WebSocket",
    "stdio": "standard input and output",
}


def serving(thing: Serving) -> Picture:
    """The picture of something served.

    Parameters
    ----------
    thing : Serving
    """
    blocks = (
        *part("head", lambda: _head(thing)),
        *part("address", lambda: _address(thing)),
        *part("tools", lambda: _tools(thing)),
        *part("how to get there", lambda: _connect(thing)),
        *part("calls", lambda: _calls(thing)),
    )
    return Picture(blocks, framed=True)


def servings(things: Sequence[Serving]) -> Picture:
    """The picture of a list of what is served.

    Parameters
    ----------
    things : sequence of Serving
    """

    def rows() -> Iterable[Block]:
        yield Table(
            ("name", "", "tools", "where"),
            tuple(
                (
                    (one_line(each.name, 60),),
                    (_mark(each),),
                    (one_line(", ".join(tool.name for tool in each.tools), 80),),
                    _where(each),
                )
                for each in things[:_TOOLS]
            ),
        )

    return Picture(part("what is served", rows))


def calls(things: Sequence[ServedCall]) -> Picture:
    """The picture of a list of calls.

    Parameters
    ----------
    things : sequence of ServedCall
    """
    return Picture(part("calls", lambda: [_table(things)]))


def _mark(thing: Serving) -> Bit:
    return _MARKS.get(thing.status) or Bit(one_line(thing.status, 20), "mark")


def _head(thing: Serving) -> Iterable[Block]:
    about = dots(
        (_mark(thing),),
        count(thing.count, "call"),
        f"{thing.active:,}\u00a0going on" if thing.active else None,
    )
    yield Head((one_line(thing.name, 80),), "served", about)
    if thing.error is not None:
        yield Para((f"it ended with {one_line(repr(thing.error), 200)}",))


def _where(thing: Serving) -> Line:
    return (code(one_line(thing.url, 120)),) if thing.url else ("standard input and output",)


def _address(thing: Serving) -> Iterable[Block]:
    rows: list[tuple[str, Line]] = []
    if thing.url:
        rows.append(("address", _where(thing)))
    rows.append(("transport", (_TRANSPORTS.get(thing.transport, one_line(thing.transport, 40)),)))
    if thing.token is not None:
        rows.append(("token", ("needed; it is ", code("serving.token"))))
    if thing.prompts:
        rows.append(("prompts", (one_line(", ".join(thing.prompts), 120),)))
    yield Fields(tuple(rows))


def _tools(thing: Serving) -> Iterable[Block]:
    found = thing.tools
    rows: list[tuple[Line, ...]] = []
    for tool in found[:_TOOLS]:
        takes = ", ".join(tool.input_schema()["properties"])
        call = code(f"({one_line(takes, 60)})", lead=one_line(tool.name, 64))
        rows.append(((call,), (tool.kind,), (one_line(tool.description, 140),)))
    yield Table(("tool", "is a", "what it does"), tuple(rows))
    if len(found) > _TOOLS:
        yield Para((quiet(f"… {len(found) - _TOOLS:,} more"),))


def _connect(thing: Serving) -> Iterable[Block]:
    if thing.url is None or thing.status != "serving":
        return
    told = json.dumps(thing.config, indent=2, ensure_ascii=False)
    here = Para(("A robot here: ", code("rl.build(…, mcp=[serving.server])")))
    yield Fold(("Connect other clients",), (Pre(told), here), "JSON to copy", told=True)


def _calls(thing: Serving) -> Iterable[Block]:
    recent = thing.recent
    if recent:
        note = f"the latest {min(len(recent), _CALLS):,} of {thing.count:,}"
        yield Fold(("Calls",), (_table(recent[-_CALLS:]),), note, told=True)


def _table(things: Sequence[ServedCall]) -> Table:
    rows = []
    for each in things:
        state = state_of(
            {"cancelled": "interrupted", "refused": "failed"}.get(each.status, each.status)
        )
        mark = Bit(one_line(each.status, 20), "mark", icon=state.icon, hue=state.hue)
        rows.append(
            (
                (code(one_line(each.tool, 64)),),
                (mark,),
                (seconds(each.duration_s) or "",),
                (code(each.run_id),) if each.run_id else ("",),
            )
        )
    return Table(("tool", "", "took", "run"), tuple(rows), frozenset({2}))
