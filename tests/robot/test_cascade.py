"""Every setting, at every level, and who wins; with the origin of each value."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.config import plain
from robotlab_nb.core.fields import FIELDS, NONE_IS_A_VALUE, Settings

#: from the weakest
LEVELS = ("options", "network", "skill", "template", "config", "robot", "task", "run")


def first(*_: Any, **__: Any) -> Any:
    """One callable."""


def second(*_: Any, **__: Any) -> Any:
    """Another."""


MODELS = [rl.SimulatedModel(["x"] * 50) for _ in LEVELS]
LIVE = (first, second)
NUMBERS = (0.25, 0.5)

#: two values for each setting; the first is the stronger level's
VALUES: dict[str, tuple[Any, Any]] = {
    "model": (MODELS[0], MODELS[1]),
    "fallback": (["openai/a"], ["openai/b"]),
    "provider": ("simulated", "openai"),
    "api_base": ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"),
    "api_key": ("FIRST_KEY", "SECOND_KEY"),
    "via": ("litellm", "direct"),
    "temperature": NUMBERS,
    "top_p": NUMBERS,
    "top_k": (3, 4),
    "max_tokens": (300, 400),
    "presence_penalty": NUMBERS,
    "frequency_penalty": NUMBERS,
    "stop": ("a", ["b"]),
    "seed": (1, 2),
    "reasoning_effort": ("low", "high"),
    "provider_options": ({"a": 1}, {"b": 2}),
    "output": (int, str),
    "output_retries": (1, 0),
    "output_mode": ("text", "tool"),
    "tools": ([], [first]),
    "mcp": ([], [{"name": "one", "transport": {"type": "http", "url": "http://127.0.0.1:1/mcp"}}]),
    "mcp_discovery": (True, False),
    "sees_media": (True, False),
    "max_tool_rounds": (7, 8),
    "max_tools": (9, 10),
    "tool_strategy": LIVE,
    "tool_timeout": (1.5, 2.5),
    "raise_on_error": (True, False),
    "doom_loop_threshold": (4, 5),
    "model_timeout": (11.0, 12.0),
    "attempts": (1, 2),
    "retry_interval": (0.1, 0.2),
    "retry_backoff": (1.0, 1.5),
    "retry_jitter": NUMBERS,
    "requests_per_minute": (6000, 7000),
    "tokens_per_minute": (1_000_000, 2_000_000),
    "budget": (None, None),
    "token_budget": (10_000, 20_000),
    "cost_budget": (1.0, 2.0),
    "time_budget": (100.0, 200.0),
    "call_budget": (30, 40),
    "max_concurrent_robots": (2, 3),
    "allow_unpriced": (True, False),
    "cache": (True, False),
    "tape": (None, None),
    "tape_mode": ("record", "strict"),
    "auto_compact": (True, "context_window"),
    "compact_threshold": (0.5, 0.6),
    "context_window": (1000, 2000),
    "recent_turns": (2, 4),
    "summarizer": LIVE,
    "answers": ({"a": 1}, {"b": 2}),
    "approve": (["x"], ["y"]),
    "ask_timeout": (1.0, 2.0),
    "prompts_path": (".", ".."),
    "allow_shell": (True, False),
    "allow_environment": (True, False),
    "agent_skills": (None, False),
    "skill_paths": (["a"], ["b"]),
    "skill_threshold": NUMBERS,
    "embedding_model": ("openai/a", "openai/b"),
    "learnings": (None, None),
    "session_id": ("s1", "s2"),
    "tags": (["a", "b"], ["c"]),
    "log": (False, None),
    "log_content": (True, False),
    "hooks": ({"after_run": first}, {"after_run": second}),
    "show": (False, True),
    "status": (True, False),
    "on_content": LIVE,
    "on_tool_call": LIVE,
    "on_tool_result": LIVE,
    "redact": (True, True),
}
#: what belongs to its level alone and does not cascade to the robots of a network
OWN = {"budget", "token_budget", "cost_budget", "time_budget", "call_budget"}
#: what would not be settled without more (an address asks for a real server, a key for a variable)
NOT_RUN = {
    "provider", "api_base", "api_key", "via", "fallback", "tools", "mcp", "output", "prompts_path",
}  # fmt: skip
#: what a template's front matter cannot say
NOT_TEXT = {name for name, (value, _) in VALUES.items() if callable(value)} | {
    "model", "hooks", "output", "tools", "mcp", "answers", "summarizer", "prompts_path", "api_key",
    "redact", "tape", "tape_mode", "budget", "allow_shell", "allow_environment",
}  # fmt: skip


RUN = [f for f in FIELDS if f not in NOT_RUN and VALUES[f][0] is not None]


def test_the_table_has_every_setting():
    assert set(VALUES) == set(FIELDS) == set(Settings.__annotations__)


def effective(levels: dict[str, Any], folder: Any, field: str) -> rl.RunConfig:
    """What is in force, told by the run itself, when ``field`` is set so at some levels."""
    config = {k: {field: v} for k, v in levels.items()}
    folder.mkdir(exist_ok=True)
    template = None
    for name in ("skill", "template"):
        front = config.get(name, {})
        lines = "\n".join(f"{k}: {json.dumps(v)}" for k, v in front.items())
        (folder / f"{name}.md").write_text(
            f"---\n{lines}\n---\nSay it.\n" if front else "Say it.\n"
        )
        template = template or (name in config)
    robot = dict(config.get("robot", {}))
    if field != "model":
        robot["model"] = MODELS[2]
    with rl.options(**config.get("options", {})):
        bot = rl.build(
            "bot",
            template=folder / "template.md" if template else None,
            skills=[folder / "skill.md"] if "skill" in config else (),
            config=config.get("config"),
            **robot,
        )
        if "network" in config or "task" in config:
            net = rl.create_network("net", config=config.get("network"))
            net.task("t", bot, config=config.get("task"))
            result = net.run("x")
            (child,) = result.state.children.values()
            return child.info["config"]
        return bot.run("x", config=config.get("run")).state.info["config"]


def origin(level: str, field: str) -> str:
    return {"skill": "skill:skill", "template": "template:template"}.get(level, level)


@pytest.mark.parametrize(
    "field", [f for f in FIELDS if f not in NOT_RUN and VALUES[f][0] is not None]
)
def test_the_stronger_level_wins_and_says_so(field, tmp_path):
    stronger, weaker = VALUES[field]
    possible = [lv for lv in LEVELS if not (lv in ("skill", "template") and field in NOT_TEXT)]
    if field in OWN:
        possible = [lv for lv in possible if lv not in ("network", "options")]
    for low, high in itertools.pairwise(possible):
        if (low, high) == ("task", "run"):
            continue  # a task's run has no level of its own above it
        found = effective({low: weaker, high: stronger}, tmp_path / f"{low}_{high}", field)
        told = found[field]
        assert told["origin"].startswith(origin(high, field)), (low, high, told)
        assert told["value"] == plain(field, stronger), (low, high)


@pytest.mark.parametrize(
    "field", [f for f in FIELDS if f not in NOT_RUN and VALUES[f][0] is not None]
)
def test_each_level_alone_is_in_force(field, tmp_path):
    value, _ = VALUES[field]
    for level in LEVELS:
        if level in ("skill", "template") and field in NOT_TEXT:
            continue
        if level == "network" and field in OWN:
            continue
        told = effective({level: value}, tmp_path / level, field)[field]
        assert told["origin"].startswith(origin(level, field))
        assert told["value"] == plain(field, value)


@pytest.mark.parametrize("field", sorted(NOT_RUN - {"prompts_path", "tools"}))
def test_what_needs_a_server_wins_by_level_too(field):
    stronger, weaker = VALUES[field]
    base = {} if field in ("output",) else {"model": "openai/x"}
    if field == "provider":
        base = {"model": "x"}
        stronger, weaker = "ollama", "openai"
    if field == "via":
        weaker = "litellm"
    bot = rl.build("b", config={field: weaker, **base}, **{field: stronger})
    found = bot.effective_config[field]
    assert found.origin == "robot"
    with rl.options(**{field: weaker}):
        assert rl.build("b", **base).effective_config[field].origin == "options"


def test_none_lifts_a_limit_and_leaves_other_settings_alone():
    bot = rl.build(
        "b", config={"max_tools": 5, "temperature": 0.5}, max_tools=None, temperature=None
    )
    assert bot.effective_config["max_tools"] == (None, "robot")
    assert bot.effective_config["temperature"] == (0.5, "config")
    assert {"max_tools", "doom_loop_threshold"} <= NONE_IS_A_VALUE


def test_handlers_of_all_levels_act_from_the_outside_in():
    order: list[str] = []

    def at(level: str) -> dict[str, Any]:
        return {"before_run": lambda context: order.append(level)}

    bot = rl.build("b", config={"hooks": at("config")}, hooks=at("robot"))
    net = rl.create_network("n", hooks=at("network"))
    net.task("t", bot, config={"hooks": at("task")})
    with rl.options(hooks=at("options")):
        net.run("x").raise_for_errors()
    assert order == ["options", "network", "config", "robot", "task"]


def test_an_unknown_setting_is_refused_at_every_level_with_the_near_one():
    for make in (
        lambda: rl.build("b", temprature=1),
        lambda: rl.build("b", config={"temprature": 1}),
        lambda: rl.create_network("n", temprature=1),
        lambda: rl.create_network("n", config={"temprature": 1}),
        lambda: rl.create_network("n").task("t", rl.build(), config={"temprature": 1}),
        lambda: rl.build("b").run("x", config={"temprature": 1}),
        lambda: rl.build("b").update(temprature=1),
        lambda: rl.options(temprature=1),
    ):
        with pytest.raises(rl.UnknownKeyword, match="temperature"):
            make()


def test_editors_are_told_every_setting():
    import inspect

    for thing in (rl.Robot, rl.build, rl.Network):
        assert set(FIELDS) <= set(inspect.signature(thing).parameters)


def test_a_networks_run_adds_to_its_network():
    order: list[str] = []

    def at(level: str) -> dict[str, Any]:
        return {"before_run": lambda context: order.append(level)}

    net = rl.create_network("n", hooks=at("network"), temperature=0.1, seed=1)
    net.task("t", rl.build("b"))
    result = net.run("x", hooks=at("run"), config={"temperature": 0.2})
    (child,) = result.state.children.values()
    assert order == ["network", "run"]
    assert child.info["config"]["temperature"] == {"value": 0.2, "origin": "network"}
    assert child.info["config"]["seed"] == {"value": 1, "origin": "network"}
