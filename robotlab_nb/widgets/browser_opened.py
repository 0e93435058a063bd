"""What a log browser opens under its table: a run, its replay, or two runs side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..display import as_html
from ..display.browser_card import figures
from ..display.escape import one_line
from ..display.parts import Fold, Picture
from ..display.pictures import picture
from .browser_found import fault_of

if TYPE_CHECKING:
    from ..runlog.logged import LoggedRun
    from ..runlog.opened import Log
    from .browser_wishes import Wishes
    from .replay_player import Player

__all__ = ["Opened", "opened"]

#: characters of a picture that are sent to the page
MOST = 300_000


@dataclass(frozen=True)
class Opened:
    """What is open, in words and as a picture.

    Parameters
    ----------
    kind : str
        ``run``, ``replay`` or ``compare``.
    run_ids : tuple of str
        Of whom.
    told : dict
        The record that shows it.
    code : str
        An expression for the same.
    tags : tuple of str
        Of the one run.
    thing : LoggedRun, Replay or Diff, or None
        None where it could not be opened.
    player : Player or None
        Of a replay that plays.
    """

    kind: str
    run_ids: tuple[str, ...]
    told: dict[str, Any]
    code: str = ""
    tags: tuple[str, ...] = ()
    thing: Any = None
    player: Player | None = None

    @property
    def goes_on(self) -> bool:
        """Whether it is a run, or an experiment, that had not ended."""
        status = getattr(self.thing, "status", None)
        return self.kind == "run" and status in ("pending", "running", "waiting")


def opened(wishes: Wishes, kind: str, run_ids: tuple[str, ...], *, plays: bool) -> Opened:
    """Open runs of the log. Never raises: what cannot be opened says why.

    Parameters
    ----------
    wishes : Wishes
    kind : str
        ``run``, ``replay``, or ``compare`` for two.
    run_ids : tuple of str
    plays : bool
        Whether there is a front end in which a replay can play.
    """
    log = wishes.base._log
    said = [one_line(run_id[:6], 6) for run_id in run_ids]
    tags: tuple[str, ...] = ()
    told: dict[str, Any] = {
        "kind": kind, "runs": list(run_ids), "title": f"{' and '.join(said)}, side by side",
        "html": "", "mark": "", "code": "", "fault": "",
    }  # fmt: skip
    try:
        runs = [log.find(run_id) for run_id in run_ids]
        start, names = _start(wishes), [_name(log, run_id) for run_id in run_ids]
        code = f"{start}[{names[0]!r}]"
        if kind == "compare":
            code = f"{start}.compare({names[0]!r}, {names[1]!r})"
            thing, drawn = _compared(*runs)
        else:
            thing = runs[0].replay() if kind == "replay" else _whole(runs[0])
            code += ".replay()" if kind == "replay" else ""
            drawn = picture(thing)
            told["title"] = f"{said[0]} {one_line(runs[0].name or runs[0].kind, 60)}"
            tags = runs[0].tags
        told |= {"html": as_html.write(drawn, MOST), "code": code}
        player = _player(thing) if kind == "replay" and plays else None
        if player is not None:
            told["mark"] = player.mark
    except Exception as error:
        fault = fault_of(error)
        told["fault"] = one_line(f"{fault.message}. {fault.hint}".strip(), 400)
        return Opened(kind, run_ids, told)
    return Opened(kind, run_ids, told, code, tags, thing, player)


def _start(wishes: Wishes) -> str:
    """Code for the whole log."""
    return replace(wishes, base=wishes.base._log).cleared().code


def _whole(run: LoggedRun) -> Any:
    """A run, or the experiment that it was."""
    if run.kind != "experiment":
        return run
    from ..lab.listing import experiment_of

    return experiment_of(run)


def _name(log: Log, run_id: str) -> str:
    """As few digits of a run's id as find it."""
    try:
        log.find(run_id[:6])
    except InputError:  # others begin so too
        return run_id
    return run_id[:6]


def _compared(a: LoggedRun, b: LoggedRun) -> tuple[Any, Picture]:
    """What is different between two runs, and its picture under their figures."""
    from ..network.differing import diff

    found = diff(a, b)
    # What is told word by word is what one compares for.
    blocks = [
        replace(block, opened=True) if isinstance(block, Fold) else block
        for block in picture(found).blocks
    ]
    return found, Picture((*figures(a, b).blocks, *blocks))


def _player(replay: Any) -> Player | None:
    from .replay_player import Player

    try:
        player = Player(replay)
    except Exception:  # the list of steps is there all the same
        return None
    replay.players.append(player)
    return player
