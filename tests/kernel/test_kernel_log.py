"""The log in a real kernel: said once in a cell, read in the next, there after a restart."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import pytest

from robotlab_nb.runlog.faults import LogError
from robotlab_nb.runlog.store import Store

from .conftest import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SETUP = """
import asyncio, time
import robotlab_nb as rl
bot = rl.build("bob", model=rl.SimulatedModel(lambda m: "hello"))
slow = rl.build("slow", model=rl.SimulatedModel(["word " * 5000], pace=0.01))
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Iterator[Callable[[], Kernel]]:
    """Starts kernels of a person whose data lie in a folder of the test's."""
    started: list[Kernel] = []

    def start() -> Kernel:
        made = Kernel({"ROBOTLAB_NB_LOG": "", "XDG_DATA_HOME": str(tmp_path)})
        started.append(made)
        assert made.run(SETUP).status == "ok"
        return made

    yield start
    for each in started:
        each.close()


def test_the_first_run_says_where_runs_are_kept_and_later_cells_read_them(
    kernels: Callable[[], Kernel], tmp_path: Path
) -> None:
    kernel = kernels()
    first = kernel.run("one = bot.run('x'); one.text")
    where = str(tmp_path / "robotlab_nb" / "log.sqlite")
    said = [shown["text/plain"] for shown in first.displays]
    assert len([text for text in said if where in text]) == 1
    assert "rl.options.log = None" in said[0]
    assert first.streams == ""
    again = kernel.run("two = await bot.arun('x'); rl.log[two.run_id].text")
    assert again.text == "'hello'"
    assert where not in str(again.displays)
    assert kernel.run("[r.id for r in rl.log] == [two.run_id, one.run_id]").text == "True"
    kernel.run("rl.create_memory()['k'] = 1")
    shared = "[e.data['key'] for e in rl.log.where(kind='session').events(types=['memory.set'])]"
    assert kernel.run(shared).text == "['k']"
    kernel.run("rl.options.log = None; bot.run('x'); rl.options.log = True")
    assert kernel.run("len(rl.log)").text == "2"


def test_after_a_restart_what_went_on_is_abandoned_with_what_it_had_said(
    kernels: Callable[[], Kernel], tmp_path: Path
) -> None:
    kernel = kernels()
    kernel.run("run = slow.start('tell me'); watcher = iter(run.watch()); next(watcher)")
    run_id = kernel.run("run.id").text.strip("'")
    place = tmp_path / "robotlab_nb" / "log.sqlite"
    end = time.monotonic() + 30
    while True:
        assert time.monotonic() < end, "what it said is not there"
        time.sleep(0.2)
        # While it is being made there is no log yet.
        with contextlib.suppress(LogError), Store.open(place, readonly=True) as store:
            if store.partials([run_id]):
                break
    kernel.manager.shutdown_kernel(now=True)
    other = kernels()
    other.run("bot.run('x')")
    found = other.run("[(r.robot, r.status, r.text[:10]) for r in rl.log.abandoned()]")
    assert found.text == "[('slow', 'abandoned', 'word word ')]"
    assert other.run("rl.log[rl.log.abandoned()[0].id[:6]].state.ended").text == "True"


def test_two_kernels_share_a_log(kernels: Callable[[], Kernel]) -> None:
    one, two = kernels(), kernels()
    both = [k.submit("for _ in range(50): bot.clear_messages().run('x')") for k in (one, two)]
    for kernel, cell in zip((one, two), both, strict=True):
        assert kernel.wait(cell, 120).status == "ok"
    one.run("rl.log.flush()")
    two.run("rl.log.flush()")
    assert one.run("len(rl.log), rl.log.trouble, rl.log.store.check()").text == "(100, None, [])"
