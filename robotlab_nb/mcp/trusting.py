"""What a person says of servers outside any run: approved, known, no longer trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near
from ..core.readings import Pictured, ShownList
from .registry import session_of
from .servers import Server
from .trust import command_of, identity, trust

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KnownServer", "approve", "distrust", "trusted"]


@dataclass(frozen=True, slots=True)
class KnownServer(Pictured):
    """A server that a person has seen.

    Attributes
    ----------
    name, command : str
    since : str or None
        When its command was first shown or approved (ISO 8601); None where it never was.
    approved : bool
        Whether its command may run without being shown or asked for again.
    tools : tuple of str
        The tools whose descriptions are known.
    """

    name: str
    command: str
    since: str | None
    approved: bool
    tools: tuple[str, ...]


def approve(what: Any, tool: str | None = None) -> list[str]:
    """Approve servers: that their commands run, and that their tools are as they are now.

    Parameters
    ----------
    what : Server, dict, Robot, or list of these
        A robot stands for all its servers.
    tool : str, optional
        Only this tool of the server, which was changed; by its name there.

    Returns
    -------
    list of str
        The commands that may run from now on.

    Raises
    ------
    ConfigurationError
        When there is no such server or tool.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> rl.mcp.approve(rl.mcp.Server("files", command="files-mcp", args=["/tmp"]))
    ['files-mcp /tmp']
    >>> "files" in [known.name for known in rl.mcp.trusted()], rl.mcp.distrust("files") > 0
    (True, True)
    """
    known, commands = trust(), []
    for server in _servers(what):
        tools = session_of(server).tools
        if tool is not None and tool not in [t.name for t in tools]:
            raise ConfigurationError(
                f"server {server.name!r} has listed no tool {tool!r}",
                hint=near(tool, [t.name for t in tools]) if tools else "Connect to it first.",
            )
        known.remember(server)
        changed = known.differences(server, tools).changed
        known.accept(server, tools, but=[n for n in changed if tool not in (None, n)])
        commands.append(command_of(server))
    return commands


def _servers(what: Any) -> Iterable[Server]:
    if isinstance(what, (list, tuple)):
        return [server for each in what for server in _servers(each)]
    mine = getattr(what, "mcp_servers", None)
    if mine is not None:
        return tuple(mine)
    found = getattr(what, "server", what)  # a Client's, a Session's
    return [Server.of(found)]


def trusted() -> ShownList[KnownServer]:
    """List the servers that are known, by name.

    What is known is kept in a file of the user's data directory, for all notebooks; the variable
    ``ROBOTLAB_NB_TRUST`` names another one, or is ``off``.
    """
    found = [
        KnownServer(
            str(told.get("name")), str(told.get("command")), told.get("since"),
            bool(told.get("approved")), tuple(told["tools"]),
        )
        for told in trust().records()
    ]  # fmt: skip
    return ShownList(sorted(found, key=lambda known: known.name))


def distrust(server: Server | str) -> int:
    """Forget a server: its command is shown or asked for again, its tools count as new.

    Parameters
    ----------
    server : Server or str
        Or the name: all servers of that name are meant.

    Returns
    -------
    int
        How many were known.
    """
    known = trust()
    if isinstance(server, str):
        return known.forget(lambda key, told: told.get("name") == server)
    return known.forget(lambda key, told: key == identity(server))
