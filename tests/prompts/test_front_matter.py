"""The head of a Markdown file."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from robotlab_nb.core.config import FIELDS
from robotlab_nb.core.errors import ConfigurationError, UnknownKeyword
from robotlab_nb.core.option_files import LIVE
from robotlab_nb.prompts.front_matter import is_dotted, read_front, resolve_tool, split
from robotlab_nb.tools.decorator import Tool, tool

texts = st.text(st.sampled_from("-- \n\r\ta:<!>{}\ufeff\u2028"), max_size=60)


# -- splitting -------------------------------------------------------------------------------


@given(st.one_of(texts, st.text(max_size=200)))
def test_a_text_without_a_head_is_left_as_it_is(text):
    try:
        found = split(text)
    except ConfigurationError:
        assert "---" in text
        return
    if found.front is None:
        assert found.body == text
    else:
        assert found.body == text or text.endswith(found.body)


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_head_is_taken_off_and_the_rest_is_left_as_it_is(head, body):
    assume(not any(line.rstrip(" \t\r") == "---" for line in head.split("\n")))
    found = split(f"---\n{head}\n---\n{body}")
    assert (found.front, found.body) == (head + "\n", body)
    assert found.body_line == head.count("\n") + 4


@pytest.mark.parametrize(
    ("text", "front", "body"),
    [
        ("---\na: 1\n---\nx", "a: 1\n", "x"),
        ("---\r\na: 1\r\n---\r\nx", "a: 1\r\n", "x"),
        ("---  \na: 1\n--- \n", "a: 1\n", ""),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---\n---\nx", "", "x"),
        ("\ufeff---\na: 1\n---\nx", "a: 1\n", "x"),
        ("<!-- note -->\n\n---\na: 1\n---\nx", "a: 1\n", "x"),
        ("<!-- one -->\n<!-- two\n-->\n---\na: 1\n---\nx", "a: 1\n", "x"),
        ("\n---\na: 1\n---\nx", None, "\n---\na: 1\n---\nx"),
        (" ---\na: 1\n---\n", None, " ---\na: 1\n---\n"),
        ("x\n---\ny\n---\n", None, "x\n---\ny\n---\n"),
        ("<!-- x --> ---\na\n---\n", None, "<!-- x --> ---\na\n---\n"),
        ("<!-- open\n---\na: 1\n---\n", None, "<!-- open\n---\na: 1\n---\n"),
        ("----\na\n----\n", None, "----\na\n----\n"),
        ("", None, ""),
    ],
)
def test_where_a_head_begins_and_ends(text, front, body):
    found = split(text)
    assert (found.front, found.body) == (front, body)


def test_a_head_that_does_not_end_is_an_error():
    with pytest.raises(ConfigurationError, match="begins on line 3 does not end"):
        split("<!-- x\n-->\n---\na: 1\n", "x.md")


def test_many_open_comments_are_split_soon():
    assert split("<!--" * 200_000).front is None


# -- reading ---------------------------------------------------------------------------------


def test_what_a_head_says():
    found = read_front(
        "robot_name: clerk\n"
        "description: Answers customers.\n"
        "tools: [find_order, 'get_*', shop.tools:refund]\n"
        "mcp: [{name: files, command: run}]\n"
        "skills: [tone]\n"
        "agent_skills: [pdf]\n"
        "parameters: {tone: kind}\n"
        "shell: true\n"
        "environment: false\n"
        "model: openai/gpt-5-mini\n"
        "temperature: 1e-1\n"
        "max_tools: null\n"
        "seed:\n",
        "x.md",
    )
    assert found.robot_name == "clerk"
    assert found.description == "Answers customers."
    assert found.tools == ("find_order", "get_*", "shop.tools:refund")
    assert found.mcp == ({"name": "files", "command": "run"},)
    assert found.skills == ("tone",)
    assert found.agent_skills == ("pdf",)
    assert [p.name for p in found.parameters] == ["tone"]
    assert (found.shell, found.environment) == (True, False)
    assert found.settings == {"model": "openai/gpt-5-mini", "temperature": 0.1, "max_tools": None}


@pytest.mark.parametrize(
    ("front", "line", "told"),
    [
        ("temprature: 1", 2, "Did you mean 'temperature'?"),
        ("seed: 1\nskils: [a]", 3, "Did you mean 'skills'?"),
        ("name: x", 2, "Did you mean 'robot_name'?"),
        ("max_iterations: 3", 2, "no template has 'max_iterations'"),
        ("temperature: hot", 2, "takes int or float"),
        ("api_key: sk-1", 2, "environment variable"),
        ("tools: find_order", 2, "takes a list of names"),
        ("skills: [1]", 2, "takes a list of names"),
        ("mcp: 3", 2, "takes a list of servers"),
        ("agent_skills: some", 2, "takes a list of names"),
        ("robot_name: [a]", 2, "takes a text"),
        ("shell: sometimes", 2, "is true or false"),
        ("seed: 1\n\nparameters: [a]", 4, "takes a mapping"),
        ("a: [", 2, "expected"),
        ("a: &x 1\nb: *x", 3, "references"),
        ("a: !!python/object:os.system x", 2, "the tag"),
        ("Hello", 2, "no settings"),
    ],
)
def test_a_wrong_head_says_file_and_line(front, line, told):
    with pytest.raises(ConfigurationError, match=rf"^x\.md, line {line}\b") as caught:
        read_front(front, "x.md")
    assert told in str(caught.value)


def test_an_unknown_key_is_an_unknown_keyword():
    with pytest.raises(UnknownKeyword):
        read_front("nothing_of_the_kind: 1", "x.md")


@pytest.mark.parametrize(
    "name", ["allow_shell", "allow_environment", "prompts_path", "redact", *sorted(LIVE)]
)
def test_a_template_cannot_allow_itself_more_nor_hold_live_objects(name):
    assert name in FIELDS
    with pytest.raises(ConfigurationError, match=name):
        read_front(f"{name}: true", "x.md")


def test_no_head_says_nothing():
    assert read_front(None, "x.md").settings == read_front("", "x.md").settings == {}


# -- tools by where they are defined -----------------------------------------------------------


@tool
def known(city: str) -> str:
    "A tool."
    return city


class Clock(Tool):
    """The time."""

    def execute(self) -> str:
        return "noon"


def plain(city: str) -> str:
    return city


@pytest.fixture
def module(monkeypatch):
    import sys
    import types

    made = types.ModuleType("shop_of_the_test")
    made.known, made.Clock, made.plain, made.number = known, Clock, plain, 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made.__name__


def test_a_tool_and_a_class_of_tools_are_found_where_they_are_defined(module):
    assert resolve_tool(f"{module}:known", "x.md") is known
    clock = resolve_tool(f"{module}:Clock", "x.md")
    assert isinstance(clock, Clock)
    assert resolve_tool(f"{module}:Clock", "y.md") is clock


@pytest.mark.parametrize(
    ("ref", "told"),
    [
        ("os:system", "is a builtin_function_or_method, not a tool"),
        ("subprocess:run", "is a function, not a tool"),
        ("subprocess:Popen", "is a type, not a tool"),
        ("shop_of_the_test:plain", "put @rl.tool above"),
        ("shop_of_the_test:number", "is a int, not a tool"),
        ("shop_of_the_test:knwon", "Did you mean 'known'?"),
        ("no_such_module_at_all:x", "cannot be imported"),
        ("shop_of_the_test:", "names no tool"),
        (":known", "names no tool"),
        ("../shop:known", "names no tool"),
        ("a:b:c", "names no tool"),
    ],
)
def test_anything_else_is_refused(module, ref, told):
    with pytest.raises(ConfigurationError, match=r"template 'x' \(x\.md\)") as caught:
        resolve_tool(ref, "template 'x' (x.md)")
    assert told in str(caught.value)


def test_names_and_places_are_told_apart():
    assert is_dotted("a.b:c")
    assert not is_dotted("get_*")
