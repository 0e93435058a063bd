"""Memory in a real Redis, shared by real processes."""

from __future__ import annotations

import datetime
import json
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
import uuid

import pytest

import robotlab_nb as rl
from robotlab_nb.memory import redis_backend, waits
from robotlab_nb.memory.backends import MOST_KEPT, MemoryUnreachable
from robotlab_nb.memory.exact_json import NotExact


@pytest.fixture
def name(redis):
    """A name of the test's own; what it left in the database is removed."""
    import redis as client

    found = f"test-{uuid.uuid4().hex}"
    yield found
    database = client.Redis.from_url(redis)
    for key in database.scan_iter(f"robotlab:{{{found}*"):
        database.delete(key)


@pytest.fixture
def memory(redis, name):
    return rl.create_memory(name=name, backend=redis)


class Other:
    """Another process with the same memory, that runs code when told to."""

    def __init__(self, redis, name, code):
        head = f"""
            import sys, robotlab_nb as rl
            memory = rl.create_memory(name={name!r}, backend={redis!r})
            print("ready", flush=True)
            sys.stdin.readline()
        """
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(code)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.line() == "ready"

    def line(self):
        return self.process.stdout.readline().strip()

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        out, _ = self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0
        return out.strip()


def test_values_are_the_very_same_in_another_process(redis, name, memory):
    value = {1: (1, 2.5), "s": {b"x"}, "at": datetime.date(2026, 1, 1), "nan": float("nan")}
    memory.set("a", value, labels=["private"])
    memory.data.city = "Paris"
    memory.session_id = "s1"
    memory.append_message("hello")
    other = Other(
        redis,
        name,
        """
        print(repr(memory["a"]), memory.version("a"), sorted(memory.labels("a")))
        print(memory.data.city, memory.session_id, memory.messages, memory.keys())
        memory["a"] = None
    """,
    )
    assert other.end().splitlines() == [
        f"{value!r} 1 ['private']", "Paris s1 ['hello'] ['a']",
    ]  # fmt: skip
    assert (memory["a"], memory.version("a")) == (None, 2)


def test_two_processes_lose_no_append_and_no_update(redis, name, memory):
    code = """
        import threading
        def work():
            for n in range(25):
                memory.append("list", n)
                memory.update("count", lambda c: (c or 0) + 1)
        threads = [threading.Thread(target=work) for _ in range(2)]
        [t.start() for t in threads]; [t.join() for t in threads]
    """
    others = [Other(redis, name, code) for _ in range(2)]
    for other in others:
        other.go()
    for other in others:
        other.end()
    assert memory["count"] == memory.version("list") == 100
    assert sorted(memory["list"]) == sorted(list(range(25)) * 4)


def test_a_wait_here_is_ended_by_a_write_there_and_the_other_way_round(redis, name, memory):
    other = Other(
        redis,
        name,
        """
        memory["question"] = "ready?"
        print(memory.get("answer", "more", wait=30))
    """,
    )
    other.go()
    assert memory.get("question", wait=30) == "ready?"
    memory["answer"], memory["more"] = "yes", None
    assert other.end() == "{'answer': 'yes', 'more': None}"


def test_waits_are_rung_not_only_looked_after(redis, name, memory, monkeypatch):
    monkeypatch.setattr(waits, "BEAT_S", 60.0)
    other = Other(redis, name, "import time; time.sleep(0.3); memory['x'] = 5")
    other.go()
    began = time.monotonic()
    assert memory.get("x", wait=60) == 5
    assert time.monotonic() - began < 30
    other.end()


def test_a_run_waits_for_another_process_which_counts_as_a_possible_writer(redis, name, memory):
    net = rl.create_network("n")
    net.task("wait", lambda: memory.get("x", wait=30))

    async def async_wait():
        return await memory.aget("x", wait=30)

    net.task("async wait", async_wait)
    other = Other(redis, name, "import time; time.sleep(0.7); memory['x'] = 5")
    other.go()
    result = net.run("go")
    assert (result["wait"].value, result["async wait"].value) == (5, 5)
    other.end()


def test_changes_of_all_processes_are_told_in_one_order_with_their_writers(redis, name, memory):
    told, news = [], threading.Semaphore(0)

    def note(change):
        told.append(change)
        news.release()

    memory.subscribe_pattern("k*", callback=note)
    other = Other(
        redis,
        name,
        """
        for n in range(20):
            memory["k"] = n
        memory.delete("k")
        memory["k2"] = 1
        memory.delete("k2")
    """,
    )
    other.go()
    for n in range(20):
        memory["k1"] = n
    for _ in range(43):
        assert news.acquire(timeout=20)
    theirs = [c for c in told if c.key == "k"]
    assert [c.value for c in theirs[:-1]] == list(range(20))
    assert [c.previous for c in theirs[1:]] == list(range(20))
    assert [(c.kind, c.version) for c in (theirs[0], theirs[1], theirs[-1])] == [
        ("created", 1), ("updated", 2), ("deleted", 20),
    ]  # fmt: skip
    assert [c.value for c in told if c.key == "k1" and not c.is_deleted] == list(range(20))
    assert {c.writer for c in told} == {"session"}
    assert theirs[0].timestamp.tzinfo is not None
    other.end()


def test_what_has_no_exact_json_is_refused_with_its_key_and_nothing_is_written(memory):
    memory["a"] = 1
    with pytest.raises(NotExact, match=r"memory key 'a'\[0\] is of type object"):
        memory["a"] = [object()]
    with pytest.raises(rl.InputError, match="one of the results"):
        memory.append_result(object())
    assert (memory["a"], memory.version("a"), memory.results) == (1, 1, [])


def test_results_are_kept_as_exports_up_to_a_thousand(memory):
    memory.append_result(rl.build("poet", model=rl.SimulatedModel(["roses"])).run("x"))
    assert memory.format_history() == "poet: roses"
    memory.set_results(range(MOST_KEPT))
    memory.append_result("last")
    assert (len(memory.results), memory.results[0], memory.results[-1]) == (MOST_KEPT, 1, "last")
    assert memory.results_from(MOST_KEPT) == ["last"]


def test_memories_of_different_names_do_not_meet(redis, name, memory):
    other = rl.create_memory(name=f"{name}:keys", backend=redis)
    memory["a"] = 1
    assert other.keys() == []


def test_a_snapshot_leaves_what_the_server_holds_and_names_no_password(redis, name, memory):
    memory["a"] = 1
    told = memory.to_dict()
    assert told["backend"] == redis
    memory["a"] = 2
    read = rl.Memory.from_dict(json.loads(json.dumps(told)))
    assert read["a"] == 2
    memory.reset()
    assert rl.Memory.from_dict(told)["a"] == 1
    assert memory["a"] == 1
    assert redis_backend._without_credentials("redis://me:secret@host:1/0") == "redis://host:1/0"


def test_a_clone_is_in_this_process_or_under_another_name(redis, name, memory):
    memory.set("a", (1,), labels=["private"])
    here, there = memory.clone(), memory.clone(name=f"{name}:keys", backend=redis)
    here["a"] = there["b"] = 2
    assert (memory.keys(), memory["a"], there["a"], here["a"]) == (["a"], (1,), (1,), 2)
    assert here.backend.url is None
    assert there.labels("a") == {"private"}
    there.reset()


def test_a_name_is_needed(redis):
    with pytest.raises(rl.ConfigurationError, match="needs a name"):
        rl.create_memory(backend=redis)


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1x/0", "redis://127.0.0.1:6379/0?db=x"])
def test_a_url_that_cannot_be_read_is_refused(url):
    pytest.importorskip("redis")
    with pytest.raises(rl.ConfigurationError, match="redis://127.0.0.1:6379/0"):
        rl.create_memory(name="m", backend=url)


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(rl.DependencyError, match=r"pip install 'robotlab-nb\[redis\]'"):
        rl.create_memory(name="m", backend="redis://127.0.0.1:6379/0")


class Way:
    """A way to the server that can be cut and opened again."""

    def __init__(self, redis):
        host, _, port = redis.split("//")[1].split("/")[0].rpartition("@")[2].partition(":")
        self.target = (host, int(port or 6379))
        self.pairs = []
        self.listener = None
        self.drop_answer = 0
        self.open(0)

    def open(self, port=None):
        self.listener = socket.create_server(("127.0.0.1", self.port if port is None else port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        try:
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(self.target)
                self.pairs.append((near, far))
                for one, other in ((near, far), (far, near)):
                    threading.Thread(
                        target=self._pass, args=(one, other, one is far), daemon=True
                    ).start()
        except OSError:
            pass

    def _pass(self, one, other, answers):
        try:
            while data := one.recv(65536):
                if answers and self.drop_answer:
                    self.drop_answer -= 1
                    if not self.drop_answer:
                        break
                other.sendall(data)
        except OSError:
            pass
        finally:
            self._hang_up(one, other)

    @staticmethod
    def _hang_up(*ends):
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, *, refuse=True):
        if refuse and self.listener.fileno() >= 0:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            self._hang_up(*pair)


@pytest.fixture
def way(redis):
    made = Way(redis)
    yield made
    made.cut()


@pytest.fixture
def through(way, name):
    return rl.create_memory(name=name, backend=f"redis://127.0.0.1:{way.port}/0")


def test_a_server_that_is_away_is_an_error_at_once_everywhere(way, through):
    way.cut()
    began = time.monotonic()
    calls = (
        lambda: through.set("a", 1), lambda: through.get("a"), lambda: through.get("a", wait=60),
        lambda: through.append("a", 1), lambda: through.delete("a"), lambda: through.keys(),
        lambda: through.append_result(1), lambda: through.subscribe("b", callback=print),
        lambda: rl.create_memory(name="m", backend=f"redis://127.0.0.1:{way.port}/0"),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(MemoryUnreachable, match="does not answer.*Nothing is kept here") as e:
            call()
        assert isinstance(e.value, ConnectionError)
    assert time.monotonic() - began < 10
    assert "not reachable" in repr(through)


def test_it_goes_on_when_the_server_is_back(way, through, memory):
    through["a"] = 1
    way.cut()
    with pytest.raises(MemoryUnreachable):
        through.get("a")
    way.open()
    assert through["a"] == 1
    way.cut(refuse=False)  # connections that broke while they lay idle are no error
    through["a"] = 2
    assert (memory["a"], memory.version("a")) == (2, 2)


def test_a_write_whose_answer_is_lost_is_done_once(way, through, memory):
    through["a"] = []
    for answer, write in ((1, lambda: through.set("a", [1])), (2, lambda: through.append("a", 2))):
        way.drop_answer = answer
        write()
        assert way.drop_answer == 0
    assert (memory["a"], memory.version("a")) == ([1, 2], 3)
    for _ in range(2):  # the reading itself may be what is lost
        way.drop_answer = 1
        assert (through["a"], through.results) == ([1, 2], [])


def test_a_subscriber_misses_nothing_while_the_server_was_away(way, through, memory):
    told, news = [], threading.Semaphore(0)

    def note(change):
        told.append(change.value)
        news.release()

    subscription = through.subscribe("a", callback=note)
    memory["a"] = 0
    assert news.acquire(timeout=20)

    def away():
        way.cut()
        end = time.monotonic() + 20
        while not any(
            e.type == "memory.subscriber_failed" and e.data["subscriber"] == subscription
            for e in rl.session_events()
        ):
            assert time.monotonic() < end
            time.sleep(0.01)

    with pytest.warns(RuntimeWarning, match="does not answer"):
        away()
    memory["a"] = 1
    memory["a"] = 2
    way.open()
    assert news.acquire(timeout=20)
    assert news.acquire(timeout=20)
    assert told == [0, 1, 2]


def test_changes_that_the_server_no_longer_has_are_counted(way, through, memory, monkeypatch):
    monkeypatch.setattr(redis_backend, "MOST_CHANGES", 1)
    failed = threading.Event()
    through.subscribe("a", callback=lambda change: failed.set())

    def scene():
        way.cut()
        for n in range(300):  # trimmed by whole blocks of a hundred
            memory["a"] = n
        way.open()
        assert failed.wait(20)

    with pytest.warns(RuntimeWarning):
        scene()
    messages = [
        e.data["error"]["message"]
        for e in rl.session_events()
        if e.type == "memory.subscriber_failed"
    ]
    assert any("changes that the server did not keep so long" in m for m in messages[-3:])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_uses_connections_of_its_own(memory):
    memory.subscribe("x", callback=print)
    memory["a"] = 1
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            memory.append("list", memory["a"])
            os.write(writing, repr(memory["list"]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    assert memory["a"] == 1
    told = os.read(reading, 100).decode()
    os.waitpid(child, 0)
    assert told == "[1]"


def test_listening_ends_with_the_memory(redis, name):
    memory = rl.create_memory(name=name, backend=redis)
    memory.subscribe("a", callback=print)

    def listeners():
        return sum(t.name == "robotlab_nb-redis" for t in threading.enumerate())

    before = listeners()
    assert before >= 1
    del memory
    end = time.monotonic() + 10
    while listeners() >= before and time.monotonic() < end:
        time.sleep(0.05)
    assert listeners() < before
