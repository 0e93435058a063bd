"""What model calls cost, and which models there are, after the price file that litellm brings.

An unknown price is None, never 0. Knows nothing of requests, and never imports litellm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from .price_file import find_entry, parse_all, read_prices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


__all__ = [
    "FREE",
    "Price",
    "Tier",
    "context_window",
    "has_provider",
    "known_models",
    "near_models",
    "number",
    "price_of",
    "provider_of",
]

_TEXT_MODES = frozenset({"chat", "responses", "completion"})
#: providers whose answers are made here, for nothing
_FREE_PROVIDERS = frozenset({"simulated", "scripted"})
#: providers that do not bill by the token: a zero in the file says that nobody knows
_NOT_BY_TOKEN = frozenset(
    ("hosted_vllm", "lemonade", "llamafile", "lm_studio", "ollama", "sagemaker", "vllm")
)
#: named first when several providers have a model of the same name
_FIRST = frozenset(
    ("openai", "anthropic", "gemini", "mistral", "deepseek", "xai", "groq", "cohere")
)
_FAMILIES = {
    "azure_text": "azure",
    "bedrock_converse": "bedrock",
    "cohere_chat": "cohere",
    "ollama_chat": "ollama",
    "sagemaker_chat": "sagemaker",
    "text-completion-openai": "openai",
}
_ABOVE = re.compile(r"input_cost_per_token_above_(\d+)(k?)_tokens")

_Rates: TypeAlias = tuple[float | None, float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class Tier:
    """Prices, in US dollars per token, of requests that read more than ``above`` tokens."""

    above: int
    input: float | None
    output: float | None
    cached: float | None = None
    reasoning: float | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """What one model costs, in US dollars per token.

    Parameters
    ----------
    input, output : float or None
        Per token read and written; None where the file does not say.
    cached : float or None
        Per token read from the provider's cache; None: like any token read.
    reasoning : float or None
        Per token thought; None: like any token written.
    tiers : tuple of Tier
        Other prices for long requests, shortest first.
    entry : str
        The name in the price file.
    """

    input: float | None
    output: float | None
    cached: float | None = None
    reasoning: float | None = None
    tiers: tuple[Tier, ...] = ()
    entry: str = ""


#: The price of answers that are made up here.
FREE = Price(0.0, 0.0, entry="simulated")


@dataclass(frozen=True, slots=True)
class _Entry:
    provider: str
    mode: str
    window: int | None
    price: Price | None


def price_of(
    model: str, provider: str | None = None, *, response_model: str | None = None
) -> Price | None:
    """Find the price of a model.

    Parameters
    ----------
    model : str
        Name, with or without its provider: ``openai/gpt-5-mini`` or ``gpt-5-mini``.
    provider : str, optional
        Whose model it is; by default the part of the name before the first slash.
    response_model : str, optional
        The name that the provider answered with; looked up when ``model`` is not known.

    Returns
    -------
    Price or None
        None when the price is not known, or when litellm is not installed.

    Examples
    --------
    >>> price_of("simulated/rules").input
    0.0
    >>> price_of("nobody/knows-this") is None
    True
    """
    owner = provider or model.partition("/")[0]
    if owner in _FREE_PROVIDERS:
        return FREE
    return _price_of(model, provider, response_model)


def provider_of(name: str) -> str | None:
    """Say whose model a bare name is.

    Parameters
    ----------
    name : str
        A model's name without a provider, ``gpt-5-mini``.

    Returns
    -------
    str or None
        The provider to write before it, or None when the price file does not list the name.

    Examples
    --------
    >>> provider_of("no-such-model-anywhere") is None
    True
    """
    found = _provider_of(name)
    return found or None


@lru_cache(maxsize=1024)
def context_window(model: str, provider: str | None = None) -> int | None:
    """Say how many tokens a model can read at once; None when that is not known."""
    _, entry = _lookup(_candidates(model, provider))
    return entry.window if entry else None


@lru_cache(maxsize=1)
def known_models() -> tuple[str, ...]:
    """List the text models of the price file as ``provider/model``; empty without litellm.

    This parses the whole file (tens of milliseconds, once): it serves error messages.
    """
    table = parse_all(read_prices())
    ranked: dict[str, tuple[bool, str]] = {}
    for key, raw in table.items():
        if isinstance(raw, dict) and isinstance(raw.get("alias_of"), str):
            raw = table.get(raw["alias_of"])
        entry = _entry(key, raw)
        if entry is not None and entry.mode in _TEXT_MODES and key != "sample_spec":
            full = key if "/" in key else f"{entry.provider}/{key}"
            ranked[full] = (full.partition("/")[0] not in _FIRST, full)
    return tuple(sorted(ranked, key=ranked.__getitem__))


def near_models(name: str, limit: int = 5) -> tuple[str, ...]:
    """Find known models with a name like the given one, nearest first.

    Parameters
    ----------
    name : str
        A name, with or without a provider, perhaps misspelt.
    limit : int, optional
        How many to return at most.

    Returns
    -------
    tuple of str
        Names as ``provider/model``; empty when none is near or litellm is not installed.
    """
    import difflib

    by_bare: dict[str, str] = {}
    for full in known_models():
        by_bare.setdefault(full.partition("/")[2].lower(), full)
    asked = name.strip().lower()
    bare = asked.rpartition("/")[2]
    found: list[str] = []
    if "/" in asked:
        full_names = {full.lower(): full for full in known_models()}
        close = difflib.get_close_matches(asked, full_names, n=limit, cutoff=0.75)
        found += [full_names[n] for n in close]
    found += [by_bare[n] for n in difflib.get_close_matches(bare, by_bare, n=limit, cutoff=0.7)]
    if len(bare) >= 3:
        found += [full for other, full in by_bare.items() if other.startswith(bare)]
        found += [full for other, full in by_bare.items() if bare in other]
    return tuple(dict.fromkeys(found))[:limit]


@lru_cache(maxsize=256)
def has_provider(provider: str) -> bool:
    """Whether the price file lists models of a provider."""
    data = read_prices()
    wanted = (f'"litellm_provider": "{provider}"', f' "{provider}/')
    return any(text.encode("utf-8", "replace") in data for text in wanted)


@lru_cache(maxsize=1024)
def _price_of(model: str, provider: str | None, response_model: str | None) -> Price | None:
    names = list(_candidates(model, provider))
    if response_model:
        names += _candidates(response_model, provider or model.partition("/")[0])
    _, entry = _lookup(names)
    return entry.price if entry else None


@lru_cache(maxsize=1024)
def _provider_of(name: str) -> str:
    # Google sells the same models under two doors; the one that a plain key opens comes first.
    key, entry = _lookup([(f"gemini/{name}", "gemini"), (name, None)])
    if entry is None:
        return ""
    return "gemini" if key.startswith("gemini/") else entry.provider


def _candidates(model: str, provider: str | None) -> Iterable[tuple[str, str | None]]:
    """Names to try in the file, each with the provider that an entry must have (None: any)."""
    prefix, slash, rest = model.partition("/")
    owner = provider or (prefix if slash else None)
    bare = rest if slash and prefix == owner else model
    if owner == "bedrock":
        bare = bare.removeprefix("converse/").removeprefix("invoke/")
    if owner is None:
        return [(model, None)]
    return [(f"{owner}/{bare}", owner), (bare, owner)]


def _lookup(names: Iterable[tuple[str, str | None]]) -> tuple[str, _Entry | None]:
    """The first of the names that the file lists for its provider, and its entry."""
    data = read_prices()
    for name, owner in names:
        raw = find_entry(data, name)
        if raw is not None and isinstance(raw.get("alias_of"), str):
            raw = find_entry(data, raw["alias_of"])
        entry = _entry(name, raw)
        if entry is not None and (owner is None or entry.provider == _family(owner)):
            return name, entry
    return "", None


def _entry(name: str, raw: Any) -> _Entry | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("litellm_provider"), str):
        return None
    provider = _family(raw["litellm_provider"])
    window = number(raw.get("max_input_tokens")) or number(raw.get("max_tokens"))
    return _Entry(
        provider, str(raw.get("mode") or "chat"), int(window) if window else None,
        _price(name, provider, raw),
    )  # fmt: skip


def _price(name: str, provider: str, raw: Mapping[str, Any]) -> Price | None:
    tiers = sorted(_tiers(raw), key=lambda tier: tier.above)
    base = _rates(raw)
    if base == (None, None, None, None) and tiers:
        base = (tiers[0].input, tiers[0].output, tiers[0].cached, tiers[0].reasoning)
    if base[0] is None and base[1] is None:
        return None
    if not base[0] and not base[1] and provider in _NOT_BY_TOKEN:
        return None
    return Price(*base, tiers=tuple(tiers), entry=name)


def _rates(raw: Mapping[str, Any], suffix: str = "") -> _Rates:
    return (
        number(raw.get("input_cost_per_token" + suffix)),
        number(raw.get("output_cost_per_token" + suffix)),
        number(raw.get("cache_read_input_token_cost" + suffix)),
        number(raw.get("output_cost_per_reasoning_token" + suffix)),
    )


def _tiers(raw: Mapping[str, Any]) -> Iterable[Tier]:
    base = _rates(raw)
    for key in raw:
        match = _ABOVE.fullmatch(key)
        if match:
            above = int(match[1]) * (1000 if match[2] else 1)
            found = _rates(raw, key.removeprefix("input_cost_per_token"))
            yield Tier(above, *(b if f is None else f for f, b in zip(found, base, strict=True)))
    ranges = raw.get("tiered_pricing")
    for row in ranges if isinstance(ranges, list) else ():
        if isinstance(row, dict) and isinstance(row.get("range"), list) and row["range"]:
            low = number(row["range"][0])
            if low is not None:
                yield Tier(int(low), *_rates(row))


def _family(provider: str) -> str:
    """The provider as it is written before a model's name."""
    for several in ("vertex_ai", "fireworks_ai"):
        if provider.startswith(several + "-"):
            return several
    return _FAMILIES.get(provider, provider)


def number(value: Any) -> float | None:
    """A price or a cost as a number; None for what is none."""
    """A finite number that is not negative, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < float("inf") else None
