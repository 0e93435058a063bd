"""Where the boxes and edges of a graph go: left to right, in numbers. Draws nothing.

Knows positions in a list and pairs of them, no task and no name. Two engines work it out, ``dot``
where it is installed and a library otherwise; a plain arrangement in columns always works. The
same graph always gives the same numbers.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError, near
from .graph_engines import GAP_X, GAP_Y, HEIGHT, WIDTH, by_dot, by_library, dot_is_there

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .graph_engines import Edge, Point, Spot

__all__ = ["HEIGHT", "RENDERERS", "WIDTH", "Layout", "Route", "layout", "phases"]

RENDERERS = ("auto", "builtin", "dot")
#: ``dot`` is another process, and thorough: more than this would hold a notebook up.
_DOT_MOST_BOXES, _DOT_MOST_EDGES = 160, 1200
#: The library's effort grows faster than the graph.
_LIBRARY_MOST = 6000
#: More edges than this enter a box at one point.
_SPREAD = 5


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

    def widened(self, width: float) -> Layout:
        """The same with boxes of another width; the gaps between them stay.

        Parameters
        ----------
        width : float
            Pixels.

        Examples
        --------
        >>> found = layout(2, [(0, 1)]).widened(200)
        >>> found.boxes, found.width
        (((0.0, 0.0), (240.0, 0.0)), 440.0)
        """
        if width == WIDTH:
            return self

        def moved(points: Iterable[Point]) -> tuple[Point, ...]:
            return tuple((_stretched(x, width), y) for x, y in points)

        routes = tuple(Route(r.source, r.target, moved(r.points)) for r in self.routes)
        whole = _stretched(self.width, width)
        return Layout(moved(self.boxes), routes, whole, self.height, self.engine)


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
    return _layout(max(count, 0), kept, renderer != "builtin" and dot_is_there(), height)


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
            return _placed(count, forward, *by_dot(count, forward, height), height, "dot")
        except Exception:
            pass  # whatever it was, the library needs no other program
    if len(forward) <= _LIBRARY_MOST:
        try:
            return _placed(count, forward, *by_library(count, forward, height), height, "library")
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


def _stretched(x: float, width: float) -> float:
    """Where an x is when all columns have another width."""
    column, inside = divmod(x, WIDTH + GAP_X)
    within = inside * width / WIDTH if inside <= WIDTH else inside - WIDTH + width
    return round(column * (width + GAP_X) + within, 1)


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
    ways = {edge: [middles[edge[0]], *passing.get(edge, ()), middles[edge[1]]] for edge in edges}
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


def _moved(boxes: Sequence[Point], routes: Iterable[Route], height: float, engine: str) -> Layout:
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
