"""What is told of a tool that failed: a short text for the model, a full traceback for people."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from ..core import secrets
from ..core.errors import RobotLabError, ToolError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Failure", "ToldError", "failure", "traceback_text"]

MOST_MESSAGE = 2_000
MOST_TRACEBACK = 20_000
#: the file that a kernel invents for a cell; its name changes with each run
_CELL = re.compile(r'File "[^"\n]*ipykernel_\d+[/\\]\d+\.py"')
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


class ToldError(ToolError):
    """A failure that has its own words for the model: they are passed on whole, as they are.

    An error of another class has such words in ``for_model``, where it has any.
    """


class Failure(NamedTuple):
    """An exception, told.

    ``content`` is what the model reads in place of the message, where the tool said so.
    ``exception`` is what may be raised in an event loop: the original, or a ToolError around one
    that would end the loop or be taken for a cancellation.
    """

    type: str
    message: str
    retryable: bool
    traceback: str
    exception: Exception
    content: str | None = None


def _unwrapped(error: BaseException) -> BaseException:
    """The one exception inside groups of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _message_of(error: BaseException) -> str:
    """A short text for the model; the class's name where the message alone says little."""
    import asyncio

    name = type(error).__name__
    if isinstance(error, BaseExceptionGroup):
        inner = "; ".join(f"{type(e).__name__}: {_message_of(e)}" for e in error.exceptions[:10])
        return f"{len(error.exceptions)} errors: {inner}"[:MOST_MESSAGE]
    if isinstance(error, SystemExit):
        return f"the tool tried to end the program (exit code {error.code!r:.80})"
    if isinstance(error, asyncio.CancelledError):
        return "the tool was cancelled from inside"
    try:
        text = str(error)
    except Exception:
        return f"{name} (its message cannot be shown)"
    if not text or isinstance(error, KeyError):
        text = f"{name}: {text}" if text else name
    text = secrets.redact(text)  # before the cut: half a secret is one no longer, and still tells
    return text if len(text) <= MOST_MESSAGE else text[:MOST_MESSAGE] + "…"


def traceback_text(error: BaseException) -> str:
    """A traceback as text, from the first frame that is not this package's own."""
    import traceback

    frames: TracebackType | None = error.__traceback__
    while (
        frames is not None
        and frames.tb_next is not None
        and frames.tb_frame.f_code.co_filename.startswith(_PACKAGE)
    ):
        frames = frames.tb_next
    if frames is not None and frames.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        frames = None  # nothing of the person's was running: a server's tool failed, say
    try:
        text = "".join(traceback.format_exception(type(error), error, frames))
    except Exception as broken:  # an exception whose own attributes fail
        return f"{type(error).__name__} (its traceback raised {type(broken).__name__})"
    text = secrets.redact(_CELL.sub('File "a cell"', text))
    if len(text) <= MOST_TRACEBACK:
        return text
    half = MOST_TRACEBACK // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def failure(error: BaseException, tool: str) -> Failure:
    """Tell an exception that a tool raised.

    Parameters
    ----------
    error : BaseException
    tool : str
        The tool's name.

    Returns
    -------
    Failure

    Examples
    --------
    >>> failure(ValueError("no such city"), "weather").message
    'no such city'
    """
    error = _unwrapped(error)
    message = _message_of(error)
    if isinstance(error, Exception) and not isinstance(error, (StopIteration, StopAsyncIteration)):
        exception = error
    else:
        exception = ToolError(f"tool {tool!r}: {message}")
        exception.__cause__ = error
    return Failure(
        type(error).__name__,
        message,
        isinstance(error, RobotLabError) and bool(error.retryable),
        traceback_text(error),
        exception,
        error.message if isinstance(error, ToldError) else getattr(error, "for_model", None),
    )
