"""Asking by cards with buttons: the rung of the ladder for which somebody must be there to click.

A question is claimed for a card only while it is proven that a click would be heard: the card is
on a page and has said so since the question was put, since the present cell began, and since its
thread blocked. If that is not heard soon, it goes to the next rung: the prompt, or
``run.answer()``.

=====================================  =========================================================
way of running                         what a person sees (JupyterLab, ipykernel 7.4)
=====================================  =========================================================
``bot.run()``, ``%%robot``             the cell's prompt asks, at once
``bot.run(show=True)``                 the card stands in the live view; without buttons, and the
                                       prompt asks, where the view was not heard since it blocks
``await bot.arun()``                   a card under the cell, which goes on when it is answered
``await bot.arun(show=True)``          the card stands in the live view
``run = bot.start()``                  a card under that cell, once the kernel is idle
``bot.start()`` as the last line       the card stands in the live view
``result`` of a run that waits         its static picture, and a card under the cell that began it
=====================================  =========================================================

A waiting run is not over, so its cards stay while the kernel lives: they are answered by a click
after their cell has ended as well. When the next cell blocks on the run, the prompt takes over;
when it awaits it, the cards go on if a page still shows them. Closing the page answers nothing: the
run waits, and denies when its time is up. Stopping it denies at once. Where no page shows widgets,
nothing of this is seen: a cell that awaits ends with a waiting result.
"""

from __future__ import annotations

import signal
import threading
from contextvars import copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..runtime.desk import desk_of
from ..runtime.registry import runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextvars import Context

    from ..runtime.desk import Open
    from ..runtime.questions import Question
    from ..runtime.working import Work
    from ..widgets.card_talk import Cards
    from ..widgets.card_view import CardView
    from .painter import Painter
    from .stage import Stage

__all__ = ["PROOF_S", "AskingPlace"]

#: seconds in which a card must say that it is on a page; a cell without one waits within 2 s
PROOF_S = 1.25
#: seconds that a kernel is idle before a card appears: quick cells should not flicker
_IDLE_S = 0.3


class AskingPlace:
    """A channel (:class:`robotlab_nb.runtime.asking.Channel`): one per kernel, beside its painter.

    Parameters
    ----------
    painter : Painter
        Calls :meth:`look` before it paints and :meth:`hand_back` afterwards.
    """

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._lock = threading.Lock()
        self._asked: dict[str, _Asked] = {}
        #: goes up when what was proven may be so no longer
        self._call = 0
        self._since = monotonic()
        #: whether cards were tried in a cell that waited, and nobody was there
        self._missed = False
        self._back: list[_Asked] = []

    # -- as a channel, on the engine's thread ----------------------------------------------

    def offers(self, question: Question) -> bool:
        """Whether a card for it might be clicked now. It is found out by the painting thread."""
        opened = _found(question)
        if opened is None:
            return False
        with self._lock:
            self._asked[question.id] = _Asked(opened, self._call, copy_context())
        self._painter.wake()
        return self._may_show(opened)

    def ask(self, question: Question) -> None:
        """The painting thread draws the card."""

    # -- for the painter, under its lock ---------------------------------------------------

    @property
    def open(self) -> bool:
        """Whether questions are open that a card may be drawn for."""
        return bool(self._asked)

    def again(self, *, cell: bool = False) -> None:
        """What was proven must be proven again: a cell begins, or its thread blocks."""
        with self._lock:
            self._call += 1
            self._since = monotonic()
            if cell and self._painter.widgets:
                self._missed = False
            for asked in self._asked.values():
                asked.called(self._call)

    def look(self) -> None:
        """Open cards where they are missing; claim what is proven, and let go of what is not."""
        hears = self._hears()
        with self._lock:
            settled = [i for i, a in self._asked.items() if a.settled]
            for question_id in settled:
                del self._asked[question_id]
            opened = list(self._asked.values())
        for asked in opened:
            places = self._places_of(asked.opened)
            if not places and self._may_open(hears):
                places = self._draw(asked)
            self._judge(asked, places, hears)

    def hand_back(self) -> None:
        """Give questions to the next rung, now that what was drawn for them is gone."""
        back, self._back = self._back, []
        for asked in back:
            desk_of(asked.opened.run).give_back(asked.opened, "widget")

    # -- who hears what --------------------------------------------------------------------

    def _hears(self) -> str:
        """How the kernel would hear a click: ``idle``, ``awaits``, or, if at all, ``blocked``."""
        if not self._painter.running_cell:
            return "idle"
        return "awaits" if not self._painter.holding and _awaits() else "blocked"

    def _may_show(self, opened: Open) -> bool:
        if self._painter.widgets is False:
            return False
        hears, places = self._hears(), self._places_of(opened)
        if hears == "blocked":
            return self._was_heard(places)
        return hears == "idle" or not self._missed or bool(places)

    def _was_heard(self, places: list[Stage]) -> bool:
        """Whether a view was heard since this cell blocks: a front end has a way around it."""
        return any(cards.heard_at > self._since for cards in _cards(places))

    def _may_open(self, hears: str) -> bool:
        if self._painter.widgets is False or hears == "blocked":
            return False
        return self._painter.idle_for() >= _IDLE_S if hears == "idle" else not self._missed

    def _judge(self, asked: _Asked, places: list[Stage], hears: str) -> None:
        opened, question_id = asked.opened, asked.opened.question.id
        proven = any(cards.proven(question_id) >= asked.call for cards in _cards(places))
        shown = any(place.act.widget is not None for place in places)
        if proven:
            self._missed, asked.clicked = False, True
        late = monotonic() - asked.since > PROOF_S and not proven
        deaf = hears == "blocked" and not self._was_heard(places)
        if opened.channel == "widget" and (late or deaf or (places and not shown)):
            self._back.append(asked)
            if late and hears == "awaits":
                self._missed = True
                self._empty(places)
        elif shown and proven and opened.channel is None:
            desk_of(opened.run).claim(opened, "widget")
        for cards in _cards(places):
            cards.tell(question_id, {"via": self._via(asked, deaf), "call": asked.call})

    def _via(self, asked: _Asked, deaf: bool) -> str:
        """How a card says that it is answered; a click that is heard later is one all the same."""
        if asked.opened.channel == "input":
            return "prompt"
        return "click" if asked.clicked and not (deaf and self._painter.holding) else ""

    # -- places ----------------------------------------------------------------------------

    def _places_of(self, opened: Open) -> list[Stage]:
        """Where a question is shown: with its run or one around it, or alone."""
        above: list[Work[Any]] = [opened.run]
        while above[-1].parent is not None:
            above.append(above[-1].parent)

        def shows(place: Stage) -> bool:
            alone = _alone(place)
            if alone is not None:
                return alone.has(opened.question.id)
            return any(place.act.shows(run) for run in above)

        return [place for place in self._painter.places if shows(place)]

    def _draw(self, asked: _Asked) -> list[Stage]:
        """A place for a question's card: that of its root run, or a new one under its cell."""
        from ..widgets.card_view import CardView

        root: Any = asked.opened.run
        while root.parent is not None:
            root = root.parent
        for place in self._painter.places:
            alone = _alone(place)
            if alone is not None and alone.run is root and not alone.ended:
                alone.add(asked.opened)
                return [place]
        view = CardView(root)
        view.add(asked.opened)
        view.cards.tell(asked.opened.question.id, {"via": "", "call": asked.call})
        try:
            return [asked.context.run(self._painter.open, view)]
        except Exception:  # nothing can be shown: it is asked in another way
            self._missed = True
            return []

    def _empty(self, places: list[Stage]) -> None:
        """Take cards away that nobody sees, before the cell that waits for them ends."""
        for place in places:
            alone = _alone(place)
            if alone is not None and not alone.heard_from:
                alone.give_up()


class _Asked:
    """A question that may be put by a card."""

    def __init__(self, opened: Open, call: int, context: Context) -> None:
        self.opened = opened
        #: in which it was put: what is drawn there stands under the cell that began the run
        self.context = context
        #: whether its card was ever proven to be on a page
        self.clicked = False
        self.called(call)

    def called(self, call: int) -> None:
        """Have its card say again that it is there."""
        self.call = call
        self.since = monotonic()

    @property
    def settled(self) -> bool:
        return self.opened.answer is not None or self.opened.run.done


def _alone(place: Stage) -> CardView | None:
    """What is shown in a place, if it is cards that stand alone."""
    found: Any = place.act
    return found if hasattr(found, "give_up") else None


def _cards(places: list[Stage]) -> Iterator[Cards]:
    for place in places:
        found: Cards | None = getattr(place.act, "cards", None)
        if found is not None:
            yield found


def _found(question: Question) -> Open | None:
    for run in runs():
        if run.desk is not None and question.id in run.desk.opens:
            return run.desk.opens[question.id]
    return None


def _awaits() -> bool:
    """Whether the cell that runs is a coroutine: the kernel hears Stop, and clicks, on its loop."""
    return signal.getsignal(signal.SIGINT) is not signal.default_int_handler
