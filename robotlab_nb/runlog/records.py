"""What goes into a log and comes out of it, as plain records. They know of no database."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass, field
from time import time_ns
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.events import Delta, Event

__all__ = ["Batch", "Counts", "RunRow", "Writer", "now"]


def now() -> int:
    """Microseconds since 1970 (UTC)."""
    return time_ns() // 1_000


@dataclass(frozen=True, slots=True)
class Writer:
    """A process that writes to a log, told apart from any later one with its number.

    Parameters
    ----------
    writer_id : str
    pid : int
    host : str
        The machine, since it was last started, and its view of processes.
    process_started : int or None
        When the process began, in the system's own count; None where that cannot be known.
    started_at : int
        Microseconds since 1970 (UTC).
    """

    writer_id: str
    pid: int
    host: str
    process_started: int | None
    started_at: int

    @classmethod
    def here(cls) -> Writer:
        """This process.

        Examples
        --------
        >>> Writer.here().pid == os.getpid()
        True
        """
        pid = os.getpid()
        return cls(uuid4().hex[:12], pid, this_host(), started(pid), now())

    def alive(self) -> bool | None:
        """Whether the process still runs; None when only its own machine could tell."""
        if self.host != this_host():
            return None
        if not _exists(self.pid):
            return False
        began = started(self.pid)
        return self.process_started is None or began is None or began == self.process_started


def this_host() -> str:
    """A name for this machine that changes when it is started anew, or seen from a container."""
    name = socket.gethostname()
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read(8)
        view = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return name
    return f"{name}/{boot}/{view}"


def started(pid: int) -> int | None:
    """When a process began, in ticks since the machine did; None where nobody tells."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _exists(pid: int) -> bool:
    if sys.platform == "win32":
        return _exists_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _exists_on_windows(pid: int) -> bool:
    # There os.kill would end the process.
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(0x1000, False, pid)
    if not handle:
        return False
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == 259


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written at once: all of it, or nothing.

    Parameters
    ----------
    events : sequence of Event
        Those of a root in order. One that is there already is passed over.
    partials : sequence of Delta
        What running calls have streamed so far, whole (their ``offset`` is 0); each replaces what
        was kept of its call, attempt and kind. They go when an event tells the call's end.
    writer : Writer, optional
        Who writes; that it did is noted as a sign of life.
    """

    events: Sequence[Event] = ()
    partials: Sequence[Delta] = ()
    writer: Writer | None = None


class Counts(NamedTuple):
    """How much a log holds; ``bytes`` on the disk, or in the database's tables."""

    roots: int
    runs: int
    events: int
    bytes: int


@dataclass(slots=True)
class RunRow:
    """A run as the log's index knows it. All of it is read from the run's events.

    Parameters
    ----------
    run_id, root_id : str
    parent_id : str or None
    kind : str
        ``robot``, ``network``, or ``session`` for what happened outside any run.
    name, network, task, robot, model : str or None
        ``network`` is its own name if it is a network, else that of the network around it.
    simulated : bool
        Whether any answer in it was made up.
    status, stop_reason : str or None
    started_at, ended_at : int or None
        Microseconds since 1970 (UTC).
    session_id, prompt_hash, resumed_from : str or None
    error_type : str or None
        The class of the error that ended it.
    input : str or None
        The first 200 characters of what it was asked.
    model_calls, tool_calls : int
    input_tokens, output_tokens, reasoning_tokens, cached_tokens : int or None
        Of its own model calls.
    tokens_estimated : bool
    cost_usd : float or None
        US dollars of its own model calls; None when no price is known.
    cost_complete : bool
    number : int
        Its place in the root: the ``seq`` of its first event.
    root_started_at : int
        When its root began; 0 when nobody knows.
    tags : tuple of str
    rating : int or None
        1 to 5, as a person gave it.
    note : str or None
    """

    run_id: str
    root_id: str
    parent_id: str | None = None
    kind: str = "robot"
    name: str | None = None
    network: str | None = None
    task: str | None = None
    robot: str | None = None
    model: str | None = None
    simulated: bool = False
    status: str = "pending"
    stop_reason: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    session_id: str | None = None
    prompt_hash: str | None = None
    resumed_from: str | None = None
    error_type: str | None = None
    input: str | None = None
    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    tokens_estimated: bool = False
    cost_usd: float | None = None
    cost_complete: bool = True
    number: int = 0
    root_started_at: int = 0
    tags: tuple[str, ...] = field(default=())
    rating: int | None = None
    note: str | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        from ..core.state import ENDED

        return self.status in ENDED

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end; None while it runs."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at) / 1e6
