"""A server behind a WebSocket: one message a frame, subprotocol ``mcp``."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from .http_transport import is_loopback
from .secret_options import filled
from .wires import LARGEST_MESSAGE

if TYPE_CHECKING:
    from .servers import Server
    from .wires import ConnectionNotes

__all__ = ["WebsocketWire"]

#: seconds between two pings; a server that answers none for as long is gone
PING_INTERVAL = 20.0


class WebsocketWire:
    """One WebSocket."""

    def __init__(self, server: Server, notes: ConnectionNotes) -> None:
        self._options = server.transport
        self._notes = notes
        self._socket: Any = None

    async def connect(self) -> None:
        """Open it."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus
        from websockets.typing import Subprotocol

        url = filled(self._options["url"])
        interval = self._options.get("ping_interval", PING_INTERVAL)
        try:
            self._socket = await connect(
                url,
                subprotocols=[Subprotocol("mcp")],
                additional_headers=dict(filled(self._options.get("headers") or {})),
                ping_interval=interval,
                ping_timeout=interval,
                open_timeout=None,  # the server's own time counts
                close_timeout=1.0,
                max_size=LARGEST_MESSAGE,
                proxy=None if is_loopback(url) else True,
            )
        except InvalidStatus as error:
            self._notes.http_status = error.response.status_code
            raise ConnectionError("it opens no WebSocket") from None

    async def send(self, message: str) -> None:
        """Send one frame."""
        await self._socket.send(message)

    async def receive(self) -> str | bytes | None:
        """The next frame."""
        from websockets.exceptions import ConnectionClosed

        try:
            frame: str | bytes = await self._socket.recv()
        except ConnectionClosed as error:
            closed = error.rcvd
            if closed is not None and closed.reason:
                self._notes.reason = self._notes.reason or f"it closed: {closed.reason}"
            elif closed is None:
                self._notes.reason = self._notes.reason or "it is cut off"
            return None
        return frame

    async def disconnect(self) -> None:
        """Close it."""
        if self._socket is not None:
            with contextlib.suppress(Exception):
                await self._socket.close()
