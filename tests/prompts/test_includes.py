"""What a template may take in: other templates and files of its folder, and nothing else."""

from __future__ import annotations

import os
import threading

import pytest

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.prompts.templates import Template, load_template


@pytest.fixture
def prompts(tmp_path):
    folder = tmp_path / "prompts"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("secret", "utf-8")

    def write(**texts):
        for name, text in texts.items():
            file = folder / f"{name.replace('__', '/')}.md"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        return folder

    return write


def told_by(folder, name, context=None, **settings):
    return load_template(name, folder=folder, settings=settings).render(context or {})


def wrong(folder, name, context=None, **settings):
    with pytest.raises(ConfigurationError) as caught:
        told_by(folder, name, context, **settings)
    return str(caught.value)


def test_an_included_template_sees_the_context_and_has_its_own_defaults(prompts):
    folder = prompts(
        main="---\nparameters: {who: Ada}\n---\n{% set here = 1 %}"
        "{% include 'shop/tone' %} {{ who }}",
        shop__tone="---\ntemperature: 2\nparameters: {who: Bob, tone: kind}\n---\n"
        "{{ who }} {{ tone }} {{ here }}<!-- x -->",
    )
    assert told_by(folder, "main") == "Ada kind 1 Ada"
    assert told_by(folder, "main", {"tone": "rude", "who": "Eve"}) == "Eve rude 1 Eve"
    assert load_template("main", folder=folder, settings={}).level() == {}


def test_what_an_included_template_needs_is_missed_by_its_name(prompts):
    folder = prompts(
        main="{% include 'tone' %}", tone="---\nparameters: {tone: {type: string}}\n---\n{{ tone }}"
    )
    assert "template 'tone' (" in wrong(folder, "main")
    assert "tone.md) needs 'tone'" in wrong(folder, "main")
    assert "takes string, not int" in wrong(folder, "main", {"tone": 3})


def test_an_error_in_an_included_template_names_its_file_and_line(prompts):
    folder = prompts(main="{% include 'tone' %}", tone="---\nseed: 1\n---\na\n{{ tone }}")
    assert "tone.md, line 5): 'tone' is undefined" in wrong(folder, "main")
    assert "tone.md, line 2): " in wrong(prompts(tone="a\n{% if %}"), "main")


def test_a_changed_included_file_is_read_again(prompts):
    folder = prompts(main="{% include 'tone' %}", tone="kind")
    main = load_template("main", folder=folder, settings={})
    for text in ("rude", "glad"):
        prompts(tone=text)
        assert main.render() == text


@pytest.mark.parametrize(
    ("texts", "circle"),
    [
        ({"a": "{% include 'a' %}"}, "a.md → a.md"),
        ({"a": "{% include 'b' %}", "b": "{% include 'a.md' %}"}, "b.md → a.md → b.md"),
        (
            {
                "a": "{% include 'c' %}{% include n %}",
                "b": "{% include 'c' %}{% include './d' %}",
                "c": "c",
                "d": "{% include 'a' %}",
            },
            "d.md → a.md → b.md → d.md",
        ),
        ({"a": "{% extends 'b' %}", "b": "{% extends 'a' %}"}, "b.md → a.md → b.md"),
    ],
)
def test_a_circle_is_named_whole(prompts, texts, circle):
    found = wrong(prompts(**texts), "a", {"n": "b"})
    names = circle.split(" → ")[1:]
    turned = [" → ".join([*names[i:], *names[:i], names[i]]) for i in range(len(names))]
    assert any(f"templates include each other: {way}" in found for way in turned), found


def test_one_template_may_be_included_many_times(prompts):
    folder = prompts(
        a="{% include 'b' %}{% include 'c' %}{% include 'b' %}", b="b{% include 'c' %}", c="c"
    )
    assert told_by(folder, "a") == "bccbc"


ESCAPES = ["../secret", "/etc/passwd", "x/../../secret", "..\\secret", "C:/secret", "", "linked",
           "linked_folder/secret", "loop", "a\0b"]  # fmt: skip


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize(
    "text",
    [
        "{% include n %}",
        "{{ insert(n) }}",
        "{{ insert(n ~ '.md') }}",
        "{% extends n %}",
        "{% import n as x %}",
    ],
)
def test_nothing_outside_the_folder_is_read(prompts, tmp_path, name, text):
    folder = prompts(main=text)
    os.symlink(tmp_path / "secret.md", folder / "linked.md")
    os.symlink(tmp_path, folder / "linked_folder")
    os.symlink(folder / "loop.md", folder / "loop.md")
    found = wrong(folder, "main", {"n": name})
    assert "leads out of the folder" in found or "there is no" in found
    assert "secret\n" not in found


def test_a_file_has_one_name(prompts):
    folder = prompts(main="{% include n %}", tone="kind", shop__x="x")
    for name in (str(folder / "tone.md"), "shop/../tone", "shop\\x"):
        assert "leads out" in wrong(folder, "main", {"n": name})
    assert told_by(folder, "main", {"n": "./tone"}) == "kind"


def test_a_link_inside_the_folder_is_followed(prompts):
    folder = prompts(main="{% include 'other' %}", tone="kind")
    os.symlink(folder / "tone.md", folder / "other.md")
    assert told_by(folder, "main") == "kind"


def test_what_is_not_there_is_named_with_the_near_name(prompts):
    folder = prompts(main="a\n{% include 'tune' %}", tone="kind")
    found = wrong(folder, "main")
    assert "main.md, line 2): there is no template 'tune'" in found
    assert "Did you mean 'tone'?" in found
    prompts(main="x{% include 'tune' ignore missing %}{% include ['tune', 'tone'] %}")
    assert told_by(folder, "main") == "xkind"


def test_an_inserted_file_is_not_rendered(prompts):
    folder = prompts(main="{{ insert('data.csv') }}|{{ insert('raw.md') }}",
                     raw="---\nseed: 1\n---\n{{ x }}<!-- y -->")  # fmt: skip
    (folder / "data.csv").write_text("a,{{ b }}\n", "utf-8")
    assert told_by(folder, "main") == "a,{{ b }}\n|---\nseed: 1\n---\n{{ x }}<!-- y -->"
    assert "no file 'nope' to insert" in wrong(prompts(main="{{ insert('nope') }}"), "main")


def test_a_template_of_another_folder_includes_its_own_neighbours(prompts, tmp_path):
    folder = prompts(tone="kind")
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.md").write_text("{% include 'tone' %}", "utf-8")
    (other / "tone.md").write_text("rude", "utf-8")
    assert told_by(folder, other / "main.md") == "rude"


def test_a_text_includes_files_of_the_folder(prompts):
    folder = prompts(tone="kind")
    assert Template("Be {% include 'tone' %}.", folder=folder).render() == "Be kind."


def test_macros_blocks_and_loops_work(prompts):
    folder = prompts(
        base="<{% block x %}{% endblock %}>{{ who }}",
        macros="{% macro hi(n) %}hi {{ n }}{% endmacro %}",
        main="{% extends 'base' %}{% from 'macros' import hi %}"
        "{% block x %}{% for n in names %}{{ hi(n) }} {{ loop.index }};{% endfor %}{% endblock %}",
    )
    assert told_by(folder, "main", {"names": ["a", "b"], "who": "me"}) == "<hi a 1;hi b 2;>me"


def test_many_threads_render_at_once(prompts):
    folder = prompts(main="{{ n }}{% include 'tone' %}", tone="-{{ n }}")
    wrongs = []

    def work(number):
        for turn in range(30):
            text = told_by(folder, "main", {"n": number * 100 + turn})
            if text != f"{number * 100 + turn}-{number * 100 + turn}":
                wrongs.append(text)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrongs == []
