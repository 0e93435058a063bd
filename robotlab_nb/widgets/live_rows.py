"""The head of a live view: the run's own row, one row per robot, one per task.

Readings of a :class:`~robotlab_nb.core.state.RunState`; words and icons are those of the
pictures that stand still. Knows no transcript and no widget.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..display.amounts import cost, count, seconds, tokens
from ..display.attempt_rows import who_answered
from ..display.escape import one_line
from ..display.lanes import lanes
from ..display.states import state_of
from ..display.task_progress import progress_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..core.state import RunState, TaskState

__all__ = ["lane_rows", "run_row", "task_rows"]

#: Most lanes and tasks that have a row of their own; the run's row counts all of them.
LANES, TASKS = 24, 60
_STRIP = 24
_SPANS = 12

Row = dict[str, Any]


def run_row(state: RunState) -> Row:
    """What a run is called, what it is at, and what it took so far.

    Parameters
    ----------
    state : RunState

    Returns
    -------
    dict
        ``name, kind, icon, word, hue, live, sim, figures``; for a network ``strip`` (a mark per
        task) and ``counts``; ``fault`` when it failed.

    Examples
    --------
    >>> from robotlab_nb.core.events import Scope
    >>> from robotlab_nb.core.state import RunState
    >>> row = run_row(RunState(Scope("r", "r", None, 0, "robot", ("bot",), "bot")))
    >>> row["name"], row["icon"], row["word"], row["live"]
    ('bot', '○', 'pending', True)
    """
    found = state_of(state.status)
    row: Row = {
        "name": one_line(str(state.info.get("name") or state.scope.path[-1]), 60),
        "kind": state.scope.kind,
        "icon": found.icon,
        "word": found.word,
        "hue": found.hue,
        "live": not state.ended,
        "sim": state.simulated,
        "figures": _figures(state),
    }
    if state.tasks:
        marks = [state_of(t.status) for t in state.tasks.values()]
        row["strip"] = [[m.icon, m.hue] for m in marks] if len(marks) <= _STRIP else []
        counted = Counter(marks)
        row["counts"] = [[m.icon, f"{n:,}\u00a0{m.word}", m.hue] for m, n in counted.items()]
    if state.error:
        row["fault"] = one_line(str(state.error.get("message") or "no message"), 600)
    return row


def _figures(state: RunState) -> str:
    runs = list(state.walk())
    calls = sum(len(each.model_calls) for each in runs)
    called = sum(len(each.tool_calls) for each in runs)
    usage = state.total_usage()
    cached = sum(call.cached for each in runs for call in each.model_calls.values())
    told = [
        *who_answered(state)[:1],
        count(calls, "call") + (f", {cached:,} cached" if cached else "") if calls else "",
        count(called, "tool call") if called else "",
        tokens(usage) if usage.calls else "",
        cost(usage) if usage.calls else "",
    ]
    return " · ".join(words for words in told if words)


def lane_rows(state: RunState, doing: Mapping[str, str]) -> Iterator[tuple[str, Row]]:
    """One row per robot and per function of a network: who it is, when it worked, what it does.

    Parameters
    ----------
    state : RunState
    doing : mapping of str to str
        What a run does now, by run id, where that is known better than from its state.

    Yields
    ------
    (str, dict)
        A key ``L0 …`` and ``name, shape, hue, icon, say, tone, spans``; spans are seconds from
        the start, the end None while it goes on.

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
    tasks: dict[str, list[TaskState]] = {}
    for task in state.tasks.values():
        tasks.setdefault(str(task.declared.get("robot") or task.name), []).append(task)
    # As in the picture of the network: by the order declared, then of first start.
    doers = (n for n, given in tasks.items() if given[0].declared.get("kind") != "function")
    marks = lanes([*doers, *runs])
    for number, name in enumerate(list(dict.fromkeys([*tasks, *runs]))[:LANES]):
        shape, hue = marks.get(name, ("ƒ", ""))
        row: Row = {"name": one_line(name, 40), "shape": shape, "hue": hue}
        robots, given = runs.get(name, []), tasks.get(name, [])
        row.update(_standing(robots, given, doing))
        row["spans"] = _spans(state, robots or given)
        yield f"L{number}", row


def _standing(
    runs: list[RunState], tasks: list[TaskState], doing: Mapping[str, str]
) -> dict[str, str]:
    """What a robot is at: its own doing while it works, else how its last work ended."""
    for run in reversed(runs):
        if not run.ended:
            return _say(run.status, None if run.status == "waiting" else _doing(run, doing))
    status = _latest(tasks) if tasks else runs[-1].status if runs else "pending"
    took = sum(each.duration_s or 0.0 for each in (runs or tasks))
    return _say(status, None, seconds(took) if took else None)


def _latest(tasks: list[TaskState]) -> str:
    started = [t for t in tasks if t.started_s is not None]
    if started:
        return max(started, key=lambda t: t.started_s or 0.0).status
    return next((t.status for t in tasks if t.status == "pending"), tasks[-1].status)


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


def _spans(state: RunState, works: list[RunState] | list[TaskState]) -> list[list[float | None]]:
    spans: list[list[float | None]] = []
    for work in works[-_SPANS:]:
        if work.started_s is None or (work.status == "pending"):
            continue
        start = work.started_s - state.started_s
        end = None if work.duration_s is None else round(start + work.duration_s, 2)
        spans.append([round(start, 2), end])
    return spans


def task_rows(state: RunState) -> Iterator[tuple[str, Row]]:
    """One row per task of a network: its name, who does it, its state and why.

    Parameters
    ----------
    state : RunState

    Yields
    ------
    (str, dict)
        A key ``T0 …`` and ``name, who, icon, word, hue, note``.

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> from robotlab_nb.core.state import RunState
    >>> scope = Scope("r", "r", None, 0, "network", ("net",), None)
    >>> graph = [{"task": "a", "kind": "robot", "robot": "bot"}]
    >>> state = RunState.fold([Event("run.started", scope, 0, 0.0, {"graph": graph})])
    >>> [(row["name"], row["who"], row["word"]) for _, row in task_rows(state)]
    [('a', 'bot', 'pending')]
    """
    for number, task in enumerate(list(state.tasks.values())[:TASKS]):
        found = state_of(task.status)
        who = str(task.declared.get("robot") or task.declared.get("kind") or "")
        error = (task.error or {}).get("message")
        note = one_line(str(error or task.reason or ""), 160)
        told = (progress_of(task).words, note or seconds(task.duration_s))
        yield (
            f"T{number}",
            {
                "name": one_line(task.name, 60),
                "who": "" if who == task.name else one_line(who, 60),
                "icon": found.icon,
                "word": found.word,
                "hue": found.hue,
                "note": " · ".join(words for words in told if words),
            },
        )
