"""Questions in a real kernel: at the cell's prompt, or waiting for the next cell."""

from __future__ import annotations

import time
from queue import Empty

import pytest

from .conftest import EVERY_KERNEL

pytestmark = EVERY_KERNEL

SETUP = """
import asyncio, time, threading
import robotlab_nb as rl
from robotlab_nb.tools.user_question import ask_user
size = ("ask_user", {"question": "Which size?", "choices": ["small", "large"]})
colour = ("ask_user", {"question": "Which colour?", "default": "red"})
paid = []
@rl.tool(approval=True)
def pay(amount: int) -> str:
    "Pay."
    paid.append(amount)
    return "paid"
def shop(*steps, **config):
    return rl.build("shop", model=rl.SimulatedModel([*steps, "done"]), tools=[ask_user, pay],
                    config=config)
"""


@pytest.fixture(scope="module")
def asking(kernel):
    assert kernel.run(SETUP).status == "ok"
    return kernel


def prompt(kernel, seconds=20):
    """What the kernel asks the front end for next."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kernel.drain(0.02)
        try:
            message = kernel.client.stdin_channel.get_msg(timeout=0.05)
        except Empty:
            continue
        if message["msg_type"] == "input_request":
            return message["content"]["prompt"]
    raise TimeoutError("nothing was asked")


def test_a_blocking_cell_asks_at_its_prompt(asking):
    cell = asking.submit("r = shop(size).run('x'); r.tool_calls[0].result, str(r)", stdin=True)
    assert prompt(asking) == "[shop] Which size? 1: small, 2: large "
    asking.client.input("medium")
    assert "Which size?" in prompt(asking)
    asking.client.input("2")
    asking.wait(cell)
    assert cell.text == "('large', 'done')"
    assert "'medium' is none of the choices" in cell.streams
    assert "→ large" in cell.streams


def test_two_questions_of_parallel_tools_are_asked_one_after_the_other(asking):
    code = "[c.result for c in shop([size, colour]).run('x').tool_calls]"
    cell = asking.submit(code, stdin=True)
    assert "Which size?" in prompt(asking)
    asking.client.input("small")
    assert prompt(asking) == "[shop] Which colour? [red] "
    asking.client.input("")
    assert asking.wait(cell).text == "['small', 'red']"


def test_a_stream_asks_at_the_prompt_of_its_cell(asking):
    cell = asking.submit("''.join(shop(size).stream('x').text)", stdin=True)
    assert "Which size?" in prompt(asking)
    asking.client.input("1")
    assert asking.wait(cell).text == "'done'"


def test_an_approval_shows_the_arguments_and_takes_no_for_nothing(asking):
    asking.run("paid.clear()")
    cell = asking.submit("shop(('pay', {'amount': 7})).run('x').tool_calls[0].status", stdin=True)
    assert "Allow pay? yes / no" in prompt(asking)
    asking.client.input("")
    asking.wait(cell)
    assert cell.text == "'failed'"
    assert '"amount": 7' in cell.streams
    assert asking.run("paid").text == "[]"


@pytest.mark.parametrize(
    "call",
    ["result = (run := shop(size).start('x')).result()",
     "result = await (run := shop(size).start('x'))",
     "run = shop(size).start('x'); result = run.result(timeout=30)",
     "s = shop(size).stream('x'); list(s); run = s.run; result = run.so_far()"],
)  # fmt: skip
def test_without_a_prompt_a_cell_ends_waiting_and_the_next_one_answers(asking, call):
    began = time.monotonic()
    assert asking.run(call).status == "ok"
    assert time.monotonic() - began < 2
    found = asking.run("run.status, result.status, [q.text for q in run.pending]")
    assert found.text == "('waiting', 'waiting', ['Which size?'])"
    assert asking.run("f'{result}'").error == "RunWaiting"
    assert asking.run("str(run.answer('large').result())").text == "'done'"


@pytest.mark.parametrize(
    "call", ["await run", "await asyncio.sleep(0); run.result()"], ids=["await", "result"]
)
def test_stop_would_not_reach_a_prompt_in_a_cell_that_awaits_so_it_ends_waiting(asking, call):
    cell = asking.submit(f"run = shop(size).start('x'); {call}; run.status", stdin=True)
    assert asking.wait(cell, 10).text == "'waiting'"
    assert asking.run("str(await run.answer('small'))").text == "'done'"


def test_run_all_is_not_held_up_by_a_question(asking):
    cells = [asking.submit(c) for c in ("r = shop(size).run('x'); r.status", "1 + 1", "2 + 2")]
    for cell in cells:
        asking.wait(cell, 10)
    assert [c.text for c in cells] == ["'waiting'", "2", "4"]
    asking.run("rl.stop_all()")


@pytest.mark.parametrize("stdin", [True, False])
def test_stop_while_a_person_is_asked_ends_the_run(asking, stdin):
    asking.run("run = shop([size, ('pay', {'amount': 1})]).start('x'); paid.clear()")
    code = "run.result()" if stdin else "list(run.watch())"
    cell = asking.submit(code, stdin=stdin)
    if stdin:
        prompt(asking)
    else:
        asking.drain(1.0)
    began = time.monotonic()
    asking.interrupt()
    asking.wait(cell, 10)
    assert time.monotonic() - began < 2.5
    assert cell.error == "KeyboardInterrupt"
    if not stdin:
        asking.run("run.stop()")
    found = asking.run(
        "print(run.status, paid, run.pending, *[c.status for c in run.state.tool_calls.values()],"
        "*sorted(a.status for a in run.state.asked.values()))"
    )
    assert found.streams == "interrupted [] () interrupted interrupted denied interrupted\n"
    assert asking.run("1 + 1").text == "2"


def test_nobody_approves_in_time(asking):
    asking.run("paid.clear(); run = shop(('pay', {'amount': 7}), ask_timeout=0.3).start('x')")
    asking.run("while not run.done: time.sleep(0.05)")
    found = asking.run("r = run.result(); r.tool_calls[0].content, paid, str(r)")
    expected = "Error (pay): denied by nobody: no answer came in time"
    assert found.text == f"({expected!r}, [], 'done')"


def test_a_prompt_is_taken_back_when_the_time_is_up(asking):
    cell = asking.submit(
        "paid.clear(); r = shop(('pay', {'amount': 7}), ask_timeout=1.0).run('x'); str(r), paid",
        stdin=True,
    )
    prompt(asking)
    asking.wait(cell, 15)
    assert cell.text == "('done', [])"
    assert "no longer asked: settled by timeout" in cell.streams
    assert asking.run("1 + 1").text == "2"
    cell = asking.submit("shop(size).run('x').tool_calls[0].result", stdin=True)
    prompt(asking)
    asking.client.input("1")
    assert asking.wait(cell).text == "'small'"
