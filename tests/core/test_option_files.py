"""Settings in files and in the environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from robotlab_nb.core.errors import ConfigurationError, UnknownKeyword
from robotlab_nb.core.fields import FIELDS
from robotlab_nb.core.option_files import LIVE, load


@pytest.fixture
def places(tmp_path):
    """``places.load(user=…, project=…, VARIABLE=…)`` with files of these texts."""

    class Places:
        user = tmp_path / "user"
        project = tmp_path / "project"

        def load(self, user=None, project=None, **environ):
            for folder in (self.user, self.project):
                folder.mkdir(exist_ok=True)
            if user is not None:
                (self.user / "config.yml").write_text(user, "utf-8")
            if project is not None:
                (self.project / "robotlab_nb.yml").write_text(project, "utf-8")
            return load(environ=environ, folder=self.project, user_folder=self.user)

    return Places()


def test_the_environment_is_stronger_than_the_project_and_that_than_the_user(places):
    found = places.load("temperature: 0.1", "seed: 3\nstop: [a, b]", ROBOTLAB_MODEL="openai/x")
    origins = [origin for origin, _ in found]
    assert origins[0].startswith("file ")
    assert origins[0].endswith("user/config.yml")
    assert origins[1].endswith("project/robotlab_nb.yml")
    assert origins[2] == "environment ROBOTLAB_MODEL"
    assert [level for _, level in found] == [
        {"temperature": 0.1},
        {"seed": 3, "stop": ["a", "b"]},
        {"model": "openai/x"},
    ]


def test_nothing_anywhere_is_no_level(places):
    assert places.load() == []
    assert places.load("", "# only a comment\nseed:\n", ROBOTLAB_SEED=" ") == []


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("TEMPERATURE", "0.2", 0.2),
        ("TEMPERATURE", "1", 1),
        ("MAX_TOKENS", " 100 ", 100),
        ("MODEL", "openai/gpt-5-mini", "openai/gpt-5-mini"),
        ("REASONING_EFFORT", "none", "none"),
        ("CACHE", "true", True),
        ("CACHE", "1", True),
        ("CACHE", "Off", False),
        ("STOP", "END", "END"),
        ("STOP", '["a", "b"]', ["a", "b"]),
        ("PROVIDER_OPTIONS", '{"a": {"b": 1}}', {"a": {"b": 1}}),
        ("MAX_TOOLS", "none", None),
        ("AGENT_SKILLS", "[one, two]", ["one", "two"]),
        ("AUTO_COMPACT", "true", True),
        ("API_KEY", "MY_KEY", "MY_KEY"),
    ],
)
def test_a_variable_has_the_type_of_its_setting(places, name, text, value):
    [(origin, level)] = places.load(**{f"ROBOTLAB_{name}": text})
    assert origin == f"environment ROBOTLAB_{name}"
    [found] = level.values()
    assert (found, type(found)) == (value, type(value))


def test_a_key_in_the_environment_stays_there(places):
    [(_, level)] = places.load(ROBOTLAB_API_KEY="sk-very-secret")
    assert level == {"api_key": "ROBOTLAB_API_KEY"}


@pytest.mark.parametrize(
    ("variable", "text", "told"),
    [
        ("ROBOTLAB_TEMPERATURE", "hot", "temperature takes int or float, not 'hot'"),
        ("ROBOTLAB_TEMPERATURE", "nan", "finite"),
        ("ROBOTLAB_MAX_TOKENS", "1.5", "max_tokens takes int"),
        ("ROBOTLAB_ATTEMPTS", "0", "at least 1"),
        ("ROBOTLAB_CACHE", "maybe", "cache takes bool"),
        ("ROBOTLAB_STOP", "[a", "ROBOTLAB_STOP, line 1"),
        ("ROBOTLAB_MODLE", "x", "Did you mean 'model'?"),
        ("ROBOTLAB_HOOKS", "[x]", "an object of a running program"),
        ("ROBOTLAB_OUTPUT_MODE", "xml", "one of 'schema', 'tool', 'text'"),
    ],
)
def test_a_wrong_variable_is_named(places, variable, text, told):
    with pytest.raises(ConfigurationError, match=f"variable {variable}") as caught:
        places.load(**{variable: text})
    assert told in str(caught.value)


def test_variables_that_steer_the_package_are_no_settings(places):
    assert places.load(ROBOTLAB_NB_REQUIRE="browser", ROBOTLABX="1", OTHER="2") == []


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("seed: 1\nmodle: x", 2, "Did you mean 'model'?"),
        ("temperature: hot", 1, "takes int or float"),
        ("\n\nattempts: 0", 3, "at least 1"),
        ("seed: .nan", 1, "finite"),
        ("api_key: sk-secret", 1, "Write the name of the environment variable"),
        ("development:\n  model: x", 1, "a section, and there are none"),
        ("model: [", 1, "expected"),
        ("seed: 1\nseed: 2", 2, "twice"),
        ("seed: !!python/object:os.system x", 1, "the tag"),
        ("allow_shell: true", 1, "cannot be granted by a file of the project"),
        ("allow_environment: true", 1, "cannot be granted by a file of the project"),
        *((f"{name}: x", 1, "an object of a running program") for name in sorted(LIVE)),
    ],
)
def test_a_wrong_file_is_named_with_its_line(places, text, line, told):
    with pytest.raises(ConfigurationError, match=rf"robotlab_nb\.yml, line {line}") as caught:
        places.load(project=text)
    assert told in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_what_allows_templates_more_stands_in_the_users_own_file(places):
    [(_, level)] = places.load(user="allow_shell: true\napi_key: MY_KEY")
    assert level == {"allow_shell": True, "api_key": "MY_KEY"}


def test_an_unknown_key_is_an_unknown_keyword(places):
    with pytest.raises(UnknownKeyword):
        places.load("max_iterations: 3")


def test_a_file_in_config_counts_and_two_files_are_refused(places):
    places.load()
    (places.project / "config").mkdir()
    (places.project / "config" / "robotlab_nb.yaml").write_text("seed: 1", "utf-8")
    assert places.load()[0][1] == {"seed": 1}
    with pytest.raises(ConfigurationError, match="two files of settings.*Keep one"):
        places.load(project="seed: 2")


def test_a_file_that_cannot_be_read_is_named(places):
    places.load()
    (places.user / "config.yml").write_bytes(b"model: \xff")
    with pytest.raises(ConfigurationError, match=r"user/config\.yml cannot be read"):
        places.load()


def test_every_setting_is_data_or_known_not_to_be():
    assert set(FIELDS) >= LIVE


def test_a_robot_sees_them_with_their_origins_and_importing_reads_nothing(tmp_path):
    (tmp_path / "robotlab_nb.yml").write_text("temperature: 0.3\n", "utf-8")
    code = """if True:
        import sys, robotlab_nb as rl
        assert "yaml" not in sys.modules and "platformdirs" not in sys.modules
        print(rl.build("a").effective_config["temperature"])
        print(rl.build("a").effective_config["seed"])
        with open("robotlab_nb.yml", "w") as file: file.write("temperature: 0.9")
        print(rl.options.reload().temperature)
    """
    environ = {**os.environ, "ROBOTLAB_SEED": "4", "XDG_CONFIG_HOME": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, timeout=100,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "Setting(value=0.3, origin='file robotlab_nb.yml')",
        "Setting(value=4, origin='environment ROBOTLAB_SEED')",
        "0.9",
    ]
