"""Painting in a notebook: live views in their places, and one status line while a cell blocks.

One painter per kernel. The thread that is blocked in ``run()`` or ``result()`` paints everything
that is open; when none is, the painter's own thread does, or the kernel's loop where a front end
shows only what that sends. The engine's thread never paints.
"""

from __future__ import annotations

import contextlib
import threading
from contextvars import Context
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..core.config import options
from ..core.readings import reading
from ..runtime.asking import add_channel
from .asking_place import AskingPlace
from .loop_turns import LoopTurns, needs_own_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..runtime.run import Run
    from .stage import Act, Stage

__all__ = ["Painter", "painter"]

#: seconds between two looks of the painter's thread
LOOK_S = 0.1
#: batches a second of all views together
MOST = 80
#: seconds that a run, or a cell, may take before that shows: quick ones should not flicker
QUIET_S = 0.3


class Painter:
    """Paints for one kernel.

    Parameters
    ----------
    shell : InteractiveShell
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        #: whether this kernel's front ends show widgets; None when that is not known yet
        self.widgets: bool | None = False if needs_own_loop() else None
        #: the kernel's loop, if only what it sends is shown
        self._turns = LoopTurns(self._turn, LOOK_S) if needs_own_loop() else None
        self._program = False
        self._places: list[Stage] = []
        self._lock = threading.Lock()
        self._opened = threading.Condition(self._lock)
        self._painting = threading.RLock()
        self._thread: threading.Thread | None = None
        #: threads that paint while they wait, and those of them that hold the kernel
        self._waiting = self._holding = 0
        self._running_cell = True
        self._cell_began = monotonic()
        self._execution = ""
        self._shown: set[str] = set()
        self._ever: WeakSet[Run[Any]] = WeakSet()
        #: places that were settled between two cells, where a headless reader may not look
        self._between: list[Stage] = []
        self._painted = self._ended = monotonic()
        self.asking = AskingPlace(self)
        self._note_front_end()
        shell.events.register("pre_run_cell", self._before_cell)
        shell.events.register("post_run_cell", self._after_cell)

    # -- which cell ------------------------------------------------------------------------

    def _parent(self) -> dict[str, Any]:
        try:
            parent: dict[str, Any] = self.shell.kernel.get_parent() or {}
        except Exception:
            return {}
        return parent

    def cell(self) -> tuple[str, str] | None:
        """The id of the cell being run and of this execution, where the front end tells them."""
        parent = self._parent()
        cell_id = (parent.get("metadata") or {}).get("cellId")
        execution = (parent.get("header") or {}).get("msg_id")
        return (cell_id, execution) if cell_id and execution else None

    def shown_here(self, run_id: str) -> bool:
        """Whether a run was shown live by the cell that is being run now."""
        execution = (self._parent().get("header") or {}).get("msg_id")
        return execution == self._execution and run_id in self._shown

    def _note_shown(self, run: Run[Any]) -> None:
        execution = str((self._parent().get("header") or {}).get("msg_id") or "")
        if execution != self._execution:
            self._execution, self._shown = execution, set()
        self._shown.add(run.id)
        self._ever.add(run)

    def _before_cell(self, _info: Any = None) -> None:
        self._cell_began = monotonic()
        self._running_cell = True
        self._note_front_end()
        self.asking.again(cell=True)

    def _note_front_end(self) -> None:
        """Tell a program that runs a notebook's cells from a page; it shows no widget.

        It answers no prompt and names no cell (nbclient, papermill). Trying widgets there would
        leave their state in the file, and a view that nobody can show of what has not ended.
        """
        parent = self._parent()
        content = parent.get("content") or {}
        asks = content.get("allow_stdin", True) or (parent.get("metadata") or {}).get("cellId")
        if self._program == bool(asks):
            self._program = not asks
            self.widgets = False if self._program or self._turns is not None else None
        if self._turns is not None:
            self._turns.take_loop()

    @property
    def places(self) -> tuple[Stage, ...]:
        """Where something is shown live."""
        return tuple(self._places)

    @property
    def running_cell(self) -> bool:
        """Whether a cell is being run."""
        return self._running_cell

    @property
    def holding(self) -> bool:
        """Whether a cell holds the kernel while it waits for a run."""
        return self._holding > 0

    def idle_for(self) -> float:
        """Seconds since the last cell ended; 0 while one is running."""
        return 0.0 if self._running_cell else monotonic() - self._ended

    def _idle(self, place: Stage) -> bool:
        """Whether the kernel hears a view; a cell that ends at once does not count against that."""
        if not self._running_cell:
            return True
        quick = monotonic() - self._cell_began < QUIET_S and not self._holding
        return quick and place.opened < self._cell_began

    def _after_cell(self, _result: Any = None) -> None:
        """What has ended is settled while a headless reader still reads this cell's messages."""
        self.paint()
        self._running_cell, self._ended = False, monotonic()
        between, self._between = self._between, []
        for place in between:
            with contextlib.suppress(Exception):
                place.again()

    # -- live views ------------------------------------------------------------------------

    def show(self, run: Run[Any]) -> bool:
        """Show a run in the cell that is being run: live while it goes on. Never raises."""
        from ..widgets.grid_placing import view_of
        from .stage import publish

        try:
            if self._inside_shown(run):
                return True
            # A grid can be rated when nothing runs any more.
            if run.done and run.scope.kind != "experiment":
                publish(run._repr_mimebundle_())
            else:
                self.open(view_of(run))
        except Exception:
            return False
        self._note_shown(run)
        return True

    def tell(self, bundle: dict[str, Any]) -> None:
        """Show what never changes in the cell that is being run.

        Parameters
        ----------
        bundle : dict
            By mime type.
        """
        from .stage import publish

        publish(bundle)

    def open(self, act: Act) -> Stage:
        """Give what is live a place in the cell that is being run, and paint it until it is over.

        Parameters
        ----------
        act : Act

        Returns
        -------
        Stage
            Its place.
        """
        from .stage import Stage

        place = Stage(act, widgets=self.widgets is not False)
        with self._lock:
            self._places.append(place)
        self.wake()
        return place

    def wake(self) -> None:
        """Have what is open looked at: by the painter's thread, or on the kernel's loop."""
        if self._turns is not None and self._turns.take_loop() and self._turns.ask():
            return
        with self._opened:
            if self._thread is None or not self._thread.is_alive():
                # In a context of its own: what is painted belongs to no cell in particular.
                self._thread = threading.Thread(
                    target=Context().run,
                    args=(self._paint_forever,),
                    name="robotlab_nb-painter",
                    daemon=True,
                )
                self._thread.start()
            self._opened.notify_all()

    def _inside_shown(self, run: Run[Any]) -> bool:
        """Whether a run is a part of one whose view is open already."""
        above = run.parent
        while above is not None:
            if any(place.act.shows(above) for place in self._places):
                return True
            above = above.parent
        return False

    def paint(self) -> None:
        """Paint every open view, and let those go whose run has ended. Any thread may call it."""
        if not self._sends():
            return
        with self._painting:
            self._painted = monotonic()
            with contextlib.suppress(Exception):
                self.asking.look()
            places = self.places
            pause = max(LOOK_S, len(places) / MOST)
            for place in places:
                place.paint(blocked=self._holding > 0, idle=self._idle(place), pause=pause)
                if place.act.heard_from:
                    self.widgets = True
                elif place.unheard and self.widgets is None:
                    self.widgets = False
                if place.settled is not None:
                    self._let_go(place)
            self.asking.hand_back()

    def _let_go(self, place: Stage) -> None:
        with self._lock:
            if place in self._places:
                self._places.remove(place)
        if not self._running_cell and not place.act.heard_from:
            self._between.append(place)

    def _sends(self) -> bool:
        """Whether what this thread sends is shown."""
        main = threading.current_thread() is threading.main_thread()
        return self._turns is None or main or not self._turns.ask()

    def _turn(self) -> bool:
        """A turn of the kernel's loop; whether it has to take another one."""
        self.paint()
        return bool(self._places or self.asking.open)

    def _paint_forever(self) -> None:
        while True:
            with self._opened:
                while not self._places and not self.asking.open:
                    self._opened.wait()
            # A thread that waits paints by itself, except while it asks at its prompt.
            if not self._waiting or monotonic() - self._painted > QUIET_S:
                self.paint()
            sleep(LOOK_S)

    # -- a thread that waits ---------------------------------------------------------------

    @contextlib.contextmanager
    def status_line(self, run: Run[Any]) -> Iterator[_Line]:
        """Paint while this thread waits for a run: its view, or one line that goes away.

        A run that ends without a result leaves its picture, so that its messages are not lost.
        """
        wanted = options.status and self._sends() and not self.shown_here(run.id)
        # Its place stays in the notebook, which is to be the same when a tape is played at once.
        line = _Line(self, run, visible=wanted and run.root.times is None)
        holds = threading.current_thread() is threading.main_thread()
        with self._lock:
            self._waiting += 1
            self._holding += holds
        self.asking.again()
        try:
            yield line
        finally:
            with self._lock:
                self._waiting -= 1
                self._holding -= holds
            self.paint()
            line.close()
            if run.done and not run.has_result and run not in self._ever:
                self.show(run)


class _Line:
    """The status line of one run; painting it paints all open views as well."""

    def __init__(self, painter: Painter, run: Run[Any], *, visible: bool) -> None:
        self._painter = painter
        self._run = run
        self._visible = visible
        self._from = monotonic()
        self._display_id = ""
        self._told = ""

    def paint(self) -> None:
        """Show the line, or change it if it reads differently now. Never raises."""
        self._painter.paint()
        if self._visible and monotonic() - self._from >= QUIET_S:
            with contextlib.suppress(Exception):
                with self._run.root.lock:
                    text, html = reading("status")(
                        self._run.state, monotonic() - self._run.root.started
                    )
                if text != self._told:
                    self._told = text
                    self._publish({"text/plain": text, "text/html": html})

    def _publish(self, bundle: dict[str, Any]) -> None:
        from .stage import publish

        update = bool(self._display_id)
        if not update:
            self._display_id = f"{self._run.id}-status-{id(self):x}"
        publish(bundle, self._display_id, update=update)

    def close(self) -> None:
        """Take the line away."""
        if self._display_id:
            # Not clear_output: that would take the cell's other outputs along. Empty text has
            # no height, is valid in a saved file and known to every exporter; {} is not.
            with contextlib.suppress(Exception):
                self._publish({"text/plain": ""})


_made: Painter | None = None


def painter() -> Painter | None:
    """The painter of this kernel; None where there is no kernel (a script, a plain shell).

    Examples
    --------
    >>> painter() is None
    True
    """
    global _made
    if _made is None:
        from IPython import get_ipython

        shell = get_ipython()
        if shell is None or getattr(shell, "kernel", None) is None:
            return None
        _made = Painter(shell)
        add_channel(_made.asking)
    return _made
