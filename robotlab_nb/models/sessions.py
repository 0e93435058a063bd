"""One HTTP session per event loop, shared by all models that are asked there.

It knows connections, proxies and how to close them without a word at exit. It knows no wire.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from aiohttp import ClientResponse, ClientSession

__all__ = ["Pool", "pool_for", "release"]

#: Seconds to wait for another thread, or for the end of a body.
_PATIENCE = 1.0

_pools: dict[asyncio.AbstractEventLoop, Pool] = {}


class Pool:
    """The session of one event loop, who uses it, and the proxies that it goes through."""

    __slots__ = ("_draining", "_keeper", "_pid", "_proxies", "loop", "session", "users")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        import aiohttp

        self.loop = loop
        self.users: WeakSet[Any] = WeakSet()
        self.session: ClientSession = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "robotlab_nb"},
        )
        self._proxies: dict[str, str | None] = {}
        self._draining: set[asyncio.Task[None]] = set()
        self._keeper = self._keep()
        self._pid = os.getpid()

    @property
    def ours(self) -> bool:
        """False in a forked child, whose inherited connections are the parent's."""
        return self._pid == os.getpid()

    async def open(self) -> None:
        """Have the loop close the session when it shuts down."""
        await anext(self._keeper)

    async def _keep(self) -> AsyncGenerator[None, None]:
        # A loop that ends properly closes the generators that are open on it.
        try:
            yield
        finally:
            if _pools.get(self.loop) is self:
                del _pools[self.loop]
            for task in self._draining:
                task.cancel()
            await self.session.close()

    async def close(self) -> None:
        """Close the session and forget the pool. Only on the pool's loop."""
        await self._keeper.aclose()

    def close_from_outside(self) -> None:
        """Close the session of a loop that runs in another thread, or not (any more)."""
        if not self.ours:
            return
        if self.loop.is_closed():
            try:  # nothing is waited for on a closed loop
                self.session.close().send(None)
            except (StopIteration, RuntimeError):
                pass
        elif self.loop.is_running():
            closing = asyncio.run_coroutine_threadsafe(self.close(), self.loop)
            try:
                closing.result(_PATIENCE)
            except Exception:
                pass  # a loop that is blocked keeps its connections
        else:
            self.loop.run_until_complete(self.close())

    def proxy(self, url: str) -> str | None:
        """The proxy that the environment names for a URL.

        aiohttp's own look-up (``trust_env``) goes through two threads for every request, and
        prefers a password from ``.netrc`` to our key. This one is done once for each origin.
        """
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._proxies:
            self._proxies[origin] = _environment_proxy(parts.scheme, parts.hostname or "")
        return self._proxies[origin]

    def drain(self, response: ClientResponse) -> None:
        """Read the few bytes after the end of an answer, so that the connection can be used
        again; in the background, and not for long.
        """
        task = self.loop.create_task(_drain(response))
        self._draining.add(task)
        task.add_done_callback(self._draining.discard)


async def _drain(response: ClientResponse) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            while not response.content.at_eof():
                await response.content.readany()
    except Exception:
        pass  # the answer was complete before; at worst the connection is not used again
    finally:
        response.close()


async def pool_for(user: Any) -> Pool:
    """The pool of the running loop.

    Parameters
    ----------
    user : object
        Who asks; the session stays open as long as one of its users has not been released.

    Returns
    -------
    Pool
        The same one for every user on this loop.

    Examples
    --------
    >>> class User:
    ...     pass
    >>> async def visit(user):
    ...     pool = await pool_for(user)
    ...     same = pool is await pool_for(User())
    ...     return same, pool.session.closed
    >>> asyncio.run(visit(User()))
    (True, False)
    """
    loop = asyncio.get_running_loop()
    pool = _pools.get(loop)
    if pool is None:
        for other, left in list(_pools.items()):
            if other.is_closed():
                _pools.pop(other, None)
                left.close_from_outside()
        pool = _pools[loop] = Pool(loop)
        await pool.open()
    pool.users.add(user)
    return pool


async def release(user: Any) -> None:
    """Say that a user needs no connections now; close the sessions that nobody needs.

    Parameters
    ----------
    user : object
        Whom :func:`pool_for` was asked for.
    """
    here = asyncio.get_running_loop()
    for loop, pool in list(_pools.items()):
        pool.users.discard(user)
        if pool.users or not pool.ours:
            continue
        if loop is here:
            await pool.close()
        elif loop.is_running():
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(pool.close(), loop))


def _environment_proxy(scheme: str, host: str) -> str | None:
    from urllib.request import getproxies, proxy_bypass

    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    proxy = getproxies().get(scheme)
    # A proxy that is itself reached by TLS or SOCKS is more than aiohttp can do.
    return proxy if proxy and proxy.startswith("http://") else None


@atexit.register
def _close_all() -> None:
    for pool in list(_pools.values()):
        pool.close_from_outside()
