"""A real Jupyter kernel, driven as a front end drives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: ipykernels that people still have, besides the one installed here
OLDER = ("6.31.0", "7.3.0")


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
    idle: bool = False

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
        self.stack_file = Path(tempfile.mkstemp(prefix="kernel-", suffix=".txt")[1])
        if hasattr(signal, "SIGUSR1"):
            self.run(
                "import faulthandler, signal\n"
                f"_stacks = open({str(self.stack_file)!r}, 'w')\n"
                "faulthandler.register(signal.SIGUSR1, file=_stacks, all_threads=True)"
            )

    def submit(self, code: str, cell_id: str | None = None, *, stdin: bool = False) -> Cell:
        """Queue a cell, as a page does; ``stdin`` says that its input() would be answered.

        A page names its cells. ``cell_id=""`` names none, as programs do that run notebooks.
        """
        content = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": stdin, "stop_on_error": True,
        }  # fmt: skip
        message = self.client.session.msg("execute_request", content)
        named = uuid.uuid4().hex if cell_id is None else cell_id
        message["metadata"] = {"cellId": named} if named else {}
        self.client.shell_channel.send(message)
        cell = Cell(message["header"]["msg_id"])
        self.cells[cell.msg_id] = cell
        return cell

    def wait(self, cell: Cell, timeout: float = 60) -> Cell:
        """Read messages until a cell is answered and idle."""
        end = time.monotonic() + timeout
        while cell.status is None or not cell.idle:
            if time.monotonic() > end:
                raise TimeoutError(f"the cell did not end: {cell}\n{self.stacks()}")
            self._read()
        return cell

    def stacks(self) -> str:
        """Where the kernel's threads are, for a cell that does not end."""
        pid = getattr(self.manager.provisioner, "pid", None)
        if pid is None or not hasattr(signal, "SIGUSR1"):
            return ""
        os.kill(pid, signal.SIGUSR1)
        time.sleep(1)
        return self.stack_file.read_text("utf-8", "replace")

    def drain(self, seconds: float) -> None:
        """Go on reading for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read()

    def run(self, code: str, timeout: float = 60, cell_id: str | None = None) -> Cell:
        """Run a cell and wait for it."""
        return self.wait(self.submit(code, cell_id), timeout)

    def interrupt(self) -> None:
        """Press Stop."""
        self.manager.interrupt_kernel()

    def _read(self) -> None:
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
            return
        cell = self.cells.get(message["parent_header"].get("msg_id"))
        if cell is None:
            return
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
                cell.idle = cell.idle or content["execution_state"] == "idle"

    def close(self) -> None:
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.stack_file.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def older_ipykernel(tmp_path_factory, require):
    """``older_ipykernel(version)``: the folder of another ipykernel, fetched once."""
    found: dict[str, Path] = {}

    def fetch(version: str) -> Path:
        if version not in found:
            folder = tmp_path_factory.mktemp("ipykernel")
            pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            wanted = ["--no-deps", "--target", str(folder), f"ipykernel=={version}"]
            done = subprocess.run([*pip, *wanted], capture_output=True, text=True, timeout=120)
            told = done.stderr.strip()[-300:]
            require("kernels", not done.returncode, f"ipykernel {version} is not to be had: {told}")
            found[version] = folder
        return found[version]

    return fetch


@pytest.fixture(scope="module")
def kernel(request):
    """A kernel: the one installed, or an older one where :data:`EVERY_KERNEL` asks for it."""
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    version = getattr(request, "param", "")
    env = {}
    if version:
        folder = request.getfixturevalue("older_ipykernel")(version)
        env = {"PYTHONPATH": os.pathsep.join((str(folder), str(ROOT)))}
    started = Kernel(env)
    started.run("import robotlab_nb as rl, asyncio, time, sys, os")
    if version:
        seen = started.run("import ipykernel; ipykernel.__version__").text
        assert seen == repr(version)
    yield started
    started.close()


#: has a test (as a mark), or a module (as ``pytestmark``), run on the older kernels as well
EVERY_KERNEL = pytest.mark.parametrize(
    "kernel", ["", *OLDER], indirect=True, ids=["installed", *OLDER]
)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in Path(str(item.fspath)).parents:
            item.add_marker(pytest.mark.kernel)
