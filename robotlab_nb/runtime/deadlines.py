"""By when the calling code will have been stopped: the time that its tool or its task has.

It goes along in a context variable, into threads and tasks. It stops nothing itself.
"""

from __future__ import annotations

import contextvars
from time import monotonic
from typing import Any

__all__ = ["ending_in", "ends_at"]

_ends: contextvars.ContextVar[float] = contextvars.ContextVar(
    "robotlab_nb_ends", default=float("inf")
)


def ends_at() -> float:
    """The moment by the monotonic clock, in seconds; infinite where there is none."""
    return _ends.get()


class ending_in:
    """``with ending_in(seconds):`` what is started inside is stopped after so many seconds.

    Examples
    --------
    >>> with ending_in(60), ending_in(None):
    ...     59 < ends_at() - monotonic() <= 60
    True
    """

    __slots__ = ("_moment", "_token")

    def __init__(self, seconds: float | None) -> None:
        self._moment = float("inf") if seconds is None else monotonic() + seconds

    def __enter__(self) -> None:
        self._token = _ends.set(min(_ends.get(), self._moment))

    def __exit__(self, *_: Any) -> None:
        _ends.reset(self._token)
