"""Servers that are not ours, over each transport that they speak; and ours, by our own client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import robotlab_nb as rl

SHOP = Path(__file__).resolve().parents[2] / "notebooks" / "servers" / "shop.py"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def running(command, port, **env):
    """A program that listens on a port, ended afterwards."""
    child = subprocess.Popen(
        command, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 60
        while True:
            with socket.socket() as trying:
                if trying.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert child.poll() is None, f"{command} ended with {child.returncode}"
            assert time.monotonic() < end, f"{command} does not listen"
            time.sleep(0.05)
        yield
    finally:
        child.kill()
        child.wait()


@pytest.fixture(params=["stdio", "http", "sse"])
def everything(request, npm_server):
    """The reference server, over each of its transports."""
    node, program = shutil.which("node"), npm_server("server-everything")
    if request.param == "stdio":
        yield rl.mcp.Server("everything", command=node, args=[program, "stdio"])
        return
    port = free_port()
    word, path = {"http": ("streamableHttp", "mcp"), "sse": ("sse", "sse")}[request.param]
    with running([node, program, word], port, PORT=str(port)):
        url = f"http://127.0.0.1:{port}/{path}"
        yield rl.mcp.Server("everything", url=url, type=request.param)


def test_the_reference_server_works_over_each_transport(everything):
    told = []
    with rl.mcp.Client(everything) as client:
        assert {"echo", "get-sum", "get-tiny-image"} <= {tool.name for tool in client.list_tools()}
        assert client.call_tool("echo", {"message": "hí 🤖"}).text == "Echo: hí 🤖"
        assert "3" in client.call_tool("get-sum", {"a": 1, "b": 2}).text
        image = client.call_tool("get-tiny-image")
        assert [part.mime for part in image.media] == ["image/png"]
        city = {"location": "New York"}
        assert set(client.call_tool("get-structured-content", city).structured) >= {"temperature"}
        client.call_tool(
            "trigger-long-running-operation",
            {"duration": 0.2, "steps": 4},
            on_progress=lambda done, total, message: told.append((done, total)),
        )
        assert [done for done, _ in told] == [1, 2, 3, 4]
        resources = client.list_resources()
        assert len(resources) >= 5
        assert client.read_resource(resources[0].uri).text
        assert "simple-prompt" in {prompt.name for prompt in client.list_prompts()}
        said = client.get_prompt("args-prompt", {"city": "Paris"})
        assert "Paris" in said[0].text
        cities = client.complete("completable-prompt", "department", "Eng")
        assert cities == ("Engineering",)
        with pytest.raises(rl.MCPError):
            client.call_tool("no-such-tool")
        # After an error the session goes on.
        assert client.call_tool("echo", {"message": "again"}).text == "Echo: again"


def test_the_reference_server_asks_and_is_answered(everything):
    asked = []

    async def answer(question):
        asked.append(question)
        return {"name": "Ada", "check": True}

    with rl.mcp.Client(everything) as client:
        told = client.call_tool("trigger-elicitation-request", on_elicit=answer)
    assert "Ada" in told.text
    assert "name" in asked[0].schema["properties"]


def test_calls_to_the_reference_server_go_on_side_by_side(everything):
    async def many():
        async with rl.mcp.Client(everything) as client:
            calls = [client.acall_tool("get-sum", {"a": n, "b": 1}) for n in range(20)]
            return [each.text for each in await asyncio.gather(*calls)]

    assert [f"is {n + 1}." in text for n, text in enumerate(asyncio.run(many()))] == [True] * 20


def test_the_filesystem_server_reads_its_folder_and_no_other(npm_server, tmp_path):
    (tmp_path / "note.txt").write_text("tea at five", "utf-8")
    program = npm_server("server-filesystem")
    server = rl.mcp.Server("files", command="node", args=[program, str(tmp_path)])
    with rl.mcp.Client(server) as client:
        note = {"path": str(tmp_path / "note.txt")}
        assert client.call_tool("read_text_file", note).text == "tea at five"
        with pytest.raises(rl.MCPToolError, match="denied"):
            client.call_tool("read_text_file", {"path": "/etc/hostname"})
        assert client.list_resources() == ()  # it has none, and is not asked


def test_the_memory_server_keeps_what_it_is_told(npm_server, tmp_path):
    server = rl.mcp.Server(
        "memory", command="node", args=[npm_server("server-memory")],
        env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")},
    )  # fmt: skip
    ada = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
    for turn in range(2):
        with rl.mcp.Client(server) as client:
            if turn == 0:
                client.call_tool("create_entities", {"entities": [ada]})
            assert "likes tea" in client.call_tool("read_graph").text


# -- a server made with the Python SDK ---------------------------------------------------------


@contextlib.contextmanager
def python_server(transport):
    if transport == "stdio":
        yield rl.mcp.Server("shop", command=sys.executable, args=[str(SHOP)])
        return
    port = free_port()
    word = "streamable-http" if transport == "http" else transport
    code = (
        f"import runpy; shop = runpy.run_path({str(SHOP)!r})['shop']; "
        f"shop.run({word!r}, host='127.0.0.1', port={port})"
    )
    with running([sys.executable, "-c", code], port):
        path = "mcp" if transport == "http" else "sse"
        yield rl.mcp.Server("shop", url=f"http://127.0.0.1:{port}/{path}", type=transport)


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
def test_a_server_of_the_python_sdk_works_over_each_transport(transport):
    told = []

    async def confirm(question):
        return {"confirm": True}

    with python_server(transport) as server, rl.mcp.Client(server) as client:
        found = client.call_tool("look_up", {"name": "umbrella"})
        assert found.structured == {"name": "umbrella", "price": 19.0, "stock": 12}
        with pytest.raises(rl.MCPToolError, match="there are umbrella"):
            client.call_tool("look_up", {"name": "tank"})
        count = client.call_tool(
            "count_stock", on_progress=lambda done, total, message: told.append(message)
        )
        assert count.structured == {"result": 22}
        assert told == [f"counted {name}" for name in ("umbrella", "raincoat", "sunhat", "boots")]
        order = {"name": "boots", "pieces": 2}
        assert client.call_tool("order", order, on_elicit=confirm).text == "Ordered 2 × boots."
        assert "did not confirm" in client.call_tool("order", order).text
        assert "9 to 18" in client.read_resource("shop://hours").text
        assert json.loads(client.read_resource("shop://items/boots").text)["price"] == 79
        assert "wet" in client.get_prompt("advise", {"weather": "wet"})[0].text


def test_making_a_server_of_the_sdk_beside_us_leaves_its_logging_to_it():
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    with rl.mcp.serve(rl.build("poet")) as serving, rl.mcp.Client(serving.server) as client:
        client.list_tools()
    assert (root.level, list(root.handlers)) == before


# -- a WebSocket server, written by hand -------------------------------------------------------


def answered(message):
    """What a small server says to a request."""
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "by hand", "version": "1"},
            }  # fmt: skip
        case "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}}
            return {"tools": [{"name": "echo", "description": "Says it.", "inputSchema": schema}]}
        case "tools/call":
            text = message["params"]["arguments"]["text"]
            return {"content": [{"type": "text", "text": text}]}
        case "ping":
            return {}


@pytest.fixture
def by_hand():
    from websockets.sync.server import serve

    def talk(connection):
        for text in connection:
            message = json.loads(text)
            if "id" not in message:
                continue
            result = answered(message)
            reply = {"jsonrpc": "2.0", "id": message["id"]}
            unknown = {"error": {"code": -32601, "message": "Method not found"}}
            connection.send(json.dumps({**reply, **({"result": result} if result else unknown)}))

    with serve(talk, "127.0.0.1", 0, subprotocols=["mcp"]) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        port = server.socket.getsockname()[1]
        yield rl.mcp.Server("by hand", url=f"ws://127.0.0.1:{port}/mcp")
        server.shutdown()


def test_a_websocket_server_works(by_hand):
    with rl.mcp.Client(by_hand) as client:
        assert [tool.name for tool in client.list_tools()] == ["echo"]
        assert client.call_tool("echo", {"text": "hí 🤖"}).text == "hí 🤖"
        assert client.session.info["name"] == "by hand"


# -- what we serve, by our own client ----------------------------------------------------------


@contextlib.contextmanager
def ours(transport, tmp_path):
    if transport == "stdio":
        (tmp_path / "robots.py").write_text(
            "import robotlab_nb as rl\n"
            "print('a module may print')\n"
            "net = rl.create_network('support')\n"
            "net.task('read', lambda message: message.upper())\n"
            "net.task('ask', rl.Human('editor'), depends_on=['read'])\n",
            "utf-8",
        )
        args = ["-m", "robotlab_nb", "serve", "robots.py:net"]
        env = {"ROBOTLAB_NB_LOG": "off", "PYTHONPATH": str(SHOP.parents[2])}
        yield rl.mcp.Server(
            "support", command=sys.executable, args=args, cwd=str(tmp_path), env=env, timeout=60
        )
        return
    net = rl.create_network("support")
    net.task("read", lambda message: message.upper())
    net.task("ask", rl.Human("editor"), depends_on=["read"])
    with rl.mcp.serve(net, transport=transport, token=True) as serving:
        yield serving.server


@pytest.mark.parametrize("transport", ["stdio", "http", "sse", "websocket"])
def test_what_we_serve_works_with_our_client_over_each_transport(transport, tmp_path):
    told = []

    async def answer(question):
        return {"answer": f"checked {question.message}"}

    def heard(done, total, message):
        told.append(message)

    with ours(transport, tmp_path) as server, rl.mcp.Client(server) as client:
        assert [tool.name for tool in client.list_tools()] == ["support"]
        found = client.call_tool("support", {"message": "tea"}, on_progress=heard, on_elicit=answer)
        assert found.text == "checked TEA"
        assert found.structured["tasks"]["read"]["text"] == "TEA"
        assert told[:2] == ["read: started", "read: completed"]
        with pytest.raises(rl.MCPToolError, match=r"no answer of editor: declined"):
            client.call_tool("support", {"message": "tea"})
