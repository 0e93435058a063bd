"""Tables of a log's runs: a part of :class:`~robotlab_nb.runlog.opened.Log`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .asking import Asking

if TYPE_CHECKING:
    from ..frames.log_frames import LogFrames
    from ..frames.plots import Plots

__all__ = ["Reading"]


class Reading(Asking):
    """The part of a log that this module adds; it reads ``store`` and ``query``."""

    @property
    def frames(self) -> LogFrames:
        """The tables of the runs that are meant, each a DataFrame, read when it is asked for.

        ``log.frames.runs``, ``log.where(robot="draft").frames.tool_calls`` and so on: the columns
        of a result's frames, and the rows of exactly these runs. Taken anew each time.
        """
        from ..frames.log_frames import LogFrames
        from .log_source import LogSource

        return LogFrames(LogSource(self.store, self.query))

    @property
    def plots(self) -> Plots:
        """Charts of the runs that are meant: ``log.plots.cost(by="model")`` and others."""
        from ..frames.plots import Plots

        return Plots(cast("Any", self))
