"""Calls that are going on, and to which of them belongs what a server says meanwhile.

A server's questions and log lines name no call. Where the transport or the protocol carries our
context along, it tells; else the latest call that wants to know is meant.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections import deque
from typing import TYPE_CHECKING, Any

from .asked import RemoteQuestion, answer_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .servers import Server

__all__ = ["Call", "Callbacks"]

_current: contextvars.ContextVar[Call | None] = contextvars.ContextVar(
    "robotlab_nb_mcp_call", default=None
)
#: log lines of a server that are kept
_LOG_LINES = 100


class Call:
    """One call of a tool, and whom it tells."""

    __slots__ = ("_deadline", "_left", "_paused", "name", "on_elicit", "on_log", "on_progress")

    def __init__(
        self,
        name: str,
        on_progress: Callable[[float, float | None, str | None], Any] | None = None,
        on_elicit: Callable[[RemoteQuestion], Awaitable[Any]] | None = None,
        on_log: Callable[[str, str | None, Any], Any] | None = None,
    ) -> None:
        self.name = name
        self.on_progress = on_progress
        self.on_elicit = on_elicit
        self.on_log = on_log
        self._deadline: asyncio.Timeout | None = None
        self._left = 0.0
        self._paused = 0

    def limit(self, seconds: float) -> asyncio.Timeout:
        """The call's time, which :meth:`waiting_for_person` lets stand still."""
        self._deadline = asyncio.timeout(seconds)
        return self._deadline

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell of progress; what the callback does wrong is its own affair."""
        if self.on_progress is not None:
            await _quietly(self.on_progress, progress, total, message)

    def pause(self) -> None:
        """A person is asked: time stands still."""
        self._paused += 1
        when = None if self._deadline is None else self._deadline.when()
        if self._paused == 1 and self._deadline is not None and when is not None:
            self._left = when - asyncio.get_running_loop().time()
            self._deadline.reschedule(None)

    def resume(self) -> None:
        """The person has answered."""
        self._paused -= 1
        if self._paused == 0 and self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(asyncio.get_running_loop().time() + self._left)


class Callbacks:
    """What a server may ask and tell, for one session."""

    def __init__(self, server: Server, on_list_changed: Callable[[], object]) -> None:
        self._server = server
        self._on_list_changed = on_list_changed
        self._going: list[Call] = []
        #: the latest log lines: level, logger, data
        self.log: deque[tuple[str, str | None, Any]] = deque(maxlen=_LOG_LINES)

    def enter(self, call: Call) -> contextvars.Token[Call | None]:
        """A call begins."""
        self._going.append(call)
        return _current.set(call)

    def leave(self, call: Call, token: contextvars.Token[Call | None]) -> None:
        """A call has ended."""
        self._going.remove(call)
        _current.reset(token)

    def _meant(self, wants: str) -> Call | None:
        """The call that something belongs to."""
        here = _current.get()
        if here is not None and here in self._going:
            return here
        for call in reversed(self._going):
            if getattr(call, wants) is not None:
                return call
        return None

    def wanted(self) -> dict[str, Any]:
        """Keyword arguments for the SDK's client."""
        from mcp.types import Implementation

        from .. import __version__

        return {
            "client_info": Implementation(name="robotlab_nb", version=__version__),
            "elicitation_callback": self._elicit,
            "logging_callback": self._logged,
            "log_level": "info",
            "message_handler": self._noticed,
        }

    async def _elicit(self, context: Any, asked: Any) -> Any:
        call = self._meant("on_elicit")
        if call is None or call.on_elicit is None:
            return answer_of(None)
        question = RemoteQuestion(
            self._server.name, asked.message, getattr(asked, "requested_schema", None) or {},
            getattr(asked, "url", None), call.name,
        )  # fmt: skip
        call.pause()
        try:
            return answer_of(await call.on_elicit(question))
        except asyncio.CancelledError:
            raise
        except Exception:
            return answer_of(False)
        finally:
            call.resume()

    async def _logged(self, told: Any) -> None:
        line = (str(told.level), told.logger, told.data)
        self.log.append(line)
        call = self._meant("on_log")
        if call is not None and call.on_log is not None:
            await _quietly(call.on_log, *line)

    async def _noticed(self, message: Any) -> None:
        from mcp.types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._on_list_changed()


async def _quietly(callback: Callable[..., Any], *args: Any) -> None:
    try:
        done = callback(*args)
        if inspect.isawaitable(done):
            await done
    except Exception:
        pass  # it only looks on
