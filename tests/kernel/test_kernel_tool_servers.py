"""Tool servers in a real kernel: sessions outlive cells, and servers do not outlive kernels."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from .conftest import EVERY_KERNEL, Kernel

SETUP = """
import asyncio, json, os, time
import robotlab_nb as rl
from robotlab_nb.testing import MCPFaultServer
def pid(client):
    return client.session._connection.wire._group
"""


def there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone_within(seconds: float, *pids: int) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(map(there, pids)):
        time.sleep(0.05)
    return not any(map(there, pids))


@pytest.fixture
def own_kernel():
    """A kernel of one test's own, which it may kill."""
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    started = Kernel()
    assert started.run(SETUP).status == "ok"
    yield started
    started.close()


@EVERY_KERNEL
def test_a_session_is_opened_in_one_cell_used_in_the_next_and_closed_in_a_third(kernel):
    assert kernel.run(SETUP + "client = rl.mcp.Client(MCPFaultServer()).connect()").status == "ok"
    assert kernel.run("client.call_tool('add', {'a': 1, 'b': 2}).structured").text == "{'total': 3}"
    awaited = kernel.run("(await client.acall_tool('echo', {'text': 'awaited'})).text")
    assert awaited.text == "'awaited'"
    many = "[r.text for r in await asyncio.gather(*(client.acall_tool('echo', {'text': str(n)}) "
    assert kernel.run(many + "for n in range(20)))] == [str(n) for n in range(20)]").text == "True"
    assert (
        kernel.run(
            "from threading import Thread; out = []\n"
            "t = Thread(target=lambda: out.append(client.call_tool('add', "
            "{'a': 2, 'b': 2}).text)); t.start(); t.join(); out"
        ).text
        == "['4']"
    )
    closed = kernel.run("number = pid(client); client.disconnect(); client.status, number")
    status, number = eval(closed.text)
    assert status == "closed"
    assert gone_within(5, number)
    assert closed.streams == ""


def test_standard_error_without_a_descriptor_is_no_matter_and_the_tail_is_kept(own_kernel):
    bare = (
        "import sys\n"
        "class Bare:\n"
        "    def write(self, text): return len(text)\n"
        "    def flush(self): pass\n"
        "    def fileno(self): raise OSError('no descriptor')\n"
        "kept, sys.stderr, sys.stdout = (sys.stderr, sys.stdout), Bare(), Bare()\n"
        "try:\n"
        "    client = rl.mcp.Client(MCPFaultServer('noisy')).connect()\n"
        "    said = client.call_tool('echo', {'text': 'hello'}).text\n"
        "    try: client.call_tool('die')\n"
        "    except rl.MCPConnectionError as error: tail = error.stderr_tail\n"
        "finally:\n"
        "    sys.stderr, sys.stdout = kept\n"
        "said, 'out of luck' in tail, 'debug line' in tail"
    )
    assert own_kernel.run(bare).text == "('hello', True, True)"


@pytest.mark.parametrize("how", ["client.call_tool('hang')", "await client.acall_tool('hang')"])
def test_stop_in_the_middle_of_a_call_comes_back_soon_and_leaves_the_session_usable(
    own_kernel, how
):
    own_kernel.run("client = rl.mcp.Client(MCPFaultServer()).connect(); number = pid(client)")
    cell = own_kernel.submit(how)
    own_kernel.drain(1.0)
    began = time.monotonic()
    own_kernel.interrupt()
    own_kernel.wait(cell)
    assert time.monotonic() - began < 10  # well under 2 s on a machine with nothing else to do
    assert cell.error in ("KeyboardInterrupt", "CancelledError")
    again = own_kernel.run("client.call_tool('echo', {'text': 'on'}).text, pid(client) == number")
    assert again.text == "('on', True)"
    assert own_kernel.run("client.session._callbacks._going").text == "[]"  # nobody waits for it


@pytest.mark.parametrize(
    ("how", "mode"),
    [
        ("kill", "well"), ("kill", "stubborn"), ("kill", "orphan"),
        ("restart", "well"), ("restart", "stubborn"), ("quit", "stubborn"),
    ],
)  # fmt: skip
def test_servers_are_gone_soon_after_their_kernel_is(own_kernel, how, mode):
    told = own_kernel.run(
        f"client = rl.mcp.Client(MCPFaultServer({mode!r})).connect(); pid(client)"
    )
    group = int(told.text)
    members = [p for p in map(int, filter(str.isdigit, os.listdir("/proc"))) if _group(p) == group]
    assert group in members
    if how == "kill":
        os.kill(own_kernel.manager.provisioner.pid, signal.SIGKILL)
    elif how == "restart":
        own_kernel.manager.restart_kernel()
    else:
        own_kernel.client.shutdown()
    assert gone_within(5 if how == "kill" else 20, *members)


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def test_a_forked_child_starts_afresh_and_holds_no_server_back(own_kernel):
    forked = (
        "client = rl.mcp.Client(MCPFaultServer()).connect(); mine = pid(client)\n"
        "stubborn = rl.mcp.Client(MCPFaultServer('stubborn')).connect()\n"
        "reading, writing = os.pipe()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        found = client.call_tool('echo', {'text': 'child'}).text, pid(client) != mine\n"
        "    except BaseException as error:\n"
        "        found = repr(error)\n"
        "    os.write(writing, json.dumps(found).encode()); os._exit(0)\n"
        "os.close(writing); said = os.read(reading, 1000); os.waitpid(child, 0)\n"
        "json.loads(said), client.call_tool('echo', {'text': 'parent'}).text, pid(client) == mine"
    )
    assert own_kernel.run(forked).text == "(['child', True], 'parent', True)"
    # A child that lives on must not keep the server's input open, nor the kernel's end hidden.
    told = own_kernel.run(
        "child = os.fork()\n"
        "if child == 0:\n    time.sleep(60); os._exit(0)\n"
        "client.disconnect(); child, client.session._last.notes.exit_status, pid(stubborn)"
    )
    child, status, server = eval(told.text)
    assert status == 0
    try:
        os.kill(own_kernel.manager.provisioner.pid, signal.SIGKILL)
        assert gone_within(5, server)
        assert there(child)
    finally:
        os.kill(child, signal.SIGKILL)
