"""A robot's tool servers: connecting before a run needs them, letting go, what could not be had.

Knows what a tool source is, and nothing of where its servers are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..tools.manifest import ToolManifest
from ..tools.selection import cap
from ..tools.tool_source import Opened, ToolSource

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Self

    from .in_force import InForce
    from .turn import Turn

__all__ = ["ToolServers", "equip"]

_NOTHING = Opened()


async def equip(turn: Turn, source: ToolSource) -> None:
    """Connect the servers of a turn, and offer their tools besides the robot's own."""
    settings = turn.settings
    taken = turn.tools if turn.shape is None else _with_answer(turn)
    opened = await source.open(turn.run, turn.message.text, taken, settings)
    turn.robot._opened = opened
    whole = ToolManifest([*turn.tools, *opened.tools])
    turn.tools = cap(whole, settings["max_tools"], settings["tool_strategy"])


def _with_answer(turn: Turn) -> ToolManifest:
    """The robot's tools with the one that gives the answer: nobody else may have its name."""
    answer = turn.shape.tool if turn.shape is not None else None
    if answer is None:
        return turn.tools
    from ..tools.definition import Tool

    made = Tool.create(answer.name, function=lambda: None)
    return ToolManifest([*turn.tools, made])


class ToolServers:
    """What a robot does with its tool servers outside its runs."""

    __slots__ = ()

    if TYPE_CHECKING:
        name: str
        #: what the latest connecting gave, in a run or outside
        _opened: Opened | None

        def _in_force(self) -> InForce: ...

    @property
    def mcp_servers(self) -> tuple[Any, ...]:
        """The tool servers that a run would use, as they were described.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> files = rl.mcp.Server("files", command="files-mcp")
        >>> rl.build("clerk", mcp=[files]).mcp_servers
        (<Server files: files-mcp>,)
        """
        source: Any = self._in_force().servers
        return () if source is None else source.servers

    @property
    def mcp_tools(self) -> ToolManifest:
        """The tools of servers, by name, as they were when the robot last connected to them."""
        return ToolManifest((self._opened or _NOTHING).tools)

    @property
    def failed_mcp_server_names(self) -> tuple[str, ...]:
        """Names of the servers that could not be had the last time. The next run tries again."""
        return (self._opened or _NOTHING).failed

    def connect_mcp(self) -> Self:
        """Connect to all tool servers now, at the same time. Runs do so by themselves.

        A server that cannot be had raises nothing: :attr:`failed_mcp_server_names` has it. One that
        a file names, and that nobody has approved yet, is not started: a run asks for it.

        Returns
        -------
        Robot
            This robot.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> gone = rl.mcp.Server("gone", url="http://127.0.0.1:9/mcp", timeout=2)
        >>> rl.build("clerk", mcp=[gone]).connect_mcp().failed_mcp_server_names
        ('gone',)
        """
        work = self._connect()
        return self if work is None else _blocking(work, "connect_mcp()")

    async def aconnect_mcp(self) -> Self:
        """Connect to all tool servers now. As :meth:`connect_mcp`, for async code."""
        work = self._connect()
        return self if work is None else await _awaited(work)

    def disconnect(self) -> Self:
        """Close the sessions with all tool servers. Whoever needs one again opens it again.

        A session belongs to its server: other robots that use the same one reconnect as well.

        Returns
        -------
        Robot
            This robot.
        """
        work = self._disconnect()
        return self if work is None else _blocking(work, "disconnect()")

    async def adisconnect(self) -> Self:
        """Close the sessions with all tool servers. As :meth:`disconnect`, for async code."""
        work = self._disconnect()
        return self if work is None else await _awaited(work)

    def _connect(self) -> Coroutine[Any, Any, Self] | None:
        found = self._in_force()
        source: Any = found.servers
        if source is None:
            return None

        robot: Any = self

        async def body() -> Self:
            robot._opened = await source.connect(found.tools)
            return self

        return body()

    def _disconnect(self) -> Coroutine[Any, Any, Self] | None:
        source: Any = self._in_force().servers
        if source is None:
            return None

        async def body() -> Self:
            await source.disconnect()
            return self

        return body()


def _blocking(work: Coroutine[Any, Any, Any], what: str) -> Any:
    """Wait in this thread for what is done on the engine's loop."""
    import asyncio

    from ..runtime.loop import engine_loop, loop_is_running

    engine = engine_loop()
    if loop_is_running() and asyncio.get_running_loop() is engine.loop:
        work.close()
        raise ConfigurationError(
            f"{what} cannot wait on the event loop that does the work",
            hint=f"Use `await robot.a{what}` here.",
        )
    done = asyncio.run_coroutine_threadsafe(work, engine.loop)
    try:
        return done.result()
    except KeyboardInterrupt:
        done.cancel()
        raise


async def _awaited(work: Coroutine[Any, Any, Any]) -> Any:
    """Wait in this loop for what is done on the engine's."""
    import asyncio

    from ..runtime.loop import engine_loop
    from ..runtime.waiting import Heartbeat

    loop = asyncio.get_running_loop()
    if loop is engine_loop().loop:
        return await work
    with Heartbeat(loop):
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, engine_loop().loop))
