"""The floors: what a run costs when everything is written by hand, on asyncio and on aiohttp.

No retries, no record, no types: nobody can be faster. It knows nothing of our package.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp import ClientSession

__all__ = [
    "SYSTEM_PROMPT",
    "TOOL",
    "add",
    "all_of_it",
    "ask",
    "ask_in_process",
    "graph",
    "read_stream",
    "session",
]

SYSTEM_PROMPT = "You are a helpful robot."
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}


def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


async def _loop(
    body: dict[str, Any], call: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
) -> str:
    """Ask until there is a text; call the tools that are asked for."""
    messages = body["messages"]
    while True:
        message = await call(body)
        if not message.get("tool_calls"):
            return str(message["content"])
        messages.append(message)
        for wanted in message["tool_calls"]:
            value = add(**json.loads(wanted["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": wanted["id"], "content": str(value)})


def _body(model: str, text: str, tools: bool) -> dict[str, Any]:
    messages = [
        {"role": "system", "content": SYSTEM_PROMPT},
        {"role": "user", "content": text},
    ]
    body: dict[str, Any] = {"model": model, "messages": messages}
    if tools:
        body["tools"] = [TOOL]
    return body


async def ask_in_process(rounds: int = 0, wait: float = 0.0) -> str:
    """One run with a model of three lines: ``rounds`` rounds of a tool, then an answer."""

    async def call(body: dict[str, Any]) -> dict[str, Any]:
        if wait:
            await asyncio.sleep(wait)
        done = sum(message["role"] == "tool" for message in body["messages"])
        if done == rounds:
            return {"role": "assistant", "content": "ok"}
        function = {"name": "add", "arguments": '{"a": 1, "b": 2}'}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{done}", "type": "function", "function": function}],
        }

    return await _loop(_body("answer", "hi", rounds > 0), call)


def session() -> ClientSession:
    """An aiohttp session without a limit of connections."""
    import aiohttp

    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


async def ask(http: ClientSession, url: str, model: str, *, tools: bool = False) -> str:
    """One run over HTTP."""

    async def call(body: dict[str, Any]) -> dict[str, Any]:
        async with http.post(f"{url}/chat/completions", json=body) as response:
            message: dict[str, Any] = (await response.json())["choices"][0]["message"]
        return message

    return await _loop(_body(model, "hi", tools), call)


async def read_stream(http: ClientSession, url: str, model: str) -> int:
    """Read a streamed answer; its length in characters."""
    body = {**_body(model, "hi", False), "stream": True}
    length, left = 0, b""
    async with http.post(f"{url}/chat/completions", json=body) as response:
        async for block in response.content.iter_any():
            *events, left = (left + block).split(b"\n\n")
            for event in events:
                if event.startswith(b"data: {"):
                    delta = json.loads(event[6:])["choices"][0]["delta"]
                    length += len(delta.get("content") or "")
    return length


def all_of_it(url: str) -> None:
    """Runs, tool rounds, 200 at once and a stream: for a process that is weighed."""

    async def do() -> None:
        async with session() as http:
            for _ in range(50):
                await ask(http, url, "answer")
            for _ in range(20):
                await ask(http, url, "tools-2", tools=True)
            await asyncio.gather(*[ask(http, url, "answer-50ms") for _ in range(200)])
            await read_stream(http, url, "chunks-2000")

    asyncio.run(do())


async def graph(
    after: dict[str, list[str]], do: Callable[[str], Awaitable[object]]
) -> dict[str, object]:
    """Do tasks, each as soon as those before it are done.

    Parameters
    ----------
    after : dict
        For each task, in an order in which they could run, the tasks before it.
    do : callable
        Takes a task's name.
    """
    running: dict[str, asyncio.Task[object]] = {}

    async def one(name: str) -> object:
        for before in after[name]:
            await running[before]
        return await do(name)

    for name in after:
        running[name] = asyncio.ensure_future(one(name))
    return {name: await task for name, task in running.items()}
