"""The settings, once: for each its default, the types it takes, its bounds, and what it means.

:class:`Settings` tells type checkers and editors the same names. Levels and origins are
:mod:`.config`'s work.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["FIELDS", "NONE_IS_A_VALUE", "Field", "Settings"]

_NUMBER = (int, float)


class Field(NamedTuple):
    """A setting: its default, the types it takes, its bounds, and what it means."""

    default: Any
    types: tuple[type, ...]
    doc: str
    low: float | None = None
    #: sent to the model under this name when set
    param: str | None = None
    #: the words it takes, when it takes only these
    words: tuple[str, ...] = ()


_ANY = (object,)

FIELDS: dict[str, Field] = {
    # whom to ask
    "model": Field(None, _ANY, 'Model as "provider/name", or a Model.'),
    "fallback": Field(None, _ANY, "Models asked in turn when the model fails."),
    "provider": Field(None, (str,), "Provider of the model; skips the known-model check."),
    "api_base": Field(None, (str,), "Address of an OpenAI-compatible server."),
    "api_key": Field(None, _ANY, "Key, or the name of an environment variable."),
    "via": Field(None, (str,), '"litellm" to go through litellm where a direct way exists.'),
    # how it is to answer
    "temperature": Field(None, _NUMBER, "Sampling temperature.", 0.0, "temperature"),
    "top_p": Field(None, _NUMBER, "Nucleus sampling, 0 to 1.", 0.0, "top_p"),
    "top_k": Field(None, (int,), "Sample among the k likeliest tokens.", 0, "top_k"),
    "max_tokens": Field(None, (int,), "Most tokens of one answer.", 1, "max_tokens"),
    "presence_penalty": Field(None, _NUMBER, "Penalty on tokens seen.", None, "presence_penalty"),
    "frequency_penalty": Field(
        None, _NUMBER, "Penalty on tokens seen often.", None, "frequency_penalty"
    ),
    "stop": Field(None, (str, list, tuple), "Text, or texts, at which to stop.", None, "stop"),
    "seed": Field(None, (int,), "Seed, where the provider has one.", None, "seed"),
    "reasoning_effort": Field(None, (str,), '"low", "medium" or "high".', None, "reasoning_effort"),
    "provider_options": Field(None, (dict,), "More fields of the request body, sent as they are."),
    "output": Field(None, _ANY, "What the answer must be: a pydantic model, a type, a schema."),
    "output_retries": Field(2, (int,), "How often a wrong answer is sent back.", 0),
    "output_mode": Field(
        None, (str,), "How the model is told; None for the best way it has.",
        words=("schema", "tool", "text"),
    ),
    # tools
    "tools": Field(None, (list, tuple), "The exact set of tools; [] for none."),
    "mcp": Field(None, (list, tuple), "Tool servers: the exact set; [] for none."),
    "mcp_discovery": Field(False, (bool,), "Whether only servers that fit the message are used."),
    "sees_media": Field(
        None, (bool,), "Whether the model is shown what tools return besides text; None for what "
        "is known of it.",
    ),
    "max_tool_rounds": Field(25, (int,), "Most rounds of tool calls in a run.", 0),
    "max_tools": Field(128, (int,), "Most tools sent; None for no cap.", 1),
    "tool_strategy": Field(None, _ANY, "Function (tools, max_tools) that gives those to keep."),
    "tool_timeout": Field(60.0, _NUMBER, "Seconds for one tool call.", 0.0),
    "raise_on_error": Field(False, (bool,), "Whether a tool's exception ends the run."),
    "doom_loop_threshold": Field(3, (int,), "Equal tool calls before a warning; None = off.", 2),
    # asking again, waiting, limits
    "model_timeout": Field(120.0, _NUMBER, "Seconds for one model call, retries included.", 0.0),
    "attempts": Field(3, (int,), "Most requests for one model call.", 1),
    "retry_interval": Field(1.0, _NUMBER, "Seconds before the second attempt.", 0.0),
    "retry_backoff": Field(2.0, _NUMBER, "Factor by which that wait grows.", 1.0),
    "retry_jitter": Field(0.5, _NUMBER, "Share of the wait added at random.", 0.0),
    "requests_per_minute": Field(None, _NUMBER, "Most requests a minute to a provider.", 0.0),
    "tokens_per_minute": Field(None, _NUMBER, "Most tokens a minute to a provider.", 1.0),
    "budget": Field(None, _ANY, "A Budget, or several, shared with whoever has them too."),
    "token_budget": Field(None, (int,), "Most tokens, read and written.", 0),
    "cost_budget": Field(None, _NUMBER, "Most US dollars.", 0.0),
    "time_budget": Field(None, _NUMBER, "Most seconds, from the first call.", 0.0),
    "call_budget": Field(None, (int,), "Most model calls.", 0),
    "max_concurrent_robots": Field(
        None, (int,), "Most robots of a network, and inside it, at the same time.", 1
    ),
    "allow_unpriced": Field(False, (bool,), "Whether a cost budget lets unpriced models pass."),
    "cache": Field(False, (bool,), "Whether answers to equal requests are used again."),
    "tape": Field(None, _ANY, "File, or rl.tape(…), that model calls are recorded in and played."),
    "tape_mode": Field(
        "auto", (str,), "What a tape does where it does not say so itself.",
        words=("auto", "record", "strict"),
    ),
    # long conversations
    "auto_compact": Field(None, _ANY, "Whether, or by what function, old turns are compressed."),
    "compact_threshold": Field(0.8, _NUMBER, "Share of the window at which that happens.", 0.0),
    "context_window": Field(None, (int,), "Tokens that the model reads; None for the known.", 1),
    "recent_turns": Field(3, (int,), "Turns that are never compressed.", 1),
    "summarizer": Field(None, _ANY, "Robot, model or function that sums dropped turns up."),
    # asking a person
    "answers": Field(None, _ANY, "Scripted answers: a mapping, a list or a function."),
    "approve": Field(None, _ANY, 'Tools that need approval, a function, "allow" or "deny".'),
    "ask_timeout": Field(3600.0, _NUMBER, "Seconds that a question waits for a person.", 0.0),
    # prompts
    "prompts_path": Field("prompts", _ANY, "Folder of templates."),
    "allow_shell": Field(False, (bool,), "Whether templates that ask for it run commands."),
    "allow_environment": Field(False, (bool,), "Whether templates that ask read variables."),
    "agent_skills": Field(None, (bool, list, tuple), "Skills matched to messages; True for all."),
    "skill_paths": Field(("skills", "~/.agents/skills"), (list, tuple), "Folders of skills."),
    "skill_threshold": Field(None, _NUMBER, "Lowest score of a match.", 0.0),
    "embedding_model": Field(None, _ANY, "Model or function for texts as vectors."),
    "learnings": Field(None, _ANY, "File or store that keeps what the robot learns."),
    # what is kept
    "session_id": Field(None, (str,), "Name of the conversation that runs belong to."),
    "tags": Field(None, (str, list, tuple), "Words by which runs are found in the log."),
    "log": Field(
        True, (bool, str, PathLike),
        "Where runs are kept: a file, a PostgreSQL URL, True for the usual file, None for nowhere; "
        "of the process alone.",
    ),
    "log_content": Field(
        True, (bool,), "Whether texts are kept too, or only what happened; of the process alone."
    ),
    # who looks on
    "hooks": Field(None, _ANY, "Handlers around runs and calls; those of all levels act."),
    "show": Field(False, (bool,), "Whether a notebook shows runs live."),
    "status": Field(True, (bool,), "Whether a cell that blocks shows one line about its run."),
    "on_content": Field(None, _ANY, "Called with each piece of text."),
    "on_tool_call": Field(None, _ANY, "Called with each tool call as it starts."),
    "on_tool_result": Field(None, _ANY, "Called with each tool call and its result."),
    "redact": Field(True, (bool,), "Whether registered keys are masked; of the process alone."),
}  # fmt: skip

#: settings whose None is a value of its own ("no limit", "off") and may be set on purpose
NONE_IS_A_VALUE = frozenset(
    {
        "max_tools", "tool_timeout", "model_timeout", "doom_loop_threshold", "ask_timeout",
        "requests_per_minute", "tokens_per_minute", "fallback", "output", "agent_skills",
        "auto_compact", "approve", "answers", "max_concurrent_robots", "log", "tape",
    }
)  # fmt: skip


class Settings(TypedDict, total=False):
    """The names of the settings and their types; ``FIELDS`` says what each means."""

    model: Any
    fallback: Any
    provider: str | None
    api_base: str | None
    api_key: str | None
    via: str | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    max_tokens: int | None
    presence_penalty: float | None
    frequency_penalty: float | None
    stop: str | Sequence[str] | None
    seed: int | None
    reasoning_effort: str | None
    provider_options: Mapping[str, Any] | None
    output: Any
    output_retries: int
    output_mode: str | None
    tools: Sequence[Any] | None
    mcp: Sequence[Any] | None
    mcp_discovery: bool
    sees_media: bool | None
    max_tool_rounds: int | None
    max_tools: int | None
    tool_strategy: Callable[..., Any] | None
    tool_timeout: float | None
    raise_on_error: bool
    doom_loop_threshold: int | None
    model_timeout: float | None
    attempts: int
    retry_interval: float
    retry_backoff: float
    retry_jitter: float
    requests_per_minute: float | None
    tokens_per_minute: float | None
    budget: Any
    token_budget: int | None
    cost_budget: float | None
    time_budget: float | None
    call_budget: int | None
    max_concurrent_robots: int | None
    allow_unpriced: bool
    cache: bool
    tape: Any
    tape_mode: str
    auto_compact: Any
    compact_threshold: float
    context_window: int | None
    recent_turns: int
    summarizer: Any
    answers: Any
    approve: Any
    ask_timeout: float | None
    prompts_path: Any
    allow_shell: bool
    allow_environment: bool
    agent_skills: bool | Sequence[Any] | None
    skill_paths: Sequence[Any]
    skill_threshold: float | None
    embedding_model: Any
    learnings: Any
    session_id: str | None
    tags: str | Sequence[str] | None
    log: bool | str | PathLike[str] | None
    log_content: bool
    hooks: Any
    show: bool
    status: bool
    on_content: Callable[[str], object] | None
    on_tool_call: Callable[..., object] | None
    on_tool_result: Callable[..., object] | None
    redact: bool
