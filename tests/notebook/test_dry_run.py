"""Dry runs: exactly what a real run sends, and nothing sent, run, kept or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import robotlab_nb as rl
from robotlab_nb.display.pictures import html, text
from robotlab_nb.notebook.demo import TICKET, support
from robotlab_nb.notebook.dry_run import dry_network, dry_robot
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from pathlib import Path


def lookup(word: str) -> str:
    """Look a word up.

    Parameters
    ----------
    word : str
        The word.
    """
    return word


def test_a_dry_run_tells_what_the_server_then_gets():
    with ModelServer(["first", "second"]) as server:
        bot = rl.build(
            "bot", model=server.model("m"), tools=[lookup], system_prompt="Be brief.",
            temperature=0.2,
        )  # fmt: skip
        bot.run("one")
        dry = dry_robot(bot, "two")
        assert len(server.requests) == 1
        assert len(bot.messages) == 3
        bot.run("two")
        sent = server.requests[1].body
    told = [(m.role, m.text) for m in dry.messages]
    assert told == [(m["role"], m["content"]) for m in sent["messages"]]
    assert [t.name for t in dry.tools] == [t["function"]["name"] for t in sent["tools"]]
    assert dry.tools[0].parameters == sent["tools"][0]["function"]["parameters"]
    assert dry.params == {"temperature": sent["temperature"]}
    assert dry.system == "Be brief."
    assert 30 < dry.tokens < 200


def test_a_model_without_a_key_is_told_and_the_message_shown_all_the_same(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    dry = dry_robot(rl.build("bot"), "hello", level={"model": "openai/gpt-5-mini"})
    assert "OPENAI_API_KEY" in (dry.refused or "")
    assert dry.model == "openai/gpt-5-mini"
    assert not dry.simulated
    assert 0 < dry.cost_usd < 0.001
    assert dry.window > 100_000
    shown = text(dry)
    assert "it would be refused" in shown
    assert "hello" in shown


def test_a_templates_values_are_checked_and_its_commands_not_run(tmp_path: Path):
    marker = tmp_path / "ran"
    asking = rl.Template(f"---\nshell: true\n---\nHi {{{{ who }}}} $(touch {marker})", "asking")
    bot = rl.build("bot", template=asking, allow_shell=True)
    with pytest.raises(rl.ConfigurationError, match="who"):
        dry_robot(rl.build("b", template=rl.Template("Hi {{ who }}", "t")), "hello")
    dry = dry_robot(bot, "hello", context={"who": "Ann"})
    assert dry.system.startswith("Hi Ann $(touch")
    assert any("commands" in note for note in dry.notes)
    assert not marker.exists()


def test_handlers_are_not_called_and_are_told_of():
    called = []

    class Spy:
        def before_run(self, context):
            called.append(context)

    dry = dry_robot(rl.build("b", hooks=[Spy()]), "hello")
    assert not called
    assert any("handlers" in note for note in dry.notes)


def test_a_prescribed_answer_is_part_of_what_would_be_sent():
    dry = dry_robot(rl.build("b", output=list[str]), "hello")
    assert any("the answer must be" in note for note in dry.notes)


def test_a_networks_first_tasks_are_told_as_they_are_then_asked():
    net = support()
    dry = dry_network(net, TICKET)
    asked = {task.name: task.asks for task in dry.tasks}
    assert [name for name, asks in asked.items() if asks is not None] == ["classify"]
    result = net.run(TICKET)
    run = result["classify"]
    told = [m.text for m in run.state.messages[:2]]
    assert [asked["classify"].system, asked["classify"].messages[-1].text] == told
    assert {task.name: task.after for task in dry.tasks}["billing"] == ("classify",)
    assert dry.simulated
    shown = text(dry)
    for task in net.tasks:
        assert task in shown


def test_a_network_setting_reaches_its_robots_and_a_broken_network_is_refused():
    net = rl.create_network("n", temperature=0.5)
    net.task("a", rl.build("x"))
    assert dry_network(net, "m").tasks[0].asks.params == {"temperature": 0.5}
    net.task("b", rl.build("y"), depends_on=["nobody"])
    with pytest.raises(rl.GraphError):
        dry_network(net, "m")


def test_its_picture_escapes_what_it_shows_and_masks_keys():
    rl.register_secret("canary-key-0123456789", "MY_KEY")
    hostile = "<script>alert(1)</script> canary-key-0123456789 \x1b[31m"
    bot = rl.build(hostile[:20], system_prompt=hostile, tools=[lookup])
    drawn = html(dry_robot(bot, hostile))
    assert "<script" not in drawn
    assert "canary-key" not in drawn + text(dry_robot(bot, hostile))
    assert "\x1b" not in drawn


def test_attachments_are_counted(tmp_path: Path):
    note = tmp_path / "a.txt"
    note.write_text("words")
    dry = dry_robot(rl.build("b"), "read it", attachments=[note])
    assert "1 attachment" in text(dry)


def test_a_real_run_after_a_dry_one_is_the_first_request():
    with ModelServer([Reply.text("hi")]) as server:
        bot = rl.build("b", model=server.model("m"), token_budget=1000)
        for _ in range(3):
            dry_robot(bot, "hello")
        assert bot.budgets[0].used.tokens == 0
        assert not server.requests
        assert str(bot.run("hello")) == "hi"
