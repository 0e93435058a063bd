"""What models can do, after the lists that litellm brings. Never imports litellm."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .price_file import find_entry, read_prices

__all__ = ["keeps_to_schemas", "takes_media"]

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
    entry = _entry(model)
    return entry is not None and entry.get("supports_response_schema") is True


#: what can be sent at all, and how the list says that a model takes it
_TAKES = {
    **dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), "supports_vision"),
    **dict.fromkeys(("audio/wav", "audio/mpeg"), "supports_audio_input"),
    "application/pdf": "supports_pdf_input",
}


@lru_cache(maxsize=256)
def takes_media(model: str, mime: str, said: bool | None = None) -> bool:
    """Whether a model can be shown a picture, a sound or a PDF.

    Parameters
    ----------
    model : str
        ``provider/name``.
    mime : str
    said : bool, optional
        What a person says of the model.

    Returns
    -------
    bool
        False when that is not known, and for what cannot be sent to any model.

    Examples
    --------
    >>> takes_media("openai/gpt-5-mini", "image/png"), takes_media("nobody/knows", "image/png")
    (True, False)
    """
    flag = _TAKES.get(mime)
    if flag is None or said is not None:
        return flag is not None and bool(said)
    entry = _entry(model)
    return entry is not None and entry.get(flag) is True


def _entry(model: str) -> dict[str, Any] | None:
    """What the list says of a model, where it is this provider's."""
    provider, _, name = model.partition("/")
    data = read_prices()
    for key in (model, name):
        entry = find_entry(data, key)
        if entry is not None and isinstance(entry.get("alias_of"), str):
            entry = find_entry(data, entry["alias_of"])
        if entry is not None:
            owner = str(entry.get("litellm_provider") or "")
            if key == model or owner.startswith(provider):
                return entry
    return None
