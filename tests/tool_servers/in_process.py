"""A tool server in this very process, over a registered transport: a test says what it does."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from typing import TYPE_CHECKING, Any

import robotlab_nb as rl

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Desk"]

_numbers = itertools.count()
STRING = {"type": "object", "properties": {"text": {"type": "string"}}}


class Desk:
    """A server whose tools are functions of this process.

    Its tools may be changed at any time; ``changed()`` tells the client so. ``connections`` counts
    how often it was connected to, ``heard`` has every request.
    """

    def __init__(self, name: str, *, fails: str = "", after: float = 0.0, **options: Any) -> None:
        self.name = name
        self.fails = fails
        self.after = after
        self.connections = 0
        self.heard: list[dict[str, Any]] = []
        self.tools: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = {}
        self.wires: list[Wire] = []
        kind = f"desk{next(_numbers)}"
        rl.mcp.register_transport(kind, lambda _: Wire(self))
        self.server = rl.mcp.Server(name, type=kind, **options)

    def tool(
        self,
        name: str,
        function: Callable[..., Any] | None = None,
        description: str = "",
        schema: dict[str, Any] | None = None,
        **more: Any,
    ) -> Desk:
        """Offer a tool. Its function gives a text, a list of content blocks, or a whole result."""
        told = {"name": name, "inputSchema": schema or STRING, **more}
        if description:
            told["description"] = description
        self.tools[name] = (told, function or (lambda text="": f"{name}: {text}"))
        return self

    def changed(self) -> None:
        """Tell the client that the list of tools is another."""
        for wire in self.wires:
            wire.tell("notifications/tools/list_changed", {})


class Wire:
    """One connection."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.loop = asyncio.get_running_loop()
        self.out: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.waiting: dict[Any, asyncio.Future[Any]] = {}
        self.work: set[asyncio.Task[Any]] = set()

    async def connect(self) -> None:
        desk = self.desk
        if desk.after:
            await asyncio.sleep(desk.after)
        if desk.fails:
            raise OSError(desk.fails)
        desk.connections += 1
        desk.wires.append(self)

    async def disconnect(self) -> None:
        if self in self.desk.wires:
            self.desk.wires.remove(self)
        self.out.put_nowait(None)

    async def receive(self) -> dict[str, Any] | None:
        return await self.out.get()

    def tell(self, method: str, params: dict[str, Any]) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.loop.call_soon_threadsafe(self.out.put_nowait, message)

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Ask the client."""
        number = f"asked-{next(_numbers)}"
        self.waiting[number] = self.loop.create_future()
        self.out.put_nowait({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await self.waiting[number]

    async def send(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            found = self.waiting.pop(message.get("id"), None)
            if found is not None:
                found.set_result(message.get("result") or message.get("error"))
            return
        self.desk.heard.append(message)
        if "id" in message:
            task = asyncio.ensure_future(self._answer(message))
            self.work.add(task)
            task.add_done_callback(self.work.discard)

    async def _answer(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            result: Any = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                "serverInfo": {"name": "files", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": [told for told, _ in self.desk.tools.values()]}
        elif method == "tools/call":
            result = await self._call(params)
        elif method in ("ping", "logging/setLevel"):
            result = {}
        else:
            error = {"code": -32601, "message": f"Method not found: {method}"}
            self.out.put_nowait({"jsonrpc": "2.0", "id": message["id"], "error": error})
            return
        self.out.put_nowait({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        _, function = self.desk.tools[params["name"]]
        arguments = dict(params.get("arguments") or {})
        if "wire" in inspect.signature(function).parameters:
            arguments["wire"] = self
            arguments["token"] = (params.get("_meta") or {}).get("progressToken")
        found = function(**arguments)
        if inspect.isawaitable(found):
            found = await found
        if isinstance(found, dict):
            return found
        if isinstance(found, list):
            return {"content": found}
        return {"content": [{"type": "text", "text": str(found)}]}
