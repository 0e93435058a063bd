"""What a robot shares: its own memory, a run's, a network's; and who may give which."""

from __future__ import annotations

import pytest

import robotlab_nb as rl
from robotlab_nb.testing import ScriptedModel


def note(text: str, memory: rl.Memory) -> str:
    """Note."""
    memory.append("notes", text)
    return f"noted {len(memory.get('notes'))}"


def noting(**more):
    steps = [ScriptedModel.tool_call("note", {"text": "a"}), "done"]
    return rl.build(
        "b", model=ScriptedModel(steps), tools=[rl.tool(inject=["memory"])(note)], **more
    )


def test_a_tool_gets_the_robots_own_memory_and_the_run_is_recorded_there():
    bot = noting()
    result = bot.run("x")
    assert bot.memory.get("notes") == ["a"]
    assert result.tool_calls[0].result == "noted 1"
    assert [r.text for r in bot.memory.results] == ["done"]
    assert bot.reset_memory().memory.get("notes") is None


def test_a_dict_is_there_for_one_run_alone():
    bot = noting(memory={"notes": ["kept"]})
    assert bot.run("x", memory={"notes": []}).tool_calls[0].result == "noted 1"
    assert bot.memory.get("notes") == ["kept"]


def test_a_memory_may_be_shared_by_robots_and_is_stronger_than_their_own():
    shared = rl.create_memory()
    for bot in (noting(memory=shared), noting(memory={"notes": ["mine"]})):
        bot.run("x", memory=shared)
    assert shared.get("notes") == ["a", "a"]
    assert bot.memory.get("notes") == ["mine"]


def test_inside_a_network_the_networks_memory_counts():
    bot = noting(memory={"notes": ["mine"]})
    net = rl.create_network("n")
    net.task("t", bot)
    net.run("x").raise_for_errors()
    assert net.memory.get("notes") == ["a"]
    assert bot.memory.get("notes") == ["mine"]


def test_a_fork_has_a_copy_and_something_else_is_refused():
    bot = noting(memory={"n": 1})
    twin = bot.fork()
    twin.memory.set("n", 2)
    assert (bot.memory.get("n"), twin.memory.get("n")) == (1, 2)
    with pytest.raises(rl.ConfigurationError, match="is no memory"):
        bot.run("x", memory=5)
