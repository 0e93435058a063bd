"""Documents that can be searched: by the words that they share with a question, or by meaning.

Texts are kept whole and compared in passages. It asks an embedding model where one is named, and
knows no robot, no run and no memory.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.config import options
from ..core.errors import ConfigurationError, InputError
from ..core.keywords import strict_keywords
from ..core.readings import Pictured, ShownList
from ..runtime.threads import aside, in_thread
from . import document_files
from .chunking import CHUNK_CHARS, OVERLAP_CHARS, check_sizes
from .document_files import Head
from .shelf import Shelf
from .sources import Source, read

if TYPE_CHECKING:
    import os
    from array import array
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from ..tools.decorator import Tool
    from .passages import Held, Passage

__all__ = ["DocumentHit", "Documents"]


class DocumentHit(NamedTuple):
    """A passage that was found.

    Attributes
    ----------
    key : str
        The document's.
    text : str
        The passage.
    score : float
        0 to 1; 1 for a passage equal to the query.
    metadata : dict
        What was stored with the document.
    position : int
        Where the passage begins in the document's text, in characters.
    """

    key: str
    text: str
    score: float
    metadata: dict[str, Any]
    position: int


class Documents(Shelf, Pictured):
    """Texts by key, and a search through them. Any thread may use it.

    A text is cut into passages, at paragraphs, sentences or words, which overlap a little; passages
    are what a search finds. Without an embedding model, words are compared by their stems, the rare
    ones counting more (TF-IDF): no model, no network, and no synonyms.

    Parameters
    ----------
    embedding_model : str, Model or callable, optional
        ``"provider/name"``, or a function from texts to vectors: meanings are compared. Vectors are
        made when a text is stored, and kept. When left out, the option ``embedding_model`` as it
        is now.
    chunk_chars : int, optional
        Characters of a passage at most; 800 are some 120 words.
    overlap_chars : int, optional
        Characters that a passage repeats of the one before it, at most; up to a third of it.

    Raises
    ------
    ConfigurationError
        For sizes that make no sense.

    Examples
    --------
    >>> documents = Documents()
    >>> documents.store({"tea": "Boil fresh water for green tea.",
    ...                  "ink": "Never boil ink: it dries."}, lang="en")
    ['tea', 'ink']
    >>> [hit.key for hit in documents.search("how is tea boiled?")]
    ['tea', 'ink']
    >>> documents.store("Das Wasser kochen und den Tee damit aufgießen.", key="tee", lang="de")
    'tee'
    >>> documents.search("Wasser für Tee", where={"lang": "de"})[0].key
    'tee'
    """

    __slots__ = ()

    @strict_keywords
    def __init__(
        self,
        *,
        embedding_model: Any = None,
        chunk_chars: int = CHUNK_CHARS,
        overlap_chars: int = OVERLAP_CHARS,
    ) -> None:
        check_sizes(chunk_chars, overlap_chars)
        model = options.embedding_model if embedding_model is None else embedding_model
        super().__init__(model, chunk_chars, overlap_chars)

    # -- storing -----------------------------------------------------------------------------

    def store(self, given: Any, /, key: str | None = None, **metadata: Any) -> str | list[str]:
        """Store a text, or several; one with a known key takes the place of the old one.

        All of it is stored, or, when anything is wrong with it, nothing.

        Parameters
        ----------
        given : str, Path, Series, mapping or sequence
            A text; the ``Path`` of a text or HTML file; a column of a DataFrame, a document a row
            (missing and blank ones are passed over); texts or paths by key, or a list of them.
        key : str, optional
            Of one document; rows and items of a list get ``key[label]``. When left out, a file's
            is its path, and a text's is made of its content: the same text is stored once.
        **metadata
            JSON values that go with each document; beside a column, columns of as many rows too.

        Returns
        -------
        str or list of str
            The key; a list of keys where ``given`` may hold several.

        Raises
        ------
        InputError
            For what cannot be stored; it says which item it is.
        ModelError
            When an embedding model failed.
        """
        sources, alone = read(given, key, metadata)
        if self._model is None:
            self._put([self._cut(source) for source in sources])
        else:
            aside(self._embed_and_put(sources))
        return sources[0].key if alone else [source.key for source in sources]

    async def astore(
        self, given: Any, /, key: str | None = None, **metadata: Any
    ) -> str | list[str]:
        """As :meth:`store`, for async code."""
        if self._model is None:
            return await in_thread(lambda: self.store(given, key, **metadata))
        sources, alone = await in_thread(lambda: read(given, key, metadata))
        await self._embed_and_put(sources)
        return sources[0].key if alone else [source.key for source in sources]

    # -- searching ---------------------------------------------------------------------------

    def search(
        self,
        query: str,
        limit: int = 5,
        *,
        where: Mapping[str, Any] | Callable[[dict[str, Any]], Any] | None = None,
    ) -> list[DocumentHit]:
        """Find the passages that fit a query best.

        Parameters
        ----------
        query : str
        limit : int, optional
            How many at most.
        where : mapping or callable, optional
            Which documents are looked at, by their metadata. A value by name: an equal one is
            wanted (or one that is in the document's list); a list of values: any of them; a
            function of the value: one for which it is true. Or one function of all metadata.

        Returns
        -------
        list of DocumentHit
            Best first; equally good ones in the order stored. None of them scores 0.

        Raises
        ------
        InputError
            For a blank query, a limit below 1, or a name that no document's metadata has.
        ModelError
            When the embedding model failed.

        Examples
        --------
        >>> documents = Documents()
        >>> _ = documents.store("Robots have arms.", key="r", year=2024, tags=["metal"])
        >>> documents.search("arms", where={"year": lambda year: year > 2030})
        []
        >>> documents.search("robots have arms.", where={"tags": "metal"})[0].score
        1.0
        """
        among = self._asked(query, limit, where)
        vector = None if self._model is None or not self._held else aside(self._embed([query]))[0]
        return self._hits(query, limit, vector, among)

    async def asearch(
        self,
        query: str,
        limit: int = 5,
        *,
        where: Mapping[str, Any] | Callable[[dict[str, Any]], Any] | None = None,
    ) -> list[DocumentHit]:
        """As :meth:`search`, for async code."""
        if self._model is None or not self._held:
            return await in_thread(lambda: self.search(query, limit, where=where))
        among = await in_thread(lambda: self._asked(query, limit, where))
        vector = (await self._embed([query]))[0]
        return await in_thread(lambda: self._hits(query, limit, vector, among))

    def _asked(self, query: Any, limit: Any, where: Any) -> set[Held] | None:
        """Check a question; the documents that it is about, None for all."""
        if not isinstance(query, str) or not query.strip():
            raise InputError("there is nothing to search for: the query is blank")
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise InputError(f"limit is a whole number from 1, not {limit!r}")
        if where is None:
            return None
        with self._lock:
            held = list(self._held.values())
        from .filtering import filtered

        return filtered(held, where)

    def _hits(
        self, query: str, limit: int, vector: array[float] | None, among: Collection[Held] | None
    ) -> list[DocumentHit]:
        with self._lock:
            found = self._passages.ranked(query, limit, vector=vector, among=among)
        return ShownList(_hit(score, passage) for score, passage in found)

    # -- copies, files and tools -------------------------------------------------------------

    def copy(self) -> Documents:
        """Documents of their own, with what is here now; no vector is made anew."""
        other = type(self).__new__(type(self))
        Shelf.__init__(other, self._model, self.chunk_chars, self.overlap_chars)
        other._put(self._stored())
        return other

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to a file, as JSON Lines: texts, metadata, passages, vectors.

        Parameters
        ----------
        path : path
            What it held is replaced, whole or not at all.

        Returns
        -------
        Path
        """
        name = None
        if self._model is not None:
            from ..models.embeddings import name_of

            name = name_of(self._model)
        head = Head(self.chunk_chars, self.overlap_chars, name, isinstance(self._model, str))
        return document_files.write(path, head, self._stored())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, embedding_model: Any = None) -> Documents:
        """Read documents that were saved.

        Parameters
        ----------
        path : path
        embedding_model : str, Model or callable, optional
            The one that made the vectors, where a name does not tell (a function). With another
            one, all vectors are made anew. When left out, the one by which they were saved; words
            are compared if there was none.

        Returns
        -------
        Documents

        Raises
        ------
        InputError
            When there is no such file, or it is not whole; the line is named.
        ConfigurationError
            When the embedding model must be passed.
        """
        head, stored = document_files.read(path)
        check_sizes(head.chunk_chars, head.overlap_chars)
        model = embedding_model
        if model is None and head.model is not None:
            if not head.named:
                raise ConfigurationError(
                    f"the vectors in {path} were made by {head.model}, which is no model's name",
                    hint="Pass it: Documents.load(path, embedding_model=…).",
                )
            model = head.model
        made = cls.__new__(cls)
        Shelf.__init__(made, model, head.chunk_chars, head.overlap_chars)
        if model is not None:
            from ..models.embeddings import name_of

            if name_of(model) != head.model:
                aside(made._embed_and_put([Source(*one[:3]) for one in stored]))
                return made
        made._put(stored)
        return made

    @strict_keywords
    def as_tool(
        self,
        name: str = "search_documents",
        *,
        description: str | None = None,
        labels: Iterable[str] = ("private",),
        limit: int = 5,
        where: Mapping[str, Any] | Callable[[dict[str, Any]], Any] | None = None,
        most_chars: int = 10_000,
    ) -> Tool:
        """Make a tool by which a robot searches them, also those that are stored later.

        Parameters
        ----------
        name : str, optional
        description : str, optional
            What the model is told; say what the documents are about.
        labels : iterable of str, optional
            What a call reads; ``("private", "untrusted")`` where strangers wrote the texts, ``()``
            where they are for everybody. See :class:`robotlab_nb.Tool`.
        limit : int, optional
            Passages that are returned where the model does not say how many, up to 20.
        where : mapping or callable, optional
            Which documents it looks at; the model cannot change that.
        most_chars : int, optional
            How much of their text the model gets at most.

        Returns
        -------
        Tool

        Examples
        --------
        >>> documents = Documents()
        >>> _ = documents.store("Refunds take five days.", key="faq")
        >>> tool = documents.as_tool(description="Search the help pages.")
        >>> tool.name, sorted(tool.labels), list(tool.parameters["properties"])
        ('search_documents', ['private'], ['query', 'limit'])
        """
        from .document_tool import document_tool

        return document_tool(
            self, name, description=description, labels=labels, limit=limit, where=where,
            most_chars=most_chars,
        )  # fmt: skip

    def __repr__(self) -> str:
        from ..models.embeddings import name_of

        how = "words" if self._model is None else name_of(self._model)
        return f"<Documents: {len(self)}, {len(self._passages)} passages, compared by {how}>"


def _hit(score: float, passage: Passage) -> DocumentHit:
    stored = passage.held.stored
    return DocumentHit(stored.key, passage.text, score, deepcopy(stored.metadata), passage.start)
