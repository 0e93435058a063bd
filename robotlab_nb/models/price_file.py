"""litellm's bundled price file, read as text: litellm itself costs seconds to import and is not.

Of the file's thousands of entries only those asked for are parsed. Knows the file's layout,
not what its fields mean.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["find_entry", "parse_all", "price_file", "read_prices"]

_FILE = "model_prices_and_context_window_backup.json"
_LAYOUT = re.compile(rb'\s*\{(\r?\n[ \t]*)"')


@lru_cache(maxsize=1)
def price_file() -> Path | None:
    """Where litellm's price file lies; None when litellm is not installed. Imports nothing."""
    import importlib.util
    from pathlib import Path

    try:
        spec = importlib.util.find_spec("litellm")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / _FILE
        if path.is_file():
            return path
    return None


def read_prices() -> bytes:
    """Read the whole file, unparsed; empty when there is none."""
    path = price_file()
    try:
        return path.read_bytes() if path else b""
    except OSError:
        return b""


def find_entry(data: bytes, name: str) -> dict[str, Any] | None:
    """Parse one entry of the file.

    Parameters
    ----------
    data : bytes
        What :func:`read_prices` gave.
    name : str
        The entry's key. It is looked for as text, on a line of its own at the first key's
        indentation; a file laid out otherwise is parsed whole.

    Returns
    -------
    dict or None
        The entry, or None when there is none of that name.

    Examples
    --------
    >>> find_entry(b'{"a": {"mode": "chat"}}', "a")
    {'mode': 'chat'}
    >>> find_entry(b'{"a": {"mode": "chat"}}', "b") is None
    True
    """
    layout = _LAYOUT.match(data)
    if layout is None:
        found = parse_all(data).get(name)
        return found if isinstance(found, dict) else None
    margin = layout.group(1)
    key = margin + json.dumps(name).encode() + b":"
    start = data.find(key)
    if start < 0:
        return None
    end = data.find(margin + b'"', start + len(key))
    text = data[start + len(key) : end if end >= 0 else len(data)].decode("utf-8", "replace")
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def parse_all(data: bytes) -> dict[str, Any]:
    """Parse the whole file; empty when it is no JSON object."""
    try:
        table = json.loads(data)
    except ValueError:
        return {}
    return table if isinstance(table, dict) else {}
