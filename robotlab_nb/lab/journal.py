"""A journal of experiments: a file with a line of JSON for each event, where no log is kept.

Lines are appended whole, and never changed. What a killed process left unfinished is passed over.
"""

from __future__ import annotations

import os
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.events import Event
from ..core.option_files import shown_path
from ..runlog.answered import Told
from ..runlog.event_text import read, written
from ..runlog.targets import default_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = ["Journal", "journal_of"]

#: the file beside the usual log
_NAME = "experiments.jsonl"
#: set to "off", only a journal that was asked for is written: for tests
_VARIABLE = "ROBOTLAB_NB_LOG"


def default_journal() -> Path:
    """The journal that is written if nobody says otherwise."""
    return default_path().with_name(_NAME)


def journal_of(where: Any, *, logged: bool) -> Journal | None:
    """The journal that an experiment is written to, if any.

    Parameters
    ----------
    where : path, bool or None
        None: the usual one, where no log is kept. True: that one anyway. False: none.
    logged : bool
        Whether a log is kept.

    Raises
    ------
    ConfigurationError
        When it cannot be a file.
    """
    if where is False:
        return None
    if where is None:
        off = os.environ.get(_VARIABLE, "").strip().lower() == "off"
        return None if logged or off else Journal(default_journal())
    if where is True:
        return Journal(default_journal())
    try:
        path = Path(os.fspath(where)).expanduser().absolute()
    except TypeError:
        raise ConfigurationError(
            f"journal={where!r:.60} is no file", hint="Name one: journal='experiments.jsonl'."
        ) from None
    if path.is_dir():
        raise ConfigurationError(
            f"journal={shown_path(path)!r} is a folder", hint="Name a file in it."
        )
    return Journal(path)


class Journal:
    """A file of events, one a line.

    Parameters
    ----------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> from robotlab_nb.core.events import Scope
    >>> folder = tempfile.TemporaryDirectory()
    >>> journal = Journal(Path(folder.name) / "journal.jsonl")
    >>> scope = Scope("r", "r", None, 0, "experiment", ("e",), None)
    >>> journal.add(Event("cell.completed", scope, 3, 0.1, {"key": "k", "status": "completed"}))
    >>> [told.data["status"] for told in journal.answered({"k"})]
    ['completed']
    >>> folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        #: why nothing more is written
        self.trouble: str | None = None
        self._lock = threading.Lock()

    def add(self, event: Event) -> None:
        """Write an event. A file that cannot be written is told once; nothing else happens."""
        self.write(event.to_dict())

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line, all of it or (as far as readers see) nothing."""
        if self.trouble is not None:
            return
        text = written(line).strip().encode() + b"\n"
        try:
            with self._lock:
                self._append(text)
        except OSError as error:
            self.trouble = f"{type(error).__name__}: {error.strerror or error}"
            warnings.warn(
                f"the journal {shown_path(self.path)} cannot be written ({self.trouble}): this "
                "experiment goes on, and will not be remembered",
                RuntimeWarning,
                stacklevel=3,
            )

    def _append(self, text: bytes) -> None:
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(handle).st_size
            # A line that a killed process left unfinished is ended, or it would spoil this one.
            if size and os.pread(handle, 1, size - 1) != b"\n":
                text = b"\n" + text
            while text:
                text = text[os.write(handle, text) :]
        finally:
            os.close(handle)

    def lines(self, *having: bytes) -> Iterator[dict[str, Any]]:
        """What was written, in order: lines that have one of some texts in them; all without."""
        try:
            file = open(self.path, "rb")  # noqa: SIM115  (closed below)
        except OSError:
            return
        with file:
            for line in file:
                if having and not any(text in line for text in having):
                    continue
                try:
                    found = read(line.decode())
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict):
                    yield found

    def events(self, *having: bytes) -> Iterator[Event]:
        """The events that were written, in order."""
        for line in self.lines(*having):
            try:
                yield Event.from_dict(line)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue

    def answered(self, keys: Collection[str]) -> list[Told]:
        """What happened to cells, in order."""
        found = []
        for event in self.events(b'"cell.started"', b'"cell.completed"', b'"cell.scored"'):
            data: Any = event.data
            if data.get("key") in keys:
                found.append(Told(event.type, event.scope.root_id, dict(data)))
        return found

    def __repr__(self) -> str:
        return f"<journal {shown_path(self.path)}{f': {self.trouble}' if self.trouble else ''}>"
