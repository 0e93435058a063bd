"""The benchmarks work: their server answers, their figures come out, ours runs among the peers."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from tests.benchmarks import bare
from tests.benchmarks.__main__ import chosen, main
from tests.benchmarks.server import Server, words

if TYPE_CHECKING:
    from collections.abc import Iterator

ADAPTER = Path(__file__).parent / "peers" / "robotlab_nb_.py"
STREAM = "chunks-50"
LENGTH = sum(map(len, words(50)))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Our adapter, beside a script like the one of the peers' benchmark."""

    def decide(name: str, rounds: int, tools: list[str]) -> tuple[str, ...]:
        if name.startswith("tools-") and rounds < 2:
            return ("tool", tools[0], '{"a": 1, "b": 2}')
        return ("text", "done" if rounds else "ok")

    script = ModuleType("script")
    script.__dict__.update(decide=decide, parse_model=lambda name: (name, 0.0, 0))
    monkeypatch.setitem(sys.modules, "script", script)
    spec = importlib.util.spec_from_file_location("adapter", ADAPTER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with rl.engine(loop="current"):
        yield module


def test_the_server_follows_the_models_name(server: Server) -> None:
    async def ask() -> tuple[str, str, int]:
        async with bare.session() as http:
            return (
                await bare.ask(http, server.url, "answer-1ms"),
                await bare.ask(http, server.url, "tools-2", tools=True),
                await bare.read_stream(http, server.url, STREAM),
            )

    assert asyncio.run(ask()) == ("ok", "done", LENGTH)


@pytest.mark.parametrize("backend", ["fake", "http"])
def test_our_adapter_answers_in_turn_at_once_and_with_tools(
    peer: Any, server: Server, backend: str
) -> None:
    ctx = peer.setup(backend, server.url)

    async def work() -> None:
        plain = peer.make_agent(ctx, "answer", [])
        assert await peer.run(ctx, plain, "hi") == "ok"
        assert plain.messages == (plain.messages[0],), "a run must not lengthen the next one"
        together = await asyncio.gather(*[peer.run(ctx, plain, f"hi {i}") for i in range(20)])
        assert together == ["ok"] * 20
        handy = peer.make_agent(ctx, "tools-2", [peer.wrap_tool(ctx, bare.add)])
        assert await peer.run(ctx, handy, "add") == "done"
        await peer.close(ctx)

    asyncio.run(work())


def test_our_adapter_reads_a_stream(peer: Any, server: Server) -> None:
    ctx = peer.setup("http", server.url)

    async def read() -> tuple[int, int]:
        found: tuple[int, int] = await peer.stream(ctx, peer.make_agent(ctx, STREAM, []), "go")
        await peer.close(ctx)
        return found

    pieces, length = asyncio.run(read())
    assert length == LENGTH
    assert pieces >= 1


def test_our_adapters_network_waits_for_two_tasks_of_the_layer_before(peer: Any) -> None:
    ctx = peer.setup("fake", "")
    ended: list[tuple[int, int]] = []

    async def task(layer: int, place: int) -> str:
        if layer:
            assert {(layer - 1, place), (layer - 1, (place + 1) % 3)} <= set(ended)
        for _ in range(5 * place):  # its second neighbour ends later
            await asyncio.sleep(0)
        ended.append((layer, place))
        return "ok"

    go = peer.build_dag(ctx, 4, 3, task)
    assert asyncio.run(go()) == 12
    assert len(ended) == 12


def test_figures_are_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures.json"
    wanted = ["one run over HTTP", "with one tool, size", "network, 10 ms model, in process"]
    assert main([*wanted, "--quick", "--out", str(out)]) == 0
    figures = json.loads(out.read_text())["figures"]
    assert len(figures) == len(wanted)
    assert all(0 < f["floor"] < f["ours"] for f in figures)
    printed = capsys.readouterr().out
    assert all(f["what"] in printed for f in figures)


def test_a_figure_that_fails_is_told_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise RuntimeError("no robot today")

    monkeypatch.setattr(rl, "build", broken)
    assert main(["a robot with one tool, size", "--quick"]) == 0
    said = capsys.readouterr()
    assert "no robot today" in said.err
    assert "failed" in said.out


def test_every_figure_has_a_name_of_its_own() -> None:
    names = [figure.what for figure in chosen([])]
    assert len(set(names)) == len(names)
    assert [figure.what for figure in chosen(["stream"])] == ["2,000 streamed chunks over HTTP"]


def test_calls_of_tool_servers_are_measured_in_turns(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main(["MCP call, WebSocket", "--quick", "--out", str(out)]) == 0
    (figure,) = json.loads(out.read_text())["figures"]
    assert figure["error"] is None
    assert figure["floor"] > 0 < figure["ours"]
