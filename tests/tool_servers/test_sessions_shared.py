"""Sessions that many share: from threads, loops and cells; and what the SDK does unasked."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import robotlab_nb as rl
from robotlab_nb.mcp import Client, Server, Session, session_of, sessions
from robotlab_nb.mcp.sdk import root_logger_kept
from robotlab_nb.testing import MCPFaultServer

ROOT = Path(__file__).parent.parent.parent


def test_one_session_for_all_who_describe_a_server_alike():
    one = session_of(MCPFaultServer(name="alike"))
    assert session_of(MCPFaultServer(name="alike")) is one
    assert session_of(MCPFaultServer(name="alike").to_dict()) is one
    assert session_of(MCPFaultServer(name="alike", timeout=3)) is not one
    assert session_of(MCPFaultServer("slow", name="alike")) is not one


def test_threads_and_loops_use_one_connection():
    server = MCPFaultServer()
    session = Session(server)

    async def call(number: int) -> str:
        return (await session.call_tool("echo", {"text": str(number)})).text

    found: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(asyncio.run(call(n)))) for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found, key=int) == [str(n) for n in range(20)]
    assert session.calls == 20
    assert session.status == "ready"
    assert session in sessions()
    assert len({session._connection}) == 1
    asyncio.run(session.close())
    assert session not in sessions()
    assert session.status == "closed"


def test_many_who_wait_for_one_connection_each_get_an_error_of_their_own():
    session = Session(MCPFaultServer("exit"))

    async def scene() -> list[BaseException]:
        tries = (session.ready() for _ in range(5))
        return await asyncio.gather(*tries, return_exceptions=True)

    errors = asyncio.run(scene())
    assert all(isinstance(error, rl.MCPConnectionError) for error in errors)
    assert len({id(error) for error in errors}) == 5
    assert all(error.stderr_tail for error in errors)  # type: ignore[attr-defined]


def test_a_wait_that_is_given_up_does_not_hurt_the_others():
    session = Session(MCPFaultServer("slow", seconds=1))

    async def scene() -> None:
        hasty = asyncio.create_task(session.ready())
        patient = asyncio.create_task(session.ready())
        await asyncio.sleep(0.2)
        hasty.cancel()
        await patient
        with pytest.raises(asyncio.CancelledError):
            await hasty
        await session.close()

    asyncio.run(scene())


def test_a_cancelled_call_tells_the_server_and_leaves_the_session_as_it_was():
    async def scene() -> None:
        async with Client(MCPFaultServer()) as client:
            going = asyncio.create_task(client.acall_tool("hang"))
            await asyncio.sleep(0.2)
            going.cancel()
            with pytest.raises(asyncio.CancelledError):
                await going
            assert (await client.acall_tool("echo", {"text": "on"})).text == "on"

    asyncio.run(scene())


def test_a_session_that_is_closed_while_it_connects_says_so():
    session = Session(MCPFaultServer("hang", timeout=60))

    async def scene() -> None:
        waiting = asyncio.create_task(session.ready())
        await asyncio.sleep(0.3)
        assert session.status == "connecting"
        await asyncio.wait_for(session.close(), 20)
        with pytest.raises(rl.MCPConnectionError):
            await waiting
        assert session.status == "closed"

    asyncio.run(scene())


def test_a_call_that_comes_while_the_session_is_closed_gets_a_connection_of_its_own():
    session = Session(MCPFaultServer("stubborn"))

    async def scene() -> None:
        await session.ready()
        first = session._connection
        closing = asyncio.create_task(session.close())
        await asyncio.sleep(0.1)
        assert (await session.call_tool("echo", {"text": "meanwhile"})).text == "meanwhile"
        await closing
        assert session.status == "ready"
        assert session._connection is not first
        assert session in sessions()
        await session.close()

    asyncio.run(scene())


QUIET = """
import sys, logging
import robotlab_nb as rl
from robotlab_nb.testing import MCPFaultServer
described = rl.mcp.Server("far", url="http://127.0.0.1:9/mcp")
rl.mcp.Server("near", command="x"), rl.mcp.session_of(described), repr(described)
heavy = {"mcp", "httpx2", "websockets", "pydantic"} & set(sys.modules)
assert not heavy, heavy
for server in (described, MCPFaultServer("exit"), MCPFaultServer("hang", timeout=1)):
    try:
        rl.mcp.Client(server).connect()
    except rl.MCPError:
        pass
with rl.mcp.Client(MCPFaultServer("garbage")) as client:
    client.call_tool("echo", {"text": "hello"})
    try:
        client.call_tool("misfit")
    except rl.MCPToolError:
        pass
    try:
        client.call_tool("die")
    except rl.MCPConnectionError:
        pass
assert logging.getLogger().level == logging.WARNING
assert not logging.getLogger().handlers
"""


def test_nothing_heavy_is_loaded_before_its_time_and_nothing_is_said_on_the_screen():
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", QUIET],
        capture_output=True, text=True, timeout=120, cwd=ROOT,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_making_a_server_of_the_sdks_leaves_the_root_logger_alone():
    from mcp.server.mcpserver import MCPServer

    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    with root_logger_kept():
        MCPServer("any")
    assert (root.level, list(root.handlers)) == before


def test_a_server_that_is_described_wrongly_is_refused_before_a_session_is_made():
    with pytest.raises(rl.ConfigurationError):
        session_of({"name": "x"})
    with pytest.raises(rl.ConfigurationError):
        Client("files")  # type: ignore[arg-type]
    assert isinstance(session_of(Server("x", command="y")), Session)
