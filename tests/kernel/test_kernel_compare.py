"""Comparing in a real kernel: a cell, an awaited cell, Stop, and a kernel that is killed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.testing import ModelServer, Reply

from .conftest import EVERY_KERNEL

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = EVERY_KERNEL

SETUP = """
import robotlab_nb as rl
from robotlab_nb.models.direct import DirectModel
rl.options.log = {log!r}
model = DirectModel("test-model", api_base={url!r}, api_key="test-key")
inputs = [f"input {{n}}" for n in range(20)]
def ask(**more):
    return rl.compare(["Say {{{{ input }}}}"], model, inputs, concurrency=2, **more)
"""


def slow_after(number: int) -> Any:
    """Answers at once, but for what comes after so many inputs."""

    def script(request: Any) -> Reply:
        said = request.messages[-1]["content"]
        place = int(said.rpartition(" ")[2])
        return Reply.text(f"({said})").after(60 if place >= number else 0)

    return script


def test_a_cell_compares_and_an_awaited_one_does(kernel: Any, tmp_path: Path) -> None:
    with ModelServer(script=slow_after(99)) as server:
        kernel.run(SETUP.format(log=str(tmp_path / "log.sqlite"), url=server.base_url))
        cell = kernel.run("made = ask()\nmade.status, made.cells[7].text")
        assert cell.text == "('completed', '(Say input 7)')"
        again = "await rl.acompare(['Say {{ input }}'], model, inputs)"
        cell = kernel.run(f"made = {again}\nmade.status, made.progress.cached")
        assert cell.text == "('completed', 20)"
        assert len(server.requests) == 20


def test_stop_gives_the_kernel_back_and_keeps_what_is_finished(kernel: Any, tmp_path: Path) -> None:
    with ModelServer(script=slow_after(6)) as server:
        kernel.run(SETUP.format(log=str(tmp_path / "log.sqlite"), url=server.base_url))
        cell = kernel.submit("made = ask()")
        _wait_for(kernel, lambda: len(server.requests) >= 8)
        stopped = time.monotonic()
        kernel.interrupt()
        kernel.wait(cell, 30)
        assert time.monotonic() - stopped < 10
        assert cell.error is not None
        assert "KeyboardInterrupt" in cell.error
        said = kernel.run(
            "kept = rl.experiments()[0]\n"
            "kept.status, [kept.progress.done, sum(c.text is not None for c in kept.cells)]"
        )
        assert said.text == "('interrupted', [20, 6])"
        server._script = slow_after(99)
        assert kernel.run("made = ask()\nmade.progress.cached").text == "6"
        assert len(server.requests) == 8 + 14


def test_a_person_is_asked_at_the_prompt_or_nothing_is_sent(kernel: Any, tmp_path: Path) -> None:
    with ModelServer(script=slow_after(99)) as server:
        kernel.run(SETUP.format(log=str(tmp_path / "log.sqlite"), url=server.base_url))
        cell = kernel.run("ask(confirm_above={'calls': 5})")
        assert cell.error is not None
        assert "NoAnswerChannel" in cell.error
        assert "confirm_above" in cell.streams
        assert server.requests == []
        cell = kernel.submit("ask(confirm_above={'calls': 5}).status", stdin=True)
        question = kernel.client.get_stdin_msg(timeout=60)["content"]["prompt"]
        assert "20 calls, cost not known" in question
        kernel.client.input("yes")
        assert kernel.wait(cell).text == "'completed'"
        assert len(server.requests) == 20


def _wait_for(kernel: Any, true: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        kernel.drain(0.05)


@pytest.mark.parametrize("keep", ["log", "journal"])
def test_a_killed_kernel_pays_no_answer_twice(kernel: Any, tmp_path: Path, keep: str) -> None:
    log = str(tmp_path / "log.sqlite") if keep == "log" else None
    more = "" if keep == "log" else f"journal={str(tmp_path / 'kept.jsonl')!r}"
    with ModelServer(script=slow_after(9)) as server:
        setup = SETUP.format(log=log, url=server.base_url)
        kernel.run(setup)
        kernel.submit(f"made = ask({more})")
        _wait_for(kernel, lambda: len(server.requests) >= 11)
        kernel.manager.restart_kernel(now=True)
        kernel.client.wait_for_ready(timeout=120)
        server._script = slow_after(99)
        kernel.run(setup)
        said = kernel.run(f"made = ask({more})\nmade.status, made.progress.cached", 120)
        assert said.text == "('completed', 9)"
        assert len(server.requests) == 11 + 11
