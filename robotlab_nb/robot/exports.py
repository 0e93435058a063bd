"""Reading an exported result back: the events that it implies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..core.events import SCHEMA_VERSION, Event, Scope
from ..core.shapes import message_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["events_of_export"]


def events_of_export(data: Mapping[str, Any]) -> list[Event]:
    """The events that an exported result implies, times unknown."""
    name = str(data.get("robot_name", "robot"))
    run_id = str(data.get("id", "unknown"))
    scope = Scope(run_id, run_id, None, 0, "robot", (name,), name)
    events: list[Event] = []
    end = data.get("duration") or 0.0

    def add(type_: str, fields: dict[str, Any], elapsed: float = 0.0) -> None:
        events.append(Event(type_, scope, len(events), elapsed, fields))

    add(
        "run.started",
        {
            "schema_version": SCHEMA_VERSION,
            "started_at": data.get("created_at"),
            "name": name,
            "model": data.get("model"),
            "simulated": data.get("simulated", False),
        },
    )
    call = f"{run_id}.1"
    add("model_call.started", {"call_id": call, "round": 1, "model": data.get("model") or ""})
    for called in data.get("tool_calls", ()):
        _add_tool_call(add, called, call)
    for view in data.get("output", ()):
        message = message_of(view)
        fields: dict[str, Any] = {"message": message.to_dict()}
        if view.get("stop_reason"):
            fields["stop_reason"] = view["stop_reason"]
        add("message.added", fields)
    usage = {
        "input_tokens": data.get("input_tokens"),
        "output_tokens": data.get("output_tokens"),
        "cost_usd": data.get("cost_usd"),
        "cost_complete": data.get("cost_usd") is not None,
        "calls": 1,
    }
    add("model_call.completed", {"call_id": call, "usage": usage}, end)
    add("run.completed", {"stop_reason": data.get("stop_reason")}, end)
    return events


def _add_tool_call(add: Any, called: Mapping[str, Any], call: str) -> None:
    tool = called.get("tool", called)  # ours, or robot_lab's tool result
    content = called.get("content", {})
    failed = "error" in content
    started = {
        "tool_call_id": str(tool["id"]), "call_id": call, "round": 1, "tool": str(tool["name"]),
        "arguments": tool.get("input"),
    }  # fmt: skip
    add("tool_call.started", started)
    shown = content.get("error") if failed else content.get("data")
    text = shown if isinstance(shown, str) else json.dumps(shown)
    ended: dict[str, Any] = {
        "tool_call_id": str(tool["id"]),
        "status": called.get("status", "failed" if failed else "completed"),
        "content": text,
    }
    if failed:
        ended["error"] = {"type": "ToolError", "message": text}
    else:
        ended["result"] = shown
    add("tool_call.completed", ended)
