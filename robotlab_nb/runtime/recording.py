"""Which log keeps runs: the one that the options name, asked for at a run's start.

The log itself is found by name, through :mod:`robotlab_nb.core.readings`: the engine imports no
database. While the log is off none of its modules is loaded.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from ..core.config import options
from ..core.readings import reading
from . import sinks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .root import Root

__all__ = ["begin", "look", "recorder", "stamps", "wanted"]

#: set to "off", only a log that was asked for is written, not the default one: for tests
_VARIABLE = "ROBOTLAB_NB_LOG"

_lock = threading.RLock()
#: what reads all runs for the log in force; None while the log is off
_recorder: Any = None
#: the options' version when they were last looked at
_seen = -1
#: ids of roots that a forked child has from its parent, which records them
_foreign: frozenset[str] = frozenset()


def begin(root: Root) -> None:
    """Have the log in force read a root from its first event on.

    Raises
    ------
    ConfigurationError
        When the options name a log that cannot be meant.
    """
    if options.version != _seen:
        look()
    if _recorder is not None:
        _recorder.follow(root)


def look() -> None:
    """Change logs when the options name another one: what runs goes on there, whole.

    The former log is closed when all that was put there is written.
    """
    global _recorder, _seen
    if options.version == _seen:
        return
    with _lock:
        where = wanted()
        found = None if where is None else reading("log")(where)
        former, _recorder = _recorder, found
        if found is not None:
            found.content = bool(options.log_content)
        _seen = options.version
        if found is former:
            return
        if found is not None:
            sinks.add_sink(found)
            for root in _roots():
                found.follow(root)
        if former is not None:
            sinks.remove_sink(former)
            former.end()


def wanted() -> Any:
    """Where the options want runs to be kept; None for nowhere, True for the default place."""
    where = options.log
    if where is True and os.environ.get(_VARIABLE, "").strip().lower() == "off":
        return None
    return None if where is False else where


def stamps(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a run's first event says of where it belongs: its conversation and its tags.

    Examples
    --------
    >>> stamps({"session_id": "ann", "tags": "trial"})
    {'session_id': 'ann', 'tags': ['trial']}
    """
    session_id, tags = settings.get("session_id"), settings.get("tags")
    found: dict[str, Any] = {}
    if session_id is not None:
        found["session_id"] = session_id
    if tags:
        each = [tags] if isinstance(tags, str) else tags
        found["tags"] = list(dict.fromkeys(str(tag) for tag in each))
    return found


def recorder() -> Any:
    """What writes the log in force, or None while it is off."""
    if options.version != _seen:
        look()
    return _recorder


def is_foreign(root_id: str) -> bool:
    """Whether a root belongs to the process that this one was forked from."""
    return root_id in _foreign


def _roots() -> list[Root]:
    """What goes on: the live root runs, and the session."""
    from . import registry, session

    found: list[Root] = [run.root for run in registry.runs()]
    if session._session is not None:
        found.append(session._session)
    return found


def after_fork(live: Collection[str]) -> None:
    """In a forked child: begin anew. The parent goes on recording what ran there."""
    global _lock, _recorder, _seen, _foreign
    _lock = threading.RLock()
    former, _recorder, _seen = _recorder, None, -1
    _foreign = _foreign.union(live)
    if former is not None:
        sinks.remove_sink(former)
        former.forget()
