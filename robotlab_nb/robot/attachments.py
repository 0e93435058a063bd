"""What goes with a message: files, bytes, addresses, pictures, tables, as parts of it.

What something is, its bytes say; a name that says otherwise is an error. Nothing is fetched:
an address goes to the provider as it stands. Values of Pillow, matplotlib and pandas are known
by what they can do; none of these packages is imported.
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..core.errors import InputError, near
from ..core.media import in_bytes
from ..core.messages import MediaPart

__all__ = ["MOST_BYTES", "as_parts"]

#: bytes that one attachment may have
MOST_BYTES = 20_000_000
#: characters of a table that a model is shown, and rows of it
MOST_TABLE, MOST_ROWS = 30_000, 1_000

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_SUFFIXES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".pdf": "application/pdf", ".wav": "audio/wav", ".mp3": "audio/mpeg",
}  # fmt: skip
#: other names for these
_SAME = {"image/jpg": "image/jpeg", "audio/x-wav": "audio/wav", "audio/mp3": "audio/mpeg"}
_TEXTS = {".csv": "text/csv", ".md": "text/markdown", ".html": "text/html", ".htm": "text/html"}
_KINDS = "Images (PNG, JPEG, GIF, WebP), PDF, WAV, MP3 and text in UTF-8 can be attached."


def as_parts(attachments: Any) -> list[MediaPart]:
    """Make parts of a message out of what is to go with it.

    Parameters
    ----------
    attachments : sequence, or one of its items
        Paths (text or ``Path``), bytes, ``(name, bytes)`` or ``{"data", "name", "mime"}``, open
        files, ``https://`` and ``data:`` addresses, PIL images, matplotlib figures, anything
        with ``_repr_png_``, pandas DataFrames and Series, MediaParts. At most 20 MB each.

    Returns
    -------
    list of MediaPart
        In the same order. A table becomes CSV text with its shape and types, at most 1,000 rows
        and 30,000 characters of it, which it says.

    Raises
    ------
    InputError
        For a file that is missing, too large, a folder, or not what its name says, for
        anything that cannot be attached, and for a picture that holds a registered secret
        (in a text it is masked).

    Examples
    --------
    >>> as_parts([("notes.txt", b"buy milk"), "https://example.org/cat.png"])
    [<media notes.txt: text 8 B>, <media cat.png: image at an address>]
    """
    if attachments is None:
        return []
    if isinstance(attachments, (list, tuple)) and not _is_named(attachments):
        found = [_part(item, f"attachments[{place}]") for place, item in enumerate(attachments)]
    else:
        found = [_part(attachments, "attachments")]
    return [part.masked() for part in found]


def _is_named(value: Any) -> bool:
    """Whether this is a name (or a type) and its bytes."""
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], (bytes, bytearray, memoryview))
    )


def _part(item: Any, where: str) -> MediaPart:
    if isinstance(item, MediaPart):
        return item
    if isinstance(item, (bytes, bytearray, memoryview)):
        return _of_bytes(bytes(item), None, None, where)
    if isinstance(item, (str, os.PathLike)):
        return _of_address(item, where)
    if _is_named(item):
        name, data = item
        named = "/" in name and (name in _SUFFIXES.values() or name.startswith("text/"))
        mime, name = (name, None) if named else (None, name)
        return _of_bytes(bytes(data), name, mime, where)
    if isinstance(item, Mapping):
        return _of_mapping(item, where)
    return _of_object(item, where)


def _of_mapping(item: Mapping[str, Any], where: str) -> MediaPart:
    for key in item:
        if key not in ("data", "name", "mime"):
            raise InputError(
                f"{where} has no field {key!r}", hint=near(str(key), ["data", "name", "mime"])
            )
    data = item.get("data")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InputError(f"{where}: data holds bytes, not {type(data).__name__}")
    return _of_bytes(bytes(data), item.get("name"), item.get("mime"), where)


# -- files and addresses -----------------------------------------------------------------------


def _of_address(item: str | os.PathLike[str], where: str) -> MediaPart:
    if isinstance(item, str):
        scheme = item.partition(":")[0].lower()
        if scheme in ("http", "https"):
            return _of_url(item, where)
        if scheme == "data":
            return _of_data_url(item, where)
        if "://" in item[:16]:
            raise InputError(
                f"{where}: addresses begin with https://, not {scheme}://",
                hint="Download it, and attach the file.",
            )
        if "\n" in item or len(item) > 1000:
            raise InputError(
                f"{where} is a text, not a path",
                hint="Say it in the message, or attach ('notes.txt', text.encode()).",
            )
    return _of_path(Path(item).expanduser(), where)


def _of_url(url: str, where: str) -> MediaPart:
    path = urlsplit(url).path
    name = path.rpartition("/")[2] or None
    suffix = os.path.splitext(path)[1].lower()
    mime = _SUFFIXES.get(suffix, "image/*")
    if not mime.startswith("image/") or suffix in _TEXTS or suffix == ".txt":
        raise InputError(
            f"{where}: a provider fetches images by address, not {suffix[1:]} files: {url[:200]}",
            hint="Download it, and attach the file.",
        )
    return MediaPart(mime, url=url, name=name)


def _of_data_url(url: str, where: str) -> MediaPart:
    head, comma, data = url[5:].partition(",")
    mime, _, form = head.partition(";")
    try:
        if not comma or form.rpartition(";")[2] != "base64":
            raise ValueError
        raw = b64decode(data, validate=True)
    except ValueError:
        raise InputError(
            f"{where}: not a data: address with base64: {url[:60]}", hint="Attach the bytes."
        ) from None
    return _of_bytes(raw, None, mime or None, where)


def _of_path(path: Path, where: str) -> MediaPart:
    if path.is_dir():
        raise InputError(f"{where}: {path} is a folder", hint="Attach the files in it one by one.")
    if not path.is_file():
        if path.exists():
            raise InputError(f"{where}: {path} is not a regular file")
        raise InputError(f"{where}: there is no file {path}", hint=_near_file(path))
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise _too_large(str(path), size, where)
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{where}: {path} cannot be read: {error.strerror or error}") from error
    return _of_bytes(data, path.name, None, where, str(path))


def _near_file(path: Path) -> str:
    folder = path.parent
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return f"There is no folder {folder} (the working directory is {Path.cwd()})."
    return f"In {folder.resolve()}: {near(path.name, names)}"


def _too_large(what: str, size: int, where: str) -> InputError:
    return InputError(
        f"{where}: {what} has {in_bytes(size)}, more than the {in_bytes(MOST_BYTES)} allowed",
        hint="Attach a smaller version, or the part that matters.",
    )


# -- bytes ---------------------------------------------------------------------------------------


def _of_bytes(
    data: bytes, name: str | None, mime: str | None, where: str, path: str | None = None
) -> MediaPart:
    """A part of some bytes, whose name and declared type must agree with what they are."""
    shown = path or name or "the data"
    if len(data) > MOST_BYTES:
        raise _too_large(shown, len(data), where)
    if not data:
        raise InputError(f"{where}: {shown} is empty")
    suffix = os.path.splitext(name or "")[1].lower()
    found = _sniffed(data)
    told = _SAME.get(mime or "", mime) or _SUFFIXES.get(suffix)
    if found is None:
        data = _utf8(data, shown, told, where)
        found = told if told and told.startswith("text/") else _TEXTS.get(suffix, "text/plain")
        if told and told.startswith("application/") and told != "application/pdf":
            told = None  # JSON, XML, YAML: text to a model
    elif suffix in (".txt", *_TEXTS) and mime is None:
        told = "text/plain"
    if told is not None and told != found and not (mime and told == _loose(found)):
        raise InputError(
            f"{where}: {shown} is called {told} and holds {found}",
            hint="Give it the name or the type that fits what it holds.",
        )
    return MediaPart.of(data, found, name)


def _loose(mime: str) -> str:
    return mime.partition("/")[0] + "/*"


def _sniffed(data: bytes) -> str | None:
    """What the first bytes say; None where they say nothing (text does not)."""
    if data[:4] == b"RIFF" and data[8:12] in _RIFF:
        return _RIFF[data[8:12]]
    for magic, mime in _MAGIC:
        if data.startswith(magic):
            return mime
    # An MPEG frame of layer III: eleven set bits, the layer, and a bit rate that exists.
    frame = len(data) > 3 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2
    return "audio/mpeg" if frame and data[2] >> 4 not in (0, 15) else None


def _utf8(data: bytes, shown: str, told: str | None, where: str) -> bytes:
    """The bytes of a text in UTF-8; UTF-16 is told by its mark."""
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16").encode("utf-8")
        if "\0" not in data.decode("utf-8"):
            return data
    except UnicodeError:
        pass
    called = f" (its name says {told})" if told else ""
    raise InputError(f"{where}: {shown} is of no kind that is known{called}", hint=_KINDS)


# -- objects -------------------------------------------------------------------------------------


def _of_object(item: Any, where: str) -> MediaPart:
    kind = type(item).__name__
    if hasattr(item, "to_csv") and hasattr(item, "shape"):
        return MediaPart.of(_table(item).encode("utf-8", "backslashreplace"), "text/csv", kind)
    if callable(getattr(item, "read", None)):
        return _of_file(item, where)
    try:
        data = _drawn(item)
    except Exception as error:
        raise InputError(
            f"{where}: the {kind} could not be drawn: {type(error).__name__}: {error}"
        ) from error
    if data is None:
        raise InputError(f"{where}: a {kind} cannot be attached", hint=_KINDS)
    return _of_bytes(data, None, "image/png", where, f"the {kind}")


def _of_file(item: Any, where: str) -> MediaPart:
    name = getattr(item, "name", None)
    name = os.path.basename(name) if isinstance(name, str) else None
    data = item.read(MOST_BYTES + 1)
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    if not isinstance(data, bytes):
        raise InputError(f"{where}: read() of a {type(item).__name__} gave no bytes")
    return _of_bytes(data, name, None, where)


def _drawn(item: Any) -> bytes | None:
    """A picture as PNG: of Pillow, of matplotlib, of whatever draws itself for notebooks."""
    import io

    buffer = io.BytesIO()
    if callable(getattr(item, "savefig", None)):
        item.savefig(buffer, format="png")
        return buffer.getvalue()
    if callable(getattr(item, "save", None)) and hasattr(item, "mode") and hasattr(item, "size"):
        item.save(buffer, format="PNG")
        return buffer.getvalue()
    if callable(getattr(item, "_repr_png_", None)):
        found = item._repr_png_()
        found = found[0] if isinstance(found, tuple) else found
        if isinstance(found, str):
            return b64decode(found)
        return bytes(found) if found is not None else None
    return None


def _table(table: Any) -> str:
    """A DataFrame or a Series as CSV, with its shape and types before it."""
    shape = tuple(table.shape)
    rows = shape[0]
    if len(shape) == 2:
        types = ", ".join(f"{n} {t}" for n, t in zip(table.columns, table.dtypes, strict=True))
        head = f"{rows:,} rows x {shape[1]:,} columns; types: {types[:5_000]}"
    else:
        head = f"{rows:,} values of type {table.dtype}"
    shown = min(rows, MOST_ROWS)
    text = table.iloc[:shown].to_csv()
    while len(text) > MOST_TABLE and shown > 1:
        shown = max(1, shown * MOST_TABLE // len(text))
        text = table.iloc[:shown].to_csv()
    if len(text) > MOST_TABLE:
        text = f"{text[:MOST_TABLE]}\n[cut: {MOST_TABLE:,} of {len(text):,} characters]\n"
    note = f"[cut: the first {shown:,} of {rows:,} rows]\n" if shown < rows else ""
    return f"# {type(table).__name__}: {head}\n{text}{note}"
