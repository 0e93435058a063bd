"""Opening the servers of a robot: all at once, each by itself, so that a dead one hurts no other.

What happens is recorded in the run that needs them; outside a run, in the process's session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, ToolNotFoundError, describe_error, near
from ..core.mcp_errors import MCPError
from ..runtime.session import emit_here
from ..tools.tool_source import Opened
from .approving import announce, approved_changes, refusal
from .borrowed_tools import borrowed, unfit
from .discovery import THRESHOLD, Candidate, discover
from .naming import named
from .registry import session_of
from .trust import command_of, identity, trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runtime.run import Run
    from ..tools.definition import Tool
    from ..tools.manifest import ToolManifest
    from .remote_tools import RemoteTool
    from .servers import Server
    from .session import Session
    from .sources import Entry

__all__ = ["connected", "disconnected", "opened"]

Tell = Callable[[str, Mapping[str, Any]], object]

#: (server, tool) -> the definition that a person was asked about, and that waits for approval
_paused: dict[tuple[str, str], str] = {}


class _Ready(NamedTuple):
    """A server that is connected, the tools that it offers, and those that are kept back."""

    entry: Entry
    session: Session
    tools: tuple[RemoteTool, ...]
    back: tuple[str, ...] = ()


class _Host(NamedTuple):
    """For whom servers are opened: how it is recorded, and who can be asked."""

    tell: Tell
    run: Run[Any] | None = None
    settings: Mapping[str, Any] = {}


async def opened(
    entries: Sequence[Entry],
    run: Run[Any],
    message: str,
    own: ToolManifest,
    settings: Mapping[str, Any],
) -> Opened:
    """Connect the servers of a run and give their tools; see :class:`ToolSource`.

    Raises
    ------
    MCPError
        When a server that is required cannot be had.
    ToolNotFoundError
        When a tool is named that neither the robot nor a server has.
    """
    host = _Host(run.emit, run, settings)
    meant = entries
    if settings["mcp_discovery"] and len(entries) > 1:
        meant = _fitting(entries, message, host)
    found = await _all(meant, host)
    ready = [one for one in found if isinstance(one, _Ready)]
    complete = len(ready) == len(entries)
    return Opened(_tools(ready, own, settings, complete), _failed(meant, ready))


async def connected(entries: Sequence[Entry], own: ToolManifest) -> Opened:
    """Connect servers outside any run, and give their tools."""
    from ..core.config import options

    host = _Host(emit_here)
    found = await _all(entries, host)
    ready = [one for one in found if isinstance(one, _Ready)]
    settings = {"tool_timeout": options.tool_timeout}
    return Opened(_tools(ready, own, settings, False), _failed(entries, ready))


async def disconnected(servers: Sequence[Server]) -> None:
    """Close the sessions with servers."""
    await asyncio.gather(*(session_of(server).close() for server in servers))


def _failed(entries: Sequence[Entry], ready: Sequence[_Ready]) -> tuple[str, ...]:
    there = {one.entry.server.name for one in ready}
    return tuple(e.server.name for e in entries if e.server.name not in there)


# -- which ones --------------------------------------------------------------------------------


def _fitting(entries: Sequence[Entry], message: str, host: _Host) -> Sequence[Entry]:
    """The servers that fit a message, and those that are required."""
    known = trust()
    candidates = [
        Candidate(e.server.name, e.server.description or "", known.descriptions(e.server))
        for e in entries
    ]
    found = discover(candidates, message)
    required = {e.server.name for e in entries if e.server.required}
    used = found.used | required
    matches = [
        {"name": m.name, "score": round(m.score, 4), "used": m.name in used} for m in found.matches
    ]
    told = {"matches": matches, "threshold": THRESHOLD, "reason": found.reason}
    host.tell("mcp.chosen", told)
    return [e for e in entries if e.server.name in used]


# -- one by one, all at once -------------------------------------------------------------------


async def _all(entries: Sequence[Entry], host: _Host) -> list[_Ready | Exception]:
    found = await asyncio.gather(*(_one(entry, host) for entry in entries), return_exceptions=True)
    out: list[_Ready | Exception] = []
    for entry, one in zip(entries, found, strict=True):
        if isinstance(one, BaseException) and not isinstance(one, Exception):
            raise one
        if isinstance(one, ConfigurationError):  # an answer that does not fit, say
            raise one
        if isinstance(one, Exception) and entry.server.required:
            raise one
        out.append(one)
    return out


async def _one(entry: Entry, host: _Host) -> _Ready:
    """Connect one server and list its tools; what it fails with is recorded and raised."""
    server = entry.server
    began = monotonic()
    session = session_of(server)
    try:
        await _allow(entry, host)
        reused = session.status == "ready"
        if not reused:
            _tell_connecting(entry, host)
        await session.ready()
        tools = tuple(await session.list_tools())
    except Exception as error:
        if not isinstance(error, ConfigurationError):
            _tell_failed(server, error, host, monotonic() - began)
        raise
    left_out = [{"tool": t.name, "why": why} for t in tools if (why := unfit(t))]
    known = {fault["tool"] for fault in left_out}
    paused = await _compare(server, tools, host)
    told: dict[str, Any] = {
        "server": server.name,
        "command": command_of(server),
        "tools": [t.name for t in tools if t.name not in known and t.name not in paused],
        "duration_s": monotonic() - began,
    }
    if reused:
        told["reused"] = True
    if left_out:
        told["left_out"] = left_out
    if paused:
        told["paused"] = sorted(paused)
    host.tell("mcp.ready", told)
    return _Ready(entry, session, tools, (*known, *paused))


async def _allow(entry: Entry, host: _Host) -> None:
    """Ask for a server that a file names. One that code names needs no leave."""
    if entry.origin is None or trust().knows(entry.server):
        return
    if host.run is None:
        why = f"it was not approved yet: {entry.origin} names it"
        hint = f"A run asks for it; or look at {command_of(entry.server)!r} and call " \
            "rl.mcp.approve(robot)."  # fmt: skip
    else:
        refused = await refusal(entry.server, entry.origin, host.run, host.settings)
        if refused is None:
            return
        why, hint = refused, "The run goes on without it."
    raise MCPError(
        f"tool server {entry.server.name!r} is not used: {why}", hint=hint, server=entry.server.name
    )


def _tell_connecting(entry: Entry, host: _Host) -> None:
    server, known = entry.server, trust()
    first = not known.knows(server)
    if first and entry.origin is None:
        announce(server)
        known.remember(server)
    host.tell(
        "mcp.connecting",
        {
            "server": server.name, "transport": server.kind, "command": command_of(server),
            "origin": entry.origin, "first": first,
        },
    )  # fmt: skip


def _tell_failed(server: Server, error: Exception, host: _Host, duration_s: float) -> None:
    told: dict[str, Any] = {
        "server": server.name, "command": command_of(server), "error": describe_error(error),
        "required": server.required, "duration_s": duration_s,
    }  # fmt: skip
    tail = getattr(error, "stderr_tail", "")
    if tail:
        told["stderr_tail"] = tail[-4_000:]
    host.tell("mcp.failed", told)


# -- what changed ------------------------------------------------------------------------------


async def _compare(server: Server, tools: Sequence[RemoteTool], host: _Host) -> frozenset[str]:
    """Record how tools changed, ask about those that are described otherwise; which wait."""
    known = trust()
    found = known.differences(server, tools)
    digests = {tool.name: tool.digest for tool in tools}
    asked = {name for name in found.changed if _asked(server, name, digests, host)}
    new = {name: diff for name, diff in found.changed.items() if name not in asked}
    agreed: dict[str, bool] = {}
    if new and host.run is not None:
        agreed = await approved_changes(server, new, host.run, host.settings)
    paused = frozenset(found.changed) - agreed.keys()
    if found.added or found.removed or new:
        told: dict[str, Any] = {
            "server": server.name, "added": list(found.added), "removed": list(found.removed),
            "changed": [{"tool": name, "diff": diff} for name, diff in new.items()],
            "paused": sorted(paused & new.keys()),
        }  # fmt: skip
        host.tell("mcp.tools_changed", told)
    if host.run is not None:
        for name in paused:
            _paused[identity(server), name] = digests[name]
    known.accept(server, tools, but=[n for n in found.changed if not agreed.get(n)])
    return paused


def _asked(server: Server, name: str, digests: Mapping[str, str], host: _Host) -> bool:
    """Whether somebody was asked about this very definition, and nothing decides it by now."""
    if host.settings.get("approve") == "allow":
        return False
    if host.run is not None and host.run.answers is not None:
        return False
    return _paused.get((identity(server), name)) == digests[name]


# -- their tools -------------------------------------------------------------------------------


def _tools(
    ready: Sequence[_Ready], own: ToolManifest, settings: Mapping[str, Any], complete: bool
) -> tuple[Tool, ...]:
    """The tools that are meant, under names of their own. ``complete``: no server is missing."""
    usable = [[t for t in one.tools if t.name not in one.back] for one in ready]
    servers = [
        (one.entry.server.name, [tool.name for tool in tools])
        for one, tools in zip(ready, usable, strict=True)
    ]
    names = named(servers, own)
    made: list[Tool] = []
    known: set[str] = {name for one in ready for name in one.back}
    for one, tools, called in zip(ready, usable, names, strict=True):
        for tool, name in zip(tools, called, strict=True):
            alike = (name, tool.name, f"{one.entry.server.name}/{tool.name}")
            known.update(alike)
            if one.entry.wants(*alike):
                made.append(borrowed(one.entry.server, one.session, tool, name, settings))
    if complete:
        _check_named(ready, known, own)
    return tuple(made)


def _check_named(ready: Sequence[_Ready], known: set[str], own: ToolManifest) -> None:
    """Raise for a tool that was named and is nowhere."""
    for one in ready:
        for name in (n for patterns in one.entry.wanted for n in patterns):
            if name not in known and not any(c in name for c in "*?["):
                raise ToolNotFoundError(
                    f"there is no tool {name!r} to select, nor on a server",
                    hint=near(name, sorted({*known, *own.names})),
                )
