"""A log browser as an object: what it shows, as code, as a selection, as runs; and its place.

Shown in a notebook it is a widget that stands in place of its own picture; where there is no front
end for widgets, and in a saved file, the picture is all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.readings import Pictured, ShownList
from ..runtime.notebook import painter
from .browser_found import look
from .browser_wishes import Wishes

if TYPE_CHECKING:
    from ..runlog.logged import LoggedRun
    from ..runlog.selecting import Narrowing, Selection
    from .browser_box import BrowserBox
    from .browser_found import Found
    from .browser_opened import Opened

__all__ = ["Browser", "browse"]

#: rows that a page may have
MOST_ROWS = 200
#: by cell: which execution of it, and the browsers that it shows
_shown: dict[str, tuple[str, list[Browser]]] = {}


class Browser(Pictured):
    """A person's look at the runs of a log. You get one from ``log.browse()``.

    What is chosen in the notebook is here as well, for the next cell.

    Parameters
    ----------
    base : Log or Selection
        Whose runs.
    rows : int
        Runs of a page.

    Attributes
    ----------
    wishes : Wishes
        Conditions, order and page.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> with rl.options(log=None):
    ...     browser = rl.log.where(status="failed").browse()
    ...     browser.code, browser.runs, browser.open
    ("rl.log.where(status='failed')", [], None)
    """

    def __init__(self, base: Narrowing, rows: int = 50) -> None:
        if type(rows) is not int or not 1 <= rows <= MOST_ROWS:
            raise InputError(
                f"a page cannot have {rows!r:.60} rows", hint=f"Give 1 to {MOST_ROWS}: rows=50."
            )
        self.rows = rows
        self.wishes = Wishes(base)
        self.closed = False
        self._found: Found | None = None
        self._opened: Opened | None = None
        self._box: BrowserBox | None = None

    @property
    def found(self) -> Found:
        """What was read last; read now, if nothing was."""
        if self._found is None:
            self._found = look(self.wishes, self.rows)
        return self._found

    @property
    def first(self) -> int:
        """Number of the page's first run, from 1."""
        return (len(self.wishes.starts) - 1) * self.rows + 1

    @property
    def selection(self) -> Selection | Narrowing:
        """The runs that are meant, on all pages: ``browser.selection.frames.runs``."""
        return self.wishes.selection

    @property
    def code(self) -> str:
        """An expression for :attr:`selection`."""
        return self.wishes.code

    @property
    def runs(self) -> list[LoggedRun]:
        """The runs of the page, as they were when it was read."""
        from ..runlog.logged import LoggedRun

        log = self.wishes.base._log.fixed
        return ShownList([LoggedRun(log, seen.row) for seen in self.found.rows])

    @property
    def open(self) -> Any:
        """What is open: a run, a replay, a comparison; None for nothing."""
        return None if self._opened is None else self._opened.thing

    @property
    def opened_code(self) -> str:
        """An expression for :attr:`open`; empty for nothing."""
        return "" if self._opened is None else self._opened.code

    def close(self) -> None:
        """Leave the table as it is where it is shown: nothing can be pressed any more."""
        self.closed = True
        found = painter()
        if found is not None and self._box is not None:
            found.paint()

    def _ipython_display_(self) -> None:
        """Show it; where there is none yet, or another one, it moves here."""
        before, self._box = self._box, None
        if before is not None:
            before.leave()
        self._found = look(self.wishes, self.rows)
        found = painter()
        if found is None:
            print(repr(self))  # noqa: T201  (that is what a plain shell shows)
            return
        cell = found.cell()
        if cell is not None:
            _let_go(*cell).append(self)
        from .browser_box import BrowserBox

        self._box = BrowserBox(self)
        found.open(self._box)


def _let_go(cell_id: str, execution: str) -> list[Browser]:
    """The browsers of a cell's present execution; those of an earlier one are over."""
    before, browsers = _shown.get(cell_id, ("", []))
    if before != execution:
        for browser in browsers:
            if browser._box is not None:
                browser._box.leave()
        browsers = []
        _shown[cell_id] = (execution, browsers)
    return browsers


def browse(base: Narrowing, *, rows: int = 50) -> Browser:
    """Look through the runs of a log.

    Parameters
    ----------
    base : Log or Selection
    rows : int, optional
        Runs of a page.

    Raises
    ------
    InputError
        When there cannot be so many.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> browse(rl.log, rows=0)
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.InputError: a page cannot have 0 rows. Give 1 to 200: rows=50.
    """
    return Browser(base, rows)
