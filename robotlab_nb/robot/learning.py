"""A robot learns: its learnings grow, within whatever handlers look on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..runtime.stop import StopRun
from .in_force import chain

if TYPE_CHECKING:
    from ..runtime.hook_chain import Chain

__all__ = ["learn"]


def learn(robot: Any, text: str) -> bool:
    """Add to a robot's learnings. Returns whether something was noted."""
    known = robot._learned()
    hooks = chain(robot._in_force().hooks)
    if hooks is None or "learn" not in hooks.families:
        return bool(known.add(text))
    return bool(_hooked(hooks, robot, text))


def _hooked(hooks: Chain, robot: Any, text: str) -> Any:
    """Learn within handlers. They may be async: a thread of its own waits for them."""
    from ..runtime.hook_chain import HookContext
    from ..runtime.run import current_run
    from ..runtime.threads import aside

    known = robot._learned()
    context = HookContext("learn", robot=robot, text=text, learnings_before=tuple(known.texts))

    async def core() -> bool:
        return bool(known.add(text))

    try:
        return aside(hooks.around(context, core, current_run()))
    except StopRun:
        raise KeyboardInterrupt from None
