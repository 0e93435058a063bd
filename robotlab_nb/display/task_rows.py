"""The tasks of a network as rows: an outline for places without pictures, tables, a strip of marks.

Draws :mod:`.network_facts` as neutral lines; of many tasks it keeps those to look at.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .amounts import cost, dollars, seconds, tokens
from .escape import one_line
from .parts import Bit, Para, Table, dots, meter, quiet, state_bit
from .states import state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .network_facts import NetworkFacts, TaskFacts
    from .parts import Block, Inline, Line

__all__ = ["counts", "marks", "outline", "strip", "table", "who"]

#: Tasks shown: in an outline, in a table, in a strip.
_OUTLINED, _TABLED, _MARKED = 24, 200, 24
#: Seconds: a shorter wait for a slot is not worth a column.
_WAITED = 0.02
#: A chain of words in one cell.
_WORDS = 120


def strip(facts: NetworkFacts) -> Line:
    """One mark for each task, in order; numbers where there are many."""
    return marks([task.status for task in facts.tasks])


def marks(statuses: Sequence[object]) -> Line:
    """One mark for each status, in order; numbers where there are many."""
    states = [state_of(status) for status in statuses]
    if len(states) <= _MARKED:
        found = [(state.icon, state.hue) for state in states]
    else:
        numbers = Counter((state.icon, state.hue) for state in states)
        found = [(f"{icon}{number} ", hue) for (icon, hue), number in numbers.items()]
    line: list[Inline] = []
    for text, hue in found:
        if hue:
            line.append(Bit("", "mark", icon=text, hue=hue))
        elif line and isinstance(line[-1], str):
            line[-1] += text
        else:
            line.append(text)
    return tuple(line)


def counts(facts: NetworkFacts) -> Line:
    """How many tasks are in which state."""
    found = Counter(state_of(task.status) for task in facts.tasks)
    return dots(
        *(f"{state.icon}\u00a0{number:,}\u00a0{state.word}" for state, number in found.items())
    )


def who(task: TaskFacts) -> Line:
    """Who does a task: a robot's mark and name, or what it is."""
    name = one_line(task.robot, 60)
    if task.lane is None or not name:
        return (quiet(_name(task)),)
    return (Bit("", "mark", icon=task.lane.shape, hue=task.lane.hue), "\u00a0", name)


def outline(facts: NetworkFacts) -> tuple[tuple[Line, ...], ...]:
    """A row for each task that says what its box says."""
    shown = _chosen(facts.tasks, _OUTLINED)
    width = 6 if facts.status else 3
    rows = [_happened(task) if facts.status else _declared(task) for task in shown]
    left = len(facts.tasks) - len(shown)
    if left:
        rows.append(((f"… {left:,} more tasks",), *((),) * (width - 1)))
    return tuple(rows)


def table(facts: NetworkFacts) -> Iterable[Block]:
    """All that is known of each task, as a table.

    Yields
    ------
    Block
        The table, and a word on what was left out.
    """
    shown = _chosen(facts.tasks, _TABLED)
    columns = _RUN if facts.status else _PLAN
    cells = [[draw(task) for _, draw, _ in columns] for task in shown]
    used = [n for n in range(len(columns)) if n < 3 or any(row[n] for row in cells)]
    yield Table(
        tuple(columns[n][0] for n in used),
        tuple(tuple(row[n] for n in used) for row in cells),
        frozenset(at for at, n in enumerate(used) if columns[n][2]),
    )
    left = len(facts.tasks) - len(shown)
    if left:
        yield Para((quiet(f"… {left:,} more tasks"),))


def _chosen(tasks: Sequence[TaskFacts], most: int) -> list[TaskFacts]:
    """Of many tasks those that a person should look at, then the first ones; in their order."""
    if len(tasks) <= most:
        return list(tasks)
    loud = [n for n, task in enumerate(tasks) if task.status and state_of(task.status).hue]
    kept = dict.fromkeys([*loud[:most], *range(len(tasks))])
    return [tasks[n] for n in sorted(list(kept)[:most])]


# -- the outline ---------------------------------------------------------------------------


def _declared(task: TaskFacts) -> tuple[Line, ...]:
    return (one_line(task.name, 60),), (_name(task),), (_needs(task, after=True),)


def _happened(task: TaskFacts) -> tuple[Line, ...]:
    state = state_of(task.status)
    amount = dollars(task.usage.cost_usd) if task.usage is not None and task.usage.calls else None
    # A notice tells a failed task's error, and its dependencies say more here.
    why = "" if task.error else _why(task)
    return (
        (f"{state.icon} {one_line(task.name, 60)}",),
        (state.word.partition(" ")[0],),
        (_name(task),),
        (seconds(task.worked_s) or "",),
        (amount or "",),
        (" · ".join(each for each in (task.progress, why) if each) or _needs(task, after=True),),
    )


def _name(task: TaskFacts) -> str:
    name = one_line(task.robot or task.network, 60)
    return f"network {name}" if task.network and not task.robot else name or task.kind


def _needs(task: TaskFacts, *, after: bool = False) -> str:
    """What a task needs, and how it was declared beside that."""
    names = _names(task)
    words = f"after {names}" if names and after else names
    traits = _traits(task)
    return one_line(f"{words} ({traits})" if words and traits else words or traits, _WORDS * 2)


def _names(task: TaskFacts) -> str:
    return one_line(", ".join(one_line(name, 60) for name in task.depends_on), _WORDS * 2)


def _traits(task: TaskFacts) -> str:
    found = []
    if task.optional:
        found.append("has a condition" if task.conditional else "optional")
    if task.routes and not task.status:
        found.append(f"routes, else {one_line(task.fallback, 60)}" if task.fallback else "routes")
    if task.on_failure in ("continue", "stop"):
        found.append(f"on failure {task.on_failure}")
    return ", ".join((*found, *task.traits))


def _why(task: TaskFacts) -> str:
    """Why a task stands as it does."""
    if task.error:
        kind = one_line(task.error.get("type") or "error", 60)
        message = one_line(task.error.get("message") or "", _WORDS)
        return f"{kind}: {message}" if message else kind
    if task.route:
        return f"→ {', '.join(one_line(name, 60) for name in task.route)}"
    return one_line(task.note, _WORDS)


# -- columns of the tables -----------------------------------------------------------------


def _worded(words: str | None) -> Line:
    return (words,) if words else ()


def _task(task: TaskFacts) -> Line:
    return (one_line(task.name, 80),)


def _state(task: TaskFacts) -> Line:
    return (state_bit(task.status),)


def _needed(task: TaskFacts) -> Line:
    return _worded(_needs(task))


def _depends(task: TaskFacts) -> Line:
    return _worded(_names(task))


def _runs(task: TaskFacts) -> Line:
    return _worded(_traits(task))


def _waited(task: TaskFacts) -> Line:
    waited = task.waited_s if task.waited_s and task.waited_s >= _WAITED else None
    return _worded(seconds(waited))


def _worked(task: TaskFacts) -> Line:
    return _worded(seconds(task.worked_s))


def _progress(task: TaskFacts) -> Line:
    if task.share is None:
        return _worded(task.progress)
    return (meter(task.share), f"\u00a0{task.progress}")


def _tokens(task: TaskFacts) -> Line:
    if task.usage is None or not task.usage.calls:
        return ()
    return (tokens(task.usage).replace("\u00a0tokens", ""),)


def _cost(task: TaskFacts) -> Line:
    return (cost(task.usage),) if task.usage is not None and task.usage.calls else ()


def _reason(task: TaskFacts) -> Line:
    return _worded(_why(task))


def _asked(task: TaskFacts) -> Line:
    return (one_line(task.prompt, _WORDS),) if task.prompt else ()


#: name, what is in it, whether it holds figures; the first three are always there
_PLAN = (
    ("task", _task, False), ("robot", who, False), ("depends on", _depends, False),
    ("runs", _runs, False), ("prompt", _asked, False),
)  # fmt: skip
_RUN = (
    ("task", _task, False), ("state", _state, False), ("robot", who, False),
    ("needs", _needed, False), ("progress", _progress, False), ("waited", _waited, True),
    ("worked", _worked, True), ("tokens", _tokens, True), ("cost", _cost, True),
    ("why", _reason, False),
)  # fmt: skip
