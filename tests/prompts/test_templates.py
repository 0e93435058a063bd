"""Templates: parameters, comments, names, errors, pictures."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.config import options
from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.prompts.rendering import LONGEST, render
from robotlab_nb.prompts.templates import Template, load_template, render_template

CORPUS = json.loads((Path(__file__).parents[1] / "data" / "hostile.json").read_text("ascii"))
HOSTILE = sorted({text for texts in CORPUS.values() for text in texts if isinstance(text, str)})


@pytest.fixture
def folder(tmp_path):
    """``folder(name, text)`` writes a template; ``folder.load(ref)`` reads one."""

    class Folder:
        path = tmp_path / "prompts"

        def __call__(self, name, text):
            file = self.path / f"{name}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            return file

        def load(self, ref, **settings):
            return load_template(ref, folder=self.path, settings=settings)

    return Folder()


def wrong(function, *args, **more):
    with pytest.raises(ConfigurationError) as caught:
        function(*args, **more)
    return str(caught.value)


# -- what is told ----------------------------------------------------------------------------


def test_a_file_is_rendered_with_its_defaults_and_without_its_head_and_comments(folder):
    folder(
        "support",
        "---\nmodel: simulated\nparameters:\n  tone: kind\n  name:\n---\n\n"
        "<!-- for the team -->\n# Help {{ name }}\n\nBe {{ tone }}.<!-- or not -->\n",
    )
    found = folder.load("support")
    assert found.render({"name": "Ada"}) == "# Help Ada\n\nBe kind."
    assert found.render({"name": "Ada", "tone": "brief", "more": 1}).endswith("Be brief.")
    assert found.level() == {"model": "simulated"}
    assert (found.name, found.path) == ("support", folder.path / "support.md")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a<!-- x -->b", "ab"),
        ("a\n<!-- x -->\nb", "a\nb"),
        ("a\n  <!-- x\ny -->  \nb", "a\nb"),
        ("a\n<!-- x --> <!-- y -->\nb", "a\n \nb"),
        ("a <!-- {{ not_given }} {% broken -->b", "a b"),
        ("a <!-- b", "a <!-- b"),
        ("a --> b", "a --> b"),
        ("<!-->x-->y", "y"),
        ("x\r\ny", "x\ny"),
        ("\n\nx\n\n", "x"),
        ("", ""),
    ],
)
def test_comments_are_left_out(text, told):
    assert Template(text).render() == told


def test_a_million_open_comments_are_left_soon():
    text = "<!--" * 250_000
    assert Template(text).render() == text


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_come_out_as_they_are(value):
    template = Template("---\nparameters: {x: {type: string}}\n---\n<{{ x }}>", "hostile")
    assert template.render({"x": value}) == f"<{value}>"
    assert render("<{{ x }}>", {"x": value}) == f"<{value}>"


@given(st.text(st.characters(exclude_categories=())))
def test_any_value_comes_out_as_it_is(value):
    assert Template("[{{ x }}]").render({"x": value}) == f"[{value}]"


@given(st.text(st.characters(exclude_characters="{}%#$<-\r\n"), min_size=1))
def test_a_text_without_blanks_is_told_as_it_is(text):
    assert Template("x" + text + "x").render() == "x" + text + "x"


# -- parameters ------------------------------------------------------------------------------


def test_missing_parameters_are_named_with_their_template(folder):
    folder("support", "---\nparameters: {a: , b: 1, c: }\n---\n{{ a }}{{ b }}{{ c }}")
    found = folder.load("support")
    assert found.missing() == ("a", "c")
    assert found.missing({"a": 1, "c": None}) == ("c",)
    told = wrong(found.render, {})
    assert "template 'support'" in told
    assert "support.md) needs 'a' and 'c'" in told
    assert "Pass context={'a': …, 'c': …}" in told


TYPED = """---
parameters:
  s: {type: string, required: false}
  i: {type: integer, required: false}
  n: {type: number, required: false}
  b: {type: boolean, required: false}
  l: {type: list, required: false}
  o: {type: object, required: false}
  e: {enum: [low, high], default: low, description: How loud.}
---
{{ e }}"""


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("s", ["", "x"], [1, True, ["x"], b"x"]),
        ("i", [0, -5], [1.5, True, "1", [1]]),
        ("n", [0, 1.5], [False, "1.5", None.__class__]),
        ("b", [True, False], [0, 1, "true"]),
        ("l", [[], (1, 2), range(3)], ["ab", {"a": 1}, 1]),
        ("o", [{}, {"a": 1}], [[], "a", 1]),
        ("e", ["low", "high"], ["loud", 1]),
    ],
)
def test_typed_parameters_take_their_type_and_nothing_else(name, good, bad):
    template = Template(TYPED, "typed")
    for value in (*good, None):
        template.render({name: value})
    for value in bad:
        told = wrong(template.render, {name: value})
        assert f"template 'typed': parameter '{name}' " in told
        if name != "e":
            kind = next(p.type for p in template.parameters if p.name == name)
            assert f"takes {kind}, not {type(value).__name__}" in told


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ("{n: {type: integer, default: x}}", "'n' takes integer, not str"),
        ("{n: {type: int}}", "Did you mean 'integer'?"),
        ("{n: {typ: integer, default: 1}}", "Did you mean 'type'?"),
        ("{n: {enum: [1, 2], default: 3}}", "'n' is one of 1, 2, not 3"),
        ("{n: {enum: []}}", "is a list of values"),
        ("{n: {type: integer, enum: [a]}}", "takes integer"),
        ("{n: {required: maybe}}", "is true or false"),
        ("{n: {required: true, default: 1}}", "required and has a default"),
        ("{a b: 1}", "cannot be the name"),
        ("{loop: 1}", "cannot be the name"),
        ("[a]", "takes a mapping"),
    ],
)
def test_a_wrong_declaration_is_refused(parameters, told):
    assert told in wrong(Template, f"---\nparameters: {parameters}\n---\n", "x")


def test_a_mapping_of_other_names_is_a_default():
    template = Template("---\nparameters: {who: {first: Ada}}\n---\n{{ who.first }}")
    assert template.render() == "Ada"


# -- names -----------------------------------------------------------------------------------


def test_the_ways_to_name_a_template(folder, tmp_path, monkeypatch):
    folder("support", "one")
    folder("shop/support", "two {% include 'support' %}")
    beside = tmp_path / "beside.md"
    beside.write_text("three", "utf-8")
    monkeypatch.chdir(tmp_path)
    for ref, text, name in (
        ("support", "one", "support"),
        ("shop/support", "two one", "shop/support"),
        ("shop/support.md", "two one", "shop/support"),
        ("prompts/shop/support.md", "two one", "shop/support"),
        (folder.path / "support.md", "one", "support"),
        ("beside.md", "three", "beside"),
        (Path("beside.md"), "three", "beside"),
        (Template("four", "mine"), "four", "mine"),
    ):
        found = folder.load(ref)
        assert (found.render(), found.name) == (text, name)


def test_an_unknown_template_names_the_near_one_and_the_folder(folder):
    folder("support", "x")
    told = wrong(folder.load, "suport")
    assert "there is no template 'suport'" in told
    assert "Did you mean 'support'?" in told
    assert f"Looked in {folder.path}" in told
    assert "rl.Template(text)" in wrong(folder.load, "You are a helpful robot.")
    assert "no folder" in wrong(load_template, "x", folder="/no/such", settings={})


def test_checkpoints_of_notebooks_are_no_templates(folder):
    folder("support", "x")
    folder(".ipynb_checkpoints/suport-checkpoint", "x")
    assert "Known: 'support'. Looked in" in wrong(folder.load, "checkpoint")


@pytest.mark.parametrize("ref", ["", " ", "a\nb", None, 3, ["a"]])
def test_what_is_no_name_is_refused(folder, ref):
    assert wrong(folder.load, ref).startswith("template=: a template is named")


@pytest.mark.parametrize("ref", ["../x", "/etc/passwd", "a/../../x", "a\\b", "C:x", "a\0b"])
def test_a_name_stays_in_the_folder(folder, tmp_path, ref):
    (tmp_path / "x.md").write_text("secret", "utf-8")
    assert "leads out of the folder" in wrong(folder.load, ref)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_an_error_of_ours(folder, name):
    wrong(folder.load, name)


# -- files -----------------------------------------------------------------------------------


def test_a_changed_file_is_read_again_however_quick_and_alike_the_change(folder):
    file = folder("tone", "Be kind.")
    first = folder.load("tone")
    now = time.time_ns()
    for text in ("Be rude.", "Be glad.", "Be calm."):
        file.write_text(text, "utf-8")
        os.utime(file, ns=(now, now))  # as on a file system whose clock ticks slowly
        assert folder.load("tone").render() == text
        assert folder.load(first).render() == text
        assert render_template(first) == text
    assert first.has_changed()


def test_a_file_that_did_not_change_is_not_read_again(folder, monkeypatch):
    file = folder("tone", "Be kind.")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    first = folder.load("tone")
    assert not first.has_changed()
    monkeypatch.setattr(Path, "read_text", lambda *a, **k: pytest.fail("read"))
    assert folder.load("tone").source is first.source


def test_a_file_that_is_no_text_is_named(folder):
    folder("x", "")
    (folder.path / "x.md").write_bytes(b"\xff\xfe")
    assert "x.md) is no UTF-8 text" in wrong(folder.load, "x")
    (folder.path / "x.md").write_bytes(b"x" * 2_000_001)
    assert "larger than 2,000,000" in wrong(folder.load, "x")


# -- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("{{ nmae }}", 1, "'nmae' is undefined. Did you mean 'name'?"),
        ("a\n<!-- b\nc -->\n{{ nmae }}", 4, "undefined"),
        ("a <!-- b\nc --> d\n{{ nmae }}", 3, "undefined"),
        ("{{ nmae }} <!-- b\nc --> d", 1, "undefined"),
        ("---\nseed: 1\n---\n\n<!-- x -->\n\na\n{{ nmae }}", 8, "undefined"),
        ("---\nseed: 1\n---\n<!-- x -->\n<!-- y\n-->\na\n<!-- z -->\n{{ nmae }}", 9, "undefined"),
        ("a\n\n{{ name.first.second }}", 3, "has no attribute 'first'"),
        ("\n\na\n{{ 1 / 0 }}", 4, "ZeroDivisionError"),
        ("a\n{{ [].append(1) }}", 2, "unsafe"),
        ("a\n{{ name.__class__ }}", 2, "unsafe"),
    ],
)
def test_what_fails_while_rendering_says_on_which_line_of_the_file(folder, text, line, told):
    folder("x", text)
    found = wrong(folder.load("x").render, {"name": "Ada"})
    assert f"x.md, line {line}): " in found
    assert told in found


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n{% if %}", 2), ("<!-- x\n-->\n{{ a", 3), ("---\nseed: 1\n---\n{% for %}", 4)],
)
def test_broken_jinja_is_found_when_the_template_is_read(folder, text, line):
    folder("x", text)
    assert f"x.md, line {line}): " in wrong(folder.load, "x")


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'x' * 100000000 }}",
        "{{ 100000000 * 'x' }}",
        "{{ [1] * 100000000 }}",
        "{{ 10 ** 10000000 }}",
        "{% for i in range(99999) %}{% for i in range(99999) %}xxxxxxxxxx{% endfor %}{% endfor %}",
        "{{ x }}",
    ],
)
def test_a_short_template_does_not_become_a_huge_text(text):
    found = wrong(Template(text, "big").render, {"x": "x" * (LONGEST + 1)})
    assert "too large" in found or "longer than 2,000,000 characters" in found
    assert "too large" in wrong(render, "{{ 'x' * 100000000 }}", {})


def test_a_template_cannot_change_the_values_that_it_is_given():
    given = {"items": [1], "more": {"a": 1}}
    wrong(Template("{{ items.append(2) }}").render, given)
    wrong(Template("{{ more.update(a=2) }}").render, given)
    wrong(render, "{{ items.append(2) }}", given)
    assert given == {"items": [1], "more": {"a": 1}}


# -- facts -----------------------------------------------------------------------------------


def test_the_facts_for_a_picture_are_data():
    template = Template(
        "---\nrobot_name: r\n"
        "parameters: {a: , b: {type: list, enum: [[1]], default: [1]}}\n---\n{{ a }}",
        "x",
    )
    facts = json.loads(json.dumps(template.facts()))
    assert facts["missing"] == ["a"]
    assert (facts["text"], facts["error"]) == (None, None)
    assert facts["robot_name"] == "r"
    assert facts["front"]["robot_name"] == "r"
    assert facts["parameters"][1] == {
        "name": "b", "type": "list", "default": [1], "required": False,
        "description": None, "enum": [[1]],
    }  # fmt: skip
    assert template.facts({"a": "hi"})["text"] == "hi"
    assert "undefined" in Template("{{ a }}").facts()["error"]


def test_facts_and_repr_run_no_command(tmp_path):
    file = tmp_path / "ran"
    template = Template(f"---\nshell: true\n---\n$(touch {file})", "x")
    assert template.facts()["text"] == f"$(touch {file})"
    assert repr(template) == "<Template 'x'>"
    assert not file.exists()


def test_a_repr_names_file_and_parameters(folder, monkeypatch):
    folder("x", "---\nparameters: {a: , b: 1}\n---\n")
    monkeypatch.chdir(folder.path.parent)
    assert repr(folder.load("x")) == "<Template 'x' (prompts/x.md): a, b?>"


# -- the public function ---------------------------------------------------------------------


def test_render_template_looks_in_the_folder_of_the_options(folder):
    folder("x", "---\nparameters: {a: }\n---\n{{ a }}{{ name }}")
    with options(prompts_path=folder.path):
        assert render_template("x", a=1, name=2) == "12"
        assert Template.load("x").render({"a": 3, "name": 4}) == "34"
        assert Template("{% include 'x' %}").render({"a": 5, "name": 6}) == "56"


def test_templates_are_pickled(folder):
    folder("x", "file")
    for template in (folder.load("x"), Template("text", "mine")):
        again = pickle.loads(pickle.dumps(template))
        assert (again.name, again.render()) == (template.name, template.render())


@pytest.mark.parametrize(("text", "name"), [(3, "x"), (None, "x"), ("x", ""), ("x", None)])
def test_a_template_is_a_text_with_a_name(text, name):
    wrong(Template, text, name)
