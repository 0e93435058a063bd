"""Pictures of tool servers: a description, a session's state, and lists of both.

Of variables and headers only the names are shown. What servers say stands as their words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .amounts import count, seconds
from .escape import clip, one_line
from .parts import Bit, Fields, Fold, Head, Para, Picture, Pre, Table, code, dots, part, quiet
from .remote_card import tool_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..mcp.clients import Client
    from ..mcp.servers import Server
    from ..mcp.session import Session
    from .parts import Block, Line

__all__ = ["client", "server", "servers", "session", "session_state", "sessions"]

_ROWS, _TAIL, _TOOLS = 60, 4_000, 40
_STATES = {
    "ready": Bit("ready", "mark", icon="✓"),
    "connecting": Bit("connecting", "mark", icon="◐", hue="kr"),
    "failed": Bit("failed", "state", icon="✕", hue="kf"),
    "closed": Bit("not connected", "mark", icon="○"),
}
_KINDS = {"http": "streamable HTTP", "sse": "server-sent events", "websocket": "WebSocket"}


def session_state(status: str) -> Bit:
    """How a session's status looks.

    Examples
    --------
    >>> session_state("closed").text
    'not connected'
    """
    return _STATES.get(status) or Bit(one_line(status, 20), "mark")


def server(thing: Server) -> Picture:
    """The picture of a server's description.

    Parameters
    ----------
    thing : Server
    """
    blocks = (
        *part("name", lambda: [Head((one_line(thing.name, 80),), "tool server")]),
        *part("description", lambda: _description(thing)),
        *part("how it is reached", lambda: [Fields(tuple(_reached(thing)))]),
    )
    return Picture(blocks, framed=True)


def servers(things: Sequence[Server]) -> Picture:
    """The picture of a list of servers.

    Parameters
    ----------
    things : sequence of Server
    """

    def table() -> Iterable[Block]:
        rows = tuple(
            (
                (one_line(each.name, 64),),
                (_kind(each),),
                (code(one_line(each.place, 120)),),
                (one_line(each.description or "", 120),),
            )
            for each in things[:_ROWS]
        )
        yield Table(("server", "transport", "where", "what for"), rows)
        yield from _more(things)

    return Picture(part("servers", table))


def session(thing: Session) -> Picture:
    """The picture of a session.

    Parameters
    ----------
    thing : Session
    """
    blocks = (
        *part("state", lambda: [_head(thing, "session")]),
        *part("error", lambda: _error(thing)),
        *part("server", lambda: [Fields(tuple(_told(thing)))]),
        *part("tools", lambda: _tools(thing)),
        *part("oddities", lambda: _oddities(thing)),
        *part("standard error", lambda: _stderr(thing)),
    )
    return Picture(blocks, framed=True)


def client(thing: Client) -> Picture:
    """The picture of a client: that of its session.

    Parameters
    ----------
    thing : Client
    """
    drawn = session(thing.session)
    head = part("state", lambda: [_head(thing.session, "client")])
    return Picture((*head, *drawn.blocks[1:]), framed=True)


def sessions(things: Sequence[Session]) -> Picture:
    """The picture of a list of sessions: a row for each.

    Parameters
    ----------
    things : sequence of Session
    """

    def table() -> Iterable[Block]:
        rows = tuple(
            (
                (one_line(each.server.name, 64),),
                (session_state(each.status),),
                (f"{len(each.tools):,}" if each.tools else "",),
                (f"{each.calls:,}",),
                (_kind(each.server),),
                _place_or_error(each),
            )
            for each in things[:_ROWS]
        )
        columns = ("server", "", "tools", "calls", "transport", "where")
        yield Table(columns, rows, frozenset({2, 3}))
        yield from _more(things)

    return Picture(part("sessions", table))


def _more(things: Sequence[object]) -> Iterable[Block]:
    if len(things) > _ROWS:
        yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))


def _kind(thing: Server) -> str:
    return _KINDS.get(thing.kind) or one_line(thing.kind, 40)


def _description(thing: Server) -> Iterable[Block]:
    if thing.description:
        yield Para((clip(thing.description.strip(), 600),))


def _reached(thing: Server) -> Iterable[tuple[str, Line]]:
    yield "transport", (_kind(thing),)
    if thing.place:
        word = "command" if thing.kind == "stdio" else "address"
        yield word, (code(one_line(thing.place, 400)),)
    if thing.transport.get("cwd"):
        yield "folder", (code(one_line(thing.transport["cwd"], 200)),)
    for field, word in (("env", "variables"), ("headers", "headers")):
        held = thing.transport.get(field)
        if isinstance(held, Mapping) and held:
            yield word, dots(*(_held(str(name), text) for name, text in list(held.items())[:_ROWS]))
    yield (
        "time",
        dots(
            f"{seconds(thing.timeout, limit=True)} to start",
            f"{seconds(thing.call_timeout, limit=True)} for a call",
        ),
    )


def _held(name: str, text: object) -> Line:
    # The value may be a key, whatever its name: never shown.
    from_outside = isinstance(text, str) and "${" in text
    return (
        code(one_line(name, 60)),
        quiet(" from the environment" if from_outside else " given, not shown"),
    )


def _head(thing: Session, kind: str) -> Head:
    right = dots(count(thing.calls, "call") if thing.calls else None)
    return Head((one_line(thing.server.name, 80),), kind, (session_state(thing.status),), right)


def _error(thing: Session) -> Iterable[Block]:
    if thing.status == "failed" and thing.error is not None:
        yield Para((clip(f"It {_reason(thing)}", 600),))


def _told(thing: Session) -> Iterable[tuple[str, Line]]:
    yield from list(_reached(thing.server))[:2]
    info = thing.info
    if info:
        named = one_line(info.get("title") or info.get("name") or "", 80)
        yield "calls itself", dots(named, one_line(info.get("version") or "", 40))
    if thing.protocol:
        offers = ", ".join(one_line(name, 30) for name in thing.capabilities)
        yield "protocol", dots(one_line(thing.protocol, 30), offers)
    if thing.instructions:
        yield "says", (clip(thing.instructions.strip(), 400),)


def _tools(thing: Session) -> Iterable[Block]:
    tools = thing.tools
    if tools:
        title = (f"Tools: {one_line(', '.join(tool.name for tool in tools[:_TOOLS]), 160)}",)
        yield Fold(title, tuple(tool_rows(tools[:_TOOLS])), count(len(tools), "tool"))


def _oddities(thing: Session) -> Iterable[Block]:
    odd = thing.warnings
    if odd:
        yield Fold(
            ("What was odd",), (Pre("\n".join(one_line(each, 300) for each in odd)),),
            count(len(odd), "note"),
        )  # fmt: skip


def _stderr(thing: Session) -> Iterable[Block]:
    tail = thing.stderr_tail.strip()
    if tail:
        yield Fold(("Standard error",), (Pre(tail[-_TAIL:]),), "its end", opened=False)


def _place_or_error(thing: Session) -> Line:
    if thing.status == "failed" and thing.error is not None:
        return (one_line(_reason(thing), 160),)
    return (code(one_line(thing.server.place, 120)),)


def _reason(thing: Session) -> str:
    """What an error says after the server's name and place, which stand beside it."""
    said = "" if thing.error is None else thing.error.message
    return said.partition(f"({thing.server.place}) ")[2] or f"failed: {said}"
