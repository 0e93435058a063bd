"""Documents as they stand: texts by key, cut into passages that are ready to be compared.

It keeps what it is given under one lock, and asks an embedding model for vectors where there is
one. What may be stored, and what a search is, others say.
"""

from __future__ import annotations

import threading
from array import array
from typing import TYPE_CHECKING, Any

from ..core.config import options, resolve
from ..core.errors import near
from .chunking import spans
from .document_files import Stored
from .passages import Passages
from .word_index import counted

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from .passages import Held
    from .sources import Source

__all__ = ["Shelf"]


class Shelf:
    """What :class:`~robotlab_nb.memory.documents.Documents` holds. Any thread may use it.

    Parameters
    ----------
    model : str, Model, callable or None
        What makes vectors; None where words are compared.
    chunk_chars, overlap_chars : int
        Characters of a passage, and those that it repeats, at most.
    """

    __slots__ = (
        "__weakref__", "_held", "_lock", "_model", "_next", "_passages", "chunk_chars",
        "overlap_chars",
    )  # fmt: skip

    def __init__(self, model: Any, chunk_chars: int, overlap_chars: int) -> None:
        self._model = model
        self.chunk_chars = chunk_chars
        self.overlap_chars = overlap_chars
        self._lock = threading.RLock()
        self._held: dict[str, Held] = {}
        self._passages = Passages()
        #: where the next document of a new key stands
        self._next = 0

    def _cut(self, source: Source) -> Stored:
        return Stored(*source, spans(source.text, self.chunk_chars, self.overlap_chars), None)

    async def _embed_and_put(self, sources: Iterable[Source]) -> None:
        """Make the vectors that are not here yet, all of them before anything is stored."""
        cut = [self._cut(source) for source in sources]
        known = self._vectors({one.key for one in cut})
        texts = [one.text[start:end] for one in cut for start, end in one.spans]
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, await self._embed(missing), strict=True))
        self._put(
            [one._replace(vectors=[known[one.text[s:e]] for s, e in one.spans]) for one in cut]
        )

    def _vectors(self, keys: Collection[str]) -> dict[str, array[float]]:
        """The vectors of the passages that documents of these keys have now, by text."""
        with self._lock:
            held = [self._held[key] for key in keys if key in self._held]
            found = [passage for one in held for passage in self._passages.of(one)]
        return {p.text: p.vector for p in found if p.vector is not None}

    async def _embed(self, texts: Sequence[str]) -> list[array[float]]:
        from ..models.embeddings import embed

        settings = resolve(options.levels()).values_
        return [array("f", v) for v in await embed(self._model, texts, settings=settings)]

    def _put(self, documents: Sequence[Stored]) -> None:
        """Take in documents with their passages, in place of those of the same keys."""
        counts = [_terms(one) if one.vectors is None else () for one in documents]
        with self._lock:
            for length in {len(vector) for one in documents for vector in one.vectors or ()}:
                self._passages.check_length(length)
            for stored, terms in zip(documents, counts, strict=True):
                old = self._held.get(stored.key)
                if old is not None:
                    self._passages.remove(old)
                    place = old.place
                else:
                    place = self._next
                    self._next += 1
                self._held[stored.key] = self._passages.add(stored, place, terms)

    # -- what is here ------------------------------------------------------------------------

    def keys(self) -> list[str]:
        """The keys, in the order in which they came."""
        with self._lock:
            return sorted(self._held, key=lambda key: self._held[key].place)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __getitem__(self, key: str) -> str:
        """The whole text of a document."""
        try:
            return self._held[key].stored.text
        except KeyError:
            raise KeyError(f"there is no document {key!r}. {near(str(key), self.keys())}") from None

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def delete(self, key: str) -> bool:
        """Delete a document; whether it was there."""
        with self._lock:
            held = self._held.pop(key, None)
            if held is not None:
                self._passages.remove(held)
        return held is not None

    def clear(self) -> None:
        """Delete all documents."""
        with self._lock:
            self._held = {}
            self._passages = Passages()

    def _stored(self) -> list[Stored]:
        with self._lock:
            return [self._held[key].stored for key in self.keys()]


def _terms(stored: Stored) -> list[Counter[str]]:
    return [counted(stored.text[start:end]) for start, end in stored.spans]
