"""Tables from run states and events: one pandas DataFrame per table, made when it is asked for.

Nothing here knows of a screen or a database. pandas is imported by the first table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..core.errors import InputError, near
from ..core.readings import Pictured
from ..core.state import RunState
from .bus_letters import letters, place_of
from .cells import CELLS
from .columns import TABLES
from .readers import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pandas import DataFrame

    from ..core.events import Event
    from ..core.state import TaskState
    from .columns import TaskRow
    from .declaring import Column

__all__ = ["Beginning", "Frames"]

#: A row before it is read: the record, and where it belongs.
Row = tuple[Any, Place]


class Beginning(NamedTuple):
    """How a table begins: how many rows it has, its columns, and plain values of the first rows."""

    total: int
    columns: tuple[Column[Any], ...]
    rows: tuple[tuple[Any, ...], ...]


class Frames(Pictured):
    r"""The tables of one run, or of many.

    Every table has the same columns and types whatever it holds and when it is empty (see
    :func:`robotlab_nb.frames.columns.describe`). Times are UTC; whole numbers are nullable;
    nested values are JSON text, in which NaN (``NaN``), an empty text (``""``), ``null`` and a
    missing value stay four different things. Values that no column of their type can hold (an
    integer over 64 bits in a column of numbers) are missing there and stand in full in the
    ``data`` of ``events``. Lone surrogates, which Arrow refuses, are shown escaped (``\ud83d``).

    A table is made on first use and kept. Take new frames of a run that goes on.

    Parameters
    ----------
    state : RunState or iterable of RunState
        A run with all runs below it, or several.
    events : sequence of Event, optional
        What ``events``, ``memory`` and ``bus`` are made of; without them these are empty.

    Attributes
    ----------
    runs, tasks, model_calls, tool_calls, messages, events, attempts : DataFrame
    questions, outputs, skills, memory, bus : DataFrame
        The tables. ``attrs`` of each hold this package's version and the ids of the root runs.

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> scope = Scope("9c41a0", "9c41a0", None, 0, "robot", ("assistant",), "assistant")
    >>> told = {"started_at": "2026-03-01T12:00:00+00:00", "input": "Hello"}
    >>> events = [
    ...     Event("run.started", scope, 0, 0.0, told),
    ...     Event("run.completed", scope, 1, 0.5, {"stop_reason": "stop"}),
    ... ]
    >>> frames = Frames(RunState.fold(events), events)
    >>> frames
    Frames of run 9c41a0: runs 1 · events 2
    >>> frames.runs[["robot", "status", "duration_s"]].to_dict("records")
    [{'robot': 'assistant', 'status': 'completed', 'duration_s': 0.5}]
    >>> frames["tool_calls"].shape
    (0, 17)
    """

    runs: DataFrame
    tasks: DataFrame
    model_calls: DataFrame
    tool_calls: DataFrame
    messages: DataFrame
    events: DataFrame
    attempts: DataFrame
    questions: DataFrame
    outputs: DataFrame
    skills: DataFrame
    memory: DataFrame
    bus: DataFrame

    def __init__(self, state: RunState | Iterable[RunState], events: Sequence[Event] = ()) -> None:
        self._states = (state,) if isinstance(state, RunState) else tuple(state)
        self._events = events

    @classmethod
    def of(cls, events: Iterable[Event]) -> Frames:
        """The tables of whatever events there are: of a run, of several, of the session.

        Parameters
        ----------
        events : iterable of Event
            Of each root all of them, or at least its first ones on.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> memory["draft"] = "Dear all"
        >>> frames = Frames.of(rl.session_events())
        >>> frames.memory[["kind", "key", "value"]].iloc[-1].tolist()
        ['set', 'draft', '"Dear all"']
        """
        kept = list(events)
        roots: dict[str, list[Event]] = {}
        for event in kept:
            roots.setdefault(event.scope.root_id, []).append(event)
        return cls([RunState.fold(each) for each in roots.values()], kept)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(TABLES)

    def __getattr__(self, name: str) -> DataFrame:
        # Asked only while the table is not made yet; afterwards it is a plain attribute.
        if name not in TABLES:
            raise AttributeError(f"frames have no {name!r}. {near(name, TABLES)}")
        made = _table(name, self._rows(name), self._roots())
        self.__dict__[name] = made
        return made

    def __getitem__(self, name: str) -> DataFrame:
        if name not in TABLES:
            raise InputError(f"there is no table {name!r}", hint=near(str(name), TABLES))
        table: DataFrame = getattr(self, name)
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def __contains__(self, name: object) -> bool:
        return name in TABLES

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *TABLES})

    def _ipython_key_completions_(self) -> list[str]:
        return list(TABLES)

    @property
    def whose(self) -> str:
        """Whose tables these are, in words."""
        roots = self._roots()
        return f"run {roots[0][:6]}" if len(roots) == 1 else f"{len(roots):,} runs"

    def beginning(self, name: str, rows: int = 3) -> Beginning:
        """How a table begins, without making it.

        Parameters
        ----------
        name : str
        rows : int, optional
            How many of its rows to read at most.

        Examples
        --------
        >>> Frames([]).beginning("runs").total
        0
        """
        found, columns = self._rows(name), tuple(TABLES[name])
        cells = [(column, CELLS[column.dtype]) for column in columns]
        read = (tuple([cell(c.read(*row)) for c, cell in cells]) for row in found[:rows])
        return Beginning(len(found), columns, tuple(read))

    def __repr__(self) -> str:
        counts = [(name, len(self._rows(name))) for name in TABLES]
        told = " · ".join(f"{name} {count:,}" for name, count in counts if count)
        return f"Frames of {self.whose}: {told or 'no rows'}"

    def _roots(self) -> list[str]:
        return list(dict.fromkeys(state.scope.root_id for state in self._states))

    def _rows(self, name: str) -> list[Row]:
        if name == "events":
            return [(event, _NOWHERE) for event in tuple(self._events)]
        if name in ("memory", "bus"):
            return self._shared(name)
        read = _RECORDS[name]
        return [
            (record, place)
            for top in self._states
            for run, place in _runs(top, Place.of(top))
            for record in read(run)
        ]

    def _shared(self, name: str) -> list[Row]:
        """The rows that are read from events, for no state keeps them."""
        told = [event for event in tuple(self._events) if event.type.startswith(f"{name}.")]
        if not told:
            return []
        places = {p.run_id: p for top in self._states for _, p in _runs(top, Place.of(top))}
        if name == "bus":
            return [(letter, place_of(letter.first, places)) for letter in letters(told)]
        return [(event, place_of(event, places)) for event in told]


_NOWHERE = Place("", "", None, None, None, None, None)


def _runs(run: RunState, place: Place) -> Iterator[tuple[RunState, Place]]:
    """Each run of a tree with its place, parents first."""
    yield run, place
    for child in list(run.children.values()):
        yield from _runs(child, Place.inside(child, place))


def _robots_and_networks(run: RunState) -> Sequence[RunState]:
    return (run,) if run.scope.kind in ("robot", "network", "experiment") else ()


def _noted(run: RunState, *types: str) -> list[Event]:
    return [event for event in list(run.notes) if event.type in types]


def _tasks(run: RunState) -> list[TaskRow]:
    """A network's tasks, each with the runs that were started inside it: its tries, say.

    After a map's stand its items.
    """
    path = run.scope.path
    inside: dict[str, list[RunState]] = {}
    for child in list(run.children.values()):
        if len(child.scope.path) > len(path):
            inside.setdefault(child.scope.path[len(path)], []).append(child)
    found: list[TaskRow] = []
    for task in list(run.tasks.values()):
        runs = inside.get(task.name, [])
        own = run.children.get(task.child_run_id or "")
        if own is not None and all(own is not run for run in runs):
            runs = [*runs, own]  # of a log whose paths say otherwise
        found.append((task, path, runs))
        if task.items:
            found += _items(task, path, runs)
    return found


def _items(task: TaskState, path: tuple[str, ...], runs: list[RunState]) -> Iterator[TaskRow]:
    """The items of a map, each with its runs."""
    inside: dict[str, list[RunState]] = {}
    for run in runs:
        for part in run.scope.path[len(path) + 1 :][:1]:
            inside.setdefault(part, []).append(run)
    for _, item in sorted(task.items.items()):
        yield item, path, inside.get(item.place[1], [])


#: table -> a run's records in it.
_RECORDS: dict[str, Callable[[RunState], Iterable[Any]]] = {
    "runs": _robots_and_networks,
    "tasks": _tasks,
    "model_calls": lambda run: list(run.model_calls.values()),
    "tool_calls": lambda run: list(run.tool_calls.values()),
    "messages": lambda run: list(enumerate(run.messages)),
    "attempts": lambda run: [
        attempt for call in list(run.model_calls.values()) for attempt in call.attempts
    ],
    "questions": lambda run: list(run.asked.values()),
    "outputs": lambda run: _noted(run, "output.parsed", "output.rejected"),
    "skills": lambda run: [
        (event, match)
        for event in _noted(run, "prompt.skills_matched")
        for match in cast("Any", event.data.get("matches")) or ()
    ],
}


def _table(name: str, rows: list[Row], roots: list[str]) -> DataFrame:
    import pandas as pd

    from .. import __version__

    make: Callable[..., Any] = pd.array
    arrays = {}
    for column in TABLES[name]:
        cell, read = CELLS[column.dtype], column.read
        cells = [cell(read(record, place)) for record, place in rows]
        arrays[column.name] = make(cells, dtype=column.dtype)
    table = pd.DataFrame(arrays, copy=False)
    table.attrs = {"robotlab_nb": __version__, "root_ids": roots}
    return table
