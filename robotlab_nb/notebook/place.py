"""A live view in its place: the display that it stands in, from the first picture to the last.

A place is one display id. It is updated by publishing bundles raw under that id, so that it keeps
its place when its cell has ended. Two tiers: the widget, and where no widget is shown, a picture
that is replaced at most twice a second.
"""

from __future__ import annotations

import contextlib
import os
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..widgets.live_view import LiveView

if TYPE_CHECKING:
    from ..runtime.run import Run

__all__ = ["Place", "publish"]

#: Seconds that an idle kernel waits to hear from a widget before it is taken for not shown.
UNHEARD_S = 2.0
_VIEW = "application/vnd.jupyter.widget-view+json"


def publish(bundle: dict[str, Any], display_id: str | None = None, *, update: bool = False) -> None:
    """Show a bundle in the cell that is running, or in the place of an earlier one.

    Parameters
    ----------
    bundle : dict
        By mime type.
    display_id : str, optional
        Under which it can be replaced.
    update : bool, optional
        Whether it replaces what was shown under that id.
    """
    from IPython.display import display

    display(  # type: ignore[no-untyped-call]
        bundle, raw=True, **({"display_id": display_id, "update": update} if display_id else {})
    )


class Place:
    """A run's live view where it was first shown.

    Parameters
    ----------
    run : Run
    widgets : bool
        Whether to try a widget.
    """

    def __init__(self, run: Run[Any], *, widgets: bool) -> None:
        self.run = run
        self.view = LiveView(run)
        self.display_id = os.urandom(8).hex()
        #: what was published last, once the run had ended
        self.settled: dict[str, Any] | None = None
        #: whether its widget was given up, since no front end said that it shows it
        self.unheard = False
        self.opened = monotonic()
        self._idle_since: float | None = None
        if widgets:
            self._make_widget()
        try:
            publish(self._bundle(), self.display_id)
        except Exception:
            self.view.close()
            raise

    def _make_widget(self) -> None:
        # A person without anywidget, or with a broken one, still sees the run.
        with contextlib.suppress(Exception):
            from ..widgets.live_widget import LiveWidget

            self.view.widget = LiveWidget(self.view)

    def _bundle(self) -> dict[str, Any]:
        html, text = self.view.picture() or ("", "")
        bundle: dict[str, Any] = {"text/plain": text, "text/html": html}
        widget = self.view.widget
        if widget is not None:
            bundle[_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        return bundle

    def paint(self, *, blocked: bool, idle: bool, pause: float) -> None:
        """Show what is new, and settle when the run has ended. Never raises.

        Parameters
        ----------
        blocked : bool
            Whether a cell holds the kernel while it waits for a run.
        idle : bool
            Whether no cell is running, so that the kernel hears what a widget says.
        pause : float
            Seconds between two batches at least.
        """
        # Asked first: what happens while we paint is for the next time, or the end would be missed.
        ended = self.run.done
        try:
            self.view.stopped_by(idle=idle, blocked=blocked)
            self.view.paint(pause=pause)
            if not self.view.ended:
                self._without_widget(idle=idle)
        except Exception:
            # Whatever it was, it is not worth a run: the end will still be shown.
            self.view.widget = None
        if ended:
            self.settle()

    def _without_widget(self, *, idle: bool) -> None:
        view = self.view
        if view.widget is not None and not self._unheard(idle=idle):
            return
        widget, view.widget = view.widget, None
        self.unheard = widget is not None or self.unheard
        picture = view.picture()
        if picture is not None:
            html, text = picture
            publish({"text/plain": text, "text/html": html}, self.display_id, update=True)
        if widget is not None:
            widget.close()

    def _unheard(self, *, idle: bool) -> bool:
        if self.view.heard_from or not idle:
            self._idle_since = None
            return False
        now = monotonic()
        if self._idle_since is None:
            self._idle_since = now
        return now - self._idle_since > UNHEARD_S

    def settle(self) -> None:
        """Put the run's picture that stands still into the place. Never raises."""
        with contextlib.suppress(Exception):
            self.settled = _still_bundle(self.run)
            publish(self.settled, self.display_id, update=True)
        if len(self.view.pages) > 1:
            # The page was loaded again and no longer knows the display, only the widget.
            self.view.push()
            self.view.widget = None
        with contextlib.suppress(Exception):
            self.view.close()

    def again(self) -> None:
        """Publish the last picture once more, for a reader that was not there."""
        if self.settled is not None:
            publish(self.settled, self.display_id, update=True)


def _still_bundle(run: Run[Any]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = run._repr_mimebundle_()
    except Exception as error:
        found = {"text/plain": f"{run.name}: {run.status} (no picture: {type(error).__name__})"}
    return found
