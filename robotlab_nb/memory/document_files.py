"""Documents in a file: JSON Lines, a head and then a document a line, vectors included.

Plain data that any program reads; a file is replaced whole or not at all, and read whole or not
at all. What is searched, and how, is not known here.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from array import array
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Head", "Stored", "read", "write"]

KIND = "robotlab_nb.documents"
VERSION = 1


class Head(NamedTuple):
    """How the documents of a file were made."""

    chunk_chars: int
    overlap_chars: int
    #: the embedding model's name; None where words are compared
    model: str | None
    #: whether that name is enough to ask the model again; that of a function is not
    named: bool


class Stored(NamedTuple):
    """A document with its passages, and their vectors where an embedding model made them."""

    key: str
    text: str
    metadata: dict[str, Any]
    spans: Sequence[tuple[int, int]]
    vectors: Sequence[array[float]] | None


def write(path: str | os.PathLike[str], head: Head, documents: Iterable[Stored]) -> Path:
    """Write documents to a file, in place of what it held.

    Returns
    -------
    Path
    """
    target = Path(path).expanduser()
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(_line(one)) + "\n" for one in documents]
    first = {"kind": KIND, "schema_version": VERSION, **head._asdict(), "documents": len(lines)}
    fresh = target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        with open(fresh, "w", encoding="ascii") as file:
            file.write(json.dumps(first) + "\n")
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return target


def read(path: str | os.PathLike[str]) -> tuple[Head, list[Stored]]:
    """Read what :func:`write` wrote.

    Raises
    ------
    InputError
        When there is no such file, or it is not whole; the line is named.
    """
    source = Path(path).expanduser()
    try:
        lines = source.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}") from error
    head, expected = _head(lines[0] if lines else b"", source)
    found = []
    for number, line in enumerate(lines[1:], 2):
        try:
            found.append(_document(json.loads(line), vectors=head.model is not None))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError(f"{source}, line {number}: this is no stored document") from None
    if len(found) != expected:
        raise InputError(f"{source} holds {len(found)} of its {expected} documents: it was cut")
    return head, found


def _head(line: bytes, source: Path) -> tuple[Head, int]:
    try:
        found = json.loads(line)
        if found["kind"] != KIND:
            raise ValueError
        version = found["schema_version"]
        if version == VERSION:
            head = Head(*(found[name] for name in Head._fields))
            return head, int(found["documents"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(
            f"{source} is no file of documents", hint="Documents.save(path) writes one."
        ) from None
    raise InputError(
        f"{source} has schema version {version!r}, and this release reads {VERSION}",
        hint="Read it with the release that wrote it, or a newer one.",
    )


def _line(one: Stored) -> dict[str, Any]:
    line = {"key": one.key, "text": one.text, "metadata": one.metadata, "chunks": list(one.spans)}
    if one.vectors is not None:
        line["vectors"] = [_as_text(vector) for vector in one.vectors]
    return line


def _document(line: Any, *, vectors: bool) -> Stored:
    key, text, metadata = line["key"], line["text"], line["metadata"]
    if not (isinstance(key, str) and isinstance(text, str) and isinstance(metadata, dict)):
        raise TypeError
    spans = tuple((int(start), int(end)) for start, end in line["chunks"])
    if not all(0 <= start < end <= len(text) for start, end in spans):
        raise ValueError
    kept = tuple(map(_as_vector, line["vectors"])) if vectors else None
    if kept is not None and (len(kept) != len(spans) or len({len(v) for v in kept}) > 1):
        raise ValueError
    return Stored(key, text, metadata, spans, kept)


def _as_text(vector: array[float]) -> str:
    """A vector as base64 of its 32-bit numbers, the lowest byte first."""
    return b64encode(_turned(vector).tobytes()).decode("ascii")


def _as_vector(text: str) -> array[float]:
    vector = array("f")
    vector.frombytes(b64decode(text, validate=True))
    return _turned(vector)


def _turned(vector: array[float]) -> array[float]:
    if sys.byteorder == "little":
        return vector
    turned = vector[:]
    turned.byteswap()
    return turned
