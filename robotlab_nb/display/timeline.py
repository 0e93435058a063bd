"""The picture of when the tasks of a network worked, and when they waited.

A bar is work, dots are waiting for a free slot, a dashed bar is waiting for a person. Draws
:mod:`.network_facts` and nothing else, in the same theme as the picture of the graph.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .amounts import moment, seconds
from .escape import one_line
from .parts import Image
from .states import state_of
from .svg_parts import PAD, chip, document, icon, legend, mark, number, shortened, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .network_facts import NetworkFacts, TaskFacts

__all__ = ["MOST_ROWS", "critical", "timeline", "told"]

#: Of more tasks than this those are drawn that took longest or that a person should look at.
MOST_ROWS = 100
_ROW, _TOP = 24, 34
#: Where the scale begins and ends, and the room for names before it and figures after it.
_START, _END, _WIDTH = 132, 768, 900
_NAMES = _START - 30 - 8
_LEFT_OUT = "which took less time"
#: Seconds: shorter waits for a slot are not seen.
_SEEN = 0.02


def timeline(facts: NetworkFacts) -> Image | None:
    """A bar for each task, on one scale of seconds.

    Parameters
    ----------
    facts : NetworkFacts
        Of a run.

    Returns
    -------
    Image or None
        None where no task has started.

    Examples
    --------
    >>> from robotlab_nb.display.network_facts import facts_of
    >>> from robotlab_nb.network.network import create_network
    >>> net = create_network("count")
    >>> task = net.task("first", lambda message: len(message))
    >>> "first completed" in timeline(facts_of(net.run("hello"))).alt
    True
    """
    began = [task for task in facts.tasks if task.started_s is not None]
    if not began:
        return None
    total = max(facts.elapsed_s or 0.0, *((t.started_s or 0) + (t.worked_s or 0) for t in began))
    scale = _Scale(total or 1e-3)
    rows = _chosen(facts.tasks)
    bottom = _TOP + _ROW * len(rows)
    body = [_grid(scale, bottom)]
    body += [_row(task, scale, _TOP + _ROW * at) for at, task in enumerate(rows)]
    if facts.live:
        now = number(scale.at(total))
        body.append(f'<path class="w sr" d="M{now} {_TOP - 6}V{bottom}"/>')
    left = len(facts.tasks) - len(rows)
    if left > 0:
        bottom += _ROW
        body.append(text(30, bottom - 8, f"… {left:,} more tasks, {_LEFT_OUT}"))
    key, end = legend(bottom + 20, _meanings(rows, facts, total), _START)
    if facts.simulated:
        key += chip(end + 20, bottom + 20, "simulated")[0]
    name, words = one_line(facts.name, 80), told(facts)
    whole = document(_WIDTH, bottom + 38, f"Timeline of network {name}", words, "".join(body) + key)
    return Image(whole, words, _WIDTH)


def told(facts: NetworkFacts) -> str:
    """The timeline in words.

    Parameters
    ----------
    facts : NetworkFacts
    """
    end = seconds(facts.elapsed_s) or "an unknown time"
    began = sum(task.started_s is not None for task in facts.tasks)
    words = []
    for task in _chosen(facts.tasks):
        if task.started_s is None:
            continue
        waited = task.waited_s if task.waited_s and task.waited_s > _SEEN else None
        held = sum(wait or 0.0 for _, wait in task.held)
        words.append(
            f"{one_line(task.name, 80)} {state_of(task.status).word}, "
            f"from {moment(task.started_s)} for {seconds(task.worked_s) or 'an unknown time'}"
            + (f" after waiting {seconds(waited)}" if waited else "")
            + (f", {seconds(held)} of it waiting for a person" if held > _SEEN else "")
        )
    left = began - len(words)
    more = f"; and {left:,} more, {_LEFT_OUT}" if left else ""
    return f"Timeline of {one_line(facts.name, 80)}, {end}. {'; '.join(words)}{more}."


def critical(facts: NetworkFacts) -> tuple[str, ...]:
    """The chain of tasks that the run's length came from: each waited for the one before.

    Parameters
    ----------
    facts : NetworkFacts

    Returns
    -------
    tuple of str
        Names, in order; empty where nothing ended.
    """

    def end(task: TaskFacts) -> float:
        return (task.started_s or 0.0) + (task.worked_s or 0.0)

    known = {task.name: task for task in facts.tasks if task.started_s is not None}
    if not known:
        return ()
    here = max(known.values(), key=end)
    chain = [here.name]
    while True:
        before = [known[n] for n in here.depends_on if n in known and n not in chain]
        if not before:
            return tuple(reversed(chain))
        here = max(before, key=end)
        chain.append(here.name)


class _Scale:
    """Seconds to pixels, and where its lines are."""

    def __init__(self, total: float) -> None:
        self.total = total
        rough = total / 6
        power = 10.0 ** math.floor(math.log10(rough))
        # A sum of times that is off by its last bit has the lines of the sum that is meant.
        least = rough * (1 - 1e-9)
        self.step = next(step * power for step in (1, 2, 5, 10) if step * power >= least)

    @property
    def end(self) -> float:
        return self.at(self.total)

    def at(self, when: float) -> float:
        return _START + (_END - _START) * min(max(when / self.total, 0.0), 1.0)

    def lines(self) -> list[float]:
        count = math.floor(self.total / self.step + 1e-9)
        return [self.step * n for n in range(count + 1)]


def _chosen(tasks: Sequence[TaskFacts]) -> list[TaskFacts]:
    """The tasks that have a row, in order of start."""
    places = list(range(len(tasks)))
    if len(places) > MOST_ROWS:

        def matters(place: int) -> tuple[bool, bool, float, int]:
            task = tasks[place]
            quiet = not (task.status and state_of(task.status).hue)
            return task.started_s is None, quiet, -(task.worked_s or 0.0), place

        places = sorted(places, key=matters)[:MOST_ROWS]
    return [tasks[place] for place in sorted(places, key=lambda place: _when(tasks[place], place))]


def _when(task: TaskFacts, place: int) -> tuple[bool, float, int]:
    """In order of start; what never started stays as declared, at the end."""
    return task.started_s is None, task.started_s or 0.0, place


def _grid(scale: _Scale, bottom: float) -> str:
    lines = [number(scale.at(when)) for when in scale.lines()]
    drawn = "".join(f"M{x} {_TOP - 4}V{number(bottom)}" for x in lines)
    words = [
        text(scale.at(when), _TOP - 14, _tick(when, scale.step), anchor="middle")
        for when in scale.lines()
    ]
    return f'<path class="v o" d="{drawn}"/>{"".join(words)}'


def _tick(when: float, step: float) -> str:
    """A moment in the unit that suits the distance between two of them."""
    if step < 1:
        return f"{when * 1e3:.3g} ms" if when < 0.9995 else f"{when:.1f} s"
    if step < 60:
        return f"{when:.0f} s"
    return seconds(when) or "" if when else "0 s"


def _row(task: TaskFacts, scale: _Scale, top: float) -> str:
    state = state_of(task.status)
    colour = f"f{state.hue[1:]}" if state.hue else ""
    out = [
        mark(task.lane, PAD - 2, top + 3, task.kind),
        text(30, top + 12, shortened(task.name, _NAMES), "n" if task.started_s is not None else ""),
    ]
    if task.started_s is None:
        said = f"{state.word}: {one_line(task.note, 120)}" if task.note else state.word
        return "".join([*out, *_said(state.icon, state.hue, _START + 2, top, said, colour)])
    start = scale.at(task.started_s)
    waited = task.waited_s or 0.0
    slot = scale.at(task.started_s - waited)
    if waited > _SEEN and start - slot >= 4:
        out.append(
            f'<path class="z" stroke-width="2" stroke-dasharray="1.5 3.5" '
            f'd="M{number(slot + 2)} {number(top + 8)}H{number(start - 2)}"/>'
        )
    end = scale.at(task.started_s + (task.worked_s or 0.0))
    hue = task.lane.hue if task.lane is not None else "x"
    size = max(end - start, 2)
    out.append(
        f'<rect class="{hue}" x="{number(start)}" y="{number(top + 3)}" '
        f'width="{number(size)}" height="10" rx="{number(min(3, size / 2))}"/>'
    )
    end = start + size
    figure = seconds(task.worked_s) or state.word
    held = task.held
    if task.status == "waiting" and all(wait is not None for _, wait in held):
        held = (*held, (task.started_s + (task.worked_s or 0.0), None))
    for since, wait in held:
        until = scale.total if wait is None else since + wait
        left = scale.at(since) + (1 if wait is None else 0)
        right = max(scale.at(until), left + 3)
        out.append(_person(left, right, top))
        end = max(end, right)
    if task.status == "waiting":
        asked = scale.total - min(since for since, wait in held if wait is None)
        figure = f"{seconds(asked)} for you" if asked > 0 else state.word
    out += _said(state.icon, state.hue, end + 8, top, figure, colour)
    return "".join(out)


def _person(left: float, right: float, top: float) -> str:
    """A wait for a person, above the work around it."""
    size = f'width="{number(right - left)}" height="10" rx="3"'
    where = f'x="{number(left)}" y="{number(top + 3)}"'
    return f'<rect class="bw sw" stroke-dasharray="3 2.5" {where} {size}/>'


def _said(shape: str, hue: str, x: float, top: float, words: str, colour: str) -> list[str]:
    """A state's icon and words beside a bar, readable where they cross the grid."""
    room = _WIDTH - PAD - x - 17
    return [
        icon(shape, hue, x, top + 2),
        text(x + 17, top + 12, shortened(words, room), f"e {colour}".strip()),
    ]


def _meanings(rows: list[TaskFacts], facts: NetworkFacts, total: float) -> list[tuple[str, str]]:
    out = [('<rect class="x" y="-5" width="22" height="10" rx="3"/>', "at work")]
    if any((task.waited_s or 0) > _SEEN for task in rows):
        dots = '<path class="z" stroke-width="2" stroke-dasharray="1.5 3.5" d="M1 0h21"/>'
        out.append((dots, "waiting for a free slot"))
    if any(task.status == "waiting" or task.held for task in rows):
        dashed = (
            '<rect class="bw sw" stroke-dasharray="3 2.5" y="-4.5" width="22" height="9" rx="3"/>'
        )
        out.append((dashed, "waiting for a person"))
    if facts.live:
        out.append(('<path class="w sr" d="M11-6V6"/>', f"now, {seconds(total)}"))
    return out
