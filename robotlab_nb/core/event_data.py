"""What each type of event says: one TypedDict per type, listed in ``EVENT_TYPES``.

A field may be absent where it has nothing to say. Times and durations are seconds; ``started_s``
counts from the start of the model call, ``elapsed`` of the event itself from the root's start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from .event_data_lab import LAB_TYPES
from .event_data_shared import SHARED_TYPES
from .event_data_tasks import TASK_TYPES

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
    #: name of the type that the answer must be of
    output: str
    #: SHA-256 of the system prompt
    prompt_hash: str | None
    #: the robot that delegated the task
    delegated_by: str
    #: a network's tasks as declared, each with the digests of what decides its result
    graph: Sequence[Mapping[str, Any]]
    #: the run that this one goes on from
    resumed_from: str
    #: the conversation that it belongs to, and words by which it is found
    session_id: str
    tags: Sequence[str]
    #: of a root in a log that keeps no texts: all that was said stands there by its length only
    content_omitted: bool


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


class RunAbandoned(TypedDict, total=False):
    """Its process ended before it did. A log says so afterwards, once, on the root."""

    reason: str
    #: the last sign of life of its process (ISO 8601)
    seen_at: str | None


class RunWaiting(TypedDict, total=False):
    """A run can go no further before a person answers."""

    questions: Sequence[str]


class RunResumed(TypedDict, total=False):
    """A waiting run goes on."""


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


class ConversationCompacted(TypedDict, total=False):
    """Old turns were compressed. What stays, in order, by id; ``new`` was not there before."""

    strategy: str
    message_ids: Sequence[str]
    new: Sequence[Mapping[str, Any]]
    #: id of the message that carries the summary
    summary: str | None
    dropped: int
    before_tokens: int
    after_tokens: int


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
    #: of a run's first call: its tools, ``name, description, parameters``; the same for all of it
    tool_specs: Sequence[Mapping[str, Any]]
    #: of a run's first call: what the answer must be, ``name, schema, mode, strict, tool``
    output: Mapping[str, Any]


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
    #: whether the answer was kept from an earlier equal request; whether it came from a tape
    cached: bool
    played: bool
    #: who answered, where a fallback did
    model: str
    provider: str
    simulated: bool
    request_key: str


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
    model: str
    started_s: float
    duration_s: float


class AttemptFailed(TypedDict, total=False):
    """A request that was not; ``retry_in_s`` is None when it was the last."""

    call_id: str
    attempt: int
    model: str
    started_s: float
    duration_s: float
    error: Mapping[str, Any]
    retry_in_s: float | None
    billed: bool


class ModelCallFallback(TypedDict, total=False):
    """A model failed for good and the next one is asked."""

    call_id: str
    from_model: str
    to_model: str
    error: Mapping[str, Any]


class CacheUsed(TypedDict, total=False):
    """An answer was found in the cache, or put there."""

    call_id: str
    request_key: str


class GuardLimited(TypedDict, total=False):
    """A call waits for its turn: ``requests_per_minute, tokens_per_minute`` or ``retry_after``."""

    call_id: str
    limit: str
    wait_s: float


class GuardBudget(TypedDict, total=False):
    """A budget refused a call. ``dimension`` is ``tokens, cost, seconds`` or ``calls``."""

    call_id: str
    budget: str
    dimension: str
    limit: float
    used: float
    reserved: float
    asked: float


class GuardLoop(TypedDict, total=False):
    """A robot goes round in circles: ``repeat`` or ``cycle``, ``length`` calls, ``count`` times."""

    tool: str
    kind: str
    length: int
    count: int


class PromptComposed(TypedDict, total=False):
    """What the system message was made of: ``{"kind", "name", "chars", "hash"}`` of each part."""

    parts: Sequence[Mapping[str, Any]]


class PromptSkillsMatched(TypedDict, total=False):
    """Agent skills scored against the message: ``{"name", "score", "used"}``, best first."""

    scorer: str
    threshold: float
    matches: Sequence[Mapping[str, Any]]
    error: Mapping[str, Any] | None


class OutputParsed(TypedDict, total=False):
    """The answer is what it must be. ``value`` is it as JSON."""

    mode: str
    attempt: int
    value: Any


class OutputRejected(TypedDict, total=False):
    """The answer is not what it must be: ``{"path", "message"}`` of each fault."""

    mode: str
    attempt: int
    text: str
    errors: Sequence[Mapping[str, Any]]


class HitlRequested(TypedDict, total=False):
    """A person is asked a question, or for approval of a tool call."""

    question_id: str
    kind: str
    robot: str | None
    tool: str | None
    tool_call_id: str | None
    #: the task that the person does by answering
    task: str
    text: str
    choices: Sequence[str]
    default: Any
    arguments: Any
    why: str
    timeout_s: float | None


class HitlAnswered(TypedDict, total=False):
    """A question is settled: by whom, and how."""

    question_id: str
    kind: str
    answer: Any
    by: str
    status: str
    waited_s: float


class HookFailed(TypedDict, total=False):
    """A handler that only looks on raised; the run goes on."""

    hook: str
    point: str
    error: Mapping[str, Any]


class ToolCallStarted(TypedDict, total=False):
    """A tool is called. ``arguments_text`` is verbatim, ``arguments`` None if it cannot be read."""

    tool_call_id: str
    call_id: str
    round: int
    tool: str
    source: str | None
    arguments: Mapping[str, Any] | None
    arguments_text: str
    #: whether it had begun in the run that this one goes on from: what it did may come twice
    possibly_repeated: bool


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
    #: who approved it, where approval was needed
    approved_by: str
    #: what it was called with, where a person changed that
    arguments: Mapping[str, Any] | None


#: event type -> what its data says
EVENT_TYPES: dict[str, type] = {
    "run.started": RunStarted,
    "run.completed": RunCompleted,
    "run.failed": RunFailed,
    "run.interrupted": RunInterrupted,
    "run.abandoned": RunAbandoned,
    "run.waiting": RunWaiting,
    "run.resumed": RunResumed,
    **TASK_TYPES,
    **LAB_TYPES,
    "conversation.loaded": ConversationLoaded,
    "conversation.committed": ConversationCommitted,
    "conversation.forked": ConversationForked,
    "conversation.compacted": ConversationCompacted,
    "prompt.composed": PromptComposed,
    "prompt.skills_matched": PromptSkillsMatched,
    "message.added": MessageAdded,
    "model_call.started": ModelCallStarted,
    "model_call.completed": ModelCallCompleted,
    "model_call.failed": ModelCallFailed,
    "model_call.fallback": ModelCallFallback,
    "attempt.completed": AttemptCompleted,
    "attempt.failed": AttemptFailed,
    "tool_call.started": ToolCallStarted,
    "tool_call.completed": ToolCallCompleted,
    "cache.hit": CacheUsed,
    "cache.stored": CacheUsed,
    "guard.limited": GuardLimited,
    "guard.budget": GuardBudget,
    "guard.loop": GuardLoop,
    "output.parsed": OutputParsed,
    "output.rejected": OutputRejected,
    "hitl.requested": HitlRequested,
    "hitl.answered": HitlAnswered,
    "hook.failed": HookFailed,
    **SHARED_TYPES,
}
