"""Events from wherever somebody has kept them: a run, a result, a list, a file of JSON lines.

It reads and checks; what the events mean is :mod:`.state`'s.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import InputError
from .events import Event
from .readings import reading

__all__ = ["events_of", "unfinished"]

#: what lines have that tell of the file, or of tags and ratings
_BESIDES = frozenset({"format", "tags", "ratings"})
_RUN_ID = re.compile(r"[0-9a-f]{6,64}")


def events_of(source: Any) -> list[Event]:
    """The events of one run and of all runs inside it.

    Parameters
    ----------
    source : Run, result, run id, path, mapping, or iterable of Event or mapping
        Something that has ``events``; the id of a run in the log, or its first 6 digits and more;
        a file that holds one event as JSON on each line; what an event's or a result's
        ``to_dict`` gave. An unfinished last line of a file is passed over: whoever wrote it was
        stopped.

    Returns
    -------
    list of Event

    Raises
    ------
    InputError
        When there are none, they are of several runs, or something else is among them.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> result = rl.build("bob").run("Hello")
    >>> events_of([e.to_dict() for e in result.events]) == result.events
    True
    """
    found = list(_read(source))
    if not found:
        raise InputError(f"there are no events in {_named(source)}")
    if found[0].type != "run.started":
        raise InputError(
            f"the events of {_named(source)} do not begin with a run",
            hint=f"The first one is {found[0].type}; pass all events of the run.",
        )
    roots = {event.scope.root_id for event in found}
    if len(roots) > 1:
        raise InputError(
            f"the events of {_named(source)} are of {len(roots)} runs",
            hint="Pass those of one: their scope's root_id tells them apart.",
        )
    return found


def unfinished(source: Any) -> list[Event]:
    """The events of an earlier run that is to be gone on from.

    Parameters
    ----------
    source
        As for :func:`events_of`.

    Raises
    ------
    InputError
        As there; and when the run still goes on, or was recorded without its texts.
    """
    if _is_id(source) or hasattr(source, "row"):  # a run of a log
        source = reading("logged")(source, to_resume=True)
    found = events_of(source)
    if found[0].data.get("content_omitted"):
        raise InputError(
            f"run {found[0].scope.run_id!r} was recorded without its texts",
            hint="There is nothing to go on from. With rl.options.log_content = True the log "
            "keeps what is said.",
        )
    return found


def _is_id(source: Any) -> bool:
    """Whether a text is a run's id, and not a file's name."""
    return (
        isinstance(source, str) and bool(_RUN_ID.fullmatch(source)) and not os.path.exists(source)
    )


def _read(source: Any) -> Iterable[Event]:
    if _is_id(source):
        source = reading("logged")(source)
    if isinstance(source, (str, os.PathLike)):
        return _of_file(source)
    if isinstance(source, Mapping) and "events" in source:
        return [_event(value) for value in source["events"]]
    found = getattr(source, "events", source)
    if isinstance(found, Iterable) and not isinstance(found, Mapping):
        return [_event(value) for value in found]
    raise InputError(
        f"{_named(source)} has no events",
        hint="Pass a run, a result, a list of events or of their dicts, or a file of JSON lines.",
    )


def _event(value: Any) -> Event:
    if isinstance(value, Event):
        return value
    try:
        return Event.from_dict(value)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"this is no event: {value!r:.80}") from error


def _of_file(path: str | os.PathLike[str]) -> list[Event]:
    try:
        with open(path, encoding="utf-8", errors="surrogatepass") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise InputError(
            f"the events in {os.fspath(path)!r:.200} cannot be read: {error.strerror}",
            hint="Pass a file that holds one event as JSON on each line.",
        ) from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            if isinstance(told, dict) and not told.keys().isdisjoint(_BESIDES):
                continue
            found.append(_event(told))
        except ValueError as error:
            if number == len(lines):  # every whole line ends with a line break
                break
            raise InputError(f"line {number} of {os.fspath(path)!r:.200} is no event") from error
    return found


def _named(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        return repr(os.fspath(source))[:200]
    return f"this {type(source).__name__}"
