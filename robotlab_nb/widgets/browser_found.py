"""What is read from a log for one look at it. Nothing raises: what went wrong is part of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import InputError, RobotLabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..runlog.overview import Figures, Seen
    from ..runlog.paging import Key
    from ..runlog.store import Store
    from .browser_wishes import Wishes

__all__ = ["Fault", "Found", "Offer", "fault_of", "look", "offers"]

#: prompts whose words are looked up; values of a condition that are offered
_PROMPTS, _VALUES = 20, 40


class Fault(NamedTuple):
    """What is wrong, and what to do about it."""

    message: str
    hint: str = ""


class Offer(NamedTuple):
    """A value that runs have, how many have it, and words for it where it is none."""

    value: str | None
    runs: int
    words: str = ""


@dataclass(frozen=True)
class Found:
    """One look at a log.

    Parameters
    ----------
    place : str or None
        Where the log is; None while runs are not kept.
    rows : tuple of Seen
        The runs of the page.
    answers : mapping of str to str
        The last text of each run, where that is known.
    figures : Figures or None
        What all runs that are meant come to, on all pages.
    following : Key or None
        Where the next page begins.
    writable : bool
        Whether tags can be given.
    fault : Fault or None
        Why the log could not be read.
    wrong : mapping of str to str
        What was typed and cannot be meant, by name.
    """

    place: str | None
    rows: tuple[Seen, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    figures: Figures | None = None
    following: Key | None = None
    writable: bool = False
    fault: Fault | None = None
    wrong: Mapping[str, str] = field(default_factory=dict)


def look(wishes: Wishes, most: int) -> Found:
    """Read a page of runs.

    Parameters
    ----------
    wishes : Wishes
    most : int
        Runs of a page.
    """
    place = None
    try:
        place = wishes.base._log.place
        wishes, wrong = _meant(wishes)
        store = wishes.base._log.store
        if store is None:
            return Found(place, wrong=wrong, writable=True)
        return replace(_page(store, wishes, most), place=place, wrong=wrong)
    except Exception as error:
        return Found(place, fault=fault_of(error))


def _meant(wishes: Wishes) -> tuple[Wishes, dict[str, str]]:
    """The wishes without what cannot be meant, and what that is."""
    wrong: dict[str, str] = {}
    for name in ("since", "until"):
        try:
            replace(wishes.where, **{"until" if name == "since" else "since": None}).checked()
        except InputError as error:
            wrong[name] = f"{error.message}. {error.hint or ''}"
    since, until = ("" if name in wrong else getattr(wishes, name) for name in ("since", "until"))
    return replace(wishes, since=since, until=until), wrong


def _page(store: Store, wishes: Wishes, most: int) -> Found:
    from ..runlog.overview import figures, seen
    from ..runlog.paging import answers, page

    found = page(
        store, wishes.where, sort=wishes.sort, falling=wishes.falling, roots=wishes.roots,
        after=wishes.starts[-1], most=most,
    )  # fmt: skip
    return Found(
        None, tuple(seen(store, found.rows)), answers(store, found.rows),
        figures(store, wishes.where), found.following, not store.readonly,
    )  # fmt: skip


def offers(wishes: Wishes) -> dict[str, list[Offer]]:
    """The values that runs have, by condition, with how many runs there would be with each.

    Parameters
    ----------
    wishes : Wishes
    """
    from ..runlog.paging import FACETS, counted

    found: dict[str, list[Offer]] = {}
    try:
        wishes, _ = _meant(wishes)
        store = wishes.base._log.store
        for name in FACETS if store is not None else ():
            if store is None or name in wishes.fixed:
                continue
            values = counted(store, wishes.where, name, _VALUES)
            found[name] = [Offer(value, runs) for value, runs in values]
        if store is not None and "prompt" in found:
            found["prompt"] = _told(store, found["prompt"])
    except Exception:
        return found
    return found


def _told(store: Store, prompts: list[Offer]) -> list[Offer]:
    """Prompts with their words: each is read from one run that had it."""
    from ..runlog.conditions import Where
    from ..runlog.log_source import LogSource

    runs: dict[str, str] = {}
    for offer in prompts[:_PROMPTS]:
        row = next(store.select(Where(prompt=offer.value)), None) if offer.value else None
        if row is not None and offer.value:
            runs[offer.value] = row.run_id
    said = LogSource(store, Where()).prompts(list(runs.values()))
    return [
        offer._replace(words=said.get(runs.get(offer.value or "", ""), "")) for offer in prompts
    ]


def fault_of(error: BaseException) -> Fault:
    """An error in words, without where in the code it was."""
    if isinstance(error, RobotLabError):
        return Fault(error.message, error.hint or "")
    return Fault(f"{type(error).__name__}: {error}"[:400])
