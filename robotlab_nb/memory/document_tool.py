"""Documents as a tool: a model asks, and reads the passages that fit, each with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..tools.decorator import tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..tools.decorator import Tool
    from .documents import DocumentHit, Documents

__all__ = ["document_tool"]

#: passages that a model may ask for at once
MOST_HITS = 20


def document_tool(
    documents: Documents,
    name: str,
    *,
    description: str | None,
    labels: Iterable[str],
    limit: int,
    where: Any,
    most_chars: int,
) -> Tool:
    """Make a tool that searches documents. Parameters as for ``Documents.as_tool``."""
    for what, value, most in (("limit", limit, MOST_HITS), ("most_chars", most_chars, None)):
        known = isinstance(value, int) and not isinstance(value, bool)
        if not known or value < 1 or (most is not None and value > most):
            upto = f" to {most}" if most else ""
            raise ConfigurationError(f"tool {name!r}: {what} is 1{upto}, not {value!r}")

    @tool(name=name, description=description, labels=labels)
    async def search_documents(query: str, limit: int = limit) -> str:
        """Search the stored documents and return the passages that fit the query best.

        Parameters
        ----------
        query : str
            What to look for: words that the passages are likely to have in them.
        limit : int
            How many passages at most, from 1 to 20.
        """
        number = min(max(limit, 1), MOST_HITS)
        hits = await documents.asearch(query, number, where=where)
        return _told(hits, most_chars)

    return search_documents


def _told(hits: Sequence[DocumentHit], most: int) -> str:
    """Hits for a model: each under its source, as much of them as may be."""
    if not hits:
        return "Nothing was found. Try other words."
    pieces = [
        f"[{number}] {' '.join(hit.key.split())}, from character {hit.position}\n{hit.text}"
        for number, hit in enumerate(hits, 1)
    ]
    text = "\n\n".join(pieces)
    return text if len(text) <= most else f"{text[:most]}\n[cut: there was more]"
