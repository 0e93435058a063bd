"""Opening a server's transport: the built-in wires, the SDK's HTTP, registered ones."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from .secret_options import filled
from .transport_registry import checked, factory_of
from .wires import RegisteredWire, streams_over

if TYPE_CHECKING:
    import asyncio

    from .connection import Connection

__all__ = ["opened_transport"]


async def opened_transport(connection: Connection, sdk: asyncio.Future[None]) -> Any:
    """A transport for the SDK's client, its wire connected.

    Parameters
    ----------
    connection : Connection
    sdk : future
        Done when the SDK is imported; a program is started meanwhile.
    """
    server, notes = connection.server, connection.notes
    factory = factory_of(server.kind)
    if factory is not None:
        options = {k: filled(v) for k, v in server.transport.items() if k != "type"}
        wire: Any = RegisteredWire(checked(factory(options), server.kind))
    elif server.kind == "http":
        from .http_transport import http_transport

        await sdk
        return http_transport(connection)
    else:
        wire = _wire(server.kind)(server, notes)
    connection.wire = wire
    try:
        await wire.connect()
        await sdk
    except BaseException:
        with contextlib.suppress(Exception):
            await wire.disconnect()
        raise
    return streams_over(wire, notes, as_text=factory is None)


def _wire(kind: str) -> Any:
    if kind == "stdio":
        from .stdio_wire import StdioWire

        return StdioWire
    if kind == "sse":
        from .sse_wire import SseWire

        return SseWire
    from .websocket_wire import WebsocketWire

    return WebsocketWire
