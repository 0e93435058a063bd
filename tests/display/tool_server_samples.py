"""Tool servers, sessions and what comes of them, for tests of their pictures: nothing is opened."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from robotlab_nb.core.mcp_errors import MCPConnectionError
from robotlab_nb.core.media import MediaPart
from robotlab_nb.core.parts import TextPart
from robotlab_nb.mcp.clients import Client
from robotlab_nb.mcp.connection import Hello
from robotlab_nb.mcp.remote_offers import PromptArgument, RemotePrompt, RemoteResource
from robotlab_nb.mcp.remote_results import RemoteResult
from robotlab_nb.mcp.remote_tools import RemoteTool
from robotlab_nb.mcp.servers import Server
from robotlab_nb.mcp.session import Session

__all__ = [
    "a_client", "a_prompt", "a_remote_result", "a_remote_tool", "a_resource", "a_server",
    "a_session",
]  # fmt: skip


def _name(word: str) -> str:
    """The word as far as a server's name may hold it."""
    return "".join(c for c in word if c.isprintable())[:60].strip() or "blank"


def _clean(word: str) -> str:
    return word.replace("\0", "")


def a_server(word: str = "files") -> Server:
    """A program with a variable and a key."""
    return Server(
        _name(word), command="npx", args=["-y", _clean(word)], description=word,
        env={"DEPTH": "3", "ACCESS_TOKEN": "${ACCESS_TOKEN}"}, cwd="/srv",
    )  # fmt: skip


def a_remote_tool(word: str = "read") -> RemoteTool:
    """A tool with two parameters and a schema of its result."""
    shapes = {"path": {"type": "string", "description": word}, word: {"enum": [word, 3]}}
    schema = {"type": "object", "properties": shapes, "required": ["path"]}
    return RemoteTool(word, word, word, schema, {"type": "object"}, {"readOnlyHint": True, word: 1})


def a_resource(word: str = "note") -> RemoteResource:
    """A resource."""
    return RemoteResource(f"files://{word}", word, word, word, word)


def a_prompt(word: str = "advise") -> RemotePrompt:
    """A prompt with two arguments."""
    arguments = (PromptArgument(word, word, True), PromptArgument("tone"))
    return RemotePrompt(word, word, word, arguments)


def a_remote_result(word: str = "done") -> RemoteResult:
    """A text, a file and structured content."""
    file = MediaPart.of(word.encode("utf-8", "replace"), "text/plain", word)
    return RemoteResult((TextPart(word), file), {word: word}, True, word)


def a_session(word: str = "files", *, failed: bool = False) -> Any:
    """A session that is open, or that failed."""
    made = Session(a_server(word))
    hello = Hello({"name": word, "version": word}, word, {"tools": {}}, "2025-11-25")
    seen: Any = SimpleNamespace(
        hello=hello, stderr_tail=word, notes=SimpleNamespace(told=[word]), ready=True,
        is_over=False, closing=False, loop=None, wire=None,
    )  # fmt: skip
    made._tools = (0, (a_remote_tool(word),))
    made.calls = 3
    if failed:
        made._last, made.error = seen, MCPConnectionError(word, hint=word)
    else:
        made._connection = seen
    return made


def a_client(word: str = "files") -> Client:
    """A client whose session is open."""
    made = Client(a_server(word))
    made.session = a_session(word)
    return made
