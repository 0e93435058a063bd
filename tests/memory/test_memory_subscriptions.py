"""Being told of changes: in order, in the background, whoever else fails or hangs."""

from __future__ import annotations

import asyncio
import fnmatch
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.memory import subscribers
from robotlab_nb.memory.subscribers import globbed


@pytest.fixture
def memory():
    return rl.create_memory()


def until(ready, seconds=20):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)


class Told:
    """A subscriber that notes what it is told."""

    def __init__(self):
        self.changes = []
        self.news = threading.Condition()

    def __call__(self, change):
        with self.news:
            self.changes.append(change)
            self.news.notify_all()

    def wait(self, count, seconds=20):
        with self.news:
            assert self.news.wait_for(lambda: len(self.changes) >= count, seconds), self.changes
        return self.changes


def failures(subscription):
    return [
        dict(e.data)
        for e in rl.session_events()
        if e.type == "memory.subscriber_failed" and e.data["subscriber"] == subscription
    ]


def test_a_change_says_what_was_and_what_is(memory):
    told = Told()
    memory.subscribe("a", "b", callback=told)
    memory["a"] = 1
    memory["other"] = 0
    memory["a"] = None
    memory.delete("a")
    memory["b"] = 2
    memory.clear()
    found = told.wait(5)
    assert [(c.key, c.previous, c.value, c.kind, c.version) for c in found] == [
        ("a", None, 1, "created", 1), ("a", 1, None, "updated", 2), ("a", None, None, "deleted", 2),
        ("b", None, 2, "created", 1), ("b", 2, None, "deleted", 1),
    ]  # fmt: skip
    first = found[0]
    assert (first.is_created, first.is_updated, first.is_deleted) == (True, False, False)
    assert (first.writer, first.network_name, first.correlation_id) == ("session", None, None)
    assert first.timestamp.utcoffset().total_seconds() == 0
    memory["b"] = 3
    memory.reset()
    assert [c.kind for c in told.wait(7)[5:]] == ["created", "deleted"]


def test_a_change_in_a_run_names_the_task_the_network_and_the_run(memory):
    told = Told()
    memory.subscribe("a", callback=told)
    net = rl.create_network("crowd")
    net.task("writer", lambda: memory.set("a", 1))
    result = net.run("go")
    (change,) = told.wait(1)
    assert (change.writer, change.network_name) == ("writer", "crowd")
    assert change.correlation_id == result.run_id


def test_async_subscribers_run_on_the_engines_loop_and_others_in_threads(memory):
    where, told = {}, Told()

    async def on_loop(change):
        await asyncio.sleep(0)
        where["async"] = threading.current_thread().name
        told(change)

    def in_thread(change):
        where["sync"] = threading.current_thread()
        told(change)

    memory.subscribe("a", callback=on_loop)
    memory.subscribe("a", callback=in_thread)
    memory["a"] = 1
    told.wait(2)
    assert where["async"] == "robotlab_nb"
    assert where["sync"] not in (threading.main_thread(), None)
    assert where["sync"].name != "robotlab_nb"


def test_changes_of_many_writers_come_in_the_order_of_their_versions(memory):
    told = Told()
    memory.subscribe("n", callback=told)

    def write():
        for _ in range(50):
            memory.update("n", lambda n: (n or 0) + 1)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [c.value for c in told.wait(400)] == list(range(1, 401))


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_one_that_raises_is_reported_and_the_others_and_later_changes_go_on(memory, kind):
    told = Told()

    def bad(change):
        raise ValueError(f"no {change.value}")

    async def bad_too(change):
        raise ValueError(f"no {change.value}")

    failing = memory.subscribe("a", callback=bad if kind == "sync" else bad_too)
    memory.subscribe("a", callback=told)

    def scene():
        for n in range(3):
            memory["a"] = n
        assert [c.value for c in told.wait(3)] == [0, 1, 2]
        until(lambda: len(failures(failing)) == 3)

    with pytest.warns(RuntimeWarning, match="subscriber bad.* failed at key 'a': ValueError: no 0"):
        scene()
    assert [(f["key"], f["error"]["type"], f["error"]["message"]) for f in failures(failing)] == [
        ("a", "ValueError", f"no {n}") for n in range(3)
    ]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_one_that_hangs_is_reported_and_holds_up_neither_writers_nor_others(
    memory, monkeypatch, kind
):
    monkeypatch.setattr(subscribers, "STALLED_S", 0.1)
    told, go, seen = Told(), threading.Event(), []

    def hangs(change):
        seen.append(change.value)
        go.wait(20)

    async def hangs_too(change):
        seen.append(change.value)
        if change.value == 0:
            await asyncio.sleep(100)

    stalled = memory.subscribe("a", callback=hangs if kind == "sync" else hangs_too)
    memory.subscribe("a", callback=told)

    def scene():
        began = time.monotonic()
        for n in range(3):
            memory["a"] = n
        assert time.monotonic() - began < 1
        told.wait(3)
        until(lambda: failures(stalled))

    with pytest.warns(RuntimeWarning, match="did not end within 0.1 s"):
        scene()
    if kind == "sync":
        time.sleep(0.4)
        assert seen == [0]  # one thread hangs, not three
    go.set()
    until(lambda: seen == [0, 1, 2])
    assert failures(stalled)[0]["error"]["type"] == "TimeoutError"


def test_too_many_changes_for_a_slow_one_are_dropped_counted_and_told(memory, monkeypatch):
    monkeypatch.setattr(subscribers, "MOST_QUEUED", 10)
    told, began, go = Told(), threading.Event(), threading.Event()

    def slow(change):
        began.set()
        go.wait(20)
        told(change)

    subscription = memory.subscribe("a", callback=slow)
    memory["a"] = 0
    assert began.wait(20)
    for n in range(1, 100):
        memory["a"] = n

    def scene():
        go.set()
        assert [c.value for c in told.wait(11)] == [0, *range(90, 100)]

    with pytest.warns(RuntimeWarning, match="not told of 89 changes"):
        scene()
    assert failures(subscription)[0]["error"] == {
        "type": "Missed",
        "message": "it was not told of 89 changes, for 10 were waiting for it already",
    }


def test_what_subscribers_write_is_written_by_who_subscribed(memory):
    done = Told()
    memory.subscribe("copy", callback=done)
    net = rl.create_network("n")
    net.task("writer", lambda: memory.set("a", 1))
    net.task(
        "reader", lambda: memory.subscribe("b", callback=lambda c: memory.set("copy", "by reader"))
    )
    memory.subscribe("a", callback=lambda c: memory.set("copy", "by cell"))
    net.run("go")
    memory["b"] = 1
    found = {c.value: c.writer for c in done.wait(2)}
    assert found == {"by cell": "session", "by reader": "reader"}


def test_a_loop_that_was_closed_just_now_fails_no_write(memory, monkeypatch):
    told, closed = Told(), asyncio.new_event_loop()
    closed.close()
    memory.subscribe("a", callback=told)
    with monkeypatch.context() as patch:
        patch.setattr(subscribers, "_loop_here", lambda: closed)
        memory["a"] = 1
    memory["a"] = 2
    assert [c.value for c in told.wait(2)] == [1, 2]


def test_unsubscribing_ends_the_telling(memory):
    told = Told()
    first = memory.subscribe("a", "b", callback=told)
    second = memory.subscribe_pattern("a*", "c", callback=told)
    assert [memory.subscribed(k) for k in ("a", "abc", "c", "d")] == [True, True, True, False]
    assert memory.unsubscribe(first)
    assert not memory.unsubscribe(first)
    memory["b"] = 1
    assert memory.unsubscribe_keys("a*", "zzz") == 1
    memory["abc"] = 1
    memory["c"] = 1
    assert [c.key for c in told.wait(1)] == ["c"]
    assert memory.unsubscribe_keys("c") == 1
    assert not memory.unsubscribe(second)
    assert not memory.subscribed("c")


def test_nothing_to_subscribe_to_and_nothing_to_call_are_refused(memory):
    with pytest.raises(rl.InputError, match="at least one key"):
        memory.subscribe(callback=print)
    with pytest.raises(rl.ConfigurationError, match="MemoryChange"):
        memory.subscribe("a", callback="print")
    with pytest.raises(rl.InputError, match="glob"):
        memory.subscribe_pattern("", callback=print)


def test_a_subscriber_that_outlives_the_engines_loop_is_told_on_the_next_one(memory):
    told = Told()

    async def slow(change):
        told(change)
        if change.value == 1:
            await asyncio.sleep(100)

    memory.subscribe("a", callback=slow)
    memory["a"] = 1
    told.wait(1)
    rl.shutdown()
    memory["a"] = 2
    assert [c.value for c in told.wait(2)] == [1, 2]


LETTERS = st.text(st.sampled_from("ab.*?[]!-:^$\\+()|\n"), max_size=6)


@given(LETTERS, LETTERS)
def test_globs_mean_what_the_shell_means_by_them(pattern, key):
    assert bool(globbed([pattern])[0].match(key)) == fnmatch.fnmatchcase(key, pattern)


@given(st.text(min_size=1, max_size=10))
def test_a_key_with_its_wildcards_in_brackets_stands_for_itself(key):
    import glob

    (only,) = globbed([glob.escape(key)])
    assert only.match(key)
    assert not only.match(key + "x")
    assert not only.match("x" + key)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("draft:*", ["draft:", "draft:1:a"], ["draft", "xdraft:1"]),
        ("a?", ["ab", "a?"], ["a", "abc"]),
        ("a.b", ["a.b"], ["axb"]),
        ("[ab]1", ["a1", "b1"], ["c1", "[ab]1"]),
        ("[!ab]1", ["c1"], ["a1"]),
        ("[*]", ["*"], ["x"]),
        ("a(b|c)+$", ["a(b|c)+$"], ["ab"]),
    ],
)
def test_globs_by_example(pattern, yes, no):
    (found,) = globbed([pattern])
    assert [bool(found.match(key)) for key in yes + no] == [True] * len(yes) + [False] * len(no)
