"""Prices from litellm's bundled file, without litellm."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.models import price_file, prices
from robotlab_nb.models.costs import cost, cost_of
from robotlab_nb.models.prices import (
    FREE,
    Price,
    Tier,
    context_window,
    known_models,
    near_models,
    price_of,
    provider_of,
)
from robotlab_nb.models.simulated import SimulatedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
FOUND = price_file.price_file()
bundled = pytest.mark.skipif(FOUND is None, reason="litellm is not installed")

TABLE: dict[str, Any] = {
    "sample_spec": {"litellm_provider": "one of these", "input_cost_per_token": 0.0},
    "gpt-9": {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 4e-06,
        "cache_read_input_token_cost": 1e-07,
        "max_input_tokens": 1000,
        "nested": {"gpt-10": {"litellm_provider": "openai", "input_cost_per_token": 9.0}},
    },
    "gpt-9-latest": {"alias_of": "gpt-9"},
    "gemini/gem": {
        "litellm_provider": "gemini",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 2e-06,
        "output_cost_per_reasoning_token": 5e-06,
        "input_cost_per_token_above_200k_tokens": 3e-06,
        "output_cost_per_token_above_200k_tokens": 6e-06,
    },
    "gem": {"litellm_provider": "vertex_ai-language-models", "input_cost_per_token": 7e-06},
    "dash/qwen": {
        "litellm_provider": "dash",
        "tiered_pricing": [
            {"range": [0, 100], "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06},
            {"range": [100, 900], "input_cost_per_token": 2e-06, "output_cost_per_token": 2e-06},
        ],
    },
    "anthropic.claude": {
        "litellm_provider": "bedrock_converse",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 1e-06,
    },
    "ollama/llama": {
        "litellm_provider": "ollama",
        "input_cost_per_token": 0.0,
        "output_cost_per_token": 0.0,
    },
    "ollama/cloud": {
        "litellm_provider": "ollama",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 1e-06,
    },
    "zai/flash": {
        "litellm_provider": "zai",
        "input_cost_per_token": 0,
        "output_cost_per_token": 0,
    },
    "openai/draw": {"litellm_provider": "openai", "mode": "image_generation"},
}


def forget() -> None:
    for cached in (
        prices._price_of,
        prices._provider_of,
        prices.context_window,
        prices.known_models,
        prices.has_provider,
        price_file.price_file,
    ):
        cached.cache_clear()


@pytest.fixture
def prices_in(tmp_path, monkeypatch) -> Iterator[Callable[[str | None], None]]:
    """Put a text in the place of the price file; None: there is no file."""

    def put(text: str | None) -> None:
        path = tmp_path / "prices.json"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        found: Path | None = None if text is None else path
        forget()
        monkeypatch.setattr(price_file, "price_file", lambda: found)

    yield put
    monkeypatch.undo()
    forget()


LAYOUTS = {
    "as litellm writes it": json.dumps(TABLE, indent=4),
    "on one line": json.dumps(TABLE),
    "with tabs": json.dumps(TABLE, indent="\t"),
    "with other line ends": json.dumps(TABLE, indent=2).replace("\n", "\r\n"),
}


@pytest.fixture(params=list(LAYOUTS))
def table(request, prices_in) -> None:
    prices_in(LAYOUTS[request.param])


# -- the file --------------------------------------------------------------------------------


@bundled
def test_a_price_is_found_without_importing_litellm():
    code = (
        "import sys; from robotlab_nb.models.prices import price_of, known_models;"
        "print(price_of('openai/gpt-4o').input, len(known_models()), 'litellm' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    price, known, imported = told.stdout.split()
    assert (price, imported) == ("2.5e-06", "False")
    assert int(known) > 100


@bundled
def test_what_is_found_as_text_is_what_a_parser_finds():
    data = price_file.read_prices()
    table = price_file.parse_all(data)
    names = sorted(table)
    for name in [*names[::40], names[-1], "sample_spec", next(iter(table)), list(table)[-1]]:
        assert price_file.find_entry(data, name) == table[name], name
    assert price_file.find_entry(data, "search_context_cost_per_query") is None


@bundled
def test_only_the_entries_asked_for_are_parsed(monkeypatch):
    forget()
    monkeypatch.setattr(price_file, "parse_all", None)
    monkeypatch.setattr(prices, "parse_all", None)
    assert price_of("openai/gpt-4o") is not None
    assert provider_of("gpt-4o") == "openai"


@bundled
def test_a_price_is_read_once(monkeypatch):
    forget()
    first = price_of("openai/gpt-4o", "openai")
    monkeypatch.setattr(prices, "read_prices", None)
    assert price_of("openai/gpt-4o", "openai") is first


def test_without_litellm_everything_is_unknown(prices_in):
    prices_in(None)
    assert price_of("openai/gpt-9") is None
    assert provider_of("gpt-9") is None
    assert context_window("openai/gpt-9") is None
    assert known_models() == ()
    assert near_models("gpt-9") == ()


def test_the_file_is_looked_for_where_litellm_would_be(monkeypatch, tmp_path):
    (tmp_path / "litellm").mkdir()
    (tmp_path / "litellm" / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    forget()
    assert price_file.price_file() is None
    name = tmp_path / "litellm" / "model_prices_and_context_window_backup.json"
    name.write_text(json.dumps(TABLE))
    forget()
    assert price_file.price_file() == name
    assert price_of("openai/gpt-9") == Price(1e-06, 4e-06, 1e-07, entry="gpt-9")
    forget()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{\n    "gpt-9": {"litellm', '{\n    "gpt-9": 3\n}']
)
def test_a_damaged_file_knows_nothing(prices_in, text):
    prices_in(text)
    assert price_of("openai/gpt-9") is None
    assert known_models() == ()


# -- prices ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("table")
def test_a_model_is_found_by_its_name_with_or_without_provider():
    assert price_of("openai/gpt-9", "openai") == Price(1e-06, 4e-06, 1e-07, entry="gpt-9")
    assert price_of("gpt-9", "openai") == price_of("gpt-9") == price_of("openai/gpt-9")
    assert price_of("bedrock/anthropic.claude").entry == "anthropic.claude"
    assert price_of("bedrock/converse/anthropic.claude").entry == "anthropic.claude"
    assert price_of("vertex_ai/gem").input == 7e-06
    assert price_of("gemini/gem").input == 1e-06


@pytest.mark.usefixtures("table")
def test_an_alias_costs_what_its_model_costs():
    assert price_of("openai/gpt-9-latest").input == 1e-06


@pytest.mark.usefixtures("table")
def test_another_providers_model_of_that_name_has_no_price():
    assert price_of("hosted_vllm/gpt-9", "hosted_vllm") is None
    assert price_of("custom/gpt-9", "custom") is None
    assert price_of("gpt-10") is None


@pytest.mark.usefixtures("table")
def test_the_name_that_answered_is_looked_up_when_the_one_asked_is_unknown():
    assert price_of("openai/my-alias", "openai", response_model="gpt-9").input == 1e-06
    assert price_of("custom/my-alias", "custom", response_model="gpt-9") is None


@pytest.mark.usefixtures("table")
def test_a_zero_is_a_price_only_where_tokens_are_billed():
    assert price_of("zai/flash") == Price(0.0, 0.0, entry="zai/flash")
    assert price_of("ollama/llama") is None
    assert price_of("ollama/absent") is None
    assert price_of("ollama/cloud").input == 1e-06


@pytest.mark.usefixtures("table")
def test_what_is_simulated_is_free():
    assert price_of("simulated/script", "simulated") is FREE
    assert cost_of(SimulatedModel(), {}) == 0.0


@pytest.mark.usefixtures("table")
def test_a_model_that_is_not_billed_by_the_token_has_no_price():
    assert price_of("openai/draw") is None


# -- costs -----------------------------------------------------------------------------------


def test_cached_tokens_cost_less_and_are_counted_once():
    price = Price(1.0, 10.0, cached=0.25)
    assert cost({"input_tokens": 8, "output_tokens": 2, "cached_tokens": 4}, price) == 4 + 1 + 20


def test_cached_tokens_cost_like_any_where_the_file_does_not_say():
    assert cost({"input_tokens": 8, "output_tokens": 0, "cached_tokens": 4}, Price(1.0, 1.0)) == 8


def test_reasoning_is_part_of_the_output_and_may_have_a_price_of_its_own():
    used = {"input_tokens": 0, "output_tokens": 10, "reasoning_tokens": 4}
    assert cost(used, Price(1.0, 2.0)) == 20
    assert cost(used, Price(1.0, 2.0, reasoning=5.0)) == 6 * 2 + 4 * 5


def test_long_requests_have_other_prices():
    price = Price(1.0, 1.0, tiers=(Tier(10, 2.0, 3.0), Tier(100, 4.0, 5.0)))
    for read, expected in ((10, 11), (11, 25), (100, 203), (101, 409)):
        assert cost({"input_tokens": read, "output_tokens": 1}, price) == expected


@pytest.mark.usefixtures("table")
def test_tiers_are_read_in_both_spellings():
    assert price_of("gemini/gem").tiers == (Tier(200_000, 3e-06, 6e-06, None, 5e-06),)
    qwen = price_of("dash/qwen")
    assert [tier.above for tier in qwen.tiers] == [0, 100]
    assert cost({"input_tokens": 101, "output_tokens": 0}, qwen) == pytest.approx(202e-06)


def test_a_reported_cost_wins_and_unknown_is_never_zero():
    used = {"input_tokens": 5, "output_tokens": 5}
    assert cost({**used, "cost_usd": 0.5}, Price(1.0, 1.0)) == 0.5
    assert cost({**used, "cost_usd": 0}, None) == 0.0
    assert cost(used, None) is None
    assert cost({"input_tokens": 5}, Price(1.0, 1.0)) is None
    assert cost({"input_tokens": None, "output_tokens": 5}, Price(1.0, 1.0)) is None
    assert cost(used, Price(1.0, None)) is None
    assert cost({"input_tokens": 5, "output_tokens": 0}, Price(1.0, None)) == 5.0


COUNTS = st.none() | st.integers(-5, 10**7) | st.booleans() | st.just("7") | st.just(float("nan"))


@given(read=COUNTS, written=COUNTS, cached=COUNTS, thought=COUNTS)
def test_odd_counts_never_make_a_negative_cost(read, written, cached, thought):
    used = {
        "input_tokens": read,
        "output_tokens": written,
        "cached_tokens": cached,
        "reasoning_tokens": thought,
    }
    found = cost(used, Price(1e-6, 2e-6, 1e-7, 3e-6))
    assert found is None or found >= 0


# -- names -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("table")
def test_a_bare_name_has_a_provider_if_the_file_lists_it():
    assert provider_of("gpt-9") == "openai"
    assert provider_of("gem") == "gemini"
    assert provider_of("anthropic.claude") == "bedrock"
    assert provider_of("absent") is None


@pytest.mark.usefixtures("table")
def test_known_models_are_text_models_as_one_writes_them():
    assert known_models() == (
        "gemini/gem",
        "openai/gpt-9",
        "openai/gpt-9-latest",
        "bedrock/anthropic.claude",
        "dash/qwen",
        "ollama/cloud",
        "ollama/llama",
        "vertex_ai/gem",
        "zai/flash",
    )


@pytest.mark.usefixtures("table")
def test_near_names_are_found_whole_and_in_part():
    assert near_models("gpt9")[0] == "openai/gpt-9"
    assert near_models("opnai/gpt-9")[0] == "openai/gpt-9"
    assert "bedrock/anthropic.claude" in near_models("claude")
    assert near_models("zzzz") == ()


@pytest.mark.usefixtures("table")
def test_a_context_window_is_known_or_not():
    assert context_window("openai/gpt-9") == 1000
    assert context_window("openai/absent") is None


@pytest.mark.usefixtures("table")
def test_a_provider_is_known_by_its_entries():
    assert prices.has_provider("zai")
    assert not prices.has_provider("zaii")
    assert not prices.has_provider('a"b')


@bundled
def test_names_of_today_are_near_what_people_type():
    assert near_models("gpt4o")[0] == "openai/gpt-4o"
    assert any(name.startswith("anthropic/claude") for name in near_models("claude"))
