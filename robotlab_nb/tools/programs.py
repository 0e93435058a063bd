"""Running a program to its end: never through a shell, never for longer than allowed, and nothing
that it starts outlives it.

A program gets a process group of its own; when it ends, when its time is up, or when the caller
is cancelled, the whole group is told to end, and killed if it does not. This confines nothing: a
program has the rights of the person who runs Python. It knows no tool and no skill.
"""

from __future__ import annotations

import atexit
import os
import signal
from asyncio import SubprocessProtocol
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["Ended", "Output", "run_program"]

#: Bytes of output that are kept: the first half from its start, the second from its end.
KEPT = 48_000
#: Seconds between asking a group to end and killing it.
_GRACE = 0.6
#: Seconds to read on after everything has ended.
_LAST_WORDS = 0.5
_POSIX = os.name == "posix"

#: groups that still run, and the process that they are children of
_live: dict[int, int] = {}


class Ended(NamedTuple):
    """How a program ended.

    ``code`` is its exit code (minus the signal's number when a signal ended it), or None when its
    time was up; ``output`` is what it wrote to stdout and stderr, as it came.
    """

    code: int | None
    output: str


class Output:
    r"""What a program writes, as much of it as is kept: the start and the end.

    Examples
    --------
    >>> output = Output(8)
    >>> for piece in (b"one ", b"two ", b"three"):
    ...     output.add(piece)
    >>> output.text()
    'one \n[… 5 bytes left out …]\nhree'
    """

    __slots__ = ("_half", "_head", "_tail", "size")

    def __init__(self, kept: int = KEPT) -> None:
        self._half = kept // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Take a piece in; what is in the middle is dropped at once."""
        self.size += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data[-self._half :]
            # Only now and then: cutting moves all that is left.
            if len(self._tail) > 4 * self._half:
                del self._tail[: -self._half]

    def text(self) -> str:
        """What is kept, as text; bytes that are none are replaced."""
        tail = self._tail[-self._half :]
        left_out = self.size - len(self._head) - len(tail)
        if not left_out:
            return (self._head + tail).decode("utf-8", "replace")
        note = f"\n[… {left_out:,} bytes left out …]\n"
        return self._head.decode("utf-8", "replace") + note + tail.decode("utf-8", "replace")


class _Watch(SubprocessProtocol):
    """Collects output and notes the ends: of the program, and of the pipe that it wrote to."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.output = Output()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.output.add(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1 and not self.silent.done():
            self.silent.set_result(None)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)


async def run_program(
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdin: str = "",
    seconds: float,
) -> Ended:
    """Run a program and wait for its end.

    Parameters
    ----------
    argv : sequence of str
        The program and its arguments, each of them passed as it is.
    folder : Path
        Where it runs.
    environment : mapping
        All of its environment variables.
    stdin : str, optional
        What it can read before its standard input ends.
    seconds : float
        How long it may take.

    Returns
    -------
    Ended

    Raises
    ------
    OSError, ValueError
        When it cannot be started.
    asyncio.CancelledError
        When the calling task was cancelled: its processes are gone then.
    """
    import asyncio
    from subprocess import PIPE, STDOUT

    loop = asyncio.get_running_loop()
    starting = loop.create_task(
        loop.subprocess_exec(
            lambda: _Watch(loop),
            *argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    )
    cancelled: asyncio.CancelledError | None = None
    try:
        await asyncio.wait((starting,))
    except asyncio.CancelledError as error:
        cancelled = error  # what has half begun must be there to be ended
        await asyncio.wait((starting,))
    transport, watch = starting.result()
    group = transport.get_pid()
    _live[group] = os.getpid()
    try:
        if cancelled is not None:
            raise cancelled
        _feed(transport.get_pipe_transport(0), stdin)
        await asyncio.wait((watch.exited,), timeout=seconds)
        code = transport.get_returncode()
        await _end(group, watch)
        await asyncio.wait((watch.silent,), timeout=_LAST_WORDS)
        return Ended(code, watch.output.text())
    except asyncio.CancelledError:
        await _end(group, watch)
        raise
    finally:
        _signal(group, "SIGKILL")
        _live.pop(group, None)
        transport.close()


def _feed(pipe: Any, text: str) -> None:
    pipe.write(text.encode("utf-8", "replace"))
    pipe.write_eof()


async def _end(group: int, watch: _Watch) -> None:
    """Have all processes of a group end: asked first, killed after a moment."""
    import asyncio

    loop = asyncio.get_running_loop()
    if not _signal(group, "SIGTERM"):
        return
    until = loop.time() + _GRACE
    while _signal(group, None) and loop.time() < until:  # noqa: ASYNC110  (no one tells)
        await asyncio.sleep(0.01)
    if _signal(group, "SIGKILL") and not watch.exited.done():
        await asyncio.wait((watch.exited,), timeout=_LAST_WORDS)


def _signal(group: int, name: str | None) -> bool:
    """Send a signal to a group (None: only look); whether somebody was there."""
    number = 0 if name is None else getattr(signal, name, signal.SIGTERM)
    try:
        if _POSIX:
            os.killpg(group, number)
        elif name is not None:
            os.kill(group, number)
        else:
            return False
    except OSError:  # nobody there; or, on some systems, only ended ones that nobody has buried
        return False
    return True


@atexit.register
def _end_all() -> None:
    for group, parent in list(_live.items()):
        if parent == os.getpid():  # not those of the process that this one was forked from
            _signal(group, "SIGKILL")
