"""Vectors for tests: the same for the same text, near for texts that share words, of no model."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

__all__ = ["hashed_vector", "vectors_reply"]


def hashed_vector(text: str, size: int = 64) -> list[float]:
    """A vector of a text: each word adds to one place, which its hash decides.

    Parameters
    ----------
    text : str
    size : int, optional
        Its length.

    Returns
    -------
    list of float
        Of length 1, unless the text has no words.

    Examples
    --------
    >>> hashed_vector("red fish") == hashed_vector("Fish, red!")
    True
    """
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.casefold()):
        vector[int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) % size] += 1.0
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector] if length else vector


def vectors_reply(body: Any) -> dict[str, Any]:
    """What a server answers to a request for embeddings, as on OpenAI's wire."""
    asked = body if isinstance(body, dict) else {}
    texts = asked.get("input") or []
    texts = [texts] if isinstance(texts, str) else texts
    data = [
        {"object": "embedding", "index": index, "embedding": hashed_vector(str(text))}
        for index, text in enumerate(texts)
    ]
    tokens = sum(len(str(text).split()) for text in texts)
    return {
        "object": "list",
        "data": data,
        "model": asked.get("model", "test-model"),
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
