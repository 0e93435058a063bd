"""From what is written as ``model=`` to the way it is asked, and where its key is."""

from __future__ import annotations

import os
import pickle

import pytest

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.models import price_file
from robotlab_nb.models import resolve as tables
from robotlab_nb.models.direct import DirectModel
from robotlab_nb.models.key_refs import KEYLESS, PROVIDERS, KeyRef, default_key
from robotlab_nb.models.litellm import LiteLLMModel
from robotlab_nb.models.resolve import resolve
from robotlab_nb.models.simulated import SimulatedModel

SECRET = "sk-canary-0123456789"
bundled = pytest.mark.skipif(price_file.price_file() is None, reason="litellm is not installed")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch) -> None:
    """No keys, no addresses, and nothing is imported in the background."""
    for name in list(os.environ):
        if "API_KEY" in name or "API_BASE" in name or name.startswith(("OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(LiteLLMModel, "warm", lambda model: warmed.append(model.name))
    warmed.clear()


warmed: list[str] = []


# -- which way -------------------------------------------------------------------------------


def test_nothing_means_the_simulated_rules_shared_by_all():
    assert resolve() is resolve(None) is resolve("simulated") is resolve("simulated/rules")
    assert resolve().name == "simulated/rules"
    assert resolve("rules", provider="simulated") is resolve()


def test_models_pass_through_whatever_else_is_said():
    model = SimulatedModel(["hi"])
    assert resolve(model) is model
    assert resolve(model, provider="openai", api_key="X_Y") is model


def test_a_function_answers_itself():
    model = resolve(lambda request: "hi")
    assert (model.name, model.simulated) == ("simulated/function", True)


@pytest.mark.parametrize("name", ["openai/gpt-x", "ollama/llama3.2"])
def test_these_providers_are_asked_directly(name):
    model = resolve(name)
    assert isinstance(model, DirectModel)
    assert model.name == name


@pytest.mark.parametrize(
    "name", ["anthropic/claude-x", "groq/llama", "openrouter/a/b", "bedrock/x"]
)
def test_other_providers_are_asked_through_litellm(name):
    model = resolve(name)
    assert isinstance(model, LiteLLMModel)
    assert (model.name, model.provider) == (name, name.partition("/")[0])


def test_via_chooses_the_way():
    assert isinstance(resolve("openai/gpt-x", via="litellm"), LiteLLMModel)
    assert isinstance(resolve("openai/gpt-x", via="direct"), DirectModel)
    with pytest.raises(ConfigurationError, match="cannot be asked directly"):
        resolve("groq/llama", via="direct")
    with pytest.raises(ConfigurationError, match="Did you mean 'litellm'"):
        resolve("openai/gpt-x", via="litelm")


def test_any_address_is_asked_directly():
    model = resolve("groq/llama", api_base="http://127.0.0.1:9/v1/")
    assert isinstance(model, DirectModel)
    assert (model.name, model.endpoint) == ("groq/llama", "http://127.0.0.1:9/v1")


def test_a_name_behind_an_address_needs_no_provider():
    assert resolve("my-model", api_base="http://127.0.0.1:9/v1").name == "custom/my-model"
    model = resolve("meta-llama/Llama-3.1-8B", api_base="http://127.0.0.1:9/v1")
    assert (model.provider, model.model) == ("custom", "meta-llama/Llama-3.1-8B")


def test_a_provider_may_be_named_beside_the_model():
    assert resolve("gpt-x", provider="openai").name == "openai/gpt-x"
    assert resolve("openai/gpt-x", provider="openai").name == "openai/gpt-x"
    assert resolve("openai/gpt-oss", provider="groq").name == "groq/openai/gpt-oss"
    assert resolve("x", provider="openai") is not resolve("x", provider="ollama")


@bundled
def test_a_bare_name_is_looked_up_in_the_price_file():
    assert resolve("gpt-4o").name == "openai/gpt-4o"
    assert resolve("claude-sonnet-4-5").name == "anthropic/claude-sonnet-4-5"


def test_the_same_words_give_the_same_model():
    assert resolve("openai/gpt-x") is resolve("openai/gpt-x")
    first = resolve("x", api_base="http://127.0.0.1:9/v1", api_key=SECRET)
    assert first is resolve("x", api_base="http://127.0.0.1:9/v1", api_key=SECRET)
    assert first is not resolve("x", api_base="http://127.0.0.1:9/v1", api_key=SECRET + "1")


def test_no_table_keeps_a_key():
    model = resolve("x", api_base="http://127.0.0.1:9/v1", api_key=SECRET)
    assert SECRET not in repr(list(tables._by_all.keys())) + repr(tables._by_name)
    kept = len(tables._by_all)
    del model
    assert len(tables._by_all) == kept - 1


# -- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["", "  ", 3, ["a"], True, object(), SimulatedModel, b"x"])
def test_what_is_no_name_is_refused(model):
    with pytest.raises(ConfigurationError, match="model="):
        resolve(model)


def test_a_provider_without_a_model_is_refused():
    with pytest.raises(ConfigurationError, match="no model"):
        resolve(None, provider="openai")
    with pytest.raises(ConfigurationError, match="ends after its provider"):
        resolve("openai/")


@pytest.mark.parametrize(
    ("name", "meant"), [("opnai/x", "openai"), ("google/x", "gemini"), ("Anthropic/x", "anthropic")]
)
def test_an_unknown_provider_is_refused_with_the_near_one(name, meant):
    with pytest.raises(ConfigurationError, match=f"Did you mean '{meant}'"):
        resolve(name)
    with pytest.raises(ConfigurationError, match=f"Did you mean '{meant}'"):
        resolve("x", provider=name.partition("/")[0])


@bundled
def test_an_unknown_name_is_refused_with_near_ones():
    with pytest.raises(ConfigurationError) as raised:
        resolve("gpt4o")
    assert "openai/gpt-4o" in str(raised.value)
    assert "Write provider/name" in str(raised.value)


def test_a_script_has_no_name():
    with pytest.raises(ConfigurationError, match="SimulatedModel"):
        resolve("simulated/script")


@pytest.mark.parametrize("field", ["provider", "api_base", "via", "api_key"])
@pytest.mark.parametrize("value", ["", "  ", 3, ["x"]])
def test_empty_and_odd_words_are_refused(field, value):
    with pytest.raises(ConfigurationError, match=field):
        resolve("openai/gpt-x", **{field: value})


def test_litellm_must_know_whose_wire_an_address_speaks():
    with pytest.raises(ConfigurationError, match="litellm must know"):
        resolve("my-model", api_base="http://127.0.0.1:9/v1", via="litellm")


# -- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variable", "value", "endpoint"),
    [
        ("openai/x", "NOTHING_SET", "", "https://api.openai.com/v1"),
        ("openai/x", "OPENAI_BASE_URL", "http://h:1/v1", "http://h:1/v1"),
        ("openai/x", "OPENAI_API_BASE", "http://h:1/v1/", "http://h:1/v1"),
        ("ollama/x", "NOTHING_SET", "", "http://localhost:11434/v1"),
        ("ollama/x", "OLLAMA_API_BASE", "http://h:1", "http://h:1/v1"),
        ("ollama/x", "OLLAMA_API_BASE", "http://h:1/v1", "http://h:1/v1"),
        ("ollama/x", "OLLAMA_HOST", "h", "http://h:11434/v1"),
        ("ollama/x", "OLLAMA_HOST", "h:1", "http://h:1/v1"),
        ("ollama/x", "OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("ollama/x", "OLLAMA_HOST", "https://h", "https://h/v1"),
        ("hosted_vllm/x", "HOSTED_VLLM_API_BASE", "http://h:1/v1", "http://h:1/v1"),
    ],
)
def test_addresses_come_from_the_usual_variables(monkeypatch, name, variable, value, endpoint):
    monkeypatch.setenv(variable, value)
    assert resolve(name).endpoint == endpoint


def test_a_changed_address_is_noticed(monkeypatch):
    before = resolve("openai/x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h:1/v1")
    assert resolve("openai/x").endpoint == "http://h:1/v1"
    assert resolve("x", provider="openai").endpoint == "http://h:1/v1"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert resolve("openai/x").endpoint == before.endpoint


def test_hosted_vllm_needs_an_address():
    with pytest.raises(ConfigurationError, match="HOSTED_VLLM_API_BASE"):
        resolve("hosted_vllm/x")


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match="api_base"):
        resolve("openai/x", api_base="somewhere")


# -- keys ------------------------------------------------------------------------------------


def sent(model: DirectModel) -> str | None:
    return model._secret()


def test_a_missing_key_is_an_error_before_any_request(monkeypatch):
    for name in ("openai/gpt-x", "anthropic/claude-x", "gemini/gem"):
        with pytest.raises(ConfigurationError, match=f"{name.partition('/')[0].upper()}_API_KEY"):
            resolve(name).check()
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    resolve("openai/gpt-x").check()


def test_the_error_names_the_ways_out():
    with pytest.raises(ConfigurationError) as raised:
        resolve("groq/llama").check()
    assert str(raised.value) == (
        "no key for groq/llama: set GROQ_API_KEY, pass api_key=, "
        "or use model='simulated' to go on without one"
    )


def test_keys_are_read_when_they_are_needed(monkeypatch):
    model = resolve("openai/gpt-x", api_key="MY_KEY")
    with pytest.raises(ConfigurationError, match="MY_KEY"):
        model.check()
    monkeypatch.setenv("MY_KEY", f" {SECRET}\n")
    model.check()
    assert sent(model) == SECRET


@pytest.mark.parametrize("name", ["ollama/llama", "bedrock/x", "vertex_ai/x"])
def test_some_providers_need_no_key(name):
    resolve(name).check()


def test_an_address_needs_no_key_and_gets_none_unasked(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model = resolve("openai/x", api_base="http://127.0.0.1:9/v1")
    model.check()
    assert sent(model) is None
    named = resolve("openai/x", api_base="http://127.0.0.1:9/v1", api_key="OPENAI_API_KEY")
    assert sent(named) == SECRET


def test_an_address_from_the_environment_gets_the_key_and_can_do_without(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    resolve("openai/x").check()
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert sent(resolve("openai/x")) == SECRET


def test_optional_keys_are_sent_where_they_are_set(monkeypatch):
    monkeypatch.setenv("OLLAMA_API_KEY", SECRET)
    assert sent(resolve("ollama/x")) == SECRET


def test_litellm_is_warmed_once_and_only_where_it_can_be_used(monkeypatch):
    resolve("anthropic/claude-warm")
    assert warmed == []
    monkeypatch.setenv("MISTRAL_API_KEY", SECRET)
    resolve("mistral/warm")
    resolve("mistral/warm")
    assert warmed == ["mistral/warm"]


@pytest.mark.parametrize("key", ["sk-1", "lower_case", "EMPTY", "a b", "Key_1", "1ABC"])
def test_what_is_no_variable_is_a_key(key):
    assert KeyRef.of(key).name is None
    assert KeyRef.of(key).get() == key


def test_the_first_variable_that_is_set_counts(monkeypatch):
    reference = default_key("gemini")
    assert reference.get() is None
    monkeypatch.setenv("GOOGLE_API_KEY", "second")
    assert reference.get() == "second"
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    assert reference.get() == "second"
    monkeypatch.setenv("GEMINI_API_KEY", "first")
    assert reference() == "first"


def test_keys_are_shown_and_written_nowhere(monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    given, named = KeyRef.of(SECRET), KeyRef.of("MY_KEY")
    models = [
        resolve("openai/x", api_key=SECRET),
        resolve("groq/x", api_key=SECRET),
        resolve("groq/x", api_key="MY_KEY"),
    ]
    shown = repr([given, named, models, [vars(model) for model in models]])
    assert SECRET not in shown
    assert "MY_KEY" in shown
    assert pickle.loads(pickle.dumps(named)).get() == SECRET
    assert SECRET.encode() not in pickle.dumps(models[2])
    for thing in (given, models[1]):
        with pytest.raises(ConfigurationError, match="environment variable"):
            pickle.dumps(thing)


@bundled
def test_the_table_of_providers_knows_the_ones_in_the_price_file():
    known = set(PROVIDERS)
    assert {"openai", "anthropic", "gemini", "groq", "openrouter", "bedrock"} <= known
    assert all(default_key(name) is None for name in KEYLESS)
    assert all(default_key(name) for name in PROVIDERS - KEYLESS)
