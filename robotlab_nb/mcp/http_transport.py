"""Streamable HTTP: the SDK's transport, with our headers, limits and notes of what happened."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from .secret_options import filled, without_values
from .wires import LARGEST_MESSAGE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx2

    from .connection import Connection
    from .wires import ConnectionNotes

__all__ = ["http_client", "http_transport", "is_loopback", "redirected"]

#: seconds for connecting and for sending a request; for its answer the call's own time counts
HTTP_TIMEOUT = 30.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def http_client(
    url: str, headers: dict[str, str], timeout: float, notes: ConnectionNotes
) -> httpx2.AsyncClient:
    """An HTTP client for one server, which notes how requests were answered."""
    import httpx2

    async def answered(response: httpx2.Response) -> None:
        if response.request.method == "POST":
            status = response.status_code
            notes.http_status = status if status >= 300 else None
            if 300 <= status < 400:
                notes.reason = redirected(response)
        if "json" in response.headers.get("content-type", ""):
            response.stream = _Limited(response.stream)

    class _Limited(httpx2.AsyncByteStream):
        """A body that is broken off when it is too large to be a message."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in self._inner:
                size += len(piece)
                if size > LARGEST_MESSAGE:
                    raise httpx2.StreamError(
                        f"a message of more than {LARGEST_MESSAGE // 1_000_000} MB"
                    )
                yield piece

        async def aclose(self) -> None:
            await self._inner.aclose()

    return httpx2.AsyncClient(
        headers=headers,
        timeout=httpx2.Timeout(timeout, read=None),
        trust_env=not is_loopback(url),
        event_hooks={"response": [answered]},
    )


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own: no proxy stands before it."""
    return urlsplit(url).hostname in _LOOPBACK


def redirected(response: Any) -> str | None:
    """What to say of a redirect, which is not followed: our headers are for nobody else."""
    where = response.headers.get("location")
    if where is None or not 300 <= response.status_code < 400:
        return None
    return (
        f"it sends us on to {without_values(urljoin(str(response.url), where))}: use that address"
    )


@contextlib.asynccontextmanager
async def http_transport(connection: Connection) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a server that is reached by streamable HTTP."""
    from mcp.client.streamable_http import streamable_http_client

    options = connection.server.transport
    url = filled(options["url"])
    headers = dict(filled(options.get("headers") or {}))
    if options.get("session_id"):
        headers["mcp-session-id"] = options["session_id"]
    timeout = options.get("timeout", HTTP_TIMEOUT)
    async with (
        http_client(url, headers, timeout, connection.notes) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST_MESSAGE) as (
            incoming,
            outgoing,
        ),
    ):
        try:
            yield _Watched(incoming, connection.notes), outgoing
        finally:
            connection.notes.end()


class _Watched:
    """A stream of messages whose end is noted."""

    def __init__(self, inner: Any, notes: ConnectionNotes) -> None:
        self._inner = inner
        self._notes = notes

    @property
    def last_context(self) -> Any:
        """The context of whoever sent the latest message."""
        return self._inner.last_context

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except StopAsyncIteration:
            self._notes.end()
            raise

    async def receive(self) -> Any:
        return await self._inner.receive()

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Any:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)
