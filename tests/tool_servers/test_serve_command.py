"""``python -m robotlab_nb serve``, as clients start it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import robotlab_nb as rl

ROOT = Path(__file__).resolve().parents[2]
NOISY = """
import os
import robotlab_nb as rl

print("printed while it was imported")
os.system("echo a program said this")

def look(city: str) -> str:
    "Look."
    print("printed by a tool")
    os.system("echo a program said that")
    return "sunny"

bot = rl.build("guide", model=rl.SimulatedModel([("look", {"city": "Paris"}), "it is sunny"]),
               tools=[look])
slow = rl.build("slow", model=rl.SimulatedModel(["never"], delay=60))
both = [bot, slow]
number = 7
"""


@pytest.fixture
def started(tmp_path):
    """``started(*arguments)``: the command in a folder with robots.py."""
    (tmp_path / "robots.py").write_text(NOISY, "utf-8")
    begun = []

    def start(*arguments):
        env = {**os.environ, "PYTHONPATH": str(ROOT), "ROBOTLAB_NB_LOG": "off"}
        env.pop("PYTHONUNBUFFERED", None)  # it would hide what is left in a buffer
        child = subprocess.Popen(
            [sys.executable, "-m", "robotlab_nb", "serve", *arguments],
            cwd=tmp_path, env=env, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        begun.append(child)
        return child

    yield start
    for child in begun:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout, child.stderr):
            with contextlib.suppress(OSError):  # what was not written when it ended
                pipe.close()


def said(child, id_, method, params):
    """Write a request and read lines until its answer comes; every line is a message."""
    request = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    child.stdin.write(json.dumps(request) + "\n")
    child.stdin.flush()
    while True:
        line = child.stdout.readline()
        assert line, child.stderr.read()
        message = json.loads(line)
        if message.get("id") == id_:
            return message["result"]


def greeted(child):
    told = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    found = said(child, 1, "initialize", told)
    child.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    return found


def test_nothing_but_messages_is_on_standard_output(started):
    child = started("robots.py:bot")
    assert greeted(child)["serverInfo"]["name"] == "guide"
    call = {"name": "guide", "arguments": {"message": "go"}}
    found = said(child, 2, "tools/call", call)
    assert found["content"][0]["text"] == "it is sunny"
    rest, stderr = child.communicate(timeout=30)  # closes its input: it ends
    assert rest == ""
    assert child.returncode == 0
    for line in (
        "printed while it was imported", "a program said this", "printed by a tool",
        "a program said that", "guide serves guide on standard input and output",
    ):  # fmt: skip
        assert line in stderr


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_sdk_s_client_starts_it_and_calls_a_robot(tmp_path, mode):
    from mcp import Client, StdioServerParameters

    (tmp_path / "robots.py").write_text(NOISY, "utf-8")
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "robotlab_nb", "serve", "robots.py:both"],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "ROBOTLAB_NB_LOG": "off"},
    )  # fmt: skip
    async with Client(program, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["guide", "slow"]
        found = await client.call_tool("guide", {"message": "go"})
    assert found.content[0].text == "it is sunny"


def test_what_is_no_message_is_answered_or_passed_over(started):
    child = started("robots:bot", "--name", "tours")
    child.stdin.write("this is no JSON\n\n{}\n\x00\n")
    assert greeted(child)["serverInfo"]["name"] == "tours"


def test_a_client_that_leaves_ends_the_calls_that_go_on(started):
    child = started("robots.py:both")
    greeted(child)
    call = {"name": "slow", "arguments": {"message": "go"}}
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    child.stdin.write(json.dumps(request) + "\n")
    child.stdin.flush()
    said(child, 3, "tools/list", {})
    child.stdin.close()
    assert child.wait(timeout=30) == 0


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_it_stops_when_it_is_told_to(started, transport, number):
    child = started("robots.py:bot", "--transport", transport)
    while "serves guide on" not in child.stderr.readline():
        assert child.poll() is None
    time.sleep(0.3)  # until it waits
    child.send_signal(number)
    assert child.wait(timeout=30) == 0


def test_addresses_are_told_and_can_be_called(started, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "a-token-for-the-shop")
    child = started("robots.py:both", "--transport", "http", "--token", "SHOP_TOKEN")
    line = ""
    while " serves " not in line:
        line = child.stderr.readline()
        assert child.poll() is None
    url = re.search(r"http://\S+", line)[0]
    bearer = {"Authorization": "Bearer a-token-for-the-shop"}
    with rl.mcp.Client(rl.mcp.Server("shop", url=url, headers=bearer)) as client:
        assert [tool.name for tool in client.list_tools()] == ["guide", "slow"]
        assert client.call_tool("guide", {"message": "go"}).text == "it is sunny"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("robots.py:bott",), "Did you mean 'bot'?"),
        (("robots.py",), "Write module:object or file.py:object"),
        (("nothing.py:bot",), "there is no file nothing.py"),
        (("nothing:bot",), "there is no module 'nothing'"),
        (("robots.py:number",), "serve() takes robots and networks, not int"),
        (("broken.py:bot",), "broken.py cannot be loaded: ZeroDivisionError"),
        (("robots.py:bot", "--transport", "http", "--host", "0.0.0.0"), "other machines could"),
        (("robots.py:bot", "--token", "NOT_SET_ANYWHERE"), "which is not set"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_line(started, tmp_path, arguments, words):
    (tmp_path / "broken.py").write_text("1 / 0\n", "utf-8")
    child = started(*arguments)
    stdout, stderr = child.communicate(timeout=60)
    assert child.returncode == 2
    assert words in stderr
    assert "Traceback" not in stderr
    assert stdout == "" or "--transport" in arguments
