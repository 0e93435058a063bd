"""How a table's values are read from what a run recorded.

Pure functions of run states, calls and messages. Nothing here knows of columns, of pandas or
of how a table is put together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..core.usage import NOTHING
from ..network.upstream import fan_in
from .cells import json_text, microseconds, start_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..core.events import Event
    from ..core.messages import Message
    from ..core.state import ModelCall, RunState, ToolCall

__all__ = [
    "Place",
    "arguments",
    "content",
    "cost",
    "cost_complete",
    "error_line",
    "error_message",
    "error_type",
    "judged_value",
    "kind",
    "output",
    "result",
    "started",
    "tokens",
    "used",
]

#: Statuses of a task that gave a result.
FINISHED = ("completed", "restored")
_WORDS = ("text", "reasoning", "refusal")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row belongs: its run, that run's robot, network and task, and its root's start.

    Parameters
    ----------
    run_id, root_id : str
    robot, network, task : str or None
        ``network`` is the run's own name when it is a network, else the nearest one around it.
    within : tuple of str or None
        The path of that network.
    start : int or None
        Microseconds since 1970 (UTC) at which the root run started.
    """

    run_id: str
    root_id: str
    robot: str | None
    network: str | None
    task: str | None
    within: tuple[str, ...] | None
    start: int | None

    @classmethod
    def of(cls, run: RunState) -> Place:
        """The place of a run that may have runs around it."""
        return cls.inside(run, None if run.parent is None else cls.of(run.parent))

    @classmethod
    def inside(cls, run: RunState, above: Place | None) -> Place:
        """The place of a run, given that of the run that started it."""
        scope = run.scope
        robot, network, task, within, start = scope.robot, None, None, None, None
        if above is not None:
            network, task, within, start = above.network, above.task, above.within, above.start
        if within is not None and len(scope.path) > len(within):
            task = scope.path[len(within)]
        if scope.kind == "network":
            network = run.info.get("name") or (scope.path[-1] if scope.path else None)
            within = scope.path
        if start is None:
            start = start_of(run.started_at)
            start = None if start is None else start - round(run.started_s * 1e6)
        return cls(scope.run_id, scope.root_id, robot, network, task, within, start)


def error_type(error: Mapping[str, Any] | None) -> object:
    """The class of an error, as events record errors."""
    return error.get("type") if error else None


def error_message(error: Mapping[str, Any] | None) -> object:
    """What an error said."""
    return error.get("message") if error else None


def error_line(error: Mapping[str, Any] | None) -> str | None:
    """An error in one line: its class and what it said."""
    if not error:
        return None
    told = [str(part) for part in (error.get("type"), error.get("message")) if part]
    return ": ".join(told) or json_text(error)


def cost(runs: Iterable[RunState]) -> float | None:
    """US dollars of runs' own model calls, rounded once; None when no price is known."""
    known = [
        call.usage.cost_usd
        for run in runs
        for call in list(run.model_calls.values())
        if call.usage is not None and call.usage.cost_usd is not None
    ]
    return math.fsum(known) if known else None


def tokens(runs: Iterable[RunState]) -> int | None:
    """Tokens of runs and all runs inside them; None when nothing was counted."""
    total = NOTHING
    for run in runs:
        total = total + run.total_usage()
    return total.total_tokens


def cost_complete(run: RunState) -> bool:
    """Whether each of a run's own model calls had a price."""
    # A failed attempt that may have been charged, and of which nobody counted anything, is a gap.
    return run.usage.cost_complete and not any(
        call.usage is None and any(attempt.billed for attempt in call.attempts)
        for call in list(run.model_calls.values())
    )


def output(run: RunState) -> str | None:
    """The answer's text; None when there was no answer, which differs from an empty one.

    A network answers with its finished tasks that nothing depends on.
    """
    if run.scope.kind != "network":
        answered = any(message.role == "assistant" for message in run.turn)
        return run.text if answered else None
    needed = {name for task in run.tasks.values() for name in task.depends_on}
    texts = {
        name: task.text or ""
        for name, task in run.tasks.items()
        if name not in needed and task.status in FINISHED
    }
    return fan_in(texts) if texts and run.status == "completed" else None


def started(run: RunState, place: Place) -> int | None:
    """When a run started, in microseconds since 1970."""
    return None if run.status == "pending" else microseconds(place.start, run.started_s)


def used(field: str) -> Callable[[ModelCall, Place], object]:
    """A reader of one field of a model call's usage; missing where nothing was counted."""
    get = attrgetter(field)
    return lambda call, _: None if call.usage is None else get(call.usage)


def arguments(call: ToolCall) -> str | None:
    """A tool call's arguments as JSON text."""
    # Arguments that are no JSON object stand as JSON text of the raw text, so every cell parses.
    return json_text(call.arguments if call.arguments is not None else call.arguments_text)


def result(call: ToolCall) -> str | None:
    """A tool call's value as JSON text: ``null`` for None, missing where there was no value."""
    if call.result is None and call.status == "completed":
        return "null"
    return json_text(call.result)


def judged_value(event: Event, _place: Place) -> str | None:
    """A judged answer as JSON text: its value, or the text that was no value."""
    if event.type == "output.parsed":
        value = event.data.get("value")
        return "null" if value is None else json_text(value)
    return json_text(event.data.get("text"))


def kind(message: Message) -> str:
    """What a message is made of."""
    if message.is_tool_result:
        return "tool_result"
    kinds = {part.kind for part in message.parts}
    if "tool_call" in kinds:
        return "tool_call"
    if not kinds.issubset(_WORDS):
        return "other"
    return next((kind for kind in _WORDS if kind in kinds), "text")


def content(message: Message) -> str | None:
    """A message's words, or its parts as JSON text where it is more than words.

    Media are told by name, size and SHA-256.
    """
    what = kind(message)
    if what in _WORDS:
        return message.reasoning if what == "reasoning" else message.text
    return json_text(message.to_dict(most_media=0)["parts"])
