"""Serving from a notebook's cell: it holds nothing up, and ends with the kernel."""

from __future__ import annotations

import os
import signal
import socket
import time
from urllib.parse import urlsplit

import pytest

START = """
import robotlab_nb as rl
bot = rl.build("poet", model=rl.SimulatedModel(["roses are red"]))
serving = rl.mcp.serve(bot)
print(serving.url)
serving
"""
CALL = """
client = rl.mcp.Client(serving.server).connect()
print(client.call_tool("poet", {"message": "a poem"}).text)
client.disconnect()
"""


def listens(url):
    address = urlsplit(url)
    with socket.socket() as trying:
        trying.settimeout(2)
        return trying.connect_ex((address.hostname, address.port)) == 0


def gone(url, seconds=10):
    end = time.monotonic() + seconds
    while listens(url):
        assert time.monotonic() < end, "it still listens"
        time.sleep(0.05)
    return True


def test_a_cell_that_serves_ends_at_once_and_others_call_while_cells_run(kernel):
    cell = kernel.run(START)
    url = cell.streams.split()[0]
    assert "serving" in cell.text
    assert "Connect other clients" in cell.results[-1]["text/html"]
    assert kernel.run(CALL).streams.strip().endswith("roses are red")
    # Run again, a cell replaces what it served; another cell's is left alone.
    other = kernel.run("other = rl.mcp.serve(bot, name='other'); print(other.url)", cell_id="b")
    first = kernel.run("mine = rl.mcp.serve(bot); print(mine.url)", cell_id="a").streams.strip()
    again = kernel.run("mine = rl.mcp.serve(bot); print(mine.url)", cell_id="a").streams.strip()
    assert gone(first)
    assert listens(again)
    assert listens(other.streams.strip())
    assert kernel.run("serving.stop(); print(serving.status)").streams.strip() == "stopped"
    assert gone(url)
    wrong = kernel.run("rl.mcp.serve(bot, transport='stdio')")
    assert wrong.error == "ConfigurationError"
    assert "belong to the notebook" in wrong.streams


def test_a_served_run_belongs_to_no_cell(kernel):
    """A cell that is run again stops what it started; what a client called is not of that."""
    kernel.run(START.replace('["roses are red"]', '["roses are red"], delay=1'))
    cell = """
import threading, time
client = rl.mcp.Client(serving.server).connect()
said = []
thread = threading.Thread(target=lambda: said.append(client.call_tool("poet", {"message": "x"})))
if not rl.runs():
    thread.start()
while not (rl.runs() or said):
    time.sleep(0.01)
"""
    kernel.run(cell, cell_id="calls")
    kernel.run("import time; again = True", cell_id="calls")
    told = kernel.run("thread.join(30); print(said[0].text)").streams
    assert told.strip() == "roses are red"


def test_a_question_of_a_served_run_is_not_put_to_the_notebook(kernel):
    kernel.run(
        "import robotlab_nb as rl\n"
        "model = rl.SimulatedModel([('ask_user', {'question': 'Which size?'}), 'done'])\n"
        "bot = rl.build('shop', model=model, tools=[rl.ask_user])\n"
        "serving = rl.mcp.serve(bot)\n"
        "client = rl.mcp.Client(serving.server).connect()\n"
    )
    cell = kernel.run("print(client.call_tool('shop', {'message': 'shoes'}).text)")
    assert cell.streams.strip() == "done"
    assert kernel.run("print(rl.runs())").streams.strip() == "[]"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_it_ends_with_the_kernel_however_that_ends(kernel):
    url = kernel.run(START).streams.split()[0]
    assert listens(url)
    kernel.interrupt()
    kernel.drain(0.5)
    assert listens(url)
    os.kill(kernel.manager.provisioner.pid, signal.SIGKILL)
    assert gone(url)
