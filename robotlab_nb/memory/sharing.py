"""The memory that a robot, a network, one of their runs or a task shares.

A Memory is used as it is. A mapping is for one run or one task alone: its values are there in a
copy, so that nothing of it stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError

if TYPE_CHECKING:
    from .reactive import Memory

__all__ = ["checked_memory", "memory_of"]


def checked_memory(given: Any, who: str) -> Any:
    """What was given as ``memory=``.

    Raises
    ------
    ConfigurationError
        When it is neither a Memory, nor a mapping, nor None.
    """
    from .reactive import Memory

    if given is None or isinstance(given, (Memory, Mapping)):
        return given
    raise ConfigurationError(
        f"{who}: memory={given!r:.60} is no memory",
        hint="Pass an rl.Memory, or a dict of values for this alone.",
    )


def memory_of(given: Any, around: Any, who: str) -> Memory:
    """The memory that something works with.

    Parameters
    ----------
    given : Memory, mapping or None
        What was given for it.
    around : Memory or None
        That of what is around it.
    who : str
        What it is for, for errors.

    Raises
    ------
    ConfigurationError
    """
    from .reactive import Memory

    given = checked_memory(given, who)
    if isinstance(given, Mapping):
        copy = Memory() if around is None else around.clone()
        for key, value in given.items():
            copy.set(key, value)
        return copy
    found: Memory = around if given is None else given
    return found
