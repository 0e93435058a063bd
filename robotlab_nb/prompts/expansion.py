"""What stands in a template for a command's output or for a variable of the environment.

Only a template that asks for it has such places, and only in its own text: no value that it is
given is ever looked at. A command is started without a shell, so pipes, globs and ``$NAMES``
inside it mean nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from ..core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["expand", "places"]

#: seconds that a command may take
TIMEOUT = 30.0
#: bytes of its output
_MOST = 2_000_000
_TAIL = 500

_COMMAND = r"""\$\((?:[^()\n"']|"[^"\n]*"|'[^'\n]*')+\)"""
_VARIABLE = r"\$[A-Z][A-Z0-9_]*\b|\$\{[A-Z][A-Z0-9_]*\}"


def places(text: str, *, shell: bool, environment: bool) -> Iterator[tuple[bool, str]]:
    """Take a text apart into what is literal (False) and what stands for something (True).

    Examples
    --------
    >>> list(places("On $(date) in $HOME", shell=True, environment=False))
    [(False, 'On '), (True, '$(date)'), (False, ' in $HOME')]
    """
    wanted = [pattern for pattern, on in ((_COMMAND, shell), (_VARIABLE, environment)) if on]
    at = 0
    for found in re.finditer("|".join(wanted), text) if wanted else ():
        if found.start() > at:
            yield False, text[at : found.start()]
        yield True, found[0]
        at = found.end()
    if at < len(text):
        yield False, text[at:]


def expand(place: str, where: str) -> str:
    """What a place stands for.

    Raises
    ------
    ConfigurationError
        When the variable is not set; when the command fails, cannot be started, takes longer
        than 30 seconds, or writes more than 2 MB. It tells the end of what it complained of.

    Examples
    --------
    >>> expand("$(echo 'a  b')", "template 'x'")
    'a  b'
    """
    if place.startswith("$("):
        return _run(place, where)
    name = place.strip("${}")
    try:
        return os.environ[name]
    except KeyError:
        raise ConfigurationError(
            f"{where}: the environment variable {name} is not set",
            hint=f'Set it, or write {{{{ "{place}" }}}} where the text itself is meant.',
        ) from None


def _run(place: str, where: str) -> str:
    try:
        argv = shlex.split(place[2:-1])
    except ValueError as error:
        raise ConfigurationError(f"{where}: {place} cannot be read: {error}") from None
    if not argv:
        return place
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{where}: {place} cannot be started: {error}",
            hint="It is started without a shell: the first word is a program.",
        ) from None
    with process:
        out = _Drain(process.stdout, too_much=lambda: _kill(process))
        complaints = _Drain(process.stderr)
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            raise ConfigurationError(f"{where}: {place} took longer than {TIMEOUT:g} s") from None
        finally:
            # What it left running may hold the pipes; nobody waits for that.
            _kill(process)
            out.join(1.0)
            complaints.join(1.0)
    if out.length > _MOST:
        raise ConfigurationError(f"{where}: {place} wrote more than {_MOST:,} bytes")
    if process.returncode:
        tail = complaints.text()[-_TAIL:].strip()
        raise ConfigurationError(
            f"{where}: {place} failed with exit code {process.returncode}"
            + (f": {tail}" if tail else "")
        )
    return out.text().rstrip("\r\n")


class _Drain(threading.Thread):
    """Reads a pipe to its end, so that the writer is not held up; keeps no more than is used."""

    def __init__(self, pipe: IO[bytes] | None, too_much: Callable[[], None] = lambda: None) -> None:
        super().__init__(daemon=True)
        self._pipe, self._too_much = pipe, too_much
        self._kept: list[bytes] = []
        self.length = 0
        self.start()

    def run(self) -> None:
        assert self._pipe is not None
        with suppress(OSError, ValueError):
            while chunk := os.read(self._pipe.fileno(), 65_536):
                self.length += len(chunk)
                if self.length > _MOST:
                    self._kept.clear()
                    self._too_much()
                self._kept.append(chunk)

    def text(self) -> str:
        return b"".join(self._kept).decode("utf-8", "replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a command and whatever it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
