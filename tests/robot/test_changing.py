"""A robot is changed without losing its other parts; a fork goes its own way."""

from __future__ import annotations

import pickle

import pytest

import robotlab_nb as rl


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def double(n: int) -> int:
    """Double."""
    return 2 * n


@pytest.fixture
def prompts(tmp_path):
    (tmp_path / "poet.md").write_text(
        "---\nrobot_name: poet\ndescription: writes verse\ntemperature: 0.9\n"
        "parameters:\n  form: haiku\n  topic: null\n---\nWrite a {{ form }} about {{ topic }}.\n"
    )
    (tmp_path / "critic.md").write_text("Judge what you are given.\n")
    (tmp_path / "tone.md").write_text("---\ntop_p: 0.5\n---\nBe kind.\n")
    return tmp_path


def system_of(robot, **context):
    """What the model was told first."""
    result = robot.run("go", context=context)
    first = result.state.messages[0]
    return first.text if first.role == "system" else ""


def echo(prompts, **parts):
    model = rl.SimulatedModel(lambda request: "ok")
    return rl.build(model=model, prompts_path=prompts, **parts)


def test_a_template_brings_a_name_a_description_and_settings_and_stands_before_the_prompt(prompts):
    bot = echo(prompts, template="poet", skills=["tone"], system_prompt="Be brief.")
    assert (bot.name, bot.description) == ("poet", "writes verse")
    assert bot.effective_config["temperature"] == (0.9, "template:poet")
    assert bot.effective_config["top_p"] == (0.5, "skill:tone")
    assert system_of(bot, topic="tea") == "Be kind.\n\nWrite a haiku about tea.\n\nBe brief."


def test_what_a_run_gives_is_stronger_than_what_was_built(prompts):
    bot = echo(prompts, template="poet", context={"topic": "tea", "form": "sonnet"})
    assert system_of(bot) == "Write a sonnet about tea."
    assert system_of(bot, topic="rain") == "Write a sonnet about rain."


def test_a_missing_value_is_an_error_before_any_request_and_names_it(prompts):
    bot = echo(prompts, template="poet")
    with pytest.raises(rl.ConfigurationError, match=r"poet.*topic") as caught:
        bot.run("go")
    assert "poet.md" in str(caught.value)
    assert bot.messages == ()


@pytest.mark.parametrize("change", ["template", "system_prompt", "skills", "model", "tools"])
def test_changing_one_part_keeps_all_others(prompts, change):
    bot = echo(
        prompts, template="poet", skills=["tone"], system_prompt="Be brief.",
        context={"topic": "tea"}, tools=[add], max_tokens=5, config={"seed": 3},
    )  # fmt: skip
    bot.run("hello")
    before = bot.parts()
    new = {
        "template": "critic", "system_prompt": "Be long.", "skills": ["critic"],
        "model": rl.SimulatedModel(["other"]), "tools": [double],
    }[change]  # fmt: skip
    assert bot.update(**{change: new}) is bot
    after = bot.parts()
    assert {k for k in after if after[k] != before[k]} == {change}
    assert len(bot.messages) == 3
    text = system_of(bot)
    assert ("Be kind." in text) == (change != "skills")
    assert ("Be brief." in text) == (change != "system_prompt")


def test_methods_chain_and_last(prompts):
    bot = (
        rl.build("b", prompts_path=prompts, tools=[add])
        .with_template("poet", topic="tea")
        .with_skills("tone")
        .with_system_prompt("Now.")
        .with_tools(double)
        .with_temperature(0.1)
        .with_model(rl.SimulatedModel(["one", "two"]))
    )
    assert system_of(bot) == "Be kind.\n\nWrite a haiku about tea.\n\nNow."
    assert bot.tools.names == ("add", "double")
    bot.run("again")
    assert bot.tools.names == ("add", "double")
    assert bot.effective_config["temperature"] == (0.1, "robot")


def test_none_takes_a_part_away(prompts):
    bot = echo(prompts, template="critic", system_prompt="x", skills=["tone"], temperature=1)
    bot.update(template=None, skills=None, temperature=None)
    assert system_of(bot) == "x"
    assert bot.effective_config["temperature"].origin == "default"


def test_a_change_that_cannot_be_meant_leaves_the_robot_as_it_was(prompts):
    bot = echo(prompts, template="critic", tools=[add])
    before = bot.parts()
    for wrong in (
        {"template": "nonesuch"},
        {"model": "nobody/x"},
        {"tools": ["zzz"]},
        {"seed": "x"},
    ):
        with pytest.raises(rl.RobotLabError):
            bot.update(**wrong)
        assert bot.parts() == before
    with pytest.raises(rl.UnknownKeyword, match="temperature"):
        bot.update(temprature=1)


def test_a_template_that_changed_on_disk_is_read_again(prompts):
    bot = echo(prompts, template="critic")
    assert system_of(bot) == "Judge what you are given."
    (prompts / "critic.md").write_text("---\nseed: 4\n---\nPraise all of it.\n")
    assert system_of(bot) == "Praise all of it."
    assert bot.effective_config["seed"].value == 4


def test_a_fork_has_the_past_and_a_future_of_its_own():
    one = rl.build("one", model=rl.SimulatedModel(lambda request: str(len(request.messages))))
    one.run("a")
    one.learn("Cats purr.")
    two = one.fork("two")
    two.run("b")
    two.learn("Dogs bark.")
    one.run("c")
    assert [m.text for m in one.messages if m.is_user] == ["a", "c"]
    assert [m.text for m in two.messages if m.is_user] == ["a", "b"]
    assert (one.learnings, two.learnings) == (("Cats purr.",), ("Cats purr.", "Dogs bark."))
    assert (one.name, two.name) == ("one", "two")


def test_what_was_learned_stands_in_the_system_message_and_not_in_the_conversation():
    bot = rl.build("b", system_prompt="Help.", model=rl.SimulatedModel(["ok", "ok"]))
    assert bot.learn("The user likes tea.")
    assert not bot.learn("likes tea")
    result = bot.run("hello")
    assert "The user likes tea." in result.state.messages[0].text
    assert result.messages[0].text == "hello"
    (composed,) = [e for e in result.events if e.type == "prompt.composed"]
    assert [p["kind"] for p in composed.data["parts"]] == ["system_prompt", "learnings"]


def test_a_replaced_system_message_stands_alone(prompts):
    bot = echo(prompts, template="critic", system_prompt="x")
    saved = list(bot.messages)
    assert bot.replace_messages(saved).template == "critic"  # what it says already
    bot.replace_messages(["not a system message"])
    assert bot.template == "critic"
    bot.replace_messages([{"role": "system", "content": "Only this."}, "hi"])
    assert (bot.template, system_of(bot)) == (None, "Only this.")


def test_a_pickled_robot_is_a_recipe_with_its_templates(prompts):
    bot = rl.build(template="poet", prompts_path=str(prompts), skills=["tone"], tools=[add])
    twin = pickle.loads(pickle.dumps(bot))
    assert twin.parts() == bot.parts()


def test_a_tool_of_a_class_knows_the_robot_that_has_it():
    class WhoAmI(rl.Tool):
        """Say whose tool this is."""

        def execute(self) -> str:
            return self.robot.name

    from robotlab_nb.testing import ScriptedModel

    steps = [ScriptedModel.tool_call("who_am_i", {}), "done"]
    for name in ("ann", "bob"):
        bot = rl.build(name, model=ScriptedModel(list(steps)), tools=[WhoAmI])
        assert bot.run("who?").tool_calls[0].result == name
    shared = WhoAmI()
    ann = rl.build("ann", model=ScriptedModel(list(steps)), tools=[shared])
    bob = rl.build("bob", model=ScriptedModel(list(steps)), tools=[shared])
    assert [r.run("who?").tool_calls[0].result for r in (ann, bob)] == ["ann", "bob"]
