"""Scripts as tools, run for real: arguments, output, exit codes, time limits, and what is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.tools import programs
from robotlab_nb.tools.call import Outcome, call_tool
from robotlab_nb.tools.capabilities import Capabilities
from robotlab_nb.tools.manifest import ToolManifest
from robotlab_nb.tools.programs import KEPT, Output
from robotlab_nb.tools.scripts import (
    Script,
    _interpreter,
    is_script,
    script_tool,
    words_about,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from robotlab_nb.tools.decorator import Tool

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="processes are looked at in /proc"
)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """``write(text)``: a script of the bundle in ``tmp_path``."""

    def write(text: str, name: str = "scripts/run.sh", mode: int = 0o644) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        path.chmod(mode)
        return path

    return write


@pytest.fixture(autouse=True)
def no_process_is_left(tmp_path: Path) -> Iterator[None]:
    """Every process of a test runs in its own folder: afterwards, none is there."""
    yield
    until = time.monotonic() + 5
    while (left := running_in(tmp_path)) and time.monotonic() < until:
        time.sleep(0.01)
    assert left == []
    assert programs._live == {}


def running_in(folder: Path) -> list[int]:
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                here = os.readlink(process / "cwd") == str(folder)
                if here and (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(process.name))
            except OSError:
                pass
    return found


async def call(tool: Tool, *args: Any, **more: Any) -> Outcome:
    return await call_tool(tool, json.dumps({"args": list(args), **more}))


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110  (another process makes it true)
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


PYTHON = f"#!{sys.executable}\n"

# what it is


def test_a_script_is_told_by_its_name_and_its_first_comment(write: Any) -> None:
    tool = script_tool(
        write("#!/bin/sh\n\n# Turn a page\n# into a table.\n#\n# Licence: none.\n# more\necho\n")
    )
    assert (tool.name, tool.description) == ("run", "Turn a page into a table.")
    assert tool.source == "script run.sh (not confined: it runs with your rights)"
    assert list(tool.parameters["properties"]) == ["args", "stdin"]
    assert "required" not in tool.parameters


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\n# -*- coding: utf-8 -*-\n# shellcheck disable=SC1\n# Say it.\n", "Say it."),
        ("#!/usr/bin/env node\n// Count words.\nconsole.log(1)\n", "Count words."),
        ("#!/usr/bin/env lua\n-- Count lines.\n", "Count lines."),
        ('#!/usr/bin/env python3\n"""Merge files.\n\nLong story."""\n', "Merge files."),
        ("#!/bin/sh\necho 1\n# not the first thing\n", ""),
        ("#!/bin/sh\n", ""),
        ("", ""),
    ],
)
def test_what_a_script_says_of_itself(write: Any, text: str, said: str) -> None:
    assert words_about(write(text, "scripts/x.py")) == said


def test_names_are_made_fit_for_models(write: Any) -> None:
    assert script_tool(write("#!/bin/sh\n", "scripts/größe messen.v2.sh")).name == "gro_e_messen_v2"
    assert script_tool(write("#!/bin/sh\n"), name="other").name == "other"


def test_what_cannot_be_run_is_refused_when_it_is_named(write: Any, tmp_path: Path) -> None:
    plain = write("just text\n", "notes.txt")
    assert not is_script(plain)
    with pytest.raises(ConfigurationError, match="notes.txt cannot be run"):
        script_tool(plain)
    with pytest.raises(ConfigurationError, match="nothing.sh is not there"):
        script_tool(tmp_path / "nothing.sh")
    with pytest.raises(ConfigurationError, match="cannot be run"):
        script_tool(tmp_path)
    with pytest.raises(ConfigurationError, match="timeout=0 is not a number of seconds"):
        script_tool(write("#!/bin/sh\n"), timeout=0)
    with pytest.raises(ConfigurationError, match="NO_SUCH_VARIABLE, which is not set"):
        script_tool(write("#!/bin/sh\n"), environment=["NO_SUCH_VARIABLE"])


def test_the_same_script_twice_is_one_tool(write: Any) -> None:
    path = write("#!/bin/sh\n")
    assert len(ToolManifest([script_tool(path), script_tool(path)])) == 1


# how it runs

HOSTILE = ["two words", "; rm -rf .", "$(echo no)", "`id`", "\"q'", "a\nb", "", "-n", "*", "ü🦊\\"]


async def test_arguments_arrive_as_they_are(write: Any) -> None:
    path = write(PYTHON + "import json, sys\nprint(json.dumps(sys.argv[1:]))\n", "scripts/a.py")
    done = await call(script_tool(path), *HOSTILE, 3)
    assert json.loads(done.content) == [*HOSTILE, "3"]
    shell = write('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    done = await call(script_tool(shell), *HOSTILE)
    assert done.value.split("\0")[:-1] == HOSTILE


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("#!/bin/sh -e", ["/bin/sh", "-e"]),
        ("#! /usr/bin/env python3\r", ["python3"]),
        ("#!/usr/bin/env -S python3 -u", ["python3", "-u"]),
        ("#!/usr/bin/env -S A=1 python3", ["/usr/bin/env", "A=1", "python3"]),
        ("#!/usr/bin/env -i sh", ["/usr/bin/env", "-i", "sh"]),
        ('#!"/opt/my programs/run"', ["/opt/my programs/run"]),
        ("#!/bin/it's", ["/bin/it's"]),
        ("#!", []),
        ("# !/bin/sh", []),
    ],
)
def test_the_first_line_is_read_as_the_system_reads_it(line: str, words: list[str]) -> None:
    assert _interpreter(line.encode() + b"\n") == words


async def test_the_interpreter_of_the_first_line_runs_it_executable_or_not(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    text = "#!/usr/bin/env -S python3 -u -I\nimport sys\nprint(sys.flags.isolated)\n"
    for mode in (0o644, 0o755):
        done = await call(script_tool(write(text, "scripts/a.py", mode)))
        assert done.content == "1\n"


async def test_an_executable_without_a_first_line_runs_if_it_is_a_program(
    write: Any, tmp_path: Path
) -> None:
    (tmp_path / "hello").symlink_to("/bin/echo")
    assert (await call(script_tool(tmp_path / "hello"), "hi")).content == "hi\n"
    done = await call(script_tool(write("echo hi\n", mode=0o755)))
    assert done.content.startswith("Error (not started): run.sh: it is no program")


async def test_a_missing_interpreter_is_named(write: Any) -> None:
    for line in ("#!/opt/none/python9", "#!/usr/bin/env python9"):
        done = await call(script_tool(write(f"{line}\n")))
        assert done.status == "failed"
        assert done.content.startswith("Error (not started): the first line of run.sh names ")
        assert "python9" in done.content


async def test_it_runs_in_its_bundle_with_few_variables(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("REGION", "north")
    code = "import os, json\nprint(json.dumps([os.getcwd(), dict(os.environ)]))\n"
    path = write(PYTHON + code, "scripts/a.py")
    folder, variables = json.loads((await call(script_tool(path))).content)
    assert folder == str(tmp_path)
    assert variables["PATH"] == os.environ["PATH"]
    assert not {"OPENAI_API_KEY", "REGION"} & variables.keys()
    named = script_tool(path, environment=["REGION"], folder=tmp_path / "scripts")
    folder, variables = json.loads((await call(named)).content)
    assert (folder, variables["REGION"]) == (str(tmp_path / "scripts"), "north")


async def test_standard_input_is_closed_unless_text_is_given(write: Any) -> None:
    tool = script_tool(write("#!/bin/sh\necho got: $(cat)\n"))
    assert (await call(tool)).content == "got:\n"
    assert (await call(tool, stdin="zwölf 🦊")).content == "got: zwölf 🦊\n"
    deaf = script_tool(write("#!/bin/sh\necho done\n", "scripts/deaf.sh"))
    assert (await call(deaf, stdin="x" * 3_000_000)).content == "done\n"


# what comes back


async def test_both_outputs_come_back_in_their_order(write: Any) -> None:
    done = await call(script_tool(write("#!/bin/sh\necho one\necho two >&2\necho three\n")))
    assert (done.status, done.content) == ("completed", "one\ntwo\nthree\n")
    assert (await call(script_tool(write("#!/bin/sh\n")))).content == "no output"


async def test_an_exit_code_is_a_failure_with_the_output(write: Any) -> None:
    done = await call(script_tool(write("#!/bin/sh\necho no such page >&2\nexit 3\n")))
    assert (done.status, done.content) == ("failed", "Error (exit 3):\nno such page")
    assert done.error is not None
    assert done.error["type"] == "ScriptFailed"
    done = await call(script_tool(write("#!/bin/sh\nkill -9 $$\n")))
    assert done.content == "Error (exit -9):"


async def test_bytes_that_are_no_text_are_replaced(write: Any) -> None:
    done = await call(script_tool(write("#!/bin/sh\nprintf 'a\\377b\\000c'\n")))
    assert done.value == "a\ufffdb\0c"


@pytest.mark.parametrize("code", [0, 4])
async def test_of_fifty_megabytes_the_start_and_the_end_come_back(write: Any, code: int) -> None:
    text = f"""
        import sys
        print("first")
        for _ in range(50): sys.stdout.write("x" * 999_999 + "\\n")
        print("last"); sys.exit({code})
    """
    done = await call(script_tool(write(PYTHON + textwrap.dedent(text), "scripts/a.py")))
    start = "Error (exit 4):\nfirst\nxxx" if code else "first\nxxx"
    assert done.content.startswith(start)
    assert done.content.rstrip().endswith("xx\nlast")
    assert f"[… {50_000_011 - KEPT:,} bytes left out …]" in done.content
    assert len(done.content) < KEPT + 100


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(1, 20))
def test_what_is_kept_is_the_start_and_the_end(pieces: list[bytes], half: int) -> None:
    output = Output(2 * half)
    for piece in pieces:
        output.add(piece)
    whole = b"".join(pieces)
    if len(whole) <= 2 * half:
        assert output.text() == whole.decode("utf-8", "replace")
    else:
        left_out = len(whole) - 2 * half
        start, end = whole[:half], whole[-half:]
        note = f"\n[… {left_out:,} bytes left out …]\n"
        assert output.text() == f"{start.decode('utf-8', 'replace')}{note}" + end.decode(
            "utf-8", "replace"
        )


def test_what_is_left_out_takes_no_memory() -> None:
    output = Output(100)
    for _ in range(1_000):
        output.add(b"x" * 99)
        assert len(output._head) + len(output._tail) < 500


@pytest.mark.parametrize(
    "arguments", ['{"args": "a b"}', '{"args": [["a"]]}', '{"args": [true]}', '{"argv": []}',
                  '{"args": ["a\\u0000b"]}', '{"args": ["\\ud800"]}', '{"stdin": 3}'],
)  # fmt: skip
async def test_arguments_that_cannot_be_passed_start_nothing(write: Any, arguments: str) -> None:
    path = write("#!/bin/sh\ntouch started\n")
    done = await call_tool(script_tool(path), arguments)
    assert done.status == "failed"
    assert not (path.parent.parent / "started").exists()


async def test_a_script_that_is_gone_since_is_a_failure(write: Any) -> None:
    path = write("#!/bin/sh\n")
    tool = script_tool(path)
    path.unlink()
    assert "No such file" in (await call(tool)).content


# what is left

SLEEPER = "#!/bin/sh\necho started\nsleep 300 &\necho $! > pid\n"


async def test_a_background_process_that_holds_the_output_holds_nothing_up(
    write: Any, tmp_path: Path
) -> None:
    began = time.monotonic()
    done = await call(script_tool(write(SLEEPER)))
    assert (done.status, done.content) == ("completed", "started\n")
    assert time.monotonic() - began < 30
    assert not alive(int((tmp_path / "pid").read_text()))


async def test_a_background_process_that_is_silent_ends_too(write: Any, tmp_path: Path) -> None:
    text = SLEEPER.replace("300 &", "300 >/dev/null 2>&1 &")
    await call(script_tool(write(text)))
    assert not alive(int((tmp_path / "pid").read_text()))


async def test_a_process_that_leaves_its_group_does_not_hold_the_call_up(
    write: Any, tmp_path: Path
) -> None:
    text = """
        import os, subprocess, sys
        left = subprocess.Popen(["sleep", "300"], start_new_session=True)
        open("pid", "w").write(str(left.pid))
    """
    done = await call(script_tool(write(PYTHON + textwrap.dedent(text), "scripts/a.py")))
    assert done.status == "completed"
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_a_script_out_of_time_is_ended_and_told_with_its_output(write: Any) -> None:
    tool = script_tool(write("#!/bin/sh\necho one\nsleep 300\n"), timeout=0.5)
    done = await call(tool)
    assert (done.status, done.content) == ("failed", "Error (timed out after 0.5 s):\none")
    assert not done.thread_leaked


async def test_a_script_that_will_not_end_is_killed(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_GRACE", 0.1)
    text = """
        trap 'echo not yet' TERM
        echo $$ > pid
        while :; do sleep 1 || :; done
    """
    done = await call(script_tool(write("#!/bin/sh\n" + textwrap.dedent(text)), timeout=1))
    assert done.content.startswith("Error (timed out after 1 s):")
    assert not alive(int((tmp_path / "pid").read_text()))


async def test_a_script_may_tidy_up_when_it_is_asked_to_end(write: Any, tmp_path: Path) -> None:
    text = "#!/bin/sh\ntrap 'echo bye; touch tidy; exit 0' TERM\nsleep 300 &\nwait\n"
    done = await call(script_tool(write(text), timeout=0.5))
    assert done.content == "Error (timed out after 0.5 s):\nbye"
    assert (tmp_path / "tidy").exists()


@pytest.mark.parametrize("trap", ["", "trap '' TERM"])
async def test_cancelling_ends_the_whole_group(write: Any, tmp_path: Path, trap: str) -> None:
    text = f"#!/bin/sh\n{trap}\nsleep 300 &\necho $$ $! > pids\nmv pids ready\nwait\n"
    task = asyncio.create_task(call(script_tool(write(text))))
    await until((tmp_path / "ready").exists)
    pids = [int(word) for word in (tmp_path / "ready").read_text().split()]
    assert all(map(alive, pids))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not any(map(alive, pids)))


async def test_a_second_cancel_kills_at_once(write: Any, tmp_path: Path) -> None:
    text = "#!/bin/sh\ntrap '' TERM\necho $$ > pid\nmv pid ready\nwhile :; do sleep 1; done\n"
    task = asyncio.create_task(script_tool(write(text))())
    await until((tmp_path / "ready").exists)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await task
    pid = int((tmp_path / "ready").read_text())
    await until(lambda: not alive(pid))


async def test_a_script_cancelled_while_it_starts_is_ended(write: Any, tmp_path: Path) -> None:
    tool = script_tool(write("#!/bin/sh\nsleep 300 &\nwait\n"))
    for turns in range(6):
        task = asyncio.create_task(call(tool))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await until(lambda: not running_in(tmp_path))


def test_scripts_end_with_the_process_that_runs_them(write: Any, tmp_path: Path) -> None:
    path = write("#!/bin/sh\necho $$ > pid\nmv pid ready\nsleep 300\n")
    code = f"""
        import asyncio, os, sys, threading, time
        from robotlab_nb.tools.scripts import script_tool
        tool = script_tool({str(path)!r})
        threading.Thread(target=lambda: asyncio.run(tool()), daemon=True).start()
        while not os.path.exists({str(tmp_path / "ready")!r}): time.sleep(0.01)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=60)
    pid = int((tmp_path / "ready").read_text())
    give_up = time.monotonic() + 10
    while alive(pid) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not alive(pid)


async def test_twenty_scripts_run_at_once(write: Any) -> None:
    tool = script_tool(write("#!/bin/sh\nsleep 0.2\necho $1\n"))
    done = await asyncio.gather(*(call(tool, n) for n in range(20)))
    assert [one.content for one in done] == [f"{n}\n" for n in range(20)]


# what it declares


def test_the_smaller_time_limit_holds_and_the_rest_is_shown(write: Any) -> None:
    path = write("#!/bin/sh\n")
    declared = {"timeout": 5, "network": True, "fs_write": ["out"], "trust": "core"}
    tool = script_tool(path, timeout=30, capabilities=declared)
    script = tool.function
    assert isinstance(script, Script)
    assert script.timeout == 5
    assert script.capabilities == Capabilities((), ("out",), True, 5.0, "core")
    assert tool.labels == {"outward"}
    assert script_tool(path, timeout=2, capabilities=declared).function.timeout == 2  # type: ignore[attr-defined]
    assert script_tool(path).labels == frozenset()


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"netwrok": True}, "no capability is called 'netwrok'. Did you mean 'network'?"),
        ({"network": "perhaps"}, "network is true or false, not 'perhaps'"),
        ({"timeout": "-1"}, "timeout is a number of seconds above 0, not '-1'"),
        ({"timeout": "nan"}, "timeout is a number"),
        ({"fs_read": 3}, "fs_read is a list of paths, not 3"),
        ({"trust": "me"}, "trust is"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(declared: Any, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Capabilities.of(declared)
    assert words in str(caught.value)
