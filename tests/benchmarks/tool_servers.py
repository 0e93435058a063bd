"""What a tool server's call costs through our sessions, beside the SDK's bare session.

Both talk to the same kind of server on the same loop, in turns, so that whatever else the machine
does hits both alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from statistics import median
from typing import TYPE_CHECKING, Any

from .figure import Figure, Pair

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from .figure import Setting

__all__ = ["FIGURES", "bare_websocket"]

CALLS = 1000
MODULE = "tests.benchmarks.mcp_server"
PATHS = {"http": "http://127.0.0.1:{}/mcp", "sse": "http://127.0.0.1:{}/sse"}
PATHS["websocket"] = "ws://127.0.0.1:{}/mcp"


@contextlib.contextmanager
def _listening(kind: str) -> Iterator[str]:
    """A server in a process of its own; gives its address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    child = subprocess.Popen(
        [sys.executable, "-m", MODULE, kind, str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(600):
            with socket.socket() as trying:
                if trying.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield PATHS[kind].format(port)
    finally:
        child.kill()
        child.wait()


@contextlib.asynccontextmanager
async def bare_websocket(url: str) -> AsyncIterator[Any]:
    """The streams that a session of the SDK needs, over a WebSocket, by hand."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter
    from websockets.asyncio.client import connect

    heard, inbox = anyio.create_memory_object_stream[Any](0)
    outbox, said = anyio.create_memory_object_stream[Any](0)
    async with (
        connect(url, subprotocols=["mcp"], compression=None) as wire,  # type: ignore[list-item]
        anyio.create_task_group() as group,
    ):

        async def receive() -> None:
            async for line in wire:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await heard.send(SessionMessage(message))

        async def send() -> None:
            async for each in said:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await wire.send(text)

        group.start_soon(receive)
        group.start_soon(send)
        yield inbox, outbox
        group.cancel_scope.cancel()


def _bare(kind: str, url: str | None) -> Any:
    """A client of the SDK, not entered yet."""
    from mcp import Client, StdioServerParameters
    from mcp.client.sse import sse_client

    if kind == "stdio":
        return Client(
            StdioServerParameters(
                command=sys.executable, args=["-m", MODULE, kind], cwd=os.getcwd()
            )
        )
    assert url is not None
    if kind == "sse":
        return Client(sse_client(url))
    return Client(bare_websocket(url) if kind == "websocket" else url)


def _ours(kind: str, url: str | None) -> Any:
    import robotlab_nb as rl

    if kind == "stdio":
        args = ["-m", MODULE, kind]
        return rl.mcp.Server("echo", command=sys.executable, args=args, cwd=os.getcwd())
    return rl.mcp.Server("echo", url=url, type=kind)


async def _alternated(kind: str, url: str | None, calls: int) -> Pair:
    from robotlab_nb.mcp.session import Session

    session = Session(_ours(kind, url))
    floor: list[float] = []
    ours: list[float] = []
    arguments = {"text": "x" * 40}
    async with _bare(kind, url) as bare:
        try:
            await bare.session.list_tools()
            await session.list_tools()
            for _ in range(20):
                await bare.session.call_tool("echo", arguments)
                await session.call_tool("echo", arguments)
            turns: list[tuple[Any, list[float]]] = [(bare.session, floor), (session, ours)]
            for _ in range(calls):
                for each, took in turns:
                    began = time.perf_counter()
                    await each.call_tool("echo", arguments)
                    took.append(time.perf_counter() - began)
                turns.reverse()  # what comes second finds other caches
        finally:
            await session.close()
    return Pair(median(floor) * 1e6, median(ours) * 1e6)


def _on_the_engine(work: Callable[[], Any]) -> Any:
    """Run a coroutine function where robots run."""
    from robotlab_nb.runtime.loop import engine_loop

    return asyncio.run_coroutine_threadsafe(work(), engine_loop().loop).result(300)


def _call(kind: str) -> Callable[[Setting], Pair]:
    def measure(setting: Setting) -> Pair:
        calls = setting.times(CALLS)
        with _listening(kind) if kind != "stdio" else contextlib.nullcontext(None) as url:
            found: Pair = _on_the_engine(lambda: _alternated(kind, url, calls))
            return found

    return measure


def _ten_at_once(setting: Setting) -> Pair:
    """Seconds until ten servers are ready that each take a second to start."""
    from mcp import Client, StdioServerParameters

    import robotlab_nb as rl
    from robotlab_nb.mcp.session import Session

    count = 2 if setting.quick else 10
    args = ["-m", MODULE, "by-hand", "0", "1"]

    async def ours() -> float:
        servers = [
            rl.mcp.Server(f"slow{n}", command=sys.executable, args=args, cwd=os.getcwd())
            for n in range(count)
        ]
        sessions = [Session(server) for server in servers]
        began = time.perf_counter()
        await asyncio.gather(*(session.ready() for session in sessions))
        took = time.perf_counter() - began
        await asyncio.gather(*(session.close() for session in sessions))
        return took

    async def bare() -> float:
        ready = [asyncio.Event() for _ in range(count)]
        leave = asyncio.Event()

        async def one(event: asyncio.Event) -> None:
            program = StdioServerParameters(command=sys.executable, args=args, cwd=os.getcwd())
            async with Client(program):
                event.set()
                await leave.wait()

        began = time.perf_counter()
        tasks = [asyncio.create_task(one(event)) for event in ready]
        await asyncio.gather(*(event.wait() for event in ready))
        took = time.perf_counter() - began
        leave.set()
        await asyncio.gather(*tasks)
        return took

    async def warm() -> None:  # whatever is imported once
        session = Session(rl.mcp.Server("warm", command=sys.executable, args=args[:3]))
        await session.ready()
        await session.close()

    _on_the_engine(warm)
    return Pair(_on_the_engine(bare), _on_the_engine(ours))


FIGURES = [
    Figure("MCP call, stdio (wall, median of 1,000 in turns)", "µs", 1800, _call("stdio"), 1500),
    Figure("MCP call, HTTP (wall)", "µs", 3600, _call("http"), 3000),
    Figure("MCP call, SSE (wall)", "µs", 3000, _call("sse"), 2500),
    Figure("MCP call, WebSocket (wall)", "µs", 720, _call("websocket"), 600),
    Figure("ten MCP servers with a 1 s start (wall)", "s", 1.5, _ten_at_once, 1.25),
]
