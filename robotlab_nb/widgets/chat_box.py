"""The box of a chat: what is sent of it, when, and what a person does in it.

Batches are numbered as in :mod:`.live_view`. The box sits in its own picture: what a notebook
stores is that picture, and the front end puts the box in its place while there is one.
"""

from __future__ import annotations

import json
import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError
from ..display.chat_card import spent
from ..display.escape import one_line
from .card_talk import Cards
from .chat_doc import ChatDoc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..robot.chat import Chat, ChatPart
    from ..runtime.watch import Watcher
    from .chat_widget import ChatWidget

__all__ = ["ChatBox"]

#: Seconds between two batches, two snapshots, two pictures; never less.
PAINT_S, SNAPSHOT_S, STILL_S = 0.1, 1.0, 0.5
#: Painting takes at most this share of a thread's time.
_SHARE = 0.2
#: What was heard last: a page says a thing again until it reads here that it was heard.
_HEARD = 40


class ChatBox:
    """A chat in one place of a notebook.

    Parameters
    ----------
    chat : Chat
    clock : callable, optional
        Seconds, monotonic.

    Attributes
    ----------
    seated : bool
        Whether its front end looks for its picture and takes its place, so that no widget is
        stored; False once a front end has not done so.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> bot = rl.build("poet", model=rl.SimulatedModel(["roses are red"]))
    >>> box = ChatBox(bot.chat(starters=["a poem"]))
    >>> head = dict(box.snapshot()["ops"])["chat"]
    >>> head["name"], head["starters"], head["open"]
    ('poet', ['a poem'], True)
    """

    def __init__(self, chat: Chat, *, clock: Callable[[], float] = monotonic) -> None:
        self.chat = chat
        self.doc = ChatDoc(chat.robot.name)
        self.seat = os.urandom(6).hex()
        self.seated = True
        self.heard_from = False
        self.pages: set[str] = set()
        self.widget: ChatWidget | None = None
        #: the cards of what the present turn asks
        self.cards: Cards | None = None
        self._clock = clock
        self._lock = threading.RLock()
        #: the parts of the chat that are in the records, and what reads the one that goes on
        self._taken = 0
        self._watcher: Watcher | None = None
        self._heard: list[str] = []
        self._refused = ""
        self._left = False
        self._number = 0
        self._next = self._next_still = 0.0
        self._snapshot_at = clock()
        self._snapshot_size = self._sent = 0
        #: what the records, and the picture, were made of
        self._still: Any = None
        self._pictured: Any = None
        self._look()
        self.doc.changes()

    # -- its place -------------------------------------------------------------------------

    def make_widget(self) -> None:
        """Have a widget carry what is new, while the chat is open. Needs anywidget."""
        if self.chat.closed:
            return
        from .chat_widget import ChatWidget

        self.widget = ChatWidget(self)

    def shows(self, run: object) -> bool:
        """Whether a run is a turn of the chat."""
        return any(run is each for each in self.chat.runs)

    def leave(self) -> None:
        """Give the place up: the chat goes on elsewhere."""
        self._left = True

    @property
    def ended(self) -> bool:
        """Whether the chat is over, or goes on elsewhere."""
        return self._left or self.chat.over

    def last(self) -> dict[str, Any]:
        """The transcript that stands still, by mime type."""
        return {"text/html": "", **self.chat._repr_mimebundle_()}

    def stopped_by(self, *, idle: bool, blocked: bool) -> None:
        """Nothing depends on it: the front end says so where it is not heard."""

    # -- what is sent ----------------------------------------------------------------------

    def _look(self) -> None:
        """Take in what has happened since the last time."""
        chat = self.chat
        parts = chat.parts
        if not chat.busy and self._watcher is None:
            state = (len(parts), chat.waiting, self._is_open(), len(self._heard), *self._heard[-1:])
            if state == self._still:
                return
            self._still = state
        while True:
            if self._watcher is not None:
                ended = self._watcher.ended
                self.doc.take(self._watcher.take())
                if not ended:
                    break
                self._watcher.close()
                self._watcher = self.cards = None
                self.doc.over()
            if self._taken >= len(parts):
                break
            self._open(parts[self._taken])
            self._taken += 1
        self.doc.waiting(chat.waiting)
        self.doc.put("run", {"live": chat.busy})
        self.doc.put("chat", self._head())

    def _open(self, part: ChatPart) -> None:
        if part.kind == "said":
            self.doc.said(part.messages, "said elsewhere" if self._taken else "")
        elif part.kind == "remark":
            self.doc.remark(part.text)
        elif part.run is not None:
            self.doc.begin(part.run.scope)
            self.cards = Cards(part.run, self.doc, self._lock)
            self._watcher = part.run.watch()
        else:
            error = part.error or {}
            told = (error.get("message"), error.get("hint"))
            self.doc.refused(part.text, " · ".join(one_line(w, 600) for w in told if w))

    def _head(self) -> dict[str, Any]:
        chat = self.chat
        robot = chat.robot
        return {
            "seat": self.seat,
            "name": one_line(robot.name, 60),
            "model": one_line(robot.model_name, 80),
            "sim": robot.is_simulated,
            "open": self._is_open(),
            "busy": chat.busy,
            "doing": dict(self.doc.doing),
            "figures": " · ".join(spent(chat)),
            "starters": [one_line(text, 300) for text in chat.starters],
            "placeholder": one_line(self._invitation(), 120),
            "height": chat.height or 0,
            "heard": list(self._heard),
            "refused": self._refused,
        }

    def _invitation(self) -> str:
        """What stands in the empty line."""
        chat = self.chat
        if chat.asked is not None:
            return f"Your answer to {chat.robot.name}"
        return chat.placeholder or f"Ask {chat.robot.name}"

    def _elapsed(self) -> float:
        """Seconds since the present turn began."""
        run = self._watcher.run if self._watcher is not None else None
        return 0.0 if run is None else round(max(self._clock() - run.root.started, 0.0), 2)

    def _is_open(self) -> bool:
        return not (self.chat.closed or self._left)

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
            if now < self._next and not self.ended:
                return
            batch = self.batch()
            if self.widget is not None and batch is not None:
                self.widget.send(batch)
                self._sent += len(json.dumps(batch))
                if now - self._snapshot_at >= SNAPSHOT_S and self._sent >= self._snapshot_size:
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
        """The transcript so far, as HTML and text; None when nothing is new or due.

        Where the box is seen, it is stored after each turn; else it follows an answer as it comes.
        """
        with self._lock:
            now = self._clock()
            if self._pictured is not None and (now < self._next_still or self._is_seen_busy()):
                return None
            chat = self.chat
            events = len(chat._run.root.events) if chat.busy and chat._run is not None else 0
            state = (len(chat.parts), chat.busy, chat.waiting, events)
            if state == self._pictured:
                return None
            self._pictured = state
            self._next_still = now + STILL_S
            bundle = self.last()
            bundle["text/html"] += f'<span class="rlnb-seat-{self.seat}"></span>'
            self._store(bundle)
            return bundle["text/html"], bundle["text/plain"]

    def _store(self, bundle: dict[str, Any], *, last: bool = False) -> None:
        """Have the front end store a picture: a page loaded again takes no updates."""
        if self.widget is not None and self.seated and len(self.pages) > 1:
            self.widget.send({"still": bundle, "last": last})

    def _is_seen_busy(self) -> bool:
        return self.chat.busy and self.heard_from

    # -- what a person does ------------------------------------------------------------------

    def heard(self, content: Mapping[str, Any]) -> None:
        """Take in what a front end says.

        Parameters
        ----------
        content : mapping
            ``hello``: the page that shows the box; ``want``: it missed something; what
            :class:`~robotlab_nb.widgets.card_talk.Cards` hears; and, with an ``id`` under which it
            may be said again, ``say``: a text, ``stop`` or ``end``.
        """
        cards = self.cards
        if cards is not None:
            cards.heard(content)
        with self._lock:
            self.heard_from = True
            if "hello" in content:
                self.pages.add(str(content["hello"]))
            if "want" in content:
                self.push()
            said = content.get("id")
            if said is None or str(said) in self._heard:
                return
            self._heard = [*self._heard[1 - _HEARD :], str(said)[:80]]
        self._do(content)
        with self._lock:
            self._next = 0.0

    def _do(self, content: Mapping[str, Any]) -> None:
        self._refused = ""
        if content.get("stop"):
            self.chat.stop()
        elif content.get("end"):
            self.chat.end()
        elif isinstance(content.get("say"), str):
            try:
                self.chat.send(content["say"])
            except RobotLabError as error:
                self._refused = one_line(" ".join(w for w in (error.message, error.hint) if w), 300)

    def close(self) -> None:
        """See nothing more, and let the widget go."""
        with self._lock:
            watcher, self._watcher = self._watcher, None
            widget, self.widget = self.widget, None
        if watcher is not None:
            watcher.close()
        if widget is not None:
            widget.close()
