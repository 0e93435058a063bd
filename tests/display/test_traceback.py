"""What a notebook prints of an error: the reader's own lines, the message, the hint."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.errors import ConfigurationError, GraphError, ModelError
from robotlab_nb.display.escape import plain
from robotlab_nb.display.traceback import lines
from tests.display.trees import PAYLOADS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def raised(function: Callable[[], Any]) -> BaseException:
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def script(tmp_path: Path, code: str, name: str = "mine.py") -> dict[str, Any]:
    path = tmp_path / name
    path.write_text(code, "utf-8")
    space: dict[str, Any] = {}
    exec(compile(code, str(path), "exec"), space)
    return space


def test_own_frames_stay_and_ours_and_pythons_go(tmp_path: Path) -> None:
    code = (
        "import asyncio\n"
        "from robotlab_nb.core.messages import Message\n"
        "async def ask():\n"
        "    return Message('wizard', 'hello')\n"
        "def start():\n"
        "    return asyncio.run(ask())\n"
    )
    error = raised(script(tmp_path, code)["start"])
    found = "\n".join(lines(error))
    assert "line 6, in start\n    return asyncio.run(ask())" in found
    assert "line 4, in ask\n    return Message('wizard', 'hello')" in found
    assert "messages.py" not in found
    assert "runners.py" not in found
    assert found.endswith(
        "InputError: a message has no role 'wizard'\n  Roles: system, user, assistant, tool."
    )


def test_the_method_that_ipython_asks_gives_these_lines() -> None:
    error = ConfigurationError("no model is named", hint="Pass model=.")
    assert error._render_traceback_() == [
        "ConfigurationError: no model is named",
        "  Pass model=.",
    ]


def test_a_deep_stack_keeps_its_first_and_its_last_frames(tmp_path: Path) -> None:
    code = "def down(n):\n    return down(n - 1) if n else {}['x']\n"
    space = script(tmp_path, code)
    try:
        space["down"](50)
    except KeyError as error:
        found = lines(error)
    assert "  … 47 more frames" in found
    assert sum(line.startswith("  File") for line in found) == 5
    assert found[-1] == "KeyError: 'x'"


def test_causes_are_told_in_one_line_each() -> None:
    error = ModelError("cannot reach the provider")
    error.__cause__ = ConnectionError("refused\nby peer")
    error.__cause__.__context__ = OSError("down")
    error.__cause__.__context__.__context__ = error  # a circle
    assert lines(error)[1:] == [
        "  caused by ConnectionError: refused by peer",
        "  caused by OSError: down",
    ]
    error.__cause__ = None
    assert len(lines(error)) == 1


def test_a_message_of_several_lines_keeps_them() -> None:
    assert lines(GraphError("two faults:\n- a\n- b")) == ["GraphError: two faults:", "- a", "- b"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_words_cannot_act_in_a_terminal(payload: str) -> None:
    error = ModelError(payload, hint=payload)
    error.__cause__ = ValueError(payload)
    found = "\n".join(lines(error))
    assert plain(found) == found
    assert "\x1b" not in found
    assert len(found) < 20_000


def test_it_never_raises() -> None:
    class Sulking(ModelError):
        @property
        def message(self) -> str:
            raise RuntimeError("no")

        @message.setter
        def message(self, value: str) -> None:
            pass

        def __str__(self) -> str:
            raise RuntimeError("no")

    assert lines(Sulking("x")) == ["Sulking: <Sulking that cannot be printed>"]


def test_a_cell_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    space = script(tmp_path, "def go():\n    {}['x']\n", "123.py")
    known = str(tmp_path / "123.py")
    compiler = SimpleNamespace(
        format_code_name=lambda name: ("Cell", "In[7]") if name == known else None
    )
    fake = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=compiler))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    error = raised(space["go"])
    assert "  Cell In[7], line 2, in go" in lines(error)
    assert any(line.startswith("  File") for line in lines(error))  # this test's own frame


def test_a_real_ipython_shell_prints_them() -> None:
    import subprocess

    code = (
        "import json\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell._showtraceback = lambda etype, value, stb: print(json.dumps(stb))\n"
        "shell.run_cell('from robotlab_nb.core.messages import Message\\n"
        'Message("wizard", "x")\', store_history=True)\n'
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    printed = json.loads(found.stdout)
    assert printed[0] == "Traceback (your code only):"
    assert printed[1] == "  Cell In[1], line 2"
    assert printed[2] == '    Message("wizard", "x")'
    assert printed[3].startswith("InputError: a message has no role 'wizard'")
    assert len(printed) == 5
