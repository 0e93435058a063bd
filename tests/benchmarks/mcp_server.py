"""A tool server for measuring: one tool that says what it is told, over any transport.

``python -m tests.benchmarks.mcp_server stdio|http|sse|websocket [port] [seconds before it starts]``
"""

from __future__ import annotations

import asyncio
import json
import sys
import time


def sdk_server(kind: str, port: int) -> None:
    """Serve with the SDK."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("echo", log_level="ERROR")

    @server.tool(structured_output=False)
    def echo(text: str) -> str:
        return text

    if kind == "stdio":
        server.run("stdio")
    elif kind == "http":
        server.run("streamable-http", port=port)
    else:
        server.run("sse", port=port)


def told(message: dict) -> dict:
    """A small server's answer, by hand."""
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "echo", "version": "1"},
            }  # fmt: skip
        case "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}}
            return {"tools": [{"name": "echo", "inputSchema": schema}]}
        case "tools/call":
            text = message["params"]["arguments"]["text"]
            return {"content": [{"type": "text", "text": text}]}
    return {}


def reply(line: str) -> str | None:
    """The line that answers a line; None for a notification."""
    message = json.loads(line)
    if "id" not in message:
        return None
    if message["method"] == "server/discover":
        error = {"code": -32601, "message": "Method not found"}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error})
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": told(message)})


async def websocket_server(port: int) -> None:
    """Serve over WebSocket, which the SDK does not."""
    from websockets.asyncio.server import serve

    async def talk(connection) -> None:  # type: ignore[no-untyped-def]
        async for line in connection:
            answer = reply(line)
            if answer is not None:
                await connection.send(answer)

    async with serve(talk, "127.0.0.1", port, subprotocols=["mcp"], compression=None) as server:
        await server.serve_forever()


def by_hand() -> None:
    """Serve lines on standard input and output, without the SDK's start."""
    for line in sys.stdin:
        answer = reply(line)
        if answer is not None:
            print(answer, flush=True)


if __name__ == "__main__":
    kind = sys.argv[1]
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    if kind == "websocket":
        asyncio.run(websocket_server(port))
    elif kind == "by-hand":
        by_hand()
    else:
        sdk_server(kind, port)
