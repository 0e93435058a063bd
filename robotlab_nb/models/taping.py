"""Tapes: model calls recorded in a file, and played from there without asking anybody.

A :class:`Tape` knows what was asked so far and how often; which answer that is, its file says.
What happens when a call meets a tape is in ``tape_calls``, what a line says in ``tape_lines``.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from contextvars import ContextVar
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.config import options
from ..core.errors import ConfigurationError
from ..core.option_files import shown_path
from ..core.readings import Pictured
from ..core.tape_errors import TapeError
from . import tape_lines
from .tape_file import file_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tape_lines import Take

__all__ = ["MODES", "Tape", "tape", "tape_of"]

MODES = ("auto", "record", "strict")

_lock = threading.Lock()
#: whether every tape is played, whatever its mode
_only_played: ContextVar[bool] = ContextVar("robotlab_nb_only_played", default=False)
#: tapes that settings name by a path, for the life of the process
_named: dict[tuple[str, str], Tape] = {}


class Tape(Pictured):
    """A tape that is being recorded or played; :func:`robotlab_nb.tape` makes one.

    Attributes
    ----------
    path : Path
    mode : {"auto", "record", "strict"}
    played, recorded : int
        Model calls that were answered from the tape, and put there, by this one.
    passed_over : int
        Calls to simulated models, which are not recorded.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: str,
        *,
        errors: bool | None = None,
        simulated: bool = False,
        paced: bool = False,
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self.mode = "strict" if _only_played.get() else mode
        self.errors = errors
        self.simulated = simulated
        self.paced = paced
        self.file = file_of(self.path)
        self.played = self.recorded = self.passed_over = 0
        self._lock = threading.RLock()
        self._next: dict[str, int] = {}
        self._free: dict[str, list[int]] = {}
        self._taken: set[tuple[str, int]] = set()
        #: by notebook cell: which execution of it, and what that asked for
        self._cells: dict[str, tuple[str, list[tuple[str, int]]]] = {}
        #: times of runs that stand nowhere before the first call is recorded
        self._held: list[dict[str, Any]] = []
        self._begun = False
        self._told = False
        self._takes: dict[tuple[str, int], tuple[dict[str, Any], Take]] = {}
        self._before: list[Any] = []

    @property
    def name(self) -> str:
        """The file, as a person would write it."""
        return shown_path(self.path)

    @property
    def keeps_errors(self) -> bool:
        """Whether a call that failed for good is kept like an answer."""
        return self.mode == "record" if self.errors is None else self.errors

    # -- which answer ----------------------------------------------------------------------

    def claim(self, key: str, cell: tuple[str, str] | None = None) -> int:
        """Say that something is asked for; returns which of equal requests it is, from 0.

        Parameters
        ----------
        key : str
        cell : tuple of str, optional
            The notebook cell that asks, and which execution of it. What an earlier execution
            asked for counts no more: the cell run again asks for the same.
        """
        with self._lock:
            asked = None
            if cell is not None:
                before = self._cells.get(cell[0])
                if before is None or before[0] != cell[1]:
                    for one in () if before is None else before[1]:
                        self.give_back(*one)
                    before = self._cells[cell[0]] = cell[1], []
                asked = before[1]
            free = self._free.get(key)
            if free:
                nth = heappop(free)
            else:
                nth = self._next.get(key, 0)
                self._next[key] = nth + 1
            self._taken.add((key, nth))
            if asked is not None:
                asked.append((key, nth))
            return nth

    def give_back(self, key: str, nth: int) -> None:
        """Say that nothing came of what was asked for: the next one alike is this one."""
        with self._lock:
            if (key, nth) in self._taken:
                self._taken.remove((key, nth))
                heappush(self._free.setdefault(key, []), nth)

    def rewind(self) -> Tape:
        """Begin anew: equal requests get their first answers again.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> rl.tape("lesson.jsonl").rewind().played
        0
        """
        with self._lock:
            self._next.clear()
            self._free.clear()
            self._taken.clear()
            self._cells.clear()
        return self

    def find(self, key: str, nth: int) -> Take | None:
        """The n-th answer to a request, if it is on the tape and is to be played."""
        line = self.file.found("calls", key, nth)
        if line is None:
            if self.mode == "strict" and not self.file.look():
                raise TapeError(
                    f"there is no tape {self.name}",
                    hint='Record it: rl.tape(…, mode="record"), with the models at hand.',
                )
            return None
        kept = self._takes.get((key, nth))
        if kept is None or kept[0] is not line:
            try:
                kept = line, tape_lines.read(line)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                raise TapeError(
                    f"a call on the tape {self.name} cannot be read ({type(error).__name__}: "
                    f"{error}): {key[:12]}…",
                    hint="Mend its line, or record it again.",
                ) from None
            self._takes[key, nth] = kept
        take = kept[1]
        return None if take.failed and self.mode == "auto" and not self.keeps_errors else take

    # -- recording -------------------------------------------------------------------------

    def keep(self, lines: list[dict[str, Any]]) -> bool:
        """Write lines to the file. Where that fails it is told once; answers are not lost.

        Returns
        -------
        bool
            Whether they stand there now.
        """
        with self._lock:
            only_times = all("times" in line for line in lines)
            new = not self._begun and (self.mode == "record" or not self.path.exists())
            if only_times and new:
                self._held += lines
                return False
            lines, self._held = [*self._held, *lines], []
            try:
                self.file.add(lines, anew=self.mode == "record" and not self._begun)
                self._begun = True
            except (OSError, TapeError) as error:
                if not self._told:
                    self._told = True
                    warnings.warn(
                        f"nothing is recorded on the tape {self.name}: {error}",
                        RuntimeWarning,
                        stacklevel=2,
                    )
                return False
        return True

    # -- for a while -----------------------------------------------------------------------

    def __enter__(self) -> Tape:
        self._before.append(options(tape=self))
        self._before[-1].__enter__()
        return self

    def __exit__(self, *about: object) -> None:
        self._before.pop().__exit__(*about)

    def __reduce__(self) -> Any:
        return _again, (str(self.path), self.mode, self.errors, self.simulated, self.paced)


def _again(path: str, mode: str, errors: bool | None, simulated: bool, paced: bool) -> Tape:
    return Tape(path, mode, errors=errors, simulated=simulated, paced=paced)


def tape(
    path: str | os.PathLike[str],
    *,
    mode: str | None = None,
    errors: bool | None = None,
    simulated: bool = False,
    paced: bool = False,
) -> Tape:
    """Record model calls in a file, or play them from there: no model, no key, no network.

    Use it in a ``with`` block, where it holds for the whole process as ``rl.options(…)`` does, or
    for a whole notebook: ``rl.options.tape = rl.tape(…)``. A path does too:
    ``rl.options.tape = "lesson.jsonl"``, or ``tape=`` of a robot, a network or a run.

    An answer belongs to its request: the messages, tools, parameters, model and address, and the
    how-manieth of equal requests it is. A notebook cell that is run again gets the same answers
    again. Answers come piece by piece as they came, and a run shows the times, tokens and costs of
    the recording. Tools are called, and people asked, as ever: only models are not. A cell that
    blocks shows no status line meanwhile, for its place would stay in the notebook.

    Parameters
    ----------
    path : str or path
        A file of JSON lines; ``.jsonl`` is usual. Its folder must be there. Registered secrets
        are masked in it, and headers are never in it.
    mode : {"auto", "record", "strict"}, optional
        ``record``: every model is asked, and the tape begun anew with the first answer.
        ``strict``: everything is played; what is not on the tape is a :class:`TapeMiss` that shows
        what is different from the nearest recorded request.
        ``auto``: what is on the tape is played, the rest is asked and added.
        By default what ``rl.options.tape_mode`` says, which is ``auto``.
    errors : bool, optional
        Whether a call that failed for good is kept and played like an answer. By default with
        ``record``, but not with ``auto``: there it is asked again. Attempts that failed before an
        answer are always kept.
    simulated : bool, optional
        Whether simulated models are recorded too. They are passed over by default: they answer
        without a network anyway, and scripts share their names, so that one script's answers
        would be played for another's.
    paced : bool, optional
        Whether answers come as slowly as they came.

    Returns
    -------
    Tape

    Raises
    ------
    ConfigurationError
        For a mode that there is not, or a folder that is not there. ``TapeError`` for a file
        that is no tape, or one of another version.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> from robotlab_nb.testing import ModelServer
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> path = f"{folder.name}/hello.jsonl"
    >>> with ModelServer(["Bonjour."]) as server, rl.tape(path, mode="record"):
    ...     str(rl.build(model="small", api_base=server.base_url).run("Say hello."))
    'Bonjour.'
    >>> bot = rl.build(model="small", api_base=server.base_url)  # the server is gone
    >>> with rl.tape(path, mode="strict") as played:
    ...     str(bot.run("Say hello.")), played.played
    ('Bonjour.', 1)
    >>> folder.cleanup()
    """
    if mode is not None and mode not in MODES:
        raise ConfigurationError(
            f"a tape has no mode {mode!r}", hint=f"One of {', '.join(map(repr, MODES))}."
        )
    found = Tape(
        _path(path), mode or options.tape_mode, errors=errors, simulated=simulated, paced=paced
    )
    if not found.path.parent.is_dir():
        raise ConfigurationError(
            f"the tape {found.name} cannot be there: its folder is missing",
            hint=f"Make the folder {shown_path(found.path.parent)}.",
        )
    if found.mode != "record":
        found.file.look()
    elif found.path.exists():
        found.file.check()
    return found


def tape_of(value: Any) -> Tape:
    """The tape that a setting means: itself, or the one at a path.

    Parameters
    ----------
    value : Tape, str or path

    Raises
    ------
    ConfigurationError
        When it can be no tape.
    """
    if type(value) is Tape:
        return value
    mode = "only played" if _only_played.get() else options.tape_mode
    key = str(Path(_path(value)).expanduser().absolute()), mode
    with _lock:
        found = _named.get(key)
        if found is None:
            found = _named[key] = tape(value)
        return found


@contextlib.contextmanager
def only_played() -> Iterator[None]:
    """Have every tape that is made in the block be played only: for tests of what records."""
    token = _only_played.set(True)
    try:
        yield
    finally:
        _only_played.reset(token)


def _path(value: Any) -> str | os.PathLike[str]:
    if isinstance(value, (str, os.PathLike)) and str(value).strip():
        return value
    raise ConfigurationError(
        f"tape= takes a path or an rl.tape(…), not {value!r:.60}",
        hint='For example rl.options.tape = "lesson.jsonl".',
    )
