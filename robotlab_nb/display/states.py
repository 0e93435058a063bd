"""The icon, word and hue of every state of a run, a task or a call. Knows no run."""

from __future__ import annotations

from typing import NamedTuple

from .escape import one_line

__all__ = ["STATES", "STOPS", "State", "state_of"]


class State(NamedTuple):
    """How a state looks. ``hue`` is empty where nobody needs to look."""

    icon: str
    word: str
    hue: str = ""


#: status -> how it looks
STATES: dict[str, State] = {
    "pending": State("○", "pending"),
    "running": State("◐", "running", "kr"),
    "waiting": State("?", "waiting for you", "kw"),
    "completed": State("✓", "completed"),
    "restored": State("↺", "restored"),
    "failed": State("✕", "failed", "kf"),
    "blocked": State("⊘", "blocked"),
    "skipped": State("↷", "skipped"),
    "halted": State("⊣", "halted"),
    "interrupted": State("■", "interrupted"),
    "abandoned": State("◌", "abandoned"),
}

#: stop reason -> what a person should know of it; a plain stop says nothing
STOPS: dict[str, str] = {
    "length": "cut at the length limit",
    "refused": "refused by the model",
    "content_filter": "stopped by a content filter",
    "tool": "ended at a tool call",
}


def state_of(status: object) -> State:
    """How a status looks; one that this version does not know keeps its word.

    Examples
    --------
    >>> state_of("failed").icon, state_of("resting").word
    ('✕', 'resting')
    """
    found = STATES.get(status) if isinstance(status, str) else None
    return found or State("·", one_line(status, 24))
