"""A real Jupyter kernel, driven as a front end drives it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Cell:
    """One execution of a cell: what came back, by the message id of the request."""

    msg_id: str
    streams: str = ""
    results: list[dict] = field(default_factory=list)
    displays: list[dict] = field(default_factory=list)
    updates: list[dict] = field(default_factory=list)
    error: str | None = None
    status: str | None = None
    order: float = 0.0

    @property
    def text(self) -> str:
        """The text of the cell's value."""
        return self.results[-1]["text/plain"] if self.results else ""


class Kernel:
    """A kernel and its client."""

    def __init__(self, env: dict[str, str] | None = None) -> None:
        from jupyter_client.manager import start_new_kernel

        self.manager, self.client = start_new_kernel(
            kernel_name="python3", env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            cwd=str(ROOT),
        )  # fmt: skip
        self.cells: dict[str, Cell] = {}

    def submit(self, code: str, cell_id: str | None = None, *, stdin: bool = False) -> Cell:
        """Queue a cell, as Run All does; ``stdin`` says that its input() would be answered."""
        content = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": stdin, "stop_on_error": True,
        }  # fmt: skip
        message = self.client.session.msg("execute_request", content)
        message["metadata"] = {"cellId": cell_id} if cell_id else {}
        self.client.shell_channel.send(message)
        cell = Cell(message["header"]["msg_id"])
        self.cells[cell.msg_id] = cell
        return cell

    def wait(self, cell: Cell, timeout: float = 60) -> Cell:
        """Read messages until a cell is answered and idle."""
        end = time.monotonic() + timeout
        idle = False
        while cell.status is None or not idle:
            if time.monotonic() > end:
                raise TimeoutError(f"the cell did not end: {cell}")
            idle = self._read(cell) or idle
        return cell

    def drain(self, seconds: float) -> None:
        """Go on reading for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read(None)

    def run(self, code: str, timeout: float = 60, cell_id: str | None = None) -> Cell:
        """Run a cell and wait for it."""
        return self.wait(self.submit(code, cell_id), timeout)

    def interrupt(self) -> None:
        """Press Stop."""
        self.manager.interrupt_kernel()

    def _read(self, watched: Cell | None) -> bool:
        try:
            reply = self.client.shell_channel.get_msg(timeout=0)
            found = self.cells.get(reply["parent_header"].get("msg_id"))
            if found is not None:
                found.status = reply["content"]["status"]
                found.order = time.monotonic()
        except Empty:
            pass
        try:
            message = self.client.iopub_channel.get_msg(timeout=0.05)
        except Empty:
            return False
        cell = self.cells.get(message["parent_header"].get("msg_id"))
        if cell is None:
            return False
        content = message["content"]
        match message["msg_type"]:
            case "stream":
                cell.streams += content["text"]
            case "execute_result":
                cell.results.append(content["data"])
            case "display_data":
                cell.displays.append(content["data"])
            case "update_display_data":
                cell.updates.append(content["data"])
            case "error":
                cell.error = content["ename"]
                cell.streams += "\n".join(content["traceback"])
            case "status":
                return cell is watched and content["execution_state"] == "idle"
        return False

    def close(self) -> None:
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel():
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    started = Kernel()
    started.run("import robotlab_nb as rl, asyncio, time, sys, os")
    yield started
    started.close()


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in Path(str(item.fspath)).parents:
            item.add_marker(pytest.mark.kernel)
