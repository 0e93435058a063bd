"""Running a notebook so that its outputs come out the same every time.

What this package records of time stands still but for what made-up models wait, its ids are counted
instead of drawn, and its dates begin with a fixed one. Waits and deadlines have their real clock.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]

#: what the kernel runs before its first cell
STEADY = '''
def _steady():
    import asyncio, datetime, hashlib, os, sys, threading, time

    import pandas  # its compiled parts must be made with the real class of dates

    class Now:
        """A clock that goes on when a model has taken its time, by just that much."""
        began = seconds = float(int(time.monotonic()))
        lock = threading.Lock()

    class Date(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            start = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.timezone.utc)
            return start + datetime.timedelta(seconds=Now.seconds - Now.began)

    real_monotonic, real_urandom = time.monotonic, os.urandom
    real_sleep = asyncio.sleep
    drawn = [0]

    recording = tuple(f"robotlab_nb.{name}" for name in (
        "runtime.root", "runtime.session", "runtime.budgets", "runtime.reservations",
        "runtime.desk", "robot.tool_round", "models.", "network.", "bus.", "mcp.opening",
        "mcp.borrowed_tools",
    ))

    def ours(depth, rooms="robotlab_nb"):
        return sys._getframe(depth).f_globals.get("__name__", "").startswith(rooms)

    def monotonic():
        return Now.seconds if ours(2, recording) else real_monotonic()

    def urandom(size):
        if not ours(2):
            return real_urandom(size)
        with Now.lock:
            drawn[0] += 1
            return hashlib.sha256(b"%d" % drawn[0]).digest()[:size]

    async def sleep(delay, result=None):
        if not (ours(2, "robotlab_nb.models.") and delay):
            return await real_sleep(delay, result)
        end = round(Now.seconds + delay, 6)
        await real_sleep(delay / 3)
        with Now.lock:
            Now.seconds = max(Now.seconds, end)
        return result

    time.monotonic, os.urandom = monotonic, urandom
    asyncio.sleep = asyncio.tasks.sleep = sleep
    datetime.datetime = Date
    os.environ["TZ"] = "UTC"

_steady()
del _steady
'''


def executed(book: NotebookNode, *, timeout: int = 120) -> NotebookNode:
    """Run a notebook from top to bottom with a steady clock.

    Parameters
    ----------
    book : NotebookNode
        Its outputs are replaced.
    timeout : int, optional
        Seconds for one cell.
    """
    import os

    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory() as home:
        startup = Path(home) / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "00-steady.py").write_text(STEADY, "utf-8")
        env = {
            **os.environ, "IPYTHONDIR": home, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0",
            "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "ROBOTLAB_NB_LOG": "off",
        }  # fmt: skip
        for name in [
            name
            for name in env
            if name.startswith("ROBOTLAB_") and not name.startswith("ROBOTLAB_NB_")
        ]:
            del env[name]
        client = NotebookClient(
            book, timeout=timeout, kernel_name="python3", record_timing=False,
            coalesce_streams=True, resources={"metadata": {"path": str(ROOT / "notebooks")}},
        )  # fmt: skip
        client.execute(env=env)
    book.metadata.pop("widgets", None)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if not _gone(each)]
    return book


def _gone(output: NotebookNode) -> bool:
    """Whether this is a line that was there while the cell ran, and is empty now."""
    return output.output_type == "display_data" and output.data == {"text/plain": ""}
