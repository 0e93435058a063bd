"""What runs emit is what is declared, is JSON, and keeps its order."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.event_data import EVENT_TYPES
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel
from tests.tool_servers.in_process import Desk


def guards(tmp_path):
    """Events of what keeps a robot within bounds."""

    def look(n: int) -> int:
        """Look."""
        return n

    @rl.tool(approval=True)
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    call = ScriptedModel.tool_call
    steps = [call("look", {"n": 1}), call("look", {"n": 1}), call("look", {"n": 1}), "done"]
    looping = rl.build("loop", model=ScriptedModel(steps), tools=[look])
    with pytest.warns(RuntimeWarning, match="after_run"):
        yield from looping.run("x", hooks={"after_run": lambda context: 1 / 0}).events
    payer = rl.build("p", model=ScriptedModel([call("pay", {"amount": 5}), "done"]), tools=[pay])
    waiting = payer.run("pay")
    assert waiting.status == "waiting"
    yield from waiting.answer(True).events
    wait = Reply.error(429, headers={"retry-after": "0.5"})
    with ModelServer([Reply.error(500), "other", wait, "yes", "no"]) as server:
        server_model, other = server.model("m"), server.model("other")
        chain = rl.build("c", model=server_model, fallback=[other], attempts=1, cache=True)
        yield from chain.run("x").events
        yield from rl.build("c", model=other, cache=True).run("x").events
        limited = rl.build("l", model=server_model, requests_per_minute=60_000)
        one = limited.start("x")
        while not any(e.type == "attempt.failed" for e in one.events):
            time.sleep(0.01)
        two = rl.build("l2", model=server_model, requests_per_minute=60_000).run("x")
        yield from [*one.result().events, *two.events]
        poor = rl.build("poor", model=server_model, call_budget=0)
        with pytest.raises(rl.BudgetExceeded) as caught:
            poor.run("x")
        yield from caught.value.run.events


def prompts(tmp_path):
    """Events of what robots are told, what they must answer, and what they forget."""
    skill = tmp_path / "tea-making"
    skill.mkdir()
    (skill / "SKILL.md").write_text(
        "---\nname: tea-making\ndescription: How to make a cup of green tea.\n---\nBoil water.\n"
    )
    bot = rl.build(
        "s", model=rl.SimulatedModel(['{"n": "x"}', '{"n": 1}']), agent_skills=True,
        skill_paths=[tmp_path], output={"type": "object", "properties": {"n": {"type": "integer"}}},
    )  # fmt: skip
    yield from bot.run("How do I make green tea?").events
    long = rl.build(
        "long", model=rl.SimulatedModel(lambda r: f"{r.messages[-1].text} " * 60),
        context_window=300, auto_compact=True, recent_turns=1, max_tokens=5,
    )  # fmt: skip
    for topic in ("sea water", "steam trains", "rye bread", "moon light"):
        yield from long.run(topic).events


def messages(tmp_path):
    """Events of messages that a robot sends."""
    taken = []

    def handle(message, delivery):
        if message.content == "no":
            delivery.nack("no")
            return
        delivery.ack()
        taken.append(message)
        raise ValueError("later")

    def send() -> str:
        """Send some messages."""
        for content in ("yes", "no"):
            bot.send_message("b", content).wait(10)
        bot.send_message("nobody", "?")
        bus.subscribe("full", lambda message, delivery: None)
        bus.channel("full", max_pending=1)
        bot.send_message("full", 1)
        with pytest.raises(rl.BusError):
            bot.send_message("full", 2, timeout=0)
        return "sent"

    bus = rl.Bus()
    bus.subscribe("b", handle)
    bot = rl.build("a", model=ScriptedModel([("send", {}), "done"]), tools=[send]).with_bus(bus)
    with pytest.warns(RuntimeWarning, match="later"):
        yield from bot.delegate(bot, "go").events
    bus.close(drain=False)


def memories(tmp_path):
    """Events of what runs share in a memory."""
    memory = rl.create_memory()

    def share() -> str:
        """Write, wait and forget."""
        memory.set("a", float("nan"))
        memory.append("list", 1)
        memory.get("a", "b", wait=10)
        memory.delete("a")
        memory.clear()
        return str(memory.get("never", wait=0.5))

    def bad(change):
        memory["b"] = 1
        raise ValueError("no")

    memory.subscribe("list", callback=bad)
    bot = rl.build("m", model=ScriptedModel([("share", {}), "done"]), tools=[share])
    with pytest.warns(RuntimeWarning, match="subscriber bad"):
        result = bot.run("x")
    yield from result.events
    yield from rl.session_events()


def tasks():
    """Events of tasks that are mapped, repeated, tried again and restored."""
    tries = []

    def shaky() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("once")
        return "ok"

    net = rl.create_network("many")
    net.task("each", lambda item: item * 2, map_over=[1, 2, 3])
    again = rl.build("again", model=rl.SimulatedModel(["no", "yes"]))
    net.task("loop", again, loop=rl.Loop(until=lambda result: result.text == "yes", max_turns=3))
    net.task("shaky", shaky, retries=1, retry_wait=0)
    first = net.run("x")
    yield from first.events
    yield from net.resume(first).events


def comparison():
    """Events of an experiment with scores."""
    echo = rl.SimulatedModel(lambda request: request.messages[-1].text)
    prompts = ["Say {{ input }}", "Sing {{ input }}"]
    made = rl.compare(prompts, echo, ["la", "lo"], evaluators=[len], journal=False)
    yield from made.run.events


def servers(tmp_path):
    """Events of tool servers: connecting, choosing, changing, reporting."""

    async def work(text="", wire=None, token=None):
        wire.tell("notifications/message", {"level": "info", "data": "at work"})
        told = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
        wire.tell("notifications/progress", told)
        await asyncio.sleep(0.1)
        return "done"

    desk = Desk("files", description="Files on a disk.").tool("work", work, "Work on a file.")
    gone = Desk("gone", description="Nothing that is there.", fails="no")
    model = ScriptedModel([("work", {}), "done", "again"])
    bot = rl.build("s", model=model, mcp=[desk.server, gone.server], mcp_discovery=True)
    yield from bot.run("Sing").events
    desk.tool("work", work, "Work on another file.").tool("rest")
    desk.changed()
    yield from bot.run("Sing").events


def scenario(tmp_path):
    """Events of nearly everything that can happen to robots and networks."""
    yield from guards(tmp_path)
    yield from prompts(tmp_path)
    yield from tasks()
    yield from messages(tmp_path)
    yield from memories(tmp_path)
    yield from servers(tmp_path)
    yield from comparison()

    def fine(n: int) -> int:
        """Fine."""
        return n

    def bad() -> str:
        """Bad."""
        raise ValueError("no")

    call = ScriptedModel.tool_call
    steps = [[call("fine", {"n": 1}), call("bad", {}), call("nonesuch", {})], "done", "a", "b"]
    bot = rl.build("b", system_prompt="x", model=ScriptedModel(steps), tools=[fine, bad], seed=1)
    yield from bot.run("go", context={"k": object()}).events
    yield from bot.run("and now?").events
    late = rl.build("l", model=rl.SimulatedModel(["again"], delay=0.2))
    other = late.start("again")
    while other.status != "running":
        time.sleep(0.001)
    late.replace_messages(["meanwhile"])
    other.result()
    yield from other.events
    with ModelServer([Reply.error(500), "ok", Reply.error(400)]) as server:
        far = rl.build("f", model=server.model("m"), config={"retry_interval": 0.01})
        yield from far.run("x").events
        with pytest.raises(rl.ModelError) as caught:
            far.run("x")
        yield from caught.value.run.events
    slow = rl.build("s", model=rl.SimulatedModel(["x"], delay=60)).start("x")
    slow.stop()
    yield from slow.events
    net = rl.create_network("n")
    net.task("sort", lambda: "a", route=lambda r: r.text)
    net.task("a", bot, depends_on=["sort"], optional=True)
    net.task("b", lambda: 1, depends_on=["sort"], optional=True)
    net.task("broken", lambda: 1 / 0)
    net.task("after", lambda: 1, depends_on=["broken"])
    net.task("apart", lambda: 1, depends_on=["sort", "a"], when=~rl.convergence_gate())
    whole = net.run("x")
    yield from whole.events
    yield from net.resume(whole).events


def test_every_event_says_only_what_is_declared_and_every_type_occurs(tmp_path):
    seen = set()
    for event in scenario(tmp_path):
        declared = EVENT_TYPES[event.type].__annotations__
        assert set(event.data) <= set(declared), event.type
        assert json.loads(json.dumps(event.to_dict())) == json.loads(json.dumps(event.to_dict()))
        assert rl.Event.from_dict(json.loads(json.dumps(event.to_dict()))).type == event.type
        seen.add(event.type)
    # Told only where no thread is left that could write; its tests have a process of their own.
    # That a run was abandoned is what a log says, after its process has ended.
    assert seen | {"memory.deadlock", "run.abandoned"} == set(EVENT_TYPES)


def test_every_declared_type_is_documented():
    for type_, declared in EVENT_TYPES.items():
        assert declared.__doc__, type_


def test_the_record_read_back_from_json_is_the_same_run():
    model = ScriptedModel([ScriptedModel.tool_call("add", {"a": 1, "b": 2}), "three"])

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    result = rl.build("b", model=model, tools=[add]).run("go")
    lines = [json.dumps(e.to_dict()) for e in result.events]
    read = RunState.fold(rl.Event.from_dict(json.loads(line)) for line in lines)
    assert read == result.state
