"""Nothing that a robot waits for can make it wait for ever: each seam hangs once."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.models.protocol import Chunk
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel

#: seconds that a run may take which has a deadline of a fifth of a second
PATIENCE = 20.0
call = ScriptedModel.tool_call


class Silent(rl.Model):
    """Answers nothing, ever."""

    name, provider = "test/silent", "test"

    async def stream(self, request):
        await asyncio.Event().wait()
        yield Chunk("text", "never")


async def hang() -> str:
    """Hang."""
    await asyncio.Event().wait()
    return "never"


def block() -> str:
    """Block."""
    threading.Event().wait(30)
    return "late"


@rl.tool(approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


@rl.hook("before_run", timeout=0.2)
async def slow_handler(context):
    await asyncio.Event().wait()


@rl.hook("after_run", timeout=0.2)
def slow_observer(context):
    time.sleep(5)


def model_hangs():
    return rl.build("b", model=Silent(), model_timeout=0.2, attempts=1)


def async_tool_hangs():
    steps = ScriptedModel([call("hang", {}), "done"])
    return rl.build("b", model=steps, tools=[hang], tool_timeout=0.2)


def sync_tool_blocks():
    steps = ScriptedModel([call("block", {}), "done"])
    return rl.build("b", model=steps, tools=[block], tool_timeout=0.2)


def nobody_answers():
    steps = ScriptedModel([call("ask_user", {"question": "Which one?"}), "done"])
    return rl.build("b", model=steps, tools=[rl.ask_user], ask_timeout=0.2)


def nobody_approves():
    steps = ScriptedModel([call("pay", {}), "done"])
    return rl.build("b", model=steps, tools=[pay], ask_timeout=0.2)


def handler_hangs():
    return rl.build("b", model=rl.SimulatedModel(["ok"]), hooks=slow_handler)


def observer_hangs():
    return rl.build("b", model=rl.SimulatedModel(["ok"]), hooks=slow_observer)


def summarizer_hangs():
    bot = rl.build(
        "b", model=rl.SimulatedModel(["ok"] * 9), auto_compact=True, context_window=40,
        recent_turns=1, summarizer=rl.build("sum", model=Silent(), model_timeout=0.2, attempts=1),
    )  # fmt: skip
    said = ["the moon " * 6, {"role": "assistant", "content": "the moon " * 6}]
    return bot.replace_messages(said * 4)


SEAMS = {
    # what hangs -> how the run ends
    model_hangs: "failed",
    async_tool_hangs: "completed",
    sync_tool_blocks: "completed",
    nobody_answers: "completed",
    nobody_approves: "completed",
    handler_hangs: "failed",
    observer_hangs: "completed",
    summarizer_hangs: "failed",
}


@pytest.mark.parametrize("make", SEAMS, ids=lambda make: make.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_wait_has_deadline(make):
    began = time.monotonic()
    run = make().start("the moon")
    deadline = began + PATIENCE
    while not run.done and time.monotonic() < deadline:
        time.sleep(0.01)
    assert run.done, [e.type for e in run.events]
    assert run.status == SEAMS[make]
    assert all(c.status != "running" for c in run.state.tool_calls.values())


def test_a_server_that_drips_and_a_limit_that_is_far_off_end_at_the_deadline():
    with ModelServer([Reply.text(["word "] * 400, pause=0.05)]) as server:
        bot = rl.build("b", model=server.model("m"), model_timeout=0.4, attempts=1)
        began = time.monotonic()
        with pytest.raises(rl.ModelError, match=r"within 0\.4 s"):
            bot.run("x", on_content=lambda text: None)
        assert time.monotonic() - began < PATIENCE
    with ModelServer(["one"]) as server:
        bot = rl.build("b", model=server.model("m"), model_timeout=5, requests_per_minute=1)
        bot.run("x")
        began = time.monotonic()
        with pytest.raises(rl.ModelError, match="requests_per_minute"):
            bot.run("y")
        assert time.monotonic() - began < PATIENCE
        assert len(server.requests) == 1
