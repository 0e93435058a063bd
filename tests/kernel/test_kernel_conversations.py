"""A conversation with a name goes on in another kernel, and in the one that it began in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SETUP = """
import robotlab_nb as rl
model = rl.SimulatedModel(lambda request: f"{len(request.messages)} messages")
bot = rl.build("bob", model=model, session_id="alice")
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


def test_a_conversation_goes_on_in_another_kernel(kernels: Callable[[], Kernel]) -> None:
    one = kernels()
    assert one.run("bot.run('hi', show=False).text").text == "'1 messages'"
    two = kernels()
    assert two.run("bot.run('hi', show=False).text").text == "'3 messages'"
    again = one.run("(await bot.arun('hi', show=False)).text")
    assert again.text == "'5 messages'"
    two.run("shown = rl.log.conversation('alice')")
    picture = two.run("shown").results[-1]
    assert "5 messages" in picture["text/plain"]
    assert "5 messages" in picture["text/html"]
    assert two.run("rl.log.conversations().frame['turns'].tolist()").text == "[3]"


def test_an_interrupted_network_goes_on_in_another_kernel(kernels: Callable[[], Kernel]) -> None:
    work = """
done = []
def step(item):
    done.append(item)
    if item in broken: raise ValueError("no")
    return item * 2
net = rl.create_network("net")
task = net.task("each", step, map_over=[1, 2, 3], on_item_failure="fail", concurrency=1)
"""
    one = kernels()
    one.run(work + "broken = {2}\nfailed = net.run('go', show=False)")
    run_id = one.run("print(failed.state.scope.run_id)").streams.strip()
    two = kernels()
    two.run(work + "broken = set()")
    assert two.run(f"net.resume({run_id[:8]!r}, show=False)['each'].values").text == "[2, 4, 6]"
    assert two.run("done").text == "[2]"
