"""What holds for a bus whatever its handlers do and however many threads use it."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.bus import posting, signals
from robotlab_nb.runtime.session import session, session_events
from robotlab_nb.runtime.sinks import add_sink, remove_sink


@pytest.fixture
def eager_threads():
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def all_at_once(*functions):
    threads = [threading.Thread(target=f) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


class Kept:
    """Every bus event, however many there are."""

    def __init__(self):
        self.events = []

    def put(self, event):
        if event.type.startswith("bus."):
            self.events.append(event)

    async def drained(self, root_id, seq):
        pass

    def __enter__(self):
        add_sink(self)
        return self

    def __exit__(self, *_):
        remove_sink(self)


def endings(events):
    """How often each message ended, by id: acknowledged by all its receivers, or dead."""
    receivers, acks, ends = {}, Counter(), Counter()
    for event in events:
        one = event.data.get("message_id")
        if event.type == "bus.sent":
            receivers[one] = len(event.data["receivers"])
        elif event.type == "bus.acked":
            acks[one] += 1
            ends[one] += acks[one] == receivers[one]
        elif event.type == "bus.dead":
            ends[one] += 1
    return {one: ends[one] for one in receivers}


def test_eight_threads_send_and_every_receiver_has_each_senders_messages_in_order(eager_threads):
    seen = defaultdict(list)
    busy, most = Counter(), Counter()

    def receiver(who):
        def handle(message):
            busy[who] += 1
            most[who] = max(most[who], busy[who])
            seen[who].append((message.sender, message.id))
            busy[who] -= 1

        return handle

    bus = rl.Bus()
    robots = [rl.build(f"s{n}").with_bus(bus) for n in range(4)]
    for name in ("x", "y"):
        bus.subscribe(name, receiver(name))
        bus.subscribe(name, receiver(name + "'"), name=name)

    def send(robot):
        for n in range(100):
            robot.send_message("xy"[n % 2], n)

    # Two threads for each robot: its numbers are in order for every receiver all the same.
    all_at_once(*(lambda r=r: send(r) for r in robots * 2))
    bus.close(timeout=60)
    assert set(seen) == {"x", "x'", "y", "y'"}
    for who, messages in seen.items():
        assert len(messages) == 400
        for robot in robots:
            numbers = [number for sender, number in messages if sender == robot.name]
            assert numbers == sorted(numbers)
        assert seen[who] == seen[who.rstrip("'")]
        assert most[who] == 1
    keys = [key for robot in robots for key in robot.outbox]
    assert len(set(keys)) == len(keys) == 800


class Deeds:
    """What handlers do with a message, by its content."""

    def __init__(self):
        self.late = []

    def do(self, message, delivery):
        deed = message.content
        if deed == "raise":
            raise ValueError(deed)
        if deed == "ack and raise":
            delivery.ack()
            raise ValueError(deed)
        if deed == "twice":
            delivery.ack()
            delivery.nack()
        elif deed == "nack":
            delivery.nack("no")
        elif deed == "later":
            timer = threading.Timer(0.01, delivery.ack)
            self.late.append(timer)
            timer.start()
        elif deed != "silent":
            delivery.ack()


DEEDS = ["ack", "nack", "raise", "ack and raise", "twice", "later", "silent"]


@pytest.mark.filterwarnings("ignore:the handler of:RuntimeWarning")
@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from("abc?"), st.sampled_from(DEEDS)), max_size=12),
    st.booleans(),
    st.floats(0, 0.03),
)
def test_every_message_ends_once_acknowledged_or_dead(sends, drain, pause):
    deeds = Deeds()

    async def handle(message, delivery):
        deeds.do(message, delivery)

    with Kept() as kept:
        bus = rl.Bus(timeout=0.03)
        bus.subscribe("a", deeds.do)
        bus.subscribe("b", handle)
        bus.subscribe("c", deeds.do, name="c1")
        bus.subscribe("c", handle, name="c2")
        robot = rl.build("sender").with_bus(bus)
        for to, deed in sends:
            robot.send_message(to, deed)
        time.sleep(pause)
        bus.close(drain=drain, timeout=10)
        for timer in deeds.late:
            timer.join()
    receipts = [entry.receipt for entry in robot.outbox.values()]
    assert len(receipts) == len(sends)
    assert {r.status for r in receipts} <= {"acked", "dead"}
    assert endings(kept.events) == {r.message_id: 1 for r in receipts}
    assert len(bus.dead_letters) == sum(r.status == "dead" for r in receipts)
    if drain:
        for (to, deed), receipt in zip(sends, receipts, strict=True):
            if to != "?" and receipt.reason == "timeout":
                continue  # a silent one, or a busy machine
            well = to != "?" and deed in ("ack", "ack and raise", "twice", "later")
            assert (receipt.status == "acked") is well, (to, deed, receipt)


@pytest.mark.parametrize("drain", [True, False])
def test_nothing_is_lost_when_a_bus_is_closed_while_eight_threads_send(eager_threads, drain):
    taken, handled, refused = [], [], []
    bus = rl.Bus(max_pending=20)
    bus.subscribe("b", lambda message, delivery: (handled.append(message), delivery.ack()))

    def send(who):
        for n in range(500):
            try:
                taken.append(bus.publish("b", rl.RobotMessage(n, who, n)))
            except rl.BusError as error:
                refused.append(str(error))
                return

    def close():
        time.sleep(0.05)
        bus.close(drain=drain, timeout=0.05)

    all_at_once(close, *(lambda who=f"s{i}": send(who) for i in range(8)))
    assert len(refused) == 8 or len(taken) == 4000
    assert all("the bus is closed" in said for said in refused)
    assert all(r.settled for r in taken)
    acked = sum(r.status == "acked" for r in taken)
    dead = [r for r in taken if r.status == "dead"]
    assert acked + len(dead) == len(taken)
    assert acked <= len(handled) <= acked + 1  # one may have been under way when it closed
    assert all(r.reason == "closed" for r in dead)


def test_pending_never_exceeds_the_cap_and_whoever_waits_is_told_of(eager_threads, monkeypatch):
    cap, most = 5, []
    post = posting._post

    def watched(bus, receipt, *more):
        post(bus, receipt, *more)
        most.append(bus.channels["b"].pending)

    monkeypatch.setattr(posting, "_post", watched)
    seen = []
    with Kept() as kept, rl.Bus() as bus:
        bus.channel("b", int, max_pending=cap)
        bus.subscribe("b", lambda n, delivery: (seen.append(n), delivery.ack()))

        def send():
            for n in range(100):
                bus.publish("b", n, timeout=60)

        async def asend():
            async def some():
                for n in range(25):
                    await bus.apublish("b", n, timeout=60)

            await asyncio.gather(*(some() for _ in range(4)))

        all_at_once(send, send, send, lambda: asyncio.run(asend()))
        bus.close(timeout=60)
    assert len(seen) == 400
    assert max(most) == cap
    blocked = [e.data for e in kept.events if e.type == "bus.blocked"]
    assert blocked
    assert {d["max_pending"] for d in blocked} == {cap}
    assert max(d["pending"] for d in blocked) == cap


def test_those_who_wait_for_room_come_in_in_their_order():
    order, deliveries = [], []
    bus = rl.Bus(max_pending=1)
    bus.subscribe("b", lambda m, d: deliveries.append(d))
    first = bus.publish("b", rl.RobotMessage(0, "s", 0))

    def send(n):
        bus.publish("b", rl.RobotMessage(n, "s", n)).wait()
        order.append(n)

    threads = []
    for n in range(1, 5):
        threads.append(threading.Thread(target=send, args=(n,)))
        threads[-1].start()
        while len(bus.channels["b"].line) < n:
            time.sleep(0.002)
    for n in range(5):
        while len(deliveries) <= n:
            time.sleep(0.002)
        assert deliveries[n].message.content == n
        deliveries[n].ack()
    for thread in threads:
        thread.join(10)
    assert first.status == "acked"
    assert sorted(order) == [1, 2, 3, 4]
    bus.close()


def test_nobody_gets_in_before_those_who_wait():
    deliveries = []
    bus = rl.Bus(max_pending=1)
    bus.subscribe("b", lambda m, d: deliveries.append(d))
    bus.publish("b", rl.RobotMessage(1, "s", 1))
    waiting = posting.enter(bus, "b", rl.RobotMessage(2, "s", 2), None)
    assert not waiting._try()  # it stands in line, and does not look again yet
    while not deliveries:
        time.sleep(0.002)
    deliveries[0].ack()
    assert bus.pending("b") == 0
    with pytest.raises(rl.BusError, match="for its turn"):
        bus.publish("b", rl.RobotMessage(3, "s", 3), timeout=0.02)
    assert waiting.block().message.content == 2
    bus.close(drain=False)


@pytest.fixture
def no_beat(monkeypatch):
    """Nobody who waits looks again by himself: only news wakes."""
    monkeypatch.setattr(signals, "BEAT_S", 30.0)


@pytest.mark.filterwarnings("ignore:the handler of:RuntimeWarning")
def test_whoever_waits_is_woken_by_the_news(no_beat):
    began = time.monotonic()
    kept = []
    bus = rl.Bus(max_pending=2, timeout=20)
    bus.subscribe("b", lambda m, d: kept.append(d))
    robot = rl.build("robot").with_bus(bus)
    entries = [robot.send_message("b", n) for n in range(2)]
    threads = [
        threading.Thread(target=lambda n=n: entries.append(robot.send_message("b", n)))
        for n in range(2, 6)
    ]
    for thread in threads:
        thread.start()
    while len(bus.channels["b"].line) < 4:
        time.sleep(0.002)
    for n in range(4):  # room for those in line
        while len(kept) <= n:
            time.sleep(0.002)
        kept[n].ack()
    for thread in threads:
        thread.join(20)
    assert len(entries) == 6
    answer = threading.Timer(0.02, lambda: robot.send_reply("robot", "yes", entries[0].message))
    answer.start()
    assert entries[0].reply(20).content == "yes"
    bus.subscribe("bad", lambda m: time.sleep(0.1) or 1 / 0)
    with pytest.raises(rl.BusError, match="division by zero"):
        robot.send_message("bad", "x").reply(20)
    refused = []

    def send():
        with pytest.raises(rl.BusError, match="closed"):
            bus.publish("b", rl.RobotMessage(9, "s", 9))
        refused.append(True)

    last = threading.Thread(target=send)
    last.start()
    while not bus.channels["b"].line:
        time.sleep(0.002)
    bus.close(drain=False)
    last.join(20)
    assert refused
    assert time.monotonic() - began < 15


def test_whoever_gives_up_lets_the_next_one_in(no_beat):
    bus = rl.Bus(max_pending=1)
    kept, got = [], []
    bus.subscribe("b", lambda m, d: kept.append(d))
    bus.publish("b", rl.RobotMessage(1, "s", 1))
    first = posting.enter(bus, "b", rl.RobotMessage(2, "s", 2), None)
    assert not first._try()
    second = threading.Thread(
        target=lambda: got.append(bus.publish("b", rl.RobotMessage(3, "s", 3), timeout=20))
    )
    second.start()
    while len(bus.channels["b"].line) < 2:
        time.sleep(0.002)
    while not kept:
        time.sleep(0.002)
    kept[0].ack()
    first._step_out()
    second.join(10)
    assert [receipt.message.content for receipt in got] == [3]
    bus.close(drain=False)


def test_a_channel_that_stays_full_is_an_error_and_nothing_was_taken():
    bus = rl.Bus(max_pending=2)
    bus.subscribe("b", lambda m, d: None)
    for n in range(2):
        bus.publish("b", rl.RobotMessage(n, "s", n))
    began = time.monotonic()
    with pytest.raises(rl.BusError, match="is full: 2 messages wait") as caught:
        bus.publish("b", rl.RobotMessage(2, "s", 2), timeout=0.1)
    assert 0.1 <= time.monotonic() - began < 5
    assert caught.value.retryable
    assert (bus.pending("b"), len(bus.channels["b"].line)) == (2, 0)
    robot = rl.build("s").with_bus(bus)
    with pytest.raises(rl.BusError, match="full"):
        robot.send_message("b", "x", timeout=0)
    assert robot.outbox == {}
    bus.close(drain=False)


def test_a_full_channel_blocks_no_event_loop():
    found = []

    async def handle(message):
        with pytest.raises(rl.ConfigurationError, match="asend_message"):
            bus.publish("full", rl.RobotMessage(9, "s", 9))
        with pytest.raises(rl.BusError, match="full"):
            await bus.apublish("full", rl.RobotMessage(9, "s", 9), timeout=0.05)
        found.append(len(bus.channels["full"].line))

    bus = rl.Bus()
    bus.channel("full", max_pending=1)
    bus.subscribe("full", lambda m, d: None)
    bus.publish("full", rl.RobotMessage(1, "s", 1))
    bus.subscribe("b", handle)
    bus.publish("b", rl.RobotMessage(1, "s", 1))
    while not found:
        time.sleep(0.002)
    assert found == [0]
    bus.close(drain=False)


def test_a_sender_that_gives_up_leaves_the_line_to_the_others():
    async def main():
        deliveries: asyncio.Queue[Any] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        async with rl.Bus(max_pending=1) as bus:
            put = deliveries.put_nowait
            bus.subscribe("b", lambda m, d: loop.call_soon_threadsafe(put, d))
            await bus.apublish("b", rl.RobotMessage(1, "s", 1))
            gives_up = asyncio.create_task(bus.apublish("b", rl.RobotMessage(2, "s", 2)))
            await asyncio.sleep(0.02)
            stays = asyncio.create_task(bus.apublish("b", rl.RobotMessage(3, "s", 3)))
            await asyncio.sleep(0.02)
            gives_up.cancel()
            (await deliveries.get()).ack()
            receipt = await asyncio.wait_for(stays, 5)
            (await deliveries.get()).ack()
            await receipt
            return receipt.message.content

    assert asyncio.run(main()) == 3


def test_the_session_keeps_its_bound_under_much_traffic():
    with rl.Bus() as bus:
        bus.subscribe("b", lambda n: None)
        bus.channel("c", int)
        bus.subscribe("c", lambda n: None)
        for n in range(4000):
            bus.publish("c", n)
    assert len(session_events()) <= 10_000
    assert len(session().events) < 11_000
