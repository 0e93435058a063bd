"""The one reducer: what a run looks like after its events so far.

``RunState.apply(event)`` serves the loop while it runs, the result afterwards, pictures,
tables and log readers. It is a fold: the same events give the same state.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .messages import Message
from .records import Asked, Attempt, ModelCall, Record, TaskState, ToolCall, left_off
from .usage import NOTHING, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .events import Event, Scope

__all__ = ["Asked", "Attempt", "ModelCall", "RunState", "TaskState", "ToolCall"]

#: statuses after which nothing more happens
ENDED = frozenset({"completed", "failed", "interrupted", "abandoned"})


class RunState(Record):
    """Everything that the events of a run say, its children included.

    Attributes
    ----------
    scope : Scope
    status : str
        ``pending, running, waiting, completed, failed, interrupted`` (a log adds ``abandoned``).
    info : mapping
        The data of ``run.started``: name, model, simulated, input, config, tools …
    messages : list of Message
        The prompt as it stands: system message, loaded conversation, this turn.
    turn_start : int
        Where this turn begins in ``messages``.
    model_calls, tool_calls : dict
        By id, in order of start; of this run alone.
    usage : Usage
        Summed over this run's own model calls.
    asked : dict of str to Asked
        What was asked of a person, by question id, in order.
    output : JSON
        The answer as data, where its shape was prescribed and it passed.
    notes : list of Event
        What happened besides: guards, cache, prompts, judged answers, failed hooks.
    tasks : dict of str to TaskState
        A network's tasks, in the order declared.
    children : dict of str to RunState
        Runs started inside this one, by run id.
    """

    __slots__ = (
        "_family", "_parent", "asked",
        "children", "conversation", "ended_s", "error", "info", "message_times",
        "messages", "model_calls", "notes", "output", "scope", "started_at", "started_s",
        "status", "stop_reason", "stop_reasons", "stuck", "tasks", "tool_calls", "turn_start",
        "usage",
    )  # fmt: skip

    def __init__(self, scope: Scope, parent: RunState | None = None) -> None:
        self.scope = scope
        self._parent = parent
        #: the states inside this one by run id, when it is folded from events
        self._family: dict[str, RunState] = {}
        self.status = "pending"
        self.info: Mapping[str, Any] = {}
        self.started_at: str | None = None
        self.started_s = 0.0
        self.ended_s: float | None = None
        self.stop_reason: str | None = None
        self.error: Mapping[str, Any] | None = None
        self.stuck: tuple[str, ...] = ()
        self.messages: list[Message] = []
        self.message_times: dict[int, float] = {}
        self.stop_reasons: dict[int, str] = {}
        self.turn_start = 0
        self.model_calls: dict[str, ModelCall] = {}
        self.tool_calls: dict[str, ToolCall] = {}
        self.usage: Usage = NOTHING
        self.asked: dict[str, Asked] = {}
        self.output: Any = None
        self.notes: list[Event] = []
        self.conversation: str | None = None
        self.tasks: dict[str, TaskState] = {}
        self.children: dict[str, RunState] = {}

    @classmethod
    def fold(cls, events: Iterable[Event]) -> RunState:
        """Build the state of a root run from its events.

        Raises
        ------
        ValueError
            When there are no events.
        """
        state: RunState | None = None
        for event in events:
            if state is None:
                state = cls(event.scope)
            state.apply(event)
        if state is None:
            raise ValueError("no events, no state")
        return state

    def apply(self, event: Event) -> None:
        """Take one event in. An event of a child run goes to that child's state."""
        state = self
        if event.scope.run_id != self.scope.run_id:
            state = self._family.get(event.scope.run_id) or self.adopt(event.scope)
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(state, event)

    def adopt(self, scope: Scope) -> RunState:
        """Make the state of a run inside this one, under the run that started it."""
        parent = self._family.get(scope.parent_id or "", self)
        child = RunState(scope, parent)
        self._family[scope.run_id] = parent.children[scope.run_id] = child
        return child

    @property
    def parent(self) -> RunState | None:
        """The state of the run that started this one, where it is known."""
        return self._parent

    def walk(self) -> Iterator[RunState]:
        """This run and all below it, parents first, in order of start."""
        yield self
        for child in self.children.values():
            yield from child.walk()

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in ENDED

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end; None while it runs."""
        return None if self.ended_s is None else self.ended_s - self.started_s

    @property
    def turn(self) -> list[Message]:
        """The messages of this turn: the question and all that came of it."""
        return self.messages[self.turn_start :]

    @property
    def text(self) -> str:
        """The answer so far: the last assistant text of this turn, else its reasoning, else "".

        An answer that was given as data (by a tool call) is that data as JSON.
        """
        for message in reversed(self.turn):
            if message.role == "assistant" and message.text:
                return message.text
        if self.output is not None:
            return json.dumps(self.output, ensure_ascii=False)
        for message in reversed(self.turn):
            if message.role == "assistant" and message.reasoning:
                return message.reasoning
        return ""

    @property
    def simulated(self) -> bool:
        """Whether any answer in it was made up."""
        return any(
            s.info.get("simulated") or any(c.simulated for c in s.model_calls.values())
            for s in self.walk()
        )

    def total_usage(self) -> Usage:
        """Tokens and cost of this run and of all runs below it."""
        total = self.usage
        for child in self.children.values():
            total = total + child.total_usage()
        return total

    # -- one method per event type -------------------------------------------------------

    def _run_started(self, event: Event) -> None:
        self.status = "running"
        self.info = event.data
        self.started_at = event.data.get("started_at")  # type: ignore[assignment]
        self.started_s = event.elapsed
        graph: Any = event.data.get("graph") or ()
        self.tasks = {d["task"]: TaskState(d["task"], d) for d in graph}

    def _run_completed(self, event: Event) -> None:
        self.status = "completed"
        self.stop_reason = event.data.get("stop_reason")  # type: ignore[assignment]
        self.ended_s = event.elapsed

    def _run_failed(self, event: Event) -> None:
        self.status = "failed"
        self.error = event.data.get("error")  # type: ignore[assignment]
        self.ended_s = event.elapsed

    def _run_interrupted(self, event: Event) -> None:
        self.status = "interrupted"
        self.stuck = tuple(event.data.get("stuck") or ())  # type: ignore[arg-type]
        self.ended_s = event.elapsed

    def _run_abandoned(self, event: Event) -> None:
        for state in self.walk():
            if not state.ended:
                state.status, state.ended_s = "abandoned", event.elapsed
                left_off(state.model_calls, state.tool_calls, state.tasks, state.asked)

    def _run_waiting(self, event: Event) -> None:
        self.status = "waiting"

    def _run_resumed(self, event: Event) -> None:
        self.status = "running"

    def _asked(self, event: Event) -> None:
        asked = Asked(event.data, event.elapsed)
        self.asked[asked.question_id] = asked

    def _answered(self, event: Event) -> None:
        self.asked[event.data["question_id"]].settle(event.data)  # type: ignore[index]

    def _parsed(self, event: Event) -> None:
        self.output = event.data.get("value")
        self.notes.append(event)

    def _note(self, event: Event) -> None:
        self.notes.append(event)

    def _task(self, event: Event) -> TaskState:
        name: Any = event.data["task"]
        found = self.tasks.get(name)
        if found is None:
            found = self.tasks[name] = TaskState(name, {})
        return found

    def _task_started(self, event: Event) -> None:
        self._task(event).start(event.data, event.elapsed)

    def _task_retried(self, event: Event) -> None:
        task = self._task(event)
        task.retried = (*task.retried, event.data["error"])  # type: ignore[arg-type]

    def _task_completed(self, event: Event) -> None:
        task = self._task(event)
        task.complete(event.data)
        self._task_over(task, event)

    def _task_restored(self, event: Event) -> None:
        self._task(event).restore(event.data)

    def _task_failed(self, event: Event) -> None:
        task = self._task(event)
        data: Any = event.data
        task.status = "failed"
        task.error = data.get("error")
        task.traceback = data.get("traceback")
        self._task_over(task, event)

    def _task_part(self, event: Event) -> None:
        self._task(event).part(event.type, event.data, event.elapsed)

    def _task_settled(self, event: Event) -> None:
        task = self._task(event)
        data: Any = event.data
        task.status = data["status"]
        task.reason = data.get("reason")
        self._task_over(task, event)

    @staticmethod
    def _task_over(task: TaskState, event: Event) -> None:
        if task.started_s is not None:
            task.duration_s = event.elapsed - task.started_s

    def _loaded(self, event: Event) -> None:
        loaded: Any = event.data["messages"]
        self.messages.extend(Message.from_dict(m) for m in loaded)
        self.turn_start = len(self.messages)

    def _message(self, event: Event) -> None:
        message = Message.from_dict(event.data["message"])  # type: ignore[arg-type]
        if message.role == "system" and self.turn_start == len(self.messages):
            self.turn_start += 1
        position = len(self.messages)
        self.messages.append(message)
        self.message_times[position] = event.elapsed
        reason = event.data.get("stop_reason")
        if reason:
            self.stop_reasons[position] = reason  # type: ignore[assignment]

    def _compacted(self, event: Event) -> None:
        """Old turns were compressed: what this turn has said so far stays as it is."""
        self.notes.append(event)
        data: Any = event.data
        lead = 1 if self.messages and self.messages[0].role == "system" else 0
        known = {m.id: m for m in self.messages[lead : self.turn_start]}
        known |= {m.id: m for m in map(Message.from_dict, data.get("new") or ())}
        kept = [known[i] for i in data["message_ids"]]
        moved = lead + len(kept) - self.turn_start
        self.messages[lead : self.turn_start] = kept
        self.turn_start += moved
        self.message_times = {p + moved: t for p, t in self.message_times.items() if p >= lead}
        self.stop_reasons = {p + moved: r for p, r in self.stop_reasons.items()}

    def _conversation(self, event: Event) -> None:
        self.conversation = event.type.partition(".")[2]

    def _call_started(self, event: Event) -> None:
        call = ModelCall(event.data, event.elapsed)
        self.model_calls[call.call_id] = call

    def _call_completed(self, event: Event) -> None:
        call = self.model_calls[event.data["call_id"]]  # type: ignore[index]
        call.complete(event.data)
        self.stop_reason = call.stop_reason
        if call.usage is not None:
            self.usage = self.usage + call.usage

    def _call_failed(self, event: Event) -> None:
        call = self.model_calls[event.data["call_id"]]  # type: ignore[index]
        call.fail(event.data)
        if call.usage is not None:
            self.usage = self.usage + call.usage

    def _fallback(self, event: Event) -> None:
        self.model_calls[event.data["call_id"]].fallbacks.append(event.data)  # type: ignore[index]

    def _limited(self, event: Event) -> None:
        self.notes.append(event)
        data: Any = event.data
        call = self.model_calls.get(data.get("call_id"))
        if call is not None:
            call.waited_s += data.get("wait_s") or 0.0

    def _attempt(self, event: Event) -> None:
        attempt = Attempt(event.data)
        self.model_calls[attempt.call_id].attempts.append(attempt)

    def _tool_started(self, event: Event) -> None:
        call = ToolCall(event.data, event.elapsed)
        self.tool_calls[call.tool_call_id] = call

    def _tool_completed(self, event: Event) -> None:
        self.tool_calls[event.data["tool_call_id"]].complete(event.data)  # type: ignore[index]


#: what happened besides, and is kept as it is
_NOTED = (
    "output.rejected", "prompt.composed", "prompt.skills_matched", "guard.budget", "guard.loop",
    "guard.convergence", "cache.hit", "cache.stored", "hook.failed", "memory.deadlock",
    "memory.subscriber_failed", "bus.dead", "bus.handler_failed", "bus.blocked", "mcp.chosen",
    "mcp.connecting", "mcp.ready", "mcp.failed", "mcp.tools_changed", "mcp.log", "mcp.progress",
)  # fmt: skip
_HANDLERS = {
    "run.started": RunState._run_started,
    "run.completed": RunState._run_completed,
    "run.failed": RunState._run_failed,
    "run.interrupted": RunState._run_interrupted,
    "run.abandoned": RunState._run_abandoned,
    "run.waiting": RunState._run_waiting,
    "run.resumed": RunState._run_resumed,
    "task.started": RunState._task_started,
    "task.retried": RunState._task_retried,
    "task.completed": RunState._task_completed,
    "task.restored": RunState._task_restored,
    "task.failed": RunState._task_failed,
    "task.settled": RunState._task_settled,
    "map.started": RunState._task_part,
    "map.item": RunState._task_part,
    "loop.turned": RunState._task_part,
    "conversation.loaded": RunState._loaded,
    "conversation.committed": RunState._conversation,
    "conversation.forked": RunState._conversation,
    "conversation.compacted": RunState._compacted,
    "message.added": RunState._message,
    "model_call.started": RunState._call_started,
    "model_call.completed": RunState._call_completed,
    "model_call.failed": RunState._call_failed,
    "model_call.fallback": RunState._fallback,
    "attempt.completed": RunState._attempt,
    "attempt.failed": RunState._attempt,
    "tool_call.started": RunState._tool_started,
    "tool_call.completed": RunState._tool_completed,
    "hitl.requested": RunState._asked,
    "hitl.answered": RunState._answered,
    "output.parsed": RunState._parsed,
    "guard.limited": RunState._limited,
    **dict.fromkeys(_NOTED, RunState._note),
}
