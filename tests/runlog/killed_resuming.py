"""A process whose children run a network until they kill themselves at a named point.

Each line that it reads is a job as JSON: ``{"place", "url", "resume", "point", "number"}``; it
forks a child for it and prints how that ended. Imports are done once, before the forks.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any

import robotlab_nb as rl
from robotlab_nb.runlog import delivery, opened, querying, recorder, sqlite, store, writing  # noqa: F401
from robotlab_nb.runtime import recording
from robotlab_nb.runtime.sinks import add_sink

ITEMS = ["apple", "pear", "plum", "fig"]
#: event at which a child kills itself, and how: at once, when it is in the log, or a bit later
POINTS: dict[str, tuple[str, str]] = {
    "before a request": ("model_call.started", "at once"),
    "request in flight": ("model_call.started", "later"),
    "after the response": ("model_call.completed", "at once"),
    "between tasks": ("task.completed", "kept"),
    "in a tool": ("tool_call.started", "kept"),
    "in a map item": ("map.item", "kept"),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


class Aim:
    """A sink that kills its process at the n-th event of a type."""

    def __init__(self, point: str, number: int) -> None:
        self.type, self.how = POINTS[point]
        self.left = number

    def put(self, event: Any) -> None:
        self.left -= event.type == self.type
        if event.type != self.type or self.left:
            return
        if self.how == "at once":
            die()
        threading.Thread(target=self._die_later, args=(event,), daemon=True).start()

    def _die_later(self, event: Any) -> None:
        if self.how == "later":
            time.sleep(0.2)
        while self.how == "kept":
            kept = recording._recorder.acknowledged()
            if kept.get(event.scope.root_id, -1) >= event.seq:
                break
            time.sleep(0.002)
        die()

    async def drained(self, root_id: str, seq: int) -> None:
        """Nobody waits for it."""


def look_up(word: str) -> str:
    "Look a word up."
    time.sleep(0.2)
    return f"meaning of {word}"


def network(url: str) -> Any:
    """Two robots, a map, a robot with a tool, and one at the end."""
    net = rl.create_network("orchard")
    wire = {"model": "openai/test-model", "api_base": url, "api_key": "test-key"}
    bot, handy = rl.build("bot", **wire), rl.build("handy", tools=[look_up], **wire)
    net.task("plan", bot, prompt="plan: {{ message }}")
    net.task("each", bot, depends_on=["plan"], map_over=ITEMS, prompt="item {{ item }}:",
             concurrency=1)  # fmt: skip
    net.task("tool", handy, depends_on=["each"], prompt="tool: {{ upstream }}")
    net.task("end", bot, depends_on=["tool"], prompt="end: {{ upstream }}")
    return net


def child(job: dict[str, Any]) -> None:
    recorder.EVERY_S = recorder.FIRST_S = 0.01
    delivery.LOOK_S = 0.05
    rl.options.log = job["place"]
    if job["point"]:
        add_sink(Aim(job["point"], job["number"]))
    net = network(job["url"])
    result = net.resume(job["resume"], show=False) if job["resume"] else net.run("go", show=False)
    rl.log.flush(30)
    os._exit(0 if result.text == "(end)" else 2)


def main() -> None:
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            try:
                child(job)
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
