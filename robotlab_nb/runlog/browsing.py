"""Browsing a log: a part of :class:`~robotlab_nb.runlog.opened.Log` and of its selections."""

from __future__ import annotations

from typing import Any

from ..core.readings import reading
from .asking import Asking

__all__ = ["Browsing"]


class Browsing(Asking):
    """The part of a log that this module adds; it knows no screen."""

    def browse(self, *, rows: int = 50) -> Any:
        """Look through the runs: a table to filter, sort and tag in, where runs open.

        Shown in a notebook it is a widget while there is a kernel, and a table that stands still
        in the saved file. It reads a page at a time, however many runs there are.

        Parameters
        ----------
        rows : int, optional
            Runs on a page, 1 to 200.

        Returns
        -------
        Browser
            ``browser.selection`` is what it shows: ``browser.selection.frames.runs`` is its table.

        Raises
        ------
        InputError
            When ``rows`` is no such number. A log that cannot be read says so where it is shown.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     poet = rl.build("poet", model=rl.SimulatedModel(["roses are red"]))
        ...     answer = poet.run("a poem")
        ...     browser = rl.log.where(robot="poet").browse()
        ...     browser.code, [run.input for run in browser.runs]
        ("rl.log.where(robot='poet')", ['a poem'])
        >>> folder.cleanup()
        """
        return reading("browse")(self, rows=rows)
