"""The older HTTP transport: a stream of events from the server, and an address to post to."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from .http_transport import HTTP_TIMEOUT, http_client, redirected
from .secret_options import filled, without_values
from .wires import LARGEST_MESSAGE

if TYPE_CHECKING:
    from .servers import Server
    from .wires import ConnectionNotes

__all__ = ["SseWire"]

#: messages that wait to be read before the server is held up
_MOST_WAITING = 256


class SseWire:
    """One stream of events, and posts beside it."""

    def __init__(self, server: Server, notes: ConnectionNotes) -> None:
        options = server.transport
        self._url: str = filled(options["url"])
        self._headers: dict[str, str] = dict(filled(options.get("headers") or {}))
        self._fixed: str | None = filled(options.get("post_url"))
        self._notes = notes
        self._client: Any = None
        self._came: asyncio.Queue[str | None] = asyncio.Queue(_MOST_WAITING)
        self._post_to: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reading: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Open the stream and hear where to post."""
        self._client = http_client(self._url, self._headers, HTTP_TIMEOUT, self._notes)
        if self._fixed is not None:
            self._post_to.set_result(self._fixed)
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read(opened))
        await opened
        await asyncio.shield(self._post_to)

    async def _read(self, opened: asyncio.Future[None]) -> None:
        import httpx2

        try:
            accept = {"accept": "text/event-stream", "cache-control": "no-store"}
            async with self._client.stream("GET", self._url, headers=accept) as response:
                if response.status_code != 200:
                    self._notes.http_status = response.status_code
                    raise ConnectionError(redirected(response) or "it opens no stream of events")
                opened.set_result(None)
                source = httpx2.EventSource(response, max_event_size=LARGEST_MESSAGE)
                async for event in source:
                    if event.event == "endpoint":
                        self._endpoint(event.data)
                    elif event.event == "message" and event.data:
                        await self._came.put(event.data)
            self._ended("it closed its stream of events")
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._ended(str(error) or type(error).__name__)
        finally:
            for future in (opened, self._post_to):
                if not future.done():
                    future.set_exception(ConnectionError(self._notes.reason or "it is closed"))
                    future.exception()  # told by whoever waits
            with contextlib.suppress(asyncio.QueueFull):
                self._came.put_nowait(None)

    def _ended(self, reason: str) -> None:
        self._notes.reason = self._notes.reason or reason

    def _endpoint(self, told: str) -> None:
        if self._post_to.done():
            return
        found = urljoin(self._url, told)
        mine, its = urlsplit(self._url), urlsplit(found)
        if (mine.scheme, mine.netloc) != (its.scheme, its.netloc):
            # Our headers, keys among them, would go to somebody else.
            raise ConnectionError(f"it wants posts sent elsewhere: {without_values(found)}")
        self._post_to.set_result(found)

    async def send(self, message: str) -> None:
        """Post one message."""
        response = await self._client.post(
            self._post_to.result(), content=message.encode(),
            headers={"content-type": "application/json"},
        )  # fmt: skip
        if response.status_code >= 300:
            raise ConnectionError(redirected(response) or "it took no message")

    async def receive(self) -> str | None:
        """The next message."""
        if self._reading is not None and self._reading.done() and self._came.empty():
            return None
        return await self._came.get()

    async def disconnect(self) -> None:
        """Close the stream."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading], timeout=1.0)
        if self._client is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._client.aclose(), 1.0)
