"""Tool servers' processes do not outlive ours, however ours ends.

A tiny shell waits at the end of a pipe that only we hold. When we are gone, even by SIGKILL, the
pipe closes, and it ends the process groups that it was told of: first politely, after a second
for good. Where there is no POSIX shell, servers notice the end by their closed standard input.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

__all__ = ["unwatch", "watch"]

_SCRIPT = r"""
groups=" "
while read -r what group; do
  case $what in
    +) groups="$groups$group ";;
    -) case $groups in
         *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}";;
       esac;;
  esac
done
[ -z "${groups# }" ] && exit
for group in $groups; do kill -s TERM -- "-$group"; done 2>/dev/null
sleep 1
for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null
"""

_lock = threading.Lock()
_pipe: int | None = None
_shell: subprocess.Popen[bytes] | None = None
_groups: set[int] = set()


def watch(group: int) -> None:
    """Have a process group ended when this process is gone."""
    with _lock:
        _groups.add(group)
        if not _told(f"+ {group}\n"):
            _start()
            _told("".join(f"+ {g}\n" for g in _groups))


def unwatch(group: int) -> None:
    """A process group is gone."""
    with _lock:
        if group in _groups:
            _groups.discard(group)
            _told(f"- {group}\n")
            if not _groups:
                _dismiss()


def _told(text: str) -> bool:
    if _pipe is None:
        return False
    try:
        os.write(_pipe, text.encode())
    except OSError:
        return False
    return True


def _start() -> None:
    global _pipe, _shell
    if os.name != "posix":
        return
    import subprocess

    _forget()
    reading, _pipe = os.pipe()
    try:
        _shell = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT], stdin=reading, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd="/", env={"PATH": os.defpath}, start_new_session=True,
        )  # fmt: skip
    except OSError:
        _forget()
    finally:
        os.close(reading)


def _dismiss() -> None:
    shell = _shell
    _forget()
    if shell is not None:
        threading.Thread(target=shell.wait, name="robotlab_nb guardian", daemon=True).start()


def _forget() -> None:
    global _pipe, _shell
    if _pipe is not None:
        with contextlib.suppress(OSError):
            os.close(_pipe)
    _pipe = _shell = None


def _after_fork() -> None:
    # The child has the pipe too: while it held it, our end would not be noticed.
    global _lock
    _lock = threading.Lock()
    if _shell is not None:
        _shell.returncode = 0  # not the child's to wait for
    _groups.clear()
    _forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
