"""What the log has acknowledged survives the death of the process, at any moment."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.runlog.store import Store
from robotlab_nb.runtime import recording
from tests.runlog.killed import POINTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEED = 20_260_301


class Nursery:
    """The process that has the children."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.runlog.killed"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def begin(self, place: str, acks: Path, seed: int, point: str = "") -> int:
        """Have a child; its number."""
        assert self.process.stdin is not None
        job = {"place": place, "acks": str(acks), "seed": seed, "point": point}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return int(self._line())

    def ended(self) -> int:
        """Wait for the child's end; how it ended."""
        return int(self._line())

    def close(self) -> None:
        """No more children; one that is left goes too."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


def acknowledged(acks: Path) -> dict[str, int]:
    """Root -> the highest number that was acknowledged."""
    found: dict[str, int] = {}
    if acks.exists():
        for line in acks.read_bytes().split(b"\n")[:-1]:
            for root, seq in json.loads(line).items():
                found[root] = max(seq, found.get(root, -1))
    return found


def wait_for(what: Any, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def look(place: str, acks: Path) -> int:
    """See that the log is sound and has all that was acknowledged; how much that was."""
    safe = acknowledged(acks)
    with Store.open(place, create=not safe) as store:
        assert store.check() == []
        for root, seq in safe.items():
            there = [event.seq for event in store.events([root])]
            assert there[: seq + 1] == list(range(seq + 1)), (root, seq, there[-5:])
    return sum(seq + 1 for seq in safe.values())


def go_on(place: str) -> None:
    """See that the next run works, and that what died is abandoned."""
    with rl.options(log=place):
        result = rl.build("after", model=rl.SimulatedModel(["still here"])).run("x")
        rl.log.flush(30)
        assert rl.log[result.run_id].events == result.events
        statuses = {run.status for run in rl.log}
        assert statuses <= {"completed", "abandoned"}
        assert rl.log.store is not None
        assert rl.log.store.check() == []
    recording.look()


def kill_at_random(nursery: Nursery, folder: Path, seed: int) -> int:
    chance = random.Random(seed)
    place, acks = str(folder / f"{seed}.sqlite"), folder / f"{seed}.acks"
    pid = nursery.begin(place, acks, seed)
    if chance.random() < 0.9:  # else while it is being made
        wait_for(lambda: acknowledged(acks))
    time.sleep(chance.random() * 0.3)
    os.kill(pid, signal.SIGKILL)
    assert nursery.ended() == -signal.SIGKILL
    return look(place, acks)


def test_kill9_acked(nursery: Nursery, tmp_path: Path) -> None:
    safe = [kill_at_random(nursery, tmp_path, SEED + number) for number in range(20)]
    print("seeds", SEED, "to", SEED + 19, "acknowledged", safe)
    assert sum(safe) > 1000
    go_on(str(tmp_path / f"{SEED}.sqlite"))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kill9_acked_200_times(nursery: Nursery, tmp_path: Path) -> None:
    first = random.SystemRandom().randrange(10**9)
    print("seeds", first, "to", first + 199)
    for seed in range(first, first + 200):
        kill_at_random(nursery, tmp_path, seed)
        for left in tmp_path.glob(f"{seed}.*"):
            left.unlink()


@pytest.mark.parametrize("point", POINTS)
def test_kill9_acked_at(nursery: Nursery, tmp_path: Path, point: str) -> None:
    place = str(tmp_path / "log.sqlite")
    for number in range(2):
        acks = tmp_path / f"{number}.acks"
        nursery.begin(place, acks, SEED + number, point)
        assert nursery.ended() == -signal.SIGKILL
        look(place, acks)
    go_on(place)


def test_a_run_that_died_is_abandoned_and_what_it_had_said_is_there(
    nursery: Nursery, tmp_path: Path
) -> None:
    place, acks = str(tmp_path / "log.sqlite"), tmp_path / "acks"
    pid = nursery.begin(place, acks, SEED, "so far")

    def said() -> bool:
        if not os.path.exists(place) or not acknowledged(acks):
            return False
        with Store.open(place, readonly=True) as store:
            found = store.partials(acknowledged(acks))
            return bool(found) and len(found[0].text) > 100

    wait_for(said)
    os.kill(pid, signal.SIGKILL)
    assert nursery.ended() == -signal.SIGKILL
    go_on(place)
    with rl.options(log=place):
        (run,) = rl.log.abandoned()
        assert run.robot == "slow"
        assert run.text.startswith("word word word word ")
        assert run.state.ended
        assert run.events[-1].type == "run.abandoned"
    recording.look()


@pytest.mark.service
def test_kill9_acked_on_postgresql(nursery: Nursery, postgres_place: str, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for number in range(3):
        acks = tmp_path / f"{number}.acks"
        pid = nursery.begin(postgres_place, acks, SEED + number)
        wait_for(lambda acks=acks: acknowledged(acks))
        time.sleep(chance.random() * 0.3)
        os.kill(pid, signal.SIGKILL)
        assert nursery.ended() == -signal.SIGKILL
        assert look(postgres_place, acks) > 0
    go_on(postgres_place)


# -- a server that goes away -----------------------------------------------------------------------


class Proxy:
    """Between us and the server; it can be cut."""

    def __init__(self, host: str, port: int) -> None:
        self.there = (host, port)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.refusing = False
        self._pairs: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            if self.refusing:
                near.close()
                continue
            far = socket.create_connection(self.there)
            self._pairs += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for each in (one, other):
            each.close()

    def cut(self) -> None:
        """Cut all connections."""
        pairs, self._pairs = self._pairs, []
        for each in pairs:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        """Let nobody in any more."""
        self.listening.close()
        self.cut()


def terminate_backends(url: str) -> int:
    """End all connections of this package to the server; how many there were."""
    import psycopg

    ask = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name = 'robotlab_nb' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url.partition("?")[0], autocommit=True) as connection:
        row = connection.execute(ask).fetchone()
    return 0 if row is None else int(row[0])


def record_through(url: str, disturb: Any) -> None:
    """Record runs while the connection is disturbed; all of it must arrive, once."""
    asked = rl.build("bob", model=rl.SimulatedModel(lambda m: "hello"))
    results = []
    with rl.options(log=url):
        results.append(asked.clear_messages().run("x"))
        rl.log.flush(30)
        for number in range(5):
            results += [asked.clear_messages().run("x") for _ in range(20)]
            disturb(number)
            results += [asked.clear_messages().run("x") for _ in range(20)]
        safe = rl.log.flush(60)
        assert rl.log.trouble is None
        for result in results:
            assert safe[result.run_id] == result.events[-1].seq
        store = rl.log.store
        assert store is not None
        assert store.check() == []
        assert store.count().events >= sum(len(r.events) for r in results)
        rl.log.close()
    recording.look()


@pytest.mark.service
def test_a_server_that_ends_our_connections_loses_nothing(
    postgres_place: str, recwarn: pytest.WarningsRecorder
) -> None:
    ended: list[int] = []
    record_through(postgres_place, lambda _: ended.append(terminate_backends(postgres_place)))
    assert sum(ended) > 0
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


@pytest.mark.service
def test_a_connection_that_is_cut_loses_nothing(
    postgres_place: str, recwarn: pytest.WarningsRecorder
) -> None:
    from urllib.parse import urlsplit

    parts = urlsplit(postgres_place)
    proxy = Proxy(parts.hostname or "127.0.0.1", parts.port or 5432)
    user = f"{parts.username}@" if parts.username else ""
    url = f"postgresql://{user}127.0.0.1:{proxy.port}{parts.path}?{parts.query}"

    def disturb(number: int) -> None:
        if number == 3:  # nobody answers for a while
            proxy.refusing = True
            proxy.cut()
            time.sleep(0.5)
            proxy.refusing = False
        else:
            proxy.cut()

    try:
        record_through(url, disturb)
    finally:
        proxy.close()
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]
