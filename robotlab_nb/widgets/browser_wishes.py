"""What a person wants to see of a log: conditions, order, page; and the code that means the same.

Knows no widget and reads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError
from ..runlog.conditions import Where
from ..runlog.log_source import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..runlog.opened import Log
    from ..runlog.paging import Key
    from ..runlog.selecting import Narrowing, Selection

__all__ = ["TEXTS", "Wishes"]

#: conditions that are typed: words of what was asked, and when runs began
TEXTS = ("words", "since", "until")
#: digits of a prompt's hash, which its condition takes for the whole
_DIGITS = 12


@dataclass(frozen=True)
class Wishes:
    """What of a log is looked at.

    Parameters
    ----------
    base : Log or Selection
        What the browser was opened on; its own conditions stand.
    values : mapping of str to tuple
        By condition (``robot, status, tag`` …), the values of which one must fit.
    words, since, until : str
        As they were typed; empty for none.
    sort : str
        ``time, duration, tokens`` or ``cost``.
    falling : bool
        Whether the newest, longest or dearest come first.
    inside : bool or None
        Whether runs inside others are rows too; None: where there are conditions.
    starts : tuple of Key or None
        Where the pages up to the present one begin.
    """

    base: Narrowing
    values: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    words: str = ""
    since: str = ""
    until: str = ""
    sort: str = "time"
    falling: bool = True
    inside: bool | None = None
    starts: tuple[Key | None, ...] = (None,)

    def changed(self, **wishes: Any) -> Wishes:
        """The same with something else in it, on its first page."""
        return replace(self, **{"starts": (None,), **wishes})

    def picked(self, name: str, value: str | None) -> Wishes:
        """The same, with one value more of a condition."""
        have = self.values.get(name, ())
        if value in have:
            return self
        return self.changed(values={**self.values, name: (*have, value)})

    def dropped(self, name: str, value: str | None) -> Wishes:
        """The same, with one value less of a condition."""
        left = tuple(each for each in self.values.get(name, ()) if each != value)
        rest = {key: each for key, each in self.values.items() if key != name}
        return self.changed(values={**rest, name: left} if left else rest)

    def cleared(self) -> Wishes:
        """The same without any condition that was added."""
        return self.changed(values={}, words="", since="", until="", inside=None)

    # -- what they mean ----------------------------------------------------------------------

    @property
    def fixed(self) -> frozenset[str]:
        """Conditions of the base: they cannot be changed here."""
        given = self.base.query.given()
        return frozenset("words" if name == "input" else name for name in given)

    @property
    def conditions(self) -> dict[str, Any]:
        """What was added to the base, as ``where(…)`` takes it."""
        found: dict[str, Any] = {}
        for name, values in self.values.items():
            said = [_value(name, value) for value in values]
            found[name] = said[0] if len(said) == 1 and said[0] is not None else said
        if self.words.strip():
            found["input"] = f"*{literal(self.words.strip())}*"
        for name, text in (("since", self.since), ("until", self.until)):
            if text.strip():
                found[name] = text.strip()
        return {name: found[name] for name in found if name not in self.base.query.given()}

    @property
    def where(self) -> Where:
        """All conditions, those of the base too."""
        return Where(**{**self.base.query.given(), **self.conditions})

    @property
    def roots(self) -> bool:
        """Whether only whole runs are rows."""
        return not self.where.given() if self.inside is None else not self.inside

    @property
    def selection(self) -> Selection | Narrowing:
        """The runs that are meant; those inside others are left to whoever reads it."""
        found = self.conditions
        return self.base.where(**found) if found else self.base

    @property
    def code(self) -> str:
        """An expression for the same selection.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> Wishes(rl.log).picked("robot", "a*").picked("status", "failed").code
        "rl.log.where(robot='a[*]', status='failed')"
        """
        start = _start(self.base._log)
        given = self.where.given()
        said = ", ".join(f"{name}={_said(value)}" for name, value in given.items())
        return f"{start}.where({said})" if said else start


def _start(log: Log) -> str:
    """Code for a whole log."""
    from ..runlog import opened

    try:
        target, in_force = log.target, opened.log.target
    except RobotLabError:  # what the options name is no log
        return "rl.log"
    return "rl.log" if target in (None, in_force) else f"rl.open_log({target.shown!r})"


def _value(name: str, value: str | None) -> str | None:
    if value is None:
        return None
    return value[:_DIGITS] if name == "prompt" else literal(value)


def _said(value: Any) -> str:
    """A condition's value as a person would write it."""
    if isinstance(value, date):
        return repr(value.isoformat())
    if isinstance(value, timedelta):
        return repr(f"{value.total_seconds():g}s")
    return repr(value)
