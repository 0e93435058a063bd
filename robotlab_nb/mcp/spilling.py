"""Files for what is too large to be kept at hand; they are there until the process ends."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from pathlib import Path

__all__ = ["spilled"]

_lock = threading.Lock()
_folder: Path | None = None
_owner = 0


def spilled(data: bytes, suffix: str) -> Path:
    """Write bytes to a new file that only we may read; returns where it is.

    Examples
    --------
    >>> path = spilled(b"much", ".txt")
    >>> path.read_bytes(), path.suffix
    (b'much', '.txt')
    """
    number, name = tempfile.mkstemp(suffix=_safe(suffix), dir=_own_folder())
    with os.fdopen(number, "wb") as file:
        file.write(data)
    return Path(name)


def _own_folder() -> Path:
    global _folder, _owner
    with _lock:
        if _folder is None or _owner != os.getpid() or not _folder.is_dir():
            _folder, _owner = Path(tempfile.mkdtemp(prefix="robotlab_nb-")), os.getpid()
            atexit.register(_remove, _folder, _owner)
        return _folder


def _remove(folder: Path, owner: int) -> None:
    if owner == os.getpid():  # a forked child has nothing to remove
        shutil.rmtree(folder, ignore_errors=True)


def _safe(suffix: str) -> str:
    return "".join(c for c in suffix if c.isalnum() or c == ".") or ".bin"
