"""What the attributes of spans are called, and how their values are read from events' data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PARAMS", "USAGE", "model_of", "said_of", "server_of", "texts_of"]

#: our provider names that the conventions spell differently
PROVIDERS = {
    "bedrock": "aws.bedrock", "azure": "azure.ai.openai", "azure_ai": "azure.ai.inference",
    "gemini": "gcp.gemini", "vertex_ai": "gcp.vertex_ai", "mistral": "mistral_ai", "xai": "x_ai",
    "watsonx": "ibm.watsonx.ai", "cohere_chat": "cohere",
}  # fmt: skip
#: parameters that the conventions name
PARAMS = {
    "temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "max_tokens": "max_tokens",
    "presence_penalty": "presence_penalty", "frequency_penalty": "frequency_penalty",
    "seed": "seed", "stop": "stop_sequences",
}  # fmt: skip
USAGE = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
    "cost_usd": "robotlab.cost_usd",
}
_PARTS = {"text": "text", "reasoning": "reasoning", "refusal": "text"}


def texts_of(given: Any) -> list[str] | None:
    """A list of texts; None for none, which is no attribute."""
    return [str(each) for each in given] if given else None


def model_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Provider and model, without the provider's name in front of the model's."""
    model, provider = str(data.get("model") or ""), str(data.get("provider") or "")
    before, slash, after = model.partition("/")
    provider = provider or (before if slash else "")
    return {
        "gen_ai.provider.name": PROVIDERS.get(provider, provider) or None,
        "gen_ai.request.model": (after if slash and before == provider else model) or None,
        "robotlab.simulated": True if data.get("simulated") else None,
    }


def server_of(endpoint: Any) -> dict[str, Any]:
    """The address and port of an endpoint."""
    if not endpoint:
        return {}
    try:
        parts = urlsplit(str(endpoint))
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return {}
    return {"server.address": parts.hostname, "server.port": port} if parts.hostname else {}


def said_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in the form of the conventions; media by their type and name alone."""
    parts: list[dict[str, Any]] = []
    for part in message.get("parts") or ():
        kind = str(part.get("kind") or part.get("type"))
        if kind in _PARTS:
            parts.append({"type": _PARTS[kind], "content": part.get("text")})
        elif kind == "tool_call":
            asked = {"id": part.get("id"), "name": part.get("name")}
            parts.append({"type": "tool_call", **asked, "arguments": part.get("arguments")})
        elif kind == "tool_result":
            said = {"id": part.get("id"), "response": part.get("content_text")}
            parts.append({"type": "tool_call_response", **said})
        else:
            parts.append({"type": kind, "name": part.get("name"), "mime_type": part.get("mime")})
    return {"role": str(message.get("role")), "parts": parts}
