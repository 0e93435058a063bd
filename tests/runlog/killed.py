"""A process whose children record runs into a log until they are killed: ``python -m …killed``.

Each line that it reads is a job as JSON: ``{"place", "acks", "seed", "point"}``. It forks a child
for it, prints the child's number, and prints a line when the child has ended. The child appends to
the file ``acks`` what the log has acknowledged. At a named point it kills itself, with ``""`` it
runs on until somebody else does. Imports are done once, before the forks.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from typing import Any

import robotlab_nb as rl
from robotlab_nb.runlog import delivery, querying, recorder, sqlite, store, writing  # noqa: F401
from robotlab_nb.runtime import recording

#: where a child kills itself
POINTS = (
    "before BEGIN", "after BEGIN", "between rows", "before COMMIT", "after COMMIT",
    "while closing", "in a checkpoint",
)  # fmt: skip


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def add(a: int, b: int) -> int:
    "Add."
    return a + b


def robots(seed: int) -> None:
    """Runs of all kinds, one after the other and side by side, without end."""
    chance = random.Random(seed)
    texts = ["short", "a longer answer " * 20, "caf\xe9 \ud800 \0", "x" * 5000]

    def answer(message: Any) -> str:
        return chance.choice(texts)

    plain = rl.build("plain", model=rl.SimulatedModel(answer))
    net = rl.create_network("net")
    for name in ("a", "b", "c"):
        net.task(name, rl.build(name, model=rl.SimulatedModel(answer)))
    memory = rl.create_memory()
    while True:
        steps = [("add", {"a": 1, "b": 2}), "three"]
        handy = rl.build("handy", model=rl.SimulatedModel(steps), tools=[add])
        runs = [plain.clear_messages().start("x"), net.start("y"), handy.start("z")]
        memory["n"] = chance.random()
        for run in runs:
            run.result()


def acknowledge(path: str) -> None:
    """Append what is acknowledged, as soon as it is."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    last: dict[str, int] = {}
    while True:
        writes = recording._recorder
        found = {} if writes is None else writes.acknowledged()
        if found != last:
            os.write(file, json.dumps(found).encode() + b"\n")
            last = found
        time.sleep(0.002)


def aim(point: str, seed: int) -> None:
    """Have this process die at a point, some time."""
    left = random.Random(seed).randint(1, 6)

    def here(_: Any = None) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            die()

    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def statement(_c: Any, _cursor: Any, text: str, *_: Any) -> None:
        if point == "before BEGIN" and text == "BEGIN IMMEDIATE":
            here()
        if point == "between rows" and text.startswith("INSERT INTO roots"):
            here()  # events are in, the index is not

    def done(_c: Any, _cursor: Any, text: str, *_: Any) -> None:
        if point == "after BEGIN" and text == "BEGIN IMMEDIATE":
            here()

    event.listen(Engine, "before_cursor_execute", statement)
    event.listen(Engine, "after_cursor_execute", done)
    if point == "before COMMIT":
        event.listen(Engine, "commit", here)
    if point == "after COMMIT":
        write = store.Store.write

        def written(self: Any, batch: Any) -> None:
            write(self, batch)
            here()

        store.Store.write = written  # type: ignore[method-assign]
    if point == "while closing":
        left = 1
        store.Store.leave = lambda self, writer: die()  # type: ignore[method-assign]
        threading.Timer(0.3, lambda: setattr(rl.options, "log", None)).start()
        threading.Timer(3.0, die).start()


def checkpoint(place: str, seed: int) -> None:
    """Checkpoint without end, and die in the middle of one."""
    until = time.monotonic() + 0.2 + random.Random(seed).random() / 2
    while not os.path.exists(place):
        time.sleep(0.005)
    other = sqlite3.connect(place, isolation_level=None)
    while True:
        if time.monotonic() > until:
            threading.Timer(random.random() / 500, die).start()
        try:
            other.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        except sqlite3.OperationalError:
            continue


def slowly() -> None:
    """A run whose answer comes in pieces."""
    words = rl.SimulatedModel(["word " * 2000], pace=0.005)
    for _ in rl.build("slow", model=words).stream("tell me"):
        pass


def child(job: dict[str, Any]) -> None:
    recorder.EVERY_S = recorder.FIRST_S = 0.01
    delivery.LOOK_S = 0.05
    rl.options.log = job["place"]
    threading.Thread(target=acknowledge, args=(job["acks"],), daemon=True).start()
    if job["point"] == "in a checkpoint":
        threading.Thread(target=checkpoint, args=(job["place"], job["seed"]), daemon=True).start()
    elif job["point"] == "so far":
        slowly()
    elif job["point"]:
        aim(job["point"], job["seed"])
    robots(job["seed"])


def main() -> None:
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            try:
                child(job)
            finally:
                os._exit(1)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
