"""What models can do, after the lists that litellm brings. Never imports litellm."""

from __future__ import annotations

from functools import lru_cache

from .price_file import find_entry, read_prices

__all__ = ["keeps_to_schemas"]

#: providers that keep every model of theirs to a schema
_ALL = frozenset({"databricks", "fireworks_ai", "hosted_vllm", "lm_studio", "ollama", "openai"})


@lru_cache(maxsize=256)
def keeps_to_schemas(model: str) -> bool:
    """Whether a model keeps to a JSON Schema that it is sent as ``response_format``.

    Claude models are told by a tool call: to them litellm makes one of the schema anyway, and so
    the person sees it.

    Parameters
    ----------
    model : str
        ``provider/name``.

    Returns
    -------
    bool
        False when that is not known.

    Examples
    --------
    >>> keeps_to_schemas("openai/gpt-5-mini"), keeps_to_schemas("nobody/knows-this")
    (True, False)
    """
    provider, _, name = model.partition("/")
    if provider == "anthropic" or "claude" in name:
        return False
    if provider in _ALL:
        return True
    data = read_prices()
    for key in (model, name):
        entry = find_entry(data, key)
        if entry is not None and isinstance(entry.get("alias_of"), str):
            entry = find_entry(data, entry["alias_of"])
        if entry is not None:
            owner = str(entry.get("litellm_provider") or "")
            if key == model or owner.startswith(provider):
                return entry.get("supports_response_schema") is True
    return False
