"""Lines of magics: flags, names, messages as they were typed; what fills a message; completion."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.notebook.magic_complete import keys_of, offered
from robotlab_nb.notebook.magic_line import PROMPT, ROBOT, read
from robotlab_nb.notebook.magic_names import checked_name, filled, member, members
from robotlab_nb.notebook.magic_questions import Questions

USAGE = "%robot NAME message"


def line(text: str):
    return read(text, ROBOT, usage=USAGE)


def test_flags_stand_before_and_after_the_name_and_the_message_stays_as_it_was_typed():
    found = line("""-m openai/x bot --dry -o "answer" It's 5 > 4, "isn't"  it? {{ x }} $y --show""")
    assert (found["name"], found["model"], found["out"], found["dry"]) == (
        "bot", "openai/x", "answer", True,
    )  # fmt: skip
    assert found["rest"] == """It's 5 > 4, "isn't"  it? {{ x }} $y --show"""
    assert found["show"] is None


def test_flags_have_values_after_a_space_or_an_equals_sign_and_show_has_three_states():
    assert line("bot --model=a/b")["model"] == "a/b"
    assert [line(f"bot {flag}")["show"] for flag in ("--show", "--no-show", "")] == [
        True, False, None,
    ]  # fmt: skip


def test_a_dash_names_nobody_and_two_dashes_end_the_flags():
    assert (line("- hello")["name"], line("- hello")["rest"]) == (None, "hello")
    assert line("bot -- -5 + 3?")["rest"] == "-5 + 3?"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bot --modle x", "Did you mean '--model'?"),
        ("bot -o", "-o takes a value: -o VAR"),
        ("bot --dry=yes", "--dry takes no value"),
        ("bot -5 + 3", "-- ends the flags"),
    ],
)
def test_a_wrong_flag_is_told_with_what_was_meant(text, says):
    with pytest.raises(rl.InputError, match="flag|value") as caught:
        line(text)
    assert says in str(caught.value)


@given(st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda s: s == s.strip() != ""))
def test_any_text_after_two_dashes_is_the_message(text):
    assert line(f"bot -- {text}")["rest"] == text


# -- names and values --------------------------------------------------------------------------


def test_robots_and_networks_are_found_by_variable_and_a_misspelt_one_is_told():
    space = {"bot": rl.build("a"), "net": rl.create_network("n"), "x": 1, "_3": rl.build("c")}
    assert list(members(space)) == ["bot", "net"]
    with pytest.raises(rl.InputError, match=r"no robot 'bto'. Did you mean 'bot'\?"):
        member("bto", space, otherwise="")
    with pytest.raises(rl.InputError, match="x holds a int"):
        member("x", space, otherwise="")
    with pytest.raises(rl.InputError, match=r'Make one: helper = rl.build\("helper"\)'):
        member("helper", {}, otherwise="")


def fill(text: str, **values):
    return filled(text, values, where="%%robot", hidden={"hidden"})


def test_a_value_is_data_and_is_not_filled_again():
    assert fill("{{ a }}", a="{{ b }} {% x %}", b="no") == "{{ b }} {% x %}"
    assert fill("{% for n in ns %}{{ n }};{% endfor %}", ns=[1, 2]) == "1;2;"


def test_what_a_pasted_text_could_call_fills_nothing(tmp_path):
    with pytest.raises(rl.InputError, match="os is a module"):
        fill("{{ os.getcwd() }}", os=os)
    with pytest.raises(rl.InputError, match="bot is a Robot"):
        fill("{{ bot.run('x') }}", bot=rl.build("b"))
    with pytest.raises(rl.InputError, match="wipe is a function"):
        fill("{{ wipe() }}", wipe=lambda: tmp_path.rmdir())
    assert tmp_path.exists()
    with pytest.raises(rl.InputError, match="undefined"):
        fill("{{ hidden }}", hidden="the shell's own")
    with pytest.raises(rl.InputError):
        fill("{{ a.__class__.__mro__ }}", a="x")


def test_a_missing_name_is_told_with_the_near_one_and_broken_braces_with_a_way_out():
    with pytest.raises(rl.InputError, match=r"'topc' is undefined. Did you mean 'topic'\?"):
        fill("{{ topc }}", topic="rain")
    with pytest.raises(rl.InputError, match="--literal"):
        fill("a {{ b")


@pytest.mark.parametrize("name", ["", None, "a b", "class", "a.b", "1a"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(rl.InputError, match="name of a variable"):
        checked_name(name, "-o")


# -- a question mark at the end ----------------------------------------------------------------


def asked(code: str) -> str:
    return "".join(Questions(None)(code.splitlines(keepends=True)))  # type: ignore[arg-type]


def test_a_question_to_a_robot_is_not_a_wish_for_ipythons_help():
    assert asked("%robot bot Why?\n") == "get_ipython().run_line_magic('robot', 'bot Why?')\n"
    assert asked("x = 1\n  %robot bot It's?\n").endswith(
        """  get_ipython().run_line_magic('robot', "bot It's?")\n"""
    )


@pytest.mark.parametrize(
    "code",
    [
        "%robot?\n",
        "%robot bot hello\n",
        'x = """\n%robot bot hm?\n"""\n',
        "%%robot bot\n%robot a b?\n",
    ],
)
def test_nothing_else_is_rewritten(code):
    assert asked(code) == code


# -- completion --------------------------------------------------------------------------------


def test_the_first_line_of_a_magic_completes_robots_flags_models_and_variables():
    space = {"bot": rl.build("a"), "big": 1}
    assert offered("%%robot b", space) == ("b", ["bot"])
    assert offered("%%robot bot --no", space) == ("--no", ["--no-show"])
    assert offered("%robot -o b", space) == ("b", ["bot", "big"])
    assert offered("%%prompt x --t", space) == ("--t", ["--text"])
    typed, models = offered("%%robot -m openai/gpt-5-m", space)
    assert typed == "openai/gpt-5-m"
    assert "openai/gpt-5-mini" in models
    assert offered("%%robot b", space, first=False) is None


def test_models_complete_where_a_setting_names_one_and_nowhere_else():
    assert "openai/gpt-5-mini" in offered('rl.build(model="openai/gpt-5', {})[1]
    assert offered('remodel="openai/gpt-5', {}) is None
    assert offered('print("openai/gpt', {}) is None


def test_keys_behind_properties_of_ours_complete_and_no_one_elses_property_is_asked():
    class Trap:
        @property
        def data(self):
            raise AssertionError("asked")

    def lookup(word: str) -> str:
        "Look up."
        return word

    bot = rl.build("b", tools=[lookup])
    memory = rl.create_memory({"city": "Paris"})
    assert offered('bot.tools["lo', {"bot": bot}) == ("lo", ["lookup"])
    assert keys_of("memory.data", {"memory": memory}) == ["city"]
    assert keys_of("trap.data", {"trap": Trap()}) == []
    assert keys_of("bot._config", {"bot": bot}) == []


def test_objects_tell_their_keys_and_names():
    memory = rl.create_memory({"city": "Paris"})
    memory["plan"] = "x"
    memory.data["not a name"] = 1
    assert memory._ipython_key_completions_() == ["plan"]
    assert "city" in dir(memory.data)
    assert "not a name" not in dir(memory.data)
    assert "not a name" in memory.data._ipython_key_completions_()
    assert rl.RunConfig(temperature=0)._ipython_key_completions_() == ["temperature"]
    assert "temperature" in rl.build("b").effective_config._ipython_key_completions_()
    from robotlab_nb.network.upstream import Upstream

    upstream = Upstream({"draft": "x", "check it": "y"})
    assert upstream._ipython_key_completions_() == ["draft", "check it"]
    assert {"draft", "check it"} & set(dir(upstream)) == {"draft"}


def test_options_say_what_they_mean_and_that_a_bare_call_sets_nothing():
    assert rl.options.describe("show").startswith(
        "show: Whether a notebook shows runs live. Takes bool"
    )
    with rl.options(show=True):
        assert rl.options.describe("show").endswith("Now True (options).")
    with pytest.raises(rl.UnknownKeyword, match="Did you mean 'show'"):
        rl.options.describe("shwo")
    assert "with rl.options(show=True)" in repr(rl.options(show=True))
    assert rl.options.show is False
    assert {"describe", "reload", "temperature"} <= set(dir(rl.options))


def test_prompt_flags_are_their_own():
    found = read("tone --text", PROMPT, usage="")
    assert (found["name"], found["text"], found["out"]) == ("tone", True, None)
