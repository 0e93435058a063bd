"""A process whose children compare until they kill themselves at a named point.

Each line that it reads is a job as JSON: ``{"log", "journal", "url", "cells", "word", "point",
"number"}``; it forks a child for it and prints how that ended, after what the child told. Imports
are done once, before the forks.
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
from robotlab_nb.lab import comparing, listing  # noqa: F401
from robotlab_nb.models import direct
from robotlab_nb.runlog import (  # noqa: F401  # noqa: F401
    answered,
    averages,
    delivery,
    opened,
    querying,
    recorder,
    sqlite,
    store,
    writing,
)
from robotlab_nb.runtime.sinks import add_sink

#: event at whose n-th a child kills itself, and whether that is a bit later
POINTS: dict[str, tuple[str, bool]] = {
    "before a request": ("cell.started", False),
    "request in flight": ("model_call.started", True),
    "after an answer": ("model_call.completed", False),
    "a cell is over": ("cell.completed", False),
    "a bit after that": ("cell.completed", True),
    "while it is planned": ("experiment.planned", False),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


class Aim:
    """A sink that kills its process at the n-th event of a type."""

    def __init__(self, point: str, number: int) -> None:
        self.type, self.later = POINTS[point]
        self.left = number

    def put(self, event: Any) -> None:
        self.left -= event.type == self.type
        if event.type != self.type or self.left:
            return
        if not self.later:
            die()
        threading.Timer(0.03, die).start()

    async def drained(self, root_id: str, seq: int) -> None:
        """Nobody waits for it."""


def child(job: dict[str, Any]) -> None:
    rl.options.log = job["log"]
    if job["point"]:
        add_sink(Aim(job["point"], job["number"]))
    model = direct.DirectModel("test-model", api_base=job["url"], api_key="test-key")
    inputs = [f"{job['word']} {n}" for n in range(job["cells"] // 2)]
    made = rl.compare(
        {"terse": "Be brief.", "asked": "What is {{ input }}?"}, model, inputs,
        journal=job["journal"], concurrency=job["concurrency"],
        confirm_above=float("inf"),
    )  # fmt: skip
    rl.log.flush(30)
    asked = [cell for cell in made.cells if not cell.cached]
    print("flagged", sum(cell.possibly_repeated for cell in asked), flush=True)
    right = all(cell.text == f"({cell.columns['input']})" for cell in made.cells)
    os._exit(0 if made.status == "completed" and right else 2)


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
