"""Settings: names, types, levels, options."""

from __future__ import annotations

import pytest

import robotlab_nb as rl
from robotlab_nb.core.config import DEFAULTS, FIELDS, resolve


def test_every_field_takes_its_default_and_is_documented():
    for name, field in FIELDS.items():
        assert field.doc, name
        assert resolve([])[name].value == field.default
        assert resolve([])[name].origin == "default"


def test_the_later_level_wins_and_is_named():
    found = resolve(
        [("options", {"seed": 1, "attempts": 5}), ("config", {"seed": 2}), ("robot", {"seed": 3})]
    )
    assert found["seed"] == (3, "robot")
    assert found["attempts"] == (5, "options")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"temprature": 1}, "Did you mean 'temperature'"),
        ({"temperature": "hot"}, "takes int or float, not 'hot'"),
        ({"temperature": -1}, "at least 0"),
        ({"attempts": 0}, "at least 1"),
        ({"max_tokens": True}, "takes int, not True"),
        ({"raise_on_error": 1}, "takes bool, not 1"),
    ],
)
def test_wrong_settings_say_what_is_wrong(fields, told):
    with pytest.raises(rl.ConfigurationError, match=told):
        rl.RunConfig(**fields)


def test_a_config_is_sparse_and_merges():
    config = rl.RunConfig(temperature=0.1, seed=None, max_tools=None)
    assert dict(config) == {"temperature": 0.1, "max_tools": None}
    assert dict(config.merge({"seed": 3}, temperature=0.5)) == {
        "temperature": 0.5,
        "seed": 3,
        "max_tools": None,
    }
    assert rl.RunConfig.of(config) is config
    with pytest.raises(rl.ConfigurationError, match="RunConfig or a dict"):
        rl.RunConfig.of(3)


def test_a_config_as_json_shows_no_key():
    config = rl.RunConfig(api_key="sk-very-secret", on_content=print)
    assert config.to_dict() == {"api_key": "(set)", "on_content": "print"}
    found = resolve([("robot", {"api_key": "sk-very-secret"})])["api_key"]
    assert found == ("(set)", "robot")
    assert resolve([("robot", {"api_key": "MY_KEY"})])["api_key"].value == "MY_KEY"
    # its repr is for the person who wrote it, and must not leak either
    assert "sk-very-secret" not in repr(config)


def test_options_are_checked_typed_and_come_back():
    with pytest.raises(rl.UnknownKeyword, match="Did you mean 'model'"):
        rl.options.modle = "x"
    with pytest.raises(AttributeError, match="Did you mean 'model'"):
        _ = rl.options.modle
    with pytest.raises(rl.ConfigurationError, match="attempts"):
        rl.options(attempts=0)
    before = rl.options.attempts
    with rl.options(attempts=7) as inside:
        assert inside.attempts == 7
        with rl.options(attempts=8):
            assert rl.options.attempts == 8
        assert rl.options.attempts == 7
    assert rl.options.attempts == before == DEFAULTS["attempts"]
    rl.options.seed = 4
    assert rl.build("a").effective_config["seed"] == (4, "options")
    del rl.options.seed
    assert rl.build("a").effective_config["seed"].origin == "default"
    assert "attempts" in dir(rl.options)
