"""Where the boxes and edges of a graph go: left to right, in numbers. Draws nothing.

Knows positions in a list and pairs of them, no task and no name. Two engines work it out, ``dot``
where it is installed and a library otherwise; a plain arrangement in columns always works. The
same graph always gives the same numbers.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError, near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["GAP_X", "GAP_Y", "HEIGHT", "RENDERERS", "WIDTH", "Layout", "Route", "layout", "phases"]

#: Size of a box, and the gaps between boxes: pixels.
WIDTH, HEIGHT, GAP_X, GAP_Y = 148, 60, 40, 12
RENDERERS = ("auto", "builtin", "dot")
#: ``dot`` is another process, and thorough: more than this would hold a notebook up.
_DOT_MOST_BOXES, _DOT_MOST_EDGES = 160, 1200
#: The library's effort grows faster than the graph.
_LIBRARY_MOST = 6000
#: More edges than this enter a box at one point.
_SPREAD = 5

Point = tuple[float, float]
Edge = tuple[int, int]
#: A column, and how high in it the middle of something is.
Spot = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an edge.

    Parameters
    ----------
    source, target : int
        Positions of its boxes.
    points : tuple of (float, float)
        A start, then for each cubic curve two control points and its end; pixels. The last is
        the middle of where an arrowhead touches the target.
    """

    source: int
    target: int
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Coordinates of a graph, in pixels from the upper left corner.

    Parameters
    ----------
    boxes : tuple of (float, float)
        Upper left corner of each box, in the order given.
    routes : tuple of Route
        In the order of their source, then their target.
    width, height : float
        Of everything.
    engine : {"dot", "library", "columns"}
        What worked it out.
    """

    boxes: tuple[Point, ...]
    routes: tuple[Route, ...]
    width: float
    height: float
    engine: str


def layout(
    count: int, edges: Iterable[Edge], *, renderer: str = "auto", height: float = HEIGHT
) -> Layout:
    """Place boxes in columns from left to right, each right of those it depends on.

    Parameters
    ----------
    count : int
        How many boxes.
    edges : iterable of (int, int)
        From, to. Edges that lead nowhere, to themselves or back are left out.
    renderer : {"auto", "builtin", "dot"}, optional
        ``auto`` takes ``dot`` where it is installed. A renderer that fails gives way to the next.
    height : float, optional
        Of a box.

    Returns
    -------
    Layout

    Raises
    ------
    ConfigurationError
        For an unknown renderer; nothing else.

    Examples
    --------
    >>> found = layout(3, [(0, 1), (0, 2)], renderer="builtin")
    >>> found.boxes, found.width, found.height
    (((0.0, 36.0), (188.0, 0.0), (188.0, 72.0)), 336.0, 132.0)
    """
    if renderer not in RENDERERS:
        hint = near(str(renderer), RENDERERS)
        raise ConfigurationError(f"there is no renderer {renderer!r} for graphs", hint=hint)
    kept = tuple(sorted(set(edges)))
    return _layout(max(count, 0), kept, renderer != "builtin" and _dot_is_there(), height)


def phases(count: int, edges: Iterable[Edge], most: int) -> list[tuple[int, int, list[int]]]:
    """Boxes by the longest way to them; neighbouring phases are joined until there are few.

    Parameters
    ----------
    count : int
    edges : iterable of (int, int)
    most : int
        How many groups at most.

    Returns
    -------
    list of (int, int, list of int)
        The first phase and the last one of a group, and its boxes.

    Examples
    --------
    >>> phases(4, [(0, 1), (1, 2)], 9)
    [(0, 0, [0, 3]), (1, 1, [1]), (2, 2, [2])]
    >>> phases(4, [(0, 1), (1, 2)], 2)
    [(0, 1, [0, 3, 1]), (2, 2, [2])]
    """
    _, ranks = _forward(count, edges)
    found: dict[int, list[int]] = defaultdict(list)
    for box, rank in enumerate(ranks):
        found[rank].append(box)
    together = -(-len(found) // most)
    groups = []
    for first in range(0, len(found), together or 1):
        last = min(first + together, len(found)) - 1
        boxes = [box for rank in range(first, last + 1) for box in found[rank]]
        groups.append((first, last, boxes))
    return groups


@lru_cache(maxsize=64)
def _layout(count: int, edges: tuple[Edge, ...], dot: bool, height: float) -> Layout:
    forward, ranks = _forward(count, edges)
    if dot and count <= _DOT_MOST_BOXES and len(forward) <= _DOT_MOST_EDGES:
        try:
            return _by_dot(count, forward, height)
        except Exception:
            pass  # whatever it was, the library needs no other program
    if len(forward) <= _LIBRARY_MOST:
        try:
            return _by_library(count, forward, height)
        except Exception:
            pass
    columns: dict[int, list[int]] = defaultdict(list)
    for box, rank in enumerate(ranks):
        columns[rank].append(box)
    pitch = height + GAP_Y
    middles = {
        box: (rank, (place - (len(boxes) - 1) / 2) * pitch)
        for rank, boxes in columns.items()
        for place, box in enumerate(boxes)
    }
    return _placed(count, forward, middles, {}, height, "columns")


def _forward(count: int, edges: Iterable[Edge]) -> tuple[list[Edge], list[int]]:
    """The edges that lead forward, and the length of the longest way to each box."""
    after: dict[int, list[int]] = defaultdict(list)
    waiting = [0] * count
    for source, target in edges:
        if source != target and 0 <= source < count and 0 <= target < count:
            after[source].append(target)
            waiting[target] += 1
    ranks, done = [0] * count, [False] * count
    ready = [box for box in range(count) if not waiting[box]]
    kept: list[Edge] = []
    first = 0
    for _ in range(count):
        if not ready:  # all that is left is on a circle or behind one: open it at the first
            first = next(box for box in range(first, count) if not done[box])
            ready.append(first)
        box = ready.pop()
        done[box] = True
        for target in after[box]:
            if done[target]:
                continue
            kept.append((box, target))
            ranks[target] = max(ranks[target], ranks[box] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return sorted(kept), ranks


# -- the engines ---------------------------------------------------------------------------


def _by_library(count: int, edges: Sequence[Edge], height: float) -> Layout:
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
        found = sorted((sorted(spots), sorted(links or ())) for spots, _, _, links in parts)
    middles: dict[int, Spot] = {}
    passing: dict[Edge, list[Spot]] = {}
    below = 0.0
    for spots, links in found:
        top = max(y for _, (_, y) in spots)
        levels = {point: round((top - y) / pitch) for point, (_, y) in spots}
        part = _Part(len(linked), levels, {point: x for point, (x, _) in spots}, links, height)
        below = part.put(middles, passing, below, linked)
    _alone(count, middles, below, height)
    return _placed(count, edges, middles, passing, height, "library")


def _by_dot(count: int, edges: Sequence[Edge], height: float) -> Layout:
    from graphviz import Source

    head = (
        f"graph [rankdir=LR, nodesep={GAP_Y / 72:.4f}, ranksep={GAP_X / 72:.4f}, nslimit=4, "
        f"mclimit=1]; node [shape=box, fixedsize=true, width={WIDTH / 72:.4f}, "
        f'height={height / 72:.4f}, label=""]; edge [arrowhead=none, tailport=e, headport=w];'
    )
    lines = [str(box) for box in range(count)] + [f"{a}->{b}" for a, b in edges]
    source = f"digraph {{ {head} {';'.join(lines)} }}"
    told = str(Source(source).pipe(format="plain", encoding="utf-8", quiet=True))
    rows = [line.split() for line in told.splitlines()]
    spots = {
        int(row[1]): (float(row[2]) * 72, -float(row[3]) * 72) for row in rows if row[0] == "node"
    }
    columns = sorted({round(x) for x, _ in spots.values()})
    levels = {box: columns.index(round(x)) for box, (x, _) in spots.items()}
    middle = {box: y for box, (_, y) in spots.items()}
    links: list[Edge] = []
    for row in rows:
        if row[0] != "edge":
            continue
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
    middles: dict[int, Spot] = {}
    passing: dict[Edge, list[Spot]] = {}
    _Part(count, levels, middle, links, height).put(middles, passing, 0.0, range(count))
    return _placed(count, edges, middles, passing, height, "dot")


def _dot_is_there() -> bool:
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


def _alone(
    count: int, middles: dict[int, Spot], below: float, height: float
) -> None:
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
        pitch, near_edge = height + GAP_Y, 8
        near_box = height / 2 + 8
        for points in columns.values():
            points.sort(key=lambda point: (self.middle[point], point))
            gaps = [
                pitch if a < boxes and b < boxes else near_edge if a >= boxes <= b else near_box
                for a, b in pairwise(points)
            ]
            apart = _apart([self.middle[point] for point in points], gaps)
            self.middle.update(zip(points, apart, strict=True))

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


# -- from places to a picture's numbers ----------------------------------------------------


def _placed(
    count: int,
    edges: Sequence[Edge],
    middles: Mapping[int, Spot],
    passing: Mapping[Edge, Sequence[Spot]],
    height: float,
    engine: str,
) -> Layout:
    """Boxes and routes from columns and heights."""
    pitch = WIDTH + GAP_X
    boxes = [
        (float(middles[box][0] * pitch), round(middles[box][1] - height / 2, 1))
        for box in range(count)
    ]
    ways = {
        edge: [middles[edge[0]], *passing.get(edge, ()), middles[edge[1]]] for edge in edges
    }
    entries = _entries(ways)
    routes = []
    for (source, target), way in ways.items():
        points: list[Point] = [(way[0][0] * pitch + WIDTH, round(way[0][1], 1))]
        for column, middle in way[1:-1]:
            _bend(points, (column * pitch, round(middle, 1)))
            _straight(points, column * pitch + WIDTH)
        _bend(points, (way[-1][0] * pitch, round(entries[source, target], 1)))
        routes.append(Route(source, target, tuple(points)))
    return _moved(boxes, routes, height, engine)


def _entries(ways: Mapping[Edge, Sequence[Spot]]) -> dict[Edge, float]:
    """How high each edge enters its target: spread, in the order in which they come."""
    coming: dict[int, list[tuple[float, Edge]]] = defaultdict(list)
    for edge, way in ways.items():
        coming[edge[1]].append((way[-2][1], edge))
    found: dict[Edge, float] = {}
    for arriving in coming.values():
        arriving.sort()
        step = 10.0 if len(arriving) <= _SPREAD else 0.0
        for number, (_, edge) in enumerate(arriving):
            found[edge] = ways[edge][-1][1] + (number - (len(arriving) - 1) / 2) * step
    return found


def _bend(points: list[Point], end: Point) -> None:
    x, y = points[-1]
    half = (x + end[0]) / 2
    points += [(half, y), (half, end[1]), end]


def _straight(points: list[Point], x: float) -> None:
    start, y = points[-1]
    third = (x - start) / 3
    points += [(round(start + third, 1), y), (round(x - third, 1), y), (x, y)]


def _moved(
    boxes: Sequence[Point], routes: Iterable[Route], height: float, engine: str
) -> Layout:
    """All moved so that it begins at 0, 0; an edge may pass above all boxes."""
    spots = [*boxes, *(point for route in routes for point in route.points)]
    left, top = min((x for x, _ in spots), default=0.0), min((y for _, y in spots), default=0.0)

    def moved(points: Iterable[Point]) -> tuple[Point, ...]:
        return tuple((round(x - left, 1), round(y - top, 1)) for x, y in points)

    corners = [(x + WIDTH, y + height) for x, y in boxes]
    right, bottom = (max((spot[n] for spot in [*corners, *spots]), default=0.0) for n in (0, 1))
    ways = (Route(r.source, r.target, moved(r.points)) for r in routes)
    ordered = tuple(sorted(ways, key=lambda r: (r.source, r.target)))
    return Layout(moved(boxes), ordered, round(right - left, 1), round(bottom - top, 1), engine)
