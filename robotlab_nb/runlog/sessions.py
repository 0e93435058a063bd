"""What a log knows of conversations with a name: where each ended, and what was said in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import InputError
from ..core.messages import MediaPart, Message, TextPart
from .log_source import literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .conditions import Where
    from .logged import LoggedRun
    from .records import RunRow
    from .store import Store

__all__ = ["COMMITTED", "Ended", "in_session", "latest", "said"]

COMMITTED = "conversation.committed"
_FOREVER = 2**63


class Ended(NamedTuple):
    """How a conversation ended: the run that committed to it last, and what was said.

    Both are None where nothing is newer; ``seen`` are the runs that have been looked at.
    """

    run_id: str | None
    messages: tuple[Message, ...]
    seen: frozenset[str]


def in_session(session_id: str, robot: str | None = None) -> Where:
    """The condition on runs that they belong to a session."""
    from .conditions import Where

    name = None if robot is None else [literal(robot)]
    return Where(session_id=[literal(session_id)], robot=name, kind=["robot", "session"])


def latest(
    session_id: str, robot: str, head: str | None = None, seen: Collection[str] = ()
) -> Ended | None:
    """How a robot's conversation ended, in the log in force; None where there is no log yet.

    Parameters
    ----------
    session_id, robot : str
    head : str, optional
        The run that committed last, as far as is known.
    seen : collection of str, optional
        Runs that were looked at before. They are no news, whatever their clocks said.

    Raises
    ------
    InputError
        When the log was told not to keep what is said.
    """
    from .logged import LoggedRun
    from .opened import log

    now = log.fixed
    store = now.store
    if store is None:
        return None
    rows = [
        row
        for row in store.select(in_session(session_id, robot))
        if row.run_id not in seen or row.run_id == head
    ]
    ended = frozenset(row.run_id for row in rows if row.ended_at is not None)
    found = last_commit(store, rows) if any(row.run_id != head for row in rows) else None
    if found is None or found.run_id == head:
        return Ended(None, (), ended)
    return Ended(found.run_id, said(LoggedRun(now, found)), ended)


def last_commit(store: Store, rows: Iterable[RunRow]) -> RunRow | None:
    """The one of some runs that committed last to its conversation; None where none did."""
    best: tuple[int, RunRow] | None = None
    for row in sorted(rows, key=_end, reverse=True):
        if best is not None and _end(row) <= best[0]:
            break
        for event in store.events([row.root_id], types={COMMITTED}):
            when = row.root_started_at + round(event.elapsed * 1e6)
            if event.scope.run_id == row.run_id and (best is None or when > best[0]):
                best = when, row
    return None if best is None else best[1]


def _end(row: RunRow) -> int:
    return _FOREVER if row.ended_at is None else row.ended_at


def said(run: LoggedRun) -> tuple[Message, ...]:
    """A conversation as a run left it, system message apart.

    Raises
    ------
    InputError
        When the log was told not to keep what is said.
    """
    state = run.state
    if state.info.get("content_omitted"):
        raise InputError(
            f"the conversation {state.info.get('session_id')!r} was recorded without its texts, "
            "and cannot be continued",
            hint="With rl.options.log_content = True the log keeps what is said. Choose another "
            "session_id, or log.conversation(…).delete(confirm=True).",
        )
    messages = state.messages
    lead = 1 if messages and messages[0].role == "system" else 0
    return tuple(_whole(message) for message in messages[lead:])


def _whole(message: Message) -> Message:
    """A message in which a picture or a file that no event holds is a word about it."""
    parts = [
        TextPart(f"[{part.name or part.mime}: not kept in the log]")
        if isinstance(part, MediaPart) and part.base64 is None and part.url is None
        else part
        for part in message.parts
    ]
    return message if list(message.parts) == parts else Message(message.role, parts)
