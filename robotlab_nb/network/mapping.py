"""Doing a task once for each item of a list: side by side, in bounded number, each by itself.

An item that fails is a row with its error, and ends no other. What would fail every item (a spent
budget, a refused key) ends the map: the items left are not begun. Stop keeps what was done.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import BudgetExceeded, ConfigurationError, ModelError, describe_error, unwrap
from ..runtime.stillness import task_waits
from ..runtime.strand import enter_strand
from ..tools.preview import preview
from .doing import Doing
from .flow import FlowResult
from .kept_items import item_key
from .result import TaskResult, as_result
from .rows import ItemsFailed, MapResult
from .sources import as_text, open_source
from .trying import tried

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from .kept_items import KeptItem
    from .sources import Source

__all__ = ["mapped"]

#: seconds that items have to end after Stop
_TIDY_S = 2.0


async def mapped(doing: Doing, do: Callable[[Doing], Awaitable[Any]]) -> MapResult:
    """Do a task for each of its items.

    Parameters
    ----------
    doing : Doing
    do : callable
        What is done for one.

    Returns
    -------
    MapResult

    Raises
    ------
    ItemsFailed
        When items failed and the task says that this is its failure.
    BudgetExceeded, ModelError
        What would have failed the items left as well.
    """
    task = doing.task
    doing.began()
    source = await open_source(doing)
    work = _Mapped(doing, do, source)
    doing.keep(work.result)  # as far as it is, whatever happens
    doing.emit("map.started", {"items": source.total})
    try:
        await work.run(task.concurrency or doing.scheduler.concurrency)
    except BaseException:
        work.result.status = "interrupted"
        raise
    result = work.result
    failed = result.errors
    doing.emit("map.completed", {"done": result.done, "failed": len(failed)})
    error = work.ending
    if error is None and failed and task.on_item_failure == "fail":
        error = ItemsFailed(task.name, result.done + len(failed), failed)
    result.status, result.error = ("completed", None) if error is None else ("failed", error)
    if error is not None:
        raise error
    return result


class _Mapped:
    """The items of one map, while they are done."""

    def __init__(self, doing: Doing, do: Callable[[Doing], Awaitable[Any]], source: Source) -> None:
        self.doing = doing
        self.do = do
        self.source = source
        self.result = MapResult(doing.task.name, source.total or 0)
        #: what would fail the items left as well
        self.ending: Exception | None = None
        before = doing.scheduler.before
        #: what an earlier run did, by place
        self.kept: Mapping[int, KeptItem] = (
            {} if before is None else before.items.get(doing.task.name, {})
        )

    async def run(self, most: int) -> None:
        """Do all items, so many at a time."""
        import asyncio

        total = self.source.total
        count = most if total is None else min(most, total)
        if not count:
            return
        loop = asyncio.get_running_loop()
        workers = [loop.create_task(self._work()) for _ in range(count)]
        try:
            with task_waits():
                ended, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            for worker in ended:
                worker.result()
        finally:
            left = [worker for worker in workers if not worker.done()]
            for worker in left:
                worker.cancel()
            if left:
                await asyncio.wait(left, timeout=_TIDY_S)

    async def _work(self) -> None:
        while self.ending is None:
            found = await self.source.take()
            if found is None or self.ending is not None:
                return
            await self._one(*found)

    async def _one(self, index: int, item: Any) -> None:
        """Do one item and tell how it ended. Raises nothing but what ends the whole map."""
        import asyncio

        if index >= len(self.result):
            self.result.put(index, None)
        key = item_key(item)
        kept = self.kept.get(index)
        if kept is not None and kept.key == key:
            self._keep(index, kept)
            return
        part = _part(self.doing, index, item)
        enter_strand(part.strand)
        status: dict[str, Any] = {"status": "interrupted"}
        try:
            if part.seat is not None:
                await part.seat.take()
            row = _row(part, await tried(part, self.do))
            self.result.put(index, row)
            status = {"status": "completed", "text": str(row)}
            if isinstance(row, TaskResult):
                seen = preview(row.value)
                status["result"] = seen.data
                if seen.lossy:
                    status["live"] = True
        except asyncio.CancelledError:
            raise
        except Exception as error:
            status = {"status": "failed", "error": self._failed(index, unwrap(error))}
        finally:
            if part.seat is not None:
                part.seat.close()
            self.doing.strand.read(part.strand.labels)
            part.strand.runs.clear()
            if part.child is not None:
                status["child_run_id"] = part.child
            if part.strand.labels:
                status["labels"] = sorted(part.strand.labels)
            if key is not None:
                status["key"] = key
            self.doing.emit(
                "map.item",
                {"index": index, **status, "duration_s": monotonic() - part.since},
            )

    def _keep(self, index: int, kept: KeptItem) -> None:
        """Take over what an earlier run did for an item."""
        self.result.put(index, kept.row)
        self.doing.strand.read(frozenset(kept.labels))
        self.doing.emit("map.item", {"index": index, **kept.data})

    def _failed(self, index: int, error: Exception) -> dict[str, Any]:
        if self.ending is None and _ends_all(error):
            self.ending = error
        told = describe_error(error)
        error.__traceback__ = None  # it would keep alive all that the item's code knew
        name = f"{self.doing.task.name}[{index}]"
        self.result.put(index, TaskResult(name, None, status="failed", error=error))
        return told


def _part(doing: Doing, index: int, item: Any) -> Doing:
    """One item of a map, as a task in the place of its task."""
    scheduler, task = doing.scheduler, doing.task
    part = Doing(scheduler, task, monotonic())
    part.index = index
    part.silent = True
    part.given = {"item": item, "index": index}
    part.upstream = doing.upstream
    part.context = {**doing.context, **part.given}
    if task.prompt is None:
        part.says = as_text(item)
    part.place = (*doing.place, f"map:{index}")
    strand, around = part.strand, doing.strand
    strand.path = part.place
    strand.memory, strand.caps, strand.labels = around.memory, around.caps, around.labels
    if scheduler.caps is not None:
        part.seat = scheduler.caps.item_seat(scheduler.run, task)
    return part


def _row(part: Doing, found: Any) -> Any:
    """What an item gave, as a row of the map's result."""
    if not isinstance(found, FlowResult):
        return found
    before = part.flow.activated_steps
    if found.halted or any(step not in before for step in found.activated_steps):
        raise ConfigurationError(
            f"task {part.task.name!r}: item {part.index} activates or halts",
            hint="Only the task as a whole can: give it a route=.",
        )
    return as_result(part.task.name, found.value)


def _ends_all(error: Exception) -> bool:
    """Whether the items left would fail for the same reason."""
    if isinstance(error, BudgetExceeded):
        return not error.budget.startswith("this run of")  # which is one item's own
    if not isinstance(error, ModelError):
        return False
    return error.kind == "auth" or (error.kind == "rate_limit" and error.retryable is False)
