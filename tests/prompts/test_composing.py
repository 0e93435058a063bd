"""Templates and their skills, put together."""

from __future__ import annotations

import os
import sys
import types

import pytest

from robotlab_nb.core.config import resolve
from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.prompts.composing import compose
from robotlab_nb.prompts.templates import Template
from robotlab_nb.tools.decorator import tool


@tool
def refund(order: str) -> str:
    "Pays back."
    return order


@pytest.fixture
def prompts(tmp_path):
    """``prompts(main=…)(template, skills)`` composes from a folder with these files."""

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.md").write_text(text, "utf-8")

        def put(template, skills=None, **settings):
            return compose(template, skills, folder=tmp_path, settings=settings)

        return put

    return write


def head(text, **front):
    lines = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\n{lines}---\n{text}"


def wrong(function, *args, **more):
    with pytest.raises(ConfigurationError) as caught:
        function(*args, **more)
    return str(caught.value)


def names(found):
    return [f"{kind}:{part.name}" for kind, part in found.parts]


def test_nothing_composes_to_nothing(prompts):
    assert prompts()(None) is None
    assert prompts()(None, []) is None


def test_skills_come_first_nested_ones_before_those_that_need_them(prompts):
    put = prompts(
        main=head("main", skills="[last]"),
        first=head("first", skills="[deep, deeper]"),
        deep=head("deep", skills="[deeper]"),
        deeper="deeper",
        last="last",
    )
    found = put("main", ["first"])
    sections = found.sections({}, robot="r")
    assert [s.text for s in sections] == ["deeper", "deep", "first", "last", "main"]
    assert [s.kind for s in sections] == ["skill"] * 4 + ["template"]
    assert [s.name for s in sections][-1] == "main"
    assert found.repeats == ("deeper",)


def test_skills_of_one_head_keep_their_order(prompts):
    put = prompts(main=head("m", skills="[b, c, a]"), a="a", b=head("b", skills="[e, d]"), c="c",
                  d="d", e="e")  # fmt: skip
    assert names(put("main")) == [*(f"skill:{n}" for n in "edbca"), "template:main"]


def test_repeats_count_once_and_circles_end(prompts):
    put = prompts(
        main=head("main", skills="[a, a]"),
        a=head("a", skills="[b]"),
        b=head("b", skills="[a, main, b]"),
    )
    found = put("main", ["a", "main"])
    assert names(found) == ["skill:b", "skill:a", "template:main"]
    assert sorted(found.repeats) == ["a", "a", "a", "b", "main", "main"]


def test_a_long_chain_of_skills_is_no_problem(prompts):
    texts = {f"s{n}": head(f"{n}", skills=f"[s{n + 1}]") for n in range(1500)}
    found = prompts(**texts, s1500="end")(None, ["s0"])
    assert len(found.parts) == 1501
    assert names(found)[0] == "skill:s1500"


def test_skills_alone_and_texts_as_skills(prompts):
    found = prompts(tone="Be kind.")(None, ["tone", Template("Be {{ x }}.", "more")])
    assert [s.text for s in found.sections({"x": "brief"}, robot="r")] == ["Be kind.", "Be brief."]
    assert (found.robot_name, found.description, found.tools, found.template) == (None,) * 4


def test_settings_cascade_from_the_first_skill_to_the_template(prompts):
    put = prompts(
        main=head("main", temperature=0.1, model="openai/x"),
        a=head("a", temperature=0.3, seed=1, skills="[b]"),
        b=head("b", temperature=0.5, seed=2, top_k=4),
        c="c",
    )
    levels = put("main", ["a", "c"]).levels
    assert [origin for origin, _ in levels] == ["skill:b", "skill:a", "template:main"]
    found = resolve(levels)
    assert found["temperature"] == (0.1, "template:main")
    assert found["seed"] == (1, "skill:a")
    assert found["top_k"] == (4, "skill:b")
    assert found["model"] == ("openai/x", "template:main")


def test_what_the_heads_say_of_the_robot(prompts):
    put = prompts(
        main=head(
            "m", robot_name="clerk", description="Helps.", tools="[c, a.b:d]", agent_skills="[z]"
        ),
        skill=head(
            "s", robot_name="other", tools="[a, 'b*', c]", agent_skills="[y, z]", mcp="[{x: 1}]"
        ),
        none=head("n", tools="[]", agent_skills="false"),
        all=head("n", agent_skills="true"),
    )  # fmt: skip
    found = put("main", ["skill"])
    assert (found.robot_name, found.description) == ("clerk", "Helps.")
    assert found.tools == ["a", "b*", "c", "a.b:d"]
    assert found.agent_skills == ["y", "z"]
    assert found.mcp == [{"x": 1}]
    assert put("none", ["skill"]).tools == []
    assert put("none", ["skill"]).agent_skills is False
    assert put("main", ["all"]).agent_skills is True
    assert put("main", ["none"]).tools == ["c", "a.b:d"]


def test_tools_that_are_named_by_their_place_are_found_there(prompts, monkeypatch):
    module = types.ModuleType("shop_of_composing")
    module.refund = refund  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    put = prompts(
        main=head("m", tools="['get_*', shop_of_composing:refund]"),
        bad=head("m", tools="[os:system]"),
    )
    assert put("main").selection() == ["get_*", refund]
    assert put(None, ["bad"]).tools == ["os:system"]
    assert "bad.md): 'os:system' is a builtin" in wrong(put(None, ["bad"]).selection)
    assert prompts(none="n")("none").selection() is None


def test_one_context_is_for_all_and_each_has_its_own_defaults(prompts):
    put = prompts(
        main=head("{{ a }}{{ b }}", parameters="{a: 1, b: }"),
        skill=head("{{ a }}", parameters="{a: 2}"),
    )
    found = put("main", ["skill"])
    assert [s.text for s in found.sections({"b": 3}, robot="r")] == ["2", "13"]
    assert [s.text for s in found.sections({"a": 9, "b": 3}, robot="r")] == ["9", "93"]


def test_missing_parameters_name_every_file_that_needs_them_and_the_robot(prompts):
    put = prompts(
        main=head("{{ a }}", parameters="{a: , b: }"), skill=head("{{ a }}", parameters="{a: }")
    )
    found = put("main", ["skill"])
    assert found.missing({}) == ("a", "b")
    assert found.missing({"a": 1}) == ("b",)
    told = wrong(found.sections, {}, robot="clerk")
    assert told.startswith("robot 'clerk': template 'skill' (")
    assert "skill.md) needs 'a'; template 'main' (" in told
    assert "main.md) needs 'a' and 'b'" in told
    assert "Pass context={'a': …, 'b': …}" in told


def test_an_error_in_a_skill_is_an_error_not_a_gap(prompts):
    put = prompts(main="main", skill="a\n{{ x }}")
    told = wrong(put("main", ["skill"]).sections, {}, robot="clerk")
    assert told.startswith("robot 'clerk': template 'skill' (")
    assert "line 2): 'x' is undefined" in told


def test_a_part_that_renders_to_nothing_is_left_out(prompts):
    put = prompts(main="main", skill="{% if x %}yes{% endif %}\n")
    assert [s.name for s in put("main", ["skill"]).sections({"x": 0}, robot="r")] == ["main"]


def test_an_unknown_skill_names_the_templates_and_the_other_kind_of_skills(prompts):
    put = prompts(main=head("m", skills="[tune]"), tone="t")
    for told in (wrong(put, "main"), wrong(put, "tone", ["tune"])):
        assert "there is no template 'tune'" in told
        assert "Did you mean 'tone'?" in told
        assert "agent_skills=" in told
    assert "main.md): skills:" in wrong(put, "main")


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "../x.md"])
def test_a_skill_that_a_file_names_stays_in_its_folder(prompts, tmp_path, name):
    assert "leads out of the folder" in wrong(prompts(main=head("m", skills=f"['{name}']")), "main")


@pytest.mark.parametrize("skills", ["tone", 3, {"tone": 1}])
def test_skills_are_a_list(prompts, skills):
    assert "skills= takes a list" in wrong(prompts(tone="t"), "tone", skills)


def test_the_settings_allow_and_refuse_commands_for_every_part(prompts):
    put = prompts(main="main", skill=head("$(echo hi)", shell="true"))
    assert "skill.md) asks for `shell: true`" in wrong(put, "main", ["skill"])
    found = put("main", ["skill"], allow_shell=True)
    assert found.runs_commands
    assert found.sections({}, robot="r")[0].text == "hi"
    assert not put("main").runs_commands


def test_it_is_known_whether_a_file_changed(prompts, tmp_path):
    put = prompts(main="main", skill="skill")
    for name in ("main", "skill"):
        os.utime(tmp_path / f"{name}.md", (1_000_000_000, 1_000_000_000))
    found = put("main", ["skill"])
    assert not found.has_changed()
    prompts(skill="other")
    assert found.has_changed()
    assert put("main", ["skill"]).sections({}, robot="r")[0].text == "other"
    (tmp_path / "skill.md").unlink()
    assert found.has_changed()
