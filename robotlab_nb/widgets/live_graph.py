"""The picture of a network's graph, as flat records: its size, boxes, edges, groups.

Places, paths, icons and marks are those of the picture that stands still; they are worked out once
for a graph. What changes later is a word or a flag of a record. Knows facts and no run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from ..display import graph_picture as picture
from ..display import svg_parts
from ..display.escape import one_line
from ..display.graph_layout import HEIGHT, WIDTH, layout, phases
from ..display.graph_picture import MOST_BOXES
from ..display.states import state_of
from ..display.svg_parts import PAD, number, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..display.graph_layout import Layout
    from ..display.network_facts import NetworkFacts, TaskFacts

__all__ = ["LiveGraph"]

Row = dict[str, Any]
Rows = list[tuple[str, Row]]

#: Around the boxes of a group: at the sides, above and below.
_SIDE, _ABOVE = 8, 6


class LiveGraph:
    """The records of one network's graph.

    Examples
    --------
    >>> from robotlab_nb.display.network_facts import facts_of
    >>> from robotlab_nb.network.network import create_network
    >>> net = create_network("count")
    >>> one, two = net.task("one", lambda: 1), net.task("two", lambda: 2, depends_on=["one"])
    >>> rows = dict(LiveGraph().rows(facts_of(net)))
    >>> list(rows), rows["N1"]["name"], rows["W0"]["on"]
    (['G', 'N0', 'N1', 'W0'], 'two', True)
    """

    def __init__(self) -> None:
        self._shape: object = None
        self._rows: Rows = []
        self._phases: list[tuple[int, int, list[int]]] = []

    def rows(self, facts: NetworkFacts) -> Rows:
        """All records as they are now; none where the graph cannot be placed.

        Parameters
        ----------
        facts : NetworkFacts

        Returns
        -------
        list of (str, dict)
            ``G`` the whole: its size, what the shapes mean; ``N0 …`` boxes, at the place of
            their task or of a phase; ``W0 …`` edges.
        """
        try:
            if len(facts.tasks) > MOST_BOXES:
                return list(self._by_phase(facts))
            return self._by_task(facts)
        except Exception:
            return []  # the list of tasks is there without it

    def _by_task(self, facts: NetworkFacts) -> Rows:
        shape = (
            tuple(task.name for task in facts.tasks),
            tuple((edge.source, edge.target, edge.optional) for edge in facts.edges),
        )
        if shape != self._shape:
            self._rows, self._shape = list(_placed(facts)), shape
        passed = {(edge.source, edge.target): edge.passed for edge in facts.edges}
        for key, row in self._rows:
            if key[0] == "W":
                row["on"] = passed[row["ends"][0], row["ends"][1]]
        return self._rows

    def _by_phase(self, facts: NetworkFacts) -> Iterator[tuple[str, Row]]:
        if self._shape != len(facts.tasks):
            pairs = [(edge.source, edge.target) for edge in facts.edges]
            self._phases = phases(len(facts.tasks), pairs, picture._MOST_PHASES)
            self._shape = len(facts.tasks)
        counts = [
            Counter(state_of(facts.tasks[place].status or "pending") for place in places)
            for *_, places in self._phases
        ]
        height = 46 + 16 * max(map(len, counts))
        chain = [(n, n + 1) for n in range(len(counts) - 1)]
        found = layout(len(counts), chain, height=height)
        begun = [any(facts.tasks[p].started_s is not None for p in ps) for *_, ps in self._phases]
        note = f"{len(facts.tasks):,} tasks: more than {MOST_BOXES} are drawn by phase"
        yield "G", {**_whole(facts, found), "note": note}
        for at, ((first, last, places), (x, y)) in enumerate(
            zip(self._phases, found.boxes, strict=True)
        ):
            name = f"phase {first + 1}" if first == last else f"phases {first + 1}–{last + 1}"
            ordered = sorted(counts[at].items(), key=lambda each: -each[1])
            hues = {state.hue for state, _ in ordered}
            yield (
                f"N{at}",
                {
                    "x": x + PAD, "y": y + PAD, "h": height, "name": name,
                    "hue": next((each for each in ("kw", "kf", "kr") if each in hues), ""),
                    "count": f"{len(places):,} task{'' if len(places) == 1 else 's'}",
                    "rows": [[s.icon, f"{n:,} {s.word}", s.hue] for s, n in ordered],
                    "tasks": places,
                },
            )  # fmt: skip
        for at, route in enumerate(found.routes):
            yield f"W{at}", {**_edge(route.points), "opt": False, "on": begun[route.target]}


def _placed(facts: NetworkFacts) -> Iterator[tuple[str, Row]]:
    """The records of a graph that is drawn box by box."""
    found = layout(len(facts.tasks), [(edge.source, edge.target) for edge in facts.edges])
    yield "G", {**_whole(facts, found), "frames": _frames(facts.tasks, found), "note": ""}
    for at, (task, (x, y)) in enumerate(zip(facts.tasks, found.boxes, strict=True)):
        mark = task.lane
        yield (
            f"N{at}",
            {
                "x": x + PAD,
                "y": y + PAD,
                "h": HEIGHT,
                "name": shortened(task.name, picture._ROOM, 13, bold=True) or "?",
                "mark": mark.shape if mark else "",
                "lane": mark.hue if mark else "",
                "nested": task.kind == "network",
                "more": " · ".join(task.traits),
                "tasks": [at],
            },
        )
    optional = {(edge.source, edge.target): edge.optional for edge in facts.edges}
    for at, route in enumerate(found.routes):
        ends = route.source, route.target
        more = {"opt": optional[ends], "on": False, "ends": list(ends)}
        yield f"W{at}", {**_edge(route.points), **more}


def _whole(facts: NetworkFacts, found: Layout) -> Row:
    optional = {edge.optional for edge in facts.edges}
    keys = [word for flag, word in ((False, "needs"), (True, "optional")) if flag in optional]
    return {
        "w": found.width + 2 * PAD,
        "h": found.height + 2 * PAD,
        "name": f"network {one_line(facts.name, 80)}: its tasks",
        "keys": [*keys, "not yet passed"] if keys else [],
        "marks": svg_parts._MARKS,
        "icons": {icon: list(drawn) for icon, drawn in svg_parts._ICONS.items()},
        "frames": [],
    }


def _edge(points: tuple[tuple[float, float], ...]) -> Row:
    """A line that ends inside its arrowhead, and the head."""
    x, y = points[-1]
    return {
        "d": picture._curve(points),
        "tip": f"M{number(x + PAD)} {number(y + PAD)}l-7-3.5v7z",
    }


def _frames(tasks: tuple[TaskFacts, ...], found: Layout) -> list[list[Any]]:
    """Groups whose boxes stand together: where their frame is, and what it says."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, task in enumerate(tasks):
        for trait in task.traits:
            if trait.startswith("group "):
                members[trait].append(at)
    frames = []
    for name, places in members.items():
        left, top = (min(found.boxes[p][n] for p in places) for n in (0, 1))
        right = max(found.boxes[p][0] for p in places) + WIDTH
        bottom = max(found.boxes[p][1] for p in places) + HEIGHT
        inside = sum(
            left - _SIDE < x + WIDTH and x < right + _SIDE
            and top - _ABOVE < y + HEIGHT and y < bottom + _ABOVE
            for x, y in found.boxes
        )  # fmt: skip
        if len(places) > 1 and inside == len(places):
            x, y = left + PAD - _SIDE, top + PAD - _ABOVE
            size = right - left + 2 * _SIDE, bottom - top + 2 * _ABOVE
            frames.append([x, y, *size, shortened(name.removeprefix("group "), size[0] - 20)])
    return frames
