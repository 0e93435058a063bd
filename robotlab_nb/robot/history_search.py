"""Finding what was said: a conversation's messages, ranked by how well they match a query.

By the words that they share (:mod:`robotlab_nb.core.scoring`), by an embedding model, or by a
function of one's own. It reads messages and changes nothing.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import InputError
from ..core.readings import Pictured, pretty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..core.messages import Message

__all__ = ["Hit", "Hits", "asearch", "search"]

#: characters below which a text says too little to be found, unless it is the query itself
FEWEST = 20


class Hit(NamedTuple):
    """A message that was found.

    Parameters
    ----------
    text : str
        What it says; of a tool's message the results.
    role : str
    score : float
        0 to 1; 1 for a text equal to the query.
    index : int
        Where it stands among the messages that were searched.
    """

    text: str
    role: str
    score: float
    index: int  # type: ignore[assignment]  # a field, not tuple's method


class Hits(list[Hit], Pictured):
    """Hits, best first: a list whose notebook picture is a table."""

    __slots__ = ()
    _repr_pretty_ = pretty

    def __repr__(self) -> str:
        return list.__repr__(self)


def search(
    messages: Iterable[Message],
    query: str,
    *,
    limit: int = 5,
    scorer: Callable[[str, Sequence[str]], Sequence[float]] | None = None,
) -> list[Hit]:
    """Rank messages against a query.

    Parameters
    ----------
    messages : iterable of Message
        System messages are passed over: nobody said them.
    query : str
    limit : int, optional
        Most hits.
    scorer : callable, optional
        ``scorer(query, texts)`` gives a number for each text; TF-IDF when left out.

    Returns
    -------
    list of Hit
        Best first, equally good ones in order. Texts that score 0 are left out, and so are those
        of fewer than 20 characters, unless they are equal to the query.

    Raises
    ------
    InputError
        For a blank query, or a limit below 1.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> said = [Message("user", "How high is the tower?"), Message("user", "What is for lunch?")]
    >>> [hit.index for hit in search(said, "the height of towers, how high")]
    [0]
    """
    found = _searched(messages, query, limit)
    texts = [text for _, _, text in found]
    if scorer is None:
        from ..core.scoring import TfIdf

        scores: Sequence[float] = TfIdf(texts).scores(query)
    else:
        scores = scorer(query, texts) if texts else ()
    return _ranked(found, scores, query, limit)


async def asearch(
    messages: Iterable[Message],
    query: str,
    *,
    model: Any,
    limit: int = 5,
    settings: Mapping[str, Any] | None = None,
) -> list[Hit]:
    """Rank messages against a query by meaning.

    Parameters
    ----------
    messages, query, limit
        As for :func:`search`.
    model : str or callable
        An embedding model, or a function from texts to vectors.
    settings : mapping, optional
        Attempts and timeouts.

    Raises
    ------
    InputError
        As for :func:`search`.
    ModelError
        When the model failed.
    """
    from ..models.embeddings import embed

    found = _searched(messages, query, limit)
    if not found:
        return []
    vectors = await embed(model, [query, *(text for _, _, text in found)], settings=settings)
    asked = vectors[0]
    scores = [sum(a * b for a, b in zip(asked, v, strict=True)) for v in vectors[1:]]
    return _ranked(found, scores, query, limit)


def _searched(
    messages: Iterable[Message], query: str, limit: int
) -> list[tuple[int, Message, str]]:
    if not isinstance(query, str) or not query.strip():
        raise InputError("there is nothing to search for: the query is blank")
    if limit < 1:
        raise InputError(f"limit is at least 1, not {limit!r}")
    same = _plain(query)
    found = []
    for index, message in enumerate(messages):
        if message.role == "system":
            continue
        text = "\n".join(r.content_text for r in message.tool_results) or message.text
        if len(text) >= FEWEST or (text.strip() and _plain(text) == same):
            found.append((index, message, text))
    return found


def _ranked(
    found: Sequence[tuple[int, Message, str]], scores: Sequence[float], query: str, limit: int
) -> list[Hit]:
    same = _plain(query)
    hits = [
        Hit(text, message.role, 1.0 if _plain(text) == same else min(float(score), 1.0), index)
        for (index, message, text), score in zip(found, scores, strict=True)
        if score > 0 or _plain(text) == same
    ]
    return Hits(nlargest(limit, hits, key=lambda hit: (hit.score, -hit.index)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
