"""The head of a live view: the run's own row, and one row per task.

Readings of a run's state and of a network's facts; words and icons are those of the pictures that
stand still. Knows no transcript and no widget.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..display import graph_picture as picture
from ..display.amounts import cost, count, dollars, seconds, tokens
from ..display.attempt_rows import who_answered
from ..display.escape import one_line
from ..display.graph_layout import WIDTH
from ..display.states import state_of
from ..display.svg_parts import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.state import RunState
    from ..core.usage import Usage
    from ..display.network_facts import NetworkFacts, TaskFacts

__all__ = ["run_row", "task_rows"]

#: Most tasks that have a row of their own; the run's row counts all of them.
TASKS = picture.MOST_BOXES
_STRIP = 24
_GOES_ON = frozenset({"running", "waiting"})

Row = dict[str, Any]


def run_row(state: RunState, facts: NetworkFacts | None = None) -> Row:
    """What a run is called, what it is at, and what it took so far.

    Parameters
    ----------
    state : RunState
    facts : NetworkFacts, optional
        Of a network's state.

    Returns
    -------
    dict
        ``name, kind, icon, word, hue, live, sim, figures``; for a network ``tasks`` (how many),
        ``strip`` (a mark per task) and ``counts``; ``fault`` when it failed.

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
    if facts is not None and facts.tasks:
        marks = [state_of(task.status) for task in facts.tasks]
        row["tasks"] = len(marks)
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


def task_rows(facts: NetworkFacts, width: float = WIDTH) -> Iterator[tuple[str, Row]]:
    """One row per task of a network: its name, who does it, its state and why.

    Parameters
    ----------
    facts : NetworkFacts
    width : float, optional
        Of a box in the graph, in pixels.

    Yields
    ------
    (str, dict)
        A key ``T0 …`` and ``name, who, icon, word, hue, note``; for its box in the graph
        ``beside, line, faint, since, took, cost``: while it works, ``since`` is when it began in
        seconds from the start, and its time is counted by who shows it.

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> from robotlab_nb.core.state import RunState
    >>> from robotlab_nb.display.network_facts import facts_of
    >>> scope = Scope("r", "r", None, 0, "network", ("net",), None)
    >>> graph = [{"task": "a", "kind": "robot", "robot": "bot"}]
    >>> state = RunState.fold([Event("run.started", scope, 0, 0.0, {"graph": graph})])
    >>> [(row["name"], row["who"], row["word"]) for _, row in task_rows(facts_of(state))]
    [('a', 'bot', 'pending')]
    """
    room = picture.room_in(width)
    for at, task in enumerate(facts.tasks[:TASKS]):
        found = state_of(task.status)
        runs = task.status == "running"
        who = task.robot or task.network or task.kind
        error = (task.error or {}).get("message")
        # That it has just begun is told by its time.
        note = one_line(str(error or ("" if runs else task.note)), 160)
        took = "" if runs else seconds(task.worked_s) or ""
        yield (
            f"T{at}",
            {
                "name": one_line(task.name, 60),
                "who": "" if who == task.name else one_line(who, 60),
                "icon": found.icon,
                "word": found.word,
                "hue": found.hue,
                "note": " · ".join(words for words in (task.progress, note or took) if words),
                "beside": picture.beside(task, found.word, room),
                "line": _line(task, room),
                "faint": task.status in picture.FAINT,
                "since": round(task.started_s, 2) if runs and task.started_s is not None else None,
                "took": took,
                "cost": _amount(task.usage),
            },
        )


def _line(task: TaskFacts, room: float) -> str:
    """The last line of a task's box where that is not its time: why it stands so, how far it is."""
    words = "" if task.status == "running" else task.note
    if not words and task.progress:
        words = task.progress.replace(" done", "").removeprefix("restored ")
        words = words.rpartition(", ")[2] if task.status == "restored" else words
    return shortened(one_line(words, 120), room)


def _amount(usage: Usage | None) -> str:
    """What a task has cost so far, short; empty where no model was asked."""
    if usage is None or not usage.calls:
        return ""
    amount = dollars(usage.cost_usd)
    if amount is None:
        return "cost unknown"
    return amount if usage.cost_complete else f"≥ {amount}"
