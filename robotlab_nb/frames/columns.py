"""Every column of every table, declared once.

Documentation, pictures and tables are all made of these objects. Nothing here knows of pandas
or of how a table is put together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near
from .asked_columns import OUTPUTS, QUESTIONS, SKILLS
from .cells import json_text, microseconds
from .declaring import ROBOT, ROOT_ID, RUN_ID, TASK, Column
from .readers import (
    Place,
    arguments,
    content,
    cost,
    cost_complete,
    error_line,
    error_message,
    error_type,
    kind,
    output,
    result,
    started,
    tokens,
    used,
)
from .shared_columns import BUS, MEMORY

if TYPE_CHECKING:
    from ..core.events import Event
    from ..core.messages import Message
    from ..core.records import ItemState
    from ..core.state import Attempt, ModelCall, RunState, TaskState, ToolCall

__all__ = ["TABLES", "Column", "Place", "describe"]

RUNS: tuple[Column[RunState], ...] = (
    Column("run_id", "string", "The run.", lambda s, p: p.run_id),
    Column("root_id", "string", "The outermost run around it; its own id for a root.",
           lambda s, p: p.root_id),
    Column("parent_id", "string", "The run that started it.", lambda s, p: s.scope.parent_id),
    Column("resumed_from", "string", "The earlier run that it went on from.",
           lambda s, p: s.info.get("resumed_from")),
    Column("kind", "string", "`robot`, `network` or `experiment`.", lambda s, p: s.scope.kind),
    Column("network", "string", "Its own name if it is a network, else the network around it.",
           lambda s, p: p.network),
    TASK,
    ROBOT,
    Column("model", "string", "The model's name as it was asked for.",
           lambda s, p: s.info.get("model")),
    Column("simulated", "boolean", "Whether any answer in it was made up.",
           lambda s, p: s.simulated),
    Column("status", "string",
           "`pending`, `running`, `waiting`, `completed`, `failed`, `interrupted`, `abandoned`.",
           lambda s, p: s.status),
    Column("stop_reason", "string",
           "Why the model stopped: `stop`, `tool`, `length`, `refused`, `content_filter`.",
           lambda s, p: s.stop_reason),
    Column("started_at", "datetime64[us, UTC]", "When it started.", started),
    Column("duration_s", "Float64", "Seconds from start to end; missing while it runs.",
           lambda s, p: s.duration_s),
    Column("input", "string", "What it was asked; JSON text where that is not plain text.",
           lambda s, p: s.info.get("input")),
    Column("output", "string", "The answer's text; missing when there was no answer.",
           lambda s, p: output(s)),
    Column("input_tokens", "Int64", "Tokens read by its own model calls.",
           lambda s, p: s.usage.input_tokens),
    Column("output_tokens", "Int64", "Tokens written by its own model calls.",
           lambda s, p: s.usage.output_tokens),
    Column("reasoning_tokens", "Int64", "Of the tokens written: those of reasoning.",
           lambda s, p: s.usage.reasoning_tokens),
    Column("cached_tokens", "Int64", "Of the tokens read: those from the provider's cache.",
           lambda s, p: s.usage.cached_tokens),
    Column("tokens_estimated", "boolean", "Whether a count is our estimate.",
           lambda s, p: s.usage.estimated),
    Column("cost_usd", "Float64",
           "US dollars of its own model calls, so that the sum over runs counts nothing twice; "
           "missing when no price is known.",
           lambda s, p: cost([s])),
    Column("cost_complete", "boolean", "Whether every one of its own model calls had a price.",
           lambda s, p: cost_complete(s)),
    Column("model_calls", "Int64", "How many model calls it made itself.",
           lambda s, p: len(s.model_calls)),
    Column("tool_calls", "Int64", "How many tool calls it made itself.",
           lambda s, p: len(s.tool_calls)),
    Column("error_type", "string", "The class of the error that ended it.",
           lambda s, p: error_type(s.error)),
    Column("error_message", "string", "What that error said.", lambda s, p: error_message(s.error)),
    Column("session_id", "string", "The conversation that it belongs to.",
           lambda s, p: s.info.get("session_id")),
    Column("prompt_hash", "string", "SHA-256 of the system prompt.",
           lambda s, p: s.info.get("prompt_hash")),
    Column("tags", "string", "Its tags as JSON text.", lambda s, p: json_text(s.info.get("tags"))),
    Column("rating", "Int64", "What a person gave it, 1 to 5; of runs read from a log.",
           lambda s, p: s.info.get("rating")),
    Column("note", "string", "What that person wrote of it.", lambda s, p: s.info.get("note")),
)  # fmt: skip

#: A task's state, its network's path, and the runs that were started directly inside the task.
TaskRow = tuple["TaskState | ItemState", tuple[str, ...], "list[RunState]"]

TASKS: tuple[Column[TaskRow], ...] = (
    ROOT_ID,
    Column("run_id", "string", "The network's run.", lambda t, p: p.run_id),
    Column("child_run_id", "string",
           "The run that the task started; of a restored one the run that had done it.",
           lambda t, p: t[0].child_run_id),
    Column("network", "string", "The network's name.", lambda t, p: p.network),
    Column("task", "string", "The task's name.", lambda t, p: t[0].name),
    Column("robot", "string", "The robot that did it.", lambda t, p: t[0].declared.get("robot")),
    Column("path", "string", "Names from the root down, as JSON text.",
           lambda t, p: json_text([*t[1], *t[0].place])),
    Column("item", "Int64", "Which item of the task's map; missing for the task as a whole.",
           lambda t, p: t[0].index),
    Column("status", "string",
           "`pending`, `running`, `waiting`, `completed`, `restored`, `failed`, `blocked`, "
           "`skipped`, `halted`, `interrupted`.",
           lambda t, p: t[0].status),
    Column("depends_on", "string", "Names of the tasks before it, as JSON text.",
           lambda t, p: json_text(t[0].depends_on)),
    Column("optional", "boolean", "Whether it runs only when something activates it.",
           lambda t, p: t[0].declared.get("optional")),
    Column("started_at", "datetime64[us, UTC]", "When it started.",
           lambda t, p: microseconds(p.start, t[0].started_s)),
    Column("waited_s", "Float64", "Seconds between being ready and starting.",
           lambda t, p: t[0].waited_s),
    Column("duration_s", "Float64", "Seconds from start to end.", lambda t, p: t[0].duration_s),
    Column("tokens", "Int64", "Tokens read and written by its runs and all runs inside these.",
           lambda t, p: 0 if t[0].status == "restored" else tokens(t[2])),
    Column("cost_usd", "Float64",
           "US dollars of its runs and all runs inside these; missing when no price is known, 0 "
           "for a restored one.",
           lambda t, p: 0.0
           if t[0].status == "restored"
           else cost(s for run in t[2] for s in run.walk())),
    Column("error_type", "string", "The class of the error that ended it.",
           lambda t, p: error_type(t[0].error)),
    Column("error_message", "string", "What that error said.",
           lambda t, p: error_message(t[0].error)),
)  # fmt: skip


MODEL_CALLS: tuple[Column[ModelCall], ...] = (
    Column("call_id", "string", "The model call.", lambda c, p: c.call_id),
    RUN_ID,
    ROOT_ID,
    TASK,
    ROBOT,
    Column("round", "Int64", "Which round of the model-tool loop.", lambda c, p: c.round),
    Column("model", "string", "The model that answered, or that was asked last.",
           lambda c, p: c.model),
    Column("provider", "string", "Whose model it is.", lambda c, p: c.provider),
    Column("request_key", "string", "SHA-256 that names the request by its content.",
           lambda c, p: c.request_key),
    Column("cached", "boolean", "Whether the answer came from the cache, unpaid.",
           lambda c, p: c.cached),
    Column("attempts", "Int64", "How many attempts were made, those of fallback models included.",
           lambda c, p: len(c.attempts)),
    Column("status", "string", "`running`, `completed`, `failed`, `interrupted`.",
           lambda c, p: c.status),
    Column("stop_reason", "string",
           "Why the model stopped: `stop`, `tool`, `length`, `refused`, `content_filter`.",
           lambda c, p: c.stop_reason),
    Column("started_at", "datetime64[us, UTC]", "When it started.",
           lambda c, p: microseconds(p.start, c.started_s)),
    Column("waited_s", "Float64", "Seconds that it waited for its turn under rate limits.",
           lambda c, p: c.waited_s),
    Column("first_token_s", "Float64", "Seconds until the first piece of the answer.",
           lambda c, p: c.first_token_s),
    Column("duration_s", "Float64", "Seconds from start to end, retries included.",
           lambda c, p: c.duration_s),
    Column("input_tokens", "Int64", "Tokens read.", used("input_tokens")),
    Column("output_tokens", "Int64", "Tokens written.", used("output_tokens")),
    Column("reasoning_tokens", "Int64", "Of the tokens written: those of reasoning.",
           used("reasoning_tokens")),
    Column("cached_tokens", "Int64", "Of the tokens read: those from the provider's cache.",
           used("cached_tokens")),
    Column("tokens_estimated", "boolean", "Whether a count is our estimate.", used("estimated")),
    Column("cost_usd", "Float64", "US dollars; missing when no price is known.",
           used("cost_usd")),
    Column("error_type", "string", "The class of the error.", lambda c, p: error_type(c.error)),
)  # fmt: skip


TOOL_CALLS: tuple[Column[ToolCall], ...] = (
    Column("tool_call_id", "string", "The tool call.", lambda c, p: c.tool_call_id),
    RUN_ID,
    ROOT_ID,
    TASK,
    ROBOT,
    Column("call_id", "string", "The model call that asked for it.", lambda c, p: c.call_id),
    Column("round", "Int64", "Which round of the model-tool loop.", lambda c, p: c.round),
    Column("tool", "string", "The tool's name.", lambda c, p: c.tool),
    Column("source", "string", "Where the tool came from.", lambda c, p: c.source),
    Column("arguments", "string",
           "The arguments as the model gave them, as JSON text (a JSON string where they could "
           "not be parsed).",
           lambda c, p: arguments(c)),
    Column("result", "string", "The value as JSON text; missing where there was none.",
           lambda c, p: result(c)),
    Column("status", "string", "`running`, `completed`, `failed`, `interrupted`.",
           lambda c, p: c.status),
    Column("retryable", "boolean", "Whether the tool said that another try may succeed.",
           lambda c, p: c.retryable),
    Column("approved_by", "string",
           "Who approved it: `scripted`, `policy`, `input`, `widget`, `answer`; missing where no "
           "approval was needed, or none was given.",
           lambda c, p: c.approved_by),
    Column("started_at", "datetime64[us, UTC]", "When it started.",
           lambda c, p: microseconds(p.start, c.started_s)),
    Column("duration_s", "Float64", "Seconds from start to end.", lambda c, p: c.duration_s),
    Column("error", "string", "The error's class and what it said.",
           lambda c, p: error_line(c.error)),
)  # fmt: skip

MESSAGES: tuple[Column[tuple[int, Message]], ...] = (
    Column("message_id", "string", "SHA-256 of role and parts: equal content, equal id.",
           lambda m, p: m[1].id),
    RUN_ID,
    ROOT_ID,
    Column("position", "Int64",
           "Where it stands in the run's prompt, from 0; what an earlier run said comes first.",
           lambda m, p: m[0]),
    Column("role", "string", "`system`, `user`, `assistant`, `tool`.", lambda m, p: m[1].role),
    Column("kind", "string",
           "`text`, `reasoning`, `refusal` (words alone), `tool_call`, `tool_result`, `other`.",
           lambda m, p: kind(m[1])),
    Column("content", "string", "The words where it is words alone, else its parts as JSON text.",
           lambda m, p: content(m[1])),
    ROBOT,
    TASK,
)  # fmt: skip

EVENTS: tuple[Column[Event], ...] = (
    Column("root_id", "string", "The outermost run around it.", lambda e, p: e.scope.root_id),
    Column("seq", "Int64", "Its number in the root run, from 0 and dense.", lambda e, p: e.seq),
    Column("type", "string", "What happened, such as `tool_call.completed`.",
           lambda e, p: e.type),
    Column("elapsed_s", "Float64", "Seconds since the root started.", lambda e, p: e.elapsed),
    Column("run_id", "string", "The run it happened in.", lambda e, p: e.scope.run_id),
    Column("path", "string", "Names from the root down, as JSON text.",
           lambda e, p: json_text(e.scope.path)),
    Column("robot", "string", "The robot's name.", lambda e, p: e.scope.robot),
    Column("data", "string", "Everything it says, as JSON text.", lambda e, p: json_text(e.data)),
)  # fmt: skip

ATTEMPTS: tuple[Column[Attempt], ...] = (
    ROOT_ID,
    RUN_ID,
    ROBOT,
    Column("call_id", "string", "The model call.", lambda a, p: a.call_id),
    Column("attempt", "Int64", "Which attempt of the call, from 1.", lambda a, p: a.attempt),
    Column("model", "string", "The model that was asked.", lambda a, p: a.model),
    Column("started_s", "Float64", "Seconds from the call's start to the attempt's.",
           lambda a, p: a.started_s),
    Column("duration_s", "Float64", "Seconds from start to end.", lambda a, p: a.duration_s),
    Column("status", "string", "`completed` or `failed`.",
           lambda a, p: "completed" if a.error is None else "failed"),
    Column("error_type", "string", "The class of the error.", lambda a, p: error_type(a.error)),
    Column("error_message", "string", "What the error said.", lambda a, p: error_message(a.error)),
    Column("retry_in_s", "Float64", "Seconds waited before the next attempt.",
           lambda a, p: a.retry_in_s),
    Column("billed", "boolean", "Whether the provider may have charged for it.",
           lambda a, p: a.billed),
)  # fmt: skip

#: table -> its columns, in order.
TABLES: dict[str, tuple[Column[Any], ...]] = {
    "runs": RUNS,
    "tasks": TASKS,
    "model_calls": MODEL_CALLS,
    "tool_calls": TOOL_CALLS,
    "messages": MESSAGES,
    "events": EVENTS,
    "attempts": ATTEMPTS,
    "questions": QUESTIONS,
    "outputs": OUTPUTS,
    "skills": SKILLS,
    "memory": MEMORY,
    "bus": BUS,
}


def describe(table: str) -> list[tuple[str, str, str]]:
    """List the columns of a table.

    Parameters
    ----------
    table : str
        One of ``TABLES``: runs, tasks, model_calls, tool_calls, messages, events, attempts,
        questions, outputs, skills, memory, bus.

    Returns
    -------
    list of tuple
        ``(name, dtype, doc)`` in the order of the columns.

    Raises
    ------
    InputError
        When there is no such table.

    Examples
    --------
    >>> describe("attempts")[4]
    ('attempt', 'Int64', 'Which attempt of the call, from 1.')
    """
    try:
        columns = TABLES[table]
    except KeyError:
        raise InputError(f"there is no table {table!r}", hint=near(table, TABLES)) from None
    return [(column.name, column.dtype, column.doc) for column in columns]
