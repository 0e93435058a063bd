"""The live grid of an experiment: what is sent of it, when, and what a person does in it.

Batches are numbered as in :mod:`.live_view`. The grid sits in its own picture, as a chat does: what
a notebook stores is that picture, with the ratings so far, and the front end puts the grid in its
place while there is a kernel that hears ratings.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError
from ..display.escape import one_line
from .card_talk import Cards
from .grid_doc import GridDoc
from .live_asks import ask_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..core.events import Delta, Event
    from ..lab.experiment import Experiment
    from .grid_widget import GridWidget

__all__ = ["GridView"]

#: seconds between two batches, two snapshots, two pictures; never less
PAINT_S, SNAPSHOT_S, STILL_S = 0.1, 1.0, 0.5
#: characters a second of pictures; seconds between two while a front end shows the grid
_STILL_RATE, _SEEN_S = 40_000, 10.0
#: painting takes at most this share of a thread's time
_SHARE = 0.2
#: seconds that an experiment has to stop after a click, before it is abandoned
_PATIENCE_S = 5.0
#: what was heard last: a page says a thing again until it reads here that it was heard
_HEARD = 60


class GridView:
    """An experiment in one place of a notebook.

    Parameters
    ----------
    thing : Experiment
    clock : callable, optional
        Seconds, monotonic.

    Attributes
    ----------
    heard_from : bool
        Whether a front end has said that it shows the grid.
    pages : set of str
        The pages that said so.

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> from robotlab_nb.lab.experiment import Experiment
    >>> from robotlab_nb.lab.state import ExperimentState
    >>> state = ExperimentState("e1")
    >>> state.cells = [Cell(0, "k", "short", "mini", "rain", status="completed", text="wet")]
    >>> view = GridView(Experiment(state))
    >>> records = dict(view.snapshot()["ops"])
    >>> records["R0"]["name"], records["K0"]["text"]
    ('rain', 'wet')
    """

    def __init__(self, thing: Experiment, *, clock: Callable[[], float] = monotonic) -> None:
        self.thing = thing
        self.run = thing.run
        self.doc = GridDoc(thing)
        self.seat = os.urandom(6).hex()
        self.heard_from = False
        self.pages: set[str] = set()
        self.widget: GridWidget | None = None
        self._seated = True
        self._left = False
        self._clock = clock
        self._lock = threading.RLock()
        #: the cards of what the cells' robots ask
        self.cards = Cards(self.run, self.doc, self._lock) if self.run is not None else None
        self._watcher = self.run.watch() if self.run is not None and not self.run.done else None
        self._heard: list[str] = []
        self._refused = ""
        self._number = 0
        self._next = self._next_still = 0.0
        self._snapshot_at = clock()
        self._snapshot_size = self._sent = 0
        self._busy, self._probed = True, False
        self._stopped_at: float | None = None
        #: what the picture was made of
        self._pictured: tuple[int, bool] | None = None
        self._look()
        self.doc.changes()

    # -- its place -------------------------------------------------------------------------

    @property
    def seated(self) -> bool:
        """Whether its front end takes the place of its picture, so that no widget is stored."""
        return self._seated

    @seated.setter
    def seated(self, seated: bool) -> None:
        self._seated = seated
        if not seated and self.over:
            # Nothing more comes: its picture says it all, and no view of a widget is stored.
            widget, self.widget = self.widget, None
            if widget is not None:
                widget.close()

    def make_widget(self) -> None:
        """Have a widget carry what is new. Needs anywidget."""
        from .grid_widget import GridWidget

        self.widget = GridWidget(self)

    def shows(self, run: object) -> bool:
        """Whether a run is this experiment's."""
        return self.run is not None and self.run is run

    def leave(self) -> None:
        """Give the place up: the grid is shown elsewhere, or its cell was run again."""
        self._left = True

    @property
    def over(self) -> bool:
        """Whether no cell is asked any more; what may still change are ratings."""
        if self.run is None and self.thing.status == "pending":
            return True  # it was only planned
        ended = self.run is None or self.run.done
        return ended and self.thing.status not in ("pending", "running")

    @property
    def ended(self) -> bool:
        """Whether nobody can rate here: its picture stays."""
        return self._left or (self.over and (self.widget is None or not self._seated))

    def last(self) -> dict[str, Any]:
        """The picture that stands still, by mime type, with the ratings so far."""
        return {"text/html": "", **self.thing._repr_mimebundle_()}

    # -- what is sent ----------------------------------------------------------------------

    def _look(self) -> None:
        """Take in what has happened since the last time."""
        live = not self.over
        self.doc.look(self._elapsed() if live else None)
        if self._watcher is not None:
            ended = self._watcher.ended
            items = self._watcher.take()
            self.doc.take(items)
            self._asks(items)
            if ended:
                self._watcher.close()
                self._watcher = None
        self.doc.put(
            "grid",
            {
                "seat": self.seat,
                "open": not self._left,
                "heard": list(self._heard),
                "refused": self._refused,
            },
        )

    def _asks(self, items: Iterable[Event | Delta]) -> None:
        """Show what the cells' robots ask."""
        if self.run is None or not any(getattr(i, "type", "")[:5] == "hitl." for i in items):
            return
        with self.run.root.lock:
            rows = dict(ask_rows(self.run.state))
        for key in [k for k in self.doc.records if k[0] == "Q" and k not in rows]:
            self.doc.remove(key)
        for key, row in rows.items():
            self.doc.put(key, row)

    def _elapsed(self) -> float:
        """Seconds since the experiment began, or that it took."""
        run = self.run
        if run is None:
            return 0.0
        state = run.state
        if state.duration_s is not None:
            return round(state.duration_s, 2)
        return round(max(self._clock() - run.root.started - state.started_s, 0.0), 2)

    def batch(self) -> dict[str, Any] | None:
        """What changed since the last batch; None when nothing did."""
        with self._lock:
            self._look()
            changes = self.doc.changes()
            if not changes:
                return None
            self._number += 1
            return {"n": self._number, "at": self._elapsed(), "ops": changes}

    def snapshot(self) -> dict[str, Any]:
        """All there is, with the number of the last batch in it."""
        with self._lock:
            return {"n": self._number, "at": self._elapsed(), "ops": self.doc.whole()}

    def paint(self, *, pause: float = PAINT_S) -> None:
        """Send what is due.

        Parameters
        ----------
        pause : float, optional
            Seconds to the next batch at least.
        """
        with self._lock:
            now = self._clock()
            self._abandon_if_late(now)
            if now < self._next and not self.ended:
                return
            batch = self.batch()
            if self.widget is not None and batch is not None:
                self.widget.send(batch)
                self._sent += len(json.dumps(batch))
                due = now - self._snapshot_at >= SNAPSHOT_S
                if due and self._sent >= 2 * self._snapshot_size:
                    self.push()
            took = self._clock() - now
            self._next = now + max(pause, took / _SHARE)

    def push(self) -> None:
        """Send a snapshot to the front ends."""
        with self._lock:
            if self.widget is not None:
                self._snapshot_at = self._clock()
                self._snapshot_size = len(json.dumps(self.snapshot()))
                self._sent = 0
                self.widget.send_state("snapshot")
                if self.ended:
                    self._store(self.last(), last=True)

    def picture(self) -> tuple[str, str] | None:
        """The grid so far, as HTML and text; None when nothing is new or due."""
        with self._lock:
            now = self._clock()
            state = (self.thing.version, self.over)
            if state == self._pictured:
                return None
            closing = self._pictured is not None and self.over and not self._pictured[1]
            if self._pictured is not None and now < self._next_still and not closing:
                return None
            self._pictured = state
            bundle = self.last()
            if self.widget is not None:
                bundle["text/html"] += f'<span class="rlnb-seat-{self.seat}"></span>'
            size = sum(len(each) for each in bundle.values() if isinstance(each, str))
            seen = _SEEN_S if self.heard_from and not self.over else STILL_S
            self._next_still = now + max(seen, size / _STILL_RATE)
            self._store(bundle)
            return bundle["text/html"], bundle["text/plain"]

    def _store(self, bundle: dict[str, Any], *, last: bool = False) -> None:
        """Have the front end store a picture: a page loaded again takes no updates."""
        if self.widget is not None and self._seated and len(self.pages) > 1:
            self.widget.send({"still": bundle, "last": last})

    # -- how it is stopped -----------------------------------------------------------------

    def stopped_by(self, *, idle: bool, blocked: bool) -> None:
        """Say how it is stopped: by the grid's button, or only by the kernel's interrupt.

        While a cell is running, a click is promised only when a front end has been heard since.

        Parameters
        ----------
        idle : bool
            Whether no cell is running, so that the kernel hears a click.
        blocked : bool
            Whether the running cell holds the kernel while it waits.
        """
        with self._lock:
            if idle or not self._busy:
                self._probed = False
            self._busy = not idle
            how = "button" if idle or self._probed else "kernel" if blocked else ""
            if self._stopped_at is not None:
                how = "stopping"
            if self.doc.records.get("stop", {}).get("how") != how:
                self.doc.put("stop", {"how": how})

    def _abandon_if_late(self, now: float) -> None:
        late = self._stopped_at is not None and now - self._stopped_at > _PATIENCE_S
        if late and self.run is not None and not self.run.done:
            self._stopped_at = float("inf")
            self.run.abandon()

    # -- what a person does ------------------------------------------------------------------

    def heard(self, content: Mapping[str, Any]) -> None:
        """Take in what a front end says.

        Parameters
        ----------
        content : mapping
            ``hello``: the page that shows the grid; ``want``: it missed something; ``stop``; what
            :class:`~robotlab_nb.widgets.card_talk.Cards` hears; and, with an ``id`` under which it
            may be said again, ``look``: a cell to open, ``rate``: a cell and 1 to 5 or None,
            ``note``: a cell and a text.
        """
        if self.cards is not None:
            self.cards.heard(content)
        with self._lock:
            self.heard_from = True
            self._probed = self._busy
            if "hello" in content:
                self.pages.add(str(content["hello"]))
            if "want" in content:
                self.push()
            if content.get("stop") and not self.over:
                self._stopped_at = self._clock()
                self.stopped_by(idle=not self._busy, blocked=False)
                self.thing.stop()
            said = content.get("id")
            if said is None or str(said) in self._heard:
                return
            self._heard = [*self._heard[1 - _HEARD :], str(said)[:80]]
            self._do(content)
            self._next = 0.0

    def _do(self, content: Mapping[str, Any]) -> None:
        self._refused = ""
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always", RuntimeWarning)
                if isinstance(content.get("look"), int):
                    self.doc.open(content["look"])
                elif "rate" in content:
                    index, rating = content["rate"]
                    self.thing.rate(index, rating)
                elif "note" in content:
                    index, note = content["note"]
                    self.thing.rate(index, self.thing.cells[index].rating, note=str(note))
            # Where a rating could not be written, whoever gave it reads that in the grid.
            self._refused = one_line(warned[-1].message, 300) if warned else ""
        except RobotLabError as error:
            self._refused = one_line(" ".join(w for w in (error.message, error.hint) if w), 300)
        except Exception as error:
            # It may be a disk that is full: what a person did must not be lost in silence.
            self._refused = f"not kept: {one_line(error, 200) or type(error).__name__}"

    def close(self) -> None:
        """See nothing more, and let the widget go."""
        with self._lock:
            watcher, self._watcher = self._watcher, None
            widget, self.widget = self.widget, None
        if watcher is not None:
            watcher.close()
        if widget is not None:
            widget.close()
