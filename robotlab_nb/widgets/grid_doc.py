"""What a live grid shows, as flat records, and how they changed since the last look.

Records: ``run`` and ``grid`` (the experiment), ``stop``, ``R0 …`` rows, ``H0 …`` columns, ``K0 …``
cells by their index, ``D0 …`` cells that a reader has opened, ``Q…`` questions. The text of a cell
that runs grows as it streams. Knows no widget, no clock and no screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.events import Delta
from ..display.escape import one_line
from ..display.grid_facts import grid_facts
from .grid_rows import ANSWER, cell_row, column_row, detail_row, head_row
from .live_records import LiveRecords
from .spoken import Spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.events import Event
    from ..display.grid_facts import GridFacts
    from ..lab.cell import Cell
    from ..lab.experiment import Experiment

__all__ = ["GridDoc"]

#: cells that are sent, at most; and cells that stay open
MOST, OPENED = 2_000, 8
#: characters of a streaming answer that are not shown, between two words on how many they are
_STEP = 200


class _Stream:
    """The text of one cell that runs."""

    def __init__(self, source: tuple[str, int], key: str) -> None:
        self.source = source
        self.spoken = Spoken(key, 10_000_000)
        self.shown = self.told = self.all = 0


class GridDoc(LiveRecords):
    """The records of one experiment's grid.

    Parameters
    ----------
    thing : Experiment

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> from robotlab_nb.lab.experiment import Experiment
    >>> from robotlab_nb.lab.state import ExperimentState
    >>> state = ExperimentState("e1")
    >>> state.cells = [Cell(0, "k", "short", "mini", "rain", status="completed", text="wet")]
    >>> doc = GridDoc(Experiment(state))
    >>> doc.look()
    >>> [key for key, _ in doc.changes()], doc.records["K0"]["text"]
    (['grid', 'run', 'R0', 'H0', 'K0'], 'wet')
    """

    def __init__(self, thing: Experiment) -> None:
        super().__init__()
        self.thing = thing
        self._version: int | None = None
        self._seen: list[Cell] = []
        self._facts: GridFacts | None = None
        self._places: dict[int, tuple[int, int]] = {}
        #: by run id: the cell that it answers; by index: what streams
        self._answers: dict[str, int] = {}
        self._streams: dict[int, _Stream] = {}
        self._opened: list[int] = []

    # -- the cells -------------------------------------------------------------------------

    def look(self, since: float | None = None) -> None:
        """Take in how the experiment is now.

        Parameters
        ----------
        since : float, optional
            Seconds since it began, while it goes on.
        """
        version = self.thing.version
        if version == self._version:
            return
        self._version = version
        cells = list(self.thing.cells)
        if len(cells) != len(self._seen):
            self._lay_out(cells)
        facts = self._facts
        head = head_row(self.thing, cells, facts, since)
        self.put("grid", head)
        self.put("run", {"live": head["live"]})
        if facts is None:
            return
        self._rows(facts, cells)
        touched: set[int] = set()
        for cell in cells:
            place = self._places.get(cell.index)
            known = self._seen[cell.index] if cell.index < len(self._seen) else None
            if place is not None and cell is not known:
                self._cell(cell, place)
                touched.add(place[1])
        self._seen = cells
        now = {cell.index: cell for cell in cells}
        for number in touched:
            column = [now[each.index] for each in facts.column(number)]
            self.put(f"H{number}", column_row(facts, number, column))

    def _lay_out(self, cells: Sequence[Cell]) -> None:
        """Find the places of the cells; where there are too many, those of the first rows."""
        facts = self._facts = grid_facts(cells)
        rows = max(MOST // max(len(cells) // max(len(facts.rows), 1), 1), 1)
        self._places = {
            cell.index: place
            for place, repeats in facts.slots.items()
            if place[0] < rows
            for cell in repeats
        }
        self._seen = []
        left = len(facts.rows) - rows
        self.put("grid", {"left": max(left, 0)})

    def _rows(self, facts: GridFacts, cells: Sequence[Cell]) -> None:
        if self._seen:
            return
        shown = {place[0] for place in self._places.values()}
        for number, label in enumerate(facts.rows):
            if number in shown:
                self.put(f"R{number}", {"name": one_line(label, 160) or "(empty)"})
        now = {cell.index: cell for cell in cells}
        for number in range(len(facts.columns)):
            column = [now[each.index] for each in facts.column(number)]
            self.put(f"H{number}", column_row(facts, number, column))

    def _cell(self, cell: Cell, place: tuple[int, int]) -> None:
        key = f"K{cell.index}"
        row = cell_row(cell, place)
        if cell.ended:
            self._streams.pop(cell.index, None)
        elif key not in self.records:
            row |= {"text": "", "more": 0, "say": ""}
        if cell.status == "running" and cell.run_id:
            self._answers[cell.run_id] = cell.index
        elif cell.run_id:
            self._answers.pop(cell.run_id, None)
        self.put(key, row)
        if f"D{cell.index}" in self.records:
            self.put(f"D{cell.index}", detail_row(self.thing, cell))

    # -- what streams ----------------------------------------------------------------------

    def take(self, items: Iterable[Event | Delta]) -> None:
        """Take in what the cells' runs say.

        Parameters
        ----------
        items : iterable of Event or Delta
            Of the experiment's run and those inside it, in order.
        """
        for item in items:
            if isinstance(item, Delta):
                self._delta(item)
            elif item.type == "cell.started":
                data: Any = item.data
                if data.get("child_run_id"):
                    self._answers[data["child_run_id"]] = data["index"]
            elif item.type == "run.started" and item.scope.parent_id in self._answers:
                self._answers[item.scope.run_id] = self._answers[item.scope.parent_id]

    def _delta(self, delta: Delta) -> None:
        index = self._answers.get(delta.scope.run_id)
        key = f"K{index}"
        if index is None or key not in self.records or self.records[key]["ended"]:
            return
        if delta.kind != "text":
            self.put(key, {"say": "reasons" if delta.kind == "reasoning" else ""})
            return
        source = (delta.call_id, delta.attempt)
        stream = self._streams.get(index)
        if stream is None or stream.source != source:
            # Another call, or the same one again: what came before is no part of the answer.
            stream = self._streams[index] = _Stream(source, key)
            self.put(key, {"text": "", "more": 0})
        self.put(key, {"say": ""})
        shown = stream.spoken.more(delta.text)
        stream.all += len(shown)
        room = ANSWER - stream.shown
        if room > 0:
            self.append(key, shown[:room])
            stream.shown += len(shown[:room])
        more = stream.all - stream.shown
        if more - stream.told >= _STEP or (more and not stream.told):
            stream.told = more
            self.put(key, {"more": more})

    # -- what a reader opens ---------------------------------------------------------------

    def open(self, index: int) -> None:
        """Have all that is known of a cell among the records.

        Parameters
        ----------
        index : int
        """
        if f"K{index}" not in self.records:
            return
        if index in self._opened:
            self._opened.remove(index)
        self._opened.append(index)
        for old in self._opened[:-OPENED]:
            self.remove(f"D{old}")
        self._opened = self._opened[-OPENED:]
        self.put(f"D{index}", detail_row(self.thing, self.thing.cells[index]))
