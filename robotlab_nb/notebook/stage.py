"""Something live in its place: one display, from its first picture to its last.

A stage is one display id. It is updated by publishing bundles raw under that id, so that it keeps
its place when its cell has ended. Two tiers: a widget, and where no widget is shown, pictures that
replace each other. In the end a picture that stands still takes the place of either.

An act may be *seated*: then its pictures are published all the time, and its widget is in none of
them. Its front end finds the picture and takes its place, so what a notebook stores is never a
widget. Where no front end does, the widget gets a view like any other.
"""

from __future__ import annotations

import contextlib
import os
from time import monotonic
from typing import Any, Protocol

__all__ = ["Act", "Stage", "publish"]

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


class Act(Protocol):
    """What is shown on a stage: a view of a run, a chat, a card, a replay."""

    #: its widget, once :meth:`make_widget` made one; the stage sets it to None to give it up
    widget: Any
    #: whether a front end has said that it shows the widget
    heard_from: bool
    #: the pages that said so; more than one after a page was loaded again
    pages: set[str]
    #: whether its front end stands in place of its picture; the stage unseats one nobody shows
    seated: bool

    @property
    def ended(self) -> bool:
        """Whether it is over and has shown so: the stage shows :meth:`last` and lets it go."""

    def make_widget(self) -> None:
        """Set :attr:`widget`. May fail where widgets are missing or broken."""

    def stopped_by(self, *, idle: bool, blocked: bool) -> None:
        """Be told whether no cell runs (a click is heard), or one holds the kernel."""

    def paint(self, *, pause: float) -> None:
        """Send the widget what is new; ``pause`` seconds between two sendings at least."""

    def picture(self) -> tuple[str, str] | None:
        """HTML and text for front ends without widgets; None when nothing is new or due."""

    def last(self) -> dict[str, Any]:
        """The picture that stays, by mime type: static, no widget in it."""

    def push(self) -> None:
        """Send the widget all there is."""

    def close(self) -> None:
        """See nothing more, and let the widget go. It may be called twice."""

    def shows(self, run: object) -> bool:
        """Whether a run is shown here, so that runs inside it need no stage of their own."""


class Stage:
    """A display and what is shown in it. Making one shows it.

    Parameters
    ----------
    act : Act
    widgets : bool
        Whether to try a widget.
    """

    def __init__(self, act: Act, *, widgets: bool) -> None:
        self.act = act
        self.display_id = os.urandom(8).hex()
        #: what was published last, once it was over
        self.settled: dict[str, Any] | None = None
        #: whether its widget was given up, since no front end said that it shows it
        self.unheard = False
        self.opened = monotonic()
        self._idle_since: float | None = None
        #: the picture that was published last, while it is not over
        self._pictured = ("", "")
        if widgets:
            # A person without anywidget, or with a broken one, still sees what happens.
            with contextlib.suppress(Exception):
                act.make_widget()
        try:
            publish(self._bundle(), self.display_id)
        except Exception:
            act.close()
            raise

    def _bundle(self) -> dict[str, Any]:
        html, text = self._pictured = self.act.picture() or self._pictured
        bundle: dict[str, Any] = {"text/plain": text, "text/html": html}
        widget = self.act.widget
        if widget is not None and not self.act.seated:
            bundle[_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        return bundle

    def paint(self, *, blocked: bool, idle: bool, pause: float) -> None:
        """Show what is new, and settle when it is over. Never raises.

        Parameters
        ----------
        blocked : bool
            Whether a cell holds the kernel while it waits for a run.
        idle : bool
            Whether no cell is running, so that the kernel hears what a widget says.
        pause : float
            Seconds to the next batch at least.
        """
        # Asked first: what happens while we paint is for the next time, or the end would be missed.
        ended = self._over()
        try:
            self.act.stopped_by(idle=idle, blocked=blocked)
            self.act.paint(pause=pause)
            if not ended:
                self._without_widget(idle=idle)
        except Exception:
            # Whatever it was, it is not worth a run: the end will still be shown.
            self.act.widget = None
        if ended:
            self.settle()

    def _over(self) -> bool:
        """Whether it is over; what cannot even tell is."""
        try:
            return self.act.ended
        except Exception:
            return True

    def _without_widget(self, *, idle: bool) -> None:
        act = self.act
        seated = act.widget is not None and act.seated
        unheard = act.widget is not None and self._unheard(idle=idle)
        if act.widget is not None and not seated and not unheard:
            return
        if seated and unheard:
            act.seated = False
            self._idle_since = None
            publish(self._bundle(), self.display_id, update=True)
            return
        widget = None
        if not seated:
            widget, act.widget = act.widget, None
        self.unheard = widget is not None or self.unheard
        picture = act.picture() or (self._pictured if widget is not None else None)
        if picture is not None:
            html, text = self._pictured = picture
            publish({"text/plain": text, "text/html": html}, self.display_id, update=True)
        if widget is not None:
            widget.close()

    def _unheard(self, *, idle: bool) -> bool:
        if self.act.heard_from or not idle:
            self._idle_since = None
            return False
        now = monotonic()
        if self._idle_since is None:
            self._idle_since = now
        return now - self._idle_since > UNHEARD_S

    def settle(self) -> None:
        """Put the picture that stands still into the place. Never raises."""
        try:
            self.settled = self.act.last()
        except Exception:
            # Its last picture but one, so that nothing is painted for ever, and no widget stays.
            html, text = self._pictured
            self.settled = {"text/plain": text, "text/html": html}
        with contextlib.suppress(Exception):
            publish(self.settled, self.display_id, update=True)
        if len(self.act.pages) > 1:
            # The page was loaded again and no longer knows the display, only the widget.
            with contextlib.suppress(Exception):
                self.act.push()
            self.act.widget = None
        with contextlib.suppress(Exception):
            self.act.close()

    def again(self) -> None:
        """Publish the last picture once more, for a reader that was not there."""
        if self.settled is not None:
            publish(self.settled, self.display_id, update=True)
