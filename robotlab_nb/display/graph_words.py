"""What the picture of a network says, in words: every task, who does it, and where it stands."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .amounts import seconds
from .escape import one_line
from .states import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .network_facts import NetworkFacts, TaskFacts

__all__ = ["MOST_BOXES", "task_told", "told", "traits_told", "who_does"]

#: More tasks than this are told, and drawn, by phase.
MOST_BOXES = 150


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
    return f"{', '.join(head)}. {'; '.join(map(task_told, facts.tasks))}."


def task_told(task: TaskFacts) -> str:
    """A task in words: what was declared of it, or where it stands.

    Parameters
    ----------
    task : TaskFacts
    """
    name = one_line(task.name, 80)
    if not task.status:
        needs = [one_line(need, 80) for need in task.depends_on]
        after = f"after {' and '.join(needs)}" if needs else ""
        words = [name, who_does(task), after, *traits_told(task), *task.traits]
        return ", ".join(word for word in words if word)
    words = [state_of(task.status).word, task.progress, seconds(task.worked_s) or ""]
    words.append(one_line(task.note, 120))
    return f"{name} {', '.join(word for word in words if word)}"


def who_does(task: TaskFacts) -> str:
    """The robot or network that does a task; else what kind of task it is.

    Parameters
    ----------
    task : TaskFacts
    """
    return one_line(task.robot or task.network, 80) or task.kind


def traits_told(task: TaskFacts) -> list[str]:
    """What was declared of a task beside its needs.

    Parameters
    ----------
    task : TaskFacts
    """
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


def _counted(tasks: Sequence[TaskFacts]) -> str:
    counts = Counter(state_of(task.status).word for task in tasks if task.status)
    words = [f"{number:,} {word}" for word, number in counts.items()]
    return f"{len(tasks):,} tasks" + (f": {', '.join(words)}" if words else "")


def _remarkable(tasks: Sequence[TaskFacts], most: int = 50) -> str:
    """Those of many tasks that a person should look at."""
    found = [task for task in tasks if task.status and state_of(task.status).hue]
    more = f" and {len(found) - most:,} more" if len(found) > most else ""
    return "; ".join(map(task_told, found[:most])) + more + "." if found else ""
