"""Messages and delegation in a real kernel: cells, top-level await, Stop, cells run again."""

from __future__ import annotations

import time

import pytest

SETUP = """
bus = rl.Bus()
a = rl.build("a").with_bus(bus)
"""
POET = 'poet = rl.build("poet", model=rl.SimulatedModel("roses")).with_bus(bus).serve()'


@pytest.fixture
def cells(kernel):
    kernel.run(SETUP)
    yield kernel
    kernel.run("bus.close(drain=False)")


def test_a_cell_sends_and_waits_and_another_awaits(cells):
    assert cells.run(POET).status == "ok"
    assert cells.run("a.send_message('poet', 'a poem').reply(20).content").text == "'roses'"
    code = "(await (await a.asend_message('poet', 'another')).areply(20)).content"
    assert cells.run(code).text == "'roses'"
    assert cells.run("await a.delegate(poet, 'x', wait=False)").status == "ok"
    assert cells.run("a.delegate(poet, 'x').delegated_by").text == "'a'"
    assert cells.run("rl.RunState.fold(a.delegate(poet, 'x').events).status").text == "'completed'"


def test_a_cell_that_is_run_again_replaces_the_robot_that_joined_there(cells):
    for _ in range(3):
        cells.run(POET, cell_id="poet")
    cells.run(POET.replace("poet =", "second ="), cell_id="second")
    cells.run("entry = a.send_message('poet', 'a poem'); entry.reply(20); time.sleep(0.3)")
    assert cells.run("len(entry.replies)").text == "2"


def test_stop_ends_a_wait_and_the_message_goes_its_way(cells):
    cells.run("poet = rl.build('poet', model=rl.SimulatedModel(['late'], delay=60)).with_bus(bus)")
    cells.run("poet.serve(); entry = a.send_message('poet', 'x')")
    waiting = cells.submit("entry.reply(60)")
    cells.drain(1)
    began = time.monotonic()
    cells.interrupt()
    assert cells.wait(waiting, 20).error == "KeyboardInterrupt"
    assert time.monotonic() - began < 10
    assert cells.run("entry.status").text == "'sent'"


def test_stop_in_a_delegation_stops_the_delegated_run(cells):
    cells.run("slow = rl.build('slow', model=rl.SimulatedModel(['late'], delay=60))")
    waiting = cells.submit("a.delegate(slow, 'x')")
    cells.drain(1)
    cells.interrupt()
    assert cells.wait(waiting, 20).error == "KeyboardInterrupt"
    assert cells.run("[r.name for r in rl.runs() if r.name == 'slow']").text == "[]"
