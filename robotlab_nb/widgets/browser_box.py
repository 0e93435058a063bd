"""The box of a log browser: what is sent of it, when, and what a person does in it.

Batches are numbered as in :mod:`.live_view`, and it sits in its own picture, as a chat box does.
The log is read by a thread of its own, so that neither the kernel nor the painter waits for a
database; what a person wishes meanwhile takes the place of what was wished before.
"""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError
from ..core.readings import bundle
from ..display.escape import one_line
from .browser_doc import BrowserDoc
from .browser_found import fault_of, look, offers
from .browser_hearing import heard_wish
from .browser_opened import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .browser_opened import Opened
    from .browser_place import Browser
    from .browser_widget import BrowserWidget
    from .browser_wishes import Wishes

__all__ = ["BrowserBox"]

#: Seconds between two looks for what is new, of which a database server has fewer; and between
#: two pictures: after what a person did, and after what happened by itself.
LOOK_S, SERVER_S, STILL_S, RARELY_S = 2.0, 10.0, 1.0, 30.0
#: Looking takes at most this share of the time.
_SHARE = 0.1
#: What was heard last: a page says a thing again until it reads here that it was heard.
_HEARD = 40
#: what is done first, where more is due
_ORDER = ("tag", "page", "open", "look", "offers")


class BrowserBox:
    """A log browser in one place of a notebook.

    Parameters
    ----------
    browser : Browser
    clock : callable, optional
        Seconds, monotonic.

    Attributes
    ----------
    seated : bool
        Whether its front end looks for its picture and takes its place.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> with rl.options(log=None):
    ...     box = BrowserBox(rl.log.browse())
    ...     head = dict(box.snapshot()["ops"])["head"]
    >>> head["place"], head["empty"][:18]
    ('off', 'Runs are not kept:')
    """

    def __init__(self, browser: Browser, *, clock: Callable[[], float] = monotonic) -> None:
        self.browser = browser
        self.doc = BrowserDoc()
        self.seat = os.urandom(6).hex()
        self.seated = True
        self.heard_from = False
        self.pages: set[str] = set()
        self.widget: BrowserWidget | None = None
        self._clock = clock
        self._lock = threading.RLock()
        self._heard: list[str] = []
        self._refused = ""
        self._left = False
        self._number = 0
        self._next = self._next_still = self._next_look = self._next_offers = 0.0
        #: what is to be done, by name, and the thread that does it
        self._due: dict[str, Callable[[], None]] = {}
        self._worker: threading.Thread | None = None
        self._doing = ""
        #: what the log's files were like, and the values offered, when they were read
        self._stamp: object = self._stamped()
        self._offered: object = None
        self._pictured: object = None
        #: whether a person did something since the last picture
        self._acted = True
        self._show()
        self.doc.changes()

    # -- its place -------------------------------------------------------------------------

    def make_widget(self) -> None:
        """Have a widget carry what is new. Needs anywidget."""
        from .browser_widget import BrowserWidget

        self.widget = BrowserWidget(self)
        self._do("offers", self._offer)

    def shows(self, run: object) -> bool:
        """No run is shown live here."""
        return False

    def leave(self) -> None:
        """Give the place up."""
        self._left = True

    @property
    def ended(self) -> bool:
        """Whether nobody can press anything here any more."""
        return self._left or self.browser.closed or self.widget is None

    def last(self) -> dict[str, Any]:
        """The table that stands still, by mime type."""
        return {"text/html": "", **bundle(self.browser)}

    def stopped_by(self, *, idle: bool, blocked: bool) -> None:
        """Nothing depends on it: the front end says so where it is not heard."""

    # -- reading the log ---------------------------------------------------------------------

    def _do(self, name: str, work: Callable[[], None]) -> None:
        """Have something done, in place of what was to be done of the same kind."""
        with self._lock:
            self._due[name] = work
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(
                    target=self._work, name="robotlab_nb-browser", daemon=True
                )
                self._worker.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                name = next((each for each in _ORDER if each in self._due), None)
                if name is None or self.browser.closed or self._left:
                    self._due.clear()
                    self._worker, self._doing = None, ""
                    return
                work, self._doing = self._due.pop(name), name
            try:
                work()
            except Exception as error:
                fault = fault_of(error)
                self._refused = one_line(f"{fault.message}. {fault.hint}".strip(), 300)

    def _read(self, *, asked: bool = True) -> None:
        """Read the page that is wished for; ``asked`` by a person, or to see what is new."""
        began, stamp, wishes = self._clock(), self._stamped(), self.browser.wishes
        found = look(wishes, self.browser.rows)
        with self._lock:
            took = self._clock() - began
            pause = LOOK_S if stamp is not None else SERVER_S
            self._next_look = self._clock() + max(pause, took / _SHARE)
            self._stamp = stamp
            if wishes != self.browser.wishes:
                return  # something else is wished for meanwhile, and due
            self.browser._found = found
            self._show()
            due = asked or self._clock() >= self._next_offers
            if due and self._offered != (wishes.conditions, found.figures):
                self._do("offers", self._offer)
            now = self.browser._opened
            if now is not None and now.goes_on:
                self._open(now.kind, now.run_ids)

    def _show(self) -> None:
        found = self.browser.found
        self.doc.head(self.browser.wishes, found, self.browser.first)
        self.doc.rows(found)
        self._tell()

    def _tell(self) -> None:
        """What only the box knows of the head."""
        self.doc.put("head", {
            "seat": self.seat,
            "open": not (self._left or self.browser.closed),
            "busy": not {"tag", "page", "open"}.isdisjoint({*self._due, self._doing}),
            "heard": list(self._heard),
            "refused": self._refused,
        })  # fmt: skip

    def _offer(self) -> None:
        began, wishes = self._clock(), self.browser.wishes
        found = offers(wishes)
        with self._lock:
            took = self._clock() - began
            self._next_offers = self._clock() + max(SERVER_S, took / _SHARE)
            self._offered = (wishes.conditions, self.browser.found.figures)
            self.doc.offers(found)

    def _open(self, kind: str, run_ids: tuple[str, ...]) -> None:
        def work() -> None:
            made = opened(self.browser.wishes, kind, run_ids, plays=self.widget is not None)
            with self._lock:
                self._put_open(made)

        self._do("open", work)

    def _put_open(self, made: Opened | None) -> None:
        before, self.browser._opened = self.browser._opened, made
        if before is not None and before.player is not None:
            before.player.close()
        if made is None:
            self._due.pop("open", None)
            self.doc.open(None)
            return
        tags = [[self.doc.number("tag", tag), one_line(tag, 80)] for tag in made.tags]
        self.doc.open({**made.told, "tags": tags})

    def _tag(self, run_ids: list[str], add: list[str], remove: list[str]) -> None:
        def work() -> None:
            self.browser.wishes.base._log.tag(run_ids, *add, remove=remove)
            self._offered = None
            self._do("page", self._read)
            now = self.browser._opened
            if now is not None and now.kind == "run":
                self._open("run", now.run_ids)

        self._do("tag", work)

    # -- what happens by itself --------------------------------------------------------------

    def _stamped(self) -> object:
        """What changes when the log's file does; None where it is in a database server."""
        try:
            target = self.browser.wishes.base._log.target
        except RobotLabError:  # what the options name is no log
            return ()
        if target is None or not target.is_file:
            return None if target is not None else ()
        found = []
        for path in (target.address, f"{target.address}-wal"):
            try:
                about = os.stat(path)
            except OSError:
                continue
            found.append((about.st_ino, about.st_size, about.st_mtime_ns))
        return tuple(found)

    def _look_again(self, now: float) -> None:
        """Read the page again where something may be new in it."""
        if now < self._next_look or self._worker is not None or not self.heard_from:
            return
        self._next_look = now + LOOK_S
        stamp = self._stamped()
        if stamp is None or stamp != self._stamp:
            self._do("look", lambda: self._read(asked=False))

    # -- what is sent ------------------------------------------------------------------------

    def batch(self) -> dict[str, Any] | None:
        """What changed since the last batch; None when nothing did."""
        with self._lock:
            self._tell()
            changes = self.doc.changes()
            if not changes:
                return None
            self._number += 1
            return {"n": self._number, "at": 0, "ops": changes}

    def snapshot(self) -> dict[str, Any]:
        """All there is, with the number of the last batch in it."""
        with self._lock:
            return {"n": self._number, "at": 0, "ops": self.doc.whole()}

    def paint(self, *, pause: float = 0.1) -> None:
        """Send what is new, and look whether there is more.

        Parameters
        ----------
        pause : float, optional
            Seconds to the next batch at least.
        """
        with self._lock:
            now = self._clock()
            if now < self._next and not self.ended:
                return
            self._next = now + pause
            self._look_again(now)
            batch = self.batch()
            if self.widget is not None and batch is not None:
                self.widget.send(batch)

    def push(self) -> None:
        """Send a snapshot to the front ends."""
        with self._lock:
            if self.widget is not None:
                self.widget.send_state("snapshot")
                if self.ended:
                    self._store(self.last(), last=True)

    def picture(self) -> tuple[str, str] | None:
        """The table as it is, as HTML and text; None when nothing is new or due."""
        with self._lock:
            browser, now = self.browser, self._clock()
            if self._pictured is not None and (now < self._next_still or self._worker is not None):
                return None
            state = (browser.found, browser.wishes, browser.opened_code)
            if state == self._pictured:
                return None
            rarely = self._next_still + RARELY_S - STILL_S
            if self._pictured is not None and not self._acted and now < rarely:
                return None
            self._pictured, self._acted = state, False
            self._next_still = now + STILL_S
            made = self.last()
            made["text/html"] += f'<span class="rlnb-seat-{self.seat}"></span>'
            self._store(made)
            return made["text/html"], made["text/plain"]

    def _store(self, made: dict[str, Any], *, last: bool = False) -> None:
        """Have the front end store a picture: a page loaded again takes no updates."""
        if self.widget is not None and self.seated and len(self.pages) > 1:
            self.widget.send({"still": made, "last": last})

    # -- what a person does ------------------------------------------------------------------

    def heard(self, content: Mapping[str, Any]) -> None:
        """Take in what a front end says.

        Parameters
        ----------
        content : mapping
            ``hello``: the page that shows the box; ``want``: it missed something; and, with an
            ``id`` under which it may be said again, what
            :func:`~robotlab_nb.widgets.browser_hearing.heard_wish` knows, ``open, replay,
            compare, shut, tag, refresh`` and ``end``.
        """
        with self._lock:
            self.heard_from = True
            if "hello" in content:
                self.pages.add(str(content["hello"])[:80])
            if "want" in content:
                self.push()
            said = content.get("id")
            if said is None or str(said) in self._heard:
                return
            self._heard = [*self._heard[1 - _HEARD :], str(said)[:80]]
            self._refused, self._acted, self._next = "", True, 0.0
            self._hear(content)

    def _hear(self, content: Mapping[str, Any]) -> None:
        wishes = heard_wish(self.browser.wishes, content, self.browser.found, self.doc.meant)
        if wishes is not None:
            self._wish(wishes)
        elif "refresh" in content:
            self._offered = None
            self._do("page", self._read)
            now = self.browser._opened
            if now is not None and now.kind == "run":
                self._open(now.kind, now.run_ids)
        elif "shut" in content:
            self._put_open(None)
        elif "end" in content:
            self.browser.closed = True
        else:
            self._hear_of_runs(content)

    def _hear_of_runs(self, content: Mapping[str, Any]) -> None:
        for kind, many in (("run", 1), ("replay", 1), ("compare", 2)):
            runs = content.get(kind)
            if isinstance(runs, list) and len(runs) == many and all(type(r) is str for r in runs):
                self._open(kind, tuple(runs))
                return
        tag = content.get("tag")
        runs = content.get("runs")
        if not isinstance(runs, list) or not all(type(run) is str for run in runs):
            return
        if isinstance(tag, str) and tag.strip():
            self._tag(runs[:200], [tag.strip()], [])
        elif (meant := self.doc.meant(content.get("untag"))) is not None and meant[1]:
            self._tag(runs[:200], [], [meant[1]])

    def _wish(self, wishes: Wishes) -> None:
        self.browser.wishes = wishes
        self._do("page", self._read)

    def close(self) -> None:
        """See nothing more, and let the widget go."""
        with self._lock:
            self._due.clear()
            widget, self.widget = self.widget, None
            now = self.browser._opened
        if now is not None and now.player is not None:
            now.player.close()
        if widget is not None:
            widget.close()
