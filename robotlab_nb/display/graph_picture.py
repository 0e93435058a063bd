"""The picture of a network: its tasks as boxes, what they need as edges, and where they stand.

One SVG string that follows the theme of the page it is shown on. Coordinates come from
:mod:`.graph_layout`, words from :mod:`.network_facts`; nothing here knows an engine object.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from .amounts import dollars, seconds
from .as_html import image as image_html
from .escape import one_line
from .graph_layout import HEIGHT, WIDTH, layout, phases
from .network_facts import EdgeFacts, facts_of
from .parts import Image
from .states import state_of
from .svg_parts import PAD, chip, document, icon, legend, mark, number, shortened, text, wide

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .graph_engines import Point
    from .graph_layout import Layout
    from .network_facts import NetworkFacts, TaskFacts
    from .parts import Line

__all__ = ["MOST_BOXES", "draw", "img", "svg", "told"]

#: More tasks than this are drawn by phase.
MOST_BOXES = 150
_MOST_PHASES = 12
#: Where words start in a box, and how much room they have.
_LEFT, _ROOM = 27, WIDTH - 27 - 5
#: Less room than this holds no name.
_LEAST = 36
_FAINT = frozenset({"pending", "blocked", "skipped", "halted"})


def svg(thing: Any, *, renderer: str = "auto", now: float | None = None) -> str:
    """A network, its result or its run as one SVG picture.

    Parameters
    ----------
    thing : Network, NetworkResult, Run or RunState
    renderer : {"auto", "builtin", "dot"}, optional
        What places the boxes; ``auto`` takes ``dot`` where it is installed.
    now : float, optional
        Seconds since the root run's start, for tasks that are at work. Left out: the time of
        the last event.

    Returns
    -------
    str
        An SVG document without ids, scripts or anything that loads, the same for the same data.

    Raises
    ------
    GraphError
        For a network that cannot run, listing all that is wrong.
    ConfigurationError
        For an unknown renderer.

    Examples
    --------
    >>> from robotlab_nb.network.network import create_network
    >>> net = create_network("count")
    >>> task = net.task("first", lambda message: len(message))
    >>> svg(net).startswith('<svg xmlns="http://www.w3.org/2000/svg" width="180" height="92"')
    True
    """
    if hasattr(thing, "validate"):
        thing.validate()
    return draw(facts_of(thing, now=now), renderer=renderer).svg


def img(thing: Any, *, renderer: str = "auto", now: float | None = None) -> str:
    """The picture as HTML that shows in a notebook that is not trusted, too.

    Parameters are those of :func:`svg`.

    Returns
    -------
    str
        An ``<img>`` in a frame that scrolls. Its ``alt`` names every task and where it stands.
    """
    return image_html(draw(facts_of(thing, now=now), renderer=renderer))


def draw(
    facts: NetworkFacts, rows: tuple[tuple[Line, ...], ...] = (), *, renderer: str = "auto"
) -> Image:
    """The picture of what is known of a network.

    Parameters
    ----------
    facts : NetworkFacts
    rows : tuple of tuple of Line, optional
        What stands for it where pictures do not show.
    renderer : {"auto", "builtin", "dot"}, optional

    Returns
    -------
    Image
    """
    many = len(facts.tasks) > MOST_BOXES
    body, width, height, entries = (_by_phase if many else _by_task)(facts, renderer)
    below, bottom = "", height + 2 * PAD
    if entries or facts.simulated:
        line = height + PAD + 24
        below, end = legend(line, entries)
        if facts.simulated:
            framed, end = chip(end + 20 if entries else PAD, line, "simulated")
            below += framed
        width, bottom = max(width, end + PAD), line + 14
    name, words = one_line(facts.name, 80), told(facts)
    whole = document(width, bottom, f"Network {name}", words, body + below)
    return Image(whole, words, width, rows)


def told(facts: NetworkFacts) -> str:
    """A network in words: every task, and where it stands.

    Parameters
    ----------
    facts : NetworkFacts
    """
    head = [f"Network {one_line(facts.name, 80)}"]
    if facts.status:
        head.append(state_of(facts.status).word)
    if facts.simulated:
        head.append("simulated")
    if len(facts.tasks) > MOST_BOXES:
        return f"{', '.join(head)}. {_counted(facts.tasks)}. {_remarkable(facts.tasks)}".strip()
    return f"{', '.join(head)}. {'; '.join(map(_task_told, facts.tasks))}."


def _task_told(task: TaskFacts) -> str:
    name = one_line(task.name, 80)
    if not task.status:
        needs = [one_line(need, 80) for need in task.depends_on]
        after = f"after {' and '.join(needs)}" if needs else ""
        words = [name, _who(task), after, *_traits(task), *task.traits]
        return ", ".join(word for word in words if word)
    words = [state_of(task.status).word, task.progress, seconds(task.worked_s) or ""]
    words.append(one_line(task.note, 120))
    return f"{name} {', '.join(word for word in words if word)}"


def _counted(tasks: Sequence[TaskFacts]) -> str:
    counts = Counter(state_of(task.status).word for task in tasks if task.status)
    words = [f"{number:,} {word}" for word, number in counts.items()]
    return f"{len(tasks):,} tasks" + (f": {', '.join(words)}" if words else "")


def _remarkable(tasks: Sequence[TaskFacts], most: int = 50) -> str:
    """Those of many tasks that a person should look at."""
    found = [task for task in tasks if task.status and state_of(task.status).hue]
    more = f" and {len(found) - most:,} more" if len(found) > most else ""
    return "; ".join(map(_task_told, found[:most])) + more + "." if found else ""


class _Drawn(NamedTuple):
    """SVG, the size it takes, and what the legend explains; pixels."""

    body: str
    width: float
    height: float
    entries: list[tuple[str, str]]


# -- a box for each task -------------------------------------------------------------------


def _by_task(facts: NetworkFacts, renderer: str) -> _Drawn:
    pairs = [(edge.source, edge.target) for edge in facts.edges]
    placed = layout(len(facts.tasks), pairs, renderer=renderer)
    edges = {(edge.source, edge.target): edge for edge in facts.edges}
    drawn = _edges(placed, edges)
    drawn += "".join(
        _box(task, x + PAD, y + PAD) for task, (x, y) in zip(facts.tasks, placed.boxes, strict=True)
    )
    shown = [edges[route.source, route.target] for route in placed.routes]
    entries = _meanings(shown, live=facts.live, declared=not facts.status)
    return _Drawn(drawn, placed.width + 2 * PAD, placed.height, entries)


def _box(task: TaskFacts, x: float, y: float) -> str:
    state = state_of(task.status) if task.status else None
    faint = task.status in _FAINT
    hue = state.hue[1:] if state else ""
    plain = "p o" if faint else "p d"
    out = [_sheet(x + 4, y + 4, plain)] if task.kind == "network" else []
    name = shortened(task.name, _ROOM, 13, bold=True) or "?"
    out += [
        _sheet(x, y, plain, hue),
        mark(task.lane, x + 11, y + 9.5),
        text(x + _LEFT, y + 19, name, "b" if faint else "n b"),
    ]
    if state is None:
        out.append(text(x + _LEFT, y + 36, shortened(_who(task), _ROOM)))
        traits = " · ".join((*_traits(task), *task.traits))
        out.append(text(x + _LEFT, y + 51, shortened(traits, _ROOM)))
        return "".join(out)
    colour = f"f{hue}" if hue else "" if faint else "n"
    out.append(icon(state.icon, state.hue, x + 10, y + 26))
    after = _beside(task, state.word)
    out.append(text(x + _LEFT, y + 36, state.word, colour, after=after))
    out.append(text(x + _LEFT, y + 51, shortened(_figures(task), _ROOM)))
    return "".join(out)


def _sheet(x: float, y: float, plain: str, hue: str = "", height: float = HEIGHT) -> str:
    """A box, in the colour of what a person should look at."""
    look = f'class="b{hue} s{hue}" stroke-width="1.6"' if hue else f'class="{plain}"'
    size = f'width="{WIDTH}" height="{number(height)}" rx="6"'
    return f'<rect {look} x="{number(x)}" y="{number(y)}" {size}/>'


def _beside(task: TaskFacts, word: str) -> str:
    """Who does the task, to follow its state: where that is another name and there is room."""
    who = _who(task)
    room = _ROOM - wide(word) - wide(" · ")
    if who.casefold() == task.name.casefold() or room < _LEAST:
        return ""
    return f" · {shortened(who, room)}"


def _who(task: TaskFacts) -> str:
    return one_line(task.robot or task.network, 80) or task.kind


def _traits(task: TaskFacts) -> list[str]:
    """What was declared of a task beside its needs."""
    found = []
    if task.optional:
        found.append("has a condition" if task.conditional else "optional")
    if task.routes:
        found.append("routes")
    if task.on_failure == "stop":
        found.append("its failure stops all")
    elif task.on_failure == "continue":
        found.append("may fail")
    return found


def _figures(task: TaskFacts) -> str:
    """The last line of a box: why it stands so, how far it has come, or time and cost."""
    if task.note:
        return one_line(task.note, 120)
    if task.progress:  # as far as there is room: the table has all of it
        words = task.progress.replace(" done", "").removeprefix("restored ")
        return words.rpartition(", ")[2] if task.status == "restored" else words
    amount = None
    if task.usage is not None and task.usage.calls:
        amount = dollars(task.usage.cost_usd)
        if amount is None:
            amount = "cost unknown"
        elif not task.usage.cost_complete:
            amount = f"≥ {amount}"
    return " · ".join(word for word in (seconds(task.worked_s), amount) if word)


# -- many tasks, by phase ------------------------------------------------------------------


def _by_phase(facts: NetworkFacts, renderer: str) -> _Drawn:
    pairs = [(edge.source, edge.target) for edge in facts.edges]
    groups = phases(len(facts.tasks), pairs, _MOST_PHASES)
    counts = [
        Counter(facts.tasks[place].status for place in places if facts.tasks[place].status)
        for _, _, places in groups
    ]
    height = 46 + 16 * max(map(len, counts), default=0)
    chain = [(n, n + 1) for n in range(len(groups) - 1)]
    placed = layout(len(groups), chain, renderer=renderer, height=height)
    begun = [any(facts.tasks[p].started_s is not None for p in places) for *_, places in groups]
    edges = {(a, b): EdgeFacts(a, b, passed=not facts.status or begun[b]) for a, b in chain}
    drawn = [_edges(placed, edges)]
    for (first, last, places), found, (x, y) in zip(groups, counts, placed.boxes, strict=True):
        name = f"phase {first + 1}" if first == last else f"phases {first + 1}–{last + 1}"
        drawn.append(_phase(name, len(places), found, x + PAD, y + PAD, height))
    entries = [("", f"{len(facts.tasks):,} tasks: more than {MOST_BOXES} are drawn by phase")]
    entries += _meanings(list(edges.values()), live=facts.live, declared=not facts.status)
    return _Drawn("".join(drawn), placed.width + 2 * PAD, placed.height, entries)


def _phase(
    name: str, count: int, found: Mapping[str, int], x: float, y: float, height: float
) -> str:
    hues = {state_of(status).hue[1:] for status in found} - {""}
    hue = next((each for each in "wfr" if each in hues), "")
    out = [
        _sheet(x, y, "p d", hue, height),
        text(x + 11, y + 19, name, "n b"),
        text(x + 11, y + 35, f"{count:,} task{'' if count == 1 else 's'}"),
    ]
    for row, (status, number_) in enumerate(sorted(found.items(), key=lambda each: -each[1])):
        state = state_of(status)
        top = y + 42 + 16 * row
        out.append(icon(state.icon, state.hue, x + 10, top))
        colour = f"f{state.hue[1:]}" if state.hue else "n"
        out.append(text(x + _LEFT, top + 10, f"{number_:,} {state.word}", colour))
    return "".join(out)


# -- edges ---------------------------------------------------------------------------------


def _edges(placed: Layout, edges: Mapping[tuple[int, int], EdgeFacts]) -> str:
    """All edges, one path for each kind of line, the thin ones below."""
    lines: dict[tuple[bool, bool], list[str]] = defaultdict(list)
    heads: dict[bool, dict[str, None]] = defaultdict(dict)
    for route in placed.routes:
        edge = edges[route.source, route.target]
        lines[edge.passed, edge.optional].append(_curve(route.points))
        x, y = route.points[-1]
        heads[edge.passed][f"M{number(x + PAD)} {number(y + PAD)}l-7-3.5v7z"] = None
    out = []
    for (passed, optional), drawn in sorted(lines.items()):
        look = ("w z" if passed else "v d") + (" q" if optional else "")
        out.append(f'<path class="{look}" d="{"".join(drawn)}"/>')
    for passed, tips in sorted(heads.items()):
        out.append(f'<path class="{"x" if passed else "h"}" d="{"".join(tips)}"/>')
    return "".join(out)


def _curve(points: Sequence[Point]) -> str:
    """A path through the points that ends inside its arrowhead."""
    spots = [f"{number(x + PAD)} {number(y + PAD)}" for x, y in points]
    spots[-1] = f"{number(points[-1][0] + PAD - 5)} {number(points[-1][1] + PAD)}"
    out = [f"M{spots[0]}"]
    for at in range(1, len(points) - 2, 3):
        level = points[at - 1][1]
        if all(y == level for _, y in points[at : at + 3]):
            out.append(f"H{spots[at + 2].partition(' ')[0]}")
        else:
            out.append(f"C{spots[at]} {spots[at + 1]} {spots[at + 2]}")
    return "".join(out)


def _meanings(edges: Iterable[EdgeFacts], *, live: bool, declared: bool) -> list[tuple[str, str]]:
    """The legend's lines: of what is in the picture, and only that."""
    kinds = {(edge.passed, edge.optional) for edge in edges}
    out = []
    if any(not optional for _, optional in kinds):
        out.append(('<path class="w z" d="M0 0h22"/>', "needs"))
    if any(optional for _, optional in kinds):
        out.append(('<path class="w z q" d="M0 0h22"/>', "optional"))
    if not declared and any(not passed for passed, _ in kinds):
        out.append(('<path class="v d" d="M0 0h22"/>', "not yet passed" if live else "not passed"))
    return out
