"""What a log browser shows, as flat records: its head, what can be chosen, rows, and what is open.

All strings are untrusted and are in visible form here; the front end puts them into text nodes.
Knows no widget and reads no log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..display.amounts import count
from ..display.browser_card import run_words
from ..display.escape import one_line
from ..display.states import state_of
from .live_records import LiveRecords

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .browser_found import Found, Offer
    from .browser_wishes import Wishes

__all__ = ["BrowserDoc"]

#: characters of a value that is offered, of a chosen one, of the code
_VALUE, _CODE = 60, 600
#: condition -> what it is called where it is chosen
_CALLED = {"status": "state", "kind": "kind", "prompt": "prompt"}


class BrowserDoc(LiveRecords):
    """The records of one browser.

    Attributes
    ----------
    records : dict of str to dict
        ``head``; ``F0 …`` conditions with the values that are offered; ``R0 …`` the rows of the
        page; ``O`` what is open.

    Examples
    --------
    >>> doc = BrowserDoc()
    >>> number = doc.number("robot", "draft")
    >>> number == doc.number("robot", "draft"), doc.meant(number)
    (True, ('robot', 'draft'))
    """

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[tuple[str, str | None], int] = {}
        self._values: list[tuple[str, str | None]] = []

    def number(self, name: str, value: str | None) -> int:
        """What stands for a value of a condition: the front end never says the value itself."""
        key = (name, value)
        if key not in self._numbers:
            self._numbers[key] = len(self._values)
            self._values.append(key)
        return self._numbers[key]

    def meant(self, number: Any) -> tuple[str, str | None] | None:
        """The condition and the value that a number stands for."""
        if type(number) is int and 0 <= number < len(self._values):
            return self._values[number]
        return None

    # -- the head --------------------------------------------------------------------------

    def head(self, wishes: Wishes, found: Found, first: int) -> None:
        """Show how many runs are meant, by which conditions, and what is wrong.

        Parameters
        ----------
        wishes : Wishes
        found : Found
        first : int
            Number of the page's first run, from 1.
        """
        figures = found.figures
        total = 0 if figures is None else figures.roots if wishes.roots else figures.runs
        last = first + len(found.rows) - 1
        fault = found.fault
        self.put("head", {
            "place": one_line(found.place or "off", 96),
            "size": "" if figures is None else count(figures.runs, "run"),
            "failed": figures.failed if figures else 0,
            "span": f"{first:,}–{last:,} of {total:,}" if found.rows else "",
            "prev": len(wishes.starts) > 1,
            "next": found.following is not None,
            "sort": wishes.sort,
            "falling": wishes.falling,
            "inside": not wishes.roots,
            "nested": figures.runs - figures.roots if figures else 0,
            "chips": self._chips(wishes),
            "fixed": sorted(wishes.fixed),
            "words": wishes.words,
            "since": wishes.since,
            "until": wishes.until,
            "wrong": {name: one_line(text, 300) for name, text in found.wrong.items()},
            "fault": one_line(fault.message, 400) if fault else "",
            "hint": one_line(fault.hint, 300) if fault else "",
            "empty": _nothing(wishes, found),
            "writable": found.writable,
            "code": code_of(wishes),
        })  # fmt: skip

    def _chips(self, wishes: Wishes) -> list[list[Any]]:
        return [
            [self.number(name, value), _called(name), _shown(name, value)]
            for name, values in wishes.values.items()
            for value in values
        ]

    # -- values, rows ----------------------------------------------------------------------

    def offers(self, offers: Mapping[str, Sequence[Offer]]) -> None:
        """Show which values there are to choose from."""
        for place, (name, values) in enumerate(offers.items()):
            told = [
                [self.number(name, offer.value), _shown(name, offer.value, offer.words), offer.runs]
                for offer in values
            ]
            self.put(f"F{place}", {"name": _called(name), "key": name, "values": told})
        self._without("F", len(offers))

    def rows(self, found: Found) -> None:
        """Show the runs of a page, and no others."""
        for place, seen in enumerate(found.rows):
            row = seen.row
            said = run_words(seen, found.answers.get(row.run_id, ""))
            self.put(f"R{place}", {"run": row.run_id, **said._asdict(), "tags": list(said.tags)})
        self._without("R", len(found.rows))

    def _without(self, letter: str, number: int) -> None:
        while f"{letter}{number}" in self.records:
            self.remove(f"{letter}{number}")
            number += 1

    def open(self, told: Mapping[str, Any] | None) -> None:
        """Show a run, a replay or a comparison under the table; None closes it."""
        if told is not None:
            self.put("O", told)
        elif "O" in self.records:
            self.remove("O")


def code_of(wishes: Wishes) -> str:
    """Code for the table of the runs that are meant."""
    roots = '.query("run_id == root_id")' if wishes.roots else ""
    return one_line(f"{wishes.code}.frames.runs{roots}", _CODE)


def _called(name: str) -> str:
    return _CALLED.get(name, name)


def _shown(name: str, value: str | None, words: str = "") -> str:
    if value is None:
        return f"no {_called(name)}"
    if name == "status":
        state = state_of(value)
        return f"{state.icon}\u00a0{state.word}"
    if name == "prompt":
        return f"{one_line(value[:6], 6)} {one_line(words, _VALUE)}".strip()
    return one_line(value, _VALUE)


def _nothing(wishes: Wishes, found: Found) -> str:
    """What is said where there are no rows."""
    if found.rows or found.fault:
        return ""
    if found.place is None:
        return "Runs are not kept: rl.options.log is None. Name a file there, and they are."
    if found.figures is None or not wishes.where.given():
        return "No runs yet: the first one appears here."
    return "No run is like that."
