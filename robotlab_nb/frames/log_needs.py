"""Which events a table is made of, so that of a log only these are read.

Knows event types and columns; nothing of logs or pandas. A test folds both ways and compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.event_data import EVENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["WITH_SESSIONS", "types_of"]

#: tables that also have what happened outside runs
WITH_SESSIONS = frozenset({"events", "memory", "bus"})


def _family(*starts: str) -> frozenset[str]:
    return frozenset(t for t in EVENT_TYPES if t.startswith(starts))


#: what every table needs: which runs there were, inside which others, and how they ended
RUN = _family("run.")
_CALLS = _family("model_call.")
_TASKS = _family("task.", "map.", "loop.")

_TABLES: dict[str, frozenset[str]] = {
    "tasks": _TASKS | _CALLS,
    "model_calls": _CALLS | _family("attempt.", "guard.limited"),
    "tool_calls": _family("tool_call."),
    "messages": _family("message.", "conversation.loaded", "conversation.compacted"),
    "attempts": _CALLS | _family("attempt."),
    "questions": _family("hitl."),
    "outputs": _family("output."),
    "skills": _family("prompt.skills_matched"),
    "memory": _family("memory."),
    "bus": _family("bus."),
}
#: columns of ``runs`` that need more than the runs' own events
_RUNS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "simulated", "stop_reason", "input_tokens", "output_tokens", "reasoning_tokens",
            "cached_tokens", "tokens_estimated", "cost_usd", "model_calls",
        ),
        _CALLS,
    ),
    "cost_complete": _CALLS | _family("attempt."),
    "tool_calls": _family("tool_call.started"),
    # Of a conversation only this turn is looked at: what was loaded need not be read.
    "output": _family("message.", "output.parsed") | _TASKS,
}  # fmt: skip


def types_of(table: str, columns: Collection[str] | None = None) -> frozenset[str] | None:
    """The types of event that a table, or some of its columns, are made of.

    Parameters
    ----------
    table : str
    columns : collection of str, optional
        Only these columns will be read.

    Returns
    -------
    frozenset of str or None
        None means all.

    Examples
    --------
    >>> sorted(types_of("tool_calls") - types_of("runs", ["robot"]))
    ['tool_call.completed', 'tool_call.started']
    >>> types_of("events") is None
    True
    """
    if table == "events":
        return None
    if table != "runs":
        return RUN | _TABLES[table]
    wanted = _RUNS if columns is None else columns
    return RUN.union(*(_RUNS.get(name, frozenset()) for name in wanted))
