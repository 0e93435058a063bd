"""Events in which texts were left out, made readable again: a word stands where a text was.

A log may keep the structure of a run and drop what was said: ``{"omitted": 120}`` then stands in
the place of a text of that many characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .amounts import count

if TYPE_CHECKING:
    from ..core.events import Event

__all__ = ["left_out", "readable"]


def readable(event: Event) -> Event:
    r"""The event itself; one with words in the places of texts, where some were left out.

    Parameters
    ----------
    event : Event

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> scope = Scope("r", "r", None, 0, "robot", ("bot",), "bot")
    >>> event = Event("run.started", scope, 0, 0.0, {"name": "bot", "input": {"omitted": 12}})
    >>> dict(readable(event).data)
    {'name': 'bot', 'input': '[left out: 12\xa0characters]'}
    """
    data = _told(event.data)
    return event if data is event.data else replace(event, data=data)


def left_out(text: str) -> bool:
    """Whether a text is only the word for one that was left out."""
    return text.startswith("[left out: ") and text.endswith("]")


def _told(value: Any) -> Any:
    """The value, or a copy of it where something inside changes."""
    if isinstance(value, Mapping):
        if len(value) == 1 and isinstance(value.get("omitted"), int):
            return f"[left out: {count(value['omitted'], 'character')}]"
        told = {name: _told(inner) for name, inner in value.items()}
        return told if any(told[name] is not inner for name, inner in value.items()) else value
    if isinstance(value, (list, tuple)):
        made = [_told(inner) for inner in value]
        return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
    return value
