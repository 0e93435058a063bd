"""Whatever interrupts a run, its history stays one that can be sent, and the record is whole."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.robot.conversation import repair
from robotlab_nb.testing import ScriptedModel

call = ScriptedModel.tool_call


def valid(messages) -> bool:
    """Every tool call has exactly one result, in the very next message; no result stands alone."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            if [r.id for r in message.tool_results] != waiting:
                return False
            waiting = []
        else:
            if waiting:
                return False
            waiting = [c.id for c in message.tool_calls]
    return not waiting


class Cut(rl.Model):
    """A scripted model that hangs for ever before its n-th piece of output."""

    name, provider, simulated = "cut/model", "cut", True

    def __init__(self, steps, hang_at):
        self.steps, self.left, self.hanging = list(steps), hang_at, threading.Event()

    async def piece(self):
        import asyncio

        if self.left == 0:
            self.hanging.set()
            await asyncio.sleep(3600)
        self.left -= 1

    async def stream(self, request):
        step = self.steps.pop(0) if self.steps else ["the end"]
        for n, item in enumerate(step):
            await self.piece()
            if isinstance(item, str):
                yield rl.Chunk("text", item)
            else:
                name, text = item
                yield rl.Chunk("tool_call", "", n, f"wire_{n}", name)
                for c in text:
                    await self.piece()
                    yield rl.Chunk("tool_call", c, n)
        await self.piece()
        yield rl.Chunk("stop", "tool" if any(not isinstance(i, str) for i in step) else "stop")


tool_names = st.sampled_from(["quick", "fails", "hangs", "ahangs", "nonesuch"])
written = st.sampled_from(["{}", '{"x": 1}', "", "{"])
pieces = st.one_of(st.sampled_from(["some ", "words "]), st.tuples(tool_names, written))
steps = st.lists(st.lists(pieces, min_size=1, max_size=3), max_size=3)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps, st.integers(0, 30))
def test_history_valid(script, hang_at):
    """Cut a run anywhere, in the model or in a tool: each call has one result, the fold agrees."""
    import asyncio

    release = threading.Event()
    in_tool = threading.Event()

    def quick() -> int:
        """Quick."""
        return 1

    def fails() -> int:
        """Fails."""
        raise ValueError("no")

    def hangs() -> int:
        """Hangs."""
        in_tool.set()
        release.wait(20)
        return 2

    async def ahangs() -> int:
        """Hangs."""
        in_tool.set()
        await asyncio.sleep(3600)
        return 3

    model = Cut(script, hang_at)
    bot = rl.build("b", model=model, tools=[quick, fails, hangs, ahangs])
    run = bot.start("go")
    end = time.monotonic() + 20
    while not (run.done or model.hanging.is_set() or in_tool.is_set()):
        time.sleep(0.001)
        assert time.monotonic() < end
    run.stop()
    release.set()
    assert run.status in ("completed", "interrupted")
    assert valid(run.state.turn)
    assert valid(bot.messages)
    started = [e.data["tool_call_id"] for e in run.events if e.type == "tool_call.started"]
    ended = [e.data["tool_call_id"] for e in run.events if e.type == "tool_call.completed"]
    assert sorted(started) == sorted(ended)
    assert len(set(started)) == len(started)
    assert all(c.status != "running" for c in run.state.tool_calls.values())
    assert all(c.status != "running" for c in run.state.model_calls.values())
    assert RunState.fold(run.events) == run.state
    # and the conversation goes on
    model.left, model.steps = 10_000, []
    assert bot.run("again").text == "the end"


parts = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3, unique=True)


@st.composite
def histories(draw):
    out = []
    for kind in draw(st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=8)):
        if kind == "user":
            out.append(rl.Message("user", "x"))
        elif kind == "assistant":
            from robotlab_nb.core.messages import ToolCallPart

            out.append(rl.Message("assistant", [ToolCallPart(i, "t") for i in draw(parts)]))
        else:
            from robotlab_nb.core.messages import ToolResultPart

            out.append(rl.Message("tool", [ToolResultPart(i, "t") for i in draw(parts)]))
    return out


@given(histories())
def test_any_history_is_mended_once_and_for_all(messages):
    mended, told = repair(messages)
    assert valid(mended)
    again, nothing = repair(mended)
    assert again == mended
    assert nothing == []
    assert bool(told) == (mended != messages) or not told


@pytest.mark.parametrize("broken_rule", ["drop results", "drop calls"])
def test_the_rule_of_validity_is_not_empty(broken_rule):
    from robotlab_nb.core.messages import ToolCallPart, ToolResultPart

    asked = rl.Message("assistant", [ToolCallPart("a", "t")])
    told = rl.Message("tool", [ToolResultPart("a", "t")])
    assert valid([asked, told])
    assert not valid([asked] if broken_rule == "drop results" else [told])


def test_sixty_tools_that_call_robots_that_call_tools_do_not_starve():
    def inner() -> str:
        """Innermost."""
        time.sleep(0.02)
        return "deep"

    def outer(n: int) -> str:
        """Ask another robot."""
        model = ScriptedModel([call("inner", {}), f"answer {n}"])
        return rl.build(f"inner {n}", model=model, tools=[inner]).run("go").text

    model = ScriptedModel([[call("outer", {"n": n}) for n in range(60)], "all"])
    result = rl.build("boss", model=model, tools=[outer]).run("go")
    assert [c.result for c in result.tool_calls] == [f"answer {n}" for n in range(60)]
    assert len(result.state.children) == 60
    assert result.usage.calls == 2 + 60 * 2


def test_emitting_from_many_threads_under_a_fast_switch_keeps_the_record_whole():
    import sys

    def tick(n: int) -> int:
        """Tick."""
        return n

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        model = ScriptedModel([[call("tick", {"n": n}) for n in range(40)], "done"])
        result = rl.build("b", model=model, tools=[tick]).run("go")
    finally:
        sys.setswitchinterval(before)
    assert [e.seq for e in result.events] == list(range(len(result.events)))
    assert RunState.fold(result.events) == result.state
    assert [r.content_text for r in model.requests[1].messages[-1].tool_results] == [
        str(n) for n in range(40)
    ]
