"""The cards of a run that is shown nowhere else: its questions alone, until they are settled."""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..display import as_html, as_text
from ..display.question_card import of_run
from ..display.style import STYLE
from .card_talk import Cards
from .live_asks import card_rows
from .live_records import LiveRecords

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.records import Asked
    from ..runtime.desk import Open
    from ..runtime.run import Run
    from .live_widget import LiveWidget

__all__ = ["CardView"]


class CardView:
    """Some questions of a root run and of those inside it, as cards on a stage of their own.

    Parameters
    ----------
    run : Run
        The root.

    Attributes
    ----------
    cards : Cards
        What is said by the cards, and to them.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> from robotlab_nb.runtime.desk import desk_of
    >>> from robotlab_nb.tools.user_question import ask_user
    >>> steps = [("ask_user", {"question": "Which size?"}), "ordered"]
    >>> run = rl.build("shop", model=rl.SimulatedModel(steps), tools=[ask_user]).start("shoes")
    >>> asked = run.result().pending
    >>> view = CardView(run)
    >>> for opened in desk_of(run).of(run):
    ...     view.add(opened)
    >>> view.ended, run.answer("L").result().text, view.ended
    (False, 'ordered', True)
    >>> print(view.last()["text/plain"])
    ✓ answered · shop asked “Which size?” · “L” · by run.answer() · at ...
    """

    def __init__(self, run: Run[Any]) -> None:
        self.run = run
        self.widget: LiveWidget | None = None
        self.heard_from = False
        self.pages: set[str] = set()
        self.seated = False
        self.doc = LiveRecords()
        self._lock = threading.RLock()
        self.cards = Cards(run, self.doc, self._lock)
        #: whether nobody was there to hear, so that the place is left empty
        self._given_up = False
        self._opens: list[Open] = []
        self._number = 0
        self._picture: tuple[Any, ...] | None = None
        self.doc.put("run", {"live": True, "name": run.name})
        self.doc.changes()

    def add(self, opened: Open) -> None:
        """Show a question more."""
        with self._lock:
            self._opens.append(opened)
            self._look()

    def has(self, question_id: str) -> bool:
        """Whether a question is shown here."""
        return any(opened.question.id == question_id for opened in self._opens)

    def give_up(self) -> None:
        """Leave the place empty: nobody is there, and the question is asked in another way."""
        self._given_up = True

    # -- what it shows ---------------------------------------------------------------------

    def _asked(self) -> list[Asked]:
        with self.run.root.lock:
            found = [o.run.state.asked.get(o.question.id) for o in self._opens]
        return [asked for asked in found if asked is not None]

    def _look(self) -> None:
        """Bring the records up to date."""
        with self.run.root.lock:
            rows = dict(card_rows(self._asked()))
        for key in [k for k in self.doc.records if k != "run" and k not in rows]:
            self.doc.remove(key)
        for key, row in rows.items():
            self.doc.put(key, row)

    def _elapsed(self) -> float:
        return round(monotonic() - self.run.root.started, 2)

    def snapshot(self) -> dict[str, Any]:
        """All there is: as one batch that follows nothing, with the number of the last one."""
        with self._lock:
            return {"n": self._number, "at": self._elapsed(), "ops": self.doc.whole()}

    # -- on a stage ------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether all its questions are settled."""
        return self._given_up or all(opened.answer is not None for opened in self._opens)

    def make_widget(self) -> None:
        """Have a widget show the cards. Needs anywidget."""
        from .card_widget import CardWidget

        with self._lock:
            self.doc.changes()  # they are in its first snapshot
            self.widget = CardWidget(self)

    def stopped_by(self, *, idle: bool, blocked: bool) -> None:
        """Nothing is stopped here."""

    def paint(self, *, pause: float = 0.0) -> None:
        """Send the widget what changed."""
        with self._lock:
            self._look()
            changes = self.doc.changes()
            if changes:
                self._number += 1
                if self.widget is not None:
                    self.widget.send({"n": self._number, "at": self._elapsed(), "ops": changes})

    def picture(self) -> tuple[str, str] | None:
        """HTML and text for front ends without widgets; None when nothing is new."""
        with self._lock:
            asked = self._asked()
            told = (self.widget is None, *(each.status for each in asked))
            if told == self._picture:
                return None
            self._picture = told
            drawn = of_run(asked)
        return STYLE + as_html.write(drawn), as_text.write(drawn)

    def last(self) -> dict[str, Any]:
        """One line for each question: how it was settled, by whom, and when."""
        if self._given_up:
            # No height, valid in a saved file, and known to every exporter.
            return {"text/plain": ""}
        drawn = of_run(self._asked())
        return {"text/plain": as_text.write(drawn), "text/html": STYLE + as_html.write(drawn)}

    def push(self) -> None:
        """Send the widget all there is."""
        with self._lock:
            if self.widget is not None:
                self._look()
                self.widget.send_state("snapshot")

    def heard(self, content: Mapping[str, Any]) -> None:
        """Take in what a front end says: that it is there, that it missed something, an answer."""
        self.heard_from = True
        if "hello" in content:
            self.pages.add(str(content["hello"]))
        if "want" in content:
            self.push()
        self.cards.heard(content)

    def close(self) -> None:
        """Let the widget go."""
        with self._lock:
            widget, self.widget = self.widget, None
        if widget is not None:
            widget.close()

    def shows(self, run: object) -> bool:
        """Whether a run is shown here: only its questions are."""
        return False
