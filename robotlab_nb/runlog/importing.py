"""Runs out of a file into a log: what :meth:`~robotlab_nb.runlog.exporting.Exporting.export` wrote.

A file is read twice: first it is checked as a whole, and nothing of a damaged one is taken in.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import InputError
from ..core.events import SCHEMA_VERSION, Event
from .cursors import is_session
from .event_lines import FORMAT, VERSION
from .event_text import read
from .faults import LogDamaged, LogVersion
from .rating_runs import checked
from .records import Batch
from .upcasting import upcaster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .opened import Log
    from .rated import Noted
    from .store import Store

__all__ = ["Imported", "Importing", "import_file"]

#: events that are written at once; damaged lines that are named
_BATCH, _NAMED = 500, 8


class Imported(NamedTuple):
    """What a log has taken in; what it had already is counted too."""

    roots: int
    events: int


class Importing:
    """The part of a log that takes runs in."""

    def import_(self, path: str | os.PathLike[str]) -> Imported:
        """Take in runs that were exported as ``.jsonl``: a colleague's, say.

        Done twice, it changes nothing. A damaged file is refused as a whole, its lines named.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Imported
            ``roots`` and ``events``: how many there were in the file.

        Raises
        ------
        InputError
            When it is no such file, or there is no log to take them in.
        LogError
            When the file is damaged or newer, or the log cannot be written.
        """
        log: Log = self  # type: ignore[assignment]
        target = log.target
        if target is None:
            raise InputError(
                "there is no log to import into: rl.options.log is None",
                hint='Open one: rl.open_log("runs.sqlite", readonly=False).import_("x.jsonl").',
            )
        store = log._writable()
        if store is not None:
            return import_file(store, path)
        from .opening import open_store

        with open_store(target) as made:
            return import_file(made, path)


def import_file(store: Store, path: str | os.PathLike[str]) -> Imported:
    """Take the runs of a file into a log.

    Parameters
    ----------
    store : Store
    path : str or path

    Raises
    ------
    InputError
        When it is no such file.
    LogDamaged
        When lines of it cannot be read, or some are missing; it names them.
    LogVersion
        When a newer version of the package wrote it.
    """
    roots = _checked(path)
    events: list[Event] = []
    total = 0
    tags: dict[tuple[str, ...], list[str]] = {}
    ratings: dict[str, Noted] = {}
    casts: dict[str, Callable[[Event], Event] | None] = {}
    for _, found in _lines(path):
        if isinstance(found, _Ratings):
            ratings.update(found.given)
            continue
        if isinstance(found, dict):
            for run_id, given in found.items():
                tags.setdefault(tuple(given), []).append(run_id)
            continue
        root = found.scope.root_id
        if root not in casts:
            casts[root] = upcaster(_version(found))
        cast = casts[root]
        events.append(found if cast is None else cast(found))
        total += 1
        if len(events) >= _BATCH:
            store.write(Batch(events))
            events = []
    if events:
        store.write(Batch(events))
    for each, run_ids in tags.items():
        store.tag(run_ids, each)
    if ratings:
        store.take_ratings(ratings)
    return Imported(roots, total)


def _checked(path: str | os.PathLike[str]) -> int:
    """Read all of a file once; how many roots it has."""
    wrong: list[str] = []
    heard: dict[str, int] = {}
    for number, found in _lines(path, wrong):
        if isinstance(found, (dict, _Ratings)):
            continue
        root, expected = found.scope.root_id, heard.get(found.scope.root_id, 0)
        if found.seq != expected and not (is_session(root) and found.seq > expected):
            wrong.append(f"line {number} (event {found.seq} of run {root:.20}, not {expected})")
        elif not expected and found.type != "run.started":
            wrong.append(f"line {number} (run {root:.20} begins with {found.type:.40})")
        elif not expected:
            upcaster(_version(found))
        heard[root] = found.seq + 1
    if wrong:
        more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise LogDamaged(
            f"{os.fspath(path)!r} is damaged: {'; '.join(wrong[:_NAMED])}{more}",
            hint="Nothing was imported. Export it again, or take out the runs of these lines.",
        )
    return len(heard)


def _version(first: Event) -> int:
    """The version of a root's events, as its first one says."""
    found = first.data.get("schema_version")
    return found if type(found) is int else SCHEMA_VERSION


def _lines(
    path: str | os.PathLike[str], wrong: list[str] | None = None
) -> Iterator[tuple[int, Event | dict[str, list[str]] | _Ratings]]:
    """The events, tags and ratings in a file, each with its line's number."""
    try:
        file = open(path, encoding="utf-8", errors="surrogateescape", newline="\n")  # noqa: SIM115
    except OSError as error:
        raise InputError(
            f"{os.fspath(path)!r:.200} cannot be read: {error.strerror}",
            hint="Name a file that export() wrote, such as runs.jsonl.",
        ) from error
    with file:
        _check_head(path, file.readline())
        for number, text in enumerate(file, 2):
            if not text.strip():
                continue
            try:
                yield number, _told(read(text.rstrip("\n")))
            except (ValueError, KeyError, TypeError, AttributeError):
                if wrong is None:
                    raise
                wrong.append(f"line {number}")


class _Ratings(NamedTuple):
    """What a line of ratings says, by run."""

    given: dict[str, Noted]


def _told(value: Any) -> Event | dict[str, list[str]] | _Ratings:
    if "ratings" in value:
        return _Ratings({str(run): _rating(given) for run, given in value["ratings"].items()})
    if "tags" in value:
        tags = {str(run): [str(tag) for tag in each] for run, each in value["tags"].items()}
        return tags
    event = Event.from_dict(value)
    texts = (event.type, event.scope.root_id, event.scope.run_id, event.scope.kind)
    if not all(isinstance(each, str) for each in texts) or not isinstance(event.data, dict):
        raise ValueError
    if type(event.seq) is not int or type(event.elapsed) not in (int, float):
        raise ValueError
    return event


def _rating(given: Any) -> Noted:
    rating, note = checked(given["rating"], given["note"])
    if type(given["at"]) is not int:
        raise ValueError
    return rating, note, given["at"]


def _check_head(path: str | os.PathLike[str], text: str) -> None:
    try:
        told = read(text.strip())
        known = told["format"] == FORMAT
        version = int(told["version"])
    except (ValueError, KeyError, TypeError):
        known, version = False, 0
    if not known:
        raise InputError(
            f"{os.fspath(path)!r:.200} holds no exported runs",
            hint='Write one with rl.log.export("runs.jsonl").',
        )
    if version > VERSION:
        raise LogVersion(
            f"{os.fspath(path)!r:.200} was written by {told.get('made_by')!s:.60}, in a form that "
            "is not known here",
            hint="Update robotlab_nb.",
        )
