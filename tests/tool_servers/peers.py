"""Peers for tests of transports: the SDK's server, a WebSocket bridge, a server in the process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection, socket
from typing import ClassVar

from robotlab_nb.testing import MCPFaultServer

__all__ = ["PEER", "Loop", "free_port", "sdk_peer", "websocket_bridge"]

PEER = Path(__file__).with_name("sdk_peer.py")


def free_port() -> int:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def sdk_peer(transport: str):
    """The SDK's own server, in a process."""
    port = free_port()
    running = subprocess.Popen(
        [sys.executable, str(PEER), transport, str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while True:
            try:
                create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert running.poll() is None
                assert time.monotonic() < end
                time.sleep(0.05)
        yield port
    finally:
        running.kill()
        running.wait()


@contextmanager
def websocket_bridge(mode: str = "well"):
    """A WebSocket server: behind each connection runs a fault server of its own."""
    from websockets.asyncio.server import serve

    faults = MCPFaultServer(mode).transport
    ports: list[int] = []
    seen: list[object] = []
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()

    async def bridge(link) -> None:
        seen.append((link.subprotocol, link.request.headers.get("X-Team")))
        inner = await asyncio.create_subprocess_exec(
            faults["command"], *faults["args"], stdin=-1, stdout=-1, stderr=-3, limit=2**27
        )

        async def outward() -> None:
            while line := await inner.stdout.readline():
                await link.send(line.decode())
            await link.close(1011, "it broke down")

        pumping = asyncio.create_task(outward())
        try:
            async for frame in link:
                inner.stdin.write(frame.encode() + b"\n")
        finally:
            pumping.cancel()
            if inner.returncode is None:
                inner.kill()
            await inner.wait()

    async def main() -> None:
        async with serve(bridge, "127.0.0.1", 0, subprotocols=["mcp"], max_size=2**27) as server:
            ports.append(next(iter(server.sockets)).getsockname()[1])
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),), daemon=True)
    thread.start()
    started.wait(30)
    try:
        yield ports[0], seen
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


class Loop:
    """A registered transport: its server lives in the same process."""

    made: ClassVar[list[Loop]] = []

    def __init__(self, options: dict[str, object]) -> None:
        self.options = options
        self.said: asyncio.Queue[dict[str, object] | None] = asyncio.Queue()
        Loop.made.append(self)

    async def connect(self) -> None:
        if self.options.get("broken"):
            raise OSError("the line is cut")

    async def send(self, message: dict[str, object]) -> None:
        if message.get("method") == "tools/call":
            if self.options.get("hangs_up"):
                await self.said.put(None)
                return
            result = {"content": [{"type": "text", "text": json.dumps(message["params"]["name"])}]}
        elif message.get("method") == "initialize":
            result = {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "loop", "version": "1"},
            }  # fmt: skip
        elif message.get("method") == "tools/list":
            result = {"tools": [{"name": "any", "inputSchema": {"type": "object"}}]}
        elif "id" in message:
            refusal = {"code": -32601, "message": "no"}
            await self.said.put({"jsonrpc": "2.0", "id": message["id"], "error": refusal})
            return
        else:
            return
        await self.said.put({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def receive(self) -> dict[str, object] | None:
        return await self.said.get()

    async def disconnect(self) -> None:
        self.options["closed"] = True
