"""What goes wrong with writing a log: said once as a warning, and remembered for its picture."""

from __future__ import annotations

import contextlib
import warnings
from time import monotonic

from .faults import LogGone, LogLocked, LogUnreachable

__all__ = ["Trouble"]

#: seconds for which others may hold the log, or its server be away, before that is worth a word
PATIENCE_S = 5.0
_AND = (
    " They go on; what happens is written when that is possible again. "
    "To keep none: rl.options.log = None"
)


class Trouble:
    """Whether a log cannot be written, since when, and what was lost. True while it cannot.

    Parameters
    ----------
    place : str

    Attributes
    ----------
    error : Exception or None
        What it failed with last; None while all is well.
    lost : int
        Events that could not be kept until it worked again.
    """

    def __init__(self, place: str) -> None:
        self.place = place
        self.error: Exception | None = None
        self.lost = 0
        self._since: float | None = None
        self._warned = False

    def __bool__(self) -> bool:
        return self.error is not None

    @property
    def text(self) -> str | None:
        """One line about it; None when nothing is or was wrong."""
        if self.error is not None:
            return f"runs are not being kept: {_said(self.error)}"
        return (
            f"{self.lost:,} events were lost while it could not be written" * bool(self.lost)
            or None
        )

    def happened(self, error: Exception, *, last: bool = False) -> None:
        """Note that a write failed; ``last`` says that none will follow."""
        if self._since is None:
            self._since = monotonic()
            if isinstance(error, LogGone) and not last:
                return  # the next try makes a new file
        passing = isinstance(error, (LogLocked, LogUnreachable))
        if passing and not last and monotonic() - self._since < PATIENCE_S:
            return
        self.error = error
        if not self._warned:
            self._warned = True
            with contextlib.suppress(Warning):
                # No line of ours would tell a person more.
                warnings.warn_explicit(
                    f"{'runs were not kept' if last else 'runs are not being kept'}: "
                    f"{_said(error)}{'' if last else _AND}",
                    RuntimeWarning,
                    "robotlab_nb",
                    0,
                )

    def over(self) -> None:
        """Note that a write succeeded."""
        self.error = self._since = None


def _said(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."
