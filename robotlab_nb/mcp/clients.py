"""A server used by hand, without a robot: connect, look around, call, disconnect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.mcp_errors import MCPError
from ..core.readings import Pictured, ShownTuple
from .blocking import waited, waited_async
from .servers import Server
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping
    from typing import Self

    from ..core.messages import Message
    from .remote_offers import RemotePrompt, RemoteResource
    from .remote_results import RemoteResult
    from .remote_tools import RemoteTool

__all__ = ["Client"]


class Client(Pictured):
    """A connection of one's own to a server, for use without a robot.

    Each method has a twin for ``await`` that begins with ``a`` (``acall_tool``). It may be used
    from any thread and cell, and with ``with`` or ``async with``.

    Parameters
    ----------
    server : Server or mapping

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> from robotlab_nb.testing import MCPFaultServer
    >>> with rl.mcp.Client(MCPFaultServer("well")) as client:
    ...     print(client.call_tool("echo", {"text": "hello"}))
    hello
    """

    def __init__(self, server: Server | Mapping[str, Any]) -> None:
        self.server = Server.of(server)
        self.session = Session(self.server)
        self._wanted = False

    @property
    def connected(self) -> bool:
        """Whether the server has said hello and is there."""
        return self.session.connected

    @property
    def status(self) -> str:
        """``closed, connecting, ready`` or ``failed``."""
        return self.session.status

    @property
    def error(self) -> MCPError | None:
        """Why it is not connected, when something went wrong."""
        return self.session.error

    # -- there and away --------------------------------------------------------------------------

    def connect(self) -> Self:
        """Connect; returns the client.

        Raises
        ------
        MCPError
            When the server cannot be reached or does not say hello in time.
        """
        return waited(self.session, self._connect())

    async def aconnect(self) -> Self:
        """Connect, with ``await``."""
        return await waited_async(self._connect())

    async def _connect(self) -> Self:
        self._wanted = True
        await self.session.ready()
        return self

    def disconnect(self) -> None:
        """End the connection; a program that was started ends too. Twice is once."""
        waited(self.session, self._disconnect())

    async def adisconnect(self) -> None:
        """End the connection, with ``await``."""
        await waited_async(self._disconnect())

    async def _disconnect(self) -> None:
        self._wanted = False
        await self.session.close()

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(self, *_: Any) -> None:
        self.disconnect()

    async def __aenter__(self) -> Self:
        return await self.aconnect()

    async def __aexit__(self, *_: Any) -> None:
        await self.adisconnect()

    async def _on(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        if not self._wanted:
            raise MCPError(
                f"the client of server {self.server.name!r} is not connected",
                hint="Call connect(), or use it with `with`.", server=self.server.name,
            )  # fmt: skip
        return await work()

    def _do(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return waited(self.session, self._on(work))

    async def _ado(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return await waited_async(self._on(work))

    # -- tools -------------------------------------------------------------------------------------

    def list_tools(self) -> ShownTuple[RemoteTool]:
        """The server's tools.

        Raises
        ------
        MCPError
        """
        return ShownTuple(self._do(self.session.list_tools))

    async def alist_tools(self) -> ShownTuple[RemoteTool]:
        """The server's tools, with ``await``."""
        return ShownTuple(await self._ado(self.session.list_tools))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[float, float | None, str | None], Any] | None = None,
        on_elicit: Callable[[Any], Awaitable[Any]] | None = None,
        on_log: Callable[[str, str | None, Any], Any] | None = None,
    ) -> RemoteResult:
        """Call a tool; see :meth:`.session.Session.call_tool`.

        Raises
        ------
        MCPToolError
            When the tool says that it failed.
        MCPError
            When it does not come to that.
        """
        told: RemoteResult = self._do(
            lambda: self.session.call_tool(
                name, arguments, timeout=timeout, on_progress=on_progress, on_elicit=on_elicit,
                on_log=on_log,
            )
        )  # fmt: skip
        return told

    async def acall_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, **options: Any
    ) -> RemoteResult:
        """Call a tool, with ``await``; takes the options of :meth:`call_tool`."""
        told: RemoteResult = await self._ado(
            lambda: self.session.call_tool(name, arguments, **options)
        )
        return told

    # -- resources and prompts ---------------------------------------------------------------------

    def list_resources(self) -> ShownTuple[RemoteResource]:
        """What the server lets us read."""
        return ShownTuple(self._do(self.session.list_resources))

    async def alist_resources(self) -> ShownTuple[RemoteResource]:
        """What the server lets us read, with ``await``."""
        return ShownTuple(await self._ado(self.session.list_resources))

    def list_resource_templates(self) -> ShownTuple[RemoteResource]:
        """Patterns of what the server lets us read."""
        return ShownTuple(self._do(self.session.list_resource_templates))

    async def alist_resource_templates(self) -> ShownTuple[RemoteResource]:
        """Patterns of what the server lets us read, with ``await``."""
        return ShownTuple(await self._ado(self.session.list_resource_templates))

    def read_resource(self, uri: str) -> RemoteResult:
        """Read one resource.

        Raises
        ------
        MCPError
            When the server has no resources, or not this one.
        """
        told: RemoteResult = self._do(lambda: self.session.read_resource(uri))
        return told

    async def aread_resource(self, uri: str) -> RemoteResult:
        """Read one resource, with ``await``."""
        told: RemoteResult = await self._ado(lambda: self.session.read_resource(uri))
        return told

    def list_prompts(self) -> ShownTuple[RemotePrompt]:
        """The prompts that the server has ready."""
        return ShownTuple(self._do(self.session.list_prompts))

    async def alist_prompts(self) -> ShownTuple[RemotePrompt]:
        """The prompts that the server has ready, with ``await``."""
        return ShownTuple(await self._ado(self.session.list_prompts))

    def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None
    ) -> ShownTuple[Message]:
        """The messages of a prompt.

        Raises
        ------
        MCPError
            When the server has no prompts, not this one, or wants other arguments.
        """
        return ShownTuple(self._do(lambda: self.session.get_prompt(name, arguments)))

    async def aget_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None
    ) -> ShownTuple[Message]:
        """The messages of a prompt, with ``await``."""
        return ShownTuple(await self._ado(lambda: self.session.get_prompt(name, arguments)))

    def complete(
        self, of: str, argument: str, begun: str = "", *, known: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """How an argument may go on; see :meth:`.session.Session.complete`."""
        told: tuple[str, ...] = self._do(
            lambda: self.session.complete(of, argument, begun, known=known)
        )
        return told

    async def acomplete(
        self, of: str, argument: str, begun: str = "", *, known: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """How an argument may go on, with ``await``."""
        told: tuple[str, ...] = await self._ado(
            lambda: self.session.complete(of, argument, begun, known=known)
        )
        return told

    def __repr__(self) -> str:
        return f"<Client of {self.server.name}: {self.status}>"
