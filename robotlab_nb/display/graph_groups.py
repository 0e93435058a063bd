"""The frames around groups of tasks in a network's picture.

Whatever places the boxes knows no groups: a frame is drawn where the members stand together, one
for each column where they do only there, and a group that cannot be framed is told in words.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from .graph_engines import GAP_X, HEIGHT
from .svg_parts import number, shortened, text, wide

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .graph_engines import Point
    from .network_facts import TaskFacts

__all__ = ["Frame", "drawn", "framed", "members_of", "told"]

#: Around the boxes of a group, in pixels: at the sides, and above and below.
_SIDE, _ABOVE = 8, 6
_GROUP = "group "
#: Groups told in words, and members named of each.
_MOST_TOLD, _NAMED = 4, 4


class Frame(NamedTuple):
    """A frame: its upper left corner, its size, and what it says; pixels."""

    x: float
    y: float
    width: float
    height: float
    label: str

    def meets(self, other: Frame) -> bool:
        """Whether two frames have room in common."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


def members_of(tasks: Sequence[TaskFacts]) -> dict[str, list[int]]:
    """The places of each group's tasks, by what is said of the group.

    Parameters
    ----------
    tasks : sequence of TaskFacts

    Examples
    --------
    >>> from robotlab_nb.display.network_facts import TaskFacts
    >>> slow = ("for each item", "group slow, at most 2")
    >>> members_of([TaskFacts("a", traits=slow), TaskFacts("b"), TaskFacts("c", traits=slow)])
    {'slow, at most 2': [0, 2]}
    """
    found: dict[str, list[int]] = defaultdict(list)
    for place, task in enumerate(tasks):
        for trait in task.traits:
            if trait.startswith(_GROUP):
                found[trait.removeprefix(_GROUP)].append(place)
    return dict(found)


def framed(
    groups: Mapping[str, Sequence[int]], boxes: Sequence[Point], width: float
) -> tuple[list[Frame], list[str]]:
    """Frames for groups, none of which meets another; and the groups that have none.

    Parameters
    ----------
    groups : mapping of str to sequence of int
        Places of boxes, by label.
    boxes : sequence of (float, float)
        Upper left corners of all boxes.
    width : float
        Of a box.

    Returns
    -------
    (list of Frame, list of str)

    Examples
    --------
    >>> boxes = [(0.0, 0.0), (188.0, 0.0), (188.0, 72.0), (188.0, 144.0)]
    >>> frames, left = framed({"slow": [1, 2], "far": [0, 3]}, boxes, 148)
    >>> [tuple(frame) for frame in frames][0], left
    ((180.0, -6.0, 164.0, 144.0, 'slow'), [])
    """
    found: list[Frame] = []
    left: list[str] = []
    for label, places in groups.items():
        new = [_around(part, boxes, width, label) for part in _together(places, boxes, width)]
        same = [old for old in found if any(old[:4] == each[:4] for each in new)]
        if len(same) == len(new):  # two groups of the same tasks: one frame says both
            for old in same:
                found[found.index(old)] = old._replace(label=f"{old.label} · {label}")
        elif any(each.meets(old) for each in new for old in found):
            left.append(label)
        else:
            found += new
    return found, left


def drawn(frames: Iterable[Frame], pad: float) -> tuple[str, str]:
    """The frames, which belong below all else, and their labels, which belong above the edges.

    Parameters
    ----------
    frames : iterable of Frame
    pad : float
        Around the picture.
    """
    below, above = [], []
    for frame in frames:
        x, y = frame.x + pad, frame.y + pad
        size = f'width="{number(frame.width)}" height="{number(frame.height)}" rx="6"'
        below.append(f'<rect class="g d" x="{number(x)}" y="{number(y)}" {size}/>')
        label = shortened(frame.label, frame.width - 24)
        gap = f'x="{number(x + 8)}" y="{number(y - 6)}" width="{number(wide(label) + 6)}"'
        above.append(f'<rect class="p" {gap} height="12"/>{text(x + 11, y + 4, label)}')
    return "".join(below), "".join(above)


def told(
    labels: Sequence[str], groups: Mapping[str, Sequence[int]], tasks: Sequence[TaskFacts]
) -> list[str]:
    """Groups without a frame, in words: a line for each.

    Parameters
    ----------
    labels : sequence of str
    groups : mapping of str to sequence of int
    tasks : sequence of TaskFacts
    """
    lines = []
    for label in labels[:_MOST_TOLD]:
        names = [tasks[place].name for place in groups[label]]
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        lines.append(f"{_GROUP}{label}: {', '.join(names[:_NAMED])}{more}")
    if len(labels) > _MOST_TOLD:
        lines.append(f"and {len(labels) - _MOST_TOLD:,} more groups")
    return lines


def _around(places: Sequence[int], boxes: Sequence[Point], width: float, label: str = "") -> Frame:
    left, top = (min(boxes[place][n] for place in places) - m for n, m in ((0, _SIDE), (1, _ABOVE)))
    right = max(boxes[place][0] for place in places) + width + _SIDE
    bottom = max(boxes[place][1] for place in places) + HEIGHT + _ABOVE
    return Frame(left, top, round(right - left, 1), round(bottom - top, 1), label)


def _together(places: Sequence[int], boxes: Sequence[Point], width: float) -> list[list[int]]:
    """Members that a frame can hold without holding others: all, or runs within a column."""
    whole = _around(places, boxes, width)
    inside = [
        place for place, (x, y) in enumerate(boxes) if whole.meets(Frame(x, y, width, HEIGHT, ""))
    ]
    if len(inside) == len(places):
        return [list(places)]
    wanted = set(places)
    columns: dict[int, list[int]] = defaultdict(list)
    for place, (x, _) in enumerate(boxes):
        columns[round(x / (width + GAP_X))].append(place)
    runs: list[list[int]] = []
    for column in sorted(columns):
        before = False
        for place in sorted(columns[column], key=lambda place: boxes[place][1]):
            if place in wanted and before:
                runs[-1].append(place)
            elif place in wanted:
                runs.append([place])
            before = place in wanted
    return runs
