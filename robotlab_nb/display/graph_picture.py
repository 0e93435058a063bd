"""The picture of a network: its tasks as boxes, what they need as edges, and where they stand.

One SVG string that follows the theme of the page it is shown on. Coordinates come from
:mod:`.graph_layout`, words from :mod:`.network_facts`; nothing here knows an engine object.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NamedTuple

from . import graph_groups
from .amounts import dollars, seconds
from .as_html import image as image_html
from .escape import attr, one_line
from .graph_engines import GAP_X
from .graph_groups import framed, members_of
from .graph_layout import HEIGHT, WIDTH, layout
from .graph_phases import placed
from .graph_words import MOST_BOXES, told, traits_told, who_does
from .network_facts import EdgeFacts, facts_of
from .parts import Image
from .states import state_of
from .svg_parts import PAD, chip, document, icon, legend, mark, number, shortened, text, wide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .graph_engines import Point
    from .graph_layout import Layout
    from .network_facts import NetworkFacts, TaskFacts
    from .parts import Line

__all__ = [
    "FAINT", "MOST_BOXES", "MOST_PHASES", "beside", "curve", "draw", "img", "room_in", "suited",
    "svg", "told",
]  # fmt: skip

#: Boxes of phases.
MOST_PHASES = 12
#: Pixels that a picture may always take; and the widest box, where there is room.
_PAGE, _WIDEST = 800, 260
#: Between words and the side of a box that is as wide as they want.
_AIR = 5
#: Where words start in a box, and how much room they have.
_LEFT, _ROOM = 27, WIDTH - 27 - 3
#: Less room than this holds no name.
_LEAST = 36
FAINT = frozenset({"pending", "blocked", "skipped", "halted"})


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
    body, width, height, entries, lines = (_by_phase if many else _by_task)(facts, renderer)
    below, bottom = [], height + 2 * PAD
    for words in lines:
        below.append(text(PAD, bottom + 8, shortened(words, max(width, _PAGE) - 2 * PAD)))
        width, bottom = max(width, min(wide(words) + 2 * PAD, _PAGE)), bottom + 18
    if entries or facts.simulated:
        line = bottom - PAD + 24
        key, end = legend(line, entries)
        if facts.simulated:
            word, end = chip(end + 20 if entries else PAD, line, "simulated")
            key += word
        below.append(key)
        width, bottom = max(width, end + PAD), line + 14
    name, words = one_line(facts.name, 80), told(facts)
    whole = document(width, bottom, f"Network {name}", words, body + "".join(below))
    return Image(whole, words, width, rows)


class _Drawn(NamedTuple):
    """SVG, the size it takes in pixels, what the legend explains, and lines of words above that."""

    body: str
    width: float
    height: float
    entries: list[tuple[str, str]]
    lines: list[str]


# -- a box for each task -------------------------------------------------------------------


def _by_task(facts: NetworkFacts, renderer: str) -> _Drawn:
    tasks = facts.tasks
    pairs = [(edge.source, edge.target) for edge in facts.edges]
    narrow = layout(len(tasks), pairs, renderer=renderer)
    width = suited(tasks, narrow)
    found = narrow.widened(width)
    edges = {(edge.source, edge.target): edge for edge in facts.edges}
    groups = members_of(tasks)
    frames, left = framed(groups, found.boxes, width)
    below, labels = graph_groups.drawn(frames, PAD)
    framed_ones = {f"group {label}" for label in groups if label not in left}
    boxes = "".join(
        _box(_less(task, framed_ones), x + PAD, y + PAD, width)
        for task, (x, y) in zip(tasks, found.boxes, strict=True)
    )
    shown = [edges[route.source, route.target] for route in found.routes]
    entries = _meanings(shown, live=facts.live, declared=not facts.status)
    words = below + _edges(found, edges) + boxes + labels
    lines = graph_groups.told(left, groups, tasks)
    return _Drawn(words, found.width + 2 * PAD, found.height, entries, lines)


def _less(task: TaskFacts, known: set[str]) -> TaskFacts:
    """A task without traits that a frame around its box tells."""
    return replace(task, traits=tuple(trait for trait in task.traits if trait not in known))


def suited(
    tasks: Iterable[TaskFacts], found: Layout, wants: Callable[[TaskFacts], float] | None = None
) -> float:
    """The width of boxes that what is in them wants, where there is room for it.

    Parameters
    ----------
    tasks : iterable of TaskFacts
    found : Layout
        Of boxes of the usual width.
    wants : callable, optional
        How much room a task's words take; those of its present state when left out.
    """
    wants = wants or _wants
    columns = round((found.width + GAP_X) / (WIDTH + GAP_X)) or 1
    room = (_PAGE - 2 * PAD + GAP_X) / columns - GAP_X
    wanted = ceil(max((wants(task) for task in tasks), default=0.0)) + WIDTH - _ROOM + _AIR
    return max(min(wanted, floor(room), _WIDEST), WIDTH)


def room_in(width: float) -> float:
    """How much room for words there is in a box."""
    return width - (WIDTH - _ROOM)


def _wants(task: TaskFacts) -> float:
    """How much room the words of a box would take."""
    name = wide(one_line(task.name, 200), 13, bold=True)
    return max(name, *(wide(f"{words}{after}") for words, after in _lines(task, 1e4)))


def _lines(task: TaskFacts, room: float) -> list[tuple[str, str]]:
    """The two lines under a task's name, and quiet words that follow them."""
    if not task.status:
        traits = " · ".join((*traits_told(task), *task.traits))
        return [(who_does(task), ""), (traits, "")]
    word = state_of(task.status).word
    return [(word, beside(task, word, room)), (_figures(task), "")]


def _box(task: TaskFacts, x: float, y: float, width: float) -> str:
    state = state_of(task.status) if task.status else None
    faint = task.status in FAINT
    hue = state.hue[1:] if state else ""
    plain = "p o" if faint else "p d"
    room = room_in(width)
    out = [_sheet(x + 4, y + 4, width, plain)] if task.kind == "network" else []
    name = shortened(task.name, room, 13, bold=True) or "?"
    (first, after), (last, _) = _lines(task, room)
    colour = "" if state is None or (faint and not hue) else f"f{hue}" if hue else "n"
    out += [
        _sheet(x, y, width, plain, hue),
        mark(task.lane, x + 11, y + 9.5, task.kind),
        text(x + _LEFT, y + 19, name, "b" if faint else "n b"),
        icon(state.icon, state.hue, x + 10, y + 26) if state else "",
        text(x + _LEFT, y + 36, shortened(first, room), colour, after=after),
        text(x + _LEFT, y + 51, shortened(last, room)),
    ]
    if any(each.endswith("…") for each in (name, after)):  # for who opens the picture by itself
        out = ["<g><title>", attr(f"{one_line(task.name, 200)} · {who_does(task)}"), "</title>",
               *out, "</g>"]  # fmt: skip
    return "".join(out)


def _sheet(x: float, y: float, width: float, plain: str, hue: str = "") -> str:
    """A box, in the colour of what a person should look at."""
    look = f'class="b{hue} s{hue}" stroke-width="1.6"' if hue else f'class="{plain}"'
    size = f'width="{number(width)}" height="{HEIGHT}" rx="6"'
    return f'<rect {look} x="{number(x)}" y="{number(y)}" {size}/>'


def beside(task: TaskFacts, word: str, room: float) -> str:
    """Who does the task, to follow its state: where that is another name and there is room."""
    who = who_does(task)
    left = room - wide(word) - wide(" · ")
    if who.casefold() == task.name.casefold() or left < min(_LEAST, wide(who)):
        return ""
    return f" · {shortened(who, left)}"


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


# -- many tasks ----------------------------------------------------------------------------


def _by_phase(facts: NetworkFacts, renderer: str) -> _Drawn:
    found = placed(facts, MOST_PHASES, renderer)
    edges = {
        (route.source, route.target): EdgeFacts(
            route.source,
            route.target,
            passed=not facts.status or found.begun[route.target],
        )
        for route in found.places.routes
    }
    drawn = _edges(found.places, edges) + found.boxes
    entries = [("", f"{len(facts.tasks):,} tasks: more than {MOST_BOXES} are drawn by phase")]
    entries += _meanings(list(edges.values()), live=facts.live, declared=not facts.status)
    return _Drawn(drawn, found.places.width + 2 * PAD, found.places.height, entries, [])


# -- edges ---------------------------------------------------------------------------------


def _edges(where: Layout, edges: Mapping[tuple[int, int], EdgeFacts]) -> str:
    """All edges, one path for each kind of line, the thin ones below."""
    lines: dict[tuple[bool, bool], list[str]] = defaultdict(list)
    heads: dict[bool, dict[str, None]] = defaultdict(dict)
    for route in where.routes:
        edge = edges[route.source, route.target]
        lines[edge.passed, edge.optional].append(curve(route.points))
        x, y = route.points[-1]
        heads[edge.passed][f"M{number(x + PAD)} {number(y + PAD)}l-7-3.5v7z"] = None
    out = []
    for (passed, optional), drawn in sorted(lines.items()):
        look = ("w z" if passed else "v d") + (" q" if optional else "")
        out.append(f'<path class="{look}" d="{"".join(drawn)}"/>')
    for passed, tips in sorted(heads.items()):
        out.append(f'<path class="{"x" if passed else "h"}" d="{"".join(tips)}"/>')
    return "".join(out)


def curve(points: Sequence[Point]) -> str:
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
