"""Ratings of runs: 1 to 5 and a note, as a person gave them; kept beside the events, like tags."""

from __future__ import annotations

import operator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import secrets
from ..core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .opened import Log

__all__ = ["HIGHEST", "LOWEST", "MOST_NOTE", "Rating", "RatingRuns", "checked"]

LOWEST, HIGHEST = 1, 5
#: characters of a note
MOST_NOTE = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Rating(NamedTuple):
    """What a person thinks of a run.

    Attributes
    ----------
    rating : int or None
        1 to 5; None where there is only a note.
    note : str or None
    at : datetime
        When it was given (UTC).
    """

    rating: int | None
    note: str | None
    at: datetime


class RatingRuns:
    """The part of a log that keeps ratings."""

    def rate(self, runs: Any, rating: int | None, note: str | None = None) -> None:
        """Rate runs, or take a rating back.

        Parameters
        ----------
        runs : str, run, result, or iterable of them
            By id, or whatever has a ``run_id``.
        rating : int or None
            1 to 5; None takes it back.
        note : str, optional
            Left out, the note that there was stays; ``""`` takes it away.

        Raises
        ------
        InputError
            When it is no rating, or the log has no such run.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     result = rl.build("poet", model=rl.SimulatedModel(["roses"])).run("a poem")
        ...     rl.log.rate(result, 4, "no rhyme")
        ...     rl.log.ratings()[result.run_id].rating, rl.log[result.run_id].note
        (4, 'no rhyme')
        >>> folder.cleanup()
        """
        rating, note = checked(rating, note)
        log: Log = self  # type: ignore[assignment]
        store, whole = log._named_runs(runs)
        if store is not None:
            store.rate([(run_id, rating, note) for run_id in whole])

    def ratings(self, runs: Iterable[str] | None = None) -> dict[str, Rating]:
        """Ratings and notes by run id.

        Parameters
        ----------
        runs : iterable of str, optional
            Only of these runs, by their whole ids.

        Returns
        -------
        dict of str to Rating
            Runs that nobody rated are not in it.
        """
        log: Log = self  # type: ignore[assignment]
        store = log.store
        if store is None:
            return {}
        return {
            run_id: Rating(rating, note, _EPOCH + timedelta(microseconds=at))
            for run_id, (rating, note, at) in store.ratings(runs).items()
        }


def checked(rating: Any, note: Any) -> tuple[int | None, str | None]:
    """A rating and a note that can be kept.

    Raises
    ------
    InputError

    Examples
    --------
    >>> checked(5, None)
    (5, None)
    >>> checked("5", None)
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.InputError: '5' is no rating. Give a whole number from 1 to 5, or None.
    """
    if rating is not None:
        try:
            found = None if isinstance(rating, bool) else operator.index(rating)
        except TypeError:
            found = None
        if found is None or not LOWEST <= found <= HIGHEST:
            raise InputError(
                f"{rating!r:.40} is no rating",
                hint=f"Give a whole number from {LOWEST} to {HIGHEST}, or None.",
            )
        rating = found
    if note is not None and (not isinstance(note, str) or len(note) > MOST_NOTE):
        raise InputError(
            f"{note!r:.40} is no note", hint=f"A note is a text of up to {MOST_NOTE:,} characters."
        )
    return rating, note and secrets.redact(note)
