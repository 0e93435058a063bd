"""Whether a folder is a place for a log of runs: a local disk with room, and SQLite not old."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.option_files import shown_path
from .check_rows import Row, fine, notice

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SQLITE", "log_place", "network_disk"]

#: the least release of SQLite: upserts, JSON and a write-ahead log that is read without writing
SQLITE = (3, 35, 0)
_ROOM_BYTES = 200_000_000
#: file systems on which SQLite's locks and its write-ahead log do not hold
_NETWORK = frozenset(
    {
        "9p", "afp", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "fuse.gcsfuse",
        "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs", "gpfs",
        "lustre", "ncpfs", "nfs", "nfs4", "osxfuse", "smb", "smb3", "smbfs", "virtiofs", "webdav",
    }
)  # fmt: skip


def log_place(folder: str | Path) -> Iterable[Row]:
    """Whether a log can be kept in a folder. It is not made, and nothing is written.

    Parameters
    ----------
    folder : str or Path
        One that is not there yet is judged by the nearest one above it.

    Yields
    ------
    Row
        Under the topic ``log``.

    Examples
    --------
    >>> [row.topic for row in log_place(".")]
    ['log']
    """
    shown = shown_path(Path(folder))
    there = _nearest(Path(folder))
    kind = network_disk(there)
    faults = []
    if kind is not None:
        faults.append(
            notice(
                "log",
                f"{shown} lies on a network disk ({kind}): SQLite may lose what it wrote",
                "Keep the log on a local disk, or in PostgreSQL.",
            )
        )
    if sqlite3.sqlite_version_info < SQLITE:
        least = ".".join(map(str, SQLITE[:2]))
        faults.append(
            notice(
                "log",
                f"SQLite {sqlite3.sqlite_version} is older than {least}",
                "Use a newer Python: SQLite comes with it.",
            )
        )
    if not os.access(there, os.W_OK):
        faults.append(notice("log", f"{shown} cannot be written to", "Name another place."))
    with suppress(OSError):
        free = shutil.disk_usage(there).free
        if free < _ROOM_BYTES:
            faults.append(notice("log", f"{shown}: {free / 1e6:,.0f} MB are left on its disk"))
    yield from faults or [
        fine("log", f"{shown}: a local disk with room, SQLite {sqlite3.sqlite_version}")
    ]


def _nearest(folder: Path) -> Path:
    """A folder, or the nearest one above it that is there."""
    whole = folder.expanduser().absolute()
    return next((one for one in (whole, *whole.parents) if one.is_dir()), whole)


def network_disk(folder: Path) -> str | None:
    """The kind of network disk that a folder lies on; None for a local one, or an unknown one.

    Parameters
    ----------
    folder : Path
        One that is there.
    """
    if sys.platform == "win32":
        return _windows(folder)
    real = os.path.realpath(folder)
    best, kind = "", ""
    for point, found in _mounts():
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, found
    return kind if kind.lower() in _NETWORK else None


def _mounts() -> Iterable[tuple[str, str]]:
    """What is mounted where, with the kind of its file system."""
    if sys.platform == "darwin":
        yield from _mounts_of_macos()
        return
    with suppress(OSError):
        for line in Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines():
            fields = line.split(" ")
            if len(fields) > 2:
                yield fields[1].replace("\\040", " "), fields[2]


def _mounts_of_macos() -> Iterable[tuple[str, str]]:
    import re
    import subprocess

    told = subprocess.run(
        ["/sbin/mount"], capture_output=True, text=True, timeout=0.5, check=False
    ).stdout
    for match in re.finditer(r"^.+? on (/.*?) \((\w+)", told, re.M):
        yield match[1], match[2]


def _windows(folder: Path) -> str | None:
    """On Windows: a path of a server, or a drive that is one."""
    if str(folder).startswith("\\\\"):
        return "network share"
    import ctypes

    remote = 4
    kind = ctypes.windll.kernel32.GetDriveTypeW(folder.drive + "\\")  # type: ignore[attr-defined]
    return "network drive" if kind == remote else None
