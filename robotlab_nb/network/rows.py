"""The result of a map: one row for each item, those that failed included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ..core.errors import RobotLabError, TaskNotRun, describe_error
from ..core.secrets import redact
from ..robot.result import RobotResult
from .result import TaskResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.records import TaskState

__all__ = ["ItemsFailed", "MapResult", "value_of"]


class ItemsFailed(RobotLabError):
    """Items of a map failed, and ``on_item_failure="fail"`` was asked for.

    ``errors`` has each one's error by place.
    """

    def __init__(self, task: str, done: int, errors: Mapping[int, Mapping[str, Any]]) -> None:
        first, told = next(iter(errors.items()))
        super().__init__(
            f"task {task!r}: {len(errors)} of {done} items failed; item {first}: "
            f"{told.get('message', 'failed')}",
            hint="The others' results are there: result['task'].",
        )
        self.errors = dict(errors)


class MapResult(TaskResult, Sequence[Any]):
    """The result of a task that was done once for each item: a sequence in the items' order.

    ``result[i]`` is what came of item ``i``: a RobotResult, a NetworkResult or a TaskResult. Of an
    item that failed it is a TaskResult with the ``error``; one that was not begun, or was cut
    short, raises TaskNotRun. ``str(result)`` has the texts one under the other.

    Attributes
    ----------
    name : str
        The task's name.
    value, values : list
        What each item gave: a robot's answer (as data where ``output=`` asked for it), a
        function's value. None where there is nothing.
    status : str
        ``completed``, ``failed``, ``interrupted``, or ``running`` meanwhile.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("squares")
    >>> one = net.task("square", lambda item: item * item, map_over=[1, 2, "x"])
    >>> found = net.run("go")["square"]
    >>> found.values, found.ok, list(found.errors)
    ([1, 4, None], False, [2])
    """

    __slots__ = ("_rows",)

    value: list[Any]

    def __init__(self, name: str, items: int = 0) -> None:
        super().__init__(name, [None] * items, status="running")
        self._rows: list[Any] = [None] * items

    @classmethod
    def told(cls, found: TaskState) -> MapResult:
        """What a finished map's events say of it."""
        values: Any = found.result or ()
        made = cls(found.name, len(values))
        made.status = "completed"
        for index, value in enumerate(values):
            item = found.items.get(index)
            if item is None or item.status == "completed":
                made.put(index, TaskResult(found.name, value))
                continue
            error = RobotLabError((item.error or {}).get("message", "failed"))
            name = f"{found.name}[{index}]"
            made.put(index, TaskResult(name, None, status="failed", error=error))
        return made

    def put(self, index: int, row: Any) -> None:
        """Take what came of an item in."""
        missing = index + 1 - len(self._rows)
        if missing > 0:
            self._rows += [None] * missing
            self.value += [None] * missing
        self._rows[index] = row
        if row is not None and row.status == "completed":
            self.value[index] = value_of(row)

    @property
    def values(self) -> list[Any]:
        """The same as ``value``."""
        return self.value

    @property
    def texts(self) -> list[str]:
        """What each item gave as text; ``""`` where there is nothing."""
        return [redact(str(row)) if _is_done(row) else "" for row in self._rows]

    @property
    def text(self) -> str:
        """The texts of the items that were done, one under the other."""
        return "\n".join(redact(str(row)) for row in self._rows if _is_done(row))

    @property
    def errors(self) -> dict[int, Mapping[str, Any]]:
        """Each failed item's error by place: type, message, hint, retryable."""
        return {
            index: describe_error(row.error)
            for index, row in enumerate(self._rows)
            if row is not None and row.status == "failed"
        }

    @property
    def ok(self) -> bool:
        """Whether every item was done."""
        return all(_is_done(row) for row in self._rows)

    @property
    def done(self) -> int:
        """How many items were done."""
        return sum(_is_done(row) for row in self._rows)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        row = self._rows[index]
        if row is None:
            raise TaskNotRun(
                f"item {index} of task {self.name!r} has no result: the task was {self.status}",
                hint="values has None in its place.",
            )
        return row

    def __len__(self) -> int:
        return len(self._rows)


def _is_done(row: Any) -> bool:
    return row is not None and row.status == "completed"


def value_of(result: Any) -> Any:
    """What a result is worth: a robot's answer (as data where it is), a function's value."""
    if isinstance(result, RobotResult):
        return result.parsed if result.state.info.get("output") else result.text
    return result.value
