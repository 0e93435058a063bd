"""The pictures of a task as it was declared, and of what a function's task gave back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.config import plain as plain_setting
from .escape import clip, cut, one_line
from .json_text import laid_out, value_line
from .parts import (
    Fields,
    Fold,
    Head,
    Para,
    Picture,
    Pre,
    Prose,
    Quote,
    badge,
    bold,
    code,
    dots,
    part,
    quiet,
    state_bit,
    ticked,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..network.result import TaskResult
    from ..network.task import Task
    from .parts import Block, Line

__all__ = ["error_notice", "result", "task"]

_EXCERPT = 130
_AFTER = {
    "block": "those that need it do not run",
    "continue": "the rest goes on without it",
    "stop": "nothing new is started",
}


def task(thing: Task) -> Picture:
    """The picture of a task as it was declared.

    Parameters
    ----------
    thing : Task
    """
    blocks = (
        *part("name", lambda: _head(thing)),
        *part("what it needs and does", lambda: [Fields(tuple(_fields(thing)))]),
        *part("prompt", lambda: _prompt(thing)),
    )
    return Picture(blocks, framed=True)


def _head(thing: Task) -> Iterable[Block]:
    robot = thing.robot_name
    simulated = badge("simulated") if getattr(thing.runner, "is_simulated", False) else None
    by = f"robot {one_line(robot, 80)}" if robot else f"function {_function(thing.runner)}"
    yield Head((one_line(thing.name, 120),), "task", dots(by, simulated))


def _function(runner: Any) -> str:
    return one_line(getattr(runner, "__name__", "") or type(runner).__name__, 80)


def _fields(thing: Task) -> Iterable[tuple[str, Line]]:
    yield "depends on", dots(*(one_line(name, 80) for name in thing.depends_on)) or (quiet("none"),)
    runs = "always"
    if thing.when is not None:
        runs = f"when {_function(thing.when)} says so"
    elif thing.optional:
        runs = "only when a route names it"
    yield "runs", (runs,)
    if thing.route is not None:
        other = f"else {one_line(thing.fallback, 80)}" if thing.fallback else None
        yield "routes", dots(f"as {_function(thing.route)} says", other)
    if thing.prompt:
        yield "prompt", (one_line(thing.prompt, _EXCERPT),)
    if thing.on_failure in _AFTER:
        yield "if it fails", (_AFTER[thing.on_failure],)
    if thing.context:
        yield "context", dots(*(code(one_line(str(name), 64)) for name in list(thing.context)[:24]))
    if thing.tools is not None:
        named = [_function(tool) if callable(tool) else str(tool) for tool in thing.tools]
        named = [
            getattr(tool, "name", None) or name
            for tool, name in zip(thing.tools, named, strict=True)
        ]
        yield "tools", dots(*(code(one_line(name, 64)) for name in named[:24])) or (quiet("none"),)
    if thing.mcp is not None:
        servers = [one_line(name, 64) for name in plain_setting("mcp", thing.mcp)[:24]]
        yield "tool servers", dots(*(code(name) for name in servers)) or (quiet("none"),)


def _prompt(thing: Task) -> Iterable[Block]:
    prompt = thing.prompt
    if prompt and one_line(prompt, _EXCERPT) != cut(prompt, _EXCERPT)[0]:
        yield Fold(("Prompt",), (Pre(prompt),), f"{len(prompt):,}\u00a0characters")


def result(thing: TaskResult) -> Picture:
    """The picture of the result of a function's task: its value first, then one quiet line.

    Parameters
    ----------
    thing : TaskResult
    """
    blocks = (
        *part("error", lambda: error_notice(thing)),
        *part("value", lambda: _value(thing)),
        *part("figures", lambda: [_figures(thing)]),
    )
    return Picture(blocks)


def error_notice(thing: TaskResult) -> Iterable[Block]:
    """What a task failed with, and what to do; nothing where it did not."""
    error = thing.error
    if error is None:
        return
    words = clip(getattr(error, "message", "") or error, 2000) or "no message"
    name = bold(one_line(thing.name, 80))
    told = f"{type(error).__name__}: {words}"
    lines: list[Block] = [Para(dots(state_bit("failed", loud=True), name, told))]
    hint = getattr(error, "hint", None)
    if hint:
        lines.append(Para(ticked(clip(hint, 1000))))
    yield Quote(tuple(lines), "rail", "kf")


def _value(thing: TaskResult) -> Iterable[Block]:
    value = thing.value
    if value is None:
        if thing.error is None:
            yield Para((quiet("nothing was returned"),))
    elif isinstance(value, str):
        yield Prose(value, whole="result.value") if value else Para((quiet("an empty text"),))
    elif isinstance(value, (Mapping, list, tuple)):
        yield Pre(laid_out(value_line(value, 4000)))
    else:
        shown = cut(value, 4000)[0]
        yield Pre(shown) if "\n" in shown else Para((shown,))


def _figures(thing: TaskResult) -> Block:
    kind = (
        None if isinstance(thing.value, str) or thing.value is None else type(thing.value).__name__
    )
    status = state_bit(thing.status)
    return Para(
        dots(f"{status.icon}\u00a0{status.text}", one_line(thing.name, 80), kind), quiet=True
    )
