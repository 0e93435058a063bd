"""The pytest plugin, as somebody's own tests have it: pytest in a process of its own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Callable

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: Any) -> Callable[..., Any]:
    """Write a test file and run it, with the plugin that the installed package brings."""
    from importlib.metadata import entry_points

    found = [p.value for p in entry_points(group="pytest11") if p.name == "robotlab_nb"]
    assert found == ["robotlab_nb.testing.plugin"], "install the checkout: pip install -e ."
    monkeypatch.delenv("ROBOTLAB_NB_LOG", raising=False)

    def run_it(source: str, *arguments: str) -> Any:
        pytester.makepyfile(test_it="import pytest\nimport robotlab_nb as rl\n" + source)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    return run_it


def said(result: Any) -> str:
    return re.sub(r"\s+", " ", result.stdout.str())


def test_scripts_are_followed_to_their_end(run: Any) -> None:
    result = run(
        """
def test_used(scripted_model):
    bot = rl.build(model=scripted_model(["Yes.", "No."]))
    assert [bot.run(n).text for n in "12"] == ["Yes.", "No."]

def test_left_over(scripted_model):
    assert rl.build(model=scripted_model("Yes.", "No.")).run("1").text == "Yes."

def test_already_failed(scripted_model):
    scripted_model(["never used"])
    assert not "its own failure"
"""
    )
    result.assert_outcomes(passed=2, errors=1, failed=1)
    assert "1 of 2 steps were not used" in said(result)
    assert "never used" not in said(result).replace('scripted_model(["never used"])', "")


def test_a_server_is_started_and_closed(run: Any) -> None:
    result = run(
        """
import socket

PORTS = []

def test_asked(model_server):
    server = model_server(["Hi!"])
    PORTS.append(server.url)
    assert rl.build(model="small", api_base=server.base_url).run("hello").text == "Hi!"
    assert server.requests[0].messages[0]["content"] == "hello"

def test_closed():
    host, port = PORTS[0].removeprefix("http://").split(":")
    with pytest.raises(OSError):
        socket.create_connection((host, int(port)), 1)

def test_not_asked(model_server):
    model_server("one", "two")
"""
    )
    result.assert_outcomes(passed=3, errors=1)
    assert "2 of the server.s replies were not asked for" in said(result).replace("'", ".")


BLOCKED = """
@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_blocked(via, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-of-value")
    rl.build(model="openai/gpt-5-mini", via=via, config={{"fallback": "openai/gpt-4o"}}).run("hi")

def test_local_servers_are_real_too():
    rl.build(model="small", api_base={url!r}).run("hi")

def test_vectors():
    import asyncio
    from robotlab_nb.models.embeddings import embed
    asyncio.run(embed("small", ["hi"], api_base={url!r}))

@pytest.mark.real_models
def test_marked():
    assert rl.build(model="small", api_base={url!r}).run("hi").text == "Hello."
"""


def test_real_models_are_not_asked_by_mistake(run: Any) -> None:
    with ModelServer(["Hello."]) as server:
        source = BLOCKED.format(url=server.base_url)
        result = run(source, "--strict-markers")
        result.assert_outcomes(passed=1, failed=4)
        assert len(server.requests) == 1
    assert "a test was about to ask a real model: openai/gpt-5-mini" in said(result)
    assert "@pytest.mark.real_models" in said(result)


def test_all_tests_may_ask_when_that_is_said(run: Any) -> None:
    with ModelServer(["Hello."]) as server:
        source = f"""
def test_asks():
    assert rl.build(model="small", api_base={server.base_url!r}).run("hi").text == "Hello."
"""
        run(source, "--robotlab-real-models").assert_outcomes(passed=1)


TAPED = """
@pytest.mark.parametrize("word", ["one", "a/b c"])
def test_taped(tape, word):
    bot = rl.build(model="small", api_base={url!r})
    assert bot.run(word).text == word.upper()
"""


@pytest.mark.slow
def test_a_test_records_its_tape_once_and_plays_it_ever_after(
    run: Any, pytester: pytest.Pytester
) -> None:
    def shout(request: Any) -> str:
        return str(request.messages[-1]["content"]).upper()

    with ModelServer(script=shout) as server:
        source = TAPED.format(url=server.base_url)
        first = run(source)
        first.assert_outcomes(errors=2)
        assert "pytest --robotlab-tape=record" in said(first)
        assert not (pytester.path / "tapes").exists()
        run(source, "--robotlab-tape=record").assert_outcomes(passed=2)
        assert len(server.requests) == 2
        tapes = sorted(p.name for p in (pytester.path / "tapes" / "test_it").iterdir())
        assert tapes == ["test_taped-a-b-c.jsonl", "test_taped-one.jsonl"]
    run(source).assert_outcomes(passed=2)
    changed = pytester.path / "tapes" / "test_it" / "test_taped-one.jsonl"
    changed.write_text(changed.read_text().replace('"ONE"', '"TWO"'))
    run(source).assert_outcomes(passed=1, failed=1)
    with ModelServer(script=shout) as other:
        added = source.replace(server.base_url, other.base_url)
        run(added, "--robotlab-tape=auto").assert_outcomes(passed=2)
        assert len(other.requests) == 2


def test_what_nobody_uses_costs_nothing_and_writes_no_log(run: Any) -> None:
    result = run(
        """
import json, os, sys

def test_light():
    pass

def test_told():
    heavy = "aiohttp litellm mcp pandas ipywidgets sqlalchemy jinja2 pydantic IPython".split()
    print(json.dumps([[m for m in heavy if m in sys.modules], os.environ["ROBOTLAB_NB_LOG"]]))
""",
        "-s", "-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:syrupy",
    )  # fmt: skip
    result.assert_outcomes(passed=2)
    line = next(line for line in result.outlines if "[[" in line)
    assert json.loads(line[line.index("[[") :]) == [[], "off"]


def test_a_project_can_do_without_it(run: Any) -> None:
    result = run("def test_it(scripted_model): pass", "-p", "no:robotlab_nb")
    result.assert_outcomes(errors=1)
