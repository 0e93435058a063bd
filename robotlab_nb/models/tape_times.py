"""How long everything in a run took, as it was when it was recorded.

While a tape is played, no time passes: models answer at once. What a run shows of times is then
what the recording took, event by event, so that it looks the same. It knows events by their place
in the run, and no pictures.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.keys import digest
from ..runtime.notebook import cell_of_caller
from .taping import tape_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.events import Scope
    from ..runtime.run import Run
    from .tape_lines import Take
    from .taping import Tape

__all__ = ["Timeline", "on_tape", "passed"]

#: events of a root after which there is none
_LAST = frozenset({"run.completed", "run.failed", "run.interrupted"})
#: digits after the point
_PLACES = 4
#: fields that tell events of one type and place apart
_MARKS = ("tool_call_id", "call_id", "question_id", "task", "index")


def on_tape(run: Run[Any], setting: Any) -> None:
    """Have a root run show the times of a tape, or put its own there.

    Parameters
    ----------
    run : Run
        One that has not begun; for one inside another, nothing happens.
    setting : Tape, str or path
        What the setting ``tape`` says.
    """
    if run.parent is None and run.root.times is None:
        run.root.times = Timeline(tape_of(setting), cell_of_caller())


class Timeline:
    """The times of one root run.

    Parameters
    ----------
    tape : Tape
    cell : tuple of str or None
        The notebook cell that started the run, and which execution of it.
    """

    __slots__ = ("_last", "_seen", "cell", "found", "key", "live", "nth", "tape", "written")

    def __init__(self, tape: Tape, cell: tuple[str, str] | None) -> None:
        self.tape = tape
        self.cell = cell
        self.key = ""
        self.nth = 0
        #: times as recorded, by event; None where there are none
        self.found: Mapping[str, list[Any]] | None = None
        #: whether anything happens for the first time: then it is recorded
        self.live = tape.mode == "record"
        #: as they are in this run
        self.written: dict[str, list[Any]] = {}
        self._seen: dict[str, int] = {}
        self._last = 0.0

    def told(
        self, type_: str, scope: Scope, data: Mapping[str, Any], elapsed: float
    ) -> tuple[float, Mapping[str, Any]]:
        """The time of an event, and its data, as they are to be recorded. Under the root's lock."""
        if not self.key:
            self._begin(scope, data)
        mark = _mark(type_, scope, data)
        n = self._seen[mark] = self._seen.get(mark, -1) + 1
        known = self.found.get(mark, ()) if self.found is not None and not self.live else ()
        spans: dict[str, float] = {
            k: round(v, _PLACES) for k, v in data.items() if type(v) is float and k[-2:] == "_s"
        }
        if n < len(known):
            elapsed = known[n][0]
            if len(known[n]) > 1:
                spans |= known[n][1]
        else:
            elapsed = self._last if self.found is not None and not self.live else elapsed
            elapsed = round(elapsed, _PLACES)
        self._last = max(self._last, elapsed)
        if self.tape.mode != "strict":
            self.written.setdefault(mark, []).append([elapsed, spans] if spans else [elapsed])
        if scope.depth == 0 and type_ in _LAST:
            self._end(type_, scope)
        return elapsed, ({**data, **spans} if spans else data)

    def _begin(self, scope: Scope, data: Mapping[str, Any]) -> None:
        self.key = "run:" + digest([scope.kind, data.get("name"), data.get("input")])
        self.nth = self.tape.claim(self.key, self.cell)
        if not self.live:
            line = self.tape.file.found("times", self.key, self.nth)
            self.found = None if line is None else _sound(line.get("at"))

    def go_live(self, run: Run[Any]) -> None:
        """Something is not on the tape and happens now: from here on time passes."""
        root = run.root
        with root.lock:
            if not self.live and self.found is not None:
                root.started = monotonic() - self._last
            self.live = True

    def _end(self, type_: str, scope: Scope) -> None:
        """The run has ended: put its times on the tape, if they are not there."""
        if type_ == "run.interrupted":
            self.tape.give_back(self.key, self.nth)
        elif self.live or (self.found is None and self.tape.mode != "strict"):
            line = {"times": self.key, "nth": self.nth, "run": scope.path[0], "at": self.written}
            self.tape.keep([line])


def passed(run: Run[Any], begun: float, take: Take) -> None:
    """Where the tape has no times for a run: let pass what the call took, from its start on.

    Parameters
    ----------
    run : Run
    begun : float
        When the call began, by the monotonic clock.
    take : Take
    """
    root = run.root
    if root.times is None or root.times.found is None:
        last = take.attempts[-1]
        with root.lock:
            early = begun + last.started_s + last.duration_s - monotonic()
            root.started -= max(0.0, early)


def _sound(found: Any) -> Mapping[str, list[Any]] | None:
    """Times that a tape holds, if they are some: a person may have changed it."""
    try:
        for places in found.values():
            for place in places:
                spans = place[1] if len(place) > 1 else {}
                if not all(0 <= float(each) < 1e9 for each in (place[0], *spans.values())):
                    return None
    except (AttributeError, TypeError, ValueError, IndexError, KeyError):
        return None
    sound: Mapping[str, list[Any]] = found
    return sound


def _mark(type_: str, scope: Scope, data: Mapping[str, Any]) -> str:
    for name in _MARKS:
        if name in data:
            which = str(data[name]).replace(scope.run_id, "")  # what is drawn anew for each run
            type_ = f"{type_} {which}"
            break
    return f"{'/'.join(scope.path[1:])} {type_}" if len(scope.path) > 1 else type_
