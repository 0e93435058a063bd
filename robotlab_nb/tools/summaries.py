"""What is said of values that JSON cannot hold: bytes, images, tables, arrays, live objects.

Values of pandas, numpy, pydantic and Pillow are recognised without importing these packages:
a value of theirs can only exist where they are loaded already.
"""

from __future__ import annotations

import hashlib
import re
import sys
from typing import Any, NamedTuple

from ..core.secrets import redact

__all__ = ["Summary", "plainer", "safe_repr", "summary", "type_name"]

HEAD_ROWS = 10
MOST_COLUMNS = 50
MOST_TEXT = 4_000
MOST_REPR = 1_000

#: an address in memory says nothing and differs in each process
_ADDRESS = re.compile(r"\s+at\s+0x[0-9a-fA-F]+|\s*\b0x[0-9a-fA-F]{8,16}\b")
#: the same inside a table, where other hexadecimal numbers are data
_CELL_ADDRESS = re.compile(r"\s+at\s+0x[0-9a-fA-F]+(?=>)")
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
)


class Summary(NamedTuple):
    """What is kept of a value: a dict for events, a text for the model."""

    data: dict[str, Any]
    text: str


def type_name(value: Any) -> str:
    """Name of a value's class, with its module where it is not a built-in."""
    cls = type(value)
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", cls.__name__)
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else str(name)


def safe_repr(value: Any, most: int = MOST_REPR) -> str:
    """The repr of anything: without addresses, cut, and never raising; "" where it says nothing.

    Examples
    --------
    >>> safe_repr(object()), safe_repr([1])
    ('', '[1]')
    """
    if getattr(type(value), "__repr__", None) is object.__repr__:
        return ""
    try:
        text = _ADDRESS.sub("", repr(value))
    except Exception as error:
        return f"(its repr raised {type(error).__name__})"
    return text if len(text) <= most else redact(text)[:most] + "…"


def plainer(value: Any) -> tuple[bool, Any]:
    """A value of pydantic or numpy as one of Python's own that says the same.

    Returns
    -------
    tuple of (bool, object)
        Whether there is such a value, and that value.
    """
    pydantic = sys.modules.get("pydantic")
    base = getattr(pydantic, "BaseModel", None)
    if base is not None and isinstance(value, base):
        # Not mode="json", which refuses fields that JSON cannot hold.
        return True, value.model_dump(warnings=False)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        if isinstance(value, (numpy.datetime64, numpy.timedelta64)):
            return True, str(value)
        item = value.item()
        return not isinstance(item, numpy.generic), item
    return False, None


def summary(value: Any) -> Summary:
    """Say what a value is when it cannot be written as JSON.

    Parameters
    ----------
    value : object

    Returns
    -------
    Summary
        The same for equal values, in every process.

    Examples
    --------
    >>> summary(b"abc").data["size"]
    3
    >>> summary(object()).text
    'object object'
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _bytes(value)
    try:
        found = _table(value) or _array(value) or _image(value)
    except Exception:  # a broken object of another package is still an object
        found = None
    return found or _object(value)


def _object(value: Any) -> Summary:
    name, text = type_name(value), safe_repr(value)
    data = {"type": name, "repr": text} if text else {"type": name}
    return Summary(data, f"{name} object: {text}" if text else f"{name} object")


def _bytes(value: bytes | bytearray | memoryview) -> Summary:
    raw = value if not isinstance(value, memoryview) or value.contiguous else value.tobytes()
    size = value.nbytes if isinstance(value, memoryview) else len(value)
    kind = _media_type(bytes(raw[:16]))
    data = {"type": "bytes", "size": size, "sha256": hashlib.sha256(raw).hexdigest()}
    if kind:
        data["media_type"] = kind
    return Summary(data, f"{kind or 'bytes'}, {size:,} bytes, sha256 {data['sha256']}")


def _media_type(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)


def _cut(text: str) -> str:
    text = _CELL_ADDRESS.sub("", text)
    return text if len(text) <= MOST_TEXT else redact(text)[:MOST_TEXT] + "…"


def _table(value: Any) -> Summary | None:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    if isinstance(value, getattr(pandas, "DataFrame", ())):
        return _frame(value)
    if isinstance(value, (pandas.Series, pandas.Index)):
        name = type(value).__name__
        head = value[:HEAD_ROWS] if isinstance(value, pandas.Index) else value.head(HEAD_ROWS)
        shown = _cut(repr(list(head)) if isinstance(value, pandas.Index) else head.to_string())
        data = {
            "type": name, "shape": [len(value)], "dtype": str(value.dtype),
            "name": None if value.name is None else str(value.name), "head": shown,
        }  # fmt: skip
        title = "" if value.name is None else f" {data['name']!r}"
        first = f"{name}{title}: {len(value):,} values, {data['dtype']}"
        return Summary(data, "\n".join([first, shown, *_rest(len(value), "values")]))
    return None


def _frame(frame: Any) -> Summary:
    rows, columns = frame.shape
    names = [str(name) for name in frame.columns[:MOST_COLUMNS]]
    kinds = [str(kind) for kind in frame.dtypes.iloc[:MOST_COLUMNS]]
    head = frame.iloc[:HEAD_ROWS, :MOST_COLUMNS]
    shown = _cut(head.to_string(max_cols=20, max_colwidth=60))
    data = {
        "type": type(frame).__name__, "shape": [rows, columns], "columns": names,
        "dtypes": kinds, "head": shown,
    }  # fmt: skip
    listed = ", ".join(f"{n} ({k})" for n, k in zip(names, kinds, strict=True))
    more = f" and {columns - MOST_COLUMNS:,} more" if columns > MOST_COLUMNS else ""
    first = f"{data['type']}: {rows:,} rows x {columns:,} columns"
    lines = [first, f"columns: {listed}{more}", shown, *_rest(rows, "rows")]
    return Summary(data, "\n".join(lines))


def _rest(count: int, what: str) -> list[str]:
    return [f"(the first {HEAD_ROWS} of {count:,} {what})"] if count > HEAD_ROWS else []


def _array(value: Any) -> Summary | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray):
        return None
    shown = _cut(numpy.array2string(value, threshold=100, edgeitems=3, max_line_width=100))
    shape, kind = list(value.shape), str(value.dtype)
    data = {"type": type(value).__name__, "shape": shape, "dtype": kind, "head": shown}
    by = " x ".join(f"{n:,}" for n in shape) or "a single value"
    return Summary(data, f"{data['type']}: {by}, {kind}\n{shown}")


def _image(value: Any) -> Summary | None:
    image = sys.modules.get("PIL.Image")
    if image is None or not isinstance(value, image.Image):
        return None
    width, height = value.size
    data = {
        "type": "image", "format": value.format, "mode": value.mode, "width": width,
        "height": height, "sha256": hashlib.sha256(value.tobytes()).hexdigest(),
    }  # fmt: skip
    kind = f"{value.format} image" if value.format else "image"
    text = f"{kind}, {width:,} x {height:,} pixels, {value.mode}, sha256 {data['sha256']}"
    return Summary(data, text)
