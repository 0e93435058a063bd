"""A robot's answer to another robot's message: a run of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.messages import Message

if TYPE_CHECKING:
    from ..core.envelopes import RobotMessage

__all__ = ["answer", "as_task"]


def as_task(content: Any) -> str | Message:
    r"""What a robot is asked when it gets a message.

    Examples
    --------
    >>> as_task({"topic": "tea", "words": 50})
    'topic: tea\nwords: 50'
    """
    if isinstance(content, (str, Message)):
        return content
    from ..tools.preview import preview

    if isinstance(content, Mapping):
        return "\n".join(f"{key}: {preview(value).content}" for key, value in content.items())
    return preview(content).content


async def answer(robot: Any, message: RobotMessage) -> str:
    """Ask a robot what a message says, and return its answer.

    A run that asks a person goes on when it was answered: that is waited for.
    """
    import asyncio

    from ..runtime.bells import Bell

    context = {"message_key": message.key}
    run = robot.prepare(as_task(message.content), {}, context=context, detached=True)
    bell = Bell()
    run.begin()
    run.when_done(bell.ring)
    try:
        while not run.done:
            await bell.wait()
    except asyncio.CancelledError:
        run.cancel("its robot left the bus")
        raise
    return str(run.outcome())
