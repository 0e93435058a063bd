"""What events say of tool servers: connecting, which were chosen, what they offer and tell.

Part of :mod:`robotlab_nb.core.event_data`, which lists all types. ``server`` is our name of it;
whatever a server says of itself is a stranger's word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SERVER_TYPES"]


class ServersChosen(TypedDict, total=False):
    """Servers were compared with the message: ``{"name", "score", "used"}`` of each, best first.

    ``reason`` is ``fits``, or why all are used: ``no message, no descriptions, no hit``.
    """

    matches: Sequence[Mapping[str, Any]]
    threshold: float
    reason: str


class ServerConnecting(TypedDict, total=False):
    """A server is started or called. ``command`` is the exact one, or the address."""

    server: str
    transport: str
    command: str
    #: where it was named: a template, a file; None for code
    origin: str | None
    #: whether this command has never run before, as far as is known
    first: bool


class ServerReady(TypedDict, total=False):
    """A server's tools are there, under these names."""

    server: str
    command: str
    tools: Sequence[str]
    duration_s: float
    #: whether it was connected already
    reused: bool
    #: tools that are not offered, ``{"tool", "why"}``: they cannot be told to a model
    left_out: Sequence[Mapping[str, Any]]
    #: tools that changed and wait for a person's approval
    paused: Sequence[str]


class ServerFailed(TypedDict, total=False):
    """A server cannot be had; the run goes on without it unless it is required."""

    server: str
    command: str
    error: Mapping[str, Any]
    required: bool
    #: the last lines that it wrote to its standard error
    stderr_tail: str
    duration_s: float


class ServerToolsChanged(TypedDict, total=False):
    """A server's tools are not those that were known. ``changed`` is ``{"tool", "diff"}`` of each.

    ``paused`` names those of them that are not offered before a person approves.
    """

    server: str
    added: Sequence[str]
    removed: Sequence[str]
    changed: Sequence[Mapping[str, Any]]
    paused: Sequence[str]


class ServerLog(TypedDict, total=False):
    """A server says something for people, while a tool of it runs."""

    server: str
    level: str
    logger: str | None
    text: str
    tool_call_id: str | None


class ServerProgress(TypedDict, total=False):
    """How far a tool call is: ``progress`` of ``total``, where the server knows it."""

    server: str
    tool: str
    tool_call_id: str | None
    progress: float
    total: float | None
    text: str | None


#: event type -> what its data says
SERVER_TYPES: dict[str, type] = {
    "mcp.chosen": ServersChosen,
    "mcp.connecting": ServerConnecting,
    "mcp.ready": ServerReady,
    "mcp.failed": ServerFailed,
    "mcp.tools_changed": ServerToolsChanged,
    "mcp.log": ServerLog,
    "mcp.progress": ServerProgress,
}
