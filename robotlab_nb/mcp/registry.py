"""The sessions of this process: one for each server that robots share, and those of clients."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

from ..core.readings import ShownList

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .servers import Server
    from .session import Session

__all__ = ["forget", "remember", "session_of", "sessions"]

_lock = threading.Lock()
_shared: dict[str, Session] = {}
#: sessions that have a connection, or had one that failed
_live: weakref.WeakSet[Session] = weakref.WeakSet()
#: what a forked child has of its parent's sessions: kept, for its end would touch their pipes
_left_behind: list[Any] = []


def session_of(server: Server | Mapping[str, Any]) -> Session:
    """The session with a server, the same one for all who describe it alike.

    It connects when it is used.

    Parameters
    ----------
    server : Server or mapping

    Examples
    --------
    >>> from robotlab_nb.mcp import Server
    >>> files = Server("files", command="files-mcp")
    >>> session_of(files) is session_of(Server.of(files.to_dict()))
    True
    """
    from .servers import Server
    from .session import Session

    described = Server.of(server)
    with _lock:
        found = _shared.get(described.fingerprint)
        if found is None:
            found = _shared[described.fingerprint] = Session(described)
        return found


def sessions() -> ShownList[Session]:
    """The sessions that are open, or whose last connection failed; shown as a table.

    Examples
    --------
    >>> from robotlab_nb.mcp import Client, Server
    >>> client = Client(Server("not opened", command="files-mcp"))
    >>> "not opened" in [session.server.name for session in sessions()]
    False
    """
    with _lock:
        live = list(_live)
    return ShownList(sorted(live, key=lambda session: session.server.name))


def remember(session: Session) -> None:
    """A session connects."""
    with _lock:
        _live.add(session)


def forget(session: Session) -> None:
    """A session was closed."""
    with _lock:
        _live.discard(session)


def _after_fork() -> None:
    # The child has its own loop and no connections; the parent's stay the parent's.
    global _lock, _shared, _live
    _lock = threading.Lock()
    mine = list(_live) + list(_shared.values())
    for session in mine:
        connection = session._connection
        if connection is not None:
            _left_behind.append(connection)
            leave = getattr(connection.wire, "leave_behind", None)
            if leave is not None:
                leave()
            session._connection = session._last = session._listing = None
    _live = weakref.WeakSet()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
