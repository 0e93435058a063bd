"""Which runs are meant: conditions on the log's index, as a person gives them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypeAlias

from ..core.errors import InputError, near
from ..core.keys import text_hash

__all__ = ["ALL", "Where", "moment"]

KINDS = ("robot", "network", "experiment", "session")
STATUSES = (
    "pending", "running", "waiting", "completed", "failed", "interrupted", "abandoned",
)  # fmt: skip

_DIGITS = re.compile(r"[0-9a-f]{6,64}")
_AGO = re.compile(r"(\d+(?:\.\d+)?) ?([smhdw])", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

Names: TypeAlias = str | Collection[str | None] | None
Moment: TypeAlias = datetime | date | timedelta | str | int | None


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions on runs; all that are given must hold. Without any, every run is meant.

    Parameters
    ----------
    robot, task, network, model, session_id, run_id, root_id, prompt, tag : str or list, optional
        A name, or several of which one must fit. In names ``*`` stands for any characters and
        ``?`` for one; ``[*]`` and ``[?]`` for these themselves. None in a list means: has none.
        ``prompt`` is a system prompt, its hash, or the first 6 digits of that and more. A run has
        the tags that it was given, and those of its root.
    input : str or list, optional
        What it was asked, of which the log's index has the first 200 characters; A and a are the
        same here: ``"*refund*"``.
    status, kind : str or list, optional
        ``pending, running, waiting, completed, failed, interrupted, abandoned``;
        ``robot, network, experiment``, or ``session`` for what happened outside runs, which only
        this gives.
    since, until : datetime, date, timedelta or str, optional
        When a run started: at or after the one, before the other. Without a zone it is local
        time; a timedelta counts back from now, and so does ``"7d"`` (``s, m, h, d, w``); another
        text is a date or a time as ISO 8601 has it.

    Examples
    --------
    >>> Where(robot="draft*", status="failed")
    Where(robot='draft*', status='failed')
    >>> Where(status="fialed").checked()
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.InputError: status is 'fialed', which runs never have. Did you mean 'failed'?
    """  # noqa: E501

    robot: Names = None
    task: Names = None
    network: Names = None
    model: Names = None
    status: Names = None
    since: Moment = None
    until: Moment = None
    tag: Names = None
    prompt: Names = None
    session_id: Names = None
    run_id: Names = None
    root_id: Names = None
    kind: Names = None
    input: Names = None

    def __repr__(self) -> str:
        return f"Where({', '.join(f'{k}={v!r}' for k, v in self.given().items())})"

    def given(self) -> dict[str, Any]:
        """The conditions that were given, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not None}

    def checked(self) -> dict[str, Any]:
        """The conditions as lists of names, and as microseconds since 1970.

        Raises
        ------
        InputError
            When a value cannot be meant.
        """
        found: dict[str, Any] = {}
        for name, value in self.given().items():
            if name in ("since", "until"):
                found[name] = moment(name, value)
            else:
                found[name] = _names(name, value)
        if "prompt" in found:
            found["prompt"] = [_hash(each) for each in found["prompt"]]
        for name, words in (("status", STATUSES), ("kind", KINDS)):
            for word in found.get(name, ()):
                if word not in words:
                    raise InputError(
                        f"{name} is {word!r:.60}, which runs never have",
                        hint=near(str(word), words),
                    )
        return found


#: every run
ALL = Where()


def _names(name: str, value: Any) -> list[str | None]:
    several = list(value) if isinstance(value, Collection) and not isinstance(value, str) else None
    found = [value] if several is None else several
    for one in found:
        if not (isinstance(one, str) or one is None):
            raise InputError(
                f"{name} is {one!r:.60}, which is no name", hint="Give a text or a list of texts."
            )
    return found


def _hash(prompt: str | None) -> str | None:
    """The hash of a system prompt; what reads like a hash, or is a pattern, stays."""
    if prompt is None or _DIGITS.fullmatch(prompt):
        return prompt
    return text_hash(prompt)


def moment(name: str, value: Any) -> int:
    """A time that a person gave, in microseconds since 1970."""
    try:
        return round(_time(value).timestamp() * 1e6)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name} is {value!r:.60}, which is no time",
            hint='Give a datetime, a date such as "2026-03-01", or a time back from now: "7d".',
        ) from None


def _time(value: Any) -> datetime:
    if isinstance(value, str):
        ago = _AGO.fullmatch(value.strip())
        if ago is not None:
            value = timedelta(**{_UNITS[ago[2].lower()]: float(ago[1])})
        else:
            value = datetime.fromisoformat(value.strip())
    if isinstance(value, timedelta):
        return datetime.now(UTC) - value
    if isinstance(value, datetime):
        return value.astimezone() if value.tzinfo is None else value
    if isinstance(value, date):
        return datetime.combine(value, time()).astimezone()
    if type(value) is int:
        return datetime.fromtimestamp(value / 1e6, UTC)
    raise TypeError
