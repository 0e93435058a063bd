"""Whatever a network looks like, its picture holds each task once, apart, whole and connected."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.display import graph_layout
from robotlab_nb.display.escape import one_line
from robotlab_nb.display.graph_groups import Frame, framed, members_of, told
from robotlab_nb.display.graph_layout import HEIGHT, WIDTH, layout
from robotlab_nb.display.graph_picture import MOST_BOXES, draw, img, svg
from robotlab_nb.display.network_facts import TaskFacts, facts_of
from robotlab_nb.display.states import STATES
from robotlab_nb.display.svg_text import wide
from tests.display.network_samples import TASK_STATES, NetworkStory, declared, large
from tests.display.test_graph_picture import SVG, check_drawn, words_of

if TYPE_CHECKING:
    from xml.etree import ElementTree

    from robotlab_nb.core.state import RunState

Rect = tuple[float, float, float, float]


@pytest.fixture(autouse=True, scope="module")
def _library() -> Any:
    """The same places on every machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_layout, "dot_is_there", lambda: False)
        graph_layout._layout.cache_clear()
        yield
    graph_layout._layout.cache_clear()


@st.composite
def runs(draw: st.DrawFn) -> RunState:
    """A network of up to 14 tasks, of any shape, in any states, some of them in groups."""
    count = draw(st.integers(1, 14))
    length = draw(st.sampled_from([2, 9, 30]))
    tasks = []
    for n in range(count):
        needs = draw(st.sets(st.integers(0, n - 1), max_size=3)) if n else set()
        group = draw(st.sampled_from([None, None, "look", "slow"]))
        tasks.append(
            declared(
                f"t{n} " + "wide " * (length // 5),
                draw(st.sampled_from(["bot", "senior market analyst", None])),
                [f"t{m} " + "wide " * (length // 5) for m in sorted(needs)],
                kind=draw(st.sampled_from(["robot", "function", "network", "human"])),
                optional=draw(st.booleans()),
                poller_group=group,
            )
        )
    story = NetworkStory(tasks)
    for task in tasks:
        status = draw(st.sampled_from(TASK_STATES))
        if status != "pending":
            story.settles(task["task"], 1.0, status, draw(st.sampled_from([None, "because " * 9])))
    return story.state


def rects(root: ElementTree.Element) -> list[tuple[str, Rect]]:
    """Every rectangle but the paper: its class, and its edges."""
    found = []
    for rect in list(root.iter(f"{SVG}rect"))[1:]:
        x, y, w, h = (float(rect.get(name, 0)) for name in ("x", "y", "width", "height"))
        found.append((rect.get("class", ""), (x, y, x + w, y + h)))
    return found


def boxes_of(root: ElementTree.Element) -> list[Rect]:
    """The boxes of tasks, without second sheets, frames and the gaps of labels."""
    found = [
        rect
        for kind, rect in rects(root)
        if abs(rect[3] - rect[1] - HEIGHT) < 0.01 and kind not in ("p", "g d")
    ]
    starts = {(round(x, 1), round(y, 1)) for x, y, *_ in found}
    return [r for r in found if (round(r[0] - 4, 1), round(r[1] - 4, 1)) not in starts]


def meet(one: Rect, other: Rect) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@given(runs())
@settings(max_examples=60, deadline=None)
def test_every_task_has_one_box_apart_from_all_others_on_the_paper(state: RunState) -> None:
    root = check_drawn(svg(state))
    boxes = boxes_of(root)
    assert len(boxes) == len(state.tasks)
    assert not [pair for pair in combinations(boxes, 2) if meet(*pair)]
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for _, (left, top, right, bottom) in rects(root):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height


@given(runs())
@settings(max_examples=40, deadline=None)
def test_every_edge_leads_from_a_box_to_a_box_and_stays_on_the_paper(state: RunState) -> None:
    root = check_drawn(svg(state))
    boxes = boxes_of(root)
    outs = {(right, round((top + bottom) / 2, 1)) for _, top, right, bottom in boxes}
    starts, tips = [], []
    for path in root.findall(f"{SVG}path"):
        if path.get("transform"):
            continue
        drawn = path.get("d", "")
        if path.get("class") in ("x", "h"):
            tips += re.findall(r"M([\d.]+) ([\d.]+)l", drawn)
        else:
            starts += re.findall(r"M([\d.]+) ([\d.]+)", drawn)
    assert len(starts) == len(facts_of(state).edges)
    for x, y in starts:
        assert any(abs(float(x) - a) < 0.2 and abs(float(y) - b) < 0.2 for a, b in outs)
    for x, y in tips:
        assert any(
            abs(float(x) - left) < 0.2 and top <= float(y) <= bottom
            for left, top, _, bottom in boxes
        )
    assert not re.search(r"[MHC ]-\d", " ".join(p.get("d", "") for p in root.findall(f"{SVG}path")
                                                if not p.get("transform")))  # fmt: skip


@given(runs())
@settings(max_examples=40, deadline=None)
def test_the_words_of_a_picture_name_every_task_and_state_and_fit(state: RunState) -> None:
    facts = facts_of(state)
    image = draw(facts)
    for name, task in state.tasks.items():
        assert f"{one_line(name, 80)} {STATES[task.status].word}" in image.alt
    root = check_drawn(image.svg)
    boxes = boxes_of(root)
    for line in root.iter(f"{SVG}text"):
        x, y = float(line.get("x", 0)), float(line.get("y", 0))
        inside = [box for box in boxes if box[0] < x < box[2] and box[1] < y < box[3]]
        if inside:
            bold = "b" in line.get("class", "").split()
            words = "".join(line.itertext())
            assert x + wide(words, 13 if bold else 11, bold=bold) <= inside[0][2]


@given(runs())
@settings(max_examples=40, deadline=None)
def test_frames_hold_their_group_and_nobody_else(state: RunState) -> None:
    facts = facts_of(state)
    pairs = [(edge.source, edge.target) for edge in facts.edges]
    placed = layout(len(facts.tasks), pairs)
    groups = members_of(facts.tasks)
    frames, left = framed(groups, placed.boxes, WIDTH)
    assert not [pair for pair in combinations(frames, 2) if pair[0].meets(pair[1])]
    for label, places in groups.items():
        mine = [frame for frame in frames if label in frame.label.split(" · ")]
        held = [
            place
            for place, (x, y) in enumerate(placed.boxes)
            if any(frame.meets(Frame(x, y, WIDTH, HEIGHT, "")) for frame in mine)
        ]
        assert held == ([] if label in left else places)


def test_a_group_is_framed_once_where_it_stands_together_and_says_its_cap() -> None:
    slow = {"poller_group": "slow", "group_cap": 2}
    tasks = [declared("a"), *(declared(n, "bot", ["a"], **slow) for n in "bcd")]
    tasks.append(declared("e", "bot", list("bcd")))
    root = check_drawn(svg(NetworkStory(tasks).state))
    frames = [rect for kind, rect in rects(root) if kind == "g d"]
    assert len(frames) == 1
    assert sum(meet(frames[0], box) for box in boxes_of(root)) == 3
    assert words_of(root).count("slow, at most 2") == 1
    net = rl.create_network("declared", group_caps={"slow": 2})
    net.task("one", lambda: 1, poller_group="slow")
    assert not [line for line in words_of(check_drawn(net.to_svg())) if "group" in line]
    assert "group slow, at most 2" in img(net)


def test_groups_of_the_same_tasks_share_a_frame_and_others_that_meet_are_told() -> None:
    boxes = [(0.0, 0.0), (0.0, 72.0), (0.0, 144.0)]
    frames, left = framed({"a": [0, 1], "b": [0, 1], "c": [1, 2]}, boxes, WIDTH)
    assert [frame.label for frame in frames] == ["a · b"]
    assert left == ["c"]
    tasks = [TaskFacts(f"task {n}") for n in range(9)]
    groups = {f"g{n}": list(range(9 - n)) for n in range(6)}
    assert told(list(groups), groups, tasks)[::4] == [
        "group g0: task 0, task 1, task 2, task 3 and 5 more", "and 2 more groups",
    ]  # fmt: skip
    net = rl.create_network("both", group_caps={"slow": 1})
    with net.parallel("look"):
        net.task("one", lambda: 1)
        net.task("two", lambda: 2, poller_group="slow")
    net.task("three", lambda upstream: 3, depends_on=["look"], poller_group="slow")
    assert any("group slow, at most 1" in line for line in words_of(check_drawn(net.to_svg())))


def test_boxes_are_as_wide_as_their_words_want_where_there_is_room() -> None:
    def size(count: int, name: str) -> tuple[float, float]:
        tasks = [
            declared(f"{name} {n}", "b", [f"{name} {n - 1}"] if n else []) for n in range(count)
        ]
        root = check_drawn(svg(NetworkStory(tasks).state))
        left, _, right, _ = boxes_of(root)[0]
        return right - left, float(root.get("width", 0))

    assert size(2, "a")[0] == WIDTH
    long = "the department of complaints"
    assert size(2, long)[0] > WIDTH
    for count in range(2, 9):
        wide_, whole = size(count, long)
        assert wide_ == WIDTH or whole <= 800
    assert size(8, long)[0] == WIDTH
    assert words_of(check_drawn(svg(NetworkStory([declared(long)]).state)))[0] == long


def test_a_name_that_is_cut_stands_whole_in_a_title() -> None:
    name = "x" * 60
    root = check_drawn(svg(NetworkStory([declared(name, "bot")]).state))
    assert name in [
        title.text.partition(" · ")[0] for title in root.iter(f"{SVG}title") if title.text
    ]
    assert words_of(root)[0].endswith("…")
    short = check_drawn(svg(NetworkStory([declared("x", "bot")]).state))
    assert len(list(short.iter(f"{SVG}title"))) == 1


def test_a_person_has_a_mark_of_their_own() -> None:
    state = NetworkStory([declared("sign", "ann", kind="human")]).state
    shapes = [path.get("d") for path in check_drawn(svg(state)).iter(f"{SVG}path")]
    robot = NetworkStory([declared("sign", "ann")]).state
    other = [path.get("d") for path in check_drawn(svg(robot)).iter(f"{SVG}path")]
    assert shapes[0] != other[0]


def test_only_a_picture_wider_than_the_page_says_that_it_scrolls() -> None:
    def deep(count: int) -> str:
        tasks = [declared(f"t{n}", "x", [f"t{n - 1}"] if n else []) for n in range(count)]
        return img(NetworkStory(tasks).state)

    assert "scroll it sideways" not in deep(5)
    assert "scroll it sideways" in deep(6)


@pytest.mark.parametrize("count", [1, 2, 40, 120, MOST_BOXES, MOST_BOXES + 1, 400, 1000])
def test_any_number_of_tasks_has_a_picture_of_bounded_size(count: int) -> None:
    state = large(count)
    drawn = svg(state)
    root = check_drawn(drawn)
    assert len(drawn) < 140_000
    if count <= MOST_BOXES:
        assert len(boxes_of(root)) == count
    else:
        assert f"{count:,} tasks: more than {MOST_BOXES} are drawn by phase" in words_of(root)
    assert svg(state) == drawn
