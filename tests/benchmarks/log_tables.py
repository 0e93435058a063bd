"""What tables of a log cost: time, and memory beside the table itself.

The logs are made inside the database, so that they are there in seconds.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from robotlab_nb.runlog.conditions import Where
from robotlab_nb.runlog.log_source import LogSource
from robotlab_nb.runlog.store import Store

from .clock import best
from .figure import Figure, Pair
from .processes import fresh

if TYPE_CHECKING:
    from .figure import Setting

__all__ = ["FIGURES", "fill"]

#: events of a run with two tool calls
EVENTS = 10
_DATA = {
    0: ("run.started", '{"started_at": "2026-03-01T12:00:00+00:00", "name": "r", "model": "m"}'),
    1: ("message.added", '{"message": {"role": "user", "parts": [{"kind": "text", "text": "x"}]}}'),
    2: ("model_call.started", '{"call_id": "c%", "round": 1, "model": "m"}'),
    3: ("tool_call.started",
        '{"tool_call_id": "a%", "call_id": "c%", "round": 1, "tool": "add", "source": null, '
        '"arguments": {"a": 12, "b": 30}, "arguments_text": "{\\"a\\": 12, \\"b\\": 30}"}'),
    4: ("tool_call.completed",
        '{"tool_call_id": "a%", "status": "completed", "result": 42, "content": "42", '
        '"duration_s": 0.01}'),
    5: ("tool_call.started",
        '{"tool_call_id": "b%", "call_id": "c%", "round": 1, "tool": "add", "source": null, '
        '"arguments": {"a": 1, "b": 3}, "arguments_text": "{\\"a\\": 1, \\"b\\": 3}"}'),
    6: ("tool_call.completed",
        '{"tool_call_id": "b%", "status": "completed", "result": 4, "content": "4", '
        '"duration_s": 0.01}'),
    7: ("message.added",
        '{"message": {"role": "assistant", "parts": [{"kind": "text", "text": "42"}]}}'),
    8: ("model_call.completed",
        '{"call_id": "c%", "text": "42", "stop_reason": "stop", "usage": {"input_tokens": 10, '
        '"output_tokens": 5, "cost_usd": 0.25, "cost_complete": true, "calls": 1}}'),
    9: ("run.completed", '{"stop_reason": "stop"}'),
}  # fmt: skip
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})"
_EVENT = """
INSERT INTO events {numbers}
SELECT printf('%012x', i), {seq}, 0, '{type}', {seq} / 100.0, replace('{data}', '%', i) FROM n;
"""
_ROOTS = """
INSERT INTO scopes {numbers}
SELECT printf('%012x', i), 0, printf('%012x', i), NULL, 0, 'robot', '["r"]', 'r' || (i % 4) FROM n;
INSERT INTO roots {numbers}
SELECT printf('%012x', i), NULL, 'robot', 'r', i + 1, 1, 'completed', 9, i + 2 FROM n;
INSERT INTO runs (run_id, root_id, kind, robot, status, number, root_started_at, simulated,
                  tokens_estimated, cost_complete, model_calls, tool_calls) {numbers}
SELECT printf('%012x', i), printf('%012x', i), 'robot', 'r' || (i % 4), 'completed', 0, i + 1, 0,
       0, 1, 1, 2 FROM n;
"""


def fill(path: Path, roots: int) -> None:
    """Make a log of so many runs, a quarter of them of robot ``r0``."""
    Store.open(path).close()
    numbers = _NUMBERS.format(count=roots)
    with closing(sqlite3.connect(path)) as log:
        log.execute("PRAGMA synchronous=OFF")
        for seq, (type_, data) in _DATA.items():
            said = _EVENT.format(numbers=numbers, seq=seq, type=type_, data=data.replace("'", "''"))
            log.executescript(said)
        log.executescript(_ROOTS.format(numbers=numbers))


def _tool_calls(setting: Setting) -> Pair:
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.sqlite"
        fill(path, setting.times(5_000))

        def bare() -> None:
            query = "SELECT root_id, data FROM events WHERE type LIKE 'tool_call.%'"
            with closing(sqlite3.connect(path)) as log:
                pd.DataFrame([{"root_id": r[0], **json.loads(r[1])} for r in log.execute(query)])

        with Store.open(path) as store:
            from robotlab_nb.frames.log_frames import LogFrames

            frames = LogFrames(LogSource(store, Where()))
            ours = best(lambda: frames.read("tool_calls"), calls=1, batches=3)
        floor = best(bare, calls=1, batches=3)
    return Pair(floor.cpu, ours.cpu)


#: what a child does: a table of a quarter of a log, and the most memory that this took
_CHILD = """
import resource, sys
from robotlab_nb.runlog.store import Store
from robotlab_nb.runlog.conditions import Where
from robotlab_nb.runlog.log_source import LogSource
from robotlab_nb.frames.log_frames import LogFrames
def peak():
    with open("/proc/self/status") as file:
        return next(int(x.split()[1]) for x in file if x.startswith("VmHWM")) * 1024
def now():
    with open("/proc/self/status") as file:
        return next(int(x.split()[1]) for x in file if x.startswith("VmRSS")) * 1024
with Store.open({path!r}) as store:
    # What is imported and kept for once is there before.
    LogFrames(LogSource(store, Where(run_id="00000000000*"))).read({table!r})
    before = now()
    frame = LogFrames(LogSource(store, Where(robot="r0"))).read({table!r})
    most = max(0, peak() - before)
    print(most if {most} else frame.memory_usage(index=False).sum())
"""


def _memory(setting: Setting) -> Pair:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.sqlite"
        fill(path, setting.times(100_000))
        sizes = [
            fresh(_CHILD.format(path=str(path), table="tool_calls", most=most)).printed / 1e6
            for most in (False, True)
        ]
    return Pair(sizes[0], sizes[1])


FIGURES = [
    Figure("10,000 tool calls of a log to a frame", "s", 1, _tool_calls, 0.12),
    Figure(
        "50,000 tool calls out of a log of 1,000,000 events: most memory, beside the frame's own",
        "MB", 30, _memory, 10,
    ),
]  # fmt: skip
