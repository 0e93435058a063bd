"""A tool server made with the protocol's own SDK: ``sdk_peer.py TRANSPORT PORT``."""

from __future__ import annotations

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("peer", instructions="A peer for tests.")


class Colour(BaseModel):
    """What is asked for."""

    colour: str


@server.tool()
def echo(text: str) -> str:
    """Give a text back."""
    return text


@server.tool()
def total(a: float, b: float) -> dict[str, float]:
    """Add two numbers."""
    return {"total": a + b}


@server.tool()
def huge(megabytes: int) -> str:
    """Send megabytes."""
    return "x" * (megabytes * 1_000_000)


@server.tool()
async def nap(seconds: float) -> str:
    """Answer later."""
    await asyncio.sleep(seconds)
    return "rested"


@server.tool()
async def steps(context: Context) -> str:
    """Tell of three steps."""
    for step in (1, 2, 3):
        await context.report_progress(step, 3, f"step {step}")
    return "done"


@server.tool()
async def change(context: Context) -> str:
    """Change the list of tools."""
    server.add_tool(lambda: "new", name="fresh", description="A new one.")
    await context.notify_tools_changed()
    return "changed"


@server.resource("peer://note")
def note() -> str:
    """A note."""
    return "remember the milk"


if __name__ == "__main__":
    transport, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if transport == "stdio":
        server.run("stdio")
    else:
        server.run(transport, host="127.0.0.1", port=port)
