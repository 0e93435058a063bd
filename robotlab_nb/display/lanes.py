"""Which shape and colour a robot has in a picture. Knows names and order, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Lane", "lane", "lanes"]

_SHAPES = "●▲◆▼✦✚◗▮"


class Lane(NamedTuple):
    """A robot's mark: a shape, and the name of its hue in the stylesheet."""

    shape: str
    hue: str


def lane(number: int) -> Lane:
    """The mark of the robot that started as the n-th.

    Beyond eight the shapes repeat with shifted colours, so that 64 robots differ.

    Parameters
    ----------
    number : int
        From 0.

    Examples
    --------
    >>> lane(0), lane(9)
    (Lane(shape='●', hue='k0'), Lane(shape='▲', hue='k2'))
    """
    size = len(_SHAPES)
    return Lane(_SHAPES[number % size], f"k{(number + number // size) % size}")


def lanes(names: Iterable[str]) -> dict[str, Lane]:
    """A mark for each name, in order of first appearance.

    Examples
    --------
    >>> [mark.shape for mark in lanes(["a", "b", "a"]).values()]
    ['●', '▲']
    """
    found: dict[str, Lane] = {}
    for name in names:
        if name not in found:
            found[name] = lane(len(found))
    return found
