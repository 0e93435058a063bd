"""What a map runs over: a list, a name of one, or a function that gives one; read as it is needed.

A source that knows its length is read at once, item by item. Others (generators) are asked for the
next item only when somebody is free to do it, so they may be long, and slow.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, near
from ..robot.result import RobotResult
from .doing import called
from .rows import MapResult, value_of

if TYPE_CHECKING:
    from .doing import Doing

__all__ = ["Source", "as_text", "checked_source", "open_source"]

_END = object()


class Source:
    """Items that are taken one after the other, by many.

    Parameters
    ----------
    items : iterable or async iterable
    who : str
        Whose they are, for errors.

    Attributes
    ----------
    total : int or None
        How many there are; None where only the end tells.
    """

    __slots__ = ("_async", "_found", "_index", "_lock", "total")

    def __init__(self, items: Any, who: str) -> None:
        import asyncio

        if hasattr(items, "itertuples"):  # a table: its rows, not the names of its columns
            items = items.to_dict("records")
        self._async = isinstance(items, AsyncIterable)
        if not self._async and (
            isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable)
        ):
            raise InputError(
                f"{who} maps over {items!r:.60}, which is no list",
                hint="Give a list, the name of one, or a function that returns one.",
            )
        sized = isinstance(items, Sized) and not isinstance(items, Iterator)
        self.total = len(items) if sized else None
        self._found: Any = aiter(items) if self._async else iter(items)
        self._index = -1
        self._lock = asyncio.Lock()

    async def take(self) -> tuple[int, Any] | None:
        """The next item and its place; None at the end."""
        if self.total is not None:
            item = next(self._found, _END)
        else:
            async with self._lock:
                return self._counted(await self._wait())
        return self._counted(item)

    async def _wait(self) -> Any:
        """The next item of what may take its time."""
        if self._async:
            return await anext(self._found, _END)
        return await called(functools.partial(next, self._found, _END), {})

    def _counted(self, item: Any) -> tuple[int, Any] | None:
        if item is _END:
            return None
        self._index += 1
        return self._index, item


def checked_source(task: str, given: Any) -> Any:
    """What ``map_over=`` says, checked as far as that is possible before anything runs.

    Raises
    ------
    ConfigurationError
    """
    if given is None or isinstance(given, str) or callable(given):
        return given
    if isinstance(given, (bytes, Mapping, Iterator)) or not isinstance(given, Iterable):
        again = isinstance(given, Iterator)
        raise ConfigurationError(
            f"task {task!r}: map_over={given!r:.60} is "
            + ("used up by one run" if again else "no list"),
            hint="Give a function that makes it." if again else "Give a list, or a name of one.",
        )
    return tuple(given) if isinstance(given, list) else given


async def open_source(doing: Doing) -> Source:
    """Find what a task maps over.

    Raises
    ------
    ConfigurationError, InputError
        When there is nothing of that name, or it is no list.
    """
    given = doing.task.map_over
    if isinstance(given, str):
        given = _named(doing, given)
    elif callable(given):
        given = await called(given, doing.arguments("map_over"))
    return Source(given, f"task {doing.task.name!r}")


def _named(doing: Doing, name: str) -> Any:
    """A list by name: of a task before this one, of what such a task gave, or of the context."""
    upstream, context = doing.upstream, doing.context
    before = doing.scheduler.graph.nodes[doing.task.name].depends_on
    first, _, rest = name.partition(".")
    if first in before:
        result = upstream[first]
        return _attribute(result, rest, name) if rest else _listed(result, first)
    if name in context:
        return context[name]
    raise ConfigurationError(
        f"task {doing.task.name!r} maps over {name!r}: no task before it and no value of the "
        f"context is called so. {near(name, (*before, *context))}",
        hint="Name the task in depends_on= as well, or pass context={…} to run().",
    )


def _listed(result: Any, name: str) -> Any:
    if isinstance(result, MapResult):
        return [value_of(row) for row in result if row.status == "completed"]
    if isinstance(result, RobotResult) and not result.state.info.get("output"):
        raise InputError(
            f"the answer of task {name!r} is a text, and no list",
            hint="Give its robot output=list[str], or map over a function of upstream.",
        )
    return value_of(result)


def _attribute(result: Any, name: str, whole: str) -> Any:
    """A part of a result's value, by key or attribute, or of the result itself."""
    value = value_of(result)
    if isinstance(value, Mapping) and name in value:
        return value[name]
    for thing in (value, result):
        found = getattr(thing, name, _END)
        if found is not _END and not name.startswith("_"):
            return found
    raise ConfigurationError(f"{whole!r}: the result of that task has no {name!r}")


def as_text(value: Any) -> str:
    """An item as a prompt: a text as it is, data as JSON.

    Examples
    --------
    >>> as_text("a"), as_text({"b": 1}), as_text(2)
    ('a', '{"b": 1}', '2')
    """
    if isinstance(value, (dict, list)):
        import json

        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
