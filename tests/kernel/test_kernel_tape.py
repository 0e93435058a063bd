"""A notebook with a tape, in a real kernel: run without a network, it is the same notebook."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from robotlab_nb.notebook.painter import QUIET_S
from robotlab_nb.testing import ModelServer, Reply

from .conftest import ROOT, Kernel

if TYPE_CHECKING:
    from pathlib import Path

    from robotlab_nb.testing import Recorded

pytestmark = pytest.mark.kernel

#: what a kernel runs first: no socket but the pairs that event loops wake themselves with
NO_SOCKETS = """
def _forbid():
    import socket
    begin = socket.socket.__init__

    def refuse(self, family=-1, type=-1, proto=-1, fileno=None):
        if fileno is None:
            raise AssertionError("a socket was opened")
        begin(self, family, type, proto, fileno)

    socket.socket.__init__ = refuse

_forbid()
del _forbid
"""

CELLS = (
    "%load_ext robotlab_nb\n"
    "import time\n"
    "import robotlab_nb as rl\n"
    "rl.options.tape = 'lesson.jsonl'",
    "def weather(city: str) -> str:\n"
    "    'Tell the weather.'\n"
    "    time.sleep(0.03)\n"
    "    return f'sunny in {city}'\n\n"
    "bot = rl.build('guide', model='openai/gpt-4o-mini', api_base='URL', tools=[weather])\n"
    "answer = bot.run('Weather in Paris?')\n"
    "answer",
    "bot.run('And tomorrow?', show=True)",
    "bot.start('Tell me a story.').result()",
    "for event in bot.stream('And the moral?'):\n    pass\n"
    "f'{answer.duration:.6f} s, {answer.input_tokens} tokens, ${answer.cost:.6f}'",
    "%%robot bot -o more\nThank you for {{ 3 }} answers.",
    "net = rl.create_network('desk')\n"
    "for name in ('left', 'right'):\n"
    "    net.task(name, rl.build(name, model='openai/gpt-4o-mini', api_base='URL'))\n"
    "net.task('both', rl.build('both', model='openai/gpt-4o-mini', api_base='URL'),"
    " depends_on=['left', 'right'])\n"
    "result = net.run('Compare.')\n"
    "result",
    "result.frames.tasks[['task', 'status', 'duration_s', 'waited_s', 'tokens', 'cost_usd']]",
    "answer.frames.tool_calls[['tool', 'status', 'duration_s', 'result']]",
    "await bot.arun('bye')",
    "rl.check(answer, rl.contains('sunny'), name='is sunny')\n"
    "rl.check(answer, rl.contains('rain'), name='has rain')",
    "%%robot_check is short\nlen(answer.text) < 10",
    "bot.run('fail, please')",
    "answer",
)


def script(request: Recorded) -> Reply:
    """Answers that depend on the question, late and in pieces."""
    said = str(request.messages[-1]["content"])
    if said == "Weather in Paris?":
        # Longer than a cell waits before it shows that it does.
        return Reply.tool_call("weather", {"city": "Paris"}).after(QUIET_S + 0.3)
    if "fail" in said:
        return Reply.error(400, "this cannot be done")
    words = f"It is sunny; asked: {said[:30]}".split(" ")
    return Reply.text([f"{word} " for word in words]).paced(0.004)


def executed(folder: Path, url: str, mode: str, startup: str) -> list[Any]:
    """The outputs of the lesson, cell by cell."""
    from nbclient import NotebookClient

    home = folder / f"home-{mode}"
    (home / "profile_default" / "startup").mkdir(parents=True)
    (home / "profile_default" / "startup" / "00-first.py").write_text(startup)
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(cell.replace("URL", url)) for cell in CELLS]
    env = {
        **os.environ, "IPYTHONDIR": str(home), "PYTHONPATH": str(ROOT), "ROBOTLAB_NB_LOG": "off",
        "ROBOTLAB_TAPE_MODE": mode, "OPENAI_API_KEY": "sk-a-canary-of-no-value",
    }  # fmt: skip
    if mode == "strict":
        del env["OPENAI_API_KEY"]
    client = NotebookClient(
        book, timeout=240, kernel_name="python3", record_timing=False, allow_errors=True,
        coalesce_streams=True, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute(env=env)
    return [cell.outputs for cell in book.cells]


def test_a_recorded_notebook_runs_again_without_sockets_and_is_the_same(tmp_path: Path) -> None:
    with ModelServer(script=script) as server:
        first = executed(tmp_path, server.base_url, "record", "")
        asked = len(server.requests)
    failed = [n for n, outputs in enumerate(first) for o in outputs if o.output_type == "error"]
    assert failed == [12], first
    assert b"canary" not in (tmp_path / "lesson.jsonl").read_bytes()
    recorded = (tmp_path / "lesson.jsonl").read_bytes()
    again = executed(tmp_path, server.base_url, "strict", NO_SOCKETS)
    for cell, before, after in zip(CELLS, first, again, strict=True):
        assert json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True), cell
    assert (tmp_path / "lesson.jsonl").read_bytes() == recorded
    assert asked == len(server.requests) == 11


def test_the_socket_guard_of_this_test_bites(tmp_path: Path) -> None:
    kernel = Kernel()
    try:
        kernel.run(NO_SOCKETS)
        cell = kernel.run("import socket; socket.create_connection(('127.0.0.1', 1))")
        assert "a socket was opened" in cell.streams
    finally:
        kernel.close()


def test_a_cell_run_again_by_a_person_gets_the_same_answers(tmp_path: Path) -> None:
    path = tmp_path / "flips.jsonl"
    flips = iter(["heads", "tails", "edge"])
    with ModelServer(script=lambda _: next(flips)) as server:
        kernel = Kernel({"ROBOTLAB_NB_LOG": "off"})
        try:
            kernel.run(
                "import robotlab_nb as rl\n"
                f"rl.options.tape = {str(path)!r}\n"
                f"bot = rl.build(model='small', api_base={server.base_url!r})"
            )
            flip = "[bot.fork().run('flip').text for _ in range(2)]"
            first = kernel.run(flip, cell_id="one")
            assert first.text == "['heads', 'tails']", first
            assert kernel.run(flip, cell_id="one").text == first.text
            assert kernel.run("bot.fork().run('flip').text", cell_id="two").text == "'edge'"
            assert kernel.run(flip, cell_id="one").text == first.text
            assert len(server.requests) == 3
        finally:
            kernel.close()


def test_a_check_shows_itself_once_and_stops_nothing() -> None:
    kernel = Kernel({"ROBOTLAB_NB_LOG": "off"})
    try:
        kernel.run("%load_ext robotlab_nb\nimport robotlab_nb as rl")
        cell = kernel.run(
            "for n in (1, 2):\n    made = rl.check('Lyon', expected='Paris', name=f'no {n}')\n"
            "print('went on')\nmade"
        )
        assert cell.error is None
        assert "went on" in cell.streams
        shown = [display["text/plain"] for display in cell.displays]
        assert [text.split("\n")[0] for text in shown] == ["✕ failed · no 1", "✕ failed · no 2"]
        assert not cell.results
        again = kernel.run("made")
        assert [d["text/plain"].split("\n")[0] for d in again.displays] == ["✕ failed · no 2"]
        magic = kernel.run("%%robot_check adds up\n1 + 1 == 2")
        assert magic.displays[0]["text/plain"] == "✓ passed · adds up"
        assert "%%robot_check NAME" in kernel.run("%%robot_check\nTrue").streams
    finally:
        kernel.close()
