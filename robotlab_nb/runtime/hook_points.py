"""Where handlers can be called: families of points, and what their contexts hold. Data alone."""

from __future__ import annotations

__all__ = ["ERROR", "FAMILIES", "FIELDS", "ON", "POINTS", "PREFIXES", "RESULT", "WRITABLE"]

#: what handlers can be put around
FAMILIES: tuple[str, ...] = (
    "run", "llm_generation", "tool_call", "network_run", "task", "compaction", "learn",
)  # fmt: skip

#: family -> the field of its context that carries the result
RESULT: dict[str, str] = {
    "run": "response",
    "llm_generation": "generation_response",
    "tool_call": "tool_result",
    "network_run": "result",
    "task": "result",
    "compaction": "compacted_messages",
    "learn": "stored",
}

#: family -> the field that carries what went wrong
ERROR: dict[str, str] = {
    "run": "error",
    "llm_generation": "error",
    "tool_call": "tool_error",
    "network_run": "error",
    "task": "error",
}

#: family -> its point besides before, around and after
ON: dict[str, str] = {
    "run": "on_error",
    "network_run": "on_error",
    "task": "on_error",
    "compaction": "on_compaction",
    "learn": "on_learn",
}

_RUN = ("robot", "network", "task", "memory", "config", "request", "response", "error")

#: family -> the fields of its context; ``run`` is in all
FIELDS: dict[str, tuple[str, ...]] = {
    "run": _RUN,
    "llm_generation": (*_RUN, "iteration", "generation_response"),
    "tool_call": ("tool", "tool_name", "tool_args", "robot", "tool_result", "tool_error"),
    "network_run": ("network", "memory", "config", "context", "result", "error"),
    "task": ("network", "task", "task_name", "robot", "memory", "config", "result", "error"),
    "compaction": ("robot", "messages_before", "config", "strategy", "compacted_messages"),
    "learn": ("robot", "text", "learnings_before", "stored"),
}

#: family -> the fields that a handler may set
WRITABLE: dict[str, tuple[str, ...]] = {
    "run": ("request", "response", "error"),
    "llm_generation": ("generation_response",),
    "tool_call": ("tool_result", "tool_error"),
    "network_run": ("context", "result", "error"),
    "task": ("result", "error"),
    "compaction": ("compacted_messages",),
    "learn": ("stored",),
}

#: how the names of points begin
PREFIXES: tuple[str, ...] = ("before_", "around_", "after_", "on_")


def _points() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for family in FAMILIES:
        names = [f"{prefix}{family}" for prefix in PREFIXES[:3]]
        for name in (*names, ON.get(family)):
            if name is not None:
                found[name] = (*found.get(name, ()), family)
    return found


#: point -> the families that it belongs to (``on_error`` belongs to three)
POINTS: dict[str, tuple[str, ...]] = _points()
