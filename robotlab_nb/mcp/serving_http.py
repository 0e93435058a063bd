"""The addresses of served robots: streamable HTTP, server-sent events, WebSocket."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from mcp.server.lowlevel.server import Server
    from mcp.server.transport_security import TransportSecuritySettings

__all__ = ["PATHS", "application", "listen"]

#: transport -> where it is found
PATHS = {"http": "/mcp", "sse": "/sse", "websocket": "/mcp"}


def application(
    transport: str, server: Server[Any], settings: TransportSecuritySettings, most_bytes: int
) -> Any:
    """The ASGI application of a transport.

    Parameters
    ----------
    transport : {"http", "sse", "websocket"}
    server : Server
    settings : TransportSecuritySettings
    most_bytes : int
        Of one message.
    """
    if transport == "http":
        return server.streamable_http_app(
            streamable_http_path=PATHS["http"],
            max_request_body_size=most_bytes,
            transport_security=settings,
        )
    if transport == "sse":
        return _sse(server, settings, most_bytes)
    return _websocket(server)


def _sse(server: Server[Any], settings: TransportSecuritySettings, most_bytes: int) -> Any:
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    streams = SseServerTransport("/messages/", settings, most_bytes)

    async def connect(request: Any) -> Response:
        async with streams.connect_sse(request.scope, request.receive, request._send) as (one, two):
            await server.run(one, two, server.create_initialization_options())
        return Response()

    routes = [
        Route(PATHS["sse"], endpoint=connect, methods=["GET"]),
        Mount("/messages/", app=streams.handle_post_message),
    ]
    return Starlette(routes=routes)


def _websocket(server: Server[Any]) -> Any:
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute

    async def connect(socket: Any) -> None:
        offered = socket.scope.get("subprotocols") or ()
        await socket.accept(subprotocol="mcp" if "mcp" in offered else None)
        await _talk(server, socket)

    return Starlette(routes=[WebSocketRoute(PATHS["websocket"], connect)])


async def _talk(server: Server[Any], socket: Any) -> None:
    """Serve one WebSocket: each text is a message."""
    import anyio
    from mcp.shared._context_streams import create_context_streams
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter
    from starlette.websockets import WebSocketDisconnect

    to_server, inbox = create_context_streams[SessionMessage | Exception](0)
    outbox, from_server = create_context_streams[SessionMessage](0)

    async def receive() -> None:
        async with to_server:
            with contextlib.suppress(WebSocketDisconnect, anyio.BrokenResourceError):
                while True:
                    text = await socket.receive_text()
                    try:
                        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
                    except ValueError as error:
                        await to_server.send(error)
                    else:
                        await to_server.send(SessionMessage(message))

    async def send() -> None:
        async with from_server:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the other side is gone
                async for item in from_server:
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await socket.send_text(text)

    async with anyio.create_task_group() as group:
        group.start_soon(receive)
        group.start_soon(send)
        await server.run(inbox, outbox, server.create_initialization_options())
        group.cancel_scope.cancel()


async def listen(
    app: Any, bound: socket, most_bytes: int, ready: Callable[[Callable[[], None]], None]
) -> None:
    """Serve an application on a socket until it is told to stop.

    Parameters
    ----------
    app : ASGI application
    bound : socket
    most_bytes : int
        Of one WebSocket message.
    ready : callable
        Called when it listens, with what stops it (to be called on this loop).
    """
    import uvicorn

    class Listening(uvicorn.Server):
        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            ready(self.leave)

        def leave(self) -> None:
            self.should_exit = True

    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", server_header=False,
        ws="websockets-sansio", ws_max_size=most_bytes, ws_per_message_deflate=False,
        timeout_graceful_shutdown=1, timeout_keep_alive=30,
    )  # fmt: skip
    await Listening(config).serve(sockets=[bound])
