"""One live view of one run: what is sent of it, when, and what a click in it means.

Batches are numbered; a snapshot says which batch is the last one in it. Somebody else calls
:meth:`LiveView.paint` again and again; this module starts no thread and knows no notebook.
"""

from __future__ import annotations

import json
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..display.amounts import seconds
from .card_talk import Cards
from .live_doc import LiveDoc
from .live_still import still

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..runtime.run import Run
    from .live_widget import LiveWidget

__all__ = ["PAINT_S", "SNAPSHOT_S", "STILL_S", "LiveView"]

#: Seconds between two batches, two snapshots, two pictures that stand still; never less.
PAINT_S = 0.1
SNAPSHOT_S = 1.0
STILL_S = 0.5
#: Characters a second of pictures that stand still.
_STILL_RATE = 10_000
#: Painting takes at most this share of a thread's time, however large the run.
_SHARE = 0.2
#: Seconds that a run has to stop after a click, before it is abandoned.
_PATIENCE_S = 2.0


class LiveView:
    """A view of a run while it happens. What has happened already is in its first snapshot.

    Parameters
    ----------
    run : Run
    clock : callable, optional
        Seconds, monotonic.

    Attributes
    ----------
    ended : bool
        Whether the run has ended.
    heard_from : bool
        Whether a front end has said that it shows the view.
    pages : set of str
        The pages that said so; more than one after a page was loaded again.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> run = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).start("a poem")
    >>> answer = run.result()
    >>> view = LiveView(run)
    >>> view.ended, view.snapshot()["n"], view.batch()
    (True, 0, None)
    """

    def __init__(self, run: Run[Any], *, clock: Callable[[], float] = monotonic) -> None:
        self.run = run
        self.doc = LiveDoc(run.scope)
        self.heard_from = False
        self.pages: set[str] = set()
        self.seated = False
        self.widget: LiveWidget | None = None
        self._clock = clock
        self._lock = threading.RLock()
        self.cards = Cards(run, self.doc, self._lock)
        self._watcher = run.watch()
        self._number = 0
        self._next = self._next_still = 0.0
        self._snapshot_at = clock()
        self._snapshot_size = self._sent = 0
        self._probed = False
        self._busy = True
        self._stopped_at: float | None = None
        self._picture: tuple[str, str] | None = None
        self.doc.take(self._watcher.take())

    # -- its place -------------------------------------------------------------------------

    def make_widget(self) -> None:
        """Have a widget carry what is new. Needs anywidget."""
        from .live_widget import LiveWidget

        self.widget = LiveWidget(self)

    def shows(self, run: object) -> bool:
        """Whether this is the view of a run."""
        return self.run is run

    @property
    def ended(self) -> bool:
        """Whether the run has ended: nothing more will come."""
        return self.run.done

    def last(self) -> dict[str, Any]:
        """The run's picture that stands still, by mime type."""
        try:
            found: dict[str, Any] = self.run._repr_mimebundle_()
        except Exception as error:
            told = f"{self.run.name}: {self.run.status} (no picture: {type(error).__name__})"
            found = {"text/plain": told}
        return found

    # -- what is sent ----------------------------------------------------------------------

    def batch(self) -> dict[str, Any] | None:
        """What changed since the last batch; None when nothing did.

        Returns
        -------
        dict or None
            ``n``, its number from 1; ``at``, seconds since the run started; ``ops``, changes of
            :class:`~robotlab_nb.widgets.live_doc.LiveDoc`.
        """
        with self._lock:
            changes = self.doc.take(self._watcher.take())
            if not changes:
                return None
            self._number += 1
            return {"n": self._number, "at": self._elapsed(), "ops": changes}

    def snapshot(self) -> dict[str, Any]:
        """All there is: as one batch that follows nothing, with the number of the last one."""
        with self._lock:
            return {"n": self._number, "at": self._elapsed(), "ops": self.doc.whole()}

    def _elapsed(self) -> float:
        state = self.doc.state
        if state.duration_s is not None:
            return round(state.duration_s, 2)
        if state.status == "pending":
            return 0.0
        return round(max(self._clock() - self.run.root.started - state.started_s, 0.0), 2)

    def paint(self, *, pause: float = PAINT_S) -> None:
        """Send what is due; after the run's last event everything is.

        Parameters
        ----------
        pause : float, optional
            Seconds to the next batch at least; more where many views are open.
        """
        with self._lock:
            now = self._clock()
            self._abandon_if_late(now)
            if now < self._next and not self.run.done:
                return
            batch = self.batch()
            if self.widget is not None and batch is not None:
                self.widget.send(batch)
                self._sent += len(json.dumps(batch))
                self._push_if_due(now)
            took = self._clock() - now
            self._next = now + max(pause, took / _SHARE)

    def _push_if_due(self, now: float) -> None:
        # Each snapshot is followed by twice as much in batches, so that all snapshots together are
        # hardly more than half of the batches, however long the run.
        if now - self._snapshot_at >= SNAPSHOT_S and self._sent >= 2 * self._snapshot_size:
            self.push()

    def push(self) -> None:
        """Send a snapshot to the front ends."""
        with self._lock:
            if self.widget is not None:
                self._snapshot_at = self._clock()
                self._snapshot_size = len(json.dumps(self.snapshot()))
                self._sent = 0
                self.widget.send_state("snapshot")

    def picture(self) -> tuple[str, str] | None:
        """HTML and text for a front end without widgets; None when it is not time for them."""
        with self._lock:
            now = self._clock()
            if now < self._next_still and self._picture is not None:
                return None
            clock = seconds(float(int(self._elapsed())), limit=True) or ""
            found = still(self.doc.records, clock)
            if found == self._picture:
                return None
            self._picture = found
            self._next_still = now + max(STILL_S, sum(map(len, found)) / _STILL_RATE)
            return found

    # -- how it is stopped -----------------------------------------------------------------

    def stopped_by(self, *, idle: bool, blocked: bool) -> None:
        """Say how the run is stopped: by the view's button, or only by the kernel's interrupt.

        While a cell is running, a click is promised only when a front end has been heard since.

        Parameters
        ----------
        idle : bool
            Whether no cell is running, so that the kernel hears a click.
        blocked : bool
            Whether the running cell holds the kernel while it waits for a run.
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

    def heard(self, content: Mapping[str, Any]) -> None:
        """Take in what a front end says: that it is there, that it missed something, Stop.

        Parameters
        ----------
        content : mapping
            ``{"hello": page}``, ``{"want": number}``, ``{"stop": true}``, or what
            :class:`~robotlab_nb.widgets.card_talk.Cards` hears.
        """
        self.cards.heard(content)
        with self._lock:
            self.heard_from = True
            self._probed = self._busy
            if "hello" in content:
                self.pages.add(str(content["hello"]))
            if "want" in content:
                self.push()
            if content.get("stop") and not self.run.done:
                self._stopped_at = self._clock()
                self.stopped_by(idle=not self._busy, blocked=False)
                self.run.cancel("stopped")

    def _abandon_if_late(self, now: float) -> None:
        late = self._stopped_at is not None and now - self._stopped_at > _PATIENCE_S
        if late and not self.run.done:
            self._stopped_at = float("inf")
            self.run.abandon()

    def close(self) -> None:
        """See nothing more, and let the widget go."""
        self._watcher.close()
        with self._lock:
            widget, self.widget = self.widget, None
        if widget is not None:
            widget.close()
