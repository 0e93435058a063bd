"""What went wrong with a server, as our errors: which server, what happened, what to do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..core import secrets
from ..core.errors import RobotLabError
from ..core.mcp_errors import MCPConnectionError, MCPError, MCPTimeout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .connection import Connection

__all__ = ["connection_failure", "gone", "late", "refused", "tail", "unanswered"]

#: lines and characters of standard error that a message shows
_TAIL_LINES = 6
_TAIL_LENGTH = 1_000


def tail(text: str) -> str:
    """The end of a standard error, as much as belongs into a message."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()][-_TAIL_LINES:]
    return "\n".join(lines)[-_TAIL_LENGTH:]


def _with_tail(message: str, connection: Connection) -> str:
    said = tail(connection.stderr_tail)
    return f"{message}. Its standard error ends:\n{said}" if said else message


def _made(cls: type[MCPError], connection: Connection, message: str, **more: Any) -> MCPError:
    server = connection.server
    error = cls(_with_tail(message, connection), server=server.name, **more)
    if isinstance(error, MCPConnectionError):
        notes = connection.notes
        error.transport = server.kind
        error.status = notes.http_status if notes.exit_status is None else notes.exit_status
        error.stderr_tail = secrets.redact(connection.stderr_tail)
    return error


def _named(connection: Connection) -> str:
    server = connection.server
    place = f" ({server.place})" if server.place else ""
    return f"server {server.name!r}{place}"


def late(connection: Connection, what: str) -> MCPError:
    """It had so much time and did not do it."""
    error = _made(
        MCPTimeout, connection, f"{_named(connection)} {what}",
        hint="Give it more with timeout=." if connection.client is None else None,
    )  # fmt: skip
    return error


def connection_failure(connection: Connection, error: BaseException | None) -> MCPError:
    """Why a connection did not open, or ended."""
    known = next((e for e in _leaves(error) if isinstance(e, RobotLabError)), None)
    if isinstance(known, MCPError):
        return known
    if known is not None:
        return _made(MCPConnectionError, connection, f"{_named(connection)}: {known}")
    verb = "did not answer" if connection.client is None else "is gone"
    why = _why(connection, error)
    return _made(
        MCPConnectionError, connection, f"{_named(connection)} {verb}{f': {why}' if why else ''}",
        retryable=True,
    )  # fmt: skip


def gone(connection: Connection, doing: str) -> MCPError:
    """It ended while something was asked of it."""
    why = _why(connection, None)
    return _made(
        MCPConnectionError, connection,
        f"{_named(connection)} ended during {doing}{f': {why}' if why else ''}",
        hint="Whether it did what was asked is not known. The next use connects anew.",
    )  # fmt: skip


def unanswered(connection: Connection, doing: str) -> MCPError:
    """An HTTP status came in place of an answer."""
    message = f"{_named(connection)} did not answer {doing}: {_why(connection, None)}"
    return _made(MCPConnectionError, connection, message)


def refused(server: str, doing: str, error: Any) -> MCPError:
    """A JSON-RPC error as ours."""
    message = str(getattr(error, "message", None) or error).strip() or "no reason given"
    return MCPError(
        f"server {server!r} refused {doing}: {message[:2_000]}",
        server=server, code=getattr(error, "code", None), data=getattr(error, "data", None),
    )  # fmt: skip


def _why(connection: Connection, error: BaseException | None) -> str:
    notes = connection.notes
    parts = []
    if notes.exit_status is not None:
        parts.append(_exit(notes.exit_status))
    if notes.http_status is not None:
        parts.append(f"HTTP status {notes.http_status}{_of_status(notes.http_status)}")
    if notes.reason:
        parts.append(notes.reason)
    elif not parts:
        leaf = next(iter(_leaves(error)), None)
        if leaf is not None:
            parts.append(f"{str(leaf).strip() or type(leaf).__name__}"[:500])
    return "; ".join(parts)


def _exit(status: int) -> str:
    if status >= 0:
        return f"its process ended with exit status {status}"
    import signal

    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"its process was ended by {name}"


def _of_status(status: int) -> str:
    return {
        401: " (not signed in: does it need a header?)",
        403: " (not allowed)",
        404: " (nothing there: is the path right?)",
        405: " (another transport may be meant)",
    }.get(status, "")


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    """The errors inside groups, those that say something first."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif error is not None and not isinstance(error, (asyncio.CancelledError, GeneratorExit)):
        yield error
