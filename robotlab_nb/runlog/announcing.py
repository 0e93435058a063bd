"""Telling a person, once per process, that runs are kept: where, and how to change that."""

from __future__ import annotations

import sys

from ..core.readings import reading
from ..runtime.notebook import painter

__all__ = ["announce", "announcement"]

_announced = False


def announcement(place: str) -> str:
    """What is said; code stands between backticks.

    Examples
    --------
    >>> announcement("~/log.sqlite")
    'Runs are kept in `~/log.sqlite`: see `rl.log`. To keep none: `rl.options.log = None`.'
    """
    shown = place.replace("`", "'")
    return f"Runs are kept in `{shown}`: see `rl.log`. To keep none: `rl.options.log = None`."


def announce(place: str) -> None:
    """Say it in the cell that is being run, else on the standard error stream."""
    global _announced
    if _announced:
        return
    _announced = True
    text = announcement(place)
    if painter() is not None:
        reading("notice")(text)
    else:
        said = text.replace("`", "")
        print(f"robotlab_nb: {said}", file=sys.stderr)  # noqa: T201  (that is what it is for)
