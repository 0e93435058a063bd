"""A session with a server: there when it is needed, usable from any thread, loop and cell.

It connects at the first use, and again when the server was gone; calls go on side by side. What
is asked of the server is in :mod:`.requests` and :mod:`.reading`.
"""

from __future__ import annotations

import asyncio
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from ..core import secrets
from ..core.mcp_errors import MCPError
from ..core.readings import Pictured
from ..runtime import loop as _loop
from .calls import Call, Callbacks
from .connection import Connection, Hello
from .reading import Reading
from .registry import forget, remember
from .remote_results import RemoteResult, result_of
from .sdk import load_validation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from .remote_tools import RemoteTool
    from .servers import Server

__all__ = ["Session"]

T = TypeVar("T")

#: seconds between two tries after failures: the first pause, and the longest
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0


class Session(Reading, Pictured):
    """What goes on between this process and one server.

    All coroutine methods may be awaited on any event loop; the connection itself lives on the
    engine's. After a server was gone, the next use connects anew, after a pause that grows with
    each failure (at most 5 s).

    Parameters
    ----------
    server : Server

    Attributes
    ----------
    server : Server
    changed : int
        Grows whenever the server says that its list of tools changed, and when another connection
        was made.
    error : MCPError or None
        Why the last connection failed or ended; None while all is well.

    Examples
    --------
    >>> from robotlab_nb.mcp import Server, Session
    >>> Session(Server("files", command="files-mcp")).status
    'closed'
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.changed = 0
        self.calls = 0  # how many tool calls were made
        self.error: MCPError | None = None
        self._connection: Connection | None = None
        self._last: Connection | None = None
        self._failures = 0
        self._failed_at = 0.0
        self._callbacks = Callbacks(server, self._list_changed)
        self._tools: tuple[int, tuple[RemoteTool, ...]] | None = None
        self._warming: asyncio.Future[None] | None = None
        self._listing: asyncio.Task[tuple[RemoteTool, ...]] | None = None

    # -- how it is -------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """``closed, connecting, ready`` or ``failed``."""
        connection = self._connection
        if connection is not None and not connection.is_over:
            return "ready" if connection.ready else "connecting"
        closed = self.error is None and (connection is None or connection.closing)
        return "closed" if closed else "failed"

    @property
    def connected(self) -> bool:
        """Whether a call could be made at once."""
        connection = self._connection
        return connection is not None and connection.ready and not connection.is_over

    @property
    def stderr_tail(self) -> str:
        """The last that the server's process wrote to its standard error, secrets masked."""
        seen = self._connection or self._last
        return "" if seen is None else secrets.redact(seen.stderr_tail)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was odd about the server's messages, the first ones."""
        seen = self._connection or self._last
        return () if seen is None else tuple(map(secrets.redact, seen.notes.told))

    @property
    def info(self) -> Mapping[str, Any]:
        """What the server calls itself: ``name``, ``version`` …; empty before it said hello."""
        return self._hello.info

    @property
    def instructions(self) -> str | None:
        """What the server says about its use; a stranger's words."""
        return self._hello.instructions

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What it offers: ``tools, resources, prompts, logging, completions``."""
        return self._hello.capabilities

    @property
    def protocol(self) -> str | None:
        """The version of the protocol that is spoken."""
        return self._hello.protocol

    @property
    def _hello(self) -> Hello:
        seen = self._connection or self._last
        return Hello() if seen is None else seen.hello

    @property
    def tools(self) -> tuple[RemoteTool, ...]:
        """The tools as they were last listed; empty before."""
        return () if self._tools is None else self._tools[1]

    # -- opening and closing ---------------------------------------------------------------------

    async def ready(self) -> None:
        """Connect, unless connected. Several callers share one try.

        Raises
        ------
        MCPError
            When the server cannot be reached or does not say hello in time.
        """
        await self._at_home(self._ready)

    async def close(self) -> None:
        """End the connection. The next use makes another one."""
        await self._at_home(self._close)

    async def _close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
        self._failures = 0
        if self._connection is None:  # nobody has connected anew meanwhile
            self.error = None
            forget(self)

    async def _at_home(self, work: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Do something on the loop where the connection lives."""
        running = asyncio.get_running_loop()
        home = self._home(running)
        if home is running:
            return await work(*args)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(*args), home))

    def _home(self, running: asyncio.AbstractEventLoop | None) -> asyncio.AbstractEventLoop:
        connection = self._connection
        if connection is not None and _alive(connection.loop):
            return connection.loop
        if connection is not None:  # its loop was closed or given up, and it with it
            self._lost(connection)
        if _loop.current_mode() and running is not None:
            return running
        return _loop.engine_loop().loop

    def _lost(self, connection: Connection) -> None:
        self._last, self._connection = connection, None
        self._listing = None
        kill = getattr(connection.wire, "kill", None)
        if kill is not None:
            kill()

    async def _ready(self) -> Connection:
        connection = self._connection
        if connection is None or connection.is_over:
            remember(self)
            wait = 0.0
            if self._failures > 1:
                pause = min(_FIRST_PAUSE * 2 ** (self._failures - 2), _LONGEST_PAUSE)
                wait = max(0.0, self._failed_at + pause - asyncio.get_running_loop().time())
            connection = Connection(self.server, self._callbacks.wanted, self._ended, wait)
            connection.on_listening = self._list_changed
            self._connection = connection
            self._tools = self._listing = None
            self.changed += 1
        if not connection.ready:
            try:
                await asyncio.shield(connection.opened)
            except MCPError as error:
                # Each caller's run writes into its error: several may wait for one.
                raise copy(error) from None
            self._failures = 0
            self.error = None
        return connection

    def _ended(self, connection: Connection) -> None:
        """A connection is over; called on its loop."""
        if connection.error is not None:
            self._failures += 1
            self._failed_at = connection.loop.time()
        if self._connection is connection:
            self._last, self._connection = connection, None
            self.error = connection.error
            if self.error is None:
                forget(self)

    def _list_changed(self) -> None:
        self.changed += 1

    # -- tools ------------------------------------------------------------------------------------

    async def list_tools(self) -> tuple[RemoteTool, ...]:
        """The server's tools, asked for anew when it said that they changed.

        Raises
        ------
        MCPError
            When it cannot be reached or does not answer.
        """
        return await self._at_home(self._list_tools)

    async def _list_tools(self) -> tuple[RemoteTool, ...]:
        await self._ready()
        if self._tools is not None and self._tools[0] == self.changed:
            return self._tools[1]
        if self._listing is None or self._listing.done():
            self._listing = asyncio.ensure_future(self._listed())
        return await asyncio.shield(self._listing)

    async def _listed(self) -> tuple[RemoteTool, ...]:
        version = self.changed
        tools = await self._all_tools()
        self._tools = (version, tools)
        if any(tool.output_schema is not None for tool in tools):
            # Meanwhile the model thinks; else the first call would wait for the import.
            self._warming = asyncio.ensure_future(load_validation())
        return tools

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[float, float | None, str | None], Any] | None = None,
        on_elicit: Callable[[Any], Awaitable[Any]] | None = None,
        on_log: Callable[[str, str | None, Any], Any] | None = None,
    ) -> RemoteResult:
        """Call a tool.

        Parameters
        ----------
        name : str
            As the server calls it.
        arguments : mapping, optional
        timeout : float, optional
            Seconds; the server's ``call_timeout`` where it is left out. While a person is asked,
            the time stands still.
        on_progress : callable, optional
            Takes ``progress, total, message`` when the server reports.
        on_elicit : coroutine function, optional
            Takes a :class:`RemoteQuestion`; returns the answer as a mapping, None to decline, False
            to break off. Without it every question is declined.
        on_log : callable, optional
            Takes ``level, logger, data`` when the server logs while the call runs.

        Returns
        -------
        RemoteResult

        Raises
        ------
        MCPToolError
            When the tool says that it failed, or gives what its output schema forbids.
        MCPTimeout
            When the time was up; the server is told to stop.
        MCPConnectionError
            When the server cannot be reached, or ended meanwhile.
        MCPError
            When it refuses.
        """
        call = Call(name, on_progress, on_elicit, on_log)
        limit = self.server.call_timeout if timeout is None else timeout
        return await self._at_home(self._call, call, dict(arguments or {}), limit)

    async def _call(self, call: Call, arguments: dict[str, Any], limit: float) -> RemoteResult:
        self.calls += 1
        told = await self._call_tool(call, arguments, limit)
        result = result_of(told)
        if result.is_error:
            raise self._tool_failed(call.name, result)
        return result


def _alive(loop: asyncio.AbstractEventLoop) -> bool:
    if loop.is_closed():
        return False
    engine = _loop._engine
    return loop.is_running() and not (
        engine is not None and engine.loop is loop and engine.abandoned
    )
