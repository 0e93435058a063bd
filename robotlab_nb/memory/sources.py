"""What may be stored as documents: texts, files, columns of tables, and several of them at once.

Reads what it is given into texts with keys; nothing is stored here. Columns are known by what they
can do: pandas is not imported.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import InputError, near
from ..core.keys import text_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Source", "key_of", "read"]

#: bytes that a file may have
MOST_BYTES = 50_000_000
_HTML = (".html", ".htm")
_WHAT = "A document is a text, a Path, a column of a DataFrame, a dict of texts by key, or a list."


class Source(NamedTuple):
    """A document that is to be stored."""

    key: str
    text: str
    metadata: dict[str, Any]


def read(given: Any, key: str | None, metadata: Mapping[str, Any]) -> tuple[list[Source], bool]:
    """Read what is to be stored, and check all of it.

    Parameters
    ----------
    given : str, Path, Series, mapping or sequence
    key : str or None
        Of the one document; of several, what their keys begin with.
    metadata : mapping
        JSON values for all of them; a column has one for each row of a column.

    Returns
    -------
    list of Source, and whether it is one document
        Keys are unique; texts are not blank.

    Raises
    ------
    InputError
        For anything that cannot be stored; it says which item it is.

    Examples
    --------
    >>> read({"tea": "Boil water."}, None, {"lang": "en"})
    ([Source(key='tea', text='Boil water.', metadata={'lang': 'en'})], False)
    """
    if key is not None and not (isinstance(key, str) and key.strip()):
        raise InputError(f"a document's key is a text, not {key!r:.60}")
    if isinstance(given, (str, os.PathLike)):
        text, known = _text_of(given, "the document")
        return [Source(key or known or key_of(text), text, _checked(metadata))], True
    return _unique(_several(given, key, metadata)), False


def key_of(text: str) -> str:
    """The key of a text that was given none: the start of its SHA-256.

    Examples
    --------
    >>> key_of("Boil water.")
    'fd8f518b1d5eb3ed'
    """
    return str(text_hash(text))[:16]


def _several(given: Any, key: str | None, metadata: Mapping[str, Any]) -> Iterator[Source]:
    if hasattr(given, "columns"):
        columns = ", ".join(map(repr, list(given.columns)[:12]))
        raise InputError(
            "a whole table is no document", hint=f"Pass one of its columns: table[…] of {columns}."
        )
    if _is_column(given):
        yield from _rows(given, key, metadata)
    elif isinstance(given, Mapping):
        if key is not None:
            raise InputError(f"key={key!r} with a dict of texts: their keys are its own")
        for own, one in given.items():
            if not isinstance(own, str) or not own.strip():
                raise InputError(f"a document's key is a text, not {own!r:.60}")
            yield Source(own, _text_of(one, f"document {own!r:.60}")[0], _checked(metadata))
    elif isinstance(given, (list, tuple)):
        for place, one in enumerate(given):
            text, known = _text_of(one, f"document {place} of the list")
            own = key_of(text) if key is None else f"{key}[{place}]"
            yield Source((key is None and known) or own, text, _checked(metadata))
    else:
        raise InputError(f"a {type(given).__name__} cannot be stored", hint=_WHAT)


def _unique(found: Iterator[Source]) -> list[Source]:
    """The documents by key: equal ones once, different ones of one key refused."""
    known: dict[str, Source] = {}
    for source in found:
        before = known.setdefault(source.key, source)
        if before.text != source.text:
            raise InputError(
                f"two documents have the key {source.key!r:.80}",
                hint="Of a column: give it another index, column.reset_index(drop=True), say.",
            )
    return list(known.values())


# -- columns of tables -----------------------------------------------------------------------


def _is_column(thing: Any) -> bool:
    return all(hasattr(thing, name) for name in ("index", "dtype", "items", "iloc"))


def _rows(column: Any, key: str | None, metadata: Mapping[str, Any]) -> Iterator[Source]:
    """The rows of a column that hold a text; missing and blank ones are passed over."""
    beside = {name: value for name, value in metadata.items() if _is_column(value)}
    for name, other in beside.items():
        if len(other) != len(column):
            raise InputError(
                f"metadata {name!r} is a column of {len(other)} rows beside one of {len(column)}"
            )
    same = _checked({name: value for name, value in metadata.items() if name not in beside})
    for place, (label, value) in enumerate(column.items()):
        if _missing(value) or (isinstance(value, str) and not value.strip()):
            continue
        if not isinstance(value, str):
            raise InputError(
                f"row {label!r:.40} holds a {type(value).__name__}, not a text",
                hint="Make texts of it: column.astype(str).",
            )
        own = {name: _plain(other.iloc[place]) for name, other in beside.items()}
        own = _checked({name: value for name, value in own.items() if not _missing(value)})
        yield Source(key_of(value) if key is None else f"{key}[{label}]", value, {**same, **own})


def _missing(value: Any) -> bool:
    """Whether it is None, NaN, or what tables hold in their place."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _plain(value: Any) -> Any:
    """A number of a table as Python's own."""
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


# -- one text --------------------------------------------------------------------------------


def _text_of(given: Any, which: str) -> tuple[str, str | None]:
    """A text, and the key that goes with it by itself: a file's is its path."""
    known = None
    if isinstance(given, str):
        text = given
        if _looks_like_a_file(given):
            warnings.warn(
                f"{given!r} is stored as a text; for the file of that name, pass Path({given!r})",
                stacklevel=6,
            )
    elif isinstance(given, os.PathLike):
        path = Path(given)
        text, known = _file(path.expanduser()), path.as_posix()
    else:
        raise InputError(f"{which} is a {type(given).__name__}, not a text", hint=_WHAT)
    if not text.strip():
        raise InputError(f"{which} is blank" + (f": {known}" if known else ""))
    return text, known


def _looks_like_a_file(text: str) -> bool:
    if len(text) > 200 or "." not in text[1:] or any(char.isspace() for char in text):
        return False
    try:
        return os.path.isfile(text)
    except ValueError:  # a null character in it
        return False


def _file(path: Path) -> str:
    if path.is_dir():
        raise InputError(
            f"{path} is a folder", hint="Store its files: documents.store(list(path.glob('*.md')))."
        )
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} has more than {MOST_BYTES // 1_000_000} MB")
        data = path.read_bytes()
    except FileNotFoundError:
        folder = path.parent
        names = sorted(os.listdir(folder)) if folder.is_dir() else []
        raise InputError(
            f"there is no file {path}", hint=f"In {folder.resolve()}: {near(path.name, names)}"
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(
            f"{path} is no text in UTF-8", hint="Take the text out of it first, and store that."
        )
    if path.suffix.lower() in _HTML:
        from ..tools.page_text import page_text

        return page_text(text)
    return text


# -- metadata --------------------------------------------------------------------------------


def _checked(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as it will be read back from a file.

    Raises
    ------
    InputError
        For a value that is no JSON; it is named.
    """
    found = {}
    for name, value in metadata.items():
        try:
            found[name] = json.loads(json.dumps(_plain(value), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"metadata {name!r} is no JSON: {type(value).__name__} ({error})",
                hint="Use texts, numbers, booleans, None, and lists and dicts of them.",
            ) from None
    return found
