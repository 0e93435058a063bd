"""The open chats of the process: one per robot, closed when the process ends."""

from __future__ import annotations

import atexit
import contextlib
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .chat import Chat

if TYPE_CHECKING:
    from .robot import Robot

__all__ = ["open_chat"]

_lock = threading.Lock()
_open: WeakKeyDictionary[Robot[Any], Chat] = WeakKeyDictionary()


def open_chat(robot: Robot[Any], **settings: Any) -> Chat:
    """Make a chat with a robot; one that is open already ends, and this one goes on.

    Parameters
    ----------
    robot : Robot
    **settings
        See :class:`Chat`.
    """
    made = Chat(robot, **settings)
    with _lock:
        first = not _open
        before = _open.pop(robot, None)
        _open[robot] = made
    if before is not None and not before.closed:
        before.close()
        with made._lock:
            made._look()
    if first:
        atexit.unregister(_close_all)
        atexit.register(_close_all)
    return made


def _close_all() -> None:
    for chat in list(_open.values()):
        with contextlib.suppress(Exception):
            chat.close()
