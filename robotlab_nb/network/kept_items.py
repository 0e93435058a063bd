"""The items of an interrupted map that were done: they are not done again.

By its digest an item is known again; one that is another now, or whose result did not outlive its
process, is done anew.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.keys import text_hash
from ..tools.preview import preview
from .result import TaskResult
from .rows import MapResult

if TYPE_CHECKING:
    from ..core.records import ItemState
    from .restoring import Source
    from .task import Task

__all__ = ["KeptItem", "item_key", "kept_items"]


class KeptItem(NamedTuple):
    """An item of a map that is not done again.

    Attributes
    ----------
    key : str
        The item's digest.
    row : object
        What it gave.
    data : dict
        Of the event that tells it.
    labels : tuple of str
    """

    key: str
    row: Any
    data: dict[str, Any]
    labels: tuple[str, ...]


def item_key(item: Any) -> str | None:
    """A digest of an item; None for what cannot be known again.

    Examples
    --------
    >>> item_key({"a": 1, "b": 2}) == item_key({"b": 2, "a": 1}), item_key(object())
    (True, None)
    """
    try:
        return text_hash(json.dumps(item, sort_keys=True))
    except (TypeError, ValueError, RecursionError):
        seen = preview(item)
    if seen.lossy:
        return None
    return text_hash(json.dumps([type(item).__qualname__, seen.data], sort_keys=True))


def kept_items(source: Source, task: Task) -> dict[int, KeptItem]:
    """The items of a task's map that an earlier run has done, by place.

    Parameters
    ----------
    source : Source
        The earlier run.
    task : Task
    """
    if task.map_over is None:
        return {}
    live = source.results.get(task.name)
    rows = live._rows if isinstance(live, MapResult) else ()
    kept: dict[int, KeptItem] = {}
    for index, found in source.state.tasks[task.name].items.items():
        if found.status != "completed" or found.key is None:
            continue
        row = rows[index] if index < len(rows) else None
        if row is None and not found.live:
            row = _row(source, task, found)
        if row is not None:
            data = _data(source, found, row)
            kept[index] = KeptItem(found.key, row, data, found.labels)
    return kept


def _row(source: Source, task: Task, found: ItemState) -> Any:
    """What an item gave, from the events alone; None where they do not have it."""
    from .restoring import network_result, robot_result

    if task.loop is None and task.is_robot and task.way == "robot":
        return robot_result(source, task, found)
    if task.loop is None and task.is_network:
        inside = source.of_child(found.child_run_id)
        return None if inside is None else network_result(inside, task.runner)
    value = found.result
    if value is None and (task.is_robot or task.is_network):
        value = found.text
    return TaskResult(task.name, value)


def _data(source: Source, found: ItemState, row: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "status": "completed", "text": found.text or "", "key": found.key, "duration_s": 0.0,
        "restored_from": found.restored_from or source.run_id,
    }  # fmt: skip
    output = None if isinstance(row, TaskResult) else getattr(row.state, "output", None)
    if isinstance(row, TaskResult):
        data["result"] = found.result
    elif output is not None:
        data["result"] = output
    if found.live:
        data["live"] = True
    if found.labels:
        data["labels"] = list(found.labels)
    return data
