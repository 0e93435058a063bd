"""Commands and variables in a template: only where both sides want it, never in values."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.config import options
from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.prompts import expansion
from robotlab_nb.prompts.expansion import places
from robotlab_nb.prompts.templates import Template, load_template

CORPUS = json.loads((Path(__file__).parents[1] / "data" / "hostile.json").read_text("ascii"))
ALLOWED = {"allow_shell": True, "allow_environment": True}


def told_by(text, context=None, *, ask=("shell", "environment"), settings=ALLOWED, **more):
    head = "".join(f"{name}: true\n" for name in ask)
    template = Template(f"---\n{head}---\n{text}" if head else text, "x", **more)
    return load_template(template, folder=".", settings=settings).render(context or {})


def wrong(text, context=None, **more):
    with pytest.raises(ConfigurationError) as caught:
        told_by(text, context, **more)
    return str(caught.value)


def python(code):
    return f"$({sys.executable} -c '{code}')"


def test_both_the_template_and_the_option_must_want_it(monkeypatch):
    monkeypatch.setenv("CITY", "Paris")
    text = "$(echo a  b) $CITY ${CITY}"
    assert told_by(text) == "a b Paris Paris"
    assert told_by(text, ask=()) == text
    assert told_by(text, ask=(), settings={}) == text
    assert told_by(text, ask=("shell",)) == "a b $CITY ${CITY}"
    assert told_by(text, ask=("environment",)) == "$(echo a  b) Paris Paris"
    for name in ("shell", "environment"):
        found = wrong(text, ask=(name,), settings={})
        assert f"template 'x' asks for `{name}: true`, and the option allow_{name} is off" in found
        assert f"rl.options.allow_{name} = True" in found


def test_the_options_of_the_process_count_for_a_template_alone(monkeypatch):
    template = Template("---\nshell: true\n---\n$(echo hi)", "x")
    with pytest.raises(ConfigurationError, match="allow_shell is off"):
        template.render()
    with options(allow_shell=True):
        assert template.render() == "hi"


@pytest.mark.parametrize(
    "value", ["$(rm -rf /)", "$HOME", "${HOME}", "{{ 7 * 7 }}", "$(echo {{ x }})", "$("]
)
def test_what_is_filled_in_is_never_looked_at(value):
    assert told_by("{{ x }}|$(echo ok)", {"x": value}) == f"{value}|ok"
    assert told_by("$(echo {{ x }})", {"x": value}) == f"$(echo {value})"
    assert told_by("${% if 1 %}{{ x }}{% endif %}", {"x": value}) == f"${value}"


@pytest.mark.parametrize(
    "value", sorted({t for ts in CORPUS.values() for t in ts if isinstance(t, str)})
)
def test_hostile_values_come_out_as_they_are_beside_commands(value, monkeypatch):
    monkeypatch.setenv("HERE", "there")
    assert told_by("$HERE{{ x }}$HERE", {"x": value}, ask=("environment",)) == f"there{value}there"


@given(st.text(st.sampled_from("$(){}ABab \n\"'_1"), max_size=40))
def test_taking_a_text_apart_loses_nothing(text):
    for shell, environment in ((True, False), (False, True), (True, True), (False, False)):
        parts = list(places(text, shell=shell, environment=environment))
        assert "".join(part for _, part in parts) == text
        if not shell:
            assert not any(is_place and part.startswith("$(") for is_place, part in parts)
        if not environment:
            assert all(part.startswith("$(") for is_place, part in parts if is_place)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$5 and $Home and $home", []),
        ("$A1_B.", ["$A1_B"]),
        ("${A}b", ["${A}"]),
        ("$$A", ["$A"]),
        ("$(a (b))", []),
        ("$(a ')' b)", ["$(a ')' b)"]),
        ("$(a\nb)", []),
        ("$()", []),
    ],
)
def test_which_places_there_are(text, found):
    assert [
        part for is_place, part in places(text, shell=True, environment=True) if is_place
    ] == found


def test_what_comes_of_a_place_is_never_read_as_a_template(monkeypatch):
    monkeypatch.setenv("EVIL", "{{ secret }}{% for x in y %}$(touch /x)$HOME")
    assert told_by("$EVIL", {"secret": "s"}) == "{{ secret }}{% for x in y %}$(touch /x)$HOME"
    assert told_by("{% raw %}$(echo '{{ x }}'){% endraw %}") == "{{ x }}"
    assert told_by("{{ '$EVIL' }}") == "$EVIL"


def test_a_comment_runs_nothing(tmp_path):
    assert told_by(f"a<!-- $(touch {tmp_path}/ran) -->{{# $(touch {tmp_path}/ran) #}}") == "a"
    assert os.listdir(tmp_path) == []


def test_a_branch_that_is_not_taken_runs_nothing_and_reading_runs_nothing(tmp_path):
    text = f"{{% if go %}}$(touch {tmp_path}/ran){{% endif %}}"
    template = Template(f"---\nshell: true\n---\n{text}")
    load_template(template, folder=".", settings=ALLOWED)
    assert told_by(text, {"go": False}) == ""
    assert os.listdir(tmp_path) == []
    told_by(text, {"go": True})
    assert os.listdir(tmp_path) == ["ran"]


def test_there_is_no_shell():
    assert (
        told_by("$(echo a; echo b | cat > x && $HOME * `id`)")
        == "a; echo b | cat > x && $HOME * `id`"
    )


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("NOT_THERE", raising=False)
    found = wrong("It costs $NOT_THERE.")
    assert "variable NOT_THERE is not set" in found
    assert '{{ "$NOT_THERE" }}' in found
    assert told_by('{{ "$NOT_THERE" }}') == "$NOT_THERE"


def test_a_command_that_fails_tells_its_code_and_the_end_of_what_it_said():
    text = python('import sys; sys.stderr.write("x" * 100000 + "the reason"); sys.exit(3)')
    found = wrong(text)
    assert "failed with exit code 3: " in found
    assert found.endswith("the reason")
    assert len(found) < 2000
    assert "cannot be started" in wrong("$(no-such-program-anywhere x)")
    assert "cannot be read" in wrong("$(echo a\\)")


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(monkeypatch, tmp_path):
    monkeypatch.setattr(expansion, "TIMEOUT", 1.0)
    script = tmp_path / "slow.py"
    script.write_text(
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n",
        "utf-8",
    )
    began = time.monotonic()
    assert "took longer than 1 s" in wrong(f"$({sys.executable} {script})")
    assert time.monotonic() - began < 20
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and is_running(child):
        time.sleep(0.02)
    assert not is_running(child)


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("session", [False, True])
def test_a_child_left_behind_does_not_hold_the_rendering(tmp_path, session):
    script = tmp_path / "leaves.py"
    script.write_text(
        "import subprocess, sys\n"
        f"child = subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(60)'],"
        f" start_new_session={session})\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "print('done')\n",
        "utf-8",
    )
    began = time.monotonic()
    try:
        assert told_by(f"$({sys.executable} {script})") == "done"
        assert time.monotonic() - began < 20
    finally:
        child = int((tmp_path / "pid").read_text())
        if is_running(child):
            os.kill(child, signal.SIGKILL)


def test_endless_output_is_stopped():
    began = time.monotonic()
    assert "wrote more than" in wrong(
        python('import itertools; [print("x" * 9999) for _ in itertools.count()]')
    )
    assert time.monotonic() - began < 20


def test_output_is_text_without_its_last_line_ends():
    assert told_by(python('print("a"); print()')) == "a"
    assert told_by(python('import sys; sys.stdout.buffer.write(b"\\xff")')) == "\ufffd"
    assert told_by(python("import sys; print(repr(sys.stdin.read()))")) == "''"


def test_each_file_asks_for_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("CITY", "Paris")
    (tmp_path / "asks.md").write_text("---\nenvironment: true\n---\n$CITY", "utf-8")
    (tmp_path / "quiet.md").write_text("$CITY", "utf-8")
    includes = "$CITY {% include 'asks' %} {% include 'quiet' %}"
    assert told_by(includes, folder=tmp_path) == "Paris Paris $CITY"
    assert told_by(includes, ask=(), folder=tmp_path) == "$CITY Paris $CITY"
    assert "template 'asks'" in wrong(includes, ask=(), settings={}, folder=tmp_path)


def test_lines_are_right_after_a_place(monkeypatch):
    monkeypatch.setenv("LINES_OF_TEXT", "a\nb\nc")
    assert "line 7)" in wrong("\n$LINES_OF_TEXT\n{{ nope }}", ask=("environment", "shell"))
