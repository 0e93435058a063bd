"""The tables of a log's runs: read when asked for, root by root, each from the events it needs.

Knows no database: where the events come from is whoever gives them. Rows are turned into columns a
few thousand at a time, so that beside the table itself only one root is in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..core.errors import InputError, near
from ..core.events import SCHEMA_VERSION
from .bus_letters import Letter, place_of
from .columns import TABLES
from .filling import Filling
from .log_needs import WITH_SESSIONS, types_of
from .readers import Place
from .tables import Frames
from .tolerant import Folding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pandas import DataFrame as DataFrame  # for rooms that do not import it

    from ..core.events import Event
    from ..core.state import RunState
    from .declaring import Column

__all__ = ["LogFrames", "Source", "Told", "read_together"]

#: ids that ``attrs`` list at most
MOST_IDS = 1_000
_NOWHERE = Place("", "", None, None, None, None, None)


class Told(NamedTuple):
    """A root: its events, and which of its runs are meant, with their tags; None for all.

    ``noted`` has ratings and notes of those that are meant.
    """

    root_id: str
    events: Iterator[Event]
    meant: Mapping[str, tuple[str, ...]] | None
    noted: Mapping[str, tuple[int | None, str | None]] = {}


class Source(Protocol):
    """Where events come from, and which runs are meant."""

    @property
    def query(self) -> Mapping[str, Any]:
        """The conditions on the runs, as JSON."""

    @property
    def words(self) -> str:
        """Whose tables these are."""

    def roots(
        self, types: Collection[str] | None, *, sessions: bool = False, tags: bool = False
    ) -> Iterator[Told]:
        """The roots in which a run that is meant is, oldest first, and their events in order."""

    def outside(self, types: Collection[str]) -> Iterator[Event]:
        """What happened outside runs, where that is not meant anyway."""

    def totals(self) -> Mapping[str, int]:
        """How many rows some tables have, as far as that is known without reading them."""

    def prompts(self, run_ids: Sequence[str]) -> Mapping[str, str]:
        """The system prompts of runs, by run, where they are known."""


class LogFrames(Frames):
    """The tables of the runs of a log that are meant: of all, or of a selection.

    They have the same columns and types as everywhere, and hold the rows of exactly those runs:
    ``runs`` has a row for each, the other tables what happened in them. ``tasks`` has the tasks of
    networks that are meant, and those that a run that is meant did. ``events``, ``memory`` and
    ``bus`` also have what happened outside runs, where no condition says otherwise. Tags and
    ratings are those that a run has now. Rows come oldest root first.

    A table is read when it is first asked for, and kept: ``log.frames`` gives fresh ones each time.
    ``attrs`` of each have the versions of package and events, the conditions, how many roots were
    read and the ids of the first 1,000.

    Examples
    --------
    >>> import tempfile
    >>> import robotlab_nb as rl
    >>> folder = tempfile.TemporaryDirectory()
    >>> with rl.options(log=f"{folder.name}/log.sqlite"):
    ...     answer = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    ...     table = rl.log.where(robot="poet").frames.runs
    >>> table[["robot", "status", "output"]].to_dict("records")
    [{'robot': 'poet', 'status': 'completed', 'output': 'roses are red'}]
    >>> table.attrs["query"]
    {'robot': 'poet'}
    >>> folder.cleanup()
    """

    def __init__(self, source: Source) -> None:
        super().__init__(())
        self._source = source

    @property
    def whose(self) -> str:
        """Whose tables these are, in words."""
        return self._source.words

    def __getattr__(self, name: str) -> DataFrame:
        if name not in TABLES:
            raise AttributeError(f"frames have no {name!r}. {near(name, TABLES)}")
        made = self.__dict__[name] = self.read(name)
        return made

    def read(self, name: str, columns: Sequence[str] | None = None) -> DataFrame:
        """Read a table anew, or only some of its columns, which may need far fewer events.

        Parameters
        ----------
        name : str
            The table's name.
        columns : list of str, optional
            Of ``runs``, leaving out ``output`` saves reading all that was said.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> with rl.options(log=None):
        ...     rl.log.frames.read("runs", ["robot", "cost_usd"]).dtypes.astype(str).to_dict()
        {'robot': 'string', 'cost_usd': 'Float64'}
        """
        if name not in TABLES:
            raise InputError(f"there is no table {name!r}", hint=near(str(name), TABLES))
        known = {column.name: column for column in TABLES[name]}
        for wanted in columns or ():
            if wanted not in known:
                raise InputError(f"{name} has no column {wanted!r}", hint=near(wanted, known))
        chosen = TABLES[name] if columns is None else tuple(known[each] for each in columns)
        return read_together(self._source, {name: chosen})[name]

    @property
    def totals(self) -> Mapping[str, int]:
        """How many rows some tables have, without reading them."""
        return self._source.totals()

    def __repr__(self) -> str:
        told = " · ".join(f"{name} {count:,}" for name, count in self.totals.items() if count)
        return f"Frames of {self.whose}: {told or 'no rows'}"


def read_together(
    source: Source, tables: Mapping[str, Sequence[Column[Any]]]
) -> dict[str, DataFrame]:
    """Read several tables in one pass.

    Parameters
    ----------
    source : Source
    tables : mapping
        Names of tables, and the columns wanted of each.
    """
    if len(tables) > 1 and not tables.keys().isdisjoint(WITH_SESSIONS):
        return {name: read_together(source, {name: c})[name] for name, c in tables.items()}
    fillings = {name: Filling(columns) for name, columns in tables.items()}
    roots = _Roots()
    folding = Folding()
    needed = [types_of(name, [c.name for c in columns]) for name, columns in tables.items()]
    types = None if None in needed else frozenset().union(*filter(None, needed))
    if "bus" in tables:
        fillings["bus"].extend(_letters(source, types or (), roots, folding))
    else:
        sessions = not tables.keys().isdisjoint(WITH_SESSIONS)
        for told in source.roots(types, sessions=sessions, tags="runs" in tables):
            roots.note(told.root_id)
            for name, filling in fillings.items():
                if name == "events":
                    filling.extend(_bare(told))
                    break
            else:
                _fill(told, fillings, folding)
    folding.complain()
    made = {name: filling.table() for name, filling in fillings.items()}
    for table in made.values():
        table.attrs.update(_attrs(source, roots))
    return made


class _Roots:
    """How many roots there were, and the first ones' ids."""

    def __init__(self) -> None:
        self.count = 0
        self.ids: list[str] = []

    def note(self, root_id: str) -> None:
        self.count += 1
        if self.count <= MOST_IDS:
            self.ids.append(root_id)


def _attrs(source: Source, roots: _Roots) -> dict[str, Any]:
    from .. import __version__

    return {
        "robotlab_nb": __version__,
        "schema_version": SCHEMA_VERSION,
        "query": dict(source.query),
        "roots": roots.count,
        "root_ids": list(roots.ids),
    }


def _bare(told: Told) -> Iterator[tuple[Event, Place]]:
    """A root's events as rows, without a state of it."""
    meant = told.meant
    for event in told.events:
        if meant is None or event.scope.run_id in meant:
            yield event, _NOWHERE


def _fill(told: Told, fillings: Mapping[str, Filling], folding: Folding) -> None:
    """The rows of one root."""
    meant = told.meant
    if "memory" in fillings:
        events = list(told.events)
        state = folding.state(events)
    else:
        events, state = [], folding.state(told.events)
    if state is None:
        return
    if "runs" in fillings and meant is not None:
        _tag(state, meant, told.noted)
    frames = Frames((state,), events)
    for name, filling in fillings.items():
        rows: Iterable[Any] = frames._rows(name)
        if meant is not None:
            rows = (row for row in rows if _is_meant(name, row, meant))
        filling.extend(rows)


def _is_meant(name: str, row: tuple[Any, Place], meant: Mapping[str, Any]) -> bool:
    record, place = row
    if place.run_id in meant:
        return True
    return name == "tasks" and any(run.scope.run_id in meant for run in record[2])


def _tag(
    state: RunState,
    meant: Mapping[str, tuple[str, ...]],
    noted: Mapping[str, tuple[int | None, str | None]],
) -> None:
    """Let each run have the tags and the rating that it has now."""
    for run in state.walk():
        tags = meant.get(run.scope.run_id)
        if tags or "tags" in run.info:
            run.info = {**run.info, "tags": list(tags) if tags else None}
        rating, note = noted.get(run.scope.run_id, (None, None))
        if rating is not None or note is not None:
            run.info = {**run.info, "rating": rating, "note": note}


def _letters(
    source: Source, types: Collection[str], roots: _Roots, folding: Folding
) -> Iterator[tuple[Letter, Place]]:
    """Messages on the bus: what became of one may stand in another root, or outside runs."""
    found: dict[str, tuple[Letter, Place, bool]] = {}
    for told in source.roots(types, sessions=True):
        roots.note(told.root_id)
        events = list(told.events)
        state = folding.state(events)
        places = {} if state is None else {p.run_id: p for p in _places(state)}
        for event in events:
            is_meant = told.meant is None or event.scope.run_id in told.meant
            _take(found, event, lambda event, known=places: place_of(event, known), is_meant)
    for event in source.outside(types):
        if event.data.get("message_id") in found:
            _take(found, event, lambda event: place_of(event, {}), False)
    return ((letter, place) for letter, place, is_meant in found.values() if is_meant)


def _take(
    found: dict[str, tuple[Letter, Place, bool]], event: Event, place: Any, is_meant: bool
) -> None:
    message_id: Any = event.data.get("message_id")
    if not event.type.startswith("bus.") or message_id is None:
        return
    letter, where, meant = found.get(message_id) or (Letter(message_id, event), None, is_meant)
    letter.take(event)
    if letter.first is event:
        where, meant = place(event), is_meant
    found[message_id] = letter, where or _NOWHERE, meant


def _places(state: RunState) -> Iterator[Place]:
    for run in state.walk():
        yield Place.of(run)
