"""Who may talk to a served address: the machine itself, pages of it, whoever has the token.

An ASGI application around the one that serves; it ends what is open when serving stops.
"""

from __future__ import annotations

import asyncio
import hmac
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping, Sequence

    from mcp.server.transport_security import TransportSecuritySettings

__all__ = ["LOOPBACK", "Gate", "is_loopback", "security"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own, which nobody else reaches.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def security(
    host: str, allowed_hosts: Sequence[str], allowed_origins: Sequence[str]
) -> TransportSecuritySettings:
    """What the SDK is to check of each request: that a page elsewhere cannot talk to us.

    A page that gives its own name our address (DNS rebinding) is told by the Host header, any other
    page by its Origin. An address that listens everywhere has no name of its own: there the token
    is what keeps pages out, unless names are given.

    Parameters
    ----------
    host : str
        Where we listen.
    allowed_hosts, allowed_origins : sequence of str
        More names (``"robots.example:*"``) and pages (``"https://app.example"``).
    """
    from mcp.server.transport_security import TransportSecuritySettings

    own = LOOPBACK if is_loopback(host) else () if host in ("0.0.0.0", "::", "") else (host,)
    written = [f"[{name}]" if ":" in name else name for name in own]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(written or allowed_hosts),
        allowed_hosts=[*(f"{name}:*" for name in written), *allowed_hosts],
        allowed_origins=[*(f"http://{name}:*" for name in written), *allowed_origins],
    )


class Gate:
    """Lets requests in that may come in, and ends those that go on when serving stops.

    Parameters
    ----------
    app : ASGI application
    settings : TransportSecuritySettings
    token : str or None
        What an Authorization header must bear.
    """

    def __init__(self, app: Any, settings: TransportSecuritySettings, token: str | None) -> None:
        from mcp.server.transport_security import TransportSecurityMiddleware

        self._app = app
        self._security = TransportSecurityMiddleware(settings)
        self._token = token
        self._open: set[asyncio.Task[Any]] = set()
        self._stopping = False

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Serve one connection or request, if it may come in."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = await self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        task = asyncio.current_task()
        assert task is not None
        ending = _Ending(scope, send)
        self._open.add(task)
        try:
            await self._app(scope, receive, ending.send)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            task.uncancel()
            await ending.end()
        finally:
            self._open.discard(task)

    async def _refusal(self, scope: MutableMapping[str, Any]) -> tuple[int, str] | None:
        from starlette.requests import HTTPConnection

        asked: Any = HTTPConnection(scope)
        if self._stopping:
            return 503, "this server is stopping"
        refused = await self._security.validate_request(asked)
        if refused is not None:
            return refused.status_code, bytes(refused.body).decode()
        if self._token is not None:
            given = asked.headers.get("authorization", "")
            wanted = f"Bearer {self._token}"
            if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
                return 401, "a bearer token is needed"
        return None

    def stop(self) -> None:
        """Let nobody in any more, and end what is open."""
        self._stopping = True
        for task in tuple(self._open):
            task.cancel()


async def _refuse(scope: Any, receive: Any, send: Any, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why})  # HTTP 403 before it
        return
    from starlette.responses import PlainTextResponse

    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    await PlainTextResponse(why, status_code=status, headers=headers)(scope, receive, send)


class _Ending:
    """What was sent of an answer, so that it can be ended properly."""

    def __init__(self, scope: Any, send: Any) -> None:
        self._websocket = scope["type"] == "websocket"
        self._send = send
        self._begun = self._over = False

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a part of the answer."""
        kind = message["type"]
        self._begun = self._begun or kind in ("http.response.start", "websocket.accept")
        whole = kind == "http.response.body" and not message.get("more_body", False)
        self._over = self._over or whole or kind == "websocket.close"
        await self._send(message)

    async def end(self) -> None:
        """Send what is missing: a refusal, or the end."""
        if self._over:
            return
        if self._websocket:
            await self._send({"type": "websocket.close", "code": 1001})
            return
        if not self._begun:
            headers = [(b"content-length", b"0")]
            await self._send({"type": "http.response.start", "status": 503, "headers": headers})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
