"""Errors of tool servers (the Model Context Protocol): unreachable, late, or refusing.

It knows no protocol: whoever talks to a server says what went wrong.
"""

from __future__ import annotations

from typing import Any

from . import secrets
from .errors import RobotLabError

__all__ = ["MCPConnectionError", "MCPError", "MCPTimeout", "MCPToolError"]


class MCPError(RobotLabError):
    """A Model Context Protocol server failed, or refused what it was asked.

    Parameters
    ----------
    message : str
    hint : str, optional
    retryable : bool, optional
    server : str, optional
        Our name for the server.
    code : int, optional
        The JSON-RPC code of a refusal.
    data : JSON, optional
        What the server sent along with it.
    """

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
        retryable: bool | None = None,
        server: str = "",
        code: int | None = None,
        data: Any = None,
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.server = server
        self.code = code
        self.data = secrets.redact_data(data)


class MCPConnectionError(MCPError):
    """A tool server cannot be reached, or is gone.

    Attributes
    ----------
    transport : str
        ``stdio, http, sse, websocket``, or the name of a registered one.
    status : int or None
        The HTTP status, or the exit status of its process, where there is one.
    stderr_tail : str
        The last that its process wrote to its standard error.
    for_model : str or None
        What a model reads in place of the message, which is for people.
    """

    transport: str = ""
    status: int | None = None
    stderr_tail: str = ""
    for_model: str | None = None


class MCPTimeout(MCPError, TimeoutError):
    """A tool server did not answer in time."""


class MCPToolError(MCPError):
    """A tool of a server said that it failed, or gave back what it must not.

    Attributes
    ----------
    tool : str
        The tool's name at its server.
    result : RemoteResult or None
        What it gave back all the same.
    """

    tool: str = ""
    result: Any = None
