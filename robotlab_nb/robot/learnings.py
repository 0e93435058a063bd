"""What a robot has learned: observations without repetitions, and where they are kept.

They stand in the system message, never in the conversation. A file of learnings may be shared by
several robots and several processes: each change is made under its lock and replaces it whole.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..core.errors import AwaitTimeout, ConfigurationError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

__all__ = ["LearningStore", "Learnings", "LearningsFile"]

#: seconds to wait for another process that changes the same file
PATIENCE_S = 10.0


class LearningStore(Protocol):
    """Where learnings may be kept: any object with these two methods."""

    def load(self) -> Iterable[str]:
        """All texts, in order."""

    def save(self, texts: Sequence[str]) -> None:
        """Keep these texts in place of all others."""


class Learnings:
    """Observations, each said once. Any thread may use it.

    Parameters
    ----------
    store : path, LearningStore or None
        A JSON Lines file (made when there is something to keep), an object with ``load()`` and
        ``save(texts)``, or None to keep them here alone.

    Raises
    ------
    ConfigurationError
        When it is none of these.

    Examples
    --------
    >>> known = Learnings()
    >>> known.add("The user likes tea"), known.add("the user  likes TEA")
    (True, False)
    >>> known.add("The user likes tea and hates coffee")
    True
    >>> known.texts
    ('The user likes tea and hates coffee',)
    """

    __slots__ = ("_lock", "_store", "_texts")

    def __init__(self, store: Any = None) -> None:
        self._lock = threading.RLock()
        self._store = _store_of(store)
        self._texts: tuple[str, ...] = ()

    def add(self, text: str) -> bool:
        """Note an observation.

        Parameters
        ----------
        text : str
            Blank text is not noted, nor is one that a known one contains; known ones that it
            contains give way to it. Case and spaces do not count.

        Returns
        -------
        bool
            Whether it was noted.

        Raises
        ------
        InputError
            When it is no text.
        """
        if not isinstance(text, str):
            raise InputError(f"a learning is a text, not {type(text).__name__}")
        with self._changing():
            known = self._load()
            found = merged(known, text)
            if found == known:
                return False
            if self._store is not None:
                self._store.save(found)
            self._texts = found
            return True

    @property
    def texts(self) -> tuple[str, ...]:
        """What is known, oldest first."""
        with self._lock:
            return self._load()

    def section(self) -> str:
        """What the system message says of it; ``""`` when nothing is known."""
        texts = self.texts
        if not texts:
            return ""
        lines = ["- " + "\n  ".join(text.splitlines()) for text in texts]
        return "\n".join(["What you have learned so far:", *lines])

    def clear(self) -> None:
        """Forget everything."""
        with self._changing():
            if self._store is not None:
                self._store.save(())
            self._texts = ()

    def copy(self) -> Learnings:
        """Learnings of its own for a fork; a store is shared."""
        with self._lock:
            found = Learnings(self._store)
            found._texts = self._texts
            if self._store is not None:
                found._lock = self._lock
            return found

    def _load(self) -> tuple[str, ...]:
        if self._store is not None:
            self._texts = tuple(self._store.load())
        return self._texts

    @contextmanager
    def _changing(self) -> Iterator[None]:
        held: AbstractContextManager[object] = nullcontext()
        if isinstance(self._store, LearningsFile):
            held = self._store.locked()
        with self._lock, held:
            yield

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        where = f" in {self._store!r}" if self._store is not None else ""
        return f"<Learnings: {len(self)}{where}>"


def merged(known: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The known observations with a new one; the same ones when it says nothing new.

    Examples
    --------
    >>> merged(("likes tea",), "She likes tea.")
    ('She likes tea.',)
    >>> merged(("She likes tea.",), "tea")
    ('She likes tea.',)
    """
    new = _plain(text)
    if not new or any(new in _plain(old) for old in known):
        return known
    return (*(old for old in known if _plain(old) not in new), text.strip())


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _store_of(given: Any) -> LearningStore | None:
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        return LearningsFile(given)
    if callable(getattr(given, "load", None)) and callable(getattr(given, "save", None)):
        store: LearningStore = given
        return store
    raise ConfigurationError(
        f"learnings= takes a path or a store, not {type(given).__name__}",
        hint="A store has load() and save(texts).",
    )


class LearningsFile:
    """Learnings in a JSON Lines file: ``{"text": …}`` a line.

    Lines that cannot be read are reported once, and kept in a file beside it, named
    ``….damaged``, when this one is next written.

    Parameters
    ----------
    path : path
    """

    __slots__ = ("_known", "_warned", "path")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        #: which file it was when it was last read, and what it said
        self._known: tuple[tuple[int, ...], tuple[str, ...]] | None = None
        self._warned = False

    def load(self) -> tuple[str, ...]:
        """All texts; none when there is no file. It is read again only when it has changed."""
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            return ()
        stamp = (now.st_ino, now.st_mtime_ns, now.st_size)
        if self._known is None or self._known[0] != stamp:
            texts, damaged = self._read()
            if damaged and not self._warned:
                self._warned = True
                places = ", ".join(str(number) for number, _ in damaged[:5])
                warnings.warn(
                    f"learnings in {self.path}: {len(damaged)} damaged line(s) left out "
                    f"(line {places}); they go to {self._damaged.name} at the next change",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._known = (stamp, texts)
        return self._known[1]

    def save(self, texts: Sequence[str]) -> None:
        """Replace the file, whole or not at all."""
        damaged = self._read()[1]
        if damaged:
            with open(self._damaged, "ab") as aside:
                aside.write(b"".join(line.rstrip(b"\n") + b"\n" for _, line in damaged))
        lines = [json.dumps({"text": text}) + "\n" for text in texts]
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}.{threading.get_ident()}.new")
        try:
            with open(fresh, "w", encoding="ascii") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, self.path)
        finally:
            fresh.unlink(missing_ok=True)
        self._known = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the file alone, among all processes, while it is changed."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = self.path.with_name(self.path.name + ".lock")
        with open(lock, "ab") as file:
            _hold(file.fileno(), lock)
            self._known = None  # where clocks are coarse, a change may not show
            try:
                yield
            finally:
                _release(file.fileno())

    @property
    def _damaged(self) -> Path:
        return self.path.with_name(self.path.name + ".damaged")

    def _read(self) -> tuple[tuple[str, ...], list[tuple[int, bytes]]]:
        """The texts, and the lines that hold none, with their numbers."""
        texts: list[str] = []
        damaged: list[tuple[int, bytes]] = []
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return (), []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            text = _text_in(line)
            if text is None:
                damaged.append((number, line))
            else:
                texts.append(text)
        return tuple(texts), damaged

    def __repr__(self) -> str:
        return str(self.path)


def _text_in(line: bytes) -> str | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    text = found.get("text") if isinstance(found, dict) else None
    return text if isinstance(text, str) and text.strip() else None


def _hold(file: int, path: Path) -> None:
    from time import monotonic, sleep

    until = monotonic() + PATIENCE_S
    while not _try(file):
        if monotonic() > until:
            raise AwaitTimeout(
                f"the learnings beside {path} have been locked for {PATIENCE_S:g} s",
                hint="Another process is changing them; try again when it has ended.",
            )
        sleep(0.005)


if os.name == "nt":
    import msvcrt

    def _try(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True

    def _release(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined, unused-ignore]

else:
    import fcntl

    def _try(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
