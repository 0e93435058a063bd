"""Where a front end shows only what the kernel's main thread sends, as Colab does."""

from __future__ import annotations

import time
from typing import Any

import pytest

from .conftest import EVERY_KERNEL, Cell

WIDGET = "application/vnd.jupyter.widget-view+json"
SETUP = """
import types, threading
sys.modules["google.colab"] = types.ModuleType("google.colab")
text = " ".join(f"word{n:03d}" for n in range(40))
paced = rl.build("paced", model=rl.SimulatedModel([text], pace=0.06))
late = rl.build("late", model=rl.SimulatedModel(["at last"], delay=0.8))
refused = rl.ModelError("no such key", kind="auth")
bad = rl.build("bad", model=rl.SimulatedModel([refused], delay=0.5))
sent = []
publisher = get_ipython().display_pub
really = publisher.publish
def publish(*args, **options):
    sent.append(threading.current_thread().name)
    return really(*args, **options)
publisher.publish = publish
"""
#: which threads have sent something, and how much
TOLD = "print(sorted(set(sent)), len(sent)); sent.clear()"


@pytest.fixture
def colab(kernel: Any) -> Any:
    if kernel.run("'sent' in globals()").text == "False":
        assert kernel.run(SETUP).status == "ok"
    kernel.run("sent.clear()")
    yield kernel
    kernel.run("rl.stop_all()")


def senders(kernel: Any, least: int) -> None:
    names, count = kernel.run(TOLD).streams.rsplit(" ", 1)
    assert names == "['MainThread']"
    assert int(count) >= least


def settled(kernel: Any, cell: Cell, word: str, seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not (cell.updates and word in cell.updates[-1]["text/plain"]):
        assert time.monotonic() < end, cell.updates[-1:]
        kernel.drain(0.1)
    assert not any(WIDGET in shown for shown in (*cell.displays, *cell.updates))


@EVERY_KERNEL
def test_a_started_run_is_painted_by_the_kernels_loop_after_its_cell(colab: Any) -> None:
    cell = colab.run("run = paced.start('go')\nrun")
    colab.drain(1.5)
    assert len(cell.updates) >= 2, "it shows while the kernel is idle"
    settled(colab, cell, "word039")
    senders(colab, 3)
    threads = colab.run("print([t.name for t in threading.enumerate() if 'paint' in t.name])")
    assert threads.streams == "[]\n"


def test_nothing_is_looked_at_when_nothing_is_open(colab: Any) -> None:
    cell = colab.run("run = bad.start('go')\nrun")
    settled(colab, cell, "no such key")
    colab.drain(0.3)
    told = colab.run(
        "from robotlab_nb.notebook.painter import painter\n"
        "p = painter(); looked = p._painted; await asyncio.sleep(0.5); print(p._painted == looked)"
    )
    assert told.streams == "True\n"


@EVERY_KERNEL
def test_a_cell_that_awaits_is_painted_meanwhile(colab: Any) -> None:
    cell = colab.run("answer = await paced.arun('go', show=True)")
    assert len(cell.updates) >= 3
    settled(colab, cell, "word039")
    senders(colab, 4)


def test_a_cell_that_blocks_paints_by_itself(colab: Any) -> None:
    cell = colab.run("answer = paced.run('go', show=True)")
    assert len(cell.updates) >= 3
    settled(colab, cell, "word039")
    senders(colab, 4)
    cell = colab.run("late.run('go')")
    assert cell.updates[-1] == {"text/plain": ""}, "the status line goes away"
    senders(colab, 2)


def test_a_thread_that_waits_leaves_painting_to_the_loop(colab: Any) -> None:
    code = (
        "run = paced.start('go')\n"
        "waiting = threading.Thread(target=run.result); waiting.start()\nrun"
    )
    cell = colab.run(code)
    settled(colab, cell, "word039")
    senders(colab, 3)


@EVERY_KERNEL
def test_stop_and_failure_settle(colab: Any) -> None:
    cell = colab.submit("paced.run('go', show=True)")
    colab.drain(1)
    colab.interrupt()
    colab.wait(cell, 10)
    settled(colab, cell, "interrupted")
    cell = colab.run("await bad.arun('go', show=True)")
    assert cell.error == "ModelError"
    settled(colab, cell, "no such key")
    senders(colab, 4)
