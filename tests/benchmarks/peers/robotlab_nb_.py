"""Ours among the peers: what the peers' benchmark calls to measure robotlab_nb.

It is imported by that benchmark's worker in an environment that has robotlab_nb, beside a module
``script`` that says what a model answers. It knows nothing of how anything is timed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    import robotlab_nb as rl

VENV = "robotlab_nb"
VERSION_OF = "robotlab-nb"
DAG_ENGINE = "robotlab_nb Network"
NOTES = [
    "runs on the caller's loop: rl.engine(loop='current'); no log",
    "a Robot keeps its conversation: runs are prepared with keep=False",
]
SYSTEM_PROMPT = "You are a helpful robot."


class Setting:
    """The package and the models, one for each name, so that all robots share connections."""

    def __init__(self, rl: Any, make: Callable[[str], rl.Model]) -> None:
        self.rl = rl
        self._make = make
        self._models: dict[str, rl.Model] = {}

    def model(self, name: str) -> rl.Model:
        """The model of a name."""
        found = self._models.get(name)
        if found is None:
            found = self._models[name] = self._make(name)
        return found


def setup(backend: str, base_url: str) -> Setting:
    """Import the package and say where models are: in this process, or at an address."""
    import robotlab_nb as rl

    rl.engine(loop="current")
    if backend == "fake":
        return Setting(rl, _scripted_class(rl))

    def over_http(name: str) -> rl.Model:
        return rl.build(model=f"openai/{name}", api_base=base_url, api_key="x").model

    return Setting(rl, over_http)


def _scripted_class(rl: Any) -> Callable[[str], rl.Model]:
    import asyncio

    script: Any = import_module("script")
    chunk = rl.Chunk

    class Scripted(rl.Model):  # type: ignore[misc]  # the class is only known at run time
        provider = "bench"

        def __init__(self, name: str) -> None:
            self.name = name
            self.wait = script.parse_model(name)[1]

        async def stream(self, request: rl.Request) -> AsyncIterator[rl.Chunk]:
            if self.wait:
                await asyncio.sleep(self.wait)
            rounds = sum(message.role == "tool" for message in request.messages)
            said = script.decide(self.name, rounds, [tool.name for tool in request.tools])
            if said[0] == "text":
                yield chunk("text", said[1])
                yield chunk("stop", "stop")
            else:
                yield chunk("tool_call", said[2], 0, f"call_{rounds}", said[1])
                yield chunk("stop", "tool")

    return Scripted


def wrap_tool(ctx: Setting, function: Callable[..., Any]) -> rl.Tool:
    """The function as a tool."""
    made: rl.Tool = ctx.rl.tool(function)
    return made


def make_agent(ctx: Setting, model: str, tools: list[Any]) -> rl.Robot[Any]:
    """A robot."""
    made: rl.Robot[Any] = ctx.rl.build(
        "robot", system_prompt=SYSTEM_PROMPT, model=ctx.model(model), tools=tools or None
    )
    return made


async def run(ctx: Setting, robot: rl.Robot[Any], prompt: str) -> str:
    """One run from an empty conversation, kept nowhere, so that any number can go on at once."""
    return (await robot.prepare(prompt, {}, keep=False).begin()).text


async def stream(ctx: Setting, robot: rl.Robot[Any], prompt: str) -> tuple[int, int]:
    """How many pieces of text were read, and how many characters they have."""
    pieces = characters = 0
    async for text in robot.clear_messages().stream(prompt).text:
        pieces += 1
        characters += len(text)
    return pieces, characters


def build_dag(
    ctx: Setting, layers: int, width: int, task: Callable[[int, int], Awaitable[Any]]
) -> Callable[[], Awaitable[int]]:
    """A network of functions; each waits for two of the layer before."""
    net: rl.Network = ctx.rl.create_network("dag")

    def node(layer: int, place: int) -> Callable[[], Awaitable[Any]]:
        async def call() -> Any:
            return await task(layer, place)

        return call

    for layer in range(layers):
        for place in range(width):
            after = {f"t{layer - 1}_{p % width}" for p in (place, place + 1)} if layer else set()
            net.task(f"t{layer}_{place}", node(layer, place), depends_on=sorted(after))

    async def go() -> int:
        done = (await net.arun("go")).raise_for_errors()
        return sum(done[name].text == "ok" for name in done)

    return go


async def close(ctx: Setting) -> None:
    """Let go of connections."""
    for model in ctx._models.values():
        await model.aclose()
