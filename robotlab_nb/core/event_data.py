"""What each type of event says: one TypedDict per type, listed in ``EVENT_TYPES``.

A field may be absent where it has nothing to say. Times and durations are seconds; ``started_s``
counts from the start of the model call, ``elapsed`` of the event itself from the root's start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["EVENT_TYPES"]


class RunStarted(TypedDict, total=False):
    """A run begins. A root's has the schema's version and the UTC start (ISO 8601)."""

    schema_version: int
    started_at: str
    name: str
    model: str
    provider: str
    simulated: bool
    input: str
    #: names of the context's values; the values stay with the person
    context: Sequence[str]
    #: settings that were set: ``{"value", "origin"}`` by name
    config: Mapping[str, Any]
    tools: Sequence[str]
    #: SHA-256 of the system prompt
    prompt_hash: str | None
    #: a network's tasks as declared
    graph: Sequence[Mapping[str, Any]]


class RunCompleted(TypedDict, total=False):
    """A run ended well."""

    stop_reason: str | None


class RunFailed(TypedDict, total=False):
    """A run ended with an error: ``type, message``, and for our own ``hint, retryable`` …"""

    error: Mapping[str, Any]


class RunInterrupted(TypedDict, total=False):
    """A run was stopped. ``stuck`` names tools whose threads could not be."""

    reason: str
    stuck: Sequence[str]
    abandoned: bool


class TaskStarted(TypedDict, total=False):
    """A task of a network begins, after waiting ``waited_s`` for a slot."""

    task: str
    kind: str
    robot: str | None
    waited_s: float
    #: the robot's run
    child_run_id: str


class TaskCompleted(TypedDict, total=False):
    """A task ended well. ``result`` is a function's value as JSON or a preview of it."""

    task: str
    text: str
    result: Any
    #: optional tasks that its route activates
    activate: Sequence[str]


class TaskFailed(TypedDict, total=False):
    """A task failed; ``traceback`` for errors of a person's own code."""

    task: str
    error: Mapping[str, Any]
    traceback: str


class TaskSettled(TypedDict, total=False):
    """A task will not run, or was stopped: ``skipped, blocked, halted, interrupted``, and why."""

    task: str
    status: str
    reason: str


class ConversationLoaded(TypedDict, total=False):
    """The messages of earlier runs that this one starts from."""

    messages: Sequence[Mapping[str, Any]]


class ConversationCommitted(TypedDict, total=False):
    """The turn became part of the robot's conversation, now ``length`` messages long."""

    length: int


class ConversationForked(TypedDict, total=False):
    """Another run was first: the turn stays with its result."""

    length: int
    reason: str


class MessageAdded(TypedDict, total=False):
    """A message joined the prompt."""

    message: Mapping[str, Any]
    stop_reason: str


class ModelCallStarted(TypedDict, total=False):
    """A model is asked. With the messages' ids the exact request can be shown later."""

    call_id: str
    round: int
    model: str
    provider: str
    endpoint: str | None
    simulated: bool
    request_key: str
    message_ids: Sequence[str]
    tools: Sequence[str]
    params: Mapping[str, Any]
    streaming: bool


class ModelCallCompleted(TypedDict, total=False):
    """A model answered. ``usage`` has the fields of :class:`~robotlab_nb.core.usage.Usage`."""

    call_id: str
    text: str
    stop_reason: str | None
    #: as received
    finish_reason: str | None
    usage: Mapping[str, Any]
    attempts: int
    duration_s: float
    first_token_s: float | None
    response_id: str | None
    response_model: str | None


class ModelCallFailed(TypedDict, total=False):
    """No answer. ``text`` is what had come; ``usage`` is there when it may have been billed."""

    call_id: str
    error: Mapping[str, Any]
    attempts: int
    duration_s: float
    text: str
    usage: Mapping[str, Any]


class AttemptCompleted(TypedDict, total=False):
    """The request that was answered."""

    call_id: str
    attempt: int
    started_s: float
    duration_s: float


class AttemptFailed(TypedDict, total=False):
    """A request that was not; ``retry_in_s`` is None when it was the last."""

    call_id: str
    attempt: int
    started_s: float
    duration_s: float
    error: Mapping[str, Any]
    retry_in_s: float | None
    billed: bool


class ToolCallStarted(TypedDict, total=False):
    """A tool is called. ``arguments_text`` is verbatim, ``arguments`` None if it cannot be read."""

    tool_call_id: str
    call_id: str
    round: int
    tool: str
    source: str | None
    arguments: Mapping[str, Any] | None
    arguments_text: str


class ToolCallCompleted(TypedDict, total=False):
    """A tool call ended: ``completed, failed`` or ``interrupted``. ``content`` the model reads."""

    tool_call_id: str
    status: str
    result: Any
    content: str
    error: Mapping[str, Any] | None
    retryable: bool
    duration_s: float
    traceback: str | None
    #: whether it still runs in a thread that cannot be stopped
    thread_leaked: bool


#: event type -> what its data says
EVENT_TYPES: dict[str, type] = {
    "run.started": RunStarted,
    "run.completed": RunCompleted,
    "run.failed": RunFailed,
    "run.interrupted": RunInterrupted,
    "task.started": TaskStarted,
    "task.completed": TaskCompleted,
    "task.failed": TaskFailed,
    "task.settled": TaskSettled,
    "conversation.loaded": ConversationLoaded,
    "conversation.committed": ConversationCommitted,
    "conversation.forked": ConversationForked,
    "message.added": MessageAdded,
    "model_call.started": ModelCallStarted,
    "model_call.completed": ModelCallCompleted,
    "model_call.failed": ModelCallFailed,
    "attempt.completed": AttemptCompleted,
    "attempt.failed": AttemptFailed,
    "tool_call.started": ToolCallStarted,
    "tool_call.completed": ToolCallCompleted,
}
