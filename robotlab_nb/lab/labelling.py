"""Short names for what stands on an axis: each its own, however alike the texts are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["short", "unique"]

#: characters of a label that is made of a text
MOST = 48


def short(text: Any, most: int = MOST) -> str:
    r"""The beginning of a text, on one line; secrets are masked before anything is cut.

    Examples
    --------
    >>> short("one\n two   three", 9)
    'one two…'
    """
    words = " ".join(redact(str(text))[: most * 8].split())
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def unique(labels: Iterable[str]) -> list[str]:
    """Labels of which none is there twice.

    Examples
    --------
    >>> unique(["rain", "snow", "rain", ""])
    ['rain', 'snow', 'rain (2)', '(empty)']
    """
    made: list[str] = []
    taken: set[str] = set()
    for label in labels:
        first = redact(label) or "(empty)"
        name, number = first, 2
        while name in taken:
            name, number = f"{first} ({number})", number + 1
        taken.add(name)
        made.append(name)
    return made
