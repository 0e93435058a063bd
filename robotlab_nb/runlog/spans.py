"""Spans out of events, by OpenTelemetry's conventions for generative AI.

A network is an ``invoke_workflow`` span, a robot's run ``invoke_agent``, a model call ``chat``, a
tool call ``execute_tool``; tasks stand between a network and the runs that do them. Names of
attributes are those of the conventions as opentelemetry-semantic-conventions 0.66b2 lists them
(they are still in development there); what these have no name for stands under ``robotlab``.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from .span_attributes import PARAMS, USAGE, model_of, said_of, server_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

    from ..core.events import Event

__all__ = ["Spans"]

Key = tuple[str, ...]


class _Root:
    """What is open of one root run."""

    def __init__(self, started_ns: int, outside: Context | None) -> None:
        self.started_ns = started_ns
        self.outside = outside
        self.open: dict[Key, Span] = {}
        #: by message id, where content is told
        self.messages: dict[str, Mapping[str, Any]] = {}
        #: by run id
        self.used: dict[str, dict[str, float]] = {}


class Spans:
    """Makes spans of events as they come, each root's in order.

    Parameters
    ----------
    tracer : Tracer
    content : bool
        Whether messages, arguments and results are told.
    """

    def __init__(self, tracer: Tracer, *, content: bool = False) -> None:
        self.tracer = tracer
        self.content = content
        self._roots: dict[str, _Root] = {}

    def take(self, event: Event, outside: Context | None = None) -> None:
        """Start, change or end the spans that an event speaks of.

        Parameters
        ----------
        event : Event
        outside : Context, optional
            What a root run was started in.
        """
        scope = event.scope
        root = self._roots.get(scope.root_id)
        if root is None:
            if event.type != "run.started" or scope.parent_id or scope.kind == "session":
                return  # of a session, or of a run that began before the tracing did
            root = self._roots[scope.root_id] = _Root(_start(event), outside)
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, root, event)
        if event.type in _LAST and scope.run_id == scope.root_id:
            self._close(root, _at(root, event))
            del self._roots[scope.root_id]

    def close(self) -> None:
        """End what is open: nothing more will be told of it."""
        for root in self._roots.values():
            self._close(root, None)
        self._roots.clear()

    def _close(self, root: _Root, at: int | None) -> None:
        for span in reversed(root.open.values()):
            span.end(at)
        root.open.clear()

    # -- opening and ending ----------------------------------------------------------------

    def _begin(
        self, root: _Root, event: Event, key: Key, above: Span | None, name: str,
        attributes: Mapping[str, Any], kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:  # fmt: skip
        context = root.outside if above is None else set_span_in_context(above)
        told = {name: value for name, value in attributes.items() if value not in (None, "")}
        root.open[key] = self.tracer.start_span(
            name, context, kind, told, start_time=_at(root, event)
        )

    def _end(
        self, root: _Root, event: Event, key: Key, attributes: Mapping[str, Any] | None = None,
        error: Any = None,
    ) -> None:  # fmt: skip
        span = root.open.pop(key, None)
        if span is None:
            return
        for name, value in (attributes or {}).items():
            if value not in (None, "", []):
                span.set_attribute(name, value)
        if error is not None:
            told = error if isinstance(error, dict) else {"type": str(error)}
            span.set_attribute("error.type", str(told.get("type") or "error"))
            span.set_status(Status(StatusCode.ERROR, str(told.get("message") or "") or None))
        span.end(_at(root, event))

    def _above(self, root: _Root, event: Event) -> Span | None:
        """The span around a run: its task, the one tool call that is open, else its parent."""
        scope = event.scope
        parent = scope.parent_id
        if parent is None:
            return None
        tasks = [k for k in root.open if k[:2] == ("task", parent) and k[2] in scope.path]
        tools = [k for k in root.open if k[:2] == ("tool", parent)]
        if tasks:
            return root.open[max(tasks, key=lambda key: scope.path.index(key[2]))]
        if len(tools) == 1:
            return root.open[tools[0]]
        return root.open.get(("run", parent))

    # -- one method per kind of event ------------------------------------------------------

    def _run_started(self, root: _Root, event: Event) -> None:
        data, scope = event.data, event.scope
        name = str(data.get("name") or scope.robot or scope.path[-1])
        network = scope.kind in ("network", "experiment")
        operation = "invoke_workflow" if network else "invoke_agent"
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": operation,
            "gen_ai.workflow.name" if network else "gen_ai.agent.name": name,
            "gen_ai.conversation.id": data.get("session_id"),
            "robotlab.run_id": scope.run_id,
            "robotlab.root_id": scope.root_id,
            "robotlab.tags": texts_of(data.get("tags")),
            "robotlab.resumed_from": data.get("resumed_from"),
        }
        if not network:
            attributes |= model_of(data)
        if self.content and data.get("input"):
            attributes["robotlab.input"] = str(data["input"])
        above = self._above(root, event)
        self._begin(root, event, ("run", scope.run_id), above, f"{operation} {name}", attributes)

    def _run_ended(self, root: _Root, event: Event) -> None:
        run_id = event.scope.run_id
        status = event.type.partition(".")[2]
        error = event.data.get("error") if status == "failed" else None
        if status in ("interrupted", "abandoned"):
            error = {"type": status, "message": event.data.get("reason")}
        reason = event.data.get("stop_reason")
        attributes = {
            "robotlab.status": status,
            "gen_ai.response.finish_reasons": [str(reason)] if reason else None,
            **root.used.pop(run_id, {}),
        }
        inside = [k for k in root.open if k[1] == run_id and k[0] != "run"]
        for key in reversed(inside):
            self._end(root, event, key, error=error if status != "completed" else None)
        self._end(root, event, ("run", run_id), attributes, error)

    def _task_started(self, root: _Root, event: Event) -> None:
        data, run_id = event.data, event.scope.run_id
        key = ("task", run_id, str(data["task"]))
        if key in root.open:  # another try of it
            root.open[key].add_event(
                "robotlab.task.tried", {"attempt": int(str(data.get("attempt") or 1))},
                _at(root, event),
            )  # fmt: skip
            return
        attributes = {
            "robotlab.task": data["task"],
            "robotlab.task.kind": data.get("kind"),
            "robotlab.task.waited_s": data.get("waited_s"),
            "robotlab.task.group": data.get("group"),
        }
        above = root.open.get(("run", run_id))
        self._begin(root, event, key, above, f"task {data['task']}", attributes)

    def _task_ended(self, root: _Root, event: Event) -> None:
        status = str(event.data.get("status") or event.type.partition(".")[2])
        error = event.data.get("error") or ("interrupted" if status == "interrupted" else None)
        key = ("task", event.scope.run_id, str(event.data["task"]))
        self._end(root, event, key, {"robotlab.status": status}, error)

    def _call_started(self, root: _Root, event: Event) -> None:
        data, run_id = event.data, event.scope.run_id
        params: Mapping[str, Any] = data.get("params") or {}  # type: ignore[assignment]
        model = model_of(data)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            **model,
            **server_of(data.get("endpoint")),
            "gen_ai.request.stream": data.get("streaming"),
            "robotlab.round": data.get("round"),
        }
        for name, told in PARAMS.items():
            value = params.get(name)
            if value is not None:
                attributes[f"gen_ai.request.{told}"] = (
                    [value] if told == "stop_sequences" and isinstance(value, str) else value
                )
        if self.content:
            attributes |= self._input(root, data)
        name = f"chat {model.get('gen_ai.request.model') or 'model'}"
        above = root.open.get(("run", run_id))
        key = ("call", run_id, str(data["call_id"]))
        self._begin(root, event, key, above, name, attributes, SpanKind.CLIENT)

    def _call_ended(self, root: _Root, event: Event) -> None:
        data, run_id = event.data, event.scope.run_id
        usage: Mapping[str, Any] = data.get("usage") or {}  # type: ignore[assignment]
        told = {USAGE[name]: usage[name] for name in USAGE if usage.get(name) is not None}
        total = root.used.setdefault(run_id, {})
        for name, number in told.items():
            total[name] = total.get(name, 0) + number
        reason = data.get("finish_reason") or data.get("stop_reason")
        attributes = {
            **told,
            "gen_ai.response.id": data.get("response_id"),
            "gen_ai.response.model": data.get("response_model"),
            "gen_ai.response.finish_reasons": [str(reason)] if reason else None,
            "gen_ai.response.time_to_first_chunk": data.get("first_token_s"),
            "robotlab.attempts": data.get("attempts"),
            "robotlab.cached": data.get("cached") or None,
        }
        if self.content and data.get("text"):
            said: dict[str, Any] = {
                "role": "assistant",
                "parts": [{"type": "text", "content": data["text"]}],
            }
            if reason:
                said["finish_reason"] = reason
            attributes["gen_ai.output.messages"] = json.dumps([said])
        key = ("call", run_id, str(data["call_id"]))
        self._end(root, event, key, attributes, data.get("error"))

    def _noted(self, root: _Root, event: Event) -> None:
        """What happened within a model call, as an event of its span."""
        data = event.data
        span = root.open.get(("call", event.scope.run_id, str(data.get("call_id"))))
        if span is None:
            return
        error: Mapping[str, Any] = data.get("error") or {}  # type: ignore[assignment]
        told = {
            "error.type": error.get("type"), "error.message": error.get("message"),
            "http.response.status_code": error.get("status"),
            **{name: data.get(name) for name in _NOTED},
        }  # fmt: skip
        span.add_event(
            f"robotlab.{event.type}",
            {name: value for name, value in told.items() if value is not None},
            _at(root, event),
        )

    def _tool_started(self, root: _Root, event: Event) -> None:
        data, run_id = event.data, event.scope.run_id
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": data["tool"],
            "gen_ai.tool.call.id": data["tool_call_id"],
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": data.get("arguments_text") if self.content else None,
        }
        key = ("tool", run_id, str(data["tool_call_id"]))
        above = root.open.get(("run", run_id))
        self._begin(root, event, key, above, f"execute_tool {data['tool']}", attributes)

    def _tool_ended(self, root: _Root, event: Event) -> None:
        data = event.data
        status = str(data.get("status"))
        error = data.get("error") or (None if status == "completed" else status)
        attributes = {
            "robotlab.status": status,
            "robotlab.approved_by": data.get("approved_by"),
            "gen_ai.tool.call.result": data.get("content") if self.content else None,
        }
        key = ("tool", event.scope.run_id, str(data["tool_call_id"]))
        self._end(root, event, key, attributes, error)

    def _waits(self, root: _Root, event: Event) -> None:
        span = root.open.get(("run", event.scope.run_id))
        if span is not None:
            span.add_event(f"robotlab.{event.type}", None, _at(root, event))

    # -- content ---------------------------------------------------------------------------

    def _message(self, root: _Root, event: Event) -> None:
        if self.content:
            found: Any = event.data.get("message") or ()
            many: Any = event.data.get("messages") or event.data.get("new") or ()
            for message in (*([found] if found else ()), *many):
                root.messages[str(message.get("id"))] = message

    def _input(self, root: _Root, data: Mapping[str, Any]) -> dict[str, Any]:
        known = [root.messages.get(str(each)) for each in data.get("message_ids") or ()]
        said = [said_of(message) for message in known if message is not None]
        system = [part for each in said if each["role"] == "system" for part in each["parts"]]
        rest = [each for each in said if each["role"] != "system"]
        return {
            "gen_ai.system_instructions": json.dumps(system) if system else None,
            "gen_ai.input.messages": json.dumps(rest) if rest else None,
        }


def _start(event: Event) -> int:
    """When a root began, in nanoseconds since 1970."""
    told = event.data.get("started_at")
    try:
        moment = datetime.fromisoformat(str(told))
    except ValueError:
        return 0
    return int(moment.timestamp() * 1e6) * 1_000


def _at(root: _Root, event: Event) -> int:
    return root.started_ns + int(event.elapsed * 1e9)


_NOTED = ("attempt", "retry_in_s", "from_model", "to_model", "limit", "wait_s")
_LAST = frozenset({"run.completed", "run.failed", "run.interrupted", "run.abandoned"})
_HANDLERS: dict[str, Callable[[Spans, _Root, Event], None]] = {
    "run.started": Spans._run_started,
    **dict.fromkeys(_LAST, Spans._run_ended),
    "run.waiting": Spans._waits,
    "run.resumed": Spans._waits,
    "task.started": Spans._task_started,
    "task.completed": Spans._task_ended,
    "task.failed": Spans._task_ended,
    "task.settled": Spans._task_ended,
    "model_call.started": Spans._call_started,
    "model_call.completed": Spans._call_ended,
    "model_call.failed": Spans._call_ended,
    "model_call.fallback": Spans._noted,
    "attempt.failed": Spans._noted,
    "guard.limited": Spans._noted,
    "tool_call.started": Spans._tool_started,
    "tool_call.completed": Spans._tool_ended,
    "message.added": Spans._message,
    "conversation.loaded": Spans._message,
    "conversation.compacted": Spans._message,
}
