"""What a model call came to, in US dollars. An unknown cost is None, never 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .prices import FREE, Price, Tier, number, price_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .protocol import Model

__all__ = ["cost", "cost_of"]


def cost(usage: Mapping[str, Any], price: Price | None) -> float | None:
    """Say what a call cost.

    Parameters
    ----------
    usage : mapping
        ``input_tokens`` (cached ones included), ``output_tokens`` (reasoning included),
        ``cached_tokens``, ``reasoning_tokens``; a ``cost_usd`` that the provider reported
        wins over every price.
    price : Price or None

    Returns
    -------
    float or None
        US dollars; None when the price or a needed count is not known.

    Examples
    --------
    >>> round(cost({"input_tokens": 100, "output_tokens": 10}, Price(1e-6, 2e-6)), 9)
    0.00012
    >>> cost({"input_tokens": 100, "output_tokens": 10}, None) is None
    True
    >>> cost({"cost_usd": 0.5}, None)
    0.5
    """
    reported = number(usage.get("cost_usd"))
    if reported is not None:
        return reported
    if price is None:
        return None
    if price is FREE:
        return 0.0
    read, written = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    if read is None or written is None:
        return None
    rates: Price | Tier = price
    for tier in price.tiers:
        if read > tier.above:
            rates = tier
    cached = min(_count(usage, "cached_tokens") or 0, read)
    thought = min(_count(usage, "reasoning_tokens") or 0, written)
    if rates.reasoning is None:
        thought = 0
    total = 0.0
    for tokens, rate in (
        (read - cached, rates.input),
        (cached, rates.input if rates.cached is None else rates.cached),
        (written - thought, rates.output),
        (thought, rates.reasoning),
    ):
        if tokens:
            if rate is None:
                return None
            total += tokens * rate
    return total


def cost_of(
    model: Model, usage: Mapping[str, Any], response_model: str | None = None
) -> float | None:
    """Say what a call to a model cost.

    Parameters
    ----------
    model : Model
    usage : mapping
        As for :func:`cost`.
    response_model : str, optional
        The name that the provider answered with.

    Returns
    -------
    float or None
        US dollars; None when that is not known.

    Examples
    --------
    >>> from robotlab_nb.models.simulated import SimulatedModel
    >>> cost_of(SimulatedModel(), {"input_tokens": 8, "output_tokens": 3})
    0.0
    """
    return cost(usage, price_of(model.name, model.provider, response_model=response_model))


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    count = number(usage.get(name))
    return None if count is None else int(count)
