"""The programs that place the boxes of a graph, and putting straight what they say.

Each gives, for a graph of numbered boxes, a column and a height for every box, and for edges
between columns that are far apart the heights at which they pass those between.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["GAP_X", "GAP_Y", "HEIGHT", "WIDTH", "by_dot", "by_library", "dot_is_there"]

#: Size of a box, and the gaps between boxes: pixels.
WIDTH, HEIGHT, GAP_X, GAP_Y = 148, 60, 40, 12

#: A part may be so many times as high as its fullest column, and is never shrunk to less than
#: such a share of its height: beyond, edges would bend more than the room is worth.
_HIGH, _SHRUNK = 1.4, 0.4

Point = tuple[float, float]
Edge = tuple[int, int]
#: A column, and how high in it the middle of something is.
Spot = tuple[int, float]
#: Where each box is, and where each edge passes.
Places = tuple[dict[int, Spot], dict[Edge, list[Spot]]]


def by_library(count: int, edges: Sequence[Edge], height: float) -> Places:
    """Places from the library. Takes edges that lead forward, and a box's height in pixels."""
    linked = sorted({box for edge in edges for box in edge})
    place = {box: number for number, box in enumerate(linked)}
    pitch = height + GAP_Y
    found: list[tuple[list[tuple[int, Point]], list[Edge]]] = []
    if edges:
        from fast_sugiyama import from_edges

        parts = from_edges(
            [(place[a], place[b]) for a, b in edges],
            vertex_spacing=pitch,
            dummy_vertices=True,
            check_layout=False,
        )
        # Neither the parts nor what is in them comes in a steady order.
        found = sorted((sorted(spots), sorted(links)) for spots, _, _, links in cast("Any", parts))
    middles: dict[int, Spot] = {}
    passing: dict[Edge, list[Spot]] = {}
    below = 0.0
    for spots, links in found:
        top = max(y for _, (_, y) in spots)
        levels = {point: round((top - y) / pitch) for point, (_, y) in spots}
        part = _Part(len(linked), levels, {point: x for point, (x, _) in spots}, links, height)
        below = part.put(middles, passing, below, linked)
    _alone(count, middles, below, height)
    return middles, passing


def by_dot(count: int, edges: Sequence[Edge], height: float) -> Places:
    """Places from ``dot``. Takes edges that lead forward, and a box's height in pixels."""
    middles: dict[int, Spot] = {}
    passing: dict[Edge, list[Spot]] = {}
    if not edges:
        _alone(count, middles, 0.0, height)
        return middles, passing
    linked = sorted({box for edge in edges for box in edge})
    place = {box: number for number, box in enumerate(linked)}
    rows = _asked([(place[a], place[b]) for a, b in edges], len(linked), height)
    spots = {
        int(row[1]): (float(row[2]) * 72, -float(row[3]) * 72) for row in rows if row[0] == "node"
    }
    columns = sorted({round(x) for x, _ in spots.values()})
    levels = {box: columns.index(round(x)) for box, (x, _) in spots.items()}
    middle = {box: y for box, (_, y) in spots.items()}
    ways = [row for row in rows if row[0] == "edge"]
    if len(spots) != len(linked) or len(ways) != len(edges):
        raise ValueError("dot left something out")
    links: list[Edge] = []
    for row in ways:
        numbers = [float(value) * 72 for value in row[4 : 4 + 2 * int(row[3])]]
        curve = list(zip(numbers[::2], (-y for y in numbers[1::2]), strict=True))
        before, target = int(row[1]), int(row[2])
        for column in range(levels[before] + 1, levels[target]):
            point = len(levels)
            levels[point] = column
            middle[point] = _height_at(curve, columns[column])
            links.append((before, point))
            before = point
        links.append((before, target))
    part = _Part(len(linked), levels, middle, links, height)
    below = part.put(middles, passing, 0.0, linked)
    _alone(count, middles, below, height)
    return middles, passing


def _asked(edges: Sequence[Edge], count: int, height: float) -> list[list[str]]:
    """What ``dot`` says of a graph: lines of words."""
    from graphviz import Source

    head = (
        f"graph [rankdir=LR, nodesep={GAP_Y / 72:.4f}, ranksep={GAP_X / 72:.4f}, nslimit=4, "
        f"mclimit=1]; node [shape=box, fixedsize=true, width={WIDTH / 72:.4f}, "
        f'height={height / 72:.4f}, label=""]; edge [arrowhead=none, tailport=e, headport=w];'
    )
    lines = [str(box) for box in range(count)] + [f"{a}->{b}" for a, b in edges]
    source = f"digraph {{ {head} {';'.join(lines)} }}"
    told = str(Source(source).pipe(format="plain", encoding="utf-8", quiet=True))
    return [line.split() for line in told.splitlines()]


def dot_is_there() -> bool:
    """Whether the program is on the path."""
    import shutil

    return shutil.which("dot") is not None


def _height_at(curve: Sequence[Point], x: float) -> float:
    """How high a chain of cubic curves is where it first comes to an x."""
    for at in range(0, len(curve) - 3, 3):
        piece = curve[at : at + 4]
        if piece[3][0] < x:
            continue
        low, high = 0.0, 1.0
        for _ in range(20):
            t = (low + high) / 2
            low, high = (t, high) if _on(piece, t)[0] < x else (low, t)
        return _on(piece, low)[1]
    return curve[-1][1]


def _on(piece: Sequence[Point], t: float) -> Point:
    shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x = sum(share * point[0] for share, point in zip(shares, piece, strict=True))
    return x, sum(share * point[1] for share, point in zip(shares, piece, strict=True))


def _alone(count: int, middles: dict[int, Spot], below: float, height: float) -> None:
    """Boxes without edges, in rows under the rest."""
    alone = [box for box in range(count) if box not in middles]
    columns = max((column + 1 for column, _ in middles.values()), default=0)
    columns = max(columns, min(5, round(len(alone) ** 0.5)), 1)
    for number, box in enumerate(alone):
        row, column = divmod(number, columns)
        middles[box] = (column, below + row * (height + GAP_Y) + height / 2)


class _Part:
    """A part of a graph as an engine placed it, put straight.

    Points below `boxes` are boxes, the others are where an edge passes a column.
    """

    def __init__(
        self,
        boxes: int,
        levels: Mapping[int, int],
        middle: dict[int, float],
        links: Iterable[Edge],
        height: float,
    ) -> None:
        self.boxes = boxes
        self.level = levels
        self.middle = middle
        self.height = height
        self.links = [(a, b) if levels[a] < levels[b] else (b, a) for a, b in links]
        columns: dict[int, list[int]] = defaultdict(list)
        for point, level in levels.items():
            columns[level].append(point)
        self._twins()
        if self._falling(columns):
            self.middle = {point: -where for point, where in self.middle.items()}
        needs = {level: self._gaps(points) for level, points in columns.items()}
        self._drawn_in(max(sum(gaps) for gaps in needs.values()))
        for level, points in columns.items():
            apart = _apart([self.middle[point] for point in points], needs[level])
            self.middle.update(zip(points, apart, strict=True))

    def _gaps(self, points: list[int]) -> list[float]:
        """Put the points of a column in order; the least distances from each to the next."""
        points.sort(key=lambda point: (self.middle[point], point))
        boxes, pitch = self.boxes, self.height + GAP_Y
        near_box, near_edge = self.height / 2 + 8, 8
        return [
            pitch if a < boxes and b < boxes else near_edge if a >= boxes <= b else near_box
            for a, b in pairwise(points)
        ]

    def _drawn_in(self, need: float) -> None:
        """Draw a part together that is far higher than its fullest column.

        All heights shrink by one factor, so that what was level stays level.
        """
        low, high = min(self.middle.values()), max(self.middle.values())
        if high - low > _HIGH * need:
            factor = max(_HIGH * need / (high - low), _SHRUNK)
            self.middle = {point: where * factor for point, where in self.middle.items()}

    def put(
        self,
        middles: dict[int, Spot],
        passing: dict[Edge, list[Spot]],
        below: float,
        names: Sequence[int],
    ) -> float:
        """Add the part to others, below them; gives where the next one may begin."""
        top = min(self.middle.values()) - self.height / 2 - below
        spots = {p: (self.level[p], middle - top) for p, middle in self.middle.items()}
        middles.update((names[p], spot) for p, spot in spots.items() if p < self.boxes)
        for (a, b), through in self._passing().items():
            passing[names[a], names[b]] = [spots[point] for point in through]
        return max(middle for _, middle in spots.values()) + self.height / 2 + GAP_Y

    def _twins(self) -> None:
        """Boxes with the same neighbours are interchangeable: they keep the order given."""
        around: dict[int, list[int]] = defaultdict(list)
        for a, b in self.links:
            around[a].append(b)
            around[b].append(a)
        alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for box in sorted(point for point in self.level if point < self.boxes):
            alike[self.level[box], *sorted(around[box])].append(box)
        for boxes in alike.values():
            spots = sorted(self.middle[box] for box in boxes)
            self.middle.update(zip(boxes, spots, strict=True))

    def _falling(self, columns: Mapping[int, list[int]]) -> bool:
        """Whether more neighbours are out of the order given than in it."""
        balance = 0
        for points in columns.values():
            boxes = sorted((point for point in points if point < self.boxes), key=self.middle.get)  # type: ignore[arg-type]
            balance += sum(1 if a < b else -1 for a, b in pairwise(boxes))
        return balance < 0

    def _passing(self) -> dict[Edge, list[int]]:
        """For each edge the points that it passes on its way."""
        onward = {a: b for a, b in self.links if a >= self.boxes}
        found: dict[Edge, list[int]] = {}
        for source, target in self.links:
            through: list[int] = []
            if source >= self.boxes:
                continue
            while target >= self.boxes:
                through.append(target)
                target = onward[target]
            found[source, target] = through
        return found


def _apart(middles: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Points that keep their gaps and move as little as they can, in the sense of least squares."""
    shift = [0.0]
    for gap in gaps:
        shift.append(shift[-1] + gap)
    runs: list[tuple[float, int]] = []  # of points that touch: their sum, how many
    for middle, moved in zip(middles, shift, strict=True):
        total, size = middle - moved, 1
        while runs and runs[-1][0] / runs[-1][1] > total / size:
            before = runs.pop()
            total, size = total + before[0], size + before[1]
        runs.append((total, size))
    spread = [total / size for total, size in runs for _ in range(size)]
    return [where + moved for where, moved in zip(spread, shift, strict=True)]
