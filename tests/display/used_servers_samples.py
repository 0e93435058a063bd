"""A run that used tool servers: one that works, one that is gone, one whose tool was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robotlab_nb.core.messages import MediaPart, Message, ToolCallPart, ToolResultPart
from robotlab_nb.mcp.trusting import KnownServer
from tests.display.rich_samples import png
from tests.display.samples import Story

if TYPE_CHECKING:
    from robotlab_nb.core.state import RunState

__all__ = ["a_known_server", "used_servers"]

DIFF = '--- known\n+++ now\n- "description": "Read a file."\n+ "description": "{}"'


def used_servers(word: str = "fares") -> RunState:
    """The state of such a run; servers say the word wherever they can."""
    story = Story(word).asks("Read the fares.")
    matches = [
        {"name": name, "score": score, "used": True}
        for name, score in ((word, 0.41), ("gone", 0.12), ("disk", 0.07))
    ]
    story.add("mcp.chosen", 0.0, matches=matches, threshold=0.05, reason="fits")
    for name, transport in ((word, "stdio"), ("gone", "http"), ("disk", "stdio")):
        command = f"{name}-mcp {word}" if transport == "stdio" else f"http://gone.example/{word}"
        story.add("mcp.connecting", 0.0, server=name, transport=transport, command=command,
                  origin=None, first=name == word)  # fmt: skip
    error = {"type": "MCPConnectionError", "message": f"did not answer: {word}"}
    story.add("mcp.failed", 0.2, server="gone", command=f"http://gone.example/{word}", error=error,
              required=False, duration_s=0.2, stderr_tail=f"fatal: {word}")  # fmt: skip
    story.add("mcp.tools_changed", 0.3, server="disk", added=[word], removed=["copy"],
              changed=[{"tool": "read", "diff": DIFF.format(word)}], paused=["read"])  # fmt: skip
    story.add("mcp.ready", 0.3, server="disk", command=f"disk-mcp {word}", tools=["write", word],
              duration_s=0.3, paused=["read"], left_out=[{"tool": word, "why": word}])  # fmt: skip
    story.add("mcp.ready", 0.4, server=word, command=f"{word}-mcp {word}", tools=[word, "scan"],
              duration_s=0.4)  # fmt: skip
    story.call(0.4, 0.5, stop_reason="tool")
    wish = ToolCallPart("c1", word, "{}")
    story.says(Message("assistant", [wish]), 0.9, "tool").tool("c1", word, "{}", 0.9)
    report: dict[str, Any] = {"server": word, "tool": word, "tool_call_id": "c1"}
    story.add("mcp.progress", 1.0, **report, progress=1.0, total=4.0, text=word)
    story.add("mcp.log", 1.1, server=word, level="info", logger=word, text=word, tool_call_id="c1")
    story.add("mcp.log", 1.1, server=word, level="info", logger=None, text=word, tool_call_id=None)
    story.tool_ends("c1", word, 1.2)
    picture = MediaPart.of(png(), "image/png", word)
    story.says(Message("tool", [ToolResultPart("c1", word, word), picture]), 1.2)
    story.call(1.2, 0.4)
    story.says(Message("assistant", "A single costs 2 €."), 1.6, "stop")
    return story.ends("completed", 1.6, stop_reason="stop").state


def a_known_server(word: str = "fares") -> KnownServer:
    """A server that a person has seen."""
    return KnownServer(word, f"{word}-mcp", "2026-03-01T09:30:00+00:00", True, (word, "read"))
