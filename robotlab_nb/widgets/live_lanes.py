"""The lanes of a live view: one row per robot, when it worked and waited, what it does now.

Readings of a :class:`~robotlab_nb.core.state.RunState`; words and icons are those of the
pictures that stand still. Knows no transcript and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..display.amounts import seconds
from ..display.escape import one_line
from ..display.lanes import lanes
from ..display.states import state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.state import RunState
    from ..display.network_facts import NetworkFacts, TaskFacts

__all__ = ["HELD", "SLOT", "WORK", "lane_rows"]

#: Most lanes; the run's row counts all.
LANES = 24
#: What a part of a track shows: work, waiting for a free slot, waiting for a person.
WORK, SLOT, HELD = 0, 1, 2
#: Parts of one track, and seconds: shorter parts are not seen.
_SPANS, _SEEN = 24, 0.02
_FREE = "waits for a free slot"

Row = dict[str, Any]
#: a start and an end; one that goes on has no end
Span = tuple[float, float]
_OPEN = float("inf")


def lane_rows(
    state: RunState, doing: Mapping[str, str], facts: NetworkFacts | None = None
) -> Iterator[tuple[str, Row]]:
    """One row per robot and per function of a network: who it is, when it worked, what it does.

    Parameters
    ----------
    state : RunState
    doing : mapping of str to str
        What a run does now, by run id, where that is known better than from its state.
    facts : NetworkFacts, optional
        Of a network's state.

    Yields
    ------
    (str, dict)
        A key ``L0 …`` and ``name, shape, hue, icon, say, tone, spans``; a span is seconds from
        the start, the end None while it goes on, and what it shows.

    Examples
    --------
    >>> from robotlab_nb.core.events import Scope
    >>> from robotlab_nb.core.state import RunState
    >>> state = RunState(Scope("r", "r", None, 0, "robot", ("bot",), "bot"))
    >>> [(row["shape"], row["name"], row["say"]) for _, row in lane_rows(state, {})]
    [('●', 'bot', 'pending')]
    """
    runs: dict[str, list[RunState]] = {}
    for run in sorted((r for r in state.walk() if r.scope.robot), key=lambda r: r.started_s):
        runs.setdefault(str(run.scope.robot), []).append(run)
    tasks: dict[str, list[TaskFacts]] = {}
    for task in facts.tasks if facts else ():
        tasks.setdefault(task.robot or task.name, []).append(task)
    # As in the picture of the network: by the order declared, then of first start.
    doers = (name for name, given in tasks.items() if given[0].kind != "function")
    marks = lanes([*doers, *runs])
    ends = {t.name: _end(t) for t in facts.tasks} if facts else {}
    for at, name in enumerate(list(dict.fromkeys([*tasks, *runs]))[:LANES]):
        shape, hue = marks.get(name, ("ƒ", ""))
        row: Row = {"name": one_line(name, 40), "shape": shape, "hue": hue}
        robots, given = runs.get(name, []), tasks.get(name, [])
        row.update(_standing(robots, given, doing))
        row["spans"] = _track(
            _worked(state, robots, given), _slots(given, ends), _held(state, robots, given)
        )
        yield f"L{at}", row


def _standing(
    runs: list[RunState], tasks: list[TaskFacts], doing: Mapping[str, str]
) -> dict[str, str]:
    """What a robot is at: its own doing while it works, else how its last work ended."""
    for run in reversed(runs):
        if not run.ended:
            return _say(run.status, None if run.status == "waiting" else _doing(run, doing))
    latest = _latest(tasks) if tasks else None
    status = latest.status if latest else runs[-1].status if runs else "pending"
    if latest and latest.status == "pending" and latest.note == _FREE:
        return _say(status, _FREE)
    took = sum((run.duration_s or 0.0) for run in runs) or sum(t.worked_s or 0.0 for t in tasks)
    return _say(status, None, seconds(took) if took and status not in _GOES_ON else None)


def _latest(tasks: list[TaskFacts]) -> TaskFacts:
    """The task that tells where its robot stands: one that goes on, else the last that did."""
    started = [t for t in tasks if t.started_s is not None]
    if started:
        return max(started, key=lambda t: (t.status in _GOES_ON, t.started_s or 0.0))
    return next((t for t in tasks if t.status == "pending"), tasks[-1])


_GOES_ON = frozenset({"running", "waiting"})


def _doing(run: RunState, doing: Mapping[str, str]) -> str | None:
    busy = [call.tool for call in run.tool_calls.values() if call.status == "running"]
    if busy:
        more = f" and {len(busy) - 1} more" if len(busy) > 1 else ""
        return f"calls {one_line(busy[0], 24)}{more}"
    return doing.get(run.scope.run_id)


def _say(status: str, instead: str | None, took: str | None = None) -> dict[str, str]:
    found = state_of(status)
    words = instead or found.word
    say = f"{words} · {took}" if took else words
    return {"icon": found.icon, "say": say, "tone": found.hue}


# -- when it worked, and when it waited ------------------------------------------------------


def _end(task: TaskFacts) -> float | None:
    """When a task was over, in seconds from the network's start; None while it goes on."""
    if task.status in ("pending", "running", "waiting"):
        return None
    return (task.started_s or 0.0) + (task.worked_s or 0.0)


def _worked(state: RunState, runs: list[RunState], tasks: list[TaskFacts]) -> Iterator[Span]:
    if runs:
        for run in runs:
            start = run.started_s - state.started_s
            if run.status != "pending":
                yield start, _OPEN if run.duration_s is None else start + run.duration_s
        return
    for task in tasks:
        if task.started_s is not None:
            over = _end(task)
            yield task.started_s, _OPEN if over is None else over


def _slots(tasks: list[TaskFacts], ends: Mapping[str, float | None]) -> Iterator[Span]:
    for task in tasks:
        if task.started_s is not None:
            if (task.waited_s or 0.0) > _SEEN:
                yield task.started_s - (task.waited_s or 0.0), task.started_s
        elif task.status == "pending" and task.note == _FREE:
            yield max((ends.get(name) or 0.0 for name in task.depends_on), default=0.0), _OPEN


def _held(state: RunState, runs: list[RunState], tasks: list[TaskFacts]) -> Iterator[Span]:
    named = {task.name for task in tasks}
    own = [asked for asked in state.asked.values() if asked.task in named]
    for asked in [*own, *(a for run in runs for a in run.asked.values())]:
        start = asked.asked_s - state.started_s
        pending = asked.status == "pending"
        yield start, _OPEN if pending else start + (asked.waited_s or 0.0)


def _track(
    worked: Iterable[Span], slots: Iterable[Span], held: Iterable[Span]
) -> list[list[float | int | None]]:
    """The parts of a track: where a person was waited for, no work is shown."""
    by_person = _joined(held)
    kinds = (_joined(slots), SLOT), (_without(_joined(worked), by_person), WORK), (by_person, HELD)
    parts = sorted((*span, kind) for spans, kind in kinds for span in spans)
    return [
        [round(start, 2), None if end == _OPEN else round(end, 2), kind]
        for start, end, kind in parts[-_SPANS:]
    ]


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Spans that overlap as one; of many, also those that are hardly apart."""
    ordered = sorted(spans)
    apart = 0.0
    if len(ordered) > _SPANS:
        apart = max(start if end == _OPEN else end for start, end in ordered) / 100
    found: list[Span] = []
    for start, end in ordered:
        if found and start < found[-1][1] + apart:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _without(spans: list[Span], holes: list[Span]) -> Iterator[Span]:
    """What is left of spans outside the holes."""
    for start, end in spans:
        for left, right in holes:
            if right <= start or left >= end:
                continue
            if left - start > _SEEN:
                yield start, left
            start = right
        if end - start > _SEEN or (start, end) in spans:
            yield start, end
