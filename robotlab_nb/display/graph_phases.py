"""The picture of a network of very many tasks: a box for each phase, with counts of states."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from .graph_layout import WIDTH, layout, phases
from .states import state_of
from .svg_parts import PAD, icon, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .graph_layout import Layout
    from .network_facts import NetworkFacts

__all__ = ["Phases", "placed"]

#: Where words start beside an icon.
_LEFT = 27


class Phases(NamedTuple):
    """Boxes of phases: as SVG, where they are, and whether each has begun."""

    boxes: str
    places: Layout
    begun: list[bool]


def placed(facts: NetworkFacts, most: int, renderer: str) -> Phases:
    """The phases of a network, in a row.

    Parameters
    ----------
    facts : NetworkFacts
    most : int
        How many boxes at most: neighbouring phases are joined.
    renderer : {"auto", "builtin", "dot"}
    """
    pairs = [(edge.source, edge.target) for edge in facts.edges]
    groups = phases(len(facts.tasks), pairs, most)
    counts = [
        Counter(facts.tasks[place].status for place in places if facts.tasks[place].status)
        for _, _, places in groups
    ]
    height = 46 + 16 * max(map(len, counts), default=0)
    chain = [(n, n + 1) for n in range(len(groups) - 1)]
    where = layout(len(groups), chain, renderer=renderer, height=height)
    begun = [any(facts.tasks[p].started_s is not None for p in places) for *_, places in groups]
    drawn = []
    for (first, last, places), found, (x, y) in zip(groups, counts, where.boxes, strict=True):
        name = f"phase {first + 1}" if first == last else f"phases {first + 1}–{last + 1}"
        drawn.append(_phase(name, len(places), found, x + PAD, y + PAD, height))
    return Phases("".join(drawn), where, begun)


def _phase(
    name: str, count: int, found: Mapping[str, int], x: float, y: float, height: float
) -> str:
    hues = {state_of(status).hue[1:] for status in found} - {""}
    hue = next((each for each in "wfr" if each in hues), "")
    look = f'class="b{hue} s{hue}" stroke-width="1.6"' if hue else 'class="p d"'
    size = f'width="{WIDTH}" height="{number(height)}" rx="6"'
    out = [
        f'<rect {look} x="{number(x)}" y="{number(y)}" {size}/>',
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
