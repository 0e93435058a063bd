"""Runs as lines of JSON: a first line that says what the file is, then an event on each.

After a root's events come a line with the tags of its runs and one with their ratings, where they
have any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core import secrets
from ..core.events import SCHEMA_VERSION
from .event_text import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.events import Event
    from .rated import Noted

__all__ = ["FORMAT", "VERSION", "head", "line", "lines", "rating_line", "tag_line"]

#: what the first line calls the file, and the version of its form
FORMAT, VERSION = "robotlab_nb.events", 2


def head(query: Mapping[str, Any] | None = None, *, rated: bool = False) -> str:
    """The first line of a file; one without ratings is read by versions that know none."""
    from .. import __version__

    told: dict[str, Any] = {
        "format": FORMAT, "version": VERSION if rated else 1, "schema_version": SCHEMA_VERSION,
        "made_by": f"robotlab_nb {__version__}",
    }  # fmt: skip
    if query:
        told["query"] = dict(query)
    return written(told) + "\n"


def line(event: Event) -> str:
    """An event as a line; secrets that are registered by now are masked in it."""
    told = event.to_dict()
    if secrets.any_known:
        told = secrets.redact_data(told)
    return written(told) + "\n"


def tag_line(tags: Mapping[str, Iterable[str]]) -> str:
    """The tags of a root's runs as a line."""
    told: dict[str, Any] = {"tags": {run_id: list(each) for run_id, each in tags.items()}}
    if secrets.any_known:
        told = secrets.redact_data(told)
    return written(told) + "\n"


def rating_line(ratings: Mapping[str, Noted]) -> str:
    """The ratings of a root's runs as a line."""
    told: dict[str, Any] = {
        "ratings": {
            run_id: {"rating": rating, "note": note, "at": at}
            for run_id, (rating, note, at) in ratings.items()
        }
    }
    if secrets.any_known:
        told = secrets.redact_data(told)
    return written(told) + "\n"


def lines(events: Iterable[Event]) -> Iterator[str]:
    """A whole file of one run's events."""
    yield head()
    for event in events:
        yield line(event)
