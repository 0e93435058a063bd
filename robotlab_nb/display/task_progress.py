"""How far a task has come, in words: a map's items, a loop's turns, new tries, what was restored.

Reads what was declared of a task and what its state keeps, with patience: both may come from an
old log. Knows no network and no picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .amounts import count, dollars
from .escape import one_line

if TYPE_CHECKING:
    from ..core.records import TaskState

__all__ = ["Progress", "progress_of", "traits_of"]


class Progress(NamedTuple):
    """How far a task has come: in words, and as a share of 0 to 1 where the whole is known."""

    words: str = ""
    share: float | None = None


def progress_of(task: TaskState) -> Progress:
    """How far a task has come; without words where that is told by its state alone.

    Parameters
    ----------
    task : TaskState

    Examples
    --------
    >>> from robotlab_nb.core.records import TaskState
    >>> task = TaskState("read", {"loop": {"max_turns": 5}})
    >>> task.part("loop.turned", {"turn": 2}, 1.0)
    >>> progress_of(task)
    Progress(words='2 turns of 5', share=None)
    """
    mapped, share = _mapped(task)
    words = (_restored(task), mapped, _turned(task), _tried(task))
    return Progress(" · ".join(each for each in words if each), share)


def _restored(task: TaskState) -> str:
    if task.status != "restored" or not isinstance(task.restored_from, str):
        return ""
    cost = dollars(task.restored_cost)
    told = f"restored from run {one_line(task.restored_from, 60)[:6]}"
    return f"{told}, cost {cost} then" if cost else told


def _mapped(task: TaskState) -> tuple[str, float | None]:
    """A map's items: how many are done and failed, and of how many."""
    found = list(task.items.values()) if isinstance(task.items, Mapping) else []
    items = [getattr(item, "status", None) for item in found]
    if not items and not _whole(task.total):
        return "", None
    failed = items.count("failed")
    done = items.count("completed")
    total = task.total if _whole(task.total) else None
    told = f"{done:,} done" if total is None else f"{done:,} of {total:,} done"
    share = None if not total else min((done + failed) / total, 1.0)
    return f"{told}, {failed:,} failed" if failed else told, share


def _turned(task: TaskState) -> str:
    if not _whole(task.turns) or not task.turns:
        return ""
    most = _inside(task.declared, "loop").get("max_turns")
    told = count(task.turns, "turn").replace("\u00a0", " ")
    return f"{told} of {most:,}" if _whole(most) else told


def _tried(task: TaskState) -> str:
    """Which try it is at, where there was more than one."""
    tries = task.attempts
    if not _whole(tries) or tries < 2:
        return ""
    more: Any = _inside(task.declared).get("retries")
    return f"attempt {tries:,} of {more + 1:,}" if _whole(more) else f"attempt {tries:,}"


def traits_of(declared: Any, caps: Any = None) -> tuple[str, ...]:
    """How a task is done, as it was declared: map, loop, tries, its group and that one's cap.

    Parameters
    ----------
    declared : mapping
        What its network says of it.
    caps : mapping of str to int, optional
        Most robots at the same time, by group.

    Examples
    --------
    >>> traits_of({"map_over": "rows", "poller_group": "slow"}, {"slow": 2})
    ('for each item', 'group slow, at most 2')
    """
    told = _inside(declared)
    found = []
    if told.get("map_over") is not None:
        found.append("for each item")
    loop = _inside(told, "loop")
    if loop:
        most = loop.get("max_turns")
        found.append(f"up to {most:,} turns" if _whole(most) else "in turns")
    if _whole(told.get("retries")) and told["retries"]:
        found.append(f"up to {told['retries'] + 1:,} attempts")
    group, polled = told.get("group"), told.get("poller_group")
    if isinstance(group, str):
        found.append(f"group {one_line(group, 60)}")
    if isinstance(polled, str):
        cap = _inside(caps).get(polled, told.get("group_cap"))
        most_ = f", at most {cap:,}" if _whole(cap) else ""
        found.append(f"group {one_line(polled, 60)}{most_}")
    return tuple(dict.fromkeys(found))


def _inside(value: Any, name: str | None = None) -> Mapping[str, Any]:
    found = value.get(name) if name is not None and isinstance(value, Mapping) else value
    return found if isinstance(found, Mapping) else {}


def _whole(value: Any) -> bool:
    known = isinstance(value, int) and not isinstance(value, bool)
    return known and value >= 0
