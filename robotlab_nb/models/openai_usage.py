"""Reading what an OpenAI-compatible server counted and charged. Unknown stays unknown, never 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["usage_from"]


def usage_from(usage: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read a ``usage`` object of any provider.

    Parameters
    ----------
    usage : mapping
        As received. Totals are not trusted: at some providers they are not the sum, and
        reasoning tokens may or may not be among the output tokens.

    Returns
    -------
    dict or None
        Those of ``input_tokens``, ``output_tokens``, ``reasoning_tokens``, ``cached_tokens`` and
        ``cost_usd`` (US dollars) that are told; None when there are none.

    Examples
    --------
    >>> usage_from({"prompt_tokens": 7, "completion_tokens": None, "cost": 0.5})
    {'input_tokens': 7, 'cost_usd': 0.5}
    """
    found: dict[str, Any] = {}
    told: dict[str, tuple[Any, ...]] = {
        "input_tokens": (usage.get("prompt_tokens"), usage.get("input_tokens")),
        "output_tokens": (usage.get("completion_tokens"), usage.get("output_tokens")),
        "reasoning_tokens": (
            _inside(usage, "completion_tokens_details", "reasoning_tokens"),
            _inside(usage, "output_tokens_details", "reasoning_tokens"),
            usage.get("reasoning_tokens"),
        ),
        "cached_tokens": (
            _inside(usage, "prompt_tokens_details", "cached_tokens"),
            _inside(usage, "input_tokens_details", "cached_tokens"),
            usage.get("prompt_cache_hit_tokens"),
            usage.get("cached_tokens"),
            usage.get("cache_read_input_tokens"),
        ),
    }
    for name, values in told.items():
        counts = [int(v) for v in values if type(v) in (int, float) and 0 <= v < 1e18]
        if counts:
            # Several places may tell of one thing, and some of them only by a 0.
            found[name] = max(counts)
    cost = _cost(usage)
    if cost is not None:
        found["cost_usd"] = cost
    return found or None


def _inside(usage: Mapping[str, Any], details: str, name: str) -> Any:
    found = usage.get(details)
    return found.get(name) if isinstance(found, dict) else None


def _cost(usage: Mapping[str, Any]) -> float | None:
    cost = usage.get("cost")
    if isinstance(cost, dict):  # Perplexity itemises
        cost = cost.get("total_cost")
    if isinstance(cost, str):
        cost = _number(cost)
    if isinstance(cost, int | float) and not isinstance(cost, bool):
        return float(cost)
    ticks = usage.get("cost_in_usd_ticks")  # xAI: ten thousand million to the dollar
    return ticks / 1e10 if type(ticks) is int else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
