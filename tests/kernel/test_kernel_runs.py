"""Robots in a real kernel: sync, await, stream; Run All; Stop; prints in their own cells."""

from __future__ import annotations

import time

import pytest

from robotlab_nb.testing import ModelServer, Reply

from .conftest import EVERY_KERNEL

pytestmark = EVERY_KERNEL

SETUP = """
import robotlab_nb as rl, asyncio, time
def lookup(word: str) -> str:
    "Look a word up."
    print("looking up", word)
    return word.upper()
steps = [("lookup", {"word": "cat"}), "done"]
bot = rl.build("bot", model=rl.SimulatedModel(steps), tools=[lookup])
"""


def server_bot(server: ModelServer, *, name: str = "far", tools: str = "[]") -> str:
    where = f"model='openai/m', api_base={server.base_url!r}"
    return f"{name} = rl.build({name!r}, {where}, tools={tools})"


def test_kernel_sync_async_repeat(kernel):
    """run(), await arun(), stream and start all work, again and again, with nothing patched."""
    assert kernel.run(SETUP).status == "ok"
    for _ in range(3):
        assert kernel.run("str(bot.run('go'))").text == "'done'"
        assert kernel.run("str(await bot.arun('go'))").text == "'done'"
        assert kernel.run("''.join(bot.stream('go').text)").text == "'done'"
        cell = kernel.run("[e.type async for e in bot.stream('go') if hasattr(e, 'type')][-1]")
        assert cell.text == "'run.completed'"
        assert kernel.run("run = bot.start('go'); str(await run)").text == "'done'"
        assert kernel.run("run = bot.start('go'); str(run.result())").text == "'done'"
    patched = kernel.run(
        "import asyncio.base_events as b, inspect;"
        "('nest_asyncio' in str(inspect.getsourcefile(b.BaseEventLoop.run_until_complete)),"
        " 'nest_asyncio' in sys.modules)"
    )
    assert patched.text == "(False, False)"


def test_run_all_answers_every_queued_cell_in_order(kernel):
    kernel.run(SETUP)
    cells = [
        kernel.submit(
            "a = str(rl.build('s', model=rl.SimulatedModel(['one'], delay=0.5)).run('x')); a"
        ),
        kernel.submit("b = str(bot.run('x')) + a; b"),
        kernel.submit("c = str(await bot.arun('x')) + b; c"),
        kernel.submit("c + '!'"),
    ]
    for cell in cells:
        kernel.wait(cell)
    assert [c.text for c in cells] == ["'one'", "'doneone'", "'donedoneone'", "'donedoneone!'"]
    assert [c.order for c in cells] == sorted(c.order for c in cells)


@pytest.mark.parametrize(
    "call",
    ["far.run('x')", "await far.arun('x')", "far.start('x').result()", "list(far.stream('x'))"],
)
def test_interrupt_matrix_model_call(kernel, call):
    """Stop during a model call: the connection is closed within 2 s and nothing more is asked."""
    replies = [Reply.text("late", delay=60) for _ in range(10)]
    with ModelServer([*replies, "fine"]) as server:
        kernel.run(server_bot(server))
        for turn in range(10):
            cell = kernel.submit(call)
            wait_for(kernel, lambda turn=turn: len(server.requests) > turn)
            stopped = time.monotonic()
            kernel.interrupt()
            kernel.wait(cell, 10)
            assert cell.status == "error"
            assert cell.error in ("KeyboardInterrupt", "CancelledError")
            assert "robotlab_nb" not in cell.streams  # no frames of ours in its traceback
            wait_for(kernel, lambda turn=turn: server.requests[turn].disconnected_at, 5)
            assert server.requests[turn].disconnected_at - stopped < 2
            assert kernel.run("1 + 1").text == "2"
            assert len(server.requests) == turn + 1
        kernel.drain(5)
        assert len(server.requests) == 10
        assert kernel.run("str(far.run('x'))").text == "'fine'"


def test_interrupt_matrix_tool_call(kernel):
    """Stop during a tool: nothing more is asked, and each call has exactly one result."""
    kernel.run(
        "def slow() -> str:\n    'Wait.'\n    started.append(1); time.sleep(20); return 'x'\n"
        "async def aslow() -> str:\n    'Wait.'\n    started.append(1); await asyncio.sleep(20)\n"
    )
    calls = [Reply.tool_call(("slow", "aslow")[n % 2], {}) for n in range(10)]
    with ModelServer([*calls, "fine"]) as server:
        for turn in range(10):
            kernel.run(server_bot(server, tools="[slow, aslow]") + "; started = []")
            cell = kernel.submit("far.run('x')" if turn < 5 else "await far.arun('x')")
            wait_for(kernel, lambda turn=turn: len(server.requests) > turn)
            kernel.drain(0.3)
            stopped = time.monotonic()
            kernel.interrupt()
            kernel.wait(cell, 10)
            assert time.monotonic() - stopped < 2.5
            assert cell.status == "error"
            state = kernel.run(
                "[(m.role, len(m.tool_calls), len(m.tool_results)) for m in far.messages]"
            )
            assert state.text == "[('user', 0, 0), ('assistant', 1, 0), ('tool', 0, 1)]"
        kernel.drain(5)
        assert len(server.requests) == 10
        kernel.run("far.clear_messages()")
        assert kernel.run("str(far.run('x'))").text == "'fine'"


def test_a_stopped_thread_is_named(kernel):
    kernel.run(
        "def endless() -> str:\n    'Wait.'\n    time.sleep(8)\n"
        "stuck = rl.build('s', model=rl.SimulatedModel([('endless', {})]), tools=[endless])\n"
        "run = stuck.start('x')"
    )
    cell = kernel.submit("run.result()")
    kernel.drain(0.5)
    kernel.interrupt()
    kernel.wait(cell, 10)
    assert cell.error == "KeyboardInterrupt"
    found = kernel.run("run.status, run.state.stuck, run.events[-1].data['stuck']")
    assert found.text == "('interrupted', ('endless',), ['endless'])"


def test_a_blocking_async_tool_does_not_freeze_the_next_run(kernel):
    kernel.run(
        SETUP + "async def block() -> str:\n    'Block.'\n    time.sleep(15)\n"
        "blocked = rl.build('b', model=rl.SimulatedModel([('block', {})]), tools=[block])\n"
    )
    cell = kernel.submit("run = blocked.start('x'); run.result()")
    kernel.drain(0.5)
    began = time.monotonic()
    kernel.interrupt()
    kernel.wait(cell, 10)
    assert time.monotonic() - began < 4
    assert cell.error == "KeyboardInterrupt"
    assert kernel.run("run.state.stuck").text == "('block',)"
    began = time.monotonic()
    assert kernel.run("str(bot.run('x'))").text == "'done'"
    assert time.monotonic() - began < 5


def test_a_tools_print_lands_in_its_own_cell(kernel):
    kernel.run(
        SETUP + "def late(word: str) -> str:\n    'Look up.'\n    time.sleep(1.0)\n"
        "    print('printed by', word)\n    return word\n"
        "steps = [('late', {'word': 'w'}), 'ok']\n"
        "two = rl.build('two', model=rl.SimulatedModel(steps), tools=[late])"
    )
    first = kernel.run("r = two.start('x')")
    second = kernel.run("print('second'); time.sleep(2)")
    kernel.drain(0.3)
    assert first.streams == "printed by w\n"
    assert second.streams == "second\n"


def test_running_a_cell_again_cancels_what_it_started(kernel):
    kernel.run("old = None\nslow = rl.build('slow', model=rl.SimulatedModel(['x'], delay=30))")
    code = "before, old = old, slow.start('x'); before.status if before else None"
    kernel.run(code, cell_id="cell-1")
    kernel.run("other = slow.start('y')", cell_id="cell-2")
    assert kernel.run(code, cell_id="cell-1").status == "ok"
    kernel.drain(0.3)
    found = kernel.run("before.status, old.status, other.status")
    assert found.text == "('interrupted', 'running', 'running')"
    kernel.run("rl.stop_all()")


def test_a_caller_loop_tool_uses_the_cells_own_loop(kernel):
    kernel.run(
        "here = asyncio.get_running_loop()\n"
        "@rl.tool(loop='caller')\nasync def where() -> bool:\n    'Where?'\n"
        "    return asyncio.get_running_loop() is here\n"
        "caller = rl.build('c', model=rl.SimulatedModel([('where', {}), 'ok']), tools=[where])"
    )
    assert kernel.run("(await caller.arun('x')).tool_calls[0].result").text == "True"
    refused = kernel.run("caller.run('x')")
    assert refused.error == "ConfigurationError"
    assert "arun" in refused.streams


def test_one_status_line_while_a_cell_blocks_and_none_afterwards(kernel):
    kernel.run("slow = rl.build('slow', model=rl.SimulatedModel(['x'], delay=1.0))")
    cell = kernel.run("str(slow.run('x'))")
    shown = [d["text/plain"] for d in cell.displays]
    assert len(shown) == 1
    assert "slow" in shown[0]
    assert "running" in shown[0]
    assert cell.updates[-1] == {"text/plain": ""}
    quick = kernel.run("str(rl.build('q', model=rl.SimulatedModel(['x'])).run('x'))")
    assert quick.displays == []
    off = kernel.run("with rl.options(status=False):\n    print(slow.run('x'))")
    assert (off.status, off.displays) == ("ok", [])


def wait_for(kernel, condition, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        kernel.drain(0.02)
