"""Selecting runs of a log by what they have: names, status, tags, when they began."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.errors import InputError
from ..core.keywords import strict_keywords
from .browsing import Browsing
from .exporting import Exporting
from .reading import Reading
from .summing import Summing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import date, datetime, timedelta

    from .conditions import Where
    from .opened import Log
    from .store import Store

    Name = str | Collection[str | None] | None
    Instant = datetime | date | timedelta | str | None

__all__ = ["Narrowing", "Selection"]


class Narrowing(Browsing):
    """What a log and a selection of its runs have in common: they can be narrowed."""

    if TYPE_CHECKING:

        @property
        def _log(self) -> Log:
            """The whole log."""

    @strict_keywords
    def where(
        self,
        *,
        robot: Name = None,
        task: Name = None,
        network: Name = None,
        model: Name = None,
        status: Name = None,
        tag: Name = None,
        prompt: Name = None,
        session_id: Name = None,
        kind: Name = None,
        input: Name = None,
        run_id: Name = None,
        root_id: Name = None,
        since: Instant = None,
        until: Instant = None,
    ) -> Selection:
        """Select runs. Nothing is read before something is asked of the selection.

        Parameters
        ----------
        robot, task, network, model, status, tag, prompt, session_id, kind : str or list of str
            What the runs have; of several, any. ``*`` and ``?`` stand for any characters:
            ``robot="draft*"``. ``prompt`` is a system prompt or its hash; ``kind`` is ``robot``,
            ``network`` or ``session``.
        input : str or list of str
            What they were asked, as far as the index has it (200 characters), whatever the case:
            ``input="*refund*"``.
        run_id, root_id : str or list of str
        since, until : datetime, date, timedelta or str
            When they began: an instant, a date such as ``"2026-03-01"``, or how long ago: ``"7d"``.

        Returns
        -------
        Selection

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> rl.log.where(robot="draft*", status=["failed", "abandoned"]).runs()
        []
        """
        from .conditions import Where

        more = Where(
            robot=robot, task=task, network=network, model=model, status=status, tag=tag,
            prompt=prompt, session_id=session_id, kind=kind, run_id=run_id, root_id=root_id,
            since=since, until=until, input=input,
        )  # fmt: skip
        return Selection(self._log.fixed, _both(self.query, more))


class Selection(Narrowing, Reading, Summing, Exporting):
    """Runs of a log that meet some conditions. You get one from ``log.where(…)``.

    It holds conditions, no runs: asked again, it finds what has come since.
    """

    def __init__(self, log: Log, query: Where) -> None:
        self._of = log
        self._query = query

    @property
    def _log(self) -> Log:
        return self._of

    @property
    def log(self) -> Log:
        """The whole log."""
        return self._of

    @property
    def query(self) -> Where:
        """Which runs are meant."""
        return self._query

    @property
    def store(self) -> Store | None:
        """The database; None where nothing was recorded yet."""
        return self._of.store

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r:.60}" for name, value in self.query.given().items())
        return f"<runs of {self._of.place} where {given or 'anything'}>"

    def __len__(self) -> int:
        return sum(1 for _ in self.rows())

    def tag(self, *tags: str, remove: Iterable[str] = ()) -> Selection:
        """Give all of them tags, or take some away.

        Parameters
        ----------
        *tags : str
        remove : iterable of str, optional
        """
        self._of.tag([row.run_id for row in self.rows()], *tags, remove=remove)
        return self

    def purge(self) -> int:
        """Delete them for good, each with the whole run that it belongs to.

        Returns
        -------
        int
            How many root runs were deleted.
        """
        store = self._of._writable()
        return 0 if store is None else store.purge(self._query)


def _both(query: Where, more: Where) -> Where:
    """All conditions of both."""
    given, added = query.given(), more.given()
    for name in given.keys() & added.keys():
        raise InputError(
            f"these runs are selected by {name}={given[name]!r:.60} already",
            hint="Begin again with the whole log, or name several at once: a list.",
        )
    return replace(query, **added)
