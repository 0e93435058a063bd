"""Channels: publishing, receiving, acknowledging, dead letters, redelivery, closing."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.bus import exchange, posting
from robotlab_nb.runtime import loop as engine_module
from robotlab_nb.runtime.session import session_events


def message(content="hello", number=1, sender="a"):
    return rl.RobotMessage(number, sender, content)


# -- taking messages -----------------------------------------------------------------------


def test_a_message_is_acknowledged_before_a_handler_of_one_argument_gets_it(bus, told):
    statuses = []
    bus.subscribe("b", lambda m: statuses.append((m.content, bus.receipt(m).status)))
    receipt = bus.publish("b", message()).wait(5)
    bus.close()
    assert (receipt.status, statuses) == ("acked", [("hello", "acked")])
    assert [type_ for type_, _ in told(receipt)] == ["bus.sent", "bus.delivered", "bus.acked"]
    sent = told(receipt)[0][1]
    assert sent == {
        "message_id": receipt.message_id, "key": "a:1", "channel": "b", "sender": "a",
        "in_reply_to": None, "receivers": ["b"], "content": "hello",
    }  # fmt: skip
    assert told(receipt)[1][1]["queued_s"] >= 0


def test_a_handler_of_two_arguments_says_itself_what_becomes_of_a_message(bus):
    kept = []
    bus.subscribe("b", lambda m, delivery: kept.append(delivery))
    receipt = bus.publish("b", message())
    until(lambda: kept)
    assert receipt.status == "pending"
    assert kept[0].ack()
    assert receipt.wait(5).status == "acked"
    assert not kept[0].ack()
    assert not kept[0].nack("too late")


async def test_an_async_handler_runs_on_the_engines_loop_and_a_receipt_can_be_awaited(bus):
    loops = []

    async def handle(m, delivery):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        delivery.ack()

    bus.subscribe("b", handle)
    assert (await (await bus.apublish("b", message()))).status == "acked"
    assert loops == [engine_module.engine_loop().loop]


def test_a_message_with_two_receivers_is_acknowledged_when_both_have_taken_it(bus, told):
    first, second = [], []
    bus.subscribe("news", lambda m, d: first.append(d), name="first")
    bus.subscribe("news", lambda m, d: second.append(d), name="second")
    receipt = bus.publish("news", message())
    until(lambda: first and second)
    first[0].ack()
    assert (receipt.status, bus.pending("news")) == ("pending", 1)
    second[0].ack()
    assert (receipt.wait(5).status, bus.pending("news")) == ("acked", 0)
    assert [d["receiver"] for t, d in told(receipt) if t == "bus.acked"] == ["first", "second"]


def test_a_receiver_has_one_message_at_a_time_and_the_next_waits_for_its_settlement(bus):
    open_ = []
    bus.subscribe("b", lambda m, d: open_.append(d))
    for n in range(3):
        bus.publish("b", message(n))
    for n in range(3):
        until(lambda n=n: len(open_) > n)
        time.sleep(0.02)
        assert [d.message.content for d in open_] == list(range(n + 1))
        open_[n].ack()


@pytest.mark.parametrize(
    ("handler", "both"),
    [
        (lambda m: None, False),
        (lambda m, d: None, True),
        (lambda m, delivery=None: None, True),
        (lambda m, retries=3: None, False),
        (lambda *args: None, False),
        ([].append, False),
    ],
)
def test_the_number_of_arguments_says_what_a_handler_gets(handler, both):
    assert exchange.Handler(handler, "x").takes_delivery is both


@pytest.mark.parametrize(
    "handler", [None, lambda: None, lambda a, b, c: None, lambda m, *, k: None]
)
def test_what_cannot_be_called_with_a_message_is_refused_at_once(bus, handler):
    with pytest.raises(rl.ConfigurationError, match="channel 'b'"):
        bus.subscribe("b", handler)


# -- dead letters --------------------------------------------------------------------------


def failing(m, delivery):
    raise ValueError("no")


def refusing(m, delivery):
    delivery.nack("not mine")


def silent(m, delivery):
    pass


@pytest.mark.parametrize(
    ("handler", "reason", "said"),
    [
        (failing, "handler_error", {"type": "ValueError", "message": "no"}),
        (refusing, "nack", {"type": "Nack", "message": "not mine"}),
        (silent, "timeout", {"type": "AwaitTimeout", "message": "not acknowledged within 0.05 s"}),
    ],
)
def test_a_message_that_is_not_taken_is_a_dead_letter_with_the_reason(
    bus, told, handler, reason, said
):
    bus.channel("b", timeout=0.05)
    bus.subscribe("b", handler)
    receipt = bus.publish("b", message()).wait(5)
    assert (receipt.status, receipt.reason, receipt.error) == ("dead", reason, said)
    (letter,) = bus.dead_letters
    assert (letter.reason, letter.error, letter.message) == (reason, said, message())
    dead = told(receipt)[-1]
    assert dead[0] == "bus.dead"
    assert (dead[1]["reason"], dead[1]["receiver"], dead[1]["error"]) == (reason, "b", said)
    assert bus.pending("b") == 0


def test_a_message_that_nobody_receives_is_dead_at_once_and_the_near_name_is_said(bus):
    bus.subscribe("kitchen", print)
    receipt = bus.publish("kichen", message())
    assert receipt.reason == "no_receiver"
    assert "Did you mean 'kitchen'?" in receipt.error["message"]
    assert "kichen" not in bus.channels  # misspelt names leave nothing behind


def test_a_message_of_the_wrong_type_is_dead_and_no_handler_sees_it(bus):
    seen = []
    bus.channel("numbers", int)
    bus.subscribe("numbers", seen.append)
    assert bus.publish("numbers", "one").reason == "rejected_type"
    assert bus.publish("numbers", 1).wait(5).status == "acked"
    bus.close()
    assert seen == [1]


def test_an_async_handler_that_takes_too_long_is_cancelled_and_the_next_message_follows(bus):
    ended = []

    async def slow(m, delivery):
        if m.content == "slow":
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(m.content)
        delivery.ack()

    bus.channel("b", timeout=0.05)
    bus.subscribe("b", slow)
    first, second = bus.publish("b", message("slow")), bus.publish("b", message("quick"))
    assert (first.wait(5).reason, second.wait(5).status, ended) == ("timeout", "acked", ["slow"])


def test_a_thread_that_takes_too_long_keeps_its_turn(bus):
    gate, running = threading.Event(), []

    def slow(m, delivery):
        running.append(m.content)
        if m.content == 1:
            gate.wait(10)
        delivery.ack()
        running.append(-m.content)

    bus.channel("b", timeout=0.05)
    bus.subscribe("b", slow)
    first, second = bus.publish("b", message(1)), bus.publish("b", message(2))
    assert first.wait(5).reason == "timeout"
    time.sleep(0.1)
    assert (second.status, running) == ("pending", [1])
    gate.set()
    assert second.wait(5).status == "acked"
    bus.close()
    assert running == [1, -1, 2, -2]


def test_a_message_does_not_wait_for_ever_for_a_receiver_that_hangs(bus):
    gate, begun = threading.Event(), threading.Event()
    bus.channel("b", queue_timeout=0.1)
    bus.subscribe("b", lambda m: (begun.set(), gate.wait(30)))
    assert bus.publish("b", message(1)).wait(5).status == "acked"
    assert begun.wait(5)
    time.sleep(0.05)
    late = bus.publish("b", message(2))
    until(lambda: late.settled)  # nobody has to wait for it
    gate.set()
    assert late.reason == "timeout"
    assert "did not come to it within 0.1 s" in late.error["message"]


def test_a_handler_that_fails_after_the_acknowledgement_is_told_of_and_goes_on(bus, told):
    seen, gate = [], threading.Event()

    def handle(m):
        gate.wait(10)
        seen.append(m.content)
        1 / 0  # noqa: B018

    bus.subscribe("b", handle)
    receipts = [bus.publish("b", message(n)) for n in range(3)]
    threading.Timer(0.05, gate.set).start()
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError") as warned:
        bus.close()
    assert len(warned) == 1
    assert seen == [0, 1, 2]
    assert {r.status for r in receipts} == {"acked"}
    assert receipts[0].failures[0][1]["type"] == "ZeroDivisionError"
    assert told(receipts[2])[-1][0] == "bus.handler_failed"
    assert bus.dead_letters == ()


@pytest.mark.parametrize("wrong", [KeyboardInterrupt, SystemExit, StopIteration])
@pytest.mark.parametrize("way", ["sync", "async"])
def test_nothing_that_a_handler_raises_ends_the_engines_loop(bus, wrong, way):
    def sync(m, delivery):
        raise wrong

    async def coroutine(m, delivery):
        raise wrong

    before = engine_module.engine_loop()
    bus.subscribe("b", sync if way == "sync" else coroutine)
    assert bus.publish("b", message()).wait(5).reason == "handler_error"
    assert engine_module.engine_loop() is before


def test_dead_letters_are_bounded_and_what_was_dropped_is_counted():
    bus = rl.Bus(max_dead_letters=3)
    for n in range(5):
        bus.publish("nobody", message(n))
    assert [d.message.content for d in bus.dead_letters] == [2, 3, 4]
    assert bus.dropped == 2


def test_a_dead_letter_is_redelivered_to_those_who_have_not_had_it(bus):
    taken = {"good": [], "bad": []}
    well = threading.Event()

    def bad(m, delivery):
        if not well.is_set():
            delivery.nack("ill")
            return
        taken["bad"].append(m.content)
        delivery.ack()

    bus.subscribe("news", lambda m: taken["good"].append(m.content), name="good")
    bus.subscribe("news", bad, name="bad")
    old = bus.publish("news", message())
    assert old.wait(5).reason == "nack"
    until(lambda: taken["good"])
    well.set()
    (new,) = bus.redeliver()
    assert (new.wait(5).status, old.last, old.status) == ("acked", new, "dead")
    bus.close()
    assert taken == {"good": ["hello"], "bad": ["hello"]}
    assert bus.dead_letters == ()


def test_a_letter_that_was_redelivered_cannot_be_again(bus):
    bus.publish("nobody", message())
    (letter,) = bus.dead_letters
    (again,) = bus.redeliver(letter)
    assert again.reason == "no_receiver"
    assert len(bus.dead_letters) == 1
    with pytest.raises(rl.InputError, match="no dead letter"):
        bus.redeliver(letter)


def test_a_letter_that_two_redeliver_at_once_is_sent_once(bus):
    seen = []
    bus.publish("b", message())
    bus.subscribe("b", seen.append)
    (letter,) = bus.dead_letters
    one, two = posting.post_again(bus, letter), posting.post_again(bus, letter)
    bus.close()
    assert one is two
    assert len(seen) == 1


# -- channels and waiting ------------------------------------------------------------------


def test_a_channel_keeps_its_type_and_takes_new_limits(bus):
    made = bus.channel("b", dict, max_pending=3)
    assert bus.channel("b", timeout=1.5) is made
    assert (made.type, made.max_pending, made.timeout) == (dict, 3, 1.5)
    with pytest.raises(rl.BusError, match="there already, for dict"):
        bus.channel("b", int)


@pytest.mark.parametrize("wrong", [{"max_pending": 0}, {"timeout": 0}, {"queue_timeout": -1}])
def test_limits_that_let_nothing_pass_are_refused(bus, wrong):
    with pytest.raises(rl.ConfigurationError, match="greater than 0"):
        rl.Bus(**wrong)
    with pytest.raises(rl.ConfigurationError, match="greater than 0"):
        bus.channel("b", **wrong)
    with pytest.raises(rl.ConfigurationError, match="takes a class"):
        bus.channel("c", "dict")


def test_a_message_can_be_waited_for_by_itself_or_its_key(bus):
    bus.subscribe("b", print)
    sent = message()
    receipt = bus.publish("b", sent)
    assert bus.wait(sent, 5) is bus.wait("a:1", 5) is bus.wait(receipt, 5) is receipt
    with pytest.raises(rl.BusError, match="no message 'z:9'"):
        bus.wait("z:9")


def test_a_wait_that_is_over_leaves_the_message_alone(bus):
    kept = []
    bus.subscribe("b", lambda m, d: kept.append(d))
    receipt = bus.publish("b", message())
    with pytest.raises(rl.AwaitTimeout, match="goes its way"):
        receipt.wait(0.02)
    until(lambda: kept)
    kept[0].ack()
    assert receipt.wait(5).status == "acked"


def test_blocking_on_the_engines_loop_is_refused_and_the_way_named(bus):
    found = []

    async def handle(m, delivery):
        with pytest.raises(rl.ConfigurationError, match="await the receipt"):
            bus.publish("slow", message()).wait()
        with pytest.raises(rl.ConfigurationError, match="aclose"):
            bus.close()
        found.append((await bus.apublish("slow", message(2))).status)
        delivery.ack()

    bus.subscribe("slow", lambda m, d: None)
    bus.subscribe("b", handle)
    assert bus.publish("b", message()).wait(5).status == "acked"
    assert found == ["pending"]


# -- leaving and closing -------------------------------------------------------------------


def test_who_leaves_gets_nothing_more_and_what_waited_is_dead(bus):
    gate, seen = threading.Event(), []

    def handle(m):
        gate.wait(10)
        seen.append(m.content)

    receiver = bus.subscribe("b", handle)
    first, second = bus.publish("b", message(1)), bus.publish("b", message(2))
    assert first.wait(5).status == "acked"
    receiver.leave()
    gate.set()
    assert (second.wait(5).reason, "b" in bus.channels) == ("closed", False)
    assert bus.publish("b", message(3)).reason == "no_receiver"
    until(lambda: seen == [1])


def test_a_message_that_is_handled_by_one_who_left_ends_as_any_other():
    bus, kept = rl.Bus(), []
    receiver = bus.subscribe("b", lambda m, d: kept.append(d))
    one = bus.publish("b", message(1))
    until(lambda: kept)
    receiver.leave()
    assert (one.status, "b" in bus.channels) == ("pending", False)
    kept[0].ack()
    assert one.wait(5).status == "acked"
    until(lambda: not bus.leaving)
    again = bus.subscribe("b", lambda m, d: kept.append(d))
    two = bus.publish("b", message(2))
    until(lambda: len(kept) == 2)
    again.leave()
    bus.close(timeout=0.05)
    assert two.reason == "closed"


def test_closing_drains_and_what_does_not_end_is_dead():
    with rl.Bus() as bus:
        seen = []
        bus.subscribe("b", lambda m: (time.sleep(0.01), seen.append(m.content)))
        receipts = [bus.publish("b", message(n)) for n in range(10)]
    assert seen == list(range(10))
    assert {r.status for r in receipts} == {"acked"}
    with pytest.raises(rl.BusError, match="closed"):
        bus.publish("b", message())
    stuck = rl.Bus()
    stuck.subscribe("b", lambda m, d: None)
    left = [stuck.publish("b", message(n)) for n in range(3)]
    stuck.close(timeout=0.05)
    assert [(r.status, r.reason) for r in left] == [("dead", "closed")] * 3
    stuck.close()


async def test_closing_in_async_code_stops_async_handlers():
    ended = []

    async def handle(m):
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(m.content)

    async with rl.Bus() as bus:
        bus.subscribe("b", handle)
        receipt = await (await bus.apublish("b", message()))
        await bus.aclose(timeout=0.05)
    assert receipt.status == "acked"
    for _ in range(200):
        if ended:
            break
        await asyncio.sleep(0.01)
    assert ended == ["hello"]


def test_a_receiver_made_in_a_cell_is_replaced_when_the_cell_is_run_again(bus, monkeypatch):
    seen = []
    for execution in ("1", "2"):
        monkeypatch.setattr(exchange, "cell_of_caller", lambda e=execution: ("cell", e))
        bus.subscribe("b", lambda m, e=execution: seen.append(e))
        bus.subscribe("b", lambda m, e=execution: seen.append(e + "'"))
    monkeypatch.setattr(exchange, "cell_of_caller", lambda: ("other cell", "3"))
    bus.subscribe("b", lambda m: seen.append("3"))
    bus.publish("b", message()).wait(5)
    bus.close()
    assert sorted(seen) == ["2", "2'", "3"]


# -- loops ---------------------------------------------------------------------------------


def test_with_the_callers_loop_handlers_run_there():
    loops = []

    async def handle(m, delivery):
        loops.append(asyncio.get_running_loop())
        delivery.ack()

    async def main():
        async with rl.Bus() as bus:
            bus.subscribe("b", handle)
            await (await bus.apublish("b", message()))
            return asyncio.get_running_loop()

    with rl.engine(loop="current"):
        here = asyncio.run(main())
    assert loops == [here]


def test_a_loop_that_ends_takes_no_message_with_it(bus):
    seen = []

    async def handle(m, delivery):
        if m.content == 1:
            await asyncio.sleep(60)
        seen.append(m.content)
        delivery.ack()

    bus.subscribe("b", handle)

    async def main():
        receipts = [await bus.apublish("b", message(n)) for n in (1, 2)]
        await asyncio.sleep(0.05)
        return receipts

    with rl.engine(loop="current"):
        first, second = asyncio.run(main())
    assert (first.wait(5).reason, second.wait(5).status, seen) == ("closed", "acked", [2])


def test_messages_go_on_when_the_engines_loop_was_lost(bus):
    gate, seen = threading.Event(), []

    async def block(m, delivery):
        if m.content == 1:
            gate.wait(20)
        seen.append(m.content)
        delivery.ack()

    bus.subscribe("b", block)
    first, second = bus.publish("b", message(1)), bus.publish("b", message(2))
    until(lambda: first.status == "pending" and bus.channels["b"].receivers[0].busy)
    time.sleep(0.05)
    engine_module.engine_loop().abandon()
    assert (second.wait(5).status, first.wait(5).reason) == ("acked", "closed")
    gate.set()
    assert bus.publish("b", message(3)).wait(5).status == "acked"
    assert seen[0] == 2


def test_a_message_sent_in_a_run_is_told_of_there_and_what_comes_later_in_the_session(bus):
    gate = threading.Event()
    bus.subscribe("b", lambda m, d: (gate.wait(10), d.ack()))
    sent = []

    def send(text: str) -> str:
        """Send a text."""
        sent.append(bus.publish("b", message(text)))
        until(lambda: any(e.type == "bus.delivered" for e in rl.current_run().events))
        return "sent"

    model = rl.SimulatedModel([("send", {"text": "hi"}), "done"])
    result = rl.build("sender", model=model, tools=[send]).run("go")
    gate.set()
    sent[0].wait(5)
    own = [e for e in result.events if e.type.startswith("bus.")]
    assert [e.type for e in own] == ["bus.sent", "bus.delivered"]
    assert own[0].scope.robot == "sender"
    later = [e for e in session_events() if e.data.get("message_id") == sent[0].message_id]
    assert [e.type for e in later] == ["bus.acked"]
    assert rl.RunState.fold(result.events) == result.state


def test_what_a_handler_does_is_no_part_of_the_run_that_sent_the_message(bus):
    seen = []
    bus.subscribe("b", lambda m: seen.append(rl.current_run()))

    def send() -> str:
        """Send."""
        return bus.publish("b", message()).wait(5).status

    model = rl.SimulatedModel([("send", {}), "done"])
    assert rl.build("s", model=model, tools=[send]).run("go").tool_calls[0].result == "acked"
    bus.close()
    assert seen == [None]


def until(true, seconds=10.0):
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)
