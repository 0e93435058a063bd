"""Robots on a bus: sending, answering, serving, spawning."""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.robot.serving import as_task
from robotlab_nb.testing import ScriptedModel


@pytest.fixture
def bus():
    made = rl.Bus()
    yield made
    made.close(drain=False)


def until(true, seconds=10.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def pair(bus):
    return rl.build("a").with_bus(bus), rl.build("b").with_bus(bus)


def test_without_a_bus_nothing_can_be_sent_or_received_and_the_way_is_named():
    bot = rl.build("loner")
    for wrong in (
        lambda: bot.send_message("b", "x"),
        lambda: bot.send_reply("b", "x", "b:1"),
        lambda: bot.on_message(print),
        bot.serve,
        lambda: asyncio.run(bot.asend_message("b", "x")),
    ):
        with pytest.raises(rl.BusError, match=r"'loner' is on no bus.*with_bus\(bus\)"):
            wrong()
    assert bot.bus is None
    assert bot.outbox == {}
    assert bot.leave_bus() is bot


def test_a_reply_is_correlated_with_the_message_that_it_answers(bus):
    a, b = pair(bus)

    @b.on_message
    def answer(message):
        b.send_reply(message.sender, message.content * 2, message.key)

    one, two = a.send_message("b", 1), a.send_message(b, 2)
    assert (one.reply(5).content, two.reply(5).content) == (2, 4)
    assert (one.status, one.key, one.replies[0].in_reply_to) == ("replied", "a:1", "a:1")
    assert [r.content for r in two.replies] == [4]
    assert list(a.outbox) == ["a:1", "a:2"]
    assert b.outbox["b:1"].message.in_reply_to == "a:1"


def test_an_answer_is_known_while_the_asker_is_at_another_message(bus):
    a, b = pair(bus)
    b.respond_to_tasks(lambda message: f"{message.content}!")
    seen = []

    @a.on_message
    def ask_back(message):
        if not message.is_reply:
            seen.append(a.send_message("b", message.content).reply(5).content)

    rl.build("c").with_bus(bus).send_message("a", "well").wait(5)
    until(lambda: seen == ["well!"])


def test_send_message_returns_at_once_and_the_entry_says_what_became_of_it(bus):
    a, b = pair(bus)
    gate = threading.Event()
    b.on_message(lambda message, delivery: (gate.wait(10), delivery.nack("busy")))
    began = time.monotonic()
    entry = a.send_message("b", "hello")
    assert time.monotonic() - began < 5
    assert entry.status == "sent"
    gate.set()
    assert entry.wait(5).status == "dead"
    with pytest.raises(rl.BusError, match=r"no answer to message a:1 from 'b': busy"):
        entry.reply()
    b.respond_to_tasks(lambda message: "fine")
    bus.redeliver()
    assert entry.reply(5).content == "fine"
    assert entry.status == "replied"
    assert bus.wait(entry, 5) is entry.receipt


@pytest.mark.filterwarnings("ignore:the handler of 'b':RuntimeWarning")
def test_a_wait_for_an_answer_ends_when_its_handler_fails_or_the_time_is_up(bus):
    a, b = pair(bus)

    @b.respond_to_tasks
    def fail(message):
        raise ValueError("no such thing")

    began = time.monotonic()
    entry = a.send_message("b", "hello")
    with pytest.raises(rl.BusError, match="no such thing"):
        entry.reply(20)
    assert time.monotonic() - began < 10
    b.on_message(lambda message: None)
    with pytest.raises(rl.AwaitTimeout, match="'b' did not answer message a:2 within"):
        a.send_message("b", "hello").reply(0.05)
    with pytest.raises(rl.BusError, match="nobody receives on channel 'nobody'"):
        a.send_message("nobody", "hello").reply(10)


async def test_all_of_it_can_be_awaited(bus):
    a, b = pair(bus)

    @b.respond_to_tasks
    async def answer(message):
        await asyncio.sleep(0)
        return message.content[::-1]

    entry = await a.asend_message("b", "abc")
    assert (await entry) is entry
    assert (await entry.areply(5)).content == "cba"


def test_messages_without_a_handler_are_dead_letters_and_answers_are_not(bus):
    a, b = pair(bus)
    entry = a.send_message("b", "hello").wait(5)
    assert entry.receipt.reason == "no_receiver"
    assert "on_message() or serve()" in entry.error["message"]
    assert b.send_reply("a", "yes?", entry.message).wait(5).receipt.status == "acked"
    assert entry.replies[0].content == "yes?"
    assert len(bus.dead_letters) == 1


def test_robots_of_one_name_all_get_every_message_and_number_theirs_apart(bus):
    first, second = rl.build("twin").with_bus(bus), rl.build("twin").with_bus(bus)
    first.respond_to_tasks(lambda message: "first")
    second.respond_to_tasks(lambda message: "second")
    a = rl.build("a").with_bus(bus)
    entry = a.send_message("twin", "who?")
    until(lambda: len(entry.replies) == 2)
    assert {r.content for r in entry.replies} == {"first", "second"}
    keys = [first.send_message("a", 1).key, second.send_message("a", 2).key]
    assert len(set(keys)) == 2
    assert set(first.outbox).isdisjoint(second.outbox)


def test_joining_another_bus_leaves_the_old_one_and_takes_the_handler_along(bus):
    a, b = pair(bus)
    b.respond_to_tasks(lambda message: "here")
    assert b.with_bus() is b
    assert b.bus is bus
    other = rl.Bus()
    b.with_bus(other)
    assert a.send_message("b", "x").wait(5).receipt.reason == "no_receiver"
    assert rl.build("c").with_bus(other).send_message("b", "x").reply(5).content == "here"
    b.leave_bus()
    assert b.bus is None
    with pytest.raises(rl.BusError):
        b.send_message("c", "x")
    other.close()


def test_a_robot_that_is_changed_or_pickled_keeps_its_bus_or_leaves_it_behind(bus):
    a, b = pair(bus)
    b.respond_to_tasks(lambda message: "here")
    b.update(name="renamed", temperature=0)
    assert b.name == "renamed"
    assert a.send_message(b, "x").reply(5).content == "here"  # its address is that of joining
    assert b.fork("other").bus is None
    assert pickle.loads(pickle.dumps(a)).bus is None


def test_respond_to_tasks_ignores_answers_and_sends_none_for_none(bus):
    a, b = pair(bus)
    seen = []

    @b.respond_to_tasks(auto_reply=False)
    def quiet(message):
        seen.append(message.content)
        return "not sent"

    a.send_reply("b", "an answer", "b:7").wait(5)
    a.send_message("b", "task").wait(5)
    until(lambda: seen)
    b.respond_to_tasks(lambda message: None)
    a.send_message("b", "another").wait(5)
    bus.close()
    assert seen == ["task"]
    assert b.outbox == {}
    with pytest.raises(rl.BusError, match="on no bus|closed"):
        b.leave_bus().respond_to_tasks(print)


def test_a_handler_of_tasks_takes_no_delivery(bus):
    a, _ = pair(bus)
    with pytest.raises(rl.ConfigurationError, match="the message alone"):
        a.respond_to_tasks(lambda message, delivery: None)


# -- serving -------------------------------------------------------------------------------


def test_a_serving_robot_answers_with_runs_of_its_own_in_one_conversation(bus):
    model = ScriptedModel(["one", "two"])
    bot = rl.build("bot", model=model).with_bus(bus).serve()
    a = rl.build("a").with_bus(bus)
    entries = [a.send_message("bot", "first"), a.send_message("bot", {"topic": "tea", "n": 2})]
    assert [e.reply(10).content for e in entries] == ["one", "two"]
    assert [m.text for m in bot.messages] == ["first", "one", "topic: tea\nn: 2", "two"]


def test_what_a_served_message_starts_is_a_root_and_knows_the_message(bus):
    seen = []

    @rl.tool(inject=["context"])
    def note(context, run: rl.Run) -> str:
        """Take a note."""
        seen.append((context["message_key"], run.parent, run.scope.path))
        return "noted"

    server = rl.build("server", model=ScriptedModel([("note", {}), "done"]), tools=[note])
    server.with_bus(bus).serve()

    def ask() -> str:
        """Ask the server."""
        return asker.send_message("server", "do it").reply(10).content

    asker = rl.build("asker", model=ScriptedModel([("ask", {}), "asked"]), tools=[ask])
    result = asker.with_bus(bus).run("go")
    assert result.tool_calls[0].result == "done"
    assert seen == [("asker:1", None, ("server",))]
    assert {e.scope.robot for e in result.events} == {"asker"}
    assert "bus.sent" in [e.type for e in result.events]


def test_a_served_run_that_asks_a_person_answers_after_the_person(bus):
    ask = ("ask_user", {"question": "Which size?"})
    bot = rl.build("shop", model=ScriptedModel([ask, "size L it is"]), tools=[rl.ask_user])
    bot.with_bus(bus).serve()
    entry = rl.build("a").with_bus(bus).send_message("shop", "shoes")
    until(lambda: [r for r in rl.runs() if r.name == "shop" and r.status == "waiting"])
    time.sleep(0.02)
    assert entry.status == "sent"
    (run,) = [r for r in rl.runs() if r.name == "shop"]
    run.answer("L")
    assert entry.reply(10).content == "size L it is"


def test_a_robot_that_leaves_while_it_serves_stops_its_run_when_the_bus_closes():
    bus = rl.Bus()
    bot = rl.build("slow", model=rl.SimulatedModel(["late"], delay=60)).with_bus(bus).serve()
    rl.build("a").with_bus(bus).send_message("slow", "x").wait(5)
    until(lambda: [r for r in rl.runs() if r.name == "slow"])
    (run,) = [r for r in rl.runs() if r.name == "slow"]
    bus.close(drain=False)
    until(lambda: run.done)
    assert (run.status, bot.messages) == ("interrupted", ())


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("as it is {{ x }}", "as it is {{ x }}"),
        ({"a": 1, "b": [1, 2]}, "a: 1\nb: [1, 2]"),
        ([1, 2], "[1, 2]"),
        (7, "7"),
    ],
)
def test_what_a_robot_is_asked_for_a_content(content, asked):
    assert as_task(content) == asked


def test_a_comedian_and_a_critic_go_on_until_a_joke_is_accepted(bus):
    jokes = [f"joke {n}" for n in range(1, 6)]
    verdicts = ["no", "no", "no", "accepted"]
    comedian = rl.build("comedian", model=ScriptedModel(jokes[:4])).with_bus(bus)
    critic = rl.build("critic", model=ScriptedModel(verdicts)).with_bus(bus)
    accepted = threading.Event()

    @comedian.on_message
    async def tell(message):
        if message.content == "accepted":
            accepted.set()
            return
        joke = await comedian.arun(f"A joke, please. The critic said: {message.content}")
        await comedian.asend_reply("critic", joke.text, message)

    @critic.on_message
    async def judge(message):
        verdict = await critic.arun(message.content)
        await critic.asend_reply("comedian", verdict.text, message)

    critic.send_message("comedian", "begin")
    assert accepted.wait(20)
    bus.close()
    assert [m.text for m in critic.messages if m.role == "user"] == jokes[:4]
    assert [e.message.content for e in critic.outbox.values()] == ["begin", *verdicts]
    assert [e.status for e in comedian.outbox.values()] == ["replied"] * 4
    assert bus.dead_letters == ()


# -- spawning ------------------------------------------------------------------------------


def test_a_spawned_robot_is_on_the_same_bus_and_asks_the_same_model():
    model = rl.SimulatedModel("yes")
    boss = rl.build("boss", model=model, temperature=0.3)
    child = boss.spawn("worker", system_prompt="Work.")
    assert child.bus is boss.bus is not None
    assert child.model is model
    assert (child.name, child.system_prompt) == ("worker", "Work.")
    assert child.effective_config["temperature"].origin == "default"
    assert boss.spawn().name == "boss-2"
    assert boss.spawn("worker").name == "worker-2"
    child.serve()
    assert boss.send_message(child, "well?").reply(5).content == "yes"


def test_address_and_key_belong_to_the_model_and_are_inherited_with_it():
    key = {"provider": "openai", "api_base": "http://127.0.0.1:9/v1", "api_key": "sk-x"}
    boss = rl.build("boss", config={"model": "openai/m", **key})
    same, other = boss.spawn("same"), boss.spawn("other", model=rl.SimulatedModel("x"))
    assert same.model_name == "openai/m"
    assert same.effective_config["api_base"].value == "http://127.0.0.1:9/v1"
    assert other.is_simulated
    assert other.effective_config["api_base"].value is None


def test_a_robot_that_cannot_be_built_leaves_no_name_behind():
    boss = rl.build("boss")
    with pytest.raises(rl.UnknownKeyword):
        boss.spawn("worker", temprature=1)
    assert boss.bus is None
    assert boss.spawn("worker").name == "worker"


def test_spawned_names_are_unique_under_eight_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            boss, made, gate = rl.build("boss"), [], threading.Barrier(8)

            def spawn(boss=boss, made=made, gate=gate):
                gate.wait(10)
                for _ in range(3):
                    made.append(boss.spawn("worker"))

            threads = [threading.Thread(target=spawn) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert len({robot.name for robot in made}) == len(made) == 24
            assert {robot.bus for robot in made} == {boss.bus}
    finally:
        sys.setswitchinterval(before)
