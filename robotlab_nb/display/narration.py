"""What happens, told in one line per event that matters: who thinks, calls, waits, fails.

A fold over events; it remembers when things began, and knows no stream, no clock and no thread.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .amounts import count, dollars, seconds
from .escape import one_line
from .server_rows import SERVERS, progress_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.events import Event

__all__ = ["TOLD", "Narration"]

#: characters of a name, of a tool's first argument, of a line
_NAME, _ARGUMENT, _LINE = 40, 80, 300
#: root runs that are remembered at the same time
_ROOTS = 1_000


class _Root:
    """When the parts of a root run began, and which tools its calls are of."""

    __slots__ = ("began", "tools")

    def __init__(self) -> None:
        self.began: dict[object, float] = {}
        self.tools: dict[str, str] = {}


class Narration:
    """Tells events in words. One may tell those of many runs, mixed.

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> scope = Scope("r", "r", None, 0, "robot", ("guide",), "guide")
    >>> told = Narration()
    >>> told.line(Event("model_call.started", scope, 1, 0.0, {"call_id": "r.1"}))
    '[guide] thinking…'
    """

    def __init__(self) -> None:
        self._roots: dict[str, _Root] = {}

    def line(self, event: Event) -> str | None:
        """The line for an event, without a newline; None for one that is not told."""
        tell = _TELL.get(event.type)
        if tell is None:
            return None
        root_id = event.scope.root_id
        root = self._roots.get(root_id)
        if root is None:
            if len(self._roots) >= _ROOTS:
                del self._roots[next(iter(self._roots))]
            root = self._roots[root_id] = _Root()
        told = tell(root, event)
        if event.type in _ENDS and event.scope.run_id == root_id:
            self._roots.pop(root_id, None)
        if told is None:
            return None
        return one_line(f"[{_who(event)}] {told}", _LINE).replace("\u00a0", " ")


def _who(event: Event) -> str:
    scope = event.scope
    if scope.kind == "task":
        return one_line(scope.path[-2] if len(scope.path) > 1 else scope.path[-1], _NAME)
    name = one_line(scope.robot or scope.path[-1], _NAME)
    if scope.robot is None or scope.path[-1] == scope.robot:
        return name
    return f"{name} · {one_line(scope.path[-1], _NAME)}"


def _after(root: _Root, key: object, event: Event) -> str:
    """How long it took, as the end of a sentence: `` after 2 s``."""
    return _for(None if (at := root.began.pop(key, None)) is None else event.elapsed - at)


def _for(duration: Any) -> str:
    words = seconds(duration)
    return f" after {words}" if words else ""


def _fault(error: Any) -> str:
    found = error if isinstance(error, dict) else {}
    return f"{found.get('type') or 'error'}: {one_line(found.get('message') or '', 200)}"


def _run_started(root: _Root, event: Event) -> str | None:
    root.began[event.scope.run_id] = event.elapsed
    graph: Any = event.data.get("graph")
    return f"begins: {count(len(graph), 'task')}" if graph is not None else None


def _run_ended(root: _Root, event: Event) -> str | None:
    after = _after(root, event.scope.run_id, event)
    # What ends inside another run is told by the task or the tool that started it.
    if event.scope.depth:
        return None
    data: Any = event.data
    if event.type == "run.completed":
        return f"done{after}"
    if event.type == "run.failed":
        return f"failed{after}: {_fault(data.get('error'))}"
    stuck = f"; still running: {', '.join(data['stuck'])}" if data.get("stuck") else ""
    return f"stopped{after} ({data.get('reason')}){stuck}"


def _task_started(root: _Root, event: Event) -> str:
    task = event.data["task"]
    root.began[event.scope.run_id, task] = event.elapsed
    return f"task {one_line(task, _NAME)} begins"


def _task_ended(root: _Root, event: Event) -> str:
    data: Any = event.data
    task = one_line(data["task"], _NAME)
    after = _after(root, (event.scope.run_id, data["task"]), event)
    if event.type == "task.failed":
        return f"task {task} failed{after}: {_fault(data.get('error'))}"
    if event.type == "task.settled":
        return f"task {task} {data.get('status')}{after}: {data.get('reason')}"
    activate = f"; next: {', '.join(data['activate'])}" if data.get("activate") else ""
    return f"task {task} done{after}{activate}"


def _task_retried(root: _Root, event: Event) -> str:
    data: Any = event.data
    wait = seconds(data.get("retry_in_s")) or "a moment"
    again = f"attempt {data.get('attempt')} failed, again in {wait}"
    return f"{_item(data)}: {again}: {_fault(data.get('error'))}"


def _task_restored(root: _Root, event: Event) -> str:
    data: Any = event.data
    cost = dollars(data.get("restored_cost"))
    then = f", which cost {cost} then" if cost else ""
    run = one_line(data.get("restored_from") or "an earlier run", _NAME)
    return f"task {one_line(data['task'], _NAME)} restored from {run}{then}"


def _map_ended(root: _Root, event: Event) -> str:
    data: Any = event.data
    return f"{_item(data)}: {data.get('done')} items done, {data.get('failed')} failed"


def _turned(root: _Root, event: Event) -> str:
    data: Any = event.data
    after = "again" if data.get("again") else f"over ({str(data.get('reason')).replace('_', ' ')})"
    return f"{_item(data)}: turn {data.get('turn')}, {after}"


def _item(data: Any) -> str:
    item = f", item {data['item']}" if data.get("item") is not None else ""
    return f"task {one_line(data['task'], _NAME)}{item}"


def _converged(root: _Root, event: Event) -> str:
    data: Any = event.data
    score = data.get("score")
    told = f"{score:.2f}" if isinstance(score, (int, float)) else "unknown"
    verdict = "the same" if data.get("converged") else "not the same"
    return f"compared {count(data.get('texts'), 'text')}: {verdict} (score {told})"


def _deadlock(root: _Root, event: Event) -> str:
    keys, waiting = (", ".join(map(str, event.data.get(n) or ())) for n in ("keys", "waiting"))  # type: ignore[arg-type]
    who = f", for which {waiting} waited" if waiting else ""
    return f"deadlock: nobody is left to write {keys}{who}"


def _dead(root: _Root, event: Event) -> str:
    data: Any = event.data
    why = str(data.get("reason")).replace("_", " ")
    error = f": {_fault(data['error'])}" if data.get("error") else ""
    return f"dead letter on {one_line(data.get('channel'), _NAME)} ({why}){error}"


def _called(data: Any, arguments: Any) -> str:
    """A call with its first argument: ``get_weather("Paris", …)``."""
    tool = one_line(data.get("tool") or "a tool", _NAME)
    if not isinstance(arguments, dict):
        return f"{tool}({one_line(data.get('arguments_text') or '', _ARGUMENT)})"
    first = next(iter(arguments.values()), "")
    if arguments:
        try:
            first = json.dumps(first, ensure_ascii=False, default=str)
        except ValueError:
            first = str(first)
    more = ", …" if len(arguments) > 1 else ""
    return f"{tool}({one_line(first, _ARGUMENT)}{more})"


def _tool_started(root: _Root, event: Event) -> str:
    data: Any = event.data
    root.tools[data["tool_call_id"]] = data.get("tool") or "a tool"
    return _called(data, data.get("arguments"))


def _tool_ended(root: _Root, event: Event) -> str:
    data: Any = event.data
    tool = one_line(root.tools.pop(data["tool_call_id"], "a tool"), _NAME)
    after = _for(data.get("duration_s"))
    match data.get("status"):
        case "completed":
            return f"{tool} done{after}"
        case "failed":
            return f"{tool} failed{after}: {_fault(data.get('error'))}"
        case _:
            return f"{tool} stopped{after}"


def _attempt_failed(root: _Root, event: Event) -> str | None:
    data: Any = event.data
    if data.get("retry_in_s") is None:  # the end of the call is told by who asked
        return None
    wait = seconds(data["retry_in_s"]) or "a moment"
    return f"attempt {data.get('attempt')} failed, again in {wait}: {_fault(data.get('error'))}"


def _fallback(root: _Root, event: Event) -> str:
    data: Any = event.data
    return (
        f"asks {one_line(data.get('to_model'), _NAME)} in place of "
        f"{one_line(data.get('from_model'), _NAME)}: {_fault(data.get('error'))}"
    )


def _limited(root: _Root, event: Event) -> str:
    data: Any = event.data
    limit = str(data.get("limit")).replace("_", " ")
    return f"waits {seconds(data.get('wait_s')) or 'a moment'} ({limit})"


def _budget(root: _Root, event: Event) -> str:
    data: Any = event.data
    dimension = data.get("dimension")

    def amount(value: Any) -> str:
        return (dollars(value) if dimension == "cost" else None) or f"{value:,}"

    return (
        f"budget {one_line(data.get('budget'), _NAME)} is used up: {amount(data.get('used') or 0)} "
        f"of {amount(data.get('limit') or 0)} ({dimension})"
    )


def _loop(root: _Root, event: Event) -> str:
    data: Any = event.data
    calls = count(data.get("length"), "call")
    return (
        f"goes round in circles: {calls}, {data.get('count')} times, ending in {data.get('tool')}"
    )


def _asked(root: _Root, event: Event) -> str:
    data: Any = event.data
    if data.get("kind") == "approval":
        why = f": {one_line(data['why'], 100)}" if data.get("why") else ""
        return f"wants approval of {_called(data, data.get('arguments'))}{why}"
    choices = f" ({' / '.join(map(str, data['choices']))})" if data.get("choices") else ""
    return f"asks: {one_line(data.get('text') or '', 200)}{choices}"


def _answered(root: _Root, event: Event) -> str:
    data: Any = event.data
    said = ""
    if data.get("kind") != "approval" and data.get("answer") is not None:
        said = f": {one_line(data['answer'], _ARGUMENT)}"
    return f"{data.get('status')} by {data.get('by')}{said}"


def _rejected(root: _Root, event: Event) -> str:
    errors: Any = event.data.get("errors") or ()
    told = [f"{e.get('path') or 'answer'}: {one_line(e.get('message'), 100)}" for e in errors]
    return f"answer sent back: {'; '.join(told)}"


def _compacted(root: _Root, event: Event) -> str:
    data: Any = event.data
    before, after = (count(data.get(f"{x}_tokens"), "token") for x in ("before", "after"))
    return f"compressed the conversation from {before} to {after}"


def _hook_failed(root: _Root, event: Event) -> str:
    data: Any = event.data
    return f"hook {data.get('hook')} failed at {data.get('point')}: {_fault(data.get('error'))}"


def _server(root: _Root, event: Event) -> str:
    data: Any = event.data
    if event.type == "mcp.progress":
        return f"{one_line(data.get('tool') or 'a tool', _NAME)}: {progress_words(data)}"
    line = SERVERS[event.type](data)
    return "".join(bit if isinstance(bit, str) else bit.lead + bit.text for bit in line)


_TELL: dict[str, Callable[[_Root, Event], str | None]] = {
    "run.started": _run_started,
    "run.completed": _run_ended,
    "run.failed": _run_ended,
    "run.interrupted": _run_ended,
    "task.started": _task_started,
    "task.completed": _task_ended,
    "task.failed": _task_ended,
    "task.settled": _task_ended,
    "task.retried": _task_retried,
    "task.restored": _task_restored,
    "map.completed": _map_ended,
    "loop.turned": _turned,
    "model_call.started": lambda root, event: "thinking…",
    "model_call.fallback": _fallback,
    "attempt.failed": _attempt_failed,
    "cache.hit": lambda root, event: "has the answer in the cache",
    "tool_call.started": _tool_started,
    "tool_call.completed": _tool_ended,
    "guard.limited": _limited,
    "guard.budget": _budget,
    "guard.loop": _loop,
    "guard.convergence": _converged,
    "memory.deadlock": _deadlock,
    "bus.dead": _dead,
    "hitl.requested": _asked,
    "hitl.answered": _answered,
    "output.rejected": _rejected,
    "conversation.compacted": _compacted,
    "hook.failed": _hook_failed,
    **dict.fromkeys(SERVERS, _server),
}
_ENDS = frozenset({"run.completed", "run.failed", "run.interrupted"})
#: the types of event that are told
TOLD = frozenset(_TELL)
