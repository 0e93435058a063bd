"""What a run's state is made of: model calls with their attempts, tool calls, tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .readings import Pictured
from .usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Asked",
    "Attempt",
    "ItemState",
    "ModelCall",
    "Record",
    "TaskState",
    "ToolCall",
    "left_off",
]


_NOTHING: Mapping[str, Any] = {}
_NO_ITEMS: Mapping[int, ItemState] = {}


class Record(Pictured):
    """Equality and a plain repr for the small records below."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(
            getattr(self, k) == getattr(other, k) for k in self.__slots__ if k[0] != "_"
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={getattr(self, k)!r}" for k in self.__slots__ if k[0] != "_")
        return f"{type(self).__name__}({fields})"


class Attempt(Record):
    """One try of a model call. ``error`` is None for the one that succeeded."""

    __slots__ = (
        "attempt", "billed", "call_id", "duration_s", "error", "model", "retry_in_s", "started_s",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.call_id: str = data["call_id"]
        self.attempt: int = data["attempt"]
        self.model: str | None = data.get("model")
        self.started_s: float | None = data.get("started_s")
        self.duration_s: float | None = data.get("duration_s")
        self.error: Mapping[str, Any] | None = data.get("error")
        self.retry_in_s: float | None = data.get("retry_in_s")
        self.billed: bool | None = data.get("billed")


class ModelCall(Record):
    """One call to a model, retries included.

    ``status`` is ``running``, ``completed``, ``failed`` or ``interrupted``; times are seconds
    since the root run started, durations are seconds.
    """

    __slots__ = (
        "attempts", "cached", "call_id", "duration_s", "endpoint", "error", "fallbacks",
        "finish_reason", "first_token_s", "message_ids", "model", "params", "provider",
        "request_key", "response_model", "round", "simulated", "started_s", "status",
        "stop_reason", "text", "tools", "usage", "waited_s",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any], started_s: float) -> None:
        self.call_id: str = data["call_id"]
        self.round: int = data["round"]
        self.model: str = data["model"]
        self.provider: str | None = data.get("provider")
        self.endpoint: str | None = data.get("endpoint")
        self.simulated: bool = bool(data.get("simulated"))
        self.request_key: str | None = data.get("request_key")
        self.message_ids: tuple[str, ...] = tuple(data.get("message_ids", ()))
        self.tools: tuple[str, ...] = tuple(data.get("tools", ()))
        self.params: Mapping[str, Any] = data.get("params") or {}
        self.started_s = started_s
        self.status = "running"
        self.attempts: list[Attempt] = []
        #: models that failed before another was asked, with their errors
        self.fallbacks: list[Mapping[str, Any]] = []
        #: seconds that it was to wait for its turn under a rate limit
        self.waited_s: float = 0.0
        self.duration_s: float | None = None
        self.first_token_s: float | None = None
        self.usage: Usage | None = None
        self.stop_reason: str | None = None
        self.finish_reason: str | None = None
        self.response_model: str | None = None
        self.text: str | None = None
        self.error: Mapping[str, Any] | None = None
        self.cached: bool = False

    def complete(self, data: Mapping[str, Any]) -> None:
        """Take the data of its ``completed`` event in."""
        self.status = "completed"
        self.duration_s = data.get("duration_s")
        self.first_token_s = data.get("first_token_s")
        self.usage = Usage.from_dict(data["usage"]) if data.get("usage") else Usage()
        self.stop_reason = data.get("stop_reason")
        self.finish_reason = data.get("finish_reason")
        self.response_model = data.get("response_model")
        self.text = data.get("text")
        self.cached = bool(data.get("cached"))
        if "model" in data:
            self.model = data["model"]
            self.provider = data.get("provider")
            self.simulated = bool(data.get("simulated"))
            self.request_key = data.get("request_key", self.request_key)

    def fail(self, data: Mapping[str, Any]) -> None:
        """Take the data of its ``failed`` event in."""
        error = data.get("error") or {}
        self.status = "interrupted" if error.get("type") == "RunInterrupted" else "failed"
        self.duration_s = data.get("duration_s")
        self.error = error
        self.text = data.get("text")
        if data.get("usage"):
            self.usage = Usage.from_dict(data["usage"])


class ToolCall(Record):
    """One call of a tool.

    ``status`` is ``running``, ``completed``, ``failed`` (the tool raised, timed out, or the
    arguments were wrong: the model was told) or ``interrupted``. ``arguments`` are the parsed
    ones as the tool got them (a person may have edited them), ``arguments_text`` is what the model
    wrote; ``result`` is the value as JSON, ``content`` what the model read.
    """

    __slots__ = (
        "approved_by", "arguments", "arguments_text", "call_id", "content", "duration_s", "error",
        "possibly_repeated", "result", "retryable", "round", "source", "started_s", "status",
        "thread_leaked", "tool", "tool_call_id", "traceback",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any], started_s: float) -> None:
        self.tool_call_id: str = data["tool_call_id"]
        self.call_id: str | None = data.get("call_id")
        self.round: int | None = data.get("round")
        self.tool: str = data["tool"]
        self.source: str | None = data.get("source")
        self.arguments: Any = data.get("arguments")
        self.arguments_text: str | None = data.get("arguments_text")
        self.started_s = started_s
        self.status = "running"
        self.result: Any = None
        self.content: str | None = None
        self.error: Mapping[str, Any] | None = None
        self.retryable: bool | None = None
        self.duration_s: float | None = None
        self.traceback: str | None = None
        self.thread_leaked: bool = False
        #: whether it had begun in an earlier run that this one goes on from
        self.possibly_repeated = bool(data.get("possibly_repeated"))
        self.approved_by: str | None = None

    def complete(self, data: Mapping[str, Any]) -> None:
        """Take the data of its ``completed`` event in."""
        self.status = data["status"]
        self.result = data.get("result")
        self.content = data.get("content")
        self.error = data.get("error")
        self.retryable = data.get("retryable")
        self.duration_s = data.get("duration_s")
        self.traceback = data.get("traceback")
        self.thread_leaked = bool(data.get("thread_leaked"))
        self.approved_by = data.get("approved_by")
        if data.get("arguments") is not None:
            self.arguments = data["arguments"]


class Asked(Record):
    """A question that a run put to a person, or a tool call that needed approval.

    ``status`` is ``pending`` until it is settled, then ``answered, approved, denied, edited,
    default, timeout`` or ``interrupted``; ``by`` says who settled it.
    """

    __slots__ = (
        "answer", "arguments", "asked_s", "by", "choices", "default", "kind", "question_id",
        "robot", "status", "task", "text", "timeout_s", "tool", "tool_call_id", "waited_s", "why",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any], asked_s: float) -> None:
        self.question_id: str = data["question_id"]
        self.kind: str = data["kind"]
        self.robot: str | None = data.get("robot")
        self.tool: str | None = data.get("tool")
        self.tool_call_id: str | None = data.get("tool_call_id")
        #: the task of a network that is done by answering
        self.task: str | None = data.get("task")
        self.text: str = data.get("text") or ""
        self.choices: tuple[str, ...] = tuple(data.get("choices") or ())
        self.default: Any = data.get("default")
        self.arguments: Any = data.get("arguments")
        self.why: str = data.get("why") or ""
        self.timeout_s: float | None = data.get("timeout_s")
        self.asked_s = asked_s
        self.status = "pending"
        self.answer: Any = None
        self.by: str | None = None
        self.waited_s: float | None = None

    def settle(self, data: Mapping[str, Any]) -> None:
        """Take the data of its ``answered`` event in."""
        self.status = data["status"]
        self.answer = data.get("answer")
        self.by = data.get("by")
        self.waited_s = data.get("waited_s")


class TaskState(Record):
    """One task of a network.

    ``status`` is one of ``pending, running, waiting, completed, restored, failed, blocked,
    skipped, halted, interrupted``; ``declared`` is what the network says of it (kind, robot,
    depends_on, optional, route, when, fallback, on_failure …). ``attempts`` counts the tries,
    ``retried`` has the errors of those that were followed by another; ``halts`` says that it
    ended the network, ``noted`` what it noted besides, ``gave`` what it gives to steps after it,
    ``labels`` what data is in its result; ``live`` says that ``result`` is a preview of a value
    that lived in its process alone. A restored one has ``restored_from``, the run that did it,
    and ``restored_cost`` in US dollars; ``possibly_repeated`` had begun there and is done again.
    A map's has ``items`` by place, and their ``total`` where it is known; a loop's its ``turns``.
    """

    __slots__ = (
        "attempts", "child_run_id", "declared", "duration_s", "error", "gave", "group", "halts",
        "items", "labels", "live", "name", "noted", "output", "possibly_repeated", "reason",
        "restored_cost", "restored_from", "result", "retried", "route", "started_s", "status",
        "text", "total", "traceback", "turns", "waited_s",
    )  # fmt: skip

    def __init__(self, name: str, declared: Mapping[str, Any]) -> None:
        self.name = name
        self.declared = declared
        self.status = "pending"
        self.reason: str | None = None
        self.started_s: float | None = None
        self.waited_s: float | None = None
        self.duration_s: float | None = None
        self.child_run_id: str | None = None
        self.group: str | None = None
        self.attempts = 0
        self.retried: tuple[Mapping[str, Any], ...] = ()
        self.text: str | None = None
        self.result: Any = None
        self.route: tuple[str, ...] = ()
        self.halts = False
        self.noted: Mapping[str, Any] = _NOTHING
        self.labels: tuple[str, ...] = ()
        self.error: Mapping[str, Any] | None = None
        self.traceback: str | None = None
        self.live = False
        self.gave: Mapping[str, Any] = _NOTHING
        self.output: Any = None
        self.possibly_repeated = False
        self.restored_from: str | None = None
        self.restored_cost: float | None = None
        self.items: Mapping[int, ItemState] = _NO_ITEMS
        self.total: int | None = None
        self.turns = 0

    def start(self, data: Mapping[str, Any], started_s: float) -> None:
        """Take the data of a ``started`` event in; a further try began with the first one."""
        self.status = "running"
        self.attempts += 1
        if self.started_s is None:
            self.started_s = started_s
            self.waited_s = data.get("waited_s")
            self.possibly_repeated = bool(data.get("possibly_repeated"))
        self.child_run_id = data.get("child_run_id")
        self.group = data.get("group")

    def complete(self, data: Mapping[str, Any]) -> None:
        """Take the data of its ``completed`` event in."""
        self.status = "completed"
        self.text = data.get("text")
        self.result = data.get("result")
        if len(data) > 2 + ("result" in data):  # most say no more
            self._complete(data)

    def _complete(self, data: Mapping[str, Any]) -> None:
        self.route = tuple(data.get("activate") or ())
        self.halts = bool(data.get("halts"))
        self.noted = data.get("noted") or _NOTHING
        self.child_run_id = data.get("child_run_id") or self.child_run_id
        self.labels = tuple(data.get("labels") or ())
        self.live = bool(data.get("live"))
        self.gave = data.get("gave") or _NOTHING

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take the data of its ``restored`` event in."""
        self.complete(data)
        self.status = "restored"
        self.output = data.get("output")
        self.restored_from = data.get("restored_from")
        self.restored_cost = data.get("restored_cost")

    def part(self, type_: str, data: Mapping[str, Any], elapsed: float) -> None:
        """Take the data of an event of its map or its loop in."""
        if type_ == "loop.turned":
            self.turns = max(self.turns, data["turn"])
        elif type_ == "map.started":
            self.items, self.total = {}, data.get("items")
        else:
            item = ItemState(self, data, elapsed)
            self.items[item.index] = item  # type: ignore[index]

    @property
    def place(self) -> tuple[str, ...]:
        """Where it is in its network."""
        return (self.name,)

    @property
    def index(self) -> None:
        """It is no item of a map."""
        return

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Names of the tasks that come before it."""
        return tuple(self.declared.get("depends_on", ()))


class ItemState(Record):
    """An item of a map that is over: ``completed, failed`` or ``interrupted``."""

    __slots__ = (
        "_task", "child_run_id", "duration_s", "error", "index", "key", "labels", "live",
        "restored_from", "result", "started_s", "status", "text",
    )  # fmt: skip

    def __init__(self, task: TaskState, data: Mapping[str, Any], ended_s: float) -> None:
        self._task = task
        self.index: int = data["index"]
        self.status: str = data["status"]
        self.text: str | None = data.get("text")
        self.result: Any = data.get("result")
        self.error: Mapping[str, Any] | None = data.get("error")
        self.child_run_id: str | None = data.get("child_run_id")
        self.duration_s: float = data.get("duration_s") or 0.0
        self.started_s = ended_s - self.duration_s
        self.key: str | None = data.get("key")
        self.live = bool(data.get("live"))
        self.labels: tuple[str, ...] = tuple(data.get("labels") or ())
        self.restored_from: str | None = data.get("restored_from")

    @property
    def name(self) -> str:
        """The task's name."""
        return self._task.name

    @property
    def place(self) -> tuple[str, ...]:
        """Where it is in its network."""
        return (self._task.name, f"map:{self.index}")

    @property
    def declared(self) -> Mapping[str, Any]:
        """What was declared of its task."""
        return self._task.declared

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Names of the tasks that come before its task."""
        return self._task.depends_on

    @property
    def waited_s(self) -> None:
        """An item is begun when it is taken."""
        return


def left_off(*kinds: Mapping[str, Any]) -> None:
    """What was going on when its process ended was interrupted."""
    for records in kinds:
        for record in records.values():
            if record.status == ("pending" if type(record) is Asked else "running"):
                record.status = "interrupted"
