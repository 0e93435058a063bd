"""Events of older versions, read as if this version had written them.

What lies in the log stays as it is. Each step leads from one version to the next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..core import events
from .faults import LogVersion

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.events import Event

__all__ = ["STEPS", "upcaster"]

#: version -> what makes an event of the next version of one of this; there is only one so far
STEPS: dict[int, Callable[[Event], Event]] = {}


def upcaster(version: int) -> Callable[[Event], Event] | None:
    """What makes events of this version of those of another; None where they are the same.

    Raises
    ------
    LogVersion
        When the events are newer than any that is known here, or a step is missing.

    Examples
    --------
    >>> upcaster(1) is None
    True
    >>> upcaster(99)
    Traceback (most recent call last):
    ...
    robotlab_nb.runlog.faults.LogVersion: events of version 99 cannot be read; ...
    """
    newest = events.SCHEMA_VERSION
    if version == newest:
        return None
    steps = [STEPS.get(number) for number in range(version, newest)]
    if version > newest or not all(steps):
        raise LogVersion(
            f"events of version {version} cannot be read; this package knows version {newest}",
            hint="Update robotlab_nb.",
        )

    def upcast(event: Event) -> Event:
        for step in steps:
            if step is not None:
                event = step(event)
        if event.type == "run.started" and "schema_version" in event.data:
            event = replace(event, data={**event.data, "schema_version": newest})
        return event

    return upcast
