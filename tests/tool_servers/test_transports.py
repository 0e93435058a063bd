"""Every transport against a real peer, and what goes wrong on the wire of each."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.mcp import Client, Server

from .peers import PEER, Loop, sdk_peer, websocket_bridge

# -- peers that are well -----------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["stdio", "streamable-http", "sse"])
def test_the_sdks_server_over_each_of_its_transports(transport):
    if transport == "stdio":
        use(Server("peer", command=sys.executable, args=[str(PEER), "stdio"], timeout=60))
        return
    with sdk_peer(transport) as port:
        path = "sse" if transport == "sse" else "mcp"
        use(Server("peer", url=f"http://127.0.0.1:{port}/{path}", timeout=60))


def use(server: Server) -> None:
    with Client(server) as client:
        assert client.session.info["name"] == "peer"
        assert client.session.instructions == "A peer for tests."
        names = {tool.name for tool in client.list_tools()}
        assert {"echo", "total", "huge", "nap", "steps", "change"} <= names
        assert client.call_tool("total", {"a": 1, "b": 2}).structured == {"total": 3}
        seen: list[float] = []
        client.call_tool("steps", on_progress=lambda done, *_: seen.append(done))
        assert seen == [1, 2, 3]
        assert client.read_resource("peer://note").text == "remember the milk"
        assert len(client.call_tool("huge", {"megabytes": 3}).text) == 1_000_000
        began = time.monotonic()
        with pytest.raises(rl.MCPTimeout):
            client.call_tool("nap", {"seconds": 60}, timeout=0.5)
        assert time.monotonic() - began < 15

        async def many() -> list[str]:
            calls = (client.acall_tool("echo", {"text": str(n)}) for n in range(20))
            return [str(found) for found in await asyncio.gather(*calls)]

        assert asyncio.run(many()) == [str(n) for n in range(20)]
        with pytest.raises(rl.MCPToolError):
            client.call_tool("nonesuch")
    assert client.status == "closed"


@pytest.mark.parametrize("transport", ["stdio", "streamable-http"])
def test_a_changed_list_is_heard_of_where_only_listeners_are_told(transport):
    def changes(server: Server) -> None:
        with Client(server) as client:
            before = {tool.name for tool in client.list_tools()}
            version = client.session.changed
            client.call_tool("change")
            end = time.monotonic() + 20
            while client.session.changed == version and time.monotonic() < end:
                time.sleep(0.02)
            assert {tool.name for tool in client.list_tools()} - before == {"fresh"}

    if transport == "stdio":
        changes(Server("peer", command=sys.executable, args=[str(PEER), "stdio"], timeout=60))
        return
    with sdk_peer(transport) as port:
        changes(Server("peer", url=f"http://127.0.0.1:{port}/mcp", timeout=60))


def test_a_websocket_server():
    with websocket_bridge() as (port, seen):
        server = Server(
            "far", url=f"ws://127.0.0.1:{port}/mcp", headers={"X-Team": "blue"}, ping_interval=5
        )
        with Client(server) as client:
            assert seen == [("mcp", "blue")]
            assert client.call_tool("add", {"a": 1, "b": 2}).structured == {"total": 3}
            assert (client.call_tool("huge", {"megabytes": 20}).truncated or "").startswith("The")
            with pytest.raises(rl.MCPConnectionError) as raised:
                client.call_tool("die")
            assert "it broke down" in str(raised.value)
            assert raised.value.transport == "websocket"
            assert client.call_tool("echo", {"text": "anew"}).text == "anew"
        assert len(seen) == 2


def test_a_registered_transport():
    rl.mcp.register_transport("loop", Loop)
    Loop.made.clear()
    with Client(Server("mine", type="loop", depth=3)) as client:
        assert client.call_tool("any").text == '"any"'
    assert Loop.made[0].options == {"depth": 3, "closed": True}
    with pytest.raises(rl.MCPConnectionError, match="the line is cut"):
        Client(Server("mine", type="loop", broken=True)).connect()
    with (
        Client(Server("mine", type="loop", hangs_up=True)) as client,
        pytest.raises(rl.MCPConnectionError, match="ended during the tool 'any'"),
    ):
        client.call_tool("any")
    rl.mcp.register_transport("half", lambda options: object())
    with pytest.raises(rl.MCPConnectionError, match="lacks connect, send"):
        Client(Server("mine", type="half")).connect()
