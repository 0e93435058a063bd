"""Pictures of the tool servers that a person has seen: what runs, since when, with which tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .escape import one_line
from .parts import Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..mcp.trusting import KnownServer
    from .parts import Block, Line

__all__ = ["known_server", "known_servers"]

_ROWS, _TOOLS = 200, 12


def known_server(thing: KnownServer) -> Picture:
    """The picture of one server that is known: as a table of it.

    Parameters
    ----------
    thing : KnownServer
    """
    return known_servers([thing])


def known_servers(things: Sequence[KnownServer]) -> Picture:
    """The picture of a list of servers that are known.

    Parameters
    ----------
    things : sequence of KnownServer
    """

    def table() -> Iterable[Block]:
        rows = tuple(_row(each) for each in things[:_ROWS])
        yield Table(("server", "command", "seen", "tools"), rows)
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))

    return Picture(part("known servers", table))


def _row(thing: KnownServer) -> tuple[Line, ...]:
    seen = one_line(str(thing.since)[:10], 20) if thing.since else "not approved"
    more = f"{len(thing.tools) - _TOOLS:,} more" if len(thing.tools) > _TOOLS else None
    tools = dots(*(code(one_line(name, 64)) for name in thing.tools[:_TOOLS]), more)
    return (
        (one_line(thing.name, 64),),
        (code(one_line(thing.command, 200)),),
        (seen,),
        tools or (quiet("none"),),
    )
