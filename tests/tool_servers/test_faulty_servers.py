"""Servers that die, stall, flood, lie and babble: a session survives them and says what it was."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import robotlab_nb as rl
from robotlab_nb.mcp import Client, Server, Session, guardian, sessions
from robotlab_nb.testing import MCPFaultServer


@pytest.fixture
def client():
    """A connected client of the fault server in good health."""
    with Client(MCPFaultServer()) as found:
        yield found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone_within(seconds: float, *pids: int) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def pid_of(client: Client) -> int:
    return client.session._connection.wire._group


# fP1


def test_a_server_that_dies_in_a_call_fails_it_at_once_and_is_there_again(client):
    first = pid_of(client)
    began = time.monotonic()
    with pytest.raises(rl.MCPConnectionError) as raised:
        client.call_tool("die", {"status": 7})
    assert time.monotonic() - began < 5  # within 1 s where nothing else keeps the machine busy
    error = raised.value
    assert (error.transport, error.status, error.server) == ("stdio", 7, "faults")
    assert "out of luck" in error.stderr_tail
    assert "exit status 7" in str(error)
    assert client.status == "failed"
    assert client.call_tool("echo", {"text": "again"}).text == "again"
    assert pid_of(client) != first


def test_all_calls_that_wait_fail_when_the_server_dies_and_no_other_server_is_hurt(client):
    async def scene() -> list[object]:
        async with Client(MCPFaultServer(name="doomed")) as doomed:
            waiting = [doomed.acall_tool("hang") for _ in range(5)]
            other = client.acall_tool("wait", {"seconds": 0.5})
            started = asyncio.gather(*waiting, other, return_exceptions=True)
            await asyncio.sleep(0)
            with pytest.raises(rl.MCPConnectionError):
                await doomed.acall_tool("die")
            return await started

    *dead, alive_ = asyncio.run(scene())
    assert all(isinstance(found, rl.MCPConnectionError) for found in dead)
    assert str(alive_) == "done"


# fP2


def test_garbage_on_standard_output_is_skipped_and_noted_in_bounds():
    with Client(MCPFaultServer("garbage")) as client:
        for number in range(30):
            assert client.call_tool("add", {"a": number, "b": 1}).structured == {
                "total": number + 1
            }
        assert client.call_tool("echo", {"text": "broken?"}).text == "bro\ufffdken"
        noted = client.session.warnings
    assert any("Fault Server" in line for line in noted)
    assert len(noted) <= 21
    assert noted[-1].startswith("and ")


# fP3, fP4


def test_a_server_that_never_says_hello_is_given_up_at_its_deadline_with_its_last_words():
    client = Client(MCPFaultServer("hang", timeout=1))
    began = time.monotonic()
    with pytest.raises(rl.MCPTimeout) as raised:
        client.connect()
    assert time.monotonic() - began < 10
    assert "did not say hello within 1 s" in str(raised.value)
    assert "mcp_faults.py hang" in str(raised.value)
    assert "waiting for a lock" in str(raised.value)
    assert client.status == "failed"
    client.disconnect()


def test_a_slow_server_is_waited_for_as_long_as_its_timeout_says():
    with Client(MCPFaultServer("slow", seconds=1.5, timeout=30)) as client:
        assert client.call_tool("echo", {"text": "at last"}).text == "at last"


def test_a_server_that_ends_at_once_is_quoted():
    with pytest.raises(rl.MCPConnectionError) as raised:
        Client(MCPFaultServer("exit")).connect()
    assert "cannot open the database" in str(raised.value)
    assert raised.value.status == 4


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"command": "no-such-program-anywhere"}, "there is no program"),
        ({"command": "sh", "cwd": "/no/such/folder"}, "there is no folder"),
        ({"command": __file__}, "cannot be run"),
    ],
)
def test_a_program_that_cannot_be_started_says_why(options, says):
    with pytest.raises(rl.MCPConnectionError, match=says):
        Client(Server("x", **options)).connect()


# fP7, p13


def test_fifty_megabytes_are_capped_and_kept_in_a_file(client):
    result = client.call_tool("huge", {"megabytes": 50})
    assert len(result.text) == 1_000_000
    assert "50.0 MB" in (result.truncated or "")
    assert str(result.files[0]) in (result.truncated or "")
    assert result.files[0].stat().st_size == 50_000_000
    assert oct(result.files[0].stat().st_mode)[-3:] == "600"


def test_a_message_past_all_bounds_ends_the_connection(monkeypatch, client):
    monkeypatch.setattr("robotlab_nb.mcp.stdio_wire.LARGEST_MESSAGE", 2_000_000)
    with pytest.raises(rl.MCPConnectionError, match="more than"):
        client.call_tool("huge", {"megabytes": 4})
    assert client.call_tool("echo", {"text": "on"}).text == "on"


def test_a_call_that_is_not_answered_ends_at_its_deadline(client):
    began = time.monotonic()
    with pytest.raises(rl.MCPTimeout, match="the tool 'hang'"):
        client.call_tool("hang", timeout=0.5)
    assert time.monotonic() - began < 10
    assert client.call_tool("echo", {"text": "on"}).text == "on"


def test_a_server_that_reads_nothing_more_costs_a_call_and_no_more_than_its_time():
    with Client(MCPFaultServer("deaf")) as client:
        client.list_tools()
        began = time.monotonic()
        with pytest.raises(rl.MCPTimeout):
            client.call_tool("echo", {"text": "x" * 5_000_000}, timeout=0.5)
        assert time.monotonic() - began < 15
        number = pid_of(client)
    assert gone_within(5, number)


def test_a_list_that_is_not_answered_ends_at_its_deadline():
    with Client(MCPFaultServer("deaf", call_timeout=1)) as client:
        client.list_tools()
        with pytest.raises(rl.MCPTimeout, match="the list of its resources"):
            client.list_resources()


# fP9


def test_the_environment_is_the_usual_few_and_what_is_named(monkeypatch):
    monkeypatch.setenv("OUR_SECRET_THING", "not for servers")
    monkeypatch.setenv("NAMED", "for this one")
    with Client(MCPFaultServer(env={"NAMED": None, "GIVEN": "by value"})) as client:  # type: ignore[dict-item]
        names = client.call_tool("environment", {"name": "NAMED"}).structured
    assert "OUR_SECRET_THING" not in names["names"]
    assert {"PATH", "NAMED", "GIVEN"} <= set(names["names"])
    assert names["value"] == "for this one"


def test_missing_variables_are_named_before_anything_starts(monkeypatch):
    monkeypatch.delenv("FAULT_TOKEN", raising=False)
    monkeypatch.delenv("FAULT_USER", raising=False)
    server = MCPFaultServer("needs_variable", env=["FAULT_TOKEN", "FAULT_USER"])
    client = Client(server)
    with pytest.raises(rl.MCPConnectionError, match="needs FAULT_TOKEN and FAULT_USER"):
        client.connect()
    monkeypatch.setenv("FAULT_TOKEN", "token-0123456789")
    monkeypatch.setenv("FAULT_USER", "me")
    with client:
        told = client.call_tool("environment", {"name": "FAULT_TOKEN"})
    assert told.structured["value"] == "token-0123456789"


def test_a_server_says_itself_what_it_lacks_and_no_secret_stands_in_the_error():
    with pytest.raises(rl.MCPConnectionError, match="FAULT_TOKEN is not set"):
        Client(MCPFaultServer("needs_variable", env={"API_KEY": "canary-0123456789"})).connect()


# fP11


@pytest.mark.parametrize(("mode", "taken", "tools"), [("pages", 100, 100), ("same_page", 32, 16)])
def test_lists_that_do_not_end_are_cut_off(mode, taken, tools):
    with Client(MCPFaultServer(mode)) as client:
        assert len(client.list_tools()) == tools
        cut = f"the list of its tools does not end: {taken} were taken"
        assert cut in client.session.warnings


def test_answers_to_questions_that_nobody_put_are_passed_over():
    with Client(MCPFaultServer("unknown_ids")) as client:
        assert client.call_tool("add", {"a": 1, "b": 1}).structured == {"total": 2}


# fP12 and more


def test_megabytes_on_standard_error_hold_up_nothing_and_the_tail_is_kept():
    with Client(MCPFaultServer("noisy")) as client:
        assert client.call_tool("echo", {"text": "hello"}).text == "hello"
        tail = client.session.stderr_tail
        assert "debug line 59999" in tail
        assert len(tail) <= 20_000


def test_what_tools_say_of_themselves_as_errors(client):
    with pytest.raises(rl.MCPToolError, match="the disk is full") as raised:
        client.call_tool("fail")
    assert raised.value.tool == "fail"
    assert raised.value.result.is_error
    with pytest.raises(rl.MCPToolError, match="these arguments will not do") as raised:
        client.call_tool("refuse")
    assert (raised.value.code, raised.value.data) == (-32602, {"mode": "well"})
    with pytest.raises(rl.MCPToolError, match="structured content"):
        client.call_tool("misfit")
    with pytest.raises(rl.MCPToolError, match="Unknown tool"):
        client.call_tool("nonesuch")
    assert client.connected


def test_pictures_sounds_and_files_are_parts_of_their_types(client):
    result = client.call_tool("media")
    assert [getattr(p, "mime", "text") for p in result.parts] == [
        "text", "image/png", "audio/wav", "text/plain", "text", "text",
    ]  # fmt: skip
    assert result.media[0].data.startswith(b"\x89PNG")
    assert "fault://file" in result.parts[4].text
    assert "bytes are broken" in result.parts[5].text


def test_questions_progress_and_log_reach_the_call_that_goes_on(client):
    seen: list[object] = []

    async def answer(question):
        seen.append((question.server, question.tool, question.message))
        return {"colour": "green"}

    said = client.call_tool("ask", on_elicit=answer)
    assert json.loads(said.text) == {"action": "accept", "content": {"colour": "green"}}
    assert seen == [("faults", "ask", "Which colour?")]
    assert json.loads(client.call_tool("ask").text) == {"action": "decline"}

    steps: list[float] = []
    client.call_tool("progress", on_progress=lambda done, total, message: steps.append(done))
    assert steps == [1, 2, 3]
    lines: list[object] = []
    client.call_tool("log", on_log=lambda level, logger, data: lines.append((level, data)))
    assert lines == [("info", "a line of info"), ("warning", "a line of warning")]


def test_while_a_person_thinks_a_call_runs_out_of_no_time(client):
    async def answer(question):
        await asyncio.sleep(1.5)
        return {"colour": "red"}

    assert "red" in client.call_tool("ask", timeout=1.0, on_elicit=answer).text
    with pytest.raises(rl.MCPTimeout):
        client.call_tool("hang", timeout=0.3, on_elicit=answer)


def test_a_changed_list_is_noticed_and_asked_for_anew(client):
    before = {tool.name: tool for tool in client.list_tools()}
    version = client.session.changed
    client.call_tool("change")
    end = time.monotonic() + 10
    while client.session.changed == version and time.monotonic() < end:
        time.sleep(0.01)
    after = {tool.name: tool for tool in client.list_tools()}
    assert set(after) - set(before) == {"fresh"}
    assert after["echo"].digest != before["echo"].digest
    assert after["add"].digest == before["add"].digest


def test_resources_prompts_and_completions(client):
    assert [r.uri for r in client.list_resources()] == ["fault://file", "fault://dot"]
    assert client.list_resource_templates()[0].uri == "fault://days/{day}"
    assert client.read_resource("fault://file").text == "inside"
    assert client.read_resource("fault://dot").media[0].mime == "image/png"
    with pytest.raises(rl.MCPError, match="Resource not found") as raised:
        client.read_resource("fault://nowhere")
    assert raised.value.code == -32002
    assert client.list_prompts()[0].arguments[0].required
    assert client.get_prompt("poem", {"about": "rain"})[0].text == "A poem about rain, please."
    assert client.complete("poem", "about", "r") == ("rain", "river")


def test_many_calls_side_by_side(client):
    async def scene() -> list[str]:
        calls = [client.acall_tool("echo", {"text": str(n)}) for n in range(200)]
        return [result.text for result in await asyncio.gather(*calls)]

    assert asyncio.run(scene()) == [str(n) for n in range(200)]


# processes


def test_a_stubborn_server_and_what_it_started_are_ended():
    rl.shutdown()  # servers of other tests would keep the guardian busy
    for mode in ("stubborn", "orphan"):
        client = Client(MCPFaultServer(mode)).connect()
        group = pid_of(client)
        members = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and
                   _group(int(p.name)) == group]  # fmt: skip
        assert group in members
        watching = guardian._shell.pid
        client.disconnect()
        assert gone_within(20, *members, watching), mode
        assert client.status == "closed"


SCRIPT = """
import os, time
import robotlab_nb as rl
from robotlab_nb.testing import MCPFaultServer
client = rl.mcp.Client(MCPFaultServer("stubborn")).connect()
print(client.session._connection.wire._group, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_servers_are_gone_soon_after_the_program_that_started_them(how):
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], cwd=Path(__file__).parents[2], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with running:
        server = int(running.stdout.readline())
        assert alive(server)
        running.send_signal(how)
        running.wait(20)
        assert gone_within(5, server)


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def test_a_server_whose_child_holds_its_output_open_is_noticed_to_be_dead():
    with Client(MCPFaultServer("orphan")) as client, pytest.raises(rl.MCPConnectionError):
        client.call_tool("die", timeout=30)


def test_an_unconnected_client_says_so_and_disconnecting_twice_is_once():
    client = Client(MCPFaultServer())
    with pytest.raises(rl.MCPError, match="is not connected"):
        client.list_tools()
    client.disconnect()
    with client:
        pass
    client.disconnect()
    assert client.status == "closed"


def test_failures_are_followed_by_pauses_that_do_not_grow_for_ever():
    session = Session(MCPFaultServer("exit", timeout=5))

    async def scene() -> None:
        for _ in range(4):
            with pytest.raises(rl.MCPConnectionError):
                await session.ready()

    began = time.monotonic()
    asyncio.run(scene())
    assert time.monotonic() - began > 0.7  # 0.25 and 0.5 s
    assert session in sessions()


def test_shutting_the_engine_down_ends_sessions_and_the_next_use_begins_anew():
    client = Client(MCPFaultServer()).connect()
    pid = pid_of(client)
    rl.shutdown()
    assert gone_within(5, pid)
    assert client.call_tool("echo", {"text": "anew"}).text == "anew"
    client.disconnect()


def test_the_callers_own_loop_can_be_the_engine():
    async def scene() -> str:
        async with Client(MCPFaultServer()) as client:
            assert client.session._connection.loop is asyncio.get_running_loop()
            with pytest.raises(rl.ConfigurationError, match="acall_tool"):
                client.call_tool("echo")
            return (await client.acall_tool("echo", {"text": "here"})).text

    with rl.engine(loop="current"):
        assert asyncio.run(scene()) == "here"
        assert asyncio.run(scene()) == "here"
