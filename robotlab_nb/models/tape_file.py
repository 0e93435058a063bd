"""A tape as a file: one JSON object a line, added to at its end, read back whole or bit by bit.

It knows lines and their order; what a line says of a request is ``tape_lines``' business. Several
processes may write the same file: each line is added under a lock of the file. What a crash left
unfinished at the end is passed over, and cut off before the next line is written.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import warnings
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ..core import secrets
from ..core.option_files import shown_path
from ..core.tape_errors import TapeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from io import BufferedRandom
    from pathlib import Path

__all__ = ["VERSION", "TapeFile", "file_of"]

#: version of the lines; it stands in the first one
VERSION = 1
#: older version -> what makes its lines those of the next one
UPCASTERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
#: what is known by its id and stands on a tape once
_ONCE = {"message": "messages", "toolset": "toolsets"}
#: bytes by which a file that was added to is told from one that was changed
_END = 64
_TABLES = {"call": "calls", "times": "times", "vectors": "vectors"}

_files: WeakValueDictionary[Path, TapeFile] = WeakValueDictionary()
_lock = threading.Lock()


def file_of(path: Path) -> TapeFile:
    """The file of a path: one object for everybody in the process who plays it."""
    with _lock:
        found = _files.get(path)
        if found is None:
            found = _files[path] = TapeFile(path)
        return found


class _Damaged(TapeError):
    """It is a tape, but not all of its lines can be read."""


class TapeFile:
    """What stands on a tape, by key.

    Parameters
    ----------
    path : Path
        It need not be there yet.

    Attributes
    ----------
    calls, times, vectors : dict
        Lines by (key, n-th occurrence); of two alike, the later one.
    messages, toolsets : dict
        Lines by id.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     tape = TapeFile(Path(folder) / "tape.jsonl")
    ...     tape.add([{"call": "k", "nth": 0}])
    ...     TapeFile(tape.path).found("calls", "k", 0)
    {'call': 'k', 'nth': 0}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shown = shown_path(path)
        self.lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self.calls: dict[tuple[str, int], dict[str, Any]] = {}
        self.times: dict[tuple[str, int], dict[str, Any]] = {}
        self.vectors: dict[tuple[str, int], dict[str, Any]] = {}
        self.messages: dict[str, dict[str, Any]] = {}
        self.toolsets: dict[str, dict[str, Any]] = {}
        #: when the recording was begun (a date), as far as the head says
        self.begun: str | None = None
        self._version: int | None = None
        #: bytes read, lines read, and whether the last of them lacks its end
        self._read, self._lines, self._open = 0, 0, False
        self._told = -1
        #: the bytes before what was not read yet, and the file's time and size at the last look
        self._end = b""
        self._seen = (0, 0)

    # -- reading ---------------------------------------------------------------------------

    def found(self, table: str, key: str, nth: int) -> dict[str, Any] | None:
        """A line by its key; the file is looked at again when it is not known.

        Parameters
        ----------
        table : {"calls", "times", "vectors"}
        key : str
        nth : int
            Which of equal ones, from 0.
        """
        known: dict[tuple[str, int], dict[str, Any]] = getattr(self, table)
        line = known.get((key, nth))
        if line is None:
            self.look()
            line = getattr(self, table).get((key, nth))
        return line

    def recorded(self, key: str) -> int:
        """How many answers to equal requests there are."""
        with self.lock:
            return sum(1 for known, _ in self.calls if known == key)

    def check(self) -> None:
        """Raise when there is a file that is no tape. One that is damaged is a tape."""
        with contextlib.suppress(_Damaged):
            self.look()

    def look(self) -> bool:
        """Read what was added since the last look. Returns whether there is a file.

        Raises
        ------
        TapeError
            When it is no tape, one of another version, or damaged before its end.
        """
        with self.lock:
            try:
                now = self.path.stat()
                seen = now.st_mtime_ns, now.st_size
                if seen != self._seen:
                    with self.path.open("rb") as file:
                        if not self._goes_on(file, now.st_size):
                            self._forget()
                        self._take_in(file)
                    self._seen = seen
            except FileNotFoundError:
                if self._read:
                    self._forget()
                return False
            except OSError as error:
                raise TapeError(f"the tape {self.shown} cannot be read: {error}") from error
            except TapeError:
                self._forget()
                raise
        return True

    def _goes_on(self, file: Any, size: int) -> bool:
        """Whether the file is what was read, and more; else it was changed or begun anew."""
        file.seek(max(0, self._read - _END))
        return size > self._read and file.read(len(self._end)) == self._end

    def _take_in(self, file: Any) -> None:
        file.seek(max(0, self._read - _END))
        before = file.read(self._read - file.tell())
        data = file.read()
        self._open = False
        *lines, tail = data.split(b"\n")
        for raw in lines:
            self._lines += 1
            self._line(raw)
        self._read += len(data) - len(tail)
        self._end = (before + data[: len(data) - len(tail)])[-_END:]
        if tail.strip():
            self._tail(tail)

    def _tail(self, tail: bytes) -> None:
        """A last line without an end: whole, where a person wrote it; else what a crash left."""
        if self._read == self._told:
            return
        self._told = self._read
        self._lines += 1
        try:
            whole = isinstance(json.loads(tail), dict)
        except (ValueError, RecursionError):
            whole = False
        if whole or self._version is None:
            self._line(tail)
            self._read += len(tail)
            self._end = (self._end + tail)[-_END:]
            self._open = True
            return
        self._lines -= 1
        warnings.warn(
            f"the tape {self.shown} breaks off in line {self._lines + 1}: what was recorded last "
            "is left out",
            RuntimeWarning,
            stacklevel=2,
        )

    def _line(self, raw: bytes) -> None:
        if not raw.strip():
            return
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        if self._version is None:
            self._head(line)
            return
        if not isinstance(line, dict):
            merge = raw.startswith((b"<<<<<<<", b"=======", b">>>>>>>"))
            raise _Damaged(
                f"line {self._lines} of the tape {self.shown} is not JSON"
                + (": two versions of it were merged" if merge else ""),
                hint="Keep one of the two versions."
                if merge
                else "Mend or remove that line, or record the tape again.",
            )
        for version in range(self._version, VERSION):
            line = UPCASTERS[version](line)
        self._known(line)

    def _head(self, line: Any) -> None:
        version = line.get("version") if isinstance(line, dict) else None
        if not isinstance(line, dict) or line.get("robotlab_nb") != "tape":
            raise TapeError(
                f"{self.shown} is no tape: its first line does not say so",
                hint="Name another file; this one is left as it is.",
            )
        if not isinstance(version, int) or (version < VERSION and version not in UPCASTERS):
            raise TapeError(f"the tape {self.shown} has the unknown version {version!r}")
        if version > VERSION:
            raise TapeError(
                f"the tape {self.shown} was recorded by a newer robotlab_nb (version {version} of "
                f"tapes; this one reads up to {VERSION})",
                hint="Update robotlab_nb, or record the tape again.",
            )
        self._version, self.begun = version, line.get("begun")

    def _known(self, line: dict[str, Any]) -> None:
        for name, table in _TABLES.items():
            if name in line:
                nth = line.get("nth", 0)
                if not isinstance(nth, int):
                    raise _Damaged(f"line {self._lines} of the tape {self.shown} has no number")
                getattr(self, table)[str(line[name]), nth] = line
                return
        for name, table in _ONCE.items():
            if name in line:
                getattr(self, table)[str(line[name])] = line

    def _stands(self, line: Mapping[str, Any]) -> bool:
        """Whether a line says what is known by its id, and is there."""
        return any(line.get(name) in getattr(self, table) for name, table in _ONCE.items())

    # -- writing ---------------------------------------------------------------------------

    def add(self, lines: Iterable[dict[str, Any]], *, anew: bool = False) -> None:
        """Write lines at the end; messages and tools that are there already are left out.

        Registered secrets are masked.

        Parameters
        ----------
        lines : iterable of dict
        anew : bool, optional
            Whether what was there before is dropped.

        Raises
        ------
        TapeError
            When there is a file that is no tape; it is left as it is.
        OSError
            When it cannot be written.
        """
        with self.lock, self._opened() as file:
            if anew:
                self.check()
                file.truncate(0)
                self._forget()
            else:
                self.look()
                if not self._open:  # what a crash left is no line
                    file.truncate(self._read)
            told = [secrets.redact_data(line) for line in lines if not self._stands(line)]
            if self._version is None:
                begun = datetime.now(UTC).date().isoformat()
                told.insert(0, {"robotlab_nb": "tape", "version": VERSION, "begun": begun})
            data = b"\n" * self._open + b"".join(map(_encoded, told))
            file.seek(0, os.SEEK_END)
            file.write(data)
            file.flush()
            self._read += len(data)
            self._end, self._open = (self._end + data)[-_END:], False
            now = os.fstat(file.fileno())
            self._seen = now.st_mtime_ns, now.st_size
            for line in told:
                self._lines += 1
                if "robotlab_nb" in line:
                    self._version, self.begun = VERSION, line["begun"]
                else:
                    self._known(line)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[BufferedRandom]:
        """The file, open and ours alone."""
        with open(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as file:
            _take(file.fileno())
            try:
                yield file
            finally:
                file.flush()
                _leave(file.fileno())


def _encoded(line: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can hold
        return json.dumps(line, default=str).encode() + b"\n"


if sys.platform == "win32":
    import msvcrt

    def _take(file: int) -> None:
        os.lseek(file, 2**30, os.SEEK_SET)  # far behind all that is read
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)

    def _leave(file: int) -> None:
        os.lseek(file, 2**30, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _leave(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
