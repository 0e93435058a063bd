"""Memory in a real kernel: cells, background runs, threads and loops share one."""

from __future__ import annotations

import time

import pytest

SETUP = """
import asyncio, threading, time
import robotlab_nb as rl
memory = rl.create_memory(name="m")
def waiting(key, seconds=60):
    net = rl.create_network("n")
    net.task("wait", lambda: memory.get(key, wait=seconds))
    return net
"""


@pytest.fixture(scope="module")
def sharing(kernel):
    assert kernel.run(SETUP).status == "ok"
    return kernel


def test_a_background_run_waits_and_the_next_cell_satisfies_it(sharing):
    sharing.run("memory['first'] = 1; run = waiting('answer').start('go')")
    assert sharing.run("time.sleep(1); run.status, memory['first']").text == "('running', 1)"
    sharing.run("memory['answer'] = 42")
    assert sharing.run("run.result(20)['wait'].value").text == "42"
    found = sharing.run(
        "[(e.data['key'], e.data['writer']) for e in rl.session_events() if e.type == 'memory.set']"
    )
    assert found.text == "[('first', 'session'), ('answer', 'session')]"


def test_a_cell_waits_for_a_background_run(sharing):
    sharing.run(
        "net = rl.create_network('w'); net.task('t', lambda: (time.sleep(.3), memory.set('r', 5)));"
        "run = net.start('go')"
    )
    assert sharing.run("memory.get('r', wait=20)").text == "5"
    sharing.run("memory.delete('r'); run = net.start('go')")
    assert sharing.run("await memory.aget('r', wait=20)").text == "5"


def test_it_works_from_a_thread_and_on_a_second_loop(sharing):
    cell = sharing.run(
        """
found = []
def in_thread():
    found.append(memory.get("late", wait=20))
def on_loop():
    found.append(asyncio.run(memory.aget("late", wait=20)))
threads = [threading.Thread(target=f) for f in (in_thread, on_loop, on_loop)]
[t.start() for t in threads]
while len(memory._waits) < 3: time.sleep(0.01)
memory["late"] = "here"
[t.join(20) for t in threads]
found
"""
    )
    assert cell.text == "['here', 'here', 'here']"


@pytest.mark.parametrize(
    "call", ["memory.get('never', wait=True)", "await memory.aget('never', wait=True)"]
)
def test_stop_ends_a_waiting_cell(sharing, call):
    cell = sharing.submit(call)
    sharing.drain(1.0)
    began = time.monotonic()
    sharing.interrupt()
    sharing.wait(cell, 10)
    assert time.monotonic() - began < 2.5
    assert cell.error in ("KeyboardInterrupt", "CancelledError")
    assert sharing.run("len(memory._waits)").text == "0"


@pytest.mark.parametrize("call", ["net.run('go')", "await net.arun('go')"])
def test_a_deadlock_in_a_cell_is_told_at_once(sharing, call):
    began = time.monotonic()
    cell = sharing.run(
        f"net = waiting('never', 300); result = {call}; result.errors['wait']['type']"
    )
    assert cell.text == "'AwaitTimeout'"
    assert time.monotonic() - began < 20


def test_an_async_subscriber_of_a_cell_is_told(sharing):
    sharing.run(
        """
told = []
async def note(change):
    told.append((change.key, change.value))
subscription = memory.subscribe_pattern("k:*", callback=note)
memory["k:1"] = 1
"""
    )
    assert sharing.run("time.sleep(0.3); told").text == "[('k:1', 1)]"
