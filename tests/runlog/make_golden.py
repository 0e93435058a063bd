"""Makes the golden log of a version: ``python -m tests.runlog.make_golden FOLDER``.

Logs that lie in ``tests/data/logs`` are never made again: they are what that version wrote. A new
version of the tables or of the events gets a log of its own beside them.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import robotlab_nb as rl
from robotlab_nb.core.events import Delta, Event
from robotlab_nb.runlog.event_text import written
from robotlab_nb.runlog.schema import LAYOUT
from robotlab_nb.runlog.store import Batch, Store, Writer
from robotlab_nb.testing import ScriptedModel
from tests.runlog.samples import nameless, robot_run


def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def fail(text: str) -> str:
    """Fail at whatever it is."""
    raise ValueError(f"no good: {text}")


def told() -> list[list[Event]]:
    """The events of some real runs, and of one with texts that are hard to keep."""
    calls = [ScriptedModel.tool_call("add", {"a": 1, "b": 2}), "three 😀"]
    adder = rl.build("adder", system_prompt="Be brief.", model=ScriptedModel(calls), tools=[add])
    failing = ScriptedModel([ScriptedModel.tool_call("fail", {"text": "x"}), "it failed"])
    net = rl.create_network("support")
    net.task("draft", rl.build("writer", model=ScriptedModel(["a draft"])))
    net.task("try", rl.build("trier", model=failing, tools=[fail]), depends_on=["draft"])
    net.task("bad", lambda message: 1 / 0)
    net.task("after", rl.build("last", model=ScriptedModel(["never"])), depends_on=["bad"])
    hard = {
        "split": "\ud83d\ude00", "whole": "😀", "nul": "\0", "nan": float("nan"),
        "inf": [float("inf"), -float("inf"), -0.0], "big": 10**5_000, "wide": 2**65,
        "deep": json.loads("[" * 90 + "]" * 90), "rtl": "\u202e", "back": "\\ud83d\\\\",
    }  # fmt: skip
    strange = robot_run("strange", robot="nul\0 \ud800 \\ %_*", end=None, tags=["été", "a\\b"])
    strange.append(
        nameless(len(strange), {"key": "a", "value": hard}, root_id="strange", type_="memory.set")
    )
    tried = rl.compare(
        ["Be brief.", "Be rude."], ScriptedModel(["short"] * 4), ["Hello", "Hello"], name="tried",
        evaluators=[rl.contains("o")], journal=False,
    )  # fmt: skip
    assert tried.run is not None
    return [
        list(adder.run("What is 1 + 2?").events),
        list(net.run("I was charged twice").events),
        strange,
        robot_run("begun", robot="slow", end=None, hours=1)[:3],
        rl.session_events(),
        list(tried.run.events),
    ]


def anywhere(event: Event) -> Event:
    """The event without the paths of the machine that it happened on."""
    if "traceback" not in event.data:
        return event
    return replace(event, data={**event.data, "traceback": "Traceback (most recent call last): …"})


def main(folder: str) -> None:
    """Write the log as SQL, its events as lines of JSON, and its index."""
    target = Path(folder)
    rl.options.log = None
    path = Path(tempfile.mkdtemp()) / "log.sqlite"
    memory = rl.create_memory()
    memory["draft"] = "Dear all"
    roots = [[anywhere(event) for event in events] for events in told()]
    with Store.open(path) as store:
        writer = Writer("golden", 1, "a machine that was", 1, 1_772_366_400_000_000)
        for events in roots:
            store.write(Batch(events, writer=writer))
        begun = roots[3][0].scope
        store.write(Batch(partials=[Delta(begun, "begun.1", 1, "text", 0, "Once upon \ud83d")]))
        store.tag(["begun"], ["kept"])
        store.rate([("begun", 4, "promising \ud83d"), ("strange", None, "odd")])
        index = [asdict(row) for row in store.select()]
        events = list(store.events())
    with sqlite3.connect(path) as log:
        log.execute("UPDATE writers SET seen_at = started_at")
        application = log.execute("PRAGMA application_id").fetchone()[0]
        dump = [f"PRAGMA application_id={application};", *log.iterdump()]
    name = f"v{LAYOUT}"
    (target / f"{name}.sql").write_text("\n".join(dump) + "\n", encoding="utf-8")
    lines: list[Any] = [written(event.to_dict()) for event in events]
    (target / f"{name}.events.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")
    (target / f"{name}.runs.json").write_text(
        "\n".join(written(row) for row in index) + "\n", encoding="ascii"
    )


if __name__ == "__main__":
    main(sys.argv[1])
