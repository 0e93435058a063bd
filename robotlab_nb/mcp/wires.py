"""What carries messages between us and a server, and the SDK's streams over it.

A wire is an object with ``connect``, ``send``, ``receive`` and ``disconnect``. Ours carry JSON
text; those of registered transports carry dicts. The SDK wants a pair of streams; these are made
here, and they notice when a connection is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

__all__ = ["LARGEST_MESSAGE", "ConnectionNotes", "Wire", "streams_over"]

#: bytes of one message; a server that sends more is given up
LARGEST_MESSAGE = 128_000_000
#: what is noted of a server's oddities: so many, each so long
_MOST_NOTES = 20
_NOTE_LENGTH = 300


class ConnectionNotes:
    """What a connection tells whoever looks: why it ended, and what was odd."""

    __slots__ = ("_more", "exit_status", "http_status", "on_over", "over", "reason", "warnings")

    def __init__(self) -> None:
        #: oddities, the first ones
        self.warnings: list[str] = []
        self._more = 0
        #: why nothing can be sent any more, in words
        self.reason: str | None = None
        self.http_status: int | None = None
        self.exit_status: int | None = None
        #: whether nothing comes any more
        self.over = False
        self.on_over: Callable[[], object] | None = None

    def warn(self, text: str) -> None:
        """Note something odd; a flood of it takes no more room."""
        if len(self.warnings) < _MOST_NOTES:
            short = text if len(text) <= _NOTE_LENGTH else text[:_NOTE_LENGTH] + "…"
            self.warnings.append(short)
        else:
            self._more += 1

    @property
    def told(self) -> list[str]:
        """The oddities, and how many there were besides."""
        return [*self.warnings, f"and {self._more} more"] if self._more else list(self.warnings)

    def forget(self) -> None:
        """Begin anew: another try is made."""
        self.reason = self.http_status = self.exit_status = None
        self.over = False

    def end(self, reason: str | None = None) -> None:
        """Note that the connection is over, and why; the first reason stays."""
        if self.reason is None:
            self.reason = reason
        if not self.over:
            self.over = True
            if self.on_over is not None:
                self.on_over()


class Wire(Protocol):
    """A connection that carries messages, one at a time, in both directions."""

    async def connect(self) -> None:
        """Open it."""
        ...

    async def send(self, message: Any, /) -> None:
        """Send one message."""
        ...

    async def receive(self) -> Any:
        """The next message; None when no more come."""
        ...

    async def disconnect(self) -> None:
        """Close it."""
        ...


@contextlib.asynccontextmanager
async def streams_over(
    wire: Wire, notes: ConnectionNotes, *, as_text: bool
) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's pair of streams over a wire that is open; closes the wire.

    Parameters
    ----------
    wire : Wire
    notes : ConnectionNotes
    as_text : bool
        Whether the wire carries JSON text, rather than dicts.
    """
    import anyio

    try:
        yield _Incoming(wire, notes), _Outgoing(wire, notes, as_text)
    finally:
        notes.end()
        with anyio.CancelScope(shield=True):
            await wire.disconnect()


class _Stream:
    """What both streams are besides."""

    def __init__(self) -> None:
        self.closed = False

    async def aclose(self) -> None:
        self.closed = True

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.closed = True


class _Incoming(_Stream):
    """Messages from the server, until it has no more."""

    def __init__(self, wire: Wire, notes: ConnectionNotes) -> None:
        super().__init__()
        from mcp.types import jsonrpc_message_adapter

        self._wire = wire
        self._notes = notes
        self._read = jsonrpc_message_adapter

    def __aiter__(self) -> _Incoming:
        return self

    async def __anext__(self) -> Any:
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> Any:
        import anyio
        from mcp.shared.message import SessionMessage

        while not self.closed:
            try:
                came = await self._wire.receive()
            except (EOFError, StopAsyncIteration):
                came = None
            except Exception as error:
                self._notes.end(str(error) or type(error).__name__)
                came = None
            if came is None:
                self._notes.end()
                raise anyio.EndOfStream
            message = self._parsed(came)
            if message is not None:
                return SessionMessage(message)
        raise anyio.ClosedResourceError

    def _parsed(self, came: Any) -> Any:
        text = isinstance(came, (bytes, bytearray, str))
        if text and not came.strip():
            return None
        try:
            if not text:
                return self._read.validate_python(came, by_name=False)
            return self._read.validate_json(came, by_name=False)
        except ValueError:
            pass
        if isinstance(came, (bytes, bytearray)):
            # One letter in a broken encoding must not cost an answer.
            came = came.decode("utf-8", "replace")
            try:
                return self._read.validate_json(came, by_name=False)
            except ValueError:
                pass
        self._notes.warn(f"not a message of the protocol: {str(came).strip()!r:.200}")
        return None


class _Outgoing(_Stream):
    """Messages to the server."""

    def __init__(self, wire: Wire, notes: ConnectionNotes, as_text: bool) -> None:
        super().__init__()
        self._wire = wire
        self._notes = notes
        self._as_text = as_text

    async def send(self, item: Any, /) -> None:
        import anyio

        if self.closed or self._notes.over:
            raise anyio.ClosedResourceError
        message = item.message
        if self._as_text:
            body: Any = message.model_dump_json(by_alias=True, exclude_unset=True)
        else:
            body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        try:
            await self._wire.send(body)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._notes.end(str(error) or type(error).__name__)
            raise anyio.ClosedResourceError from None


class RegisteredWire:
    """An object of a registered transport, whose methods may be plain functions as well."""

    def __init__(self, made: Any) -> None:
        self._made = made

    async def connect(self) -> None:
        """Open it."""
        await _awaited(self._made.connect())

    async def send(self, message: Any) -> None:
        """Send one message, a dict."""
        await _awaited(self._made.send(message))

    async def receive(self) -> Any:
        """The next message, a dict or JSON text."""
        return await _awaited(self._made.receive())

    async def disconnect(self) -> None:
        """Close it; what goes wrong then concerns nobody."""
        with contextlib.suppress(Exception):
            await asyncio.wait_for(_awaited(self._made.disconnect()), 3.0)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
