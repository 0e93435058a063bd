"""Noticing that a robot goes round in circles: the same tool calls again and again.

It compares a tool's name and its arguments, and knows nothing of results, events or models.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import Any

from ..core.errors import ConfigurationError
from ..core.keys import digest

__all__ = ["DoomLoop", "Loop"]

#: calls in the longest cycle that is looked for
LONGEST = 10


@dataclass(frozen=True, slots=True)
class Loop:
    """A robot going round in circles.

    Attributes
    ----------
    kind : {"repeat", "cycle"}
        One call repeated, or several in turn.
    length : int
        Calls in one round.
    count : int
        Rounds.
    warning : str
        What the model is told.
    """

    kind: str
    length: int
    count: int
    warning: str


class DoomLoop:
    """Looks at the tool calls of one robot's run, in order.

    Parameters
    ----------
    threshold : int or None
        How often the same call in a row, or the same cycle of 2 to 10 calls, makes a loop; None
        and 0 turn it off.

    Raises
    ------
    ConfigurationError
        For 1: then each call would be a loop.

    Examples
    --------
    >>> loops = DoomLoop(3)
    >>> for page in (1, 2, 2, 2):
    ...     found = loops.seen("read", {"page": page})
    >>> found.kind, found.length, found.count
    ('repeat', 1, 3)
    """

    __slots__ = ("_equal", "_recent", "threshold")

    def __init__(self, threshold: int | None) -> None:
        if threshold is not None and (threshold < 0 or threshold == 1):
            raise ConfigurationError(
                f"doom_loop_threshold is at least 2, not {threshold!r}",
                hint="None turns the detector off.",
            )
        self.threshold = threshold or 0
        #: the last calls: tool and a digest of its arguments
        self._recent: deque[tuple[str, str]] = deque(maxlen=LONGEST)
        #: for each length of a cycle, how many calls in a row equal the one a cycle before
        self._equal = [0] * (LONGEST + 1)

    def seen(self, tool: str, arguments: Any) -> Loop | None:
        """Take a call in.

        Parameters
        ----------
        tool : str
        arguments : str, mapping or None
            As the model wrote them; JSON that means the same is the same.

        Returns
        -------
        Loop or None
            The loop that this call completes; then counting starts anew.
        """
        if not self.threshold:
            return None
        call = (tool, _key(arguments))
        recent, equal = self._recent, self._equal
        for length in range(1, len(recent) + 1):
            equal[length] = equal[length] + 1 if recent[-length] == call else 0
        recent.append(call)
        for length in range(1, len(recent) + 1):
            if equal[length] >= length * (self.threshold - 1):
                found = self._loop(length)
                recent.clear()
                self._equal = [0] * (LONGEST + 1)
                return found
        return None

    def _loop(self, length: int) -> Loop:
        count = self.threshold
        tools = [tool for tool, _ in list(self._recent)[-length:]]
        if length == 1:
            return Loop("repeat", 1, count, _REPEAT.format(tool=tools[0], count=count))
        named = ", ".join(tools)
        return Loop("cycle", length, count, _CYCLE.format(tools=named, length=length, count=count))


_REPEAT = (
    "Warning: you have called {tool} {count} times in a row with the same arguments. Calling it "
    "like this once more will not help. Use what you have learned, try another way, or say what "
    "keeps you from going on."
)
_CYCLE = (
    "Warning: you have gone through the same {length} tool calls {count} times with the same "
    "arguments: {tools}. Going through them once more will not help. Use what you have learned, "
    "try another way, or say what keeps you from going on."
)


def _key(arguments: Any) -> str:
    """One text for arguments that mean the same."""
    found = arguments
    if isinstance(arguments, str):
        try:
            found = json.loads(arguments) if arguments.strip() else None
        except (ValueError, RecursionError):
            return f"text {digest(arguments)}"
    try:
        return digest(found or {})
    except (TypeError, ValueError, RecursionError):
        return repr(found)
