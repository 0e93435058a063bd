"""One connection to a server: a task that opens it, keeps it, and closes it.

The SDK's scopes must be left by the task that entered them; so this task does both, whoever calls.
Requests are made by the callers' own tasks on the same loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .child_environment import refuse_missing
from .failures import connection_failure, late
from .sdk import load_sdk
from .wires import ConnectionNotes
from .wiring import opened_transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.mcp_errors import MCPError
    from .servers import Server

__all__ = ["Connection", "Hello"]

#: seconds for closing, before it is done by force
_CLOSING = 4.0
#: seconds that our own import may take besides, on a busy machine
_LOADING = 60.0
#: seconds before a second try, doubled with each further one
_PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Hello:
    """What a server said of itself when it was met."""

    info: dict[str, Any] = field(default_factory=dict)
    instructions: str | None = None
    capabilities: dict[str, Any] = field(default_factory=dict)
    protocol: str | None = None

    @classmethod
    def of(cls, client: Any) -> Hello:
        """What the SDK's client knows."""
        info = client.server_info
        return cls(
            {} if info is None else info.model_dump(mode="json", exclude_none=True),
            client.instructions,
            client.server_capabilities.model_dump(mode="json", exclude_none=True),
            str(client.protocol_version),
        )


class Connection:
    """A connection from its opening to its end; there is no second one with the same object.

    Parameters
    ----------
    server : Server
    callbacks : callable
        Gives keyword arguments for the SDK's client: what the server may ask and tell.
    on_end : callable
        Called once, on the loop, when the connection is over; takes this object.
    wait : float
        Seconds before the first try.
    """

    def __init__(
        self,
        server: Server,
        callbacks: Callable[[], dict[str, Any]],
        on_end: Callable[[Connection], object],
        wait: float = 0.0,
    ) -> None:
        self.server = server
        self.notes = ConnectionNotes()
        self.notes.on_over = self._wake
        self.client: Any = None
        self.wire: Any = None
        self.hello = Hello()
        self.error: MCPError | None = None
        #: whether requests can be made
        self.ready = False
        #: whether the server is asked to tell of changed lists
        self.on_listening: Callable[[], object] | None = None
        self._callbacks = callbacks
        self._on_end = on_end
        self._wait = wait
        self._news = asyncio.Event()
        #: whether it is being closed on purpose
        self.closing = False
        self._late = False
        self._deadline: asyncio.TimerHandle | None = None
        self.loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = self.loop.create_future()
        self.opened.add_done_callback(_seen)
        self._task = self.loop.create_task(self._run(), name=f"mcp {server.name}")

    @property
    def is_over(self) -> bool:
        """Whether it can be used no more, though it may not be closed yet."""
        was_open = self.client is not None
        return self._task.done() or self.closing or (was_open and self.notes.over)

    @property
    def stderr_tail(self) -> str:
        """The last that the server's process wrote to its standard error."""
        return getattr(self.wire, "stderr_tail", "")

    def _wake(self) -> None:
        self._news.set()

    async def _run(self) -> None:
        try:
            await self._open_and_keep()
            if self.error is None and not self.closing:
                await self._settle()
                self.error = connection_failure(self, None)
        except BaseException as error:
            await self._settle()
            if not self.closing:
                self.error = self._failure(error)
            if isinstance(error, asyncio.CancelledError) and not self._late:
                self.error = self.error or connection_failure(self, None)
                raise
        finally:
            self.ready = False
            self.notes.end()
            if self.wire is not None:
                getattr(self.wire, "kill", _nothing)()
            if not self.opened.done():
                self.opened.set_exception(self.error or connection_failure(self, None))
            self._on_end(self)

    async def _settle(self) -> None:
        """Wait a moment for what a process said last."""
        settled = getattr(self.wire, "settled", None)
        if settled is not None and not self.closing:
            with contextlib.suppress(asyncio.CancelledError):
                await settled()

    def _failure(self, error: BaseException) -> MCPError:
        if self._late:
            return late(self, f"did not say hello within {self.server.timeout:g} s")
        return connection_failure(self, error)

    async def _open_and_keep(self) -> None:
        refuse_missing(self.server)
        if self._wait:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), self._wait)
            if self.closing:
                return
        self._begin_time(_LOADING)
        tries = 1 + self.server.transport.get("retry", 0)
        pause = _PAUSE
        try:
            while True:
                tries -= 1
                try:
                    return await self._try()
                except (Exception, BaseExceptionGroup):
                    if self.client is not None or not tries or not self._may_pass():
                        raise
                self.notes.forget()
                await asyncio.sleep(pause)
                pause *= 2
        finally:
            self._end_time()

    def _begin_time(self, more: float = 0.0) -> None:
        """The server has its time from now on; called again, it starts anew."""
        self._end_time()
        self._deadline = self.loop.call_later(self.server.timeout + more, self._expire)

    def _end_time(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()

    def _may_pass(self) -> bool:
        """Whether another try may fare better: nobody answered, or the server was busy."""
        status = self.notes.http_status
        return not (self.closing or self._late) and (
            status is None or status == 429 or status >= 500
        )

    async def _try(self) -> None:
        transport = await self._transport()
        from mcp.client.client import Client

        client = Client(transport, cache=None, **self._callbacks())
        async with client:
            self._end_time()
            self.client = client
            self.hello = Hello.of(client)
            self.ready = True
            self.opened.set_result(None)
            await self._keep(client)

    async def _transport(self) -> Any:
        """The transport, opened while the SDK is being imported."""
        loading = asyncio.ensure_future(load_sdk())
        loading.add_done_callback(self._loaded)
        try:
            return await opened_transport(self, loading)
        except BaseException:
            loading.cancel()
            raise

    def _loaded(self, _: object) -> None:
        # How long our own import took is not the server's fault.
        if not self.opened.done():
            self._begin_time()

    def _expire(self) -> None:
        self._late = True
        self._task.cancel()

    async def _keep(self, client: Any) -> None:
        listening = self._listening(client)
        try:
            while not (self.closing or self.notes.over):
                self._news.clear()
                await self._news.wait()
        finally:
            self.ready = False
            if listening is not None:
                listening.cancel()
                with contextlib.suppress(BaseException):
                    await listening

    def _listening(self, client: Any) -> asyncio.Task[None] | None:
        """Where changes are told only to those who listen, listen."""
        from .listening import listen, wants_listening

        if self.on_listening is None or not wants_listening(client):
            return None
        return self.loop.create_task(listen(client, self.on_listening))

    async def close(self) -> None:
        """Close it and wait until it is closed; by force when that takes too long."""
        self.closing = True
        self._wake()
        if self.opened.done() is False:
            self._task.cancel()
        done, _ = await asyncio.wait([self._task], timeout=_CLOSING)
        if not done:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=1.0)
        if self.wire is not None:
            getattr(self.wire, "kill", _nothing)()


def _seen(future: asyncio.Future[None]) -> None:
    # Nobody may be waiting; the error is the session's to tell.
    if not future.cancelled():
        future.exception()


def _nothing() -> None:
    """What a wire without a process does to end it."""
