"""What can go wrong with a log, one class each, so that a person can tell what to do."""

from __future__ import annotations

from ..core.errors import RobotLabError

__all__ = [
    "LogDamaged",
    "LogError",
    "LogFull",
    "LogGone",
    "LogLocked",
    "LogReadOnly",
    "LogUnreachable",
    "LogVersion",
]


class LogError(RobotLabError):
    """A log cannot be read or written.

    Examples
    --------
    >>> error = LogFull("the log has no room", hint="Free some space.")
    >>> isinstance(error, LogError), error.retryable
    (True, False)
    """


class LogLocked(LogError):
    """Somebody else has been writing for too long."""

    retryable = True


class LogReadOnly(LogError):
    """The log may be read, and not be written."""


class LogFull(LogError):
    """There is no room left to write."""


class LogGone(LogError):
    """The log is not there, or not the same any more: it was deleted, moved or replaced."""


class LogUnreachable(LogError):
    """The database server does not answer, or refuses us."""

    retryable = True


class LogVersion(LogError):
    """The log was written by a newer version of this package."""


class LogDamaged(LogError):
    """This is no log, or what is in it cannot be read."""
