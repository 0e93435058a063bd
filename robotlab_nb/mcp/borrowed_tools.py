"""A server's tool as a robot's: told to the model word for word, called through the session.

What it reports while it runs becomes events of the run; what it asks goes to the run's person.
"""

from __future__ import annotations

import json
import math
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.mcp_errors import MCPConnectionError
from ..core.media import MediaPart
from ..core.parts import TextPart
from ..runtime.working import current_work
from ..tools.answer import ToolAnswer
from ..tools.definition import Tool
from ..tools.preview import TEXT_LIMIT
from ..tools.tool_source import CALL
from .elicited import elicit
from .naming import legal
from .servers import CALL_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..runtime.working import Work
    from .asked import RemoteQuestion
    from .remote_results import RemoteResult
    from .remote_tools import RemoteTool
    from .servers import Server
    from .session import Session

__all__ = ["answer_from", "borrowed", "unfit"]

#: what a model reads of a server that cannot be reached
_GONE = "its server is gone; whether it did what was asked is not known"
#: seconds between two reports of one call that are recorded, and log lines of one call
_PACE_S, _MOST_LINES = 0.1, 200
_MOST_SAID = 2_000


def unfit(tool: RemoteTool) -> str | None:
    """Why a tool cannot be told to a model; None when it can."""
    try:
        _made(tool, legal(tool.name), _nothing)
    except ConfigurationError as error:
        return error.message
    return None


async def _nothing(**arguments: Any) -> None:
    """What a tool does that is only looked at."""


def _made(tool: RemoteTool, name: str, function: Any, **options: Any) -> Tool:
    schema = dict(tool.input_schema) or None
    return Tool.create(name, tool.description or tool.title or "", schema, function, **options)


def borrowed(
    server: Server, session: Session, tool: RemoteTool, name: str, settings: Mapping[str, Any]
) -> Tool:
    """A robot's tool that calls a server's.

    Parameters
    ----------
    server : Server
        As the robot describes it.
    session : Session
        With this server.
    tool : RemoteTool
    name : str
        What the model is told that it is called.
    settings : mapping
        ``tool_timeout`` holds where the server's description names no time of its own.

    Returns
    -------
    Tool
        Its ``source`` is ``mcp:`` and our name of the server.
    """
    own = server.call_timeout != CALL_TIMEOUT
    seconds = server.call_timeout if own else settings["tool_timeout"]

    async def call(**arguments: Any) -> Any:
        caller = _Caller(server, name, current_work(), CALL.get())
        try:
            result = await session.call_tool(
                tool.name,
                arguments,
                timeout=math.inf if seconds is None else seconds,
                on_progress=caller.progress,
                on_elicit=caller.elicit,
                on_log=caller.log,
            )
        except MCPConnectionError as error:
            # Command, address and what its process wrote are for people, not for a provider.
            error.for_model = f"Error ({name}): {_GONE}"
            raise
        return answer_from(result)

    return _made(
        tool, name, call, timeout=math.inf, source=f"mcp:{server.name}",
        labels=server.labels, approval=server.approval,
    )  # fmt: skip


class _Caller:
    """The run and the call on whose behalf a server works."""

    __slots__ = ("_lines", "_told", "call_id", "name", "run", "server")

    def __init__(
        self, server: Server, name: str, run: Work[Any] | None, call_id: str | None
    ) -> None:
        self.server = server
        self.name = name
        self.run = run
        self.call_id = call_id
        self._told = -math.inf
        self._lines = 0

    def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Record how far a call is; not each report of many."""
        now = monotonic()
        over = total is not None and progress >= total
        if self.run is None or (now - self._told < _PACE_S and not over):
            return
        self._told = now
        self.run.emit(
            "mcp.progress",
            {
                "server": self.server.name, "tool": self.name, "tool_call_id": self.call_id,
                "progress": _finite(progress), "total": None if total is None else _finite(total),
                "text": None if message is None else message[:_MOST_SAID],
            },
        )  # fmt: skip

    def log(self, level: str, logger: str | None, data: Any) -> None:
        """Record what a server says for people."""
        if self.run is None or self._lines >= _MOST_LINES:
            return
        self._lines += 1
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
        self.run.emit(
            "mcp.log",
            {
                "server": self.server.name, "level": level, "logger": logger,
                "text": text[:_MOST_SAID], "tool_call_id": self.call_id,
            },
        )  # fmt: skip

    async def elicit(self, question: RemoteQuestion) -> Any:
        """Ask the run's person."""
        if self.run is None:
            return None
        return await elicit(question, self.run, self.name, self.call_id)


def _finite(number: float) -> float:
    return number if math.isfinite(number) else 0.0


def answer_from(result: RemoteResult) -> str | ToolAnswer:
    """What a tool gave back, as its robot has it: a text, or an answer of several forms.

    Examples
    --------
    >>> from robotlab_nb.mcp import RemoteResult
    >>> answer_from(RemoteResult((TextPart("21"),)))
    '21'
    """
    texts = list(_texts(result))
    media = tuple(p for p in result.media if not p.mime.startswith("text/") and _is_that(p))
    data = result.structured
    if not texts and data is not None:
        texts.append(json.dumps(data, ensure_ascii=False))
    text = "\n".join(texts)
    if result.truncated:  # where all of it is comes last, and must not be what is cut off
        note = f"\n[{result.truncated}]"
        text = text[: TEXT_LIMIT - len(note)] + note
    return ToolAnswer(text, data, media) if data is not None or media else text


def _texts(result: RemoteResult) -> Iterable[str]:
    for part in result.parts:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, MediaPart):
            words = part.as_text()
            if words is not None:
                yield f"[{part.name or part.mime}]\n{words}"
            elif not _is_that(part):
                yield f"[{part.name or part.mime}: its bytes are not {part.mime}]"


#: how the bytes of a type begin; a provider refuses the whole request for one that is not that
_BEGINS = {
    "image/png": (0, b"\x89PNG\r\n\x1a\n"), "image/jpeg": (0, b"\xff\xd8\xff"),
    "image/gif": (0, b"GIF8"), "image/webp": (8, b"WEBP"), "application/pdf": (0, b"%PDF-"),
    "audio/wav": (8, b"WAVE"),
}  # fmt: skip


def _is_that(part: MediaPart) -> bool:
    """Whether the bytes of a part can be what their type says."""
    known = _BEGINS.get(part.mime)
    data = part.data
    if known is None or data is None:
        return True
    at, begins = known
    return data[at : at + len(begins)] == begins
