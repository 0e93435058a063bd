"""One call of a tool for a model: arguments in, an outcome out, whatever the tool does.

Async functions run on the running loop or on the caller's, sync ones in a worker thread; a tool
that hangs, raises, exits or returns something odd becomes a text that the model can read. Nothing
here knows of a robot, a conversation or an event.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ToolError, near
from ..runtime.stop import StopRun
from .arguments import ArgumentsError, bind, parse
from .failing import failure
from .preview import preview
from .running import PLAIN, Late, Raised, Returned, run_async, run_sync

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Mapping

    from .decorator import Tool

__all__ = ["Outcome", "call_tool", "check_callable", "completed", "unknown_tool"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a tool call ended.

    Attributes
    ----------
    status : {"completed", "failed"}
    value : object
        What the tool returned, alive.
    result : JSON
        The value for the record: itself, or a preview of it.
    content : str
        What the model reads.
    error : dict or None
        ``type`` and ``message`` of what went wrong.
    retryable : bool
        Whether the same call may succeed later.
    traceback : str or None
        In full, for people; None where the tool was not reached.
    thread_leaked : bool
        Whether the tool still runs somewhere and cannot be stopped.
    keep : bool
        Whether ``result`` is not the value itself, so that the value is to be kept alive.
    exception : Exception or None
        What to raise where the tool's exceptions are to end the run; None for mistakes of the
        model's.
    """

    status: str
    value: Any = None
    result: Any = None
    content: str = ""
    error: dict[str, Any] | None = None
    retryable: bool = False
    traceback: str | None = None
    thread_leaked: bool = False
    keep: bool = False
    exception: Exception | None = None


def check_callable(tools: Iterable[Tool], *, may_use_caller: bool) -> None:
    """Raise, before anything is asked, when a tool could not be called in a run.

    Parameters
    ----------
    tools : iterable of Tool
    may_use_caller : bool
        Whether the code that starts the run leaves its event loop free meanwhile.

    Raises
    ------
    ConfigurationError
        When a tool is to run on the caller's loop and that loop is blocked or is not there.
    """
    if not may_use_caller:
        for tool in tools:
            if tool.loop == "caller":
                raise _no_caller(tool)


def _no_caller(tool: Tool) -> ConfigurationError:
    return ConfigurationError(
        f'tool {tool.name!r} runs on the caller\'s loop (loop="caller"), '
        "and in this run that loop is blocked or not running",
        hint="Use `await robot.arun(…)` in a cell or in async code.",
    )


def unknown_tool(name: str, known: Iterable[str]) -> Outcome:
    """The outcome of a call to a tool that is not there: the model is told which ones are.

    Parameters
    ----------
    name : str
        As the model wrote it.
    known : iterable of str
        Names of the tools that it was offered.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> unknown_tool("get_wether", ["get_weather"]).content
    "Error: there is no tool 'get_wether'. Did you mean 'get_weather'? Tools: 'get_weather'."
    """
    names = list(known)
    listed = ", ".join(map(repr, names)) or "none"
    guess = near(name, names)
    meant = f" {guess}" if guess.startswith("Did") else ""
    message = f"there is no tool {name[:100]!r}.{meant} Tools: {listed}."
    error = {"type": "ToolNotFoundError", "message": message}
    return Outcome("failed", content=f"Error: {message}", error=error)


async def call_tool(
    tool: Tool,
    arguments_text: str | None,
    *,
    injected: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    at_most: float | None = None,
    caller_loop: asyncio.AbstractEventLoop | None = None,
) -> Outcome:
    """Call a tool with the arguments that a model wrote.

    Parameters
    ----------
    tool : Tool
    arguments_text : str or None
        JSON text as the model wrote it, perhaps empty or malformed.
    injected : mapping, optional
        The host's values for parameters that ask for them: ``run``, ``robot``, ``memory``,
        ``context``.
    timeout : float or None, optional
        Seconds for a tool that sets no timeout of its own; None for no limit.
    at_most : float or None, optional
        Seconds for any tool, whatever it sets.
    caller_loop : asyncio.AbstractEventLoop, optional
        The loop of the code that started the run, for tools that run there.

    Returns
    -------
    Outcome
        A tool's exception is told in it, not raised.

    Raises
    ------
    ConfigurationError
        When there is no caller's loop for a tool that needs it, or a required injected value is
        missing.
    StopRun
        When the tool raised KeyboardInterrupt.
    asyncio.CancelledError
        When the calling task was cancelled. An async tool is cancelled too; a sync one is left
        to end by itself.

    Examples
    --------
    >>> import asyncio
    >>> from robotlab_nb.tools.decorator import as_tool
    >>> def add(a: int, b: int) -> int:
    ...     return a + b
    >>> asyncio.run(call_tool(as_tool(add), '{"a": 2, "b": 3}')).value
    5
    """
    if tool.loop == "caller" and caller_loop is None:
        raise _no_caller(tool)
    try:
        given = parse(arguments_text)
        arguments = bind(tool.signature, given, injected or {}, tool=tool.name)
    except ArgumentsError as error:
        return _refused(tool, error)
    except ConfigurationError:
        raise
    except Exception as error:  # a validator of the user's types
        return _ended(tool, Raised(error), None)
    seconds = timeout if tool.timeout is None else tool.timeout
    if seconds == math.inf:
        seconds = None
    if at_most is not None:
        seconds = at_most if seconds is None else min(seconds, at_most)
    if tool.is_async:
        other = caller_loop if tool.loop == "caller" else None
        end = await run_async(tool.function, arguments, seconds, other)
    else:
        end = await run_sync(tool.function, arguments, seconds)
    return _ended(tool, end, seconds)


def completed(value: Any) -> Outcome:
    """The outcome of a call that gave a value, without calling anything.

    Examples
    --------
    >>> completed([1, 2]).content
    '[1, 2]'
    """
    return _returned(Returned(value, preview(value)))


def _returned(end: Returned) -> Outcome:
    value, seen = end
    keep = seen.lossy or type(value) not in PLAIN
    return Outcome("completed", value, seen.data, seen.content, keep=keep)


def _refused(tool: Tool, error: ArgumentsError) -> Outcome:
    message = str(error)
    return Outcome(
        "failed",
        content=f"Error ({tool.name}): {message}",
        error={"type": "ArgumentsError", "message": message},
    )


def _ended(tool: Tool, end: Returned | Raised | Late, seconds: float | None) -> Outcome:
    if isinstance(end, Returned):
        return _returned(end)
    if isinstance(end, Late):
        return _late(tool, end.leaked, seconds)
    if _is_stop(end.error):
        raise StopRun from end.error
    told = failure(end.error, tool.name)
    return Outcome(
        "failed",
        content=told.content
        or f"Error ({tool.name}): {told.message}" + " (retryable)" * told.retryable,
        error={"type": told.type, "message": told.message},
        retryable=told.retryable,
        traceback=told.traceback,
        exception=told.exception,
    )


def _late(tool: Tool, leaked: bool, seconds: float | None) -> Outcome:
    message = f"timed out after {seconds:g} s"
    return Outcome(
        "failed",
        content=f"Error ({tool.name}): {message}",
        error={"type": "TimeoutError", "message": message},
        thread_leaked=leaked,
        exception=ToolError(
            f"tool {tool.name!r} {message}" + (" and still runs" if leaked else ""),
            hint="Give it more time: @tool(timeout=…).",
        ),
    )


def _is_stop(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_is_stop(inner) for inner in error.exceptions)
    return isinstance(error, (KeyboardInterrupt, StopRun))
