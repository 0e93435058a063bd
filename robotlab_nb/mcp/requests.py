"""What a session asks of its server: listing, calling, reading; each with a deadline and a cap."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..core.mcp_errors import MCPError, MCPToolError
from .failures import gone, late, refused, unanswered
from .remote_tools import tool_of
from .sdk import load_validation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .calls import Call, Callbacks
    from .connection import Connection
    from .remote_results import RemoteResult
    from .remote_tools import RemoteTool
    from .servers import Server

__all__ = ["MOST_ITEMS", "MOST_PAGES", "Requests", "answered"]

#: pages of a list, and what is on all of them: more is taken for a fault
MOST_PAGES = 100
MOST_ITEMS = 10_000
#: rounds of questions during one call
_MOST_ROUNDS = 20


class Requests:
    """The asking half of a session."""

    server: Server
    _callbacks: Callbacks

    if TYPE_CHECKING:  # the session's

        async def _ready(self) -> Connection: ...
        async def _list_tools(self) -> tuple[RemoteTool, ...]: ...

    # -- one request ------------------------------------------------------------------------------

    async def _ask(
        self, doing: str, request: Callable[[Connection], Awaitable[Any]],
        limited: Callable[[], asyncio.Timeout] | None = None,
    ) -> Any:  # fmt: skip
        """Make a request; what goes wrong becomes one of our errors."""
        connection = await self._ready()
        for again in (True, False):
            limit = self._limit() if limited is None else limited()
            try:
                async with limit:
                    return await request(connection)
            except TimeoutError:
                if not limit.expired():
                    raise gone(connection, doing) from None
                raise late(connection, f"did not answer {doing} in time") from None
            except Exception as error:
                failed = await self._failure(connection, doing, error)
                if failed is not None:
                    raise failed from None
                if not again:
                    raise gone(connection, doing) from None
            # The server forgot the session (it was restarted): nothing was done, so once more.
            await connection.close()
            connection = await self._ready()
        raise AssertionError

    def _limit(self) -> asyncio.Timeout:
        return asyncio.timeout(self.server.call_timeout)

    async def _failure(self, connection: Connection, doing: str, error: Exception) -> Any:
        """Our error for one of the SDK's; None when the session is to be made anew."""
        from mcp.shared.exceptions import MCPError as Refusal
        from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST

        if isinstance(error, MCPError):
            return error
        if isinstance(error, Refusal):
            if error.code == CONNECTION_CLOSED:
                connection.notes.end()
                if connection.wire is not None and hasattr(connection.wire, "settled"):
                    await connection.wire.settled()
                return gone(connection, doing)
            if error.code == INVALID_REQUEST and error.message == "Session terminated":
                return None
            if error.data is None and connection.notes.http_status is not None:
                return unanswered(connection, doing)
            return refused(self.server.name, doing, error)
        if connection.is_over:
            return gone(connection, doing)
        return refused(self.server.name, doing, f"what it answered is not valid: {error}"[:2_000])

    # -- tools -------------------------------------------------------------------------------------

    async def _all_tools(self) -> tuple[RemoteTool, ...]:
        from mcp.types import PaginatedRequestParams

        connection = await self._ready()
        if "tools" not in connection.hello.capabilities:
            return ()

        async def page(at: Connection, cursor: str | None) -> tuple[list[Any], str | None]:
            params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
            told = await at.client.session.list_tools(params=params)
            return told.tools, told.next_cursor

        told = await self._pages("the list of its tools", page)
        found: dict[str, RemoteTool] = {}
        for tool in told:
            found.setdefault(tool.name, tool_of(tool))
        return tuple(found.values())

    async def _pages(
        self, what: str, page: Callable[[Connection, str | None], Awaitable[Any]]
    ) -> list[Any]:
        """All pages of a list; endless ones are cut off."""
        found: list[Any] = []
        cursor: str | None = None
        seen: set[str] = set()

        async def all_pages(at: Connection) -> None:
            nonlocal cursor
            cursor = None
            found.clear()
            seen.clear()
            for _ in range(MOST_PAGES):
                items, cursor = await page(at, cursor)
                found.extend(items)
                if cursor is None:
                    return
                if cursor in seen or len(found) >= MOST_ITEMS:
                    break
                seen.add(cursor)
            at.notes.warn(f"{what} does not end: {min(len(found), MOST_ITEMS)} were taken")

        await self._ask(what, all_pages)
        return found[:MOST_ITEMS]

    async def _call_tool(self, call: Call, arguments: dict[str, Any], seconds: float) -> Any:
        # The SDK checks results against the schemas that it has listed.
        listed = await self._list_tools()
        if any(tool.output_schema is not None and tool.name == call.name for tool in listed):
            await load_validation()

        async def request(at: Connection) -> Any:
            session = at.client.session
            token = self._callbacks.enter(call)
            try:

                async def send(responses: Any, state: str | None) -> Any:
                    return await session.call_tool(
                        call.name, arguments, None,
                        None if call.on_progress is None else call.progress,
                        input_responses=responses, request_state=state, allow_input_required=True,
                    )  # fmt: skip

                return await answered(session, await send(None, None), send)
            finally:
                self._callbacks.leave(call, token)

        try:
            return await self._ask(f"the tool {call.name!r}", request, lambda: call.limit(seconds))
        except MCPError as error:
            raise self._of_tool(call.name, error) from None

    def _of_tool(self, name: str, error: MCPError) -> MCPError:
        """A refusal of a call is the tool's."""
        if type(error) is not MCPError:
            return error
        failed = MCPToolError(
            error.message, hint=error.hint, server=error.server, code=error.code, data=error.data
        )
        failed.tool = name
        return failed

    def _tool_failed(self, name: str, result: RemoteResult) -> MCPToolError:
        told = result.text.strip() or "it did not say why"
        error = MCPToolError(
            f"the tool {name!r} of server {self.server.name!r} failed: {told[:2_000]}",
            server=self.server.name,
        )
        error.tool, error.result = name, result
        return error


async def answered(session: Any, told: Any, send: Callable[[Any, Any], Awaitable[Any]]) -> Any:
    """A result, once the questions that a server put in its place are answered."""
    from mcp.client._input_required import run_input_required_driver
    from mcp.client.session import ClientRequestContext
    from mcp.types import InputRequiredResult

    if not isinstance(told, InputRequiredResult):
        return told

    async def answer(key: str, asked: Any) -> Any:
        meta = asked.params.meta if asked.params else None
        context = ClientRequestContext(session=session, request_id=key, meta=meta)
        return await session.dispatch_input_request(context, asked)

    return await run_input_required_driver(
        told, dispatch=answer, retry=send, max_rounds=_MOST_ROUNDS
    )
