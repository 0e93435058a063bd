"""A model server for tests: real HTTP on the loopback, scripted answers, a record of requests.

It speaks the OpenAI chat-completions wire on plain asyncio, in a thread of its own, so that an
answer can be late, slow, cut at any byte, or garbage. It knows nothing of robots.
"""

from __future__ import annotations

import asyncio
import threading
from http.client import responses as _REASONS
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..core.errors import ConfigurationError
from .recorded import EXPECTS, Recorded, parse
from .replies import Reply
from .vectors import vectors_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from ..models.direct import DirectModel

__all__ = ["ModelServer"]

#: Seconds to wait for the server's thread to start or to end.
_PATIENCE = 10.0
#: the servers of this process that listen
running: WeakSet[ModelServer] = WeakSet()


class ModelServer:
    """An OpenAI-compatible server whose answers are scripted.

    Use it in a ``with`` or an ``async with`` block. Leaving the block with unused replies is an
    AssertionError, unless another error is on its way.

    Parameters
    ----------
    replies : iterable of Reply or str, optional
        The answers, in order; a string is ``Reply.text`` of it. A request beyond them gets HTTP
        500 and is listed in ``unexpected``.
    script : callable, optional
        Instead of ``replies``: takes a :class:`Recorded`, returns a Reply or a string.
    repeat : bool, optional
        Whether the last reply is given again and again.
    embeddings : iterable of Reply, optional
        The answers to requests for embeddings, in order. Beyond them, and by default, each text
        gets a vector made of its words' hashes: the same every time, near for texts that share
        words.

    Attributes
    ----------
    requests, unexpected : list of Recorded
        All that came, and those that had no reply.
    connected : int
        How many connections were made.

    Examples
    --------
    >>> import asyncio
    >>> from robotlab_nb.core.messages import Message
    >>> from robotlab_nb.models.protocol import Request
    >>> async def ask(model):
    ...     request = Request((Message("user", "Hello?"),))
    ...     return [chunk.text async for chunk in model.stream(request)][0]
    >>> with ModelServer(["Hi!"]) as server:
    ...     answer = asyncio.run(ask(server.model()))
    >>> answer, server.requests[0].messages
    ('Hi!', [{'role': 'user', 'content': 'Hello?'}])
    """

    def __init__(
        self,
        replies: Iterable[Reply | str] = (),
        *,
        script: Callable[[Recorded], Reply | str] | None = None,
        repeat: bool = False,
        embeddings: Iterable[Reply] = (),
    ) -> None:
        self._left = [_reply(reply) for reply in replies]
        self._embeddings = list(embeddings)
        if script is not None and self._left:
            raise ConfigurationError(
                "a ModelServer takes replies or a script, not both",
                hint="Let the script return them.",
            )
        self._script = script
        self._repeat = repeat
        self.requests: list[Recorded] = []
        self.unexpected: list[Recorded] = []
        self.connected = 0
        self._arrival = threading.Condition()
        self._connections: set[_Connection] = set()
        self._port: int | None = None
        self._ready = threading.Event()
        self._stop: Callable[[], object] | None = None
        self._thread: threading.Thread | None = None

    # -- from outside ----------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The server's address, ``http://127.0.0.1:PORT``."""
        if self._port is None:
            raise ConfigurationError(
                "the ModelServer is not running", hint="Use it in a `with` block."
            )
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What to give as ``api_base``: the address with ``/v1``."""
        return f"{self.url}/v1"

    def model(self, name: str = "test-model", **more: Any) -> DirectModel:
        """A model behind this server.

        Parameters
        ----------
        name : str, optional
        **more
            Further arguments of :class:`~robotlab_nb.models.direct.DirectModel`.
        """
        from ..models.direct import DirectModel

        more.setdefault("api_key", "test-key")
        return DirectModel(name, api_base=self.base_url, **more)

    def wait_for_requests(self, number: int = 1, timeout: float = _PATIENCE) -> bool:
        """Block until so many requests have come.

        Parameters
        ----------
        number : int, optional
        timeout : float, optional
            Seconds.

        Returns
        -------
        bool
            False when they did not come in time.
        """
        with self._arrival:
            return self._arrival.wait_for(lambda: len(self.requests) >= number, timeout)

    def start(self) -> ModelServer:
        """Start listening. Done by ``with``."""
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="ModelServer", daemon=True
        )
        self._thread.start()
        self._ready.wait(_PATIENCE)
        running.add(self)
        return self

    def close(self) -> None:
        """Stop at once: open connections are dropped. May be called twice, from any thread."""
        running.discard(self)
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE)

    def __enter__(self) -> ModelServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()
        unused = [*(self._left[:-1] if self._repeat else self._left), *self._embeddings]
        if kind is None and unused:
            listed = "\n".join(f"  {_name(reply)}" for reply in unused)
            raise AssertionError(
                f"{len(unused)} of the server's replies were not asked for:\n{listed}"
            )

    async def __aenter__(self) -> ModelServer:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)
        self.__exit__(kind, error, tb)

    # -- in the server's thread ------------------------------------------------------------

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        closing = asyncio.Event()
        server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=512)
        self._port = server.sockets[0].getsockname()[1]
        self._stop = lambda: loop.call_soon_threadsafe(closing.set)
        self._ready.set()
        await closing.wait()
        server.close()
        for connection in list(self._connections):
            connection.abort()

    def _answer(self, request: Recorded) -> Reply:
        """The reply to a request."""
        with self._arrival:
            self.requests.append(request)
            self._arrival.notify_all()
        if request.method == "GET" and request.path.endswith("/models"):
            listed = {"id": "test-model", "object": "model", "created": 0, "owned_by": "test"}
            return Reply.raw({"object": "list", "data": [listed]})
        if request.method == "POST" and request.path.endswith("/embeddings"):
            if self._embeddings:
                return self._embeddings.pop(0)
            return Reply.raw(vectors_reply(request.body))
        if request.method != "POST" or not request.path.endswith("/chat/completions"):
            return Reply.error(404, f"ModelServer has no {request.method} {request.path}")
        if self._script is not None:
            try:
                return _reply(self._script(request))
            except Exception as error:
                return _unscripted(f"the script raised {type(error).__name__}: {error}")
        if not self._left:
            self.unexpected.append(request)
            return _unscripted(f"request {len(self.requests)} has no reply: the script is used up")
        if self._repeat and len(self._left) == 1:
            return self._left[0]
        return self._left.pop(0)


def _reply(reply: Reply | str) -> Reply:
    return Reply.text(reply) if isinstance(reply, str) else reply


def _unscripted(why: str) -> Reply:
    return Reply.error(500, f"ModelServer: {why}", headers={"x-should-retry": "false"})


def _name(reply: Reply) -> str:
    if reply.body is not None:
        return f"{reply.status} {reply.body[:60]!r}"
    said = [repr("".join(reply.pieces))] if reply.pieces else []
    said += [f"{call.name}({call.arguments})" for call in reply.calls]
    return " ".join(said or [repr(reply.refused or reply.reasoning)])


class _Connection(asyncio.Protocol):
    """One connection: requests in, one after another, replies out."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._request: Recorded | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server._connections.add(self)
        self._server.connected += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._connections.discard(self)
        if self._request is not None:
            self._request.settle(finished=False)
        if self._task is not None:
            self._task.cancel()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._next()

    def _next(self) -> None:
        """Take the next request, when it is complete and the last one is answered."""
        if self._request is not None or self._transport is None:
            return
        request = parse(self._received)
        if request is EXPECTS:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        elif isinstance(request, Recorded):
            self._request = request
            self._task = asyncio.get_running_loop().create_task(self._respond(request))

    async def _respond(self, request: Recorded) -> None:
        reply = self._server._answer(request)
        transport = self._transport
        assert transport is not None
        if reply.delay:
            await asyncio.sleep(reply.delay)
        kind, blocks = reply.blocks(request.body if isinstance(request.body, dict) else {})
        whole = sum(map(len, blocks))
        chunked = reply.framed and (len(blocks) > 1 or kind.startswith("text/event-stream"))
        head = _head(reply, kind, chunked, whole)
        cut = reply.cut_after
        for n, block in enumerate(blocks):
            if n:
                await asyncio.sleep(reply.pause)
            if cut is not None:
                block, cut = block[:cut], cut - len(block)
            if block and chunked:
                block = b"%x\r\n%b\r\n" % (len(block), block)
            transport.write(head + block)
            head = b""
            if cut is not None and cut <= 0:
                break
        if head:
            transport.write(head)
        if chunked and reply.cut_after is None:
            transport.write(b"0\r\n\r\n")
        request.settle(finished=True)
        self._request = self._task = None
        if reply.cut_after is not None or not reply.framed:
            transport.close()
        else:
            self._next()


def _head(reply: Reply, kind: str, chunked: bool, length: int) -> bytes:
    headers = {"content-type": kind} if kind else {}
    if chunked:
        headers["transfer-encoding"] = "chunked"
    elif reply.framed:
        headers["content-length"] = str(length)
    else:
        headers["connection"] = "close"
    headers.update(reply.headers)
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Scripted')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
