"""A server that is a program of ours: its process, its pipes, and how it ends.

Its messages are lines of its standard output; the last of its standard error is kept. It leads a
process group, so that what it started ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections import deque
from typing import TYPE_CHECKING, Any

from ..core.mcp_errors import MCPConnectionError
from . import guardian
from .child_environment import child_environment
from .wires import LARGEST_MESSAGE

if TYPE_CHECKING:
    from .servers import Server
    from .wires import ConnectionNotes

__all__ = ["StdioWire"]

#: bytes that are kept of standard error, and characters of it in errors
_STDERR_KEPT = 16_384
#: bytes of messages that wait to be read before the server is held up
_MOST_WAITING = 8_000_000
#: bytes that wait to be written before we wait for the server
_MOST_UNSENT = 1_000_000
#: seconds: for exiting by itself, after SIGTERM, after SIGKILL; for what it wrote last
_GRACE = (1.0, 1.0, 1.0)
_LAST_WORDS = 0.25
_LOOK = 0.02
_HARD = getattr(signal, "SIGKILL", signal.SIGTERM)


class StdioWire:
    """One run of a server's program."""

    def __init__(self, server: Server, notes: ConnectionNotes) -> None:
        self._server = server
        self._notes = notes
        self._pipes = _Pipes(notes)
        self._transport: asyncio.SubprocessTransport | None = None
        self._group = 0

    async def connect(self) -> None:
        """Start the program."""
        options = self._server.transport
        env = child_environment(options.get("env") or {})
        loop = asyncio.get_running_loop()
        more: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: self._pipes,
                _program(options["command"], env),
                *options.get("args", ()),
                env=env,
                cwd=_folder(options.get("cwd")),
                **more,
            )
        except (OSError, ValueError) as error:
            raise self._not_started(error) from None
        self._transport = transport
        self._group = transport.get_pid()
        if os.name == "posix":
            guardian.watch(self._group)

    def _not_started(self, error: Exception) -> MCPConnectionError:
        options = self._server.transport
        cwd = _folder(options.get("cwd"))
        told, hint = str(error), None
        if cwd is not None and not os.path.isdir(cwd):
            told, hint = f"there is no folder {cwd!r}", "Give another cwd=, or make it."
        elif isinstance(error, FileNotFoundError):
            told = f"there is no program {options['command']!r}"
            hint = "Install it, or give its whole path."
        elif isinstance(error, OSError):
            told = f"{options['command']!r} cannot be run ({error.strerror or error})"
            hint = (
                "A script needs the right to be executed and a first line that names its program."
            )
        found = MCPConnectionError(
            f"server {self._server.name!r} did not start: {told}", hint=hint,
            server=self._server.name,
        )  # fmt: skip
        found.transport = "stdio"
        return found

    async def send(self, message: str) -> None:
        """Write one line."""
        await self._pipes.write(message.encode() + b"\n")

    async def receive(self) -> bytes | None:
        """The next line."""
        return await self._pipes.line()

    @property
    def stderr_tail(self) -> str:
        """The last that it wrote to its standard error."""
        return self._pipes.stderr.decode("utf-8", "replace")

    async def settled(self) -> None:
        """Wait a moment for the end of a process whose output has ended, and its last words."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._pipes.quiet.wait(), _LAST_WORDS)

    async def disconnect(self) -> None:
        """Close its standard input, give it time, then end it and all that it started."""
        transport = self._transport
        if transport is None:
            return
        self._pipes.close_input()
        try:
            if not await self._gone_within(_GRACE[0]):
                self._kill(signal.SIGTERM)
                if not await self._gone_within(_GRACE[1]):
                    self._kill(_HARD)
                    await self._gone_within(_GRACE[2])
        finally:
            self.kill()

    async def _gone_within(self, seconds: float) -> bool:
        """Whether it has ended in that time, and all that it started."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._pipes.exited.wait(), seconds)
        while self._pipes.exited.is_set():
            if not self._is_there():
                return True
            if loop.time() > end:
                break
            await asyncio.sleep(_LOOK)
        return False

    def kill(self) -> None:
        """End what is left of it at once."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        self._kill(_HARD)
        with contextlib.suppress(OSError, RuntimeError):
            transport.close()
        if os.name == "posix":
            guardian.unwatch(self._group)

    def _is_there(self) -> bool:
        """Whether anything of its process group is there."""
        if os.name != "posix":
            return False
        try:
            os.killpg(self._group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _kill(self, how: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self._group, how)
            elif self._transport is not None:
                self._transport.kill()

    def leave_behind(self) -> None:
        """In a forked child: hold none of the pipes, or the server would not notice our end."""
        with contextlib.suppress(Exception):
            empty = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                pipe = self._transport and self._transport.get_pipe_transport(number)
                if pipe is not None:
                    os.dup2(empty, pipe.get_extra_info("pipe").fileno())
            os.close(empty)


def _folder(cwd: str | None) -> str | None:
    return None if cwd is None else os.path.expanduser(cwd)


def _program(command: str, env: dict[str, str]) -> str:
    """The program's file, where the system does not look for all of its endings itself."""
    if os.name == "posix":
        return os.path.expanduser(command)
    return shutil.which(command, path=env.get("PATH")) or command


class _Pipes(asyncio.SubprocessProtocol):
    """What comes through a process's pipes."""

    def __init__(self, notes: ConnectionNotes) -> None:
        self._notes = notes
        self._transport: Any = None
        self._lines: deque[bytes] = deque()
        self._waiting = 0  # bytes in it
        self._rest = bytearray()
        self._over = False
        self._held = False
        self._reader: asyncio.Future[None] | None = None
        self._writers: list[asyncio.Future[None]] = []
        self._full = False
        self.stderr = bytearray()
        self.exited = asyncio.Event()
        #: whether it has ended and nothing comes any more
        self.quiet = asyncio.Event()
        self._open = {1, 2}

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.get_pipe_transport(0).set_write_buffer_limits(high=_MOST_UNSENT)

    # -- from the server ----------------------------------------------------------------------

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr += data
            if len(self.stderr) > _STDERR_KEPT:
                del self.stderr[:-_STDERR_KEPT]
            return
        if b"\n" not in data:
            self._rest += data
            if len(self._rest) > LARGEST_MESSAGE:
                self._give_up()
            return
        first, *lines, rest = data.split(b"\n")
        self._add(bytes(self._rest + first) if self._rest else first)
        for line in lines:
            self._add(line)
        self._rest = bytearray(rest)
        if self._waiting > _MOST_WAITING and not self._held:
            self._held = True
            self._transport.get_pipe_transport(1).pause_reading()

    def _give_up(self) -> None:
        self._rest = bytearray()
        self._notes.end(f"it sent a message of more than {LARGEST_MESSAGE // 1_000_000} MB")
        pipe = self._transport.get_pipe_transport(1)
        if pipe is not None:
            pipe.close()
        self._end()

    def _add(self, line: bytes) -> None:
        self._lines.append(line)
        self._waiting += len(line)
        self._wake()

    def _wake(self) -> None:
        reader = self._reader
        if reader is not None and not reader.done():
            reader.set_result(None)

    def _end(self) -> None:
        self._over = True
        self._wake()
        for writer in self._writers:
            if not writer.done():
                writer.set_result(None)

    async def line(self) -> bytes | None:
        """The next line; None when it has said its last."""
        while not self._lines:
            if self._over:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        line = self._lines.popleft()
        self._waiting -= len(line)
        if self._held and self._waiting < _MOST_WAITING // 2:
            self._held = False
            pipe = self._transport.get_pipe_transport(1)
            if pipe is not None:
                pipe.resume_reading()
        return line

    def pipe_connection_lost(self, fd: int, error: Exception | None) -> None:
        self._open.discard(fd)
        if fd == 1:
            if self._rest:
                self._add(bytes(self._rest))
                self._rest = bytearray()
            self._end()
        elif fd == 0:
            self._notes.warn("it closed its standard input") if not self._over else None
            self._end_soon()
        self._look()

    def _end_soon(self) -> None:
        """What cannot be asked any more is over, once it has said its last."""
        if not self._over:
            asyncio.get_running_loop().call_later(_LAST_WORDS, self._end)

    def process_exited(self) -> None:
        self._notes.exit_status = self._transport.get_returncode()
        self.exited.set()
        self._end_soon()  # something that it started may hold its output open
        self._look()

    def _look(self) -> None:
        if self.exited.is_set() and not self._open:
            self.quiet.set()

    # -- to the server ---------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Write it; waits only while very much is unsent."""
        pipe = self._transport.get_pipe_transport(0)
        if self._over or pipe is None or pipe.is_closing():
            raise BrokenPipeError("its standard input is closed")
        pipe.write(data)
        while self._full and not self._over:
            waiting = asyncio.get_running_loop().create_future()
            self._writers.append(waiting)
            try:
                await waiting
            finally:
                self._writers.remove(waiting)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        for writer in self._writers:
            if not writer.done():
                writer.set_result(None)

    def close_input(self) -> None:
        """Tell it that nothing more comes."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            # What it does not read holds up nothing.
            pipe.abort() if self._full else pipe.close()
