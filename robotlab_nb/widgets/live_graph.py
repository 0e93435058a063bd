"""The picture of a network's graph, as flat records: its size, boxes, edges, groups.

Places, paths, icons and marks are those of the picture that stands still; they are worked out once
for a graph. What changes later is a word or a flag of a record. Knows facts and no run.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..display import graph_picture as picture
from ..display import svg_parts
from ..display.escape import one_line
from ..display.graph_groups import framed, members_of
from ..display.graph_layout import HEIGHT, WIDTH, layout, phases
from ..display.graph_picture import MOST_BOXES, room_in, suited
from ..display.states import state_of
from ..display.svg_parts import PAD, number, shortened, wide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..display.graph_layout import Layout
    from ..display.network_facts import NetworkFacts, TaskFacts

__all__ = ["LiveGraph"]

Row = dict[str, Any]
Rows = list[tuple[str, Row]]

#: Words that stand in boxes while a network runs, the longest that are there for long.
_WORD = "completed"


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
        #: how wide a box is
        self.width: float = WIDTH

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
            self.width, self._rows = _placed(facts)
            self._shape = shape
        passed = {(edge.source, edge.target): edge.passed for edge in facts.edges}
        for key, row in self._rows:
            if key[0] == "W":
                row["on"] = passed[row["ends"][0], row["ends"][1]]
        return self._rows

    def _by_phase(self, facts: NetworkFacts) -> Iterator[tuple[str, Row]]:
        if self._shape != len(facts.tasks):
            pairs = [(edge.source, edge.target) for edge in facts.edges]
            self._phases = phases(len(facts.tasks), pairs, picture.MOST_PHASES)
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


def _placed(facts: NetworkFacts) -> tuple[float, Rows]:
    """The width of a box, and the records of a graph that is drawn box by box."""
    narrow = layout(len(facts.tasks), [(edge.source, edge.target) for edge in facts.edges])
    width = suited(facts.tasks, narrow, _wants)
    found = narrow.widened(width)
    frames, _ = framed(members_of(facts.tasks), found.boxes, width)
    drawn = [
        [f.x + PAD, f.y + PAD, f.width, f.height, shortened(f.label, f.width - 20)] for f in frames
    ]
    rows: Rows = [("G", {**_whole(facts, found), "box": width, "frames": drawn, "note": ""})]
    for at, (task, (x, y)) in enumerate(zip(facts.tasks, found.boxes, strict=True)):
        mark = task.lane
        person = task.kind == "human"
        rows.append(
            (
                f"N{at}",
                {
                    "x": x + PAD,
                    "y": y + PAD,
                    "h": HEIGHT,
                    "name": shortened(task.name, room_in(width), 13, bold=True) or "?",
                    "mark": "person" if person else mark.shape if mark else "",
                    "lane": mark.hue if mark else "",
                    "nested": task.kind == "network",
                    "more": " · ".join(task.traits),
                    "tasks": [at],
                },
            )
        )
    optional = {(edge.source, edge.target): edge.optional for edge in facts.edges}
    for at, route in enumerate(found.routes):
        ends = route.source, route.target
        more = {"opt": optional[ends], "on": False, "ends": list(ends)}
        rows.append((f"W{at}", {**_edge(route.points), **more}))
    return width, rows


def _wants(task: TaskFacts) -> float:
    """How much room a task's words may come to take: they change while the boxes stay."""
    word = picture.beside(task, _WORD, 1e4)
    return max(wide(one_line(task.name, 200), 13, bold=True), wide(f"{_WORD}{word}"))


def _whole(facts: NetworkFacts, found: Layout) -> Row:
    optional = {edge.optional for edge in facts.edges}
    keys = [word for flag, word in ((False, "needs"), (True, "optional")) if flag in optional]
    return {
        "w": found.width + 2 * PAD,
        "h": found.height + 2 * PAD,
        "name": f"network {one_line(facts.name, 80)}: its tasks",
        "keys": [*keys, "not yet passed"] if keys else [],
        "marks": {**svg_parts.MARKS, "person": svg_parts.PERSON},
        "icons": {icon: list(drawn) for icon, drawn in svg_parts.ICONS.items()},
        "box": WIDTH,
        "frames": [],
    }


def _edge(points: tuple[tuple[float, float], ...]) -> Row:
    """A line that ends inside its arrowhead, and the head."""
    x, y = points[-1]
    return {
        "d": picture.curve(points),
        "tip": f"M{number(x + PAD)} {number(y + PAD)}l-7-3.5v7z",
    }
