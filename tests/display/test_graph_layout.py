"""Boxes never touch, edges lead to the right and around boxes, whatever places them."""

from __future__ import annotations

import random
import shutil
import stat
import sys
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.display import graph_layout
from robotlab_nb.display.graph_engines import GAP_X, GAP_Y
from robotlab_nb.display.graph_layout import HEIGHT, WIDTH, Layout, layout, phases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Edge = tuple[int, int]
RENDERERS = ["builtin", "dot", "columns"]


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Layouts are kept; a test wants its own."""
    graph_layout._layout.cache_clear()
    yield
    graph_layout._layout.cache_clear()


@pytest.fixture(params=RENDERERS)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each thing that can place boxes, where it is there."""
    if request.param == "dot" and shutil.which("dot") is None:
        pytest.skip("dot is not installed")
    if request.param == "columns":
        monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
        monkeypatch.setattr(graph_layout, "dot_is_there", lambda: False)
        return "auto"
    return str(request.param)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    count = draw(st.integers(1, 24))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    pairs = draw(st.lists(pair, max_size=2 * count))
    return count, [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]


def check_places(placed: Layout, count: int, edges: list[Edge]) -> None:
    assert len(placed.boxes) == count
    assert [(r.source, r.target) for r in placed.routes] == sorted(set(edges))
    by_column: dict[float, list[float]] = {}
    for x, y in placed.boxes:
        assert x % (WIDTH + GAP_X) == 0
        assert 0 <= y <= placed.height - HEIGHT
        assert x <= placed.width - WIDTH
        by_column.setdefault(x, []).append(y)
    for column in by_column.values():
        assert all(b - a >= HEIGHT + GAP_Y - 0.2 for a, b in pairwise(sorted(column)))
    for source, target in edges:
        assert placed.boxes[source][0] < placed.boxes[target][0]


def check_routes(placed: Layout) -> None:
    """Each starts in the middle of its source's right side, and meets no other box."""
    for route in placed.routes:
        x, y = placed.boxes[route.source]
        assert route.points[0] == (x + WIDTH, pytest.approx(y + HEIGHT / 2, abs=0.11))
        x, y = placed.boxes[route.target]
        assert route.points[-1][0] == x
        assert y <= route.points[-1][1] <= y + HEIGHT
        assert len(route.points) % 3 == 1
        for ends in pairwise(route.points[::3]):
            (left, a), (right, b) = ends
            if a != b:  # a bend: only between columns
                assert right - left == GAP_X
                continue
            for x, y in placed.boxes:
                inside = x < (left + right) / 2 < x + WIDTH
                assert not (inside and y < a < y + HEIGHT)


@given(graph=graphs())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_boxes_stand_apart_and_to_the_right_of_what_they_need(
    graph: tuple[int, list[Edge]], engine: str
) -> None:
    placed = layout(*graph, renderer=engine)
    check_places(placed, *graph)


@given(graph=graphs())
@settings(max_examples=60, deadline=None)
def test_edges_go_around_boxes(graph: tuple[int, list[Edge]]) -> None:
    placed = layout(*graph, renderer="builtin")
    assert placed.engine == "library"
    check_routes(placed)


@pytest.mark.skipif(shutil.which("dot") is None, reason="dot is not installed")
@given(graph=graphs())
@settings(max_examples=10, deadline=None)
def test_edges_go_around_boxes_that_dot_placed(graph: tuple[int, list[Edge]]) -> None:
    placed = layout(*graph, renderer="dot")
    assert placed.engine == "dot"
    check_routes(placed)


@given(st.integers(0, 8), st.lists(st.tuples(st.integers(-2, 9), st.integers(-2, 9)), max_size=20))
@settings(max_examples=80, deadline=None)
def test_circles_and_edges_to_nowhere_are_left_out(count: int, edges: list[Edge]) -> None:
    placed = layout(count, edges, renderer="builtin")
    kept = [(route.source, route.target) for route in placed.routes]
    assert set(kept) <= set(edges)
    check_places(placed, count, kept)


def test_an_edge_to_itself_costs_no_other_edge() -> None:
    placed = layout(3, [(0, 0), (2, 0), (2, 2)], renderer="builtin")
    assert [(route.source, route.target) for route in placed.routes] == [(2, 0)]


def test_of_a_circle_all_but_one_edge_is_kept() -> None:
    placed = layout(3, [(0, 1), (1, 2), (2, 0)], renderer="builtin")
    assert [(route.source, route.target) for route in placed.routes] == [(0, 1), (1, 2)]


def test_the_same_graph_gives_the_same_numbers_in_whatever_order_its_edges_come() -> None:
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (0, 4)]
    edges += [(n, n + 1) for n in range(5, 40, 2)]  # and many parts
    first = layout(41, edges, renderer="builtin")
    for turn in range(6):
        graph_layout._layout.cache_clear()
        turned = edges[turn * 3 :] + edges[: turn * 3]
        assert layout(41, turned, renderer="builtin") == first
    parts = [first.boxes[n][1] for n in range(5, 40, 2)]
    assert parts == sorted(parts)


@pytest.mark.parametrize("wide", [2, 3, 4, 7])
def test_what_is_alike_keeps_the_order_given(wide: int, engine: str) -> None:
    layers = [[n * wide + i for i in range(wide)] for n in range(5)]
    edges = [(a, b) for one, other in pairwise(layers) for a in one for b in other]
    placed = layout(5 * wide, edges, renderer=engine)
    for layer in layers:
        heights = [placed.boxes[n][1] for n in layer]
        assert heights == sorted(heights)


@given(graph=graphs())
@settings(max_examples=60, deadline=None)
def test_no_part_stands_on_its_head(graph: tuple[int, list[Edge]]) -> None:
    count, edges = graph
    near_by = {edge for a, b in edges for edge in ((a, b), (b, a))}
    part = {0}
    while more := {b for a, b in near_by if a in part} - part:
        part |= more
    inside = [(a, b) for a, b in edges if a in part]
    placed = layout(count, inside, renderer="builtin")
    columns: dict[float, list[int]] = {}
    for box in sorted(part, key=lambda box: placed.boxes[box][1]):
        columns.setdefault(placed.boxes[box][0], []).append(box)
    pairs = [pair for boxes in columns.values() for pair in pairwise(boxes)]
    assert sum(a < b for a, b in pairs) >= sum(a > b for a, b in pairs)


def test_few_edges_enter_a_box_apart_and_many_together() -> None:
    for many in range(2, 9):
        placed = layout(many + 1, [(n, many) for n in range(many)], renderer="builtin")
        middle = placed.boxes[many][1] + HEIGHT / 2
        entries = sorted(route.points[-1][1] - middle for route in placed.routes)
        if many > 5:
            assert set(entries) == {0}
        else:
            assert entries == pytest.approx([10 * n - 5 * (many - 1) for n in range(many)])


def test_independent_boxes_fill_rows() -> None:
    assert layout(1, []).boxes == ((0.0, 0.0),)
    placed = layout(9, [])
    assert sorted({x for x, _ in placed.boxes}) == [0.0, 188.0, 376.0]
    assert placed.height == 3 * HEIGHT + 2 * GAP_Y
    assert layout(0, []).boxes == ()


def test_parts_stand_below_each_other() -> None:
    placed = layout(6, [(0, 1), (2, 3), (2, 4)], renderer="builtin")
    check_places(placed, 6, [(0, 1), (2, 3), (2, 4)])
    assert placed.boxes[0][1] == placed.boxes[1][1] == 0
    assert placed.boxes[3][1] < placed.boxes[4][1]
    assert placed.boxes[2][1] > HEIGHT
    assert placed.boxes[5][1] > max(placed.boxes[n][1] for n in range(5))


def test_an_unknown_renderer_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no renderer 'dott'") as caught:
        layout(1, [], renderer="dott")
    assert "'dot'" in str(caught.value)


@pytest.mark.parametrize(
    "script",
    ["exit 1", "echo graph 1 2 3; echo node 0; echo stop", "echo nonsense", "kill -9 $$", ""],
)
def test_a_dot_that_fails_gives_way(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for renderer in ("auto", "dot"):
        graph_layout._layout.cache_clear()
        assert layout(3, [(0, 1), (1, 2)], renderer=renderer).engine == "library"


def test_without_library_and_dot_there_are_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
    monkeypatch.setattr(graph_layout, "dot_is_there", lambda: False)
    placed = layout(5, [(0, 1), (1, 2), (0, 3)])
    assert placed.engine == "columns"
    check_places(placed, 5, [(0, 1), (0, 3), (1, 2)])


def test_a_thousand_boxes_are_placed() -> None:
    chain = [(n, n + 1) for n in range(999)]
    check_places(layout(1000, chain, renderer="builtin"), 1000, chain)


@given(graph=graphs(), most=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_phases_hold_every_box_once_and_lead_forward(
    graph: tuple[int, list[Edge]], most: int
) -> None:
    count, edges = graph
    groups = phases(count, edges, most)
    assert 1 <= len(groups) <= most
    assert sorted(box for _, _, boxes in groups for box in boxes) == list(range(count))
    assert groups[0][0] == 0
    assert all(a[1] + 1 == b[0] for a, b in pairwise(groups))
    place = {box: n for n, (_, _, boxes) in enumerate(groups) for box in boxes}
    assert all(place[a] <= place[b] for a, b in edges)


def test_a_staircase_is_drawn_together() -> None:
    rng = random.Random(2)
    edges = [(rng.randrange(max(0, n - 8), n), n) for n in range(1, 100) for _ in range(2)]
    placed = layout(100, edges, renderer="builtin")
    check_places(placed, 100, edges)
    check_routes(placed)
    fullest = max(Counter(x for x, _ in placed.boxes).values())
    assert placed.height < 2 * fullest * (HEIGHT + GAP_Y)
