"""What is served, for tests of its picture: nothing listens."""

from __future__ import annotations

from typing import Any

import robotlab_nb as rl
from robotlab_nb.core.mcp_errors import MCPError
from robotlab_nb.mcp.serving import ServedCall, Serving
from robotlab_nb.mcp.serving_tools import Served

__all__ = ["a_call", "a_serving"]


def a_call(word: str = "poet") -> ServedCall:
    """A call that is over."""
    return ServedCall(word, word, "completed", 0.25)


def a_serving(word: str = "poet", *, failed: bool = False) -> Any:
    """A robot and a network that are served, with calls and a token."""
    name = word if word.strip() else "blank"
    bot = rl.build(name, description=word)
    net = rl.create_network(name)
    net.task("read", lambda message: message)
    made = Serving(word, "http", (Served(bot, word, conversations=True), Served(net, "net")))
    made.url = "http://127.0.0.1:8123/mcp"
    made.token = "a-token-that-no-picture-shows"
    made.prompts = {word: None}
    made.count = 3
    for call in (
        a_call(word), ServedCall("net", word, "failed", 1.5), ServedCall("net", None, "refused", 0)
    ):  # fmt: skip
        made._recent.append(call)
    made.status = "failed" if failed else "serving"
    made.error = MCPError(word) if failed else None
    return made
